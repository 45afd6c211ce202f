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
	defaultMaxQuery = 8 << 10  // longer queries are 414 (Document 1 §8)
	maxBody         = 32 << 20 // of a request
)

// call is one request that the server executes.
type call struct {
	server *Server
	store  *store
	route  *route
	r      *http.Request
	args   map[string]string // path parameters
	params url.Values        // query and body
	files  map[string]upload // of a multipart body
	object map[string]any    // a JSON body, unchanged: null and [] have no form in params
	user   *User             // nil if the call has no credential
	job    *Project          // the only project that the job token has access to; nil if unlimited

	// The records that the path names.
	project *Project
	group   *Group
	issue   *Issue
	mr      *MergeRequest

	entry   *Request // of the log
	applied *bool    // set by SetApplied
	sent    []byte   // the start of the response body, for the log
}

// serve handles every request: log, route, faults, response.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	s.handlers.Add(1)
	defer s.handlers.Done()
	if s.control != nil && s.control.serves(w, r) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	c := &call{server: s, store: &s.store, r: r, params: url.Values{}}
	var allowed []string
	if base, path := s.splitBase(r.URL.EscapedPath()); base != "" {
		allowed = c.findRoute(base, path)
	}
	entry := &Request{Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.Query(), Header: r.Header.Clone(), Body: body, Time: s.time()}
	if c.route != nil {
		entry.Route = c.route.name
	}
	c.entry = entry
	number := s.log.add(entry)
	defer s.print(entry)
	if err != nil { // the client disconnected, or the body is too long: an incomplete body must not take effect
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-Request-Id", fmt.Sprintf("forgetest-%08d", number))
	w.Header().Set("Date", entry.Time.Add(s.dateOffset()).Format(http.TimeFormat))
	w.Header().Set(versionHeader, moduleVersion())

	fault := s.faults.next(entry.Route, r)
	s.log.update(func() { entry.Fault = fault.name() })
	if fault.before(s, w, r) {
		s.log.update(func() { entry.Status = fault.status })
		return
	}
	a := s.respond(c, body, allowed, w.Header())
	if a.stop != nil {
		defer a.stop()
	}
	s.countApplied(c, a.status)
	switch fault.kind {
	case resetAfter:
	case restate:
		s.log.update(func() { entry.Status, entry.ResponseBody = fault.status, c.sent })
	default:
		s.log.update(func() { entry.Status, entry.ResponseBody = a.status, c.sent })
	}
	fault.after(w, r, &a)
}

// findRoute finds the route of the request. HEAD has the route of GET unless another is
// added, and is then executed like GET: net/http omits the body.
func (c *call) findRoute(base, path string) (allowed []string) {
	routes := &c.server.routes
	c.route, c.args, allowed = routes.find(base, c.r.Method, path)
	if c.route == nil && c.r.Method == http.MethodHead {
		c.r = c.r.WithContext(c.r.Context()) // a copy
		c.r.Method = http.MethodGet
		c.route, c.args, allowed = routes.find(base, http.MethodGet, path)
	}
	if i := slices.Index(allowed, http.MethodGet); i >= 0 && !slices.Contains(allowed, http.MethodHead) {
		allowed = slices.Insert(allowed, i+1, http.MethodHead)
	}
	return allowed
}

