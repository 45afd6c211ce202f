package forge

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"
)

// MergeRequestsService lists merge requests and acts on them: dependencies, subscriptions, to-do
// items, changes and diff versions. Calls identify a merge request by its project and its IID.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
type MergeRequestsService struct{ service }

// MergeRequestOrderBy is the sort key of a list of merge requests.
type MergeRequestOrderBy string

const (
	// MergeRequestOrderByCreatedAt sorts by the time of creation; the default.
	MergeRequestOrderByCreatedAt MergeRequestOrderBy = "created_at"
	// MergeRequestOrderByTitle sorts by title.
	MergeRequestOrderByTitle MergeRequestOrderBy = "title"
	// MergeRequestOrderByUpdatedAt sorts by the time of the last change.
	MergeRequestOrderByUpdatedAt MergeRequestOrderBy = "updated_at"
	// MergeRequestOrderByMergedAt sorts by the time of merging. The contract documents it for List;
	// deployed servers accept it in both lists. Since 17.2.
	MergeRequestOrderByMergedAt MergeRequestOrderBy = "merged_at"
	// MergeRequestOrderByLabelPriority sorts by the priority of the labels. Not part of the
	// contract.
	MergeRequestOrderByLabelPriority MergeRequestOrderBy = "label_priority"
	// MergeRequestOrderByMilestoneDue sorts by the due date of the milestone. Not part of the
	// contract.
	MergeRequestOrderByMilestoneDue MergeRequestOrderBy = "milestone_due"
	// MergeRequestOrderByPopularity sorts by the number of upvotes. Not part of the contract.
	MergeRequestOrderByPopularity MergeRequestOrderBy = "popularity"
	// MergeRequestOrderByPriority sorts by milestone and label priority. Not part of the contract.
	MergeRequestOrderByPriority MergeRequestOrderBy = "priority"
)

// ScopeReviewsForMe lists the merge requests that have the user as a reviewer. Since 18. Not part
// of the contract.
const ScopeReviewsForMe Scope = "reviews_for_me"

// MergeRequestView selects the fields of each merge request in a list.
type MergeRequestView string

// MergeRequestViewSimple shows IID, web address, title, description and state only.
const MergeRequestViewSimple MergeRequestView = "simple"

// YesNo is a filter that selects items with a property, or items without it. Its constants are the
// words Yes and No, without the prefix, as those of the other filters.
type YesNo string

const (
	// Yes selects items with the property.
	Yes YesNo = "yes"
	// No selects items without the property.
	No YesNo = "no"
)

