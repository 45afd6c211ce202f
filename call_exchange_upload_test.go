package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// A panic of the caller's code is raised in the goroutine that makes the call, with the same value,
// and no goroutine stays.
func TestUploadPanics(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for _, p := range places() {
			t.Run(p.name, func(t *testing.T) {
				value := errors.New("of the caller")
				file, opts := p.make(func() { panic(value) })
				o := ends(t, func() error { return exec(t.Context(), uploadOf(c, file), opts) })
				assert.Equal(t, callOutcome{panicked: value}, o)
			})
		}
		assert.Zero(t, s.count(), "a server received a complete request")
	})
}

// A reader that never returns data, or returns invalid results, causes an error.
func TestUploadBadReaders(t *testing.T) {
	broken := errors.New("the disk is broken")
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for name, test := range map[string]struct {
			reader io.Reader
			is     error
			text   string
		}{
			"nothing":      {readFunc(func([]byte) (int, error) { return 0, nil }), io.ErrNoProgress, ""},
			"negative":     {readFunc(func([]byte) (int, error) { return -1, nil }), nil, "Read returned -1"},
			"too much":     {readFunc(func(p []byte) (int, error) { return len(p) + 1, nil }), nil, "Read returned"},
			"error":        {iotest.ErrReader(broken), broken, "the file cannot be read"},
			"half":         {io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), broken, "the file cannot be read"},
			"with an EOF":  {iotest.DataErrReader(strings.NewReader("abc")), io.ErrUnexpectedEOF, "shorter"},
			"with a cause": {iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("abcd"))), iotest.ErrTimeout, "the file cannot be read"},
		} {
			o := ends(t, func() error { return exec(t.Context(), uploadOf(c, FileReader(test.reader, 4)), nil) })
			require.Error(t, o.err, name)
			require.ErrorContains(t, o.err, test.text, name)
			if test.is != nil {
				require.ErrorIs(t, o.err, test.is, name)
			}
		}
		assert.Zero(t, s.count(), "a server received a complete request")
		for name, reader := range map[string]io.Reader{
			"slow": iotest.OneByteReader(strings.NewReader("abcd")), "half": iotest.HalfReader(strings.NewReader("abcd")),
			"EOF with data": iotest.DataErrReader(strings.NewReader("abcd")), "some nothing": &hesitant{Reader: strings.NewReader("abcd"), times: 99},
		} {
			require.NoError(t, exec(t.Context(), uploadOf(c, FileReader(reader, 4)), nil), name)
		}
		assert.Equal(t, 4, s.count())
	})
}

// The caller's reader is closed once, and never during a read. Data that it writes after the end of
// the call is discarded.
func TestUploadClosesOnce(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, _ *uploadServer) {
		content := bytes.Repeat([]byte("0123456789abcdef"), 40<<10)
		for _, how := range []string{"whole", "cancelled", "broken"} {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			release, reached, n := make(chan struct{}), make(chan struct{}), 0
			source := bytes.NewReader(content)
			w := &watched{t: t}
			w.read = func(p []byte) (int, error) {
				if n++; n == 3 {
					switch how {
					case "cancelled":
						close(reached)
						<-release
						clear(p) // p belongs to the caller's reader during the read
						return len(p), nil
					case "broken":
						return 0, errors.New("broken")
					}
				}
				return source.Read(p)
			}
			file := File{Name: "a", Size: int64(len(content)), Open: func() (io.ReadCloser, error) { return w, nil }}
			if how == "cancelled" {
				go func() {
					<-reached
					cancel()
				}()
			}
			o := ends(t, func() error { return exec(ctx, uploadOf(c, file), nil) })
			assert.Equal(t, how == "whole", o.err == nil, "%s: %v", how, o.err)
			if how == "cancelled" {
				assert.Zero(t, w.closed.Load(), "closed while it is read")
			}
			if how == "whole" {
				assert.EqualValues(t, 1, w.closed.Load(), "closed before the call returns")
			}
			close(release)
			assert.Eventually(t, func() bool { return w.closed.Load() == 1 }, time.Minute, time.Millisecond, how)
		}
	})
}

// An error of Close is an error of the call, since the content may be wrong.
func TestUploadCloseFails(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		broken := errors.New("closed too early")
		file := File{Name: "a", Size: 3, Open: func() (io.ReadCloser, error) {
			return failingCloser{strings.NewReader("abc"), broken}, nil
		}}
		require.ErrorIs(t, exec(t.Context(), uploadOf(c, file), nil), broken)
		assert.Zero(t, s.count())
	})
}

