package forgetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// controller calls the control API of a server.
type controller struct{ caller }

func newController(t testing.TB, s *Server) controller {
	c := newCaller(t, s)
	c.base = s.URL + "/_forgetest"
	return controller{c}
}

func (c controller) call(method, path, body string) reply {
	c.t.Helper()
	return c.answer(method, path, body, "Authorization", "Bearer control")
}

// controlSchema is a part of the OpenAPI document.
type controlSchema struct {
	Ref        string                    `json:"$ref"`
	Properties map[string]*controlSchema `json:"properties"`
}

// The OpenAPI document has exactly the operations that the server has. A response has exactly the
// members that it says, and only the operations without security need no token.
func TestControlDocument(t *testing.T) {
	stopped := make(chan struct{})
	srv := New(t, WithControl("control", func() { close(stopped) }))
	c := newController(t, srv)
	newCaller(t, srv).answer("GET", "/nothing", "")
	var document struct {
		Paths map[string]map[string]struct {
			Security  []any
			Responses map[string]struct {
				Content map[string]struct{ Schema *controlSchema }
			}
		}
		Components struct{ Schemas map[string]*controlSchema }
	}
	require.NoError(t, json.Unmarshal(controlDocument, &document))
	bodies := map[string]string{
		"POST /snapshots": `{"name":"one"}`, "PUT /clock": `{"advance":"1h"}`, "POST /requests/count": `{"route":"GET /issues"}`,
		"POST /data": `{"users":[{"username":"maya"}]}`, "POST /retry_test": `{"instructions":{"GET /issues":["return-503"]}}`,
	}
	test := struct{ ID string }{}
	var described []string
	for _, route := range controlRoutes() { // POST shutdown is the last
		method, path, _ := strings.Cut(route.pattern, " ")
		operation, found := document.Paths["/"+path][strings.ToLower(method)]
		require.True(t, found, route.pattern)
		described = append(described, route.pattern)
		if path == "requests" && method == http.MethodDelete || path == "reset" { // at the end
			defer func() { assert.Equal(t, http.StatusOK, c.call(method, "/"+path, "").Status) }()
			continue
		}
		address := strings.NewReplacer("{name}", "one", "{id}", test.ID).Replace("/" + path)
		wanted := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}[operation.Security != nil]
		assert.Equal(t, wanted, c.answer(method, address, "", "Authorization", "Bearer other").Status, route.pattern)
		response := c.call(method, address, bodies[method+" /"+path])
		require.Equal(t, http.StatusOK, response.Status, "%s: %s", route.pattern, response.Body)
		assert.NotEmpty(t, response.Header.Get("X-Forgetest"))
		var object map[string]any
		require.NoError(t, json.Unmarshal([]byte(response.Body), &object))
		if path == "retry_test" {
			require.NoError(t, json.Unmarshal([]byte(response.Body), &test))
		}
		schema := operation.Responses["200"].Content["application/json"].Schema
		if name, is := strings.CutPrefix(schema.Ref, "#/components/schemas/"); is {
			schema = document.Components.Schemas[name]
		}
		if path != "openapi.json" {
			assert.ElementsMatch(t, slices.Collect(maps.Keys(schema.Properties)), slices.Collect(maps.Keys(object)), route.pattern)
		}
		if list, is := object["requests"].([]any); is {
			require.NotEmpty(t, list)
			assert.ElementsMatch(t, slices.Collect(maps.Keys(document.Components.Schemas["Request"].Properties)), slices.Collect(maps.Keys(list[0].(map[string]any))))
		}
	}
	<-stopped
	for path, operations := range document.Paths {
		for method := range operations {
			assert.Contains(t, described, strings.ToUpper(method)+" "+path[1:])
		}
	}
}

