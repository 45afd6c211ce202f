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
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overBoth runs a test over HTTP/1.1 and over HTTP/2, against a server that reads uploads to their end.
func overBoth(t *testing.T, test func(t *testing.T, c *Client, s *uploadServer)) {
	t.Helper()
	for _, http2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP1", true: "HTTP2"}[http2], func(t *testing.T) {
			s := &uploadServer{}
			s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				assert.Equal(t, http2, r.ProtoMajor == 2)
				s.ServeHTTP(w, r)
			}))
			s.EnableHTTP2 = http2
			s.StartTLS()
			t.Cleanup(s.Close)
			roots := s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			transport := &http.Transport{ForceAttemptHTTP2: http2}
			transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
			transport.TLSClientConfig.RootCAs = roots
			transport.TLSClientConfig.NextProtos = nil
			c, err := NewClient(s.URL, WithToken(secret), WithRetry(impatient), WithHTTPClient(&http.Client{Transport: transport}))
			require.NoError(t, err)
			t.Cleanup(c.CloseIdleConnections)
			test(t, c, s)
		})
	}
}

// callOutcome is how a call ended: it returned, panicked, or ended its goroutine.
type callOutcome struct {
	err      error
	panicked any
	returned bool
}

// ends runs a call in a goroutine of its own, and fails the test when it does not end.
func ends(t *testing.T, call func() error) callOutcome {
	t.Helper()
	done := make(chan callOutcome, 1)
	go func() {
		var o callOutcome
		defer func() {
			if !o.returned {
				o.panicked = recover()
			}
			done <- o
		}()
		o.err = call()
		o.returned = true
	}()
	select {
	case o := <-done:
		return o
	case <-time.After(5 * time.Second):
		require.Fail(t, "the call does not end")
		return callOutcome{}
	}
}

// place is a piece of the caller's code that an upload runs, and what makes an upload of it.
type place struct {
	name string
	make func(act func()) (File, []RequestOption)
}

func places() []place {
	const content = "the content"
	return []place{
		{"Read", func(act func()) (File, []RequestOption) {
			return FileReader(readFunc(func([]byte) (int, error) { act(); return 0, io.EOF }), 4), nil
		}},
		{"Read in the middle", func(act func()) (File, []RequestOption) {
			return FileReader(io.MultiReader(strings.NewReader("half"), readFunc(func([]byte) (int, error) { act(); return 0, io.EOF })), 8), nil
		}},
		{"Open", func(act func()) (File, []RequestOption) {
			return File{Name: "a", Size: 4, Open: func() (io.ReadCloser, error) { act(); return nil, errors.New("opened nothing") }}, nil
		}},
		{"Open of a changed FileBytes", func(act func()) (File, []RequestOption) {
			file := FileBytes([]byte(content))
			open := file.Open
			file.Open = func() (io.ReadCloser, error) { act(); return open() }
			return file, nil
		}},
		{"Close", func(act func()) (File, []RequestOption) {
			return File{Name: "a", Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
				return readCloser{strings.NewReader(content), act}, nil
			}}, nil
		}},
		{"Progress", func(act func()) (File, []RequestOption) {
			return FileBytes([]byte(content)), []RequestOption{Progress(func(int64, int64) { act() })}
		}},
		{"Progress of a reader", func(act func()) (File, []RequestOption) {
			return FileReader(strings.NewReader(content), int64(len(content))), []RequestOption{Progress(func(int64, int64) { act() })}
		}},
	}
}

type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// A call returns when its context ends, whatever the caller's code does meanwhile. What is blocked is left alone.
func TestUploadBlocks(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for _, p := range places() {
			if p.name == "Close" {
				continue // it is the last thing that happens; see TestUploadCloseBlocks
			}
			for _, deadline := range []bool{false, true} {
				t.Run(p.name, func(t *testing.T) {
					blocked, release := make(chan struct{}), make(chan struct{})
					t.Cleanup(sync.OnceFunc(func() { close(release) }))
					var once sync.Once
					file, opts := p.make(func() {
						once.Do(func() { close(blocked) })
						<-release
					})
					ctx, cancel := context.WithCancel(t.Context())
					want := context.Canceled
					if deadline {
						ctx, cancel = context.WithTimeout(t.Context(), 50*time.Millisecond)
						want = context.DeadlineExceeded
					} else {
						go func() {
							<-blocked
							cancel()
						}()
					}
					defer cancel()
					o := ends(t, func() error { return exec(ctx, uploadOf(c, file), opts) })
					require.ErrorIs(t, o.err, want, "%+v", o)
					asError(t, o.err)
				})
			}
		}
		assert.Zero(t, s.count(), "a server had a whole request")
	})
}

