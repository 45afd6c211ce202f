package forgetest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

const (
	listJobs = "GET /projects/:id/jobs"
	playJob  = "POST /projects/:id/jobs/:job_id/play"
)

// job is the type of the tests' routes.
type job struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// call builds the call of a route, with its spelling.
func call(route string, args ...forge.Arg) forge.Call {
	method, path, _ := strings.Cut(route, " ")
	return forge.Call{Method: method, Route: path, Args: args}
}

// serveJob responds with one job.
func serveJob(w http.ResponseWriter, r *http.Request) {
	forgetest.WriteJSON(w, r, http.StatusOK, job{ID: 1, Name: r.PathValue("id")})
}

// status returns the status of a call, 200 for success.
func status(t *testing.T, client *forge.Client, c forge.Call, opts ...forge.RequestOption) int {
	t.Helper()
	var response forge.Response
	err := client.Do(t.Context(), c, nil, append(opts, forge.Into(&response))...)
	var failed *forge.Error
	if errors.As(err, &failed) {
		return failed.Status
	}
	require.NoError(t, err)
	return response.Status
}

// fetch sends a request without the client.
func fetch(t *testing.T, srv *forgetest.Server, method, path string, body io.Reader, header ...string) (*http.Response, []byte) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+"/api/v4"+path, body)
	require.NoError(t, err)
	r.Header.Set("PRIVATE-TOKEN", srv.Token)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	data, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	return response, data
}

// Each check of the contract's routes applies to an added route, unless an option changes it.
func TestHandleChecksRequests(t *testing.T) {
	srv := forgetest.New(t)
	open, closed := srv.AddProject("acme/open"), srv.AddProject("acme/closed", forgetest.Private)
	srv.AddGroup("secret", forgetest.Private)
	reporter, developer, other := srv.AddUser("reporter"), srv.AddUser("developer"), srv.AddUser("other")
	open.AddMember(other, forgetest.Guest)
	closed.AddMember(reporter, forgetest.Reporter)
	closed.AddMember(developer, forgetest.Developer)
	srv.Handle(listJobs, serveJob)
	srv.Handle("POST /projects/:id/jobs", serveJob)
	srv.Handle("GET /groups/:group_id/jobs", serveJob)
	srv.Handle("GET /projects/:id", serveJob, forgetest.RequireRole(forgetest.Developer))
	srv.Handle("GET /groups", serveJob, forgetest.RequireAdmin())
	srv.Handle("GET /projects/:id/public", serveJob, forgetest.AllowAnonymous())
	srv.Handle("GET /projects/:id/job", serveJob, forgetest.AllowJobToken())

	token := func(token string) *forge.Client { return srv.Client(forge.WithToken(token)) }
	root, none, bad := srv.Client(), srv.Client(forge.WithoutCredential()), token("wrong")
	readOnly, stranger := token(reporter.AddToken("read_api")), token(other.Token)
	jobToken := srv.Client(forge.WithJobToken(closed.AddJobToken(developer)))
	ofOpen, ofClosed := forge.Path(open.Path), forge.Path(closed.Path)
	for _, tc := range []struct {
		name   string
		client *forge.Client
		call   forge.Call
		status int
	}{
		{"by path", root, call(listJobs, ofClosed), 200},
		{"by id", root, call(listJobs, forge.ID(closed.ID)), 200},
		{"without a credential", none, call(listJobs, ofOpen), 401},
		{"wrong token", bad, call(listJobs, ofOpen), 401},
		{"no such project", root, call(listJobs, forge.Path("acme/none")), 404},
		{"private project", stranger, call(listJobs, ofClosed), 404},
		{"public project", stranger, call(listJobs, ofOpen), 200},
		{"read_api reads", readOnly, call(listJobs, ofClosed), 200},
		{"read_api writes", readOnly, call("POST /projects/:id/jobs", ofClosed), 403},
		{"private group", stranger, call("GET /groups/:group_id/jobs", forge.Path("secret")), 404},
		{"group", root, call("GET /groups/:group_id/jobs", forge.Path("secret")), 200},
		{"role below", token(reporter.Token), call("GET /projects/:id", ofClosed), 403},
		{"role", token(developer.Token), call("GET /projects/:id", ofClosed), 200},
		{"role of an administrator", root, call("GET /projects/:id", ofClosed), 200},
		{"not an administrator", token(developer.Token), call("GET /groups"), 403},
		{"administrator", root, call("GET /groups"), 200},
		{"anonymous", none, call("GET /projects/:id/public", ofOpen), 200},
		{"anonymous, private project", none, call("GET /projects/:id/public", ofClosed), 404},
		{"anonymous, wrong token", bad, call("GET /projects/:id/public", ofOpen), 401},
		{"job token, not allowed", jobToken, call(listJobs, ofClosed), 401},
		{"job token", jobToken, call("GET /projects/:id/job", ofClosed), 200},
		{"job token of another project", jobToken, call("GET /projects/:id/job", ofOpen), 403},
		{"another method", root, call("PUT /projects/:id/jobs", ofOpen), 405},
	} {
		assert.Equal(t, tc.status, status(t, tc.client, tc.call), tc.name)
	}
	assert.Equal(t, 404, status(t, root, call(listJobs, ofClosed), forge.Sudo(other.ID)))
	assert.Equal(t, 403, status(t, token(developer.Token), call(listJobs, ofClosed), forge.Sudo(other.ID)))
	response, _ := fetch(t, srv, "PATCH", "/projects/1/jobs", nil)
	assert.Equal(t, "GET, HEAD, POST", response.Header.Get("Allow"))

	closed.MoveTo("acme/moved")
	assert.Equal(t, 200, status(t, root, call(listJobs, ofClosed)), "a redirect that the client follows")
	moved := srv.Requests()[len(srv.Requests())-2]
	assert.Equal(t, 301, moved.Status)
}

