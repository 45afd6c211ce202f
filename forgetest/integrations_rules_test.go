package forgetest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// No response has a key, a password, a token or an address that contains one: the webhook, and the
// channels that override it.
func TestIntegrationSecretsAreHidden(t *testing.T) {
	secrets := strings.Fields(`api_key token password webhook <tool>_license_key <tool>_access_token_secret
		confidential_issue_channel confidential_note_channel deployment_channel group_confidential_mentions_channel group_mentions_channel
		issue_channel merge_request_channel note_channel pipeline_channel push_channel tag_push_channel wiki_page_channel`)
	visible := strings.Fields(`restrict_to_branch subdomain <ci>_url build_key username new_issue_url issues_url project_url room <wiki>_url api_url
		<mon>_env <mon>_service <mon>_site <mon>_tags <tool>_access_token_name recipients hostname branches_to_be_notified`)
	for name, options := range map[string][]Option{"neutral": nil, "GitLab": {WithGitLabVocabulary()}} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			s.AddGroup("group")
			s.AddGroup("group/sub")
			c := newCaller(t, s)
			for _, k := range specified(t).endpoints["PUT /groups/:id/integrations/:slug"].Kinds {
				slug := orElse(k.Slug, k.ID)
				if s.gitlab {
					slug = vocabulary().Integrations[k.ID]["slug"]
				}
				body := map[string]any{}
				for i, p := range s.integrationKind(slug).Params {
					switch neutral := k.Params[i].Name; {
					case p.Type == "boolean":
						body[p.Name] = true
					case p.Type == "integer":
						body[p.Name] = 7
					case len(p.Enum) > 0:
						body[p.Name] = "protected"
					case slices.Contains(secrets, neutral):
						body[p.Name] = "https://SECRET." + fmt.Sprint(i)
					case assert.Contains(t, visible, neutral, "%s: is it a secret?", k.ID):
						body[p.Name] = "seen-" + fmt.Sprint(i)
					}
				}
				body["use_inherited_settings"] = false
				set := c.put("/groups/group/integrations/"+slug, body)
				require.Equal(t, 200, set.Status, set.Body)
				body["use_inherited_settings"] = true
				sub := c.put("/groups/group%2Fsub/integrations/"+slug, body)
				for _, r := range []reply{set, sub, c.get("/groups/group/integrations/" + slug), c.get("/groups/group%2Fsub/integrations/" + slug),
					c.get("/groups/group/integrations?per_page=100")} {
					assert.NotContains(t, r.Body, "SECRET", k.ID)
				}
				shown := c.get("/groups/group/integrations/" + slug).object(t)["properties"].(map[string]any)
				for key, value := range body {
					if text, isText := value.(string); isText && !strings.Contains(text, "SECRET") {
						assert.Equal(t, value, shown[key], "%s %s", k.ID, key)
					}
				}
			}
		})
	}
}

// A value of another type is rejected, and the integration is not set up partially.
func TestIntegrationValues(t *testing.T) {
	s := New(t)
	s.AddGroup("group")
	c := newCaller(t, s)
	const at = "/groups/group/integrations/team_chat_b"
	all := map[string]any{"token": "t", "room": "r"}
	for _, event := range strings.Fields(`push_events issues_events confidential_issues_events merge_requests_events tag_push_events note_events
		confidential_note_events pipeline_events wiki_page_events`) {
		all[event] = false
	}
	for name, value := range map[string]any{"thread": "x", "push_events": 1, "branches_to_be_notified": "some", "room": []string{"a"}, "token": nil} {
		body := map[string]any{}
		for key, v := range all {
			body[key] = v
		}
		body[name] = value
		r := c.put(at, body)
		assert.Equal(t, 400, r.Status, "%s = %v", name, value)
		assert.Contains(t, r.Body, name)
	}
	assert.Equal(t, 404, c.get(at).Status)
	all["thread"] = json.Number("12")
	assert.InDelta(t, 12, c.put(at, all).object(t)["properties"].(map[string]any)["thread"], 0)
}
