package forge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
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

// stuck returns the connection to a server in memory that reads the head of a request, and nothing
// more, and never responds.
func stuck(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	go http.ReadRequest(bufio.NewReader(theirs)) // until the connection ends
	return ours, nil
}

// stuckClient returns a client of such a server, for a bubble of synctest.
func stuckClient(t *testing.T, address string) *Client {
	t.Helper()
	return wireClient(t, address, WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: stuck}}))
}

func uploadOf(c *Client, file File) *request {
	return service{c.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(nil, "file", file)
}

var bigFile = FileBytes(make([]byte, 16<<20))

// stage is a place where a call can hang, in a bubble of synctest.
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
			return stats(pipedWire(t, always(a)).client(t, options...))
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
		{"TLS", func(t *testing.T) func(context.Context) error {
			return stats(stuckClient(t, "https://forge.example.com"))
		}},
		{"header", hanging(silent(""))},
		{"half a header", hanging(silent("HTTP/1.1 200 OK\r\nContent-"))},
		{"body", hanging(silent(jsonHead + "{"))},
		{"error body", hanging(silent(errorHead + "{"))},
		{"redirect body", hanging(silent("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 1000\r\n\r\n"))},
		{"backoff", hanging(say(502, ""), WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour}))},
		{"Retry-After", hanging(say(429, "", "Retry-After: 50"))},
		{"gate", func(t *testing.T) func(context.Context) error {
			c := pipedWire(t, always(say(429, "", "Retry-After: 50"))).client(t)
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
			w := pipedWire(t, always(silent("")))
			config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: w.url, AuthStyle: oauth2.AuthStyleInParams}}
			return stats(w.client(t, WithOAuth(config, expired("r1"))))
		}},
		{"upload", func(t *testing.T) func(context.Context) error {
			c := stuckClient(t, "http://127.0.0.1")
			return func(ctx context.Context) error { return exec(ctx, uploadOf(c, bigFile), nil) }
		}},
		{"Download.Read", func(t *testing.T) func(context.Context) error {
			c := pipedWire(t, always(silent(jsonHead+"half"))).client(t)
			return func(ctx context.Context) error { return runners[3].run(ctx, c) }
		}},
		{"list", func(t *testing.T) func(context.Context) error {
			c := pipedWire(t, always(silent(jsonHead+"["))).client(t)
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

// Cancellation ends a call immediately, at each place where it can hang, and no goroutine stays
// behind. TestSilence has the same over TCP.
func TestCancelAnywhere(t *testing.T) {
	for _, s := range stages() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				call, began := s.call(t), time.Now()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(10*time.Second, cancel)
				err := call(ctx)
				require.ErrorIs(t, err, context.Canceled)
				asError(t, err)
				assert.Equal(t, 10*time.Second, time.Since(began))
			})
		})
	}
}

// A deadline ends a call as a cancellation does, but with another error.
func TestDeadlineAnywhere(t *testing.T) {
	for _, s := range stages() {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				call, began := s.call(t), time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				require.ErrorIs(t, call(ctx), context.DeadlineExceeded)
				assert.LessOrEqual(t, time.Since(began), 10*time.Second)
			})
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
			synctest.Test(t, func(t *testing.T) {
				c, opts := pipedWire(t, always(silent(""))).client(t), []RequestOption{HeaderTimeout(20 * time.Second)}
				if !option {
					c, opts = withLimits(c, 20*time.Second, time.Hour), nil
				}
				err := c.Do(t.Context(), callOf(k), nil, opts...)
				require.ErrorIs(t, err, ErrTimeout)
				require.ErrorContains(t, err, "no response within 20s")
				e := asError(t, err)
				assert.Equal(t, []int{4, 4, 1}[i], e.Attempts)
				assert.Equal(t, k != ClassSafe, e.MaybeApplied)
				require.NotErrorIs(t, err, context.Canceled)
			})
		}
	}
}

