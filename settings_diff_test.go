package forge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A program that sets one name of a setting that has two means both, whichever it sets.
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
}

// The elements of a list that could not be read are not there, so those that were are sent whole.
func TestSettingsListWithMisfits(t *testing.T) {
	s := settingsOf(t, `{"default_branch_protection_defaults":{"allowed_to_push":["x",{"access_level":40,"x":1}]}}`)
	require.Len(t, s.DefaultBranchProtectionDefaults.AllowedToPush, 1)
	s.DefaultBranchProtectionDefaults.AllowedToPush[0].AccessLevel = 30
	assert.JSONEq(t, `{"default_branch_protection_defaults":{"allowed_to_push":[{"access_level":30,"x":1}]}}`, changesAsJSON(t, s.Diff().Changes))
}

// An element that was not edited stays as it was read.
func TestSettingsListKeepsElements(t *testing.T) {
	s := settingsOf(t, `{"default_branch_protection_defaults":{"allowed_to_push":[{"x":1},{"access_level":40}]}}`)
	s.DefaultBranchProtectionDefaults.AllowedToPush[1].AccessLevel = 30
	assert.JSONEq(t, `{"default_branch_protection_defaults":{"allowed_to_push":[{"x":1},{"access_level":30}]}}`, changesAsJSON(t, s.Diff().Changes))
}

// Each field can be cleared, also one that holds a pointer.
func TestSettingsFieldsCleared(t *testing.T) {
	s := settingsOf(t, `{"antispam_api_key":"k","signin_enabled":"true"}`)
	s.AntispamAPIKey = nil
	assert.JSONEq(t, `{"antispam_api_key":null}`, changesAsJSON(t, s.Diff().Changes))
	s = settingsOf(t, `{"antispam_api_key":null}`)
	s.AntispamAPIKey = new("k")
	assert.JSONEq(t, `{"antispam_api_key":"k"}`, changesAsJSON(t, s.Diff().Changes))
}

// The settings in UpdateSettingsOptions that cannot be a difference are named as in Update.
func TestOptionsDiffRefused(t *testing.T) {
	for _, o := range []*UpdateSettingsOptions{
		{SigninEnabled: new("true"), PasswordAuthenticationEnabledForWeb: new(true)}, {Extra: map[string]any{"x": make(chan int)}},
	} {
		_, err := serve(t).Settings.Update(t.Context(), o)
		var want, got *ValidationError
		require.ErrorAs(t, err, &want)
		require.ErrorAs(t, o.Diff().Err(), &got)
		assert.Equal(t, [3]string{want.Option, want.Param, want.Reason}, [3]string{got.Option, got.Param, got.Reason})
		assert.Contains(t, got.Option, "UpdateSettingsOptions")
	}
}

// A secret is a text whose name says that it is one, also of a setting that no field has.
func TestSecretSettings(t *testing.T) {
	for _, end := range []string{"key", "token", "secret", "password", "pass", "passphrase", "salt", "credentials"} {
		assert.True(t, SettingDifference{Name: "unheard_of_" + end}.Secret(), end)
		assert.False(t, SettingDifference{Name: "unheard_of_" + end + "s_x"}.Secret(), end)
	}
	for name, want := range map[string]bool{
		"antispam_api_key": true, "external_pipeline_validation_service_token": true, "jira_connect_application_key": true, "chatapp_secret": true,
		"allow_runner_registration_token": false, "users_api_limit_ssh_key": false, "users_api_limit_gpg_key": false, "admin_mode": false,
	} {
		assert.Equal(t, want, SettingDifference{Name: name}.Secret(), name)
	}
}
