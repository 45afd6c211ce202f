package forgetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call without credentials is accepted if the catalogue allows it, except for the list of users:
// Document 2 requires a token for it, and only the table of Document 1 §8.1 does not.
func TestAnonymousMatchesCatalogue(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s).as("")
	for _, x := range examples() {
		i := slices.IndexFunc(routes(), func(r *route) bool { return r.endpoint.ID == x.id })
		require.GreaterOrEqual(t, i, 0)
		e := routes()[i].endpoint
		if e.Base != "api" {
			continue
		}
		status := c.send(e.Method, x.path, x.form).Status
		if e.Auth.Anonymous == "when_public" || e.Auth.Anonymous == "implied_when_public" {
			assert.Equal(t, 200, status, x.id)
			continue
		}
		assert.Equal(t, 401, status, x.id)
	}
}

// Keyset pagination is available on the platforms and to the callers of the catalogue; everywhere
// else it is 405, and offset still works.
func TestKeysetOnlyWhereTheCatalogueHasIt(t *testing.T) {
	paths := map[string]string{
		"registry.list_tags": "/projects/1/registry/repositories/1/tags?order_by=name&sort=asc", "repositories.tree": "/projects/1/repository/tree?",
		"users.list": "/users?order_by=id&sort=asc", "audit_events.list_instance": "/audit_events?order_by=id&sort=desc",
		"audit_events.list_group": "/groups/group/audit_events?order_by=id&sort=desc", "audit_events.list_project": "/projects/1/audit_events?order_by=id&sort=desc",
	}
	for _, platform := range []struct {
		options []Option
		refused []string
	}{
		{nil, []string{"registry.list_tags"}},
		{[]Option{WithOffering(Dedicated)}, []string{"registry.list_tags"}},
		{[]Option{WithOffering(Hosted)}, nil},
		{[]Option{WithOffering(Hosted), WithRelease("17.1")}, nil},
		{[]Option{WithOffering(Hosted), WithRelease("17.0")}, []string{"repositories.tree"}},
		{[]Option{WithOffering(Hosted), WithRelease("16.10")}, []string{"repositories.tree"}},
		{[]Option{WithOffering(Hosted), WithRelease("16.9")}, []string{"registry.list_tags", "repositories.tree"}},
		{[]Option{WithRelease("16.5")}, []string{"registry.list_tags", "repositories.tree"}},
		{[]Option{WithRelease("16.4")}, []string{"registry.list_tags", "repositories.tree", "users.list"}},
	} {
		s := contractServer(t, platform.options...)
		for _, r := range routes() {
			rule := r.endpoint.Pagination
			if !rule.Keyset || !r.endpoint.Only.available(s) {
				continue
			}
			path := paths[r.endpoint.ID]
			require.NotEmpty(t, path, r.name)
			got := newCaller(t, s).get(path + "&pagination=keyset")
			if slices.Contains(platform.refused, r.endpoint.ID) {
				assert.Equal(t, 405, got.Status, r.name)
				assert.JSONEq(t, `{"message":"405 Method Not Allowed"}`, got.Body)
			} else {
				assert.Equal(t, 200, got.Status, "%s: %s", r.name, got.Body)
			}
			assert.Equal(t, 200, newCaller(t, s).get(path).Status, r.name)
			// Document 1 §8.1 requires no token to list users, but Document 2 §4.3 does.
			assert.Equal(t, rule.Who == "both" && r.endpoint.ID != "users.list", r.endpoint.accepts("none"), r.name)
		}
	}
}

func TestRelease(t *testing.T) {
	of := func(number string) caller {
		s := New(t, WithRelease(number))
		s.AddProject("group/app").AddMergeRequest(nil)
		return newCaller(t, s)
	}
	for number, status := range map[string]int{"16.11": 404, "17.8": 404, "17.9": 200, "17.10": 200, "18.0": 200} {
		assert.Equal(t, status, of(number).get("/groups/group/integrations").Status, "an endpoint since 17.9 at %s", number)
	}
	for number, statuses := range map[string][]int{"17.8": {404, 404, 404}, "17.9": {200, 200, 204}} {
		c, at := of(number), "/groups/group/integrations/ewm"
		form := "new_issue_url=n&issues_url=i&project_url=p"
		for i, r := range []reply{c.send("PUT", at, form), c.get(at), c.send("DELETE", at, "")} {
			assert.Equal(t, statuses[i], r.Status, "an endpoint since 17.9 at %s", number)
			if r.Status == 404 { // not that of a group without the integration
				assert.Equal(t, c.get("/groups/group/integrations").Body, r.Body)
			}
		}
	}
	for number, items := range map[string]int{"16.11": 1, "17.0": 0} {
		for _, filter := range []string{"merge_user_id=99", "merge_user_username=nobody"} {
			list := of(number).get("/merge_requests?scope=all&" + filter).array(t)
			assert.Len(t, list, items, "%s, since 17.0, at %s", filter, number)
		}
	}
	for number, shown := range map[string]bool{"15.8": false, "15.9": true} {
		c := of(number)
		c.send("POST", "/user/emails", "email=new@example.com")
		_, found := c.get("/audit_events").array(t)[0]["details"].(map[string]any)["author_email"]
		assert.Equal(t, shown, found, "a key since 15.9 at %s", number)
	}
	for number, changed := range map[string]bool{"17.0": false, "17.1": true} {
		for _, path := range []string{"/groups/group", "/projects/1"} {
			path += "/merge_request_approval_setting"
			r := of(number).send("PUT", path, "require_reauthentication_to_approve=true&allow_author_approval=false")
			assert.Equal(t, "false", setting(t, r, "allow_author_approval"))
			assert.Equal(t, fmt.Sprint(changed), setting(t, r, "require_reauthentication_to_approve"), "a parameter since 17.1 at %s", number)
		}
	}
	for number, status := range map[string]int{"17.1": 400, "17.2": 200} {
		assert.Equal(t, status, of(number).get("/merge_requests?order_by=merged_at").Status, "a value since 17.2 at %s", number)
	}
	assert.PanicsWithValue(t, `forgetest: WithRelease: "new" is not a release such as 16.4`, func() { WithRelease("new") })
	assert.Panics(t, func() { WithRelease("17") })
}

