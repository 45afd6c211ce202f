package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file check the common rules of Document 2 for all issue, merge request, user
// and runner calls: private projects, pages, and undocumented operations.

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
	s := contractServer(t)
	s.AddProject("group/app").visibility = Private
	s.AddGroup("group", Private)
	member := s.AddUser("member")
	s.AddGroup("group").AddMember(member, Maintainer)
	c := newCaller(t, s)
	nobody := c.as(s.AddUser("nobody").Token)
	calls := privateCalls()
	require.Len(t, calls, 23)
	for _, x := range calls {
		method, _, _ := strings.Cut(routeOf(x.id), " ")
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
			assert.Equal(t, status, c.send(method, path, "").Status, call)
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
	for _, call := range []string{
		"DELETE /projects/1/merge_requests/1/blocks/%s", "DELETE /users/2/emails/%s", "DELETE /users/%s/emails/3", "DELETE /user/emails/%s",
		"GET /users/%s/emails", "GET /user/emails/%s", "GET /users/%s", "GET /runners/%s", "GET /projects/1/merge_requests/%s/versions",
	} {
		method, path, _ := strings.Cut(call, " ")
		for id, want := range map[string]int{"x": 400, "1.5": 400, "1x": 400, "999": 404} {
			assert.Equal(t, want, c.send(method, fmt.Sprintf(path, id), "").Status, "%s %s", call, id)
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
	}
}

// A tier without epics rejects the promotion, and the issue stays open.
func TestPromotionNeedsATier(t *testing.T) {
	for tier, want := range map[Tier]int{Free: 403, Premium: 201, Ultimate: 201} {
		s := New(t, WithTier(tier))
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
		e := specified(t).endpoints[routeOf(x.id)]
		rest, ofProject := strings.CutPrefix(x.path, "/projects/group%2Fapp")
		if !ofProject || e.Method != "GET" {
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
