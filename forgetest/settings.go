package forgetest

import (
	"math"
	"reflect"
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

// FillSettings changes the application settings without a call. The two names of one setting go together.
func (s *Server) FillSettings(fill func(settings *Document)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.settingsNow()
	before := d.clone()
	fill(d)
	for old, name := range settingAliases() {
		if !reflect.DeepEqual(d.Get(old), before.Get(old)) {
			d.Set(name, newSetting(old, d.Get(old)))
		}
	}
	d.mirrorAliases()
	s.settings.visible = d
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

// settingsInForce are the settings as the platform acts on them: a change shows once the cache interval has passed.
func (c *call) settingsInForce() *Document {
	c.settingsNow()
	if !c.now().Before(c.settings.visibleFrom) {
		c.settings.visible = c.settings.current
	}
	return c.settings.visible
}

func getSettings(c *call) answer { return c.settingsAnswer(c.settingsInForce()) }

func (c *call) settingsAnswer(d *Document) answer {
	a := ok(d)
	if c.gitlab {
		a.words = words().Settings
	}
	return a
}

// updateSettings changes what is given, as JSON, form or query. Names that are no settings, and settings that tier, offering
// or release do not have, are ignored, as the platform does.
func updateSettings(c *call) answer {
	u := &settingsUpdate{call: c, to: c.settingsNow().clone(), given: map[string]bool{}}
	if a := u.read(); a != nil {
		return *a
	}
	if a := u.joinAliases(); a != nil {
		return *a
	}
	if a := u.check(); a != nil {
		return *a
	}
	u.to.mirrorAliases().Set("updated_at", c.now())
	c.settings.publish(u.to, c.now())
	return c.settingsAnswer(u.to)
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
