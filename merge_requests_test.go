package forge

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeRequests(t *testing.T) {
	app := Path("group/app")
	const one = "/projects/group%2Fapp/merge_requests/14"
	runScenarios(t, []scenario{
		{
			name: "list",
			exchanges: []exchange{
				{sent: "GET /merge_requests", query: "per_page=100", answer: "merge_requests/merge_requests.json"},
				{sent: "GET /projects/group%2Fapp/merge_requests", query: "iids[]=14&iids[]=15&per_page=100&state=all", answer: "merge_requests/merge_requests.json"},
			},
			run: func(t *testing.T, c *Client) {
				requests, err := Collect(c.MergeRequests.List(t.Context(), nil))
				require.NoError(t, err)
				assertWhole(t, "merge_requests/merge_requests.json", requests)
				assert.Equal(t, "#FFFFFF", requests[1].Labels[0].TextColor, "labels with details")
				requests, err = Collect(c.MergeRequests.ListForProject(t.Context(), app, &ListMergeRequestsOptions{IIDs: []int64{14, 15}, State: MergeRequestStateAll}))
				require.NoError(t, err)
				assertWhole(t, "merge_requests/merge_requests.json", requests)
			},
		},
		{
			name: "dependencies",
			exchanges: []exchange{
				{sent: "GET " + one + "/blocks", query: "per_page=100", answer: "merge_requests/blocks.json"},
				{sent: "GET " + one + "/blockees", query: "per_page=100", answer: "merge_requests/blockees.json"},
				{sent: "POST " + one + "/blocks", body: `{"blocking_merge_request_id":83}`, status: 201, answer: "merge_requests/block.json"},
				{sent: "DELETE " + one + "/blocks/7", status: 204},
			},
			run: func(t *testing.T, c *Client) {
				blocks, err := Collect(c.MergeRequests.ListBlocks(t.Context(), app, 14))
				require.NoError(t, err)
				assertWhole(t, "merge_requests/blocks.json", blocks)
				assert.EqualValues(t, 14, blocks[0].BlockedMergeRequest.IID)
				blocks, err = Collect(c.MergeRequests.ListBlockees(t.Context(), app, 14))
				require.NoError(t, err)
				assertWhole(t, "merge_requests/blockees.json", blocks)
				block, err := c.MergeRequests.CreateBlock(t.Context(), app, 14, &CreateBlockOptions{BlockingMergeRequestID: 83})
				require.NoError(t, err)
				assertWhole(t, "merge_requests/block.json", block)
				assert.EqualValues(t, 83, block.BlockingMergeRequest.ID)
				assert.Nil(t, block.BlockedMergeRequest)
				require.NoError(t, c.MergeRequests.DeleteBlock(t.Context(), app, 14, block.ID))
			},
		},
		{
			name: "subscribe and unsubscribe",
			exchanges: []exchange{
				{sent: "POST " + one + "/subscribe", status: 201, answer: "merge_requests/subscribed.json"},
				{sent: "POST " + one + "/subscribe", status: 304},
				{sent: "POST " + one + "/unsubscribe", status: 201, answer: "merge_requests/unsubscribed.json"},
				{sent: "POST " + one + "/unsubscribe", status: 304},
			},
			run: func(t *testing.T, c *Client) {
				request, err := c.MergeRequests.Subscribe(t.Context(), app, 14)
				require.NoError(t, err)
				assertWhole(t, "merge_requests/subscribed.json", request)
				assert.Equal(t, new(true), request.Subscribed)
				request, err = c.MergeRequests.Subscribe(t.Context(), app, 14)
				assert.True(t, IsNotModified(err))
				assert.Nil(t, request)
				request, err = c.MergeRequests.Unsubscribe(t.Context(), app, 14)
				require.NoError(t, err)
				assertWhole(t, "merge_requests/unsubscribed.json", request)
				assert.Equal(t, new(false), request.Subscribed)
				_, err = c.MergeRequests.Unsubscribe(t.Context(), app, 14)
				assert.True(t, IsNotModified(err))
			},
		},
		{
			name: "to-do",
			exchanges: []exchange{
				{sent: "POST " + one + "/todo", status: 201, answer: "merge_requests/todo.json"},
				{sent: "POST " + one + "/todo", status: 304},
			},
			run: func(t *testing.T, c *Client) {
				todo, err := c.MergeRequests.CreateTodo(t.Context(), app, 14)
				require.NoError(t, err)
				assertWhole(t, "merge_requests/todo.json", todo)
				request, err := todo.MergeRequest()
				require.NoError(t, err)
				assert.Equal(t, todo.TargetURL, request.WebURL)
				_, err = c.MergeRequests.CreateTodo(t.Context(), app, 14)
				assert.True(t, IsNotModified(err))
			},
		},
		{
			name: "changes",
			exchanges: []exchange{
				{sent: "GET " + one + "/changes", answer: "merge_requests/changes_cut.json"},
				{sent: "GET " + one + "/changes", query: "access_raw_diffs=true&unidiff=false", answer: "merge_requests/changes.json"},
			},
			run: func(t *testing.T, c *Client) {
				changes, err := c.MergeRequests.GetChanges(t.Context(), app, 14, nil)
				require.NoError(t, err)
				assertWhole(t, "merge_requests/changes_cut.json", changes)
				assert.Equal(t, "Draft: Keep tokens home", changes.Title)
				assert.True(t, changes.Incomplete())
				changes, err = c.MergeRequests.GetChanges(t.Context(), app, 14, &ChangesOptions{AccessRawDiffs: new(true), Unidiff: new(false)}, RequireComplete())
				require.NoError(t, err)
				assertWhole(t, "merge_requests/changes.json", changes)
				assert.False(t, changes.Incomplete())
			},
		},
		{
			name: "versions",
			exchanges: []exchange{
				{sent: "GET " + one + "/versions", query: "per_page=100", answer: "merge_requests/versions.json"},
				{sent: "GET " + one + "/versions/110", query: "unidiff=true", answer: "merge_requests/version.json"},
				{sent: "GET " + one + "/versions/110", answer: "merge_requests/version.json"},
			},
			run: func(t *testing.T, c *Client) {
				versions, err := Collect(c.MergeRequests.ListVersions(t.Context(), app, 14))
				require.NoError(t, err)
				assertWhole(t, "merge_requests/versions.json", versions)
				assert.False(t, versions[0].Incomplete(), "a list has no diffs")
				version, err := c.MergeRequests.GetVersion(t.Context(), app, 14, versions[0].ID, &DiffVersionOptions{Unidiff: new(true)})
				require.NoError(t, err)
				assertWhole(t, "merge_requests/version.json", version)
				assert.Equal(t, []string{"#5", "#6"}, version.Commits[0].ExtendedTrailers["Closes"])
				assert.True(t, version.Incomplete())
				version, err = c.MergeRequests.GetVersion(t.Context(), app, 14, 110, nil, RequireComplete())
				require.ErrorIs(t, err, ErrIncomplete)
				assert.Nil(t, version)
				assert.ErrorContains(t, err, `2 of 3 diffs are collapsed or too large, the first is that of "zz_decode.go"`)
			},
		},
	})
}

