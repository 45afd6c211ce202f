package contracttest_test

import (
	"bytes"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// object is a JSON object of a handler.
type object = map[string]any

const cookbookProject = forge.Path("acme/app")

// cookbookServer returns a server with one project and the routes of the cookbook. The merge
// request is merged by its first merge; a second one is 405, as on a real server.
func cookbookServer(t *testing.T) *forgetest.Server {
	t.Helper()
	srv := forgetest.New(t)
	srv.AddGroup("acme")
	srv.AddProject("acme/app", forgetest.Private)
	for route, value := range map[string]any{
		"GET /projects/:id":                                   object{"id": 1, "path_with_namespace": "acme/app"},
		"GET /groups/:id":                                     object{"id": 2, "full_path": "acme"},
		"GET /projects/:id/issues/:issue_iid":                 object{"id": 30, "iid": 3, "title": "Disk is full"},
		"POST /projects/:id/issues":                           object{"id": 40, "iid": 4, "title": "Disk is full", "labels": []string{"bug", "p1"}},
		"PUT /projects/:id/issues/:issue_iid":                 object{"id": 30, "iid": 3, "state": "closed"},
		"POST /projects/:id/issues/:issue_iid/notes":          object{"id": 50, "body": "Cleaned up"},
		"GET /projects/:id/merge_requests/:merge_request_iid": object{"id": 70, "iid": 7, "sha": "abc123", "state": "merged"},
		"POST /projects/:id/merge_requests":                   object{"id": 80, "iid": 8, "title": "Add a cache"},
		"GET /version":                                        object{"version": "18.5.0-ee"},
		"GET /groups":                                         []object{{"id": 2, "full_path": "acme"}},
		"GET /groups/:id/projects":                            []object{{"id": 1, "path_with_namespace": "acme/app"}},
		"GET /projects/:id/issues":                            []object{{"iid": 3}, {"iid": 4}},
		"GET /projects/:id/issues/:issue_iid/notes":           []object{{"id": 50, "body": "Cleaned up"}},
		"GET /projects/:id/pipelines":                         []object{{"id": 60, "status": "failed", "ref": "feature/x"}},
		"GET /projects/:id/pipelines/:pipeline_id/jobs":       []object{{"id": 61, "name": "tests", "status": "failed"}},
	} {
		srv.Handle(route, func(w http.ResponseWriter, r *http.Request) {
			if list, is := value.([]object); is {
				forgetest.WritePage(w, r, list)
				return
			}
			forgetest.WriteJSON(w, r, http.StatusOK, value)
		})
	}
	srv.Handle("GET /projects", func(w http.ResponseWriter, r *http.Request) {
		forgetest.WriteKeysetPage(w, r, []Project{{1, "acme/app"}, {2, "acme/web"}}, func(p Project) string { return p.Path })
	})
	srv.Handle("GET /projects/:id/jobs/:job_id/trace", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte("$ go test ./...\n"))
	})
	srv.Handle("GET /projects/:id/jobs/:job_id/artifacts", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/zip")
		_, _ = w.Write([]byte("PK"))
	})
	merged := false
	srv.Handle("PUT /projects/:id/merge_requests/:merge_request_iid/merge", func(w http.ResponseWriter, r *http.Request) {
		if merged {
			forgetest.WriteError(w, r, http.StatusMethodNotAllowed, "405 Method Not Allowed")
			return
		}
		merged = true
		forgetest.WriteJSON(w, r, http.StatusOK, object{"iid": 7, "state": "merged"})
	})
	return srv
}

// sees checks the last request: its method and its path without /api/v4, its query, if any is
// wanted, and its body.
func sees(t *testing.T, srv *forgetest.Server, request string, query url.Values, body string) {
	t.Helper()
	last := srv.LastRequest(t, "*")
	assert.Equal(t, request, last.Method+" "+strings.TrimPrefix(last.Path, "/api/v4"))
	for name, values := range query {
		assert.Equal(t, values, last.Query[name], "%s of %s", name, request)
	}
	if body == "" {
		assert.Empty(t, last.Body, request)
		return
	}
	assert.JSONEq(t, body, string(last.Body), request)
}

// collected returns the items of a list.
func collected[T any](t *testing.T, list iter.Seq2[*T, error]) []*T {
	t.Helper()
	items, err := forge.Collect(list)
	require.NoError(t, err)
	return items
}

