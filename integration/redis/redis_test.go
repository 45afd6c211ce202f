// Package redis tests that clients in several processes can share one rate limit in a real Redis.
package redis

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/integration/internal/redistest"
)

func TestMain(m *testing.M) {
	redis.SetLogger(silent{})
	goleak.VerifyTestMain(m)
}

// silent drops the log of go-redis about failures, which the tests cause.
type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// shared is a forge.Limiter that all users of the same key share.
type shared struct {
	limiter *redis_rate.Limiter
	key     string
	limit   redis_rate.Limit
}

// Wait returns when the rate allows another attempt.
func (s shared) Wait(ctx context.Context) error {
	for {
		result, err := s.limiter.Allow(ctx, s.key, s.limit)
		if err != nil {
			return fmt.Errorf("shared limiter: %w", err)
		}
		if result.Allowed > 0 {
			return nil
		}
		select {
		case <-time.After(result.RetryAfter):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// limiter returns a limiter with its own connection to Redis, like a separate process.
func limiter(t *testing.T, server *redistest.Server, limit redis_rate.Limit) shared {
	t.Helper()
	connection := redis.NewClient(&redis.Options{
		Dialer: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", server.Socket)
		},
		MaxRetries: -1, ContextTimeoutEnabled: true,
	})
	t.Cleanup(func() { _ = connection.Close() })
	return shared{redis_rate.NewLimiter(connection), "forge", limit}
}

func connect(t *testing.T, api *httptest.Server, limiter forge.Limiter, options ...forge.Option) *forge.Client {
	t.Helper()
	client, err := forge.NewClient(api.URL, append([]forge.Option{
		forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}}), forge.WithLimiter(limiter),
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
	}, options...)...)
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// newAPI records the time of each request. It fails every third request of each client, which is
// then retried.
func newAPI(t *testing.T) (*httptest.Server, func() []time.Time) {
	var mu sync.Mutex
	var times []time.Time
	count := map[string]int{}
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		times = append(times, time.Now())
		if count[r.UserAgent()]++; count[r.UserAgent()]%3 == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(api.Close)
	return api, func() []time.Time {
		mu.Lock()
		defer mu.Unlock()
		return append([]time.Time(nil), times...)
	}
}

func call(ctx context.Context, client *forge.Client) error {
	_, err := client.Issues.GetTimeStats(ctx, forge.ID(1), 1)
	return err
}

// Four clients, each with its own connection to Redis, share 50 requests a second with a burst of
// 10. The algorithm allows n requests, retries included, in not less than (n-10)/50 seconds. A slow
// machine does not break the test.
func TestLimiterIsShared(t *testing.T) {
	const burst, perSecond, clients, calls = 10, 50, 4, 20
	server := redistest.New(t)
	api, times := newAPI(t)
	limit := redis_rate.Limit{Rate: perSecond, Period: time.Second, Burst: burst}
	var waits atomic.Int32
	start := time.Now()
	var all sync.WaitGroup
	for n := range clients {
		client := connect(t, api, counted{limiter(t, server, limit), &waits}, forge.WithUserAgent(fmt.Sprint("client/", n)))
		all.Go(func() {
			for range calls {
				assert.NoError(t, call(t.Context(), client))
			}
		})
	}
	all.Wait()
	got := times()
	assert.Len(t, got, clients*(calls+9), "9 of each client's first 29 requests fail")
	assert.EqualValues(t, len(got), waits.Load(), "every attempt has waited")
	// Redis uses its own clock with microseconds. A request arrives after it was allowed, so only the
	// start can differ.
	for i, at := range got {
		allowed := time.Duration(max(0, i+1-burst)) * time.Second / perSecond
		assert.GreaterOrEqual(t, at.Sub(start), allowed-time.Millisecond, "request %d is too early", i+1)
	}
}

// counted counts the attempts that wait.
type counted struct {
	forge.Limiter
	waits *atomic.Int32
}

func (c counted) Wait(ctx context.Context) error {
	c.waits.Add(1)
	return c.Limiter.Wait(ctx)
}

// A call whose deadline is before the next allowed attempt ends at the deadline, and nothing is
// sent.
func TestLimiterDeadline(t *testing.T) {
	api, times := newAPI(t)
	client := connect(t, api, limiter(t, redistest.New(t), redis_rate.Limit{Rate: 1, Period: time.Hour, Burst: 1}))
	require.NoError(t, call(t.Context(), client))
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := call(ctx, client)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, forge.ErrRateLimited)
	assert.Len(t, times(), 1)
}

// If Redis is unavailable, before the first call or between two calls, the error states this and
// wraps the error of the connection. Nothing is sent without the limiter.
func TestLimiterUnreachable(t *testing.T) {
	server := redistest.New(t)
	api, times := newAPI(t)
	client := connect(t, api, limiter(t, server, redis_rate.PerSecond(100)))
	require.NoError(t, call(t.Context(), client))
	server.Stop()
	for range 2 {
		err := call(t.Context(), client)
		require.ErrorIs(t, err, forge.ErrRateLimited)
		assert.ErrorContains(t, err, "the Limiter refused the call: shared limiter: ")
		var failed *forge.Error
		require.ErrorAs(t, err, &failed)
		assert.False(t, failed.MaybeApplied)
		assert.Zero(t, failed.Attempts)
	}
	var lost *net.OpError
	require.ErrorAs(t, call(t.Context(), client), &lost)
	assert.Len(t, times(), 1)
}

// A Redis that accepts connections and does not respond delays a call only until its deadline.
func TestLimiterHangs(t *testing.T) {
	server := redistest.New(t)
	api, times := newAPI(t)
	client := connect(t, api, limiter(t, server, redis_rate.PerSecond(100)))
	require.NoError(t, call(t.Context(), client))
	require.NoError(t, server.Pause())
	defer func() { require.NoError(t, server.Resume()) }()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := call(ctx, client)
	require.ErrorIs(t, err, forge.ErrRateLimited)
	var timeout net.Error // of the context or of the connection, which has the same deadline
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout())
	assert.Len(t, times(), 1)
}