// splitBase returns the base address that a path belongs to (api, registry or auth), and the rest
// of the path.
func (s *Server) splitBase(path string) (base, rest string) {
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

// respond executes the call. header is that of the response. A response is compressed without the
// lock, so that other calls do not wait for it.
func (s *Server) respond(c *call, body []byte, allowed []string, header http.Header) response {
	if limited := c.throttled(header); limited != nil {
		return *limited
	}
	if len(c.r.URL.RawQuery) > s.maxQuery {
		return plain(http.StatusRequestURITooLong, "URI Too Long\n")
	}
	if c.route != nil && c.route.handler != nil {
		return s.respondHandled(c, body)
	}
	a := s.execute(c, body, allowed)
	if c.route != nil && c.route.endpoint.Base == "api" && a.header.Get("Content-Type") == "application/json" {
		a.checkCondition(c.r)
	}
	c.sent = slices.Clone(a.body[:min(len(a.body), loggedBody)])
	a.compress(c.r.Header.Get("Accept-Encoding"))
	return a
}

// execute executes the call and encodes its response under the lock.
func (s *Server) execute(c *call, body []byte, allowed []string) (a response) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runDue(s.now())
	e := s.encoder(c.r)
	switch {
	case c.route != nil:
		a = c.run(body)
		if e.views, e.fieldNames = a.views, a.fieldNames; len(e.views) == 0 {
			e.views = c.route.endpoint.views()
		}
	case len(allowed) > 0:
		a = s.noRoute(http.StatusMethodNotAllowed, c.r)
		a.set("Allow", strings.Join(allowed, ", "))
	default:
		a = s.noRoute(http.StatusNotFound, c.r)
	}
	if a.status < http.StatusMultipleChoices {
		e.changes = &s.changes
	}
	a.encode(e)
	return a
}

// encoder returns an encoder for the platform. The caller holds mu.
func (s *Server) encoder(r *http.Request) encoder {
	return encoder{base: s.base(r), gitlab: !s.neutral, isAvailable: func(r *availability) bool { return r.available(s) }}
}

// run executes the steps that all endpoints share, then the handler of the endpoint. The response
// of the first step that fails is returned.
func (c *call) run(body []byte) response {
	steps := []func() *response{
		c.authenticate,
		func() *response { return c.readParams(body) },
		c.translate,
		c.impersonate,
		c.checkAvailability,
		c.validate,
		func() *response { return c.server.checkRate(c.route.name) },
		c.resolve,
		c.authorize,
	}
	for _, step := range steps {
		if a := step(); a != nil {
			return *a
		}
	}
	compare := c.auditChanges()
	a := c.route.handle(c)
	compare()
	if c.r.Method != http.MethodGet {
		c.store.invalidate()
	}
	return a
}

// resolve finds the project or group and the issue or merge request that the path names.
func (c *call) resolve() *response {
	for _, step := range []func() *response{c.resolveOwner, c.resolveMergeRequest, c.resolveIssue} {
		if a := step(); a != nil {
			return a
		}
	}
	return nil
}

// resolveOwner finds the project or group that the path names.
func (c *call) resolveOwner() *response {
	name := c.route.owner()
	ref := c.args[name]
	switch {
	case name == "":
	case c.route.segments[0] == "projects":
		p, moved := c.store.findProject(ref)
		if p == nil || !p.readableBy(c.user) || moved && !c.server.release.has(release{16, 4}) { // Document 1 §7
			return fail(notFound("Project"))
		}
		if moved {
			return fail(c.redirect(p))
		}
		if c.job != nil && c.job != p {
			return fail(failure(http.StatusForbidden, "403 Forbidden"))
		}
		c.project = p
	default:
		g := c.store.findGroup(ref)
		if g == nil || !g.readableBy(c.user) {
			return fail(notFound("Group"))
		}
		c.group = g
	}
	return nil
}

func (c *call) resolveIssue() *response {
	ref, ok := c.args["issue_iid"]
	if !ok {
		return nil
	}
	iid, _ := parseID(ref)
	c.issue = c.project.tracker.at(iid)
	if c.issue == nil || !c.issue.readableBy(c.user) {
		return fail(notFound("Issue"))
	}
	if c.r.Method != http.MethodGet {
		c.project.tracker.save(c.issue)
	}
	return nil
}

// redirect returns a redirect from a former path to the project's id, with the same query.
func (c *call) redirect(p *Project) response {
	start := c.server.prefix + apiPath
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

func fail(a response) *response { return &a }
