package forge

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The conformance test, made from the catalogue: each documented endpoint is called through its typed method with every parameter set,
// and what arrives at a server is compared with the catalogue's wire form. Options are filled by the names of their Go fields, and not by
// their tags, so that the tags are what is tested.

// contractEndpoint is an endpoint with all of its wire form.
type contractEndpoint struct {
	catalogueEndpoint
	Method, Base, Path string
	PathParams         []catalogueParam `json:"path_params"`
	Headers            []struct{ Name, Value string }
	Kinds              []catalogueKind
	Response           struct {
		Type, Kind string
		Status     []int
	}
}

func readContract(t *testing.T) map[string]contractEndpoint {
	t.Helper()
	var list []contractEndpoint
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &list))
	endpoints := map[string]contractEndpoint{}
	for _, e := range list {
		if e.Status == "documented" {
			endpoints[e.ID] = e
		}
	}
	return endpoints
}

// conformanceCase is a method and what it must send.
type conformanceCase struct {
	name     string
	endpoint contractEndpoint
	method   reflect.Value
	options  reflect.Type // nil for none
	kind     IntegrationName
	slug     string
	known    map[string]bool            // what the options may send, on whichever endpoint
	foreign  map[string]bool            // what the endpoint does not have, of options that endpoints share
	arrived  map[string]bool            // parameters that have arrived in a call that was checked
	others   map[string]map[string]bool // what cannot go with those that are left out
}

const conformancePerPage = 37

// TestConformance calls every endpoint with every parameter.
func TestConformance(t *testing.T) {
	server := newContractServer(t)
	documented, arrived := 0, 0
	for _, c := range conformanceCases(t) {
		c.arrived, c.others = map[string]bool{}, map[string]map[string]bool{}
		t.Run(c.name, func(t *testing.T) {
			fields := len(c.fill(t, 0, nil).sent)
			for round := range max(1, bits.Len(uint(fields))) { // each boolean differs from each other one in some round
				for _, call := range c.calls(t, round) {
					c.run(t, server, call)
				}
			}
			if c.options != nil {
				c.run(t, server, c.bare(t))
			}
			params := c.endpoint.all()
			for _, param := range params {
				assert.True(t, c.arrived[param.Wire], "%s has never arrived without Unchecked", param.Wire)
			}
			documented += len(params)
			arrived += len(c.arrived)
		})
	}
	assert.Positive(t, documented)
	assert.Equal(t, documented, arrived)
	t.Logf("%d of %d documented parameters have arrived", arrived, documented)
}

// all lists the parameters with those of pagination, and those of a hash one by one.
func (e contractEndpoint) all() (params []catalogueParam) {
	for _, param := range slices.Concat(e.Query, e.Body) {
		if len(param.Keys) == 0 {
			params = append(params, param)
		}
		params = append(params, param.Keys...)
	}
	return params
}

// conformanceCall is one call of a case: options without some fields, which are checked or not.
type conformanceCall struct {
	*filledOptions
	unchecked bool
}

// calls are everything at once and, where the checks refuse that, everything in two allowed parts.
func (c *conformanceCase) calls(t *testing.T, round int) []conformanceCall {
	t.Helper()
	left, others := map[string]bool{}, map[string]bool{}
	whole := c.fill(t, round, nil)
	for {
		key := c.fill(t, round, left).refused(t)
		if key == "" {
			break
		}
		require.True(t, !left[key] && whole.sent[key] != nil, "the checks refuse %s, which is given", key)
		left[key] = true
	}
	if len(left) == 0 {
		return []conformanceCall{{whole, false}}
	}
	at := fmt.Sprint(left) // sorted
	if c.others[at] == nil {
		c.others[at] = others
		for key := range left {
			maps.Copy(others, c.conflicts(t, round, key, whole.keys()))
		}
	}
	return []conformanceCall{{whole, true}, {c.fill(t, round, left), false}, {c.fill(t, round, c.others[at]), false}}
}

