package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

const (
	jsonHead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
	errorHead = "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 1000\r\n\r\n"
)

// stuck is a listener that never reads from its connections and never responds.
func stuck(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	var conns []net.Conn
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
			conns = append(conns, conn)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-done
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	return listener.Addr().String()
}

func uploadOf(c *Client, file File) *request {
	return service{c.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(nil, "file", file)
}

var bigFile = FileBytes(make([]byte, 16<<20))

// stage is a place where a call can hang.
type stage struct {
	name string
	call func(t *testing.T) func(context.Context) error
}

func stats(c *Client) func(context.Context) error {
	return func(ctx context.Context) error { return c.Do(ctx, callOf(ClassSafe), new(any)) }
}

func stages() []stage {
	hanging := func(a act, options ...Option) func(*testing.T) func(context.Context) error {
		return func(t *testing.T) func(context.Context) error {
			return stats(wireClient(t, newWire(t, always(a)).url, options...))
		}
	}
	return []stage{
		{"dial", func(t *testing.T) func(context.Context) error {
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			return stats(wireClient(t, "http://127.0.0.1:1", WithHTTPClient(&http.Client{Transport: &http.Transport{
				DialContext: func(context.Context, string, string) (net.Conn, error) {
					<-release
					return nil, net.ErrClosed
				},
			}})))
		}},
		{"TLS", func(t *testing.T) func(context.Context) error { return stats(wireClient(t, "https://"+stuck(t))) }},
		{"header", hanging(silent(""))},
		{"half a header", hanging(silent("HTTP/1.1 200 OK\r\nContent-"))},
		{"body", hanging(silent(jsonHead + "{"))},
		{"error body", hanging(silent(errorHead + "{"))},
		{"redirect body", hanging(silent("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 1000\r\n\r\n"))},
		{"backoff", hanging(say(502, ""), WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}))},
		{"Retry-After", hanging(say(429, "", "Retry-After: 50"))},
		{"gate", func(t *testing.T) func(context.Context) error {
			c := wireClient(t, newWire(t, always(say(429, "", "Retry-After: 50"))).url)
			_ = c.Do(t.Context(), callOf(ClassSafe), nil, Retry(RetryPolicy{MaxAttempts: 1}))
			return stats(c)
		}},
		{"limiter", hanging(silent(""), WithLimiter(waiting{}))},
		{"token source", func(t *testing.T) func(context.Context) error {
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			return stats(wireClient(t, "http://127.0.0.1:1", WithTokenSource(tokenSource(func() (*oauth2.Token, error) {
				<-release
				return nil, net.ErrClosed
			}))))
		}},
		{"token endpoint", func(t *testing.T) func(context.Context) error {
			_, config := tokenServer(t, func(url.Values, int) act { return silent("") })
			return stats(wireClient(t, "http://127.0.0.1:1", WithOAuth(config, expired("r1"))))
		}},
		{"upload", func(t *testing.T) func(context.Context) error {
			c := wireClient(t, "http://"+stuck(t))
			return func(ctx context.Context) error { return exec(ctx, uploadOf(c, bigFile), nil) }
		}},
		{"Download.Read", func(t *testing.T) func(context.Context) error {
			c := wireClient(t, newWire(t, always(silent(jsonHead+"half"))).url)
			return func(ctx context.Context) error { return runners[3].run(ctx, c) }
		}},
		{"list", func(t *testing.T) func(context.Context) error {
			c := wireClient(t, newWire(t, always(silent(jsonHead+"["))).url)
			return func(ctx context.Context) error { return runners[2].run(ctx, c, Ahead(3)) }
		}},
	}
}

// waiting is a limiter that never lets a request pass.
type waiting struct{}

func (waiting) Wait(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// Cancellation ends a call within 100 ms, at each place where it can hang, and no goroutine stays
// (goleak, in TestMain). A busy machine may be late, so one of three attempts must be in time.
func TestCancelAnywhere(t *testing.T) {
	for _, s := range stages() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			call, took := s.call(t), time.Hour
			for try := 0; try < 3 && took > 100*time.Millisecond; try++ {
				ctx, cancel := context.WithCancel(t.Context())
				var cancelled time.Time
				timer := time.AfterFunc(40*time.Millisecond, func() {
					cancelled = time.Now()
					cancel()
				})
				err := call(ctx)
				require.False(t, timer.Stop(), "the call did not hang: %v", err)
				<-ctx.Done()
				took = time.Since(cancelled)
				require.ErrorIs(t, err, context.Canceled)
				asError(t, err)
			}
			assert.Less(t, took, 100*time.Millisecond)
		})
	}
}

