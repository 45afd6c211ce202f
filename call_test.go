package forge

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countedCall is a call of a class, with or without a body.
type countedCall struct {
	name  string
	class RetryClass
	call  Call
}

func countedCalls() []countedCall {
	args := []Arg{ID(1), ID(2)}
	body := map[string]any{"duration": "1h"}
	return []countedCall{
		{"GET", RetryClassSafe, Call{Method: http.MethodGet, Route: safeRoute, Args: args}},
		{"idempotent POST", RetryClassIdempotent, Call{Method: http.MethodPost, Route: idempotentRoute, Args: args}},
		{"idempotent POST with a body", RetryClassIdempotent, Call{Method: http.MethodPost, Route: idempotentRoute, Args: args, Body: body}},
		{"PUT with a body", RetryClassIdempotent, Call{Method: http.MethodPut, Route: "/things/:id", Args: args[:1], Body: body}},
		{"DELETE", RetryClassIdempotent, Call{Method: http.MethodDelete, Route: "/things/:id", Args: args[:1]}},
		{"POST", RetryClassNonIdempotent, Call{Method: http.MethodPost, Route: "/things/:id/new", Args: args[:1]}},
		{"POST with a body", RetryClassNonIdempotent, Call{Method: http.MethodPost, Route: onceRoute, Args: args, Body: body}},
	}
}

// countedFault is the fault of an attempt.
type countedFault struct {
	name   string
	dial   func(context.Context) (net.Conn, error) // instead of a connection
	act    act                                     // after the request was read
	idle   idleEnd                                 // end of the connection that the call would reuse
	spare  int                                     // number of other idle connections
	unsent bool                                    // the server cannot have processed it
}

// idleEnd is how an idle connection has ended before the call.
type idleEnd int

const (
	idleNone    idleEnd = iota // there is no such connection
	idleKept                   // not at all: the call uses it
	idleNoticed                // it was closed, and the client has seen it
	idleStale                  // it was closed, and the client sees it when it writes
)

func countedFaults() []countedFault {
	faults := []countedFault{
		{name: "connection refused", dial: dialRefused, unsent: true},
		{name: "reset before the request is read", dial: dialReset},
		{name: "reset after the request", act: reset("")},
		{name: "closed after the request", act: closing("")},
		{name: "reset after the request, used before", act: reset(""), idle: idleKept},
		{name: "closed after the request, used before", act: closing(""), idle: idleKept},
		{name: "idle connection closed in time", idle: idleNoticed, unsent: true},
		{name: "idle connection closed just before", idle: idleStale, unsent: true},
	}
	for i := range 4 { // net/http takes the other connection in half of the cases
		faults = append(faults, countedFault{name: fmt.Sprint("closed after the request, another one idle ", i), act: closing(""), idle: idleKept, spare: 1})
	}
	return faults
}

// countingServer counts arrivals: requests, and connections that fail before a request.
type countingServer struct {
	*wire
	fault    countedFault
	times    int // how often the fault happens
	lock     sync.Mutex
	armed    bool
	arrivals int
	requests int
	idle     *idleConn
}

func (s *countingServer) strike() bool {
	s.times--
	return s.times >= 0
}

func (s *countingServer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.armed && s.fault.dial != nil && s.strike() {
		s.arrivals++
		return s.fault.dial(ctx)
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil || s.armed {
		return conn, err
	}
	s.idle = &idleConn{Conn: conn, stale: s.fault.idle == idleStale, slow: s.fault.spare > 0, ended: make(chan struct{}), closed: make(chan struct{})}
	return s.idle, nil
}

func (s *countingServer) respond(seen) act {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.armed {
		s.arrivals++
		s.requests++
		if s.fault.act != nil && s.strike() {
			return s.fault.act
		}
	}
	return sayJSON(`{"id":1}`)
}

// pool opens a number of connections, each while the previous one is in use, so that all are idle
// afterwards.
func (s *countingServer) pool(t *testing.T, c *Client, connections int) {
	t.Helper()
	for pooled := connections == 0; !pooled; {
		pooled = putBack(t, c, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { s.pool(t, c, connections-1) }})
	}
}

