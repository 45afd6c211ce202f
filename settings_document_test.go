package forge

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// settingsOf decodes a document, like a program that stores one in a file.
func settingsOf(t *testing.T, text string) *ApplicationSettings {
	t.Helper()
	settings := new(ApplicationSettings)
	require.NoError(t, json.Unmarshal([]byte(text), settings))
	return settings
}

// changesAsJSON writes changes as an object.
func changesAsJSON(t *testing.T, changes []SettingDifference) string {
	t.Helper()
	object := map[string]json.RawMessage{}
	for _, c := range changes {
		assert.Empty(t, c.Reason)
		object[c.Name] = c.Want
	}
	text, err := json.Marshal(object)
	require.NoError(t, err)
	return string(text)
}

func names(differences []SettingDifference) (list []string) {
	for _, d := range differences {
		list = append(list, d.Name)
	}
	return list
}

// Each way to edit a document that was read, both the value itself and a shallow copy.
func TestSettingsChanges(t *testing.T) {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	for _, test := range []struct {
		name    string
		change  func(s *ApplicationSettings)
		changes string
		notSent []string
	}{
		{"nothing", func(*ApplicationSettings) {}, `{}`, nil},
		{"fields", func(s *ApplicationSettings) { s.AdminMode, s.SnippetSizeLimit, s.Terms = false, 0, "" }, `{"admin_mode":false,"snippet_size_limit":0,"terms":""}`, nil},
		{"an element of a slice", func(s *ApplicationSettings) { s.DomainAllowlist[0] = "b.example" }, `{"domain_allowlist":["b.example","example.org"]}`, nil},
		{"a longer slice", func(s *ApplicationSettings) { s.DomainAllowlist = append(s.DomainAllowlist, "c.example") },
			`{"domain_allowlist":["a.example","example.org","c.example"]}`, nil},
		{"a slice is cleared", func(s *ApplicationSettings) { s.DomainAllowlist = nil }, `{"domain_allowlist":[]}`, nil},
		{"an entry of a map", func(s *ApplicationSettings) { s.RepositoryStoragesWeighted["cold"] = 1 }, `{"repository_storages_weighted":{"default":100,"cold":1}}`, nil},
		{"an entry is deleted", func(s *ApplicationSettings) { delete(s.RepositoryStoragesWeighted, "default") }, `{"repository_storages_weighted":{"cold":2}}`, nil},
		{"a map is cleared", func(s *ApplicationSettings) { s.RepositoryStoragesWeighted = nil }, `{"repository_storages_weighted":{}}`, nil},
		{"an object is replaced", func(s *ApplicationSettings) {
			s.DefaultBranchProtectionDefaults.AllowedToPush = append(s.DefaultBranchProtectionDefaults.AllowedToPush, BranchAccess{AccessLevel: 30})
		}, `{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":40,"x":1},{"access_level":30}],"y":2}}`, nil},
		{"an object loses what no field names", func(s *ApplicationSettings) { delete(s.DefaultBranchProtectionDefaults.Extra, "y") },
			`{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":40,"x":1}]}}`, nil},
		{"an object keeps what no field names", func(s *ApplicationSettings) { s.DefaultBranchProtectionDefaults.AllowedToPush[0].AccessLevel = 30 },
			`{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":30,"x":1}],"y":2}}`, nil},
		{"an object gains a member", func(s *ApplicationSettings) { s.DefaultBranchProtectionDefaults.AllowForcePush = true },
			`{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":40,"x":1}],"allow_force_push":true,"y":2}}`, nil},
		{"a name that no field has", func(s *ApplicationSettings) { s.Extra["unheard_of"] = raw(`{"a":2}`) }, `{"unheard_of":{"a":2}}`, nil},
		{"a new name", func(s *ApplicationSettings) { s.Extra["brand_new"] = raw(`null`) }, `{"brand_new":null}`, nil},
		{"in another form", func(s *ApplicationSettings) { s.Extra["unheard_of"] = raw(` { "a" : 1.0 } `) }, `{}`, nil},
		{"a name is removed", func(s *ApplicationSettings) { delete(s.Extra, "unheard_of") }, `{}`, []string{"unheard_of"}},
		{"identity", func(s *ApplicationSettings) { s.ID, s.UpdatedAt = 2, time.Now() }, `{}`, []string{"id", "updated_at"}},
		{"a field that could not take its value", func(s *ApplicationSettings) { s.MaxImportSize = 20 }, `{"max_import_size":20}`, nil},
		{"the old name of an alias", func(s *ApplicationSettings) { s.AllowLocalRequestsFromHooksAndServices = false }, `{"allow_local_requests_from_web_hooks_and_services":false}`, nil},
		{"its new name", func(s *ApplicationSettings) { s.AllowLocalRequestsFromWebHooksAndServices = false }, `{"allow_local_requests_from_web_hooks_and_services":false}`, nil},
		{"both names", func(s *ApplicationSettings) {
			s.AllowLocalRequestsFromHooksAndServices, s.AllowLocalRequestsFromWebHooksAndServices = false, false
		}, `{"allow_local_requests_from_web_hooks_and_services":false}`, nil},
		{"both names, in their own types", func(s *ApplicationSettings) {
			s.SigninEnabled, s.PasswordAuthenticationEnabledForWeb = new("true"), true
		},
			`{"password_authentication_enabled_for_web":true}`, nil},
		{"an alias of which only the old name is shown", func(s *ApplicationSettings) { s.AssetProxyAllowlist = []string{"z"} }, `{"asset_proxy_allowlist":["z"]}`, nil},
	} {
		const document = `{"id":1,"updated_at":"2026-01-01T00:00:00Z","admin_mode":true,"snippet_size_limit":5,"terms":"t","domain_allowlist":["a.example","example.org"],
			"repository_storages_weighted":{"default":100,"cold":2},"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":40,"x":1}],"y":2},"unheard_of":{"a":1},
			"max_import_size":"10 MB","allow_local_requests_from_hooks_and_services":true,"allow_local_requests_from_web_hooks_and_services":true,"asset_proxy_whitelist":["a"]}`
		t.Run(test.name, func(t *testing.T) {
			settings, before := settingsOf(t, document), settingsOf(t, document)
			after := *settings
			for _, s := range []*ApplicationSettings{&after, before} {
				test.change(s)
				changes := s.Diff()
				require.NoError(t, changes.Err())
				assert.JSONEq(t, test.changes, changesAsJSON(t, changes.Changes))
				assert.Equal(t, test.notSent, names(changes.NotSent))
				written, err := json.Marshal(s)
				require.NoError(t, err)
				assert.Empty(t, settingsOf(t, string(written)).Diff().Changes)
			}
			diff, err := DiffSettings(settings, &after)
			require.NoError(t, err)
			assert.JSONEq(t, test.changes, changesAsJSON(t, diff.Changes), "two values of one read")
		})
	}
}

