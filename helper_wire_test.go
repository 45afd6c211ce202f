package forge

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// This file has the helpers of the wire tests: a server that responds with exact bytes, a set of
// named hosts, and clients with short waits.

const secret = "glpat-THE-SECRET-0123456789"

// impatient is the default policy with short waits, for tests with real connections.
var impatient = RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}

// longForm reports whether the tests of cross products run with all combinations, as .ci/nightly
// runs them, instead of some of each.
func longForm() bool { return os.Getenv("FORGE_LONG") != "" }

// Routes of the contract, one of each class.
const (
	safeRoute       = "/projects/:id/issues/:issue_iid/time_stats"
	idempotentRoute = "/projects/:id/issues/:issue_iid/subscribe"
	onceRoute       = "/projects/:id/issues/:issue_iid/add_spent_time"
	archiveRoute    = "/projects/:id/repository/archive[.:format]"
)

func callOf(k RetryClass) Call {
	args := []Arg{ID(1), ID(2)}
	switch k {
	case RetryClassSafe:
		return Call{Method: http.MethodGet, Route: safeRoute, Args: args}
	case RetryClassIdempotent:
		return Call{Method: http.MethodPost, Route: idempotentRoute, Args: args, Body: map[string]any{"n": 1}}
	default:
		return Call{Method: http.MethodPost, Route: onceRoute, Args: args, Body: map[string]any{"duration": "1h"}}
	}
}

// seen is a request as a server has parsed it. conn and nth count connections, and requests on a
// connection, from 1.
type seen struct {
	method, uri, host, body string
	header                  http.Header
	conn, nth               int
}

// act handles a request of a wire, and reports whether the connection stays open.
type act func(net.Conn) bool

// wire is a server on a real listener that reads requests and responds with exact bytes.
type wire struct {
	url      string
	listener net.Listener
	answer   func(seen) act

	mu       sync.Mutex
	requests []seen
	conns    []net.Conn
	closed   bool
	running  sync.WaitGroup
}

// newWire starts a wire. answer returns how a request is handled; it is called by one goroutine at
// a time.
func newWire(t *testing.T, answer func(seen) act) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	w := &wire{url: "http://" + listener.Addr().String(), listener: listener, answer: answer}
	w.running.Go(w.accept)
	t.Cleanup(w.close)
	endWith(t, w.close)
	return w
}

// pipedWire starts a wire in memory, for a bubble of synctest: its time passes only while the client
// and the server wait. Its clients are those of its method client.
func pipedWire(t *testing.T, answer func(seen) act) *wire {
	t.Helper()
	w := &wire{url: "http://127.0.0.1", listener: pipenet.Listen(), answer: answer}
	w.running.Go(w.accept)
	t.Cleanup(w.close)
	return w
}

// client returns a client of a wire in memory.
func (w *wire) client(t *testing.T, options ...Option) *Client {
	t.Helper()
	dials := WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: w.dial}})
	return wireClient(t, w.url, overriding([]Option{dials}, options...)...)
}

// dial connects to the wire, in memory or on TCP.
func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if memory, is := w.listener.(*pipenet.Listener); is {
		return memory.DialContext(ctx, network, address)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// testLimit is the time after which a test that hangs ends. It is far above what a test takes on a
// slow machine.
const testLimit = 5 * time.Minute

// endWith calls stop if the test takes longer than testLimit, so that a client that waits forever
// is an error of its test, and not the time limit of all tests.
func endWith(t testing.TB, stop func()) {
	done := make(chan struct{})
	timer := time.AfterFunc(testLimit, func() {
		t.Errorf("the test takes longer than %v: something waits forever", testLimit)
		close(done)
		stop()
	})
	t.Cleanup(func() {
		if !timer.Stop() {
			<-done
		}
	})
}

func (w *wire) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return
		}
		w.mu.Lock()
		w.conns = append(w.conns, conn)
		number := len(w.conns)
		if w.closed { // close was called before this connection was recorded
			_ = conn.Close()
		}
		w.mu.Unlock()
		w.running.Go(func() { w.serve(conn, number) })
	}
}

