package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const (
	update = "PUT /application/settings"
	table  = `SETTING                                   IS     SHOULD BE
deletion_adjourned_period                 30     14
require_admin_approval_after_user_signup  false  true
restricted_visibility_levels              []     ["public"]
session_expire_delay                      10080  480
signup_enabled                            true   false
`
)

func file(t *testing.T, content string) string {
	path := filepath.Join(t.TempDir(), "settings.json")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// Drift is a finding for a CI job, and nothing is changed unless asked to.
func TestDrift(t *testing.T) {
	srv := demotest.Server(t)
	out, err := demotest.Run(t, run, "y\n", "-file", "desired.json")
	assert.Equal(t, demo.Finding("5 settings to change; -apply does it"), err)
	assert.Equal(t, table, out)

	_, err = demotest.Run(t, run, "n\n", "-file", "desired.json", "-apply")
	assert.Equal(t, demo.Finding("5 settings to change; -apply does it"), err)
	_, err = demotest.Run(t, run, "", "-file", "desired.json", "-apply")
	require.ErrorContains(t, err, "-yes goes on")
	srv.AssertCount(t, update, 0)

	out, err = demotest.Run(t, run, "y\n", "-file", "desired.json", "-apply")
	require.NoError(t, err)
	assert.Equal(t, table+"\nChange 5 settings? [y/N] Done: all settings of the file are in force.\n", out)
	assert.JSONEq(t, `{"deletion_adjourned_period": 14, "require_admin_approval_after_user_signup": true, "restricted_visibility_levels": ["public"],
		"session_expire_delay": 480, "signup_enabled": false}`, string(srv.LastRequest(t, update).Body), "only what differs is sent")
	srv.AssertEffects(t, update, 1)
	settings, err := srv.Client().Settings.Get(t.Context())
	require.NoError(t, err)
	assert.False(t, settings.SignupEnabled)
	assert.Equal(t, 480, settings.SessionExpireDelay)
	assert.Equal(t, 100, settings.MaxAttachmentSize, "what does not differ stays")

	out, err = demotest.Run(t, run, "", "-file", "desired.json", "-apply", "-yes")
	require.NoError(t, err)
	assert.Equal(t, "No drift: all settings of the file are in force.\n", out)
	srv.AssertCount(t, update, 1)
}

// eavesdropper calls back when a text is printed.
type eavesdropper struct {
	strings.Builder
	text string
	then func()
}

func (e *eavesdropper) Write(p []byte) (int, error) {
	if strings.Contains(string(p), e.text) {
		e.then()
	}
	return e.Builder.Write(p)
}

// A server shows changes late, as deployed ones do; the program waits for them.
func TestCachedSettings(t *testing.T) {
	srv := demotest.Server(t)
	srv.SetClock(forgetest.DemoTime)
	srv.SettingsCache(time.Minute)
	later := func() time.Time { return forgetest.DemoTime().Add(2 * time.Minute) }
	out := &eavesdropper{text: "looking again", then: func() { srv.SetClock(later) }}
	require.NoError(t, run(t.Context(), []string{"-file", "desired.json", "-apply", "-yes"}, strings.NewReader(""), out))
	assert.Contains(t, out.String(), "5 settings not shown yet; looking again in 1s.\nDone: all settings of the file are in force.\n")
	srv.AssertCount(t, update, 1)
}

// A setting of another tier is ignored by the server without an error; the program tells.
func TestNotTaken(t *testing.T) {
	srv := demotest.Server(t, forgetest.WithTier(forgetest.Free))
	path := file(t, `{"signup_enabled": false, "disable_personal_access_tokens": true}`)
	out, err := demotest.Run(t, run, "", "-file", path, "-apply", "-yes", "-wait", "0s")
	assert.Equal(t, demo.Finding("the server did not take disable_personal_access_tokens (an older release, or another tier?)"), err)
	assert.Regexp(t, `disable_personal_access_tokens +\(not shown\) +true`, out)
	srv.AssertEffects(t, update, 1)
}

func TestSecretsAreNotShown(t *testing.T) {
	srv := demotest.Server(t)
	srv.FillSettings(func(s *forgetest.Document) { s.Set("external_pipeline_validation_service_token", "old-secret") })
	out, err := demotest.Run(t, run, "", "-file", file(t, `{"external_pipeline_validation_service_token": "new-secret"}`))
	require.Error(t, err)
	assert.Regexp(t, `external_pipeline_validation_service_token +\(secret\) +\(secret\)`, out)
	assert.NotContains(t, out+err.Error(), "-secret")
}

func TestWrongFiles(t *testing.T) {
	srv := demotest.Server(t)
	for want, args := range map[string][]string{
		`the server shows no setting "signup_enabed": is it misspelled?`: {"-file", file(t, `{"signup_enabed": false}`)},
		"signup_enabled cannot be a string":                              {"-file", file(t, `{"signup_enabled": "no"}`)},
		"settings.json: it is no JSON object":                            {"-file", file(t, `["signup_enabled"]`)},
		"no such file":                                                   {"-file", "nowhere.json"},
		"-file is missing":                                               {},
	} {
		_, err := demotest.Run(t, run, "", append(args, "-apply", "-yes")...)
		require.ErrorContains(t, err, want)
	}
	srv.AssertCount(t, update, 0)
}

// A GitLab server has its own words for some settings; the program says how to make the client speak them.
func TestVocabulary(t *testing.T) {
	srv := demotest.Server(t, forgetest.GitLabWords())
	path := file(t, `{"antispam_enabled": false, "signup_enabled": false}`)
	_, err := demotest.Run(t, run, "", "-file", path, "-apply", "-yes")
	require.ErrorContains(t, err, "FORGE_VOCABULARY=gitlab")
	srv.AssertCount(t, update, 0)

	t.Setenv("FORGE_VOCABULARY", "gitlab")
	out, err := demotest.Run(t, run, "", "-file", path, "-apply", "-yes")
	require.NoError(t, err)
	assert.Contains(t, out, "signup_enabled  true  false")
}

func TestEmbedded(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	out, err := demotest.Run(t, run, "y\n", "-apply")
	require.NoError(t, err)
	assert.Contains(t, out, "Done")
}

// What is read stays as it is: a list that the file makes shorter, a hash, and a value of another type than documented are
// differences, and the last one is replaced.
func TestOverlay(t *testing.T) {
	before := &forge.ApplicationSettings{
		AllowedIntegrations: []string{"a", "b"}, SignInRestrictions: map[string]json.RawMessage{"c": json.RawMessage("1")}, SessionExpireDelay: 2,
		Extra: map[string]json.RawMessage{"snippet_size_limit": json.RawMessage(`"5 MB"`), "receptive_cluster_agents_enabled": json.RawMessage(`"?"`)},
	}
	after, err := overlay(before, []byte(`{"allowed_integrations":["x"],"sign_in_restrictions":{"d":2},"snippet_size_limit":7,"receptive_cluster_agents_enabled":true}`))
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, before.AllowedIntegrations)
	assert.Equal(t, []string{"x"}, after.AllowedIntegrations)
	assert.Equal(t, 7, after.SnippetSizeLimit)
	assert.Equal(t, 2, after.SessionExpireDelay)
	assert.Equal(t, new(true), after.ReceptiveClusterAgentsEnabled)
	assert.Empty(t, after.Extra)
	diff, err := forge.DiffSettings(before, after)
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"d": 2.0}, diff.Update.SignInRestrictions)
	assert.Equal(t, []string{"x"}, diff.Update.AllowedIntegrations)
	assert.Equal(t, new(7), diff.Update.SnippetSizeLimit)

	same, err := overlay(before, []byte(`{"snippet_size_limit":"5 MB"}`))
	require.NoError(t, err)
	assert.Equal(t, before.Extra, same.Extra)
}
