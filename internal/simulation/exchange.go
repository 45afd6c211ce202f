package simulation

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Exchange is one request on the wire, as a server received it.
type Exchange struct {
	Call    string // value of X-Call; at the other origin, the call of the redirect
	Attempt int    // counts the requests with the same call, method and URL
	Page    string // position in a list, as in the query
	Nth     int    // number of the list position within the call, from 1
	Origin  string // "forge", "other", "token" or "proxy"
	Proto   string // "HTTP/1.1", "HTTP/2.0"
	Conn    int    // number of the connection

	Method, Path, RawQuery string
	Header                 http.Header
	Read                   int64 // bytes of the request's body that the server read

	Lost    bool // a fault AtHead has hit: the server has not received the request as it was sent, or at all
	Handled bool // the request reached the server's handler
	Effect  bool // the request was a write and has taken effect
	Answer  int  // the status that the server's handler returned; 0 if it did not run
	Status  int  // the status that was sent; 0: none
	Sent    int64
	Faults  []Fault // the faults that hit

	// Struck reports that a fault has hit the connection of the request, which concurrent requests
	// share over HTTP/2 and later requests over HTTP/1.
	Struck bool

	Began, Ended time.Duration // in virtual time; Ended is 0 while the request runs
}

// Event is a dial or a fault, for the story of a seed.
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

// Events returns the dials and the faults, which are not in Wire.
func (w *World) Events() []Event {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.events)
}

// change calls f with mu locked.
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

// begin records a request that arrives.
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
		if r.Method == http.MethodConnect { // the header of CONNECT is the transport's
			e.Call, e.Path = c.call, r.Host
		}
	}
	w.change(func() { w.add(e) })
	return e
}

// add numbers an exchange and records it. The caller holds mu.
func (w *World) add(e *Exchange) {
	w.attempts[e.key()]++
	e.Attempt = w.attempts[e.key()]
	if e.Nth = w.nth(e); !slices.Contains(w.positions[e.list()], e.Page) {
		w.positions[e.list()] = append(w.positions[e.list()], e.Page)
	}
	w.wire = append(w.wire, e)
}

// nth returns the number of an exchange's list position within its call: the page number, or for
// other positions their place among the distinct ones of the call. The caller holds mu.
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

// list returns the key under which positions are counted.
func (e *Exchange) list() string {
	return strings.Join([]string{e.Origin, e.Call, e.Method, e.Path}, "\n")
}

// key returns the key under which attempts are counted.
func (e *Exchange) key() string {
	return strings.Join([]string{e.Origin, e.Call, e.Method, e.Path, e.RawQuery}, "\n")
}

// positions are the query parameters with the position in a list.
var positions = []string{"page", "cursor", "page_token", "last"}

func position(query map[string][]string) string {
	for _, name := range positions {
		if at := query[name]; len(at) > 0 && at[0] != "" {
			return at[0]
		}
	}
	return ""
}

// hitting returns the faults that match an exchange.
func (w *World) hitting(e *Exchange) (list []Fault) {
	for _, f := range w.plan.Faults {
		if f.At != AtDial && f.At != AtHead && f.hits(e) {
			list = append(list, f)
		}
	}
	return list
}

// hits reports whether an exchange matches the fault.
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
