package conn

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

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
