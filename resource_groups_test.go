package forge

import "testing"

func TestResourceGroups(t *testing.T) {
	ctx, app := t.Context(), Path("group/app")
	const groups = "/projects/group%2Fapp/resource_groups"
	runCalls(t, []callRow{
		{"GET " + groups, "per_page=100", "", "resource_groups/resource_groups.json", func(c *Client) (any, error) { return Collect(c.ResourceGroups.List(ctx, app)) }},
		{"GET " + groups + "/production", "", "", "resource_groups/resource_group.json", func(c *Client) (any, error) { return c.ResourceGroups.Get(ctx, app, "production") }},
		{"GET " + groups + "/review%2Ffeature_1/upcoming_jobs", "per_page=100", "", "resource_groups/upcoming_jobs.json", func(c *Client) (any, error) {
			return Collect(c.ResourceGroups.ListUpcomingJobs(ctx, app, "review/feature_1"))
		}},
		{"PUT " + groups + "/production", "", `{"process_mode":"newest_first"}`, "resource_groups/updated.json", func(c *Client) (any, error) {
			return c.ResourceGroups.Update(ctx, app, "production", &UpdateResourceGroupOptions{ProcessMode: ProcessModeNewestFirst})
		}},
		{"PUT " + groups + "/production", "", `{"process_mode":"later","x":1}`, `400 {"message":{"process_mode":["does not have a valid value"]}}`, func(c *Client) (any, error) {
			return c.ResourceGroups.Update(ctx, app, "production", &UpdateResourceGroupOptions{ProcessMode: "later", Extra: map[string]any{"x": 1}})
		}},
	})
}
