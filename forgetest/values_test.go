package forgetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The tests of this file compare the values of Document 2 §2 with the values that the test has
// stored. No two fields of an object have the same value, so that exchanged fields are detected.

// inValues has two projects, so that the ids, the iids and the project ids of the second differ.
func inValues(t *testing.T) (s *Server, p *Project, jane, tom *User) {
	s = New(t, WithRelease("18.2"))
	s.SetClock(noon)
	s.AddGroup("first") // so that the ids of users, namespaces, groups and projects differ
	s.AddGroup("group")
	jane, tom = s.AddUser("jane.doe"), s.AddUser("tom")
	first := s.AddProject("group/lib")
	first.AddIssues(3, nil)
	first.AddMergeRequests(3, nil)
	first.AddMilestone("0.1", time.Time{}, time.Time{})
	p = s.AddProject("group/app")
	p.AddIssue(nil)
	p.AddMergeRequest(nil)
	p.AddMilestone("0.2", time.Time{}, time.Time{})
	return s, p, jane, tom
}

// summaryOf returns the summary of a user in the form of responses.
func summaryOf(s *Server, u *User) map[string]any {
	return map[string]any{
		"id": float64(u.ID), "username": u.Username, "name": u.Name, "state": "active", "avatar_url": nil,
		"web_url": s.URL + "/" + u.Username,
	}
}

// nested adds a path in front of the field names of an object.
func nested(path string, object map[string]any) map[string]any {
	fields := map[string]any{}
	for name, value := range object {
		fields[path+"."+name] = value
	}
	return fields
}

const noonText, laterText = "2026-03-04T12:00:00.000Z", "2026-03-04T13:00:00.000Z"

// later returns the time an hour after noon.
func later() time.Time { return noon().Add(time.Hour) }

// valueMilestone creates a milestone with other dates than the records.
func valueMilestone(p *Project) (m *Document, shown map[string]any) {
	m = p.AddMilestone("1.0", day(5), day(6)).Set("description", "the first").Set("state", "closed").Set("updated_at", later())
	return m, map[string]any{
		"id": 3.0, "iid": 2.0, "project_id": 2.0, "title": "1.0", "description": "the first", "state": "closed", "created_at": noonText,
		"updated_at": laterText, "start_date": "2026-03-05", "due_date": "2026-03-06", "web_url": p.srv.URL + "/group/app/-/milestones/2",
	}
}

// Each field of an issue has its own value, in each response that has issues.
func TestIssueFieldsShowTheirValues(t *testing.T) {
	s, p, jane, tom := inValues(t)
	milestone, milestoneShown := valueMilestone(p)
	at := map[string]any{
		"id": 31, "iid": 32, "sequence": 33, "group_id": 34, "title": "sprint", "description": "two weeks", "state": 2, "created_at": noon(),
		"updated_at": later(), "start_date": day(7), "due_date": day(8), "web_url": "https://forge.example/sprint",
	}
	iteration := NewDocument("Iteration")
	for name, value := range at {
		iteration.Set(name, value)
	}
	issue := p.AddIssue(func(d *Document) {
		d.Set("title", "The title").Set("description", "The text").Set("author", jane).Set("assignees", []*User{tom, s.Root()}).
			Set("labels", []string{"idea", "bug"}).Set("severity", "HIGH").Set("imported_from", "bitbucket").Set("weight", 0).
			Set("health_status", "on_track").Set("iteration", iteration).Set("milestone", milestone).Set("updated_at", later())
	})
	for i, u := range []*User{s.Root(), jane, tom} {
		issue.AddAwardEmoji(u, "thumbsup")
		if i < 2 {
			issue.AddAwardEmoji(u, "thumbsdown")
		}
	}
	issue.Relate(p.AddMergeRequest(nil))
	want := map[string]any{
		"id": 5.0, "iid": 2.0, "project_id": 2.0, "title": "The title", "description": "The text", "created_at": noonText, "updated_at": laterText,
		"labels": []any{"idea", "bug"}, "severity": "HIGH", "imported_from": "bitbucket", "weight": 0.0, "health_status": "on_track",
		"upvotes": 3.0, "downvotes": 2.0, "user_notes_count": 0.0, "merge_requests_count": 1.0, "author": summaryOf(s, jane),
		"assignees": []any{summaryOf(s, tom), summaryOf(s, s.Root())}, "iteration.state": 2.0, "iteration.iid": 32.0, "iteration.id": 31.0,
		"iteration.sequence": 33.0, "iteration.group_id": 34.0, "iteration.title": "sprint", "iteration.description": "two weeks",
		"iteration.created_at": noonText, "iteration.updated_at": laterText, "iteration.start_date": "2026-03-07",
		"iteration.due_date": "2026-03-08", "iteration.web_url": "https://forge.example/sprint",
	}
	c := newCaller(t, s)
	for i, object := range []map[string]any{
		below(t, c.get("/issues?scope=all&search=title"), "0"), below(t, c.get("/groups/group/issues?search=title"), "0"),
		below(t, c.post("/projects/2/issues/2/todo"), "target"), c.post("/projects/2/issues/2/subscribe").object(t),
	} {
		relative := []string{"group/app#2", "app#2", "#2", "#2"}[i]
		assert.Equal(t, map[string]any{"short": "#2", "relative": relative, "full": "group/app#2"}, object["references"])
		assertShown(t, object, want)
		assertShown(t, object, nested("milestone", milestoneShown))
	}
	assertShown(t, below(t, c.get("/issues?iids[]=1"), "0"), map[string]any{"labels": []any{}, "assignees": []any{}, "task_status": ""})
}