// An edit that cannot be sent is an error that names the setting, and nothing is sent.
func TestSettingsChangesRefused(t *testing.T) {
	for want, change := range map[string]func(s *ApplicationSettings){
		"(unheard_of): its value in the map Extra is not JSON":          func(s *ApplicationSettings) { s.Extra["unheard_of"] = json.RawMessage(`{`) },
		`(unheard_of): its value in the map Extra is not JSON; nothing`: func(s *ApplicationSettings) { s.Extra["unheard_of"] = json.RawMessage(`1 2`) },
		"password_authentication_enabled_for_web, which replaces it, has another value": func(s *ApplicationSettings) {
			s.SigninEnabled, s.PasswordAuthenticationEnabledForWeb = new("false"), true
		},
		"(session_expire_delay): the map Extra holds it, although its field can: set the field SessionExpireDelay": func(s *ApplicationSettings) {
			s.Extra["session_expire_delay"] = json.RawMessage(`5`)
		},
		"(session_expire_delay): its value in the map Extra is a JSON string, but its type is integer: set the field SessionExpireDelay": func(s *ApplicationSettings) {
			s.Extra["session_expire_delay"] = json.RawMessage(`"5"`)
		},
		`ApplicationSettings.SigninEnabled (signin_enabled): it must be "true" or "false"`: func(s *ApplicationSettings) { s.SigninEnabled = new("maybe") },
		"allow_local_requests_from_hooks_and_services): it is deprecated, and allow_local_requests_from_web_hooks_and_services, which replaces it, has another value": func(s *ApplicationSettings) {
			s.AllowLocalRequestsFromHooksAndServices, s.AllowLocalRequestsFromWebHooksAndServices = true, false
		},
	} {
		settings := settingsOf(t, `{"unheard_of":1,"session_expire_delay":1,"allow_local_requests_from_web_hooks_and_services":true}`)
		change(settings)
		changes := settings.Diff()
		require.ErrorContains(t, changes.Err(), want)
		assert.Empty(t, changes.Changes)
		c := serve(t)
		_, err := c.Settings.Apply(t.Context(), changes)
		require.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "PUT /application/settings")
	}
}

