package forgetest_test

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/pipenet"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// pacedServer is a server in a bubble that limits its user and takes 20 ms for a request.
type pacedServer struct {
	*forgetest.Server
	t       *testing.T
	network *pipenet.Listener
}

func startPaced(t *testing.T, calls int, period time.Duration, options ...forgetest.Option) *pacedServer {
	t.Helper()
	s := &pacedServer{t: t, network: pipenet.Listen()}
	s.Server = forgetest.New(t, append(options, forgetest.WithListener(s.network), forgetest.WithRateLimitHeaders(),
		forgetest.WithHTTPServer(func(h *http.Server) {
			next := h.Handler
			h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(10 * time.Millisecond)
				next.ServeHTTP(w, r)
				time.Sleep(10 * time.Millisecond)
			})
		}))...)
	s.SetThrottle("throttle_authenticated_api", calls, period)
	return s
}

// Releases before 18.6 show what is left only where they refuse.
func TestRateLimitHeadersOfReleases(t *testing.T) {
	for release, shown := range map[string]bool{"18.5": false, "18.6": true} {
		srv := forgetest.New(t, forgetest.WithRelease(release), forgetest.WithRateLimitHeaders())
		srv.SetThrottle("throttle_authenticated_api", 10, time.Minute)
		var response forge.Response
		require.NoError(t, srv.Client().Do(t.Context(), forge.Call{Route: "/user"}, nil, forge.Into(&response)))
		assert.Equal(t, shown, response.Header.Get("RateLimit-Remaining") == "9", release)
	}
}

// refusals returns the number of 429s by the number of the window.
func refusals(began time.Time, period time.Duration, clients ...*attempts) map[int64]int {
	windows := map[int64]int{}
	for _, client := range clients {
		for _, a := range client.all {
			if a.Status == http.StatusTooManyRequests {
				windows[int64(a.Start.Sub(began)/period)]++
			}
		}
	}
	return windows
}

// client returns a client that keeps its attempts, and does not know of others.
func (s *pacedServer) client(options ...forge.Option) (*forge.Client, *attempts) {
	seen := new(attempts)
	c := s.Client(append(options, forge.WithHTTPClient(&http.Client{
		Transport: &http.Transport{DialContext: s.network.DialContext, MaxIdleConnsPerHost: 100},
	}), forge.WithOnAttempt(seen.add))...)
	s.t.Cleanup(c.CloseIdleConnections)
	return c, seen
}

type attempts struct {
	mu  sync.Mutex
	all []forge.Attempt
}

func (s *attempts) add(_ context.Context, a forge.Attempt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, a)
}

// readAll makes calls from a number of goroutines, and returns how many each one has made.
func readAll(t *testing.T, c *forge.Client, goroutines, calls int) []int {
	t.Helper()
	var left atomic.Int64
	left.Store(int64(calls))
	made := make([]int, goroutines)
	var running sync.WaitGroup
	for i := range goroutines {
		running.Go(func() {
			for ; left.Add(-1) >= 0; made[i]++ {
				_, err := c.Users.Get(t.Context(), 1, nil)
				assert.NoError(t, err)
			}
		})
	}
	running.Wait()
	return made
}

// Calls of many goroutines reach the limit and do not exceed it. They take as long as the limit
// requires, none fails, and each goroutine gets about as many requests as the others.
func TestPacing(t *testing.T) {
	const window = 6 * time.Second
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 60, window)
		c, seen := s.client()
		began := time.Now()
		made := readAll(t, c, 32, 300)
		assert.LessOrEqual(t, time.Since(began), 4*window+time.Second, "five windows, of which the last is not waited for")
		assert.Empty(t, refusals(began, window, seen))
		assert.LessOrEqual(t, slices.Max(made)-slices.Min(made), 4, "%v", made)

		last, waited, spread := time.Time{}, time.Duration(0), map[time.Duration]int{}
		for _, a := range seen.all {
			waited += a.PacingWait
			if since := a.Start.Sub(began); since > window+window/10 && since < 2*window {
				spread[since.Truncate(time.Second)]++
				last = a.Start
			}
		}
		assert.Equal(t, c.Stats().PacingWaitTime, waited)
		assert.Len(t, spread, 6, "the second half of the window is spread over it: %v", spread)
		assert.Greater(t, last.Sub(began), 2*window-time.Second)
	})
}

