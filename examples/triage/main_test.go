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

const (
	table = `ISSUE  TITLE             CHANGED     ACTION
#4     Export as CSV     2025-11-02  label and ask
#3     Add a dark theme  2025-12-12  close
`
	createNote = "POST /projects/:id/issues/:issue_iid/notes"
)

func start(t *testing.T) (*forgetest.Server, *tracker) {
	t.Helper()
	srv := demotest.Empty(t)
	srv.SetClock(forgetest.DemoTime)
	srv.AddProject("acme/storefront", forgetest.Private)
	return srv, newTracker(srv)
}

func triageOf(t *testing.T, args ...string) (string, error) {
	t.Helper()
	return demotest.Run(t, run, "", append([]string{"-project", "acme/storefront", "-yes"}, args...)...)
}

// The quiet issue is labelled and asked, the silent one closed, the table uploaded, the pipeline
// awaited. A second run finds nothing to do.
func TestTriage(t *testing.T) {
	_, tracker := start(t)
	out, err := triageOf(t)
	require.NoError(t, err)
	assert.Equal(t, table+"\nPipeline 1: success\n\n1 issue labelled, 1 closed.\n", out)
	assert.Equal(t, "stale", tracker.issues[3].Labels[0].Name)
	assert.Equal(t, forge.IssueStateClosed, tracker.issues[2].State)
	assert.Contains(t, tracker.notes[5][0].Body, "1 issue labelled, 1 closed: [triage.txt](/uploads/1/triage.txt)")

	out, err = triageOf(t)
	require.NoError(t, err)
	assert.Contains(t, out, "0 issues labelled, 0 closed.")
	for iid, count := range map[int64]int{1: 0, 2: 0, 3: 1, 4: 1, 5: 1} {
		assert.Len(t, tracker.notes[iid], count, iid)
	}
}

// A dry run shows the requests and sends none that changes something.
func TestDryRun(t *testing.T) {
	srv, _ := start(t)
	out, err := triageOf(t, "-dry-run")
	require.NoError(t, err)
	assert.Contains(t, out, `PUT /issues/:issue_iid {"add_labels":["stale"]}`)
	assert.Contains(t, out, `PUT /issues/:issue_iid {"state_event":"close"}`)
	assert.Contains(t, out, `POST /pipeline {"ref":"main"}`)
	srv.AssertAppliedCount(t, "*", 0)
}

// A comment whose response is lost is not written again, in this run or in the next.
func TestLostResponse(t *testing.T) {
	for _, fault := range []forgetest.Fault{forgetest.DropResponse(), forgetest.OverrideStatus(502), forgetest.InvalidJSON(), forgetest.DropRequest()} {
		srv, tracker := start(t)
		srv.Fail(createNote, fault.Times(1))
		for range 2 {
			if _, err := triageOf(t); err != nil {
				require.ErrorAs(t, err, new(*forge.Error))
			}
		}
		assert.Len(t, tracker.notes[3], 1)
		assert.Len(t, tracker.notes[4], 1)
	}
}

// The log of a job that failed is shown, and the run is a finding.
func TestFailedPipeline(t *testing.T) {
	_, tracker := start(t)
	tracker.result, tracker.log = "failed", "$ make dashboard\nmake: *** no rule\n"
	out, err := triageOf(t)
	require.ErrorIs(t, err, demo.Finding("1 job failed"))
	assert.Contains(t, out, "Pipeline 1: failed\ndashboard (deploy): make: *** no rule\n")
}

// An interrupted run is an error, and leaves no issue with two comments.
func TestInterrupted(t *testing.T) {
	var state *tracker
	demotest.Interrupt(t, run, "1 issue labelled, 1 closed.", func(t *testing.T) (srv *forgetest.Server, args []string) {
		srv, state = start(t)
		return srv, []string{"-project", "acme/storefront", "-yes"}
	}, func(t *testing.T) {
		for _, notes := range state.notes {
			assert.LessOrEqual(t, len(notes), 1)
		}
	})
}
