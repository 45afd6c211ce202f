package forge

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIssues(t *testing.T) {
	app := Path("group/app")
	runScenarios(t, []scenario{
		{
			name:      "list",
			exchanges: []exchange{{sent: "GET /issues", query: "per_page=100", answer: "issues/issues.json"}},
			run: func(t *testing.T, c *Client) {
				issues, err := Collect(c.Issues.List(t.Context(), nil))
				require.NoError(t, err)
				assertWhole(t, "issues/issues.json", issues)
				full, empty := issues[0], issues[1]
				assert.Equal(t, "bug", full.Labels[0].String())
				assert.Equal(t, "#FFFFFF", empty.Labels[0].TextColor, "labels with details")
				assert.Equal(t, new(0), full.Weight)
				assert.Nil(t, empty.Weight)
				assert.Equal(t, NewDate(2026, time.March, 31), full.DueDate)
				assert.True(t, empty.DueDate.IsZero())
				assert.True(t, empty.ClosedAt.IsZero())
				assert.Nil(t, empty.ClosedBy)
				assert.EqualValues(t, 7, empty.Milestone.GroupID)
			},
		},
		{
			name: "list for a group",
			exchanges: []exchange{{
				sent: "GET /groups/group%2Fteam/issues", answer: "issues/issues.json",
				query: "not[in]=title&not[my_reaction_emoji]=thumbsdown&not[search]=draft&per_page=100&state=opened",
			}},
			run: func(t *testing.T, c *Client) {
				issues, err := Collect(c.Issues.ListForGroup(t.Context(), Path("group/team"), &ListIssuesOptions{
					State: IssueStateOpened, Not: &IssueNot{MyReactionEmoji: Text("thumbsdown"), Search: "draft", In: SearchInTitle},
				}))
				require.NoError(t, err)
				assertWhole(t, "issues/issues.json", issues)
			},
		},
		{
			name: "subscribe and unsubscribe",
			exchanges: []exchange{
				{sent: "POST /projects/group%2Fapp/issues/5/subscribe", status: 201, answer: "issues/subscribed.json"},
				{sent: "POST /projects/group%2Fapp/issues/5/unsubscribe", status: 201, answer: "issues/unsubscribed.json"},
				{sent: "POST /projects/group%2Fapp/issues/5/unsubscribe", status: 304},
				{sent: "POST /projects/group%2Fapp/issues/5/subscribe", status: 304},
			},
			run: func(t *testing.T, c *Client) {
				issue, err := c.Issues.Subscribe(t.Context(), app, 5)
				require.NoError(t, err)
				assertWhole(t, "issues/subscribed.json", issue)
				assert.Equal(t, new(true), issue.Subscribed)
				issue, err = c.Issues.Unsubscribe(t.Context(), app, 5)
				require.NoError(t, err)
				assertWhole(t, "issues/unsubscribed.json", issue)
				assert.Equal(t, new(false), issue.Subscribed)
				issue, err = c.Issues.Unsubscribe(t.Context(), app, 5)
				assert.True(t, IsNotModified(err))
				assert.Nil(t, issue)
				_, err = c.Issues.Subscribe(t.Context(), app, 5)
				assert.True(t, IsNotModified(err))
			},
		},
		{
			name: "to-do",
			exchanges: []exchange{
				{sent: "POST /projects/42/issues/5/todo", status: 201, answer: "issues/todo.json"},
				{sent: "POST /projects/42/issues/5/todo", status: 304},
			},
			run: func(t *testing.T, c *Client) {
				todo, err := c.Issues.CreateTodo(t.Context(), ID(42), 5)
				require.NoError(t, err)
				assertWhole(t, "issues/todo.json", todo)
				issue, err := todo.Issue()
				require.NoError(t, err)
				assert.Equal(t, todo.TargetURL, issue.WebURL)
				_, err = todo.MergeRequest()
				require.ErrorContains(t, err, "no target of type MergeRequest")
				_, err = c.Issues.CreateTodo(t.Context(), ID(42), 5)
				assert.True(t, IsNotModified(err))
			},
		},
		{
			name: "promote",
			exchanges: []exchange{
				{sent: "POST /projects/42/issues/5/notes", body: `{"body":"/promote"}`, status: 201, answer: "issues/note.json"},
				{sent: "POST /projects/42/issues/5/notes", body: `{"body":"/promote"}`, status: 201, answer: "issues/note.json"},
				{sent: "POST /projects/42/issues/5/notes", body: `{"body":"Too big\r\n/promote\r\nNow an epic"}`, status: 403, answer: `{"message":"403 Forbidden"}`},
			},
			run: func(t *testing.T, c *Client) {
				note, err := c.Issues.Promote(t.Context(), ID(42), 5, nil)
				require.NoError(t, err)
				assertWhole(t, "issues/note.json", note)
				assert.True(t, note.CommandsChanges.PromoteToEpic)
				options := &PromoteIssueOptions{}
				_, err = c.Issues.Promote(t.Context(), ID(42), 5, options)
				require.NoError(t, err)
				assert.Empty(t, *options, "the caller's options do not change")
				_, err = c.Issues.Promote(t.Context(), ID(42), 5, &PromoteIssueOptions{Body: "Too big\r\n/promote\r\nNow an epic"})
				require.ErrorIs(t, err, ErrForbidden)
				assert.ErrorContains(t, err, "Premium or Ultimate")
			},
		},
		{
			name: "time tracking",
			exchanges: []exchange{
				{sent: "POST /projects/42/issues/5/time_estimate", body: `{"duration":"3h30m"}`, answer: "issues/time_stats.json"},
				{sent: "POST /projects/42/issues/5/reset_time_estimate", answer: "issues/time_stats_unestimated.json"},
				{sent: "POST /projects/42/issues/5/add_spent_time", body: `{"duration":"8h","summary":"Review"}`, status: 201, answer: "issues/time_stats.json"},
				{sent: "POST /projects/42/issues/5/add_spent_time", body: `{"duration":"-45m"}`, status: 201, answer: "issues/time_stats.json"},
				{sent: "POST /projects/42/issues/5/reset_spent_time", answer: "issues/time_stats_unspent.json"},
				{sent: "GET /projects/42/issues/5/time_stats", answer: "issues/time_stats.json"},
			},
			run: func(t *testing.T, c *Client) {
				see := func(fixture string, stats *TimeStats, err error) {
					t.Helper()
					require.NoError(t, err)
					assertWhole(t, fixture, stats)
				}
				day, err := ParseWorkDuration("1d")
				require.NoError(t, err)
				stats, err := c.Issues.SetTimeEstimate(t.Context(), ID(42), 5, &SetTimeEstimateOptions{Duration: WorkDuration(210 * time.Minute)})
				see("issues/time_stats.json", stats, err)
				stats, err = c.Issues.ResetTimeEstimate(t.Context(), ID(42), 5)
				see("issues/time_stats_unestimated.json", stats, err)
				stats, err = c.Issues.AddSpentTime(t.Context(), ID(42), 5, &AddSpentTimeOptions{Duration: day, Summary: "Review"})
				see("issues/time_stats.json", stats, err)
				stats, err = c.Issues.AddSpentTime(t.Context(), ID(42), 5, &AddSpentTimeOptions{Duration: WorkDuration(-45 * time.Minute)})
				see("issues/time_stats.json", stats, err)
				stats, err = c.Issues.ResetSpentTime(t.Context(), ID(42), 5)
				see("issues/time_stats_unspent.json", stats, err)
				stats, err = c.Issues.GetTimeStats(t.Context(), ID(42), 5)
				see("issues/time_stats.json", stats, err)
				assert.Equal(t, "3h30m 45m", stats.Estimate().String()+" "+stats.Spent().String())
			},
		},
		{
			name:      "related merge requests",
			exchanges: []exchange{{sent: "GET /projects/42/issues/5/related_merge_requests", query: "per_page=100", answer: "issues/merge_requests.json"}},
			run: func(t *testing.T, c *Client) {
				requests, err := Collect(c.Issues.ListRelatedMergeRequests(t.Context(), ID(42), 5))
				require.NoError(t, err)
				assertWhole(t, "issues/merge_requests.json", requests)
				assert.Equal(t, new(2), requests[0].ApprovalsBeforeMerge)
				assert.Nil(t, requests[1].ApprovalsBeforeMerge)
				assert.Nil(t, requests[1].DiffRefs)
				assert.Nil(t, requests[1].HeadPipeline)
				assert.Nil(t, requests[1].Milestone)
			},
		},
	})
}

