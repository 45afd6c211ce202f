package forgetest

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	defaultMaxQuery = 8 << 10  // longer queries are answered with 414 (document 1 §8)
	maxBody         = 32 << 20 // of a request
)

// call is one request on its way through the server.
type call struct {
	*Server
	route  *route
	r      *http.Request
	args   map[string]string // path parameters
	params url.Values        // query and body
	files  map[string]upload // of a multipart body
	object map[string]any    // a JSON body as it is: null and [] have no form in params
	user   *User             // nil without credentials
	job    *Project          // the only project that the job token of the call reaches; nil without such a limit

	// The records that the path names.
	project *Project
	group   *Group
	issue   *Issue
	mr      *MergeRequest

	sent []byte // the start of the answer's body, for the log
}

// serve is the way of every request: log, route, faults, answer.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	c := &call{Server: s, r: r, params: url.Values{}}
	var allowed []string
	if base, path := s.split(r.URL.EscapedPath()); base != "" {
		c.route, c.args, allowed = findRoute(base, r.Method, path)
	}
	entry := &Request{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), Body: body}
	if c.route != nil {
		entry.Route = c.route.name
	}
	number := s.log.add(entry)
	if err != nil { // the client went away or sends without end: half a body must not take effect
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Request-Id", fmt.Sprintf("forgetest-%08d", number))
	w.Header().Set("Date", s.date())

	fault := s.faults.next(entry.Route, r)
	if fault.before(s, w, r) {
		s.log.change(func() { entry.Status = fault.status })
		return
	}
	a := s.answer(c, body, allowed)
	if entry.Route != "" && r.Method != http.MethodGet && a.status < 300 {
		s.log.change(func() { s.log.effects[entry.Route]++ })
	}
	switch fault.kind {
	case resetAfter:
	case restate:
		s.log.change(func() { entry.Status, entry.Answer = fault.status, c.sent })
	default:
		s.log.change(func() { entry.Status, entry.Answer = a.status, c.sent })
	}
	fault.after(w, r, &a)
}

// split finds the base address that a path belongs to (api, registry or auth) and cuts it off.
func (s *Server) split(path string) (base, rest string) {
	if rest, found := strings.CutPrefix(path, s.prefix+apiPath); found {
		return "api", rest
	}
	if rest, found := strings.CutPrefix(path, s.prefix); found && strings.HasPrefix(rest, "/jwt/") {
		return "auth", rest
	}
	if strings.HasPrefix(path, "/v2/") {
		return "registry", path
	}
	return "", path
}

// answer finds the answer under the lock.
func (s *Server) answer(c *call, body []byte, allowed []string) answer {
	if len(c.r.URL.RawQuery) > s.maxQuery {
		return plain(http.StatusRequestURITooLong, "URI Too Long\n")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work(s.now())
	var a answer
	e := encoder{base: s.base(), gitlab: s.gitlab, sold: func(r *limitation) bool { return r.licensed(s) }}
	switch {
	case c.route != nil:
		a = c.run(body)
		if e.views, e.words = a.views, a.words; len(e.views) == 0 {
			e.views = []string{c.route.endpoint.view()}
		}
	case len(allowed) > 0:
		a = refused(http.StatusMethodNotAllowed, "405 Not Allowed")
		a.set("Allow", strings.Join(allowed, ", "))
	default:
		a = refused(http.StatusNotFound, "404 Not Found")
	}
	if a.status < http.StatusMultipleChoices {
		e.changes = &s.changes
	}
	a.render(e)
	c.sent = slices.Clone(a.body[:min(len(a.body), loggedAnswer)])
	a.compress(c.r.Header.Get("Accept-Encoding"))
	return a
}

// run takes the steps that all endpoints share, then the endpoint's own. The first failing step is the answer.
func (c *call) run(body []byte) answer {
	steps := []func() *answer{
		c.authenticate,
		func() *answer { return c.readParams(body) },
		c.translate,
		c.impersonate,
		c.license,
		c.validate,
		func() *answer { return c.overRate(c.route.name) },
		c.resolve,
		c.authorize,
	}
	for _, step := range steps {
		if a := step(); a != nil {
			return *a
		}
	}
	compare := c.watch()
	a := c.route.handle(c)
	compare()
	if c.r.Method != http.MethodGet && a.status < 300 {
		c.changed()
	}
	return a
}

// resolve finds the project or group and the issue that the path names.
func (c *call) resolve() *answer {
	ref, hasID := c.args["id"]
	if id, named := c.args["project_id"]; named {
		ref, hasID = id, true
	}
	switch {
	case !hasID:
	case strings.HasPrefix(c.route.endpoint.Path, "/projects/"):
		p, moved := c.Server.project(ref)
		if p == nil || !p.readableBy(c.user) || moved && !c.release.has(release{16, 4}) { // document 1 §7
			return fail(missing("Project"))
		}
		if moved {
			return fail(c.redirect(p))
		}
		if c.job != nil && c.job != p {
			return fail(failed(http.StatusForbidden, "403 Forbidden"))
		}
		c.project = p
	case strings.HasPrefix(c.route.endpoint.Path, "/groups/"):
		g := c.Server.group(ref)
		if g == nil || !g.readableBy(c.user) {
			return fail(missing("Group"))
		}
		c.group = g
	}
	if a := c.resolveMergeRequest(); a != nil {
		return a
	}
	return c.resolveIssue()
}

func (c *call) resolveIssue() *answer {
	ref, ok := c.args["issue_iid"]
	if !ok {
		return nil
	}
	iid, _ := parseID(ref)
	c.issue = c.project.tracker.at(iid)
	if c.issue == nil || !c.issue.readableBy(c.user) {
		return fail(missing("Issue"))
	}
	if c.r.Method != http.MethodGet {
		c.project.tracker.keep(c.issue)
	}
	return nil
}

// redirect sends a caller of a former path to the project's id, with the same query.
func (c *call) redirect(p *Project) answer {
	start := c.prefix + apiPath
	parts := strings.Split(strings.TrimPrefix(c.r.URL.EscapedPath(), start), "/") // "", "projects", id, ...
	parts[2] = strconv.FormatInt(p.ID, 10)
	scheme := "http://"
	if c.r.TLS != nil {
		scheme = "https://"
	}
	location := scheme + c.r.Host + start + strings.Join(parts, "/")
	if c.r.URL.RawQuery != "" {
		location += "?" + c.r.URL.RawQuery
	}
	a := plain(http.StatusMovedPermanently, "This resource has been moved permanently to "+location+"\n")
	a.set("Location", location)
	return a
}

func fail(a answer) *answer { return &a }
