package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statuses makes a transport of a function that gives status and headers, for the bubble of synctest.
func statuses(answer func(*http.Request) (int, http.Header)) Option {
	return through(func(req *http.Request) (*http.Response, error) {
		status, header := answer(req)
		if header == nil {
			header = http.Header{}
		}
		header.Set("Content-Type", "application/json")
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader("{}")), Request: req}, nil
	})
}

func headers(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Set(pairs[i], pairs[i+1])
	}
	return h
}

func bubbleClient(t *testing.T, options ...Option) *Client {
	t.Helper()
	c, err := NewClient("https://forge.example.com", overriding([]Option{WithToken(secret)}, options...)...)
	require.NoError(t, err)
	return c
}

// Design 6.7: Retry-After in seconds or as a date by the server's own clock, else RateLimit-Reset on a 429; jitter upwards only;
// what is not a time is ignored, and what is longer than MaxRetryAfter ends the call at once.
func TestRetryAfter(t *testing.T) {
	const skewed = "Mon, 02 Jan 2034 15:04:00 GMT"                                 // the server's clock, far from this one
	const backoffMin, backoffMax = 500 * time.Millisecond, 1500 * time.Millisecond // after a 429
	tests := []struct {
		name     string
		status   int
		header   http.Header
		min, max time.Duration // 0, 0: not repeated
	}{
		{"seconds", 429, headers("Retry-After", "7"), 7 * time.Second, 7700 * time.Millisecond},
		{"seconds on 503", 503, headers("Retry-After", "7"), 7 * time.Second, 7700 * time.Millisecond},
		{"the most", 429, headers("Retry-After", "60"), 60 * time.Second, 61 * time.Second},
		{"date", 429, headers("Date", skewed, "Retry-After", "Mon, 02 Jan 2034 15:04:05 GMT"), 5 * time.Second, 5500 * time.Millisecond},
		{"date in the past", 429, headers("Date", skewed, "Retry-After", "Mon, 02 Jan 2034 15:03:05 GMT"), backoffMin, backoffMax},
		{"zero", 429, headers("Retry-After", "0"), backoffMin, backoffMax},
		{"negative", 429, headers("Retry-After", "-5"), backoffMin, backoffMax},
		{"garbage", 429, headers("Retry-After", "soon"), backoffMin, backoffMax},
		{"none", 429, nil, backoffMin, backoffMax},
		{"reset", 429, headers("Date", skewed, "RateLimit-Reset", "2019827049"), 9 * time.Second, 9900 * time.Millisecond},
		{"reset as seconds", 429, headers("RateLimit-Reset", "9"), 9 * time.Second, 9900 * time.Millisecond},
		{"reset of another answer", 503, headers("RateLimit-Reset", "9"), backoffMin / 2, backoffMax / 2},
		{"too long", 429, headers("Retry-After", "61"), 0, 0},
		{"too long on 503", 503, headers("Retry-After", "61"), 0, 0},
		{"absurd", 429, headers("Retry-After", "1"+strings.Repeat("0", 30)), 0, 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := 0
				c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
					if n++; n == 1 {
						return test.status, test.header
					}
					return 200, nil
				}))
				started := time.Now()
				err := c.Do(t.Context(), callOf(safe), nil)
				took := time.Since(started)
				if test.max == 0 {
					require.ErrorIs(t, err, sentinelFor(test.status))
					require.ErrorContains(t, err, "MaxRetryAfter")
					assert.Zero(t, took)
					return
				}
				require.NoError(t, err)
				assert.GreaterOrEqual(t, took, test.min)
				assert.LessOrEqual(t, took, test.max)
			})
		})
	}
}

// Design 6.7: 4 attempts, exponential backoff from 0.5 s with jitter, 30 s at most.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 10}), statuses(func(*http.Request) (int, http.Header) {
			at = append(at, time.Now())
			return 502, nil
		}))
		require.Equal(t, 10, asError(t, c.Do(t.Context(), callOf(safe), nil)).Attempts)
		want := 500 * time.Millisecond
		for i := 1; i < len(at); i++ {
			wait := at[i].Sub(at[i-1])
			assert.GreaterOrEqual(t, wait, want/2)
			assert.LessOrEqual(t, wait, min(want*3/2, 30*time.Second))
			want = min(2*want, 30*time.Second)
		}
	})
	assert.Equal(t, 4, RetryPolicy{}.withDefaults().MaxAttempts)
}

// Design 6.7: a wait past the context's deadline is not begun, however long it is, and the error says both.
func TestRetryAfterPastDeadline(t *testing.T) {
	for _, wait := range []string{"10", "3600"} {
		synctest.Test(t, func(t *testing.T) {
			c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) { return 429, headers("Retry-After", wait) }))
			for range 2 { // the second call meets the gate
				started := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				err := c.Do(ctx, callOf(safe), nil)
				require.ErrorIs(t, err, ErrRateLimited)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				var limited *RateLimitError
				require.ErrorAs(t, err, &limited)
				assert.Greater(t, time.Until(limited.Until), 9*time.Second)
				assert.Equal(t, started, time.Now())
			}
		})
	}
}

