package forge

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const settingsRead, settingsSent = "GET /application/settings", "PUT /application/settings"

func TestSettings(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:      "get",
			exchanges: []exchange{{sent: settingsRead, answer: "settings/settings.json"}},
			run: func(t *testing.T, c *Client) {
				settings, err := c.Settings.Get(t.Context())
				require.NoError(t, err)
				assertWhole(t, "settings/settings.json", settings)
				assert.Empty(t, settings.Extra)
				assert.Equal(t, map[string]int{"default": 100, "cold": 25}, settings.RepositoryStoragesWeighted)
				assert.Equal(t, Value(5), settings.ExternalPipelineValidationServiceTimeout)
				assert.InDelta(t, 0.5, settings.ExternalAuthorizationServiceTimeout, 0)
				assert.Equal(t, 40, settings.DefaultBranchProtectionDefaults.AllowedToPush[0].AccessLevel)
				assert.True(t, settings.UpdatedAt.Equal(time.Date(2026, 6, 24, 12, 2, 11, 502e6, time.UTC)))
			},
		},
		{
			name: "update",
			exchanges: []exchange{{
				sent: settingsSent, answer: "settings/settings.json",
				body: `{"signup_enabled":false,"terminal_max_session_time":0,"archive_builds_in_human_readable":"","after_sign_out_path":null,"security_txt_content":"Contact: x",
					"valid_runner_registrars":[],"allowed_integrations":["ewm"],"sign_in_restrictions":{},"jobqueue_job_limiter_mode":"track","session_expire_delay":60,"password_authentication_enabled_for_web":true}`,
			}},
			run: func(t *testing.T, c *Client) {
				settings, err := c.Settings.Update(t.Context(), &UpdateSettingsOptions{
					SignupEnabled: new(false), TerminalMaxSessionTime: new(0), ArchiveBuildsInHumanReadable: new(""), AfterSignOutPath: Null[string](),
					SecurityTXTContent: Value("Contact: x"), ValidRunnerRegistrars: []RunnerRegistrar{}, AllowedIntegrations: []string{"ewm"}, SignInRestrictions: map[string]any{},
					JobQueueJobLimiterMode: JobLimiterTrack, Extra: map[string]any{"session_expire_delay": 60, "password_authentication_enabled_for_web": true},
				})
				require.NoError(t, err)
				assertWhole(t, "settings/settings.json", settings)
			},
		},
		{
			name: "neutral words go out as they are",
			exchanges: []exchange{
				{sent: settingsSent, body: `{"antispam_enabled":true,"antispam_api_key":"k","editor_extension_marketplace":{"enabled":true}}`, answer: `{"id":1,"antispam_enabled":true}`},
				{sent: settingsSent, body: `{}`, answer: `{"id":1}`},
			},
			run: func(t *testing.T, c *Client) {
				settings, err := c.Settings.Update(t.Context(), &UpdateSettingsOptions{AntispamEnabled: new(true), AntispamAPIKey: new("k"), EditorExtensionMarketplace: map[string]any{"enabled": true}})
				require.NoError(t, err)
				assert.Equal(t, new(true), settings.AntispamEnabled)
				_, err = c.Settings.Update(t.Context(), nil)
				require.NoError(t, err)
			},
		},
		{
			name: "errors",
			exchanges: []exchange{
				{sent: settingsRead, status: 401, answer: `{"message":"401 Unauthorized"}`},
				{sent: settingsRead, status: 403, answer: `{"message":"403 Forbidden"}`},
				{sent: settingsSent, body: `{"asciidoc_max_includes":65}`, status: 400, answer: `{"message":{"asciidoc_max_includes":["must be less than or equal to 64"]}}`},
			},
			run: func(t *testing.T, c *Client) {
				_, err := c.Settings.Get(t.Context())
				require.ErrorIs(t, err, ErrUnauthorized)
				_, err = c.Settings.Get(t.Context())
				require.ErrorIs(t, err, ErrForbidden)
				assert.ErrorContains(t, err, "a self-managed or dedicated instance")
				_, err = c.Settings.Update(t.Context(), &UpdateSettingsOptions{AsciiDocMaxIncludes: new(65)})
				var failed *Error
				require.ErrorAs(t, err, &failed, "ranges are the server's to check")
				assert.Equal(t, []string{"must be less than or equal to 64"}, failed.Fields["asciidoc_max_includes"])
			},
		},
	})
}