// A handler finds what the server knows about the request, and reads every form of body.
func TestHandlePassesTheRequest(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithPrefix("forge"))
	app := srv.AddProject("acme/app")
	acme, maya := srv.AddGroup("acme"), srv.AddUser("maya")
	var body, file, field string
	srv.Handle(playJob, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, "acme/app", r.PathValue("id"))
		assert.Equal(t, "a/b c", r.PathValue("job_id"))
		assert.Equal(t, playJob, r.Pattern)
		assert.Same(t, app, forgetest.ProjectFrom(r))
		assert.Nil(t, forgetest.GroupFrom(r))
		assert.Same(t, maya, forgetest.UserFrom(r))
		field = r.FormValue("x")
		if _, header, err := r.FormFile("file"); err == nil {
			file = header.Filename
		}
		data, err := io.ReadAll(r.Body)
		assert.NoError(t, err)
		body = string(data)
		w.WriteHeader(http.StatusAccepted)
	})
	srv.Handle("GET /groups/:id/jobs", func(w http.ResponseWriter, r *http.Request) {
		assert.Same(t, acme, forgetest.GroupFrom(r))
		assert.Nil(t, forgetest.ProjectFrom(r))
		serveJob(w, r)
	})
	var found job
	require.NoError(t, srv.Client().Do(t.Context(), call("GET /groups/:id/jobs", forge.Path("acme")), &found))
	assert.Equal(t, job{1, "acme"}, found)

	const path = "/projects/acme%2Fapp/jobs/a%2Fb%20c/play?sudo=maya"
	send := func(kind, text string) int {
		body, file, field = "", "", ""
		response, _ := fetch(t, srv, "POST", path, strings.NewReader(text), "Content-Type", kind)
		return response.StatusCode
	}
	assert.Equal(t, 202, send("application/json", `{"x": 1}`))
	assert.Equal(t, `{"x": 1}`, body)
	assert.Equal(t, 400, send("application/json", `{"x": `))
	assert.Equal(t, 202, send("application/x-www-form-urlencoded", "x=1"))
	assert.Equal(t, "1", field)
	assert.Equal(t, 202, send("application/octet-stream", "\x00\x01"))
	assert.Equal(t, "\x00\x01", body)
	var form bytes.Buffer
	parts := multipart.NewWriter(&form)
	_, err := parts.CreateFormFile("file", "a.zip")
	require.NoError(t, err)
	require.NoError(t, parts.WriteField("x", "2"))
	require.NoError(t, parts.Close())
	assert.Equal(t, 202, send(parts.FormDataContentType(), form.String()))
	assert.Equal(t, "a.zip", file)
	assert.Equal(t, "2", field)
	assert.Equal(t, form.String(), string(srv.LastRequest(t, playJob).Body))
	assert.Equal(t, "POST", srv.LastRequest(t, playJob).Method)
	srv.AssertAppliedCount(t, playJob, 4)
}

