package forgetest

import (
	"strings"
	"testing"
	"time"

	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The values of a new user, in the view of an administrator and in that of the user.
func TestUserValues(t *testing.T) {
	s, _, jane, _ := inValues(t)
	jane.AddIdentity("ldapmain", "uid=jane")
	jane.AddIdentity("scim", "scim-jane")
	c := newCaller(t, s)
	want := map[string]any{
		"id": 2.0, "username": "jane.doe", "name": "Jane Doe", "state": "active", "locked": false, "avatar_url": nil,
		"web_url": s.URL + "/jane.doe", "created_at": noonText, "bot": false, "local_time": "12:00 PM", "is_followed": false,
		"email": "jane.doe@example.com", "commit_email": "jane.doe@example.com", "is_admin": false, "last_sign_in_at": noonText,
		"confirmed_at": noonText, "last_activity_on": "2026-03-04", "current_sign_in_at": noonText, "two_factor_enabled": false,
		"can_create_group": true, "can_create_project": true, "projects_limit": 100000.0, "theme_id": 1.0, "color_scheme_id": 1.0, "external": false, "private_profile": false, "is_auditor": false, "trial": false,
		"namespace_id":    float64(jane.namespaceID),
		"identities":      []any{map[string]any{"provider": "ldapmain", "extern_uid": "uid=jane"}},
		"scim_identities": []any{map[string]any{"extern_uid": "scim-jane", "group_id": 0.0, "active": true}},
	}
	for _, r := range []reply{c.as(jane.Token).get("/user"), c.get("/users/2")} {
		assertShown(t, r.object(t), want)
	}
	assertShown(t, c.get("/users").array(t)[1], want)
	assertShown(t, c.get("/user").object(t), map[string]any{"is_admin": true, "bot": false, "email": "root@example.com", "created_by": nil})
	s.AddBot("robot", ProjectBot)
	assertShown(t, c.get("/users").array(t)[0], map[string]any{"username": "robot", "bot": true})
}

// Each field of a runner has its own value, in the list and in the details.
func TestRunnerFieldsShowTheirValues(t *testing.T) {
	s, p, _, _ := inValues(t)
	s.AddRunner(nil)
	runner := p.AddRunner(func(d *Document) {
		d.Set("description", "fast").Set("name", "one").Set("contacted_at", noon().Add(-time.Hour)).Set("maintenance_note", "Friday").
			Set("architecture", "arm64").Set("platform", "darwin").Set("revision", "5a147c92").Set("version", "17.1.0").
			Set("tag_list", []string{"b", "a"}).Set("access_level", "ref_protected").Set("maximum_timeout", 3600)
	})
	runner.Assign(s.AddProject("group/sub/third"))
	c := newCaller(t, s)
	list := map[string]any{
		"id": 2.0, "description": "fast", "ip_address": "", "active": true, "paused": false, "is_shared": false, "runner_type": "project_type",
		"name": "one", "online": true, "status": "online",
	}
	for _, path := range []string{"/runners", "/runners/all", "/projects/2/runners"} {
		assertShown(t, c.get(path).array(t)[0], list)
	}
	detail := map[string]any{
		"contacted_at": "2026-03-04T11:00:00.000Z", "maintenance_note": "Friday", "architecture": "arm64", "platform": "darwin",
		"revision": "5a147c92", "version": "17.1.0", "tag_list": []any{"b", "a"}, "access_level": "ref_protected", "maximum_timeout": 3600.0,
		"projects": []any{
			map[string]any{"id": 2.0, "name": "App", "name_with_namespace": "group / App", "path": "app", "path_with_namespace": "group/app"},
			map[string]any{
				"id": 3.0, "name": "Third", "name_with_namespace": "group / sub / Third", "path": "third", "path_with_namespace": "group/sub/third",
			},
		},
	}
	for _, r := range []reply{c.get("/runners/2"), c.send("PUT", "/runners/2", "paused=false")} {
		assertShown(t, r.object(t), list)
		assertShown(t, r.object(t), detail)
	}
}

// A job has the pipeline, the project and the commit for which it ran.
func TestRunnerJobValues(t *testing.T) {
	s, p, _, _ := inValues(t)
	commit := p.AddFiles(map[string]string{"a.txt": "a\n"})
	first := s.AddProject("group/lib")
	runner := s.AddRunner(nil)
	runner.AddJob(first, "s_1", nil)
	runner.AddJob(first, "s_1", nil).Set("pipeline.id", 7)
	s.SetClock(later)
	runner.AddJob(p, "s_1", func(d *Document) {
		d.Set("stage", "build").Set("name", "compile").Set("ref", "v1").Set("tag", true).Set("coverage", 98.5).Set("started_at", noon()).
			Set("finished_at", day(5)).Set("duration", 1.5).Set("queued_duration", 2.5).Set("pipeline.status", "failed").Set("status", "success")
	})
	job := newCaller(t, s).get("/runners/1/jobs").array(t)[0]
	assertShown(t, job, map[string]any{
		"id": 3.0, "status": "success", "stage": "build", "name": "compile", "ref": "v1", "tag": true, "coverage": 98.5, "created_at": laterText,
		"started_at": noonText, "finished_at": "2026-03-05T00:00:00.000Z", "duration": 1.5, "queued_duration": 2.5, "commit.id": commit.ID,
		"pipeline": map[string]any{"id": 3.0, "sha": commit.ID, "ref": "main", "status": "failed"},
		"project": map[string]any{
			"id": 2.0, "description": "App", "name": "App", "name_with_namespace": "group / App", "path": "app",
			"path_with_namespace": "group/app", "created_at": laterText,
		},
		"user.id": 1.0, "user.username": "root", "user.name": "Root", "user.state": "active", "user.web_url": s.URL + "/root",
	})
}

// Groups whose paths begin with the same text are different groups.
func TestGroupsWithOneBeginning(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssue(nil)
	s.AddProject("groupies/app").AddIssue(nil)
	s.AddGroup("group").AddRunner(nil)
	s.AddGroup("groupies").AddRunner(nil)
	c := newCaller(t, s)
	for group, id := range map[string]float64{"group": 1, "groupies": 2} {
		assert.Equal(t, []any{id}, c.get("/groups/"+group+"/issues").column(t, "project_id"), group)
		assert.Equal(t, []any{id}, c.get("/projects/"+group+"%2Fapp/runners").column(t, "id"), group)
	}
}

// Every list shows the details of labels if the call requests them, and only then.
func TestLabelDetailsOnEveryList(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddLabel("bug", "#ff0000", "broken", 1)
	fill := func(d *Document) { d.Set("labels", []string{"bug"}) }
	p.AddIssue(fill)
	p.AddMergeRequest(fill)
	c := newCaller(t, s)
	for _, list := range []string{"/issues", "/groups/group/issues", "/merge_requests", "/projects/1/merge_requests"} {
		for _, query := range []string{"", "?with_labels_details=false"} {
			assert.Equal(t, []any{"bug"}, below(t, c.get(list+query), "0")["labels"], list+query)
		}
		labels := below(t, c.get(list+"?with_labels_details=true"), "0")["labels"].([]any)
		require.Len(t, labels, 1, list)
		assertShown(t, labels[0].(map[string]any), map[string]any{
			"name": "bug", "color": "#ff0000", "description": "broken", "description_html": "broken", "text_color": "#FFFFFF",
		})
	}
	p.AddIssue(func(d *Document) { d.Set("labels", []string{"other"}) }) // a label without details has a color too
	assert.Contains(t, c.get("/issues?with_labels_details=true").Body, `"name":"other","color":"#7d8df5","description":"","description_html":""`)
}

// No call finds a confidential issue without credentials, or for users who are neither Reporters
// nor its author or assignees.
func TestConfidentialIssues(t *testing.T) {
	s, p, jane, tom := inValues(t)
	p.AddMember(jane, Reporter)
	p.AddMember(tom, Guest)
	p.AddIssue(func(d *Document) { d.Set("confidential", true) })
	c := newCaller(t, s)
	const issue = "/projects/2/issues/2/"
	for call, anonymous := range map[string]int{
		"GET time_stats": 404, "GET related_merge_requests": 404, "POST subscribe": 401, "POST unsubscribe": 401, "POST todo": 401,
		"POST notes?body=x": 401,
	} {
		method, path, _ := strings.Cut(call, " ")
		assert.Equal(t, anonymous, c.as("").send(method, issue+path, "").Status, call)
		assert.Equal(t, 404, c.as(tom.Token).send(method, issue+path, "").Status, call)
		assert.Less(t, c.as(jane.Token).send(method, issue+path, "").Status, 400, call)
	}
	for _, list := range []string{"/issues?scope=all", "/groups/group/issues?"} {
		for who, want := range map[*User]int{jane: 1, tom: 0} {
			assert.Len(t, c.as(who.Token).get(list+"&confidential=true").array(t), want, "%s %s", list, who.Username)
		}
	}
	author, assignee := s.AddUser("author"), s.AddUser("assignee")
	p.AddIssue(func(d *Document) {
		d.Set("confidential", true).Set("author", author).Set("assignees", []*User{assignee})
	})
	for _, who := range []*User{author, assignee} {
		assert.Equal(t, 200, c.as(who.Token).get("/projects/2/issues/3/time_stats").Status, who.Username)
	}
}

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

// assignee is the first of the assignees; null if there are none.
func TestFirstAssignee(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	both := []*User{s.AddUser("tom"), s.AddUser("jane")}
	fill := func(i int, d *Document) { d.Set("assignees", both[:i]) }
	p.AddIssues(3, fill)
	p.AddMergeRequests(3, fill)
	p.AddMergeRequest(func(d *Document) { d.Set("assignees", both).Set("assignee", both[1]) })
	assertShown(t, newCaller(t, s).get("/merge_requests?iids[]=4").array(t)[0], map[string]any{"assignee.username": "jane"}) // set by the test
	for _, path := range []string{"/issues?sort=asc", "/merge_requests?sort=asc"} {
		for i, item := range newCaller(t, s).get(path + "&per_page=3").array(t) {
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
	one := func(d *Document) { d.Set("assignee", s.AddUser("maya")) } // it is found, too
	p.AddIssue(one)
	p.AddMergeRequest(one)
	for _, list := range []string{"/issues?scope=all&assignee_username[]=maya", "/merge_requests?scope=all&assignee_id=4"} {
		assert.Len(t, newCaller(t, s).get(list).array(t), 1, list)
	}
}

// Derived fields of an issue, and fields that depend on the list.
func TestIssueValues(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) { d.Set("description", "Plain [x] text") })
	p.AddIssue(func(d *Document) {
		d.Set("issue_type", "incident").Set("description", "Do\n- [x] one\n* [ ] two\n  - [X] three\n").
			Set("epic", NewDocument("Epic").Set("id", 70).Set("iid", 7)).Set("_links.closed_as_duplicate_of", "https://forge.example/9")
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
		"_links.closed_as_duplicate_of": "https://forge.example/9",
	})
	subscribed := c.post("/projects/1/issues/2/subscribe").object(t)
	assertShown(t, subscribed, map[string]any{"references.short": "#2", "references.relative": "#2", "references.full": "group/app#2"})
	assert.Equal(t, "group/app#2", c.get("/issues").array(t)[0]["references"].(map[string]any)["relative"])
	assert.Equal(t, "app#2", c.get("/groups/group/issues").array(t)[0]["references"].(map[string]any)["relative"])
	for at, want := range map[int]time.Time{0: day(6), 5: day(5)} { // the time of closing is by default that of the latest update
		fill := func(d *Document) {
			d.Set("state", "closed").Set("updated_at", day(6)).Set("closed_at", map[int]any{5: day(5)}[at]).Set("description", "- [ ] one")
		}
		closed := p.AddIssue(fill)
		assert.Equal(t, []any{want, true, "0 of 1 checklist items completed"}, []any{closed.Get("closed_at"), closed.Get("has_tasks"), closed.Get("task_status")})
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
		for _, name := range []string{"created_at", "updated_at", "due_date"} {
			assert.NotContains(t, shown, name)
		}
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
	p.AddMergeRequest(func(d *Document) { // two flags may be null, and two have old names
		d.Set("discussion_locked", nil).Set("should_remove_source_branch", nil).Set("draft", true).Set("allow_collaboration", true)
	})
	c := newCaller(t, s)
	list := c.get("/merge_requests?sort=asc")
	assert.Equal(t, []any{"mergeable", "not_open", "not_open", "not_open", "unchecked", "not_approved", "commits_status", "mergeable", "mergeable"},
		list.column(t, "detailed_merge_status"))
	for i, mr := range list.array(t) {
		assert.Equal(t, mr["merge_user"], mr["merged_by"], i)
	}
	assertShown(t, list.array(t)[0], map[string]any{"merged_by": nil, "work_in_progress": false, "allow_maintainer_to_push": false})
	assertShown(t, list.array(t)[8], map[string]any{
		"discussion_locked": nil, "should_remove_source_branch": nil, "work_in_progress": true, "allow_maintainer_to_push": true,
	})
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
}

// Derived fields of a runner. Its address is shown by releases before 17.0.
func TestRunnerShown(t *testing.T) {
	for release, address := range map[string]string{"16.0": "10.0.0.7", "16.11": "10.0.0.7", "17.0": "", "18.0": ""} {
		s := New(t, WithRelease(release))
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
