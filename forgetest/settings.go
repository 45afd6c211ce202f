package forgetest

import (
	"math"
	"reflect"
	"time"
)

// settings are the application settings. Reads show a write when the cache interval has passed.
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

// SetSettingsCacheTTL sets for how long, by the server's clock, reads of the application settings
// may show the values from before a write. The platform's default is 60 seconds.
// Here the default is 0, so that tests need not wait: reads show a write immediately. Use
// SetSettingsCacheTTL(time.Minute) to test a program that reads settings after it wrote them.
func (s *Server) SetSettingsCacheTTL(d time.Duration) {
	s.edit()
	defer s.mu.Unlock()
	s.store.settings.interval = d
}

// EditSettings changes the application settings without a call. If a setting has two names, both
// change.
func (s *Server) EditSettings(fill func(settings *Document)) {
	s.edit()
	defer s.mu.Unlock()
	d := s.latestSettings()
	before := d.clone()
	fill(d)
	for old, name := range settingAliases() {
		if !reflect.DeepEqual(d.Get(old), before.Get(old)) {
			d.Set(name, newSetting(old, d.Get(old)))
		}
	}
	d.mirrorAliases()
	s.store.settings.visible = d
}

// latestSettings returns the settings as last written. The caller holds mu.
func (s *Server) latestSettings() *Document {
	if s.store.settings.current == nil {
		s.store.settings.current = s.defaultSettings()
		s.store.settings.visible = s.store.settings.current
	}
	return s.store.settings.current
}

// defaultSettings returns the defaults of the contract, and values for some settings that have no
// default there.
func (s *Server) defaultSettings() *Document {
	d := NewDocument("ApplicationSettings").Set("id", 1).Set("created_at", s.now()).Set("updated_at", s.now())
	for i, f := range d.shape.fields {
		if d.values[i] == nil && !f.Nullable && f.Format == "" {
			d.values[i] = f.empty()
		}
	}
	d.Set("password_authentication_enabled_for_web", true).Set("session_expire_delay", 10_080).Set("can_create_group", true).
		Set("default_projects_limit", 100_000).Set("default_branch_protection", 2).Set("default_preferred_language", "en").
		Set("default_snippet_visibility", "private").Set("default_project_visibility", "private").
		Set("default_group_visibility", "private").Set("gravatar_enabled", true).Set("deletion_adjourned_period", 30).
		Set("max_attachment_size", 100).Set("polling_interval_multiplier", 1.0).Set("whats_new_variant", "all_tiers").
		Set("allow_all_integrations", true).Set("inactive_projects_send_warning_email_after_months", 1).
		Set("repository_storages_weighted", map[string]any{"default": 100})
	for _, p := range catalogue().endpoints["PUT /application/settings"].BodyParams {
		switch v := p.Default.(type) {
		case nil:
		case float64:
			d.Set(p.Name, int64(math.Round(v)))
		default:
			d.Set(p.Name, v)
		}
	}
	return d.mirrorAliases()
}

// effectiveSettings returns the settings that are in effect: a change takes effect when the cache
// interval has passed.
func (c *call) effectiveSettings() *Document {
	c.server.latestSettings()
	if !c.server.now().Before(c.store.settings.visibleFrom) {
		c.store.settings.visible = c.store.settings.current
	}
	return c.store.settings.visible
}

func getSettings(c *call) response { return c.settingsResponse(c.effectiveSettings()) }

func (c *call) settingsResponse(d *Document) response {
	a := ok(d)
	if !c.server.neutral {
		a.fieldNames = vocabulary().Settings
	}
	return a
}

// updateSettings changes the settings that the call names, as JSON, form or query. Like the
// platform, it ignores unknown names, and settings that the tier, the offering or the release does
// not have.
func updateSettings(c *call) response {
	u := &settingsUpdate{call: c, to: c.server.latestSettings().clone(), given: map[string]bool{}}
	if a := u.read(); a != nil {
		return *a
	}
	if a := u.joinAliases(); a != nil {
		return *a
	}
	if a := u.check(); a != nil {
		return *a
	}
	u.to.mirrorAliases().Set("updated_at", c.server.now())
	c.store.settings.publish(u.to, c.server.now())
	return c.settingsResponse(u.to)
}

// publish makes a new object the current one. Reads show the old object until the cache interval
// has passed since the first write that they do not show.
func (s *settings) publish(d *Document, now time.Time) {
	if !now.Before(s.visibleFrom) {
		s.visible = s.current
		s.visibleFrom = now.Add(s.interval)
	}
	s.current = d
}
