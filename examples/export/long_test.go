package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// long runs a test on both databases.
func long(t *testing.T, test func(t *testing.T, server *postgres)) {
	if os.Getenv("FORGE_LONG") == "" {
		t.Skip("it takes a minute for each database: FORGE_LONG=1 runs it")
	}
	t.Run("SQLite", func(t *testing.T) { test(t, nil) })
	t.Run("PostgreSQL", func(t *testing.T) { test(t, startPostgres(t)) })
}

// Four processes export 301 shards although five of them are killed. The server's limit is never
// exceeded, and each round has the rows of the server.
func TestKilledProcesses(t *testing.T) {
	long(t, func(t *testing.T, _ *postgres) {
		w := build(t, 150, "-rate", "400/10s")
		w.srv.SetThrottle(throttle, 400, 10*time.Second)
		w.srv.Fail("*", forgetest.HeaderDelay(30*time.Millisecond))
		started := time.Now()
		w.kill(t, []*process{w.start(t), w.start(t), w.start(t), w.start(t)}, 5, 2*time.Second)
		t.Logf("the run took %s", time.Since(started))
		assert.Less(t, time.Since(started), time.Minute)
		w.check(t, false)
		w.edit("later")
		require.NoError(t, w.finish(t, w.start(t)))
		w.check(t, true)
	})
}

// The database goes away for 10 s while two processes work: the server is stopped, or another
// process locks the file.
func TestDatabaseGoesAway(t *testing.T) {
	long(t, func(t *testing.T, server *postgres) {
		w := build(t, 40, "-rate", "300/10s")
		w.srv.Fail("*", forgetest.HeaderDelay(30*time.Millisecond))
		running := []*process{w.start(t), w.start(t)}
		time.Sleep(3 * time.Second)
		if server == nil {
			db := w.open(t)
			require.NoError(t, db.transact(t.Context(), func(transaction) error { return sleep(t.Context(), 10*time.Second) }))
		} else {
			server.stop()
			time.Sleep(10 * time.Second)
			server.start(t)
		}
		for _, p := range running {
			require.NoError(t, w.finish(t, p))
		}
		require.NoError(t, w.finish(t, w.start(t)))
		w.check(t, true)
	})
}

// Runs that begin before the one before has ended leave one job per shard, and no row out.
func TestOverlappingRuns(t *testing.T) {
	long(t, func(t *testing.T, _ *postgres) {
		w := build(t, 40)
		w.srv.Fail("*", forgetest.HeaderDelay(50*time.Millisecond))
		services := []*process{w.start(t, "-every", "1s"), w.start(t, "-every", "1s")}
		for round := range 8 {
			time.Sleep(time.Second)
			w.edit(fmt.Sprint("round ", round))
		}
		for _, p := range services {
			require.NoError(t, p.Process.Signal(syscall.SIGTERM))
			require.NoError(t, w.finish(t, p))
		}
		plans, err := one[int64](t.Context(), w.open(t), `SELECT count(*) FROM river_job WHERE kind = 'plan'`)
		require.NoError(t, err)
		assert.Greater(t, plans, int64(3))
		require.NoError(t, w.finish(t, w.start(t)))
		require.NoError(t, w.finish(t, w.start(t)))
		w.check(t, true)
	})
}

// A process whose clock is an hour off ends with a text, whatever it has begun; others go on.
func TestWrongClock(t *testing.T) {
	long(t, func(t *testing.T, _ *postgres) {
		w := build(t, 10)
		for _, off := range []string{"1h", "-1h"} {
			good := w.start(t)
			t.Setenv("EXPORT_CLOCK", off)
			wrong := w.start(t)
			require.NoError(t, os.Unsetenv("EXPORT_CLOCK"))
			require.Error(t, w.finish(t, wrong))
			assert.Equal(t, 2, wrong.ProcessState.ExitCode())
			assert.Contains(t, wrong.out.text(), "the clock of this machine differs by "+strings.TrimSuffix(off, "h")+"h0m0s")
			require.NoError(t, w.finish(t, good))
			w.edit(off)
		}
		require.NoError(t, w.finish(t, w.start(t)))
		w.check(t, true)
	})
}

// A process that cannot write files of more than a few KiB, and with SQLite no database either,
// names what fails. With space again, a run exports everything.
func TestNoSpace(t *testing.T) {
	long(t, func(t *testing.T, server *postgres) {
		w := build(t, 3)
		limited := exec.Command("sh", append([]string{"-c", `ulimit -f 4 && exec "$0" "$@"`, os.Args[0]}, w.args...)...)
		limited.Env = append(os.Environ(), "EXPORT_PROGRAM=1")
		out, err := limited.CombinedOutput()
		require.Error(t, err)
		if server == nil {
			assert.Contains(t, string(out), "opening "+w.dir)
			assert.Equal(t, 2, limited.ProcessState.ExitCode())
		} else {
			assert.Contains(t, string(out), "file too large")
			assert.Contains(t, string(out), "audit_events of the instance: saving ")
			assert.Equal(t, 1, limited.ProcessState.ExitCode())
		}
		require.NoError(t, w.finish(t, w.start(t)))
		w.check(t, true)
	})
}
