package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file check values of Document 2 §2: nullable fields, derived fields, and the
// fields of tiers and releases.

// at returns the value at a dotted path of an object: nil below null, and false if a key is absent.
func at(object map[string]any, path string) (value any, found bool) {
	value = object
	for name := range strings.SplitSeq(path, ".") {
		inner, isObject := value.(map[string]any)
		if !isObject {
			return nil, value == nil
		}
		if value, found = inner[name]; !found {
			return nil, false
		}
	}
	return value, true
}

// assertShown compares fields of an object.
func assertShown(t *testing.T, object map[string]any, want map[string]any) {
	t.Helper()
	for path, value := range want {
		got, found := at(object, path)
		assert.True(t, found, "%s is absent", path)
		assert.Equal(t, value, got, path)
	}
}

// A nullable field is null before it is set, and shown afterwards.
func TestNullableFields(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	jane := s.AddUser("jane").Edit(func(d *Document) {
		d.Set("avatar_url", "https://forge.example/jane.png").Set("created_by", s.Root())
	})
	const duplicate, then = "https://forge.example/api/v4/projects/1/issues/9", "2026-03-04T12:00:00.000Z"
	p.AddIssue(nil)
	p.AddIssue(func(d *Document) {
		d.Set("state", "closed").Set("closed_by", jane).Set("moved_to_id", 7).Set("author", jane).
			Set("_links.closed_as_duplicate_of", duplicate)
	})
	p.AddMergeRequest(func(d *Document) { d.Set("discussion_locked", nil).Set("should_remove_source_branch", nil) })
	p.AddMergeRequest(func(d *Document) { d.Set("discussion_locked", true).Set("should_remove_source_branch", true) })
	p.AddMergeRequest(nil)
	c := newCaller(t, s)
	issues := c.get("/issues?scope=all&sort=asc").array(t)
	assertShown(t, issues[0], map[string]any{
		"closed_at": nil, "closed_by": nil, "moved_to_id": nil, "assignee": nil, "author.avatar_url": nil,
		"_links.closed_as_duplicate_of": nil,
	})
	assertShown(t, issues[1], map[string]any{
		"closed_at": then, "closed_by.username": "jane", "moved_to_id": 7.0,
		"author.avatar_url": "https://forge.example/jane.png", "_links.closed_as_duplicate_of": duplicate,
	})
	requests := c.get("/merge_requests?sort=asc").array(t)
	for i, want := range []any{nil, true, false} {
		assertShown(t, requests[i], map[string]any{"discussion_locked": want, "should_remove_source_branch": want})
	}
	assertShown(t, c.get("/user").object(t), map[string]any{"created_by": nil, "avatar_url": nil})
	assertShown(t, c.as(jane.Token).get("/user").object(t), map[string]any{"created_by.username": "root"})
}

// assignee is the first of the assignees; null if there are none.
func TestFirstAssignee(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	both := []*User{s.AddUser("tom"), s.AddUser("jane")}
	fill := func(i int, d *Document) { d.Set("assignees", both[:i]) }
	p.AddIssues(3, fill)
	p.AddMergeRequests(3, fill)
	for _, path := range []string{"/issues?sort=asc", "/merge_requests?sort=asc"} {
		for i, item := range newCaller(t, s).get(path).array(t) {
			assignees := item["assignees"].([]any)
			require.Len(t, assignees, i, path)
			if i == 0 {
				assertShown(t, item, map[string]any{"assignee": nil})
				continue
			}
			assert.Equal(t, assignees[0], item["assignee"], path)
			assertShown(t, item, map[string]any{"assignee.username": "tom"})
		}
	}
}

// Derived fields of an issue, and fields that depend on the list.
func TestIssueValues(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) { d.Set("description", "Plain [x] text") })
	p.AddIssue(func(d *Document) {
		d.Set("issue_type", "incident").Set("description", "Do\n- [x] one\n* [ ] two\n  - [X] three\n").
			Set("epic", NewDocument("Epic").Set("id", 70).Set("iid", 7))
	})
	c := newCaller(t, s)
	issues := c.get("/issues?sort=asc").array(t)
	assertShown(t, issues[0], map[string]any{
		"type": "ISSUE", "has_tasks": false, "task_completion_status.count": 0.0, "task_completion_status.completed_count": 0.0,
		"epic_iid": nil, "references.relative": "group/app#1",
		"severity": "UNKNOWN", "imported": false, "imported_from": "none",
	})
	assertShown(t, issues[1], map[string]any{
		"type": "INCIDENT", "has_tasks": true, "task_completion_status.count": 3.0, "task_completion_status.completed_count": 2.0,
		"task_status": "2 of 3 checklist items completed", "epic_iid": 7.0, "epic.iid": 7.0,
	})
	subscribed := c.post("/projects/1/issues/2/subscribe").object(t)
	assertShown(t, subscribed, map[string]any{"references.short": "#2", "references.relative": "#2", "references.full": "group/app#2"})
	assert.Equal(t, "group/app#2", c.get("/issues").array(t)[0]["references"].(map[string]any)["relative"])
	assert.Equal(t, "app#2", c.get("/groups/group/issues").array(t)[0]["references"].(map[string]any)["relative"])
	for _, kind := range []string{"issue", "incident", "test_case", "task"} {
		p.AddIssue(func(d *Document) { d.Set("issue_type", kind) })
		assert.Equal(t, []any{kind}, slices.Compact(c.get("/issues?issue_type="+kind).column(t, "issue_type")))
	}
}

