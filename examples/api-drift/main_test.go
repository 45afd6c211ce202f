package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const field = "x_new_field"

// full starts a server that has an object for every read: the demo data, and what they lack.
func full(t *testing.T, options ...forgetest.Option) *forgetest.Server {
	t.Helper()
	srv := demotest.Server(t, append([]forgetest.Option{forgetest.WithGitLabVocabulary()}, options...)...)
	srv.SetClock(forgetest.DemoTime)
	t.Setenv("FORGE_VOCABULARY", "gitlab")
	app := srv.AddProject("acme/full")
	app.AddCommit(forgetest.Change{Message: "Begin\n\nChangelog: added", Files: map[string]string{"README.md": "hunter2\n"}})
	app.AddCommit(forgetest.Change{Message: "Go on\n\nChangelog: added", Files: map[string]string{"more.txt": "hunter2\n"}})
	app.AddCommit(forgetest.Change{Branch: "change", Message: "Change", Files: map[string]string{"change.txt": "hunter2\n"}})
	// The newest comes first in lists.
	blocked := app.AddMergeRequest(nil)
	mr := app.AddMergeRequest(func(d *forgetest.Document) {
		d.Set("source_branch", "change").Set("title", "hunter2").Set("created_at", forgetest.DemoTime().AddDate(0, 0, 1))
	})
	blocked.AddBlocker(mr)
	mr.AddBlocker(app.AddMergeRequest(func(d *forgetest.Document) { d.Set("created_at", forgetest.DemoTime().AddDate(-1, 0, 0)) }))
	app.AddIssue(func(d *forgetest.Document) { d.Set("created_at", forgetest.DemoTime().AddDate(0, 0, 1)) }).Relate(mr)
	app.AddSecureFile("hunter2.jks", []byte("hunter2"), nil)
	app.AddResourceGroup("hunter2").AddUpcomingJob(nil)
	app.AddAuditEvent(nil)
	app.AddRegistryRepository("empty")
	app.AddRegistryRepository("images").AddTag("hunter2", nil)
	runner := app.AddRunner(nil)
	runner.AddManager("hunter2", nil)
	runner.AddJob(app, "hunter2", nil)
	srv.Root().AddEmail("hunter2@example.com")
	err := srv.Client().Integrations.Set(t.Context(), forge.Path("acme"), &forge.EmailsOnPushOptions{Recipients: "hunter2@example.com"})
	require.NoError(t, err)
	return srv
}

// walkAll runs the program for the project of full and returns what it prints.
func walkAll(t *testing.T, srv *forgetest.Server, args ...string) (out string, err error) {
	t.Helper()
	return demotest.Run(t, func(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
		return run(ctx, args, out, io.Discard)
	}, "", append([]string{"-group", "acme", "-project", "acme/full", "-registry", srv.RegistryURL}, args...)...)
}

// reads are the read endpoints of the contract.
func reads() (routes []string) {
	for _, r := range forge.Routes() {
		if r.Method == http.MethodGet {
			routes = append(routes, r.Method+" "+r.Template)
		}
	}
	return routes
}

// Every read endpoint of the contract is one step.
func TestStepsAreTheReadsOfTheContract(t *testing.T) {
	var routes []string
	for _, s := range steps() {
		routes = append(routes, s.route)
	}
	require.Len(t, reads(), 59)
	assert.ElementsMatch(t, reads(), routes)
}

// Every read endpoint is called, and nothing else: no write, and one page of each list.
func TestEveryReadIsCalled(t *testing.T) {
	srv := full(t)
	before := len(srv.Requests())
	out, err := walkAll(t, srv)
	require.NoError(t, err)
	assert.Equal(t, "No drift: 59 of 59 read endpoints were read.\n", out)
	calls := map[string]int{}
	for _, r := range srv.Requests()[before:] {
		assert.Equal(t, http.MethodGet, r.Method, r.Path)
		if r.Status != http.StatusMethodNotAllowed { // of keyset pagination, which the client then does without
			assert.Equal(t, http.StatusOK, r.Status, r.Path)
		}
		calls[r.Route]++
	}
	for _, route := range reads() {
		want := 1
		switch route {
		case "GET /jwt/auth":
			want = 2 // of the step, and for the catalogue
		case "GET /projects/:id/registry/repositories/:repository_id/tags":
			want = 2 // with keyset pagination, and without
		}
		assert.Equal(t, want, calls[route], route)
	}
	assert.Len(t, calls, len(reads()))
	assert.Equal(t, 1, srv.CountApplied("*"), "the integration of the test's own")
}