// Each field of a merge request has its own value, in each response that has merge requests.
func TestMergeRequestFieldsShowTheirValues(t *testing.T) {
	s, p, jane, tom := inValues(t)
	milestone, milestoneShown := valueMilestone(p)
	mr := p.AddMergeRequest(func(d *Document) {
		d.Set("source_project_id", 70).Set("target_project_id", 71).Set("title", "The title").
			Set("description", "- [x] one\n- [ ] two\n- [ ] three").Set("author", jane).Set("assignees", []*User{tom, jane}).
			Set("reviewers", []*User{s.Root()}).Set("source_branch", "from").Set("target_branch", "to").
			Set("labels", []string{"idea", "bug"}).Set("milestone", milestone).Set("user_notes_count", 4).
			Set("diverged_commits_count", 6).Set("imported_from", "bitbucket").
			Set("pipeline", NewDocument("MergeRequestPipeline").Set("id", 8).Set("sha", "abc").Set("ref", "from").
				Set("status", "failed").Set("web_url", "https://forge.example/8")).
			Set("time_stats", NewDocument("TimeStats").Set("time_estimate", 3600).Set("total_time_spent", 7200))
	})
	for i, u := range []*User{s.Root(), jane, tom} {
		mr.AddAwardEmoji(u, "thumbsup")
		if i < 2 {
			mr.AddAwardEmoji(u, "thumbsdown")
		}
	}
	p.AddIssue(nil).Relate(mr)
	want := map[string]any{
		"id": 5.0, "iid": 2.0, "project_id": 2.0, "source_project_id": 70.0, "target_project_id": 71.0, "title": "The title",
		"description": "- [x] one\n- [ ] two\n- [ ] three", "task_completion_status": map[string]any{"count": 3.0, "completed_count": 1.0},
		"author": summaryOf(s, jane), "assignees": []any{summaryOf(s, tom), summaryOf(s, jane)}, "reviewers": []any{summaryOf(s, s.Root())},
		"source_branch": "from", "target_branch": "to", "labels": []any{"idea", "bug"}, "imported_from": "bitbucket", "upvotes": 3.0,
		"downvotes": 2.0, "user_notes_count": 4.0, "web_url": s.URL + "/group/app/-/merge_requests/2", "diverged_commits_count": 6.0,
		"time_stats": map[string]any{
			"time_estimate": 3600.0, "total_time_spent": 7200.0, "human_time_estimate": "1h", "human_total_time_spent": "2h",
		},
		"pipeline": map[string]any{"id": 8.0, "sha": "abc", "ref": "from", "status": "failed", "web_url": "https://forge.example/8"},
	}
	c := newCaller(t, s)
	for i, object := range []map[string]any{
		below(t, c.get("/merge_requests?scope=all&search=title"), "0"), below(t, c.get("/projects/2/merge_requests?search=title"), "0"),
		below(t, c.get("/projects/2/issues/2/related_merge_requests"), "0"), below(t, c.post("/projects/2/merge_requests/2/todo"), "target"),
		c.post("/projects/2/merge_requests/2/subscribe").object(t), c.get("/projects/2/merge_requests/2/changes").object(t),
	} {
		relative := []string{"group/app!2", "!2", "!2", "!2", "!2", "!2"}[i]
		assert.Equal(t, map[string]any{"short": "!2", "relative": relative, "full": "group/app!2"}, object["references"])
		assertShown(t, object, map[string]any{"reference": relative})
		assertShown(t, object, want)
		assertShown(t, object, nested("milestone", milestoneShown))
	}
	plain := below(t, c.get("/projects/2/merge_requests?iids[]=1"), "0")
	assertShown(t, plain, map[string]any{"labels": []any{}, "assignees": []any{}, "reviewers": []any{}, "imported_from": "none"})
}

