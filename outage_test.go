package forge

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bubbleServer serves HTTP in memory, so that time is virtual. refuses says whether connections are
// refused at the moment.
type bubbleServer struct {
	listener *pipeListener
	server   *http.Server
	refuses  func() bool
	reset    bool // what ends early is a reset and not an end
}

func newBubbleServer(handler http.HandlerFunc) *bubbleServer {
	s := &bubbleServer{listener: newPipeListener(), refuses: func() bool { return false }}
	s.server = &http.Server{Handler: handler}
	go func() { _ = s.server.Serve(s.listener) }()
	return s
}

func (s *bubbleServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if s.refuses() {
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	conn, err := s.listener.dial(ctx, network, address)
	if err == nil && s.reset {
		conn = resetConn{conn}
	}
	return conn, err
}

// client has the default policy, unless the options say otherwise.
func (s *bubbleServer) client(t *testing.T, options ...Option) *Client {
	t.Helper()
	transport := &http.Transport{DialContext: s.dial}
	own := []Option{WithToken(secret), WithHTTPClient(&http.Client{Transport: transport})}
	c, err := NewClient("http://127.0.0.1:8080", append(own, options...)...)
	require.NoError(t, err)
	return c
}

func (s *bubbleServer) close(c *Client) {
	c.CloseIdleConnections()
	_ = s.server.Close()
	_ = s.listener.Close()
}

// resetConn ends with a reset.
type resetConn struct{ net.Conn }

func (c resetConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err == io.EOF { //nolint:errorlint // net.Pipe returns it as it is
		err = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	return n, err
}

// outageCalls are ten calls; those of class once can be sent again when the connection was refused.
func outageCalls(refused bool) (calls []func(context.Context, *Client) error) {
	kinds := statusKinds()
	for i := 0; len(calls) < 10; i++ {
		kind := kinds[i%len(kinds)]
		if kind.endpoint != "" || kind.class == ClassOnce && !refused {
			continue
		}
		calls = append(calls, func(ctx context.Context, c *Client) error { return kind.run(ctx, c) })
	}
	return calls
}

// A server that responds 502 for 1.5 s, as a proxy does while what is behind it restarts, or that
// refuses connections for so long, fails no call.
func TestOutageOf1500ms(t *testing.T) {
	const outage = 1500 * time.Millisecond
	for _, refused := range []bool{false, true} {
		for range 50 { // each with other jitter
			synctest.Test(t, func(t *testing.T) {
				began, down := time.Now(), atomic.Int32{}
				away := func() bool {
					is := time.Since(began) < outage
					if is {
						down.Add(1)
					}
					return is
				}
				s := newBubbleServer(func(w http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
					if !refused && away() {
						w.WriteHeader(http.StatusBadGateway)
						return
					}
					respondToAll(w, r)
				})
				if refused {
					s.refuses = away
				}
				c := s.client(t)
				var running sync.WaitGroup
				for _, call := range outageCalls(refused) {
					running.Go(func() { assert.NoError(t, call(t.Context(), c), "refused: %t", refused) })
				}
				running.Wait()
				assert.GreaterOrEqual(t, down.Load(), int32(10))
				s.close(c)
			})
		}
	}
}

// respondToAll responds to any of the calls with a success.
func respondToAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	body := oneIssue
	if r.URL.Path == "/api/v4/issues" {
		body = "[" + oneIssue + "]"
	}
	_, _ = io.WriteString(w, body)
}

// waitsAfter makes calls that fail once, and returns the waits before their second attempts.
func waitsAfter(t *testing.T, calls int, reset bool, fail http.HandlerFunc) (waits []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var failed time.Time
		s := newBubbleServer(func(w http.ResponseWriter, r *http.Request) {
			if failed.IsZero() {
				failed = time.Now()
				fail(w, r)
				return
			}
			waits = append(waits, time.Since(failed))
			failed = time.Time{}
			respondToAll(w, r)
		})
		s.reset = reset
		c := s.client(t)
		for i := range calls {
			if !assert.NoError(t, c.Do(t.Context(), callOf([]class{safe, repeatable}[i%2]), new(any))) {
				break
			}
		}
		s.close(c)
	})
	require.Len(t, waits, calls)
	slices.Sort(waits)
	return waits
}

func abort(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

func abortInBody(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "100")
	_, _ = io.WriteString(w, `{"id":`)
	_ = http.NewResponseController(w).Flush()
	panic(http.ErrAbortHandler)
}

// A connection that was lost says nothing of the server's load: the call is sent again soon.
func TestResetRetriedSoon(t *testing.T) {
	for name, lost := range map[string]struct {
		reset bool
		fail  http.HandlerFunc
	}{
		"reset": {true, abort}, "closed": {false, abort}, "reset in the body": {true, abortInBody}, "body cut short": {false, abortInBody},
	} {
		t.Run(name, func(t *testing.T) {
			waits := waitsAfter(t, 100, lost.reset, lost.fail)
			assert.Less(t, waits[50], 100*time.Millisecond, "median")
			assert.Greater(t, waits[0], time.Duration(0), "no wait at all")
		})
	}
}

// A server that is overloaded or away gets more time, and one that throttles still more.
func TestBackoffByCause(t *testing.T) {
	for status, base := range map[int]time.Duration{
		408: 500 * time.Millisecond, 500: 500 * time.Millisecond, 502: 500 * time.Millisecond,
		503: 500 * time.Millisecond, 504: 500 * time.Millisecond, 520: 500 * time.Millisecond,
		527: 500 * time.Millisecond, 530: 500 * time.Millisecond, 429: time.Second,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			waits := waitsAfter(t, 100, false, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) })
			assert.Greater(t, waits[50], base*3/4, "median")
			assert.Less(t, waits[50], base*5/4, "median")
		})
	}
	t.Run("refused", func(t *testing.T) {
		var waits []time.Duration
		for range 100 {
			synctest.Test(t, func(t *testing.T) {
				s := newBubbleServer(respondToAll)
				first := true
				s.refuses = func() bool {
					was := first
					first = false
					return was
				}
				c, began := s.client(t), time.Now()
				assert.NoError(t, c.Do(t.Context(), callOf(once), nil))
				waits = append(waits, time.Since(began))
				s.close(c)
			})
		}
		slices.Sort(waits)
		assert.Greater(t, waits[50], 375*time.Millisecond, "median")
		assert.Less(t, waits[50], 625*time.Millisecond, "median")
	})
}