// For documents of two instances, settings that only one of them has are listed and never sent.
func TestDiffSettings(t *testing.T) {
	for _, test := range []struct {
		name, have, want  string
		changes           string
		notSent, onlyHave []string
	}{
		{"the same", `{"id":1,"admin_mode":true,"x":1}`, `{"id":2,"admin_mode":true,"x":1.0}`, `{}`, nil, nil},
		{"other values", `{"admin_mode":true,"x":1}`, `{"admin_mode":false,"x":2}`, `{"admin_mode":false,"x":2}`, nil, nil},
		{"another tier", `{"admin_mode":true,"allow_all_integrations":false,"security_approval_policies_limit":5}`, `{"admin_mode":true}`, `{}`, nil,
			[]string{"allow_all_integrations", "security_approval_policies_limit"}},
		{"the other way", `{"admin_mode":true}`, `{"admin_mode":true,"allow_all_integrations":false}`, `{}`, []string{"allow_all_integrations"}, nil},
		{"empty forms", `{"domain_allowlist":null,"terms":"","admin_mode":null}`, `{"domain_allowlist":[],"terms":null,"admin_mode":false}`, `{}`, nil, nil},
		{"a decimal as text", `{"polling_interval_multiplier":"1.0"}`, `{"polling_interval_multiplier":1}`, `{}`, nil, nil},
		{"and another", `{"polling_interval_multiplier":"1.0"}`, `{"polling_interval_multiplier":2}`, `{"polling_interval_multiplier":2}`, nil, nil},
		{"beyond the numbers of a double", `{"x":9007199254740993}`, `{"x":9007199254740992}`, `{"x":9007199254740992}`, nil, nil},
		{"in other forms", `{"x":[1e3,9007199254740991],"y":{"a":-0.5}}`, `{"x":[1000,9007199254740991.0],"y":{"a":-5e-1}}`, `{}`, nil, nil},
		{"an empty key of a map is an entry", `{"repository_storages_weighted":{"a":1}}`, `{"repository_storages_weighted":{"a":1,"b":null}}`, `{"repository_storages_weighted":{"a":1,"b":null}}`, nil, nil},
		{"an empty key of an object is none", `{"default_branch_protection_defaults":{"y":1}}`, `{"default_branch_protection_defaults":{"y":1,"allow_force_push":false}}`, `{}`, nil, nil},
		{"a companion that is absent is sent", `{"codeintel_enabled":false}`, `{"codeintel_enabled":true,"codeintel_url":"https://x"}`, `{"codeintel_enabled":true}`, nil, nil},
		{"and without the change not", `{"codeintel_enabled":true}`, `{"codeintel_enabled":true,"codeintel_url":"https://x"}`, `{}`, []string{"codeintel_url"}, nil},
		{"0 is not null", `{"snippet_size_limit":0}`, `{"snippet_size_limit":null}`, `{"snippet_size_limit":null}`, nil, nil},
		{"from another type", `{"snippet_size_limit":"5 MB"}`, `{"snippet_size_limit":5}`, `{"snippet_size_limit":5}`, nil, nil},
		{"to another type", `{"snippet_size_limit":5}`, `{"snippet_size_limit":"5 MB"}`, `{}`, []string{"snippet_size_limit"}, nil},
		{"an old name against a new one", `{"asset_proxy_whitelist":["a"]}`, `{"asset_proxy_allowlist":["b"]}`, `{"asset_proxy_allowlist":["b"]}`, nil, nil},
		{"and the same value", `{"asset_proxy_allowlist":["a"]}`, `{"asset_proxy_whitelist":["a"]}`, `{}`, nil, nil},
		{"text and boolean", `{"password_authentication_enabled_for_web":false}`, `{"signin_enabled":"true"}`, `{"password_authentication_enabled_for_web":true}`, nil, nil},
		{"a deprecated setting whose replacement changes too", `{"housekeeping_gc_period":1,"housekeeping_optimize_repository_period":1}`,
			`{"housekeeping_gc_period":2,"housekeeping_optimize_repository_period":3}`, `{"housekeeping_optimize_repository_period":3}`, []string{"housekeeping_gc_period"}, nil},
		{"and alone", `{"housekeeping_gc_period":1}`, `{"housekeeping_gc_period":2}`, `{"housekeeping_gc_period":2}`, nil, nil},
	} {
		diff, err := DiffSettings(settingsOf(t, test.have), settingsOf(t, test.want))
		require.NoError(t, err, test.name)
		assert.JSONEq(t, test.changes, changesAsJSON(t, diff.Changes), test.name)
		assert.Equal(t, test.notSent, names(diff.NotSent), test.name)
		assert.Equal(t, test.onlyHave, diff.OnlyInGot, test.name)
	}
	diff, err := DiffSettings(&ApplicationSettings{MaxImportSize: 1}, &ApplicationSettings{MaxImportSize: 2})
	require.NoError(t, err)
	assert.Equal(t, []SettingDifference{{Name: "max_import_size", Got: json.RawMessage("1"), Want: json.RawMessage("2")}}, diff.Changes)
	diff, err = DiffSettings(nil, nil)
	require.NoError(t, err)
	assert.Empty(t, diff.Changes)
	want := settingsOf(t, `{"admin_mode":true}`)
	want.MaxImportSize = 7
	diff, err = DiffSettings(&ApplicationSettings{}, want)
	require.NoError(t, err)
	assert.JSONEq(t, `{"max_import_size":7}`, changesAsJSON(t, diff.Changes), "what a program sets is wanted")
	assert.Equal(t, []SettingDifference{{Name: "admin_mode", Want: json.RawMessage("true"), Reason: SettingAbsent}}, diff.NotSent)
}