// Tests that run at the same time have their own faults and effects. Instructions act in their
// order, once each.
func TestRetryTests(t *testing.T) {
	srv := New(t, WithControl("control", nil))
	srv.AddProject("acme/app").AddIssues(1, nil)
	c := newController(t, srv)
	const route, path = "POST /projects/:id/issues/:issue_iid/add_spent_time", "/projects/1/issues/1/add_spent_time"
	for name, want := range map[string]struct {
		statuses []int
		applied  int
	}{
		"drop-response": {[]int{0, 201}, 2}, "drop-request": {[]int{0, 201}, 1}, "return-503": {[]int{503, 201}, 1}, "return-reset-connection": {[]int{0, 201}, 1},
		"override-status-502": {[]int{502, 201}, 2}, "too-many-requests-7": {[]int{429, 201}, 1}, "sign-in-page": {[]int{200, 201}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var test struct {
				ID           string
				Completed    bool
				Applied      map[string]int
				Instructions map[string][]string
			}
			made := c.call("POST", "/retry_test", fmt.Sprintf(`{"instructions":{%q:[%q]}}`, route, name))
			require.NoError(t, json.Unmarshal([]byte(made.Body), &test))
			assert.Equal(t, map[string][]string{route: {name}}, test.Instructions)
			var statuses []int
			api := newCaller(t, srv)
			for range want.statuses {
				response, err := api.do("POST", path, "duration=1h", "Content-Type", "application/x-www-form-urlencoded", testHeader, test.ID)
				if err != nil {
					statuses = append(statuses, 0)
					continue
				}
				statuses = append(statuses, response.StatusCode)
				require.NoError(t, response.Body.Close())
			}
			assert.Equal(t, want.statuses, statuses)
			require.NoError(t, json.Unmarshal([]byte(c.call("GET", "/retry_test/"+test.ID, "").Body), &test))
			assert.True(t, test.Completed)
			assert.Equal(t, want.applied, test.Applied[route])
			counted := c.call("POST", "/requests/count", fmt.Sprintf(`{"test":%q,"route":%q}`, test.ID, route))
			assert.JSONEq(t, fmt.Sprintf(`{"count":2,"applied":%d}`, want.applied), counted.Body)
		})
	}
	for body, text := range map[string]string{
		`{"instructions":{"GET /issues":["return-3"]}}`:     `no instruction "return-3": known are delay-request-N`,
		`{"instructions":{"GET /isues":["return-503"]}}`:    `no route "GET /isues": did you mean "GET /issues"?`,
		`{"instruction":{}}`:                                `unknown field "instruction"`,
		`{"instructions":{"GET /issues":["delay-forever"]}`: "the body: unexpected EOF",
	} {
		response := c.call("POST", "/retry_test", body)
		assert.Equal(t, http.StatusBadRequest, response.Status, body)
		assert.Contains(t, strings.ReplaceAll(response.Body, `\"`, `"`), text)
	}
}

// A body over 32 MiB is refused, and not cut.
func TestControlBodyIsLimited(t *testing.T) {
	c := newController(t, New(t, WithControl("control", nil)))
	response := c.call("POST", "/data", strings.Repeat(" ", maxBody)+"{}")
	assert.Equal(t, http.StatusBadRequest, response.Status)
	assert.Contains(t, response.Body, "too large")
}

// A test that is deleted leaves no fault.
func TestDeleteRetryTest(t *testing.T) {
	srv := New(t, WithControl("control", nil))
	c := newController(t, srv)
	var test struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(c.call("POST", "/retry_test", `{"instructions":{"*":["return-503"]}}`).Body), &test))
	require.Equal(t, http.StatusOK, c.call("DELETE", "/retry_test/"+test.ID, "").Status)
	assert.Equal(t, http.StatusOK, newCaller(t, srv).answer("GET", "/user", "", testHeader, test.ID).Status)
	assert.Equal(t, http.StatusNotFound, c.call("GET", "/retry_test/"+test.ID, "").Status)
}

// restorable are paths whose responses together show all data of the server.
var restorable = []string{
	"/issues?scope=all&per_page=100", "/projects/1/issues?per_page=100", "/projects/1/issues/1/notes", "/projects/1/issues/1/time_stats", "/merge_requests?scope=all",
	"/users", "/user/emails", "/groups", "/projects", "/projects/3/repository/tree", "/projects/1/registry/repositories?tags=true",
	"/runners/all", "/runners/1", "/audit_events", "/projects/1/secure_files", "/projects/1/resource_groups", "/groups/acme/integrations", "/application/settings",
	"/groups/acme/merge_request_approval_setting", "/groups/acme/audit_events",
}

