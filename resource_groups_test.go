package forge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResourceGroups(t *testing.T) {
	app := Path("group/app")
	runScenarios(t, []scenario{
		{
			name: "read",
			exchanges: []exchange{
				{sent: "GET /projects/group%2Fapp/resource_groups", query: "per_page=100", answer: "resource_groups/resource_groups.json"},
				{sent: "GET /projects/group%2Fapp/resource_groups/production", answer: "resource_groups/resource_group.json"},
				{sent: "GET /projects/group%2Fapp/resource_groups/review%2Ffeature_1/upcoming_jobs", query: "per_page=100", answer: "resource_groups/upcoming_jobs.json"},
				{sent: "GET /projects/group%2Fapp/resource_groups/none", status: 404, answer: `{"message":"404 Not found"}`},
			},
			run: func(t *testing.T, c *Client) {
				groups, err := Collect(c.ResourceGroups.List(t.Context(), app))
				require.NoError(t, err)
				assertWhole(t, "resource_groups/resource_groups.json", groups)
				group, err := c.ResourceGroups.Get(t.Context(), app, "production")
				require.NoError(t, err)
				assertWhole(t, "resource_groups/resource_group.json", group)
				jobs, err := Collect(c.ResourceGroups.ListUpcomingJobs(t.Context(), app, groups[1].Key))
				require.NoError(t, err)
				assertWhole(t, "resource_groups/upcoming_jobs.json", jobs)
				assert.Equal(t, JobStatusWaitingForResource, jobs[0].Status)
				assert.Equal(t, new(0.25), jobs[0].QueuedDuration)
				assert.Equal(t, [3]*float64{}, [3]*float64{jobs[1].Coverage, jobs[1].Duration, jobs[1].QueuedDuration})
				assert.Equal(t, [2]time.Time{}, [2]time.Time{jobs[1].StartedAt, jobs[1].FinishedAt})
				_, err = c.ResourceGroups.Get(t.Context(), app, "none")
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name: "update",
			exchanges: []exchange{
				{sent: "PUT /projects/42/resource_groups/production", body: `{"process_mode":"newest_first"}`, answer: "resource_groups/updated.json"},
				{sent: "PUT /projects/42/resource_groups/production", body: `{"process_mode":"later","x":1}`, status: 400, answer: `{"message":{"process_mode":["does not have a valid value"]}}`},
			},
			run: func(t *testing.T, c *Client) {
				group, err := c.ResourceGroups.Update(t.Context(), ID(42), "production", &UpdateResourceGroupOptions{ProcessMode: ProcessModeNewestFirst})
				require.NoError(t, err)
				assertWhole(t, "resource_groups/updated.json", group)
				_, err = c.ResourceGroups.Update(t.Context(), ID(42), "production", &UpdateResourceGroupOptions{ProcessMode: "later", Extra: map[string]any{"x": 1}})
				require.ErrorIs(t, err, ErrBadRequest)
				assert.Equal(t, []string{"does not have a valid value"}, asError(t, err).Fields["process_mode"])
			},
		},
	})
	_, err := serve(t).ResourceGroups.Get(t.Context(), app, "..")
	assertRefused(t, err, "argument", "key")
}
