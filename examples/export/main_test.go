package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// Two processes export all rows although one is killed, and stay below the server's limit. The next
// run exports the changes and removes the orphans.
func TestTwoProcesses(t *testing.T) {
	w := build(t, 20, "-rate", "300/10s")
	w.srv.SetThrottle(throttle, 300, 10*time.Second)
	w.srv.Fail("*", forgetest.HeaderDelay(30*time.Millisecond))
	w.kill(t, []*process{w.start(t), w.start(t)}, 1, time.Second)
	w.check(t, false)
	w.edit("later")
	require.NoError(t, w.finish(t, w.start(t)))
	w.check(t, true)
}

// An attempt that is only slow, and whose shard was given to another one, stores nothing.
func TestTakenOver(t *testing.T) {
	w := build(t, 1)
	w.srv.Fail("GET /projects/:id/merge_requests", forgetest.HeaderDelay(2*time.Second).Times(1))
	slow := w.start(t)
	db := w.open(t)
	require.Eventually(t, func() bool {
		n, err := db.exec(t.Context(), `UPDATE river_job SET state = 'available' WHERE state = 'running' AND CAST(args AS TEXT) LIKE '%merge_requests%'`)
		return err == nil && n == 1
	}, 10*time.Second, 10*time.Millisecond)
	require.NoError(t, w.finish(t, slow))
	epoch, err := one[int64](t.Context(), db, `SELECT epoch FROM export_shards WHERE shard LIKE 'merge_requests%'`)
	require.NoError(t, err)
	assert.GreaterOrEqual(t, epoch, int64(2))
	w.check(t, true)
}

// A shard that the token cannot see is skipped with a text that names it, and others go on. Nothing
// is lost: later runs export it, or leave it out if its export is ended.
func TestInvisibleProject(t *testing.T) {
	w := build(t, 1)
	private := w.srv.AddProject("acme/private", forgetest.Private)
	w.projects, w.issues = append(w.projects, private), append(w.issues, private.AddIssues(3, nil)...)
	w.mrs = append(w.mrs, private.AddMergeRequests(1, nil)...)
	require.NoError(t, w.finish(t, w.start(t)))

	w.edit("later")
	t.Setenv("FORGE_TOKEN", w.srv.AddUser("guest").Token)
	out, err := demotest.Run(t, run, "", w.args...)
	var finding demo.Finding
	require.ErrorAs(t, err, &finding, "%s", out)
	for _, part := range []string{"issues/2 of acme/private is skipped", "merge_requests/2 of acme/private is skipped", "audit_events of the instance is skipped", "export forget issues/2"} {
		assert.ErrorContains(t, err, part)
	}
	for _, shard := range []string{"issues/2", "merge_requests/2", "audit_events"} {
		_, err = demotest.Run(t, run, "", "forget", "-dir", w.dir, shard)
		require.NoError(t, err)
	}
	_, err = demotest.Run(t, run, "", append(w.args, "-kinds", "issues,merge_requests")...)
	require.NoError(t, err)

	t.Setenv("FORGE_TOKEN", w.srv.Token)
	require.NoError(t, w.finish(t, w.start(t)))
	w.check(t, true)
}

// Bad input ends with a text that says what to do, and changes nothing.
func TestBadInput(t *testing.T) {
	w := build(t, 1)
	require.NoError(t, w.finish(t, w.start(t)))
	refused := func(part string, args ...string) {
		_, err := demotest.Run(t, run, "", args...)
		require.ErrorContains(t, err, part)
		assert.NotContains(t, err.Error(), "a-password")
	}
	refused("there is no shard", "forget", "-dir", w.dir, "issues/99")
	refused("not a command", "exprot")
	refused("-rate", "-rate", "1800", "-dir", w.dir)
	refused("-kinds", "-kinds", "issue", "-dir", w.dir)
	refused("-dir needs a folder", "-dir", "/dev/null/out")
	t.Setenv("DATABASE_URL", "mysql://root:a-password@localhost/export")
	refused(`the scheme "mysql"`, w.args...)
	t.Setenv("DATABASE_URL", "postgres://root:a-password@127.0.0.1:1/export")
	refused("opening the database of DATABASE_URL", w.args...)
	t.Setenv("DATABASE_URL", "")

	db := w.open(t)
	for _, change := range []struct{ set, part, undo string }{
		{`UPDATE export_meta SET value = '2' WHERE name = 'schema'`, "tables of version 2", `UPDATE export_meta SET value = '1' WHERE name = 'schema'`},
		{`INSERT INTO river_migration (line, version) VALUES ('main', 99)`, "River's tables have version 99", `DELETE FROM river_migration WHERE version = 99`},
	} {
		_, err := db.exec(t.Context(), change.set)
		require.NoError(t, err)
		refused(change.part, w.args...)
		_, err = db.exec(t.Context(), change.undo)
		require.NoError(t, err)
	}
	_, err := db.exec(t.Context(), `UPDATE export_shards SET done = 0 WHERE shard = 'issues/1'`)
	require.NoError(t, err)
	refused("has not exported 1 of its shards", "merge", "-dir", w.dir)
	t.Setenv("FORGE_TOKEN", "wrong")
	refused("401 Unauthorized", w.args...)
	t.Setenv("FORGE_TOKEN", w.srv.Token)
	require.NoError(t, w.finish(t, w.start(t)))
	w.check(t, true)
	require.NoError(t, os.Remove(firstFile(t, w.dir)))
	refused("restore the file", "merge", "-dir", w.dir)
}

func firstFile(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.gz"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files[0]
}

// A browser shows the figures of a run, the engine's job states, and the chart.
func TestPage(t *testing.T) {
	if _, err := exec.LookPath("chromium"); err != nil {
		t.Skip("there is no browser: apt-get install chromium")
	}
	w := build(t, 20)
	p := w.start(t, "-rescue", "2m", "-every", "1h", "-listen", "127.0.0.1:0")
	db := w.open(t)
	require.Eventually(t, func() bool {
		n, err := one[int64](t.Context(), db, `SELECT count(*) FROM export_shards WHERE done >= due`)
		return err == nil && n == 41
	}, 30*time.Second, 100*time.Millisecond)
	_, rest, _ := strings.Cut(p.out.text(), "Page    ")
	address, _, _ := strings.Cut(rest, "\n")
	dom, err := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu",
		"--user-data-dir="+t.TempDir(), "--virtual-time-budget=3000", "--dump-dom", address).Output()
	require.NoError(t, err)
	for _, part := range []string{"41 of 41", "<th>completed</th><td>42</td>", `<polyline points="10.0,215.0 `, "rows</text>", "Updated every second."} {
		assert.Contains(t, string(dom), part)
	}
	require.NoError(t, p.Process.Signal(syscall.SIGTERM))
	require.NoError(t, w.finish(t, p))
}
