package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The options of HTTPClient apply to each request.
func TestHTTPClientOptions(t *testing.T) { synctest.Test(t, httpClientOptions) }

func httpClientOptions(t *testing.T) {
	w := pipedWire(t, script(say(503, "{}"), sayJSON(`"four"`), silent("")))
	client := w.client(t).HTTPClient(Retry(RetryPolicy{MaxAttempts: 1}), HeaderTimeout(50*time.Second), MaxBytes(5))
	status, _, err := send(t.Context(), client, "GET", w.url, "")
	require.NoError(t, err)
	assert.Equal(t, 503, status)
	_, text, err := send(t.Context(), client, "GET", w.url, "")
	require.ErrorIs(t, err, ErrResponseTooLarge)
	assert.LessOrEqual(t, len(text), 6)
	_, _, err = send(t.Context(), client, "GET", w.url, "")
	require.ErrorIs(t, err, ErrTimeout)
	assert.Len(t, w.seen(), 3)
}

// A panic of the caller's code reaches the caller, and leaves no body open.
func TestHTTPClientCrashes(t *testing.T) {
	crash := func() { panic("enough") }
	for _, status := range []int{200, 404, 503} {
		for place, option := range map[string]Option{
			"hook":    WithOnAttempt(func(context.Context, Attempt) { crash() }),
			"log":     WithLogger(slog.New(crashing{slog.DiscardHandler, crash})),
			"limiter": WithLimiter(waitFunc(func(context.Context) error { crash(); return nil })),
		} {
			request := &closeCounter{Reader: strings.NewReader("x")}
			response := &closeCounter{Reader: strings.NewReader("y")}
			c := wireClient(t, "https://a.example.com", option, through(func(r *http.Request) (*http.Response, error) {
				_ = r.Body.Close()
				return &http.Response{StatusCode: status, Body: response, Header: http.Header{}}, nil
			}))
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "https://a.example.com", request)
			require.NoError(t, err)
			label := fmt.Sprint(status, place)
			assert.PanicsWithValue(t, "enough", func() { _, _ = c.HTTPClient().Transport.RoundTrip(req) }, label)
			assert.Equal(t, map[bool]int32{true: 0, false: 1}[place == "limiter"], response.closed.Load(), label)
			assert.Eventually(t, func() bool { return request.closed.Load() == 1 }, time.Minute, time.Millisecond, label)
		}
	}
}

// crashing is a log handler that does not return.
type crashing struct {
	slog.Handler
	crash func()
}

func (crashing) Enabled(context.Context, slog.Level) bool { return true }
func (c crashing) Handle(context.Context, slog.Record) error {
	c.crash()
	return nil
}
func (c crashing) WithAttrs([]slog.Attr) slog.Handler { return c }

// The Timeout of the http.Client ends a request, and the reading of its body. A wait that would take
// longer is not begun.
func TestHTTPClientTimeout(t *testing.T) { synctest.Test(t, httpClientTimeout) }

func httpClientTimeout(t *testing.T) {
	for name, do := range map[string]act{
		"headers": silent(""),
		"body":    silent("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"),
	} {
		w := pipedWire(t, always(do))
		client := w.client(t).HTTPClient()
		client.Timeout = 10 * time.Second
		_, _, err := send(t.Context(), client, "GET", w.url, "")
		var timeout net.Error
		require.ErrorAs(t, err, &timeout, name)
		assert.True(t, timeout.Timeout(), name)
		require.ErrorIs(t, err, context.DeadlineExceeded, name)
		assert.Len(t, w.seen(), 1, name)
	}
	w := pipedWire(t, always(say(503, "{}", "Retry-After: 30")))
	client := w.client(t).HTTPClient()
	client.Timeout = time.Second
	status, _, err := send(t.Context(), client, "GET", w.url, "")
	require.NoError(t, err)
	assert.Equal(t, 503, status)
}

