package forge

import (
	"context"
	"encoding/json"
)

// ApprovalSettingsService reads and sets the rules of merge request approvals (Document 1 §4.5).
// Premium and Ultimate.
type ApprovalSettingsService struct{ service }

// UpdateApprovalSettingsOptions changes the approval rules; nil leaves one as it is.
// require_password_to_approve is read-only.
type UpdateApprovalSettingsOptions struct {
	// AllowAuthorApproval lets authors approve their own merge requests.
	AllowAuthorApproval *bool `json:"allow_author_approval,omitempty"`
	// AllowCommitterApproval lets users approve merge requests that have commits of theirs.
	AllowCommitterApproval *bool `json:"allow_committer_approval,omitempty"`
	// AllowOverridesToApproverListPerMergeRequest lets the approvers be changed in each merge request.
	AllowOverridesToApproverListPerMergeRequest *bool `json:"allow_overrides_to_approver_list_per_merge_request,omitempty"`
	// RetainApprovalsOnPush keeps approvals when commits are added.
	RetainApprovalsOnPush *bool `json:"retain_approvals_on_push,omitempty"`
	// SelectiveCodeOwnerRemovals removes only the approvals of the code owners whose files an added
	// commit changes. RetainApprovalsOnPush must be off.
	SelectiveCodeOwnerRemovals *bool `json:"selective_code_owner_removals,omitempty"`
	// RequireReauthenticationToApprove asks approvers to authenticate again. Since 17.1.
	RequireReauthenticationToApprove *bool `json:"require_reauthentication_to_approve,omitempty"`
	// Extra holds parameters that no field names. They are sent too.
	Extra map[string]any `json:"-"`
}

func (o *UpdateApprovalSettingsOptions) extra() map[string]any { return o.Extra }

func (o *UpdateApprovalSettingsOptions) check() error {
	return exclusive("selective_code_owner_removals", isTrue(o.SelectiveCodeOwnerRemovals),
		"retain_approvals_on_push, which must be off", isTrue(o.RetainApprovalsOnPush))
}

// GetForGroup reads the rules of a group, which its projects inherit. Owner of the group.
// Document 1 §4.5.
func (s *ApprovalSettingsService) GetForGroup(ctx context.Context, group Ref, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.get("/groups/:id/merge_request_approval_setting", group)
	return do[ApprovalSettings](ctx, r, opts)
}

// UpdateForGroup changes the rules of a group. Owner of the group. Document 1 §4.5.
func (s *ApprovalSettingsService) UpdateForGroup(ctx context.Context, group Ref, o *UpdateApprovalSettingsOptions, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.put("/groups/:id/merge_request_approval_setting", group).json(o)
	return do[ApprovalSettings](ctx, r, opts)
}

// GetForProject reads the rules of a project. Maintainer of the project. Document 1 §4.5.
func (s *ApprovalSettingsService) GetForProject(ctx context.Context, project Ref, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.get("/projects/:id/merge_request_approval_setting", project)
	return do[ApprovalSettings](ctx, r, opts)
}

// UpdateForProject changes the rules of a project. Maintainer of the project. Document 1 §4.5.
func (s *ApprovalSettingsService) UpdateForProject(ctx context.Context, project Ref, o *UpdateApprovalSettingsOptions, opts ...RequestOption) (*ApprovalSettings, error) {
	r := s.put("/projects/:id/merge_request_approval_setting", project).json(o)
	return do[ApprovalSettings](ctx, r, opts)
}

// ApprovalSettings are the approval rules (Document 1 §2.6).
type ApprovalSettings struct {
	// AllowAuthorApproval lets authors approve their own merge requests.
	AllowAuthorApproval ApprovalSetting `json:"allow_author_approval"`
	// AllowCommitterApproval lets users approve merge requests that contain their commits.
	AllowCommitterApproval ApprovalSetting `json:"allow_committer_approval"`
	// AllowOverridesToApproverListPerMergeRequest lets the approvers be changed in each merge request.
	AllowOverridesToApproverListPerMergeRequest ApprovalSetting `json:"allow_overrides_to_approver_list_per_merge_request"`
	// RetainApprovalsOnPush keeps approvals when commits are added.
	RetainApprovalsOnPush ApprovalSetting `json:"retain_approvals_on_push"`
	// SelectiveCodeOwnerRemovals removes only the approvals of the code owners whose files an added
	// commit changes.
	SelectiveCodeOwnerRemovals ApprovalSetting `json:"selective_code_owner_removals"`
	// RequirePasswordToApprove makes approvers enter their password. It cannot be set here.
	RequirePasswordToApprove ApprovalSetting `json:"require_password_to_approve"`
	// RequireReauthenticationToApprove makes approvers authenticate again.
	RequireReauthenticationToApprove ApprovalSetting `json:"require_reauthentication_to_approve"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// ApprovalSource is where the value of an approval setting comes from. Servers have values beyond
// the constant.
type ApprovalSource string

// ApprovalSourceGroup is a value that a group sets for its projects.
const ApprovalSourceGroup ApprovalSource = "group"

// ApprovalSetting is the value of one rule (Document 1 §2.6).
type ApprovalSetting struct {
	// Value reports whether the rule is on.
	Value bool `json:"value"`
	// Locked: the value cannot be changed here.
	Locked bool `json:"locked"`
	// InheritedFrom is what set the value, when it is locked: ApprovalSourceGroup; a server may return
	// other values. Empty when it was set here.
	InheritedFrom ApprovalSource `json:"inherited_from"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}
