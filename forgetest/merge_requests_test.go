package forgetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleMergeRequest is the part of contractServer for merge requests. It returns the first one.
func sampleMergeRequest(app *Project, jane *User) *MergeRequest {
	fill := func(d *Document) {
		d.Set("source_branch", "change").Set("description", "- [x] done").Set("assignees", []*User{jane}).Set("merge_user", jane).
			Set("labels", []string{"bug"}).Set("reviewers", []*User{jane}).
			Set("pipeline", NewDocument("MergeRequestPipeline").Set("id", 1))
	}
	first := app.AddMergeRequest(fill)
	first.AddBlocker(app.AddMergeRequest(fill))
	app.AddMergeRequest(fill)
	return first
}

// The models of internal/contractmodel prove the filters. This test has what they accept in several
// readings, because the documents leave it open.
func TestOpenMergeRequestFilters(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p, jane, tom := s.AddProject("group/app"), s.AddUser("jane"), s.AddUser("tom")
	one := p.AddMergeRequest(func(d *Document) { d.Set("title", "Fix this needle").Set("created_at", day(1)) })
	one.AddApprovers(jane, tom)
	one.Deploy("production")
	one.Approve(jane)
	p.AddMergeRequest(func(d *Document) { d.Set("title", "A").Set("created_at", day(3)) }).AddApprovers(tom)
	c := newCaller(t, s)
	for query, want := range map[string][]any{
		"approver_ids[]=2&approver_ids[]=3": {1.0}, "approved_by_ids[]=2": {1.0}, "order_by=title": {1.0, 2.0}, "order_by=title&sort=asc": {2.0, 1.0}, "created_after=2026-03-03": {2.0}, "search=needle+fix": {1.0}, "deployed_after=2026-03-04T12:00:00Z": {1.0},
		"deployed_before=2026-03-04T12:00:00Z&environment=production": {1.0}, "deployed_after=2026-03-04T12:00:01Z": {}, "reviewer_username=None": {2.0, 1.0},
	} {
		assert.Equal(t, want, c.get("/merge_requests?"+query).column(t, "id"), query)
	}
}

func TestMergeRequestLists(t *testing.T) {
	s := New(t, WithRelease("18.2"))
	p := s.AddProject("group/app")
	p.AddMergeRequests(3, nil)
	c := newCaller(t, s)
	project := "/projects/group%2Fapp/merge_requests"
	short := c.get(project + "?view=simple").array(t)[0]
	assert.ElementsMatch(t, strings.Fields("id iid project_id title description state created_at updated_at web_url"),
		slices.Collect(maps.Keys(short)))
	for query, body := range map[string]string{
		"author_id=1&author_username=x":           `{"error":"author_id, author_username are mutually exclusive"}`,
		"reviewer_id=1&reviewer_username=x":       `{"error":"reviewer_id, reviewer_username are mutually exclusive"}`,
		"merge_user_id=1&merge_user_username=x":   `{"error":"merge_user_id, merge_user_username are mutually exclusive"}`,
		"wip=true":                                `{"error":"wip does not have a valid value"}`,
		"state=open":                              `{"error":"state does not have a valid value"}`,
		"view=full":                               `{"error":"view does not have a valid value"}`,
		"order_by=merged_at":                      `{"error":"order_by does not have a valid value"}`,
		strings.Repeat("approved_by_ids[]=2&", 6): `{"error":"approved_by_ids has more than 5 values"}`,
	} {
		r := c.get(project + "?" + query)
		assert.Equal(t, 400, r.Status, query)
		assert.Equal(t, body, r.Body)
	}
	assert.Equal(t, 200, c.get(project+"?"+strings.Repeat("approved_by_ids[]=2&", 5)).Status)
}

