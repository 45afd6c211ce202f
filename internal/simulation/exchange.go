package simulation

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Exchange is one request on the wire, as a server saw it.
type Exchange struct {
	Call    string // of X-Call; at the other origin, of the redirect that led there
	Attempt int    // of the same call, method and URL
	Page    string // position in a list, as in the query
	Nth     int    // which of the positions of the call it is, from 1
	Origin  string // "forge", "other", "token" or "proxy"
	Proto   string // "HTTP/1.1", "HTTP/2.0"
	Conn    int    // number of the connection

	Method, Path, RawQuery string
	Header                 http.Header
	Read                   int64 // bytes of the request's body that the server took

	Lost    bool // a fault AtHead has hit: the server has not seen the request, or not as it was sent
	Handled bool // the server was given the call
	Effect  bool // it was a write, and it has taken effect
	Answer  int  // the status that the server meant to give; 0 where it did not carry out the call
	Status  int  // the status that was sent; 0: none
	Sent    int64
	Faults  []Fault // those that hit

	// Struck says that a fault has hit the connection, which other requests of HTTP/2 share, and those
	// that come after.
	Struck bool

	Began, Ended time.Duration // in virtual time; Ended is 0 while the request runs
}

// Event is something else that the network or a server did, for the story of a seed.
type Event struct {
	At   time.Duration
	Text string
}

// Wire returns all requests on the wire so far, in the order in which they arrived.
func (w *World) Wire() []Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := make([]Exchange, len(w.wire))
	for i, e := range w.wire {
		list[i] = *e
		list[i].Faults = slices.Clone(e.Faults)
		list[i].Struck = w.struck[e.Conn]
	}
	return list
}

// Events returns what happened beside the exchanges: dials, and what faults did.
func (w *World) Events() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// change edits the records.
func (w *World) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
}

// note records an event.
func (w *World) note(text string) {
	w.change(func() { w.events = append(w.events, Event{w.Now(), text}) })
}

// hit records a fault that acts; e may be nil.
func (w *World) hit(e *Exchange, f Fault) {
	w.note("fault: " + f.String())
	w.change(func() {
		if e != nil {
			e.Faults = append(e.Faults, f)
		}
	})
}

// strike records that a fault has hit a connection.
func (w *World) strike(c *conn) {
	w.change(func() { w.struck[c.id] = true })
}

// begin notes a request that arrives.
func (w *World) begin(r *http.Request, origin string) *Exchange {
	e := &Exchange{
		Call: r.Header.Get(CallHeader), Page: position(r.URL.Query()), Origin: origin, Proto: r.Proto,
		Method: r.Method, Path: r.URL.EscapedPath(), RawQuery: r.URL.RawQuery, Header: r.Header.Clone(),
		Began: w.Now(),
	}
	if rest, found := strings.CutPrefix(e.Path, otherPrefix); found || strings.HasPrefix(e.Path, backPrefix) {
		if !found {
			rest = strings.TrimPrefix(e.Path, backPrefix)
		}
		id, _, _ := strings.Cut(rest, "/")
		e.Call, _ = url.PathUnescape(id)
	}
	if c, ok := r.Context().Value(connKey{}).(*conn); ok {
		e.Conn = c.id
		if r.Method == http.MethodConnect { // its header is the transport's
			e.Call, e.Path = c.call, r.Host
		}
	}
	w.change(func() { w.add(e) })
	return e
}

// add numbers an exchange. The caller holds mu.
func (w *World) add(e *Exchange) {
	w.attempts[e.key()]++
	e.Attempt = w.attempts[e.key()]
	if e.Nth = w.nth(e); !slices.Contains(w.positions[e.list()], e.Page) {
		w.positions[e.list()] = append(w.positions[e.list()], e.Page)
	}
	w.wire = append(w.wire, e)
}

// nth counts the positions that a call has asked a list for; pages have a number of their own. The
// caller holds mu.
func (w *World) nth(e *Exchange) int {
	if number, err := strconv.Atoi(e.Page); err == nil {
		return number
	}
	if e.Page == "" {
		return 1
	}
	known := w.positions[e.list()]
	if i := slices.Index(known, e.Page); i >= 0 {
		return i + 1
	}
	return len(known) + 1
}

// list is what positions are counted by.
func (e *Exchange) list() string {
	return strings.Join([]string{e.Origin, e.Call, e.Method, e.Path}, "\n")
}

// key is what attempts are counted by.
func (e *Exchange) key() string {
	return strings.Join([]string{e.Origin, e.Call, e.Method, e.Path, e.RawQuery}, "\n")
}

// positions are the names of parameters that say where in a list a request reads.
var positions = []string{"page", "cursor", "page_token", "last"}

func position(query map[string][]string) string {
	for _, name := range positions {
		if at := query[name]; len(at) > 0 && at[0] != "" {
			return at[0]
		}
	}
	return ""
}

// hitting returns the faults of the plan that are keyed to an exchange.
func (w *World) hitting(e *Exchange) (list []Fault) {
	for _, f := range w.plan.Faults {
		if f.At != AtDial && f.At != AtHead && f.hits(e) {
			list = append(list, f)
		}
	}
	return list
}

// hits reports whether the fault is keyed to an exchange.
func (f Fault) hits(e *Exchange) bool {
	switch {
	case f.Origin != e.Origin && (f.Origin != "" || e.Origin != "forge"),
		f.Call != "*" && f.Call != e.Call,
		f.Target == Moved && strings.HasPrefix(e.Path, movedPrefix),
		f.Route != "" && f.Route != e.Method+" "+e.Path,
		f.Attempt != 0 && f.Attempt != e.Attempt:
		return false
	}
	return f.Page == "" || f.Page == e.Page || f.Page == "#"+strconv.Itoa(e.Nth)
}