func TestCookbookProjectsAndGroups(t *testing.T) {
	srv := cookbookServer(t)
	ctx, client := t.Context(), srv.Client()
	project, err := readProject(ctx, client, "acme/app")
	require.NoError(t, err)
	assert.Equal(t, &Project{1, "acme/app"}, project)
	sees(t, srv, "GET /projects/acme%2Fapp", nil, "")

	assert.Equal(t, []*Project{{1, "acme/app"}, {2, "acme/web"}}, collected(t, listMyProjects(ctx, client)))
	sees(t, srv, "GET /projects", url.Values{"membership": {"true"}, "order_by": {"id"}, "pagination": {"keyset"}}, "")
	assert.Equal(t, []*Project{{1, "acme/app"}}, collected(t, listProjectsOf(ctx, client, forge.Path("acme"))))
	sees(t, srv, "GET /groups/acme/projects", url.Values{"include_subgroups": {"true"}}, "")

	group, err := readGroup(ctx, client, "acme")
	require.NoError(t, err)
	assert.Equal(t, &Group{2, "acme"}, group)
	sees(t, srv, "GET /groups/acme", nil, "")
	groups, err := listGroups(ctx, client, "ac")
	require.NoError(t, err)
	assert.Equal(t, []*Group{{2, "acme"}}, groups)
	sees(t, srv, "GET /groups", url.Values{"search": {"ac"}}, "")

	version, err := serverVersion(ctx, client)
	require.NoError(t, err)
	assert.Equal(t, "18.5.0-ee", version)
	sees(t, srv, "GET /version", nil, "")
}

func TestCookbookIssues(t *testing.T) {
	srv := cookbookServer(t)
	ctx, client := t.Context(), srv.Client()
	issue, err := readIssue(ctx, client, cookbookProject, 3)
	require.NoError(t, err)
	assert.Equal(t, "Disk is full", issue.Title)
	sees(t, srv, "GET /projects/acme%2Fapp/issues/3", nil, "")

	issue, err = createIssue(ctx, client, cookbookProject, "Disk is full", "bug", "p1")
	require.NoError(t, err)
	assert.EqualValues(t, 4, issue.IID)
	sees(t, srv, "POST /projects/acme%2Fapp/issues", nil, `{"title":"Disk is full","labels":"bug,p1"}`)
	require.NoError(t, closeIssue(ctx, client, cookbookProject, 3))
	sees(t, srv, "PUT /projects/acme%2Fapp/issues/3", nil, `{"state_event":"close","add_labels":"done"}`)
	assert.Len(t, collected(t, listIssues(ctx, client, cookbookProject, "bug")), 2)
	sees(t, srv, "GET /projects/acme%2Fapp/issues", url.Values{"state": {"opened"}, "labels": {"bug"}}, "")

	note, err := createNote(ctx, client, cookbookProject, 3, "Cleaned up")
	require.NoError(t, err)
	assert.Equal(t, "Cleaned up", note.Body)
	sees(t, srv, "POST /projects/acme%2Fapp/issues/3/notes", nil, `{"body":"Cleaned up"}`)
	assert.Equal(t, "Cleaned up", collected(t, listNotes(ctx, client, cookbookProject, 3))[0].Body)
	sees(t, srv, "GET /projects/acme%2Fapp/issues/3/notes", nil, "")
}

