package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// minimum is how many events a day has at least.
const minimum = 250

// TestThreeNights exports three days in three nights. Each night is killed or refused at drawn
// places, while the server gets new events. Then each event of the three days is in one file, once,
// as the server has it, and no event of the fourth day is in any. FORGE_SEED draws other places.
func TestThreeNights(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("FORGE_SEED"), 10, 64)
	if err != nil {
		seed = 20260101
	}
	t.Logf("FORGE_SEED=%d", seed)
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // drawn, and not secret
	srv, dir := target(t, 0), filepath.Join(t.TempDir(), "audit")
	kills, total := 0, 0
	for night := range 3 {
		day := firstDay.AddDate(0, 0, night)
		fill(srv, day, random)
		srv.SetClock(nightAfter(day))
		for range 2 + random.IntN(3) {
			seen, requests, late := srv.CountRequests(route), random.IntN(5), random.IntN(4)
			kill := func() bool {
				if srv.CountRequests(route) <= seen+requests {
					return false
				}
				for range late {
					srv.AddAuditEvent(nil) // of the present
				}
				return true
			}
			if random.IntN(4) == 0 {
				kill = func() bool { return false }
				srv.Fail(route, forgetest.Status(403).After(requests))
			} else {
				srv.Fail(route, forgetest.HeaderDelay(time.Hour).After(requests))
			}
			code := process(t, dir, kill)
			srv.ClearFaults()
			if code == -1 {
				kills++
			}
		}
		assert.Contains(t, []int{0, 1}, process(t, dir, func() bool { return false }), "1: a run above has completed the night")
		assert.Equal(t, 1, process(t, dir, func() bool { return false }), "the second run of a night")
	}
	for night := range 3 {
		total += assertDay(t, srv, dir, firstDay.AddDate(0, 0, night))
	}
	assert.Greater(t, total, 3*minimum)
	assert.Positive(t, kills)
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson*"))
	require.NoError(t, err)
	assert.Len(t, files, 3, "no fourth day, and nothing incomplete")
}

// fill adds events at drawn times of a day, and at its first and its last moments.
func fill(srv *forgetest.Server, day time.Time, random *rand.Rand) {
	at := []time.Duration{0, 0, time.Millisecond, 24*time.Hour - time.Millisecond, 24*time.Hour - 500*time.Millisecond, 24*time.Hour - time.Second}
	for range minimum + random.IntN(300) {
		at = append(at, time.Duration(random.Int64N(int64(24*time.Hour/time.Millisecond)))*time.Millisecond)
	}
	for _, after := range at {
		srv.AddAuditEvent(func(event *forgetest.Document) { event.Set("created_at", day.Add(after)) })
	}
}
