package contracttest_test

import (
	"context"
	"io"
	"maps"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// The conformance test is derived from the catalogue. It calls each documented endpoint through its
// typed method with every parameter set, and compares the request that a server receives with the
// wire form in the catalogue. It fills options by the names of their Go fields and not by their
// tags, so that it tests the tags.

const conformancePerPage = 37

// conformanceCase is a method with the parameters that it must send.
type conformanceCase struct {
	*cases.Case
	known   map[string]bool // parameters that the options may send, on any endpoint
	arrived map[string]bool // parameters that have arrived in a call that was checked
}

// conformanceCases returns the methods with the parameters that their options may send: those of all
// endpoints that share the options, and those of deployed servers.
func conformanceCases(t *testing.T) (all []*conformanceCase) {
	t.Helper()
	known := map[reflect.Type]map[string]bool{}
	for _, method := range cases.All(t) {
		c := &conformanceCase{Case: method, arrived: map[string]bool{}}
		all = append(all, c)
		if known[c.Options] == nil {
			known[c.Options] = map[string]bool{}
		}
		c.known = known[c.Options]
		for _, param := range c.Endpoint.Params() {
			c.known[param.Wire], c.known[param.Name] = true, true
		}
		for _, name := range c.Beyond {
			c.known[name] = true
		}
	}
	return all
}

// TestConformance calls every endpoint with every parameter.
func TestConformance(t *testing.T) {
	server := newContractServer(t)
	documented, arrived, endpoints := 0, 0, catalogue.Endpoints()
	for _, c := range conformanceCases(t) {
		delete(endpoints, c.Endpoint.ID)
		t.Run(c.Name, func(t *testing.T) {
			fields := len(c.Fill(t, 0, nil).Sent)
			for round := range max(1, bits.Len(uint(fields))) { // any two booleans differ in at least one round
				for _, call := range c.calls(t, round) {
					c.run(t, server, call)
				}
			}
			if c.Options != nil {
				c.run(t, server, c.least(t, 0, nil))
			}
			params := c.Endpoint.All()
			for _, param := range params {
				assert.True(t, c.arrived[param.Wire], "the server has never received %s from a call without SkipValidation", param.Wire)
			}
			documented += len(params)
			arrived += len(c.arrived)
		})
	}
	assert.Empty(t, endpoints, "no method calls them")
	assert.Positive(t, documented)
	assert.Equal(t, documented, arrived)
	t.Logf("%d of %d documented parameters have arrived", arrived, documented)
}

// conformanceCall is one call of a case, with options that may lack some fields. unchecked adds
// SkipValidation.
type conformanceCall struct {
	*cases.Filled
	unchecked bool
}

// calls returns a call with all parameters. If the checks refuse it, the call is unchecked, and two
// valid calls together have all parameters.
func (c *conformanceCase) calls(t *testing.T, round int) []conformanceCall {
	t.Helper()
	left := map[string]bool{}
	whole := c.Fill(t, round, nil)
	for {
		key := c.refused(t, c.Fill(t, round, left))
		if key == "" {
			break
		}
		require.True(t, !left[key] && whole.Sent[key] != nil, "the checks refuse %s, which is set", key)
		left[key] = true
	}
	if len(left) == 0 {
		return []conformanceCall{{whole, false}}
	}
	return []conformanceCall{{whole, true}, {c.Fill(t, round, left), false}, c.least(t, round, left)}
}

// least returns a call with the wanted parameters and the required ones only. It shows that the client
// sends no defaults.
func (c *conformanceCase) least(t *testing.T, round int, wanted map[string]bool) conformanceCall {
	t.Helper()
	left := c.Fill(t, round, nil).Keys()
	maps.DeleteFunc(left, func(key string, _ bool) bool { return wanted[key] })
	for _, param := range slices.Concat(c.Endpoint.PathParams, c.Endpoint.Params()) {
		if len(wanted) > 0 {
			break // another parameter may take the place of a required one; the checks name those that are missing
		}
		action := c.Endpoint.ID == "runners.pause" && param.Name == "paused" // Pause always sends it
		if param.Required || action || strings.Contains(c.Endpoint.Path, "[.:"+param.Name+"]") {
			delete(left, cases.NameKey(param.Wire))
			delete(left, cases.NameKey(param.Name))
		}
	}
	for {
		only := c.Fill(t, round, left)
		key := c.refused(t, only)
		if key == "" {
			return conformanceCall{only, false}
		}
		require.True(t, left[key], "the checks refuse %s, which is set", key)
		delete(left, key)
	}
}

// run makes the call and compares the request that the server receives.
func (c *conformanceCase) run(t *testing.T, server *contractServer, call conformanceCall) {
	t.Helper()
	client := server.begin(t, c.Endpoint)
	defer client.CloseIdleConnections()
	in, path := c.Arguments(t, client, call.Filled)
	if call.unchecked {
		in = append(in, reflect.ValueOf(forge.SkipValidation()))
	}
	paged := c.Endpoint.Response.Kind == "array" || c.Endpoint.ID == "registry_native.catalog"
	if paged {
		in = append(in, reflect.ValueOf(forge.PerPage(conformancePerPage)))
	}
	require.NoError(t, cases.Consume(c.Method.Call(in)))
	requests := server.end()
	assert.Equal(t, len(requests), server.routes[c.Endpoint.Method+" "+c.Endpoint.Path], "hooks see the route of the contract: %v", server.routes)
	require.Len(t, requests, 1+len(server.pages()))
	for i, r := range requests {
		assert.Equal(t, c.Endpoint.Method, r.method)
		assert.Equal(t, path, r.path)
		assert.Equal(t, c.headers(r), r.headers())
		w := wireForm{t, c, call}
		if paged {
			w.paging(r.query, i)
		}
		w.compare(r.query, c.Endpoint.Query)
		w.body(r)
	}
}

// headers returns the headers that the catalogue requires, or of which the client may choose one.
func (c *conformanceCase) headers(r *contractRequest) map[string]string {
	want := map[string]string{"PRIVATE-TOKEN": cases.Token, "Accept": "application/json"}
	switch c.Endpoint.Base {
	case "auth":
		want = map[string]string{"Authorization": "Basic cm9ib3Q6cGFzc3dvcmQ=", "Accept": "application/json"}
	case "registry":
		want = map[string]string{"Accept": "application/json"}
	}
	for _, header := range c.Endpoint.Headers {
		want[header.Name] = strings.NewReplacer("<token>", cases.Token, "<vendor>", "docker").Replace(header.Value)
	}
	if c.Endpoint.ID == "registry_native.delete_tag_reference" { // it uses the token of delete_manifest, whose row describes it
		want["Authorization"] = "Bearer " + cases.Token
	}
	if c.Endpoint.Response.Kind == "raw" || c.Endpoint.Response.Kind == "csv" {
		want["Accept"] = "*/*"
	}
	if len(c.Endpoint.Body) > 0 {
		want["Content-Type"] = r.header.Get("Content-Type") // wireForm compares it
	}
	return want
}

// contractRequest is a request that the server received.
type contractRequest struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

// headers returns the fields of the header that the contract describes.
func (r *contractRequest) headers() map[string]string {
	seen := map[string]string{}
	for _, name := range []string{"PRIVATE-TOKEN", "JOB-TOKEN", "Authorization", "Accept", "Content-Type", "Cookie", "Sudo"} {
		if value := r.header.Get(name); value != "" {
			seen[name] = value
		}
	}
	return seen
}

// contractServer records requests, and sends the shortest response that the contract allows.
type contractServer struct {
	url string

	mu       sync.Mutex
	endpoint catalogue.Endpoint
	requests []*contractRequest
	routes   map[string]int // attempts by the route that hooks see
}

func newContractServer(t *testing.T) *contractServer {
	t.Helper()
	s := &contractServer{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// begin returns a new client, which has no quotas and no tokens yet.
func (s *contractServer) begin(t *testing.T, endpoint catalogue.Endpoint) *forge.Client {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint, s.requests, s.routes = endpoint, nil, map[string]int{}
	hook := forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) { s.routes[a.Method+" "+a.Route]++ })
	client, err := forge.NewClient(s.url, hook, forge.WithToken(cases.Token),
		forge.WithRegistry(s.url+"/registry", s.url+"/auth"), forge.WithRegistryCredentials(cases.User, "password"))
	require.NoError(t, err)
	return client
}

func (s *contractServer) end() []*contractRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// pages returns the pages after the first that the server offers: one, if the endpoint has the
// parameter page.
func (s *contractServer) pages() []string {
	if slices.ContainsFunc(s.endpoint.Query, func(p catalogue.Param) bool { return p.Name == "page" }) {
		return []string{"2"}
	}
	return nil
}

func (s *contractServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := map[string]string{"api": "/api/v4", "registry": "/registry", "auth": "/auth"}[s.endpoint.Base]
	w.Header().Set("Content-Type", "application/json")
	path, ours := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if !ours && r.URL.Path == "/auth/jwt/auth" { // the client requests a token for the call
		_, _ = io.WriteString(w, `{"token":"`+cases.Token+`"}`)
		return
	}
	body, _ := io.ReadAll(r.Body)
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil || !ours {
		w.WriteHeader(http.StatusTeapot)
		return
	}
	s.requests = append(s.requests, &contractRequest{r.Method, path, query, r.Header, body})
	if more := s.pages(); len(s.requests) <= len(more) {
		w.Header().Set("X-Next-Page", more[len(s.requests)-1])
	}
	status, answer := cases.LeastResponse(s.endpoint)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}
