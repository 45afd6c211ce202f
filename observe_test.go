package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// The reports of the hook about each attempt, and the resulting Stats. The body of the call has 7
// bytes.
func TestAttempts(t *testing.T) {
	type told struct {
		status         int
		err            error
		sent, received int64
	}
	for _, test := range []struct {
		name   string
		answer func(seen) act
		want   []told
		stats  Stats
	}{
		{"success", always(sayJSON(`{"a":1}`)), []told{{200, nil, 7, 7}}, Stats{Calls: 1, Attempts: 1, BytesSent: 7, BytesReceived: 7}},
		{"nothing to change", always(say(304, "")), []told{{304, nil, 7, 0}}, Stats{Calls: 1, Attempts: 1, BytesSent: 7}},
		{"refused", always(say(403, "no")), []told{{403, ErrForbidden, 7, 2}}, Stats{Calls: 1, Failures: 1, Attempts: 1, BytesSent: 7, BytesReceived: 2}},
		{
			"repeated", script(say(502, "oh"), closing("HTTP/1.1 200 OK\r\n"+jsonType+"\r\nContent-Length: 9\r\n\r\n{"), sayJSON("{}")),
			[]told{{502, ErrServer, 7, 2}, {200, io.ErrUnexpectedEOF, 7, 1}, {200, nil, 7, 2}}, Stats{Calls: 1, Attempts: 3, Retries: 2, BytesSent: 21, BytesReceived: 5},
		},
		{
			"redirected", func(s seen) act {
				if s.nth == 1 {
					return say(307, "moved", "Location: /api/v4/there")
				}
				return sayJSON("{}")
			},
			[]told{{200, nil, 14, 7}}, Stats{Calls: 1, Attempts: 1, BytesSent: 14, BytesReceived: 7},
		},
		{"no JSON", always(sayJSON("{")), []told{{200, nil, 7, 1}}, Stats{Calls: 1, Failures: 1, Attempts: 1, BytesSent: 7, BytesReceived: 1}},
		{"unpacked", always(say(200, squeezed(`{"a":  1}`), jsonType, "Content-Encoding: gzip")), []told{{200, nil, 7, 9}}, Stats{Calls: 1, Attempts: 1, BytesSent: 7, BytesReceived: 9}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var hook attempts
			began := time.Now()
			type key struct{}
			c := wireClient(t, newWire(t, test.answer).url, WithOnAttempt(func(ctx context.Context, a Attempt) {
				route, _ := RouteFromContext(ctx)
				assert.Equal(t, idempotentRoute+" mine", fmt.Sprint(route.Template, " ", ctx.Value(key{})), "the context of the hook is that of the call")
				hook.seen = append(hook.seen, a)
			}))
			err := c.Do(context.WithValue(t.Context(), key{}, "mine"), callOf(RetryClassIdempotent), new(any))
			assert.Equal(t, test.stats.Failures == 1, err != nil && !errors.Is(err, ErrNotModified), "%v", err)
			assert.Equal(t, test.stats, c.Stats())
			require.Len(t, hook.all(), len(test.want))
			for i, a := range hook.all() {
				want, last := test.want[i], i == len(test.want)-1
				assert.Equal(t, "POST "+idempotentRoute, a.Method+" "+a.Route)
				assert.Equal(t, i+1, a.Number)
				assert.Equal(t, want.status, a.Status)
				require.ErrorIs(t, a.Err, want.err)
				assert.Equal(t, want.err == nil, a.Err == nil)
				assert.Equal(t, []int64{want.sent, want.received}, []int64{a.BytesSent, a.BytesReceived})
				assert.Equal(t, last, a.WaitAfter == 0)
				assert.Positive(t, a.Duration)
				assert.False(t, a.Start.Before(began) || a.Start.Add(a.Duration).After(time.Now()))
			}
		})
	}
}

// A renewed token is sent immediately, in a second attempt. The exchange counts as a call only for
// tokens of the registry.
func TestAttemptsAndTokens(t *testing.T) {
	var hook attempts
	_, config := tokenServer(t, func(url.Values, int) act { return sayToken("new", "r2") })
	c := wireClient(t, guarded(t, fixed("new")).url, WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "r1"}), hook.option())
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	require.Len(t, hook.all(), 2)
	require.ErrorIs(t, hook.all()[0].Err, ErrUnauthorized)
	assert.Zero(t, hook.all()[0].WaitAfter)

	hook = attempts{}
	native, api, _, _ := nativeClient(t, say(202, ""), tokenAnswer("t0ken", ""), hook.option())
	require.NoError(t, native.RegistryNative.DeleteTagReference(t.Context(), "group/app", "v1"))
	assert.Empty(t, api.seen())
	require.Len(t, hook.all(), 2)
	assert.Equal(t, "/jwt/auth", hook.all()[0].Route)
	assert.Equal(t, Stats{Calls: 2, Attempts: 2, BytesReceived: int64(len(`{"token":"t0ken"}`))}, native.Stats())
}

// A request that is not sent does not count as an attempt: if a limiter refuses it, if the wait for
// it is too long, or if the context has ended.
func TestAttemptsNotSent(t *testing.T) {
	var hook attempts
	c := bubbleClient(t, hook.option(), WithLimiter(&limiter{err: errors.New("no more today")}))
	require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), ErrRateLimited)
	assert.Equal(t, Stats{Calls: 1, Failures: 1}, c.Stats())
	c = bubbleClient(t, hook.option())
	r := c.customRequest(callOf(RetryClassSafe))
	c.core.apiGate.Hold(keyFor(r), time.Now().Add(time.Hour))
	require.ErrorIs(t, c.Do(t.Context(), callOf(RetryClassSafe), nil), ErrRateLimited)
	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, c.Do(ended, callOf(RetryClassSafe), nil), context.Canceled)
	assert.Empty(t, hook.all())
	assert.Equal(t, Stats{Calls: 2, Failures: 2}, c.Stats())
}