// A to-do has its author and the address of its target.
func TestTodoValues(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(nil)
	p.AddMergeRequest(nil)
	c := newCaller(t, s)
	for path, want := range map[string]map[string]any{
		"/projects/1/issues/1/todo":         {"target_type": "Issue", "target_url": s.URL + "/group/app/-/issues/1"},
		"/projects/1/merge_requests/1/todo": {"target_type": "MergeRequest", "target_url": s.URL + "/group/app/-/merge_requests/1"},
	} {
		todo := c.post(path).object(t)
		assertShown(t, todo, want)
		assertShown(t, todo, map[string]any{
			"project.id": 1.0, "project.name": "App", "project.name_with_namespace": "group / App", "project.path": "app",
			"project.path_with_namespace": "group/app", "author.username": "root", "body": todo["target"].(map[string]any)["title"],
		})
		assertShown(t, todo, map[string]any{"action_name": "marked", "state": "pending", "target.web_url": want["target_url"]})
	}
}

// A test may omit fields of a milestone, like some responses of servers.
func TestMilestoneFieldsMayBeAbsent(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	m := p.AddMilestone("1.0", day(1), time.Time{}).Omit("created_at").Omit("updated_at").Omit("due_date")
	fill := func(d *Document) { d.Set("milestone", m) }
	p.AddIssue(fill)
	p.AddMergeRequest(fill)
	for _, path := range []string{"/issues", "/merge_requests"} {
		shown := newCaller(t, s).get(path).array(t)[0]["milestone"].(map[string]any)
		keysBut(t, "Milestone", shown, "created_at", "updated_at", "due_date")
		assert.Equal(t, "2026-03-01", shown["start_date"])
	}
}

// Derived fields of a merge request. If it is not open, its status is not_open unless the test sets
// another status.
func TestMergeRequestValues(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	jane := s.AddUser("jane")
	p.AddMergeRequest(nil)
	for _, state := range []string{"closed", "merged", "locked"} {
		p.AddMergeRequest(func(d *Document) { d.Set("state", state).Set("merge_user", jane) })
	}
	for _, status := range []string{"unchecked", "not_approved", "commits_status"} {
		p.AddMergeRequest(func(d *Document) { d.Set("detailed_merge_status", status) })
	}
	p.AddMergeRequest(func(d *Document) { d.Set("state", "merged").Set("detailed_merge_status", "mergeable") })
	c := newCaller(t, s)
	list := c.get("/merge_requests?sort=asc")
	assert.Equal(t, []any{"mergeable", "not_open", "not_open", "not_open", "unchecked", "not_approved", "commits_status", "mergeable"},
		list.column(t, "detailed_merge_status"))
	for i, mr := range list.array(t) {
		assert.Equal(t, mr["merge_user"], mr["merged_by"], i)
	}
	assertShown(t, list.array(t)[0], map[string]any{"merged_by": nil})
	assertShown(t, list.array(t)[1], map[string]any{"merged_by.username": "jane"})
}

// The commits of a diff version: its base is the merge base, and its start is the head of the
// target branch at its creation. A commit's created_at is its commit date.
func TestVersionCommits(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddFiles(map[string]string{"a.txt": "a\n"})
	base := p.AddCommit(Change{Branch: "main", Files: map[string]string{"base.txt": "x\n"}})
	p.AddCommit(Change{Branch: "change", Files: map[string]string{"b.txt": "b\n"}})
	start := p.AddCommit(Change{Branch: "main", Files: map[string]string{"c.txt": "c\n"}})
	mr := p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "change") })
	later := p.AddCommit(Change{Branch: "main", Files: map[string]string{"d.txt": "d\n"}})
	head := mr.Push(Change{Files: map[string]string{"b.txt": "more\n"}})
	c := newCaller(t, s)
	require.NotEqual(t, base.ID, start.ID)
	versions := c.get("/projects/1/merge_requests/1/versions").array(t)
	require.Len(t, versions, 2)
	for i, want := range []*Commit{later, start} {
		assertShown(t, versions[i], map[string]any{"base_commit_sha": base.ID, "start_commit_sha": want.ID})
	}
	assertShown(t, c.get("/merge_requests").array(t)[0], map[string]any{
		"diff_refs.base_sha": base.ID, "diff_refs.start_sha": later.ID, "diff_refs.head_sha": head.ID, "sha": head.ID,
	})
	single := c.get("/projects/1/merge_requests/1/versions/2").object(t)
	assertShown(t, single, map[string]any{"head_commit_sha": head.ID, "start_commit_sha": later.ID})
	commits := single["commits"].([]any)
	require.Len(t, commits, 2)
	for _, commit := range commits {
		shown := commit.(map[string]any)
		assert.NotEmpty(t, shown["created_at"])
		assert.Equal(t, shown["committed_date"], shown["created_at"])
	}
}

