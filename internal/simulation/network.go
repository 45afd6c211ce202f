package simulation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"
)

// network connects the programs and the servers of one world. Only Read, Accept and dial block, and
// no mutex is held while one of them waits.
type network struct {
	latency time.Duration // of each direction, for every piece that is written

	// onDial applies the faults of a dial. It returns the function that prepares the connection.
	// nil: no faults.
	onDial func(ctx context.Context, address string) (then func(c *conn), err error)

	mu       sync.Mutex
	hosts    map[string]*listener
	open     map[*conn]bool // the ends that are not closed
	dials    int
	downTill map[string]time.Time // addresses that refuse connections until a time
}

func newNetwork(latency time.Duration) *network {
	return &network{
		latency: latency, hosts: map[string]*listener{}, open: map[*conn]bool{},
		downTill: map[string]time.Time{},
	}
}

// listen registers an address, such as "127.0.0.1:80" or "forge.test:443".
func (n *network) listen(address string) *listener {
	l := &listener{
		net: n, address: address,
		queue: make(chan *conn, 1024), closed: make(chan struct{}),
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.hosts[address] = l
	return l
}

type callKey struct{}

// withCall stores the call in a context, for the connections that the call opens.
func withCall(ctx context.Context, call string) context.Context {
	return context.WithValue(ctx, callKey{}, call)
}

func callOf(ctx context.Context) string {
	call, _ := ctx.Value(callKey{}).(string)
	return call
}

// dial is the DialContext of transports.
func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	then := func(*conn) {}
	if n.onDial != nil {
		var err error
		if then, err = n.onDial(ctx, address); err != nil {
			return nil, dialError(address, err)
		}
	}
	c, err := n.connect(ctx, address, false)
	if err != nil {
		return nil, dialError(address, err)
	}
	then(c)
	return c, nil
}

// connect opens a connection without the plan's faults, for a client or for the proxy.
func (n *network) connect(ctx context.Context, address string, proxys bool) (*conn, error) {
	if err := pause(ctx, 2*n.latency); err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.hosts[address]
	switch {
	case l == nil:
		return nil, &net.DNSError{Err: "no such host", Name: address, IsNotFound: true}
	case time.Now().Before(n.downTill[address]):
		return nil, refused
	}
	n.dials++
	client, server := n.pair(n.dials, addr(address))
	client.call, server.call = callOf(ctx), callOf(ctx)
	client.proxys = proxys
	select {
	case <-l.closed:
		return nil, refused
	default:
	}
	select {
	case l.queue <- server:
	default:
		return nil, refused
	}
	n.open[client], n.open[server] = true, true
	return client, nil
}

var refused = os.NewSyscallError("connect", syscall.ECONNREFUSED)

func dialError(address string, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: addr(address), Err: err}
}

// pause waits for a time, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pair creates the two ends of a connection.
func (n *network) pair(id int, server addr) (*conn, *conn) {
	up, down := newFlow(n.latency), newFlow(n.latency)
	own := addr(fmt.Sprintf("10.0.0.1:%d", 30000+id))
	a := &conn{net: n, id: id, in: down, out: up, local: own, remote: server, client: true}
	b := &conn{net: n, id: id, in: up, out: down, local: server, remote: own}
	a.peer, b.peer = b, a
	return a, b
}

// ends returns the open ends that which accepts, oldest first.
func (n *network) ends(which func(*conn) bool) []*conn {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []*conn
	for c := range n.open {
		if which(c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b *conn) int { return a.id - b.id })
	return list
}

// restart resets all connections to an address, and refuses new connections for a time. It returns
// the server ends of the reset connections.
func (n *network) restart(address string, down time.Duration) []*conn {
	n.mu.Lock()
	n.downTill[address] = time.Now().Add(down)
	n.mu.Unlock()
	ended := n.ends(func(c *conn) bool { return !c.client && c.local == addr(address) })
	for _, c := range ended {
		c.reset()
	}
	return ended
}

// listener is a net.Listener in memory.
type listener struct {
	net     *network
	address string
	queue   chan *conn
	once    sync.Once
	closed  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.queue:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Addr() net.Addr { return addr(l.address) }

// Close resets the connections that were not accepted.
func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	for {
		select {
		case c := <-l.queue:
			c.reset()
		default:
			return nil
		}
	}
}

type addr string

func (addr) Network() string  { return "tcp" }
func (a addr) String() string { return string(a) }

// conn is one end of a connection.
type conn struct {
	net           *network
	id            int
	call          string // the call that opened the connection
	client        bool
	proxys        bool // the client end belongs to the proxy
	peer          *conn
	in, out       *flow
	local, remote addr
	sending       func(c *conn, p []byte) // receives each write before it is sent; may be nil
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.in.read(p)
	return n, c.wrap("read", err)
}

// Write never blocks. The first write after the other end was closed succeeds and causes a reset,
// as in TCP. The next one fails.
func (c *conn) Write(p []byte) (int, error) {
	if err := c.out.refused(); err != nil { // nothing of p is sent
		return 0, c.wrap("write", err)
	}
	if c.sending != nil {
		c.sending(c, p)
	}
	gone, hits, err := c.out.write(p)
	if err != nil {
		return 0, c.wrap("write", err)
	}
	for _, hit := range hits {
		hit()
	}
	if gone {
		c.in.finish(reset)
		c.out.fail(os.NewSyscallError("write", syscall.EPIPE))
	}
	return len(p), nil
}

func (c *conn) wrap(op string, err error) error {
	if err == nil || errors.Is(err, errEnd) {
		return unwrapEnd(err)
	}
	return &net.OpError{Op: op, Net: "tcp", Source: c.local, Addr: c.remote, Err: err}
}

// Close never blocks. Earlier writes are still delivered. If received bytes were not read, it
// resets the connection, as TCP does.
func (c *conn) Close() error {
	unread, again := c.in.shut()
	if again {
		return c.wrap("close", net.ErrClosed)
	}
	if unread {
		c.out.finish(reset)
	} else {
		c.out.finish(errEnd)
	}
	c.out.fail(net.ErrClosed)
	c.forget()
	return nil
}

// CloseWrite ends the direction to the other end.
func (c *conn) CloseWrite() error {
	c.out.finish(errEnd)
	c.out.fail(os.NewSyscallError("write", syscall.EPIPE))
	return nil
}

// reset ends the connection for both ends, as if this end had reset it.
func (c *conn) reset() {
	c.out.finish(reset)
	c.out.fail(reset)
	c.in.shut()
	c.in.gone()
	c.forget()
}

// strike applies a mark to the bytes that this end sends from now on. A reset ends both directions.
func (c *conn) strike(m mark) {
	if m.kind == Reset {
		c.reset()
		return
	}
	c.out.strike(m)
}

// broken makes the reads of this end fail, because the bytes that it sent have caused a reset.
func (c *conn) broken() { c.in.finish(reset) }

// SetLinger is called by a server before a reset.
func (c *conn) SetLinger(int) error { return nil }

func (c *conn) forget() {
	c.net.mu.Lock()
	defer c.net.mu.Unlock()
	delete(c.net.open, c)
}

func (c *conn) LocalAddr() net.Addr  { return c.local }
func (c *conn) RemoteAddr() net.Addr { return c.remote }

func (c *conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

func (c *conn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(t)
	return nil
}

// SetWriteDeadline does nothing: writes never wait.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

var reset = os.NewSyscallError("read", syscall.ECONNRESET)

var errEnd = errors.New("the other end has closed the connection")
