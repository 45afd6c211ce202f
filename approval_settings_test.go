package forge

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestApprovalSettings(t *testing.T) {
	ctx := t.Context()
	on := &UpdateApprovalSettingsOptions{AllowAuthorApproval: new(true), RetainApprovalsOnPush: new(false), Extra: map[string]any{"x": "y"}}
	const body, group, project = `{"allow_author_approval":true,"retain_approvals_on_push":false,"x":"y"}`, "/groups/group%2Fteam/merge_request_approval_setting", "/projects/42/merge_request_approval_setting"
	runCalls(t, []callRow{
		{"PUT " + group, "", body, "approval_settings/get_group.json", func(c *Client) (any, error) { return c.ApprovalSettings.UpdateForGroup(ctx, Path("group/team"), on) }},
		{"PUT " + project, "", body, "approval_settings/get_project.json", func(c *Client) (any, error) { return c.ApprovalSettings.UpdateForProject(ctx, ID(42), on) }},
		{"PUT " + project, "", `{}`, `403 {"message":"403 Forbidden"}`, func(c *Client) (any, error) { return c.ApprovalSettings.UpdateForProject(ctx, ID(42), nil) }},
	})
	off := &UpdateApprovalSettingsOptions{SelectiveCodeOwnerRemovals: new(false), RetainApprovalsOnPush: new(true)}
	require.NoError(t, off.check(), "the parameter is required only with true")
}