// Derived fields of a runner. Its address is shown by releases before 17.0.
func TestRunnerShown(t *testing.T) {
	for release, address := range map[string]string{"16.0": "10.0.0.7", "16.11": "10.0.0.7", "17.0": "", "18.0": "", "": ""} {
		var options []Option
		if release != "" {
			options = []Option{WithRelease(release)}
		}
		s := New(t, options...)
		p := s.AddProject("group/app")
		set := func(d *Document) { d.Set("ip_address", "10.0.0.7") }
		s.AddRunner(set).AddManager("s_1", set)
		s.AddGroup("group").AddRunner(func(d *Document) { d.Set("paused", true) })
		p.AddRunner(func(d *Document) { d.Set("status", "paused") })
		c := newCaller(t, s)
		for id, want := range []map[string]any{
			{"ip_address": address, "is_shared": true, "active": true, "paused": false, "status": "online", "online": true},
			{"ip_address": "", "is_shared": false, "active": false, "paused": true, "status": "online", "online": true},
			{"is_shared": false, "paused": false, "status": "paused", "online": false}, // a status of old servers
		} {
			assertShown(t, c.get(fmt.Sprint("/runners/", id+1)).object(t), want)
			assertShown(t, c.get("/runners/all").array(t)[2-id], want)
		}
		assertShown(t, c.get("/runners/1").object(t), map[string]any{"name": nil, "maintenance_note": nil, "maximum_timeout": nil})
		assert.Equal(t, "10.0.0.7", c.get("/runners/1/managers").array(t)[0]["ip_address"], release)
		assert.Equal(t, address, s.store.runners[0].Get("ip_address"))
	}
}

// A field of a tier is absent in lower tiers.
func TestFieldsOfTiers(t *testing.T) {
	tiers := []Tier{Free, Premium, Ultimate}
	for i, tier := range tiers {
		s := contractServer(t, WithTier(tier))
		c := newCaller(t, s)
		issue := c.post("/projects/1/issues/1/todo").object(t)["target"].(map[string]any)
		for _, row := range []struct {
			object map[string]any
			fields string
			from   int // index of the first tier
		}{
			{issue, "weight epic epic_iid iteration", 1},
			{issue, "health_status", 2},
			{c.get("/issues").array(t)[0], "weight epic epic_iid iteration", 1},
			{c.get("/issues").array(t)[0], "health_status", 2},
			{c.get("/merge_requests").array(t)[0], "approvals_before_merge", 1},
			{c.get("/user").object(t), "shared_runners_minutes_limit extra_shared_runners_minutes_limit is_auditor using_license_seat provisioned_by_group_id", 1},
			{c.get("/users").array(t)[0], "is_auditor using_license_seat provisioned_by_group_id", 1},
		} {
			for field := range strings.FieldsSeq(row.fields) {
				_, found := row.object[field]
				assert.Equal(t, i >= row.from, found, "%s on %s", field, tier)
			}
		}
	}
}

// A field of a release is absent in the release before.
func TestFieldsOfReleases(t *testing.T) {
	for _, row := range []struct{ field, path, object, before, since string }{
		{"prepared_at", "/merge_requests", "0", "16.0", "16.1"},
		{"merge_after", "/merge_requests", "0", "17.4", "17.5"},
		{"generated_file", "/projects/1/merge_requests/1/versions/1", "diffs.0", "16.8", "16.9"},
		{"created_by", "/user", "", "15.5", "15.6"},
		{"email_reset_offered_at", "/user", "", "16.6", "16.7"},
		{"scim_identities", "/user", "", "16.0", "16.1"},
		{"auditors", "/user", "", "16.1", "16.2"},
	} {
		for release, want := range map[string]bool{row.before: false, row.since: true} {
			object := below(t, newCaller(t, contractServer(t, WithRelease(release))).get(row.path), row.object)
			_, found := object[row.field]
			assert.Equal(t, want, found, "%s at %s", row.field, release)
		}
	}
}