// ListMergeRequestsOptions filters and sorts the lists of merge requests. Times are sent in UTC, in
// milliseconds. A server that stores microseconds but shows milliseconds may omit the item from
// which an upper bound was read. "List only" and "ListForProject only" mark the fields of one list.
type ListMergeRequestsOptions struct {
	// ApprovedByIDs selects merge requests that all of the users have approved: IDs(1, 2), at most 5,
	// None or Any. Premium and Ultimate.
	ApprovedByIDs IDListFilter `url:"approved_by_ids,omitempty"`
	// ApprovedByUsernames selects merge requests that all of the users have approved. Not part of the
	// contract.
	ApprovedByUsernames []string `url:"approved_by_usernames,brackets,omitempty"`
	// Approved selects approved merge requests (Yes), or the others (No). Not part of the contract. It
	// is refused, because servers since 19.5 ignore it; SkipValidation sends it to older ones, which
	// need a feature flag.
	Approved YesNo `url:"approved,omitempty"`
	// ApproverIDs selects merge requests that have all of the users as approvers: IDs(1, 2), None or
	// Any. Premium and Ultimate.
	ApproverIDs IDListFilter `url:"approver_ids,omitempty"`
	// AssigneeID selects by assignee: ID(42), None or Any. Not together with AssigneeUsername.
	AssigneeID IDFilter `url:"assignee_id,omitempty"`
	// AssigneeUsername selects by the assignees' usernames; the community edition takes one. Not
	// together with AssigneeID. Not part of the contract.
	AssigneeUsername []string `url:"assignee_username,brackets,omitempty"`
	// AuthorID selects by author. Set Scope to ScopeAll or ScopeAssignedToMe with it. Not together
	// with AuthorUsername.
	AuthorID int64 `url:"author_id,omitempty"`
	// AuthorUsername selects by the author's username. Not together with AuthorID.
	AuthorUsername string `url:"author_username,omitempty"`
	// CreatedAfter selects merge requests created at this time or later.
	CreatedAfter time.Time `url:"created_after,omitempty"`
	// CreatedBefore selects merge requests created at this time or earlier.
	CreatedBefore time.Time `url:"created_before,omitempty"`
	// UpdatedAfter selects merge requests changed at this time or later.
	UpdatedAfter time.Time `url:"updated_after,omitempty"`
	// UpdatedBefore selects merge requests last changed at this time or earlier.
	UpdatedBefore time.Time `url:"updated_before,omitempty"`
	// MergedAfter selects merge requests merged at this time or later. Not part of the contract.
	MergedAfter time.Time `url:"merged_after,omitempty"`
	// MergedBefore selects merge requests merged at this time or earlier. Not part of the contract.
	MergedBefore time.Time `url:"merged_before,omitempty"`
	// DeployedAfter selects merge requests deployed after this time. The contract documents it for
	// List; deployed servers accept it in both lists.
	DeployedAfter time.Time `url:"deployed_after,omitempty"`
	// DeployedBefore selects merge requests deployed before this time. The contract documents it for
	// List; deployed servers accept it in both lists.
	DeployedBefore time.Time `url:"deployed_before,omitempty"`
	// Draft selects drafts (true), or merge requests that are ready (false). Not together with WIP.
	// Since 19.0. Not part of the contract.
	Draft *bool `url:"draft,omitempty"`
	// Environment selects merge requests deployed to the environment.
	Environment string `url:"environment,omitempty"`
	// IIDs selects by IID. ListForProject only.
	IIDs []int64 `url:"iids,brackets,omitempty"`
	// In selects the texts that Search covers: SearchInTitle, SearchInDescription or SearchInBoth;
	// empty for SearchInBoth. The contract documents it for List; deployed servers accept it in both
	// lists.
	In SearchIn `url:"in,omitempty"`
	// Labels selects merge requests that have all of the labels: Labels("bug", "p1"), None or Any.
	Labels LabelFilter `url:"labels,omitempty"`
	// MergeUserID selects by the user who merged it, or set it to be merged. Not together with
	// MergeUserUsername. Since 17.0.
	MergeUserID int64 `url:"merge_user_id,omitempty"`
	// MergeUserUsername selects by the username of the user who merged it. Not together with
	// MergeUserID. Since 17.0.
	MergeUserUsername string `url:"merge_user_username,omitempty"`
	// Milestone selects by the milestone's title: Text("v1"), None or Any.
	Milestone TextFilter `url:"milestone,omitempty"`
	// MyReactionEmoji selects by the user's own reaction: Text("thumbsup"), None or Any.
	MyReactionEmoji TextFilter `url:"my_reaction_emoji,omitempty"`
	// NonArchived excludes archived projects; nil for the server's default, false. List only. Not part
	// of the contract.
	NonArchived *bool `url:"non_archived,omitempty"`
	// Not excludes the merge requests that match its filters.
	Not *MergeRequestNot `url:"not,omitempty"`
	// OrderBy is the sort key: one of the MergeRequestOrderBy constants, such as
	// MergeRequestOrderByUpdatedAt; empty for MergeRequestOrderByCreatedAt.
	OrderBy MergeRequestOrderBy `url:"order_by,omitempty"`
	// ReviewerID selects by reviewer: ID(42), None or Any. Not together with ReviewerUsername.
	ReviewerID IDFilter `url:"reviewer_id,omitempty"`
	// ReviewerUsername selects by the reviewer's username: Text("ada"). The contract may allow None
	// and Any for ReviewerID only, so set them there. Not together with ReviewerID.
	ReviewerUsername TextFilter `url:"reviewer_username,omitempty"`
	// Scope selects merge requests by their relation to the user: ScopeCreatedByMe, ScopeAssignedToMe,
	// ScopeReviewsForMe or ScopeAll; empty for ScopeCreatedByMe in List. The contract shows no default
	// for ListForProject.
	Scope Scope `url:"scope,omitempty"`
	// Search selects by words in the title and the description.
	Search string `url:"search,omitempty"`
	// Sort is the direction: SortAsc or SortDesc; empty for SortDesc.
	Sort Sort `url:"sort,omitempty"`
	// SourceBranch selects merge requests from the branch.
	SourceBranch string `url:"source_branch,omitempty"`
	// SourceProjectID selects by the project of the source branch. Not part of the contract.
	SourceProjectID int64 `url:"source_project_id,omitempty"`
	// TargetBranch selects merge requests into the branch.
	TargetBranch string `url:"target_branch,omitempty"`
	// State selects by state: MergeRequestStateOpened, MergeRequestStateClosed,
	// MergeRequestStateLocked, MergeRequestStateMerged or MergeRequestStateAll; empty for all.
	State MergeRequestState `url:"state,omitempty"`
	// View selects the fields of each merge request: MergeRequestViewSimple for some of them; empty
	// for all.
	View MergeRequestView `url:"view,omitempty"`
	// WithLabelsDetails requests the colours and descriptions of labels in addition to their names.
	WithLabelsDetails *bool `url:"with_labels_details,omitempty"`
	// WithMergeStatusRecheck requests that the server recomputes MergeStatus, which lists do not
	// refresh. The server does so later, or not at all. Servers may ignore it for users below
	// Developer.
	WithMergeStatusRecheck *bool `url:"with_merge_status_recheck,omitempty"`
	// WIP selects drafts (Yes), or merge requests that are ready (No). GitLab deprecates it since
	// 19.0, which has Draft; earlier releases have only WIP.
	WIP YesNo `url:"wip,omitempty"`
}

