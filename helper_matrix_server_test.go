package forge

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This file has the server of the fault matrix: sockets that fail as the fault requires, and a
// state in which calls take effect.

// matrixFault is a kind of failure.
type matrixFault struct {
	name    string
	dial    func(context.Context) (net.Conn, error) // instead of a connection
	act     func(matrixAnswer) act                  // instead of a response
	stale   bool                                    // a reused connection has ended, and the client detects it when it writes
	silent  bool                                    // no byte of a response arrives
	head    bool                                    // the complete header of a 2xx response arrives
	untaken bool                                    // nothing was sent, or the request was certainly refused
	final   bool                                    // another attempt cannot succeed
	interim bool                                    // a 103 comes before a 2xx response, which is not a fault
	status  int                                     // the status that the client receives; 0: none
	is      []error                                 // the cause matches one of them
	text    string                                  // text of a cause without a name
}

func matrixFaults() []matrixFault {
	// If a write and a read fail at the same time, net/http may report the one that failed because the
	// other has closed the connection.
	lost := []error{syscall.ECONNRESET, syscall.EPIPE, io.ErrUnexpectedEOF, net.ErrClosed}
	always := func(a act) func(matrixAnswer) act { return func(matrixAnswer) act { return a } }
	faults := []matrixFault{
		{name: "refused", dial: dialRefused, untaken: true, is: []error{syscall.ECONNREFUSED}},
		{name: "reset before send", dial: dialReset, stale: true, is: lost},
		{name: "reset before the answer", act: always(reset("")), silent: true, is: lost},
		{name: "closed before the answer", act: always(closing("")), silent: true, is: []error{io.ErrUnexpectedEOF}},
		{name: "reset in the status line", act: always(reset("HTTP/1.1 200 O")), is: lost},
		{name: "reset after headers", act: func(a matrixAnswer) act { return reset(a.part(0)) }, head: true, is: lost},
		{name: "reset in the body", act: func(a matrixAnswer) act { return reset(a.part(len(a.body) / 2)) }, head: true, is: lost},
		{name: "cut body", act: func(a matrixAnswer) act { return closing(a.part(len(a.body))) }, head: true, is: []error{io.ErrUnexpectedEOF}},
		{name: "garbage", act: always(closing("\x00\x01 not HTTP\r\n\r\n")), text: "malformed HTTP"},
		{name: "429", act: always(say(429, "", "Retry-After: 0")), untaken: true, status: 429, is: []error{ErrRateLimited}},
		{name: "408", act: always(say(408, "")), status: 408},
	}
	for _, status := range matrixServerErrors() {
		faults = append(faults, matrixFault{name: strconv.Itoa(status), act: always(say(status, "")), status: status, is: []error{ErrServer}})
	}
	return append(faults, matrixStatuses()...)
}

// matrixWhole reports whether the matrix runs every endpoint and every status.
func matrixWhole() bool { return os.Getenv("FORGE_MATRIX") == "all" }

// matrixServerErrors returns the 5xx statuses of servers and of the proxies in front of them.
func matrixServerErrors() []int {
	if matrixWhole() {
		return []int{500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530}
	}
	return []int{500, 502, 503, 504, 520, 530}
}

// matrixStatuses returns other statuses: of a server that has not executed the call, statuses that
// are not a response to the request, and an interim one.
func matrixStatuses() []matrixFault {
	const hints = "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
	always := func(a act) func(matrixAnswer) act { return func(matrixAnswer) act { return a } }
	faults := []matrixFault{
		{name: "425", act: always(say(425, "")), untaken: true, status: 425},
		{
			name: "409 lock", act: always(say(409, `{"message":"Resource lock"}`, jsonType)),
			untaken: true, status: 409, is: []error{ErrConflict},
		},
		{
			name: "101", act: always(closing("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")),
			final: true, status: 101, is: []error{ErrInvalidResponse},
		},
		{name: "103 before the response", interim: true},
		{name: "closed after a 103", act: always(closing(hints)), is: []error{io.ErrUnexpectedEOF}},
	}
	statuses := []int{206}
	if matrixWhole() {
		statuses = []int{205, 206, 226}
	}
	for _, status := range statuses {
		faults = append(faults, matrixFault{
			name: strconv.Itoa(status), final: true, status: status, is: []error{ErrInvalidResponse},
			act: func(a matrixAnswer) act { return say(status, a.body, "Content-Type: "+a.contentType) },
		})
	}
	return faults
}

