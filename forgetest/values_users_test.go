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

// The values of users and runners (Document 2 §2.7 and §2.9), as in values_test.go.

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
		"can_create_group": true, "can_create_project": true, "external": false, "private_profile": false, "is_auditor": false,
		"namespace_id":    float64(jane.namespaceID),
		"identities":      []any{map[string]any{"provider": "ldapmain", "extern_uid": "uid=jane"}},
		"scim_identities": []any{map[string]any{"extern_uid": "scim-jane", "group_id": 0.0, "active": true}},
	}
	for _, r := range []reply{c.as(jane.Token).get("/user"), c.get("/users/2")} {
		assertShown(t, r.object(t), want)
	}
	assertShown(t, c.get("/users").array(t)[1], want)
	assertShown(t, c.get("/user").object(t), map[string]any{"is_admin": true, "bot": false, "email": "root@example.com"})
	s.AddBot("robot", ProjectBot)
	assertShown(t, c.get("/users").array(t)[0], map[string]any{"username": "robot", "bot": true})
}

// Each field of a user that is set has its value in all views with the field.
func TestUserFieldsShowTheirValues(t *testing.T) {
	s, _, jane, tom := inValues(t)
	want := map[string]map[string]any{"list": {}, "single": {}, "full": {}}
	jane.Edit(func(d *Document) {
		for i, f := range d.shape.fields {
			derived := slices.Contains([]string{"id", "username", "state", "web_url", "is_admin", "plan", "local_time"}, f.Name)
			if derived || !slices.Contains([]string{"string", "integer", "boolean"}, f.Type) {
				continue
			}
			value, shown := any(!d.bool(f.Name)), any(!d.bool(f.Name))
			if f.Type != "boolean" {
				value, shown = sampleOf(f, i%60)
			}
			d.Set(f.Name, value)
			for _, view := range f.Views {
				want[view][f.Name] = shown
			}
		}
	})
	require.Greater(t, len(want["full"]), 40)
	c := newCaller(t, s)
	assertShown(t, c.as(tom.Token).get("/users").array(t)[1], want["list"])
	assertShown(t, c.as(tom.Token).get("/users/2").object(t), want["single"])
	assertShown(t, c.get("/users/2").object(t), want["full"])
	assertShown(t, c.as(jane.Token).get("/user").object(t), want["full"])
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

// All responses have the status that follows from the last contact, and only the first runner is
// online.
func TestRunnerStatusValues(t *testing.T) {
	s, p, _, _ := inValues(t)
	words := []any{"online", "offline", "stale", "never_contacted"}
	for _, contact := range []any{noon().Add(-time.Hour), noon().Add(-24 * time.Hour), noon().Add(-240 * time.Hour), nil} {
		p.AddRunner(func(d *Document) { d.Set("contacted_at", contact) })
	}
	c := newCaller(t, s)
	for i, word := range words {
		want := map[string]any{"status": word, "online": word == "online"}
		assertShown(t, c.get(fmt.Sprint("/runners/", i+1)).object(t), want)
		for _, path := range []string{"/runners", "/runners/all", "/projects/2/runners"} {
			assertShown(t, c.get(path).array(t)[len(words)-1-i], want)
		}
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

// The filters of a tier have an effect only in the tiers that Document 2 §4.1.1 and §4.2.1 name.
func TestFiltersOfTiers(t *testing.T) {
	for i, tier := range []Tier{Free, Premium, Ultimate} {
		s := New(t, WithTier(tier))
		p := s.AddProject("group/app")
		p.AddIssue(nil)
		p.AddMergeRequest(nil)
		c := newCaller(t, s)
		for lists, filters := range map[string]map[string]int{
			"/issues /groups/group/issues": {
				"epic_id=9": 1, "epic_id=Any": 1, "iteration_id=9": 1, "iteration_id=Any": 1, "iteration_title=x": 1, "weight=0": 1, "weight=9": 1,
				"weight=Any": 1, "health_status=Any": 2, "health_status=on_track": 2, "labels=x": 0, "milestone=x": 0, "author_id=9": 0,
			},
			"/merge_requests /projects/1/merge_requests": {
				"approved_by_ids[]=9": 1, "approved_by_ids=Any": 1, "approver_ids[]=9": 1, "approver_ids=Any": 1, "reviewer_id=9": 0, "environment=x": 0,
			},
		} {
			for list := range strings.FieldsSeq(lists) {
				for query, from := range filters {
					want := map[bool]int{true: 0, false: 1}[i >= from]
					assert.Len(t, c.get(list+"?"+query).array(t), want, "%s: %s?%s", tier, list, query)
				}
			}
		}
	}
}

// Every keyword of due_date has a first and a last day; the days before and after do not match.
func TestDueDateBounds(t *testing.T) {
	s := New(t)
	s.SetClock(noon) // a Wednesday
	p := s.AddProject("group/app")
	var days []string
	for _, text := range strings.Fields(`02-17 02-18 02-28 03-01 03-02 03-03 03-04 03-05 03-06 03-08 03-09 03-31 04-01 04-30 05-01`) {
		days = append(days, text)
		p.AddIssue(func(d *Document) { d.Set("due_date", "2026-"+text) })
	}
	c := newCaller(t, s)
	for word, bounds := range map[string][2]string{
		"any": {"02-17", "05-01"}, "today": {"03-04", "03-04"}, "tomorrow": {"03-05", "03-05"}, "overdue": {"02-17", "03-03"},
		"week": {"03-02", "03-08"}, "month": {"03-01", "03-31"}, "next_month_and_previous_two_weeks": {"02-18", "04-30"},
	} {
		var want []any
		for _, day := range days {
			if day >= bounds[0] && day <= bounds[1] {
				want = append(want, "2026-"+day)
			}
		}
		for _, list := range []string{"/issues?", "/groups/group/issues?"} {
			assert.Equal(t, want, c.get(list+"sort=asc&due_date="+word).column(t, "due_date"), "%s %s", list, word)
		}
	}
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
	for _, list := range []string{"/merge_requests", "/projects/1/merge_requests"} {
		short := below(t, c.get(list+"?view=simple"), "0")
		assert.NotContains(t, short, "labels", list)
		assertShown(t, short, map[string]any{"iid": 1.0, "title": "Merge request 1", "state": "opened", "web_url": s.URL + "/group/app/-/merge_requests/1"})
	}
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
}