// MergeRequestNot excludes the merge requests that match its fields. Its fields take ids and names,
// but not None or Any: these are names there. To exclude None, use Any in the field of the same
// name of ListMergeRequestsOptions; to exclude Any, use None there.
type MergeRequestNot struct {
	// Labels excludes merge requests with the labels: Labels("bug").
	Labels LabelNames `url:"labels,omitempty"`
	// Milestone excludes the merge requests of the milestone with the title: Text("v1").
	Milestone Text `url:"milestone,omitempty"`
	// AuthorID excludes merge requests of the author. Not together with AuthorUsername.
	AuthorID int64 `url:"author_id,omitempty"`
	// AuthorUsername excludes merge requests of the author. Not together with AuthorID.
	AuthorUsername string `url:"author_username,omitempty"`
	// AssigneeID excludes merge requests of the assignee.
	AssigneeID ID `url:"assignee_id,omitempty"`
	// AssigneeUsername excludes merge requests of the assignee.
	AssigneeUsername string `url:"assignee_username,omitempty"`
	// ReviewerID excludes merge requests with the reviewer. Not together with ReviewerUsername.
	ReviewerID ID `url:"reviewer_id,omitempty"`
	// ReviewerUsername excludes merge requests with the reviewer: Text("ada"). Not together with
	// ReviewerID.
	ReviewerUsername Text `url:"reviewer_username,omitempty"`
	// MyReactionEmoji excludes merge requests with this reaction of the user: Text("thumbsdown").
	MyReactionEmoji Text `url:"my_reaction_emoji,omitempty"`
}

// maxApprovedBy is the maximum number of users in ApprovedByIDs.
const maxApprovedBy = 5

func (o *ListMergeRequestsOptions) check() error {
	approvers, _ := o.ApprovedByIDs.(IDList)
	return firstError(
		atMost("approved_by_ids", len(approvers), maxApprovedBy, "users"),
		exclusive("assignee_id", o.AssigneeID != nil, "assignee_username", len(o.AssigneeUsername) > 0),
		exclusive("author_id", o.AuthorID != 0, "author_username", o.AuthorUsername != ""),
		exclusive("draft", o.Draft != nil, "wip", o.WIP != ""),
		exclusive("merge_user_id", o.MergeUserID != 0, "merge_user_username", o.MergeUserUsername != ""),
		exclusive("reviewer_id", o.ReviewerID != nil, "reviewer_username", o.ReviewerUsername != nil),
		o.Not.check(),
	)
}

