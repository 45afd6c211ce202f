package forge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMergeRequests(t *testing.T) {
	ctx, app := t.Context(), Path("group/app")
	const one, list = "/projects/group%2Fapp/merge_requests/14", "merge_requests/list.json"
	block := func(c *Client) (any, error) {
		return c.MergeRequests.CreateBlock(ctx, app, 14, &CreateBlockOptions{BlockingMergeRequestID: 83})
	}
	remove := func(c *Client) (any, error) { return nil, c.MergeRequests.DeleteBlock(ctx, app, 14, 7) }
	rows := []callRow{
		{"GET /projects/group%2Fapp/merge_requests", "iids[]=14&iids[]=15&per_page=100", "", list, func(c *Client) (any, error) {
			return Collect(c.MergeRequests.ListForProject(ctx, app, &ListMergeRequestsOptions{IIDs: []int64{14, 15}}))
		}},
		{"POST " + one + "/blocks", "", `{"blocking_merge_request_id":83}`, "merge_requests/create_block.json", block},
		{"DELETE " + one + "/blocks/7", "", "", "204", remove},
		{"GET " + one + "/changes", "", "", "merge_requests/changes_cut.json", func(c *Client) (any, error) { return c.MergeRequests.GetChanges(ctx, app, 14, nil) }},
		{"GET " + one + "/changes", "access_raw_diffs=true&unidiff=false", "", "merge_requests/changes.json", func(c *Client) (any, error) {
			return c.MergeRequests.GetChanges(ctx, app, 14, &GetChangesOptions{AccessRawDiffs: new(true), Unidiff: new(false)})
		}},
		{"GET " + one + "/versions/110", "unidiff=true", "", "merge_requests/get_version.json", func(c *Client) (any, error) {
			return c.MergeRequests.GetVersion(ctx, app, 14, 110, &GetDiffVersionOptions{Unidiff: new(true)})
		}},
	}
	for _, answer := range []string{ // the documented errors of the dependencies
		`400 {"message":{"blocking_merge_request":["is not allowed"]}}`, `403 {"message":"403 Forbidden"}`, `404 {"message":"404 Not found"}`, `409 {"message":"Block already exists"}`,
	} {
		rows = append(rows, callRow{"POST " + one + "/blocks", "", `{"blocking_merge_request_id":83}`, answer, block}, callRow{"DELETE " + one + "/blocks/7", "", "", answer, remove})
	}
	runCalls(t, rows)
}

// TestMergeRequestsRefused checks the limit of approvers, and an option that no list has.
func TestMergeRequestsRefused(t *testing.T) {
	c := serve(t)
	_, err := Collect(c.MergeRequests.List(t.Context(), &ListMergeRequestsOptions{ApprovedByIDs: IDs(1, 2, 3, 4, 5, 6)}))
	assertRefused(t, err, "ListMergeRequestsOptions.ApprovedByIDs", "approved_by_ids")
	require.ErrorContains(t, err, "it has 6 users; the maximum is 5")
	_, err = Collect(c.MergeRequests.List(t.Context(), &ListMergeRequestsOptions{ApprovedByIDs: IDs(1, 2, 3, 4, 5)}, DryRun(nil)))
	require.ErrorIs(t, err, ErrDryRun)
	assert.False(t, (&DiffVersion{}).Incomplete(), "a list of versions has no diffs")
}
