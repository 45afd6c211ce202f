package forge

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A pointer to a filter is sent as the filter, and the options of the caller stay as they are.
func TestPointersToFilters(t *testing.T) {
	fresh := func() *ListIssuesOptions {
		return &ListIssuesOptions{AssigneeID: new(ID(7)), Labels: new(Labels("a", "b")), Milestone: new(None), Not: &IssueNot{MilestoneID: new(Started), Weight: new(Number(0))}}
	}
	options := fresh()
	values, err := encodeQuery(options)
	require.NoError(t, err)
	assert.Equal(t, url.Values{"assignee_id": {"7"}, "labels": {"a,b"}, "milestone": {"None"}, "not[milestone_id]": {"Started"}, "not[weight]": {"0"}}, values)
	assert.Equal(t, fresh(), options)
}

// With SkipValidation a list that is empty but not nil is sent as one empty text.
func TestEmptyLists(t *testing.T) {
	for _, row := range []struct {
		options any
		want    url.Values
	}{
		{&ListIssuesOptions{IIDs: []int64{}, AssigneeUsername: []string{}, Labels: Labels()}, url.Values{"iids[]": {""}, "assignee_username[]": {""}, "labels": {""}}},
		{&ListIssuesOptions{Not: &IssueNot{IIDs: []int64{}, Labels: Labels()}}, url.Values{"not[iids][]": {""}, "not[labels]": {""}}},
		{&ListIssuesOptions{Not: &IssueNot{}}, url.Values{}},
		{&ListMergeRequestsOptions{ApproverIDs: IDs()}, url.Values{"approver_ids[]": {""}}},
	} {
		values, err := encodeQuery(row.options)
		require.NoError(t, err)
		assert.Equal(t, row.want, values)
	}
}

// Hash is a value for the query of a Call.
func TestHashValues(t *testing.T) {
	values := url.Values{}
	require.NoError(t, Hash{"team": "a b"}.EncodeValues("custom_attributes", &values))
	assert.Equal(t, url.Values{"custom_attributes[team]": {"a b"}}, values)
	for _, err := range []error{Hash{"[": "x"}.EncodeValues("v", &values), Hash{"": "x"}.EncodeValues("v", &values)} {
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid)
		assert.Contains(t, invalid.Param, "v")
	}
}
