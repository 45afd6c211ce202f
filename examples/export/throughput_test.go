package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// The figures of the README: a first run, and one in which nothing has changed. The server responds
// after 50 ms, and has no limit.
func TestThroughput(t *testing.T) {
	long(t, func(t *testing.T, server *postgres) {
		for _, processes := range []int{1, 2, 4} {
			t.Run(fmt.Sprint(processes), func(t *testing.T) {
				if server != nil {
					startPostgres(t)
				}
				w := build(t, 200, "-rate", "1000000/1m", "-rescue", "2m", "-kinds", "issues,merge_requests")
				w.srv.Fail("*", forgetest.HeaderDelay(50*time.Millisecond))
				var before snapshot
				for _, name := range []string{"first", "nothing new"} {
					var running []*process
					for range processes {
						running = append(running, w.start(t))
					}
					for _, p := range running {
						require.NoError(t, w.finish(t, p))
					}
					s, err := (&progress{db: w.open(t)}).look(t.Context())
					require.NoError(t, err)
					rows := s.Rows - before.Rows
					t.Logf("%s: %.1f s, %.0f shards/s, %.0f rows/s, %d requests", name, s.Elapsed, float64(s.Shards)/s.Elapsed, float64(rows)/s.Elapsed, s.Requests-before.Requests)
					before = s
				}
			})
		}
	})
}
