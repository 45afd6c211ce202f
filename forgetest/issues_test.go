package forgetest

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleIssue is the part of contractServer for issues.
func sampleIssue(app *Project, jane *User, related *MergeRequest) {
	milestone := app.AddMilestone("1.0", noon(), noon())
	issue := app.AddIssue(func(d *Document) {
		d.Set("assignees", []*User{jane}).Set("milestone", milestone).Set("iteration", NewDocument("Iteration").Set("start_date", day(1)).Set("due_date", day(14))).
			Set("labels", []string{"bug"})
	})
	issue.Relate(related)
}

// noon is the clock of these tests: Wednesday 2026-03-04.
func noon() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

func day(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }

// filterWorld has three issues of a project, one of its group's subgroup and one of another group.
func filterWorld(t *testing.T) (*Server, caller) {
	s := New(t)
	s.SetClock(noon)
	p, jane := s.AddProject("group/app"), s.AddUser("jane")
	p.AddIssue(func(d *Document) {
		d.Set("description", "a needle here").Set("labels", []string{"bug"}).Set("state", "closed").Set("closed_by", jane)
	})
	p.AddIssue(func(d *Document) {
		d.Set("assignees", []*User{s.AddUser("tom"), jane}).Set("labels", []string{"bug", "idea"}).Set("due_date", "2026-03-01")
	})
	past := p.AddMilestone("past its due date", day(1), day(3))
	p.AddIssue(func(d *Document) {
		d.Set("title", "Needle").Set("assignees", []*User{jane}).Set("milestone", past).Set("labels", []string{"007"})
	}).AddAwardEmoji(jane, "rocket")
	s.AddProject("group/sub/lib").AddIssue(nil)
	s.AddProject("other/app").AddIssue(nil)
	return s, newCaller(t, s)
}

// The models of internal/contractmodel prove the filters. This test has what they accept in several
// readings, because the documents leave it open, and what only deployed servers have.
func TestOpenIssueFilters(t *testing.T) {
	_, c := filterWorld(t)
	for query, want := range map[string][]any{
		"search=here+needle": {1.0}, "search=needle&in=description,title": {3.0, 1.0}, "assignee_username[]=tom&assignee_username[]=jane": {2.0},
		"not[labels]=bug,idea": {3.0}, "labels=bug,None": {}, "labels=007": {3.0}, "labels=7": {}, "order_by=relative_position&sort=asc": {1.0, 2.0, 3.0}, "state=all": {3.0, 2.0, 1.0}, "order_by=due_date": {2.0, 3.0, 1.0}, "order_by=due_date&sort=asc": {2.0, 1.0, 3.0}, "due_date=overdue": {2.0}, "milestone_id=Started": {},
		"my_reaction_emoji=rocket": {}, "my_reaction_emoji=rocket&sudo=jane": {3.0}, // of the caller
	} {
		for _, list := range []string{"/issues?scope=all&", "/groups/group/issues?"} {
			iids := []any{}
			for _, issue := range c.get(list + query).array(t) {
				if issue["project_id"] == 1.0 {
					iids = append(iids, issue["iid"])
				}
			}
			assert.Equal(t, want, iids, list+query)
		}
	}
	for query, want := range map[string][]any{
		"closed_by_id=2": {1.0}, "closed_by_id=1": {}, "search=needle&in=title&not[search]=here": {3.0}, "not[search]=needle&not[in]=title&assignee_id=None&state=closed": {1.0},
	} {
		assert.Equal(t, want, c.get("/groups/group/issues?"+query).column(t, "iid"), query)
	}
	for _, query := range []string{ // texts in not[], and not keywords
		"not[labels]=None", "not[labels]=Any", "not[milestone]=Any", "not[milestone]=None", "not[my_reaction_emoji]=None", "not[my_reaction_emoji]=Any",
	} {
		assert.Len(t, c.get("/groups/group/issues?"+query).array(t), 4, query)
	}
	assert.Equal(t, 200, c.get("/merge_requests?not[assignee_id]=1&not[assignee_username]=a").Status, "no row excludes them")
	assert.Equal(t, map[string]any{"short": "#1", "relative": "sub/lib#1", "full": "group/sub/lib#1"}, c.get("/groups/group/issues?sort=desc").array(t)[0]["references"])
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

// The upcoming milestone is the open one that is due first after today. Started milestones are
// open, begin today or earlier, and are not past their due date.
func TestMilestoneKeywords(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	for i, days := range [][2]int{{1, 3}, {4, 4}, {0, 9}, {5, 7}, {1, 8}, {1, 6}, {4, 0}} { // 0 for none
		at := map[int]time.Time{0: {}}
		for _, d := range days {
			if d > 0 {
				at[d] = day(d)
			}
		}
		m := p.AddMilestone("m", at[days[0]], at[days[1]]).Set("state", map[bool]string{true: "closed", false: "active"}[i == 5])
		p.AddIssue(func(d *Document) { d.Set("milestone", m) })
	}
	for word, want := range map[string][]any{"Upcoming": {4.0}, "Started": {7.0, 5.0, 2.0}} {
		assert.Equal(t, want, newCaller(t, s).get("/issues?milestone_id="+word).column(t, "iid"), word)
	}
}

func TestIssueShape(t *testing.T) {
	s := New(t, WithDemo())
	c := newCaller(t, s)
	subscribed := c.post("/projects/acme%2Fstorefront/issues/1/subscribe").object(t)
	assert.Equal(t, s.URL+"/acme/storefront/-/issues/1", subscribed["web_url"])
	project := s.URL + "/api/v4/projects/1"
	self := project + "/issues/1"
	assert.Equal(t, map[string]any{
		"self": self, "notes": self + "/notes", "award_emoji": self + "/award_emoji", "project": project, "closed_as_duplicate_of": nil,
	}, subscribed["_links"])
	assert.Equal(t, "304", c.get("/issues?scope=all").Header.Get("X-Total"))
}

func TestTransitions(t *testing.T) {
	for _, kind := range []string{"issues", "merge_requests"} {
		s := New(t)
		p := s.AddProject("group/app")
		p.AddIssue(nil)
		p.AddMergeRequest(nil)
		c := newCaller(t, s)
		jane := c.as(s.AddUser("jane").Token)
		at := "/projects/group%2Fapp/" + kind + "/1/"
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
			switch {
			case r.Status == 304:
				assert.Empty(t, r.Body)
			case r.Status == 201 && step.call != "todo":
				assertShown(t, r.object(t), map[string]any{"iid": 1.0, "subscribed": step.call == "subscribe"})
			}
		}
		iid := map[string]string{"issues": ":issue_iid", "merge_requests": ":merge_request_iid"}[kind]
		for call, applied := range map[string]int{"subscribe": 2, "unsubscribe": 1, "todo": 2} {
			s.AssertAppliedCount(t, "POST /projects/:id/"+kind+"/"+iid+"/"+call, applied)
		}
		assert.Equal(t, 404, c.post("/projects/1/"+kind+"/2/subscribe").Status)
		assert.Equal(t, 403, jane.send("POST", "/projects/1/issues/1/time_estimate", "duration=1h").Status)
	}
}

