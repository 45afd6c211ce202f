package forge

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// speaking returns the client of serve with a vocabulary.
func speaking(t *testing.T, v Vocabulary, exchanges ...exchange) *Client {
	t.Helper()
	c, err := serve(t, exchanges...).With(WithVocabulary(v))
	require.NoError(t, err)
	return c
}

// The table has exactly the words of the catalogue and of deployed servers.
func TestWords(t *testing.T) {
	want := []wordPair{
		{entityWord, "Gitlab::Audit::InstanceScope", "Service::Audit::InstanceScope"},
		{columnWord, "GitLab username", "Platform username"}, {columnWord, "GitLab public email", "Platform public email"},
		{mediaWord, "application/vnd.docker.distribution.manifest.v2+json", ""}, {scopeWord, "manage_runner", "manage_runners"},
	}
	assert.ElementsMatch(t, want, wordPairs)
	slugs := map[string]string{}
	for id, names := range catalogue.IntegrationWords() {
		slugs[names["slug"]] = id
	}
	assert.Equal(t, slugs, words().neutral[slugWord])
	settings := map[string]string{}
	for neutral, word := range catalogue.SettingWords() {
		if settings[word] = neutral; strings.HasPrefix(neutral, "<") {
			settings[word] = ""
		}
	}
	assert.Equal(t, settings, words().neutral[settingWord])
	for kind, named := range words().gitlab {
		assert.NotContains(t, named, "", kind)
	}
}

func TestWithVocabulary(t *testing.T) {
	_, err := NewClient("https://forge.example.com", WithVocabulary(2))
	require.ErrorContains(t, err, "WithVocabulary: there are only GitLab and Neutral")
	c := speaking(t, Neutral, exchange{sent: "PUT /application/settings", body: `{"antispam_enabled":true,"antispam_api_key":"k","admin_mode":true}`, answer: `{"id":1,"antispam_enabled":true}`},
		exchange{sent: "GET /application/settings", answer: `{"id":1,"antispam_enabled":true,"x":{"antispam_enabled":1}}`})
	// Renaming changes only the names at the top.
	settings, err := c.Settings.Update(t.Context(), &UpdateSettingsOptions{AkismetEnabled: new(true), AkismetAPIKey: new("k"), Extra: map[string]any{"admin_mode": true}})
	require.NoError(t, err)
	assert.Equal(t, new(true), settings.AkismetEnabled)
	settings, err = c.Settings.Get(t.Context())
	require.NoError(t, err)
	assert.JSONEq(t, `{"antispam_enabled":1}`, string(settings.Extra["x"]))
}

// A response in the words of the other vocabulary is an error that names the option, for each word.
func TestOtherVocabulary(t *testing.T) {
	answer := ""
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	defer srv.Close()
	c, err := NewClient(srv.URL)
	require.NoError(t, err)
	neutral, err := c.With(WithVocabulary(Neutral))
	require.NoError(t, err)
	calls := []func(*Client) error{
		func(c *Client) error { _, err := c.Settings.Get(t.Context()); return err },
		func(c *Client) error { _, err := c.Settings.Update(t.Context(), nil); return err },
		func(c *Client) error {
			_, err := c.Settings.Apply(t.Context(), (&UpdateSettingsOptions{AdminMode: new(true)}).Diff())
			return err
		},
		func(c *Client) error { _, err := c.Settings.Verify(t.Context(), nil); return err },
	}
	named := 0
	for gitlab, documents := range words().neutral[settingWord] {
		if documents == "" {
			continue
		}
		named++
		for word, clients := range map[string][2]*Client{gitlab: {c, neutral}, documents: {neutral, c}} {
			answer = `{"id":1,"` + word + `":null}`
			for _, call := range calls {
				require.NoError(t, call(clients[0]), word)
				err := call(clients[1])
				require.ErrorIs(t, err, ErrInvalidResponse, word)
				assert.ErrorContains(t, err, "WithVocabulary(forge.Neutral)")
			}
		}
	}
	assert.Equal(t, 24, named)
	for _, answer = range []string{`{"admin_mode":tru`, `{"admin_mode":true} x`, "[]", ""} { // errors of the decoder
		require.EqualError(t, calls[0](neutral), calls[0](c).Error(), answer)
	}
	answer = `{"id":1}`
	_, err = neutral.Settings.Update(t.Context(), &UpdateSettingsOptions{AdminMode: new(true)})
	require.NoError(t, err)
	answer = `{"geo_status_timeout":10}`
	_, err = neutral.Settings.Update(t.Context(), &UpdateSettingsOptions{AdminMode: new(true)})
	var failed *Error
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.MaybeApplied, "a setting with the same name in both was applied")
	assert.Equal(t, 1, failed.Attempts)
	for v, want := range map[Vocabulary]string{
		Neutral: "the server uses GitLab's words (geo_status_timeout for replica_status_timeout), so settings would be lost silently: create the client without WithVocabulary(forge.Neutral)",
		GitLab:  "the server uses the documents' words (replica_status_timeout for geo_status_timeout), so settings would be lost silently: create the client with WithVocabulary(forge.Neutral)",
	} {
		word, _ := (Neutral - v).wire(settingWord, "geo_status_timeout")
		_, err = v.translateSettings([]byte(`{"` + word + `":10}`))
		require.EqualError(t, err, want)
	}
}

