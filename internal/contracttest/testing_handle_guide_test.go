package contracttest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The next three declarations are in docs/testing.md, word for word.

type job struct {
	Name string `json:"name"`
}

// jobs is the code to test: the package has no method for this list.
func jobs(ctx context.Context, client *forge.Client, project forge.Ref) ([]*job, error) {
	call := forge.Call{Method: http.MethodGet, Route: "/projects/:id/jobs", Args: []forge.Arg{project}}
	return forge.Collect(forge.ListAs[job](ctx, client, call))
}

func TestJobs(t *testing.T) {
	const route = "GET /projects/:id/jobs"
	srv := forgetest.New(t)
	srv.AddProject("acme/app", forgetest.Private)
	srv.Handle(route, func(w http.ResponseWriter, r *http.Request) {
		forgetest.WritePage(w, r, []job{{"build " + forgetest.ProjectFrom(r).Path}, {"tests"}})
	})
	srv.Fail(route, forgetest.Status(502).Times(1))

	list, err := jobs(t.Context(), srv.Client(), forge.Path("acme/app"))
	if err != nil || len(list) != 2 {
		t.Fatal(list, err)
	}
	srv.AssertRequestCount(t, route, 2)
}

// What the guide says about the checks and the counts.
func TestRoutesOfTheGuide(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/app", forgetest.Private)
	const play = "POST /projects/:id/jobs/:job_id/play"
	srv.Handle(play, func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("job_id") != "1" {
			forgetest.WriteError(w, r, http.StatusNotFound, "404 Job Not Found")
			return
		}
		forgetest.WriteJSON(w, r, http.StatusOK, job{"tests"})
	}, forgetest.RequireRole(forgetest.Developer))
	other := srv.Client(forge.WithToken(srv.AddUser("maya").Token))
	run := func(client *forge.Client, id forge.ID) error {
		call := forge.Call{Method: http.MethodPost, Route: "/projects/:id/jobs/:job_id/play", Args: []forge.Arg{forge.Path("acme/app"), id}}
		return client.Do(t.Context(), call, nil)
	}
	require.NoError(t, run(srv.Client(), 1))
	require.ErrorIs(t, run(srv.Client(), 2), forge.ErrNotFound)
	require.ErrorIs(t, run(other, 1), forge.ErrNotFound)
	assert.True(t, srv.AssertAppliedCount(t, play, 1))
	assert.True(t, srv.AssertRequestCount(t, play, 3))
}