// A context that ends during the reading of a body ends it, and so does Close in another goroutine.
func TestHTTPClientBodyEnds(t *testing.T) {
	w := newWire(t, always(silent("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort")))
	client := wireClient(t, w.url).HTTPClient()
	for _, closes := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.url, http.NoBody)
		require.NoError(t, err)
		resp, err := client.Do(req)
		require.NoError(t, err)
		_, err = io.ReadFull(resp.Body, make([]byte, 5))
		require.NoError(t, err)
		failed := make(chan error)
		go func() {
			_, err := resp.Body.Read(make([]byte, 1))
			failed <- err
		}()
		if closes {
			require.NoError(t, resp.Body.Close())
		} else {
			cancel()
		}
		err = <-failed
		require.Error(t, err)
		require.NotErrorIs(t, err, io.EOF)
		if !closes {
			require.ErrorIs(t, err, context.Canceled)
		}
		_, err = resp.Body.Read(make([]byte, 1))
		require.Error(t, err)
		require.NoError(t, resp.Body.Close())
		cancel()
	}
}

// An http.Client with a Jar works until a server sets a cookie. The error names the Jar.
func TestHTTPClientJar(t *testing.T) {
	w := newWire(t, always(say(200, "{}", "Set-Cookie: a=b")))
	client := wireClient(t, w.url).HTTPClient()
	var err error
	client.Jar, err = cookiejar.New(nil)
	require.NoError(t, err)
	_, _, err = send(t.Context(), client, "GET", w.url, "")
	require.NoError(t, err)
	_, _, err = send(t.Context(), client, "GET", w.url, "")
	require.ErrorContains(t, err, "without a Jar")
	assert.Len(t, w.seen(), 1)
}

// A switch to another protocol is an error, and closes the connection.
func TestHTTPClientUpgrade(t *testing.T) {
	closed := make(chan struct{})
	w := newWire(t, always(func(conn net.Conn) bool {
		defer close(closed)
		return silent("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")(conn)
	}))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.url, http.NoBody)
	require.NoError(t, err)
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}}
	_, err = wireClient(t, w.url).HTTPClient().Do(req)
	require.ErrorIs(t, err, ErrInvalidResponse)
	<-closed
	assert.Len(t, w.seen(), 1)
}

// A redirected body is sent again from GetBody, or the request fails. No body leaves the origin.
func TestHTTPClientRedirectedBodies(t *testing.T) {
	away := newWire(t, always(sayJSON("{}")))
	for _, c := range []struct {
		method       string
		out, getBody bool
		want         string
	}{
		{"PUT", false, false, "sent only once"},
		{"GET", false, true, ""},
		{"GET", true, true, "request with a body"},
	} {
		location := "/to#a%2Fb"
		if c.out {
			location = away.url + location
		}
		w := newWire(t, script(say(307, "", "Location: "+location), sayJSON("{}")))
		req, err := http.NewRequestWithContext(t.Context(), c.method, w.url, strings.NewReader("content"))
		require.NoError(t, err)
		if !c.getBody {
			req.GetBody = nil
		}
		resp, err := wireClient(t, w.url).HTTPClient().Do(req)
		if c.want != "" {
			require.ErrorContains(t, err, c.want)
			assert.False(t, asError(t, err).MaybeApplied, "%+v", c)
			assert.Len(t, w.seen(), 1)
			continue
		}
		require.NoError(t, err)
		resp.Body.Close()
		require.Len(t, w.seen(), 2)
		assert.Equal(t, c.method+" content", w.seen()[1].method+" "+w.seen()[1].body)
		assert.Equal(t, &url.URL{Scheme: "http", Host: req.URL.Host, Path: "/to"}, resp.Request.URL)
	}
	assert.Empty(t, away.seen())
}

// go-retryablehttp closes the idle connections of its client after a failure. Those of the other
// calls stay.
func TestHTTPClientKeepsConnections(t *testing.T) { synctest.Test(t, httpClientKeepsConnections) }

func httpClientKeepsConnections(t *testing.T) {
	w := pipedWire(t, always(sayJSON("{}")))
	c := w.client(t)
	for range 2 {
		_, _, err := send(t.Context(), c.HTTPClient(), "GET", w.url, "")
		require.NoError(t, err)
		c.HTTPClient().CloseIdleConnections()
	}
	assert.Equal(t, 1, w.accepted())
}

// A status that HTTP defines is a response, and counts as a failure from 400 on. Others are errors.
func TestHTTPClientStatuses(t *testing.T) {
	for status, failed := range map[int]bool{199: true, 200: false, 304: false, 399: false, 400: true, 405: true, 599: true, 600: true} {
		c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), statuses(func(*http.Request) (int, http.Header) { return status, nil }))
		got, _, err := send(t.Context(), c.HTTPClient(), http.MethodGet, "https://forge.example.com/x", "")
		if got != status {
			require.ErrorIs(t, err, ErrInvalidResponse, status)
		}
		assert.Equal(t, status == 199 || status == 600, err != nil, status)
		assert.Equal(t, failed, c.Stats().Failures == 1, status)
	}
}

