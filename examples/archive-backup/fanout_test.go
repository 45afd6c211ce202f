package main

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// docs/pagination.md, "Many projects concurrently", refers to the function below.

// openMergeRequests lists the open merge requests of each project, eight projects at a time.
func openMergeRequests(ctx context.Context, client *forge.Client, projects []forge.Ref) ([][]*forge.MergeRequest, error) {
	found := make([][]*forge.MergeRequest, len(projects))
	workers, ctx := errgroup.WithContext(ctx) // the first error cancels the other calls
	workers.SetLimit(8)
	options := &forge.ListMergeRequestsOptions{Scope: forge.ScopeAll, State: forge.MergeRequestStateOpened}
	for i, project := range projects {
		workers.Go(func() (err error) {
			found[i], err = forge.Collect(client.MergeRequests.ListForProject(ctx, project, options))
			return err // names the project
		})
	}
	return found, workers.Wait()
}

// The lists are complete and in the order of the projects. An error names its project.
func TestOpenMergeRequests(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddProject("acme/a").AddMergeRequests(1, nil)
	srv.AddProject("acme/b").AddMergeRequests(101, nil)
	projects := []forge.Ref{forge.Path("acme/a"), forge.Path("acme/b")}
	found, err := openMergeRequests(t.Context(), srv.Client(), projects)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 101}, []int{len(found[0]), len(found[1])})
	_, err = openMergeRequests(t.Context(), srv.Client(), append(projects, forge.Path("acme/none")))
	require.ErrorContains(t, err, "acme%2Fnone")
}
