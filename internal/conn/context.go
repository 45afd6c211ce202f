package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// Limits bound how long an attempt waits for the server.
type Limits struct {
	Header time.Duration // until the first byte of a response
	Stall  time.Duration // without progress within a read or write
	Err    error         // wrapped by the error of a wait that was too long
}

// Counter receives the number of bytes of each read of a response that has any.
type Counter interface {
	Received(n int)
}

// Context is the context of one request. It ends with the call's, with Cancel, or when the server
// is silent for too long. It measures only while the client waits for the server, so a caller that
// pauses between reads has no time limit. Its times are offsets from Clock. It creates a cancelable
// child, and a timer, on the first call of Done; most responses from memory never need them.
//
// The four exported fields are set before its first use.
type Context struct {
	context.Context //nolint:containedctx // it is one: that of the call
	Limits          *Limits
	Counter         Counter
	Clock           time.Time

	mu             sync.Mutex
	cause          error           // why the attempt has ended; nil while it runs
	child          context.Context //nolint:containedctx // of Context, created by Done
	cancelChild    context.CancelCauseFunc
	timer          *time.Timer
	timerAt        time.Duration // when the timer fires; 0: it does not run
	deadline       time.Duration // of the current wait; 0: there is none
	awaitsResponse bool          // the current wait is for a response to begin

	trace    *trace // of the request; nil: it is not traced
	reader   Reader // of the response; in the same allocation
	received int64  // bytes of the response
}

// TimeoutError is a limit of time of the library that has passed. It is a net.Error. It is not
// temporary, since programs send a request with such an error again, a write included.
type TimeoutError struct {
	Text     string
	Sentinel error
}

func (e *TimeoutError) Error() string { return e.Text }
func (e *TimeoutError) Unwrap() error { return e.Sentinel }

// Timeout returns true.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary returns false.
func (e *TimeoutError) Temporary() bool { return false }

// AwaitResponse starts the wait for a response.
func (c *Context) AwaitResponse() { c.start(c.Limits.Header, true) }

// awaitBytes starts the wait for the server to send or take bytes.
func (c *Context) awaitBytes() { c.start(c.Limits.Stall, false) }

func (c *Context) start(limit time.Duration, response bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Since(c.Clock)
	if c.expire(now); c.cause != nil {
		return
	}
	limit = min(limit, math.MaxInt64-now)
	c.deadline, c.awaitsResponse = now+limit, response
	c.reset(limit)
}

// Pause ends the current wait.
func (c *Context) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check()
	c.deadline = 0
}

// Cancel ends the attempt, for the first cause that is given; nil stands for context.Canceled.
func (c *Context) Cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cause == nil {
		cause = context.Canceled
	}
	c.cancel(cause)
}

func (c *Context) cancel(cause error) {
	if c.cause != nil {
		return
	}
	c.cause, c.deadline = cause, 0
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.cancelChild != nil {
		c.cancelChild(cause)
	}
}

// check expires an overdue wait, for callers that never call Done.
func (c *Context) check() {
	if c.deadline > 0 {
		c.expire(time.Since(c.Clock))
	}
}

// expire ends the attempt if the current wait is too long.
func (c *Context) expire(now time.Duration) {
	if c.deadline == 0 || now < c.deadline {
		return
	}
	text := fmt.Sprintf("the connection stalled for %s", c.Limits.Stall)
	if c.awaitsResponse {
		text = fmt.Sprintf("no response within %s", c.Limits.Header)
	}
	c.cancel(&TimeoutError{text, c.Limits.Err})
}

// reset sets the timer for the current wait. A timer that fires too early is set again: to reset it
// on every read costs more than the read.
func (c *Context) reset(left time.Duration) {
	switch {
	case c.child == nil || c.timerAt > 0 && c.timerAt <= c.deadline:
		return
	case c.timer == nil:
		c.timer = time.AfterFunc(left, c.onTimer)
	default:
		c.timer.Reset(left)
	}
	c.timerAt = c.deadline
}

func (c *Context) onTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timerAt = 0
	now := time.Since(c.Clock)
	if c.expire(now); c.deadline > 0 {
		c.reset(c.deadline - now)
	}
}

// Done creates the child on its first call.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.child == nil {
		c.arm()
	}
	return c.child.Done()
}

