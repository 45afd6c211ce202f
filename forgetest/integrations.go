package forgetest

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// integrationKind is an integration that the contract describes.
type integrationKind struct {
	ID     string      `json:"id"`
	Kind   string      `json:"kind"`
	Slug   string      `json:"slug"`
	Params []parameter `json:"params"`
}

// integration is a configured integration of a group.
type integration struct {
	id               int64
	kind             *integrationKind
	values           map[string]any
	created, updated time.Time
}

func integrationRoutes() []route {
	const one = "/groups/:id/integrations/:slug"
	return []route{
		{name: "GET /groups/:id/integrations", role: Maintainer, handle: listIntegrations},
		{name: "PUT " + one, role: Maintainer, handle: setIntegration},
		{name: "DELETE " + one, role: Maintainer, handle: disableIntegration},
		{name: "GET " + one, role: Maintainer, handle: getIntegration},
	}
}

// Integration returns the settings of a group's integration by its slug, secrets included; nil when it is not set up.
func (g *Group) Integration(slug string) map[string]any {
	g.srv.mu.Lock()
	defer g.srv.mu.Unlock()
	i := g.integrations[slug]
	if i == nil {
		return nil
	}
	return maps.Clone(i.values)
}

// integrationKind finds a kind by its slug. The contract leaves most slugs unnamed: without [GitLabWords] the catalogue's id
// of the kind stands for it ("task_tracker").
func (s *Server) integrationKind(slug string) *integrationKind {
	for _, k := range catalogue().endpoints["PUT /groups/:id/integrations/:slug"].Kinds {
		own := orElse(k.Slug, k.ID)
		if s.gitlab {
			own = words().Integrations[k.ID]["slug"]
		}
		if own == slug {
			return s.named(k, own)
		}
	}
	return nil
}

// named is a kind with the names that the server speaks.
func (s *Server) named(k *integrationKind, slug string) *integrationKind {
	own := &integrationKind{ID: k.ID, Kind: k.Kind, Slug: slug, Params: slices.Clone(k.Params)}
	for i, p := range own.Params {
		if word := words().Integrations[k.ID][p.Name]; s.gitlab && word != "" {
			own.Params[i].Name, own.Params[i].Wire = word, word
		}
	}
	return own
}

// document is the summary of the list; the single view adds the properties without secrets, as the deployed server does.
func (i *integration) document() *Document {
	d := NewDocument("IntegrationSummary").Set("id", i.id).Set("title", strings.ToUpper(i.kind.Kind[:1])+i.kind.Kind[1:]).
		Set("slug", i.kind.Slug).Set("created_at", i.created).Set("updated_at", i.updated).Set("active", true).
		Set("comment_on_event_enabled", true).Set("vulnerability_events", false)
	d.Set("inherited", i.values["use_inherited_settings"] == true)
	properties := map[string]any{}
	for _, p := range i.kind.Params {
		value, given := i.values[p.Name]
		_, isField := d.shape.index[p.Name]
		switch {
		case isField:
			d.Set(p.Name, value == true)
		case !p.secret() && p.Name != "use_inherited_settings" && given:
			properties[p.Name] = value
		}
	}
	return d.Set("properties", properties)
}

// secret reports whether answers leave a parameter out.
func (p parameter) secret() bool {
	switch p.Name {
	case "token", "password", "api_key", "webhook":
		return true
	}
	return strings.HasSuffix(p.Name, "_secret") || strings.HasSuffix(p.Name, "_license_key")
}

func listIntegrations(c *call) answer {
	docs := []*Document{}
	for _, slug := range slices.Sorted(maps.Keys(c.group.integrations)) {
		docs = append(docs, c.group.integrations[slug].document())
	}
	return c.page(listOf(docs))
}

func getIntegration(c *call) answer {
	i := c.group.integrations[c.args["slug"]]
	if i == nil {
		return missing("Integration")
	}
	return ok(i.document()).as("single")
}

// setIntegration sets an integration up or replaces its settings by the given values; what is left out has its default.
func setIntegration(c *call) answer {
	kind := c.integrationKind(c.args["slug"])
	if kind == nil {
		return refused(http.StatusNotFound, "404 Not Found")
	}
	var problems []string
	values := map[string]any{}
	for _, p := range kind.Params {
		problems = append(problems, c.check(p)...)
		if value, given := c.integrationValue(p); given {
			values[p.Name] = value
		}
	}
	if len(problems) > 0 {
		return refused(http.StatusBadRequest, problems...)
	}
	if values["use_inherited_settings"] == true {
		c.inherit(kind, values)
	}
	i := c.group.integrations[kind.Slug]
	if i == nil {
		i = &integration{id: c.nextID("integration", 1), created: c.now()}
	}
	i.kind, i.values, i.updated = kind, values, c.now()
	if c.group.integrations == nil {
		c.group.integrations = map[string]*integration{}
	}
	c.group.integrations[kind.Slug] = i
	return ok(i.document()).as("single")
}

// integrationValue is a parameter with its type, or its default.
func (c *call) integrationValue(p parameter) (any, bool) {
	if !c.has(p.Wire) {
		return p.Default, p.Default != nil
	}
	text := c.text(p.Wire)
	switch p.Type {
	case "boolean":
		return text == "true", true
	case "integer":
		n, _ := strconv.ParseInt(text, 10, 64)
		return n, true
	}
	return text, true
}

// inherit takes the settings of the nearest group above that has the integration.
func (c *call) inherit(kind *integrationKind, values map[string]any) {
	for g := c.group.parent; g != nil; g = g.parent {
		if i := g.integrations[kind.Slug]; i != nil {
			maps.Copy(values, i.values)
			values["use_inherited_settings"] = true
			return
		}
	}
}

func disableIntegration(c *call) answer {
	if c.group.integrations[c.args["slug"]] == nil {
		return missing("Integration")
	}
	delete(c.group.integrations, c.args["slug"])
	return answer{status: http.StatusNoContent}
}
