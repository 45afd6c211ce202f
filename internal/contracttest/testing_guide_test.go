package contracttest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The first three functions are in docs/testing.md, word for word.

// bookTime books time on an issue once, even if the response is lost.
func bookTime(ctx context.Context, client *forge.Client, project forge.Ref, issue int64, spent time.Duration) error {
	before, err := client.Issues.GetTimeStats(ctx, project, issue)
	if err != nil {
		return err
	}
	booking := &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(spent)}
	_, err = client.Issues.AddSpentTime(ctx, project, issue, booking)
	var failed *forge.Error
	if !errors.As(err, &failed) || !failed.MaybeApplied {
		return err
	}
	after, err := client.Issues.GetTimeStats(ctx, project, issue)
	if err != nil || after.TotalTimeSpent > before.TotalTimeSpent {
		return err // nil: it took effect
	}
	_, err = client.Issues.AddSpentTime(ctx, project, issue, booking)
	return err
}

func TestBookTime(t *testing.T) {
	const route = "POST /projects/:id/issues/:issue_iid/add_spent_time"
	for name, fault := range map[string]forgetest.Fault{
		"the response is lost": forgetest.DropResponse().Times(1),
		"the request is lost":  forgetest.DropRequest().Times(1),
	} {
		t.Run(name, func(t *testing.T) {
			srv := forgetest.New(t)
			srv.AddProject("acme/app").AddIssues(1, nil)
			srv.Fail(route, fault)
			if err := bookTime(t.Context(), srv.Client(), forge.Path("acme/app"), 1, time.Hour); err != nil {
				t.Fatal(err)
			}
			srv.AssertAppliedCount(t, route, 1)
		})
	}
}

// withJobs adds an endpoint that the server does not have.
func withJobs(s *http.Server) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v4/projects/{id}/jobs", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `[{"id": 1, "name": "tests of %s"}]`, r.PathValue("id"))
	})
	mux.Handle("/", s.Handler)
	s.Handler = mux
}

// The handler works next to the server's own endpoints.
func TestWithJobs(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithHTTPServer(withJobs))
	srv.AddProject("acme/app").AddIssues(3, nil)
	client := srv.Client()
	jobs, err := forge.Collect(forge.ListAs[struct{ Name string }](t.Context(), client, forge.Call{
		Method: http.MethodGet, Route: "/projects/:id/jobs", Args: []forge.Arg{forge.Path("acme/app")},
	}))
	require.NoError(t, err)
	require.Len(t, jobs, 1)
	assert.Equal(t, "tests of acme/app", jobs[0].Name)
	require.NoError(t, issues(t.Context(), client))
	assert.Equal(t, 1, srv.CountRequests("GET /issues"))
	assert.Len(t, srv.Requests(), 1, "the handler's requests are not logged")
}
