package throttle

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"
)

// Pacer delays requests before the server would refuse them, by the RateLimit-* headers of its
// responses. A server has several throttles, and a response names the one that it is closest to.
// So the throttle of a request is known once a response for its route was seen. The zero value
// delays nothing yet.
type Pacer struct {
	mu        sync.Mutex
	routes    map[Route]*window // those whose throttle a response has named
	throttles map[throttleKey]*window
	first     map[throttleKey]*window // of each server, without a name: also counts requests of other routes
}

// Route identifies requests that belong to the same throttle.
type Route struct {
	Origin, Host     string // the server; Host is set for a server other than the client's
	Method, Template string
}

type throttleKey struct{ origin, host, name string }

// maxRemembered limits what is remembered: a program may send any number of paths, and a server any
// number of names.
const maxRemembered = 4096

// Ticket is a request that may be sent. Each one must be given to Done.
type Ticket struct {
	route  Route
	window *window
	sent   time.Time
	done   int // the requests of the window that had ended then
	after  int // those that were sent until this one had certainly reached the server
}

// waiter is a request that waits for its turn.
type waiter struct{ turn chan struct{} }

func (w *window) wake() {
	if len(w.queue) > 0 {
		select {
		case w.queue[0].turn <- struct{}{}:
		default:
		}
	}
}

// Begin returns a ticket if a request may be sent now, or else the expected end of the wait for it.
// A wait that would be longer than longest, or end after the deadline of ctx, does not begin: the
// request gets its ticket, and the server decides.
func (p *Pacer) Begin(ctx context.Context, route Route, longest time.Duration) (*Ticket, time.Time) {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	w, known := p.windowOf(route)
	position := len(w.queue) + 1
	if !known || position == 1 && !w.next(1, now).After(now) {
		return p.pass(w, route, now), time.Time{}
	}
	until := w.estimate(position, now)
	deadline, limited := ctx.Deadline()
	if until.Sub(now) > longest || limited && until.After(deadline) {
		return p.pass(w, route, now), time.Time{}
	}
	return nil, until
}

func (p *Pacer) pass(w *window, route Route, now time.Time) *Ticket {
	t := w.send(now)
	t.route = route
	return t
}

// Wait waits for a ticket in the order of the calls, but not longer than longest: the request is
// then sent. If ctx ends during the wait, Wait returns its error.
func (p *Pacer) Wait(ctx context.Context, route Route, longest time.Duration) (*Ticket, error) {
	latest := time.Now().Add(longest)
	p.mu.Lock()
	defer p.mu.Unlock()
	w, _ := p.windowOf(route)
	me := &waiter{make(chan struct{}, 1)}
	w.queue = append(w.queue, me)
	defer func() {
		w.queue = slices.DeleteFunc(w.queue, func(other *waiter) bool { return other == me })
		w.wake()
	}()
	for {
		now, at := time.Now(), latest
		if w.queue[0] == me {
			if next := w.next(len(w.queue), now); next.Before(at) {
				at = next
			}
		}
		if !at.After(now) {
			return p.pass(w, route, now), nil
		}
		p.mu.Unlock()
		err := sleepUntil(ctx, at.Sub(now), me.turn)
		p.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
}

// sleepUntil is Sleep that turn ends early.
func sleepUntil(ctx context.Context, d time.Duration, turn <-chan struct{}) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// Done records the end of a request: whether it was sent, and the headers of its response; nil if
// there was none.
func (p *Pacer) Done(t *Ticket, sent bool, h http.Header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, w := time.Now(), t.window
	defer w.wake()
	w.done++
	if h == nil {
		w.fresh = slices.DeleteFunc(w.fresh, func(other *Ticket) bool { return other == t })
	} else {
		w.arrive(t, now)
	}
	if !sent {
		w.give(1)
		w.own--
		return
	}
	s, server, stated := readStatement(h, now)
	if !stated {
		w.trial = time.Time{} // the server no longer sends the headers
		return
	}
	if named := p.learn(t, s.name); named != w {
		w.give(1)
		w.own--
		return
	}
	s.until = w.localTime(s.until, server, now)
	if !w.until.IsZero() || h.Get("Retry-After") == "" { // a refusal alone says nothing of the next window
		w.observe(t, s, now)
	}
}

// windowOf returns the window that counts the requests of a route. known reports whether a response
// has said that they belong to it.
func (p *Pacer) windowOf(route Route) (w *window, known bool) {
	if w = p.routes[route]; w != nil {
		return w, true
	}
	if p.routes == nil {
		p.routes, p.throttles, p.first = map[Route]*window{}, map[throttleKey]*window{}, map[throttleKey]*window{}
	}
	server := throttleKey{origin: route.Origin, host: route.Host}
	if w = p.first[server]; w == nil {
		w = new(window)
		p.first[server] = w
	}
	return w, false
}

// learn records which throttle the route of the ticket belongs to, and returns its window. The
// first throttle of a server takes the window that has counted all requests until then.
func (p *Pacer) learn(t *Ticket, name string) *window {
	server := throttleKey{origin: t.route.Origin, host: t.route.Host}
	key := server
	key.name = name
	if len(p.routes) > maxRemembered || len(p.throttles) > maxRemembered {
		clear(p.routes)
		clear(p.throttles)
	}
	w := p.throttles[key]
	if w == nil {
		if w = p.first[server]; w.named {
			w = new(window)
		}
		w.named = true
		p.throttles[key] = w
	}
	p.routes[t.route] = w
	return w
}
