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

Job 2 "end-to-end tests" (test) has run for 7h on shared-linux.
Job 4 "ios build" (build) has run for 10h on mac-mini.

6 runners: 1 never contacted; 1 offline; 2 online; 1 online, paused; 1 stale; 5 to look at.
`

// The table shows what needs a look, and a check is a finding for a monitoring job.
func TestHealth(t *testing.T) {
	srv := demotest.Server(t)
	srv.SetClock(forgetest.DemoTime) // the ages in the table
	out, err := demotest.Run(t, run, "", "-all", "-oldest", "17.0")
	require.NoError(t, err)
	assert.Equal(t, table, out)
	out, err = demotest.Run(t, run, "", "-all", "-oldest", "17.0", "-check")
	assert.Equal(t, demo.Finding("5 runners to look at"), err)
	assert.Equal(t, table, out)

	out, err = demotest.Run(t, run, "", "-project", "acme/billing-api", "-stuck", "12h", "-check")
	require.ErrorAs(t, err, new(demo.Finding))
	for _, unwanted := range []string{"android-lab", "may hang", "has 16.11.4"} { // of another project; within its time; no -oldest
		assert.NotContains(t, out, unwanted)
	}
	srv.AssertAppliedCount(t, "*", 0)
}

// Nothing to look at is a success.
func TestHealthy(t *testing.T) {
	srv := demotest.Empty(t)
	srv.AddRunner(nil).AddManager("s_1", nil)
	out, err := demotest.Run(t, run, "", "-check", "-oldest", "17.0")
	require.NoError(t, err)
	assert.Contains(t, out, "1 runner: 1 online; 0 to look at.")
}

// A runner that is removed while the program looks is left out. Any other failure is an error, so
// that a check does not pass with half of the runners.
func TestFailures(t *testing.T) {
	srv := demotest.Server(t)
	srv.Fail("GET /runners/:id", forgetest.Status(404).Times(1))
	out, err := demotest.Run(t, run, "", "-all")
	require.NoError(t, err)
	assert.Contains(t, out, "5 runners:")

	srv.Fail("GET /runners/:id/managers", forgetest.Status(403).After(1).Times(1))
	_, err = demotest.Run(t, run, "", "-all", "-check")
	require.ErrorIs(t, err, forge.ErrForbidden)
	assert.Regexp(t, `^runner \d: `, err.Error())
	demotest.Interrupt(t, run, " to look at.", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-all"}
	}, nil)
}

func TestCompare(t *testing.T) {
	for _, pair := range [][2]string{{"17.9.0", "17.11"}, {"16.11.4", "17"}, {"v17.3", "17.4.0"}, {"17.0", "17.0.0"}} {
		assert.Negative(t, compare(pair[0], pair[1]), pair)
		assert.Positive(t, compare(pair[1], pair[0]), pair)
	}
	assert.Zero(t, compare("18.0", "18.0"))
}
