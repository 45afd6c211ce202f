package main

import (
	"os"
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
		w.srv.SetThrottle("throttle_authenticated_api", 400, 10*time.Second)
		w.srv.Fail("*", forgetest.HeaderDelay(30*time.Millisecond))
		started := time.Now()
		w.kill(t, []*process{w.start(t), w.start(t), w.start(t), w.start(t)}, 5, 2*time.Second)
		t.Logf("the run took %s", time.Since(started))
		assert.Less(t, time.Since(started), time.Minute)
		w.check(t, false)
		w.edit("later")
		require.NoError(t, w.finish(t, w.start(t)))
		w.check(t, true)
		assert.Zero(t, w.refused())
	})
}