// A Close that blocks holds up the call until its context ends, and no longer.
func TestUploadCloseBlocks(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, _ *uploadServer) {
		release := make(chan struct{})
		t.Cleanup(func() { close(release) })
		file := File{Name: "a", Size: 3, Open: func() (io.ReadCloser, error) {
			return readCloser{strings.NewReader("abc"), func() { <-release }}, nil
		}}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		o := ends(t, func() error { return exec(ctx, uploadOf(c, file), nil) })
		require.ErrorIs(t, o.err, context.DeadlineExceeded)
	})
}

// A panic of the caller's code is raised in the goroutine that makes the call, with the same value, and leaves nothing behind.
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
		assert.Zero(t, s.count(), "a server had a whole request")
	})
}

// A goroutine that ends inside the caller's code is an error of the call, which is not sent again.
func TestUploadGoexit(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		for _, p := range places() {
			t.Run(p.name, func(t *testing.T) {
				var times atomic.Int32
				file, opts := p.make(func() { times.Add(1); runtime.Goexit() })
				o := ends(t, func() error {
					r := service{c}.request(http.MethodPut, "/files/:id", []any{ID(1)}).upload(nil, "file", file)
					return exec(t.Context(), r, opts)
				})
				require.True(t, o.returned)
				require.ErrorContains(t, o.err, "runtime.Goexit")
				assert.Equal(t, 1, asError(t, o.err).Attempts)
				assert.EqualValues(t, 1, times.Load())
			})
		}
		assert.Zero(t, s.count(), "a server had a whole request")
	})
}

// A reader that returns nothing for ever, or what cannot be, ends with an error.
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
		assert.Zero(t, s.count(), "a server had a whole request")
		for name, reader := range map[string]io.Reader{
			"slow": iotest.OneByteReader(strings.NewReader("abcd")), "half": iotest.HalfReader(strings.NewReader("abcd")),
			"EOF with data": iotest.DataErrReader(strings.NewReader("abcd")), "some nothing": &hesitant{Reader: strings.NewReader("abcd"), times: 99},
		} {
			require.NoError(t, exec(t.Context(), uploadOf(c, FileReader(reader, 4)), nil), name)
		}
		assert.Equal(t, 4, s.count())
	})
}

// hesitant returns (0, nil) a number of times before each of its reads.
type hesitant struct {
	io.Reader
	times, now int
}

func (h *hesitant) Read(p []byte) (int, error) {
	if h.now++; h.now <= h.times {
		return 0, nil
	}
	h.now = 0
	return h.Reader.Read(p)
}

// watched is a reader that notices what must not happen: a Close during a Read, a second one, a Read after it.
type watched struct {
	t      *testing.T
	read   func([]byte) (int, error)
	inside atomic.Bool
	closed atomic.Int32
}

func (w *watched) Read(p []byte) (int, error) {
	assert.False(w.t, w.inside.Swap(true), "two at a time")
	defer w.inside.Store(false)
	assert.Zero(w.t, w.closed.Load(), "read after Close")
	return w.read(p)
}

func (w *watched) Close() error {
	assert.False(w.t, w.inside.Swap(true), "closed while it is read")
	defer w.inside.Store(false)
	w.closed.Add(1)
	return nil
}

// The caller's reader is closed once, and never while it is read; what it writes once the call is over goes nowhere.
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
						clear(p) // the memory is the caller's while it reads
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
			assert.Eventually(t, func() bool { return w.closed.Load() == 1 }, 5*time.Second, time.Millisecond, how)
		}
	})
}

// An error of Close is an error of the call, as the content may not be what it should be.
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

type failingCloser struct {
	io.Reader
	err error
}

func (f failingCloser) Close() error { return f.err }

// A call whose server responds before it has the body does not wait for the caller's code.
func TestUploadAnsweredEarly(t *testing.T) {
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

// Progress counts what was read, up to the total, one call after the other, and is silent once the call has returned.
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

// Once the transport has a response, no report begins, and one that is running ends before the call returns.
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
			assert.False(t, over, "a report of a body that nobody wants")
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

// goroutines counts those whose stack has a text.
func goroutines(text string) (n int) {
	stacks := make([]byte, 4<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, text) {
			n++
		}
	}
	return n
}

// Of a call that has ended only the goroutine inside the caller's function remains, until it returns. net/http waits for nothing.
func TestUploadLeavesOneGoroutine(t *testing.T) {
	overBoth(t, func(t *testing.T, c *Client, _ *uploadServer) {
		for _, p := range places() {
			release := make(chan struct{})
			file, opts := p.make(func() { <-release })
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			o := ends(t, func() error { return exec(ctx, uploadOf(c, file), opts) })
			cancel()
			require.ErrorIs(t, o.err, context.DeadlineExceeded, p.name)
			assert.Eventually(t, func() bool { return goroutines("(*uploadReader).Read") == 0 }, 5*time.Second, time.Millisecond, p.name)
			assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == 1 }, 5*time.Second, time.Millisecond, p.name)
			close(release)
			assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == 0 }, 5*time.Second, time.Millisecond, p.name)
		}
	})
}