func (n *MergeRequestNot) check() error {
	if n == nil {
		return nil
	}
	return firstError(
		exclusive("not[author_id]", n.AuthorID != 0, "not[author_username]", n.AuthorUsername != ""),
		exclusive("not[reviewer_id]", n.ReviewerID != 0, "not[reviewer_username]", n.ReviewerUsername != ""),
	)
}

// List lists merge requests that the user can see. Without Scope it lists only those that the user
// created. GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) List(ctx context.Context, o *ListMergeRequestsOptions, opts ...RequestOption) iter.Seq2[*MergeRequest, error] {
	r := s.newGet("/merge_requests").params(o)
	return list[MergeRequest](ctx, r, opts)
}

// ListForProject lists the merge requests of a project.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) ListForProject(ctx context.Context, project Ref, o *ListMergeRequestsOptions, opts ...RequestOption) iter.Seq2[*MergeRequest, error] {
	r := s.newGet("/projects/:id/merge_requests", project).params(o)
	return list[MergeRequest](ctx, r, opts)
}

// WaitMergeStatus requests a recheck of whether the merge request can be merged, and waits for the
// result: a DetailedMergeStatus other than DetailedMergeStatusUnchecked,
// DetailedMergeStatusChecking and DetailedMergeStatusPreparing. It returns the merge request.
// Servers may ignore the request, and may recheck for Developers only, so set a deadline on ctx. It
// polls ListForProject immediately, after 1 s, and then at intervals growing to 10 s. Request
// options apply to every poll.
func (s *MergeRequestsService) WaitMergeStatus(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) (*MergeRequest, error) {
	r := s.newGet("/projects/:id/merge_requests", project).argument("merge_request_iid", mergeRequest)
	o := &ListMergeRequestsOptions{IIDs: []int64{mergeRequest}, Scope: ScopeAll, WithMergeStatusRecheck: new(true)}
	var found *MergeRequest
	err := r.poll(ctx, func() (done bool, saw string, err error) {
		list, err := Collect(s.ListForProject(ctx, project, o, opts...))
		if err != nil {
			return false, "", err
		}
		i := slices.IndexFunc(list, func(m *MergeRequest) bool { return m.IID == mergeRequest })
		if i < 0 {
			return false, "", r.fail(ErrNotFound, fmt.Sprintf("the project has no merge request %d", mergeRequest))
		}
		found = list[i]
		return found.checked(), "the merge status is " + r.core.safeText(string(found.DetailedMergeStatus), 64), nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}

// checked reports whether the server has determined the merge status.
func (m *MergeRequest) checked() bool {
	switch m.DetailedMergeStatus {
	case DetailedMergeStatusUnchecked, DetailedMergeStatusChecking, DetailedMergeStatusPreparing:
		return false
	}
	return true
}

// ListBlocks lists the merge requests that must be merged before this one.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) ListBlocks(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) iter.Seq2[*MergeRequestDependency, error] {
	r := s.newGet("/projects/:id/merge_requests/:merge_request_iid/blocks", project, mergeRequest)
	return list[MergeRequestDependency](ctx, r, opts)
}

// CreateBlockOptions sets the merge request that must be merged first.
type CreateBlockOptions struct {
	// BlockingMergeRequestID is the MergeRequest.ID of that merge request. Required. The contract
	// calls it the internal id, but an IID would need a project, and there is no parameter for it.
	BlockingMergeRequestID int64 `json:"blocking_merge_request_id,omitempty"`
}

func (o *CreateBlockOptions) check() error {
	return required("blocking_merge_request_id", o.BlockingMergeRequestID != 0)
}

// CreateBlock makes the merge request depend on another one, which must be merged first. It returns
// ErrConflict if the dependency exists already, ErrBadRequest if it cannot be saved, ErrForbidden
// if the user cannot read the other merge request, and ErrNotFound if that does not exist.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) CreateBlock(ctx context.Context, project Ref, mergeRequest int64, o *CreateBlockOptions, opts ...RequestOption) (*MergeRequestDependency, error) {
	r := s.newPost("/projects/:id/merge_requests/:merge_request_iid/blocks", project, mergeRequest).json(o)
	return do[MergeRequestDependency](ctx, r, opts)
}

