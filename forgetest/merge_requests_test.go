package forgetest

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeRequestFilters(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p, secret := s.AddProject("group/app"), s.AddProject("group/secret", Private)
	jane, tom := s.AddUser("jane"), s.AddUser("tom")
	milestone := p.AddMilestone("1.0", time.Time{}, time.Time{})
	day := func(n int) time.Time { return time.Date(2026, 1, n, 0, 0, 0, 0, time.UTC) }
	one := p.AddMergeRequest(func(d *Document) {
		d.Set("title", "Needle one").Set("author", jane).Set("assignees", []*User{tom}).Set("reviewers", []*User{jane}).
			Set("labels", []string{"bug", "p1"}).Set("milestone", milestone).Set("draft", true).
			Set("created_at", day(1)).Set("updated_at", day(10)).Set("source_branch", "left").Set("target_branch", "stable")
	})
	two := p.AddMergeRequest(func(d *Document) {
		d.Set("title", "Two").Set("description", "a needle").Set("state", "merged").Set("merge_user", tom).Set("merged_at", day(20)).
			Set("labels", []string{"bug"}).Set("created_at", day(2)).Set("updated_at", day(9))
	})
	p.AddMergeRequest(func(d *Document) {
		d.Set("title", "A third").Set("state", "closed").Set("created_at", day(3)).Set("updated_at", day(8))
	})
	secret.AddMergeRequest(func(d *Document) {
		d.Set("title", "Hidden").Set("state", "locked").Set("author", jane).Set("created_at", day(4))
	})
	one.Approve(jane, tom)
	two.Approve(jane)
	two.AddApprovers(tom)
	one.AddAwardEmoji(s.Root(), "rocket")
	two.AddAwardEmoji(jane, "tada")
	two.Deploy("production")
	c := newCaller(t, s)
	for query, want := range map[string][]any{
		"":               {4.0, 3.0, 2.0, 1.0},
		"sort=asc":       {1.0, 2.0, 3.0, 4.0},
		"order_by=title": {2.0, 1.0, 4.0, 3.0},
		"order_by=updated_at&state=all&labels=Any":           {1.0, 2.0},
		"order_by=merged_at":                                 {2.0, 4.0, 3.0, 1.0},
		"approved_by_ids[]=2":                                {2.0, 1.0},
		"approved_by_ids[]=2&approved_by_ids[]=3":            {1.0},
		"approved_by_ids=None":                               {4.0, 3.0},
		"approved_by_ids=Any":                                {2.0, 1.0},
		"approver_ids[]=3":                                   {2.0},
		"approver_ids=None":                                  {4.0, 3.0, 1.0},
		"approver_ids=Any":                                   {2.0},
		"assignee_id=3":                                      {1.0},
		"assignee_id=None":                                   {4.0, 3.0, 2.0},
		"assignee_id=Any":                                    {1.0},
		"not[assignee_id]=3":                                 {4.0, 3.0, 2.0},
		"not[author_id]=2":                                   {3.0, 2.0},
		"author_id=2":                                        {4.0, 1.0},
		"author_username=jane":                               {4.0, 1.0},
		"not[author_username]=jane":                          {3.0, 2.0},
		"created_after=2026-01-03":                           {4.0, 3.0},
		"created_before=2026-01-02":                          {2.0, 1.0},
		"updated_after=2026-01-09&updated_before=2026-01-09": {2.0},
		"environment=production":                             {2.0},
		"deployed_after=" + url.QueryEscape(noon().Format(time.RFC3339)): {2.0},
		"deployed_after=2026-03-04T12:00:01Z":                            {},
		"deployed_before=2026-03-04T12:00:00Z":                           {2.0},
		"deployed_before=2025-01-01T00:00:00Z":                           {},
		"labels=bug":                                                     {2.0, 1.0},
		"labels=bug,p1":                                                  {1.0},
		"labels=None":                                                    {4.0, 3.0},
		"not[labels]=p1":                                                 {4.0, 3.0, 2.0},
		"merge_user_id=3":                                                {2.0},
		"merge_user_username=tom":                                        {2.0},
		"milestone=1.0":                                                  {1.0},
		"milestone=None":                                                 {4.0, 3.0, 2.0},
		"not[milestone]=1.0":                                             {4.0, 3.0, 2.0},
		"my_reaction_emoji=rocket":                                       {1.0},
		"my_reaction_emoji=None":                                         {4.0, 3.0, 2.0},
		"my_reaction_emoji=Any":                                          {1.0},
		"my_reaction_emoji=tada":                                         {}, // of another user
		"not[my_reaction_emoji]=tada":                                    {4.0, 3.0, 2.0, 1.0},
		"not[my_reaction_emoji]=rocket":                                  {4.0, 3.0, 2.0},
		"reviewer_id=2":                                                  {1.0},
		"reviewer_id=Any":                                                {1.0},
		"reviewer_id=None":                                               {4.0, 3.0, 2.0},
		"reviewer_username=jane":                                         {1.0},
		"not[reviewer_id]=2":                                             {4.0, 3.0, 2.0},
		"not[assignee_username]=tom":                                     {4.0, 3.0, 2.0},
		"search=needle":                                                  {2.0, 1.0},
		"search=needle&in=title":                                         {1.0},
		"search=needle&in=description":                                   {2.0},
		"source_branch=left":                                             {1.0},
		"target_branch=main":                                             {4.0, 3.0, 2.0},
		"state=merged":                                                   {2.0},
		"state=opened":                                                   {1.0},
		"state=closed":                                                   {3.0},
		"state=locked":                                                   {4.0},
		"wip=yes":                                                        {1.0},
		"wip=no":                                                         {4.0, 3.0, 2.0},
		"scope=assigned_to_me":                                           {},
	} {
		if query == "scope=assigned_to_me" {
			assert.Equal(t, []any{1.0}, c.as(tom.Token).get("/merge_requests?"+query).column(t, "id"))
			continue
		}
		r := c.get("/merge_requests?scope=all&" + query)
		assert.Equal(t, want, r.column(t, "id"), query)
		if strings.Contains(query, "deployed_") || strings.Contains(query, "merged_at") {
			continue // a parameter of the global list only
		}
		want = slices.DeleteFunc(want, func(id any) bool { return id == 4.0 }) // of the other project
		r = c.get("/projects/group%2Fapp/merge_requests?" + query)
		assert.Equal(t, want, r.column(t, "id"), "in the project: %s", query)
	}
	assert.Equal(t, []any{3.0, 2.0}, c.get("/merge_requests").column(t, "id")) // the caller's own
	for _, list := range []string{"/merge_requests?scope=", "/projects/group%2Fapp/merge_requests?scope="} {
		assert.Equal(t, []any{3.0, 2.0}, c.get(list+"created_by_me").column(t, "id"), list)
		assert.Equal(t, []any{1.0}, c.as(jane.Token).get(list+"created_by_me").column(t, "id"), list)
		for author, want := range map[string][]any{"": {1.0}, "&author_id=2": {1.0}, "&author_id=1": {}} {
			got := c.as(tom.Token).get(list+"assigned_to_me"+author).column(t, "id")
			assert.Equal(t, want, got, list+author)
		}
		assert.Equal(t, []any{3.0, 2.0, 1.0}, c.as(tom.Token).get(list+"all").column(t, "id"), list)
	}
}