// Each mapped and each unnamed setting goes out, and comes in, under GitLab's name and under a made-up one.
func TestSettingWords(t *testing.T) {
	parameters := jsonFields(reflect.TypeFor[UpdateSettingsOptions]())
	members := jsonFields(reflect.TypeFor[ApplicationSettings]())
	for e := range GitLab.entries() {
		if e.kind != settingWord {
			continue
		}
		for _, v := range []Vocabulary{GitLab, Vocabulary("setting " + e.neutral + " = made_up_" + e.neutral)} {
			word, _ := v.Word(settingWord, e.neutral)
			if parameters[e.neutral] != nil {
				options := &UpdateSettingsOptions{}
				value := oneSetting(t, options, e.neutral)
				c := speaking(t, v, exchange{sent: settingsSent, body: `{"` + word + `":` + value + `}`, answer: `{"` + word + `":` + value + `}`})
				settings, err := c.Settings.Update(t.Context(), options, Unchecked())
				require.NoError(t, err)
				assertSetting(t, settings, e.neutral, value)
			}
			if members[e.neutral] != nil {
				value := oneSetting(t, &ApplicationSettings{}, e.neutral)
				settings, err := speaking(t, v, exchange{sent: settingsRead, answer: `{"` + word + `":` + value + `}`}).Settings.Get(t.Context())
				require.NoError(t, err)
				assertSetting(t, settings, e.neutral, value)
				assert.Empty(t, settings.Extra)
			}
			assert.True(t, parameters[e.neutral] != nil || members[e.neutral] != nil, "%s is nothing", e.neutral)
		}
	}
}

// oneSetting sets a field and gives its value as JSON.
func oneSetting(t *testing.T, settings any, name string) string {
	t.Helper()
	field := reflect.ValueOf(settings).Elem().FieldByName(fieldOf(reflect.TypeOf(settings), name))
	require.True(t, field.IsValid(), name)
	for _, text := range []string{`true`, `7`, `"x"`, `{"enabled":true}`} {
		if json.Unmarshal([]byte(text), field.Addr().Interface()) == nil {
			return text
		}
	}
	require.Fail(t, "no value", name)
	return ""
}

func assertSetting(t *testing.T, settings *ApplicationSettings, name, want string) {
	t.Helper()
	members, err := membersOf(settings)
	require.NoError(t, err)
	assert.JSONEq(t, want, string(members[name]), name)
}

// What the contract leaves unnamed has no form of its own: it needs a vocabulary that knows it, or Extra.
func TestUnnamedSettings(t *testing.T) {
	for _, name := range unnamedSettings() {
		options := &UpdateSettingsOptions{}
		value := oneSetting(t, options, name)
		field := "UpdateSettingsOptions." + fieldOf(reflect.TypeFor[UpdateSettingsOptions](), name)
		for _, c := range []*Client{serve(t), speaking(t, "setting antispam_enabled = x")} {
			_, err := c.Settings.Update(t.Context(), options)
			assertRefused(t, err, field, name)
			assert.ErrorContains(t, err, "needs WithVocabulary(forge.GitLab), or give it by hand, in Extra")
			_, err = c.Settings.Update(t.Context(), options, Unchecked())
			assertRefused(t, err, field, name)
		}
		c := serve(t, exchange{sent: settingsSent, body: `{"` + name + `":` + value + `}`, answer: `{"` + name + `":` + value + `}`})
		settings, err := c.Settings.Update(t.Context(), &UpdateSettingsOptions{Extra: map[string]any{name: json.RawMessage(value)}})
		require.NoError(t, err)
		assertSetting(t, settings, name, value)
	}
	c := speaking(t, madeUp)
	_, err := c.Settings.Update(t.Context(), &UpdateSettingsOptions{AntispamEnabled: new(true), AntispamAPIKey: new("k"), Extra: map[string]any{"junkguard_enabled": false}})
	assertRefused(t, err, "UpdateSettingsOptions", "")
	assert.ErrorContains(t, err, `Extra holds "junkguard_enabled", which a field sets too`)
}

