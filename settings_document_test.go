package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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

// reasons returns the names of settings that are not sent, with the reasons.
func reasons(differences []SettingDifference) (list []string) {
	for _, d := range differences {
		list = append(list, d.Name+": "+string(d.Reason))
	}
	return list
}

// Edits that TestSettingsEdits does not draw.
func TestSettingsChanges(t *testing.T) {
	for name, test := range map[string]struct {
		read    string
		change  func(s *ApplicationSettings)
		changes string
		notSent []string
	}{
		"identity": {`{"id":1,"updated_at":"2026-01-01T00:00:00Z"}`, func(s *ApplicationSettings) { s.ID, s.CreatedAt, s.UpdatedAt = 2, time.Now(), time.Now() }, `{}`,
			[]string{"created_at: not settable", "id: not settable", "updated_at: not settable"}},
		"taken away": {`{"b":1,"unheard_of":{"a":1},"a":2}`, func(s *ApplicationSettings) { delete(s.Extra, "unheard_of"); delete(s.Extra, "a") }, `{}`,
			[]string{"a: not settable", "unheard_of: not settable"}},
		"another form of the same value": {`{"unheard_of":{"a":1}}`, func(s *ApplicationSettings) { s.Extra["unheard_of"] = json.RawMessage(` { "a" : 1.0 } `) }, `{}`, nil},
		"elements that could not be read are omitted": {`{"default_branch_protection_defaults":{"allowed_to_push":["x",{"access_level":40,"x":1}]}}`,
			func(s *ApplicationSettings) { s.DefaultBranchProtectionDefaults.AllowedToPush[0].AccessLevel = 30 },
			`{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":30,"x":1}]}}`, nil},
		"a new element has its zero": {`{}`, func(s *ApplicationSettings) { s.DefaultBranchProtectionDefaults.AllowedToPush = []BranchAccess{{}} },
			`{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":0}],"allow_force_push":false}}`, nil},
		"other elements stay as read": {`{"default_branch_protection_defaults":{"allowed_to_push":[{"x":1},{"access_level":40}],"y":null}}`,
			func(s *ApplicationSettings) { s.DefaultBranchProtectionDefaults.AllowedToPush[1].AccessLevel = 30 },
			`{"default_branch_protection_defaults":{"allowed_to_push":[{"x":1},{"access_level":30}],"y":null}}`, nil},
	} {
		s := settingsOf(t, test.read)
		test.change(s)
		changes := s.Diff()
		require.NoError(t, changes.Err())
		assert.JSONEq(t, test.changes, changesAsJSON(t, changes.Changes), name)
		assert.Equal(t, test.notSent, reasons(changes.NotSent), name)
	}
}

