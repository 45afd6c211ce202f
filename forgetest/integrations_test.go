package forgetest

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every kind needs its required parameters, stores the values that are set, and no longer exists
// when it is disabled, in both vocabularies.
func TestIntegrationKinds(t *testing.T) {
	for name, options := range map[string][]Option{"neutral": nil, "deployed": {WithGitLabVocabulary()}} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			g := s.AddGroup("group")
			c := newCaller(t, s)
			kinds := specified(t).endpoints["PUT /groups/:id/integrations/:slug"].Kinds
			require.Len(t, kinds, 19)
			for _, k := range kinds {
				slug := orElse(k.Slug, k.ID)
				if s.gitlab {
					slug = vocabulary().Integrations[k.ID]["slug"]
				}
				kind := s.integrationKind(slug)
				require.NotNil(t, kind, slug)
				at := "/groups/group/integrations/" + slug
				assert.Equal(t, 404, c.get(at).Status)
				form, required := url.Values{}, 0
				for _, p := range kind.Params {
					if value := sample(p); p.Required && p.Type == "boolean" {
						form.Set(p.Name, "true")
					} else if p.Required {
						form.Set(p.Name, value.(string))
					}
					if p.Required {
						required++
					}
				}
				assert.Positive(t, required)
				for missing := range form {
					partly := url.Values{}
					for key, values := range form {
						if key != missing {
							partly[key] = values
						}
					}
					r := c.send("PUT", at, partly.Encode())
					assert.Equal(t, 400, r.Status)
					assert.JSONEq(t, `{"error":"`+missing+` is missing"}`, r.Body)
				}
				r := c.send("PUT", at, form.Encode())
				require.Equal(t, 200, r.Status, r.Body)
				keys(t, "IntegrationSummary", "single", r.object(t))
				assert.Equal(t, r.Body, c.get(at).Body)
				for key := range form {
					assert.Contains(t, g.Integration(slug), key)
				}
			}
			list := c.get("/groups/group/integrations?per_page=100").array(t)
			assert.Len(t, list, 19)
			keys(t, "IntegrationSummary", "list", list[0])
			for _, item := range list {
				assert.Equal(t, 204, c.send("DELETE", "/groups/group/integrations/"+item["slug"].(string), "").Status)
			}
			assert.Empty(t, c.get("/groups/group/integrations").array(t))
		})
	}
}

func TestIntegrationTransitions(t *testing.T) {
	s := New(t)
	g, sub := s.AddGroup("group"), s.AddGroup("group/sub")
	maintainer, developer, owner := s.AddUser("maintainer"), s.AddUser("developer"), s.AddUser("owner")
	g.AddMember(maintainer, Maintainer)
	g.AddMember(developer, Developer)
	g.AddMember(owner, Owner)
	c := newCaller(t, s).as(maintainer.Token)
	at := "/groups/group/integrations/emails-on-push"
	first := c.send("PUT", at, "recipients=a@example.com&disable_diffs=true&push_events=true").object(t)
	assert.Equal(t, true, first["push_events"])
	assert.Equal(t, map[string]any{"recipients": "a@example.com", "disable_diffs": true, "branches_to_be_notified": "all"}, first["properties"])
	second := c.send("PUT", at, "recipients=b@example.com").object(t) // replaced
	assert.Equal(t, first["id"], second["id"])
	assert.Equal(t, false, second["push_events"])
	assert.Equal(t, map[string]any{"recipients": "b@example.com", "branches_to_be_notified": "all"}, second["properties"])

	inherited := c.send("PUT", "/groups/group%2Fsub/integrations/emails-on-push", "recipients=c@example.com&use_inherited_settings=true").object(t)
	assert.Equal(t, true, inherited["inherited"])
	assert.Equal(t, "b@example.com", sub.Integration("emails-on-push")["recipients"])

	chat := c.send("PUT", "/groups/group/integrations/team_chat_a", "webhook=https://chat.example&note_events=true&note_channel=x").object(t)
	assert.Equal(t, true, chat["note_events"])
	assert.NotContains(t, chat["properties"], "webhook") // a secret
	assert.Equal(t, "https://chat.example", g.Integration("team_chat_a")["webhook"])

	for _, tc := range []struct {
		who          caller
		method, path string
		status       int
	}{
		{c, "GET", "/groups/group/integrations", 200}, {c.as(owner.Token), "GET", "/groups/group/integrations", 200},
		{c.as(owner.Token), "PUT", "/groups/group/integrations/project_tracker?token=x", 200},
		{c.as(owner.Token), "GET", "/groups/group/integrations/project_tracker", 200},
		{c.as(owner.Token), "DELETE", "/groups/group/integrations/project_tracker", 204},
		{c.as(developer.Token), "GET", "/groups/group/integrations", 403}, {c.as(developer.Token), "DELETE", at, 403}, {c.as(""), "GET", at, 401},
		{c, "PUT", "/groups/group/integrations/unknown", 404}, {c, "PUT", at + "?recipients=x&branches_to_be_notified=some", 400},
		{c, "PUT", at + "?recipients=x&disable_diffs=1", 400}, {c, "DELETE", at, 204}, {c, "DELETE", at, 404}, {c, "GET", at, 404},
	} {
		assert.Equal(t, tc.status, tc.who.send(tc.method, tc.path, "").Status, "%s %s", tc.method, tc.path)
	}
	fresh := c.send("PUT", at, "recipients=d@example.com").object(t)
	assert.NotEqual(t, first["id"], fresh["id"]) // the settings were reset
	assert.Nil(t, g.Integration("ewm"))
}
