package forge

import "testing"

func TestResourceGroups(t *testing.T) {
	ctx, app := t.Context(), Path("group/app")
	const groups = "/projects/group%2Fapp/resource_groups"
	runCalls(t, []callRow{
		{"PUT " + groups + "/production", "", `{"process_mode":"newest_first"}`, "resource_groups/update.json", func(c *Client) (any, error) {
			return c.ResourceGroups.Update(ctx, app, "production", &UpdateResourceGroupOptions{ProcessMode: ProcessModeNewestFirst})
		}},
		{"PUT " + groups + "/production", "", `{"process_mode":"later","x":1}`, `400 {"message":{"process_mode":["does not have a valid value"]}}`, func(c *Client) (any, error) {
			return c.ResourceGroups.Update(ctx, app, "production", &UpdateResourceGroupOptions{ProcessMode: "later", Extra: map[string]any{"x": 1}})
		}},
	})
}