// Older releases differ in more than the fields, parameters and endpoints that they lack.
func TestOlderReleases(t *testing.T) {
	of := func(number string) caller {
		s := New(t, WithRelease(number))
		p := s.AddProject("group/app")
		p.AddFiles(map[string]string{"README.md": "x\n"})
		p.AddCommit(Change{Branch: "side", Files: map[string]string{"side.txt": "s\n"}})
		p.MoveTo("group/new")
		return newCaller(t, s)
	}
	for number, status := range map[string]int{"17.6": 200, "17.7": 404, "18.0": 404} {
		for _, path := range []string{"nowhere", "README.md", "nowhere&pagination=keyset"} {
			r := of(number).get("/projects/1/repository/tree?path=" + path)
			assert.Equal(t, status, r.Status, "%s: a missing path is 404 since 17.7: %s", number, path)
			if status == 200 {
				assert.Equal(t, "[]", r.Body)
			}
		}
		assert.Equal(t, 404, of(number).get("/projects/1/repository/tree?ref=nowhere").Status)
	}
	for number, status := range map[string]int{"16.3": 404, "16.4": 301, "16.7": 301} {
		assert.Equal(t, status, of(number).get("/projects/group%2Fapp/repository/tree").Status, "%s: redirects came with 16.4", number)
	}
	for number, labelled := range map[string]bool{"16.4": false, "16.5": true} {
		body := of(number).get("/projects/1/repository/compare?from=main&to=side&unidiff=true").Body
		assert.Equal(t, labelled, strings.Contains(body, "+++ b/side.txt"), "unidiff came with 16.5: %s", number)
	}
}

// A field of a tier or an offering is not in responses of another tier or offering (Document 1 §1).
func TestFieldsOfAPlatform(t *testing.T) {
	type platform struct {
		tier     Tier
		offering Offering
	}
	seen := map[platform]map[string]bool{}
	for _, tier := range []Tier{Free, Premium, Ultimate} {
		for _, offering := range []Offering{Hosted, SelfManaged, Dedicated} {
			s := contractServer(t, WithTier(tier), WithOffering(offering))
			found := sight{}
			for _, x := range examples() {
				e := specified(t).endpoints[routeOf(x.id)]
				r := x.send(t, s, e)
				shape := specified(t).shapes[e.Response.Type]
				if r.Status >= 300 || shape == nil || e.Response.Kind != "object" && e.Response.Kind != "array" {
					continue
				}
				items := []json.RawMessage{json.RawMessage(r.Body)}
				if e.Response.Kind == "array" {
					require.NoError(t, json.Unmarshal([]byte(r.Body), &items))
				}
				for _, item := range items {
					found.lacks(shape, e.view(), item, "")
				}
			}
			seen[platform{tier, offering}] = found
		}
	}
	limited := 0
	for name, shape := range specified(t).shapes {
		for _, f := range shape.fields {
			if f.Only == nil || len(f.Only.Tiers)+len(f.Only.Offerings) == 0 || !seen[platform{Ultimate, SelfManaged}][name+"."+f.Name] && !seen[platform{Ultimate, Hosted}][name+"."+f.Name] {
				continue
			}
			limited++
			for p, found := range seen {
				sold := (len(f.Only.Tiers) == 0 || slices.Contains(f.Only.Tiers, p.tier)) && (len(f.Only.Offerings) == 0 || slices.Contains(f.Only.Offerings, p.offering))
				assert.False(t, found[name+"."+f.Name] && !sold, "%s.%s on %v", name, f.Name, p)
			}
		}
	}
	assert.Greater(t, limited, 30)
}
