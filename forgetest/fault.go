package forgetest

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

type faultKind int

const (
	_ faultKind = iota // no fault
	// The call is not executed.
	replace
	resetBefore
	unfinished
	// The call is executed.
	delay
	resetAfter
	headerDelay
	cutBody
	slowBody
	rewrite
	interim
	restate
)

// Fault is an error of the server or the network. The functions below return one, and [Server.Fail]
// sets it on a route. Faults are values: Times and After return changed copies.
type Fault struct {
	kind   faultKind
	status int
	wait   time.Duration
	bytes  int
	make   func(s *Server, r *http.Request) response // for replace
	body   []byte                                    // for rewrite
	only   func(r *http.Request) bool                // requests that it acts on; nil means all
	times  int                                       // 0 means always
	skip   int
}

// Times limits the fault to n requests, at least 1.
func (f Fault) Times(n int) Fault {
	if n < 1 {
		panic(fmt.Sprintf("forgetest: Times: it must be at least 1, and is %d", n))
	}
	f.times = n
	return f
}

// After makes the fault act only after n requests of the route. n must not be negative.
func (f Fault) After(n int) Fault {
	if n < 0 {
		panic(fmt.Sprintf("forgetest: After: it must not be negative, and is %d", n))
	}
	f.skip = n
	return f
}

// Respond responds with the given status, content type and body, without executing the call.
func Respond(code int, contentType, body string) Fault {
	return Fault{kind: replace, status: code, make: func(*Server, *http.Request) response {
		a := response{status: code, body: []byte(body)}
		a.set("Content-Type", contentType)
		return a
	}}
}

// SignInPage responds 200 with an HTML page, as a single-sign-on gateway does, without executing
// the call.
func SignInPage() Fault {
	return Respond(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>\n")
}

// RedirectTo responds with a redirect, without executing the call. A url without a path gets the
// path and query of the request.
func RedirectTo(url string, code int) Fault {
	return Fault{kind: replace, status: code, make: func(_ *Server, r *http.Request) response {
		location := url
		if _, rest, absolute := strings.Cut(url, "://"); absolute && !strings.Contains(rest, "/") {
			location += r.URL.RequestURI()
		}
		a := plain(code, "This resource has been moved to "+location+"\n")
		a.set("Location", location)
		return a
	}}
}

// TooManyRequests responds 429 in plain text with Retry-After (in whole seconds, rounded up) and
// RateLimit-* headers, without executing the call.
func TooManyRequests(retryAfter time.Duration) Fault {
	return Fault{kind: replace, status: http.StatusTooManyRequests, make: func(s *Server, _ *http.Request) response {
		s.mu.Lock()
		defer s.mu.Unlock()
		return tooManyRequests(retryAfter, s.now(), 60)
	}}
}

// DropRequest resets the connection before the call is executed.
func DropRequest() Fault { return Fault{kind: resetBefore} }

// DropResponse resets the connection after the call has taken effect, instead of a response.
func DropResponse() Fault { return Fault{kind: resetAfter} }

// TruncateBody executes the call, announces the full length of the body and closes the connection
// after n bytes of the body, counted after compression.
func TruncateBody(n int) Fault { return Fault{kind: cutBody, bytes: n} }

// SlowBody executes the call and sends the body in sixteen pieces (streams of unknown size in
// pieces of 64 KiB), with a pause before each.
func SlowBody(pause time.Duration) Fault { return Fault{kind: slowBody, wait: pause} }

// Delay waits before it executes the call. If the client disconnects during the delay, the call has
// no effect. To execute the call and delay only the response, use [HeaderDelay].
func Delay(d time.Duration) Fault { return Fault{kind: delay, wait: d} }

// HeaderDelay executes the call and waits before it sends the response header. If the client
// disconnects during the delay, the call has taken effect.
func HeaderDelay(d time.Duration) Fault { return Fault{kind: headerDelay, wait: d} }

// InvalidJSON executes the call and responds with a complete body that is declared as JSON but is
// invalid.
func InvalidJSON() Fault {
	return Fault{kind: rewrite, body: []byte(`{"id": 1, "title": "half of it", <<garbage>>`)}
}

// Fail sets a fault on a route ("POST /projects/:id/issues/:issue_iid/subscribe") or on all
// requests ("*"). If a route has several faults, the first acts until it is used up.
func (s *Server) Fail(route string, f Fault) {
	s.mustBeRoute(route)
	switch {
	case f.kind == 0:
		panic("forgetest: Fail: the Fault is zero: use a function that returns one, such as Status(502)")
	case f.kind == unfinished && f.status < 100, f.status > 999:
		panic(fmt.Sprintf("forgetest: Fail: %d is not an HTTP status", f.status))
	}
	s.faults.add(&routeFault{route: canonical(route), Fault: f})
}

// ClearFaults removes all faults.
func (s *Server) ClearFaults() {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = nil
}

type routeFault struct {
	route string
	seen  int
	Fault
}

type faultList struct {
	mu   sync.Mutex
	list []*routeFault
}

func (l *faultList) add(f *routeFault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, f)
}