func TestTimeTracking(t *testing.T) {
	s := New(t)
	s.AddProject("group/app").AddIssue(nil)
	c := newCaller(t, s)
	at := "/projects/1/issues/1/"
	for _, step := range []struct {
		call, form   string
		status       int
		estimate     any
		spent        any
		human, spoke any
	}{
		{"time_estimate", "duration=3h30m", 200, 12600.0, 0.0, "3h 30m", nil},
		{"add_spent_time", "duration=1w 2d&summary=x", 201, 12600.0, 201600.0, "3h 30m", "1w 2d"},
		{"add_spent_time", "duration=-1h", 201, 12600.0, 198000.0, "3h 30m", "1w 1d 7h"},
		{"reset_time_estimate", "", 200, 0.0, 198000.0, nil, "1w 1d 7h"},
		{"reset_spent_time", "", 200, 0.0, 0.0, nil, nil},
		{"time_estimate", "duration=1mo", 200, 576000.0, 0.0, "4w", nil},
	} {
		r := c.send("POST", at+step.call, step.form)
		assert.Equal(t, step.status, r.Status, r.Body)
		stats := r.object(t)
		want := map[string]any{"time_estimate": step.estimate, "total_time_spent": step.spent, "human_time_estimate": step.human, "human_total_time_spent": step.spoke}
		assert.Equal(t, want, stats)
		assert.Equal(t, stats, c.get(at+"time_stats").object(t))
	}
	for form, body := range map[string]string{
		"duration=soon": `{"message":{"duration":["is invalid"]}}`,
		"duration=-1h":  `{"message":{"base":["Time to subtract exceeds the total time spent"]}}`,
		"":              `{"error":"duration is missing"}`,
	} {
		r := c.send("POST", at+"add_spent_time", form)
		assert.Equal(t, 400, r.Status)
		assert.Equal(t, body, r.Body)
	}
	for _, form := range []string{"duration=-1h", "duration=soon", ""} {
		assert.Equal(t, 400, c.send("POST", at+"time_estimate", form).Status, form)
	}
	assert.Equal(t, 2, s.CountApplied("POST /projects/:id/issues/:issue_iid/add_spent_time"))
	guest, reporter := s.AddUser("guest"), s.AddUser("reporter")
	s.AddProject("group/app").AddMember(guest, Guest)
	s.AddProject("group/app").AddMember(reporter, Reporter)
	for _, call := range []string{"time_estimate?duration=1h", "reset_time_estimate", "add_spent_time?duration=1h", "reset_spent_time"} {
		assert.Equal(t, 403, c.as(guest.Token).post(at+call).Status, call)
		assert.Less(t, c.as(reporter.Token).post(at+call).Status, 300, call)
	}
}

