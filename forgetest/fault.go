package forgetest

import (
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

type faultKind int

const (
	_ faultKind = iota // nothing goes wrong
	// Instead of the call: nothing happens on the server.
	replace
	resetBefore
	unfinished
	// The call is carried out.
	delay
	resetAfter
	headerDelay
	cutBody
	slowBody
	rewrite
	interim
	restate
)

// Fault is something that goes wrong on the way. The constructors below make one, [Server.Fail] puts it on a route. Faults
// are values: Times and After return changed copies.
type Fault struct {
	kind   faultKind
	status int
	wait   time.Duration
	bytes  int
	make   func(s *Server, r *http.Request) answer // for replace
	body   []byte                                  // for rewrite
	only   func(r *http.Request) bool              // requests that it acts on; nil is all
	times  int                                     // 0 is always
	skip   int
}

// Times limits the fault to n requests.
func (f Fault) Times(n int) Fault { f.times = n; return f }

// After lets n requests of the route pass first.
func (f Fault) After(n int) Fault { f.skip = n; return f }

// Answer answers with a given status, content type and body, without carrying out the call.
func Answer(code int, contentType, body string) Fault {
	return Fault{kind: replace, status: code, make: func(*Server, *http.Request) answer {
		a := answer{status: code, body: []byte(body)}
		a.set("Content-Type", contentType)
		return a
	}}
}

// SignInPage answers 200 with an HTML page, as a single-sign-on gateway does, without carrying out the call.
func SignInPage() Fault {
	return Answer(http.StatusOK, "text/html; charset=utf-8", "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>\n")
}

// RedirectTo answers with a redirect, without carrying out the call. A url without a path gets the path and query of the request.
func RedirectTo(url string, code int) Fault {
	return Fault{kind: replace, status: code, make: func(_ *Server, r *http.Request) answer {
		location := url
		if _, rest, absolute := strings.Cut(url, "://"); absolute && !strings.Contains(rest, "/") {
			location += r.URL.RequestURI()
		}
		a := plain(code, "This resource has been moved to "+location+"\n")
		a.set("Location", location)
		return a
	}}
}

// RateLimit answers 429 in plain text with Retry-After (in whole seconds, rounded up) and RateLimit-* headers, without carrying out the
// call.
func RateLimit(retryAfter time.Duration) Fault {
	return Fault{kind: replace, status: http.StatusTooManyRequests, make: func(s *Server, _ *http.Request) answer {
		s.mu.Lock()
		defer s.mu.Unlock()
		return tooMany(retryAfter, s.now(), 60)
	}}
}

// ResetBefore resets the connection before the call is carried out.
func ResetBefore() Fault { return Fault{kind: resetBefore} }

// ResetAfter resets the connection after the call has taken effect, in place of an answer.
func ResetAfter() Fault { return Fault{kind: resetAfter} }

// CutBody carries out the call, announces the whole body and closes the connection after n bytes of it, as sent (after compression).
func CutBody(n int) Fault { return Fault{kind: cutBody, bytes: n} }

// SlowBody carries out the call and sends the body in sixteen pieces (streams of unknown size in pieces of 64 KiB) with a pause in front
// of each.
func SlowBody(pause time.Duration) Fault { return Fault{kind: slowBody, wait: pause} }

// Delay waits before the call is carried out. A caller that gives up meanwhile leaves no effect; for an answer that comes too late after
// the effect use HeaderDelay.
func Delay(d time.Duration) Fault { return Fault{kind: delay, wait: d} }

// HeaderDelay carries out the call and waits before it sends the response header: a caller that gives up meanwhile leaves the effect.
func HeaderDelay(d time.Duration) Fault { return Fault{kind: headerDelay, wait: d} }

// Garbage carries out the call and answers with a complete body that is announced as JSON and is none.
func Garbage() Fault {
	return Fault{kind: rewrite, body: []byte(`{"id": 1, "title": "half of it", <<garbage>>`)}
}

// Fail puts a fault on a route ("POST /projects/:id/issues/:issue_iid/subscribe") or on all requests ("*"). Of several
// faults the one given first acts until it is used up.
func (s *Server) Fail(route string, f Fault) {
	s.mustKnow(route)
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.list = append(s.faults.list, &routeFault{route: canonical(route), Fault: f})
}

// Heal removes all faults.
func (s *Server) Heal() {
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

// next finds the fault that acts on this request; without one it returns a fault that does nothing.
func (l *faultList) next(route string, r *http.Request) Fault {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, f := range l.list {
		if f.route != "*" && f.route != route || f.times > 0 && f.seen >= f.skip+f.times || f.only != nil && !f.only(r) {
			continue
		}
		f.seen++
		if f.seen > f.skip {
			return f.Fault
		}
	}
	return Fault{}
}

// before acts in place of the call, or ahead of it. It reports whether the request is finished.
func (f Fault) before(s *Server, w http.ResponseWriter, r *http.Request) (finished bool) {
	switch f.kind {
	case replace:
		a := f.make(s, r)
		a.send(w)
		return true
	case resetBefore:
		reset(w)
		return true
	case delay:
		wait(r, f.wait)
	case interim:
		sendInterim(w, f.status)
	case unfinished:
		sendUnfinished(w, r, f.status)
		return true
	}
	return false
}

// wait sleeps; when the client or the server goes away meanwhile it ends the request without an answer.
func wait(r *http.Request, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
		panic(http.ErrAbortHandler)
	}
}

// after sends the answer, or what the fault leaves of it.
func (f Fault) after(w http.ResponseWriter, r *http.Request, a *answer) {
	switch f.kind {
	case resetAfter:
		reset(w)
		return
	case headerDelay:
		wait(r, f.wait)
	case cutBody:
		w = &cutter{ResponseWriter: w, left: f.bytes}
	case slowBody:
		w = &slowWriter{ResponseWriter: w, pause: func() { wait(r, f.wait) }}
	case rewrite:
		*a = answer{status: a.status, body: f.body}
		a.set("Content-Type", "application/json")
	case restate:
		a.status = f.status
	}
	a.send(w)
}

// reset ends the connection with a TCP reset.
func reset(w http.ResponseWriter) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
}

// cutter passes on a number of body bytes and then aborts the connection.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(p []byte) (int, error) {
	if len(p) <= c.left && c.left > 0 {
		c.left -= len(p)
		return c.ResponseWriter.Write(p)
	}
	_, _ = c.ResponseWriter.Write(p[:c.left])
	_ = http.NewResponseController(c.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// slowWriter cuts what is written into pieces and pauses in front of each.
type slowWriter struct {
	http.ResponseWriter
	pause func()
	piece int
	left  int // of the piece
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
