package forge

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

const settingsRead, settingsSent = "GET /application/settings", "PUT /application/settings"

func TestSettings(t *testing.T) {
	ctx := t.Context()
	update := func(o *UpdateSettingsOptions) func(c *Client) (any, error) {
		return func(c *Client) (any, error) { return c.Settings.Update(ctx, o) }
	}
	const one = "settings/get.json"
	runCalls(t, []callRow{
		{settingsSent, "", `{"signup_enabled":false,"terminal_max_session_time":0,"after_sign_out_path":null,"valid_runner_registrars":[],"sign_in_restrictions":{},"session_expire_delay":60}`, one, update(&UpdateSettingsOptions{
			SignupEnabled: new(false), TerminalMaxSessionTime: new(0), AfterSignOutPath: Null[string](), ValidRunnerRegistrars: []RunnerRegistrar{}, SignInRestrictions: map[string]any{}, Extra: map[string]any{"session_expire_delay": 60},
		})},
		{settingsSent, "", `{"akismet_enabled":true,"akismet_api_key":"k"}`, one, update(&UpdateSettingsOptions{AkismetEnabled: new(true), AkismetAPIKey: new("k")})},
		{settingsSent, "", `{}`, `403 {"message":"403 Forbidden"}`, update(nil)},
		{settingsSent, "", `{"asciidoc_max_includes":65}`, `400 {"message":{"asciidoc_max_includes":["must be less than or equal to 64"]}}`, update(&UpdateSettingsOptions{AsciiDocMaxIncludes: new(65)})}, // only the server checks ranges
	})
}

// oneSetting sets a field and returns its value as JSON.
func oneSetting(t *testing.T, settings any, name string) string {
	t.Helper()
	field := reflect.ValueOf(settings).Elem().FieldByName(catalogue.GoName(reflect.TypeOf(settings), name))
	require.True(t, field.IsValid(), name)
	for _, text := range []string{`true`, `7`, `"x"`, `{"enabled":true}`} {
		if json.Unmarshal([]byte(text), field.Addr().Interface()) == nil {
			return text
		}
	}
	require.Fail(t, "no value", name)
	return ""
}

// Exactly the companions in the catalogue are required. Those that only some tiers have are not
// required.
func TestSettingCompanions(t *testing.T) {
	companions, rules := map[string][]string{}, map[string][]string{}
	for _, param := range settingParams(t) {
		if param.RequiredWhen != "" {
			companions[param.RequiredWhen] = append(companions[param.RequiredWhen], param.Name)
		}
	}
	for _, s := range settingTable {
		if s.needs != nil {
			rules[s.name] = slices.Sorted(slices.Values(s.needs))
			slices.Sort(companions[s.name])
		}
	}
	assert.Equal(t, companions, rules)
	for _, param := range settingParams(t) {
		assert.Subset(t, rules[param.Name], param.Requires)
	}
	c := serve(t)
	for setting, needs := range rules {
		for _, missing := range needs {
			if settingNamed(missing).isOfTier {
				continue
			}
			options := &UpdateSettingsOptions{Extra: map[string]any{}}
			options.Extra[setting] = true
			for _, need := range needs {
				if need != missing {
					oneSetting(t, options, need)
				}
			}
			_, err := c.Settings.Update(t.Context(), options)
			assertRefused(t, err, "UpdateSettingsOptions."+catalogue.GoName(reflect.TypeFor[UpdateSettingsOptions](), missing), missing)
			assert.ErrorContains(t, err, "must be set if "+setting+" is true")
			oneSetting(t, options, missing)
			require.NoError(t, options.check(), setting)
			options = &UpdateSettingsOptions{Extra: map[string]any{setting: false}}
			require.NoError(t, options.check(), "%s is off", setting)
		}
	}
	require.NoError(t, (&UpdateSettingsOptions{ThrottleAuthenticatedGitHTTPEnabled: new(true), ThrottleUnauthenticatedGitHTTPEnabled: new(true)}).check())
	require.Error(t, (&UpdateSettingsOptions{AkismetEnabled: new(true)}).check(), "typed fields count, too")
	require.Error(t, (&UpdateSettingsOptions{AkismetEnabled: new(true), Extra: map[string]any{"akismet_enabled": true}}).check(), "twice")
	require.Error(t, (&UpdateSettingsOptions{Extra: map[string]any{"x": func() {}}}).check())
}

// A period for a deletion that the same update turns off is refused. Alone it is sent, since the
// deletion may already be on.
func TestSettingNeeds(t *testing.T) {
	name := "unconfirmed_users_delete_after_days"
	refused := []*UpdateSettingsOptions{
		{UnconfirmedUsersDeleteAfterDays: new(3), DeleteUnconfirmedUsers: new(false)},
		{UnconfirmedUsersDeleteAfterDays: new(3), Extra: map[string]any{"delete_unconfirmed_users": false}},
	}
	for _, options := range refused {
		_, err := serve(t).Settings.Update(t.Context(), options)
		assertRefused(t, err, "UpdateSettingsOptions.UnconfirmedUsersDeleteAfterDays", name)
		require.ErrorContains(t, err, "it needs delete_unconfirmed_users, which is false")
	}
	for _, options := range []*UpdateSettingsOptions{
		{UnconfirmedUsersDeleteAfterDays: new(3)}, {UnconfirmedUsersDeleteAfterDays: new(3), DeleteUnconfirmedUsers: new(true)}, {DeleteUnconfirmedUsers: new(false)},
	} {
		require.NoError(t, options.check())
	}
	needs := 0
	for _, param := range settingParams(t) {
		needs += len(param.Needs)
	}
	assert.Equal(t, 1, needs, "the catalogue has another rule of this kind")
}

// A deprecated setting together with its replacement is refused, and the error names the one to
// use.
func TestDeprecatedSettings(t *testing.T) {
	replaced := map[string][]string{}
	for _, old := range settingTable {
		for _, use := range old.replacedBy {
			replaced[old.name] = append(replaced[old.name], use)
			options := &UpdateSettingsOptions{Extra: map[string]any{old.name: 1, use: 2}}
			_, err := serve(t).Settings.Update(t.Context(), options)
			option := "UpdateSettingsOptions"
			if field := fieldOf(reflect.TypeFor[UpdateSettingsOptions](), old.name); field != "" {
				option += "." + field
			}
			assertRefused(t, err, option, old.name)
			assert.ErrorContains(t, err, use+", which replaces it, is set too: omit "+old.name)
			var refused *ValidationError
			require.ErrorAs(t, options.Diff().Err(), &refused)
			assert.Equal(t, []string{option, old.name}, []string{refused.Option, refused.Param})
		}
	}
	for _, param := range settingParams(t) {
		if param.Deprecated.Use != "" {
			want := []string{param.Deprecated.Use}
			if suffix, isFamily := strings.CutPrefix(param.Name, "throttle_unauthenticated"); isFamily { // two families
				want = []string{"throttle_unauthenticated_web" + suffix, "throttle_unauthenticated_api" + suffix}
			}
			assert.Equal(t, want, replaced[param.Name], param.Name)
			delete(replaced, param.Name)
		}
	}
	delete(replaced, "asset_proxy_whitelist") // the contract shows it only in responses, next to asset_proxy_allowlist
	assert.Empty(t, replaced)
}

// settingParams returns the documented parameters of the update.
func settingParams(t *testing.T) (params []catalogue.SettingFacts) {
	t.Helper()
	for _, setting := range catalogue.Settings() {
		if setting.Param != nil {
			params = append(params, *setting.Param)
		}
	}
	return params
}
