// Package pipenet has a listener in memory, for tests in a bubble of testing/synctest: a bubble
// waits for pipes, and not for the network.
package pipenet

import (
	"context"
	"net"
)

// Listener accepts the connections that DialContext opens. They are pipes.
type Listener struct{ accept chan net.Conn }

// Listen returns a new Listener. In a bubble it must be called inside the bubble.
func Listen() Listener { return Listener{make(chan net.Conn)} }

// Accept waits for a connection.
func (l Listener) Accept() (net.Conn, error) {
	if c, open := <-l.accept; open {
		return c, nil
	}
	return nil, net.ErrClosed
}

// Close ends Accept.
func (l Listener) Close() error {
	close(l.accept)
	return nil
}

// Addr returns an address of this machine, which nothing is bound to.
func (l Listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

// DialContext opens a connection to the listener, whatever the address.
func (l Listener) DialContext(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	l.accept <- server
	return client, nil
}
