package forge

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Design 6.8: however many calls meet a dead service at once, they make at most 2.0 requests each at 100 calls and 1.2 at 500.
func TestDeadServiceConcurrently(t *testing.T) {
	for name, dead := range map[string]act{"503": say(503, ""), "reset": reset(""), "closed": closing("")} {
		for calls, most := range map[int]int{100: 200, 500: 600} {
			t.Run(fmt.Sprint(name, calls), func(t *testing.T) {
				t.Parallel()
				w := newWire(t, always(dead))
				c := wireClient(t, w.url, WithHTTPClient(&http.Client{Transport: &http.Transport{MaxConnsPerHost: 50}}))
				var running sync.WaitGroup
				for i := range calls {
					running.Go(func() { assert.Error(t, c.Do(t.Context(), callOf([]class{safe, repeatable}[i%2]), nil)) })
				}
				running.Wait()
				assert.LessOrEqual(t, len(w.seen()), most)
				assert.GreaterOrEqual(t, len(w.seen()), calls)
			})
		}
	}
}

// Design 6.8: after a 429 with a wait of 2 s, ten calls that begin meanwhile make at most 12 requests with it, none of them early.
func TestWaitingCalls(t *testing.T) {
	t.Parallel()
	var limited atomic.Int64 // when the 429 was sent
	var early atomic.Int64
	w := newWire(t, func(seen) act {
		now := time.Now().UnixNano()
		if limited.CompareAndSwap(0, now) {
			return say(429, "", "Retry-After: 2")
		}
		if now-limited.Load() < int64(2*time.Second) {
			early.Add(1)
		}
		return sayJSON("{}")
	})
	c := wireClient(t, w.url)
	require.ErrorIs(t, c.Do(t.Context(), callOf(safe), nil, Retry(RetryPolicy{MaxAttempts: 1})), ErrRateLimited)
	var running sync.WaitGroup
	for i := range 10 {
		running.Go(func() { assert.NoError(t, c.Do(t.Context(), callOf([]class{safe, repeatable, once}[i%3]), nil)) })
	}
	running.Wait()
	assert.LessOrEqual(t, len(w.seen()), 12)
	assert.Zero(t, early.Load())
}

// Design 6.7: the first retries of 20 clients that failed together spread over at least half of the window, which is half to one and a half
// of 0.5 s. Of 20 even draws the range is under half of the window with a probability of 20/2^19 - 19/2^20, or 0.00002; that
// it is in five rounds one after the other: 3 in 10^24.
func TestRetriesSpread(t *testing.T) {
	const window = 500 * time.Millisecond
	spread := func(t *testing.T) (width time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			var mu sync.Mutex
			var at []time.Duration
			var running sync.WaitGroup
			for range 20 {
				first := true
				c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
					if first {
						first = false
						return 503, nil
					}
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(began))
					return 200, nil
				}))
				running.Go(func() { assert.NoError(t, c.Do(t.Context(), callOf(safe), nil)) })
			}
			running.Wait()
			require.Len(t, at, 20)
			assert.GreaterOrEqual(t, slices.Min(at), window/2)
			assert.LessOrEqual(t, slices.Max(at), 3*window/2)
			width = slices.Max(at) - slices.Min(at)
		})
		return width
	}
	var widest time.Duration
	for range 5 {
		widest = max(widest, spread(t))
	}
	assert.GreaterOrEqual(t, widest, window/2)
}