// A whole answer of a deployed server, in its own words, with settings beyond the list and nulls.
func TestSettingsOfGitLab(t *testing.T) {
	c := speaking(t, GitLab, exchange{sent: settingsRead, answer: "settings/settings_gitlab.json"})
	settings, err := c.Settings.Get(t.Context())
	require.NoError(t, err)
	assert.Equal(t, new(10), settings.ReplicaStatusTimeout)
	assert.Equal(t, new("0.0.0.0/0, ::/0"), settings.ReplicaNodeAllowedIPs)
	for _, enabled := range []*bool{settings.AssistantFeaturesEnabled, settings.LockAssistantFeaturesEnabled, settings.UseAnalyticsStoreForAnalytics, &settings.DiagramCEnabled} {
		assert.Equal(t, new(true), enabled)
	}
	assert.False(t, settings.DiagramAEnabled)
	assert.Equal(t, Null[int](), settings.ExternalPipelineValidationServiceTimeout)
	assert.Equal(t, Null[string](), settings.AfterSignOutPath)
	assert.Equal(t, map[string]json.RawMessage{"enabled": json.RawMessage("false")}, settings.EditorExtensionMarketplace)
	assert.Equal(t, new(JobLimiterCompress), settings.JobQueueJobLimiterMode)
	assert.Equal(t, []RunnerRegistrar{RunnerRegistrarProject, RunnerRegistrarGroup}, settings.ValidRunnerRegistrars)
	assert.Nil(t, settings.SpamCheckAPIKey, "it is omitted")
	assert.Nil(t, settings.AntispamAPIKey, "it is null")
	assert.JSONEq(t, `true`, string(settings.Extra["math_rendering_limits_enabled"]))
	for name := range settings.Extra {
		for _, vendor := range []string{"akismet", "sidekiq", "slack", "snowplow", "sourcegraph", "vscode", "duo", "geo", "clickhouse"} {
			assert.NotContains(t, name, vendor)
		}
	}
}

// The companions of the catalogue, and no others.
func TestSettingCompanions(t *testing.T) {
	companionsOf := map[string][]string{}
	for _, param := range settingParams(t) {
		if param.RequiredWhen != "" {
			companionsOf[param.RequiredWhen] = append(companionsOf[param.RequiredWhen], param.Name)
		}
	}
	rules := map[string][]string{}
	for _, rule := range companionSettings() {
		rules[rule.setting] = slices.Sorted(slices.Values(rule.needs))
	}
	for setting, needs := range companionsOf {
		assert.Equal(t, slices.Sorted(slices.Values(needs)), rules[setting], setting)
	}
	assert.Len(t, rules, len(companionsOf))
	for _, param := range settingParams(t) {
		for _, need := range param.Requires {
			assert.Contains(t, rules[param.Name], need)
		}
	}
	c := serve(t)
	for setting, needs := range rules {
		for _, missing := range needs {
			options := &UpdateSettingsOptions{Extra: map[string]any{}}
			options.Extra[setting] = true
			for _, need := range needs {
				if need != missing {
					setFields(t, reflect.ValueOf(options).Elem(), need)
				}
			}
			_, err := c.Settings.Update(t.Context(), options)
			assertRefused(t, err, "UpdateSettingsOptions."+fieldOf(reflect.TypeFor[UpdateSettingsOptions](), missing), missing)
			assert.ErrorContains(t, err, "must be given when "+setting+" is true")
			setFields(t, reflect.ValueOf(options).Elem(), missing)
			require.NoError(t, options.check(), setting)
			options = &UpdateSettingsOptions{Extra: map[string]any{setting: false}}
			require.NoError(t, options.check(), "%s is off", setting)
		}
	}
	require.NoError(t, (&UpdateSettingsOptions{ThrottleAuthenticatedGitHTTPEnabled: new(true), ThrottleUnauthenticatedGitHTTPEnabled: new(true)}).check())
	require.Error(t, (&UpdateSettingsOptions{AntispamEnabled: new(true)}).check(), "typed fields count as well")
	require.Error(t, (&UpdateSettingsOptions{AntispamEnabled: new(true), Extra: map[string]any{"antispam_enabled": true}}).check(), "twice")
	require.Error(t, (&UpdateSettingsOptions{Extra: map[string]any{"x": func() {}}}).check())
}

// A deprecated setting and what replaces it, given together, are refused with help.
func TestDeprecatedSettings(t *testing.T) {
	replaced := map[string]bool{}
	for _, rule := range replacedSettings() {
		replaced[rule.old] = true
		options := &UpdateSettingsOptions{Extra: map[string]any{}}
		for _, name := range []string{rule.old, rule.by} {
			if fieldOf(reflect.TypeFor[UpdateSettingsOptions](), name) == name {
				options.Extra[name] = true
				continue
			}
			setFields(t, reflect.ValueOf(options).Elem(), name)
		}
		_, err := serve(t).Settings.Update(t.Context(), options)
		assertRefused(t, err, "UpdateSettingsOptions."+fieldOf(reflect.TypeFor[UpdateSettingsOptions](), rule.old), rule.old)
		assert.ErrorContains(t, err, rule.by+", which replaces it, is given too: leave it out")
	}
	for _, param := range settingParams(t) {
		if param.Deprecated != nil && param.Deprecated.Use != "" {
			assert.True(t, replaced[param.Name], param.Name)
			delete(replaced, param.Name)
		}
	}
	assert.Empty(t, replaced)
}