// Entries that a program adds to Changes are checked like edits.
func TestApplyRefusesChangesMadeByHand(t *testing.T) {
	for want, change := range map[string]SettingDifference{
		"a change has no Name":               {Name: " ", Want: json.RawMessage("1")},
		"(admin_mode): its Want is not JSON": {Name: "admin_mode"},
		"(terms): its Want is not JSON":      {Name: "terms", Want: json.RawMessage("be kind")},
	} {
		c := serve(t)
		for _, call := range []func(context.Context, *SettingsDiff, ...RequestOption) (*SettingsReport, error){c.Settings.Apply, c.Settings.Verify} {
			_, err := call(t.Context(), &SettingsDiff{Changes: []SettingDifference{change}})
			assertRefused(t, err, "SettingsDiff.Changes", strings.TrimSpace(change.Name))
			assert.ErrorContains(t, err, want)
		}
	}
}

// A text that cannot be merged is refused with its line, and nothing is changed.
func TestMergeSettings(t *testing.T) {
	settings := settingsOf(t, `{"id":1,"admin_mode":true,"snippet_size_limit":"5 MB","unheard_of":1,"terms":"t"}`)
	for text, want := range map[string]string{
		"[]":                                "Merge: line 1: it must be a JSON object of settings, and it is a JSON array",
		"":                                  "Merge: line 1: it is not JSON",
		"{\n\"admin_mode\": true,\n":        "Merge: line 3: it is not JSON",
		"{\n\"admin_mode\": 1}":             "Merge (admin_mode): line 2: its type is boolean, and the value is a JSON number",
		"{\"session_expire_delay\": \"5\"}": "its type is integer, and the value is a JSON string",
		"{\"admin_mod\": true}":             "Merge (admin_mod): line 1: neither the server's settings nor this package have it",
		"{\"sidekiq_job_limiter_mode\": \"track\"}": "the contract calls it jobqueue_job_limiter_mode",
		"\n\n":                       "Merge: line 1: it is not JSON: the text is empty",
		"{} x":                       "Merge: line 1: it is not JSON",
		"{\"terms\": [1, \"\xff\"]}": "Merge (terms): line 1: its value is not valid UTF-8",
	} {
		same := *settings
		err := settings.Merge([]byte(text))
		require.ErrorAs(t, err, new(*ValidationError), text)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, &same, settings, "nothing is changed")
	}
}