// TestIssueFilters shows the wire form of every filter of the lists.
func TestIssueFilters(t *testing.T) {
	rows := []struct {
		name    string
		options *ListIssuesOptions
		query   string // without per_page
	}{
		{"nil", nil, ""},
		{"zero", &ListIssuesOptions{Not: &IssueNot{}}, ""},
		{"by ids", &ListIssuesOptions{
			AssigneeID: ID(1), AuthorID: 2, ClosedByID: 3, EpicID: ID(4), IterationID: ID(5), IIDs: []int64{7, 8}, Weight: Number(9),
		}, "assignee_id=1&author_id=2&closed_by_id=3&epic_id=4&iids[]=7&iids[]=8&iteration_id=5&weight=9"},
		{"by names", &ListIssuesOptions{
			AssigneeUsername: []string{"ada", "bob"}, AuthorUsername: "eve", IterationTitle: "I 1", Milestone: Text("v1 & v2"), MyReactionEmoji: Text("+1"),
			HealthStatus: Text(HealthStatusOnTrack), Labels: Labels("bug", "p 1"),
		}, "assignee_username[]=ada&assignee_username[]=bob&author_username=eve&health_status=on_track&iteration_title=I+1&labels=bug%2Cp+1&milestone=v1+%26+v2&my_reaction_emoji=%2B1"},
		{"none", &ListIssuesOptions{
			AssigneeID: None, EpicID: None, HealthStatus: None, IterationID: None, Labels: None, MilestoneID: None, MyReactionEmoji: None, Weight: None, DueDate: DueNone,
		}, "assignee_id=None&due_date=0&epic_id=None&health_status=None&iteration_id=None&labels=None&milestone_id=None&my_reaction_emoji=None&weight=None"},
		{"any", &ListIssuesOptions{
			AssigneeID: Any, EpicID: Any, HealthStatus: Any, IterationID: Any, Labels: Any, Milestone: Any, MyReactionEmoji: Any, Weight: Any, DueDate: DueAny,
		}, "assignee_id=Any&due_date=any&epic_id=Any&health_status=Any&iteration_id=Any&labels=Any&milestone=Any&my_reaction_emoji=Any&weight=Any"},
		{"weight 0", &ListIssuesOptions{Weight: Number(0)}, "weight=0"},
		{"written and assigned", &ListIssuesOptions{AuthorID: 2, Scope: ScopeAssignedToMe}, "author_id=2&scope=assigned_to_me"},
		{"written by anyone", &ListIssuesOptions{AuthorID: 2, Scope: ScopeAll}, "author_id=2&scope=all"},
		{"upcoming", &ListIssuesOptions{MilestoneID: Upcoming}, "milestone_id=Upcoming"},
		{"started", &ListIssuesOptions{MilestoneID: Started}, "milestone_id=Started"},
		{"times", &ListIssuesOptions{CreatedAfter: moment(), CreatedBefore: moment().UTC(), UpdatedAfter: moment(), UpdatedBefore: moment().UTC()},
			"created_after=2026-03-04T07%3A30%3A00.000Z&created_before=2026-03-04T07%3A30%3A00.000Z&updated_after=2026-03-04T07%3A30%3A00.000Z&updated_before=2026-03-04T07%3A30%3A00.000Z"},
		{"words", &ListIssuesOptions{
			In: SearchInBoth, IssueType: IssueTypeTestCase, OrderBy: IssueOrderByLabelPriority, Scope: ScopeAll, Search: "a+b", Sort: SortAsc, State: IssueStateAll,
		}, "in=title%2Cdescription&issue_type=test_case&order_by=label_priority&scope=all&search=a%2Bb&sort=asc&state=all"},
		{"false is sent", &ListIssuesOptions{Confidential: new(false), NonArchived: new(false), WithLabelsDetails: new(false)},
			"confidential=false&non_archived=false&with_labels_details=false"},
		{"true is sent", &ListIssuesOptions{Confidential: new(true), NonArchived: new(true), WithLabelsDetails: new(true)},
			"confidential=true&non_archived=true&with_labels_details=true"},
		{"not by ids", &ListIssuesOptions{Not: &IssueNot{
			AssigneeID: ID(1), AuthorID: 2, IterationID: ID(5), MilestoneID: Started, Weight: new(Number(0)),
		}}, "not[assignee_id]=1&not[author_id]=2&not[iteration_id]=5&not[milestone_id]=Started&not[weight]=0"},
		{"not by names", &ListIssuesOptions{Not: &IssueNot{
			AssigneeUsername: []string{"ada"}, AuthorUsername: "eve", IterationTitle: "I", Labels: Labels("a", "b"), Milestone: Text("v1"),
		}}, "not[assignee_username][]=ada&not[author_username]=eve&not[iteration_title]=I&not[labels]=a%2Cb&not[milestone]=v1"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			values, err := url.ParseQuery(strings.NewReplacer("[", "%5B", "]", "%5D").Replace(row.query))
			require.NoError(t, err)
			values.Set("per_page", "100")
			query := strings.NewReplacer("%5B", "[", "%5D", "]").Replace(values.Encode())
			c := serve(t, exchange{sent: "GET /issues", query: query, answer: "[]"}, exchange{sent: "GET /groups/7/issues", query: query, answer: "[]"})
			_, err = Collect(c.Issues.List(t.Context(), row.options))
			require.NoError(t, err)
			_, err = Collect(c.Issues.ListForGroup(t.Context(), ID(7), row.options))
			require.NoError(t, err)
		})
	}
}