// An edit that cannot be sent is an error that names the setting, and nothing is sent.
func TestSettingsChangesRefused(t *testing.T) {
	for want, change := range map[string]func(s *ApplicationSettings){
		`ApplicationSettings (unheard_of): its value in the map Extra is not JSON; nothing`: func(s *ApplicationSettings) { s.Extra["unheard_of"] = json.RawMessage(`1 2`) },
		"password_authentication_enabled_for_web, which replaces it, has another value": func(s *ApplicationSettings) {
			s.SigninEnabled, s.PasswordAuthenticationEnabledForWeb = new("false"), true
		},
		"ApplicationSettings (session_expire_delay): the map Extra holds it: set the field SessionExpireDelay": func(s *ApplicationSettings) {
			s.Extra["session_expire_delay"] = json.RawMessage(`5`)
		},
		"ApplicationSettings.PollingIntervalMultiplier (polling_interval_multiplier): it cannot be encoded as JSON": func(s *ApplicationSettings) { s.PollingIntervalMultiplier = math.NaN() },
		"ApplicationSettings.CodeDropdownCustomClients (code_dropdown_custom_clients): it cannot be encoded as JSON": func(s *ApplicationSettings) {
			s.CodeDropdownCustomClients = []CodeDropdownClient{{Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}, {}}
		},
		`ApplicationSettings.SigninEnabled (signin_enabled): it must be "true" or "false"`: func(s *ApplicationSettings) { s.SigninEnabled = new("maybe") },
	} {
		settings := settingsOf(t, `{"unheard_of":1,"session_expire_delay":1}`)
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
		{"many others", `{"h":1,"g":1,"f":1,"e":1,"d":1,"c":1,"b":1,"a":1,"id":1}`, `{"admin_mode":null}`, `{}`, []string{"admin_mode: absent"}, []string{"a", "b", "c", "d", "e", "f", "g", "h"}},
		{"the other way", `{"admin_mode":true}`, `{"admin_mode":true,"allow_all_integrations":false}`, `{}`, []string{"allow_all_integrations: absent"}, nil},
		{"empty forms", `{"domain_allowlist":null,"terms":"","admin_mode":null}`, `{"domain_allowlist":[],"terms":null,"admin_mode":false}`, `{}`, nil, nil},
		{"a decimal as text", `{"polling_interval_multiplier":"1.0"}`, `{"polling_interval_multiplier":1}`, `{}`, nil, nil},
		{"and another", `{"polling_interval_multiplier":"1.0"}`, `{"polling_interval_multiplier":2}`, `{"polling_interval_multiplier":2}`, nil, nil},
		{"beyond the numbers of a double", `{"x":9007199254740993}`, `{"x":9007199254740992}`, `{"x":9007199254740992}`, nil, nil},
		{"in other forms", `{"x":[1e3,9007199254740991],"y":{"a":-0.5}}`, `{"x":[1000,9007199254740991.0],"y":{"a":-5e-1}}`, `{}`, nil, nil},
		{"an empty key of a map is an entry", `{"repository_storages_weighted":{"a":1}}`, `{"repository_storages_weighted":{"a":1,"b":null}}`, `{"repository_storages_weighted":{"a":1,"b":null}}`, nil, nil},
		{"an empty key of an object is none", `{"default_branch_protection_defaults":{"y":1}}`, `{"default_branch_protection_defaults":{"y":1,"allow_force_push":false}}`, `{}`, nil, nil},
		{"a companion that is absent is sent", `{"sourcegraph_enabled":false}`, `{"sourcegraph_enabled":true,"sourcegraph_url":"https://x"}`, `{"sourcegraph_enabled":true}`, nil, nil},
		{"and without the change not", `{"sourcegraph_enabled":true}`, `{"sourcegraph_enabled":true,"sourcegraph_url":"https://x"}`, `{}`, []string{"sourcegraph_url: absent"}, nil},
		{"0 is not null", `{"snippet_size_limit":0}`, `{"snippet_size_limit":null}`, `{"snippet_size_limit":null}`, nil, nil},
		{"from another type", `{"snippet_size_limit":"5 MB"}`, `{"snippet_size_limit":5}`, `{"snippet_size_limit":5}`, nil, nil},
		{"to another type", `{"snippet_size_limit":5}`, `{"snippet_size_limit":"5 MB"}`, `{}`, []string{"snippet_size_limit: not settable"}, nil},
		{"an old name against a new one", `{"asset_proxy_whitelist":["a"]}`, `{"asset_proxy_allowlist":["b"]}`, `{"asset_proxy_allowlist":["b"]}`, nil, nil},
		{"and the same value", `{"asset_proxy_allowlist":["a"]}`, `{"asset_proxy_whitelist":["a"]}`, `{}`, nil, nil},
		{"text and boolean", `{"password_authentication_enabled_for_web":false}`, `{"signin_enabled":"true"}`, `{"password_authentication_enabled_for_web":true}`, nil, nil},
		{"a deprecated setting whose replacement changes too", `{"housekeeping_gc_period":1,"housekeeping_optimize_repository_period":1}`,
			`{"housekeeping_gc_period":2,"housekeeping_optimize_repository_period":3}`, `{"housekeeping_optimize_repository_period":3}`, []string{"housekeeping_gc_period: deprecated"}, nil},
		{"or is absent", `{"housekeeping_optimize_repository_period":1}`, `{"housekeeping_gc_period":2,"housekeeping_optimize_repository_period":3}`,
			`{"housekeeping_optimize_repository_period":3}`, []string{"housekeeping_gc_period: absent"}, nil},
		{"and alone", `{"housekeeping_gc_period":1}`, `{"housekeeping_gc_period":2}`, `{"housekeeping_gc_period":2}`, nil, nil},
	} {
		diff, err := DiffSettings(settingsOf(t, test.have), settingsOf(t, test.want))
		require.NoError(t, err, test.name)
		assert.JSONEq(t, test.changes, changesAsJSON(t, diff.Changes), test.name)
		assert.Equal(t, test.notSent, reasons(diff.NotSent), test.name)
		assert.Equal(t, test.onlyHave, diff.OnlyInGot, test.name)
	}
	diff, err := DiffSettings(nil, nil)
	require.NoError(t, err)
	assert.Empty(t, diff.Changes)
	broken := &ApplicationSettings{Extra: map[string]json.RawMessage{"x": json.RawMessage("{")}}
	read := settingsOf(t, `{"id":1}`)
	edited := *read // of the same read
	edited.Extra = broken.Extra
	for _, pair := range [][2]*ApplicationSettings{{broken, nil}, {nil, broken}, {read, &edited}} {
		_, err = DiffSettings(pair[0], pair[1])
		require.Error(t, err)
	}
	given := (&UpdateSettingsOptions{Extra: map[string]any{"admin_mode": "true"}}).Diff()
	assert.Equal(t, `"true"`, string(given.Changes[0].Want), "what a program sets is sent as it is")
}