// The report names exactly the fields that the server adds, for each endpoint that answers in JSON.
func TestUnknownFields(t *testing.T) {
	srv := full(t, forgetest.WithUnknownFields(field))
	before := len(srv.Requests())
	out, err := walkAll(t, srv, "-json")
	requests := srv.Requests()[before:]
	want := map[line]int{}
	noJSON := []string{
		"GET /groups/:id/placeholder_reassignments", "GET /projects/:id/repository/archive[.:format]", "GET /projects/:id/repository/blobs/:sha/raw",
		"GET /projects/:project_id/secure_files/:id/download",
	}
	for _, r := range requests {
		if slices.Contains(noJSON, r.Route) || r.Status != http.StatusOK {
			continue
		}
		before := len(want)
		count(want, r.Route, "", again(t, srv, r))
		assert.True(t, len(want) > before || r.Route == "GET /jwt/auth", r.Route)
	}
	assert.Equal(t, want, found(t, out))
	assert.Equal(t, demo.Finding(demo.Count(len(want), "field")+" that this version does not know or reads otherwise"), err)
	assert.NotContains(t, out, "hunter2")
}

// So it does for values of another type, with the type that the library reads. An id that is none
// does not end the walk.
func TestOtherTypes(t *testing.T) {
	for _, names := range [][]string{{"created_at", "title", "labels", "author"}, {"id"}} {
		srv := full(t, forgetest.WithMismatchedTypes(names...))
		before := len(srv.Requests())
		out, err := walkAll(t, srv, "-json")
		requests := srv.Requests()[before:]
		assert.ErrorAs(t, err, new(demo.Finding))
		assert.NotContains(t, out, "hunter2")
		want, got := map[string]bool{}, map[string]bool{}
		for _, r := range requests {
			if r.Status == http.StatusOK && r.Header.Get("Accept") == "application/json" {
				retyped(want, r.Route, "", again(t, srv, r), names)
			}
		}
		for l := range found(t, out) {
			got[l.Route+" "+l.Field+" "+l.Found] = true
			assert.NotEmpty(t, l.Expected, l)
		}
		assert.Greater(t, len(want), 50)
		assert.Equal(t, want, got)
	}
}

// retyped finds the places of the fields of another type.
func retyped(places map[string]bool, route, place string, value any, names []string) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			retyped(places, route, place+"/*", item, names)
		}
	case map[string]any:
		for name, item := range v {
			_, isObject := item.(map[string]any)
			switch {
			case !slices.Contains(names, name):
				retyped(places, route, place+"/"+name, item, names)
			case isObject:
				places[route+" "+place+"/"+name+" object"] = true
			default:
				places[route+" "+place+"/"+name+" boolean"] = true
			}
		}
	}
}

// again sends a request another time and returns the whole body.
func again(t *testing.T, srv *forgetest.Server, r forgetest.Request) (body any) {
	t.Helper()
	base := srv.URL
	request, err := http.NewRequestWithContext(t.Context(), r.Method, base+r.Path+"?"+r.Query.Encode(), nil)
	require.NoError(t, err)
	request.Header = r.Header.Clone()
	request.Header.Del("Accept-Encoding")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode, r.Route)
	require.NoError(t, json.NewDecoder(response.Body).Decode(&body), r.Route)
	return body
}

// count counts the places of the new field in a decoded body.
func count(places map[line]int, route, place string, value any) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			count(places, route, place+"/*", item)
		}
	case map[string]any:
		for name, item := range v {
			if name == field {
				places[line{Kind: "drift", Route: route, Field: place + "/" + field, Found: "string"}]++
			}
			count(places, route, place+"/"+name, item)
		}
	}
}

// found reads the lines about drift, and takes the counts out of them.
func found(t *testing.T, out string) map[line]int {
	t.Helper()
	all := map[line]int{}
	for text := range strings.Lines(out) {
		var l line
		require.NoError(t, json.Unmarshal([]byte(text), &l))
		if l.Kind == "drift" {
			n := l.Count
			l.Count = 0
			all[l] = n
		}
	}
	return all
}

// The demo server has ten settings that the contract describes without a name. What stands for
// their names is no name of this library, nor of any other server.
func TestEmbedded(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	var out, progress strings.Builder
	err := run(t.Context(), nil, &out, &progress)
	assert.Equal(t, demo.Finding("10 fields that this version does not know or reads otherwise"), err)
	assert.Contains(t, progress.String(), "embedded, demo data")
	text := out.String()
	assert.Equal(t, 10, strings.Count(text, "(no such field)"))
	assert.Equal(t, 10, strings.Count(text, "GET /application/settings  /<"))
	assert.Contains(t, text, "ROUTE                      FIELD                    ")
	assert.Contains(t, text, "Not called:\n  GET /groups/:id/integrations/:slug: no integration was found\n")
	assert.Contains(t, text, "\n\nDrift: 54 of 59 read endpoints were read.\n")
}

