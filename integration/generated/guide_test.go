package generated

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/triage/gitlab"
	"github.com/forge-sdk/forge-go/forgetest"
)

// announce is the example of docs/forgegen.md.
func announce(ctx context.Context, client *forge.Client, project forge.Ref) error {
	api := gitlab.New(client)
	issue, err := api.Issues.Create(ctx, project, &gitlab.CreateIssueOptions{Title: "Release 2.0", Labels: []string{"release"}})
	if err != nil {
		return err
	}
	plan, err := api.Projects.CreateUpload(ctx, project, forge.FileAt("plan.txt"))
	if err != nil {
		return err
	}
	note := &gitlab.CreateNoteForIssueOptions{Body: "The plan: " + plan.Markdown}
	if _, err := api.Notes.CreateForIssue(ctx, project, issue.IID, note); err != nil {
		return err
	}
	started, err := api.Pipelines.Create(ctx, project, &gitlab.CreatePipelineOptions{Ref: "main"})
	if err != nil {
		return err
	}
	for status := started.Status; ; {
		switch status {
		case "success":
			return nil
		case "failed", "canceled", "skipped", "manual": // manual: a person must start a job
			return fmt.Errorf("%s: %s", started.WebURL, status)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Second):
		}
		pipeline, err := api.Pipelines.Get(ctx, project, started.ID)
		if err != nil {
			return err
		}
		status = pipeline.Status
	}
}

func TestAnnounce(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("plan.txt", []byte("1. Tag"), 0o600))
	for last, text := range map[string]string{"success": "", "manual": "manual"} {
		synctest.Test(t, func(t *testing.T) { // the wait takes no time
			srv := forgetest.New(t, forgetest.WithMemoryNetwork())
			srv.AddProject("acme/app")
			for route, response := range map[string]any{
				"POST /projects/:id/issues":                  forge.Issue{ID: 900, IID: 5},
				"POST /projects/:id/uploads":                 gitlab.ProjectUpload{Markdown: "[plan.txt](/uploads/1)"},
				"POST /projects/:id/issues/:issue_iid/notes": forge.Note{ID: 1},
				"POST /projects/:id/pipeline":                gitlab.Pipeline{ID: 7, Status: "created"},
				"GET /projects/:id/pipelines/:pipeline_id":   gitlab.PipelineWithMetadata{ID: 7, Status: last},
			} {
				srv.Handle(route, func(w http.ResponseWriter, r *http.Request) { forgetest.WriteJSON(w, r, 200, response) })
			}
			client := srv.Client()
			defer client.CloseIdleConnections()
			err := announce(t.Context(), client, forge.Path("acme/app"))
			if text == "" {
				require.NoError(t, err)
			} else {
				require.ErrorContains(t, err, text)
			}
			srv.AssertAppliedCount(t, "POST /projects/:id/pipeline", 1)
			require.JSONEq(t, `{"body":"The plan: [plan.txt](/uploads/1)"}`, string(srv.LastRequest(t, "POST /projects/:id/issues/:issue_iid/notes").Body))
		})
	}
}
