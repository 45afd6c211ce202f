package forgetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// reply is a response with helpers for tests.
type reply struct {
	Status int
	Header http.Header
	Body   string
}

// caller sends plain HTTP requests with one token.
type caller struct {
	t     testing.TB
	base  string
	token string
	http  *http.Client
}

func newCaller(t testing.TB, s *Server) caller {
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return caller{t: t, base: s.URL + apiPath, token: s.Token, http: &http.Client{Transport: transport, CheckRedirect: stay}}
}

func (c caller) as(token string) caller { c.token = token; return c }

// do makes a call with headers: a name and a value each.
func (c caller) do(method, path, body string, header ...string) (*http.Response, error) {
	target := path
	if !strings.HasPrefix(path, "http") {
		target = c.base + path
	}
	r, err := http.NewRequest(method, target, strings.NewReader(body))
	require.NoError(c.t, err)
	if c.token != "" {
		r.Header.Set("PRIVATE-TOKEN", c.token)
	}
	for i := 0; i < len(header); i += 2 {
		if header[i+1] != "" {
			r.Header.Set(header[i], header[i+1])
		}
	}
	return c.http.Do(r)
}

func (c caller) request(method, path, contentType, body string) (*http.Response, error) {
	return c.do(method, path, body, "Content-Type", contentType)
}

// answer makes a call like do, and reads the response.
func (c caller) answer(method, path, body string, header ...string) reply {
	c.t.Helper()
	response, err := c.do(method, path, body, header...)
	require.NoError(c.t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(c.t, err)
	return reply{response.StatusCode, response.Header, string(text)}
}

// send makes a call whose body is a form.
func (c caller) send(method, path, form string) reply {
	c.t.Helper()
	kind := ""
	if form != "" {
		kind = "application/x-www-form-urlencoded"
	}
	return c.sendAs(method, path, kind, form)
}

// sendAs makes a call whose body has a content type.
func (c caller) sendAs(method, path, kind, text string) reply {
	c.t.Helper()
	return c.answer(method, path, text, "Content-Type", kind)
}

func (c caller) get(path string) reply  { c.t.Helper(); return c.send("GET", path, "") }
func (c caller) post(path string) reply { c.t.Helper(); return c.send("POST", path, "") }

// with makes a call with an additional header.
func (c caller) with(method, path, header, value string) reply {
	c.t.Helper()
	return c.answer(method, path, "", header, value)
}

func (r reply) object(t testing.TB) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.Body), &v), r.Body)
	return v
}

func (r reply) array(t testing.TB) []map[string]any {
	t.Helper()
	var v []map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.Body), &v), r.Body)
	return v
}

// column returns one field of each item.
func (r reply) column(t testing.TB, name string) []any {
	t.Helper()
	values := []any{}
	for _, item := range r.array(t) {
		values = append(values, item[name])
	}
	return values
}

// next returns the address of the rel=next link, or "".
func (r reply) next() string { return r.rel("next") }

func (r reply) rel(name string) string {
	for _, entry := range strings.Split(r.Header.Get("Link"), ", ") {
		address, rel, _ := strings.Cut(entry, "; ")
		if rel == `rel="`+name+`"` {
			return strings.Trim(address, "<>")
		}
	}
	return ""
}

// walk follows the next links and returns one field of all items.
func (c caller) walk(path, field string) (values []any, pages int) {
	c.t.Helper()
	for path != "" {
		r := c.get(path)
		require.Equal(c.t, 200, r.Status, r.Body)
		values = append(values, r.column(c.t, field)...)
		path, pages = r.next(), pages+1
		require.Less(c.t, pages, 500)
	}
	return values, pages
}

func esc(s string) string { return url.QueryEscape(s) }

// keys checks that the keys of a JSON object are exactly those of the contract's type, including
// nested objects.
func keys(t *testing.T, name, view string, object map[string]any) {
	t.Helper()
	var want, got []string
	for _, f := range catalogue().shapes[name].fields {
		if len(f.Views) == 0 || slices.Contains(f.Views, view) {
			want = append(want, f.Name)
		}
		if nested, ok := object[f.Name].(map[string]any); ok && f.Ref != "" {
			keys(t, f.Ref, nestedView(name, view), nested)
		}
	}
	for key := range object {
		got = append(got, key)
	}
	assert.ElementsMatch(t, want, got, name)
}