func TestNotes(t *testing.T) {
	s := New(t)
	app := s.AddProject("group/app")
	first, second := app.AddIssue(nil), app.AddIssue(nil)
	jane := s.AddUser("jane")
	s.AddProject("jane/own").AddIssue(nil)
	c := newCaller(t, s)
	notes := func(iid int, body string) reply {
		return c.send("POST", fmt.Sprintf("/projects/1/issues/%d/notes", iid), "body="+esc(body))
	}
	r := notes(1, "agreed\n/promote\nsee you")
	assert.Equal(t, 201, r.Status)
	note := r.object(t)
	assertShown(t, note, map[string]any{
		"body": "agreed\nsee you", "type": nil, "attachment": nil, "system": false, "noteable_type": "Issue", "noteable_iid": 1.0,
	})
	assert.Equal(t, map[string]any{"promote_to_epic": true}, note["commands_changes"])
	assert.Equal(t, "closed", first.Get("state"))
	assert.Equal(t, int64(1), first.Get("epic.iid"))
	assert.Equal(t, int64(1), first.Get("user_notes_count"))
	assert.Equal(t, 400, notes(1, "/promote").Status)

	assert.Empty(t, notes(2, "/promote").object(t)["body"])
	assert.Equal(t, int64(0), second.Get("user_notes_count"))
	assert.Equal(t, int64(2), second.Get("epic.iid"))

	app.AddIssue(nil)
	assert.Equal(t, 400, c.post("/projects/1/issues/3/notes").Status)
	assert.Equal(t, "2020-01-02T00:00:00.000Z", c.post("/projects/2/issues/1/notes?body=x&created_at=2020-01-02").object(t)["created_at"], "an administrator")
	dated := c.as(jane.Token).post("/projects/2/issues/1/notes?body=x&created_at=2020-01-02").object(t) // she is an Owner
	assert.Equal(t, "2020-01-02T00:00:00.000Z", dated["created_at"])
	assert.Equal(t, false, notes(3, "no /promote here\n /promote\n\t/promote\n> /promote\n/promoted").object(t)["commands_changes"].(map[string]any)["promote_to_epic"])
	assert.Equal(t, 400, c.send("POST", "/projects/jane%2Fown/issues/1/notes", "body=/promote").Status)
	assert.Equal(t, 403, c.as(jane.Token).send("POST", "/projects/1/issues/3/notes", "body=/promote").Status)
}

func TestRelatedMergeRequests(t *testing.T) {
	s := New(t)
	app, secret := s.AddProject("group/app"), s.AddProject("group/secret", Private)
	i := app.AddIssue(nil)
	i.Relate(app.AddMergeRequest(func(d *Document) { d.Set("title", "Fix it").Set("draft", true) }))
	i.Relate(secret.AddMergeRequest(nil))
	c := newCaller(t, s)
	path := "/projects/1/issues/1/related_merge_requests"
	all := c.get(path).array(t)
	require.Len(t, all, 2)
	for i, want := range []map[string]any{
		{"draft": true, "work_in_progress": true, "references.short": "!1", "references.relative": "!1", "references.full": "group/app!1"},
		{"draft": false, "work_in_progress": false, "references.short": "!1", "references.relative": "group/secret!1", "references.full": "group/secret!1"},
	} {
		assertShown(t, all[i], want)
	}
	assert.Len(t, c.as("").get(path).array(t), 1)
	assert.Equal(t, int64(2), i.Get("merge_requests_count"))
	given := app.AddIssue(func(d *Document) { d.Set("merge_requests_count", 7) })
	given.Relate(secret.AddMergeRequest(nil))
	assert.Equal(t, int64(7), given.Get("merge_requests_count"))
}

// Two parameters that exclude each other do so on every list with both, and in not.
func TestExclusiveFilters(t *testing.T) {
	s := New(t)
	s.AddProject("group/app")
	c := newCaller(t, s)
	count := 0
	for _, l := range everyList(t) {
		if l.Response.Type != "Issue" && l.Response.Type != "MergeRequest" || strings.Contains(l.path, "issues/") {
			continue
		}
		for _, outer := range l.QueryParams {
			for _, p := range append(slices.Clone(outer.Keys), outer) {
				value := func(wire string) string {
					if strings.HasSuffix(wire, "milestone_id") || strings.HasSuffix(wire, "milestone_id]") {
						return "Any"
					}
					return "1"
				}
				for _, other := range p.ExclusiveWith {
					count++
					query := url.Values{p.Wire: {value(p.Wire)}, other: {value(other)}}.Encode()
					r := c.get(l.ask(query))
					assert.Equal(t, 400, r.Status, "%s %s", l.route, query)
					assert.Equal(t, 1, strings.Count(r.Body, "mutually exclusive"), r.Body)
				}
			}
		}
	}
	assert.Equal(t, 2*30, count)
}
