package forge

import (
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// The first retries of 100 clients that failed together spread over at least half of the window,
// which is half to one and a half of 0.5 s. The probability that 100 uniform draws have a range below
// half of the window is 1 in 10^28.
func TestRetriesSpread(t *testing.T) {
	const window = 500 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var mu sync.Mutex
		var at []time.Duration
		var running sync.WaitGroup
		for range 100 {
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
			running.Go(func() { assert.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil)) })
		}
		running.Wait()
		require.Len(t, at, 100)
		assert.GreaterOrEqual(t, slices.Min(at), window/2)
		assert.LessOrEqual(t, slices.Max(at), 3*window/2)
		assert.GreaterOrEqual(t, slices.Max(at)-slices.Min(at), window/2)
	})
}

// The wait is Retry-After in seconds or as a date by the server's clock, or else RateLimit-Reset of
// a 429. Jitter only makes it longer. A value that is not a time is ignored, and a wait longer than
// MaxRetryAfter ends the call immediately.
func TestRetryAfter(t *testing.T) {
	const skewed = "Mon, 02 Jan 2034 15:04:00 GMT"                                 // the server's clock, far from this one
	const backoffMin, backoffMax = 500 * time.Millisecond, 1500 * time.Millisecond // after a 429
	tests := []struct {
		name     string
		status   int
		header   http.Header
		min, max time.Duration // 0, 0: not retried
	}{
		{"seconds", 429, headers("Retry-After", "7"), 7 * time.Second, 7700 * time.Millisecond},
		{"seconds on 503", 503, headers("Retry-After", "7"), 7 * time.Second, 7700 * time.Millisecond},
		{"the most", 429, headers("Retry-After", "60"), 60 * time.Second, 61 * time.Second},
		{"date", 429, headers("Date", skewed, "Retry-After", "Mon, 02 Jan 2034 15:04:05 GMT"), 5 * time.Second, 5500 * time.Millisecond},
		{"zero", 429, headers("Retry-After", "0"), backoffMin, backoffMax},
		{"garbage", 429, headers("Retry-After", "soon"), backoffMin, backoffMax},
		{"reset", 429, headers("Date", skewed, "RateLimit-Reset", "2019827049"), 9 * time.Second, 9900 * time.Millisecond},
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
				err := c.Do(t.Context(), callOf(RetryClassSafe), nil)
				took := time.Since(started)
				if test.max == 0 {
					require.ErrorIs(t, err, sentinelFor(test.status))
					require.ErrorContains(t, err, "MaxRetryAfter")
					assert.Zero(t, took)
					return
				}
				require.NoError(t, err)
				assert.Greater(t, took, test.min, "no jitter")
				assert.LessOrEqual(t, took, test.max)
			})
		})
	}
}

// The default policy has 4 attempts and an exponential backoff from 0.5 s to at most 30 s, with
// jitter.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []time.Time
		c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 10}), statuses(func(*http.Request) (int, http.Header) {
			at = append(at, time.Now())
			return 502, nil
		}))
		require.Equal(t, 10, asError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil)).Attempts)
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

// A wait that would end after the context's deadline is not begun, and the error states the wait
// and the deadline.
func TestRetryAfterPastDeadline(t *testing.T) {
	for _, wait := range []string{"10", "3600"} {
		synctest.Test(t, func(t *testing.T) {
			c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) { return 429, headers("Retry-After", wait) }))
			for range 2 { // the gate delays the second call
				started := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				defer cancel()
				err := c.Do(ctx, callOf(RetryClassSafe), nil)
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

// A request with a renewed token is none of the attempts that the policy allows.
func TestRenewedTokenIsNoAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for last, failed := range map[int]bool{200: false, 503: true} {
			answers, tokens := []int{401, 503, last, 200}, 0
			source := tokenSource(func() (*oauth2.Token, error) {
				tokens++
				return &oauth2.Token{AccessToken: "token-" + strconv.Itoa(tokens)}, nil
			})
			c := bubbleClient(t, WithTokenSource(source), WithRetry(RetryPolicy{MaxAttempts: 2}), statuses(func(*http.Request) (int, http.Header) {
				status := answers[0]
				answers = answers[1:]
				return status, nil
			}))
			assert.Equal(t, failed, c.Do(t.Context(), callOf(RetryClassSafe), nil) != nil)
			assert.Len(t, answers, 1)
		}
	})
}

// Calls that succeed refill the budget, so that calls to a service with occasional faults are not
// limited.
func TestRetryBudgetRefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
			n++
			return map[int]int{0: 200, 1: 502}[n%2], nil
		}))
		for range 500 {
			require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		}
	})
}

// bubbleServer serves HTTP in memory, so that time is virtual. refuses reports whether connections
// are currently refused.
type bubbleServer struct {
	listener *pipenet.Listener
	server   *http.Server
	refuses  func() bool
	reset    bool // connections that end early are reset instead of closed
}

