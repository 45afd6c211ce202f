package forge

import (
	"encoding/json"
	"time"
)

// MergeRequestState is the state of a merge request.
type MergeRequestState string

const (
	// MergeRequestStateOpened is an open merge request.
	MergeRequestStateOpened MergeRequestState = "opened"
	// MergeRequestStateClosed is one that was closed without merging.
	MergeRequestStateClosed MergeRequestState = "closed"
	// MergeRequestStateLocked is one that is being merged, for a short time.
	MergeRequestStateLocked MergeRequestState = "locked"
	// MergeRequestStateMerged is one that was merged.
	MergeRequestStateMerged MergeRequestState = "merged"
	// MergeRequestStateAll selects all of them; a filter only.
	MergeRequestStateAll MergeRequestState = "all"
)

// MergeStatus is the result of the check whether a merge request can be merged. Servers may return
// other values.
type MergeStatus string

const (
	// MergeStatusCanBeMerged is a merge request without conflicts.
	MergeStatusCanBeMerged MergeStatus = "can_be_merged"
	// MergeStatusCannotBeMerged is one with conflicts.
	MergeStatusCannotBeMerged MergeStatus = "cannot_be_merged"
	// MergeStatusUnchecked is one that was not checked yet.
	MergeStatusUnchecked MergeStatus = "unchecked"
	// MergeStatusChecking is one that is being checked. Not part of the contract.
	MergeStatusChecking MergeStatus = "checking"
	// MergeStatusCannotBeMergedRecheck is one that had conflicts and will be rechecked. Not part of
	// the contract.
	MergeStatusCannotBeMergedRecheck MergeStatus = "cannot_be_merged_recheck"
)

// DetailedMergeStatus is the reason why a merge request cannot be merged. Servers may return other
// values.
type DetailedMergeStatus string

const (
	// DetailedMergeStatusNotOpen is a merge request that is closed or merged.
	DetailedMergeStatusNotOpen DetailedMergeStatus = "not_open"
	// DetailedMergeStatusUnchecked is one that was not checked yet.
	DetailedMergeStatusUnchecked DetailedMergeStatus = "unchecked"
	// DetailedMergeStatusChecking is one that is being checked. Not part of the contract.
	DetailedMergeStatusChecking DetailedMergeStatus = "checking"
	// DetailedMergeStatusPreparing is a new one whose changes are being computed. Not part of the
	// contract.
	DetailedMergeStatusPreparing DetailedMergeStatus = "preparing"
	// DetailedMergeStatusNotApproved is one that lacks approvals.
	DetailedMergeStatusNotApproved DetailedMergeStatus = "not_approved"
	// DetailedMergeStatusCommitsStatus is one whose source branch is missing or has no commits.
	DetailedMergeStatusCommitsStatus DetailedMergeStatus = "commits_status"
	// DetailedMergeStatusApprovalsSyncing is one whose approvals are being computed. Not part of
	// the contract.
	DetailedMergeStatusApprovalsSyncing DetailedMergeStatus = "approvals_syncing"
	// DetailedMergeStatusCIMustPass is one whose pipeline must succeed first. Not part of the
	// contract.
	DetailedMergeStatusCIMustPass DetailedMergeStatus = "ci_must_pass"
	// DetailedMergeStatusCIStillRunning is one whose pipeline runs. Not part of the contract.
	DetailedMergeStatusCIStillRunning DetailedMergeStatus = "ci_still_running"
	// DetailedMergeStatusConflict is one with conflicts. Not part of the contract.
	DetailedMergeStatusConflict DetailedMergeStatus = "conflict"
	// DetailedMergeStatusDiscussionsNotResolved is one with open discussions. Not part of the
	// contract.
	DetailedMergeStatusDiscussionsNotResolved DetailedMergeStatus = "discussions_not_resolved"
	// DetailedMergeStatusDraftStatus is a draft. Not part of the contract.
	DetailedMergeStatusDraftStatus DetailedMergeStatus = "draft_status"
	// DetailedMergeStatusJiraAssociationMissing is one whose title and description name no issue of
	// Jira. Not part of the contract.
	DetailedMergeStatusJiraAssociationMissing DetailedMergeStatus = "jira_association_missing"
	// DetailedMergeStatusLockedLFSFiles is one that changes LFS files locked by another user. Not
	// part of the contract.
	DetailedMergeStatusLockedLFSFiles DetailedMergeStatus = "locked_lfs_files"
	// DetailedMergeStatusLockedPaths is one that changes paths locked by another user. Not part of
	// the contract.
	DetailedMergeStatusLockedPaths DetailedMergeStatus = "locked_paths"
	// DetailedMergeStatusMergeRequestBlocked is one that depends on another one. Not part of the
	// contract.
	DetailedMergeStatusMergeRequestBlocked DetailedMergeStatus = "merge_request_blocked"
	// DetailedMergeStatusMergeTime is one whose MergeAfter is not reached. Not part of the
	// contract.
	DetailedMergeStatusMergeTime DetailedMergeStatus = "merge_time"
	// DetailedMergeStatusMergeable is one that can be merged. Not part of the contract.
	DetailedMergeStatusMergeable DetailedMergeStatus = "mergeable"
	// DetailedMergeStatusNeedRebase is one whose source branch must be rebased. Not part of the
	// contract.
	DetailedMergeStatusNeedRebase DetailedMergeStatus = "need_rebase"
	// DetailedMergeStatusRequestedChanges is one whose reviewers request changes. Not part of the
	// contract.
	DetailedMergeStatusRequestedChanges DetailedMergeStatus = "requested_changes"
	// DetailedMergeStatusSecurityPolicyPipelineCheck is one whose pipelines of security policies
	// must succeed first. Not part of the contract.
	DetailedMergeStatusSecurityPolicyPipelineCheck DetailedMergeStatus = "security_policy_pipeline_check"
	// DetailedMergeStatusSecurityPolicyViolations is one that violates a security policy. Not part
	// of the contract.
	DetailedMergeStatusSecurityPolicyViolations DetailedMergeStatus = "security_policy_violations"
	// DetailedMergeStatusStatusChecksMustPass is one whose external status checks must pass first.
	// Not part of the contract.
	DetailedMergeStatusStatusChecksMustPass DetailedMergeStatus = "status_checks_must_pass"
	// DetailedMergeStatusTitleRegex is one whose title does not match the expression of the
	// project. Not part of the contract.
	DetailedMergeStatusTitleRegex DetailedMergeStatus = "title_regex"
)

