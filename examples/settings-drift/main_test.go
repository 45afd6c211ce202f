package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const (
	update = "PUT /application/settings"
	table  = `--- the server
+++ desired.json
@@ deletion_adjourned_period @@
-30
+14
@@ require_admin_approval_after_user_signup @@
-false
+true
@@ restricted_visibility_levels @@
-[]
+"public"
@@ session_expire_delay @@
-10080
+480
@@ signup_enabled @@
-true
+false
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
	srv.AssertRequestCount(t, update, 0)

	out, err = demotest.Run(t, run, "y\n", "-file", "desired.json", "-apply")
	require.NoError(t, err)
	assert.Equal(t, table+"\nChange 5 settings? [y/N] Done: all settings of the file are in force.\n", out)
	assert.JSONEq(t, `{"deletion_adjourned_period": 14, "require_admin_approval_after_user_signup": true, "restricted_visibility_levels": ["public"],
		"session_expire_delay": 480, "signup_enabled": false}`, string(srv.LastRequest(t, update).Body), "only what differs is sent")
	srv.AssertAppliedCount(t, update, 1)
	settings, err := srv.Client().Settings.Get(t.Context())
	require.NoError(t, err)
	assert.False(t, settings.SignupEnabled)
	assert.Equal(t, 480, settings.SessionExpireDelay)
	assert.Equal(t, 100, settings.MaxAttachmentSize, "what does not differ stays")

	out, err = demotest.Run(t, run, "", "-file", "desired.json", "-apply", "-yes")
	require.NoError(t, err)
	assert.Equal(t, "No drift: all settings of the file are in force.\n", out)
	srv.AssertRequestCount(t, update, 1)
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
	srv.SetSettingsCacheTTL(time.Minute)
	later := func() time.Time { return forgetest.DemoTime().Add(2 * time.Minute) }
	out := &eavesdropper{text: "looking again", then: func() { srv.SetClock(later) }}
	require.NoError(t, run(t.Context(), []string{"-file", "desired.json", "-apply", "-yes"}, strings.NewReader(""), out))
	assert.Contains(t, out.String(), "5 settings not shown yet; looking again in 1s.\nDone: all settings of the file are in force.\n")
	srv.AssertRequestCount(t, update, 1)
}

// A setting of another tier is ignored by the server without an error; the program reports it.
func TestNotApplied(t *testing.T) {
	srv := demotest.Server(t, forgetest.WithTier(forgetest.Free))
	path := file(t, `{"signup_enabled": false, "disable_personal_access_tokens": true}`)
	out, err := demotest.Run(t, run, "", "-file", path, "-apply", "-yes", "-wait", "0s")
	assert.Equal(t, demo.Finding("the server did not apply disable_personal_access_tokens (of another tier)"), err)
	assert.Contains(t, out, "@@ disable_personal_access_tokens @@\n-(not shown)\n+true\n")
	srv.AssertAppliedCount(t, update, 1)
}

// Drift in lists, objects and names that the library does not know is found, and printed by its
// elements.
func TestDriftInside(t *testing.T) {
	srv := demotest.Server(t)
	srv.EditSettings(func(s *forgetest.Document) {
		s.Set("domain_allowlist", []string{"a.example", "b.example"})
		s.Set("repository_storages_weighted", map[string]any{"default": 100, "cold": 5})
		s.Set("sign_in_restrictions", map[string]any{"client_secret": "hunter1", "x": true})
	})
	path := file(t, `{"domain_allowlist": ["a.example", "c.example"], "repository_storages_weighted": {"default": 50, "cold": 5},
		"sign_in_restrictions": {"client_secret": "hunter2", "x": true}}`)
	out, err := demotest.Run(t, run, "", "-file", path)
	assert.Equal(t, demo.Finding("3 settings to change; -apply does it"), err)
	assert.Contains(t, out, "@@ domain_allowlist @@\n-\"b.example\"\n+\"c.example\"\n@@ repository_storages_weighted @@\n-default: 100\n+default: 50\n@@ sign_in_restrictions @@\n")
	assert.NotContains(t, out, "hunter")
	path = file(t, `{"domain_allowlist": ["b.example", "a.example"]}`)
	out, err = demotest.Run(t, run, "", "-file", path)
	require.Error(t, err)
	assert.Contains(t, out, "-\"a.example\"\n-\"b.example\"\n+\"b.example\"\n+\"a.example\"\n", "another order is drift")
}

func TestSecretsAreNotShown(t *testing.T) {
	srv := demotest.Server(t)
	srv.EditSettings(func(s *forgetest.Document) { s.Set("external_pipeline_validation_service_token", "old-secret") })
	out, err := demotest.Run(t, run, "", "-file", file(t, `{"external_pipeline_validation_service_token": "new-secret"}`))
	require.Error(t, err)
	assert.Contains(t, out, "@@ external_pipeline_validation_service_token @@\n-\"(secret)\"\n+\"(secret)\"\n")
	assert.NotContains(t, out+err.Error(), "-secret")
}

func TestWrongFiles(t *testing.T) {
	srv := demotest.Server(t)
	for want, args := range map[string][]string{
		"Merge (signup_enabed): line 2: neither the server's settings nor this package have it: check the spelling": {"-file", file(t, "{\n\"signup_enabed\": false}")},
		"Merge (signup_enabled): line 3: its type is boolean, and the value is a JSON string":                       {"-file", file(t, "{\n\n\"signup_enabled\": \"no\"}")},
		"Merge (akismet_enabled): line 1: the contract calls it antispam_enabled":                                   {"-file", file(t, `{"akismet_enabled": true}`)},
		"Merge: line 1: it must be a JSON object of settings, and it is a JSON array":                               {"-file", file(t, `["signup_enabled"]`)},
		"Merge: line 2: it is not JSON": {"-file", file(t, "{\n\"signup_enabled\" false}")},
		"no such file":                  {"-file", "nowhere.json"},
		"-file is missing":              {},
	} {
		_, err := demotest.Run(t, run, "", append(args, "-apply", "-yes")...)
		require.ErrorContains(t, err, want)
	}
	srv.AssertRequestCount(t, update, 0)
}

// A GitLab server has its own words for some settings; the program says how to make the client
// speak them.
func TestVocabulary(t *testing.T) {
	srv := demotest.Server(t, forgetest.WithGitLabVocabulary())
	path := file(t, `{"antispam_enabled": false, "signup_enabled": false}`)
	_, err := demotest.Run(t, run, "", "-file", path, "-apply", "-yes")
	require.ErrorContains(t, err, "FORGE_VOCABULARY=gitlab")
	srv.AssertRequestCount(t, update, 0)

	t.Setenv("FORGE_VOCABULARY", "gitlab")
	out, err := demotest.Run(t, run, "", "-file", path, "-apply", "-yes")
	require.NoError(t, err)
	assert.Contains(t, out, "@@ signup_enabled @@\n-true\n+false\n")
	srv.Fail("*", forgetest.Respond(200, "text/html", "<html><title>Sign in</title></html>"))
	_, err = demotest.Run(t, run, "", "-file", path)
	require.ErrorContains(t, err, "perhaps a sign-in page")
	assert.NotContains(t, err.Error(), "FORGE_VOCABULARY", "it is set already")
}

func TestEmbedded(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	out, err := demotest.Run(t, run, "y\n", "-apply")
	require.NoError(t, err)
	assert.Contains(t, out, "Done")
}