// DeleteBlock deletes a dependency by its id, which ListBlocks returns. It returns ErrForbidden if
// the user cannot update the merge request or cannot read the blocking one.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) DeleteBlock(ctx context.Context, project Ref, mergeRequest, block int64, opts ...RequestOption) error {
	r := s.newDelete("/projects/:id/merge_requests/:merge_request_iid/blocks/:block_id", project, mergeRequest, block)
	return exec(ctx, r, opts)
}

// ListBlockees lists the merge requests that cannot be merged before this one.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) ListBlockees(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) iter.Seq2[*MergeRequestDependency, error] {
	r := s.newGet("/projects/:id/merge_requests/:merge_request_iid/blockees", project, mergeRequest)
	return list[MergeRequestDependency](ctx, r, opts)
}

// GetChangesOptions sets the source and the format of the diffs.
type GetChangesOptions struct {
	// AccessRawDiffs reads the diffs from the repository. This is slower, and without the size limits
	// of the database.
	AccessRawDiffs *bool `url:"access_raw_diffs,omitempty"`
	// Unidiff requests diffs in the unified format. Since 16.5.
	Unidiff *bool `url:"unidiff,omitempty"`
}

// GetChanges reads a merge request with its changed files. The server may truncate them: Incomplete
// reports it, and AccessRawDiffs reads them
// in full.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
//
// Deprecated: since 15.7; it is removed in API v5. The contract names a list of diffs as its
// replacement, but does not document it.
func (s *MergeRequestsService) GetChanges(ctx context.Context, project Ref, mergeRequest int64, o *GetChangesOptions, opts ...RequestOption) (*MergeRequestChanges, error) {
	r := s.newGet("/projects/:id/merge_requests/:merge_request_iid/changes", project, mergeRequest).params(o)
	return do[MergeRequestChanges](ctx, r, opts)
}

// Subscribe subscribes the user to the merge request. It returns ErrNotModified if the user is
// subscribed already; see ErrNotModified.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) Subscribe(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) (*MergeRequest, error) {
	r := s.newPost("/projects/:id/merge_requests/:merge_request_iid/subscribe", project, mergeRequest)
	return do[MergeRequest](ctx, r, opts)
}

// Unsubscribe ends the user's subscription to the merge request. It returns ErrNotModified if the
// user is not subscribed; see ErrNotModified.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) Unsubscribe(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) (*MergeRequest, error) {
	r := s.newPost("/projects/:id/merge_requests/:merge_request_iid/unsubscribe", project, mergeRequest)
	return do[MergeRequest](ctx, r, opts)
}

// CreateTodo puts the merge request on the user's to-do list. It returns ErrNotModified if the item
// exists already; see ErrNotModified.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) CreateTodo(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) (*Todo, error) {
	r := s.newPost("/projects/:id/merge_requests/:merge_request_iid/todo", project, mergeRequest)
	return do[Todo](ctx, r, opts)
}

// ListVersions lists the diff versions of a merge request, without their commits and diffs;
// GetVersion returns them. GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) ListVersions(ctx context.Context, project Ref, mergeRequest int64, opts ...RequestOption) iter.Seq2[*DiffVersion, error] {
	r := s.newGet("/projects/:id/merge_requests/:merge_request_iid/versions", project, mergeRequest)
	return list[DiffVersion](ctx, r, opts)
}

// GetDiffVersionOptions sets the format of the diffs.
type GetDiffVersionOptions struct {
	// Unidiff requests diffs in the unified format.
	Unidiff *bool `url:"unidiff,omitempty"`
}

// GetVersion reads a diff version with its commits and diffs. The server may truncate them:
// Incomplete reports it.
// GitLab docs: https://docs.gitlab.com/api/merge_requests/
func (s *MergeRequestsService) GetVersion(ctx context.Context, project Ref, mergeRequest, version int64, o *GetDiffVersionOptions, opts ...RequestOption) (*DiffVersion, error) {
	r := s.newGet("/projects/:id/merge_requests/:merge_request_iid/versions/:version_id", project, mergeRequest, version).params(o)
	return do[DiffVersion](ctx, r, opts)
}