// TestIssuesRefused checks which arguments are refused before anything is sent, and how the error
// names them.
func TestIssuesRefused(t *testing.T) {
	c := serve(t)
	lists := []struct {
		options       *ListIssuesOptions
		option, param string
	}{
		{&ListIssuesOptions{AssigneeID: None, AssigneeUsername: []string{"ada"}}, "AssigneeID", "assignee_id"},
		{&ListIssuesOptions{AssigneeID: ID(1), AssigneeUsername: []string{"ada"}}, "AssigneeID", "assignee_id"},
		{&ListIssuesOptions{AuthorID: 1, AuthorUsername: "ada"}, "AuthorID", "author_id"},
		{&ListIssuesOptions{IterationID: Any, IterationTitle: "I"}, "IterationID", "iteration_id"},
		{&ListIssuesOptions{MilestoneID: Started, Milestone: Any}, "MilestoneID", "milestone_id"},
		{&ListIssuesOptions{Not: &IssueNot{AssigneeID: ID(1), AssigneeUsername: []string{"ada"}}}, "Not.AssigneeID", "not[assignee_id]"},
		{&ListIssuesOptions{Not: &IssueNot{AuthorID: 1, AuthorUsername: "ada"}}, "Not.AuthorID", "not[author_id]"},
		{&ListIssuesOptions{Not: &IssueNot{IterationID: ID(1), IterationTitle: "I"}}, "Not.IterationID", "not[iteration_id]"},
		{&ListIssuesOptions{Not: &IssueNot{MilestoneID: Started, Milestone: Text("v1")}}, "Not.MilestoneID", "not[milestone_id]"},
		{&ListIssuesOptions{Labels: Labels("a,b")}, "Labels", "labels"},
		{&ListIssuesOptions{Labels: Labels()}, "Labels", "labels"},
		{&ListIssuesOptions{Labels: Labels("a", " ")}, "Labels", "labels"},
		{&ListIssuesOptions{Milestone: Text("")}, "Milestone", "milestone"},
		{&ListIssuesOptions{AssigneeID: ID(0)}, "AssigneeID", "assignee_id"},
		{&ListIssuesOptions{Not: &IssueNot{Labels: Labels("a,b")}}, "Not.Labels", "not[labels]"},
	}
	for _, row := range lists {
		_, err := Collect(c.Issues.List(t.Context(), row.options))
		assertRefused(t, err, "ListIssuesOptions."+row.option, row.param)
		_, err = Collect(c.Issues.ListForGroup(t.Context(), ID(7), row.options))
		assertRefused(t, err, "ListIssuesOptions."+row.option, row.param)
	}
	for _, body := range []string{"Promote", " /promote", "see /promote", "/promoted", "/promote_to_incident", "a\n > /promote"} {
		_, err := c.Issues.Promote(t.Context(), ID(42), 5, &PromoteIssueOptions{Body: body})
		assertRefused(t, err, "PromoteIssueOptions.Body", "body")
	}
	for _, duration := range []WorkDuration{0, WorkDuration(time.Second - 1), WorkDuration(1 - time.Second)} {
		_, err := c.Issues.SetTimeEstimate(t.Context(), ID(42), 5, &SetTimeEstimateOptions{Duration: duration})
		assertRefused(t, err, "SetTimeEstimateOptions.Duration", "duration")
		_, err = c.Issues.AddSpentTime(t.Context(), ID(42), 5, &AddSpentTimeOptions{Duration: duration, Summary: "Review"})
		assertRefused(t, err, "AddSpentTimeOptions.Duration", "duration")
	}
	_, err := c.Issues.SetTimeEstimate(t.Context(), ID(42), 5, nil)
	assertRefused(t, err, "SetTimeEstimateOptions.Duration", "duration")
	_, err = c.Issues.Subscribe(t.Context(), ID(42), 0)
	assertRefused(t, err, "argument", "issue_iid")
	_, err = c.Issues.Subscribe(t.Context(), Path("group/../app"), 5)
	assertRefused(t, err, "argument", "id")
}

// TestTodoTarget checks both kinds of target, and a to-do without a target.
func TestTodoTarget(t *testing.T) {
	todo := &Todo{TargetType: TodoTargetMergeRequest, Target: json.RawMessage(`{"iid":14,"state":"merged"}`)}
	request, err := todo.MergeRequest()
	require.NoError(t, err)
	assert.EqualValues(t, 14, request.IID)
	assert.Equal(t, MergeRequestStateMerged, request.State)
	for _, bad := range []*Todo{{}, {TargetType: TodoTargetIssue}, {TargetType: TodoTargetIssue, Target: json.RawMessage(`null`)},
		{TargetType: TodoTargetIssue, Target: json.RawMessage(`{"iid":`)}, {TargetType: "Epic", Target: json.RawMessage(`{}`)}} {
		issue, err := bad.Issue()
		require.Error(t, err)
		assert.Nil(t, issue)
	}
}
