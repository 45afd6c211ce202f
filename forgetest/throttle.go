package forgetest

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// throttle is a rate limit in front of the API, such as throttle_authenticated_api. Like those of
// the deployed server it counts the requests of a user in windows that begin at multiples of the
// period, whatever their status.
type throttle struct {
	name   string
	calls  int
	period time.Duration
	routes []string // empty: all

	window int64 // the number of the window in which used was counted
	used   map[*User]int
}

// WithRateLimitHeaders sends the RateLimit-* headers of the throttles of [Server.SetThrottle] with
// all responses, as a server since 18.6 does whose administrator has set the feature flag
// rate_limiting_headers_for_unthrottled_requests. By default only a 429 has them.
func WithRateLimitHeaders() Option { return func(s *Server) { s.limitHeaders = true } }

// SetThrottle limits the requests of each user to n in a period of whole seconds; further ones get
// a 429. Requests without a valid token count as those of one user. The name is that of
// RateLimit-Name, such as "throttle_authenticated_api". A throttle counts the requests of the given
// routes, or without routes all requests to the API; a request may belong to several, and the
// headers show the one of which least remains. n = 0 removes the throttle.
func (s *Server) SetThrottle(name string, n int, period time.Duration, routes ...string) {
	for i, route := range routes {
		s.mustBeRoute(route)
		routes[i] = canonical(route)
	}
	if period < time.Second || period%time.Second != 0 {
		panic("forgetest: SetThrottle: the period is not a number of seconds: " + period.String())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.throttles = slices.DeleteFunc(s.store.throttles, func(t *throttle) bool { return t.name == name })
	if n > 0 {
		s.store.throttles = append(s.store.throttles, &throttle{name: name, calls: n, period: period, routes: routes})
	}
}

// throttled counts a request and sets the headers of its response. It returns the 429 response once
// a limit is reached.
func (c *call) throttled(h http.Header) *response {
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.route == nil || c.route.endpoint.Base != "api" {
		return nil
	}
	token, _ := c.token()
	user, now := s.store.tokens[token].user, s.now()
	var strictest *throttle
	for _, t := range s.store.throttles {
		if len(t.routes) > 0 && !slices.Contains(t.routes, c.route.name) {
			continue
		}
		if t.count(user, now); t.used[user] > t.calls {
			a := plain(http.StatusTooManyRequests, "Retry later\n")
			t.show(h, user)
			h.Set("Retry-After", strconv.FormatInt(t.end()-now.Unix(), 10))
			return &a
		}
		if strictest == nil || t.calls-t.used[user] < strictest.calls-strictest.used[user] {
			strictest = t
		}
	}
	if strictest != nil && s.limitHeaders && s.release.has(release{18, 6}) {
		strictest.show(h, user)
	}
	return nil
}

// count counts a request.
func (t *throttle) count(user *User, now time.Time) {
	if window := now.Unix() / int64(t.period/time.Second); window != t.window || t.used == nil {
		t.window, t.used = window, map[*User]int{}
	}
	t.used[user]++
}

// end returns the Unix time at which the window ends.
func (t *throttle) end() int64 { return (t.window + 1) * int64(t.period/time.Second) }

// show sets the headers. The limit is converted to a minute, and what remains is of the period.
func (t *throttle) show(h http.Header, user *User) {
	h.Set("RateLimit-Name", t.name)
	h.Set("RateLimit-Limit", strconv.Itoa(int(math.Ceil(float64(t.calls)*60/t.period.Seconds()))))
	h.Set("RateLimit-Observed", strconv.Itoa(t.used[user]))
	h.Set("RateLimit-Remaining", strconv.Itoa(max(0, t.calls-t.used[user])))
	h.Set("RateLimit-Reset", strconv.FormatInt(t.end(), 10))
}
