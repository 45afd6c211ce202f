package forge

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestIssues(t *testing.T) {
	ctx, app := t.Context(), Path("group/app")
	const one, stats = "/projects/group%2Fapp/issues/5", "issues/time_stats.json"
	runCalls(t, []callRow{
		{"POST " + one + "/notes", "", `{"body":"/promote"}`, "issues/promote_by_note.json", func(c *Client) (any, error) { return c.Issues.Promote(ctx, app, 5, nil) }},
		{"POST " + one + "/notes", "", `{"body":"Too big\r\n/promote\r\nNow an epic"}`, `403 {"message":"403 Forbidden"}`, func(c *Client) (any, error) {
			return c.Issues.Promote(ctx, app, 5, &PromoteIssueOptions{Body: "Too big\r\n/promote\r\nNow an epic"})
		}},
		{"POST " + one + "/time_estimate", "", `{"duration":"3h30m"}`, stats, func(c *Client) (any, error) {
			return c.Issues.SetTimeEstimate(ctx, app, 5, &SetTimeEstimateOptions{Duration: WorkDuration(210 * time.Minute)})
		}},
		{"POST " + one + "/add_spent_time", "", `{"duration":"-45m"}`, stats, func(c *Client) (any, error) {
			return c.Issues.AddSpentTime(ctx, app, 5, &AddSpentTimeOptions{Duration: WorkDuration(-45 * time.Minute)})
		}},
	})
}

// TestIssuesRefused checks the rules of notes and durations.
func TestIssuesRefused(t *testing.T) {
	c := serve(t)
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
	options := &PromoteIssueOptions{}
	_, err := c.Issues.Promote(t.Context(), ID(42), 5, options, DryRun(nil))
	require.ErrorIs(t, err, ErrDryRun)
	assert.Empty(t, *options, "the caller's options do not change")
}

// TestTodoTarget checks both kinds of target, and a to-do without a target.
func TestTodoTarget(t *testing.T) {
	todo := &Todo{TargetType: TodoTargetTypeMergeRequest, Target: json.RawMessage(`{"iid":14,"state":"merged"}`)}
	request, err := todo.MergeRequest()
	require.NoError(t, err)
	assert.EqualValues(t, 14, request.IID)
	assert.Equal(t, MergeRequestStateMerged, request.State)
	_, err = (&Todo{TargetType: TodoTargetTypeIssue}).Issue()
	require.ErrorContains(t, err, "has no target")
	for _, bad := range []*Todo{{}, {TargetType: TodoTargetTypeIssue}, {TargetType: TodoTargetTypeIssue, Target: json.RawMessage(`null`)},
		{TargetType: TodoTargetTypeIssue, Target: json.RawMessage(`{"iid":`)}, {TargetType: "Epic", Target: json.RawMessage(`{}`)}} {
		issue, err := bad.Issue()
		require.Error(t, err)
		assert.Nil(t, issue)
	}
	issue, err := (&Todo{TargetType: TodoTargetTypeIssue, Target: json.RawMessage(`{"iid":5, "x":[]}`)}).Issue()
	require.NoError(t, err)
	assert.EqualValues(t, 5, issue.IID)
}