// 3000 calls of 64 goroutines against 600 a minute need four minutes: the fifth window is not full.
func TestPacingOfALongJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 600, time.Minute)
		c, seen := s.client()
		began := time.Now()
		readAll(t, c, 64, 3000)
		assert.LessOrEqual(t, time.Since(began), 4*time.Minute*102/100)
		assert.Empty(t, refusals(began, time.Minute, seen))
	})
}

// Two clients of one user that do not know of one another find out in the first window, and
// share all.
func TestPacingOfTwoClients(t *testing.T) {
	const window = 6 * time.Second
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 60, window)
		one, seen := s.client()
		two, seenByTwo := s.client()
		began := time.Now()
		var running sync.WaitGroup
		running.Go(func() { readAll(t, one, 16, 150) })
		running.Go(func() { readAll(t, two, 16, 150) })
		running.Wait()
		refused := refusals(began, window, seen, seenByTwo)
		for number, n := range refused {
			assert.LessOrEqual(t, n, 2, "window %d", number)
		}
		assert.LessOrEqual(t, time.Since(began), 5*window+time.Second)
	})
}

// Calls that do not reach the limit are not delayed: the first window is used up by a burst, and a
// later one by another, and a slow caller comes back for hours.
func TestPacingBelowTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 60, 6*time.Second)
		c, _ := s.client()
		for _, pause := range []time.Duration{0, 9 * time.Second, 6 * time.Second} {
			time.Sleep(pause)
			began := time.Now()
			readAll(t, c, 32, 59)
			assert.Equal(t, 40*time.Millisecond, time.Since(began))
		}
		time.Sleep(6 * time.Second)
		for range 500 {
			time.Sleep(120 * time.Millisecond)
			readAll(t, c, 1, 1)
		}
		assert.Zero(t, c.Stats().PacingWaitTime) // a wait may begin and end between two responses
	})
}

// A throttle of some routes does not delay the others. What the other throttle of these routes says
// counts again when that one is the stricter one.
func TestPacingByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 600, time.Minute)
		s.SetThrottle("throttle_authenticated_search", 5, time.Minute, "GET /issues")
		c, seen := s.client()
		began := time.Now()
		for range 6 {
			_, err := forge.Collect(c.Issues.List(t.Context(), nil))
			require.NoError(t, err)
			readAll(t, c, 8, 20)
		}
		assert.Empty(t, refusals(began, time.Minute, seen))
		assert.EqualValues(t, 1, c.Stats().PacingWaits, "the sixth search")
	})
}

// Requests of HTTPClient are paced. Without pacing the server refuses some, and by default a server
// does not say what is left before it refuses one.
func TestPacingIsOptional(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []forge.Option
		older   []forgetest.Option
		refused bool
	}{
		{"paced", nil, nil, false},
		{"without pacing", []forge.Option{forge.WithoutPacing()}, nil, true},
		{"an older server", nil, []forgetest.Option{forgetest.WithRelease("18.5")}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := startPaced(t, 10, 6*time.Second, test.older...)
				c, seen := s.client(test.options...)
				began := time.Now()
				for range 25 {
					request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL+"/api/v4/users/1", nil)
					require.NoError(t, err)
					response, err := c.HTTPClient().Do(request)
					require.NoError(t, err)
					require.NoError(t, response.Body.Close())
					assert.Equal(t, http.StatusOK, response.StatusCode)
				}
				assert.Equal(t, test.refused, len(refusals(began, 6*time.Second, seen)) > 0)
				assert.Equal(t, test.refused, c.Stats().PacingWaits == 0)
			})
		})
	}
}
