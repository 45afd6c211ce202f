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

// inheritance is the parameter that makes a group use the values of a group above; every kind has
// it.
const inheritance = "use_inherited_settings"

// integration is a configured integration of a group.
type integration struct {
	id               int64
	kind             *integrationKind
	values           map[string]any // the group's own values, kept while it inherits others
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

// Integration returns the settings of a group's integration by its slug, secrets included; nil if
// it is not set up.
func (g *Group) Integration(slug string) map[string]any {
	g.srv.edit()
	defer g.srv.mu.Unlock()
	i := g.integrations[slug]
	if i == nil {
		return nil
	}
	return maps.Clone(g.effectiveValues(i))
}

// effectiveValues returns the values of an integration of the group. With inheritance they are the
// values of the nearest group above that has the integration.
func (g *Group) effectiveValues(i *integration) map[string]any {
	if above, source := g.inheritsFrom(i); source != nil {
		values := maps.Clone(above.effectiveValues(source))
		values[inheritance] = true
		return values
	}
	return i.values
}

// inheritsFrom returns the integration of the nearest group above; nil without inheritance.
func (g *Group) inheritsFrom(i *integration) (*Group, *integration) {
	for above := g.parent; above != nil && i.values[inheritance] == true; above = above.parent {
		if source := above.integrations[i.kind.Slug]; source != nil {
			return above, source
		}
	}
	return nil, nil
}

// integrationKind finds a kind by its slug. The contract does not name most slugs: with
// [WithNeutralNames] the id of the kind in the catalogue is used ("task_tracker").
func (s *Server) integrationKind(slug string) *integrationKind {
	for _, k := range catalogue().endpoints["PUT /groups/:id/integrations/:slug"].Kinds {
		own := orElse(k.Slug, k.ID)
		if !s.neutral {
			own = vocabulary().Integrations[k.ID]["slug"]
		}
		if own == slug {
			return s.withServerNames(k, own)
		}
	}
	return nil
}

// withServerNames returns a kind with the names that the server uses.
func (s *Server) withServerNames(k *integrationKind, slug string) *integrationKind {
	own := &integrationKind{ID: k.ID, Kind: k.Kind, Slug: slug, Params: slices.Clone(k.Params)}
	for i, p := range own.Params {
		if word := vocabulary().Integrations[k.ID][p.Name]; !s.neutral && word != "" {
			own.Params[i].Name, own.Params[i].Wire = word, word
		}
	}
	return own
}

// renderIntegration returns the summary of the list. The single view adds the properties without
// secrets, as the deployed server does.
func (g *Group) renderIntegration(i *integration) *Document {
	values := g.effectiveValues(i)
	d := NewDocument("IntegrationSummary").Set("id", i.id).Set("title", strings.ToUpper(i.kind.Kind[:1])+i.kind.Kind[1:]).
		Set("slug", i.kind.Slug).Set("created_at", i.created).Set("updated_at", i.updated).Set("active", true).
		Set("comment_on_event_enabled", true).Set("vulnerability_events", false)
	d.Set("inherited", values[inheritance] == true)
	properties := map[string]any{}
	for _, p := range i.kind.Params {
		value, given := values[p.Name]
		_, isField := d.shape.index[p.Name]
		switch {
		case isField:
			d.Set(p.Name, value == true)
		case !p.secret() && p.Name != inheritance && given:
			properties[p.Name] = value
		}
	}
	return d.Set("properties", properties)
}

// secret reports whether responses omit a parameter because it is a key or an address that contains
// one. A channel can contain one, too: it overrides the webhook (Document 3 §4.2.2).
func (p parameter) secret() bool {
	switch p.Name {
	case "token", "password", "api_key", "webhook":
		return true
	}
	if p.Overrides != "" {
		return true
	}
	return strings.HasSuffix(p.Name, "_secret") || strings.HasSuffix(p.Name, "_license_key")
}

func listIntegrations(c *call) response {
	docs := []*Document{}
	for _, slug := range slices.Sorted(maps.Keys(c.group.integrations)) {
		docs = append(docs, c.group.renderIntegration(c.group.integrations[slug]))
	}
	return c.page(listOf(docs))
}

func getIntegration(c *call) response {
	i := c.group.integrations[c.args["slug"]]
	if i == nil {
		return notFound("Integration")
	}
	return ok(c.group.renderIntegration(i)).as("single")
}

// allowed reports whether the instance allows a kind (Document 3 §4.1.1). The list contains the
// slug of the kind, or the slug with underscores, which is the name in the deployed product.
func (c *call) allowed(kind *integrationKind) bool {
	d := c.effectiveSettings()
	if _, f, _ := d.locate("allow_all_integrations"); !f.Only.available(c.server) || d.bool(f.Name) {
		return true
	}
	names := texts(d.Get("allowed_integrations"))
	return slices.Contains(names, kind.Slug) || slices.Contains(names, strings.ReplaceAll(kind.Slug, "-", "_"))
}

// texts returns the texts of a list, which a document holds in one of two forms.
func texts(list any) (texts []string) {
	switch list := list.(type) {
	case []string:
		return list
	case []any:
		for _, item := range list {
			if text, isText := item.(string); isText {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// setIntegration sets up an integration or replaces its settings. An omitted parameter gets its
// default. Required parameters stay required with inheritance.
func setIntegration(c *call) response {
	kind := c.server.integrationKind(c.args["slug"])
	if kind == nil {
		return rejected(http.StatusNotFound, "404 Not Found")
	}
	if !c.allowed(kind) {
		return failure(http.StatusBadRequest, "400 Bad request - the integration %s is not in allowed_integrations", kind.Slug)
	}
	c.coerce(kind.Params)
	var problems []string
	values := map[string]any{}
	for _, p := range kind.Params {
		problems = append(problems, c.check(p)...)
		if value, given := c.integrationValue(p); given {
			values[p.Name] = value
		}
	}
	if len(problems) > 0 {
		return rejected(http.StatusBadRequest, problems...)
	}
	i := c.group.integrations[kind.Slug]
	if i == nil {
		i = &integration{id: c.store.nextID("integration", 1), created: c.server.now()}
	}
	i.kind, i.values, i.updated = kind, values, c.server.now()
	if c.group.integrations == nil {
		c.group.integrations = map[string]*integration{}
	}
	c.group.integrations[kind.Slug] = i
	return ok(c.group.renderIntegration(i)).as("single")
}

// integrationValue returns a parameter with its type, or its default.
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

func disableIntegration(c *call) response {
	if c.group.integrations[c.args["slug"]] == nil {
		return notFound("Integration")
	}
	c.server.removeIntegration(c.group, c.args["slug"])
	return response{status: http.StatusNoContent}
}

// removeIntegration removes a group's integration. Groups below that inherit it, and have no other
// group above with the integration, use their own values again.
func (s *Server) removeIntegration(from *Group, slug string) {
	heirs := map[*integration]*Group{}
	for _, g := range s.store.groups {
		if i := g.integrations[slug]; i != nil {
			if above, _ := g.inheritsFrom(i); above == from {
				heirs[i] = g
			}
		}
	}
	delete(from.integrations, slug)
	for i, g := range heirs {
		if above, _ := g.inheritsFrom(i); above == nil {
			i.values[inheritance] = false
		}
	}
}
