package simulation

import (
	"context"
	"fmt"
	"net/url"
	"strings"
)

// dialing applies the faults of a dial. Faults at a byte act on the bytes that the server sends
// over the new connection.
func (w *World) dialing(ctx context.Context, address string) (then func(*conn), err error) {
	call, origin := callOf(ctx), w.originAt(address)
	w.mu.Lock()
	w.dials[origin+call]++
	number := w.dials[origin+call]
	w.mu.Unlock()
	w.note(fmt.Sprintf("dial %d of call %q to %s", number, call, address))
	var faults []Fault
	for _, f := range w.plan.Faults {
		if f.At != AtDial || !f.hitsDial(call, origin, number) {
			continue
		}
		switch f.Kind {
		case Refuse:
			w.hit(nil, f)
			return nil, refused
		case Stall, Slow:
			w.hit(nil, f)
			if f.Wait == 0 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			if err := pause(ctx, f.Wait); err != nil {
				return nil, err
			}
		default:
			faults = append(faults, f)
		}
	}
	return func(c *conn) {
		w.watchHeads(c)
		for _, f := range faults {
			c.peer.out.arm(int64(f.Byte), mark{kind: f.Kind, wait: f.Wait, length: f.Length, stays: true, hit: func() {
				w.hit(nil, f)
				w.strike(c)
			}})
		}
	}, nil
}

// hitsDial reports whether a dial matches the fault. A request to the server may dial a proxy
// first.
func (f Fault) hitsDial(call, origin string, number int) bool {
	there := f.Origin == origin || f.Origin == "" && (origin == "forge" || origin == "proxy")
	return there && (f.Call == "*" || f.Call == call) && (f.Attempt == 0 || f.Attempt == number)
}

// originAt returns the name of the server at an address.
func (w *World) originAt(address string) string {
	_, home := w.home()
	_, auth := w.auth()
	switch address {
	case home:
		return "forge"
	case auth:
		return "token"
	case proxyAddress:
		return "proxy"
	}
	return "other"
}

// watchHeads lets the faults AtHead act on the bytes that a client sends.
func (w *World) watchHeads(c *conn) {
	for _, f := range w.plan.Faults {
		if f.At == AtHead && w.plan.Protocol == HTTP1 && !w.proxied() {
			c.sending = w.sending
			return
		}
	}
}

// sending looks for the header of a request in one write of a client: net/http writes the whole
// header in one call. It records a request here if a fault hides it from the server.
func (w *World) sending(c *conn, p []byte) {
	e, size := readHead(string(p[:min(len(p), 4<<10)]))
	if e == nil {
		return
	}
	e.Conn, e.Origin, e.Proto, e.Began = c.id, w.originAt(c.remote.String()), "HTTP/1.1", w.Now()
	for _, f := range w.plan.Faults {
		if f.At != AtHead || f.Byte >= size || !f.hits(w.next(e)) {
			continue
		}
		switch {
		case f.Kind == Slow, f.Kind == Stall && f.Wait > 0:
			e = nil
		case f.Kind == Reset, f.Kind == Cut, f.Kind == Stall, f.Kind == Garble:
			e.Lost, e.Ended = true, w.Now()
			w.change(func() { w.add(e) })
		default:
			continue
		}
		c.out.arm(int64(f.Byte), mark{kind: f.Kind, wait: f.Wait, length: f.Length, head: true, hit: func() {
			w.strike(c)
			if w.hit(e, f); f.Kind == Reset {
				c.in.finish(reset)
			}
		}})
		return
	}
}

// next returns a copy of an exchange with the numbers that add will set.
func (w *World) next(e *Exchange) *Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	next := *e
	next.Attempt, next.Nth = w.attempts[e.key()]+1, w.nth(e)
	return &next
}

// readHead reads the first line and the call of a request, and the size of its header. It returns
// nil if text does not begin with a request.
func readHead(text string) (e *Exchange, size int) {
	head, _, _ := strings.Cut(text, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	first := strings.Split(lines[0], " ")
	if len(first) != 3 || first[2] != "HTTP/1.1" {
		return nil, 0
	}
	e = &Exchange{Method: first[0]}
	e.Path, e.RawQuery, _ = strings.Cut(first[1], "?")
	query, _ := url.ParseQuery(e.RawQuery)
	e.Page = position(query)
	for _, line := range lines[1:] {
		if id, found := strings.CutPrefix(line, CallHeader+": "); found {
			e.Call = id
		}
	}
	return e, len(head)
}