// nestedView returns the view of the objects that are nested in a type.
func nestedView(name, view string) string {
	if name == "MergeRequestDependency" || view == dependency {
		return dependency
	}
	return ""
}

func TestCloseLeavesNothing(t *testing.T) {
	catalogue() // once per process
	s, err := Start()
	require.NoError(t, err)
	c := newCaller(t, s)
	assert.Equal(t, 200, c.get("/issues").Status)
	lost, done := make(chan struct{}), make(chan error, 1)
	s.Fail("GET /namespaces", Fault{kind: replace, make: func(*Server, *http.Request) response {
		<-lost // it does not detect by itself that the client has disconnected
		return response{status: http.StatusOK}
	}})
	go func() {
		_, err := c.request("GET", "/namespaces", "", "")
		close(lost)
		done <- err
	}()
	require.Eventually(t, func() bool { return s.CountRequests("GET /namespaces") == 1 }, time.Minute, time.Millisecond)
	s.Close()
	s.Close()
	stacks := make([]byte, 1<<20)
	assert.NotContains(t, string(stacks[:runtime.Stack(stacks, true)]), "forgetest.(*Server).serve(")
	require.Error(t, <-done)
	c.http.CloseIdleConnections()
	goleak.VerifyNone(t)
}

func TestAuthentication(t *testing.T) {
	s := New(t)
	open, closed, inner := s.AddProject("group/open"), s.AddProject("group/closed", Private), s.AddProject("group/inner", Internal)
	for _, p := range []*Project{open, closed, inner} {
		p.AddFiles(map[string]string{"README.md": "x"})
		p.AddTag("v1.0.0", "main")
	}
	jane, guest := s.AddUser("jane"), s.AddUser("guest")
	s.AddProject("jane/own", Private)
	closed.AddMember(jane, Developer)
	closed.AddMember(guest, Guest)
	for _, tc := range []struct {
		name, method, path, header, token string
		status                            int
		body                              string
	}{
		{"private token", "GET", "/issues", "PRIVATE-TOKEN", s.Token, 200, ""},
		{"bearer", "GET", "/issues", "Authorization", "Bearer " + s.Token, 200, ""},
		{"missing", "GET", "/issues", "", "", 401, `{"message":"401 Unauthorized"}`},
		{"bad", "GET", "/issues", "PRIVATE-TOKEN", "nope", 401, `{"message":"401 Unauthorized"}`},
		{"bad on a public route", "GET", "/projects/group%2Fopen/repository/tree", "PRIVATE-TOKEN", "nope", 401, `{"message":"401 Unauthorized"}`},
		{"job token where accepted", "GET", "/projects/group%2Fopen/repository/changelog?version=1.1.0", "JOB-TOKEN", s.JobToken, 200, ""},
		{"job token elsewhere", "GET", "/issues", "JOB-TOKEN", s.JobToken, 401, ""},
		{"job token as private token", "GET", "/issues", "PRIVATE-TOKEN", s.JobToken, 401, ""},
		{"access token as job token", "GET", "/projects/group%2Fopen/repository/changelog?version=1.1.0", "JOB-TOKEN", s.Token, 401, ""},
		{"anonymous on public", "GET", "/projects/group%2Fopen/repository/tree", "", "", 200, ""},
		{"anonymous on private", "GET", "/projects/group%2Fclosed/repository/tree", "", "", 404, `{"message":"404 Project Not Found"}`},
		{"anonymous on internal", "GET", "/projects/group%2Finner/repository/tree", "", "", 404, `{"message":"404 Project Not Found"}`},
		{"user on internal", "GET", "/projects/group%2Finner/repository/tree", "PRIVATE-TOKEN", guest.Token, 200, ""},
		{"member of private", "GET", "/projects/group%2Fclosed/repository/tree", "PRIVATE-TOKEN", jane.Token, 200, ""},
		{"a user's own project", "GET", "/projects/jane%2Fown/secure_files", "PRIVATE-TOKEN", jane.Token, 200, "[]"},
		{"stranger to public write", "POST", "/projects/group%2Fopen/repository/changelog?version=1.1.0", "PRIVATE-TOKEN", jane.Token, 403, `{"message":"403 Forbidden"}`},
		{"weak role", "POST", "/projects/group%2Fclosed/repository/changelog?version=1.1.0", "PRIVATE-TOKEN", guest.Token, 403, ""},
		{"enough role", "POST", "/projects/group%2Fclosed/repository/changelog?version=1.1.0", "PRIVATE-TOKEN", jane.Token, 200, "200"},
		{"sudo by name", "GET", "/issues?sudo=jane", "PRIVATE-TOKEN", s.Token, 200, ""},
		{"sudo by a user", "GET", "/issues?sudo=1", "PRIVATE-TOKEN", jane.Token, 403, ""},
		{"sudo of no one", "GET", "/projects/group%2Fopen/repository/tree?sudo=jane", "", "", 403, ""},
		{"sudo unknown", "GET", "/issues?sudo=999", "PRIVATE-TOKEN", s.Token, 404, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := newCaller(t, s).as("").with(tc.method, tc.path, tc.header, tc.token)
			assert.Equal(t, tc.status, r.Status, r.Body)
			assert.NotEmpty(t, r.Header.Get("X-Request-Id"))
			if tc.body != "" {
				assert.Equal(t, tc.body, r.Body)
			}
		})
	}
}