// TestMergeRequestFilters shows the wire form of every filter of the lists.
func TestMergeRequestFilters(t *testing.T) {
	rows := []struct {
		name    string
		options *ListMergeRequestsOptions
		query   string // without per_page
	}{
		{"nil", nil, ""},
		{"zero", &ListMergeRequestsOptions{Not: &MergeRequestNot{}}, ""},
		{"by ids", &ListMergeRequestsOptions{
			ApprovedByIDs: IDs(1, 2, 3, 4, 5), ApproverIDs: IDs(6), AssigneeID: ID(7), AuthorID: 8, MergeUserID: 11, ReviewerID: ID(12), SourceProjectID: 13,
		}, "approved_by_ids[]=1&approved_by_ids[]=2&approved_by_ids[]=3&approved_by_ids[]=4&approved_by_ids[]=5&approver_ids[]=6&assignee_id=7&author_id=8&merge_user_id=11&reviewer_id=12&source_project_id=13"},
		{"by names", &ListMergeRequestsOptions{
			ApprovedByUsernames: []string{"ada", "bob"}, AuthorUsername: "eve", Environment: "prod & test", Labels: Labels("bug", "p 1"), MergeUserUsername: "ada", Milestone: Text("v1"),
			MyReactionEmoji: Text("+1"), ReviewerUsername: Text("bob"), SourceBranch: "a/b", TargetBranch: "main",
		}, "approved_by_usernames[]=ada&approved_by_usernames[]=bob&author_username=eve&environment=prod+%26+test&labels=bug%2Cp+1&merge_user_username=ada&milestone=v1&my_reaction_emoji=%2B1&reviewer_username=bob&source_branch=a%2Fb&target_branch=main"},
		{"none", &ListMergeRequestsOptions{
			ApprovedByIDs: None, ApproverIDs: None, AssigneeID: None, Labels: None, Milestone: None, MyReactionEmoji: None, ReviewerID: None,
		}, "approved_by_ids=None&approver_ids=None&assignee_id=None&labels=None&milestone=None&my_reaction_emoji=None&reviewer_id=None"},
		{"any", &ListMergeRequestsOptions{
			ApprovedByIDs: Any, ApproverIDs: Any, AssigneeID: Any, Labels: Any, Milestone: Any, MyReactionEmoji: Any, ReviewerUsername: Any,
		}, "approved_by_ids=Any&approver_ids=Any&assignee_id=Any&labels=Any&milestone=Any&my_reaction_emoji=Any&reviewer_username=Any"},
		{"times", &ListMergeRequestsOptions{CreatedAfter: moment(), CreatedBefore: moment().UTC(), UpdatedAfter: moment(), UpdatedBefore: moment().UTC(), DeployedAfter: moment(), DeployedBefore: moment().UTC()},
			"created_after=2026-03-04T07%3A30%3A00.000Z&created_before=2026-03-04T07%3A30%3A00.000Z&deployed_after=2026-03-04T07%3A30%3A00.000Z&deployed_before=2026-03-04T07%3A30%3A00.000Z&updated_after=2026-03-04T07%3A30%3A00.000Z&updated_before=2026-03-04T07%3A30%3A00.000Z"},
		{"words", &ListMergeRequestsOptions{
			Approved: Yes, In: SearchInTitle, OrderBy: MergeRequestOrderByMergedAt, Scope: ScopeReviewsForMe, Search: "a+b", Sort: SortAsc, State: MergeRequestStateLocked, View: MergeRequestViewSimple, WIP: No,
		}, "approved=yes&in=title&order_by=merged_at&scope=reviews_for_me&search=a%2Bb&sort=asc&state=locked&view=simple&wip=no"},
		{"drafts", &ListMergeRequestsOptions{WIP: Yes, In: SearchInDescription}, "in=description&wip=yes"},
		{"recheck", &ListMergeRequestsOptions{WithLabelsDetails: new(true), WithMergeStatusRecheck: new(true)}, "with_labels_details=true&with_merge_status_recheck=true"},
		{"written and assigned", &ListMergeRequestsOptions{AuthorID: 2, Scope: ScopeAssignedToMe}, "author_id=2&scope=assigned_to_me"},
		{"written by anyone", &ListMergeRequestsOptions{AuthorID: 2, Scope: ScopeAll}, "author_id=2&scope=all"},
		{"false is sent", &ListMergeRequestsOptions{WithLabelsDetails: new(false), WithMergeStatusRecheck: new(false)}, "with_labels_details=false&with_merge_status_recheck=false"},
		{"not by ids", &ListMergeRequestsOptions{Not: &MergeRequestNot{AssigneeID: ID(1), AuthorID: 2, ReviewerID: ID(3)}}, "not[assignee_id]=1&not[author_id]=2&not[reviewer_id]=3"},
		{"not by names", &ListMergeRequestsOptions{Not: &MergeRequestNot{
			AssigneeUsername: "ada", AuthorUsername: "eve", Labels: Labels("a", "b"), Milestone: Text("v1"), MyReactionEmoji: "+1", ReviewerUsername: Text("bob"),
		}}, "not[assignee_username]=ada&not[author_username]=eve&not[labels]=a%2Cb&not[milestone]=v1&not[my_reaction_emoji]=%2B1&not[reviewer_username]=bob"},
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			query := withPerPage(t, row.query)
			c := serve(t, exchange{sent: "GET /merge_requests", query: query, answer: "[]"}, exchange{sent: "GET /projects/42/merge_requests", query: query, answer: "[]"})
			_, err := Collect(c.MergeRequests.List(t.Context(), row.options))
			require.NoError(t, err)
			_, err = Collect(c.MergeRequests.ListForProject(t.Context(), ID(42), row.options))
			require.NoError(t, err)
		})
	}
}