// What the token may not read, and what the server does not have, is listed and does not end the
// walk.
func TestNotReadable(t *testing.T) {
	srv := full(t)
	user := srv.AddUser("somebody")
	srv.AddGroup("acme").AddMember(user, forgetest.Reporter)
	t.Setenv("FORGE_TOKEN", user.Token)
	srv.Fail("GET /user/emails", forgetest.Status(http.StatusNotImplemented))
	srv.Fail("GET /runners", forgetest.StatusMessage(http.StatusNotFound, "404 hunter2 Not Found"))
	out, err := walkAll(t, srv, "-downloads=false")
	require.NoError(t, err)
	assert.Contains(t, out, "Not readable:\n  GET /application/settings: 403 Forbidden\n")
	assert.Contains(t, out, "\n  GET /runners: 404 Not Found\n")
	assert.Contains(t, out, "\n  GET /user/emails: 501 Not Implemented\n")
	assert.Contains(t, out, "\n  GET /user/emails/:email_id: no e-mail address was found\n")
	assert.Contains(t, out, "\n  GET /projects/:id/repository/blobs/:sha/raw: -downloads=false\n")
	assert.Contains(t, out, "\n  GET /v2/_catalog: no usable credential\n", "a token of the API is another one")
	assert.Contains(t, out, "\nNo drift: ")
	assert.NotContains(t, out, "hunter2")
	srv.AssertNoRequest(t, "GET /projects/:id/repository/blobs/:sha/raw", "GET /projects/:id/repository/archive[.:format]")
	for _, r := range srv.Requests() {
		assert.True(t, r.Method == http.MethodGet || r.Route == "PUT /groups/:id/integrations/:slug", r.Route)
	}

	out, err = walkAll(t, srv, "-json")
	require.NoError(t, err)
	assert.Contains(t, out, `{"kind":"not_readable","route":"GET /runners","status":404}`+"\n")
	assert.Contains(t, out, `{"kind":"not_called","route":"GET /user/emails/:email_id","reason":"no e-mail address was found"}`+"\n")
}

// A failure that is no refusal is an error of the program, after the whole report.
func TestFailedReads(t *testing.T) {
	srv := full(t)
	srv.Fail("GET /namespaces", forgetest.Status(http.StatusHTTPVersionNotSupported))
	srv.Fail("GET /users", forgetest.SignInPage())
	out, err := walkAll(t, srv)
	require.EqualError(t, err, "no drift in what was read; the report is incomplete: 2 endpoints failed")
	assert.Contains(t, out, "  GET /namespaces: 505 HTTP Version Not Supported, server error\n  GET /users: 200 OK, unusable response\n")
	assert.Contains(t, out, "No drift: 55 of 59 read endpoints were read.\n")

	for fault, want := range map[*forgetest.Fault]error{
		new(forgetest.Status(http.StatusUnauthorized)):                           forge.ErrUnauthorized,
		new(forgetest.RedirectTo("https://other.example.com", http.StatusFound)): nil,
	} {
		srv.ClearFaults()
		srv.Fail("GET /audit_events", *fault)
		out, err = walkAll(t, srv)
		if want == nil {
			require.ErrorContains(t, err, "1 endpoint failed")
			continue
		}
		require.ErrorIs(t, err, want)
		assert.Empty(t, out, "half a report looks like a whole one")
	}
	_, err = walkAll(t, srv, "-per-page", "101")
	require.EqualError(t, err, "-per-page is 101: it must be from 1 to 100")
}

// The flag names a registry of a real server. The embedded one has its own.
func TestRegistryOfTheEmbeddedServer(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	t.Setenv("FORGE_TOKEN", "")
	require.ErrorContains(t, run(t.Context(), []string{"-registry", "https://registry.example.com"}, io.Discard, io.Discard), "set FORGE_URL and FORGE_TOKEN")
}

// A registry that the client refuses is reported, and the walk goes on without it.
func TestRegistryRefused(t *testing.T) {
	srv := full(t)
	out, _ := walkAll(t, srv, "-registry", "ftp://registry.example.com")
	assert.Contains(t, out, "GET /user: ")
}

// The first objects are taken without the flags, and the registry is not known without its address.
func TestWithoutFlags(t *testing.T) {
	srv := full(t)
	out, err := demotest.Run(t, func(ctx context.Context, args []string, _ io.Reader, out io.Writer) error {
		return run(ctx, args, out, io.Discard)
	}, "")
	require.NoError(t, err)
	srv.AssertNoRequest(t, "GET /jwt/auth", "GET /v2/_catalog")
	assert.Contains(t, out, "  GET /v2/_catalog: the registry's address is not known: see -registry\n")
	assert.Contains(t, out, "No drift: 57 of 59 read endpoints were read.\n")
}

// A finished context ends the walk where it is, without a report.
func TestFinishedContext(t *testing.T) {
	for _, n := range []int{0, 1, 20, 58} {
		srv := full(t)
		sent := srv.CountRequests("*")
		srv.Fail("*", forgetest.Delay(time.Hour).After(n))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for srv.CountRequests("*") <= sent+n && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		var out strings.Builder
		err := run(ctx, []string{"-project", "acme/full", "-registry", srv.RegistryURL}, &out, io.Discard)
		require.ErrorIs(t, err, context.Canceled)
		assert.ErrorContains(t, err, "ended before all endpoints were read")
		assert.Empty(t, out.String())
		assert.Equal(t, n+1, srv.CountRequests("*")-sent)
		cancel()
	}
}
