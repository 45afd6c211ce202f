package forgetest_test

import (
	"context"
	"net/http"
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

const apiThrottle = "throttle_authenticated_api"

// pacedServer is a server in a bubble that limits its user and takes 20 ms for a request.
type pacedServer struct {
	*forgetest.Server
	t       *testing.T
	network *pipenet.Listener
	refused map[int64]int // 429s by window of 6 s
}

func startPaced(t *testing.T, calls int, period time.Duration, options ...forgetest.Option) *pacedServer {
	s := &pacedServer{t: t, network: pipenet.Listen(), refused: map[int64]int{}}
	s.Server = forgetest.New(t, append(options, forgetest.WithListener(s.network), forgetest.WithRateLimitHeaders(),
		forgetest.WithHTTPServer(func(h *http.Server) {
			next := h.Handler
			h.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(10 * time.Millisecond)
				next.ServeHTTP(w, r)
				time.Sleep(10 * time.Millisecond)
			})
		}))...)
	s.SetThrottle(apiThrottle, calls, period)
	return s
}

// refusals returns the largest number of 429s in a window of the period.
func (s *pacedServer) refusals(seen []forge.Attempt, period time.Duration) (most int) {
	windows := map[int64]int{}
	for _, a := range seen {
		if a.Status == http.StatusTooManyRequests {
			windows[a.Start.UnixNano()/int64(period)]++
		}
	}
	for _, n := range windows {
		most = max(most, n)
	}
	return most
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

// readAll makes calls from a number of goroutines.
func readAll(t *testing.T, c *forge.Client, goroutines, calls int) {
	var left atomic.Int64
	left.Store(int64(calls))
	var running sync.WaitGroup
	for range goroutines {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				_, err := c.Users.Get(t.Context(), 1, nil)
				assert.NoError(t, err)
			}
		})
	}
	running.Wait()
}

// 300 calls of 32 goroutines against 60 in 6 s get no 429, and take no longer than the limit needs.
func TestPacing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 60, 6*time.Second)
		c, seen := s.client()
		began := time.Now()
		readAll(t, c, 32, 300)
		t.Log(time.Since(began), c.Stats(), s.refusals(seen.all, 6*time.Second))
		assert.LessOrEqual(t, time.Since(began), 29*time.Second)
		assert.LessOrEqual(t, s.refusals(seen.all, 6*time.Second), 1)
		require.NotZero(t, c.Stats().PacingWaits)
		c.CloseIdleConnections()
	})
}

func TestPacingTwoClients(t *testing.T) {
  for _, g := range []int{16,32} {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 60, 6*time.Second)
		c, seen := s.client()
		d, seen2 := s.client()
		began := time.Now()
		var w sync.WaitGroup
		w.Go(func() { readAll(t, c, g, 150) })
		w.Go(func() { readAll(t, d, g, 150) })
		w.Wait()
		t.Log(time.Since(began), c.Stats(), d.Stats())
		all := append(seen.all, seen2.all...)
		windows := map[int64]int{}
		n := map[int64]int{}
		for _, a := range all {
			n[a.Start.Unix()/6]++
			if a.Status == 429 { windows[a.Start.Unix()/6]++ }
		}
		t.Log(windows, n)
		c.CloseIdleConnections()
		d.CloseIdleConnections()
	})
	}
}

func TestPacingLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 600, time.Minute)
		c, seen := s.client()
		began := time.Now()
		readAll(t, c, 64, 3000)
		t.Log(time.Since(began), c.Stats(), s.refusals(seen.all, time.Minute))
		c.CloseIdleConnections()
	})
}
func TestPacingBelow(t *testing.T) {
  for _, without := range []bool{false, true} {
	synctest.Test(t, func(t *testing.T) {
		s := startPaced(t, 60, 6*time.Second)
		var o []forge.Option
		if without { o = append(o, forge.WithoutPacing()) }
		c, _ := s.client(o...)
		began := time.Now()
		readAll(t, c, 32, 60)
		t.Log(time.Since(began), c.Stats())
		time.Sleep(9*time.Second)
		began = time.Now()
		readAll(t, c, 32, 60)
		t.Log(time.Since(began), c.Stats())
		c.CloseIdleConnections()
	})
  }
}