// The first of the headers with a credential counts.
func TestSeveralCredentials(t *testing.T) {
	s := New(t)
	c := newCaller(t, s)
	assert.Equal(t, 200, c.answer("GET", "/issues", "", "Authorization", "Bearer wrong", "JOB-TOKEN", "wrong").Status)
	assert.Equal(t, 200, c.as("").answer("GET", "/issues", "", "Authorization", "Bearer "+s.Token, "JOB-TOKEN", "wrong").Status)
}

func TestSudoActsAsTheUser(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	jane := s.AddUser("jane")
	p.AddIssue(func(d *Document) { d.Set("author", jane) })
	p.AddIssue(nil)
	c := newCaller(t, s)
	assert.Equal(t, []any{1.0}, c.get("/issues?sudo=jane").column(t, "iid"))
	assert.Equal(t, []any{1.0}, c.get("/issues?sudo=2").column(t, "iid"))
	assert.Equal(t, []any{1.0}, c.with("GET", "/issues", "Sudo", "2").column(t, "iid"))
	assert.Equal(t, 403, c.as(jane.Token).with("GET", "/issues", "Sudo", "1").Status)
}

func TestRouting(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	s.AddProject("group/lib").AddIssue(nil) // its id is 2 and its iid 1
	c := newCaller(t, s)
	for _, tc := range []struct {
		method, path string
		status       int
		body         string
	}{
		{"GET", "/projects/2/issues/1/time_stats", 200, ""},
		{"GET", "/projects/2/issues/2/time_stats", 404, `{"message":"404 Issue Not Found"}`},
		{"GET", "/projects/group%2Fapp/issues/1/time_stats", 200, ""},
		{"GET", "/projects/1/issues/1/time_stats", 200, ""},
		{"GET", "/projects/group%2fapp/issues/1/time_stats", 200, ""},
		{"GET", "/projects/group/app/issues/1/time_stats", 404, noRouteBody("GET", "/projects/group/app/issues/1/time_stats", "GET /projects/:id/issues/:issue_iid/time_stats")},
		{"GET", "/issues/", 404, noRouteBody("GET", "/issues/", "GET /issues")},
		{"GET", "/nothing", 404, noRouteBody("GET", "/nothing", "GET /issues")},
		{"DELETE", "/issues", 405, noRouteBody("DELETE", "/issues", "GET /issues")},
		{"GET", "/projects/1/issues/99/time_stats", 404, `{"message":"404 Issue Not Found"}`},
		{"GET", "/projects/1/issues/x/time_stats", 400, `{"error":"issue_iid is invalid"}`},
		{"GET", "/projects/99/issues/1/time_stats", 404, `{"message":"404 Project Not Found"}`},
		{"GET", "/groups/none/issues", 404, `{"message":"404 Group Not Found"}`},
		{"GET", "/issues?search=" + strings.Repeat("x", 8<<10-7), 200, "[]"},
		{"GET", "/issues?search=" + strings.Repeat("x", 8<<10-6), 414, "URI Too Long\n"},
		{"GET", "/issues?state=odd&assignee_id=x&scope=all", 400, `{"error":"assignee_id is invalid, state does not have a valid value"}`},
		{"GET", "/issues?assignee_id=1&assignee_username[]=jane", 400, `{"error":"assignee_id, assignee_username are mutually exclusive"}`},
		{"GET", "/issues?confidential=1", 400, `{"error":"confidential is invalid"}`},
		{"GET", "/issues?created_after=yesterday", 400, `{"error":"created_after is invalid"}`},
		{"GET", "/issues?not[author_id]=x", 400, `{"error":"not[author_id] is invalid"}`},
		{"GET", "/issues?page=0", 400, ""},
		{"POST", "/projects/1/issues/1/time_estimate", 400, `{"error":"duration is missing"}`},
	} {
		r := c.send(tc.method, tc.path, "")
		assert.Equal(t, tc.status, r.Status, "%s %.60s", tc.method, tc.path)
		assert.True(t, strings.HasPrefix(r.Body, tc.body), "%s: %s", tc.path, r.Body)
	}
	assert.Equal(t, 4, s.CountRequests("")) // unencoded slash, trailing slash, unknown path, unknown method
}

