package forge

import "testing"

func TestNamespaces(t *testing.T) {
	ctx := t.Context()
	runCalls(t, []callRow{
		{"GET /namespaces/7", "", "", `404 {"message":"404 Namespace Not Found"}`, func(c *Client) (any, error) { return c.Namespaces.Get(ctx, ID(7)) }},
		{"GET /namespaces/team/exists", "parent_id=1", "", "namespaces/exists.json", func(c *Client) (any, error) {
			return c.Namespaces.Exists(ctx, "team", &NamespaceExistsOptions{ParentID: 1})
		}},
	})
}
