package forge

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptrace"
	"runtime"
	"sync/atomic"
	"time"
)

// traced hears of the connection that a hop has.
func (c *call) traced(ctx context.Context, header http.Header) context.Context {
	h := &hopContext{Context: ctx}
	return httptrace.WithClientTrace(h, &httptrace.ClientTrace{
		GetConn: func(string) { h.connected.Store(false) }, // again, when the one that it had is found closed
		GotConn: func(got httptrace.GotConnInfo) {
			h.connected.Store(true)
			c.last.sent.Store(true)
			expectLess(header, got.Conn)
		},
	})
}

// hopContext knows whether its hop has a connection.
type hopContext struct {
	context.Context //nolint:containedctx // it is one
	connected       atomic.Bool
}

type hopKey struct{}

// Value lets dial find it.
func (h *hopContext) Value(key any) any {
	if key == (hopKey{}) {
		return h
	}
	return h.Context.Value(key)
}

// dial opens a connection, unless the hop that it is for was given one which another call was done with: the transport asks for as
// many as there are calls at that moment, and a burst would open more than it has calls.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	runtime.Gosched() // those who are done give theirs back first
	if h, ok := ctx.Value(hopKey{}).(*hopContext); ok && h.connected.Load() {
		return nil, errConnected // which nobody waits for
	}
	return (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext(ctx, network, address)
}

var errConnected = errors.New("the call has got another connection")