// Waits that the server requests are counted, both of the call that got the request and of the
// calls that it delays.
func TestThrottled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		var hook attempts
		c := bubbleClient(t, hook.option(), statuses(func(*http.Request) (int, http.Header) {
			if first {
				first = false
				return 429, headers("Retry-After", "20")
			}
			return 200, nil
		}))
		began := time.Now()
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil))
		took := time.Since(began)
		assert.Equal(t, Stats{Calls: 1, Attempts: 2, Retries: 1, RateLimitWaits: 1, RateLimitWaitTime: took, BytesSent: c.Stats().BytesSent, BytesReceived: 4}, c.Stats())
		require.Len(t, hook.all(), 2)
		assert.Equal(t, took, hook.all()[0].WaitAfter)
		var limited *Error
		require.ErrorAs(t, hook.all()[0].Err, &limited)
		assert.Equal(t, 429, limited.Status)

		c.core.apiGate.Hold(keyFor(c.customRequest(callOf(RetryClassSafe))), time.Now().Add(10*time.Second))
		began = time.Now()
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		assert.Equal(t, took+time.Since(began), c.Stats().RateLimitWaitTime)
		assert.EqualValues(t, 2, c.Stats().RateLimitWaits)
		assert.Len(t, hook.all(), 3)

		// A backoff is not a wait that the server requested.
		c = bubbleClient(t, statuses(func(*http.Request) (int, http.Header) { return 502, nil }))
		require.Error(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		assert.Zero(t, c.Stats().RateLimitWaits)
		assert.EqualValues(t, 3, c.Stats().Retries)
	})
}

// attempts collects the reports of WithOnAttempt.
type attempts struct {
	mu   sync.Mutex
	seen []Attempt
}

func (a *attempts) option() Option {
	return WithOnAttempt(func(_ context.Context, attempt Attempt) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.seen = append(a.seen, attempt)
	})
}

func (a *attempts) all() []Attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen
}

// A client and all clients that are derived from it share one Stats, even with different
// credentials. Each client has its own hook.
func TestStatsAreShared(t *testing.T) {
	var hook attempts
	w := newWire(t, always(sayJSON("[{},{}]")))
	parent := wireClient(t, w.url)
	child, err := parent.With(WithToken("another-token"), hook.option())
	require.NoError(t, err)
	other := wireClient(t, w.url)
	var calls sync.WaitGroup
	for _, c := range []*Client{parent, child, child} {
		calls.Go(func() {
			for range 20 {
				_, err := Collect(ListAs[map[string]any](t.Context(), c, Call{Method: http.MethodGet, Route: "/issues"}, Ahead(2)))
				assert.NoError(t, err)
			}
		})
	}
	calls.Wait()
	assert.Equal(t, Stats{Calls: 60, Attempts: 60, BytesReceived: 60 * 7}, parent.Stats())
	assert.Equal(t, parent.Stats(), child.Stats())
	assert.Zero(t, other.Stats())
	assert.Len(t, hook.all(), 40)
}

// The bytes of a download are counted when they are read.
func TestStatsOfDownloads(t *testing.T) {
	var hook attempts
	c := wireClient(t, newWire(t, always(say(200, "0123456789", "Content-Type: a/b"))).url, hook.option())
	d, err := openArchive(t.Context(), c)
	require.NoError(t, err)
	defer d.Close()
	assert.Zero(t, c.Stats().BytesReceived)
	_, err = io.ReadFull(d, make([]byte, 4))
	require.NoError(t, err)
	assert.EqualValues(t, 4, c.Stats().BytesReceived)
	_, err = io.Copy(io.Discard, d)
	require.NoError(t, err)
	assert.EqualValues(t, 10, c.Stats().BytesReceived)
	assert.Zero(t, hook.all()[0].BytesReceived)
}

// Statistics print with their names, in the singular for one.
func TestStatsString(t *testing.T) {
	assert.Equal(t, "0 calls, 0 failed, 0 attempts, 0 retries, 0 waits for rate limits (0s), 0 waits of pacing (0s), 0 bytes sent, 0 bytes received", Stats{}.String())
	stats := Stats{Calls: 1, Failures: 2, Attempts: 4, Retries: 1, RateLimitWaits: 1, RateLimitWaitTime: time.Minute, PacingWaits: 2, PacingWaitTime: 3 * time.Second, BytesSent: 1, BytesReceived: 20}
	assert.Equal(t, "1 call, 2 failed, 4 attempts, 1 retry, 1 wait for rate limits (1m0s), 2 waits of pacing (3s), 1 byte sent, 20 bytes received", stats.String())
}

// A hook that panics after the response to a download has begun leaves no connection open.
func TestHookPanicsBeforeDownload(t *testing.T) {
	closed := make(chan struct{})
	w := newWire(t, always(func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\nContent-Length: 99\r\n\r\nPK")
		_, _ = io.Copy(io.Discard, conn)
		close(closed)
		return false
	}))
	c := wireClient(t, w.url, WithOnAttempt(func(context.Context, Attempt) { panic("a bug of the caller") }))
	assert.PanicsWithValue(t, "a bug of the caller", func() { _, _ = c.Repositories.Archive(t.Context(), ID(1), nil) })
	select {
	case <-closed:
	case <-time.After(time.Minute):
		t.Fatal("the connection is still open")
	}
}
