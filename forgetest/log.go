package forgetest

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// loggedRequests is the number of requests that the log keeps. Requests beyond it are still
// counted.
const loggedRequests = 10_000

// Request is one request as the server received it.
type Request struct {
	Method       string      // as received
	Path         string      // escaped, as received, without the query
	Route        string      // "GET /projects/:id/repository/tree"; empty when no route matched
	Query        url.Values  // decoded
	Header       http.Header // credentials included
	Body         []byte      // complete
	Time         time.Time   // of the server's clock
	Fault        string      // the fault that acted on it: "drop-response"; "" for none
	Applied      bool        // it changed something
	Status       int         // 0 while the request runs, and if the connection was reset before the response
	ResponseBody []byte      // the start of the response body; empty for a stream of the contract and after a fault
}

// requestLog is the log of a server. It has its own lock.
type requestLog struct {
	mu      sync.Mutex
	list    []*Request
	total   int
	counts  map[string]int
	effects map[string]int
}

func (l *requestLog) add(r *Request) (number int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		l.counts, l.effects = map[string]int{}, map[string]int{}
	}
	if len(l.list) >= 2*loggedRequests {
		l.list = slices.Clone(l.list[loggedRequests:])
	}
	l.list = append(l.list, r)
	l.counts[r.Route]++
	l.total++
	return l.total
}

// clear forgets all requests, which are no longer counted.
func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list, l.total = nil, 0
	clear(l.counts)
	clear(l.effects)
}

func (l *requestLog) update(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Requests returns the requests received so far, oldest first; at most the latest 10,000.
func (s *Server) Requests() []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	list := s.log.list[max(0, len(s.log.list)-loggedRequests):]
	requests := make([]Request, len(list))
	for i, r := range list {
		requests[i] = *r
	}
	return requests
}

// CountRequests returns how many requests a route ("GET /issues") has received; "*" counts all, ""
// those that match no route. It panics if the route is misspelled.
func (s *Server) CountRequests(route string) int {
	if route != "" {
		s.mustBeRoute(route)
	}
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if route == "*" {
		return s.log.total
	}
	return s.log.counts[canonical(route)]
}

// CountApplied returns how many calls of a route have changed something, including calls whose
// response the client did not receive; "*" counts all routes. It panics if the route is misspelled.
func (s *Server) CountApplied(route string) int {
	s.mustBeRoute(route)
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	if route != "*" {
		return s.log.effects[canonical(route)]
	}
	sum := 0
	for _, n := range s.log.effects {
		sum += n
	}
	return sum
}

// WithRequestLog writes a line for each request when it has ended.
func WithRequestLog(w io.Writer) Option { return func(s *Server) { s.printer = w } }

// print writes the line of a request.
func (s *Server) print(r *Request) {
	if s.printer == nil {
		return
	}
	s.log.update(func() {
		notes := ""
		if r.Route == "" {
			notes += " (no such route)"
		}
		if r.Applied {
			notes += " (changed something)"
		}
		if r.Fault != "" {
			notes += " (fault " + r.Fault + ")"
		}
		_, _ = fmt.Fprintf(s.printer, "%s %s %s %d%s\n", r.Time.Format(time.TimeOnly), r.Method, r.Path, r.Status, notes)
	})
}

func discardLog() *log.Logger { return log.New(io.Discard, "", 0) }
