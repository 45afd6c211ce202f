package contracttest_test

import (
	"cmp"
	"fmt"
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
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// The conformance test, made from the catalogue: each documented endpoint is called through its
// typed method with every parameter set, and what arrives at a server is compared with the
// catalogue's wire form. Options are filled by the names of their Go fields, and not by their tags,
// so that the tags are what is tested.

const conformancePerPage = 37

// conformanceCase is a method with what it must send.
type conformanceCase struct {
	*cases.Case
	known   map[string]bool            // parameters that the options may send, on any endpoint
	arrived map[string]bool            // parameters that have arrived in a call that was checked
	others  map[string]map[string]bool // parameters that exclude those of a set
}

// conformanceCases are the methods, with the parameters that their options may send by the
// contract, on an endpoint that shares them, or beyond it.
func conformanceCases(t *testing.T) (all []*conformanceCase) {
	t.Helper()
	known := map[reflect.Type]map[string]bool{}
	for _, row := range cases.Kinds {
		known[reflect.TypeOf(row.Options()).Elem()] = setOf(row.Beyond)
	}
	for _, method := range cases.All(t) {
		c := &conformanceCase{Case: method, arrived: map[string]bool{}, others: map[string]map[string]bool{}}
		all = append(all, c)
		if c.Options == nil {
			continue
		}
		if known[c.Options] == nil {
			known[c.Options] = setOf(beyond[c.Options.Name()])
		}
		c.known = known[c.Options]
		for _, param := range c.Endpoint.Params() {
			c.known[param.Wire] = true
		}
		for _, param := range c.Endpoint.Body {
			c.known[param.Name] = true // in JSON
		}
	}
	return all
}

// TestConformance calls every endpoint with every parameter.
func TestConformance(t *testing.T) {
	server := newContractServer(t)
	documented, arrived := 0, 0
	for _, c := range conformanceCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			fields := len(c.Fill(t, 0, nil).Sent)
			for round := range max(1, bits.Len(uint(fields))) { // each boolean differs from each other one in some round
				for _, call := range c.calls(t, round) {
					c.run(t, server, call)
				}
			}
			if c.Options != nil {
				c.run(t, server, c.bare(t))
			}
			params := c.Endpoint.All()
			for _, param := range params {
				assert.True(t, c.arrived[param.Wire], "%s has never arrived without SkipValidation", param.Wire)
			}
			documented += len(params)
			arrived += len(c.arrived)
		})
	}
	assert.Positive(t, documented)
	assert.Equal(t, documented, arrived)
	t.Logf("%d of %d documented parameters have arrived", arrived, documented)
}

// conformanceCall is one call of a case: options without some fields, which are checked or not.
type conformanceCall struct {
	*cases.Filled
	unchecked bool
}

// calls are everything at once and, where the checks refuse that, everything in two allowed parts.
func (c *conformanceCase) calls(t *testing.T, round int) []conformanceCall {
	t.Helper()
	left, others := map[string]bool{}, map[string]bool{}
	whole := c.Fill(t, round, nil)
	for {
		key := refusedParam(t, c.Fill(t, round, left))
		if key == "" {
			break
		}
		require.True(t, !left[key] && whole.Sent[key] != nil, "the checks refuse %s, which is given", key)
		left[key] = true
	}
	if len(left) == 0 {
		return []conformanceCall{{whole, false}}
	}
	at := fmt.Sprint(left) // sorted
	if c.others[at] == nil {
		c.others[at] = others
		for key := range left {
			maps.Copy(others, c.conflicts(t, round, key, whole.Keys()))
		}
	}
	return []conformanceCall{{whole, true}, {c.Fill(t, round, left), false}, {c.Fill(t, round, c.others[at]), false}}
}

// bare is a call with only the parameters that it needs. Defaults are the server's: the client
// sends nothing that the caller has not set.
func (c *conformanceCase) bare(t *testing.T) conformanceCall {
	t.Helper()
	left := c.Fill(t, 0, nil).Keys()
	for _, param := range slices.Concat(c.Endpoint.PathParams, c.Endpoint.Params()) {
		action := c.Endpoint.ID == "runners.pause" && param.Name == "paused" // Pause pauses
		if param.Required || action || strings.Contains(c.Endpoint.Path, "[.:"+param.Name+"]") {
			delete(left, cases.NameKey(param.Wire))
			delete(left, cases.NameKey(param.Name))
		}
	}
	for {
		only := c.Fill(t, 0, left)
		key := refusedParam(t, only)
		if key == "" {
			return conformanceCall{only, false}
		}
		require.True(t, left[key], "the checks refuse %s, which is given", key)
		delete(left, key)
	}
}