func TestBodiesAndPrefix(t *testing.T) {
	s := New(t, WithPrefix("/forge/"))
	s.AddProject("group/app").AddIssue(nil)
	c := newCaller(t, s)
	assert.Contains(t, c.base, "/forge/api/v4")
	path := "/projects/group%2Fapp/issues/1/time_estimate"
	assert.InDelta(t, 3600.0, c.send("POST", path, "duration=1h").object(t)["time_estimate"], 0)
	assert.InDelta(t, 7200.0, c.post(path + "?duration=2h").object(t)["time_estimate"], 0)
	assert.InDelta(t, 10800.0, c.sendJSON("POST", path, `{"duration":"3h"}`).object(t)["time_estimate"], 0)
	both := strings.TrimSuffix(path, "time_estimate") + "add_spent_time?duration=1h" // one parameter in the query, one in the body
	assert.InDelta(t, 3600.0, c.send("POST", both, "summary=x").object(t)["total_time_spent"], 0)
	assert.InDelta(t, 7200.0, c.sendJSON("POST", both, `{"summary":"x"}`).object(t)["total_time_spent"], 0)
	other := c.sendAs("POST", path, "text/plain", `{"duration":"3h"}`)
	assert.Equal(t, 415, other.Status)
	assert.JSONEq(t, `{"error":"The provided content-type 'text/plain' is not supported."}`, other.Body)
	outside := c.get("http://" + strings.TrimPrefix(strings.TrimSuffix(s.URL, "/forge"), "http://") + "/api/v4/issues")
	assert.Equal(t, 404, outside.Status)
	for _, path := range []string{"/issues", "/api/issues", "/api/v3/issues", "/api/v5/issues"} {
		assert.Equal(t, 404, c.get(s.URL+path).Status, path)
	}
}

func TestTruncatedBodyHasNoEffect(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssue(nil)
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.URL, "http://"))
	require.NoError(t, err)
	_, err = fmt.Fprintf(conn, "POST /api/v4/projects/1/issues/1/add_spent_time HTTP/1.1\r\nHost: x\r\nPRIVATE-TOKEN: %s\r\n"+
		"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\nduration=1h", s.Token)
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	require.Eventually(t, func() bool { return s.CountRequests("*") == 1 }, time.Minute, time.Millisecond)
	s.Close()
	assert.Equal(t, 0, s.CountApplied("*"))
}

func TestMaxQuery(t *testing.T) {
	c := newCaller(t, New(t, WithMaxQueryBytes(20)))
	assert.Equal(t, 200, c.get("/issues?search=twenty+bytes+").Status)
	assert.Equal(t, 414, c.get("/issues?search=twenty-one+by+").Status)
}

// Calls from many goroutines see the effects of each other. The race detector checks them.
func TestConcurrentCalls(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	c := newCaller(t, s)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			assert.Equal(t, 201, c.send("POST", "/projects/1/issues/1/add_spent_time", "duration=1h").Status)
			p.AddIssue(nil)
			assert.Equal(t, 200, c.get("/issues").Status)
			s.Requests()
		})
	}
	wg.Wait()
	assert.InDelta(t, 20*3600.0, c.get("/projects/1/issues/1/time_stats").object(t)["total_time_spent"], 0)
	assert.Equal(t, "21", c.get("/issues").Header.Get("X-Total"))
}