func TestMergeRequestLists(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	jane := s.AddUser("jane")
	p.AddMergeRequests(3, func(i int, d *Document) { d.Set("author", jane).Set("labels", []string{"bug"}) })
	s.AddProject("group/secret", Private).AddMergeRequest(func(d *Document) { d.Set("author", jane) })
	c := newCaller(t, s)
	project := "/projects/group%2Fapp/merge_requests"
	assert.Equal(t, []any{3.0, 1.0}, c.get(project+"?iids[]=1&iids[]=3").column(t, "iid"))
	assert.Len(t, c.as("").get(project).array(t), 3) // scope has no default here
	assert.Equal(t, 401, c.as("").get("/merge_requests").Status)
	assert.Equal(t, []any{3.0, 2.0, 1.0}, c.as(jane.Token).get("/merge_requests").column(t, "id")) // without the project that she cannot see
	walked, pages := c.walk(project+"?per_page=2", "iid")
	assert.Equal(t, []any{3.0, 2.0, 1.0}, walked)
	assert.Equal(t, 2, pages)
	item := c.get(project).array(t)[0]
	keys(t, "MergeRequest", "list", item)
	assert.Equal(t, []any{"bug"}, item["labels"], "without details")
	assert.Equal(t, "!3", item["reference"])
	short := c.get(project + "?view=simple").array(t)[0]
	assert.ElementsMatch(t, strings.Fields("id iid project_id title description state created_at updated_at web_url"),
		slices.Collect(maps.Keys(short)))
	label := c.get(project + "?with_labels_details=true").array(t)[0]["labels"].([]any)[0]
	keys(t, "LabelDetails", "", label.(map[string]any))
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
	for _, list := range []string{project, "/merge_requests"} {
		for n, status := range map[int]int{5: 200, 6: 400} {
			query := strings.Repeat("approved_by_ids[]=2&", n)
			assert.Equal(t, status, c.get(list+"?"+query).Status, "%s: %d", list, n)
		}
	}
	free := New(t, WithTier(Free))
	free.AddProject("group/app").AddMergeRequest(nil)
	freely := newCaller(t, free).get("/merge_requests?approved_by_ids[]=99").array(t)
	require.Len(t, freely, 1) // a parameter of a higher tier is ignored
	assert.NotContains(t, freely[0], "approvals_before_merge")
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

func TestMergeRequestTransitions(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddMergeRequest(nil)
	c := newCaller(t, s)
	jane := c.as(s.AddUser("jane").Token)
	at := "/projects/group%2Fapp/merge_requests/1/"
	for _, step := range []struct {
		who    caller
		call   string
		status int
	}{
		{c, "unsubscribe", 304}, {c, "subscribe", 201}, {c, "subscribe", 304}, {jane, "unsubscribe", 304}, {jane, "subscribe", 201},
		{c, "unsubscribe", 201}, {c, "unsubscribe", 304}, {c, "todo", 201}, {c, "todo", 304}, {jane, "todo", 201}, {c.as(""), "todo", 401},
	} {
		r := step.who.post(at + step.call)
		assert.Equal(t, step.status, r.Status, step.call)
		if r.Status == 304 {
			assert.Empty(t, r.Body)
		}
	}
	s.AssertAppliedCount(t, "POST /projects/:id/merge_requests/:merge_request_iid/subscribe", 2)
	s.AssertAppliedCount(t, "POST /projects/:id/merge_requests/:merge_request_iid/todo", 2)
	assert.Equal(t, 404, c.post("/projects/1/merge_requests/2/subscribe").Status)
	for _, call := range []string{"subscribe", "unsubscribe"} {
		mr := c.post(at + call).object(t)
		keys(t, "MergeRequest", "single", mr)
		assertShown(t, mr, map[string]any{"iid": 1.0, "subscribed": call == "subscribe"})
	}
	todo := c.as(s.AddUser("tom").Token).post(at + "todo").object(t)
	keys(t, "Todo", "", todo)
	keys(t, "MergeRequest", "", todo["target"].(map[string]any))
	assert.Equal(t, "MergeRequest", todo["target_type"])
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
			keys(t, "MergeRequest", dependency, made["blocking_merge_request"].(map[string]any))
		}
	}
	assert.Equal(t, 400, c.send("POST", "/projects/1/merge_requests/2/blocks", "blocking_merge_request_id=1").Status) // a circle
	assert.Len(t, c.get(at).array(t), 2)
	visible := asDev.get(at).array(t)
	require.Len(t, visible, 1)
	assert.InDelta(t, 2, visible[0]["blocking_merge_request"].(map[string]any)["id"], 0)
	assert.Equal(t, false, visible[0]["blocking_merge_request"].(map[string]any)["author"].(map[string]any)["locked"])
	keys(t, "MergeRequestDependency", "", visible[0])
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
	keys(t, "DiffVersion", "list", versions[0])
	assert.Equal(t, head.ID, versions[0]["head_commit_sha"])
	assert.Equal(t, "collected", versions[0]["state"])
	assert.Len(t, versions[0]["patch_id_sha"], 40)
	assert.Equal(t, []any{"2", "1"}, c.get(at+"/versions").column(t, "real_size"))
	assert.Equal(t, []any{"2"}, c.get(at+"/versions?per_page=1").column(t, "real_size"))
	single := c.as("").get(at + "/versions/2").object(t)
	keys(t, "DiffVersion", "single", single)
	require.Len(t, single["commits"], 2)
	keys(t, "VersionCommit", "", single["commits"].([]any)[1].(map[string]any))
	require.Len(t, single["diffs"], 2)
	keys(t, "VersionDiff", "", single["diffs"].([]any)[0].(map[string]any))
	assert.Equal(t, "@@ -1 +1 @@\n-one\n+two\n", single["diffs"].([]any)[0].(map[string]any)["diff"])
	unidiff := c.get(at + "/versions/2?unidiff=true").object(t)["diffs"].([]any)[0].(map[string]any)["diff"]
	assert.Equal(t, "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n", unidiff)
	assert.Equal(t, 404, c.get(at+"/versions/3").Status)
	assert.Equal(t, 400, c.get(at+"/versions/x").Status)
	assert.Empty(t, c.get("/projects/1/merge_requests/2/versions").array(t))

	changes := c.get(at + "/changes").object(t)
	keys(t, "MergeRequestChanges", "", changes)
	assert.Equal(t, "2", changes["changes_count"])
	assert.Equal(t, head.ID, changes["diff_refs"].(map[string]any)["head_sha"])
	assert.Len(t, changes["changes"], 2)
	assert.Equal(t, false, changes["overflow"])

	files := map[string]string{}
	for i := range changedFiles + 1 {
		files[fmt.Sprintf("many/%03d.txt", i)] = "x\n"
	}
	mr.Push(Change{Files: files})
	many := c.get(at + "/changes").object(t)
	assert.Equal(t, true, many["overflow"])
	assert.Len(t, many["changes"], changedFiles)
	raw := c.get(at + "/changes?access_raw_diffs=true").object(t)
	assert.Equal(t, false, raw["overflow"])
	assert.Len(t, raw["changes"], changedFiles+3)
	assert.Equal(t, int64(0), mr.Get("upvotes"))
}
