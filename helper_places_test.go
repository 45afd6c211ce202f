package forge

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// overBoth runs a test over HTTP/1.1 and over HTTP/2, against a server that reads uploads to their
// end.
func overBoth(t *testing.T, test func(t *testing.T, c *Client, s *uploadServer)) {
	t.Helper()
	for _, http2 := range []bool{false, true} {
		t.Run(map[bool]string{false: "HTTP1", true: "HTTP2"}[http2], func(t *testing.T) {
			c, s := startUploads(t, http2, nil)
			test(t, c, s)
		})
	}
}

// startUploads starts the server of overBoth, in memory if a network is given, and returns its
// client.
func startUploads(t *testing.T, http2 bool, network *pipenet.Listener) (*Client, *uploadServer) {
	t.Helper()
	s := &uploadServer{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http2, r.ProtoMajor == 2)
		s.ServeHTTP(w, r)
	}))
	transport := &http.Transport{ForceAttemptHTTP2: http2}
	if network != nil {
		_ = s.Listener.Close()
		s.Listener, transport.DialContext = network, network.DialContext
	}
	s.EnableHTTP2 = http2
	s.StartTLS()
	t.Cleanup(s.Close)
	transport.TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	transport.TLSClientConfig.NextProtos = nil
	c, err := NewClient(s.URL, WithToken(secret), WithRetry(impatient), WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	t.Cleanup(c.CloseIdleConnections)
	return c, s
}

// callOutcome is how a call ended: it returned, panicked, or ended its goroutine.
type callOutcome struct {
	err      error
	panicked any
	returned bool
}

// ends runs a call in a separate goroutine, and fails the test if it does not end.
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
	case <-time.After(time.Minute):
		require.Fail(t, "the call does not end")
		return callOutcome{}
	}
}

// place is a function of the caller that an upload runs, and the function that builds such an
// upload.
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

// hesitant returns (0, nil) a number of times before each read.
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

// watched is a reader that detects forbidden calls: a Close during a Read, a second Close, a Read
// after Close.
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

type failingCloser struct {
	io.Reader
	err error
}

func (f failingCloser) Close() error { return f.err }

// goroutines returns the number of goroutines whose stack contains a text.
func goroutines(text string) (n int) {
	stacks := make([]byte, 4<<20)
	for stack := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if strings.Contains(stack, text) {
			n++
		}
	}
	return n
}

// readFunc is a function as an io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }
