package forge

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

func readSettings(t *testing.T, fixture string, v Vocabulary) *ApplicationSettings {
	t.Helper()
	settings, err := speaking(t, v, exchange{sent: settingsRead, answer: fixture}).Settings.Get(t.Context())
	require.NoError(t, err)
	return settings
}

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

// The settings of a deployed server are encoded again unchanged, with the names of the contract,
// and are not a change.
func TestSettingsKeepWhatWasRead(t *testing.T) {
	for fixture, v := range map[string]Vocabulary{"settings/settings.json": "", "settings/settings_gitlab.json": GitLab} {
		settings := readSettings(t, fixture, v)
		var came, written map[string]any
		require.NoError(t, json.Unmarshal(readFixture(t, fixture), &came))
		text, err := json.Marshal(settings)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(text, &written))
		for word, value := range came {
			name := word
			if neutral, known := v.NeutralName(settingWord, word); known {
				name = neutral
			}
			require.Contains(t, written, name)
			assert.Equal(t, value, written[name], name)
		}
		assert.Len(t, written, len(came))
		changes := settings.Diff()
		require.NoError(t, changes.Err())
		assert.Empty(t, changes.Changes)
		assert.Empty(t, changes.NotSent)
		assert.Empty(t, changes.OnlyInGot)
	}
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
		_, err = c.Settings.Verify(t.Context(), changes)
		require.ErrorContains(t, err, want)
		_, err = DiffSettings(&ApplicationSettings{}, settings)
		require.ErrorContains(t, err, want)
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

// The difference between a later read and a document that was edited before reverts no other
// change.
func TestDiffSettingsTwice(t *testing.T) {
	after := settingsOf(t, `{"allow_local_requests_from_hooks_and_services":false,"allow_local_requests_from_web_hooks_and_services":false,"signin_enabled":"true","password_authentication_enabled_for_web":true}`)
	after.AllowLocalRequestsFromWebHooksAndServices, after.PasswordAuthenticationEnabledForWeb = true, false
	later := settingsOf(t, `{"allow_local_requests_from_hooks_and_services":true,"allow_local_requests_from_web_hooks_and_services":true,"signin_enabled":"false","password_authentication_enabled_for_web":false}`)
	diff, err := DiffSettings(later, after)
	require.NoError(t, err)
	assert.Empty(t, diff.Changes)
	assert.Empty(t, diff.NotSent)
}

