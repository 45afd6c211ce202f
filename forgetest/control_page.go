package forgetest

import (
	_ "embed"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"
)

//go:embed control/page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// pageRequests is the number of requests on the page.
const pageRequests = 50

// pageCount is one row of what the server holds.
type pageCount struct {
	Name  string
	Count int
	Path  string // of the API
}

// page shows a person the server: its address and token, what it holds, its routes and the last
// requests. The page's script fetches the page again and replaces the requests.
func (c *control) page(w http.ResponseWriter, _ *http.Request) {
	s := c.server
	all := s.Requests()
	last := journal(all[max(0, len(all)-pageRequests):])
	slices.Reverse(last)
	values := map[string]any{
		"URL": s.URL, "API": s.URL + apiPath, "Token": s.Token, "Version": moduleVersion(), "Release": s.release.version(), "Seed": orElse(s.seedName, "no data"),
		"Routes": s.RouteNames(), "Requests": last, "Counts": s.counts(),
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; frame-ancestors 'none'")
	_ = pageTemplate.Execute(w, values)
}

// RouteNames returns all routes that the server has now, by path.
func (s *Server) RouteNames() []string {
	names := map[string]bool{}
	for _, r := range s.routes.all() {
		names[r.name] = true
	}
	path := func(name string) string { _, path, _ := strings.Cut(name, " "); return path }
	return slices.SortedFunc(maps.Keys(names), func(a, b string) int {
		if order := strings.Compare(path(a), path(b)); order != 0 {
			return order
		}
		return strings.Compare(a, b)
	})
}

func (s *Server) counts() []pageCount {
	s.mu.Lock()
	defer s.mu.Unlock()
	issues, mrs := 0, 0
	for _, p := range s.store.projects {
		issues, mrs = issues+int(p.tracker.last), mrs+len(p.tracker.mergeRequests)
	}
	return []pageCount{
		{"users", len(s.store.users), "/users"}, {"groups", len(s.store.groups), "/groups"}, {"projects", len(s.store.projects), "/projects"},
		{"issues", issues, "/issues?scope=all"}, {"merge requests", mrs, "/merge_requests?scope=all"}, {"runners", len(s.store.runners), "/runners/all"},
	}
}