// MergeRequest is a merge request. Lists omit some of the fields.
type MergeRequest struct {
	// ID is the instance-wide id; calls take IID.
	ID int64 `json:"id"`
	// IID is the id within the target project.
	IID int64 `json:"iid"`
	// ProjectID is the target project's id.
	ProjectID int64 `json:"project_id"`
	// SourceProjectID is the id of the project of SourceBranch.
	SourceProjectID int64 `json:"source_project_id"`
	// TargetProjectID is the id of the project of TargetBranch.
	TargetProjectID int64 `json:"target_project_id"`
	// Title is the title.
	Title string `json:"title"`
	// TitleHTML is the title as HTML. Not part of the contract.
	TitleHTML string `json:"title_html"`
	// Description is the text, in Markdown.
	Description string `json:"description"`
	// DescriptionHTML is the text as HTML; empty unless the call has Query("render_html", "true"). Not
	// part of the contract.
	DescriptionHTML string `json:"description_html"`
	// State is the state of the merge request: MergeRequestStateOpened, MergeRequestStateClosed,
	// MergeRequestStateLocked or MergeRequestStateMerged.
	State MergeRequestState `json:"state"`
	// Imported reports whether the merge request was imported.
	Imported bool `json:"imported"`
	// ImportedFrom is the source of an imported merge request, in the server's words; ImportSourceNone
	// if it was not imported.
	ImportedFrom ImportSource `json:"imported_from"`
	// CreatedAt is when the merge request was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the merge request last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// ClosedAt is when the merge request was closed; zero if it was not.
	ClosedAt time.Time `json:"closed_at"`
	// MergedAt is when the merge request was merged; zero if it was not.
	MergedAt time.Time `json:"merged_at"`
	// PreparedAt is when the server finished preparing it; zero before. Since 16.1.
	PreparedAt time.Time `json:"prepared_at"`
	// MergeAfter is the earliest time at which it may be merged; zero for any time. Since 17.5.
	MergeAfter time.Time `json:"merge_after"`
	// MergedBy is the user who merged it.
	//
	// Deprecated: since 14.7; use MergeUser. It is removed in API v5.
	MergedBy *UserSummary `json:"merged_by"`
	// MergeUser is the user who merged it, or set it to be merged; nil if no one did.
	MergeUser *UserSummary `json:"merge_user"`
	// ClosedBy is the user who closed it; nil if no one did.
	ClosedBy *UserSummary `json:"closed_by"`
	// Author is the user who created the merge request.
	Author UserSummary `json:"author"`
	// Assignee is the first of Assignees; nil if there is none.
	//
	// Deprecated: use Assignees.
	Assignee *UserSummary `json:"assignee"`
	// Assignees are the users who work on the merge request.
	Assignees []UserSummary `json:"assignees"`
	// Reviewers are the users who were asked for a review.
	Reviewers []UserSummary `json:"reviewers"`
	// TargetBranch is the branch that SourceBranch is merged into.
	TargetBranch string `json:"target_branch"`
	// SourceBranch is the branch that is merged.
	SourceBranch string `json:"source_branch"`
	// Upvotes counts the thumbs up.
	Upvotes int `json:"upvotes"`
	// Downvotes counts the thumbs down.
	Downvotes int `json:"downvotes"`
	// UserNotesCount counts the comments.
	UserNotesCount int `json:"user_notes_count"`
	// Labels are the labels.
	Labels []Label `json:"labels"`
	// Draft reports whether the merge request is not ready to be merged.
	Draft bool `json:"draft"`
	// WorkInProgress is another name for Draft.
	WorkInProgress bool `json:"work_in_progress"`
	// Milestone is the milestone; nil if there is none.
	Milestone *Milestone `json:"milestone"`
	// MergeWhenPipelineSucceeds reports whether it is merged automatically once its checks pass.
	MergeWhenPipelineSucceeds bool `json:"merge_when_pipeline_succeeds"`
	// MergeStatus describes whether it can be merged: one of the MergeStatus constants, such as
	// MergeStatusCanBeMerged; a server may return other values.
	//
	// Deprecated: since 15.6; use DetailedMergeStatus.
	MergeStatus MergeStatus `json:"merge_status"`
	// DetailedMergeStatus is the reason why it cannot be merged: one of the DetailedMergeStatus
	// constants, such as DetailedMergeStatusNotApproved; a server may return other values.
	DetailedMergeStatus DetailedMergeStatus `json:"detailed_merge_status"`
	// MergeError is the reason why merging failed; empty if it did not fail. Not part of the contract.
	MergeError string `json:"merge_error"`
	// SHA is the head of the source branch.
	SHA string `json:"sha"`
	// MergeCommitSHA is the merge commit; empty before there is one.
	MergeCommitSHA string `json:"merge_commit_sha"`
	// SquashCommitSHA is the squashed commit; empty if there is none.
	SquashCommitSHA string `json:"squash_commit_sha"`
	// DiscussionLocked reports whether only members can comment; nil if the server sent null.
	DiscussionLocked *bool `json:"discussion_locked"`
	// ShouldRemoveSourceBranch reports whether SourceBranch is deleted after merging; nil if the
	// server sent null.
	ShouldRemoveSourceBranch *bool `json:"should_remove_source_branch"`
	// ForceRemoveSourceBranch reports whether the project deletes SourceBranch after merging.
	ForceRemoveSourceBranch bool `json:"force_remove_source_branch"`
	// AllowCollaboration reports whether members of the target project may push to SourceBranch.
	AllowCollaboration bool `json:"allow_collaboration"`
	// AllowMaintainerToPush is another name for AllowCollaboration.
	AllowMaintainerToPush bool `json:"allow_maintainer_to_push"`
	// Reference is the mention of the merge request.
	//
	// Deprecated: since 12.7; use References.
	Reference string `json:"reference"`
	// References are the texts that mention the merge request.
	References References `json:"references"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// TimeStats are the estimate and the time spent.
	TimeStats TimeStats `json:"time_stats"`
	// Squash reports whether the commits are to be squashed.
	Squash bool `json:"squash"`
	// SquashOnMerge reports whether the commits will be squashed, including by the project's settings.
	SquashOnMerge bool `json:"squash_on_merge"`
	// TaskCompletionStatus counts the task list items.
	TaskCompletionStatus TaskCompletionStatus `json:"task_completion_status"`
	// HasConflicts reports whether the branches conflict.
	HasConflicts bool `json:"has_conflicts"`
	// BlockingDiscussionsResolved reports whether all discussions that block merging are resolved.
	BlockingDiscussionsResolved bool `json:"blocking_discussions_resolved"`
	// ApprovalsBeforeMerge is the number of approvals needed; nil when unset. Premium and Ultimate.
	//
	// Deprecated: since 16.0. It is removed in API v5.
	ApprovalsBeforeMerge *int `json:"approvals_before_merge"`
	// ChangesCount is the number of changed files as text, 1000+ for many; empty while it is not
	// known.
	ChangesCount string `json:"changes_count"`
	// Subscribed reports whether the user is subscribed; nil where the server does not show it, as in
	// lists.
	Subscribed *bool `json:"subscribed"`
	// LatestBuildStartedAt is when the latest pipeline started.
	LatestBuildStartedAt time.Time `json:"latest_build_started_at"`
	// LatestBuildFinishedAt is when the latest pipeline finished.
	LatestBuildFinishedAt time.Time `json:"latest_build_finished_at"`
	// FirstDeployedToProductionAt is when it was first deployed to production.
	FirstDeployedToProductionAt time.Time `json:"first_deployed_to_production_at"`
	// Pipeline is the latest pipeline; nil if there is none.
	Pipeline *Pipeline `json:"pipeline"`
	// HeadPipeline is the pipeline of the head commit; nil if there is none. Not part of the contract.
	HeadPipeline *HeadPipeline `json:"head_pipeline"`
	// DiffRefs are the commits that the diff is made of; nil or empty while they are not known.
	DiffRefs *DiffRefs `json:"diff_refs"`
	// DivergedCommitsCount counts the commits of TargetBranch that SourceBranch lacks.
	DivergedCommitsCount int `json:"diverged_commits_count"`
	// RebaseInProgress reports whether SourceBranch is being rebased. Not part of the contract.
	RebaseInProgress bool `json:"rebase_in_progress"`
	// FirstContribution reports whether it is the author's first to the project. Not part of the
	// contract.
	FirstContribution bool `json:"first_contribution"`
	// User describes the permissions of the current user. Not part of the contract.
	User MergeRequestUser `json:"user"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

func (m *MergeRequest) change() (id int64, created, updated time.Time) {
	return m.ID, m.CreatedAt, m.UpdatedAt
}

// HeadPipeline is the pipeline of a merge request's head commit. Not part of the contract.
type HeadPipeline struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// IID is the id within the project.
	IID int64 `json:"iid"`
	// ProjectID is the project's id.
	ProjectID int64 `json:"project_id"`
	// SHA is the commit that it runs for.
	SHA string `json:"sha"`
	// Ref is the branch or tag that it runs for.
	Ref string `json:"ref"`
	// Status is the status of the pipeline.
	Status string `json:"status"`
	// Source is the cause that started it, such as a push.
	Source string `json:"source"`
	// CreatedAt is when it was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when it last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// BeforeSHA is the commit before the push that started it.
	BeforeSHA string `json:"before_sha"`
	// Tag reports whether Ref is a tag.
	Tag bool `json:"tag"`
	// YAMLErrors are the errors of the CI configuration, as text; empty if there are none.
	YAMLErrors string `json:"yaml_errors"`
	// User is the user who started it.
	User *UserSummary `json:"user"`
	// StartedAt is when it began to run; zero before.
	StartedAt time.Time `json:"started_at"`
	// FinishedAt is when it ended; zero before.
	FinishedAt time.Time `json:"finished_at"`
	// CommittedAt is when its commit was made; zero if the server does not know it.
	CommittedAt time.Time `json:"committed_at"`
	// Duration is how long it ran, in seconds; nil when it is not known.
	Duration *int `json:"duration"`
	// QueuedDuration is how long it waited, in seconds; nil when it is not known.
	QueuedDuration *int `json:"queued_duration"`
	// Archived reports whether it is too old for its jobs to run again.
	Archived bool `json:"archived"`
	// Name is its name from the CI configuration; empty if there is none.
	Name string `json:"name"`
	// Coverage is the test coverage in percent, as text.
	Coverage string `json:"coverage"`
	// DetailedStatus is the status as the web pages show it, as raw JSON.
	DetailedStatus json.RawMessage `json:"detailed_status"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// DiffRefs are the commits that a diff is made of.
type DiffRefs struct {
	// BaseSHA is the merge base of source and target.
	BaseSHA string `json:"base_sha"`
	// HeadSHA is the head of the source branch.
	HeadSHA string `json:"head_sha"`
	// StartSHA is the head of the target branch when the version was made.
	StartSHA string `json:"start_sha"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// MergeRequestUser describes what the current user may do with a merge request. Not part of the
// contract.
type MergeRequestUser struct {
	// CanMerge reports whether the user may merge it.
	CanMerge bool `json:"can_merge"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// MergeRequestDependency is a dependency: one merge request must be merged before another.
type MergeRequestDependency struct {
	// ID is the dependency's id; DeleteBlock takes it.
	ID int64 `json:"id"`
	// BlockingMergeRequest must be merged first.
	BlockingMergeRequest MergeRequest `json:"blocking_merge_request"`
	// BlockedMergeRequest must be merged after it; nil if the server does not send it, as may happen
	// for CreateBlock.
	BlockedMergeRequest *MergeRequest `json:"blocked_merge_request"`
	// ProjectID is the id of the project of the blocked merge request.
	ProjectID int64 `json:"project_id"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// MergeRequestChanges is a merge request with its changes. The contract documents only Overflow.
type MergeRequestChanges struct {
	MergeRequest
	// Changes are the changed files. Not part of the contract.
	Changes []Diff `json:"changes"`
	// Overflow reports whether the server's size limits made Changes incomplete; see Incomplete.
	Overflow bool `json:"overflow"`
}

// Incomplete reports whether the server truncated the changes: Overflow is set, ChangesCount
// counts more files than Changes has, or a diff is Collapsed or TooLarge. With AccessRawDiffs,
// GetChanges reads all changes. Servers before 18.4 do not mark a file whose diff they omitted: a
// new, renamed or deleted file with an empty Diff may be such a file.
func (c *MergeRequestChanges) Incomplete() bool {
	return c.Overflow || fewerDiffs(c.Changes, c.ChangesCount) || truncatedDiffs(c.Changes)
}

// DiffVersion is the diff of a merge request after a push.
type DiffVersion struct {
	// ID is the version's id; GetVersion takes it.
	ID int64 `json:"id"`
	// HeadCommitSHA is the head of the source branch.
	HeadCommitSHA string `json:"head_commit_sha"`
	// BaseCommitSHA is the merge base of source and target.
	BaseCommitSHA string `json:"base_commit_sha"`
	// StartCommitSHA is the head of the target branch when the version was made.
	StartCommitSHA string `json:"start_commit_sha"`
	// CreatedAt is when the version was made.
	CreatedAt time.Time `json:"created_at"`
	// MergeRequestID is the instance-wide id of the merge request.
	MergeRequestID int64 `json:"merge_request_id"`
	// State is the state of the version: DiffVersionStateCollected once it is ready; a server may
	// return other values.
	State DiffVersionState `json:"state"`
	// RealSize is the number of changed files as text, with a + if the server stopped counting.
	RealSize string `json:"real_size"`
	// PatchIDSHA is equal for versions that make the same changes.
	PatchIDSHA string `json:"patch_id_sha"`
	// Commits are the commits of the source branch; GetVersion only.
	Commits []Commit `json:"commits"`
	// Diffs are the changed files; GetVersion only.
	Diffs []Diff `json:"diffs"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// DiffVersionState is the state of a diff version, such as collected. Servers may return other
// values.
type DiffVersionState string

const (
	// DiffVersionStateCollected is a version that is ready.
	DiffVersionStateCollected DiffVersionState = "collected"
)

// Incomplete reports whether the server truncated the diffs of the version: RealSize counts more
// diffs than Diffs has, or a diff is marked as truncated, as in MergeRequestChanges.Incomplete.
// GetChanges with AccessRawDiffs reads the complete latest version.
func (v *DiffVersion) Incomplete() bool {
	return fewerDiffs(v.Diffs, v.RealSize) || truncatedDiffs(v.Diffs)
}

// Commit is a commit of a diff version, of a CI job, or a merge base.
type Commit struct {
	// ID is the full SHA.
	ID string `json:"id"`
	// ShortID is the abbreviated SHA.
	ShortID string `json:"short_id"`
	// CreatedAt is CommittedDate.
	CreatedAt time.Time `json:"created_at"`
	// ParentIDs are the SHAs of the parents.
	ParentIDs []string `json:"parent_ids"`
	// Title is the first line of Message.
	Title string `json:"title"`
	// Message is the whole message.
	Message string `json:"message"`
	// AuthorName is the author's name as recorded in Git.
	AuthorName string `json:"author_name"`
	// AuthorEmail is the author's address as recorded in Git.
	AuthorEmail string `json:"author_email"`
	// AuthoredDate is when the change was written.
	AuthoredDate time.Time `json:"authored_date"`
	// CommitterName is the committer's name as recorded in Git.
	CommitterName string `json:"committer_name"`
	// CommitterEmail is the committer's address as recorded in Git.
	CommitterEmail string `json:"committer_email"`
	// CommittedDate is when the change was committed.
	CommittedDate time.Time `json:"committed_date"`
	// Trailers are the trailers of the message. A repeated key has its last value.
	Trailers map[string]string `json:"trailers"`
	// ExtendedTrailers are the trailers with all their values. The contract documents it for diff
	// versions; deployed servers send it for merge bases too.
	ExtendedTrailers map[string][]string `json:"extended_trailers"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