// assertRoutesAreChecked checks that every method of the server that takes a route panics if it is
// misspelled.
func assertRoutesAreChecked(t *testing.T, srv *forgetest.Server) {
	calls := map[string]func(route string){
		"AssertRequestCount": func(route string) { srv.AssertRequestCount(t, route, 0) },
		"AssertAppliedCount": func(route string) { srv.AssertAppliedCount(t, route, 0) },
		"AssertNoRequest":    func(route string) { srv.AssertNoRequest(t, route) },
		"AssertRequests":     func(route string) { srv.AssertRequests(t, route) },
		"LastRequest":        func(route string) { srv.LastRequest(t, route) },
		"Fail":               func(route string) { srv.Fail(route, forgetest.Status(500)) },
		"SetRateLimit":       func(route string) { srv.SetRateLimit(route, 1) },
		"CountRequests":      func(route string) { srv.CountRequests(route) },
		"CountApplied":       func(route string) { srv.CountApplied(route) },
	}
	for name, f := range calls {
		assert.PanicsWithValue(t, `forgetest: no route "GET /projects/:id/job": did you mean "GET /projects/:id/jobs"? Routes are spelled as in the contract; Handle adds others`,
			func() { f("GET /projects/:id/job") }, name)
	}
}

// The log, the assertions and the counters know an added route.
func TestHandleIsLogged(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app")
	assert.Panics(t, func() { srv.AssertRequestCount(t, listJobs, 0) }, "before Handle")
	srv.Handle(listJobs, serveJob)
	srv.Handle(playJob, func(w http.ResponseWriter, r *http.Request) {
		switch r.PathValue("job_id") {
		case "1":
			forgetest.WriteJSON(w, r, http.StatusCreated, job{ID: 1})
		case "2":
			forgetest.WriteError(w, r, http.StatusNotFound, "404 Job Not Found")
		case "3":
			forgetest.SetApplied(r, false)
			forgetest.WriteJSON(w, r, http.StatusOK, job{ID: 3})
		case "4":
			forgetest.SetApplied(r, true)
			panic(http.ErrAbortHandler)
		}
	})
	assertRoutesAreChecked(t, srv)
	srv.AssertNoRequest(t, listJobs, playJob)

	client, app := srv.Client(forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1})), forge.Path("acme/app")
	assert.Equal(t, 200, status(t, client, call(listJobs, app)))
	assert.Equal(t, 201, status(t, client, call(playJob, app, forge.ID(1))))
	assert.Equal(t, 404, status(t, client, call(playJob, app, forge.ID(2))))
	assert.Equal(t, 200, status(t, client, call(playJob, app, forge.ID(3))))
	srv.AssertAppliedCount(t, playJob, 1)
	srv.AssertAppliedCount(t, listJobs, 0)
	var failed *forge.Error
	require.ErrorAs(t, client.Do(t.Context(), call(playJob, app, forge.ID(4)), nil), &failed)
	assert.True(t, failed.MaybeApplied)
	srv.AssertAppliedCount(t, playJob, 2)
	assert.Equal(t, 2, srv.CountApplied("*"))
	srv.AssertRequestCount(t, playJob, 4)
	srv.AssertRequests(t, listJobs, playJob, playJob, playJob, playJob)
	assert.Zero(t, srv.LastRequest(t, playJob).Status)
	assert.JSONEq(t, `{"message":"404 Job Not Found"}`, string(srv.Requests()[2].ResponseBody))
	assert.JSONEq(t, `{"id":1,"name":"acme/app"}`, string(srv.Requests()[0].ResponseBody))
}

// Faults and rate limits act on an added route.
func TestHandleHasFaults(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app")
	srv.Handle(listJobs, serveJob)
	srv.Handle(playJob, serveJob)
	client, app := srv.Client(), forge.Path("acme/app")

	srv.Fail(listJobs, forgetest.Status(502).Times(2))
	assert.Equal(t, 200, status(t, client, call(listJobs, app)))
	srv.AssertRequestCount(t, listJobs, 3)
	srv.Fail(playJob, forgetest.OverrideStatus(502).Times(1))
	assert.Equal(t, 502, status(t, client, call(playJob, app, forge.ID(1))))
	srv.AssertAppliedCount(t, playJob, 1)
	srv.Fail(listJobs, forgetest.Respond(200, "application/json", `{"id": 7}`).Times(1))
	var found job
	require.NoError(t, client.Do(t.Context(), call(listJobs, app), &found))
	assert.EqualValues(t, 7, found.ID)

	srv.SetRateLimit(listJobs, 1)
	quick := srv.Client(forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}))
	assert.Equal(t, 200, status(t, quick, call(listJobs, app)))
	assert.Equal(t, 429, status(t, quick, call(listJobs, app)))
}