// putBack makes a call, and reports whether its connection is idle afterwards: net/http drops a
// connection whose writer is late.
func putBack(t *testing.T, c *Client, trace *httptrace.ClientTrace) (pooled bool) {
	t.Helper()
	trace.PutIdleConn = func(err error) { pooled = err == nil }
	require.NoError(t, c.Do(httptrace.WithClientTrace(t.Context(), trace), Call{Method: http.MethodGet, Route: "/user"}, nil))
	return pooled
}

// arm opens the connection that the call will reuse, ends it as the fault requires, and begins to
// count.
func (s *countingServer) arm(t *testing.T, c *Client) {
	t.Helper()
	if s.fault.idle != idleNone {
		s.pool(t, c, 1+s.fault.spare)
	}
	s.mu.Lock()
	conns := s.conns
	s.mu.Unlock()
	s.lock.Lock()
	defer s.lock.Unlock()
	s.armed = true
	switch s.fault.idle {
	case idleNoticed:
		_ = conns[len(conns)-1].Close()
		<-s.idle.closed
	case idleStale:
		reset("")(conns[len(conns)-1])
		<-s.idle.ended
		s.arrivals++ // the attempt that detects the end
	}
}

// TestWireCount counts the requests of a call that a hostile server receives. net/http sends no
// request again by itself, so that the number equals Error.Attempts, Response.Attempts and
// Client.Stats, and is within the policy. A request that the server cannot have processed is sent
// again for every class. Other writes of class non-idempotent are sent once. The HTTP/2 part is in
// the module integration.
func TestWireCount(t *testing.T) {
	for _, fault := range countedFaults() {
		for _, call := range countedCalls() {
			for _, times := range []int{1, 2, forever} {
				if fault.act == nil && fault.dial == nil && times > 1 {
					continue // the connection can end only once
				}
				t.Run(fmt.Sprintf("%s/%s/%d times", fault.name, call.name, times), func(t *testing.T) {
					checkWireCount(t, fault, call, times)
				})
			}
		}
	}
}

func checkWireCount(t *testing.T, fault countedFault, call countedCall, times int) {
	t.Helper()
	s := &countingServer{fault: fault, times: times}
	s.wire = newWire(t, s.respond)
	c := wireClient(t, s.url, WithHTTPClient(&http.Client{Transport: &http.Transport{DialContext: s.dial}}))
	s.arm(t, c)
	before := c.Stats()
	var response Response
	err := c.Do(t.Context(), call.call, nil, Into(&response))
	c.CloseIdleConnections()
	stats := c.Stats()
	s.lock.Lock()
	defer s.lock.Unlock()

	attempts, late := s.arrivals, fault.idle == idleNoticed && stats.Attempts-before.Attempts == 2
	if late {
		attempts++ // net/http took the connection while it was closing it
	}
	assert.LessOrEqual(t, attempts, 4, "attempts on the wire")
	assert.EqualValues(t, attempts, stats.Attempts-before.Attempts, "Stats.Attempts")
	assert.EqualValues(t, attempts-1, stats.Retries-before.Retries, "Stats.Retries")
	final := call.class == RetryClassNonIdempotent && !fault.unsent
	if final && fault.dial != nil {
		assert.Contains(t, []int{1, min(times+1, 4)}, attempts, "whether anything was sent is not known for sure")
		assert.LessOrEqual(t, s.requests, 1, "requests")
		return
	}
	lost := times
	switch fault.idle {
	case idleNoticed:
		lost = 0
		if late {
			lost = 1
		}
	case idleStale:
		lost = 1
	}
	want := min(lost+1, 4)
	if final {
		want = 1
	}
	assert.Equal(t, want, attempts, "attempts")
	if lost < want {
		require.NoError(t, err)
		assert.Equal(t, attempts, response.Attempts, "Response.Attempts")
		return
	}
	e := asError(t, err)
	assert.Equal(t, attempts, e.Attempts, "Error.Attempts")
	assert.Equal(t, call.class != RetryClassSafe && !fault.unsent, e.MaybeApplied, "MaybeApplied: %v", err)
}

// silenceEnd is what ends a call whose server is silent.
type silenceEnd string

const (
	byCancel   silenceEnd = "cancel"
	byDeadline silenceEnd = "deadline"
	byHeader   silenceEnd = "HeaderTimeout"
	byDefault  silenceEnd = "the default limits"
)