// Restoring a snapshot, and reset, undo every kind of change, as often as they are done. Two
// changes after a restore do not reach the snapshot.
func TestSnapshots(t *testing.T) {
	srv := New(t, WithDemo(), WithStarterRoutes(), WithControl("control", nil))
	c, api := newController(t, srv), newCaller(t, srv)
	state := func() map[string]string {
		shown := map[string]string{}
		for _, path := range restorable {
			response := api.answer("GET", path, "")
			require.Equal(t, http.StatusOK, response.Status, "%s: %s", path, response.Body)
			shown[path] = response.Body
		}
		return shown
	}
	change := func() {
		for _, write := range []string{
			"POST /projects/1/issues title=New", "POST /projects/1/issues/1/notes body=Hello", "POST /projects/1/issues/1/add_spent_time duration=1h",
			"POST /projects/1/issues/1/subscribe ", "POST /user/emails email=other@example.com", "PUT /runners/1 description=other", "PUT /application/settings signup_enabled=false",
			"PUT /groups/acme/integrations/discord webhook=https://discord.example.com/hook", "PUT /groups/acme/merge_request_approval_setting allow_author_approval=true",
			"POST /projects/3/repository/changelog version=9.9.9", "DELETE /projects/1/registry/repositories/1 ",
			"PUT /projects/1/ container_registry_access_level=private", "POST /projects/1/merge_requests source_branch=a&target_branch=main&title=New",
		} {
			parts := strings.SplitN(write, " ", 3)
			response := api.answer(parts[0], parts[1], parts[2], "Content-Type", "application/x-www-form-urlencoded")
			require.Less(t, response.Status, 300, "%s: %s", write, response.Body)
		}
		srv.Root().AddToken()
		srv.FinishBackgroundJobs()
	}
	first := state()
	require.Equal(t, http.StatusOK, c.call("POST", "/snapshots", `{"name":"first"}`).Status)
	for range 2 {
		change()
		changed := state()
		assert.NotEqual(t, first, changed)
		require.Equal(t, http.StatusOK, c.call("PUT", "/snapshots/first", "").Status)
		assert.Equal(t, first, state())
	}
	change()
	require.Equal(t, http.StatusOK, c.call("POST", "/reset", "").Status)
	assert.Equal(t, first, state())
	assert.Equal(t, http.StatusNotFound, c.call("PUT", "/snapshots/first", "").Status, "reset forgets snapshots")
}

// PUT clock stops and moves the clock; reset starts it again.
func TestControlClock(t *testing.T) {
	srv := New(t, WithControl("control", nil))
	c := newController(t, srv)
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	assert.JSONEq(t, `{"time":"2026-03-02T09:00:00Z"}`, c.call("PUT", "/clock", `{"time":"2026-03-02T09:00:00Z"}`).Body)
	assert.Equal(t, at, srv.time())
	c.call("PUT", "/clock", `{"advance":"90m"}`)
	assert.Equal(t, at.Add(90*time.Minute), srv.time())
	for _, body := range []string{`{}`, `{"advance":"soon"}`, `{"advance":"1h","time":"2026-03-02T09:00:00Z"}`} {
		assert.Equal(t, http.StatusBadRequest, c.call("PUT", "/clock", body).Status, body)
	}
	c.call("POST", "/reset", "")
	assert.Greater(t, srv.time(), at.AddDate(0, 1, 0))
}

// The page shows requests with their effect and fault, and no script of the requests' texts runs.
func TestPage(t *testing.T) {
	srv := New(t, WithControl("control", nil))
	srv.AddProject("acme/app").AddIssues(1, nil)
	srv.Fail("GET /issues", Status(502))
	c, api := newController(t, srv), newCaller(t, srv)
	api.answer("GET", "/issues", "")
	api.answer("GET", "/nothing?a=<script>", "")
	api.answer("POST", "/projects/1/issues/1/add_spent_time", `{"duration":"1h'"}`, "Content-Type", "application/json")
	api.answer("POST", "/projects/1/issues/1/add_spent_time", "duration=1h", "Content-Type", "application/x-www-form-urlencoded")
	page := c.answer("GET", srv.URL+"/", "").Body
	for _, text := range []string{srv.Token, "return-502", "no such route", `<span class="effect">changed</span>`, "GET /projects/:id/runners", `1h&#39;\&#39;&#39;`, "a=%3Cscript%3E"} {
		assert.Contains(t, page, text)
	}
	assert.Equal(t, 1, strings.Count(page, "<script>"))
	assert.NotContains(t, page, "control\"")
	assert.Equal(t, http.StatusNotFound, newCaller(t, New(t)).answer("GET", "", "").Status, "a server without control has none")
}

