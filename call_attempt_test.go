package forge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/forge-sdk/forge-go/internal/pipenet"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
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

// stages are the places where a call can wait without a peer that is silent: TestSilence has the others.
func stages() map[string]func(*testing.T, Option) func(context.Context) error {
	hanging := func(a act, options ...Option) func(*testing.T, Option) func(context.Context) error {
		return func(t *testing.T, log Option) func(context.Context) error {
			return stats(pipedWire(t, always(a)).client(t, append(options, log)...))
		}
	}
	blocked := func(t *testing.T) func() error {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		return func() error { <-release; return net.ErrClosed }
	}
	return map[string]func(*testing.T, Option) func(context.Context) error{
		"dial": func(t *testing.T, log Option) func(context.Context) error {
			wait := blocked(t)
			return stats(wireClient(t, "http://127.0.0.1:1", log, WithHTTPClient(&http.Client{Transport: &http.Transport{
				DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, wait() },
			}})))
		},
		"response":    hanging(silent("")),
		"backoff":     hanging(say(502, ""), WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour})),
		"Retry-After": hanging(say(429, "", "Retry-After: 50")),
		"gate": func(t *testing.T, log Option) func(context.Context) error {
			c := pipedWire(t, always(say(429, "", "Retry-After: 50"))).client(t)
			_ = c.Do(t.Context(), callOf(RetryClassSafe), nil, Retry(RetryPolicy{MaxAttempts: 1}))
			c, err := c.With(log)
			require.NoError(t, err)
			return stats(c)
		},
		"limiter": hanging(silent(""), WithLimiter(waitFunc(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }))),
		"token source": func(t *testing.T, log Option) func(context.Context) error {
			wait := blocked(t)
			return stats(wireClient(t, "http://127.0.0.1:1", log, WithTokenSource(tokenSource(func() (*oauth2.Token, error) { return nil, wait() }))))
		},
	}
}

// Cancellation and a deadline end a call immediately, at each place where it can wait, and no
// goroutine stays behind. The caller's cancellation is not a failure of the server: there is no
// warning, and the text states who ended the call. A deadline may be the server's fault.
func TestCancelAnywhere(t *testing.T) {
	for name, stage := range stages() {
		for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var log bytes.Buffer
					call, began := stage(t, WithLogger(slog.New(slog.NewTextHandler(&log, nil)))), time.Now()
					canceled := want == context.Canceled //nolint:errorlint // it is that value
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					if canceled {
						ctx, cancel = context.WithCancel(t.Context())
						time.AfterFunc(10*time.Second, cancel)
					}
					err := call(ctx)
					require.ErrorIs(t, err, want)
					asError(t, err)
					assert.LessOrEqual(t, time.Since(began), 10*time.Second)
					assert.Equal(t, canceled, strings.Contains(err.Error(), "the caller canceled the context"), err)
					assert.Equal(t, !canceled, strings.Contains(log.String(), "level=WARN"), log.String())
					assert.Equal(t, name == "Retry-After" || name == "gate" || name == "limiter" && !canceled, errors.Is(err, ErrRateLimited), err)
				})
			})
		}
	}
}

func stats(c *Client) func(context.Context) error {
	return func(ctx context.Context) error { return c.Do(ctx, callOf(RetryClassSafe), new(any)) }
}

// withLimits shortens the client's limits to milliseconds.
func withLimits(c *Client, header, stall time.Duration) *Client {
	c.core.config.limits.Header, c.core.config.limits.Stall = header, stall
	return c
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

// Limits: an upload ends if the server does not read it, with and without a goroutine that reads the
// caller's source; a slow source has no limit. The bytes that were sent are counted.
func TestStallInUpload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 16 << 20
		for _, file := range []File{FileBytes(make([]byte, size)), FileReader(iotest.HalfReader(bytes.NewReader(make([]byte, size))), size)} {
			c := withLimits(stuckClient(t, "http://127.0.0.1"), time.Hour, time.Minute)
			err := exec(t.Context(), uploadOf(c, file), nil)
			require.ErrorIs(t, err, ErrTimeout)
			require.ErrorContains(t, err, "stalled for 1m0s")
			require.ErrorContains(t, err, "check before sending it again")
			assert.True(t, asError(t, err).MaybeApplied)
			assert.Positive(t, c.Stats().BytesSent)
			assert.Less(t, c.Stats().BytesSent, int64(size))
		}
	})
	for _, http2 := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, s := startUploads(t, http2, pipenet.Listen())
			source := slowly{bytes.NewReader(make([]byte, 4)), time.Hour}
			require.NoError(t, exec(t.Context(), uploadOf(c, FileReader(source, 4)), nil), "a slow source is not a stall")
			assert.Equal(t, s.lengths[0], c.Stats().BytesSent)
		})
	}
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
		err := withLimits(c, 2*time.Hour, time.Minute).Do(ctx, callOf(RetryClassNonIdempotent), new(any))
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
		for _, k := range []RetryClass{RetryClassSafe, RetryClassNonIdempotent} {
			err := c.Do(t.Context(), callOf(k), nil, HeaderTimeout(20*time.Second))
			require.ErrorIs(t, err, ErrTimeout)
			assert.False(t, asError(t, err).MaybeApplied)
			assert.Equal(t, 4, asError(t, err).Attempts, "nothing was sent")
		}
	})
}

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