// What a program sets is wanted, also if no server has shown it. Each of two names stands for both.
func TestDiffSettingsPrefersEdits(t *testing.T) {
	const both = `{"admin_notification_email":"a","abuse_notification_email":"a","signin_enabled":"true","password_authentication_enabled_for_web":true}`
	for want, edit := range map[string]func(s *ApplicationSettings){
		`{"abuse_notification_email":"b"}`:                              func(s *ApplicationSettings) { s.AdminNotificationEmail = new("b") },
		`{"abuse_notification_email":"c"}`:                              func(s *ApplicationSettings) { s.AbuseNotificationEmail = new("c") },
		`{"password_authentication_enabled_for_web":false}`:             func(s *ApplicationSettings) { s.SigninEnabled = new("false") },
		`{"password_authentication_enabled_for_web":false,"terms":"t"}`: func(s *ApplicationSettings) { s.PasswordAuthenticationEnabledForWeb, s.Terms = false, "t" },
	} {
		edited := settingsOf(t, both)
		edit(edited)
		diff, err := DiffSettings(settingsOf(t, both), edited)
		require.NoError(t, err)
		assert.JSONEq(t, want, changesAsJSON(t, diff.Changes))
	}
	diff, err := DiffSettings(&ApplicationSettings{MaxImportSize: 1}, &ApplicationSettings{MaxImportSize: 7})
	require.NoError(t, err)
	assert.Equal(t, []SettingDifference{{Name: "max_import_size", Got: json.RawMessage("1"), Want: json.RawMessage("7")}}, diff.Changes)
	want := settingsOf(t, `{"admin_mode":true}`)
	want.MaxImportSize = 7
	diff, err = DiffSettings(&ApplicationSettings{}, want)
	require.NoError(t, err)
	assert.JSONEq(t, `{"max_import_size":7}`, changesAsJSON(t, diff.Changes))
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
		"{\n\"admin_mode\":\n1}":            "Merge (admin_mode): line 3: its type is boolean, and the value is a JSON number",
		"{\"session_expire_delay\": \"5\"}": "its type is integer, and the value is a JSON string",
		"{\"polling_interval_multiplier\": \"1.5\"}": "its type is number, and the value is a JSON string",
		"{\"admin_mod\": true}":                      "Merge (admin_mod): line 1: neither the server's settings nor this package have it",
		"{\"jobqueue_job_limiter_mode\": \"track\"}": "GitLab calls it sidekiq_job_limiter_mode",
		"\n\n":                       "Merge: line 1: it is not JSON: the text is empty",
		"{} x":                       "Merge: line 1: it is not JSON",
		"}":                          "Merge: line 1: it is not JSON: ",
		"{\"terms\": [1, \"\xff\"]}": "Merge (terms): line 1: its value is not valid UTF-8",
	} {
		same := *settings
		err := settings.Merge([]byte(text))
		require.ErrorAs(t, err, new(*ValidationError), text)
		require.ErrorContains(t, err, want, text)
		assert.Equal(t, &same, settings, "nothing is changed")
	}
	require.NoError(t, settings.Merge([]byte(`{"snippet_size_limit": "5 MB"}`)), "as the server has it")
	assert.Empty(t, settings.Diff().Changes)
	assert.Equal(t, "its type is integer, and the value is a JSON string", settingNamed("session_expire_delay").misfit([]byte(`"5"`)))
}