func newBubbleServer(handler http.HandlerFunc) *bubbleServer {
	s := &bubbleServer{listener: pipenet.Listen(), refuses: func() bool { return false }}
	s.server = &http.Server{Handler: handler}
	go func() { _ = s.server.Serve(s.listener) }()
	return s
}

func (s *bubbleServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.refuses() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	conn, err := s.listener.DialContext(ctx, network, address)
	if err == nil && s.reset {
		conn = resetConn{conn}
	}
	return conn, err
}

// client returns a client with the default policy, unless the options change it.
func (s *bubbleServer) client(t *testing.T, options ...Option) *Client {
	t.Helper()
	transport := &http.Transport{DialContext: s.dial}
	own := []Option{WithToken(secret), WithHTTPClient(&http.Client{Transport: transport})}
	c, err := NewClient("http://127.0.0.1:8080", append(own, options...)...)
	require.NoError(t, err)
	return c
}

func (s *bubbleServer) close(c *Client) {
	c.CloseIdleConnections()
	_ = s.server.Close()
	_ = s.listener.Close()
}

// resetConn ends with a reset.
type resetConn struct{ net.Conn }

func (c resetConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF { //nolint:errorlint // net.Pipe returns it as it is
		err = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return n, err
}

// outageCalls returns ten calls. If connections are refused, they include calls of class
// non-idempotent, which are then retried.
func outageCalls(refused bool) (calls []func(context.Context, *Client) error) {
	kinds := statusKinds()
	for i := 0; len(calls) < 10; i++ {
		kind := kinds[i%len(kinds)]
		if kind.endpoint != "" || kind.class == RetryClassNonIdempotent && !refused {
			continue
		}
		calls = append(calls, func(ctx context.Context, c *Client) error { return kind.run(ctx, c) })
	}
	return calls
}

// No call fails if a server responds 502 for 1.5 s, as a proxy does while the server behind it
// restarts, or refuses connections for 1.5 s.
func TestOutageOf1500ms(t *testing.T) {
	const outage = 1500 * time.Millisecond
	for _, refused := range []bool{false, true} {
		for range 50 { // each round has different jitter
			synctest.Test(t, func(t *testing.T) {
				began, down := time.Now(), atomic.Int32{}
				away := func() bool {
					is := time.Since(began) < outage
					if is {
						down.Add(1)
					}
					return is
				}
				s := newBubbleServer(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if !refused && away() {
						w.WriteHeader(http.StatusBadGateway)
						return
					}
					respondToAll(w, r)
				})
				if refused {
					s.refuses = away
				}
				c := s.client(t)
				var running sync.WaitGroup
				for _, call := range outageCalls(refused) {
					running.Go(func() { assert.NoError(t, call(t.Context(), c), "refused: %t", refused) })
				}
				running.Wait()
				assert.GreaterOrEqual(t, down.Load(), int32(10))
				s.close(c)
			})
		}
	}
}

// respondToAll responds to any of the calls with a success.
func respondToAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body := oneIssue
	if r.URL.Path == "/api/v4/issues" {
		body = "[" + oneIssue + "]"
	}
	_, _ = io.WriteString(w, body)
}

// waitsAfter makes calls that fail once, and returns the waits before their second attempts.
func waitsAfter(t *testing.T, calls int, reset bool, fail http.HandlerFunc) (waits []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var failed time.Time
		s := newBubbleServer(func(w http.ResponseWriter, r *http.Request) {
			if failed.IsZero() {
				failed = time.Now()
				fail(w, r)
				return
			}
			waits = append(waits, time.Since(failed))
			failed = time.Time{}
			respondToAll(w, r)
		})
		s.reset = reset
		c := s.client(t)
		for i := range calls {
			if !assert.NoError(t, c.Do(t.Context(), callOf([]RetryClass{RetryClassSafe, RetryClassIdempotent}[i%2]), new(any))) {
				break
			}
		}
		s.close(c)
	})
	require.Len(t, waits, calls)
	slices.Sort(waits)
	return waits
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func abortInBody(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"id":`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// A lost connection does not mean that the server is overloaded, so the call is retried soon.
func TestResetRetriedSoon(t *testing.T) {
	for name, lost := range map[string]struct {
		reset bool
		fail  http.HandlerFunc
	}{
		"reset": {true, abort}, "closed": {false, abort}, "reset in the body": {true, abortInBody}, "body cut short": {false, abortInBody},
	} {
		t.Run(name, func(t *testing.T) {
			waits := waitsAfter(t, 100, lost.reset, lost.fail)
			assert.Less(t, waits[50], 100*time.Millisecond, "median")
			assert.Greater(t, waits[0], time.Duration(0), "no wait at all")
		})
	}
}
