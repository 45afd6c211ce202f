package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/forgetest"
)

const route = "GET /audit_events"

// firstDay is the day of the first generated events.
var firstDay = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)

// nightAfter returns the clock of a server in the night after a day.
func nightAfter(day time.Time) func() time.Time {
	return func() time.Time { return day.AddDate(0, 0, 1).Add(90 * time.Minute) }
}

// target starts a server with n events of the first day, in the night after it, and points the
// environment at it.
func target(t *testing.T, n int) *forgetest.Server {
	t.Helper()
	srv := forgetest.New(t)
	srv.SetClock(nightAfter(firstDay))
	srv.AddGeneratedAuditEvents(n)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	return srv
}

func exportTo(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	err := run(t.Context(), args, strings.NewReader(""), &out)
	return out.String(), err
}

// assertDay checks that the file of a day has the events that the server created on it, as the
// server sends them and in its order, and returns their number.
func assertDay(t *testing.T, srv *forgetest.Server, dir string, day time.Time) (events int) {
	t.Helper()
	var want bytes.Buffer
	ctx := context.WithoutCancel(t.Context()) // it is called in a clean-up, too
	list := forge.Call{Method: "GET", Route: "/audit_events"}
	for event, err := range forge.ListAs[json.RawMessage](ctx, srv.Client(), list) {
		require.NoError(t, err)
		var head struct {
			CreatedAt time.Time `json:"created_at"`
		}
		require.NoError(t, json.Unmarshal(*event, &head))
		if date(head.CreatedAt) == date(day) {
			require.NoError(t, json.Compact(&want, *event))
			want.WriteByte('\n')
			events++
		}
	}
	got, err := os.ReadFile(filepath.Join(dir, date(day)+".ndjson"))
	require.NoError(t, err)
	if !bytes.Equal(want.Bytes(), got) { // the whole files would be thousands of lines
		assert.Fail(t, "wrong events", "%s has %d lines and %d bytes, the server %d events and %d bytes",
			date(day), bytes.Count(got, []byte("\n")), len(got), events, want.Len())
	}
	return events
}

// Nights that were missed are made up for. -until ends earlier.
func TestMissedNights(t *testing.T) {
	srv := target(t, 5*24*60)
	srv.SetClock(nightAfter(firstDay.AddDate(0, 0, 3)))
	dir := t.TempDir()
	out, err := exportTo(t, "-dir", dir, "-since", "2020-01-01", "-until", "2020-01-02")
	require.NoError(t, err)
	assert.Contains(t, out, "2020-01-01  1439 events, ")
	assert.Contains(t, out, "2020-01-02  1440 events, ")
	assert.Contains(t, out, "Exported 2 days to "+dir+", which has all events from 2020-01-01 to 2020-01-02.\n")
	_, err = exportTo(t, "-dir", dir, "-until", "2020-01-02")
	assert.Equal(t, demo.Finding("nothing to export: the next day of "+dir+" is 2020-01-03, which is after -until"), err)
	assert.NoFileExists(t, filepath.Join(dir, "2020-01-03.ndjson"))

	out, err = exportTo(t, "-dir", dir, "-since", "2020-01-01", "-until", "2030-01-01")
	require.NoError(t, err)
	assert.Contains(t, out, "Exported 2 days to "+dir+", which has all events from 2020-01-01 to 2020-01-04.\n")
	for day := range 4 {
		assertDay(t, srv, dir, firstDay.AddDate(0, 0, day))
	}
}

// A day is exported when it has ended for the server, and its last events have had time to arrive.
// Of an earlier night nothing is lost: it is the day before that is exported then.
func TestDayIsClosed(t *testing.T) {
	srv := target(t, 2*24*60)
	for _, test := range []struct {
		clock, last string
	}{
		{"2020-01-02T23:59:59Z", "2020-01-01"}, {"2020-01-03T00:00:00Z", "2020-01-01"}, {"2020-01-03T00:14:59Z", "2020-01-01"}, {"2020-01-03T00:15:00Z", "2020-01-02"},
	} {
		now, err := time.Parse(time.RFC3339, test.clock)
		require.NoError(t, err)
		srv.SetClock(func() time.Time { return now })
		out, err := exportTo(t, "-dir", t.TempDir())
		require.NoError(t, err)
		assert.Contains(t, out, "which has all events from "+test.last+" to "+test.last+".\n", test.clock)
	}
}