// The example is complete: every member of the schema, but for those that need files, and the
// server has what it says.
func TestSeed(t *testing.T) {
	srv, err := Start(WithSeed("control/example.json"), WithStarterRoutes())
	require.NoError(t, err)
	defer srv.Close()
	maya := newCaller(t, srv).as("maya-token")
	for path, text := range map[string]string{
		"/projects/acme%2Fapp/issues?assignee_username=maya": `"title":"Crash at start"`, "/projects/acme%2Fapp/issues?state=closed": `"time_estimate":3600`,
		"/projects/1/merge_requests": `"username":"maya"`, "/projects/1/repository/tree": "README.md", "/projects/1/registry/repositories/1/tags": "v1.0.0",
		"/projects/1/runners": "docker", "/projects/1/resource_groups": "production", "/groups/acme/integrations": "discord", "/user": "maya",
	} {
		response := maya.answer("GET", path, "")
		assert.Equal(t, http.StatusOK, response.Status, path)
		assert.Contains(t, response.Body, text, path)
	}
	assert.Equal(t, http.StatusForbidden, maya.as("maya-reads").answer("POST", "/projects/1/issues/1/subscribe", "").Status)
	assert.Contains(t, newCaller(t, srv).answer("GET", "/application/settings", "").Body, `"signup_enabled":false`)
}

// Each error names the line and the field, and leaves nothing behind.
func TestSeedErrors(t *testing.T) {
	srv := New(t)
	kept := srv.AddProject("kept/app")
	for seed, text := range map[string]string{
		`{"users": [`:                   `seed:1: the JSON ends too early`,
		"{\n\"user\": []}":              "seed:2: user: unknown; known are $schema, users, groups, projects,",
		`{"users": [{}]}`:               "seed:1: users[0]: username is missing",
		`{"users": [{"username": ""}]}`: "seed:1: users[0]: username is missing",
		`{} {}`:                         "seed:1: there is text after the object",
		`{"users": {}, "users": []}`:    `seed:1: "users" is there twice`,
		"{\"users\": [{\"username\": \"a\"},\n{\"username\": \"A\"}]}":                   `seed:2: users[1].username: there is a user "A" already`,
		`{"users": [{"username": "a", "tokens": [{"value": "x"}, {"value": "x"}]}]}`:     "users[0].tokens[1].value: there is a token of this value already",
		`{"users": [{"username": "a", "tokens": [{"value": "x", "scopes": ["apis"]}]}]}`: `AddToken: "apis" is not a scope; near: api`,
		`{"users": [{"username": "a", "admin": "yes"}]}`:                                 "users[0].admin: it must be true or false",
		`{"groups": [{"path": "a"}, {"path": "a"}]}`:                                     `groups[1].path: there is a group "a" already`,
		`{"groups": [{"path": "a", "members": [{"username": "x", "role": "owner"}]}]}`:   `groups[0].members[0].username: there is no user "x"`,
		`{"groups": [{"path": "a", "members": [{"username": "root", "role": "boss"}]}]}`: "members[0].role: it must be guest, reporter",
		`{"groups": [{"path": "a", "visibility": "secret"}]}`:                            "groups[0].visibility: it must be public, internal or private",
		`{"groups": [{"path": "a", "integrations": {"discord": {}}}]}`:                   "webhook is missing",
		`{"projects": [{"path": "app"}]}`:                                                `project "app" needs a group or a user above it`,
		`{"projects": [{"path": "a/b", "issues": [{"titel": "x"}]}]}`:                    `projects[0].issues[0].titel: Issue has no field "titel"; near: title`,
		`{"projects": [{"path": "a/b", "issues": [{"title": 1}]}]}`:                      "projects[0].issues[0].title: Issue.title is of type string",
		`{"projects": [{"path": "a/b", "issues": [{"title": {"a": 1}}]}]}`:               "projects[0].issues[0].title: Issue.title is of type string",
		`{"projects": [{"path": "a/b", "issues": [{"iid": 7}]}]}`:                        "Issue.iid cannot be set: the server computes it",
		`{"projects": [{"path": "a/b", "issues": [{"assignees": ["x"]}]}]}`:              `issues[0].assignees[0]: there is no user "x"`,
		`{"projects": [{"path": "a/b", "generated_issues": -1}]}`:                        "generated_issues: it must be a whole number",
		`{"projects": [{"path": "a/b", "repository": {}}]}`:                              "repository: it has no files",
		`{"projects": [{"path": "a/b", "repository": {"folder": "x"}}]}`:                 "a path of the server's machine is possible in a file only",
		`{"settings": {"signup_enabled": "perhaps"}}`:                                    "settings: ",
	} {
		assert.ErrorContains(t, srv.load("seed", "", []byte(seed)), text, seed)
	}
	assert.Len(t, srv.store.users, 1)
	require.Len(t, srv.store.projects, 1)
	assert.Same(t, kept, srv.store.projects[0], "the server's own records stay")
	_, err := Start(WithSeed("testdata/none.json"))
	assert.ErrorContains(t, err, "none.json")
	_, err = Start(WithSeed(t.TempDir()))
	assert.ErrorContains(t, err, "the folder has no *.json file")
	_, err = Start(WithSeedData([]byte(`{"projects": [{"path": "a/b", "repository": {"folder": "."}}]}`)))
	assert.ErrorContains(t, err, "seed:1: projects[0].repository.folder: a path of the server's machine is possible in a file only")
}