func TestMergeStatusRecheck(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	unchecked := func(d *Document) { d.Set("merge_status", "unchecked").Set("detailed_merge_status", "unchecked") }
	p.AddMergeRequest(unchecked)
	p.AddMergeRequest(func(d *Document) { unchecked(d); d.Set("has_conflicts", true) })
	reporter := s.AddUser("reporter")
	p.AddMember(reporter, Reporter)
	c := newCaller(t, s)
	list := "/projects/1/merge_requests?with_merge_status_recheck=true"
	for _, plain := range []string{"/projects/1/merge_requests", "/merge_requests", "/merge_requests?with_merge_status_recheck=false"} {
		assert.Equal(t, []any{"unchecked", "unchecked"}, c.get(plain).column(t, "merge_status"))
		s.FinishBackgroundJobs() // a list without the parameter does not recalculate
	}
	assert.Equal(t, 200, c.as(reporter.Token).get(list).Status)
	s.FinishBackgroundJobs()
	developer := s.AddUser("developer")
	p.AddMember(developer, Developer)
	assert.Equal(t, []any{"unchecked", "unchecked"}, c.as(developer.Token).get(list).column(t, "merge_status"))
	s.FinishBackgroundJobs()
	assert.Equal(t, []any{"cannot_be_merged", "can_be_merged"}, c.get(list).column(t, "merge_status"))
	p.AddMergeRequest(unchecked)
	global := "/merge_requests?scope=all&with_merge_status_recheck=true"
	assert.Equal(t, "unchecked", c.get(global).column(t, "merge_status")[0])
	s.FinishBackgroundJobs()
	assert.Equal(t, "can_be_merged", c.get(global).column(t, "merge_status")[0])
	p.AddMergeRequest(func(d *Document) { unchecked(d); d.Set("state", "closed") })
	assert.Equal(t, 200, c.get(list).Status)
	s.FinishBackgroundJobs()
	assert.Equal(t, "unchecked", c.get(list).column(t, "merge_status")[0], "one that is not open")
}

func TestBlocks(t *testing.T) {
	s := New(t)
	p, secret := s.AddProject("group/app"), s.AddProject("group/secret", Private)
	p.AddMergeRequests(2, nil)
	hidden := secret.AddMergeRequest(nil)
	dev := s.AddUser("dev")
	p.AddMember(dev, Developer)
	c := newCaller(t, s)
	asDev, guest := c.as(dev.Token), c.as(s.AddUser("guest").Token)
	at := "/projects/group%2Fapp/merge_requests/1/blocks"
	for _, tc := range []struct {
		who    caller
		form   string
		status int
	}{
		{asDev, "", 400}, {asDev, "blocking_merge_request_id=x", 400}, {asDev, "blocking_merge_request_id=99", 404},
		{asDev, fmt.Sprint("blocking_merge_request_id=", hidden.ID), 403}, {guest, "blocking_merge_request_id=2", 403},
		{asDev, "blocking_merge_request_id=1", 400}, {asDev, "blocking_merge_request_id=2", 201}, {asDev, "blocking_merge_request_id=2", 409},
		{c, fmt.Sprint("blocking_merge_request_id=", hidden.ID), 201},
	} {
		r := tc.who.send("POST", at, tc.form)
		assert.Equal(t, tc.status, r.Status, "%s %s", tc.form, r.Body)
		if r.Status == 201 {
			made := r.object(t)
			assert.NotContains(t, made, "blocked_merge_request", "lists have it")
			assert.ElementsMatch(t, []string{"id", "project_id", "blocking_merge_request"}, slices.Collect(maps.Keys(made)))
		}
	}
	assert.Equal(t, 400, c.send("POST", "/projects/1/merge_requests/2/blocks", "blocking_merge_request_id=1").Status) // a circle
	assert.Len(t, c.get(at).array(t), 2)
	visible := asDev.get(at).array(t)
	require.Len(t, visible, 1)
	assert.InDelta(t, 2, visible[0]["blocking_merge_request"].(map[string]any)["id"], 0)
	assert.Equal(t, false, visible[0]["blocking_merge_request"].(map[string]any)["author"].(map[string]any)["locked"])
	blockees := c.get("/projects/1/merge_requests/2/blockees").array(t)
	require.Len(t, blockees, 1)
	assert.InDelta(t, 1, blockees[0]["blocked_merge_request"].(map[string]any)["id"], 0)
	assert.Empty(t, c.get("/projects/1/merge_requests/1/blockees").array(t))

	assert.Equal(t, 403, guest.send("DELETE", at+"/1", "").Status)
	assert.Equal(t, 403, asDev.send("DELETE", at+"/2", "").Status) // cannot read the blocking one
	gone := asDev.send("DELETE", at+"/1", "")
	assert.Equal(t, 204, gone.Status)
	assert.Empty(t, gone.Body)
	assert.Equal(t, 404, asDev.send("DELETE", at+"/1", "").Status)
	assert.Len(t, c.get(at).array(t), 1)
}

// The author may update a merge request and its blocks with every role in the project.
func TestAuthorsMayBlock(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app", Private)
	author, other := s.AddUser("author"), s.AddUser("other")
	for _, u := range []*User{author, other} {
		p.AddMember(u, Guest)
	}
	p.AddMergeRequest(func(d *Document) { d.Set("author", author) })
	p.AddMergeRequest(nil)
	c := newCaller(t, s)
	for _, step := range []struct {
		who          *User
		method, path string
		status       int
	}{
		{other, "POST", "1/blocks?blocking_merge_request_id=2", 403}, {author, "POST", "1/blocks?blocking_merge_request_id=2", 201},
		{author, "POST", "2/blocks?blocking_merge_request_id=1", 403}, {other, "DELETE", "1/blocks/1", 403}, {author, "DELETE", "1/blocks/1", 204},
	} {
		r := c.as(step.who.Token).send(step.method, "/projects/1/merge_requests/"+step.path, "")
		assert.Equal(t, step.status, r.Status, "%s %s %s", step.who.Username, step.method, step.path)
	}
}