// Changes made by hand are sent and compared under their current names. In one document, an old
// name and a new one may have the same value.
func TestChangesMadeByHand(t *testing.T) {
	u := &settingsUpdate{changes: settingValues{}}
	require.NoError(t, u.add([]SettingDifference{
		{Name: "signin_enabled", Want: json.RawMessage(`"false"`)}, {Name: "password_authentication_enabled_for_web", Want: json.RawMessage("false")},
		{Name: "housekeeping_gc_period", Want: json.RawMessage("7")}, {Name: "housekeeping_optimize_repository_period", Want: json.RawMessage("7")},
	}, GitLab))
	require.NoError(t, u.check())
	assert.Equal(t, SettingDifference{Name: "password_authentication_enabled_for_web", Want: json.RawMessage("false"), sendAs: "signin_enabled"}, u.sent[0])
	assert.Empty(t, u.notApplied(settingValues{
		"password_authentication_enabled_for_web": json.RawMessage("false"), "housekeeping_gc_period": json.RawMessage("7"), "housekeeping_optimize_repository_period": json.RawMessage("7"),
	}))
	assert.Nil(t, settingValues{"": json.RawMessage("1")}.of(settingNamed("admin_mode")), "it has one name")
}

// The changes of options, and changes that are empty and therefore not sent.
func TestApplySettings(t *testing.T) {
	update := &UpdateSettingsOptions{AkismetEnabled: new(true), AkismetAPIKey: new("secret"), AfterSignOutPath: Null[string](), DuoFeaturesEnabled: new(true), ValidRunnerRegistrars: []RunnerRegistrar{}, Extra: map[string]any{"no_such_setting": 1, "signin_enabled": "false"}}
	c := speaking(t, GitLab, exchange{sent: settingsSent, body: `{"akismet_enabled":true,"akismet_api_key":"secret","after_sign_out_path":null,"duo_features_enabled":true,"valid_runner_registrars":[],"no_such_setting":1,"signin_enabled":"false"}`, answer: `{"id":1}`},
		exchange{sent: settingsRead, answer: `{"id":1,"akismet_enabled":false,"after_sign_out_path":"","valid_runner_registrars":null}`})
	var response Response
	report, err := c.Settings.Apply(t.Context(), update.Diff(), Into(&response))
	require.NoError(t, err)
	assert.Equal(t, 200, response.Status)
	assert.Equal(t, []SettingDifference{
		{Name: "akismet_api_key", Want: json.RawMessage(`"secret"`), Reason: SettingSecret},
		{Name: "akismet_enabled", Got: json.RawMessage(`false`), Want: json.RawMessage(`true`), Reason: SettingNotApplied},
		{Name: "duo_features_enabled", Want: json.RawMessage(`true`), Reason: SettingTier},
		{Name: "no_such_setting", Want: json.RawMessage(`1`), Reason: SettingNotShown},
		{Name: "password_authentication_enabled_for_web", Want: json.RawMessage(`false`), Reason: SettingNotShown},
	}, report.NotApplied)
	read := exchange{sent: settingsRead, answer: `{"id":1}`}
	c = serve(t, read, read, read)
	for _, nothing := range []*SettingsDiff{nil, {}, (*UpdateSettingsOptions)(nil).Diff()} {
		report, err = c.Settings.Apply(t.Context(), nothing)
		require.NoError(t, err)
		assert.Empty(t, report.NotApplied)
	}
}