// A call whose server responds before it has the body does not wait for the caller's code.
func TestUploadEarlyResponse(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		s.early = true
		for _, p := range places()[:2] {
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			file, opts := p.make(func() { <-release })
			o := ends(t, func() error { return exec(t.Context(), uploadOf(c, file), opts) })
			require.ErrorIs(t, o.err, ErrForbidden)
		}
	})
}

// Progress receives the number of bytes that were read, up to the total. Its calls are not
// concurrent, and there is none after the call has returned.
func TestUploadProgressOfReaders(t *testing.T) {
	content := bytes.Repeat([]byte("x"), 300_000)
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for name, file := range map[string]File{
			"FileReader": FileReader(bytes.NewReader(content), int64(len(content))), "FileBytes": FileBytes(content), "FileAt": FileAt(path),
			"small reads": FileReader(iotest.HalfReader(bytes.NewReader(content)), int64(len(content))),
		} {
			var last, total int64 // without a lock: the calls are one after the other, and before the return
			require.NoError(t, exec(t.Context(), uploadOf(c, file), []RequestOption{Progress(func(done, all int64) {
				assert.Greater(t, done, last, name)
				last, total = done, all
			})}), name)
			assert.Equal(t, total, last, name)
			assert.Equal(t, s.lengths[len(s.lengths)-1], total, name)
		}
	})
}

// After the transport has a response, no call of Progress begins, and a running one ends before the
// call returns.
func TestUploadProgressEnds(t *testing.T) {
	for _, readsOn := range []bool{false, true} {
		var finished, over bool
		started := make(chan struct{})
		c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = req.Body.Read(make([]byte, 1))
			}()
			<-started
			body := io.Reader(strings.NewReader(""))
			if readsOn {
				body = readFunc(func([]byte) (int, error) {
					over = true
					<-done
					_, _ = io.Copy(io.Discard, req.Body)
					return 0, io.EOF
				})
			}
			return &http.Response{StatusCode: 403, Header: http.Header{}, Body: io.NopCloser(body), Request: req}, nil
		}))
		err := exec(t.Context(), uploadOf(c, FileBytes(make([]byte, 100))), []RequestOption{Progress(func(int64, int64) {
			assert.False(t, over, "Progress was called after the response")
			if !finished {
				close(started)
				time.Sleep(20 * time.Millisecond)
				finished = true
			}
		})})
		require.ErrorIs(t, err, ErrForbidden)
		assert.True(t, finished)
		assert.Equal(t, readsOn, over)
	}
}

// A call returns when its context ends, even if the caller's code blocks. Only the goroutine in the
// caller's function remains until the function returns. No goroutine of net/http waits.
func TestUploadBlocks(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for _, p := range slices.DeleteFunc(places(), func(p place) bool { return strings.HasPrefix(p.name, "Open") }) {
			for _, want := range []error{context.Canceled, context.DeadlineExceeded} {
				release := make(chan struct{})
				ctx, cancel := context.WithCancel(t.Context())
				if want == context.DeadlineExceeded { //nolint:errorlint // it is that value
					ctx, cancel = expiring(t.Context())
				}
				file, opts := p.make(func() { cancel(); <-release })
				o := ends(t, func() error { return exec(ctx, uploadOf(c, file), opts) })
				require.ErrorIs(t, o.err, want, p.name)
				asError(t, o.err)
				assert.Eventually(t, func() bool { return goroutines("conn.(*Upload).Read") == 0 }, time.Minute, time.Millisecond, p.name)
				assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == 1 }, time.Minute, time.Millisecond, p.name)
				close(release)
				assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == 0 }, time.Minute, time.Millisecond, p.name)
			}
		}
		assert.Zero(t, s.count(), "a server received a complete request")
	})
}

// No goroutine stays if a transport violates its contract and does not close the body.
func TestUploadOfACarelessTransport(t *testing.T) {
	for _, fail := range []string{"", "error", "panic"} {
		c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
			_, _ = req.Body.Read(make([]byte, 1))
			switch fail {
			case "error":
				return nil, io.ErrUnexpectedEOF
			case "panic":
				panic(fail)
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		}))
		o := ends(t, func() error {
			return exec(t.Context(), uploadOf(c, FileReader(iotest.OneByteReader(neverEnding(0)), 1<<40)), nil)
		})
		assert.Equal(t, fail == "", o.returned && o.err == nil, "%s: %+v", fail, o)
		assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == 0 }, time.Minute, time.Millisecond, fail)
	}
}