// bare is a call with only the parameters that it needs. Defaults are the server's: the client sends
// nothing that the caller has not set.
func (c *conformanceCase) bare(t *testing.T) conformanceCall {
	t.Helper()
	left := c.fill(t, 0, nil).keys()
	for _, param := range slices.Concat(c.endpoint.PathParams, c.endpoint.params()) {
		action := c.endpoint.ID == "runners.pause" && param.Name == "paused" // Pause pauses
		if param.Required || action || strings.Contains(c.endpoint.Path, "[.:"+param.Name+"]") {
			delete(left, nameKey(param.Wire))
			delete(left, nameKey(param.Name))
		}
	}
	for {
		only := c.fill(t, 0, left)
		key := only.refused(t)
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
	if c.fill(t, round, all).refused(t) == key {
		return nil // alone as well: it needs another
	}
	for other := range maps.Clone(all) {
		delete(all, other)
		if c.fill(t, round, all).refused(t) == key {
			conflicts[other] = true
		}
		all[other] = true
	}
	return conflicts
}

// run makes the call and compares what arrives.
func (c *conformanceCase) run(t *testing.T, server *contractServer, call conformanceCall) {
	t.Helper()
	client := server.begin(t, c.endpoint)
	defer client.CloseIdleConnections()
	in, path := c.arguments(t, client, call.filledOptions)
	if call.unchecked {
		in = append(in, reflect.ValueOf(Unchecked()))
	}
	paged := c.endpoint.Response.Kind == "array" || c.endpoint.ID == "registry_native.catalog"
	if paged {
		in = append(in, reflect.ValueOf(PerPage(conformancePerPage)))
	}
	require.NoError(t, consume(c.method.Call(in)))
	requests := server.end()
	require.Len(t, requests, 1+len(server.pages()))
	for i, r := range requests {
		assert.Equal(t, c.endpoint.Method, r.method)
		assert.Equal(t, path, r.path)
		assert.Equal(t, c.headers(r), r.headers())
		w := wireForm{t, c, call}
		if paged {
			w.paging(r.query, i)
		}
		w.compare(r.query, c.endpoint.Query)
		w.body(r)
	}
}

// TestConformanceSpecials sends each word that the catalogue has for a parameter, such as None and Any.
func TestConformanceSpecials(t *testing.T) {
	server := newContractServer(t)
	words := map[string]any{"None": None, "Any": Any, "Upcoming": Upcoming, "Started": Started}
	seen := 0
	for _, c := range conformanceCases(t) {
		for _, param := range c.endpoint.params() {
			for _, word := range param.Special {
				only := c.fill(t, 0, c.fill(t, 0, nil).keys())
				field := only.value.FieldByName(fieldOf(c.options, param.Wire))
				if !assert.True(t, field.IsValid() && words[word] != nil && fits(words[word], field.Type()), "%s: %s cannot be %s", c.name, param.Wire, word) {
					continue
				}
				field.Set(reflect.ValueOf(words[word]))
				client := server.begin(t, c.endpoint)
				in, _ := c.arguments(t, client, only)
				require.NoError(t, consume(c.method.Call(in)))
				assert.Equal(t, []string{word}, server.end()[0].query[orDefault(param.WireSpecial, param.Wire)], "%s: %s", c.name, param.Wire)
				client.CloseIdleConnections()
				seen++
			}
		}
	}
	assert.Positive(t, seen)
	t.Logf("%d words for special values have arrived", seen)
}

// consume reads what a method gives to its end.
func consume(results []reflect.Value) error {
	last := results[len(results)-1]
	if err, failed := last.Interface().(error); failed {
		return err
	}
	if last.Kind() == reflect.Func {
		for _, err := range last.Seq2() {
			if failure, failed := err.Interface().(error); failed {
				return failure
			}
		}
		return nil
	}
	if download, is := results[0].Interface().(*Download); is {
		defer download.Close()
		_, err := io.Copy(io.Discard, download)
		return err
	}
	return nil
}

var pathParams = regexp.MustCompile(`\[\.:(\w+)\]|:(\w+)`)

// arguments are what the method is called with, and the path that they make.
func (c *conformanceCase) arguments(t *testing.T, client *Client, options *filledOptions) (in []reflect.Value, path string) {
	t.Helper()
	var segments []string
	next := func() string { return pathParams.FindAllStringSubmatch(c.endpoint.Path, -1)[len(segments)][2] }
	for kind := range c.method.Type().Ins() {
		var arg any
		id := int64(1001 + len(segments))
		switch {
		case len(in) == 0:
			arg = serviceOf(client, kind)
		case len(in) == 1:
			arg = t.Context()
		case kind == reflect.TypeFor[[]RequestOption]():
			continue
		case kind == reflect.TypeFor[Ref]():
			arg, segments = Path("group/app"), append(segments, "group%2Fapp")
		case kind == reflect.TypeFor[int64]():
			arg, segments = id, append(segments, strconv.FormatInt(id, 10))
		case kind == reflect.TypeFor[*SecureFile]():
			arg, segments = &SecureFile{ID: id}, append(segments, strconv.FormatInt(id, 10))
		case kind == reflect.TypeFor[string]() && next() == "image_path":
			arg, segments = "group/app+β", append(segments, "group/app+%CE%B2")
		case kind == reflect.TypeFor[string]() && next() == "namespace": // one segment
			arg, segments = "release 1.0 +β?", append(segments, "release%201.0%20+%CE%B2%3F")
		case kind == reflect.TypeFor[string]():
			arg, segments = "release/1.0 +β?", append(segments, "release%2F1.0%20+%CE%B2%3F")
		case kind == reflect.TypeFor[IntegrationName]():
			arg, segments = IntegrationSlug("by/hand"), append(segments, "by%2Fhand")
		case kind == reflect.TypeFor[IntegrationOptions]():
			segments = append(segments, c.slug)
			arg = options.value.Addr().Interface()
		case kind == reflect.TypeFor[File]():
			file, sent := conformanceFile()
			arg, options.sent["file"] = file, sent
		default:
			arg = options.value.Addr().Interface()
		}
		in = append(in, reflect.ValueOf(arg))
	}
	path = pathParams.ReplaceAllStringFunc(c.endpoint.Path, func(param string) string {
		if strings.HasPrefix(param, "[.:") {
			return "." + url.PathEscape(options.sent[nameKey(strings.Trim(param, "[.:]"))].texts[0])
		}
		require.NotEmpty(t, segments, "%s has no argument", param)
		segment := segments[0]
		segments = segments[1:]
		return segment
	})
	require.Empty(t, segments, "arguments that are in no path")
	return in, path
}

func serviceOf(client *Client, kind reflect.Type) any {
	for field, value := range reflect.ValueOf(client).Elem().Fields() {
		if field.Type == kind {
			return value.Interface()
		}
	}
	return nil
}

const conformanceToken, conformanceUser, conformanceContent = "conformance-token", "robot", "content\n"

// headers are those that the catalogue asks for, or lets the client choose from.
func (c *conformanceCase) headers(r *contractRequest) map[string]string {
	want := map[string]string{"PRIVATE-TOKEN": conformanceToken, "Accept": "application/json"}
	switch c.endpoint.Base {
	case "auth":
		want = map[string]string{"Authorization": "Basic cm9ib3Q6cGFzc3dvcmQ=", "Accept": "application/json"}
	case "registry":
		want = map[string]string{"Accept": "application/json"}
	}
	for _, header := range c.endpoint.Headers {
		want[header.Name] = strings.ReplaceAll(header.Value, "<token>", conformanceToken)
	}
	if c.endpoint.ID == "registry_native.delete_tag_reference" { // inside the row of delete_manifest, whose token it takes
		want["Authorization"] = "Bearer " + conformanceToken
	}
	if c.endpoint.Response.Kind == "raw" || c.endpoint.Response.Kind == "csv" {
		want["Accept"] = "*/*"
	}
	if len(c.endpoint.Body) > 0 {
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
	endpoint contractEndpoint
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

// begin gives a new client, which has no budgets and no tokens yet. Its words are the contract's own.
func (s *contractServer) begin(t *testing.T, endpoint contractEndpoint) *Client {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endpoint, s.requests = endpoint, nil
	client, err := NewClient(s.url, WithToken(conformanceToken), WithVocabulary(contractWords()),
		WithRegistry(s.url+"/registry", s.url+"/auth"), WithRegistryCredentials(conformanceUser, "password"))
	require.NoError(t, err)
	return client
}

func (s *contractServer) end() []*contractRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests
}

// pages are the pages after the first that the server offers: one, where the catalogue has page among the parameters.
func (s *contractServer) pages() []string {
	if slices.ContainsFunc(s.endpoint.Query, func(p catalogueParam) bool { return p.Name == "page" }) {
		return []string{"2"}
	}
	return nil
}

// contractWords has the neutral word for each neutral word, so that what is unnamed has the catalogue's placeholder for a name.
func contractWords() Vocabulary {
	var words strings.Builder
	for e := range GitLab.entries() {
		word := e.neutral
		if slug, named := IntegrationKind(e.neutral).named(); named && e.kind == slugWord {
			word = slug
		}
		fmt.Fprintf(&words, "%s %s = %s\n", e.kind, e.neutral, word)
	}
	return Vocabulary(words.String())
}

func (s *contractServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	prefix := map[string]string{"api": "/api/v4", "registry": "/registry", "auth": "/auth"}[s.endpoint.Base]
	w.Header().Set("Content-Type", "application/json")
	path, ours := strings.CutPrefix(r.URL.EscapedPath(), prefix)
	if !ours && r.URL.Path == "/auth/jwt/auth" { // on behalf of the call
		_, _ = io.WriteString(w, `{"token":"`+conformanceToken+`"}`)
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
	status, answer := s.answer()
	w.WriteHeader(status)
	_, _ = io.WriteString(w, answer)
}

// answer is the least that the catalogue lets a server say.
func (s *contractServer) answer() (status int, answer string) {
	e := s.endpoint
	if len(e.Response.Status) == 0 {
		return http.StatusNoContent, ""
	}
	status = e.Response.Status[0]
	switch e.Response.Kind {
	case "none":
		return status, ""
	case "array":
		return status, "[{}]"
	case "csv":
		return status, strings.Join(reassignmentColumns(), ",") + "\n"
	case "raw":
		return status, conformanceContent
	}
	switch e.ID {
	case "registry_native.catalog":
		return status, `{"repositories":["group/app"]}`
	case "registry_native.get_token":
		return status, `{"token":"` + conformanceToken + `"}`
	}
	return status, "{}"
}
