package generated

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/triage/gitlab"
	"github.com/forge-sdk/forge-go/forgetest"
)

// faults are those of the matrix.
func faults() map[string]forgetest.Fault {
	all := map[string]forgetest.Fault{
		"reset before":   forgetest.DropRequest(),
		"reset after":    forgetest.DropResponse(),
		"sign-in page":   forgetest.SignInPage(),
		"not JSON":       forgetest.InvalidJSON(),
		"truncated":      forgetest.TruncateBody(7),
		"throttled":      forgetest.TooManyRequests(0),
		"resource lock":  forgetest.StatusMessage(409, "Resource lock"),
		"other origin":   forgetest.RedirectTo("http://127.0.0.1:1", 307),
		"early hints":    forgetest.Informational(103),
		"empty response": forgetest.Respond(200, "application/json", ""),
		"null":           forgetest.Respond(200, "application/json", "null"),
	}
	for _, status := range []int{400, 404, 425, 429, 501} { // the server has not acted
		all[fmt.Sprint("instead: ", status)] = forgetest.Status(status)
	}
	for _, status := range []int{206, 226, 408, 500, 503, 524} { // it may have acted
		all[fmt.Sprint("instead: ", status)] = forgetest.Status(status)
		all[fmt.Sprint("after: ", status)] = forgetest.OverrideStatus(status)
	}
	return all
}

// eachFault runs a test with each fault on a route: once and always, after some requests.
func eachFault(t *testing.T, route string, after int, test func(t *testing.T, srv *forgetest.Server, api *gitlab.Client)) {
	for name, fault := range faults() {
		for _, times := range []int{1, 0} {
			t.Run(fmt.Sprintf("%s/%s/%d", route, name, times), func(t *testing.T) {
				t.Parallel()
				srv, err := forgetest.Start()
				require.NoError(t, err)
				defer srv.Close()
				serve(srv)
				acting := fault.After(after)
				if times > 0 {
					acting = acting.Times(times)
				}
				srv.Fail(route, acting)
				client := srv.Client(forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}))
				test(t, srv, gitlab.New(client))
			})
		}
	}
}

var project = forge.Path("acme/app")

// items is the number of items of each list: three pages.
const items = 250

const (
	traceRoute = "GET /projects/:id/jobs/:job_id/trace"
	content    = "line 1\nline 2\n"
)

// serve adds the routes. The server counts what takes effect.
func serve(srv *forgetest.Server) {
	srv.AddProject("acme/app", forgetest.Private)
	list := make([]map[string]any, items)
	for i := range list {
		list[i] = map[string]any{"id": i + 1, "iid": i + 1}
	}
	for _, route := range []string{
		"GET /projects/:id/issues", "GET /projects/:id/issues/:issue_iid/notes", "GET /projects/:id/pipelines", "GET /projects/:id/pipelines/:pipeline_id/jobs",
	} {
		srv.Handle(route, func(w http.ResponseWriter, r *http.Request) { forgetest.WritePage(w, r, list) })
	}
	for _, route := range []string{
		"POST /projects/:id/issues", "POST /projects/:id/issues/:issue_iid/notes", "POST /projects/:id/pipeline",
		"POST /projects/:id/pipelines/:pipeline_id/cancel", "POST /projects/:id/uploads",
	} {
		srv.Handle(route, func(w http.ResponseWriter, r *http.Request) {
			forgetest.WriteJSON(w, r, http.StatusCreated, map[string]any{"id": 1})
		})
	}
	srv.Handle(traceRoute, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, content)
	})
}

