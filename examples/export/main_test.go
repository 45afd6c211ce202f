package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// Two processes export all rows although one is killed, and stay below the server's limit. The next
// run exports the changes and removes the orphans.
func TestTwoProcesses(t *testing.T) {
	w := build(t, 20, "-rate", "300/10s")
	w.srv.SetThrottle("throttle_authenticated_api", 300, 10*time.Second)
	w.srv.Fail("*", forgetest.HeaderDelay(30*time.Millisecond))
	w.kill(t, []*process{w.start(t), w.start(t)}, 1, time.Second)
	w.check(t, false)
	w.edit("later")
	require.NoError(t, w.finish(t, w.start(t)))
	w.check(t, true)
	assert.Zero(t, w.refused())
}