// What a caller names by hand in the words of the other vocabulary is refused, with the right word.
func TestForeignWords(t *testing.T) {
	ctx, c, neutral := t.Context(), speaking(t, GitLab), speaking(t, Neutral)
	update := func(c *Client, extra string, opts ...RequestOption) error {
		_, err := c.Settings.Update(ctx, &UpdateSettingsOptions{Extra: map[string]any{extra: true}}, opts...)
		return err
	}
	assertRefused(t, update(c, "antispam_enabled"), "UpdateSettingsOptions.Extra", "antispam_enabled")
	list := func(o *ListAuditEventsOptions, opts ...RequestOption) error {
		_, err := Collect(c.AuditEvents.List(ctx, o, opts...))
		return err
	}
	get := func(c *Client, name IntegrationName) error {
		_, err := c.Integrations.Get(ctx, ID(7), name)
		return err
	}
	_, applied := c.Settings.Apply(ctx, &SettingsDiff{Changes: []SettingDifference{{Name: "antispam_enabled", Want: []byte("true")}}})
	for text, err := range map[string]error{
		"antispam_enabled is the documents' name: GitLab calls it akismet_enabled":           update(c, "antispam_enabled"),
		"akismet_enabled is GitLab's name: the documents call it antispam_enabled":           update(neutral, "akismet_enabled"),
		"chatapp_id is the documents' name: GitLab calls it slack_app_id":                    update(c, "admin_mode", Query("chatapp_id", "1")),
		"antispam_enabled): antispam_enabled is the documents' name":                         applied,
		"Service::Audit::InstanceScope is the documents' name: GitLab calls it Gitlab::Audi": list(nil, Query("entity_type", "Service::Audit::InstanceScope")),
		"EntityType (entity_type): Service::Audit::InstanceScope is the documents' name":     list(&ListAuditEventsOptions{EntityType: "Service::Audit::InstanceScope"}),
		"team_chat_b is the documents' name: GitLab calls it telegram":                       get(c, IntegrationKind("team_chat_b")),
		"team_chat_c is the documents' name: GitLab calls it unify-circuit":                  get(neutral, IntegrationKind("team_chat_c")),
		"build_server is the documents' name: GitLab calls it bamboo":                        get(c, IntegrationSlug("build_server")),
		"line 1: codeintel_url is the documents' name: GitLab calls it sourcegraph_url":      new(ApplicationSettings).Merge([]byte(`{"codeintel_url":"u"}`)),
	} {
		require.ErrorAs(t, err, new(*ValidationError), text)
		assert.ErrorContains(t, err, text)
	}
	// Elsewhere the same words have no meaning, and the parameters of a Call are the caller's own.
	query := url.Values{"antispam_enabled": {"1"}, "search": {"Service::Audit::InstanceScope"}}
	r := c.Runners.newPut("/runners/:id", int64(1)).json(&UpdateRunnerOptions{Extra: map[string]any{"antispam_enabled": true}})
	require.NoError(t, r.checkWords(&callOptions{query: query}))
	query["entity_type"] = query["search"]
	require.Error(t, r.checkWords(&callOptions{query: query}))
	require.NoError(t, c.customRequest(Call{Route: "/audit_events"}).checkWords(&callOptions{query: query}))
	require.NotEmpty(t, words().neutral[slugWord]["bamboo"])
	assert.Empty(t, Neutral.foreign(slugWord, "bamboo"), "a slug may be of a server's own integration")
	assert.Empty(t, GitLab.foreignIn([]string{"User", "Group"}))
	assert.Equal(t, GitLab.foreign(entityWord, "Service::Audit::InstanceScope"), GitLab.foreignIn([]string{"User", "Service::Audit::InstanceScope"}))
}

