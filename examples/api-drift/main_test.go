package main

import (
	"context"
	"fmt"
	"net/http"
	"regexp"
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

// full starts a server that has an object for every read: the demo data, and what they lack.
func full(t *testing.T, options ...forgetest.Option) *forgetest.Server {
	t.Helper()
	srv := demotest.Server(t, options...)
	srv.SetClock(forgetest.DemoTime)
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

func args(srv *forgetest.Server) []string {
	return []string{"-group", "acme", "-project", "acme/full", "-registry", srv.RegistryURL}
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

// Every read endpoint of the library is called, or listed as one that is not, and nothing else: no
// write, and one page of each list.
func TestEveryReadIsCalled(t *testing.T) {
	srv := full(t)
	before := len(srv.Requests())
	out, err := demotest.Run(t, run, "", args(srv)...)
	require.NoError(t, err)
	want := map[string]int{}
	for _, route := range reads() {
		if !strings.Contains(out, "Not read: "+route+": reads.go has no call for it\n") {
			want[route] = 1
		}
	}
	assert.Contains(t, out, fmt.Sprintf("%d of %d read endpoints were read.\nNo drift.\n", len(want), len(reads())))
	assert.GreaterOrEqual(t, len(want), 59)
	calls := map[string]int{}
	for _, r := range srv.Requests()[before:] {
		calls[r.Route]++
	}
	want["GET /jwt/auth"]++                                               // for the catalogue
	want["GET /projects/:id/registry/repositories/:repository_id/tags"]++ // with keyset pagination, which the server refuses
	assert.Equal(t, want, calls)
}

// A field that the client does not know is reported for each endpoint that answers in JSON, without
// its value.
func TestUnknownFields(t *testing.T) {
	srv := full(t, forgetest.WithUnknownFields("x_new_field"))
	out, err := demotest.Run(t, run, "", args(srv)...)
	require.ErrorAs(t, err, new(demo.Finding))
	noJSON := []string{
		"GET /groups/:id/placeholder_reassignments", "GET /projects/:id/repository/archive[.:format]", "GET /projects/:id/repository/blobs/:sha/raw",
		"GET /projects/:project_id/secure_files/:id/download", "GET /jwt/auth", // that of a server has fields of its own
	}
	for _, route := range reads() {
		if !slices.Contains(noJSON, route) && !strings.Contains(out, "Not read: "+route) {
			assert.Regexp(t, "(?m)^"+regexp.QuoteMeta(route)+` +\S*/x_new_field +\(no such field\) +string`, out)
		}
	}
	assert.NotContains(t, out, "hunter2")
}

// What the token may not read, and what the server does not have, is listed and does not end the
// walk. A failure that is no refusal is an error of the program, after the whole report. A refused
// token ends it.
func TestNotReadable(t *testing.T) {
	srv := full(t)
	user := srv.AddUser("somebody")
	srv.AddGroup("acme").AddMember(user, forgetest.Reporter)
	t.Setenv("FORGE_TOKEN", user.Token)
	srv.Fail("GET /user/emails", forgetest.Status(http.StatusNotImplemented))
	srv.Fail("GET /runners", forgetest.StatusMessage(http.StatusNotFound, "404 hunter2 Not Found"))
	out, err := demotest.Run(t, run, "", args(srv)...)
	require.NoError(t, err)
	for _, want := range []string{
		"Not read: GET /application/settings: 403 Forbidden\n", "Not read: GET /runners: 404 Not Found\n",
		"Not read: GET /user/emails: 501 Not Implemented", "Not read: GET /user/emails/:email_id: no email_id is known\n",
		"Not read: GET /v2/_catalog: ", "No drift.\n",
	} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "hunter2")

	srv.Fail("GET /namespaces", forgetest.Status(http.StatusHTTPVersionNotSupported))
	srv.Fail("GET /users", forgetest.SignInPage())
	out, err = demotest.Run(t, run, "", args(srv)...)
	require.EqualError(t, err, "no drift in what was read; the report is incomplete: 2 endpoints failed")
	assert.Contains(t, out, "Not read: GET /namespaces: 505 HTTP Version Not Supported, server error\n")
	assert.Contains(t, out, "Not read: GET /users: 200 OK, unusable response\n")

	srv.Fail("GET /audit_events", forgetest.Status(http.StatusUnauthorized))
	out, err = demotest.Run(t, run, "", args(srv)...)
	require.ErrorIs(t, err, forge.ErrUnauthorized)
	assert.Empty(t, out, "half a report looks like a whole one")
}

// The first objects are taken without the flags. An interrupt ends the walk without a report.
func TestWithoutFlags(t *testing.T) {
	srv := full(t)
	out, err := demotest.Run(t, run, "")
	require.NoError(t, err)
	assert.Contains(t, out, "Not read: GET /v2/_catalog: no WithRegistry is known\n")
	assert.Contains(t, out, fmt.Sprintf("57 of %d read endpoints were read.\n", len(reads())))
	srv.Fail("GET /namespaces", forgetest.Delay(time.Hour))
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	var report strings.Builder
	require.ErrorContains(t, run(ctx, args(srv), nil, &report), "ended before all endpoints were read: ")
	assert.Empty(t, report.String())
}
