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

// noon is the clock of these tests: Wednesday 2026-03-04.
func noon() time.Time { return time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC) }

func day(d int) time.Time { return time.Date(2026, 3, d, 0, 0, 0, 0, time.UTC) }

// filterWorld has ten issues that differ in all values by which the lists filter.
func filterWorld(t *testing.T) (*Server, caller) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	jane, tom := s.AddUser("jane"), s.AddUser("tom")
	p.AddLabel("bug", "#ff0000", "broken", 1)
	p.AddLabel("idea", "#00ff00", "", 2)
	old := p.AddMilestone("old", day(1).AddDate(0, -2, 0), day(1))
	current := p.AddMilestone("current", day(2), day(9))
	next := p.AddMilestone("next", day(10), day(20))
	at := func(d *Document, n int) *Document { return d.Set("created_at", day(1).AddDate(0, 0, -20+n)) }
	p.AddIssues(10, func(i int, d *Document) { at(d, i+1).Set("title", fmt.Sprintf("Title %d", i+1)) })
	edit := func(iid int64, fill func(d *Document)) { fill(p.tracker.at(iid).doc) }
	edit(1, func(d *Document) {
		d.Set("labels", []string{"bug", "idea"}).Set("due_date", "2026-03-03").Set("weight", 5)
	})
	edit(2, func(d *Document) { d.Set("labels", []string{"bug"}).Set("due_date", "2026-03-04").Set("weight", 1) })
	edit(3, func(d *Document) { d.Set("author", jane).Set("due_date", "2026-03-05").Set("milestone", old) })
	edit(4, func(d *Document) {
		d.Set("author", jane).Set("assignees", []*User{tom}).Set("milestone", current).Set("due_date", "2026-03-31")
	})
	edit(5, func(d *Document) {
		d.Set("assignees", []*User{tom, jane}).Set("milestone", next).Set("due_date", "2026-04-30")
	})
	edit(6, func(d *Document) {
		d.Set("confidential", true).Set("state", "closed").Set("closed_at", noon()).Set("closed_by", jane)
	})
	edit(7, func(d *Document) {
		d.Set("issue_type", "incident").Set("health_status", "at_risk").Set("description", "a needle here")
	})
	edit(8, func(d *Document) {
		d.Set("title", "Needle").Set("epic", NewDocument("Epic").Set("id", 7)).
			Set("iteration", NewDocument("Iteration").Set("id", 3).Set("title", "sprint"))
	})
	p.tracker.at(9).AddAwardEmoji(s.Root(), "rocket")
	p.tracker.at(9).AddAwardEmoji(jane, "thumbsup")
	edit(10, func(d *Document) { d.Set("updated_at", noon()).Set("upvotes", 9) })
	sub := s.AddProject("group/sub/lib")
	sub.AddIssue(func(d *Document) { at(d, 0).Set("title", "In the subgroup") })
	other := s.AddProject("other/app")
	other.AddIssue(func(d *Document) { at(d, -1).Set("title", "Elsewhere") })
	archived := s.AddProject("group/attic")
	archived.AddIssue(func(d *Document) { at(d, -2).Set("title", "Archived") })
	archived.Archive()
	return s, newCaller(t, s)
}

// filterCase is a query with the iids of group/app that it must find, in order.
type filterCase struct {
	query string
	want  []int
}

// checkFilters calls both lists. The list of a group has no iids in not and no order by title.
func checkFilters(t *testing.T, cases []filterCase) {
	checkFiltersOf(t, "/issues", cases)
	checkFiltersOf(t, "/groups/group/issues", slices.DeleteFunc(slices.Clone(cases), func(tc filterCase) bool {
		return strings.Contains(tc.query, "not[iids]") || strings.Contains(tc.query, "order_by=title")
	}))
}