// The counts and times of an issue are also in its list, not only in the response of the call.
func TestListsShowWhatCallsChange(t *testing.T) {
	s, p, jane, _ := inValues(t)
	c := newCaller(t, s)
	issue := fmt.Sprintf("/projects/%d/issues/1/", p.ID)
	c.post(issue + "time_estimate?duration=3h30m")
	c.post(issue + "add_spent_time?duration=1h")
	c.post(issue + "notes?body=one")
	c.post(issue + "notes?body=two")
	for _, path := range []string{"/issues?", "/groups/group/issues?"} {
		for _, object := range c.get(path + "iids[]=1").array(t) {
			want := map[string]any{"user_notes_count": 0.0, "time_stats.time_estimate": 0.0, "time_stats.human_time_estimate": nil}
			if object["project_id"] == float64(p.ID) {
				want = map[string]any{
					"user_notes_count": 2.0, "time_stats.time_estimate": 12600.0, "time_stats.human_time_estimate": "3h 30m",
					"time_stats.total_time_spent": 3600.0, "time_stats.human_total_time_spent": "1h",
				}
			}
			assertShown(t, object, want)
		}
	}
	c.as(jane.Token).post(issue + "subscribe")
	assertShown(t, c.post(issue+"subscribe").object(t), map[string]any{"subscribed": true, "time_stats.time_estimate": 12600.0}) // of the caller
	assertShown(t, c.post(issue+"todo").object(t), map[string]any{"target.references.relative": "#1", "target.user_notes_count": 2.0})
}

// A note belongs to the caller and the issue, and the epic to the group.
func TestNoteValues(t *testing.T) {
	s, p, jane, tom := inValues(t)
	c := newCaller(t, s)
	p.AddIssue(func(d *Document) { d.Set("author", tom) })
	p.AddMember(jane, Reporter)
	s.SetClock(later)
	c.post("/projects/1/issues/1/notes?body=first")
	note := func(iid int, body string) map[string]any {
		return c.as(jane.Token).post(fmt.Sprintf("/projects/2/issues/%d/notes?body=%s", iid, esc(body))).object(t)
	}
	assertShown(t, note(2, "agreed"), map[string]any{
		"id": 2.0, "type": nil, "body": "agreed", "attachment": nil, "author": summaryOf(s, jane), "created_at": laterText,
		"updated_at": laterText, "system": false, "noteable_id": 5.0, "noteable_type": "Issue", "resolvable": false, "confidential": false,
		"noteable_iid": 2.0, "commands_changes": map[string]any{"promote_to_epic": false},
	})
	p.AddIssue(func(d *Document) { d.Set("confidential", true) })
	assertShown(t, note(3, "agreed"), map[string]any{"noteable_id": 6.0, "noteable_iid": 3.0, "confidential": true})

	s.AddProject("elsewhere/app").AddIssue(nil)
	require.Equal(t, 201, c.post("/projects/3/issues/1/notes?body=/promote").Status)
	note(1, "/promote")
	note(2, "/promote")
	epic := map[string]any{
		"id": 3.0, "iid": 2.0, "title": "Issue 2", "url": "/groups/group/-/epics/2", "group_id": float64(s.AddGroup("group").ID),
	}
	assertShown(t, below(t, c.get("/issues?scope=all&state=closed&author_id=3"), "0"), map[string]any{
		"epic": epic, "epic_iid": 2.0, "closed_at": laterText, "updated_at": laterText, "closed_by": summaryOf(s, jane),
	})
}