// The changes of options, and changes that are empty and therefore not sent.
func TestApplySettings(t *testing.T) {
	update := &UpdateSettingsOptions{AntispamEnabled: new(true), AntispamAPIKey: new("secret"), AfterSignOutPath: Null[string](), AssistantFeaturesEnabled: new(true), ValidRunnerRegistrars: []RunnerRegistrar{}, Extra: map[string]any{"no_such_setting": 1}}
	c := speaking(t, GitLab, exchange{sent: settingsSent, body: `{"akismet_enabled":true,"akismet_api_key":"secret","after_sign_out_path":null,"duo_features_enabled":true,"valid_runner_registrars":[],"no_such_setting":1}`, answer: `{"id":1}`},
		exchange{sent: settingsRead, answer: `{"id":1,"akismet_enabled":false,"after_sign_out_path":"","valid_runner_registrars":null}`})
	var response Response
	report, err := c.Settings.Apply(t.Context(), update.Diff(), Into(&response))
	require.NoError(t, err)
	assert.Equal(t, 200, response.Status)
	assert.Equal(t, []SettingDifference{
		{Name: "antispam_api_key", Want: json.RawMessage(`"secret"`), Reason: SettingSecret},
		{Name: "antispam_enabled", Got: json.RawMessage(`false`), Want: json.RawMessage(`true`), Reason: SettingNotApplied},
		{Name: "assistant_features_enabled", Want: json.RawMessage(`true`), Reason: SettingTier},
		{Name: "no_such_setting", Want: json.RawMessage(`1`), Reason: SettingNotShown, byHand: "no_such_setting"},
	}, report.NotApplied)
	read := exchange{sent: settingsRead, answer: `{"id":1}`}
	c = serve(t, read, read, read)
	for _, nothing := range []*SettingsDiff{nil, {}, (*UpdateSettingsOptions)(nil).Diff()} {
		report, err = c.Settings.Apply(t.Context(), nothing)
		require.NoError(t, err)
		assert.Empty(t, report.NotApplied)
	}
}

func TestApplySettingsFails(t *testing.T) {
	c := serve(t,
		exchange{sent: settingsSent, body: `{"admin_mode":true}`, status: 403, answer: `{"message":"403 Forbidden"}`},
		exchange{sent: settingsSent, body: `{"admin_mode":true}`, answer: `{"id":1}`}, exchange{sent: settingsRead, status: 404, answer: `{}`},
		exchange{sent: settingsSent, body: `{"admin_mode":true}`, answer: `{"id":1}`}, exchange{sent: settingsRead, answer: `[1]`})
	changes := (&UpdateSettingsOptions{AdminMode: new(true)}).Diff()
	_, err := c.Settings.Apply(t.Context(), changes)
	require.ErrorIs(t, err, ErrForbidden)
	report, err := c.Settings.Apply(t.Context(), changes)
	var failed *Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "GET", failed.Method, "the update was made")
	assert.Nil(t, report)
	_, err = c.Settings.Apply(t.Context(), changes)
	require.ErrorIs(t, err, ErrInvalidResponse)
	_, err = c.Settings.Apply(t.Context(), (&UpdateSettingsOptions{AntispamEnabled: new(true)}).Diff())
	assertRefused(t, err, "ApplicationSettings.AntispamAPIKey", "antispam_api_key")
	_, err = c.Settings.Apply(t.Context(), (&UpdateSettingsOptions{Extra: map[string]any{"x": func() {}}}).Diff())
	require.Error(t, err)
}

// The settings that only Premium and Ultimate have are exactly those in the catalogue.
func TestTierSettings(t *testing.T) {
	limited := map[string]bool{}
	types := catalogue.Types[struct {
		Fields []struct {
			Name string
			Only *struct{ Tiers []string }
		}
	}]()
	for _, typ := range []string{"ApplicationSettings", "ApplicationSettingsUpdate"} {
		for _, f := range types[typ].Fields {
			if f.Only != nil && len(f.Only.Tiers) > 0 {
				limited[f.Name] = true
			}
		}
	}
	assert.Len(t, limited, 23)
	for name := range catalogue.Settings() {
		assert.Equal(t, limited[name], isTierSetting(name), name)
		delete(limited, name)
	}
	assert.Empty(t, limited, "they are not settings")
}