func (l *faultList) remove(f *routeFault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = slices.DeleteFunc(l.list, func(other *routeFault) bool { return other == f })
}

// isUsed reports whether a fault will not act again.
func (l *faultList) isUsed(f *routeFault) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return f.isUsed()
}

func (f *routeFault) isUsed() bool { return f.times > 0 && f.seen >= f.skip+f.times }

// next finds the fault that acts on this request; without one it returns a fault that does nothing.
func (l *faultList) next(route string, r *http.Request) Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.list {
		if f.route != "*" && f.route != route || f.isUsed() || f.only != nil && !f.only(r) {
			continue
		}
		f.seen++
		if f.seen > f.skip {
			return f.Fault
		}
	}
	return Fault{}
}

// name returns the name of the fault in the log.
func (f Fault) name() string {
	switch f.kind {
	case replace:
		return fmt.Sprintf("return-%d", f.status)
	case unfinished, interim:
		return fmt.Sprintf("interim-%d", f.status)
	case restate:
		return fmt.Sprintf("override-status-%d", f.status)
	case resetBefore:
		return "drop-request"
	case resetAfter:
		return "drop-response"
	case delay:
		return "delay-request"
	case headerDelay:
		return "delay-response"
	case cutBody:
		return "truncate-body"
	case slowBody:
		return "slow-body"
	case rewrite:
		return "invalid-json"
	}
	return ""
}

// before applies a fault that replaces the call or acts before it. It reports whether the request
// is finished.
func (f Fault) before(s *Server, w http.ResponseWriter, r *http.Request) (finished bool) {
	switch f.kind {
	case replace:
		a := f.make(s, r)
		a.send(w)
		return true
	case resetBefore:
		resetConn(w)
		return true
	case delay:
		sleep(r, f.wait)
	case interim:
		sendInterim(w, f.status)
	case unfinished:
		sendUnfinished(w, r, f.status)
		return true
	}
	return false
}

// sleep waits. If the client disconnects or the server stops while it waits, it ends the request
// without a response.
func sleep(r *http.Request, d time.Duration) {
	select {
	case <-time.After(d):
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// after sends the response, changed by the fault.
func (f Fault) after(w http.ResponseWriter, r *http.Request, a *response) {
	if a.stop != nil && (f.kind == resetAfter || f.kind == rewrite) {
		_ = a.stream(io.Discard) // the call is executed completely
	}
	switch f.kind {
	case resetAfter:
		resetConn(w)
		return
	case headerDelay:
		sleep(r, f.wait)
	case cutBody:
		w = &truncatingWriter{ResponseWriter: w, left: f.bytes}
	case slowBody:
		w = &slowWriter{ResponseWriter: w, pause: func() { sleep(r, f.wait) }}
	case rewrite:
		*a = response{status: a.status, body: f.body}
		a.set("Content-Type", "application/json")
	case restate:
		a.status = f.status
	}
	a.send(w)
}

// resetConn ends the connection with a TCP reset.
func resetConn(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if secure, ok := conn.(*tls.Conn); ok {
		conn = secure.NetConn() // no closing alert is sent
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// truncatingWriter writes a number of body bytes and then aborts the connection.
type truncatingWriter struct {
	http.ResponseWriter
	left int
}

func (c *truncatingWriter) Write(p []byte) (int, error) {
	if len(p) < c.left {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// slowWriter writes in pieces and pauses before each.
type slowWriter struct {
	http.ResponseWriter
	pause func()
	piece int
	left  int // bytes left in the piece
}

func (s *slowWriter) Write(p []byte) (written int, err error) {
	if s.piece == 0 {
		s.piece = 64 << 10
		if size, err := strconv.Atoi(s.Header().Get("Content-Length")); err == nil {
			s.piece = max(1, size/16)
		}
	}
	for len(p) > 0 {
		if s.left == 0 {
			_ = http.NewResponseController(s.ResponseWriter).Flush()
			s.pause()
			s.left = s.piece
		}
		n, err := s.ResponseWriter.Write(p[:min(len(p), s.left)])
		written += n
		s.left -= n
		if err != nil {
			return written, err
		}
		p = p[n:]
	}
	return written, nil
}
