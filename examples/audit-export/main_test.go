package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

const route = "GET /audit_events"

// firstDay is the day of the first generated events.
var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// nightAfter returns the clock of a server in the night after a day.
func nightAfter(day time.Time) func() time.Time {
	return func() time.Time { return day.AddDate(0, 0, 1).Add(90 * time.Minute) }
}

// target starts a server with n events from the first day on, in the night after it.
func target(t *testing.T, n int) *forgetest.Server {
	t.Helper()
	srv := demotest.Empty(t)
	srv.SetClock(nightAfter(firstDay))
	srv.AddGeneratedAuditEvents(n)
	return srv
}

func exportTo(t *testing.T, args ...string) (string, error) {
	return demotest.Run(t, run, "", append([]string{"-dir"}, args...)...)
}

// assertDay checks that the file of a day has the events that the server created on it, as the
// server sends them and in its order, and returns their number.
func assertDay(t *testing.T, srv *forgetest.Server, dir string, day time.Time) (events int) {
	t.Helper()
	var want bytes.Buffer
	for event, err := range forge.ListAs[json.RawMessage](t.Context(), srv.Client(), forge.Call{Method: "GET", Route: "/audit_events"}) {
		require.NoError(t, err)
		line, at, err := encode(*event)
		require.NoError(t, err)
		if date(at) == date(day) {
			want.Write(line)
			events++
		}
	}
	got := read(t, dir, date(day)+".ndjson")
	if want.String() != got { // the whole files would be thousands of lines
		assert.Fail(t, "wrong events", "%s has %d lines, the server %d events", date(day), strings.Count(got, "\n"), events)
	}
	return events
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	require.NoError(t, err)
	return string(text)
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}

// Nights that were missed are made up for. A second run in a night says that there is nothing to do.
func TestMissedNights(t *testing.T) {
	racetest.SkipSequential(t)
	srv, dir := target(t, 5*24*60), filepath.Join(t.TempDir(), "new", "audit")
	out, err := exportTo(t, dir)
	require.NoError(t, err)
	assert.Contains(t, out, "2020-01-01  1439 events, ")
	_, err = exportTo(t, dir)
	assert.Equal(t, demo.Finding("nothing to export: the next day of "+dir+" is 2020-01-02, which can be exported from 2020-01-03 00:15 UTC on"), err)
	end := firstDay.AddDate(0, 0, 2)
	srv.SetClock(func() time.Time { return end.Add(settle - time.Second) }) // its last events may still arrive
	_, err = exportTo(t, dir)
	require.ErrorAs(t, err, new(demo.Finding))
	srv.SetClock(func() time.Time { return end.Add(settle) })
	out, err = exportTo(t, dir)
	require.NoError(t, err)
	assert.Contains(t, out, "all events from 2020-01-01 to 2020-01-02.\n")
	srv.SetClock(nightAfter(firstDay.AddDate(0, 0, 3)))
	out, err = exportTo(t, dir, "-since", "2020-01-01")
	require.NoError(t, err)
	assert.Contains(t, out, "Exported 2 days to "+dir+", which has all events from 2020-01-01 to 2020-01-04.\n")
	for day := range 4 {
		assertDay(t, srv, dir, firstDay.AddDate(0, 0, day))
	}
	for name, mode := range map[string]os.FileMode{".": 0o700 | os.ModeDir, "2020-01-01.ndjson": 0o600, "audit-export.json": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), "%s: events name people", name)
	}
}

// The events around midnight are in one file each: of the day that they belong to.
func TestMidnight(t *testing.T) {
	srv, dir := target(t, 0), t.TempDir()
	for _, after := range []time.Duration{-time.Second, -time.Millisecond, 0, time.Millisecond, 24*time.Hour - time.Millisecond, 24 * time.Hour} {
		srv.AddAuditEvent(func(event *forgetest.Document) { event.Set("created_at", firstDay.Add(after)) })
	}
	srv.SetClock(nightAfter(firstDay.AddDate(0, 0, 1)))
	_, err := exportTo(t, dir, "-since", "2019-12-31")
	require.NoError(t, err)
	for day, events := range []int{2, 3, 1} {
		assert.Equal(t, events, assertDay(t, srv, dir, firstDay.AddDate(0, 0, day-1)))
	}
}

// The events of a group are those of its own list, and unknown fields are kept.
func TestSources(t *testing.T) {
	srv, dir := target(t, 3), t.TempDir()
	srv.AddGroup("acme").AddGeneratedAuditEvents(4)
	out, err := exportTo(t, dir, "-group", "acme")
	require.NoError(t, err)
	assert.Contains(t, out, "2020-01-01  4 events, ")
	_, err = exportTo(t, dir)
	require.EqualError(t, err, dir+" has the events of the group acme: choose another folder for the instance")
	_, err = exportTo(t, dir, "-group", "acme", "-since", "2019-12-31")
	require.EqualError(t, err, dir+" begins with 2020-01-01: choose another folder for the days before")
	dir = t.TempDir()
	srv.Fail(route, forgetest.Respond(200, "application/json", `[ {"id": 1, "created_at": "2020-01-01T10:00:00Z", "x_new": {"a" : [1, 2]}} ]`).After(1))
	_, err = exportTo(t, dir)
	require.NoError(t, err)
	assert.Contains(t, read(t, dir, "2020-01-01.ndjson"), `,"x_new":{"a":[1,2]}}`+"\n")
}

// What is wrong with a folder is an error that says what to do, and no file of others is replaced.
func TestOtherFiles(t *testing.T) {
	target(t, 1)
	dir := t.TempDir()
	write(t, dir, "2020-01-01.ndjson", "Dear Ines")
	_, err := exportTo(t, dir)
	require.ErrorContains(t, err, "2020-01-01.ndjson is there, and is not in "+filepath.Join(dir, "audit-export.json")+": move it away")
	assert.Equal(t, "Dear Ines", read(t, dir, "2020-01-01.ndjson"))
	write(t, dir, "audit-export.json", `{"source`)
	_, err = exportTo(t, dir)
	require.ErrorContains(t, err, "audit-export.json is damaged")

	dir = t.TempDir()
	write(t, dir, "2020-01-01.ndjson.part", "12345")
	writeState(t, dir, state{Source: "the instance", First: firstDay, Day: firstDay, Cursor: "1.x.y", Bytes: 5, Events: 1})
	_, err = exportTo(t, dir)
	require.ErrorContains(t, err, "Remove "+filepath.Join(dir, "2020-01-01.ndjson.part")+": the same command then exports the day from its beginning")
	require.NoError(t, os.Remove(filepath.Join(dir, "2020-01-01.ndjson.part")))
	_, err = exportTo(t, dir)
	require.NoError(t, err)
}

func writeState(t *testing.T, dir string, s state) {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	write(t, dir, "audit-export.json", string(text))
}

// TestMain lets the test binary be the program, so that there is a process to kill.
func TestMain(m *testing.M) {
	if os.Getenv("AUDIT_EXPORT") == "" {
		os.Exit(m.Run())
	}
	main()
}

// process runs the program as a process, and kills it when the condition is true.
func process(t *testing.T, dir string, kill func() bool) (code int) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-dir", dir)
	cmd.Env = append(os.Environ(), "AUDIT_EXPORT=1")
	go func() {
		for ctx.Err() == nil {
			if kill() {
				cancel()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	_ = cmd.Run() // the exit code is enough
	return cmd.ProcessState.ExitCode()
}