// Hooks, log, statistics and errors name the route of a request, or "/*", and contain no secret.
func TestHTTPClientIsObserved(t *testing.T) {
	w := newWire(t, func(s seen) act { return say(404, secret) })
	var log bytes.Buffer
	var seen []Attempt
	c := wireClient(t, w.url, WithLogger(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))),
		WithOnAttempt(func(_ context.Context, a Attempt) { seen = append(seen, a) }))
	for _, path := range []string{"/api/v4/projects/a%2Fb/issues/5/subscribe?secret=1", "/api/v4/new/endpoint", "/api/graphql"} {
		_, _, err := send(t.Context(), c.HTTPClient(), "POST", w.url+path, "{}")
		require.NoError(t, err)
	}
	require.Len(t, seen, 3)
	got := ""
	for _, a := range seen {
		got += fmt.Sprintln(a.Method, a.Route, a.Path, a.Number, a.Status, a.BytesSent)
		require.ErrorIs(t, a.Err, ErrNotFound)
		assert.NotContains(t, fmt.Sprintf("%+v", a), secret)
	}
	assert.Equal(t, "POST /projects/:id/issues/:issue_iid/subscribe /projects/a%2Fb/issues/5/subscribe 1 404 2\n"+
		"POST /* /new/endpoint 1 404 2\nPOST /* /api/graphql 1 404 2\n", got)
	assert.NotContains(t, log.String(), secret)
	assert.NotContains(t, log.String(), "secret=1")
	assert.Contains(t, log.String(), "route=/*")
	stats := c.Stats()
	assert.Equal(t, "3 3 3", fmt.Sprint(stats.Calls, stats.Attempts, stats.Failures))
}

// A 429 delays the calls to the same server. One of a route with a quota delays only this route,
// and the object that the quota is counted for. A wait for all calls of the API delays these
// routes, too.
func TestHolds(t *testing.T) {
	do := func(method, route string, args ...Arg) func(*Client) error {
		return func(c *Client) error {
			return c.Do(context.Background(), Call{Method: method, Route: route, Args: args}, nil)
		}
	}
	raw := func(address string) func(*Client) error {
		return func(c *Client) error {
			status, _, err := send(context.Background(), c.HTTPClient(), http.MethodGet, address, "")
			if err == nil && status != http.StatusOK {
				err = ErrRateLimited
			}
			return err
		}
	}
	const home, blob, tags = "https://forge.example.com", "/projects/:id/repository/blobs/:sha", "/projects/:id/registry/repositories/:repository_id/tags"
	calls := []struct {
		name string
		key  string // of the calls that are delayed together; those below api/ are delayed with api, too
		call func(*Client) error
	}{
		{"API", "api", do("GET", safeRoute, ID(1), ID(2))},
		{"API, write", "api", do("POST", onceRoute, ID(1), ID(2))},
		{"API, raw", "api", raw(home + "/api/v4/user")},
		{"GraphQL", "api", raw(home + "/api/graphql")},
		{"archive", "api/archive", do("GET", archiveRoute, ID(1), Text("zip"))},
		{"archive, another project", "api/archive", do("GET", archiveRoute, ID(2), Text("zip"))},
		{"archive, raw", "api/archive", raw(home + "/api/v4/projects/3/repository/archive.zip")},
		{"blob", "api/blob 1", do("GET", blob, ID(1), Text("a"))},
		{"blob, raw", "api/blob 1", raw(home + "/api/v4/projects/1/repository/blobs/b")},
		{"blob, another project", "api/blob 2", do("GET", blob, ID(2), Text("a"))},
		{"deletion", "api/tags 3", do("DELETE", tags, ID(1), ID(3))},
		{"deletion, another repository", "api/tags 4", do("DELETE", tags, ID(1), ID(4))},
		{"registry", "registry", do("GET", "/v2/_catalog")},
		{"registry tokens", "registry tokens", do("GET", "/jwt/auth")},
		{"host A", "a", raw("https://a.example.com/x")},
		{"host A, another path", "a", raw("https://A.example.com/api/v4/user")},
		{"host A, another port", "a:8443", raw("https://a.example.com:8443/x")},
		{"host B", "b", raw("https://b.example.com/x")},
	}
	for _, limited := range calls {
		for _, other := range calls {
			synctest.Test(t, func(t *testing.T) {
				requests := 0
				c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), WithRegistry("https://registry.example.com", "https://tokens.example.com"),
					statuses(func(*http.Request) (int, http.Header) {
						if requests++; requests == 1 {
							return 429, headers("Retry-After", "20")
						}
						return 200, nil
					}))
				require.ErrorIs(t, limited.call(c), ErrRateLimited, limited.name)
				began := time.Now()
				require.NoError(t, other.call(c), other.name)
				delayed := other.key == limited.key || strings.HasPrefix(other.key, limited.key+"/")
				assert.Equal(t, delayed, time.Since(began) >= 20*time.Second, "a 429 of %s, then %s", limited.name, other.name)
				assert.Equal(t, 2, requests)
			})
		}
	}
}