// conflicts are the parameters beside which the checks refuse the one.
func (c *conformanceCase) conflicts(t *testing.T, round int, key string, all map[string]bool) map[string]bool {
	t.Helper()
	conflicts := map[string]bool{}
	delete(all, key)
	if refusedParam(t, c.Fill(t, round, all)) == key {
		return nil // alone as well: it needs another
	}
	for other := range maps.Clone(all) {
		delete(all, other)
		if refusedParam(t, c.Fill(t, round, all)) == key {
			conflicts[other] = true
		}
		all[other] = true
	}
	return conflicts
}

// run makes the call and compares what arrives.
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

// TestConformanceSpecials sends each word that the catalogue has for a parameter, such as None and
// Any.
func TestConformanceSpecials(t *testing.T) {
	server := newContractServer(t)
	words := map[string]any{"None": forge.None, "Any": forge.Any, "Upcoming": forge.Upcoming, "Started": forge.Started}
	seen := 0
	for _, c := range conformanceCases(t) {
		for _, param := range c.Endpoint.Params() {
			for _, word := range param.Special {
				only := c.Fill(t, 0, c.Fill(t, 0, nil).Keys())
				field := only.Value.FieldByName(catalogue.GoName(c.Options, param.Wire))
				if !assert.True(t, field.IsValid() && words[word] != nil && cases.Fits(words[word], field.Type()), "%s: %s cannot be %s", c.Name, param.Wire, word) {
					continue
				}
				field.Set(reflect.ValueOf(words[word]))
				client := server.begin(t, c.Endpoint)
				in, _ := c.Arguments(t, client, only)
				require.NoError(t, cases.Consume(c.Method.Call(in)))
				assert.Equal(t, []string{word}, server.end()[0].query[cmp.Or(param.WireSpecial, param.Wire)], "%s: %s", c.Name, param.Wire)
				client.CloseIdleConnections()
				seen++
			}
		}
	}
	assert.Positive(t, seen)
	t.Logf("%d words for special values have arrived", seen)
}

// headers are those that the catalogue asks for, or lets the client choose from.
func (c *conformanceCase) headers(r *contractRequest) map[string]string {
	want := map[string]string{"PRIVATE-TOKEN": cases.Token, "Accept": "application/json"}
	switch c.Endpoint.Base {
	case "auth":
		want = map[string]string{"Authorization": "Basic cm9ib3Q6cGFzc3dvcmQ=", "Accept": "application/json"}
	case "registry":
		want = map[string]string{"Accept": "application/json"}
	}
	for _, header := range c.Endpoint.Headers {
		want[header.Name] = strings.ReplaceAll(header.Value, "<token>", cases.Token)
	}
	if c.Endpoint.ID == "registry_native.delete_tag_reference" { // inside the row of delete_manifest, whose token it takes
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

// contractRequest is what arrived.
type contractRequest struct {
	method, path string
	query        url.Values
	header       http.Header
	body         []byte
}

// headers are what matters of the header.
func (r *contractRequest) headers() map[string]string {
	seen := map[string]string{}
	for _, name := range []string{"PRIVATE-TOKEN", "JOB-TOKEN", "Authorization", "Accept", "Content-Type", "Cookie", "Sudo"} {
		if value := r.header.Get(name); value != "" {
			seen[name] = value
		}
	}
	return seen
}

// contractServer records what arrives, and answers as little as is right.
type contractServer struct {
	url string

	mu       sync.Mutex
	endpoint catalogue.Endpoint
	requests []*contractRequest
}

func newContractServer(t *testing.T) *contractServer {
	t.Helper()
	s := &contractServer{}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.url = srv.URL
	return s
}

// begin gives a new client, which has no budgets and no tokens yet. Its words are the contract's
// own.
func (s *contractServer) begin(t *testing.T, endpoint catalogue.Endpoint) *forge.Client {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint, s.requests = endpoint, nil
	client, err := forge.NewClient(s.url, forge.WithToken(cases.Token), forge.WithVocabulary(cases.Vocabulary()),
		forge.WithRegistry(s.url+"/registry", s.url+"/auth"), forge.WithRegistryCredentials(cases.User, "password"))
	require.NoError(t, err)
	return client
}

func (s *contractServer) end() []*contractRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// pages are the pages after the first that the server offers: one, where the catalogue has page
// among the parameters.
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
	if !ours && r.URL.Path == "/auth/jwt/auth" { // on behalf of the call
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