// A deadline ends a call as a cancellation does, but with another error.
func TestDeadlineAnywhere(t *testing.T) {
	for _, s := range stages() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			call := s.call(t)
			ctx, cancel := context.WithTimeout(t.Context(), 40*time.Millisecond)
			defer cancel()
			require.ErrorIs(t, call(ctx), context.DeadlineExceeded)
		})
	}
}

// withLimits shortens the client's limits to milliseconds.
func withLimits(c *Client, header, stall time.Duration) *Client {
	c.core.config.limits.Header, c.core.config.limits.Stall = header, stall
	return c
}

// Limits: an attempt that gets no response in time ends. It is retried if its class allows it, and
// its error names what it waited for.
func TestHeaderTimeout(t *testing.T) {
	for i, k := range []RetryClass{ClassSafe, ClassIdempotent, ClassNonIdempotent} {
		for _, option := range []bool{false, true} {
			w := newWire(t, script(sayJSON("{}"), silent("")))
			c, opts := wireClient(t, w.url), []RequestOption{HeaderTimeout(20 * time.Millisecond)}
			// A first call leaves an idle connection, so that the next one needs no time for a dial.
			require.NoError(t, c.Do(t.Context(), callOf(ClassSafe), nil))
			if !option {
				c, opts = withLimits(c, 20*time.Millisecond, time.Hour), nil
			}
			err := c.Do(t.Context(), callOf(k), nil, opts...)
			require.ErrorIs(t, err, ErrTimeout)
			require.ErrorContains(t, err, "no response within 20ms")
			e := asError(t, err)
			assert.Equal(t, []int{4, 4, 1}[i], e.Attempts)
			assert.Equal(t, k != ClassSafe, e.MaybeApplied)
			require.NotErrorIs(t, err, context.Canceled)
		}
	}
}

// Limits: an attempt ends if no bytes arrive within a body. It does not end while bytes arrive,
// even if the whole body takes long.
func TestStallInResponse(t *testing.T) {
	w := newWire(t, always(silent(jsonHead+"{")))
	err := withLimits(wireClient(t, w.url), time.Hour, 20*time.Millisecond).Do(t.Context(), callOf(ClassSafe), new(any))
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorContains(t, err, "stalled for 20ms")
	assert.Equal(t, 4, asError(t, err).Attempts)

	w = newWire(t, always(silent(errorHead)))
	err = withLimits(wireClient(t, w.url), time.Hour, 20*time.Millisecond).Do(t.Context(), callOf(ClassNonIdempotent), new(any))
	require.ErrorIs(t, err, ErrServer) // the status is the result, even without its body
	assert.Equal(t, 500, asError(t, err).Status)

	w = newWire(t, always(func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, jsonHead)
		for range 50 {
			time.Sleep(8 * time.Millisecond)
			_, _ = io.WriteString(conn, strings.Repeat(" ", 19))
		}
		_, err := io.WriteString(conn, strings.Repeat(" ", 48)+"{}")
		return err == nil
	}))
	require.NoError(t, withLimits(wireClient(t, w.url), time.Hour, 200*time.Millisecond).Do(t.Context(), callOf(ClassSafe), new(any)))
}

// Limits: a pause of the caller between reads has no limit; a pause of the server during a Read has
// one.
func TestStallInDownload(t *testing.T) {
	const stall = 100 * time.Millisecond
	wanted := make(chan string, 2)
	w := newWire(t, always(func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n")
		for range 2 {
			_, _ = io.WriteString(conn, <-wanted)
		}
		return silent("")(conn)
	}))
	d, err := openArchive(t.Context(), withLimits(wireClient(t, w.url), 5*stall, stall))
	require.NoError(t, err)
	defer d.Close()
	buffer := make([]byte, 2)
	time.Sleep(4 * stall) // longer than any limit; so are the two pauses below
	for _, part := range []string{"ha", "lf"} {
		time.Sleep(2 * stall)
		wanted <- part
		_, err := io.ReadFull(d, buffer)
		require.NoError(t, err)
		require.Equal(t, part, string(buffer))
	}
	_, err = d.Read(buffer)
	require.ErrorIs(t, err, ErrTimeout)
	assert.Equal(t, archiveRoute, asError(t, err).Route)
}

// slowly is a source that pauses before each read.
type slowly struct {
	io.Reader
	pause time.Duration
}

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(s.pause)
	return s.Reader.Read(p)
}