// Requests are retried by the class of their route, or else of their method.
func TestHTTPClientRetries(t *testing.T) {
	for _, c := range []struct {
		method, path string
		attempts     int
	}{
		{"GET", "/api/v4/anything", 4},
		{"PUT", "/elsewhere", 4},
		{"POST", "/api/v4/anything", 1},
		{"POST", "/api/graphql", 1},
		{"POST", "/api/v4/projects/group%2Fapp/issues/5/subscribe", 4},
		{"POST", "/api/v4/projects/group%2Fapp/issues/5/add_spent_time", 1},
		{"DELETE", "/api/v4/projects/1/registry/repositories/2/tags", 1},
		{"DELETE", "/api/v4/projects/1/registry/repositories/2/tags/v1", 4},
	} {
		for name, fault := range map[string]act{"503": say(503, "{}"), "reset": reset("")} {
			t.Run(c.method+c.path+name, func(t *testing.T) {
				w := newWire(t, always(fault))
				status, _, err := send(t.Context(), wireClient(t, w.url).HTTPClient(), c.method, w.url+c.path, map[bool]string{true: "body"}[c.method != "GET"])
				if name == "503" {
					require.NoError(t, err)
					assert.Equal(t, 503, status)
				} else {
					failed := asError(t, err)
					assert.Equal(t, c.method != "GET", failed.MaybeApplied)
				}
				assert.Len(t, w.seen(), c.attempts)
				for _, s := range w.seen() {
					assert.Equal(t, w.seen()[0].body, s.body)
				}
			})
		}
	}
}

// The end of the context during a wait is an error, not the response before it.
func TestHTTPClientContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	w := newWire(t, func(seen) act {
		return func(conn net.Conn) bool {
			ok := say(503, "{}", "Retry-After: 30")(conn)
			time.AfterFunc(20*time.Millisecond, func() { cancel(errors.New("enough")) })
			return ok
		}
	})
	_, _, err := send(ctx, wireClient(t, w.url).HTTPClient(), "GET", w.url, "")
	require.ErrorIs(t, err, context.Canceled)
	assert.Len(t, w.seen(), 1)
}

// A 409 that reports a lock is retried, and another one is returned with its whole body.
func TestHTTPClientLocks(t *testing.T) {
	long := `{"message":"taken"}` + strings.Repeat(" ", 2*maxErrorBody)
	w := newWire(t, script(say(409, `{"message":"Resource lock"}`, jsonType), say(409, long, jsonType)))
	status, text, err := send(t.Context(), wireClient(t, w.url).HTTPClient(), "POST", w.url+"/api/v4/x", "body")
	require.NoError(t, err)
	assert.Equal(t, 409, status)
	assert.True(t, bytes.Equal([]byte(long), []byte(text)))
	assert.Len(t, w.seen(), 2)
	const used = `{"message":"You can run this at most once an hour"}`
	var seen []Attempt
	w = newWire(t, always(say(400, used, jsonType)))
	c := wireClient(t, w.url, WithOnAttempt(func(_ context.Context, a Attempt) { seen = append(seen, a) }))
	status, text, err = send(t.Context(), c.HTTPClient(), "DELETE", w.url+"/api/v4/projects/1/registry/repositories/2/tags", "")
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprint(400, used), fmt.Sprint(status, text))
	require.Len(t, seen, 1)
	require.ErrorContains(t, seen[0].Err, "once an hour", "a 400 may report a quota")
}