// A 2xx is not a success if the body could not be read to its end: net/http returns the response if
// it arrives together with the error of the body. An error after the transport has closed the body
// does not count as an error of the body.
func TestUploadHalfRead(t *testing.T) {
	broken := errors.New("the disk is broken")
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	half := FileAt(path)
	half.Size = 2
	for name, test := range map[string]struct {
		file func() File
		is   error
	}{
		"reader": {func() File { return FileReader(io.MultiReader(strings.NewReader("ab"), iotest.ErrReader(broken)), 4) }, broken},
		"file":   {func() File { return half }, io.ErrUnexpectedEOF},
	} {
		for _, status := range []int{200, 201, 204, 403} {
			var closed bool
			c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
				_, _ = io.Copy(io.Discard, req.Body)
				_ = req.Body.Close()
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: readCloser{strings.NewReader(""), func() { closed = true }}, Request: req}, nil
			}))
			err := exec(t.Context(), uploadOf(c, test.file()), nil)
			assert.True(t, closed)
			if status == 403 {
				require.ErrorIs(t, err, ErrForbidden)
				continue
			}
			require.ErrorIs(t, err, test.is, name)
			assert.True(t, asError(t, err).MaybeApplied)
		}
	}
	sent := 0
	refusing := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		sent++
		_, _ = io.Copy(io.Discard, req.Body)
		return &http.Response{StatusCode: 429, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}))
	require.ErrorIs(t, exec(t.Context(), uploadOf(refusing, half), nil), ErrRateLimited)
	assert.Equal(t, 1, sent, "another attempt would have the same length")
	early := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		one := make([]byte, 1)
		_, _ = req.Body.Read(one)
		_ = req.Body.Close()
		_, err := io.Copy(io.Discard, req.Body)
		assert.Error(t, err)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}))
	require.NoError(t, exec(t.Context(), uploadOf(early, FileReader(iotest.OneByteReader(strings.NewReader("abc")), 3)), nil), "the server did not read more")
	require.NoError(t, exec(t.Context(), uploadOf(early, FileAt(path)), nil))
}

// Each hop of a redirect and each attempt reads the file from its start.
func TestUploadPumpedAgain(t *testing.T) {
	var hops int
	var bodies []string
	var mu sync.Mutex
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
		switch hops++; hops {
		case 1:
			http.Redirect(w, r, r.URL.Path+"/moved", http.StatusTemporaryRedirect)
		case 2:
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(srv.Close)
	var opened, closed atomic.Int32
	file := File{Name: "a", Size: 7, Open: func() (io.ReadCloser, error) {
		opened.Add(1)
		return readCloser{iotest.HalfReader(strings.NewReader("content")), func() { closed.Add(1) }}, nil
	}}
	var starts, last int64
	require.NoError(t, sendFile(t, wireClient(t, srv.URL), file, Progress(func(done, _ int64) {
		if done < last || last == 0 {
			starts++
		}
		last = done
	})))
	assert.EqualValues(t, 3, starts, "Progress starts at zero with each of them")
	assert.Equal(t, 3, hops)
	assert.EqualValues(t, 3, opened.Load())
	assert.EqualValues(t, 3, closed.Load())
	assert.Contains(t, bodies[0], "content")
	assert.Equal(t, []string{bodies[0], bodies[0], bodies[0]}, bodies)
}

// net/http must not send a body again by itself. Other transports may read a body that can be read
// twice.
func TestGetBody(t *testing.T) {
	open := bytesPayload("", []byte("x")).open
	for _, once := range []bool{false, true} {
		_, err := getBody(&payload{open: open, once: once}, true)()
		require.ErrorIs(t, err, conn.ErrNotProcessed)
	}
	assert.Nil(t, getBody(&payload{open: open, once: true}, false))
	body, err := getBody(&payload{open: open}, false)()
	require.NoError(t, err)
	text, err := io.ReadAll(body)
	require.NoError(t, err)
	assert.Equal(t, "x", string(text))
}