// Limits: an upload ends if the server does not read it; a slow source has no limit.
func TestStallInUpload(t *testing.T) {
	const stall = 40 * time.Millisecond
	c := withLimits(wireClient(t, "http://"+stuck(t)), time.Hour, stall)
	err := exec(t.Context(), uploadOf(c, bigFile), nil)
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorContains(t, err, "stalled")
	assert.True(t, asError(t, err).MaybeApplied)

	c = withLimits(wireClient(t, newWire(t, always(sayJSON("{}"))).url), time.Hour, stall)
	source := slowly{bytes.NewReader(make([]byte, 4)), 3 * stall}
	require.NoError(t, exec(t.Context(), uploadOf(c, FileReader(source, 4)), nil))
}

// lateReader is the body of an early response: while the transport still reads the upload, no byte
// of this body arrives.
type lateReader struct{ req *http.Request }

func (r lateReader) Read([]byte) (int, error) {
	_, _ = io.Copy(io.Discard, r.req.Body)
	<-r.req.Context().Done()
	return 0, r.req.Context().Err()
}

func (r lateReader) Close() error { return nil }

// Limits: an upload that continues after an early response does not extend the time limit of the
// response.
func TestStallAfterEarlyResponse(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: lateReader{req}, Request: req}, nil
	}))
	err := withLimits(c, time.Hour, 20*time.Millisecond).Do(ctx, callOf(ClassNonIdempotent), new(any))
	require.ErrorIs(t, err, ErrTimeout)
	require.NotErrorIs(t, err, context.DeadlineExceeded)
}

// Limits: a call with a body waits as long for a connection as a call without a body.
func TestHeaderTimeoutWithoutConnection(t *testing.T) {
	w := newWire(t, always(silent("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")))
	c := wireClient(t, w.url, WithHTTPClient(&http.Client{Transport: &http.Transport{MaxConnsPerHost: 1}}))
	d, err := openArchive(t.Context(), c)
	require.NoError(t, err)
	defer d.Close()
	for _, k := range []RetryClass{ClassSafe, ClassNonIdempotent} {
		err := c.Do(t.Context(), callOf(k), nil, HeaderTimeout(20*time.Millisecond))
		require.ErrorIs(t, err, ErrTimeout)
		assert.False(t, asError(t, err).MaybeApplied)
		assert.Equal(t, 4, asError(t, err).Attempts, "nothing was sent")
	}
}

// A transport that does not wait for the end of its context has no timer. If it fails after the
// limit, its error is also a timeout.
func TestTimeoutWithoutTimer(t *testing.T) {
	late := errors.New("late")
	for name, test := range map[string]struct {
		header, body time.Duration
		timeout      bool
	}{
		"in time":       {time.Minute - 1, time.Minute - 1, false},
		"a late header": {time.Minute, 0, true},
		"a late body":   {0, time.Minute, true},
	} {
		for kind, send := range map[string]func(ctx context.Context, c *Client) error{
			"a value": func(ctx context.Context, c *Client) error { return c.Do(ctx, callOf(ClassSafe), new(any)) },
			"a download": func(ctx context.Context, c *Client) error {
				d, err := c.Repositories.Archive(ctx, ID(1), nil)
				if err != nil {
					return err
				}
				defer d.Close()
				_, err = io.Copy(io.Discard, d)
				return err
			},
		} {
			t.Run(name+" of "+kind, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
						if time.Sleep(test.header); test.body == 0 {
							return nil, late
						}
						pause := test.body // only before the first bytes
						return &http.Response{StatusCode: http.StatusOK, Header: headers("Content-Type", "application/json"), ContentLength: -1, Request: req, Body: io.NopCloser(readerFunc(func([]byte) (int, error) {
							time.Sleep(pause)
							pause = 0
							return 0, late
						}))}, nil
					}))
					err := send(t.Context(), c)
					assert.Equal(t, test.timeout, errors.Is(err, ErrTimeout), "%v", err)
					assert.Equal(t, !test.timeout, errors.Is(err, late), "%v", err)
				})
			})
		}
	}
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// A server that sends byte by byte is not silent, so only the caller's context ends the call, and
// it does so immediately.
func TestDrip(t *testing.T) {
	w := newWire(t, always(func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, okHead+"\r\n")
		for {
			if _, err := io.WriteString(conn, " "); err != nil {
				return false
			}
			time.Sleep(time.Millisecond)
		}
	}))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	err := timeStats(ctx, wireClient(t, w.url))
	assert.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, 1, asError(t, err).Attempts)
}
