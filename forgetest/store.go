package forgetest

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// store is the state of a server. Its methods expect the server's lock to be held.
type store struct {
	root      *User
	users     []*User
	userIDs   map[int64]*User
	usernames map[string]*User // lower case
	groups    []*Group
	projects  []*Project
	tokens    map[string]credential
	moved     map[string]*Project // former full path
	rates     map[string]*rate
	throttles []*throttle
	lists     map[string][]issueRef // results of filtered lists, see issues_list.go
	scans     map[string]*issueScan // positions in filtered lists, see issues_scan.go
	lastID    map[string]int64
	events    auditLog

	namespaceEdits map[int64]*Document // by id, see EditNamespace

	signingKey   string // of registry tokens
	tagDeleteOff bool
	runners      []*Runner
	settings     settings
}

func (s *store) init() {
	s.userIDs, s.usernames = map[int64]*User{}, map[string]*User{}
	s.tokens = map[string]credential{}
	s.moved = map[string]*Project{}
	s.namespaceEdits = map[int64]*Document{}
	s.rates = map[string]*rate{largeBlobs: {perMinute: limitedCalls}}
	s.lists = map[string][]issueRef{}
	s.scans = map[string]*issueScan{}
	s.lastID = map[string]int64{}
	s.signingKey = newToken("key")
}

// nextID reserves n ids of a kind and returns the first.
func (s *store) nextID(kind string, n int) int64 {
	first := s.lastID[kind] + 1
	s.lastID[kind] += int64(n)
	return first
}

// edit locks the server for a change from outside a call.
func (s *Server) edit() {
	s.mu.Lock()
	s.store.invalidate()
}

// invalidate discards data derived from the state.
func (s *store) invalidate() {
	clear(s.lists)
	clear(s.scans)
}

func (s *store) userByName(username string) *User {
	return s.usernames[strings.ToLower(username)]
}

func (s *store) userByID(id int64) *User {
	return s.userIDs[id]
}

// findUser finds a user by id or username.
func (s *store) findUser(ref string) *User {
	if id, isID := parseID(ref); isID {
		return s.userByID(id)
	}
	return s.userByName(ref)
}

// findGroup finds a group by id or full path.
func (s *store) findGroup(ref string) *Group {
	is := refersTo(ref)
	for _, g := range s.groups {
		if is(g.ID, g.Path) {
			return g
		}
	}
	return nil
}

// findProject finds a project by id or full path; moved is true if ref is a former path.
func (s *store) findProject(ref string) (p *Project, moved bool) {
	is := refersTo(ref)
	for _, p := range s.projects {
		if is(p.ID, p.Path) {
			return p, false
		}
	}
	p, moved = s.moved[strings.ToLower(ref)]
	return p, moved
}

// refersTo returns whether a reference means the object with an id and a full path. A number is an
// id.
func refersTo(ref string) func(id int64, path string) bool {
	if want, isID := parseID(ref); isID {
		return func(id int64, _ string) bool { return id == want }
	}
	return func(_ int64, path string) bool { return strings.EqualFold(path, ref) }
}

func parseID(s string) (int64, bool) {
	id, err := strconv.ParseInt(s, 10, 64)
	return id, err == nil
}

// rate counts calls in a window of one minute.
type rate struct {
	perMinute int
	start     time.Time
	used      int
}

// SetRateLimit limits a route to n calls a minute; further calls get a 429. 0 removes the limit. It
// is one limit for all users, and only the 429 shows it; [Server.SetThrottle] has the limits of a
// user. By default only "GET /projects/:id/repository/blobs/:sha" is limited: 5 calls a minute for
// blobs above 10 MB.
func (s *Server) SetRateLimit(route string, n int) {
	s.mustBeRoute(route)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store.rates[canonical(route)] = &rate{perMinute: n}
}

// checkRate counts a call and returns the 429 response once the limit is reached.
func (s *Server) checkRate(route string) *response {
	r := s.store.rates[route]
	if r == nil || r.perMinute == 0 {
		return nil
	}
	now := s.now()
	if now.Sub(r.start) >= time.Minute {
		r.start, r.used = now, 0
	}
	r.used++
	if r.used <= r.perMinute {
		return nil
	}
	limited := tooManyRequests(r.start.Add(time.Minute).Sub(now), now, r.perMinute)
	return &limited
}

// titleCase makes a name from a path segment: "billing-api" becomes "Billing Api".
func titleCase(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	for i, w := range words {
		words[i] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, " ")
}

// splitPath splits a full path into its parent ("" at the top) and its last segment. It panics on a
// malformed path.
func splitPath(path string) (parent, name string) {
	for _, part := range strings.Split(path, "/") {
		if part == "" || strings.ContainsAny(part, " ?#%") {
			panic(fmt.Sprintf("forgetest: %q is not a full path", path))
		}
	}
	i := strings.LastIndex(path, "/")
	return path[:max(i, 0)], path[i+1:]
}
