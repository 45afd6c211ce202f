package simulation

import (
	"net/http"
	"strings"
	"time"
)

// Exchange is one request on the wire, as a server saw it.
type Exchange struct {
	Call    string // of X-Call
	Attempt int    // of the same call, method and URL
	Page    string // position in a list, as in the query
	Origin  string // "forge", "other", "token" or "proxy"
	Proto   string // "HTTP/1.1", "HTTP/2.0"
	Conn    int    // number of the connection

	Method, Path, RawQuery string
	Header                 http.Header
	Read                   int64 // bytes of the request's body that the server took

	Handled bool // the call was carried out, whatever was answered
	Effect  bool // it was a write, and the server changed something or would have
	Answer  int  // the status that the server meant to give; 0 where it was not carried out
	Status  int  // the status that was sent; 0: none
	Sent    int64
	Faults  []Fault // those that hit

	Began, Ended time.Duration // in virtual time; Ended is 0 while the request runs
}

// Wire returns all requests on the wire so far, in the order in which they arrived.
func (w *World) Wire() []Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]Exchange, len(w.wire))
	for i, e := range w.wire {
		list[i] = *e
		list[i].Faults = append([]Fault(nil), e.Faults...)
	}
	return list
}

// change edits an exchange.
func (w *World) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// begin notes a request that arrives.
func (w *World) begin(r *http.Request, origin string) *Exchange {
	e := &Exchange{
		Call: r.Header.Get(CallHeader), Page: position(r), Origin: origin, Proto: r.Proto,
		Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Header: r.Header.Clone(),
		Began: w.Now(),
	}
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		e.Conn = c.id
	}
	key := strings.Join([]string{origin, e.Call, e.Method, e.Path, e.RawQuery}, "\n")
	w.change(func() {
		w.attempts[key]++
		e.Attempt = w.attempts[key]
		w.wire = append(w.wire, e)
	})
	return e
}

// position is where in a list a request reads.
func position(r *http.Request) string {
	query := r.URL.Query()
	for _, name := range []string{"page", "cursor", "page_token", "last"} {
		if at := query.Get(name); at != "" {
			return at
		}
	}
	return ""
}

// front stands before the server's handler.
type front struct {
	world *World
	next  http.Handler
}

func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e := f.world.begin(r, "forge")
	out := &writer{ResponseWriter: w, world: f.world, exchange: e}
	body := &counted{ReadCloser: r.Body, world: f.world, exchange: e}
	r.Body = body
	defer f.world.change(func() { e.Ended = f.world.Now() })
	f.world.change(func() { e.Handled = true })
	f.next.ServeHTTP(out, r)
	f.world.change(func() {
		e.Answer = e.Status
		e.Effect = e.Method != http.MethodGet && e.Method != http.MethodHead && e.Answer < 300
	})
}
