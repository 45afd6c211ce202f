package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestMain lets the test binary be the program, so that there is a process to interrupt or to kill.
func TestMain(m *testing.M) { demotest.Main(m, main) }

// An export that is interrupted at any page fails, does not say that it is done, and is completed
// by the same command.
func TestInterrupted(t *testing.T) {
	const events, requests = 450, 6 // one for the server's time, and five pages
	for _, ahead := range []int{1, 8} {
		t.Run(fmt.Sprint("ahead ", ahead), func(t *testing.T) {
			n := demotest.Interrupt(t, "Exported", func(t *testing.T) (*forgetest.Server, []string) {
				srv := target(t, events)
				dir := filepath.Join(t.TempDir(), "audit")
				args := []string{"-dir", dir, "-ahead", fmt.Sprint(ahead)}
				t.Cleanup(func() {
					srv.ClearFaults()
					var out strings.Builder
					err := run(context.WithoutCancel(t.Context()), args, nil, &out)
					if err != nil { // the run that was not interrupted has exported the day
						require.ErrorContains(t, err, "nothing to export")
					}
					assertDay(t, srv, dir, firstDay)
				})
				return srv, args
			})
			assert.Equal(t, requests, n)
		})
	}
}

// A second run in the same night says that there is nothing to export, and so does its exit code.
// The next night exports the next day.
func TestExitCodes(t *testing.T) {
	srv := target(t, 3)
	dir := t.TempDir()
	r := demotest.Process(t, dir, "", "-dir", "audit")
	assert.Zero(t, r.Code, r.Err)
	assert.Contains(t, r.Out, "2020-01-01  3 events, ")
	assert.Contains(t, r.Out, "Exported 1 day to audit, which has all events from 2020-01-01 to 2020-01-01.\n")
	want := []string{"audit", "audit/2020-01-01.ndjson", "audit/audit-export.json"}
	assert.Equal(t, want, r.Files)

	r = demotest.Process(t, dir, "", "-dir", "audit")
	assert.Equal(t, 1, r.Code)
	assert.Equal(t, "nothing to export: the next day of audit is 2020-01-02, which can be exported from 2020-01-03 00:15 UTC on\n", r.Err)
	assert.Equal(t, want, r.Files)

	srv.SetClock(nightAfter(firstDay.AddDate(0, 0, 1)))
	srv.Fail(route, forgetest.Status(403).After(1))
	r = demotest.Process(t, dir, "", "-dir", "audit")
	assert.Equal(t, 2, r.Code)
	assert.Contains(t, r.Err, "403")
	srv.ClearFaults()
	r = demotest.Process(t, dir, "", "-dir", "audit")
	assert.Zero(t, r.Code, r.Err)
	assert.Contains(t, r.Out, "2020-01-02  0 events, 0 bytes\nExported 1 day to audit, which has all events from 2020-01-01 to 2020-01-02.\n")
}

// What a user meets: a first run, a second one, the next day, servers that are empty or refuse.
func TestSituations(t *testing.T) {
	(&demotest.Situations{
		Args: []string{"-dir", "audit"}, Files: []string{"audit"},
		Demo:    demotest.Outcome{Text: "2026-02-23  1 event, 674 bytes\n2026-02-24  1 event, 376 bytes\n2026-02-25  0 events, 0 bytes\n"},
		First:   demotest.Outcome{Text: "Exported 1 day to audit, which has all events from 2026-03-01 to 2026-03-01.\n"},
		Second:  demotest.Outcome{Code: 1, Text: "nothing to export: the next day of audit is 2026-03-02"},
		NextDay: demotest.Outcome{Text: "Exported 1 day to audit, which has all events from 2026-03-01 to 2026-03-02.\n"},
		Empty:   demotest.Outcome{Text: "2026-03-01  0 events, 0 bytes\n"},
		Refused: 2,
	}).Check(t)
}
