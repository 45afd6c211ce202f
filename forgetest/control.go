package forgetest

import (
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const controlPath = "/_forgetest/"

//go:embed control/openapi.json
var controlDocument []byte

// control serves the requests below controlPath. They are not requests of the API: faults do not
// act on them, and the log does not have them.
type control struct {
	server   *Server
	token    string
	shutdown func()
	mux      *http.ServeMux
	start    *store // after the seed

	mu        sync.Mutex
	snapshots map[string]*store
	tests     map[string]*retryTest
	clock     func() time.Time // before the first PUT clock; nil: unchanged
}

// WithControl lets programs in other languages control the server over HTTP, below /_forgetest/:
// reset, snapshots, the requests so far, the clock, data and faults. /_forgetest/openapi.json
// describes it. Requests carry the token as "Authorization: Bearer TOKEN"; without it they are 404,
// except for health and openapi.json. It also serves a page for people at /, which shows the access
// token to all that reach the server. shutdown is called, in another goroutine, by POST shutdown;
// nil means that the server does not offer it.
func WithControl(token string, shutdown func()) Option {
	return func(s *Server) {
		s.control = &control{server: s, token: token, shutdown: shutdown, snapshots: map[string]*store{}, tests: map[string]*retryTest{}}
	}
}

// controlRoute is one operation. open ones need no token.
type controlRoute struct {
	pattern string
	handle  func(c *control, r *http.Request) (any, error)
	open    bool
}

func controlRoutes() []controlRoute {
	return []controlRoute{
		{"GET health", (*control).health, true},
		{"GET openapi.json", (*control).document, true},
		{"POST reset", (*control).reset, false},
		{"POST snapshots", (*control).takeSnapshot, false},
		{"PUT snapshots/{name}", (*control).restoreSnapshot, false},
		{"GET requests", (*control).requests, false},
		{"DELETE requests", (*control).forgetRequests, false},
		{"POST requests/count", (*control).countRequests, false},
		{"GET requests/unmatched", (*control).unmatchedRequests, false},
		{"PUT clock", (*control).setClock, false},
		{"POST jobs/finish", (*control).finishJobs, false},
		{"POST data", (*control).addData, false},
		{"POST retry_test", (*control).createTest, false},
		{"GET retry_test/{id}", (*control).showTest, false},
		{"DELETE retry_test/{id}", (*control).deleteTest, false},
		{"POST shutdown", (*control).stop, false},
	}
}

// init takes the snapshot for reset, and makes the routes.
func (c *control) init() {
	c.start = c.server.snapshot()
	c.mux = http.NewServeMux()
	for _, route := range controlRoutes() {
		method, path, _ := strings.Cut(route.pattern, " ")
		c.mux.HandleFunc(method+" "+controlPath+path, func(w http.ResponseWriter, r *http.Request) {
			value, err := route.handle(c, r)
			respondControl(w, value, err)
		})
	}
	c.mux.HandleFunc("GET /{$}", c.page)
}

// serves serves a request that is one for the control, and reports whether it was.
func (c *control) serves(w http.ResponseWriter, r *http.Request) bool {
	rest, isControl := strings.CutPrefix(r.URL.Path, controlPath)
	if !isControl && r.URL.Path != "/" {
		return false
	}
	w.Header().Set(versionHeader, moduleVersion())
	open := !isControl || slices.ContainsFunc(controlRoutes(), func(route controlRoute) bool { return route.open && route.pattern == "GET "+rest })
	given, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !open && subtle.ConstantTimeCompare([]byte(given), []byte(c.token)) != 1 {
		respondControl(w, nil, &controlError{http.StatusNotFound, "not found: the control needs its token, as Authorization: Bearer TOKEN; the server printed it"})
		return true
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	c.mux.ServeHTTP(w, r)
	return true
}

// controlError is the error of a control request.
type controlError struct {
	status int
	text   string
}

func (e *controlError) Error() string { return e.text }

func respondControl(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	var failed *controlError
	switch {
	case errors.As(err, &failed):
		status, value = failed.status, map[string]string{"error": failed.text}
	case err != nil:
		status, value = http.StatusBadRequest, map[string]string{"error": err.Error()}
	case value == nil:
		value = struct{}{}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	_ = encoder.Encode(value)
}

// decodeControl reads the body of a control request. An empty body leaves the value unchanged.
func decodeControl(r *http.Request, into any) error {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the body: %w", err)
	}
	return nil
}

func (c *control) health(*http.Request) (any, error) {
	return map[string]any{"status": "ok", "version": moduleVersion(), "release": c.server.release.version(), "seed": c.server.seedName}, nil
}

func (c *control) document(*http.Request) (any, error) { return json.RawMessage(controlDocument), nil }

// reset restores the data after the seed, and forgets faults, requests, snapshots and tests.
func (c *control) reset(*http.Request) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.server.restore(c.start)
	c.server.ClearFaults()
	c.server.log.clear()
	clear(c.snapshots)
	clear(c.tests)
	if c.clock != nil {
		c.server.SetClock(c.clock)
		c.clock = nil
	}
	return nil, nil
}

func (c *control) takeSnapshot(r *http.Request) (any, error) {
	var body struct {
		Name string `json:"name"`
	}
	if err := decodeControl(r, &body); err != nil {
		return nil, err
	}
	if body.Name == "" {
		body.Name = strings.ToLower(rand.Text())
	}
	taken := c.server.snapshot()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.snapshots[body.Name] = taken
	return body, nil
}

func (c *control) restoreSnapshot(r *http.Request) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	name := r.PathValue("name")
	taken, found := c.snapshots[name]
	if !found {
		return nil, &controlError{http.StatusNotFound, fmt.Sprintf("no snapshot %q: POST %ssnapshots takes one", name, controlPath)}
	}
	c.server.restore(taken)
	return nil, nil
}

func (c *control) setClock(r *http.Request) (any, error) {
	var body struct {
		Time    *time.Time `json:"time"`
		Advance string     `json:"advance"`
	}
	if err := decodeControl(r, &body); err != nil {
		return nil, err
	}
	by, err := time.ParseDuration(body.Advance)
	if (body.Time == nil) == (body.Advance == "") || body.Advance != "" && err != nil {
		return nil, errors.New(`send {"time": "2026-03-02T09:00:00Z"} to stop the clock at a time, or {"advance": "90s"} to move it`)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.clock == nil {
		c.clock = s.clock
	}
	if former := s.clock; body.Time == nil {
		s.clock = func() time.Time { return former().Add(by) }
	} else {
		s.clock = func() time.Time { return *body.Time }
	}
	return map[string]any{"time": s.now()}, nil
}

func (c *control) finishJobs(*http.Request) (any, error) {
	c.server.FinishBackgroundJobs()
	return nil, nil
}

func (c *control) addData(r *http.Request) (any, error) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return nil, c.server.load("the body", "", data)
}

func (c *control) stop(*http.Request) (any, error) {
	if c.shutdown == nil {
		return nil, &controlError{http.StatusNotFound, "this server cannot be shut down over HTTP"}
	}
	go c.shutdown()
	return nil, nil
}