// A repository comes from a folder, without .git.
func TestSeedRepository(t *testing.T) {
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(folder+"/app/.git", 0o700))
	require.NoError(t, os.WriteFile(folder+"/app/.git/HEAD", []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(folder+"/app/main.go", []byte("package main\n"), 0o600))
	require.NoError(t, os.Mkdir(folder+"/git", 0o700))
	require.NoError(t, os.WriteFile(folder+"/git/main.go", []byte("package main\n"), 0o600))
	require.NoError(t, os.WriteFile(folder+"/seed.json", []byte(`{"projects": [{"path": "a/b", "repository": {"folder": "app"}}]}`), 0o600))
	srv := New(t, WithSeed(folder))
	tree := newCaller(t, srv).answer("GET", "/projects/1/repository/tree", "").Body
	assert.Contains(t, tree, "main.go")
	assert.NotContains(t, tree, ".git")

	for _, args := range []string{"init -q", "add .", "-c user.name=a -c user.email=a -c commit.gpgsign=false commit -q -m a"} {
		out, err := exec.CommandContext(t.Context(), "git", strings.Fields("-C "+folder+"/git "+args)...).CombinedOutput()
		require.NoError(t, err, string(out))
	}
	srv = New(t)
	seed := `{"projects": [{"path": "a/b", "repository": {"git": %q}}]}`
	require.NoError(t, srv.load("seed", folder, fmt.Appendf(nil, seed, "git")))
	assert.Contains(t, newCaller(t, srv).answer("GET", "/projects/1/repository/tree", "").Body, "main.go")
	assert.ErrorContains(t, New(t).load("seed", folder, fmt.Appendf(nil, seed, "none")), "git ls-tree: exit status 128")
}

// The schema has, at each level, exactly the members that the server knows.
func TestSeedSchema(t *testing.T) {
	data, err := os.ReadFile("control/seed.schema.json")
	require.NoError(t, err)
	type schema struct {
		Properties map[string]*schema
		Items      *schema
		Required   []string
		Additional any `json:"additionalProperties"`
	}
	var root schema
	require.NoError(t, json.Unmarshal(data, &root))
	srv := New(t)
	var visit func(s *schema, wrap func(string) string)
	visit = func(s *schema, wrap func(string) string) {
		if s.Additional == false {
			err := srv.load("seed", "", []byte(wrap(`{"?": 1}`)))
			require.ErrorContains(t, err, "unknown; known are ")
			_, known, _ := strings.Cut(err.Error(), "known are ")
			assert.ElementsMatch(t, slices.Collect(maps.Keys(s.Properties)), strings.Split(known, ", "))
		}
		for name, child := range s.Properties {
			isList := child.Items != nil
			inside := func(value string) string {
				if isList {
					value = "[" + value + "]"
				}
				members := []string{fmt.Sprintf("%q: %s", name, value)}
				for _, required := range s.Required {
					members = append(members, fmt.Sprintf("%q: %q", required, "a/b"))
				}
				return wrap("{" + strings.Join(members, ", ") + "}")
			}
			if isList {
				child = child.Items
			}
			visit(child, inside)
		}
	}
	visit(&root, func(value string) string { return value })
}

