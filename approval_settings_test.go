package forge

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestApprovalSettings(t *testing.T) {
	full := &UpdateApprovalSettingsOptions{
		AllowAuthorApproval: new(true), AllowCommitterApproval: new(false), AllowOverridesToApproverListPerMergeRequest: new(true),
		RetainApprovalsOnPush: new(false), SelectiveCodeOwnerRemovals: new(true), RequireReauthenticationToApprove: new(false), Extra: map[string]any{"x": "y"},
	}
	const body = `{"allow_author_approval":true,"allow_committer_approval":false,"allow_overrides_to_approver_list_per_merge_request":true,
		"retain_approvals_on_push":false,"selective_code_owner_removals":true,"require_reauthentication_to_approve":false,"x":"y"}`
	runScenarios(t, []scenario{
		{
			name: "group",
			exchanges: []exchange{
				{sent: "GET /groups/group%2Fteam/merge_request_approval_setting", answer: "approval_settings/group.json"},
				{sent: "PUT /groups/group%2Fteam/merge_request_approval_setting", body: body, answer: "approval_settings/group.json"},
				{sent: "PUT /groups/7/merge_request_approval_setting", body: `{}`, status: 403, answer: `{"message":"403 Forbidden"}`},
			},
			run: func(t *testing.T, c *Client) {
				settings, err := c.ApprovalSettings.GetForGroup(t.Context(), Path("group/team"))
				require.NoError(t, err)
				assertWhole(t, "approval_settings/group.json", settings)
				settings, err = c.ApprovalSettings.UpdateForGroup(t.Context(), Path("group/team"), full)
				require.NoError(t, err)
				assertWhole(t, "approval_settings/group.json", settings)
				_, err = c.ApprovalSettings.UpdateForGroup(t.Context(), ID(7), nil)
				require.ErrorIs(t, err, ErrForbidden)
				assert.ErrorContains(t, err, "Premium or Ultimate")
			},
		},
		{
			name: "project",
			exchanges: []exchange{
				{sent: "GET /projects/42/merge_request_approval_setting", answer: "approval_settings/project.json"},
				{sent: "PUT /projects/42/merge_request_approval_setting", body: body, answer: "approval_settings/project.json"},
				{sent: "GET /projects/43/merge_request_approval_setting", status: 404, answer: `{"message":"404 Not Found"}`},
			},
			run: func(t *testing.T, c *Client) {
				settings, err := c.ApprovalSettings.GetForProject(t.Context(), ID(42))
				require.NoError(t, err)
				assertWhole(t, "approval_settings/project.json", settings)
				assert.Equal(t, ApprovalSetting{Locked: true, InheritedFrom: ApprovalSourceGroup}, settings.AllowAuthorApproval)
				settings, err = c.ApprovalSettings.UpdateForProject(t.Context(), ID(42), full)
				require.NoError(t, err)
				assertWhole(t, "approval_settings/project.json", settings)
				_, err = c.ApprovalSettings.GetForProject(t.Context(), ID(43))
				require.ErrorIs(t, err, ErrNotFound)
				assert.ErrorContains(t, err, "it may need Premium or Ultimate")
			},
		},
	})
	both := &UpdateApprovalSettingsOptions{SelectiveCodeOwnerRemovals: new(true), RetainApprovalsOnPush: new(true)}
	c := serve(t)
	_, err := c.ApprovalSettings.UpdateForGroup(t.Context(), ID(7), both)
	assertRefused(t, err, "UpdateApprovalSettingsOptions.SelectiveCodeOwnerRemovals", "selective_code_owner_removals")
	_, err = c.ApprovalSettings.UpdateForProject(t.Context(), ID(42), both)
	assertRefused(t, err, "UpdateApprovalSettingsOptions.SelectiveCodeOwnerRemovals", "selective_code_owner_removals")
	off := &UpdateApprovalSettingsOptions{SelectiveCodeOwnerRemovals: new(false), RetainApprovalsOnPush: new(true)}
	require.NoError(t, off.check(), "the parameter is required only with true")
	alone := &UpdateApprovalSettingsOptions{SelectiveCodeOwnerRemovals: new(true)}
	require.NoError(t, alone.check(), "the setting may already be off")
}