func TestMergeSettings(t *testing.T) {
	settings := settingsOf(t, `{"id":1,"admin_mode":true,"snippet_size_limit":"5 MB","unheard_of":1,"terms":"t"}`)
	before := *settings
	require.NoError(t, settings.Merge([]byte(`{"id":9,"admin_mode":true,"snippet_size_limit":7,"unheard_of":{"a":[1]},"max_login_attempts":0,"terms":null}`)))
	assert.Equal(t, 7, settings.SnippetSizeLimit)
	assert.Equal(t, map[string]json.RawMessage{"unheard_of": json.RawMessage(`{"a":[1]}`)}, settings.Extra)
	assert.JSONEq(t, `{"snippet_size_limit":7,"unheard_of":{"a":[1]},"max_login_attempts":0,"terms":null}`, changesAsJSON(t, settings.Diff().Changes), "zero and null are values")
	assert.Empty(t, before.Diff().Changes, "a copy does not change")
	settings.MaxLoginAttempts, settings.SnippetSizeLimit = 3, 8
	require.NoError(t, settings.Merge([]byte(`{"terms":"t"}`)))
	assert.JSONEq(t, `{"snippet_size_limit":8,"unheard_of":{"a":[1]},"max_login_attempts":3}`, changesAsJSON(t, settings.Diff().Changes))
	require.NoError(t, before.Merge([]byte(`{"snippet_size_limit":"5 MB"}`)), "as it is")

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

func TestSettingsJSON(t *testing.T) {
	var settings ApplicationSettings
	require.NoError(t, json.Unmarshal([]byte(`{"admin_mode":false,"max_import_size":0,"terms":null,"x":[1]}`), &settings))
	text, err := json.Marshal(settings)
	require.NoError(t, err)
	assert.JSONEq(t, `{"admin_mode":false,"max_import_size":0,"terms":null,"x":[1]}`, string(text))
	require.NoError(t, json.Unmarshal([]byte(`{"terms":"t"}`), &settings), "in place of all")
	text, err = json.Marshal(&settings)
	require.NoError(t, err)
	assert.JSONEq(t, `{"terms":"t"}`, string(text))
	require.NoError(t, json.Unmarshal([]byte(`null`), &settings))
	assert.Equal(t, "t", settings.Terms)
	require.ErrorContains(t, json.Unmarshal([]byte(`[1]`), &settings), "cannot be a JSON array")
	require.Error(t, settings.UnmarshalJSON([]byte(`{"a":`)))
	text, err = json.Marshal(ApplicationSettings{MaxImportSize: 3})
	require.NoError(t, err)
	assert.JSONEq(t, `{"max_import_size":3}`, string(text))
	_, err = json.Marshal(ApplicationSettings{Extra: map[string]json.RawMessage{"x": json.RawMessage(`{`)}})
	require.Error(t, err)
}

// Settings may be secrets, so a printed difference has only its name, also inside another value. In
// JSON a secret has no value.
func TestSettingDifferencePrintsItsName(t *testing.T) {
	difference := SettingDifference{Name: "chatapp_secret", Got: json.RawMessage(`"hunter2"`), Want: json.RawMessage(`"hunter3"`), Reason: SettingNotApplied}
	list := []SettingDifference{difference}
	for _, value := range []any{difference, &difference, list, SettingsDiff{Changes: list}, SettingsDiff{NotSent: list}, &SettingsReport{NotApplied: list}} {
		for _, verb := range []string{"%v", "%+v", "%s", "%#v", "%q"} {
			text := fmt.Sprintf(verb, value)
			assert.Contains(t, text, "chatapp_secret")
			assert.NotContains(t, text, "hunter")
			assert.NotContains(t, text, "104", "its bytes")
			assert.NotContains(t, text, "0x68", "its bytes")
		}
	}
	assert.Equal(t, "chatapp_secret", fmt.Sprint(difference))
	diff := settingsOf(t, `{}`)
	diff.AdminMode = true
	assert.Equal(t, "forge.SettingsDiff(Changes: [admin_mode])", fmt.Sprint(*diff.Diff()), "without what is not exported")
	assert.Equal(t, `forge.UpdateSettingsOptions(AdminMode, Extra["a b"], Extra["c"])`, fmt.Sprint(UpdateSettingsOptions{AdminMode: new(true), Extra: map[string]any{"c": 1, "a b": 2}}))
	text, err := json.Marshal(SettingsReport{NotApplied: append(list, SettingDifference{Name: "x", Want: json.RawMessage("1")}, SettingDifference{Name: "a_token", Got: json.RawMessage(`""`), Want: json.RawMessage("null")})})
	require.NoError(t, err)
	assert.JSONEq(t, `{"Settings":null,"NotApplied":[{"name":"chatapp_secret","got":"(secret)","want":"(secret)","reason":"not applied"},{"name":"x","want":1},{"name":"a_token","got":"","want":null}]}`, string(text))
}

func TestApplySettings(t *testing.T) {
	raw := func(text string) json.RawMessage { return json.RawMessage(text) }
	update := &UpdateSettingsOptions{
		AdminMode: new(true), AntispamEnabled: new(true), AntispamAPIKey: new("secret"), AfterSignOutPath: Null[string](), AssistantFeaturesEnabled: new(true),
		ValidRunnerRegistrars: []RunnerRegistrar{}, AsciiDocMaxIncludes: new(64), DiagramAURL: Value("http://plantuml.local"), Extra: map[string]any{"sidekiq_job_limiter_limit_bytes": 9, "no_such_setting": 1},
	}
	sent := `{"admin_mode":true,"akismet_enabled":true,"akismet_api_key":"secret","after_sign_out_path":null,"duo_features_enabled":true,"valid_runner_registrars":[],"asciidoc_max_includes":64,
		"plantuml_url":"http://plantuml.local","sidekiq_job_limiter_limit_bytes":9,"no_such_setting":1}`
	answer := `{"id":1,"admin_mode":true,"akismet_enabled":false,"after_sign_out_path":"","valid_runner_registrars":null,"asciidoc_max_includes":32,"plantuml_url":"http://plantuml.local","sidekiq_job_limiter_limit_bytes":9}`
	c := speaking(t, GitLab, exchange{sent: settingsSent, body: sent, answer: `{"id":1}`}, exchange{sent: settingsRead, answer: answer})
	var response Response
	report, err := c.Settings.Apply(t.Context(), update.Diff(), Into(&response))
	require.NoError(t, err)
	assert.Equal(t, 200, response.Status)
	assert.Equal(t, []SettingDifference{
		{Name: "antispam_api_key", Want: raw(`"secret"`), Reason: SettingSecret},
		{Name: "antispam_enabled", Got: raw(`false`), Want: raw(`true`), Reason: SettingNotApplied},
		{Name: "asciidoc_max_includes", Got: raw(`32`), Want: raw(`64`), Reason: SettingNotApplied},
		{Name: "assistant_features_enabled", Want: raw(`true`), Reason: SettingTier},
		{Name: "no_such_setting", Want: raw(`1`), Reason: SettingNotShown, byHand: "no_such_setting"},
	}, report.NotApplied)
	assert.True(t, report.Settings.AdminMode)
	assert.Equal(t, Value("http://plantuml.local"), report.Settings.DiagramAURL)

	// A later check that sends no change.
	c = speaking(t, GitLab, exchange{sent: settingsRead, answer: strings.NewReplacer(`"akismet_enabled":false`, `"akismet_enabled":true,"akismet_api_key":"secret"`, `:32`, `:64`).Replace(answer)})
	report, err = c.Settings.Verify(t.Context(), update.Diff())
	require.NoError(t, err)
	assert.Equal(t, []string{"assistant_features_enabled", "no_such_setting"}, names(report.NotApplied))

	// Empty changes are not sent.
	read := exchange{sent: settingsRead, answer: "settings/settings.json"}
	c = serve(t, read, read, read, read)
	for _, nothing := range []*SettingsDiff{nil, {}, (*UpdateSettingsOptions)(nil).Diff(), (&UpdateSettingsOptions{}).Diff()} {
		report, err = c.Settings.Apply(t.Context(), nothing)
		require.NoError(t, err)
		assert.Empty(t, report.NotApplied)
		assertWhole(t, "settings/settings.json", report.Settings)
	}
}

// The report also has the settings that were not sent, so that a program needs only the report.
func TestApplyReportsWhatWasNotSent(t *testing.T) {
	settings := settingsOf(t, `{"id":1,"admin_mode":false,"x":1,"home_page_url":"","housekeeping_gc_period":1,"housekeeping_optimize_repository_period":1}`)
	want := settingsOf(t, `{"id":1,"admin_mode":true,"only_there":1,"home_page_url":"h","housekeeping_gc_period":2,"housekeeping_optimize_repository_period":3}`)
	want.ID = 7
	diff, err := DiffSettings(settings, want)
	require.NoError(t, err)
	body := `{"admin_mode":true,"home_page_url":"h","housekeeping_optimize_repository_period":3}`
	c := serve(t, exchange{sent: settingsSent, body: body, answer: `{}`},
		exchange{sent: settingsRead, answer: `{"id":1,"admin_mode":true,"home_page_url":"","housekeeping_gc_period":1,"housekeeping_optimize_repository_period":3}`})
	report, err := c.Settings.Apply(t.Context(), diff)
	require.NoError(t, err)
	reasons := map[string]SettingReason{}
	for _, d := range report.NotApplied {
		reasons[d.Name] = d.Reason
	}
	assert.Equal(t, map[string]SettingReason{"only_there": SettingAbsent, "home_page_url": SettingNotSettable, "housekeeping_gc_period": SettingDeprecated}, reasons)
	assert.Equal(t, []string{"x"}, diff.OnlyInGot)
	assert.Empty(t, report.Settings.Diff().Changes)
}

// Companions are taken from the document, and null is sent under the client's names.
func TestApplySettingsVocabulary(t *testing.T) {
	settings := settingsOf(t, `{"unique_ips_limit_enabled":false,"unique_ips_limit_per_user":10,"unique_ips_limit_time_window":3600,"antispam_api_key":"k","shared_runners_enabled":false,"shared_runners_text":"t"}`)
	require.NoError(t, settings.Merge([]byte(`{"unique_ips_limit_enabled":true,"antispam_api_key":null,"shared_runners_enabled":true}`)))
	c := speaking(t, GitLab, exchange{sent: settingsSent, answer: `{}`,
		body: `{"unique_ips_limit_enabled":true,"unique_ips_limit_per_user":10,"unique_ips_limit_time_window":3600,"akismet_api_key":null,"shared_runners_enabled":true,"shared_runners_text":"t"}`},
		exchange{sent: settingsRead, answer: `{"unique_ips_limit_enabled":true,"unique_ips_limit_per_user":11,"unique_ips_limit_time_window":3600,"akismet_api_key":"","shared_runners_enabled":true,"shared_runners_text":"t"}`})
	report, err := c.Settings.Apply(t.Context(), settings.Diff())
	require.NoError(t, err)
	assert.Equal(t, []string{"unique_ips_limit_per_user"}, names(report.NotApplied), "a companion that the server changed")

	both := &UpdateSettingsOptions{AntispamEnabled: new(false), Extra: map[string]any{"akismet_enabled": true}}
	_, err = speaking(t, GitLab).Settings.Apply(t.Context(), both.Diff())
	require.ErrorContains(t, err, "antispam_enabled")
	require.ErrorContains(t, err, "akismet_enabled")
}

// If the server shows only the old name of an alias, the setting is sent under the old name and
// reported under the new one.
func TestApplySettingsOldNames(t *testing.T) {
	settings := settingsOf(t, `{"asset_proxy_whitelist":["a"],"signin_enabled":"true","admin_notification_email":"","x":{"a" :"<"},"signup_enabled":{"k" :"<"}}`)
	settings.AssetProxyAllowlist, settings.PasswordAuthenticationEnabledForWeb, settings.AbuseNotificationEmail = []string{"b"}, true, new("")
	require.NoError(t, settings.Merge([]byte(`{"password_authentication_enabled_for_web":false}`)))
	changes := settings.Diff()
	require.NoError(t, changes.Err())
	assert.JSONEq(t, `{"asset_proxy_allowlist":["b"],"password_authentication_enabled_for_web":false}`, changesAsJSON(t, changes.Changes))
	c := serve(t, exchange{sent: settingsSent, answer: `{}`, body: `{"asset_proxy_whitelist":["b"],"signin_enabled":"false"}`},
		exchange{sent: settingsRead, answer: `{"asset_proxy_whitelist":["b"],"signin_enabled":"true"}`})
	report, err := c.Settings.Apply(t.Context(), changes)
	require.NoError(t, err)
	require.Equal(t, []string{"password_authentication_enabled_for_web"}, names(report.NotApplied))
	assert.Equal(t, SettingNotApplied, report.NotApplied[0].Reason)
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
	var types map[string]struct {
		Fields []struct {
			Name string
			Only *struct{ Tiers []string }
		}
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/types.json"), &types))
	for _, typ := range []string{"ApplicationSettings", "ApplicationSettingsUpdate"} {
		for _, f := range types[typ].Fields {
			if f.Only != nil && len(f.Only.Tiers) > 0 {
				limited[f.Name] = true
			}
		}
	}
	assert.Len(t, limited, 23)
	for name := range catalogue.Settings(t) {
		assert.Equal(t, limited[name], isTierSetting(name), name)
		delete(limited, name)
	}
	assert.Empty(t, limited, "they are not settings")
}

// In an object that was never read, only fields that were set are changes: a nil list is not a
// change.
func TestSettingsChangesOfANewObject(t *testing.T) {
	var s ApplicationSettings
	require.NoError(t, json.Unmarshal([]byte(`{"signup_enabled":true}`), &s))
	s.DefaultBranchProtectionDefaults.AllowForcePush = true
	changes := s.Diff().Changes
	require.Len(t, changes, 1)
	assert.JSONEq(t, `{"allow_force_push":true}`, string(changes[0].Want))
	s.DefaultBranchProtectionDefaults.AllowedToPush = []BranchAccess{}
	assert.JSONEq(t, `{"allow_force_push":true,"allowed_to_push":[]}`, string(s.Diff().Changes[0].Want))
}