// Design 6.8: after a 429 with a wait, new calls of the same credential wait too, and those of another credential do not.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := true
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			if limited {
				limited = false
				return 429, headers("Retry-After", "20")
			}
			return 200, nil
		}))
		derived, err := c.With(WithUserAgent("derived/1"))
		require.NoError(t, err)
		other, err := c.With(WithToken("another"))
		require.NoError(t, err)

		began := time.Now()
		var held sync.WaitGroup
		require.ErrorIs(t, c.Do(t.Context(), callOf(once), nil, Retry(RetryPolicy{MaxAttempts: 1})), ErrRateLimited)
		for _, waiting := range []*Client{c, derived} {
			held.Go(func() {
				assert.NoError(t, waiting.Do(t.Context(), callOf(once), nil))
				assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)
				assert.LessOrEqual(t, time.Since(began), 21*time.Second)
			})
		}
		require.NoError(t, other.Do(t.Context(), callOf(once), nil))
		assert.Zero(t, time.Since(began))
		held.Wait()

		limited, began = true, time.Now()
		r := service{c}.post("/projects/:project_id/secure_files", ID(1)).upload(nil, "file", FileReader(strings.NewReader("x"), 1))
		require.ErrorIs(t, exec(t.Context(), r, nil), ErrRateLimited)
		require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second, "a call that cannot be repeated tells the others all the same")
	})
}

// Design 6.8: a route with a budget of its own holds back only itself; what holds all holds it as well.
func TestGateOwnBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limit := "archive"
		c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), statuses(func(req *http.Request) (int, http.Header) {
			if limit != "" && strings.Contains(req.URL.Path, limit) {
				limit = ""
				return 429, headers("Retry-After", "20")
			}
			return 200, nil
		}))
		archive, stats := runners[3], runners[1]
		require.ErrorIs(t, archive.run(t.Context(), c), ErrRateLimited)
		began := time.Now()
		require.NoError(t, stats.run(t.Context(), c))
		assert.Zero(t, time.Since(began))
		require.NoError(t, archive.run(t.Context(), c))
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)

		limit = "time_stats"
		require.ErrorIs(t, stats.run(t.Context(), c), ErrRateLimited)
		began = time.Now()
		require.NoError(t, archive.run(t.Context(), c))
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)
	})
}

// An absurd wait ends calls at once and does not shut the client for ever.
func TestGateAbsurdWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limited := true
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			if limited {
				limited = false
				return 429, headers("Retry-After", "999999999999")
			}
			return 200, nil
		}))
		for range 2 {
			require.ErrorIs(t, c.Do(t.Context(), callOf(safe), nil), ErrRateLimited)
		}
		time.Sleep(time.Hour)
		require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
	})
}

// Design 6.8: a dead service is not hammered: about 2 requests a call at 100 calls, 600 requests at 500, however it is dead.
func TestBudget(t *testing.T) {
	hasty := WithRetry(RetryPolicy{MinWait: 1, MaxWait: 1})
	for name, dead := range map[string]act{"refused": nil, "503": say(503, ""), "reset": reset("")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dials atomic.Int64
			address, requests := refusedAddress(t), func() int { return int(dials.Load()) }
			if dead != nil {
				w := newWire(t, always(dead))
				address, requests = w.url, func() int { return len(w.seen()) }
			}
			transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
				dials.Add(1)
				return new(net.Dialer).DialContext(ctx, network, addr)
			}}
			c := wireClient(t, address, WithHTTPClient(&http.Client{Transport: transport}), hasty)
			most := map[int]int{100: 200, 500: 600}
			for i := 1; i <= 500; i++ {
				err := c.Do(t.Context(), callOf(repeatable), nil)
				require.Error(t, err)
				if i == 100 || i == 500 {
					assert.LessOrEqual(t, requests(), most[i])
					require.ErrorContains(t, err, "retry budget")
				}
			}
			derived, err := c.With(WithUserAgent("derived/1"))
			require.NoError(t, err)
			require.Equal(t, 1, asError(t, derived.Do(t.Context(), callOf(safe), nil)).Attempts)
		})
	}
}

// What succeeds refills the budget, so that a service with a fault now and then is called without limit.
func TestBudgetRefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			n++
			return map[int]int{0: 200, 1: 502}[n%2], nil
		}))
		for range 500 {
			require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
		}
	})
}

// limiter counts what waits for it.
type limiter struct {
	n   int
	err error
}

func (l *limiter) Wait(context.Context) error {
	l.n++
	return l.err
}

// Design 6.8: a limiter counts retries, and one that refuses ends the call before it is sent.
func TestLimiter(t *testing.T) {
	w := newWire(t, always(say(502, "")))
	l := &limiter{}
	c := wireClient(t, w.url, WithLimiter(l))
	require.Error(t, c.Do(t.Context(), callOf(safe), nil))
	assert.Equal(t, 4, l.n)
	l.err = errors.New("not today")
	err := c.Do(t.Context(), callOf(once), nil)
	require.ErrorIs(t, err, ErrRateLimited)
	require.ErrorIs(t, err, l.err)
	assert.Equal(t, 5, l.n)
	assert.Zero(t, asError(t, err).Attempts)
	assert.Len(t, w.seen(), 4, fmt.Sprint(err))
}