// dialRefused dials an address at which no process can listen: the other end of a connection.
func dialRefused(ctx context.Context) (net.Conn, error) {
	return dialPair(ctx, func(conn, _ net.Conn) (net.Conn, error) {
		defer conn.Close()
		return new(net.Dialer).DialContext(ctx, "tcp", conn.LocalAddr().String())
	})
}

// dialReset returns a connection that is reset before anything is sent.
func dialReset(ctx context.Context) (net.Conn, error) {
	return dialPair(ctx, func(conn, peer net.Conn) (net.Conn, error) {
		reset("")(peer)
		return conn, nil
	})
}

func dialPair(ctx context.Context, use func(conn, peer net.Conn) (net.Conn, error)) (net.Conn, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", listener.Addr().String())
	if err != nil {
		return nil, err
	}
	peer, err := listener.Accept()
	if err != nil {
		return nil, err
	}
	defer peer.Close()
	return use(conn, peer)
}

// matrixAnswer is the response of the server without a fault.
type matrixAnswer struct {
	status            int
	body, contentType string
}

// part returns a response that ends before its announced length.
func (a matrixAnswer) part(length int) string {
	if a.status == http.StatusNoContent {
		a.status = http.StatusOK
	}
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		a.status, http.StatusText(a.status), a.contentType, len(a.body)+100, a.body[:length])
}

// matrixServer serves one cell: a call with a fault.
type matrixServer struct {
	row  *matrixRow
	cell matrixCell
	wire *wire

	idle   *idleConn // the connection that is reused, if the cell requires one
	conn   int       // number of idle
	before int       // requests that opened idle

	mu       sync.Mutex
	rounds   map[*httptrace.ClientTrace]int // attempts of net/http for each request
	armed    bool
	faults   int    // faults that have happened
	arrivals int    // requests, and connections that failed before one
	answers  int    // 2xx responses that were sent completely
	effects  int    // effects of the call
	state    string // the state after the effects
}

func newMatrixServer(t *testing.T, row *matrixRow, cell matrixCell) *matrixServer {
	t.Helper()
	s := &matrixServer{row: row, cell: cell, rounds: map[*httptrace.ClientTrace]int{}}
	s.wire = newWire(t, s.answer)
	return s
}

// client returns a new client, so that retries and waits of other cells do not affect this cell:
// the calls of a client share the retry budget.
func (s *matrixServer) client(t *testing.T) *Client {
	t.Helper()
	client, err := NewClient(s.wire.url, WithToken("matrix-token"), WithRetry(impatient),
		WithRegistry(s.wire.url+"/registry", s.wire.url+"/auth"), WithRegistryCredentials("robot", "password"),
		WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: s.dial, Proxy: s.round}}))
	require.NoError(t, err)
	if s.row.route.base == registryBase { // the token has already been obtained
		client.RegistryNative.shared = func(context.Context, *request, string, []RequestOption) (*RegistryToken, error) {
			return &RegistryToken{Token: "matrix-token"}, nil
		}
	}
	return client
}