func checkFiltersOf(t *testing.T, list string, cases []filterCase) {
	_, c := filterWorld(t)
	for _, tc := range cases {
		t.Run(list+" "+tc.query, func(t *testing.T) {
			query := tc.query
			if !strings.HasPrefix(query, "scope=") {
				query += "&scope=all"
			}
			r := c.get(list + "?per_page=100&" + query)
			require.Equal(t, 200, r.Status, r.Body)
			got := []int{}
			for _, item := range r.array(t) {
				if item["project_id"] == 1.0 {
					got = append(got, int(item["iid"].(float64)))
				}
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestIssueFiltersByPeople(t *testing.T) {
	checkFilters(t, []filterCase{
		{"assignee_id=None", []int{10, 9, 8, 7, 6, 3, 2, 1}},
		{"assignee_id=Any", []int{5, 4}},
		{"assignee_id=2", []int{5}},
		{"assignee_username[]=tom", []int{5, 4}},
		{"assignee_username[]=tom&assignee_username[]=jane", []int{5}},
		{"assignee_username=tom", []int{5, 4}},
		{"not[assignee_username][]=jane", []int{10, 9, 8, 7, 6, 4, 3, 2, 1}},
		{"not[assignee_id]=3", []int{10, 9, 8, 7, 6, 3, 2, 1}},
		{"author_id=2", []int{4, 3}},
		{"author_username=jane", []int{4, 3}},
		{"not[author_id]=1", []int{4, 3}},
		{"confidential=true", []int{6}},
		{"confidential=false", []int{10, 9, 8, 7, 5, 4, 3, 2, 1}},
		{"my_reaction_emoji=rocket", []int{9}},
		{"my_reaction_emoji=Any", []int{9}},
		{"my_reaction_emoji=thumbsup", []int{}},
		{"scope=created_by_me", []int{10, 9, 8, 7, 6, 5, 2, 1}},
		{"scope=assigned_to_me", []int{}},
	})
}

func TestIssueFiltersByDates(t *testing.T) {
	checkFilters(t, []filterCase{
		{"created_after=2026-02-18T00:00:00Z", []int{10, 9}},
		{"created_before=2026-02-11T00:00:00Z", []int{2, 1}},
		{"created_before=" + esc("2026-02-11T01:00:00+01:00"), []int{2, 1}},
		{"updated_after=2026-03-01T00:00:00Z", []int{10}},
		{"updated_before=2026-02-11T00:00:00Z", []int{2, 1}},
		{"due_date=0", []int{10, 9, 8, 7, 6}},
		{"due_date=any", []int{5, 4, 3, 2, 1}},
		{"due_date=today", []int{2}},
		{"due_date=tomorrow", []int{3}},
		{"due_date=overdue", []int{1}},
		{"due_date=week", []int{3, 2, 1}},
		{"due_date=month", []int{4, 3, 2, 1}},
		{"due_date=next_month_and_previous_two_weeks", []int{5, 4, 3, 2, 1}},
	})
}

func TestIssueFiltersByContent(t *testing.T) {
	checkFilters(t, []filterCase{
		{"epic_id=7", []int{8}},
		{"epic_id=None", []int{10, 9, 7, 6, 5, 4, 3, 2, 1}},
		{"epic_id=Any", []int{8}},
		{"health_status=at_risk", []int{7}},
		{"health_status=Any", []int{7}},
		{"health_status=None", []int{10, 9, 8, 6, 5, 4, 3, 2, 1}},
		{"iids[]=3&iids[]=5", []int{5, 3}},
		{"not[iids][]=3&not[iids][]=5", []int{10, 9, 8, 7, 6, 4, 2, 1}},
		{"issue_type=incident", []int{7}},
		{"iteration_id=3", []int{8}},
		{"iteration_id=Any", []int{8}},
		{"iteration_id=None", []int{10, 9, 7, 6, 5, 4, 3, 2, 1}},
		{"iteration_title=sprint", []int{8}},
		{"not[iteration_title]=sprint", []int{10, 9, 7, 6, 5, 4, 3, 2, 1}},
		{"labels=bug", []int{2, 1}},
		{"labels=bug,idea", []int{1}},
		{"labels=None", []int{10, 9, 8, 7, 6, 5, 4, 3}},
		{"labels=any", []int{2, 1}},
		{"labels=No+Label", []int{10, 9, 8, 7, 6, 5, 4, 3}},
		{"not[labels]=idea", []int{10, 9, 8, 7, 6, 5, 4, 3, 2}},
		{"labels=bug&not[labels]=idea", []int{2}},
		{"milestone=current", []int{4}},
		{"milestone=None", []int{10, 9, 8, 7, 6, 2, 1}},
		{"milestone=Any", []int{5, 4, 3}},
		{"not[milestone]=old", []int{10, 9, 8, 7, 6, 5, 4, 2, 1}},
		{"milestone_id=None", []int{10, 9, 8, 7, 6, 2, 1}},
		{"milestone_id=Any", []int{5, 4, 3}},
		{"milestone_id=Upcoming", []int{4}},
		{"milestone_id=Started", []int{4}},
		{"not[milestone_id]=Any", []int{10, 9, 8, 7, 6, 2, 1}},
		{"search=needle", []int{8, 7}},
		{"search=needle&in=title", []int{8}},
		{"search=needle&in=description", []int{7}},
		{"search=needle&in=title,description", []int{8, 7}},
		{"search=needle&in=description,title", []int{8, 7}},
		{"search=here+needle", []int{7}},
		{"state=closed", []int{6}},
		{"state=opened", []int{10, 9, 8, 7, 5, 4, 3, 2, 1}},
		{"state=all", []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"weight=5", []int{1}},
		{"weight=0", []int{}}, // an issue without a weight does not have weight 0
		{"weight=None", []int{10, 9, 8, 7, 6, 5, 4, 3}},
		{"weight=Any", []int{2, 1}},
		{"not[weight]=5", []int{10, 9, 8, 7, 6, 5, 4, 3, 2}},
	})
}

// A milestone that has begun is the upcoming one if no other milestone is due before it.
func TestUpcomingMilestone(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	closed := p.AddMilestone("closed", day(1), day(5))
	closed.Set("state", "closed")
	for _, m := range []*Document{
		p.AddMilestone("due today", day(1), day(4)), closed, p.AddMilestone("begun", day(2), day(7)),
		p.AddMilestone("later", day(6), day(20)), p.AddMilestone("no dates", time.Time{}, time.Time{}),
		p.AddMilestone("begins today", day(4), time.Time{}),
	} {
		p.AddIssue(func(d *Document) { d.Set("milestone", m) })
	}
	c := newCaller(t, s)
	for word, want := range map[string][]any{"Upcoming": {3.0}, "Started": {6.0, 3.0, 1.0}, "upcoming": {3.0}} {
		for _, path := range []string{"/issues?scope=all", "/groups/group/issues?"} {
			assert.Equal(t, want, c.get(path+"&milestone_id="+word).column(t, "iid"), "%s %s", path, word)
		}
	}
}

// milestone_id accepts its four keywords and nothing else, on every list and in every hash.
func TestMilestoneKeywords(t *testing.T) {
	_, c := filterWorld(t)
	for _, list := range []string{"/issues", "/groups/group/issues"} {
		for _, wire := range []string{"milestone_id", "not[milestone_id]"} {
			for value, want := range map[string]int{
				"None": 200, "Any": 200, "Upcoming": 200, "Started": 200, "none": 200, "STARTED": 200,
				"7": 400, "current": 400, "Overdue": 400, "0": 400, "": 400, "No+Milestone": 400,
			} {
				assert.Equal(t, want, c.get(list+"?"+wire+"="+value).Status, "%s %s=%s", list, wire, value)
			}
		}
	}
}

// The row of not has no keywords: its values are only ids and texts.
func TestNotRefusesKeywords(t *testing.T) {
	_, c := filterWorld(t)
	for _, query := range []string{
		"/issues?not[assignee_id]=", "/groups/group/issues?not[assignee_id]=", "/issues?not[weight]=", "/groups/group/issues?not[weight]=",
		"/issues?not[iteration_id]=", "/issues?not[author_id]=", "/merge_requests?not[assignee_id]=", "/merge_requests?not[reviewer_id]=",
	} {
		for _, word := range []string{"None", "Any"} {
			assert.Equal(t, 400, c.get(query+word).Status, query+word)
		}
		assert.Equal(t, 200, c.get(query+"1").Status, query)
	}
	for _, query := range []string{"not[labels]=None", "not[labels]=Any", "not[milestone]=Any", "not[milestone]=None",
		"not[my_reaction_emoji]=None", "not[my_reaction_emoji]=Any"} {
		assert.Len(t, c.get("/groups/group/issues?"+query).array(t), 11, query)
	}
}

// Two parameters that exclude each other do so on every list with both, and in not.
func TestExclusiveFilters(t *testing.T) {
	_, c := filterWorld(t)
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
	assert.Equal(t, 2*26, count)
	for _, query := range []string{ // listed here, because the table above is the server's own
		"/groups/group/issues?milestone_id=Any&milestone=a", "/groups/group/issues?not[milestone_id]=Any&not[milestone]=a",
		"/issues?not[author_id]=1&not[author_username]=a", "/issues?not[assignee_id]=1&not[assignee_username][]=a",
		"/merge_requests?not[reviewer_id]=1&not[reviewer_username]=a",
	} {
		assert.Equal(t, 400, c.get(query).Status, query)
	}
	assert.Equal(t, 200, c.get("/merge_requests?not[assignee_id]=1&not[assignee_username]=a").Status, "no row excludes them")
}

func TestIssueOrder(t *testing.T) {
	checkFilters(t, []filterCase{
		{"", []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"sort=asc", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"order_by=weight", []int{1, 2, 10, 9, 8, 7, 6, 5, 4, 3}},
		{"order_by=weight&sort=asc", []int{2, 1, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"order_by=due_date&sort=asc", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"order_by=title&sort=asc", []int{8, 1, 10, 2, 3, 4, 5, 6, 7, 9}},
		{"order_by=popularity", []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		{"order_by=milestone_due&sort=asc", []int{3, 4, 5, 1, 2, 6, 7, 8, 9, 10}},
		{"order_by=label_priority&sort=asc", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"order_by=priority&sort=asc", []int{3, 4, 5, 1, 2, 6, 7, 8, 9, 10}},
		{"order_by=relative_position&sort=asc", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
		{"order_by=updated_at&iids[]=10&iids[]=9", []int{10, 9}},
	})
}

func TestIssueLists(t *testing.T) {
	s, c := filterWorld(t)
	titles := func(path string) []any { return c.get(path).column(t, "title") }
	assert.Contains(t, titles("/groups/group/issues"), "In the subgroup")
	assert.NotContains(t, titles("/groups/group/issues"), "Elsewhere")
	assert.NotContains(t, titles("/groups/group/issues"), "Archived")
	assert.Contains(t, titles("/groups/group/issues?non_archived=false"), "Archived")
	assert.Equal(t, []any{"In the subgroup"}, titles("/groups/group%2Fsub/issues"))
	assert.Equal(t, 400, c.get("/groups/group/issues?order_by=title").Status) // an order of the global list only
	assert.Equal(t, 400, c.get("/issues?milestone=a&milestone_id=Any").Status)
	assert.Equal(t, 400, c.get("/issues?iteration_id=1&iteration_title=a").Status)
	assert.Equal(t, 400, c.get("/issues?author_id=1&author_username=a").Status)
	// milestone_id is a parameter of the global list; the deployed server also accepts it on the group
	// list
	assert.Equal(t, []any{"Title 4"}, titles("/groups/group/issues?milestone_id=Started"))

	jane := c.as(s.store.userByName("jane").Token)
	assert.Len(t, jane.get("/issues").array(t), 2) // the default scope is created_by_me
	assert.NotContains(t, jane.get("/issues?scope=all&per_page=100").column(t, "title"), "Title 6")
	anonymous := c.as("")
	assert.NotContains(t, anonymous.get("/groups/group/issues").column(t, "title"), "Title 6")
	assert.Equal(t, 401, anonymous.post("/projects/1/issues/6/subscribe").Status)
	assert.Equal(t, 404, anonymous.get("/projects/1/issues/6/time_stats").Status) // confidential

	group := c.get("/groups/group/issues?search=subgroup").array(t)[0]["references"]
	assert.Equal(t, map[string]any{"short": "#1", "relative": "sub/lib#1", "full": "group/sub/lib#1"}, group)
	global := c.get("/issues?search=subgroup").array(t)[0]["references"]
	assert.Equal(t, map[string]any{"short": "#1", "relative": "group/sub/lib#1", "full": "group/sub/lib#1"}, global)

	for _, names := range []string{"", "&with_labels_details=false"} {
		assert.Equal(t, []any{"bug", "idea"}, c.get("/issues?labels=idea" + names).array(t)[0]["labels"])
	}
	label := c.get("/issues?labels=idea&with_labels_details=true").array(t)[0]["labels"].([]any)[0].(map[string]any)
	keys(t, "LabelDetails", "", label)
	assert.Equal(t, "#ff0000", label["color"])
}

func TestIssueShape(t *testing.T) {
	s := New(t, WithDemo())
	c := newCaller(t, s)
	issues := c.get("/issues?scope=all&per_page=100&search=acme+staging").array(t)
	for _, issue := range append(issues, c.get("/issues?scope=all&per_page=100").array(t)...) {
		keys(t, "Issue", "list", issue)
		for _, u := range issue["assignees"].([]any) {
			keys(t, "UserSummary", "", u.(map[string]any))
		}
	}
	subscribed := c.post("/projects/acme%2Fstorefront/issues/1/subscribe").object(t)
	keys(t, "Issue", "subscription", subscribed)
	assert.Equal(t, s.URL+"/acme/storefront/-/issues/1", subscribed["web_url"])
	project := s.URL + "/api/v4/projects/1"
	self := project + "/issues/1"
	assert.Equal(t, map[string]any{
		"self": self, "notes": self + "/notes", "award_emoji": self + "/award_emoji", "project": project, "closed_as_duplicate_of": nil,
	}, subscribed["_links"])
	mrs := c.get("/projects/1/issues/1/related_merge_requests").array(t)
	require.Len(t, mrs, 1)
	keys(t, "MergeRequest", "list", mrs[0])
	total := c.get("/issues?scope=all").Header.Get("X-Total")
	assert.Equal(t, "304", total)
}

func TestIssueTransitions(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	p.AddIssue(func(d *Document) { d.Set("title", "One") })
	c := newCaller(t, s)
	jane := c.as(s.AddUser("jane").Token)
	at := "/projects/group%2Fapp/issues/1/"

	for _, step := range []struct {
		who    caller
		call   string
		status int
	}{
		{c, "unsubscribe", 304}, {c, "subscribe", 201}, {c, "subscribe", 304}, {jane, "unsubscribe", 304}, {jane, "subscribe", 201},
		{c, "unsubscribe", 201}, {c, "unsubscribe", 304}, {c, "todo", 201}, {c, "todo", 304}, {jane, "todo", 201},
		{jane, "time_estimate?duration=1h", 403}, {jane, "notes", 400},
	} {
		r := step.who.post(at + step.call)
		assert.Equal(t, step.status, r.Status, step.call)
		if r.Status == 304 {
			assert.Empty(t, r.Body)
		}
	}
	assert.Equal(t, 2, s.CountApplied("POST /projects/:id/issues/:issue_iid/subscribe"))
	assert.Equal(t, 1, s.CountApplied("POST /projects/:id/issues/:issue_iid/unsubscribe"))
	assert.Equal(t, 2, s.CountApplied("POST /projects/:id/issues/:issue_iid/todo"))

	p.AddIssue(nil)
	for _, call := range []string{"subscribe", "unsubscribe"} {
		issue := c.post("/projects/1/issues/2/" + call).object(t)
		keys(t, "Issue", "subscription", issue)
		assertShown(t, issue, map[string]any{"iid": 2.0, "subscribed": call == "subscribe"})
	}
	todo := c.post("/projects/1/issues/2/todo").object(t)
	keys(t, "Todo", "", todo)
	keys(t, "Issue", "", todo["target"].(map[string]any))
	assert.Equal(t, "pending", todo["state"])
	assert.Equal(t, "group/app", todo["project"].(map[string]any)["path_with_namespace"])
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
		keys(t, "TimeStats", "", stats)
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
	keys(t, "Note", "", note)
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
	keys(t, "MergeRequest", "", all[0])
	for i, want := range []map[string]any{
		{"draft": true, "work_in_progress": true, "references.short": "!1", "references.relative": "!1", "references.full": "group/app!1"},
		{"draft": false, "work_in_progress": false, "references.short": "!1", "references.relative": "group/secret!1", "references.full": "group/secret!1"},
	} {
		assertShown(t, all[i], want)
	}
	assert.Len(t, c.as("").get(path).array(t), 1)
	assert.Equal(t, int64(2), i.Get("merge_requests_count"))
}