// Since 16.5, diffs have headers with unidiff; older releases ignore it for changes.
func TestUnidiffOfChanges(t *testing.T) {
	for release, known := range map[string]bool{"16.4": false, "16.5": true, "18.0": true} {
		s := New(t, WithRelease(release))
		p := s.AddProject("group/app")
		p.AddFiles(map[string]string{"a.txt": "one\n"})
		p.AddCommit(Change{Branch: "change", Files: map[string]string{"a.txt": "two\n"}})
		p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "change") })
		const plain, head = "@@ -1 +1 @@\n-one\n+two\n", "--- a/a.txt\n+++ b/a.txt\n"
		for query, want := range map[string]string{
			"": plain, "?unidiff=false": plain, "?unidiff=true": map[bool]string{true: head}[known] + plain,
		} {
			r := newCaller(t, s).get("/projects/1/merge_requests/1/changes" + query)
			assert.Equal(t, want, below(t, r, "changes.0")["diff"], "%s at %s", query, release)
		}
	}
}

func TestVersionsAndChanges(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddFiles(map[string]string{"a.txt": "one\n"})
	p.AddCommit(Change{Branch: "change", Files: map[string]string{"a.txt": "two\n"}, Message: "Change a\n\nSigned-off-by: Root"})
	mr := p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "change") })
	p.AddMergeRequest(nil) // without branches
	head := mr.Push(Change{Files: map[string]string{"b.txt": "b\n"}})
	c := newCaller(t, s)
	at := "/projects/group%2Fapp/merge_requests/1"
	versions := c.get(at + "/versions").array(t)
	require.Len(t, versions, 2)
	assert.Equal(t, "collected", versions[0]["state"])
	assert.Len(t, versions[0]["patch_id_sha"], 40)
	assert.Equal(t, []any{"2", "1"}, c.get(at+"/versions").column(t, "real_size"))
	assert.Equal(t, []any{"2"}, c.get(at+"/versions?per_page=1").column(t, "real_size"))
	unidiff := c.get(at + "/versions/2?unidiff=true").object(t)["diffs"].([]any)[0].(map[string]any)["diff"]
	assert.Equal(t, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n", unidiff)
	assert.Equal(t, 404, c.get(at+"/versions/3").Status)
	assert.Equal(t, 400, c.get(at+"/versions/x").Status)
	assert.Empty(t, c.get("/projects/1/merge_requests/2/versions").array(t))

	changes := c.get(at + "/changes").object(t)
	assert.Equal(t, "2", changes["changes_count"])
	assert.Equal(t, head.ID, changes["diff_refs"].(map[string]any)["head_sha"])
	assert.Len(t, changes["changes"], 2)
	assert.Equal(t, false, changes["overflow"])

	files := map[string]string{}
	for i := range changedFiles - 2 {
		files[fmt.Sprintf("many/%03d.txt", i)] = "x\n"
	}
	mr.Push(Change{Files: files})
	full := c.get(at + "/changes").object(t)
	assert.Equal(t, []any{false, "100"}, []any{full["overflow"], full["changes_count"]})
	mr.Push(Change{Files: map[string]string{"one.txt": "x\n"}})
	many := c.get(at + "/changes").object(t)
	assert.Equal(t, []any{true, "100+"}, []any{many["overflow"], many["changes_count"]})
	assert.Len(t, many["changes"], changedFiles)
	raw := c.get(at + "/changes?access_raw_diffs=true").object(t)
	assert.Equal(t, false, raw["overflow"])
	assert.Len(t, raw["changes"], changedFiles+1)
	mr.Push(Change{Delete: slices.Collect(maps.Keys(files)), Files: map[string]string{"large": strings.Repeat("x", maxDiffed), "larger": strings.Repeat("x", maxDiffed+1)}})
	for query, want := range map[string][]any{"": {true, false, true}, "?access_raw_diffs=true": {false, false, false}} { // the second of four files, and the third
		large := c.get(at + "/changes" + query).object(t)
		assert.Equal(t, want, []any{large["overflow"], large["changes"].([]any)[2].(map[string]any)["too_large"], large["changes"].([]any)[3].(map[string]any)["too_large"]}, query)
	}
}