func TestCookbookPipelines(t *testing.T) {
	srv := cookbookServer(t)
	ctx, client := t.Context(), srv.Client()
	pipelines := collected(t, listPipelines(ctx, client, cookbookProject, "feature/x"))
	assert.Equal(t, []*Pipeline{{60, "failed", "feature/x"}}, pipelines)
	sees(t, srv, "GET /projects/acme%2Fapp/pipelines", url.Values{"ref": {"feature/x"}}, "")
	jobs, err := failedJobs(ctx, client, cookbookProject, 60)
	require.NoError(t, err)
	assert.Equal(t, []*Job{{61, "tests", "failed"}}, jobs)
	sees(t, srv, "GET /projects/acme%2Fapp/pipelines/60/jobs", url.Values{"scope[]": {"failed", "canceled"}}, "")

	var trace bytes.Buffer
	require.NoError(t, writeTrace(ctx, client, cookbookProject, 61, &trace))
	assert.Equal(t, "$ go test ./...\n", trace.String())
	sees(t, srv, "GET /projects/acme%2Fapp/jobs/61/trace", nil, "")
	path := filepath.Join(t.TempDir(), "artifacts.zip")
	require.NoError(t, saveArtifacts(ctx, client, cookbookProject, 61, path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "PK", string(content))
	sees(t, srv, "GET /projects/acme%2Fapp/jobs/61/artifacts", nil, "")
}

func TestCookbookMergeRequests(t *testing.T) {
	srv := cookbookServer(t)
	ctx, client := t.Context(), srv.Client()
	created, err := createMergeRequest(ctx, client, cookbookProject, "cache", "Add a cache")
	require.NoError(t, err)
	assert.EqualValues(t, 8, created.IID)
	sees(t, srv, "POST /projects/acme%2Fapp/merge_requests", nil, `{"source_branch":"cache","target_branch":"main","title":"Add a cache"}`)
	mr, err := readMergeRequest(ctx, client, cookbookProject, 7)
	require.NoError(t, err)
	assert.Equal(t, "abc123", mr.SHA)
	sees(t, srv, "GET /projects/acme%2Fapp/merge_requests/7", nil, "")
	require.NoError(t, merge(ctx, client, cookbookProject, mr))
	sees(t, srv, "PUT /projects/acme%2Fapp/merge_requests/7/merge", nil, `{"sha":"abc123"}`)
}

// What the guide says about retries: a POST is sent again only if the server did not process it, a
// PUT also after a lost response.
func TestCookbookRetries(t *testing.T) {
	const create, accept = "POST /projects/:id/issues", "PUT /projects/:id/merge_requests/:merge_request_iid/merge"
	srv := cookbookServer(t)
	ctx, client := t.Context(), srv.Client(forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond}))
	srv.Fail(create, forgetest.Status(http.StatusTooManyRequests).Times(1))
	_, err := createIssue(ctx, client, cookbookProject, "Disk is full")
	require.NoError(t, err)
	srv.AssertRequestCount(t, create, 2)
	srv.AssertAppliedCount(t, create, 1)

	srv.Fail(create, forgetest.DropResponse().Times(1))
	_, err = createIssue(ctx, client, cookbookProject, "Disk is full")
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.MaybeApplied)
	srv.AssertRequestCount(t, create, 3)
	srv.AssertAppliedCount(t, create, 2)

	srv.Fail(accept, forgetest.DropResponse().Times(1))
	err = merge(ctx, client, cookbookProject, &forge.MergeRequest{IID: 7, SHA: "abc123"})
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, http.StatusMethodNotAllowed, failed.Status)
	assert.True(t, failed.MaybeApplied)
	srv.AssertRequestCount(t, accept, 2)
	srv.AssertAppliedCount(t, accept, 1)
}

// Each snippet of the cookbook is a complete function of at most eight lines, or a type.
func TestCookbookIsShort(t *testing.T) {
	snippets := goSnippets(t, "docs/cookbook.md")
	functions := 0
	for _, snippet := range snippets {
		assert.Equal(t, "internal/contracttest/cookbook_guide_test.go", snippet.source, snippet.text)
		for declaration := range strings.SplitSeq(strings.TrimSpace(snippet.text), "\n\n") {
			functions += strings.Count(declaration, "func ")
			assert.LessOrEqual(t, strings.Count(declaration, "\n")+1, 8, declaration)
		}
	}
	assert.Equal(t, strings.Count(readText(t, "internal/contracttest/cookbook_guide_test.go"), "\nfunc "), functions, "the guide has all functions")
}

var classRow = regexp.MustCompile(`(?m)^\| ((?:GET|PUT|POST|PATCH)[^|]*) \| ([a-z-]+) \| ([^|]*)\|$`)

// The table of classes in the guide is what a Call accepts, for each method and class.
func TestClassesOfCalls(t *testing.T) {
	rows := classRow.FindAllStringSubmatch(readText(t, "docs/errors-and-retries.md"), -1)
	client := forgetest.New(t).Client()
	methods := 0
	for _, row := range rows {
		for method := range strings.SplitSeq(row[1], ", ") {
			methods++
			for name, class := range map[string]forge.RetryClass{
				"ClassSafe": forge.ClassSafe, "ClassIdempotent": forge.ClassIdempotent, "ClassNonIdempotent": forge.ClassNonIdempotent,
			} {
				var plan forge.PlannedRequest
				err := client.Do(t.Context(), forge.Call{Method: method, Route: "/things", Class: class}, nil, forge.DryRun(&plan))
				if string(class) == row[2] || strings.Contains(row[3], "`forge."+name+"`") {
					require.ErrorIs(t, err, forge.ErrDryRun, "%s %s", method, class)
					continue
				}
				var invalid *forge.ValidationError
				require.ErrorAs(t, err, &invalid, "%s %s", method, class)
				assert.Equal(t, "Call.Class", invalid.Option)
			}
		}
	}
	assert.Equal(t, 6, methods, "the test has not found the table")
}
