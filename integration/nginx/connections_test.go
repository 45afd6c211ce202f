package nginx

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
)

// nginx ends a connection after a few requests, over HTTP/1.1 and HTTP/2. No call fails, and no
// write is lost or executed twice.
func TestConnectionsEndAfterRequests(t *testing.T) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %t", tls), func(t *testing.T) {
			p := build(t, config{tls: tls, server: "keepalive_requests 3;" + passed})
			// The client has the default waits: with waits of a millisecond the same ending connection could
			// fail all four attempts of a call.
			client, err := p.client.With(forge.WithRetry(forge.RetryPolicy{}))
			require.NoError(t, err)
			const workers, calls = 4, 25
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for range calls {
						assert.NoError(t, spend(t, client))
						assert.NoError(t, read(t, client))
					}
				})
			}
			all.Wait()
			p.srv.AssertAppliedCount(t, addSpent, workers*calls)
			spent, err := p.client.Issues.GetTimeStats(t.Context(), app, 1)
			require.NoError(t, err)
			assert.EqualValues(t, workers*calls*3600, spent.TotalTimeSpent)
			assert.GreaterOrEqual(t, connections(p.nginx.log(t)), workers*calls*2/3)
		})
	}
}

// nginx closes an idle connection at the moment when the next call uses it. Reads and idempotent
// writes succeed. A non-idempotent write succeeds or is an error, and is never executed twice.
func TestConnectionsEndWhenIdle(t *testing.T) {
	const idle = 5 * time.Millisecond
	p := build(t, config{server: "keepalive_timeout 5ms;" + passed})
	done, unsure := 0, 0
	for i := range 150 {
		require.NoError(t, read(t, p.client))
		time.Sleep(idle - time.Millisecond + time.Duration(i%8)*250*time.Microsecond)
		err := spend(t, p.client)
		if err == nil {
			done++
			continue
		}
		var failed *forge.Error
		require.ErrorAs(t, err, &failed)
		require.True(t, failed.MaybeApplied)
		unsure++
	}
	effects := p.srv.CountApplied(addSpent)
	assert.GreaterOrEqual(t, effects, done)
	assert.LessOrEqual(t, effects, done+unsure)
	assert.Equal(t, p.srv.CountRequests(addSpent), effects)
	assert.Greater(t, connections(p.nginx.log(t)), 50, "nginx closes the connections")
}

// connections counts the connections in the log of nginx.
func connections(log []string) int {
	seen := map[string]bool{}
	for _, line := range log {
		number, _, _ := strings.Cut(line, " ")
		seen[number] = true
	}
	return len(seen)
}