func TestMisspelledRoute(t *testing.T) {
	s := New(t)
	for misspelled, meant := range map[string]string{
		"GET /issue":        "GET /issues",
		"get /runners/all/": "GET /runners/all",
		"POST /project/:id/issues/:iid/subscribe":                    "POST /projects/:id/issues/:issue_iid/subscribe",
		"DELETE /projects/:id/registry/repositories/:repository/tag": "DELETE /projects/:id/registry/repositories/:repository_id/tags",
		"GET /projects/:project/merge_requests/:mr/version":          "GET /projects/:id/merge_requests/:merge_request_iid/versions",
		"/projects/:id/repository/archive":                           "GET /projects/:id/repository/archive[.:format]",
	} {
		assert.PanicsWithValue(t, fmt.Sprintf("forgetest: no route %q: did you mean %q? Routes are spelled as in the contract; Handle adds others", misspelled, meant),
			func() { s.Fail(misspelled, Status(500)) })
	}
	for pair, want := range map[[2]string]int{{"kitten", "sitting"}: 3, {"abc", ""}: 3, {"", "abc"}: 3, {"abc", "abc"}: 0, {"xabc", "abc"}: 1} {
		assert.Equal(t, want, editDistance(pair[0], pair[1]))
	}
}

func TestMovedProject(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	p.MoveTo("new/place")
	c := newCaller(t, s)
	for _, method := range []string{"GET /projects/group%2Fapp/issues/1/time_stats?x=1", "POST /projects/group%2Fapp/issues/1/subscribe"} {
		verb, path, _ := strings.Cut(method, " ")
		r := c.send(verb, path, "")
		assert.Equal(t, 301, r.Status)
		assert.Equal(t, "text/plain; charset=utf-8", r.Header.Get("Content-Type"))
		location := r.Header.Get("Location")
		assert.Equal(t, c.base+strings.Replace(path, "group%2Fapp", "1", 1), location)
	}
	assert.Equal(t, 0, s.CountApplied("*"))
	assert.Equal(t, 200, c.get("/projects/1/issues/1/time_stats").Status)
	assert.Equal(t, 200, c.get("/projects/new%2Fplace/issues/1/time_stats").Status)
	assert.Equal(t, "new/place#1", c.get("/issues").array(t)[0]["references"].(map[string]any)["full"])
}

func TestDocument(t *testing.T) {
	d := NewDocument("Issue")
	d.Set("title", "x").Set("time_stats.time_estimate", 60).Set("due_date", "2026-01-02")
	assert.Equal(t, int64(60), d.Get("time_stats.time_estimate"))
	assert.Nil(t, d.Get("milestone.title"))
	assert.Equal(t, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), d.Get("due_date"))
	assert.Contains(t, string(encoder{}.encode(d)), `"due_date":"2026-01-02"`)
	assert.EqualValues(t, 98, NewDocument("RunnerJob").Set("coverage", 98).Get("coverage"), "an integer is a number")
	assert.Contains(t, string(encoder{}.encode(d.Set("assignees", []*Document{nil}))), `"assignees":[null]`)
	for r := range rune(0x180) { // each character has the form of encoding/json
		want, err := json.Marshal(string(r))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(appendString(nil, string(r))))
	}
}

