package forgetest

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settings are the application settings. A write shows in later reads once the cache interval has passed.
type settings struct {
	current, visible *Document
	visibleFrom      time.Time // when current becomes visible
	interval         time.Duration
}

func settingsRoutes() []route {
	return []route{
		{name: "GET /application/settings", admin: true, handle: getSettings},
		{name: "PUT /application/settings", admin: true, handle: updateSettings},
	}
}

// SettingsCache sets for how long, by the server's clock, reads of the application settings may show the values from before
// a write. The platform's default is 60 seconds (document 3 §1); here it is 0, a write shows at once.
func (s *Server) SettingsCache(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings.interval = d
}

// FillSettings changes the application settings without a call.
func (s *Server) FillSettings(fill func(settings *Document)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	fill(s.settingsNow())
	s.settings.visible = s.settings.current
}

// settingsNow are the settings as last written. The caller holds mu.
func (s *Server) settingsNow() *Document {
	if s.settings.current == nil {
		s.settings.current = s.defaultSettings()
		s.settings.visible = s.settings.current
	}
	return s.settings.current
}

// defaultSettings are the defaults that the contract shows, and a few that keep the object plausible.
func (s *Server) defaultSettings() *Document {
	d := NewDocument("ApplicationSettings").Set("id", 1).Set("created_at", s.now()).Set("updated_at", s.now()).
		Set("password_authentication_enabled_for_web", true).Set("session_expire_delay", 10_080).Set("can_create_group", true).
		Set("default_projects_limit", 100_000).Set("default_branch_protection", 2).Set("default_preferred_language", "en").
		Set("default_snippet_visibility", "private").Set("default_project_visibility", "private").
		Set("default_group_visibility", "private").Set("gravatar_enabled", true).Set("deletion_adjourned_period", 30).
		Set("max_attachment_size", 100).Set("polling_interval_multiplier", 1.0).
		Set("repository_storages_weighted", map[string]any{"default": 100})
	for _, p := range catalogue().endpoints["PUT /application/settings"].BodyParams {
		if p.Default != nil {
			d.setSetting(p.Name, p.Default)
		}
	}
	return d
}

func getSettings(c *call) answer {
	c.settingsNow()
	if !c.now().Before(c.settings.visibleFrom) {
		c.settings.visible = c.settings.current
	}
	return c.settingsAnswer(c.settings.visible)
}

func (c *call) settingsAnswer(d *Document) answer {
	a := ok(d)
	if c.gitlab {
		a.words = words().Settings
	}
	return a
}

// updateSettings changes what is given, as JSON, form or query. Names that are no settings are ignored, as the platform does.
func updateSettings(c *call) answer {
	d := c.settingsNow().clone()
	for _, f := range d.shape.fields {
		value, given := c.setting(f.Name)
		if !given || f.Name == "id" || f.Format != "" {
			continue
		}
		if !d.setSetting(f.Name, value) {
			return refused(http.StatusBadRequest, f.Name+" is invalid")
		}
	}
	for old, name := range settingAliases() {
		if value, given := c.setting(old); given {
			d.setSetting(name, value)
		}
		d.setSetting(old, d.Get(name))
	}
	if a := c.checkSettings(d); a != nil {
		return *a
	}
	d.Set("updated_at", c.now())
	c.settings.publish(d, c.now())
	return c.settingsAnswer(d)
}

// publish makes a new object the current one. Reads go on showing the old one until the interval since the first write that
// they do not show is over.
func (s *settings) publish(d *Document, now time.Time) {
	if !now.Before(s.visibleFrom) {
		s.visible = s.current
		s.visibleFrom = now.Add(s.interval)
	}
	s.current = d
}

// settingAliases are deprecated names of settings; both names always show the same value.
func settingAliases() map[string]string {
	return map[string]string{
		"admin_notification_email":                     "abuse_notification_email",
		"allow_local_requests_from_hooks_and_services": "allow_local_requests_from_web_hooks_and_services",
		"asset_proxy_whitelist":                        "asset_proxy_allowlist",
		"signin_enabled":                               "password_authentication_enabled_for_web",
	}
}

// setting reads a parameter in any of its encodings.
func (c *call) setting(name string) (value any, given bool) {
	if value, given = c.object[name]; given {
		return value, true
	}
	if c.params.Has(name) {
		return c.params.Get(name), true
	}
	if c.params.Has(name + "[]") {
		return slices.DeleteFunc(slices.Clone(c.params[name+"[]"]), func(v string) bool { return v == "" }), true
	}
	hash := map[string]any{}
	for wire, values := range c.params {
		if key, found := strings.CutPrefix(wire, name+"["); found && strings.HasSuffix(key, "]") && !strings.Contains(key, "[") {
			hash[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return hash, len(hash) > 0
}

// setSetting converts a value to the type of the setting. It reports whether that was possible.
func (d *Document) setSetting(name string, value any) bool {
	_, f, i := d.locate(name)
	converted, fits := f.parse(value)
	if fits {
		d.values[i] = converted
	}
	return fits
}

// parse brings a JSON or text value to the form in which documents keep a field.
func (f *field) parse(value any) (any, bool) {
	switch v := value.(type) {
	case nil:
		if f.Nullable && f.Type != "boolean" {
			return nil, true
		}
		return f.zero(), true
	case bool:
		if f.Type == "string" {
			return strconv.FormatBool(v), true
		}
		return v, f.Type == "boolean"
	case json.Number:
		return f.parseText(v.String())
	case float64: // a default of the catalogue
		return f.parseText(decimal(int64(math.Round(v))))
	case string:
		return f.parseText(v)
	case []any, []string:
		return v, f.Type == "array"
	case map[string]any:
		return v, f.Type == "object" || f.Type == "hash"
	}
	return value, true // already in the form of a document
}

func (f *field) parseText(s string) (any, bool) {
	switch f.Type {
	case "boolean":
		return s == "true", s == "true" || s == "false"
	case "integer":
		n, valid := parseID(s)
		if s == "" && f.Nullable {
			return nil, true
		}
		return n, valid
	case "number":
		var n float64
		_, err := fmt.Sscan(s, &n)
		return n, err == nil
	case "array":
		return slices.DeleteFunc(strings.Split(s, ","), func(v string) bool { return v == "" }), true
	case "object", "hash":
		return nil, false
	}
	return s, true
}

// checkSettings holds the new values to the limits of the contract.
func (c *call) checkSettings(d *Document) *answer {
	for _, p := range c.route.endpoint.BodyParams {
		n, isNumber := d.Get(p.Name).(int64)
		if !c.given(p.Name) || !isNumber {
			continue
		}
		if problem := p.unmet(func(name string) bool { return d.bool(name) }); problem != "" {
			return fail(invalid(p.Name, problem))
		}
		switch {
		case p.Min != nil && n < *p.Min:
			return fail(invalid(p.Name, fmt.Sprintf("must be greater than or equal to %d", *p.Min)))
		case p.Max != nil && n > *p.Max:
			return fail(invalid(p.Name, fmt.Sprintf("must be less than or equal to %d", *p.Max)))
		}
	}
	return nil
}
