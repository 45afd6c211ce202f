package forge

import (
	"context"
	"encoding/json"
)

// ApprovalSettingsService reads and sets the rules of merge request approvals. Premium and
// Ultimate.
// GitLab docs: https://docs.gitlab.com/api/merge_request_approval_settings/
type ApprovalSettingsService struct{ service }

// UpdateApprovalSettingsOptions changes approval rules. A rule whose field is nil does not change.
type UpdateApprovalSettingsOptions struct {
	// AllowAuthorApproval lets authors approve their own merge requests.
	AllowAuthorApproval *bool `json:"allow_author_approval,omitempty"`
	// AllowCommitterApproval lets users approve merge requests that contain their commits.
	AllowCommitterApproval *bool `json:"allow_committer_approval,omitempty"`
	// AllowOverridesToApproverListPerMergeRequest allows users to change the approvers of a single
	// merge request.
	AllowOverridesToApproverListPerMergeRequest *bool `json:"allow_overrides_to_approver_list_per_merge_request,omitempty"`
	// RetainApprovalsOnPush keeps approvals when commits are added.
	RetainApprovalsOnPush *bool `json:"retain_approvals_on_push,omitempty"`
	// SelectiveCodeOwnerRemovals limits the effect of added commits: only the approvals of code owners
	// whose files changed are removed. RetainApprovalsOnPush must be off.
	SelectiveCodeOwnerRemovals *bool `json:"selective_code_owner_removals,omitempty"`
	// RequireReauthenticationToApprove asks approvers to authenticate again. Since 17.1.
	RequireReauthenticationToApprove *bool `json:"require_reauthentication_to_approve,omitempty"`
	// RequirePasswordToApprove is the older name of RequireReauthenticationToApprove. Not part of the
	// contract.
	//
	// Deprecated: since 17.1; use RequireReauthenticationToApprove. Not together with it.
	RequirePasswordToApprove *bool `json:"require_password_to_approve,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

func (o *UpdateApprovalSettingsOptions) extra() map[string]any { return o.Extra }

func (o *UpdateApprovalSettingsOptions) check() error {
	return firstError(
		exclusive("selective_code_owner_removals", isTrue(o.SelectiveCodeOwnerRemovals),
			"retain_approvals_on_push, which must be off", isTrue(o.RetainApprovalsOnPush)),
		replaced("require_password_to_approve", o.RequirePasswordToApprove != nil,
			"require_reauthentication_to_approve", o.RequireReauthenticationToApprove != nil),
	)
}

// GetForGroup reads the rules of a group, which its projects inherit. The user must be Owner of the
// group. GitLab docs: https://docs.gitlab.com/api/merge_request_approval_settings/
func (s *ApprovalSettingsService) GetForGroup(ctx context.Context, group Ref, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.newGet("/groups/:id/merge_request_approval_setting", group)
	return do[ApprovalSettings](ctx, r, opts)
}

// UpdateForGroup changes the rules of a group. The user must be Owner of the group.
// GitLab docs: https://docs.gitlab.com/api/merge_request_approval_settings/
func (s *ApprovalSettingsService) UpdateForGroup(ctx context.Context, group Ref, o *UpdateApprovalSettingsOptions, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.newPut("/groups/:id/merge_request_approval_setting", group).json(o)
	return do[ApprovalSettings](ctx, r, opts)
}

// GetForProject reads the rules of a project. The user must be Maintainer of the project.
// GitLab docs: https://docs.gitlab.com/api/merge_request_approval_settings/
func (s *ApprovalSettingsService) GetForProject(ctx context.Context, project Ref, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.newGet("/projects/:id/merge_request_approval_setting", project)
	return do[ApprovalSettings](ctx, r, opts)
}

// UpdateForProject changes the rules of a project. The user must be Maintainer of the project.
// GitLab docs: https://docs.gitlab.com/api/merge_request_approval_settings/
func (s *ApprovalSettingsService) UpdateForProject(ctx context.Context, project Ref, o *UpdateApprovalSettingsOptions, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.newPut("/projects/:id/merge_request_approval_setting", project).json(o)
	return do[ApprovalSettings](ctx, r, opts)
}

// ApprovalSettings are the approval rules.
type ApprovalSettings struct {
	// AllowAuthorApproval lets authors approve their own merge requests.
	AllowAuthorApproval ApprovalSetting `json:"allow_author_approval"`
	// AllowCommitterApproval lets users approve merge requests that contain their commits.
	AllowCommitterApproval ApprovalSetting `json:"allow_committer_approval"`
	// AllowOverridesToApproverListPerMergeRequest allows users to change the approvers of a single
	// merge request.
	AllowOverridesToApproverListPerMergeRequest ApprovalSetting `json:"allow_overrides_to_approver_list_per_merge_request"`
	// RetainApprovalsOnPush keeps approvals when commits are added.
	RetainApprovalsOnPush ApprovalSetting `json:"retain_approvals_on_push"`
	// SelectiveCodeOwnerRemovals limits the effect of added commits: only the approvals of code owners
	// whose files changed are removed.
	SelectiveCodeOwnerRemovals ApprovalSetting `json:"selective_code_owner_removals"`
	// RequirePasswordToApprove makes approvers enter their password. It is read-only.
	RequirePasswordToApprove ApprovalSetting `json:"require_password_to_approve"`
	// RequireReauthenticationToApprove makes approvers authenticate again.
	RequireReauthenticationToApprove ApprovalSetting `json:"require_reauthentication_to_approve"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// ApprovalSource is the origin of the value of an approval setting. Servers may return other
// values.
type ApprovalSource string

// ApprovalSourceGroup marks a value that a group sets for its projects.
const ApprovalSourceGroup ApprovalSource = "group"

// ApprovalSetting is the value of one rule.
type ApprovalSetting struct {
	// Value reports whether the rule is on.
	Value bool `json:"value"`
	// Locked reports that the value cannot be changed in this group or project.
	Locked bool `json:"locked"`
	// InheritedFrom is the origin of a locked value: ApprovalSourceGroup; a server may return other
	// values. Empty if the value was set in this group or project.
	InheritedFrom ApprovalSource `json:"inherited_from"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