// A mistake in a test's own setup panics with its reason, as the test would go on without what it
// set up.
func TestMistakesOfSetupPanic(t *testing.T) {
	srv := New(t)
	group := srv.AddGroup("acme")
	for _, test := range []struct {
		says string
		call func()
	}{
		{`forgetest: WithExternalURL("forge.test"): it must be a scheme and a host, as in https://forge.test`, func() { WithExternalURL("forge.test") }},
		{`forgetest: WithExternalURL("//forge.test"): it must be a scheme and a host, as in https://forge.test`, func() { WithExternalURL("//forge.test") }},
		{`forgetest: WithExternalURL("https:"): it must be a scheme and a host, as in https://forge.test`, func() { WithExternalURL("https:") }},
		{`forgetest: WithExternalURL("https://forge.test/app"): it must be a scheme and a host, as in https://forge.test`, func() { WithExternalURL("https://forge.test/app") }},
		{`forgetest: "acme//app" is not a full path`, func() { srv.AddProject("acme//app") }},
		{`forgetest: "a?b" is not a full path`, func() { srv.AddGroup("a?b") }},
		{`forgetest: project "app" needs a group or a user above it`, func() { srv.AddProject("app") }},
		{"forgetest: AddMember: the user is nil", func() { group.AddMember(nil, Guest) }},
		{"forgetest: AddMember: the user is nil", func() { srv.AddProject("acme/app").AddMember(nil, Guest) }},
		{"forgetest: Fail: the Fault is zero: use a function that returns one, such as Status(502)", func() { srv.Fail("GET /issues", Fault{}) }},
		{"forgetest: Fail: 99 is not an HTTP status", func() { srv.Fail("GET /issues", Status(99)) }},
		{"forgetest: Fail: 1000 is not an HTTP status", func() { srv.Fail("GET /issues", Status(1000)) }},
		{`forgetest: WithTier: "gold" is not free, premium or ultimate`, func() { WithTier("gold") }},
		{`forgetest: WithOffering: "saas" is not hosted, self-managed or dedicated`, func() { WithOffering("saas") }},
		{"forgetest: Times: it must be at least 1, and is 0", func() { Status(502).Times(0) }},
		{"forgetest: After: it must not be negative, and is -1", func() { Status(502).After(-1) }},
		{"forgetest: AddMember: 31 is not a role: use a constant such as Developer", func() { group.AddMember(srv.Root(), 31) }},
		{"forgetest: AddMember: 60 is not a role: use a constant such as Developer", func() { group.AddMember(srv.Root(), 60) }},
		{"forgetest: AddMember: -10 is not a role: use a constant such as Developer", func() { group.AddMember(srv.Root(), -10) }},
		{`forgetest: AddToken: "read-api" is not a scope; near: read_api, api, read_user`, func() { srv.Root().AddToken("read-api") }},
		{"forgetest: AddToken: a fine-grained token has no other scope than that of Permissions", func() { srv.Root().AddToken("api", Permissions("read_issue")) }},
		{"forgetest: WithAuditEventLimit: 3 is not RefuseLongQueries or CutLongQueries", func() { WithAuditEventLimit(3) }},
		{`forgetest: Issue has no field "titel"; near: title, state, type; Fields lists all`, func() { NewDocument("Issue").Set("titel", "x") }},
		{"forgetest: Issue.title is of type string, not int 1", func() { NewDocument("Issue").Set("title", 1) }},
		{"forgetest: Issue.labels is of type array, not string bug: pass []string", func() { NewDocument("Issue").Set("labels", "bug") }},
		{"forgetest: Issue.author is of type UserSummary, not string maya: pass a *User or a *Document", func() { NewDocument("Issue").Set("author", "maya") }},
		{`forgetest: Issue.milestone is of type Milestone, not string v1: pass NewDocument("Milestone")`, func() { NewDocument("Issue").Set("milestone", "v1") }},
		{`forgetest: Issue.created_at is a timestamp, not string now: pass a time.Time, or text such as "2026-03-01"`, func() { NewDocument("Issue").Set("created_at", "now") }},
		{"forgetest: Issue.assignees is a list of UserSummary, not bool true: pass []*User or []*Document", func() { NewDocument("Issue").Set("assignees", true) }},
		{`forgetest: Issue.milestone has no nested document: set it before you use "milestone.title"`, func() { NewDocument("Issue").Set("milestone.title", "v1") }},
		{`forgetest: the contract has no type "Isue"`, func() { NewDocument("Isue") }},
		{`forgetest: acme/app has no ref "nope": add a commit or a branch first`, func() { srv.AddProject("acme/app").AddBranch("x", "nope") }},
		{"forgetest: ProtectRegistryTags(\"*\"): it is not an RE2 pattern, such as v.*: error parsing regexp: missing argument to repetition operator: `*`", func() { srv.AddProject("acme/app").ProtectRegistryTags("*") }},
	} {
		assert.PanicsWithValue(t, test.says, test.call)
	}
}

// No name server knows these hosts, however they are written.
func TestReservedHosts(t *testing.T) {
	for host, want := range map[string]bool{"forge.test": true, "Forge.TEST": true, "a.Example": true, "a.invalid": true, "test": false, "forgetest": false, "forge.com": false} {
		assert.Equal(t, want, isReserved(host), host)
	}
}

// The version of the server is that of its module in the program, as the main one or a dependency.
func TestVersionIn(t *testing.T) {
	own := func(version string) debug.Module {
		return debug.Module{Path: "github.com/forge-sdk/forge-go", Version: version}
	}
	other, dependency := debug.Module{Path: "example.com/app", Version: "v9.0.0"}, own("v1.2.3")
	for want, info := range map[string]debug.BuildInfo{
		"v1.0.0": {Main: own("v1.0.0")}, "v1.2.3": {Main: other, Deps: []*debug.Module{&other, &dependency}}, "(devel)": {Main: own(""), Deps: []*debug.Module{&other}},
	} {
		assert.Equal(t, want, versionIn(&info))
	}
}
