package forgetest

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// routeTable has the routes of the contract and those that Handle added. It has its own lock.
type routeTable struct {
	mu    sync.RWMutex
	added []*route
	list  []*route // all, ready for matching; nil before the first call of Handle
}

// RouteOption changes the checks of a route that [Server.Handle] adds.
type RouteOption func(*route)

// RequireRole responds 403 to users below a role in the project or group of the path.
// Administrators pass. Handle panics if the path does not begin with a project or group.
func RequireRole(role Role) RouteOption { return func(r *route) { r.role = role } }

// RequireAdmin responds 403 to all users except administrators.
func RequireAdmin() RouteOption { return func(r *route) { r.admin = true } }

// AllowAnonymous accepts requests without a credential. A wrong credential is still 401, and a
// private project or group is 404 without one.
func AllowAnonymous() RouteOption { return func(r *route) { r.accept("none") } }

// AllowJobToken accepts job tokens. One of a project is 403 in other projects.
func AllowJobToken() RouteOption { return func(r *route) { r.accept("job_token") } }

func (r *route) accept(scheme string) {
	r.endpoint.Auth.Schemes = append(r.endpoint.Auth.Schemes, scheme)
}

// Handle adds a route that the contract does not have, or replaces one that it has. The route is a
// method and a path below /api/v4, spelled as in forge.Call: "GET /projects/:id/jobs". A second
// call with the same route replaces the handler. Handle panics if a route is malformed, or if it
// differs from an existing one only in the names of placeholders. It may be called while the
// server runs.
//
// The server handles the request as one of the contract before it calls the handler:
//
//   - A valid access token is required (401), whose scope allows the method (403). Sudo applies.
//   - "/projects/:id/..." and "/groups/:id/..." are 404 unless the user can read the project or
//     group, which is an id or a path. A former path of a project redirects. Other placeholders are
//     not checked. Issues and merge requests are not looked up.
//   - A malformed JSON, form or multipart body is 400. Bodies of other types are accepted.
//   - Faults, rate limits, the log and all assertions know the route. A request other than GET
//     counts as applied if its response is 2xx; [SetApplied] changes this.
//
// The options change these checks. A request to a replaced route skips all other checks of the
// contract: parameters, tier, offering, release and vocabulary.
//
// The handler reads the request with net/http: r.PathValue("id") returns a decoded placeholder,
// r.URL.Query, r.FormValue and r.FormFile the parameters, r.Body the body. [UserFrom],
// [ProjectFrom] and [GroupFrom] return what the server found. [WriteJSON], [WriteError] and
// [WritePage] write responses in the form of the API; any other content type can be written, too.
// The handler runs without a lock, so it may call all methods of the server except Close, and it
// may run concurrently.
//
// A GET handler also serves HEAD. A response of at most 1 MiB is sent when the handler has
// returned, and gets an ETag if it is the 200 of a GET. A longer one, or one that the handler
// flushes, is streamed.
//
// If the handler panics, the response is 500 with the panic's value, and the test of [New] fails.
// panic(http.ErrAbortHandler) ends the connection instead and does not fail the test.
func (s *Server) Handle(route string, handler http.HandlerFunc, opts ...RouteOption) {
	r, err := parseRoute(route)
	if err == nil && handler == nil {
		err = fmt.Errorf("the handler is nil")
	}
	if err != nil {
		panic(fmt.Sprintf("forgetest: Handle(%q): %v", route, err))
	}
	r.handler = handler
	for _, opt := range opts {
		opt(r)
	}
	if r.role > NoAccess && r.owner() == "" {
		panic(fmt.Sprintf("forgetest: Handle(%q): RequireRole needs a path that begins with /projects/:id or /groups/:id", route))
	}
	if other := s.routes.add(r); other != "" {
		panic(fmt.Sprintf("forgetest: Handle(%q): the server spells this route %q", route, other))
	}
}

var routeSyntax = regexp.MustCompile(`^([A-Z]+) ((?:/[^/ ?#%{}]+)+/?)$`)

var placeholder = regexp.MustCompile(`^:[a-zA-Z_][a-zA-Z_0-9]*$`)

// parseRoute parses "GET /projects/:id/jobs".
func parseRoute(name string) (*route, error) {
	found := routeSyntax.FindStringSubmatch(name)
	switch {
	case found == nil:
		return nil, fmt.Errorf("a route is a method and a path with placeholders, such as %q", "GET /projects/:id/jobs")
	case strings.HasPrefix(found[2], apiPath+"/"):
		return nil, fmt.Errorf("the path is below %s and does not repeat it", apiPath)
	case catalogue().endpoints[name] != nil && catalogue().endpoints[name].Base != "api":
		return nil, fmt.Errorf("routes outside %s cannot be replaced", apiPath)
	}
	e := &endpoint{Method: found[1], Path: found[2], Base: "api"}
	e.Auth.Schemes = []string{"access_token"}
	e.Pagination.Keyset = true
	r := &route{name: name, endpoint: e, segments: strings.Split(e.Path, "/")[1:]}
	seen := map[string]bool{}
	for _, segment := range r.segments {
		if !strings.HasPrefix(segment, ":") {
			continue
		}
		if !placeholder.MatchString(segment) || seen[segment] {
			return nil, fmt.Errorf("%q is not a placeholder, or not the only one of its name", segment)
		}
		seen[segment] = true
	}
	return r, nil
}

// owner returns the placeholder that names the project or group of the path; "" if there is none.
func (r *route) owner() string {
	if len(r.segments) < 2 || r.segments[0] != "projects" && r.segments[0] != "groups" {
		return ""
	}
	name, isPlaceholder := strings.CutPrefix(r.segments[1], ":")
	if !isPlaceholder {
		return ""
	}
	return name
}

// all returns all routes, ready for matching.
func (t *routeTable) all() []*route {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if t.list == nil {
		return routes()
	}
	return t.list
}

// add adds a route, or replaces the one with its name. If a route differs from it only in the names
// of placeholders, it returns the name of that route and adds nothing.
func (t *routeTable) add(r *route) (other string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r.name = canonical(r.name)
	form := skeleton(r.name)
	t.added = slices.DeleteFunc(t.added, func(known *route) bool { return known.starter && skeleton(known.name) == form })
	for _, known := range slices.Concat(routes(), t.added) {
		if skeleton(known.name) == form && known.name != r.name && canonical(known.name) != r.name {
			return known.name
		}
	}
	isReplaced := func(known *route) bool { return canonical(known.name) == r.name }
	t.added = append(slices.DeleteFunc(t.added, isReplaced), r)
	t.list = slices.Clone(t.added)
	for _, known := range routes() {
		if !slices.ContainsFunc(t.added, func(r *route) bool { return canonical(known.name) == r.name }) {
			t.list = append(t.list, known)
		}
	}
	sortRoutes(t.list)
	return ""
}

// isRoute reports whether a name is a route of the contract, an alias included, or one that Handle
// added.
func (t *routeTable) isRoute(name string) bool {
	named := func(r *route) bool { return r.name == name }
	return slices.ContainsFunc(routes(), named) || slices.ContainsFunc(t.all(), named)
}