// Starter routes read and write the same data; Handle replaces them, whatever its placeholder is
// called.
func TestStarterRoutes(t *testing.T) {
	srv := New(t, WithStarterRoutes(), WithRelease("18.2"))
	private := srv.AddProject("acme/secret", Private)
	srv.AddProject("acme/app").AddIssues(1, nil)
	guest := srv.AddUser("guest")
	private.AddMember(guest, Guest)
	api := newCaller(t, srv)
	other := api.as(srv.AddUser("other").Token)
	assert.Contains(t, api.answer("GET", "/version", "").Body, `"version":"18.2.0-ee"`)
	assert.Equal(t, "2", api.answer("GET", "/projects", "").Header.Get("X-Total"))
	assert.Equal(t, "1", other.answer("GET", "/projects", "").Header.Get("X-Total"))
	assert.Equal(t, "1", api.answer("GET", "/projects?search=SECR", "").Header.Get("X-Total"))
	assert.Equal(t, http.StatusNotFound, other.answer("GET", "/projects/acme%2Fsecret", "").Status)
	assert.Contains(t, api.answer("GET", "/groups/acme", "").Body, `"full_path":"acme"`)
	page := api.answer("GET", "/projects?pagination=keyset&per_page=1&order_by=id", "")
	next := strings.TrimPrefix(strings.Split(page.Header.Get("Link"), ">")[0], "<")
	assert.Contains(t, api.answer("GET", next, "").Body, "acme/secret")

	made := api.answer("POST", "/projects/acme%2Fapp/issues", `{"title":"New","labels":"a,b","assignee_ids":[2]}`, "Content-Type", "application/json")
	require.Equal(t, http.StatusCreated, made.Status, made.Body)
	assert.Contains(t, api.answer("GET", "/projects/2/issues/2", "").Body, `"labels":["a","b"]`)
	assert.Contains(t, api.answer("GET", "/issues?assignee_username=guest&scope=all", "").Body, `"title":"New"`)
	assert.Equal(t, http.StatusForbidden, api.as(guest.Token).answer("POST", "/projects/1/issues", "title=x", "Content-Type", "application/x-www-form-urlencoded").Status)
	const mergeRequest = `"title":"New","description":"d","source_branch":"s","target_branch":"t"`
	made = api.answer("POST", "/projects/2/merge_requests", "{"+mergeRequest+"}", "Content-Type", "application/json")
	require.Equal(t, http.StatusCreated, made.Status, made.Body)
	for text := range strings.SplitSeq(mergeRequest, ",") {
		assert.Contains(t, made.Body, text)
	}
	assert.Equal(t, http.StatusBadRequest, api.answer("POST", "/projects/2/merge_requests", "title=x", "Content-Type", "application/x-www-form-urlencoded").Status)

	srv.Handle("GET /projects/:project/issues/:iid", func(w http.ResponseWriter, r *http.Request) { WriteJSON(w, r, 200, r.PathValue("iid")) })
	assert.Equal(t, `"2"`, api.answer("GET", "/projects/2/issues/2", "").Body)
}

// A server on all addresses, as in a container, links to the address that the client used.
func TestLinksOfContainer(t *testing.T) {
	srv := New(t, WithAddr("0.0.0.0:0"))
	srv.AddProject("acme/app").AddIssues(2, nil)
	response := newCaller(t, srv).answer("GET", "/issues?per_page=1&scope=all", "")
	port := srv.URL[strings.LastIndex(srv.URL, ":"):]
	assert.Contains(t, response.Header.Get("Link"), "<http://127.0.0.1"+port+"/api/v4/issues?")
	r, err := http.NewRequestWithContext(t.Context(), "GET", srv.URL+"/api/v4/issues?scope=all&per_page=1", nil)
	require.NoError(t, err)
	r.Host = "mapped.example:49153"
	r.Header.Set("Private-Token", srv.Token)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	other, err := transport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, other.Body.Close())
	assert.Contains(t, other.Header.Get("Link"), "<http://mapped.example:49153/api/v4/issues?")
}

// The log line of a request has what happened to it.
func TestRequestLog(t *testing.T) {
	var lines syncBuffer
	srv := New(t, WithRequestLog(&lines))
	srv.AddProject("acme/app").AddIssues(1, nil)
	srv.SetClock(DemoTime)
	srv.Fail("POST /projects/:id/issues/:issue_iid/subscribe", OverrideStatus(502))
	api := newCaller(t, srv)
	api.answer("POST", "/projects/1/issues/1/subscribe", "")
	api.answer("GET", "/nothing", "")
	srv.Close()
	assert.Equal(t, "09:00:00 POST /api/v4/projects/1/issues/1/subscribe 502 (changed something) (fault override-status-502)\n"+
		"09:00:00 GET /api/v4/nothing 404 (no such route)\n", lines.String())
}

type syncBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}
