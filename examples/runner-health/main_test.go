package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const table = `ID  RUNNER        FOR       STATUS           CONTACT  VERSIONS                 JOBS  NEEDS A LOOK
1   shared-linux  instance  online           1m       18.0.0, 17.11.2, 17.8.1  2     machine s_c81d55 is stale; 1 job may hang
3   mac-mini      group     offline          9h       17.9.0                   1     offline; 1 job may hang
4   android-lab   project   stale            23d      16.4.0                   0     stale; machine r_5be8c9 has 16.4.0
5   gpu-trial     instance  never contacted  never    -                        0     never started
6   old-builder   group     online, paused   14m      16.11.4                  0     machine s_02cc6f has 16.11.4
2   shared-arm    instance  online           2m       18.0.0                   1     

Job 2 "end-to-end tests" (test) has run for 7h on shared-linux, for main of acme/storefront.
Job 4 "ios build" (build) has run for 10h on mac-mini, for main of acme/mobile-app.

6 runners: 1 never contacted; 1 offline; 2 online; 1 online, paused; 1 stale; 5 to look at.
`

// server is one whose clock stands, so that the ages in the table do.
func server(t *testing.T) *forgetest.Server {
	srv := demotest.Server(t)
	srv.SetClock(forgetest.DemoTime)
	return srv
}

func TestHealth(t *testing.T) {
	srv := server(t)
	out, err := demotest.Run(t, run, "", "-all", "-oldest", "17.0")
	require.NoError(t, err)
	assert.Equal(t, table, out)
	srv.AssertAppliedCount(t, "*", 0)

	out, err = demotest.Run(t, run, "", "-all", "-oldest", "17.0", "-check")
	assert.Equal(t, demo.Finding("5 runners to look at"), err)
	assert.Equal(t, table, out, "a check shows the table, too")

	out, err = demotest.Run(t, run, "", "-project", "acme/billing-api", "-stuck", "12h", "-check")
	require.Error(t, err)
	assert.NotContains(t, out, "android-lab", "it belongs to another project")
	assert.NotContains(t, out, "may hang")
	assert.NotContains(t, out, "has 16.11.4", "no version is too old unless one is named")
}

func TestHealthy(t *testing.T) {
	srv := forgetest.New(t)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	out, err := demotest.Run(t, run, "", "-check")
	require.NoError(t, err)
	assert.Contains(t, out, "0 runners: 0 to look at.")
	srv.AddRunner(nil).AddManager("s_1", nil)
	out, err = demotest.Run(t, run, "", "-check", "-oldest", "17.0")
	require.NoError(t, err)
	assert.Contains(t, out, "1 runner: 1 online; 0 to look at.")
}

// A runner that is removed while the program looks is left out; what may not be seen is an error
// that names the runner.
func TestFailures(t *testing.T) {
	srv := server(t)
	srv.Fail("GET /runners/:id", forgetest.Status(404).Times(1))
	out, err := demotest.Run(t, run, "", "-all")
	require.NoError(t, err)
	assert.Contains(t, out, "5 runners:")

	srv.Fail("GET /runners/:id/managers", forgetest.Status(403).After(1).Times(1))
	_, err = demotest.Run(t, run, "", "-all")
	require.ErrorIs(t, err, forge.ErrForbidden)
	assert.Regexp(t, `^runner \d: forge: GET /runners/:id/managers \(/runners/\d/managers\): 403`, err.Error())

	t.Setenv("FORGE_TOKEN", srv.AddUser("priya.raman").Token)
	_, err = demotest.Run(t, run, "", "-all")
	require.ErrorIs(t, err, forge.ErrForbidden)
	out, err = demotest.Run(t, run, "")
	require.NoError(t, err)
	assert.Contains(t, out, "0 runners", "a Reporter manages none")
}

func TestVersions(t *testing.T) {
	for _, test := range []struct {
		version, limit string
		older          bool
	}{
		{"17.9.0", "17.11", true}, {"17.11.0", "17.9", false}, {"17.0.0", "17.0", false}, {"16.11.4", "17", true},
		{"18.0.0~beta.12.g1a2b3c", "18.0", false}, {"v17.3", "17.4.0", true},
	} {
		assert.Equal(t, test.older, older(test.version, test.limit), test.version)
	}
}

func TestEmbedded(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	out, err := demotest.Run(t, run, "")
	require.NoError(t, err)
	assert.Contains(t, out, "5 to look at")
}
