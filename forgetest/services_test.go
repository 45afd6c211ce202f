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

// The lists of Document 2 have pages of 20 items, and page=1 is the first page.
func TestListsHavePages(t *testing.T) {
	const n = 25
	s := New(t)
	p := s.AddProject("group/app")
	p.AddFiles(map[string]string{"a.txt": "a\n"})
	p.AddCommit(Change{Branch: "change", Files: map[string]string{"b.txt": "0\n"}})
	issue := p.AddIssue(nil)
	runner := p.AddRunner(nil)
	first := p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "change") })
	last := p.AddMergeRequest(nil)
	for i := range n {
		mr := p.AddMergeRequest(nil)
		first.AddBlocker(mr)
		mr.AddBlocker(last)
		issue.Relate(mr)
		s.Root().AddEmail(fmt.Sprintf("root%d@example.com", i))
		runner.AddManager(fmt.Sprint("s_", i), nil)
		runner.AddJob(p, "s_1", nil)
		s.AddRunner(nil)
		first.Push(Change{Files: map[string]string{"b.txt": fmt.Sprintln(i + 1)}})
	}
	c := newCaller(t, s)
	for path, total := range map[string]int{
		"/projects/1/merge_requests":                   n + 2,
		"/merge_requests":                              n + 2,
		"/projects/1/issues/1/related_merge_requests":  n,
		"/projects/1/merge_requests/1/blocks":          n,
		"/projects/1/merge_requests/2/blockees":        n,
		"/projects/1/merge_requests/1/versions":        n + 1,
		"/user/emails":                                 n + 1,
		"/users/1/emails":                              n + 1,
		"/runners":                                     n + 1,
		"/runners/all":                                 n + 1,
		fmt.Sprintf("/runners/%d/jobs", runner.ID):     n,
		fmt.Sprintf("/runners/%d/managers", runner.ID): n,
		"/projects/1/runners":                          n + 1,
	} {
		r := c.get(path)
		assert.Len(t, r.array(t), 20, path)
		assert.Equal(t, []string{"1", "20", fmt.Sprint(total), "2"}, []string{
			r.Header.Get("X-Page"), r.Header.Get("X-Per-Page"), r.Header.Get("X-Total"), r.Header.Get("X-Next-Page"),
		}, path)
		whole := c.get(path+"?per_page=100").column(t, "id")
		assert.Len(t, whole, total, path)
		walked, pages := c.walk(path+"?per_page=7", "id")
		assert.Equal(t, whole, walked, path)
		assert.Equal(t, 4, pages, path)
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

// Filters of Document 2 §4.1.1 that the tables of the lists do not have.
func TestIssueExclusions(t *testing.T) {
	for list, cases := range map[string][]filterCase{
		"/issues": {
			{"not[iteration_id]=3", []int{10, 9, 7, 6, 5, 4, 3, 2, 1}},
			{"not[author_id]=2", []int{10, 9, 8, 7, 6, 5, 2, 1}},
			{"not[author_username]=jane", []int{10, 9, 8, 7, 6, 5, 2, 1}},
		},
		"/groups/group/issues": {
			{"not[author_id]=1", []int{4, 3}},
			{"not[author_id]=2", []int{10, 9, 8, 7, 6, 5, 2, 1}},
			{"not[author_username]=jane", []int{10, 9, 8, 7, 6, 5, 2, 1}},
			{"not[assignee_id]=2", []int{10, 9, 8, 7, 6, 4, 3, 2, 1}},
			{"not[assignee_id]=3", []int{10, 9, 8, 7, 6, 3, 2, 1}},
			{"not[assignee_username]=jane", []int{10, 9, 8, 7, 6, 4, 3, 2, 1}},
		},
	} {
		checkFiltersOf(t, list, cases)
	}
}

// Archived projects are in no list of issues, unless non_archived is false.
func TestNonArchived(t *testing.T) {
	_, c := filterWorld(t)
	for _, list := range []string{"/issues?scope=all&per_page=100", "/groups/group/issues?per_page=100"} {
		assert.NotContains(t, c.get(list).column(t, "title"), "Archived", list)
		assert.NotContains(t, c.get(list+"&non_archived=true").column(t, "title"), "Archived", list)
		assert.Contains(t, c.get(list+"&non_archived=false").column(t, "title"), "Archived", list)
	}
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