// Limits: an attempt ends if no bytes arrive within a body. It does not end while bytes arrive,
// even if the whole body takes long.
func TestStallInResponse(t *testing.T) {
	inStall := func(class RetryClass, a act) (err error) {
		synctest.Test(t, func(t *testing.T) {
			err = withLimits(pipedWire(t, always(a)).client(t), time.Hour, 20*time.Second).Do(t.Context(), callOf(class), new(any))
		})
		return err
	}
	err := inStall(ClassSafe, silent(jsonHead+"{"))
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorContains(t, err, "stalled for 20s")
	assert.Equal(t, 4, asError(t, err).Attempts)

	err = inStall(ClassNonIdempotent, silent(errorHead))
	require.ErrorIs(t, err, ErrServer) // the status is the result, even without its body
	assert.Equal(t, 500, asError(t, err).Status)

	require.NoError(t, inStall(ClassSafe, func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, jsonHead)
		for range 50 {
			time.Sleep(19 * time.Second)
			_, _ = io.WriteString(conn, strings.Repeat(" ", 19))
		}
		_, err := io.WriteString(conn, strings.Repeat(" ", 48)+"{}")
		return err == nil
	}))
}

// Limits: a pause of the caller between reads has no limit; a pause of the server during a Read has
// one.
func TestStallInDownload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		wanted := make(chan string, 2)
		w := pipedWire(t, always(func(conn net.Conn) bool {
			_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n")
			for range 2 {
				_, _ = io.WriteString(conn, <-wanted)
			}
			return silent("")(conn)
		}))
		d, err := openArchive(t.Context(), w.client(t))
		require.NoError(t, err)
		defer d.Close()
		buffer := make([]byte, 2)
		for _, part := range []string{"ha", "lf"} {
			time.Sleep(time.Hour)
			wanted <- part
			_, err := io.ReadFull(d, buffer)
			require.NoError(t, err)
			require.Equal(t, part, string(buffer))
		}
		_, err = d.Read(buffer)
		require.ErrorIs(t, err, ErrTimeout)
		assert.Equal(t, archiveRoute, asError(t, err).Route)
	})
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
	synctest.Test(t, func(t *testing.T) {
		err := exec(t.Context(), uploadOf(withLimits(stuckClient(t, "http://127.0.0.1"), time.Hour, time.Minute), bigFile), nil)
		require.ErrorIs(t, err, ErrTimeout)
		require.ErrorContains(t, err, "stalled")
		assert.True(t, asError(t, err).MaybeApplied)

		source := slowly{bytes.NewReader(make([]byte, 4)), time.Hour}
		require.NoError(t, exec(t.Context(), uploadOf(pipedWire(t, always(sayJSON("{}"))).client(t), FileReader(source, 4)), nil))
	})
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
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: lateReader{req}, Request: req}, nil
		}))
		err := withLimits(c, 2*time.Hour, time.Minute).Do(ctx, callOf(ClassNonIdempotent), new(any))
		require.ErrorIs(t, err, ErrTimeout)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
	})
}

// Limits: a call with a body waits as long for a connection as a call without a body.
func TestHeaderTimeoutWithoutConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(silent("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")))
		c := wireClient(t, w.url, WithHTTPClient(&http.Client{Transport: &http.Transport{MaxConnsPerHost: 1, DialContext: w.dial}}))
		d, err := openArchive(t.Context(), c)
		require.NoError(t, err)
		defer d.Close()
		for _, k := range []RetryClass{ClassSafe, ClassNonIdempotent} {
			err := c.Do(t.Context(), callOf(k), nil, HeaderTimeout(20*time.Second))
			require.ErrorIs(t, err, ErrTimeout)
			assert.False(t, asError(t, err).MaybeApplied)
			assert.Equal(t, 4, asError(t, err).Attempts, "nothing was sent")
		}
	})
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
	synctest.Test(t, func(t *testing.T) {
		w := pipedWire(t, always(func(conn net.Conn) bool {
			_, _ = io.WriteString(conn, okHead+"\r\n")
			for {
				if _, err := io.WriteString(conn, " "); err != nil {
					return false
				}
				time.Sleep(time.Second)
			}
		}))
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := timeStats(ctx, w.client(t))
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 1, asError(t, err).Attempts)
		assert.Equal(t, time.Hour, time.Since(began))
	})
}
