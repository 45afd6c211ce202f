package forge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNamespaces(t *testing.T) {
	runScenarios(t, []scenario{
		{
			name:      "list",
			exchanges: []exchange{{sent: "GET /namespaces", query: "per_page=100", answer: "namespaces/namespaces.json"}},
			run: func(t *testing.T, c *Client) {
				namespaces, err := Collect(c.Namespaces.List(t.Context(), nil))
				require.NoError(t, err)
				assertWhole(t, "namespaces/namespaces.json", namespaces)
				assert.Equal(t, NamespaceKindUser, namespaces[0].Kind)
				assert.Nil(t, namespaces[0].ParentID)
				assert.Nil(t, namespaces[0].SharedRunnersMinutesLimit, "null is the server's own limit")
				assert.Equal(t, new(0), namespaces[1].SharedRunnersMinutesLimit, "0 means unlimited")
			},
		},
		{
			name: "list with all options",
			exchanges: []exchange{{
				sent:   "GET /namespaces",
				query:  "full_path_search=true&owned_only=false&per_page=2&requested_hosted_plan=premium&search=group%2Fteam&top_level_only=true",
				answer: "[]",
			}},
			run: func(t *testing.T, c *Client) {
				namespaces, err := Collect(c.Namespaces.List(t.Context(), &ListNamespacesOptions{
					Search: "group/team", OwnedOnly: new(false), TopLevelOnly: new(true), FullPathSearch: new(true), RequestedHostedPlan: "premium",
				}, PerPage(2)))
				require.NoError(t, err)
				assert.Empty(t, namespaces)
			},
		},
		{
			name: "get by path and by id",
			exchanges: []exchange{
				{sent: "GET /namespaces/group%2Fteam", answer: "namespaces/namespace.json"},
				{sent: "GET /namespaces/7", status: 404, answer: `{"message":"404 Namespace Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				namespace, err := c.Namespaces.Get(t.Context(), Path("group/team"))
				require.NoError(t, err)
				assertWhole(t, "namespaces/namespace.json", namespace)
				_, err = c.Namespaces.Get(t.Context(), ID(7))
				require.ErrorIs(t, err, ErrNotFound)
			},
		},
		{
			name: "exists",
			exchanges: []exchange{
				{sent: "GET /namespaces/team/exists", query: "parent_id=1", answer: "namespaces/exists.json"},
				{sent: "GET /namespaces/free/exists", answer: `{"exists":null,"suggests":[],"checked_at":"now"}`},
			},
			run: func(t *testing.T, c *Client) {
				taken, err := c.Namespaces.Exists(t.Context(), "team", &NamespaceExistsOptions{ParentID: 1})
				require.NoError(t, err)
				assertWhole(t, "namespaces/exists.json", taken)
				assert.True(t, taken.Exists)
				free, err := c.Namespaces.Exists(t.Context(), "free", nil)
				require.NoError(t, err)
				assert.False(t, free.Exists)
				assert.JSONEq(t, `"now"`, string(free.Extra["checked_at"]))
			},
		},
		{
			name: "refused arguments",
			run: func(t *testing.T, c *Client) {
				_, err := c.Namespaces.Get(t.Context(), nil)
				assertRefused(t, err, "argument", "id")
				_, err = c.Namespaces.Exists(t.Context(), "", nil)
				assertRefused(t, err, "argument", "namespace")
			},
		},
	})
}
