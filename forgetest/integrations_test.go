package forgetest

import (
	"testing"

	"net/url"
	"time"

	"fmt"
	"slices"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// If allow_all_integrations is false, only the kinds in allowed_integrations can be set up. The
// default is true (Document 3 §4.1.1). A tier without these two settings allows all kinds.
func TestAllowedIntegrations(t *testing.T) {
	for name, tc := range map[string]struct {
		options     []Option
		email, chat string // slugs in the list
	}{
		"neutral": {[]Option{WithNeutralNames()}, "emails-on-push", "team_chat_a"},
		"GitLab":  {nil, "emails_on_push", "discord"}, // the product lists them with underscores
	} {
		t.Run(name, func(t *testing.T) {
			s := New(t, tc.options...)
			s.AddGroup("group")
			c := newCaller(t, s)
			chat, email := "/groups/group/integrations/"+tc.chat, "/groups/group/integrations/emails-on-push"
			assert.Equal(t, true, c.get(settingsPath).object(t)["allow_all_integrations"])
			assert.Equal(t, 200, c.send("PUT", chat, "webhook=https://chat.example").Status)
			c.put(settingsPath, map[string]any{"allow_all_integrations": false, "allowed_integrations": []string{tc.email}})
			r := c.send("PUT", chat, "webhook=https://chat.example")
			assert.Equal(t, 400, r.Status)
			assert.Equal(t, `{"message":"400 Bad request - the integration `+tc.chat+` is not in allowed_integrations"}`, r.Body)
			assert.Equal(t, 200, c.send("PUT", email, "recipients=a@example.com").Status)
			assert.Equal(t, 200, c.get(chat).Status, "an integration that was set up before stays")
			assert.Equal(t, 404, c.send("PUT", "/groups/group/integrations/unknown", "").Status)
			c.put(settingsPath, map[string]any{"allowed_integrations": []string{}})
			assert.Equal(t, 400, c.send("PUT", email, "recipients=a@example.com").Status)
			c.send("PUT", settingsPath, "allowed_integrations[]="+tc.chat)
			assert.Equal(t, 200, c.send("PUT", chat, "webhook=https://chat.example").Status)
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

// summaryFlags are the event flags of the list (§2.2); the other flags are properties.
const summaryFlags = `commit_events push_events issues_events alert_events confidential_issues_events merge_requests_events tag_push_events
	deployment_events note_events confidential_note_events pipeline_events wiki_page_events job_events vulnerability_events`

type documentedKind struct {
	id, neutral string // neutral is the path segment
	params      []documentedParam
}

type documentedParam struct {
	name     string
	required bool
	kind     string // "b" for a boolean, "n" for an integer, "e" for branches_to_be_notified
}

// documentedIntegrations returns the kinds of the contract.
func documentedIntegrations(t *testing.T) (kinds []documentedKind) {
	t.Helper()
	for _, k := range catalogue().endpoints["PUT /groups/:id/integrations/:slug"].Kinds {
		kind := documentedKind{id: k.ID, neutral: orElse(k.Slug, k.ID)}
		for _, p := range k.Params {
			of := map[string]string{"boolean": "b", "integer": "n"}[p.Type]
			if len(p.Enum) > 0 {
				of = "e"
			}
			kind.params = append(kind.params, documentedParam{p.Name, p.Required, of})
		}
		kinds = append(kinds, kind)
	}
	return kinds
}

// slug is the path segment of a kind on a server.
func (k documentedKind) slug(s *Server) string {
	if !s.neutral {
		return vocabulary().Integrations[k.id]["slug"]
	}
	return k.neutral
}

// wire returns the server's name of a parameter.
func (p documentedParam) wire(s *Server, k documentedKind) string {
	if !s.neutral {
		return orElse(vocabulary().Integrations[k.id][p.name], p.name)
	}
	return p.name
}

// values returns the documented values, or samples, in the form of decoded JSON.
func (p documentedParam) values() []any {
	switch p.kind {
	case "b":
		return []any{true, false}
	case "n":
		return []any{12.0, 7.0}
	case "e":
		return []any{"all", "default", "protected", "default_and_protected"}
	}
	return []any{"seen " + p.name, "changed " + p.name}
}

// turn returns the value of the i-th of four rounds. The n-th boolean of a kind has a different
// sequence of values than all other booleans, so that two exchanged ones differ in at least one
// round.
func (p documentedParam) turn(i, n int) any {
	if p.kind == "b" {
		return (n+1)>>i&1 == 1
	}
	return p.values()[i%len(p.values())]
}

// hidden reports whether responses omit a value: a secret, or an address that contains one.
func (p documentedParam) hidden() bool {
	secrets := "token password api_key webhook <tool>_license_key <tool>_access_token_secret"
	return slices.Contains(strings.Fields(secrets), p.name) || strings.HasSuffix(p.name, "_channel")
}

// Every documented parameter of every kind is stored and shown with each of its values, from JSON
// and from a form, with the group's id and with its path.
func TestIntegrationParameters(t *testing.T) {
	require.Len(t, documentedIntegrations(t), 19)
	for name, options := range map[string][]Option{"neutral": {WithNeutralNames()}, "GitLab": nil} {
		t.Run(name, func(t *testing.T) {
			s := New(t, options...)
			g := s.AddGroup("top").srv.AddGroup("top/group")
			c := newCaller(t, s)
			for _, kind := range documentedIntegrations(t) {
				for i := range 4 {
					body, form, flags := map[string]any{}, url.Values{}, 0
					for _, p := range kind.params {
						value := p.turn(i, flags)
						if p.kind == "b" {
							flags++
						}
						body[p.wire(s, kind)] = value
						form.Set(p.wire(s, kind), fmt.Sprint(value))
					}
					at := fmt.Sprintf("/groups/%d/integrations/%s", g.ID, kind.slug(s))
					path := "/groups/top%2Fgroup/integrations/" + kind.slug(s)
					if i%2 == 1 {
						at, path = path, at
					}
					holdsIntegration(t, s, g, kind, body, c.put(at, body), c.get(path))
					holdsIntegration(t, s, g, kind, body, c.send("PUT", path, form.Encode()), c.get(at))
				}
			}
			byID := c.get(fmt.Sprintf("/groups/%d/integrations?per_page=100", g.ID))
			assert.Len(t, byID.array(t), 19)
			assert.Equal(t, byID.Body, c.get("/groups/top%2Fgroup/integrations?per_page=100").Body)
			for i, kind := range documentedIntegrations(t) {
				at := []string{fmt.Sprint("/groups/", g.ID), "/groups/top%2Fgroup"}[i%2] + "/integrations/" + kind.slug(s)
				assert.Equal(t, 204, c.send("DELETE", at, "").Status)
				assert.Nil(t, g.Integration(kind.slug(s)), kind.id)
			}
			assert.Equal(t, 404, c.get(fmt.Sprint("/groups/", g.ID+1, "/integrations")).Status)
		})
	}
}

// holdsIntegration checks that the stored and the shown values of a group's integration are those
// of the call.
func holdsIntegration(t *testing.T, s *Server, g *Group, kind documentedKind, sent map[string]any, answers ...reply) {
	t.Helper()
	kept := g.Integration(kind.slug(s))
	for _, r := range answers {
		require.Equal(t, 200, r.Status, "%s: %s", kind.id, r.Body)
		object := r.object(t)
		properties := object["properties"].(map[string]any)
		for _, p := range kind.params {
			name := p.wire(s, kind)
			want := sent[name]
			assert.EqualValues(t, want, kept[name], "%s.%s is lost", kind.id, p.name)
			shown, is := properties[name]
			switch {
			case p.name == inheritance:
				assert.Equal(t, want, object["inherited"], kind.id)
			case slices.Contains(strings.Fields(summaryFlags), p.name):
				assert.Equal(t, want, object[p.name], "%s.%s", kind.id, p.name)
			case p.hidden():
				assert.False(t, is, "%s.%s is a secret", kind.id, p.name)
			default:
				assert.Equal(t, want, shown, "%s.%s", kind.id, p.name)
			}
		}
	}
}

// A value of another type is rejected for every parameter of every kind, and the integration is not
// set up partially. Booleans and integers may be text, as in a form. TestBodyTypes tries lists and
// objects for optional parameters.
func TestIntegrationTypes(t *testing.T) {
	s := New(t, WithNeutralNames())
	s.AddGroup("group")
	c := newCaller(t, s)
	tried := 0
	for _, kind := range documentedIntegrations(t) {
		at, all := "/groups/group/integrations/"+kind.slug(s), map[string]any{}
		for _, p := range kind.params {
			all[p.name] = p.values()[0]
		}
		for _, p := range kind.params {
			for _, value := range p.wrongValues() {
				all[p.name] = value
				r := c.put(at, all)
				assert.Equal(t, 400, r.Status, "%s.%s = %s: %s", kind.id, p.name, asJSON(t, value), r.Body)
				assert.Contains(t, r.object(t)["error"], p.name, "%s: the refusal does not name it", kind.id)
				tried++
			}
			delete(all, p.name)
			if p.required {
				assert.JSONEq(t, `{"error":"`+p.name+` is missing"}`, c.put(at, all).Body, kind.id)
			}
			all[p.name] = p.values()[0]
		}
		assert.Equal(t, 404, c.get(at).Status, kind.id)
		for _, p := range kind.params {
			all[p.name] = fmt.Sprint(all[p.name])
		}
		require.Equal(t, 200, c.put(at, all).Status, kind.id)
	}
	assert.Greater(t, tried, 500)
}

// wrongValues returns values that a parameter cannot have.
func (p documentedParam) wrongValues() []any {
	wrong := map[string][]any{"b": {nil, "yes", 1, 0}, "n": {"x", 1.5, true}, "e": {"some", "ALL", true, 1}}[p.kind]
	if p.required {
		return append(wrong, nil, []any{}, []any{"a"}, map[string]any{}, map[string]any{"a": "b"})
	}
	return wrong
}

// integrationSlugs are the path segments of the kinds on deployed servers, in the order of the
// document.
const integrationSlugs = `asana assembla bamboo bugzilla buildkite campfire clickup confluence custom-issue-tracker datadog
	diffblue-cover discord drone-ci emails-on-push ewm telegram unify-circuit webex-teams youtrack`

// Only the three segments without a vendor's name are in the document. The other segments need
// GitLab's words, with which the ids that replace them are unknown.
func TestIntegrationSlugs(t *testing.T) {
	slugs, before := strings.Fields(integrationSlugs), documentedIntegrations(t)
	require.Len(t, before, len(slugs))
	for _, s := range []*Server{New(t, WithNeutralNames()), New(t)} {
		s.AddGroup("group")
		c := newCaller(t, s)
		for i, kind := range documentedIntegrations(t) {
			body := map[string]any{}
			for _, p := range kind.params {
				body[p.wire(s, kind)] = p.values()[0]
			}
			named := slices.Contains([]string{"custom-issue-tracker", "emails-on-push", "ewm"}, slugs[i])
			for slug, known := range map[string]bool{slugs[i]: named || !s.neutral, kind.id: kind.id == slugs[i] || !named && s.neutral} {
				r := c.put("/groups/group/integrations/"+slug, body)
				if !known {
					assert.Equal(t, 404, r.Status, "%s, neutral names: %t", slug, s.neutral)
				} else if assert.Equal(t, 200, r.Status, "%s: %s", slug, r.Body) {
					assert.Equal(t, slug, r.object(t)["slug"])
				}
			}
		}
	}
	assert.Equal(t, before, documentedIntegrations(t), "a server with GitLab's words does not change the contract")
}

// The summary of an integration has the times of its calls and the flags that were set, and is
// active. After a deletion the settings have their defaults again.
func TestIntegrationSummary(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	s.AddGroup("group")
	c := newCaller(t, s)
	const list, at, inbox = "/groups/group/integrations", "/groups/group/integrations/emails-on-push", "a@example.com"
	want := map[string]any{
		"id": 1.0, "title": "Emails on push", "slug": "emails-on-push", "active": true, "inherited": false, "comment_on_event_enabled": true,
		"created_at": "2026-03-04T12:00:00.000Z", "updated_at": "2026-03-04T12:00:00.000Z",
	}
	for flag := range strings.FieldsSeq(summaryFlags + " incident_events") { // deployed servers have one flag more
		want[flag] = flag == "push_events"
	}
	require.Equal(t, 200, c.put(at, map[string]any{"recipients": inbox, "push_events": true, "disable_diffs": true}).Status)
	assert.Equal(t, []map[string]any{want}, c.get(list).array(t))

	now = now.Add(time.Hour)
	assert.Equal(t, []map[string]any{want}, c.get(list).array(t))
	want["updated_at"], want["push_events"], want["tag_push_events"] = "2026-03-04T13:00:00.000Z", false, true
	require.Equal(t, 200, c.put(at, map[string]any{"recipients": inbox, "tag_push_events": true}).Status)
	assert.Equal(t, []map[string]any{want}, c.get(list).array(t))
	shown := c.get(at).object(t)
	assert.Equal(t, map[string]any{"recipients": inbox, "branches_to_be_notified": "all"}, shown["properties"])
	delete(shown, "properties")
	assert.Equal(t, want, shown)

	assert.Equal(t, 401, c.as("").get(at).Status)
	require.Equal(t, 204, c.send("DELETE", at, "").Status)
	assert.Empty(t, c.get(list).array(t))
	for _, method := range []string{"GET", "DELETE"} {
		assert.JSONEq(t, `{"message":"404 Integration Not Found"}`, c.send(method, at, "").Body)
	}
	assert.Equal(t, 404, c.send("PUT", list+"/unknown", "").Status)
	want["id"], want["created_at"], want["tag_push_events"] = 2.0, want["updated_at"], false
	require.Equal(t, 200, c.put(at, map[string]any{"recipients": inbox}).Status)
	assert.Equal(t, []map[string]any{want}, c.get(list).array(t))
}

// For each call, the role in the group itself or in a group above it counts.
func TestIntegrationRoles(t *testing.T) {
	s := New(t)
	top, low := s.AddGroup("top"), s.AddGroup("top/low")
	app := s.AddProject("top/low/app")
	users := map[string]*User{}
	for _, name := range []string{"of top", "of low", "of app", "developer", "owner"} {
		users[name] = s.AddUser(strings.ReplaceAll(name, " ", "_"))
	}
	top.AddMember(users["of top"], Maintainer)
	low.AddMember(users["of low"], Maintainer)
	app.AddMember(users["of app"], Maintainer)
	top.AddMember(users["developer"], Developer)
	top.AddMember(users["owner"], Owner)
	const form = "new_issue_url=n&issues_url=i&project_url=p"
	for name, may := range map[string]map[string]bool{
		"of top": {"top": true, "top%2Flow": true}, "owner": {"top": true, "top%2Flow": true}, "of low": {"top%2Flow": true}, "of app": {}, "developer": {},
	} {
		c := newCaller(t, s).as(users[name].Token)
		for _, group := range []string{"top", "top%2Flow"} {
			at := "/groups/" + group + "/integrations"
			statuses := []int{c.get(at).Status, c.send("PUT", at+"/ewm", form).Status, c.get(at + "/ewm").Status, c.send("DELETE", at+"/ewm", "").Status}
			want := []int{403, 403, 403, 403}
			if may[group] {
				want = []int{200, 200, 200, 204}
			}
			assert.Equal(t, want, statuses, "%s, %s", name, group)
		}
	}
}
