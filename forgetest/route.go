package forgetest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// route is one endpoint: its row of the contract, the required role, and its handler.
type route struct {
	name     string // "GET /projects/:id/repository/tree"
	role     Role   // required in the project or group of the path, in addition to read access
	author   bool   // the author of the merge request in the path is allowed, too
	admin    bool   // only for administrators
	starter  bool   // not of the contract, see starter.go
	handle   func(*call) response
	handler  http.HandlerFunc // instead of handle, see Handle
	endpoint *endpoint
	segments []string
}

// routes is the table of all services, ready for matching: literal segments precede placeholders.
var routes = sync.OnceValue(func() []*route {
	var all []*route
	for _, service := range [][]route{issueRoutes(), repositoryRoutes(), namespaceRoutes(),
		registryRoutes(), registryNativeRoutes(), resourceGroupRoutes(), secureFileRoutes(), approvalSettingRoutes(), auditEventRoutes(),
		mergeRequestRoutes(), userRoutes(), emailRoutes(), runnerRoutes(), placeholderRoutes(), settingsRoutes(), integrationRoutes()} {
		for _, r := range service {
			r.endpoint = catalogue().endpoints[r.name]
			if r.endpoint == nil {
				panic(fmt.Sprintf("forgetest: route %q is not in the contract", r.name))
			}
			r.segments = strings.Split(r.endpoint.Path, "/")[1:]
			all = append(all, &r)
		}
	}
	sortRoutes(all)
	return all
})

func sortRoutes(list []*route) {
	slices.SortStableFunc(list, func(a, b *route) int { return slices.CompareFunc(a.segments, b.segments, literalFirst) })
}

func literalFirst(a, b string) int {
	if aVar, bVar := strings.HasPrefix(a, ":"), strings.HasPrefix(b, ":"); aVar != bVar {
		if aVar {
			return 1
		}
		return -1
	}
	return strings.Compare(a, b)
}

// find matches an escaped path below a base address. If a route matches the path but not the
// method, it returns the methods that the path has.
func (t *routeTable) find(base, method, path string) (found *route, args map[string]string, allowed []string) {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	for _, r := range t.all() {
		args, ok := match(r.segments, parts)
		if !ok || r.endpoint.Base != base {
			continue
		}
		if r.endpoint.Method == method {
			return r, args, nil
		}
		if !slices.Contains(allowed, r.endpoint.Method) {
			allowed = append(allowed, r.endpoint.Method)
		}
	}
	return nil, nil, allowed
}

func match(segments, parts []string) (map[string]string, bool) {
	if i := slices.Index(segments, ":image_path"); i >= 0 && len(parts) > len(segments) { // its slashes are unescaped
		end := i + 1 + len(parts) - len(segments)
		parts = slices.Concat(parts[:i], []string{strings.Join(parts[i:end], "/")}, parts[end:])
	}
	if len(segments) == len(parts)+1 && segments[len(parts)] == "" {
		parts = slices.Concat(parts, []string{""}) // deployed servers, and all clients, omit the final slash
	}
	if len(segments) != len(parts) {
		return nil, false
	}
	args := map[string]string{}
	for i, segment := range segments {
		name, part := segment, parts[i]
		literal, suffix, optional := strings.Cut(segment, "[.:")
		switch {
		case optional:
			rest, ok := strings.CutPrefix(part, literal)
			if !ok || rest != "" && rest[0] != '.' {
				return nil, false
			}
			args[strings.TrimSuffix(suffix, "]")] = strings.TrimPrefix(rest, ".")
		case strings.HasPrefix(name, ":"):
			value, _ := url.PathUnescape(part) // net/http rejects an invalid one
			if value == "" {
				return nil, false
			}
			args[name[1:]] = value
		case name != part:
			return nil, false
		}
	}
	return args, true
}

// canonical maps an alias to the first route with the same request line. Requests are counted under
// its name.
func canonical(name string) string {
	e := catalogue().endpoints[name]
	if e == nil || e.SameAs == "" {
		return name
	}
	for other, first := range catalogue().endpoints {
		if first.ID == e.SameAs {
			return other
		}
	}
	return name
}

// mustBeRoute panics if a route name is misspelled: a fault on it would never act, and its count
// would always be 0.
func (s *Server) mustBeRoute(name string) {
	if name == "*" || s.routes.isRoute(name) {
		return
	}
	panic(fmt.Sprintf("forgetest: no route %q: did you mean %q? Routes are spelled as in the contract; Handle adds others", name, s.routes.nearest(name)))
}

// nearest returns the route with the smallest edit distance to a misspelled name. It ignores the
// names of placeholders and an optional part.
func (t *routeTable) nearest(name string) string {
	distance := func(r *route) int { return editDistance(skeleton(name), skeleton(r.name)) }
	return slices.MinFunc(t.all(), func(a, b *route) int { return distance(a) - distance(b) }).name
}

// Every response has versionHeader. noRouteHeader is in the response to a request that the server
// has no route for, so that a program can distinguish it from a 404 or 405 of an endpoint.
const (
	versionHeader = "X-Forgetest"
	noRouteHeader = "X-Forgetest-Route"
)

// noRoute returns the response to a request that matches no route, with the nearest routes. Outside
// of the API the response is that of a server: there the client's base URL is wrong.
func (s *Server) noRoute(status int, r *http.Request) response {
	a := rejected(status, "404 Not Found")
	path := r.URL.EscapedPath()
	if base, rest := s.splitBase(path); base != "" {
		near := s.routes.near(r.Method, rest)
		a = rejected(status, fmt.Sprintf("forgetest has no such route: %s %s (near: %q, %q, %q; Server.Handle adds routes)",
			r.Method, path, near[0], near[1], near[2]))
	}
	a.set(noRouteHeader, "none")
	return a
}

// near returns the three routes with the smallest edit distance to a request. Any text of the
// request fits a placeholder.
func (t *routeTable) near(method, path string) (names []string) {
	const longest = 300 // bytes that are compared
	path = path[:min(len(path), longest)]
	parts := strings.Split(path, "/")
	distance := map[string]int{}
	for _, r := range t.all() {
		segments := strings.Split(r.endpoint.Path, "/")
		for i, segment := range segments {
			if strings.HasPrefix(segment, ":") && i < len(parts) && parts[i] != "" {
				segments[i] = parts[i]
			}
		}
		names = append(names, r.name)
		distance[r.name] = editDistance(method+" "+path, r.endpoint.Method+" "+strings.Join(segments, "/"))
	}
	slices.SortStableFunc(names, func(a, b string) int { return distance[a] - distance[b] })
	return names[:3]
}

// skeleton returns a route without the names of placeholders, an optional part and a final slash.
func skeleton(name string) string {
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "/"), "[")
	parts := strings.Split(name, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			parts[i] = ":"
		}
	}
	return strings.Join(parts, "/")
}

// editDistance returns how many bytes must be inserted, deleted or replaced to turn a into b.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0]++
		for j := range len(b) {
			changed := corner
			if a[i] != b[j] {
				changed++
			}
			corner = row[j+1]
			row[j+1] = min(changed, corner+1, row[j]+1)
		}
	}
	return row[len(b)]
}
