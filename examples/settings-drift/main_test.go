package main

import (
	"os"
	"path/filepath"
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
	srv.AssertRequestCount(t, update, 0)

	out, err = demotest.Run(t, run, "y\n", "-file", "desired.json", "-apply")
	require.NoError(t, err)
	assert.Equal(t, table+"\nChange 5 settings? [y/N] Done: all settings of the file are in force.\n", out)
	assert.JSONEq(t, `{"deletion_adjourned_period": 14, "require_admin_approval_after_user_signup": true, "restricted_visibility_levels": ["public"],
		"session_expire_delay": 480, "signup_enabled": false}`, string(srv.LastRequest(t, update).Body), "only what differs is sent")
	srv.AssertAppliedCount(t, update, 1)
	out, err = demotest.Run(t, run, "", "-file", "desired.json", "-apply", "-yes")
	require.NoError(t, err)
	assert.Equal(t, "No drift: all settings of the file are in force.\n", out)
	srv.AssertRequestCount(t, update, 1)
}

// A server shows changes late, as deployed ones do; the program waits for them.
func TestCachedSettings(t *testing.T) {
	srv := demotest.Server(t)
	srv.SetSettingsCacheTTL(time.Minute)
	out, err := demotest.Run(t, run, "", "-file", "desired.json", "-apply", "-yes")
	require.NoError(t, err)
	assert.Contains(t, out, "5 settings not shown yet; waiting up to 1m30s.\nDone: all settings of the file are in force.\n")
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

// Lists and objects are printed by their elements, secrets without their values.
func TestDriftInside(t *testing.T) {
	srv := demotest.Server(t)
	srv.EditSettings(func(s *forgetest.Document) {
		s.Set("domain_allowlist", []string{"a.example", "b.example"})
		s.Set("repository_storages_weighted", map[string]any{"default": 100, "cold": 5})
		s.Set("external_pipeline_validation_service_token", "old-secret")
		s.Set("sign_in_restrictions", map[string]any{"client_secret": "hunter1", "x": true})
	})
	path := file(t, `{"domain_allowlist": ["a.example", "c.example"], "repository_storages_weighted": {"default": 50, "cold": 5},
		"sign_in_restrictions": {"client_secret": "hunter2", "x": true}, "external_pipeline_validation_service_token": "new-secret"}`)
	out, err := demotest.Run(t, run, "", "-file", path)
	assert.Equal(t, demo.Finding("4 settings to change; -apply does it"), err)
	assert.Contains(t, out, `@@ domain_allowlist @@
-"b.example"
+"c.example"
@@ external_pipeline_validation_service_token @@
-"(secret)"
+"(secret)"
@@ repository_storages_weighted @@
-default: 100
+default: 50
@@ sign_in_restrictions @@
-client_secret: "(secret)"
`)
	assert.NotContains(t, out, "hunter")
	assert.NotContains(t, out, "-secret")
}

// A file that is wrong changes nothing.
func TestWrongFiles(t *testing.T) {
	srv := demotest.Server(t)
	_, err := demotest.Run(t, run, "", "-file", file(t, "{\n\"signup_enabed\": false}"), "-apply", "-yes")
	require.ErrorContains(t, err, "Merge (signup_enabed): line 2: neither the server's settings nor this package have it: check the spelling")
	_, err = demotest.Run(t, run, "", "-apply", "-yes")
	require.ErrorContains(t, err, "-file, the settings as they should be")
	srv.AssertRequestCount(t, update, 0)
}

// A run that is interrupted at any request fails, and does not say that it is done.
func TestInterrupted(t *testing.T) {
	demotest.Interrupt(t, run, "Done: all settings", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-file", "desired.json", "-apply", "-yes"}
	}, nil)
}