// A transport that does not close the body, against its contract, leaves no goroutine either.
func TestUploadOfACarelessTransport(t *testing.T) {
	for _, fail := range []string{"", "error", "panic", "Goexit"} {
		c := bubbleClient(t, WithRetry(RetryPolicy{MaxAttempts: 1}), through(func(req *http.Request) (*http.Response, error) {
			_, _ = req.Body.Read(make([]byte, 1))
			switch fail {
			case "error":
				return nil, io.ErrUnexpectedEOF
			case "panic":
				panic(fail)
			case "Goexit":
				runtime.Goexit()
			}
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
		}))
		o := ends(t, func() error {
			return exec(t.Context(), uploadOf(c, FileReader(iotest.OneByteReader(strings.NewReader("abc")), 3)), nil)
		})
		assert.Equal(t, fail == "", o.returned && o.err == nil, "%s: %+v", fail, o)
		assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == 0 }, 5*time.Second, time.Millisecond, fail)
	}
}

// Limits: a body that the server does not take stalls, in a pump as without one; the bytes that were sent are counted.
func TestUploadStallsInPump(t *testing.T) {
	const stall = 40 * time.Millisecond
	big := make([]byte, 16<<20)
	c := withLimits(wireClient(t, "http://"+stuck(t)), time.Hour, stall)
	o := ends(t, func() error {
		return exec(t.Context(), uploadOf(c, FileReader(iotest.HalfReader(bytes.NewReader(big)), 16<<20)), nil)
	})
	require.ErrorIs(t, o.err, ErrTimeout)
	require.ErrorContains(t, o.err, "stalled")
	assert.Positive(t, c.Stats().Sent)
	assert.Less(t, c.Stats().Sent, int64(len(big)))

	overBoth(t, func(t *testing.T, c *Client, s *uploadServer) {
		source := slowly{bytes.NewReader(make([]byte, 4)), 3 * stall}
		require.NoError(t, exec(t.Context(), uploadOf(withLimits(c, time.Hour, stall), FileReader(source, 4)), nil), "a slow source is no stall")
		assert.Equal(t, s.lengths[0], c.Stats().Sent)
	})
}

// A 2xx is no success when the body could not be read to its end: net/http returns it where it comes together with the error of the
// body. An error after the transport has closed the body is not one of the body.
func TestUploadHalfTaken(t *testing.T) {
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
	early := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		one := make([]byte, 1)
		_, _ = req.Body.Read(one)
		_ = req.Body.Close()
		_, err := io.Copy(io.Discard, req.Body)
		assert.Error(t, err)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}))
	require.NoError(t, exec(t.Context(), uploadOf(early, FileReader(iotest.OneByteReader(strings.NewReader("abc")), 3)), nil), "the server did not want more")
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
	require.NoError(t, sendFile(t, wireClient(t, srv.URL), file))
	assert.Equal(t, 3, hops)
	assert.EqualValues(t, 3, opened.Load())
	assert.EqualValues(t, 3, closed.Load())
	assert.Contains(t, bodies[0], "content")
	assert.Equal(t, []string{bodies[0], bodies[0], bodies[0]}, bodies)
}

// Bodies without the caller's code are read by the transport itself: no goroutine, no copy.
func TestUploadDirectly(t *testing.T) {
	content := []byte("the content")
	path := filepath.Join(t.TempDir(), "x")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	var pumps int
	c := bubbleClient(t, through(func(req *http.Request) (*http.Response, error) {
		defer req.Body.Close()
		one := make([]byte, 1)
		_, _ = io.ReadFull(req.Body, one)
		assert.Eventually(t, func() bool { return goroutines("(*bodyPump).run") == pumps }, 5*time.Second, time.Millisecond)
		_, _ = io.Copy(io.Discard, req.Body)
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}))
	quiet := Progress(func(int64, int64) {})
	for _, test := range []struct {
		name    string
		pumps   int
		request *request
		opts    []RequestOption
	}{
		{"FileBytes", 0, uploadOf(c, FileBytes(content)), nil},
		{"FileAt", 0, uploadOf(c, FileAt(path)), nil},
		{"bytes.Reader", 0, uploadOf(c, FileReader(bytes.NewReader(content), 11)), nil},
		{"strings.Reader", 0, uploadOf(c, FileReader(strings.NewReader("the content"), 11)), nil},
		{"JSON", 0, c.request(callOf(once)), nil},
		{"FileReader", 1, uploadOf(c, FileReader(iotest.OneByteReader(bytes.NewReader(content)), 11)), nil},
		{"FileBytes with Progress", 1, uploadOf(c, FileBytes(content)), []RequestOption{quiet}},
	} {
		t.Run(test.name, func(t *testing.T) {
			pumps = test.pumps
			require.NoError(t, exec(t.Context(), test.request, test.opts))
		})
	}
}