// arm creates the child, and starts the timer if there is a wait.
func (c *Context) arm() {
	c.child, c.cancelChild = context.WithCancelCause(c.Context)
	switch {
	case c.cause != nil:
		c.cancelChild(c.cause)
	case c.deadline > 0:
		c.reset(c.deadline - time.Since(c.Clock))
	}
}

// Err reports the end of the attempt, or of the call.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check()
	switch {
	case c.child != nil:
		return c.child.Err()
	case c.cause != nil:
		return context.Canceled
	}
	return c.Context.Err()
}

// Value returns the child's value, so that contexts derived from this one end with the child and
// need no goroutine.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	parent := c.Context
	if c.child != nil {
		parent = c.child
	}
	c.mu.Unlock()
	return parent.Value(key)
}

// TimeoutCause returns the timeout that has ended the attempt or its call, in place of the "context
// canceled" that it caused; without a timeout it returns err. A timeout of the call is a cause of
// its context that matches Limits.Err.
func (c *Context) TimeoutCause(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check()
	var timeout *TimeoutError
	if errors.As(c.cause, &timeout) {
		return timeout
	}
	if cause := context.Cause(c.Context); cause != nil && errors.Is(cause, c.Limits.Err) {
		return cause
	}
	return err
}

// Reader reads the body of a response. A read that takes too long ends the attempt.
type Reader struct {
	Left int64 // bytes left to read; at 0 the Reader ends

	body    io.Reader
	context *Context
}

// Reader returns the reader of at most limit bytes of a body. It replaces the previous Reader.
func (c *Context) Reader(body io.Reader, limit int64) *Reader {
	c.reader = Reader{Left: limit, body: body, context: c}
	return &c.reader
}

// BytesReceived returns the number of bytes that the readers of the response have read.
func (c *Context) BytesReceived() int64 { return c.received }

// Read reads from the body and counts the bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if r.Left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.Left {
		p = p[:r.Left]
	}
	r.context.awaitBytes()
	n, err := r.body.Read(p)
	r.Left -= int64(n)
	if n > 0 {
		r.context.received += int64(n)
		r.context.Counter.Received(n)
	}
	return n, err
}

// Upload is the body of a request. Between two reads the transport writes to the network, for at
// most Limits.Stall. After the last read it waits for a response.
type Upload struct {
	Body    io.ReadCloser
	Context *Context
	Size    int64 // bytes of the whole body; -1: not known

	mu       sync.Mutex
	sent     int64
	detached bool
	closed   bool
	err      error // why a read of the transport failed
}

// Read reads from the body. The time of the read does not count as a wait for the server.
func (u *Upload) Read(p []byte) (int, error) {
	u.ifAttached(u.Context.Pause)
	n, err := u.Body.Read(p)
	u.ifAttached(func() {
		u.sent += int64(n)
		if err != nil && err != io.EOF && !u.closed {
			u.err = err
		}
		if u.Size >= 0 && u.sent >= u.Size || err != nil {
			u.Context.AwaitResponse()
		} else {
			u.Context.awaitBytes()
		}
	})
	return n, err
}

// Close closes the body. An error of a later read is not recorded as an error of the body.
func (u *Upload) Close() error {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	return u.Body.Close()
}

func (u *Upload) ifAttached(f func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.detached {
		f()
	}
}

// Detach returns the number of bytes that were read, and the error that ended the reading. Further
// reads have no effect. A transport that has returned an early response may continue to read, while
// the attempt already waits for the body of that response.
func (u *Upload) Detach() (sent int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.detached = true
	return u.sent, u.err
}

// lostError is the error of a connection that was lost before a response came.
type lostError struct{ text string }

func (e *lostError) Error() string { return e.text }
func (e *lostError) Unwrap() error { return io.ErrUnexpectedEOF }

// ErrNotProcessed is the error of a request that net/http was about to send again: the server did
// not process it. The loop of the call retries it, counts attempts and applies the retry policy.
var ErrNotProcessed error = &lostError{"the connection was lost before the server processed the request"}