func (w *wire) serve(conn net.Conn, number int) {
	defer conn.Close()
	r := bufio.NewReader(conn)
	for nth := 1; ; nth++ {
		req, err := http.ReadRequest(r)
		if err != nil {
			return
		}
		body, err := io.ReadAll(req.Body)
		if err != nil {
			return
		}
		s := seen{req.Method, req.RequestURI, req.Host, string(body), req.Header, number, nth}
		w.mu.Lock()
		w.requests = append(w.requests, s)
		do := w.answer(s)
		w.mu.Unlock()
		if !do(conn) {
			return
		}
	}
}

func (w *wire) close() {
	_ = w.listener.Close()
	w.mu.Lock()
	w.closed = true
	for _, conn := range w.conns {
		_ = conn.Close()
	}
	w.mu.Unlock()
	w.running.Wait()
}

// seen returns the requests so far.
func (w *wire) seen() []seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]seen(nil), w.requests...)
}

func (w *wire) accepted() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.conns)
}

// closing sends text and closes the connection.
func closing(text string) act {
	return func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, text)
		return false
	}
}

// keeping sends text and keeps the connection open.
func keeping(text string) act {
	return func(conn net.Conn) bool {
		_, err := io.WriteString(conn, text)
		return err == nil
	}
}

// say responds and keeps the connection open. headers are complete header lines.
func say(status int, body string, headers ...string) act {
	first := []string{fmt.Sprintf("HTTP/1.1 %d %s", status, http.StatusText(status)), fmt.Sprintf("Content-Length: %d", len(body))}
	return keeping(strings.Join(append(first, headers...), "\r\n") + "\r\n\r\n" + body)
}

const jsonType = "Content-Type: application/json"

func sayJSON(body string) act { return say(200, body, jsonType) }

// reset ends the connection with a RST after sending text.
func reset(text string) act {
	return func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, text)
		_ = conn.(*net.TCPConn).SetLinger(0)
		_ = conn.Close()
		return false
	}
}

// silent sends text and then nothing, until the client hangs up.
func silent(text string) act {
	return func(conn net.Conn) bool {
		if text != "" { // an empty write to a pipe ends a read
			_, _ = io.WriteString(conn, text)
		}
		_, _ = io.Copy(io.Discard, conn)
		return false
	}
}

// always handles all requests in the same way. script uses its acts in order, and the last one for
// all further requests.
func always(a act) func(seen) act { return func(seen) act { return a } }

func script(acts ...act) func(seen) act {
	n := 0
	return func(seen) act {
		a := acts[min(n, len(acts)-1)]
		n++
		return a
	}
}

// refusedAddress returns an address that refuses connections. Its port belongs to a connected
// socket, so that no other process can listen there during the test.
func refusedAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = conn.Close()
		_ = listener.Close()
	})
	return "http://" + conn.LocalAddr().String()
}

// overriding adds options to the options of a helper, without the credential that they replace.
func overriding(own []Option, options ...Option) []Option {
	replaced := config{builder: new(builder)}
	for _, option := range options {
		if option != nil {
			_ = option(&replaced)
		}
	}
	kept := []Option{}
	for _, option := range own {
		first, second := config{builder: new(builder)}, config{builder: &builder{credential: replaced.builder.credential}}
		if option(&first) != nil || option(&second) == nil {
			kept = append(kept, option)
		}
	}
	return append(kept, options...)
}

// wireClient returns a client with its own connections and short waits.
func wireClient(t *testing.T, address string, options ...Option) *Client {
	t.Helper()
	own := []Option{WithHTTPClient(&http.Client{Transport: &http.Transport{}}), WithToken(secret), WithRetry(impatient)}
	c, err := NewClient(address, overriding(own, options...)...)
	require.NoError(t, err)
	t.Cleanup(c.CloseIdleConnections)
	return c
}

// expiring returns a context whose deadline expires when expire is called, at a point that the test
// chooses instead of a time.
func expiring(parent context.Context) (ctx context.Context, expire context.CancelFunc) {
	own, expire := context.WithCancel(parent)
	return expiringContext{own}, expire
}

type expiringContext struct{ context.Context } //nolint:containedctx // it is one

