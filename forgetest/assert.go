package forgetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// AssertRequestCount fails the test unless a route ("GET /issues") has received n requests; "*"
// counts all. The failure message lists the requests.
func (s *Server) AssertRequestCount(t testing.TB, route string, n int) bool {
	t.Helper()
	s.mustBeRoute(route)
	return s.assert(t, s.CountRequests(route) == n, route, "%s: %s, want %d", route, plural(s.CountRequests(route), "request"), n)
}

// AssertAppliedCount fails the test unless n calls of a route have changed something. It counts
// calls whose response the client did not receive, too.
func (s *Server) AssertAppliedCount(t testing.TB, route string, n int) bool {
	t.Helper()
	s.mustBeRoute(route)
	return s.assert(t, s.CountApplied(route) == n, route, "%s: changed something %s, want %d", route, plural(s.CountApplied(route), "time"), n)
}

// AssertNoRequest fails the test if one of the routes has received a request. Without routes it
// fails if the server has received any request.
func (s *Server) AssertNoRequest(t testing.TB, routes ...string) bool {
	t.Helper()
	if len(routes) == 0 {
		routes = []string{"*"}
	}
	for _, route := range routes {
		if !s.AssertRequestCount(t, route, 0) {
			return false
		}
	}
	return true
}

// AssertRequests fails the test unless exactly these routes were called, in this order. A request
// that matches no route counts as "".
func (s *Server) AssertRequests(t testing.TB, routes ...string) bool {
	t.Helper()
	var called, wanted []string
	for _, r := range s.Requests() {
		called = append(called, r.Route)
	}
	for _, route := range routes {
		if route != "" {
			s.mustBeRoute(route)
		}
		wanted = append(wanted, canonical(route))
	}
	return s.assert(t, slices.Equal(called, wanted), "*", "want requests to exactly these routes, in this order:\n  %s\ngot:", strings.Join(wanted, "\n  "))
}

// LastRequest returns the latest request of a route ("*": of any route). If there is none, it fails
// the test with FailNow.
func (s *Server) LastRequest(t testing.TB, route string) Request {
	t.Helper()
	s.mustBeRoute(route)
	for _, r := range slices.Backward(s.Requests()) {
		if route == "*" || r.Route == canonical(route) {
			return r
		}
	}
	s.assert(t, false, "*", "%s: no request", route)
	t.FailNow()
	return Request{}
}

// assert reports a failure with the requests of the route and the requests that matched no route.
func (s *Server) assert(t testing.TB, holds bool, route, format string, args ...any) bool {
	t.Helper()
	if holds {
		return true
	}
	var text strings.Builder
	fmt.Fprintf(&text, "forgetest: "+format, args...)
	for _, r := range s.Requests() {
		if route == "*" || r.Route == canonical(route) || r.Route == "" {
			text.WriteString("\n" + r.String())
		}
	}
	t.Error(text.String())
	return false
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

// String returns the text that a failed test shows: the request line and the status, then the
// bodies. Credentials are omitted.
func (r Request) String() string {
	var text strings.Builder
	text.WriteString(r.Method + " " + r.Path)
	if len(r.Query) > 0 {
		text.WriteString("?" + withoutCredentials(r.Query).Encode())
	}
	switch r.Status {
	case 0:
		text.WriteString(" -> no response")
	default:
		fmt.Fprintf(&text, " -> %d", r.Status)
	}
	if r.Route == "" {
		text.WriteString(" (matches no route)")
	}
	if len(r.Body) > 0 {
		text.WriteString("\n    request:  " + excerpt(r.Body))
	}
	if len(r.ResponseBody) > 0 {
		text.WriteString("\n    response: " + excerpt(r.ResponseBody))
	}
	return text.String()
}

// withoutCredentials returns a query with masked credentials.
func withoutCredentials(query map[string][]string) (values url.Values) {
	values = url.Values{}
	for name, list := range query {
		if name == "private_token" || name == "access_token" || name == "job_token" {
			list = []string{"***"}
		}
		values[name] = list
	}
	return values
}

// loggedBody is the number of bytes of a response body that the log keeps.
const loggedBody = 300

// excerpt returns the start of a body on one line.
func excerpt(body []byte) string {
	text := strings.ToValidUTF8(string(body[:min(len(body), loggedBody)]), "\uFFFD")
	text = strings.Join(strings.Fields(text), " ")
	if len(body) >= loggedBody {
		text += "..."
	}
	return text
}