// silenceCell is a call whose server becomes silent.
type silenceCell struct {
	point silencePoint
	kind  silenceKind
	end   silenceEnd
}

func (c silenceCell) String() string {
	return fmt.Sprintf("%s, %s, by %s", c.point.name, c.kind.name, c.end)
}

func silenceCells(ends ...silenceEnd) (cells []silenceCell) {
	for _, point := range silencePoints() {
		for _, kind := range point.kinds() {
			for _, end := range ends {
				if end != byHeader || point.head {
					cells = append(cells, silenceCell{point, kind, end})
				}
			}
		}
	}
	return cells
}

// wrong describes what is wrong with the end of the call; "" if nothing is. A call that no longer
// waits for a response may end by itself before it is ended.
func (c silenceCell) wrong(err error) string {
	is := func(causes ...error) bool {
		return slices.ContainsFunc(causes, func(cause error) bool { return errors.Is(err, cause) })
	}
	good := strings.Contains(c.point.text, " 200 OK")
	var e *Error
	switch {
	case err == nil && c.kind.name == execKind && good && c.point.token == "" && c.point.text != "" && !c.point.head:
		return "" // the header of the response shows that the call was done
	case !errors.As(err, &e):
		return fmt.Sprintf("no *Error: %v", err)
	case c.point.name == "after a 101" && is(ErrInvalidResponse), c.point.name == "in a redirect's body" && is(ErrRedirect):
		return ""
	case c.point.name == "after a 101" && (c.end == byHeader || c.end == byDefault):
		return fmt.Sprintf("not ErrInvalidResponse: %v", err)
	case is(ErrTimeout) && !timesOut(err):
		return fmt.Sprintf("no net.Error whose Timeout is true: %v", err)
	case (c.end == byHeader || c.end == byDefault) && is(context.Canceled, context.DeadlineExceeded):
		return fmt.Sprintf("the caller's context has not ended: %v", err)
	case c.end == byDefault && c.point.secure && !c.point.proxy && timesOut(err):
		return "" // a limit of net/http
	case c.end == byCancel && is(context.Canceled), c.end == byDeadline && is(context.DeadlineExceeded),
		c.end == byHeader && is(ErrTimeout), c.end == byDefault && is(ErrTimeout):
		return ""
	case c.end == byDefault && (c.point.name == "in an error body" && is(ErrServer) || c.point.token != "" && is(ErrNoCredential)):
		return ""
	}
	return err.Error()
}

// outcome runs the call against the server, and describes what is wrong.
func (c silenceCell) outcome(t *testing.T, s *silentPeer) string {
	policy := RetryPolicy{MaxAttempts: 2, MinWait: 1, MaxWait: 1}
	if c.end == byDefault {
		policy.MaxAttempts = 1
	}
	client := s.client(t, policy)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var opts []RequestOption
	switch c.end {
	case byCancel:
		go func() {
			select {
			case <-s.reached:
				time.AfterFunc(10*time.Millisecond, cancel) // when the call has received the bytes before the silence
			case <-ctx.Done():
			}
		}()
	case byDeadline:
		ctx, cancel = context.WithTimeout(ctx, 80*time.Millisecond)
		defer cancel()
	case byHeader:
		opts = append(opts, HeaderTimeout(80*time.Millisecond))
	}
	began := time.Now()
	err := c.kind.run(ctx, client, opts...)
	took := time.Since(began)
	client.CloseIdleConnections()
	switch open := s.finish(); {
	case open > 0:
		return fmt.Sprintf("%d connections stay open", open)
	case c.end == byDefault && took > 2*time.Minute:
		return fmt.Sprintf("it took %s", took)
	}
	return c.wrong(err)
}

// The peer becomes silent at each point of an exchange: it sends nothing more and reads nothing.
// Every kind of call ends when its context is canceled, at its deadline, at HeaderTimeout if no
// response has begun, and otherwise at the default limits. No goroutine and no connection stays.
func TestSilence(t *testing.T) {
	cells := silenceCells(byCancel, byDeadline, byHeader, byDefault)
	t.Logf("%d calls", len(cells))
	for _, cell := range cells {
		t.Run(cell.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if wrong := cell.outcome(t, newSilentPeer(cell.point, cell.kind)); wrong != "" {
					t.Error(wrong)
				}
			})
		})
	}
}
