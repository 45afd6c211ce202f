package forge

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"sync/atomic"
	"time"
)

// traced hears of the connection that a hop has.
func (c *call) traced(ctx context.Context, header http.Header, network bool) context.Context {
	h := &hopContext{Context: ctx}
	trace := &httptrace.ClientTrace{
		GetConn: func(string) {
			h.connected.Store(false)
			if h.connections.Load() > 0 {
				c.refuseReplay(nil)
			}
		},
		GotConn: func(got httptrace.GotConnInfo) {
			h.connected.Store(true)
			if h.connections.Add(1) > 1 {
				c.refuseReplay(got.Conn)
				return
			}
			if c.last.sent.Store(true); network {
				c.last.conn = got.Conn
			}
			expectLess(header, got.Conn)
		},
	}
	if !network {
		// A caller's transport may send more than one request, such as a recorder that dumps it first.
		trace.GotFirstResponseByte = func() { h.connections.Store(0) }
	}
	return httptrace.WithClientTrace(h, trace)
}

// refuseReplay keeps net/http from sending a request again by itself: a second connection within
// one request, before a response, means that the server did not process it on the first. The end of the context is
// enough while net/http looks for a connection, and over HTTP/2. On a connection of HTTP/1 it writes
// the request all the same.
func (c *call) refuseReplay(conn net.Conn) {
	c.last.replay.Store(true)
	c.watch.life.end(errNotProcessed)
	if conn != nil && !c.isHTTP2(conn) {
		_ = conn.Close()
	}
}

func (c *call) isHTTP2(conn net.Conn) bool {
	if t, secure := conn.(*tls.Conn); secure {
		return t.ConnectionState().NegotiatedProtocol == "h2"
	}
	t, network := c.client().transport.(*http.Transport)
	return network && t.Protocols != nil && t.Protocols.UnencryptedHTTP2() && !t.Protocols.HTTP1()
}

// hopContext knows whether its hop has a connection.
type hopContext struct {
	context.Context //nolint:containedctx // it is one
	connected       atomic.Bool
	connections     atomic.Int32 // that the request was given, one after the other
}

type hopKey struct{}

// Value lets dial find it.
func (h *hopContext) Value(key any) any {
	if key == (hopKey{}) {
		return h
	}
	return h.Context.Value(key)
}

// dialer opens the connections of a transport. net/http asks for one for each call that finds none idle, and hands the call another
// that becomes idle meanwhile: with turns to wait for, a burst of calls opens few more than it has calls.
type dialer struct {
	net.Dialer
	turns chan struct{} // one for each connection that is being opened
}

const (
	dialsAtOnce = 4
	turnWait    = 10 * time.Millisecond // at most, as a turn takes long where connecting does
)

func newDialer() *dialer {
	return &dialer{net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}, make(chan struct{}, dialsAtOnce)}
}

// dial opens a connection, unless the hop that it is for has got another.
func (d *dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	runtime.Gosched() // those who are done give theirs back first
	select {
	case d.turns <- struct{}{}:
		defer func() { <-d.turns }()
	case <-time.After(turnWait):
	}
	if h, ok := ctx.Value(hopKey{}).(*hopContext); ok && h.connected.Load() {
		return nil, errConnected // which nobody waits for
	}
	return d.DialContext(ctx, network, address)
}

var errConnected = errors.New("the call has got another connection")