type settingParam struct {
	Name         string
	Requires     []string
	RequiredWhen string `json:"required_when"`
	Deprecated   *struct{ Use string }
}

func settingParams(t *testing.T) []settingParam {
	t.Helper()
	var endpoints []struct {
		ID   string
		Body []settingParam `json:"body_params"`
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	for _, e := range endpoints {
		if e.ID == "settings.update" {
			require.Len(t, e.Body, 127)
			return e.Body
		}
	}
	return nil
}

func readSettings(t *testing.T, fixture string, v Vocabulary) *ApplicationSettings {
	t.Helper()
	settings, err := speaking(t, v, exchange{sent: settingsRead, answer: fixture}).Settings.Get(t.Context())
	require.NoError(t, err)
	return settings
}

func TestDiffSettings(t *testing.T) {
	read := func() *ApplicationSettings { return readSettings(t, "settings/settings_gitlab.json", GitLab) }
	for _, test := range []struct {
		name       string
		change     func(s *ApplicationSettings)
		update     string // "" for none
		unsettable []string
	}{
		{"nothing", func(*ApplicationSettings) {}, `{}`, nil},
		{"identity does not count", func(s *ApplicationSettings) { s.ID, s.CreatedAt, s.UpdatedAt = 2, time.Now(), time.Now() }, `{}`, nil},
		{"typed parameters", func(s *ApplicationSettings) { s.AdminMode, s.SnippetSizeLimit, s.Terms = false, 0, "" }, `{"admin_mode":false,"snippet_size_limit":0,"terms":""}`, nil},
		{"or null", func(s *ApplicationSettings) { s.AfterSignOutPath = Value("/bye") }, `{"after_sign_out_path":"/bye"}`, nil},
		{"to null", func(s *ApplicationSettings) { s.DiagramBURL = Null[string]() }, `{"diagramsnet_url":null}`, nil},
		{"a list is cleared", func(s *ApplicationSettings) { s.AllowedIntegrations = nil }, `{"allowed_integrations":[]}`, nil},
		{"a hash", func(s *ApplicationSettings) {
			s.SignInRestrictions = map[string]json.RawMessage{"a": json.RawMessage("[1]")}
		}, `{"sign_in_restrictions":{"a":[1]}}`, nil},
		{"a hash is cleared", func(s *ApplicationSettings) { s.SignInRestrictions = nil }, `{"sign_in_restrictions":{}}`, nil},
		{"in other words", func(s *ApplicationSettings) {
			s.SignInRestrictions = map[string]json.RawMessage{"disable_password_authentication_for_users_with_sso_identities": json.RawMessage(" true ")}
		}, `{}`, nil},
		{"a parameter of the update", func(s *ApplicationSettings) { s.InactiveProjectsDeleteAfterMonths = new(6) }, `{"inactive_projects_delete_after_months":6}`, nil},
		{"an unknown setting", func(s *ApplicationSettings) { s.Extra["math_rendering_limits_enabled"] = json.RawMessage(`false`) }, `{"math_rendering_limits_enabled":false}`, nil},
		{"a new unknown setting", func(s *ApplicationSettings) { s.Extra["brand_new"] = json.RawMessage(`null`) }, `{"brand_new":null}`, nil},
		{"an unknown setting is not there", func(s *ApplicationSettings) { s.Extra = nil }, `{}`, nil},
		{"companions come along", func(s *ApplicationSettings) { s.UniqueIPsLimitEnabled = new(true) },
			`{"unique_ips_limit_enabled":true,"unique_ips_limit_per_user":10,"unique_ips_limit_time_window":3600}`, nil},
		{"no companions to switch off", func(s *ApplicationSettings) { s.SharedRunnersEnabled = new(false) }, `{"shared_runners_enabled":false}`, nil},
		{"the new name alone", func(s *ApplicationSettings) {
			s.AllowLocalRequestsFromHooksAndServices, s.AllowLocalRequestsFromWebHooksAndServices = false, false
		}, `{"allow_local_requests_from_web_hooks_and_services":false}`, nil},
		{"what is no parameter", func(s *ApplicationSettings) {
			s.MaxImportSize, s.HomePageURL, s.DomainDenylist = 0, Value("https://x"), nil
		}, `{}`, []string{"domain_denylist", "home_page_url", "max_import_size"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, after := read(), read()
			test.change(after)
			diff, err := DiffSettings(before, after)
			require.NoError(t, err)
			members, err := membersOf(diff.Update)
			require.NoError(t, err)
			got, err := json.Marshal(members)
			require.NoError(t, err)
			assert.JSONEq(t, test.update, string(got))
			require.NoError(t, diff.Update.check())
			var unsettable []string
			for _, d := range diff.Unsettable {
				unsettable = append(unsettable, d.Name)
			}
			assert.Equal(t, test.unsettable, unsettable)
			assert.Equal(t, read(), before)
		})
	}
	diff, err := DiffSettings(&ApplicationSettings{MaxImportSize: 1}, &ApplicationSettings{MaxImportSize: 2})
	require.NoError(t, err)
	assert.Equal(t, []SettingDifference{{Name: "max_import_size", Have: json.RawMessage("1"), Want: json.RawMessage("2")}}, diff.Unsettable)
	diff, err = DiffSettings(nil, nil)
	require.NoError(t, err)
	assert.Equal(t, &SettingsDiff{Update: &UpdateSettingsOptions{}}, diff)
	broken := &ApplicationSettings{Extra: map[string]json.RawMessage{"x": json.RawMessage(`{`)}}
	for _, pair := range [][2]*ApplicationSettings{{broken, {}}, {{}, broken}} {
		_, err = DiffSettings(pair[0], pair[1])
		require.Error(t, err)
	}
}

// Settings may be secrets, so a difference prints its name only, and so does what holds it.
func TestSettingDifferencePrintsItsName(t *testing.T) {
	difference := SettingDifference{Name: "chatapp_secret", Have: json.RawMessage(`"hunter2"`), Want: json.RawMessage(`"hunter3"`)}
	list := []SettingDifference{difference}
	for _, value := range []any{difference, &difference, list, SettingsDiff{Unsettable: list}, &SettingsReport{NotTaken: list}} {
		for _, verb := range []string{"%v", "%+v", "%s", "%#v", "%q"} {
			text := fmt.Sprintf(verb, value)
			assert.Contains(t, text, "chatapp_secret")
			assert.NotContains(t, text, "hunter")
			assert.NotContains(t, text, "104", "its bytes")
			assert.NotContains(t, text, "0x68", "its bytes")
		}
	}
	assert.Equal(t, "chatapp_secret", fmt.Sprint(difference))
}

// Typed parameters are where Diff puts what has a field: nothing that could be typed ends in Extra.
func TestDiffSettingsIsTyped(t *testing.T) {
	after := readSettings(t, "settings/settings.json", "")
	diff, err := DiffSettings(&ApplicationSettings{}, after)
	require.NoError(t, err)
	assert.Empty(t, diff.Update.Extra)
	members, err := membersOf(diff.Update)
	require.NoError(t, err)
	settable := 0
	for name := range jsonFields(reflect.TypeFor[ApplicationSettings]()) {
		if jsonFields(reflect.TypeFor[UpdateSettingsOptions]())[name] != nil {
			settable++
			replaced := slices.ContainsFunc(replacedSettings(), func(r replacement) bool { return r.old == name })
			assert.Equal(t, !replaced, members[name] != nil, name)
		}
	}
	assert.Equal(t, 127+len(unnamedSettings())+len(settingDependencies()), settable)
	assert.Len(t, diff.Unsettable, 142+96+1-3-settable)
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
	report, err := c.Settings.Apply(t.Context(), update, Into(&response))
	require.NoError(t, err)
	assert.Equal(t, 200, response.Status)
	assert.Equal(t, []SettingDifference{
		{"antispam_api_key", nil, raw(`"secret"`)},
		{"antispam_enabled", raw(`false`), raw(`true`)},
		{"asciidoc_max_includes", raw(`32`), raw(`64`)},
		{"assistant_features_enabled", nil, raw(`true`)},
		{"no_such_setting", nil, raw(`1`)},
	}, report.NotTaken)
	assert.True(t, report.Settings.AdminMode)
	assert.Equal(t, Value("http://plantuml.local"), report.Settings.DiagramAURL)

	// A later look, without sending anything.
	c = speaking(t, GitLab, exchange{sent: settingsRead, answer: strings.NewReplacer(`"akismet_enabled":false`, `"akismet_enabled":true,"akismet_api_key":"secret"`, `:32`, `:64`).Replace(answer)})
	report, err = c.Settings.Verify(t.Context(), update)
	require.NoError(t, err)
	assert.Equal(t, []string{"assistant_features_enabled", "no_such_setting"}, names(report.NotTaken))

	// An update of nothing is not sent.
	c = serve(t, exchange{sent: settingsRead, answer: "settings/settings.json"}, exchange{sent: settingsRead, answer: "settings/settings.json"})
	for _, nothing := range []*UpdateSettingsOptions{nil, {}} {
		report, err = c.Settings.Apply(t.Context(), nothing)
		require.NoError(t, err)
		assert.Empty(t, report.NotTaken)
		assertWhole(t, "settings/settings.json", report.Settings)
	}
}

// Diff and Apply together: a settings document is made like another.
func TestSettingsDocument(t *testing.T) {
	before := readSettings(t, "settings/settings_gitlab.json", GitLab)
	after := readSettings(t, "settings/settings_gitlab.json", GitLab)
	after.SignupEnabled, after.AssistantFeaturesEnabled, after.DiagramAEnabled = false, new(false), true
	after.AntispamEnabled, after.AntispamAPIKey, after.Extra["math_rendering_limits_enabled"] = new(true), new("key"), json.RawMessage("false")
	diff, err := DiffSettings(before, after)
	require.NoError(t, err)
	c := speaking(t, GitLab,
		exchange{sent: settingsSent, answer: `{"id":1}`, body: `{"signup_enabled":false,"duo_features_enabled":false,"plantuml_enabled":true,"akismet_enabled":true,"akismet_api_key":"key","math_rendering_limits_enabled":false}`},
		exchange{sent: settingsRead, answer: `{"id":1,"signup_enabled":false,"duo_features_enabled":false,"plantuml_enabled":true,"akismet_enabled":true,"akismet_api_key":"key","math_rendering_limits_enabled":true}`})
	report, err := c.Settings.Apply(t.Context(), diff.Update)
	require.NoError(t, err)
	assert.Equal(t, []string{"math_rendering_limits_enabled"}, names(report.NotTaken))
}

func names(differences []SettingDifference) (list []string) {
	for _, d := range differences {
		list = append(list, d.Name)
	}
	return list
}

func TestApplySettingsFails(t *testing.T) {
	c := serve(t,
		exchange{sent: settingsSent, body: `{"admin_mode":true}`, status: 403, answer: `{"message":"403 Forbidden"}`},
		exchange{sent: settingsSent, body: `{"admin_mode":true}`, answer: `{"id":1}`}, exchange{sent: settingsRead, status: 404, answer: `{}`},
		exchange{sent: settingsSent, body: `{"admin_mode":true}`, answer: `{"id":1}`}, exchange{sent: settingsRead, answer: `[1]`})
	update := &UpdateSettingsOptions{AdminMode: new(true)}
	_, err := c.Settings.Apply(t.Context(), update)
	require.ErrorIs(t, err, ErrForbidden)
	report, err := c.Settings.Apply(t.Context(), update)
	var failed *Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, "GET", failed.Method, "the update was made")
	assert.Nil(t, report)
	_, err = c.Settings.Apply(t.Context(), update)
	require.ErrorIs(t, err, ErrAnswer)
	_, err = c.Settings.Apply(t.Context(), &UpdateSettingsOptions{AntispamEnabled: new(true)})
	assertRefused(t, err, "UpdateSettingsOptions.AntispamAPIKey", "antispam_api_key")
	_, err = c.Settings.Apply(t.Context(), &UpdateSettingsOptions{Extra: map[string]any{"x": func() {}}})
	require.Error(t, err)
}

// The 142 fields, 127 parameters and 27 rate limits of Document 3.
func TestSettingsAreWhole(t *testing.T) {
	assert.Len(t, jsonFields(reflect.TypeFor[ApplicationSettings]()), 142+96+1)
	parameters := slices.Sorted(maps.Keys(jsonFields(reflect.TypeFor[UpdateSettingsOptions]())))
	assert.Len(t, parameters, 127+len(unnamedSettings())+len(settingDependencies()))
	limits := slices.DeleteFunc(parameters, func(name string) bool { return !strings.HasPrefix(name, "throttle_") })
	assert.Len(t, limits, 27)
}