// A to-do belongs to the caller, for any author of its target, and has the time of the call and the address of its target.
func TestTodoValues(t *testing.T) {
	s, p, jane, tom := inValues(t)
	s.SetClock(later)
	p.AddIssue(func(d *Document) { d.Set("author", tom).Set("created_at", noon()).Set("state", "closed") })
	p.AddMergeRequest(func(d *Document) { d.Set("author", tom).Set("created_at", noon()).Set("state", "merged") })
	for i, path := range []string{"issues", "merge_requests"} {
		todo := newCaller(t, s).as(jane.Token).post("/projects/2/" + path + "/2/todo").object(t)
		assertShown(t, todo, map[string]any{
			"id": float64(i + 1), "author": summaryOf(s, jane), "created_at": laterText, "state": "pending", "action_name": "marked",
			"project.id": 2.0, "project.name": "App", "project.name_with_namespace": "group / App", "project.path": "app",
			"project.path_with_namespace": "group/app", "body": todo["target"].(map[string]any)["title"],
			"target.id": 5.0, "target.iid": 2.0, "target.author": summaryOf(s, tom), "target_type": []string{"Issue", "MergeRequest"}[i],
			"target_url": s.URL + "/group/app/-/" + path + "/2", "target.web_url": s.URL + "/group/app/-/" + path + "/2",
		})
	}
}

// A dependency belongs to the project of the blocked merge request.
func TestDependencyValues(t *testing.T) {
	s, p, jane, _ := inValues(t)
	jane.Edit(func(d *Document) { d.Set("locked", true) })
	fill := func(d *Document) { d.Set("author", jane) }
	other := s.AddProject("group/third").AddMergeRequest(fill)
	blocked, further := p.AddMergeRequest(nil), p.AddMergeRequest(nil)
	further.AddBlocker(other)
	blocked.AddBlocker(other)
	c := newCaller(t, s)
	want := map[string]any{
		"id": 2.0, "project_id": 2.0, "blocking_merge_request.id": 5.0, "blocking_merge_request.project_id": 3.0,
		"blocking_merge_request.author.locked": true, "blocked_merge_request.id": 6.0, "blocked_merge_request.iid": 2.0,
		"blocked_merge_request.author.locked": false,
	}
	assertShown(t, below(t, c.get("/projects/2/merge_requests/2/blocks"), "0"), want)
	blockees := c.get("/projects/3/merge_requests/1/blockees")
	assert.ElementsMatch(t, []any{1.0, 2.0}, blockees.column(t, "id"))
	i := slices.Index(blockees.column(t, "id"), any(2.0))
	assertShown(t, blockees.array(t)[i], want)
	assertShown(t, c.post("/projects/2/merge_requests/2/blocks?blocking_merge_request_id=1").object(t), map[string]any{
		"id": 3.0, "project_id": 2.0, "blocking_merge_request.id": 1.0, "blocking_merge_request.project_id": 1.0,
	})
	assert.Equal(t, 404, c.send("DELETE", "/projects/2/merge_requests/2/blocks/1", "").Status, "a dependency of another merge request")
	assert.Equal(t, []any{2.0, 3.0}, c.get("/projects/2/merge_requests/2/blocks").column(t, "id"))
}