// A handler runs without a lock: it may use the server and call it, and routes may be added
// meanwhile.
func TestHandleIsConcurrent(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app")
	client := srv.Client()
	srv.Handle("POST /projects/:id/copy", func(w http.ResponseWriter, r *http.Request) {
		p := srv.AddProject("acme/" + r.FormValue("name"))
		p.AddIssues(1, nil)
		srv.Handle("GET /copies", func(w http.ResponseWriter, r *http.Request) { forgetest.WritePage(w, r, []job{{ID: p.ID}}) })
		stats, err := client.Issues.GetTimeStats(r.Context(), forge.ID(p.ID), 1)
		assert.NoError(t, err)
		assert.NotNil(t, stats)
		forgetest.WriteJSON(w, r, http.StatusCreated, map[string]any{"id": p.ID, "requests": len(srv.Requests())})
	})
	var group sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d"} {
		group.Go(func() {
			c := call("POST /projects/:id/copy", forge.Path("acme/app"))
			c.Query = map[string][]string{"name": {name}}
			assert.NoError(t, client.Do(t.Context(), c, nil))
		})
	}
	group.Wait()
	copies, err := forge.Collect(forge.ListAs[job](t.Context(), client, call("GET /copies")))
	require.NoError(t, err)
	assert.Len(t, copies, 1)
	srv.AssertAppliedCount(t, "POST /projects/:id/copy", 4)
}

// A document is encoded with the server's names, links and platform.
func TestHandleWritesDocuments(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithTier(forgetest.Free), forgetest.WithUnknownFields("newer"))
	srv.AddProject("acme/app")
	label := forgetest.NewDocument("Milestone").Set("id", 3).Set("title", "v1")
	srv.Handle("GET /projects/:id/milestones", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WritePage(w, r, []*forgetest.Document{label})
	})
	srv.Handle("GET /projects/:id/milestones/:milestone_id", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WriteJSON(w, r, 200, label)
	})
	_, list := fetch(t, srv, "GET", "/projects/1/milestones", nil)
	_, single := fetch(t, srv, "GET", "/projects/1/milestones/3", nil)
	assert.JSONEq(t, string(list), "["+string(single)+"]")
	var shown map[string]any
	require.NoError(t, json.Unmarshal(single, &shown))
	assert.Equal(t, "v1", shown["title"])
	assert.Equal(t, "new", shown["newer"])
}

// The error of a call to a route that the server does not have says so, with the nearest routes and
// without a guess about roles or objects, and a header says it to programs. A 404 or 405 of an
// endpoint has no such header.
func TestNoSuchRouteIsSaid(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app")
	client, app := srv.Client(), forge.Path("acme/app")
	for _, tc := range []struct{ route, path, text string }{
		{"GET /projects/:id", "", `405 Method Not Allowed: %s (near: "PUT /projects/:id/", "GET /runners/:id", "GET /users/:id"; Server.Handle adds routes)`},
		{"GET /projects/:id/isues", "/isues", `404 Not Found: %s (near: "GET /projects/:id/runners", "GET /groups/:id/issues", "PUT /projects/:id/"; Server.Handle adds routes)`},
		{"POST /projects/:id/secure_file", "/secure_file", `404 Not Found: %s (near: "POST /projects/:project_id/secure_files", ` +
			`"GET /projects/:project_id/secure_files", "GET /projects/:project_id/secure_files/:id"; Server.Handle adds routes)`},
	} {
		var failed *forge.Error
		require.ErrorAs(t, client.Do(t.Context(), call(tc.route, app), nil), &failed)
		method, _, _ := strings.Cut(tc.route, " ")
		said := "forgetest has no such route: " + method + " /api/v4/projects/acme%2Fapp" + tc.path
		assert.Equal(t, fmt.Sprintf("forge: %s (/projects/acme%%2Fapp%s): "+tc.text+" (request id %s)", tc.route, tc.path, said, failed.RequestID), failed.Error())
	}
	for path, header := range map[string]string{"/projects/1": "none", "/nothing": "none", "/projects/99/resource_groups": "", "/issues": ""} {
		response, _ := fetch(t, srv, "GET", path, nil)
		assert.Equal(t, header, response.Header.Get("X-Forgetest-Route"), path)
	}
}