func (c expiringContext) Deadline() (time.Time, bool) { return time.Now().Add(time.Hour), true }

func (c expiringContext) Err() error {
	if c.Context.Err() != nil {
		return context.DeadlineExceeded
	}
	return nil
}

// Value hides the context inside, which package context would find by its value and follow instead.
func (c expiringContext) Value(any) any { return nil }

// roundTrip is a transport that calls a function, for tests in a bubble of synctest.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func through(f roundTrip) Option { return WithHTTPClient(&http.Client{Transport: f}) }

// world is a set of named hosts on this machine: its clients dial them by name.
type world struct {
	t     *testing.T
	roots *x509.CertPool
	mu    sync.Mutex
	addrs map[string]string // by host:port
	got   map[string][]seen // by base address
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, roots: x509.NewCertPool(), addrs: map[string]string{}, got: map[string][]seen{}}
}

// host adds a host. Certificates are for example.com and *.example.com.
func (w *world) host(address string, handler http.HandlerFunc) {
	u, err := url.Parse(address)
	require.NoError(w.t, err)
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.got[address] = append(w.got[address], seen{method: r.Method, uri: r.RequestURI, host: r.Host, body: string(body), header: r.Header})
		w.mu.Unlock()
		handler(rw, r)
	}))
	if u.Scheme == "https" {
		srv.StartTLS()
		w.roots.AddCert(srv.Certificate())
	} else {
		srv.Start()
	}
	w.t.Cleanup(srv.Close)
	endWith(w.t, srv.CloseClientConnections)
	w.addrs[net.JoinHostPort(u.Hostname(), port(u))] = srv.Listener.Addr().String()
}

// at returns the requests to a host since the last call of at.
func (w *world) at(address string) []seen {
	w.mu.Lock()
	defer w.mu.Unlock()
	got := w.got[address]
	w.got[address] = nil
	return got
}

func (w *world) client(base string, options ...Option) *Client {
	w.t.Helper()
	return wireClient(w.t, base, overriding([]Option{w.dials()}, options...)...)
}

// dials returns the option with which a client connects to the hosts.
func (w *world) dials() Option {
	return WithHTTPClient(&http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: w.roots, MinVersion: tls.VersionTLS12},
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, w.addrs[addr])
		},
	}})
}

// runner is an executor as a caller uses it.
type runner struct {
	name string
	run  func(context.Context, *Client, ...RequestOption) error
}

var runners = []runner{
	{"do", func(ctx context.Context, c *Client, opts ...RequestOption) error {
		var out any
		return c.Do(ctx, callOf(RetryClassSafe), &out, opts...)
	}},
	{"exec", func(ctx context.Context, c *Client, opts ...RequestOption) error {
		return c.Do(ctx, callOf(RetryClassSafe), nil, opts...)
	}},
	{"list", func(ctx context.Context, c *Client, opts ...RequestOption) error {
		_, err := Collect(ListAs[map[string]any](ctx, c, Call{Method: http.MethodGet, Route: "/issues"}, opts...))
		return err
	}},
	{"open", func(ctx context.Context, c *Client, opts ...RequestOption) error {
		d, err := openArchive(ctx, c, opts...)
		if err != nil {
			return err
		}
		defer d.Close()
		_, err = io.Copy(io.Discard, d)
		return err
	}},
	{"open", func(ctx context.Context, c *Client, opts ...RequestOption) error { // a call outside the contract
		d, err := c.Open(ctx, Call{Route: "/projects/:id/jobs/:job_id/trace", Args: []Arg{ID(1), ID(2)}}, opts...)
		if err != nil {
			return err
		}
		defer d.Close()
		_, err = io.Copy(io.Discard, d)
		return err
	}},
}

func openArchive(ctx context.Context, c *Client, opts ...RequestOption) (*Download, error) {
	return open(ctx, service{c.core}.newGet(archiveRoute, ID(1), ""), opts)
}

// asError returns the *Error of a failed call.
func asError(t *testing.T, err error) *Error {
	t.Helper()
	var e *Error
	require.ErrorAs(t, err, &e)
	return e
}