// The events of a group or project are those of its own list.
func TestSources(t *testing.T) {
	srv := target(t, 3)
	srv.AddGroup("acme").AddGeneratedAuditEvents(4)
	srv.AddProject("acme/app").AddGeneratedAuditEvents(5)
	dir := t.TempDir()
	out, err := exportTo(t, "-dir", dir, "-group", "acme")
	require.NoError(t, err)
	assert.Contains(t, out, "2020-01-01  4 events, ")
	out, err = exportTo(t, "-dir", t.TempDir(), "-project", "acme/app")
	require.NoError(t, err)
	assert.Contains(t, out, "2020-01-01  5 events, ")

	_, err = exportTo(t, "-dir", dir, "-project", "acme/app")
	require.EqualError(t, err, dir+" has the events of the group acme: choose another folder for the project acme/app")
	_, err = exportTo(t, "-dir", dir, "-group", "acme", "-since", "2019-12-31")
	require.EqualError(t, err, dir+" begins with 2020-01-01: choose another folder for the days before")
}

// Unknown fields of events are in the file.
func TestUnknownFields(t *testing.T) {
	srv := target(t, 1)
	srv.Fail(route, forgetest.Respond(200, "application/json", `[ {"id": 1, "created_at": "2020-01-01T10:00:00Z", "x_new": {"a" : [1, 2]}} ]`).After(1))
	dir := t.TempDir()
	_, err := exportTo(t, "-dir", dir)
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(dir, "2020-01-01.ndjson"))
	require.NoError(t, err)
	assert.Contains(t, string(text), `,"x_new":{"a":[1,2]}}`+"\n")
}

// What is wrong with a folder is an error that says what to do, and no file of others is replaced.
func TestOtherFiles(t *testing.T) {
	target(t, 1)
	dir := t.TempDir()
	write(t, dir, "2020-01-01.ndjson", []byte("Dear Ines"))
	_, err := exportTo(t, "-dir", dir)
	require.ErrorContains(t, err, "2020-01-01.ndjson is there, and is not in "+filepath.Join(dir, "audit-export.json")+": move it away")
	text, err := os.ReadFile(filepath.Join(dir, "2020-01-01.ndjson"))
	require.NoError(t, err)
	assert.Equal(t, "Dear Ines", string(text))

	write(t, dir, "audit-export.json", []byte(`{"source`))
	_, err = exportTo(t, "-dir", dir)
	require.ErrorContains(t, err, "audit-export.json is damaged")
	_, err = exportTo(t, "-dir", filepath.Join(dir, "2020-01-01.ndjson"))
	require.ErrorContains(t, err, "not a directory")

	dir = t.TempDir()
	write(t, dir, "2020-01-01.ndjson.part", []byte("12345"))
	writeState(t, dir, state{Source: "the instance", First: firstDay, Day: firstDay, Cursor: "1.x.y", Bytes: 5, Events: 1})
	_, err = exportTo(t, "-dir", dir)
	require.ErrorContains(t, err, "Remove "+filepath.Join(dir, "2020-01-01.ndjson.part")+": the same command then exports the day from its beginning")
	require.NoError(t, os.Remove(filepath.Join(dir, "2020-01-01.ndjson.part")))
	_, err = exportTo(t, "-dir", dir)
	require.NoError(t, err)

	dir = t.TempDir()
	require.NoError(t, os.Symlink(os.DevNull, filepath.Join(dir, "2020-01-01.ndjson.part")))
	_, err = exportTo(t, "-dir", dir)
	require.ErrorContains(t, err, "not a regular file")
}

// The folder and its files are for their owner only: events name people.
func TestModes(t *testing.T) {
	target(t, 3)
	dir := filepath.Join(t.TempDir(), "new", "audit")
	_, err := exportTo(t, "-dir", dir)
	require.NoError(t, err)
	for name, mode := range map[string]os.FileMode{".": 0o700 | os.ModeDir, "2020-01-01.ndjson": 0o600, "audit-export.json": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode(), name)
	}
}

func TestFlags(t *testing.T) {
	target(t, 1)
	dir := t.TempDir()
	for want, args := range map[string][]string{
		"-dir is missing: it names what to write to":             {},
		`-since "yesterday" is not a day of the form 2026-01-31`: {"-since", "yesterday", "-dir", dir},
		`-until "2026-2-1" is not a day of the form 2026-01-31`:  {"-until", "2026-2-1", "-dir", dir},
		"exclude":       {"-group", "a", "-project", "a/b", "-dir", dir},
		"-help lists":   {"-fil", "x"},
		"is not a flag": {"acme"},
		"404":           {"-group", "acme", "-dir", dir},
	} {
		_, err := exportTo(t, args...)
		require.ErrorContains(t, err, want)
	}
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left, "a run that cannot begin writes nothing")
}