// What the documents leave without a name is refused by a client in their words.
func TestUnnamedWords(t *testing.T) {
	c := speaking(t, Neutral,
		exchange{sent: "PUT /application/settings", body: `{"plantuml_enabled":true}`, answer: `{}`},
		exchange{sent: "PUT /groups/7/integrations/eye", body: `{"use_inherited_settings":false,"eye_env":"prod"}`, answer: `{}`},
		exchange{sent: "PUT /groups/7/integrations/ewm", body: `{"new_issue_url":"n","issues_url":"i","project_url":"p"}`, answer: `{}`})
	for _, name := range catalogue.UnnamedSettings() {
		o := &UpdateSettingsOptions{}
		oneSetting(t, o, name)
		_, err := c.Settings.Update(t.Context(), o, SkipValidation())
		assertRefused(t, err, "UpdateSettingsOptions."+fieldOf(reflect.TypeOf(o), name), name)
		assert.ErrorContains(t, err, "omit WithVocabulary(forge.Neutral), or set it yourself, in Extra")
	}
	_, err := c.Settings.Update(t.Context(), &UpdateSettingsOptions{Extra: map[string]any{"plantuml_enabled": true}})
	require.NoError(t, err)
	_, err = c.Settings.Update(t.Context(), &UpdateSettingsOptions{AkismetEnabled: new(true), AkismetAPIKey: new("k"), Extra: map[string]any{"antispam_enabled": false}})
	assert.ErrorContains(t, err, `Extra holds "antispam_enabled", which a field sets too`)
	for _, kind := range []IntegrationKind{IntegrationBamboo, IntegrationDatadog} {
		_, err := c.Integrations.Get(t.Context(), ID(7), kind)
		assertRefused(t, err, "argument", "slug")
	}
	require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &CustomIntegration{Slug: "eye", UseInheritedSettings: new(false), Params: map[string]any{"eye_env": "prod"}}))
	require.NoError(t, c.Integrations.Set(t.Context(), ID(7), &EWMOptions{NewIssueURL: "n", IssuesURL: "i", ProjectURL: "p"}))
}

// A cursor that was stored under one vocabulary continues the list under the other.
func TestCursorsInBothWords(t *testing.T) {
	for _, v := range []Vocabulary{GitLab, Neutral} {
		other := Neutral - v
		here, _ := v.wire(entityWord, string(AuditEntityTypeInstance))
		there, _ := other.wire(entityWord, string(AuditEntityTypeInstance))
		filter := func(word string) string { return "entity_type=" + strings.ReplaceAll(word, ":", "%3A") + "&" }
		o := &ListAuditEventsOptions{EntityType: AuditEntityTypeInstance}
		next := `<https://forge.example.com/api/v4/audit_events?cursor=c2&` + filter(here) + auditPages + `>; rel="next"`
		c := speaking(t, v, exchange{sent: "GET /audit_events", query: filter(here) + auditPages, answer: `[{"id":1}]`, header: map[string]string{"Link": next}})
		var page Response
		_, err := Collect(c.AuditEvents.List(t.Context(), o, OnePage(), Into(&page)))
		require.NoError(t, err)
		c = speaking(t, other, exchange{sent: "GET /audit_events", query: "cursor=c2&" + filter(there) + auditPages, answer: `[{"id":2}]`})
		events, err := Collect(c.AuditEvents.List(t.Context(), o, StartAt(page.Cursor)))
		require.NoError(t, err)
		assert.True(t, slices.ContainsFunc(events, func(e *AuditEvent) bool { return e.ID == 2 }))
	}
}
