package forgetest

import (
	"testing"

	"net/url"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIntegrationTransitions(t *testing.T) {
	s := New(t)
	g, sub := s.AddGroup("group"), s.AddGroup("group/sub")
	maintainer, owner := s.AddUser("maintainer"), s.AddUser("owner")
	g.AddMember(maintainer, Maintainer)
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

	for _, tc := range []struct {
		who          caller
		method, path string
		status       int
	}{
		{c.as(owner.Token), "GET", "/groups/group/integrations", 200}, {c.as(""), "GET", at, 401}, {c, "PUT", "/groups/group/integrations/unknown", 404}, {c, "DELETE", at, 204}, {c, "DELETE", at, 404}, {c, "GET", at, 404},
	} {
		assert.Equal(t, tc.status, tc.who.send(tc.method, tc.path, "").Status, "%s %s", tc.method, tc.path)
	}
	fresh := c.send("PUT", at, "recipients=d@example.com").object(t)
	assert.NotEqual(t, first["id"], fresh["id"]) // the settings were reset
	assert.Nil(t, g.Integration("ewm"))
}

// If allow_all_integrations is false, only the kinds in allowed_integrations can be set up. The
// default is true (Document 3 §4.1.1). A tier without these two settings allows all kinds.
func TestAllowedIntegrations(t *testing.T) {
	for name, tc := range map[string]struct {
		options   []Option
		email     string // slug of emails on push in the list
		chat      string
		chatParam string
	}{
		"neutral": {nil, "emails-on-push", "team_chat_a", "webhook=https://chat.example"},
		"GitLab":  {[]Option{WithGitLabVocabulary()}, "emails_on_push", "discord", "webhook=https://chat.example"}, // the product lists them with underscores
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, tc.options...)
			s.AddGroup("group")
			c := newCaller(t, s)
			chat, email := "/groups/group/integrations/"+tc.chat, "/groups/group/integrations/emails-on-push"
			assert.Equal(t, true, c.get(settingsPath).object(t)["allow_all_integrations"])
			assert.Equal(t, 200, c.send("PUT", chat, tc.chatParam).Status)
			c.put(settingsPath, map[string]any{"allow_all_integrations": false, "allowed_integrations": []string{tc.email}})
			r := c.send("PUT", chat, tc.chatParam)
			assert.Equal(t, 400, r.Status)
			assert.Equal(t, `{"message":"400 Bad request - the integration `+tc.chat+` is not in allowed_integrations"}`, r.Body)
			assert.Equal(t, 200, c.send("PUT", email, "recipients=a@example.com").Status)
			assert.Equal(t, 200, c.get(chat).Status, "an integration that was set up before stays")
			assert.Equal(t, 404, c.send("PUT", "/groups/group/integrations/unknown", "").Status)
			c.put(settingsPath, map[string]any{"allowed_integrations": []string{}})
			assert.Equal(t, 400, c.send("PUT", email, "recipients=a@example.com").Status)
			c.send("PUT", settingsPath, "allowed_integrations[]="+tc.chat)
			assert.Equal(t, 200, c.send("PUT", chat, tc.chatParam).Status)
			c.put(settingsPath, map[string]any{"allow_all_integrations": true})
			assert.Equal(t, 200, c.send("PUT", email, "recipients=a@example.com").Status)
		})
	}
	late := New(t)
	late.AddGroup("group")
	now := noon()
	late.SetClock(func() time.Time { return now })
	late.SetSettingsCacheTTL(time.Minute)
	cached := newCaller(t, late)
	set := func() int {
		return cached.send("PUT", "/groups/group/integrations/ewm", "new_issue_url=n&issues_url=i&project_url=p").Status
	}
	cached.put(settingsPath, map[string]any{"allow_all_integrations": false})
	assert.Equal(t, 200, set(), "the change is not in effect yet (Document 3 §1)")
	now = now.Add(time.Minute)
	assert.Equal(t, 400, set())

	free := New(t, WithTier(Free))
	free.AddGroup("group")
	c := newCaller(t, free)
	assert.Equal(t, 200, c.put(settingsPath, map[string]any{"allow_all_integrations": false}).Status)
	assert.Equal(t, 200, c.send("PUT", "/groups/group/integrations/ewm", "new_issue_url=n&issues_url=i&project_url=p").Status)
}

// Inherited values are those at the time of the read, through all groups above. Once the
// integration above is removed, the group's own values apply again.
func TestInheritedIntegrations(t *testing.T) {
	s := New(t)
	top, middle, low := s.AddGroup("top"), s.AddGroup("top/middle"), s.AddGroup("top/middle/low")
	c := newCaller(t, s)
	at := func(g *Group) string { return "/groups/" + url.PathEscape(g.Path) + "/integrations/emails-on-push" }
	shows := func(g *Group, recipients string, inherited bool) {
		t.Helper()
		object := c.get(at(g)).object(t)
		assert.Equal(t, recipients, object["properties"].(map[string]any)["recipients"], g.Path)
		assert.Equal(t, inherited, object["inherited"], g.Path)
		assert.Equal(t, recipients, g.Integration("emails-on-push")["recipients"])
		list := c.get("/groups/" + url.PathEscape(g.Path) + "/integrations").array(t)
		require.Len(t, list, 1)
		assert.Equal(t, inherited, list[0]["inherited"])
		assert.Equal(t, object["push_events"], list[0]["push_events"])
	}
	c.send("PUT", at(top), "recipients=top@example.com")
	for _, g := range []*Group{middle, low} {
		r := c.send("PUT", at(g), "recipients="+g.Name+"@example.com&use_inherited_settings=true").object(t)
		assert.Equal(t, "top@example.com", r["properties"].(map[string]any)["recipients"])
	}
	shows(low, "top@example.com", true)
	c.send("PUT", at(top), "recipients=new@example.com&push_events=true")
	shows(middle, "new@example.com", true)
	shows(low, "new@example.com", true)
	assert.Equal(t, true, c.get(at(low)).object(t)["push_events"])

	c.send("DELETE", at(middle), "") // the next group above low is top
	shows(low, "new@example.com", true)
	c.send("PUT", at(middle), "recipients=own@example.com")
	shows(low, "own@example.com", true)
	c.send("DELETE", at(middle), "")
	c.send("DELETE", at(top), "")
	shows(low, low.Name+"@example.com", false)
	c.send("PUT", at(top), "recipients=again@example.com")
	shows(low, low.Name+"@example.com", false)
	c.send("PUT", at(low), "recipients=x@example.com&use_inherited_settings=true")
	shows(low, "again@example.com", true)
	c.send("PUT", at(low), "recipients=mine@example.com")
	shows(low, "mine@example.com", false)
}
