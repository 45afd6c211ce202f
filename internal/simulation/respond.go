package simulation

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"time"
)

// actBefore applies a fault while the call has no effect yet. It reports whether the request has
// ended.
func (p *passage) actBefore(f Fault) (finished bool) {
	switch f.Kind {
	case Respond:
		p.respond(f, nil)
		return true
	case Interim:
		for range max(1, f.Length) {
			p.w.Header().Set("Link", "</assets/style.css>; rel=preload; as=style")
			p.w.WriteHeader(f.Status)
			p.w.Header().Del("Link")
		}
	case Stall:
		p.hold(f.Wait)
	case Reset, Cut, Abort:
		p.leave(f.Kind)
		return true
	case Restart:
		p.world.restart(p.conn, f.Wait)
		panic(http.ErrAbortHandler)
	default:
		p.world.turn(p, f)
	}
	return false
}

// hold waits until the client or the server closes the connection, at most for wait if it is not 0.
func (p *passage) hold(wait time.Duration) {
	if wait == 0 {
		<-p.r.Context().Done()
		panic(http.ErrAbortHandler)
	}
	if pause(p.r.Context(), wait) != nil {
		panic(http.ErrAbortHandler)
	}
}

// leave ends the exchange without a response.
func (p *passage) leave(kind FaultKind) {
	if p.conn != nil && kind != Abort {
		p.world.strike(p.conn)
		p.conn.strike(mark{kind: kind})
	}
	panic(http.ErrAbortHandler)
}

// replay lets the server process the request, delays its response, and applies the faults AtAfter
// to the response.
func (p *passage) replay() {
	held := httptest.NewRecorder()
	p.handle(held)
	p.answered(held.Code)
	relinked := false
	for _, f := range p.at(AtAfter) {
		if f.Kind == Relink && relinked {
			continue // it would hide that the first link leads back; no real server does this
		}
		p.hit(f)
		switch f.Kind {
		case Respond:
			p.respond(f, held)
			return
		case Relink:
			relinked = true
			p.relink(f, held.Header())
		case Endless:
			p.endless()
			return
		default:
			if p.actBefore(f) {
				return
			}
		}
	}
	p.armHeader()
	p.send(held.Code, held.Header(), held.Body.Bytes())
}

// send sends a delayed response.
func (p *passage) send(status int, header http.Header, body []byte) {
	for name, values := range header {
		p.w.Header()[name] = values
	}
	w := p.direct()
	w.WriteHeader(status)
	if len(body) > 0 {
		_, _ = w.Write(body)
	}
}

// respond sends a status in place of the response. A status below 300 keeps the body of the delayed
// response held, if it is not nil.
func (p *passage) respond(f Fault, held *httptest.ResponseRecorder) {
	header, body := http.Header{}, []byte(nil)
	switch {
	case f.Status < 200:
		p.unfinished(f.Status)
		return
	case f.Status < 300 && held != nil:
		header, body = held.Header(), held.Body.Bytes()
	case f.Status == http.StatusNoContent || f.Status == http.StatusNotModified:
	case f.Length > 0:
		header.Set("Content-Type", "text/html; charset=utf-8")
		body = []byte("<!DOCTYPE html>\n" + strings.Repeat("x", f.Length))
	default:
		header.Set("Content-Type", "application/json")
		body = fmt.Appendf(nil, `{"message":"%d %s"}`, f.Status, http.StatusText(f.Status))
	}
	if f.Status >= 300 && f.Status < 400 {
		if location := p.target(f.Target); location != "" {
			header.Set("Location", location)
		}
	}
	for _, name := range []string{"Private-Token", "Job-Token", "Authorization"} {
		if secret := p.e.Header.Get(name); secret != "" {
			header.Set("X-Echo", secret) // as a careless server would
		}
	}
	date := p.world.date()
	if f.RetryAfter == ResetUnix {
		// Clients decide by its size whether a value is a Unix time or a number of seconds. In the year
		// 2000 of a bubble a Unix time is too small, so the clock of this server is ahead.
		date = date.AddDate(30, 0, 0)
	}
	header.Set("Date", date.Format(http.TimeFormat))
	setRetryAfter(f, header, date)
	p.armHeader()
	p.send(f.Status, header, body)
}

// setRetryAfter requests a wait, by a server's clock that shows date.
func setRetryAfter(f Fault, header http.Header, date time.Time) {
	seconds := strconv.Itoa(int(f.Wait / time.Second))
	until := date.Add(f.Wait)
	switch f.RetryAfter {
	case Seconds:
		header.Set("Retry-After", seconds)
	case Date:
		header.Set("Retry-After", until.Format(http.TimeFormat))
	case ResetUnix, ResetDelta:
		header.Set("RateLimit-Limit", "60")
		header.Set("RateLimit-Remaining", "0")
		if header.Set("RateLimit-Reset", seconds); f.RetryAfter == ResetUnix {
			header.Set("RateLimit-Reset", strconv.FormatInt(until.Unix(), 10))
		}
	case Absurd:
		header.Set("Retry-After", "99999999999999999999")
	case Garbage:
		header.Set("Retry-After", "soon")
	case Negative:
		header.Set("Retry-After", "-"+seconds)
	}
}

// unfinished sends an interim response without a final one. After 101 the connection stays open and
// silent.
func (p *passage) unfinished(status int) {
	raw, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = raw.Close() }()
	upgrade := ""
	if status == http.StatusSwitchingProtocols {
		upgrade = "Connection: Upgrade\r\nUpgrade: websocket\r\n"
	}
	p.world.change(func() { p.e.Status = status })
	_, _ = fmt.Fprintf(raw, "HTTP/1.1 %d %s\r\n%s\r\n", status, http.StatusText(status), upgrade)
	if upgrade != "" {
		defer closeAtEnd(p.r.Context(), raw)()
		_, _ = raw.Read(make([]byte, 1))
	}
}

// endless sends a header of a megabyte. Over HTTP/1 it also never ends.
func (p *passage) endless() {
	line := strings.Repeat("x", 1000)
	if p.r.ProtoMajor == 2 {
		for i := range 1000 {
			p.w.Header().Set(fmt.Sprintf("X-Filler-%d", i), line)
		}
		p.send(http.StatusOK, http.Header{}, nil)
		return
	}
	raw, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = raw.Close() }()
	defer closeAtEnd(p.r.Context(), raw)()
	p.world.change(func() { p.e.Status = http.StatusOK })
	_, _ = fmt.Fprint(raw, "HTTP/1.1 200 OK\r\n")
	for i := range 1000 {
		if _, err := fmt.Fprintf(raw, "X-Filler-%d: %s\r\n", i, line); err != nil {
			return
		}
	}
	_, _ = raw.Read(make([]byte, 1)) // until the client closes the connection
}