// arm opens a connection that can be reused, if the cell requires one, and then enables the faults.
func (s *matrixServer) arm(t *testing.T, client *Client) {
	t.Helper()
	var kept net.Conn
	for pooled := false; s.cell.reused && !pooled; s.before++ {
		pooled = putBack(t, client, &httptrace.ClientTrace{})
		s.wire.mu.Lock()
		s.conn = len(s.wire.conns)
		kept = s.wire.conns[s.conn-1]
		s.wire.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.armed = true
	switch {
	case kept == nil || s.cell.fault.dial == nil:
	case s.cell.fault.stale:
		s.faults, s.arrivals = 1, 1
		reset("")(kept)
		<-s.idle.ended
	default:
		_ = kept.Close()
		<-s.idle.closed // net/http marks it as closed before that, and does not use it anymore
	}
}

// round counts how often net/http requests a connection for one request. It is the Proxy function
// of the transport. Each request has its own trace.
func (s *matrixServer) round(req *http.Request) (*url.URL, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rounds[httptrace.ContextClientTrace(req.Context())]++
	return nil, nil
}

func (s *matrixServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rounds[httptrace.ContextClientTrace(ctx)] > 1 {
		// The request lost a reused connection and has ended. net/http may still dial, but never sends
		// anything on the new connection.
		return nil, net.ErrClosed
	}
	if s.armed && s.cell.fault.dial != nil && s.strike() {
		s.arrivals++
		return s.cell.fault.dial(ctx)
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil || s.armed {
		return conn, err
	}
	s.idle = &idleConn{Conn: conn, stale: s.cell.fault.stale, ended: make(chan struct{}), closed: make(chan struct{})}
	return s.idle, nil
}

// strike reports whether the fault happens for this attempt.
func (s *matrixServer) strike() bool {
	if s.faults >= s.cell.times {
		return false
	}
	s.faults++
	return true
}

func (s *matrixServer) answer(r seen) act {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.armed {
		return sayJSON("{}")
	}
	s.arrivals++
	if s.cell.fault.interim && s.strike() {
		good := s.good(r)
		return func(conn net.Conn) bool {
			_, _ = io.WriteString(conn, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
			return good(conn)
		}
	}
	if s.cell.fault.act == nil || !s.strike() {
		return s.good(r)
	}
	if s.cell.after {
		s.apply(r)
	}
	if s.row.executor == kindNoResult && s.cell.fault.head {
		s.answers++ // a call without a result needs no body
	}
	return s.cell.fault.act(s.row.answer)
}

func (s *matrixServer) good(r seen) act {
	if status := s.apply(r); status != 0 {
		return say(status, "")
	}
	s.answers++
	headers := []string{"Content-Type: " + s.row.answer.contentType}
	if s.row.executor == kindList && !strings.Contains(r.uri, "page=2") {
		headers = append(headers, "X-Next-Page: 2")
	}
	return say(s.row.answer.status, s.row.answer.body, headers...)
}

// apply lets a write take effect. The effects of non-idempotent calls add up; other calls set a
// state. If the state is already set, and the endpoint documents a status for this, apply returns
// that status.
func (s *matrixServer) apply(r seen) (status int) {
	switch kind := s.row.route; {
	case kind.Class == RetryClassSafe:
		return 0
	case kind.Class == RetryClassNonIdempotent:
		s.state += r.effect()
	case s.state != "" && kind.Method == http.MethodDelete:
		return http.StatusNotFound
	case s.state != "" && s.row.settles():
		return http.StatusNotModified
	default:
		s.state = r.effect()
	}
	s.effects++
	return 0
}

// effect returns the content of a request, without the boundary of a multipart body, which is
// different in each call.
func (s seen) effect() string {
	_, params, _ := mime.ParseMediaType(s.header.Get("Content-Type"))
	body := s.body
	if params["boundary"] != "" {
		body = strings.ReplaceAll(body, params["boundary"], "boundary")
	}
	return s.method + " " + body + "\n"
}

// idleConn detects when a connection has ended, and when the client has closed it.
type idleConn struct {
	net.Conn
	stale         bool // the client does not notice the end before it writes
	slow          bool // data that is being written is sent before it is closed
	ended, closed chan struct{}
	end, close    sync.Once
}

func (c *idleConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.end.Do(func() { close(c.ended) })
		if c.stale {
			<-c.closed
		}
	}
	return n, err
}

func (c *idleConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.leave()
	}
	return n, err
}

func (c *idleConn) Close() error {
	c.leave()
	if c.slow {
		time.Sleep(2 * time.Millisecond)
	}
	return c.Conn.Close()
}

func (c *idleConn) leave() { c.close.Do(func() { close(c.closed) }) }