// versionWorld has a merge request with two versions that are an hour apart.
func versionWorld(t *testing.T) (s *Server, commits []*Commit) {
	s, p, jane, _ := inValues(t)
	p.AddFiles(map[string]string{"old.txt": "a\nb\nc\nd\n", "gone.txt": "gone\n", "run.sh": "one\n"})
	commits = append(commits, p.AddCommit(Change{Branch: "change", Files: map[string]string{"new.txt": "new\n"}}))
	mr := p.AddMergeRequest(func(d *Document) { d.Set("source_branch", "change") })
	s.SetClock(later)
	commits = append(commits, mr.Push(Change{
		Author: jane, Message: "The title\n\nThe text.\n\nSigned-off-by: A\nSigned-off-by: B", Delete: []string{"old.txt", "gone.txt"},
		Files: map[string]string{"moved.txt": "a\nb\nc\nd\n", "run.sh": "two\n"},
	}))
	return s, commits
}

// A version keeps its head and its time when a later version is added, and is found only below its
// own merge request.
func TestVersionValues(t *testing.T) {
	s, commits := versionWorld(t)
	c := newCaller(t, s)
	versions := c.get("/projects/2/merge_requests/2/versions").array(t)
	require.Len(t, versions, 2)
	for i, want := range []map[string]any{
		{"id": 2.0, "head_commit_sha": commits[1].ID, "created_at": laterText, "merge_request_id": 5.0, "real_size": "4"},
		{"id": 1.0, "head_commit_sha": commits[0].ID, "created_at": noonText, "merge_request_id": 5.0, "real_size": "1"},
	} {
		assertShown(t, versions[i], want)
		assertShown(t, c.get(fmt.Sprintf("/projects/2/merge_requests/2/versions/%.0f", want["id"])).object(t), want)
	}
	assert.NotEqual(t, versions[0]["patch_id_sha"], versions[1]["patch_id_sha"])
	assert.Equal(t, 404, c.get("/projects/2/merge_requests/1/versions/1").Status)
}

// The commits and the diffs of a version, field by field.
func TestVersionContent(t *testing.T) {
	s, commits := versionWorld(t)
	single := newCaller(t, s).get("/projects/2/merge_requests/2/versions/2").object(t)
	head := commits[1]
	assertShown(t, single["commits"].([]any)[0].(map[string]any), map[string]any{
		"id": head.ID, "short_id": head.ID[:8], "created_at": laterText, "parent_ids": []any{commits[0].ID}, "title": "The title",
		"message": head.Message, "author_name": "Jane Doe", "author_email": "jane.doe@example.com", "authored_date": laterText,
		"committer_name": "Jane Doe", "committer_email": "jane.doe@example.com", "committed_date": laterText,
		"trailers": map[string]any{"Signed-off-by": "B"}, "extended_trailers": map[string]any{"Signed-off-by": []any{"A", "B"}},
		"web_url": s.URL + "/group/app/-/commit/" + head.ID,
	})
	want := map[any]map[string]any{
		"new.txt":   {"old_path": "new.txt", "a_mode": nil, "b_mode": "100644", "new_file": true, "renamed_file": false, "deleted_file": false},
		"gone.txt":  {"old_path": "gone.txt", "a_mode": "100644", "b_mode": "0", "new_file": false, "renamed_file": false, "deleted_file": true},
		"moved.txt": {"old_path": "old.txt", "a_mode": "100644", "b_mode": "100644", "new_file": false, "renamed_file": true, "deleted_file": false},
		"run.sh":    {"old_path": "run.sh", "a_mode": "100755", "b_mode": "100755", "new_file": false, "renamed_file": false, "deleted_file": false},
	}
	diffs := single["diffs"].([]any)
	require.Len(t, diffs, len(want))
	for _, d := range diffs {
		diff := d.(map[string]any)
		assertShown(t, diff, want[diff["new_path"]])
		assertShown(t, diff, map[string]any{"generated_file": false})
	}
}