// TestCreates: a create that returns no error has taken effect once, and none takes effect twice.
// An error says whether it may have.
func TestCreates(t *testing.T) {
	for route, create := range map[string]func(ctx context.Context, api *gitlab.Client) error{
		"POST /projects/:id/issues": func(ctx context.Context, api *gitlab.Client) error {
			_, err := api.Issues.Create(ctx, project, &gitlab.CreateIssueOptions{Title: "A"})
			return err
		},
		"POST /projects/:id/issues/:issue_iid/notes": func(ctx context.Context, api *gitlab.Client) error {
			_, err := api.Notes.CreateForIssue(ctx, project, 5, &gitlab.CreateNoteForIssueOptions{Body: "A"})
			return err
		},
		"POST /projects/:id/pipeline": func(ctx context.Context, api *gitlab.Client) error {
			_, err := api.Pipelines.Create(ctx, project, &gitlab.CreatePipelineOptions{Ref: "main"})
			return err
		},
		"POST /projects/:id/pipelines/:pipeline_id/cancel": func(ctx context.Context, api *gitlab.Client) error {
			_, err := api.Pipelines.Cancel(ctx, project, 7)
			return err
		},
		"POST /projects/:id/uploads": func(ctx context.Context, api *gitlab.Client) error {
			_, err := api.Projects.CreateUpload(ctx, project, forge.FileBytes([]byte("a")))
			return err
		},
	} {
		eachFault(t, route, 0, func(t *testing.T, srv *forgetest.Server, api *gitlab.Client) {
			err := create(t.Context(), api)
			applied := srv.CountApplied(route)
			if err == nil {
				require.Equal(t, 1, applied)
				return
			}
			require.LessOrEqual(t, applied, 1, err)
			var failed *forge.Error
			require.ErrorAs(t, err, &failed)
			if applied == 1 {
				require.True(t, failed.MaybeApplied, err)
			}
		})
	}
}

// TestLists: a list that returns no error is complete, and has no item twice.
func TestLists(t *testing.T) {
	for route, list := range map[string]func(ctx context.Context, api *gitlab.Client) ([]int64, error){
		"GET /projects/:id/issues": func(ctx context.Context, api *gitlab.Client) (ids []int64, err error) {
			for issue, err := range api.Issues.ListForProject(ctx, project, nil) {
				if err != nil {
					return ids, err
				}
				ids = append(ids, issue.ID)
			}
			return ids, nil
		},
		"GET /projects/:id/issues/:issue_iid/notes": func(ctx context.Context, api *gitlab.Client) (ids []int64, err error) {
			for note, err := range api.Notes.ListForIssue(ctx, project, 5, nil) {
				if err != nil {
					return ids, err
				}
				ids = append(ids, note.ID)
			}
			return ids, nil
		},
		"GET /projects/:id/pipelines": func(ctx context.Context, api *gitlab.Client) (ids []int64, err error) {
			for pipeline, err := range api.Pipelines.List(ctx, project, nil) {
				if err != nil {
					return ids, err
				}
				ids = append(ids, pipeline.ID)
			}
			return ids, nil
		},
		"GET /projects/:id/pipelines/:pipeline_id/jobs": func(ctx context.Context, api *gitlab.Client) (ids []int64, err error) {
			for job, err := range api.Pipelines.ListJobs(ctx, project, 7, nil, forge.Ahead(2)) {
				if err != nil {
					return ids, err
				}
				ids = append(ids, job.ID)
			}
			return ids, nil
		},
	} {
		eachFault(t, route, 1, func(t *testing.T, _ *forgetest.Server, api *gitlab.Client) {
			ids, err := list(t.Context(), api)
			if err == nil {
				require.Len(t, ids, items)
			}
			for i, id := range ids {
				require.Equal(t, int64(i+1), id)
			}
		})
	}
}

// TestDownloads: a file that is read without an error is complete.
func TestDownloads(t *testing.T) {
	eachFault(t, traceRoute, 0, func(t *testing.T, _ *forgetest.Server, api *gitlab.Client) {
		if strings.Contains(t.Name(), "null") || strings.Contains(t.Name(), "empty") || strings.Contains(t.Name(), "JSON") {
			t.Skip("a file may have this content")
		}
		file, err := api.CIJobs.DownloadTrace(t.Context(), project, 7)
		if err != nil {
			return
		}
		data, err := io.ReadAll(file)
		if err = errors.Join(err, file.Close()); err == nil {
			require.Equal(t, content, string(data))
		}
	})
}