// A setting that only a newer server has is a secret by the end of its name.
func TestUnknownSecrets(t *testing.T) {
	for end, reason := range map[string]SettingReason{
		"_key": SettingSecret, "_token": SettingSecret, "_secret": SettingSecret, "_password": SettingSecret, "_pass": SettingSecret, "_passphrase": SettingSecret,
		"_salt": SettingSecret, "_credentials": SettingSecret, "_keys": SettingNotShown, "key": SettingNotShown, "_token_expiry": SettingNotShown,
	} {
		assert.Equal(t, reason, notInForce(SettingDifference{Name: "unheard_of" + end, Want: json.RawMessage(`"x"`)}), end)
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
	document := settingsOf(t, `{"akismet_enabled":false,"akismet_api_key":null}`)
	document.AkismetEnabled = new(true)
	for _, changes := range []*SettingsDiff{document.Diff(), (&UpdateSettingsOptions{AkismetEnabled: new(true)}).Diff()} {
		_, err = c.Settings.Apply(t.Context(), changes)
		assertRefused(t, err, "ApplicationSettings.AkismetAPIKey", "akismet_api_key")
	}
	_, err = c.Settings.Apply(t.Context(), (&UpdateSettingsOptions{Extra: map[string]any{"x": func() {}}}).Diff())
	assertRefused(t, err, "UpdateSettingsOptions", "")
}

// A name in Extra may be the documents'. It stands for the same setting as its field.
func TestApplySettingsWithOwnWords(t *testing.T) {
	s := settingsOf(t, `{}`)
	s.Extra = map[string]json.RawMessage{"assistant_features_enabled": json.RawMessage("true")}
	c := speaking(t, Neutral, exchange{sent: settingsSent, body: `{"assistant_features_enabled":true}`, answer: `{}`}, exchange{sent: settingsRead, answer: `{}`})
	report, err := c.Settings.Apply(t.Context(), s.Diff())
	require.NoError(t, err)
	assert.Equal(t, []SettingDifference{{Name: "duo_features_enabled", Want: json.RawMessage("true"), Reason: SettingTier}}, report.NotApplied)
	s.DuoFeaturesEnabled = new(false)
	_, err = c.Settings.Apply(t.Context(), s.Diff())
	assertRefused(t, err, "SettingsDiff", "duo_features_enabled")
	assert.ErrorContains(t, err, "it and another name of duo_features_enabled have different values")
}

// A secret is a text whose name says that it is one, also of a setting that no field has.
func TestSecretSettings(t *testing.T) {
	for _, end := range []string{"key", "token", "secret", "password", "pass", "passphrase", "salt", "credentials"} {
		assert.True(t, SettingDifference{Name: "unheard_of_" + end}.Secret(), end)
		assert.False(t, SettingDifference{Name: "unheard_of_" + end + "s_x"}.Secret(), end)
	}
	for name, want := range map[string]bool{
		"akismet_api_key": true, "external_pipeline_validation_service_token": true, "jira_connect_application_key": true, "slack_app_secret": true,
		"allow_runner_registration_token": false, "users_api_limit_ssh_key": false, "users_api_limit_gpg_key": false, "admin_mode": false,
	} {
		assert.Equal(t, want, SettingDifference{Name: name}.Secret(), name)
	}
	text, err := json.Marshal(SettingDifference{Name: "akismet_api_key", Got: json.RawMessage(`"old"`), Want: json.RawMessage(`null`), Reason: SettingNotApplied})
	require.NoError(t, err)
	assert.JSONEq(t, `{"name":"akismet_api_key","got":"(secret)","want":null,"reason":"not applied"}`, string(text))
	text, err = json.Marshal(SettingDifference{Name: "akismet_api_key", Got: json.RawMessage(`""`), Want: json.RawMessage(`"k"`), Reason: SettingNotApplied})
	require.NoError(t, err)
	assert.JSONEq(t, `{"name":"akismet_api_key","got":"","want":"(secret)","reason":"not applied"}`, string(text))
	assert.Nil(t, masked(nil), "a setting that the server does not show")
}

// Two values are the same if a server may write one as the other, in both directions.
func TestSameSettings(t *testing.T) {
	for _, class := range [][]string{
		{`null`, `""`, `false`, `[]`, `{}`}, {`0`, `"0"`, `0.0`, `"-0"`}, {`1`, `"1.0"`, `1e0`}, {`[0]`}, {`{"a":0}`}, {`[null]`}, {`{"a":null}`}, {`"x"`}, {`true`}, {`"true"`}, {`2`},
	} {
		for _, a := range class {
			for _, b := range []string{`null`, `""`, `false`, `[]`, `{}`, `0`, `1`, `[0]`, `{"a":0}`, `[null]`, `{"a":null}`, `"x"`, `true`, `"true"`, `2`} {
				want := slices.Contains(class, b) && (class[0] != "null" || a == b || a == "null" || b == "null")
				for _, pair := range [][2]string{{a, b}, {b, a}} {
					assert.Equal(t, want, settingNamed("unheard_of").isSame([]byte(pair[0]), []byte(pair[1])), "%s and %s", pair[0], pair[1])
				}
			}
		}
	}
	text := []byte("some text")
	for _, pair := range [][2][]byte{{text, nil}, {nil, text}, {nil, nil}, {text, bytes.Clone(text)}} {
		assert.False(t, isSameText(pair[0], pair[1]))
	}
	assert.True(t, isSameText(text, text))
}

// A setting is sent by the name that the program has used, or that the server shows.
func TestSentNames(t *testing.T) {
	sent := func(d *SettingsDiff, err error) (names []string) {
		require.NoError(t, err)
		for _, change := range d.Changes {
			names = append(names, change.Name+" "+change.sendAs)
		}
		return names
	}
	given := &UpdateSettingsOptions{AdminMode: new(true), SigninEnabled: new("true"), Extra: map[string]any{"x": 1}}
	assert.Equal(t, []string{"admin_mode ", "password_authentication_enabled_for_web signin_enabled", "x x"}, sent(given.Diff(), nil))
	diff := func(have, want string) []string { return sent(DiffSettings(settingsOf(t, have), settingsOf(t, want))) }
	assert.Equal(t, []string{"asset_proxy_allowlist asset_proxy_whitelist"}, diff(`{"asset_proxy_whitelist":["a"]}`, `{"asset_proxy_allowlist":["b"]}`))
	assert.Equal(t, []string{"asset_proxy_allowlist "}, diff(`{"asset_proxy_allowlist":["a"]}`, `{"asset_proxy_allowlist":["b"]}`))
	assert.Equal(t, []string{"asset_proxy_allowlist "}, diff(`{"asset_proxy_allowlist":["a"]}`, `{"asset_proxy_whitelist":["b"]}`))
}

// Why a setting is not in force.
func TestNotInForce(t *testing.T) {
	one, two := json.RawMessage("1"), json.RawMessage("2")
	for _, test := range []struct {
		change SettingDifference
		want   SettingReason
	}{
		{SettingDifference{Name: "unheard_of"}, ""},
		{SettingDifference{Name: "unheard_of", Got: one, Want: one, Reason: SettingDeprecated}, ""},
		{SettingDifference{Name: "unheard_of", Got: one, Want: two, Reason: SettingDeprecated}, SettingDeprecated},
		{SettingDifference{Name: "unheard_of", Got: one, Want: two}, SettingNotApplied},
		{SettingDifference{Name: "unheard_of", Want: two}, SettingNotShown},
		{SettingDifference{Name: "unheard_of_key", Want: two}, SettingSecret},
		{SettingDifference{Name: "allow_all_integrations", Want: two}, SettingTier},
		{SettingDifference{Name: "admin_mode", Got: one, Want: two}, SettingNotApplied},
		{SettingDifference{Name: "created_at", Got: one, Want: two}, SettingNotSettable},
	} {
		assert.Equal(t, test.want, notInForce(test.change), "%s %s %s", test.change.Name, test.change.Got, test.change.Reason)
	}
}

// A printed value has the names of its fields that are set, and no value.
func TestPrintedNames(t *testing.T) {
	type printed struct {
		A, B, c   int
		Extra     map[string]json.RawMessage
		OnlyInGot []string
		Changes   []SettingDifference
		NotSent   []SettingDifference
		List      []int
	}
	v := printed{
		A: 1, c: 2, Extra: map[string]json.RawMessage{"k\n": nil, "a": json.RawMessage("3")}, OnlyInGot: []string{"x", "y"},
		Changes: []SettingDifference{{Name: "n", Want: json.RawMessage(`"secret"`)}}, List: []int{4},
	}
	assert.Equal(t, `forge.printed(A, Extra["a"], Extra["k\n"], OnlyInGot: [x y], Changes: [n], List)`, setFields(v))
	assert.Equal(t, "forge.printed()", setFields(printed{}))
}
