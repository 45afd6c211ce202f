// Package pipenet has a listener in memory, for tests in a bubble of testing/synctest: a bubble
// waits for pipes, and not for the network.
package pipenet

import (
	"context"
	"net"
	"sync"
)

// Listener accepts the connections that DialContext opens. They are pipes.
type Listener struct {
	accept chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns a new Listener. In a bubble it must be called inside the bubble.
func Listen() *Listener {
	return &Listener{accept: make(chan net.Conn), closed: make(chan struct{})}
}

// Accept waits for a connection.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.accept:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and DialContext.
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr returns an address of this machine, which nothing is bound to.
func (l *Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// DialContext opens a connection to the listener, whatever the address.
func (l *Listener) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.accept <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
