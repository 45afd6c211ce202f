package forgetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"net/http"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A call without credentials is accepted if the catalogue allows it, except for the list of users:
// Document 2 requires a token for it, and only the table of Document 1 §8.1 does not.
func TestAnonymousMatchesCatalogue(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s).as("")
	for _, x := range examples() {
		e := x.endpoint
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
	checked := 0
	for _, platform := range []struct {
		options []Option
		refused []string
	}{
		{nil, []string{"registry.list_tags"}},
		{[]Option{WithOffering(Dedicated)}, []string{"registry.list_tags"}},
		{[]Option{WithOffering(Hosted)}, nil},
		{[]Option{WithOffering(Hosted), WithRelease("17.1")}, []string{"runners.list_jobs"}},
		{[]Option{WithOffering(Hosted), WithRelease("17.0")}, []string{"repositories.tree", "runners.list_jobs"}},
		{[]Option{WithOffering(Hosted), WithRelease("16.10")}, []string{"repositories.tree", "runners.list_jobs"}},
		{[]Option{WithOffering(Hosted), WithRelease("16.9")}, []string{"registry.list_tags", "repositories.tree", "runners.list_jobs"}},
		{[]Option{WithRelease("16.5")}, []string{"registry.list_tags", "repositories.tree", "runners.list_jobs"}},
		{[]Option{WithRelease("16.4")}, []string{"registry.list_tags", "repositories.tree", "runners.list_jobs", "users.list"}},
	} {
		s := contractServer(t, platform.options...)
		for _, x := range examples() {
			rule := x.Pagination
			if !rule.Keyset || !x.Only.available(s) {
				continue
			}
			path := x.path + "?"
			if rule.Order != nil {
				path += "order_by=" + rule.Order.OrderBy[0] + "&sort=" + rule.Order.Sort[0]
			}
			checked++
			got := newCaller(t, s).get(path + "&pagination=keyset")
			if slices.Contains(platform.refused, x.id) {
				assert.Equal(t, 405, got.Status, x.id)
				assert.JSONEq(t, `{"message":"405 Method Not Allowed"}`, got.Body)
			} else {
				assert.Equal(t, 200, got.Status, "%s: %s", x.id, got.Body)
			}
			assert.Equal(t, 200, newCaller(t, s).get(path).Status, x.id)
			// Document 1 §8.1 requires no token to list users, but Document 2 §4.3 does.
			assert.Equal(t, rule.Who == "both" && x.id != "users.list", x.accepts("none"), x.id)
		}
	}
	assert.Greater(t, checked, 40)
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
	for _, number := range []string{"new", "17.12", "18.-1", "19.6", "20.0"} {
		assert.PanicsWithValue(t, `forgetest: WithRelease: no release "`+number+`": known are 13.0 to 13.12, 14.0 to 14.10, 15.0 to 15.11, `+
			`16.0 to 16.11, 17.0 to 17.11, 18.0 to 18.11, 19.0 to 19.5`, func() { WithRelease(number) })
	}
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
				r, e := x.send(t, s), x.endpoint
				shape := catalogue().shapes[e.Response.Type]
				if r.Status >= 300 || shape == nil || e.Response.Kind != "object" && e.Response.Kind != "array" {
					continue
				}
				items := []json.RawMessage{json.RawMessage(r.Body)}
				if e.Response.Kind == "array" {
					require.NoError(t, json.Unmarshal([]byte(r.Body), &items))
				}
				for _, item := range items {
					found.lacks(shape, strings.Join(e.views(), ""), item, "")
				}
			}
			seen[platform{tier, offering}] = found
		}
	}
	limited := 0
	for name, shape := range catalogue().shapes {
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

// privateCalls returns the calls of issues, merge requests and runners with a project or a group in
// the path.
func privateCalls() (calls []example) {
	for _, x := range examples() {
		service, _, _ := strings.Cut(x.id, ".")
		named := strings.HasPrefix(x.path, "/projects/") || strings.HasPrefix(x.path, "/groups/")
		if named && slices.Contains([]string{"issues", "merge_requests", "runners"}, service) {
			calls = append(calls, x)
		}
	}
	return calls
}

// A private project or group is a 404 for readers without credentials and for users without a role
// in it. Users with a role and administrators find it. A write without credentials is a 401.
func TestPrivateProjects(t *testing.T) {
	s := contractServer(t, WithRelease("18.2"))
	s.AddProject("group/app").visibility = Private
	s.AddGroup("group", Private)
	member := s.AddUser("member")
	s.AddGroup("group").AddMember(member, Maintainer)
	c := newCaller(t, s)
	nobody := c.as(s.AddUser("nobody").Token)
	calls := privateCalls()
	require.GreaterOrEqual(t, len(calls), 23)
	for _, x := range calls {
		method := x.Method
		refused := map[bool]int{true: http.StatusNotFound, false: http.StatusUnauthorized}
		anonymous := c.as("").send(method, x.path, x.form).Status
		reads := method == "GET" && x.id != "runners.list_project" // it requires credentials
		assert.Equal(t, refused[reads], anonymous, "without credentials: %s", x.id)
		assert.Equal(t, 404, nobody.send(method, x.path, x.form).Status, "no member: %s", x.id)
		got := c.as(member.Token).send(method, x.path, x.form)
		assert.Contains(t, []int{200, 201, 204, 304}, got.Status, "a member: %s: %s", x.id, got.Body)
	}
	for _, list := range []string{"/issues?scope=all", "/merge_requests?scope=all"} {
		assert.Empty(t, nobody.get(list).array(t), list)
		assert.NotEmpty(t, c.as(member.Token).get(list).array(t), list)
		assert.Equal(t, 401, c.as("").get(list).Status, list)
	}
}

// The server has no routes or methods for operations that the documents do not show.
func TestOperationsNotShown(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	for status, calls := range map[int][]string{
		404: {
			"GET /projects/1/issues", "POST /projects/1/issues", "GET /projects/1/issues/1", "PUT /projects/1/issues/1", "DELETE /projects/1/issues/1",
			"POST /projects/1/issues/1/move", "GET /projects/1/merge_requests/1", "PUT /projects/1/merge_requests/1",
			"DELETE /projects/1/merge_requests/1", "PUT /projects/1/merge_requests/1/merge", "POST /projects/1/merge_requests/1/approve",
			"GET /projects/1/merge_requests/1/commits", "GET /projects/1/merge_requests/1/pipelines", "GET /projects/1/merge_requests/1/diffs",
			"GET /users/1/keys", "POST /users/1/block", "GET /users/1/status", "GET /user/status", "GET /groups/group/runners", "POST /user/runners",
			"POST /runners/1/reset_authentication_token",
		},
		405: {
			"POST /projects/1/merge_requests", "POST /users", "PUT /users/1", "DELETE /users/1", "POST /runners", "DELETE /runners",
			"DELETE /runners/1", "POST /projects/1/runners", "POST /runners/verify",
		},
	} {
		for _, call := range calls {
			method, path, _ := strings.Cut(call, " ")
			if known, _, _ := s.routes.find("api", method, path); known == nil { // deployed.json may have added it
				assert.Equal(t, status, c.send(method, path, "").Status, call)
			}
		}
	}
	for _, state := range []string{"issues", "merge_requests"} { // no call closes or reopens
		assert.Equal(t, []any{"opened"}, slices.Compact(c.get("/"+state).column(t, "state")))
	}
}

// An id in a path that is not an integer is a 400, and an integer without a record is a 404.
func TestPathIDsAreIntegers(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	for call, what := range map[string]string{
		"DELETE /projects/1/merge_requests/1/blocks/%s": "Block", "DELETE /users/2/emails/%s": "Email", "DELETE /users/%s/emails/3": "User",
		"DELETE /user/emails/%s": "Email", "GET /users/%s/emails": "User", "GET /user/emails/%s": "Email", "GET /users/%s": "User", "GET /runners/%s": "Runner",
		"GET /projects/1/merge_requests/%s/versions": "Merge Request",
	} {
		method, path, _ := strings.Cut(call, " ")
		for id, want := range map[string]int{"x": 400, "1.5": 400, "1x": 400, "999": 404} {
			r := c.send(method, fmt.Sprintf(path, id), "")
			assert.Equal(t, want, r.Status, "%s %s", call, id)
			assert.Equal(t, want == 404, r.Body == `{"message":"404 `+what+` Not Found"}`, r.Body)
		}
	}
	s.AddProject("group/deep/app").AddIssue(func(issue *Document) { issue.Set("title", "Deep down") })
	for _, path := range []string{"group", "group/deep"} { // the id or the path, of subgroups too
		for _, call := range []string{"/groups/%s/issues", "/groups/%s/placeholder_reassignments"} {
			byPath, byID := c.get(fmt.Sprintf(call, esc(path))), c.get(fmt.Sprintf(call, fmt.Sprint(s.store.findGroup(path).ID)))
			assert.Equal(t, 200, byPath.Status, path)
			assert.Equal(t, byPath.Body, byID.Body, path)
		}
	}
	assert.Equal(t, []any{"Deep down"}, c.get("/groups/group%2Fdeep/issues").column(t, "title"))
	assert.Equal(t, 404, c.get("/groups/999/issues").Status)
}

// health_status has its keywords since 15.5. Before, they are texts that no issue has.
func TestHealthStatusValues(t *testing.T) {
	for release, words := range map[string]bool{"15.4": false, "14.10": false, "15.5": true, "18.0": true} {
		s := New(t, WithRelease(release))
		p := s.AddProject("group/app")
		p.AddIssue(func(d *Document) { d.Set("health_status", "at_risk") })
		p.AddIssue(nil)
		c := newCaller(t, s)
		for word, want := range map[string][]any{"Any": {1.0}, "None": {2.0}, "any": {1.0}} {
			if !words {
				want = []any{}
			}
			assert.Equal(t, want, c.get("/issues?health_status="+word).column(t, "iid"), "%s at %s", word, release)
		}
		assert.Equal(t, []any{1.0}, c.get("/issues?health_status=at_risk").column(t, "iid"), release)
		assert.Len(t, c.get("/issues?assignee_id=None").array(t), 2, "a keyword of another parameter")
	}
}

// A tier without epics rejects the promotion, and the issue stays open.
func TestPromotionNeedsATier(t *testing.T) {
	for tier, want := range map[Tier]int{Free: 403, Premium: 201, Ultimate: 201} {
		s := New(t, WithTier(tier), WithRelease("18.2"))
		issue := s.AddProject("group/app").AddIssue(nil)
		r := newCaller(t, s).send("POST", "/projects/1/issues/1/notes", "body=/promote")
		assert.Equal(t, want, r.Status, tier)
		assert.Equal(t, map[bool]any{true: "closed", false: "opened"}[want == 201], issue.Get("state"), tier)
		assert.Equal(t, want == 201, issue.Get("epic") != nil, tier)
		assert.Equal(t, int64(0), issue.Get("user_notes_count"), tier)
	}
}

// An id is unique in the instance and an iid in one project. Paths use the iid (Document 1 §2.1
// rule 1).
func TestIDsAndIIDs(t *testing.T) {
	s := New(t)
	for _, path := range []string{"group/first", "group/second"} {
		p := s.AddProject(path)
		p.AddIssues(3, nil)
		p.AddMergeRequest(nil)
		p.AddMergeRequest(nil)
		p.AddResourceGroup("production").AddUpcomingJob(nil)
		p.AddSecureFile("a.txt", nil, nil)
		p.AddRegistryRepository("web")
		p.AddRunner(nil)
	}
	c := newCaller(t, s)
	for _, list := range []string{"resource_groups", "resource_groups/production/upcoming_jobs", "secure_files", "registry/repositories", "runners"} {
		first, second := c.get("/projects/1/" + list).array(t)[0]["id"], c.get("/projects/2/" + list).array(t)[0]["id"]
		assert.NotEqual(t, first, second, list)
	}
	for list, perProject := range map[string]int{"/issues?scope=all": 3, "/merge_requests?scope=all": 2} {
		ids, iids := map[any]bool{}, map[any]int{}
		records := c.get(list).array(t)
		assert.Len(t, records, 2*perProject)
		for _, record := range records {
			assert.False(t, ids[record["id"]], "%s: id %v is there twice", list, record["id"])
			ids[record["id"]] = true
			iids[record["iid"]]++
		}
		assert.Len(t, iids, perProject)
		for iid, projects := range iids {
			assert.Equal(t, 2, projects, "%s: iid %v", list, iid)
		}
	}
	for path, status := range map[string]int{"issues/1/time_stats": 200, "issues/6/time_stats": 404, "merge_requests/1/versions": 200, "merge_requests/4/versions": 404} {
		assert.Equal(t, status, c.get("/projects/2/"+path).Status, path) // 6 and 4 are ids
	}
	last := c.get("/issues?scope=all").array(t)[0]
	assert.Equal(t, []any{6.0, 3.0}, []any{last["id"], last["iid"]})
}

// Every endpoint accepts the id or the encoded path of a project (Document 1 §2.1 rule 2).
func TestEveryProjectByIDAndPath(t *testing.T) {
	s := contractServer(t)
	c := newCaller(t, s)
	checked := 0
	for _, x := range examples() {
		rest, ofProject := strings.CutPrefix(x.path, "/projects/group%2Fapp")
		if !ofProject || x.Method != "GET" {
			continue
		}
		checked++
		byPath, byID := c.get("/projects/group%2Fapp"+rest), c.get("/projects/1"+rest)
		assert.Equal(t, 200, byID.Status, x.id)
		assert.Equal(t, byPath.Body, byID.Body, x.id)
		assert.Equal(t, 404, c.get("/projects/group/app"+rest).Status, x.id)
		assert.Equal(t, 404, c.get("/projects/99"+rest).Status, x.id)
	}
	assert.Greater(t, checked, 25)
	for _, path := range []string{"group/deep/app", "root/own"} { // in a subgroup, and in the namespace of a user
		p := s.AddProject(path)
		p.AddResourceGroup(path)
		for _, rest := range []string{"/resource_groups", "/resource_groups/" + esc(path)} {
			byPath, byID := c.get("/projects/"+esc(path)+rest), c.get(fmt.Sprint("/projects/", p.ID, rest))
			assert.Equal(t, 200, byPath.Status, path)
			assert.Contains(t, byPath.Body, `"key":"`+path+`"`)
			assert.Equal(t, byPath.Body, byID.Body, path)
		}
	}
}

// The token of a project or a group belongs to a bot, which has a role only there (Document 1 §5
// rule 1).
func TestTokensOfProjectsAndGroups(t *testing.T) {
	s := New(t)
	app, other := s.AddProject("group/app", Private), s.AddProject("other/app", Private)
	for _, p := range []*Project{app, other} {
		p.AddIssue(nil)
		p.AddResourceGroup("production")
	}
	ofProject, ofGroup := s.AddBot("project_1_bot", ProjectBot), s.AddBot("group_1_bot", ProjectBot)
	app.AddMember(ofProject, Developer)
	s.AddGroup("group").AddMember(ofGroup, Maintainer)
	c := newCaller(t, s)
	for _, bot := range []*User{ofProject, ofGroup} {
		for path, status := range map[string]int{
			"/projects/1/resource_groups": 200, "/projects/1/issues/1/time_stats": 200, "/user": 200,
			"/projects/2/resource_groups": 404, "/projects/2/issues/1/time_stats": 404,
			"/groups/group/integrations": map[bool]int{true: 200, false: 403}[bot == ofGroup],
		} {
			assert.Equal(t, status, c.as("").with("GET", path, "PRIVATE-TOKEN", bot.Token).Status, "%s %s", bot.Username, path)
			assert.Equal(t, status, c.as("").with("GET", path, "Authorization", "Bearer "+bot.Token).Status, "%s %s", bot.Username, path)
		}
		assert.Len(t, c.as(bot.Token).get("/issues?scope=all").array(t), 1)
	}
}