// trace records the connections that one request gets.
type trace struct {
	httptrace.ClientTrace
	context     *Context
	header      http.Header
	connected   atomic.Bool
	transport   *http.Transport // nil for a caller's RoundTripper
	connections atomic.Int32    // given to the request, one after the other
	replayed    atomic.Bool     // net/http was about to send the request again
	conn        net.Conn        // the first one, if net/http is the transport
}

// Trace returns the context of the request, which records its connection. A second connection ends
// the Context. transport is nil for a caller's RoundTripper, which may have net/http below it.
func (c *Context) Trace(header http.Header, transport *http.Transport) context.Context {
	t := &trace{context: c, header: header, transport: transport}
	t.GetConn, t.GotConn = t.getConn, t.gotConn
	if transport == nil {
		// Such a transport may send several requests for one, for example a recorder that dumps the
		// request first.
		t.GotFirstResponseByte = func() { t.connections.Store(0) }
	}
	c.trace = t
	return httptrace.WithClientTrace(c, &t.ClientTrace)
}

// Connected reports whether the request, which is traced, got a connection.
func (c *Context) Connected() bool { return c.trace != nil && c.trace.connected.Load() }

// Replayed reports whether net/http was about to send the current request again.
func (c *Context) Replayed() bool { return c.trace != nil && c.trace.replayed.Load() }

// IsHTTP2 reports whether the current request got a connection of HTTP/2, if net/http is the
// transport.
func (c *Context) IsHTTP2() bool {
	return c.trace != nil && c.trace.conn != nil && c.trace.isHTTP2(c.trace.conn)
}

func (t *trace) getConn(string) {
	if t.connections.Load() > 0 {
		t.refuseReplay(nil)
	}
}

func (t *trace) gotConn(got httptrace.GotConnInfo) {
	if t.connections.Add(1) > 1 {
		t.refuseReplay(got.Conn)
		return
	}
	if t.connected.Store(true); t.transport != nil {
		t.conn = got.Conn
	}
	dropExpectOnHTTP2(t.header, got.Conn)
}

// refuseReplay keeps net/http from sending a request again by itself: a second connection within
// one request, before a response, means that the server did not process it on the first. Ending the
// context is enough while net/http looks for a connection, and over HTTP/2. On an HTTP/1 connection
// net/http would still write the request, so the connection is closed.
func (t *trace) refuseReplay(conn net.Conn) {
	t.replayed.Store(true)
	t.context.Cancel(ErrNotProcessed)
	if conn != nil && !t.isHTTP2(conn) {
		_ = conn.Close()
	}
}

func (t *trace) isHTTP2(conn net.Conn) bool {
	if secure, ok := conn.(*tls.Conn); ok {
		return secure.ConnectionState().NegotiatedProtocol == "h2"
	}
	return t.transport != nil && t.transport.Protocols != nil &&
		t.transport.Protocols.UnencryptedHTTP2() && !t.transport.Protocols.HTTP1()
}

// IsDial reports whether an error occurred before there was a connection, for transports that do
// not report connections.
func IsDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// UnwrapURLError removes the *url.Error, whose text has the whole address, and replaces a bare
// io.EOF, which a reader would take for the end of the data.
func UnwrapURLError(err error) error {
	var wrapped *url.Error
	for errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, io.EOF) {
		return &lostError{"the connection was closed before a response arrived"}
	}
	return err
}

// minExpectSize is the size in bytes above which a body waits until the server requests it. A
// server that refuses the body, as too large or for its token, may close the connection during the
// upload, and the response would be lost to a broken pipe.
const minExpectSize = 64 << 10

// ExpectContinue makes a large body wait, and reports whether it does.
func ExpectContinue(req *http.Request) bool {
	if req.ContentLength <= minExpectSize {
		return false
	}
	req.Header["Expect"] = []string{"100-continue"}
	req.ProtoMajor, req.ProtoMinor = 1, 1 // otherwise net/http sends the header and does not wait
	return true
}

// dropExpectOnHTTP2 makes net/http send the body immediately over HTTP/2, where a refusal does not
// close the connection and nginx does not respond to Expect.
func dropExpectOnHTTP2(header http.Header, conn net.Conn) {
	t, secure := conn.(*tls.Conn)
	if secure && header["Expect"] != nil && t.ConnectionState().NegotiatedProtocol == "h2" {
		delete(header, "Expect")
	}
}