// withPerPage adds the page size to a query, in the order of the wire.
func withPerPage(t *testing.T, query string) string {
	t.Helper()
	values, err := url.ParseQuery(strings.NewReplacer("[", "%5B", "]", "%5D").Replace(query))
	require.NoError(t, err)
	values.Set("per_page", "100")
	return strings.NewReplacer("%5B", "[", "%5D", "]").Replace(values.Encode())
}

// TestMergeRequestsRefused checks which arguments are refused before anything is sent, and how the
// error names them.
func TestMergeRequestsRefused(t *testing.T) {
	c := serve(t)
	for _, row := range []struct {
		options       *ListMergeRequestsOptions
		option, param string
	}{
		{&ListMergeRequestsOptions{AuthorID: 1, AuthorUsername: "ada"}, "AuthorID", "author_id"},
		{&ListMergeRequestsOptions{MergeUserID: 1, MergeUserUsername: "ada"}, "MergeUserID", "merge_user_id"},
		{&ListMergeRequestsOptions{ReviewerID: Any, ReviewerUsername: Text("ada")}, "ReviewerID", "reviewer_id"},
		{&ListMergeRequestsOptions{ApprovedByIDs: IDs(1, 2, 3, 4, 5, 6)}, "ApprovedByIDs", "approved_by_ids"},
		{&ListMergeRequestsOptions{ApprovedByIDs: IDs()}, "ApprovedByIDs", "approved_by_ids"},
		{&ListMergeRequestsOptions{ApproverIDs: IDs(0)}, "ApproverIDs", "approver_ids"},
		{&ListMergeRequestsOptions{Labels: Labels("a,b")}, "Labels", "labels"},
		{&ListMergeRequestsOptions{Not: &MergeRequestNot{AuthorID: 1, AuthorUsername: "ada"}}, "Not.AuthorID", "not[author_id]"},
		{&ListMergeRequestsOptions{Not: &MergeRequestNot{ReviewerID: ID(1), ReviewerUsername: "ada"}}, "Not.ReviewerID", "not[reviewer_id]"},
		{&ListMergeRequestsOptions{Not: &MergeRequestNot{Labels: Labels("a,b")}}, "Not.Labels", "not[labels]"},
	} {
		_, err := Collect(c.MergeRequests.List(t.Context(), row.options))
		assertRefused(t, err, "ListMergeRequestsOptions."+row.option, row.param)
		_, err = Collect(c.MergeRequests.ListForProject(t.Context(), ID(42), row.options))
		assertRefused(t, err, "ListMergeRequestsOptions."+row.option, row.param)
	}
	_, err := c.MergeRequests.CreateBlock(t.Context(), ID(42), 14, nil)
	assertRefused(t, err, "CreateBlockOptions.BlockingMergeRequestID", "blocking_merge_request_id")
	_, err = c.MergeRequests.Subscribe(t.Context(), ID(42), 0)
	assertRefused(t, err, "argument", "merge_request_iid")
	require.Error(t, c.MergeRequests.DeleteBlock(t.Context(), ID(42), 14, -1))
	_, err = Collect(c.MergeRequests.List(t.Context(), nil, RequireComplete()))
	assertRefused(t, err, "RequireComplete", "")
}

