package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const route = "GET /audit_events"

// target starts a server with n events and points the environment at it.
func target(t *testing.T, n int) *forgetest.Server {
	srv := forgetest.New(t)
	srv.AddGeneratedAuditEvents(n)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	return srv
}

func exportTo(t *testing.T, args ...string) (string, error) {
	var out strings.Builder
	err := run(t.Context(), args, strings.NewReader(""), &out)
	return out.String(), err
}

// assertWhole checks that the file has the events n to 1, each once.
func assertWhole(t *testing.T, path string, n int) {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.HasSuffix(text, []byte("\n")))
	lines := bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	require.Len(t, lines, n)
	for i, line := range lines {
		var event struct{ ID int }
		require.NoError(t, json.Unmarshal(line, &event), "line %d: %s", i+1, line)
		require.Equal(t, n-i, event.ID, "line %d", i+1)
	}
}

func TestExport(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	path := filepath.Join(t.TempDir(), "events.ndjson")
	out, err := exportTo(t, "-file", path)
	require.NoError(t, err)
	assert.Contains(t, out, "embedded")
	assert.Contains(t, out, "Wrote 260 events to "+path)
	assertWhole(t, path, 260)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"author_email":"maya.lindqvist@example.com"`)
	leftovers, err := filepath.Glob(path + "*")
	require.NoError(t, err)
	assert.Equal(t, []string{path, path + ".state"}, leftovers)

	before, err := os.ReadFile(path)
	require.NoError(t, err)
	out, err = exportTo(t, "-file", path)
	require.NoError(t, err)
	assert.Contains(t, out, "is complete: 260 events")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, before, after)
}

// An export that fails half way says where it is, and the same command finishes it.
func TestExportGoesOn(t *testing.T) {
	srv := target(t, 450)
	srv.AddGroup("acme").AddGeneratedAuditEvents(3)
	path := filepath.Join(t.TempDir(), "events.ndjson")
	srv.Fail(route, forgetest.Status(403).After(2))
	_, err := exportTo(t, "-file", path, "-ahead", "0")
	require.ErrorContains(t, err, path+" has 100 events; the same command goes on from there")

	_, err = exportTo(t, "-file", path, "-group", "acme")
	require.ErrorContains(t, err, "cannot be gone on with (the cursor belongs to another list")

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	text = append(text, strings.Repeat(`{"id":350,"details":{"custom_mess`, 10_000)...)
	require.NoError(t, os.WriteFile(path, text, 0o600), "what a killed run may leave")

	srv.ClearFaults()
	out, err := exportTo(t, "-file", path)
	require.NoError(t, err)
	assert.Contains(t, out, "Going on after 100 events.")
	assert.Contains(t, out, "353 events in this run")
	assertWhole(t, path, 453)
}

func TestExportLeavesOtherFilesAlone(t *testing.T) {
	target(t, 1)
	path := filepath.Join(t.TempDir(), "letters.txt")
	require.NoError(t, os.WriteFile(path, []byte("Dear Ines"), 0o600))
	_, err := exportTo(t, "-file", path)
	require.ErrorContains(t, err, "choose another with -file")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "Dear Ines", string(text))

	short := filepath.Join(t.TempDir(), "short.ndjson")
	require.NoError(t, os.WriteFile(short+".state", []byte(`{"cursor":"1.x.y","size":5,"events":1}`), 0o600))
	_, err = exportTo(t, "-file", short)
	require.ErrorContains(t, err, "is shorter than it was")
	require.NoError(t, os.WriteFile(short+".state", []byte(`{"cur`), 0o600))
	_, err = exportTo(t, "-file", short)
	require.ErrorContains(t, err, "is damaged")
}

// The file and its state are for their owner only. Neither goes to a device, nor through a link
// that somebody has put there.
func TestExportFiles(t *testing.T) {
	target(t, 3)
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "events.ndjson"), filepath.Join(dir, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(victim, path+".state.tmp"))
	_, err := exportTo(t, "-file", path)
	require.NoError(t, err)
	for _, name := range []string{path, path + ".state"} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o600), info.Mode(), name)
	}
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))

	device := filepath.Join(dir, "device")
	require.NoError(t, os.Symlink(os.DevNull, device))
	for _, other := range []string{dir, device} {
		_, err = exportTo(t, "-file", other)
		require.ErrorContains(t, err, "not a regular file")
	}
}

func TestExportFlags(t *testing.T) {
	target(t, 1)
	for want, args := range map[string][]string{
		"no day":       {"-since", "yesterday"},
		"exclude":      {"-group", "a", "-project", "a/b"},
		"-help lists":  {"-fil", "x"},
		"is not a fla": {"acme"},
	} {
		_, err := exportTo(t, args...)
		require.ErrorContains(t, err, want)
	}
	path := filepath.Join(t.TempDir(), "events.ndjson")
	out, err := exportTo(t, "-since", "2030-01-01", "-file", path)
	require.NoError(t, err)
	assert.Contains(t, out, "Wrote 0 events")
}

// TestKilled kills the process again and again, wherever it happens to be, and starts it anew until
// it is done: no event is lost, none is there twice, and no run begins from the start.
func TestKilled(t *testing.T) {
	const events, pages, kills = 3050, 31, 8
	srv := target(t, events)
	path := filepath.Join(t.TempDir(), "events.ndjson")
	var out bytes.Buffer
	start := func() *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-file", path)
		cmd.Env = append(os.Environ(), demotest.Itself+"=1")
		out.Reset()
		cmd.Stdout, cmd.Stderr = &out, &out
		require.NoError(t, cmd.Start())
		return cmd
	}
	saved := func() (s state) {
		text, err := os.ReadFile(path + ".state")
		if err == nil {
			require.NoError(t, json.Unmarshal(text, &s), "the state is never half written")
		}
		return s
	}
	torn := 0
	for i := range kills {
		// Three pages come slowly and the fourth never, so that no run can end by itself.
		srv.ClearFaults()
		srv.Fail(route, forgetest.HeaderDelay(5*time.Millisecond).Times(3))
		srv.Fail(route, forgetest.HeaderDelay(time.Hour))
		seen, before := srv.CountRequests(route), saved()
		cmd := start()
		require.Eventually(t, func() bool {
			return srv.CountRequests(route) > seen+i%4 && (i%4 < 3 || saved().Events > before.Events)
		}, time.Minute, time.Millisecond)
		time.Sleep(rand.N(12 * time.Millisecond))
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait(), "the run ended before it was killed")
		if info, err := os.Stat(path); err == nil {
			require.GreaterOrEqual(t, info.Size(), saved().Size, "the state never runs ahead of the file")
			if info.Size() > saved().Size {
				torn++
			}
		}
	}
	srv.ClearFaults()
	seen, before := srv.CountRequests(route), saved()
	require.NoError(t, start().Wait(), &out)
	assert.Contains(t, out.String(), fmt.Sprintf("Going on after %d events.", before.Events))
	assert.Equal(t, pages-before.Events/100, srv.CountRequests(route)-seen, "a run asks for the pages that are missing, and no other")
	assertWhole(t, path, events)
	t.Logf("%d kills, %d of them in the middle of a page", kills, torn)
}
