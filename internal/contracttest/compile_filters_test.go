package contracttest_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A value of another type in place of a filter or a Ref does not compile, and the compiler's
// message names the function that makes the right one.
func TestCompilerNamesFilters(t *testing.T) {
	issues := func(field string) string { return "_ = &forge.ListIssuesOptions{" + field + "}" }
	requests := func(field string) string { return "_ = &forge.ListMergeRequestsOptions{" + field + "}" }
	rows := []struct{ statement, message string }{
		{issues(`AssigneeID: 42`), "int does not implement forge.IDFilter (missing method useIDOrNoneOrAny)"},
		{issues(`AssigneeID: "None"`), "string does not implement forge.IDFilter (missing method useIDOrNoneOrAny)"},
		{issues(`AssigneeID: forge.Text("ada")`), "forge.Text does not implement forge.IDFilter (missing method useIDOrNoneOrAny)"},
		{issues(`IterationID: int64(42)`), "int64 does not implement forge.IDFilter (missing method useIDOrNoneOrAny)"},
		{requests(`ApprovedByIDs: []int64{1, 2}`), "[]int64 does not implement forge.IDListFilter (missing method useIDsOrNoneOrAny)"},
		{requests(`ApprovedByIDs: forge.ID(1)`), "forge.ID does not implement forge.IDListFilter (missing method useIDsOrNoneOrAny)"},
		{issues(`Weight: 3`), "int does not implement forge.NumberFilter (missing method useNumberOrNoneOrAny)"},
		{issues(`Milestone: "v1"`), "string does not implement forge.TextFilter (missing method useTextOrNoneOrAny)"},
		{issues(`Labels: "bug"`), "string does not implement forge.LabelFilter (missing method useLabelsOrNoneOrAny)"},
		{issues(`Labels: []string{"bug"}`), "[]string does not implement forge.LabelFilter (missing method useLabelsOrNoneOrAny)"},
		{issues(`MilestoneID: forge.ID(7)`), "forge.ID does not implement forge.MilestoneFilter (missing method useUpcomingOrStartedOrNoneOrAny)"},
		{issues(`Not: &forge.IssueNot{Labels: []string{"bug"}}`), "as forge.LabelNames value in struct literal"},
		{`client.Issues.ListForGroup(ctx, "acme", nil)`, "string does not implement forge.Ref (missing method useIDOrPath)"},
		{`client.Issues.ListForGroup(ctx, 42, nil)`, "int does not implement forge.Ref (missing method useIDOrPath)"},
		{`_, _ = client.Integrations.Get(ctx, forge.ID(7), "jira")`, "string does not implement forge.IntegrationName (missing method useIntegrationKindOrSlug)"},
		{`_ = forge.Call{Args: []forge.Arg{int64(42)}}`, "int64 does not implement forge.Arg (missing method useIDOrPathOrText)"},
	}
	statements := make([]string, len(rows))
	for i, row := range rows {
		statements[i] = row.statement
	}
	messages := compilerMessages(t, statements)
	require.Len(t, messages, len(rows), "%q", messages)
	for i, row := range rows {
		assert.Contains(t, messages[i], row.message, row.statement)
	}
}

// The values that the messages lead to compile.
func TestFiltersCompile(t *testing.T) {
	assert.Empty(t, compilerMessages(t, []string{
		`_ = &forge.ListIssuesOptions{AssigneeID: forge.ID(42), Weight: forge.Number(0), Milestone: forge.Text("v1"), Labels: forge.Labels("bug"), MilestoneID: forge.Upcoming}`,
		`_ = &forge.ListIssuesOptions{AssigneeID: forge.None, Weight: forge.Any, Milestone: forge.None, Labels: forge.Any, MilestoneID: forge.None}`,
		`_ = &forge.ListMergeRequestsOptions{ApprovedByIDs: forge.IDs(1, 2), ApproverIDs: forge.Any}`,
		`client.Issues.ListForGroup(ctx, forge.ID(42), nil)`,
		`client.Issues.ListForGroup(ctx, forge.Path("acme"), nil)`,
		`o := &forge.ListIssuesOptions{}; _ = o.AssigneeID == forge.ID(42) || o.Labels == forge.Labels("bug") || o.Labels == forge.None`,
		`if names, ok := (&forge.ListIssuesOptions{}).Labels.(forge.LabelNames); ok { _ = names.Names() }`,
		`if ids, ok := (&forge.ListMergeRequestsOptions{}).ApprovedByIDs.(forge.IDList); ok { _ = ids.IDs() }`,
	}))
}