// TestMergeRequestErrors checks each documented error of the dependencies, and objects that do not
// exist.
func TestMergeRequestErrors(t *testing.T) {
	for _, row := range []struct {
		status   int
		answer   string
		sentinel error
		text     string
	}{
		{400, `{"message":{"blocking_merge_request":["is not allowed"]}}`, ErrBadRequest, "is not allowed"},
		{403, `{"message":"403 Forbidden"}`, ErrForbidden, "403 Forbidden"},
		{404, `{"message":"404 Not found"}`, ErrNotFound, "404 Not Found"},
		{409, `{"message":"Block already exists"}`, ErrConflict, "Block already exists"},
	} {
		const blocks = "/projects/42/merge_requests/14/blocks"
		c := serve(t, exchange{sent: "POST " + blocks, body: `{"blocking_merge_request_id":83}`, status: row.status, answer: row.answer},
			exchange{sent: "DELETE " + blocks + "/7", status: row.status, answer: row.answer})
		block, err := c.MergeRequests.CreateBlock(t.Context(), ID(42), 14, &CreateBlockOptions{BlockingMergeRequestID: 83})
		for _, err := range []error{err, c.MergeRequests.DeleteBlock(t.Context(), ID(42), 14, 7)} {
			require.ErrorIs(t, err, row.sentinel)
			var failed *Error
			require.ErrorAs(t, err, &failed)
			assert.Equal(t, row.status, failed.Status)
			assert.False(t, failed.MaybeApplied)
			assert.ErrorContains(t, err, row.text)
		}
		assert.Nil(t, block)
	}
	c := serve(t, exchange{sent: "GET /merge_requests", query: "per_page=100&search=x", status: 414})
	_, err := Collect(c.MergeRequests.List(t.Context(), &ListMergeRequestsOptions{Search: "x"}))
	require.ErrorIs(t, err, ErrURITooLong)
	assert.ErrorContains(t, err, "fewer or shorter filters")
}

// The two flags with the type "boolean or null" in Document 2 §2.6 distinguish null from false. An
// absent flag is nil, too.
func TestMergeRequestNullFlags(t *testing.T) {
	for answer, want := range map[string]*bool{
		`null`: nil, `false`: new(false), `true`: new(true),
	} {
		text := `[{"iid":14,"discussion_locked":` + answer + `,"should_remove_source_branch":` + answer + `},{"iid":13}]`
		c := serve(t, exchange{sent: "GET /merge_requests", query: "per_page=100", answer: text})
		requests, err := Collect(c.MergeRequests.List(t.Context(), nil))
		require.NoError(t, err)
		assert.Equal(t, want, requests[0].DiscussionLocked, answer)
		assert.Equal(t, want, requests[0].ShouldRemoveSourceBranch, answer)
		assert.Nil(t, requests[1].DiscussionLocked)
		assert.Nil(t, requests[1].ShouldRemoveSourceBranch)
	}
}
