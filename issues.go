package forge

import (
	"context"
	"iter"
	"strings"
	"time"
)

// IssuesService reads issues and acts on them: subscriptions, to-do items, promotion and time
// tracking. Calls identify an issue by its project and its IID.
// GitLab docs: https://docs.gitlab.com/api/issues/
type IssuesService struct{ service }

// IssueOrderBy is the sort key of a list of issues.
type IssueOrderBy string

const (
	// IssueOrderByCreatedAt sorts by the time of creation; the default.
	IssueOrderByCreatedAt IssueOrderBy = "created_at"
	// IssueOrderByDueDate sorts by the due date.
	IssueOrderByDueDate IssueOrderBy = "due_date"
	// IssueOrderByLabelPriority sorts by the priority of the labels.
	IssueOrderByLabelPriority IssueOrderBy = "label_priority"
	// IssueOrderByMilestoneDue sorts by the due date of the milestone.
	IssueOrderByMilestoneDue IssueOrderBy = "milestone_due"
	// IssueOrderByPopularity sorts by the number of upvotes.
	IssueOrderByPopularity IssueOrderBy = "popularity"
	// IssueOrderByPriority sorts by milestone and label priority.
	IssueOrderByPriority IssueOrderBy = "priority"
	// IssueOrderByRelativePosition sorts by the place on boards.
	IssueOrderByRelativePosition IssueOrderBy = "relative_position"
	// IssueOrderByTitle sorts by title; List only.
	IssueOrderByTitle IssueOrderBy = "title"
	// IssueOrderByUpdatedAt sorts by the time of the last change.
	IssueOrderByUpdatedAt IssueOrderBy = "updated_at"
	// IssueOrderByWeight sorts by weight.
	IssueOrderByWeight IssueOrderBy = "weight"
)

// DueDateFilter selects issues by their due date.
type DueDateFilter string

const (
	// DueDateFilterNone selects issues without a due date.
	DueDateFilterNone DueDateFilter = "0"
	// DueDateFilterAny selects issues with a due date.
	DueDateFilterAny DueDateFilter = "any"
	// DueDateFilterToday selects issues that are due today.
	DueDateFilterToday DueDateFilter = "today"
	// DueDateFilterTomorrow selects issues that are due tomorrow.
	DueDateFilterTomorrow DueDateFilter = "tomorrow"
	// DueDateFilterOverdue selects issues whose due date has passed.
	DueDateFilterOverdue DueDateFilter = "overdue"
	// DueDateFilterWeek selects issues that are due this week.
	DueDateFilterWeek DueDateFilter = "week"
	// DueDateFilterMonth selects issues that are due this month.
	DueDateFilterMonth DueDateFilter = "month"
	// DueDateFilterNextMonthAndPreviousTwoWeeks selects issues due between two weeks ago and the end
	// of next month.
	DueDateFilterNextMonthAndPreviousTwoWeeks DueDateFilter = "next_month_and_previous_two_weeks"
)

// ListIssuesOptions filters and sorts the lists of issues. Times are sent in UTC, in milliseconds.
// A server that stores microseconds but shows milliseconds may omit the item from which an upper
// bound was read.
type ListIssuesOptions struct {
	// AssigneeID selects by assignee: ID(42), None or Any. Not together with AssigneeUsername.
	AssigneeID IDFilter `url:"assignee_id,omitempty"`
	// AssigneeUsername selects by the assignees' usernames; the community edition takes one. Not
	// together with AssigneeID.
	AssigneeUsername []string `url:"assignee_username,brackets,omitempty"`
	// AuthorID selects by author. Set Scope to ScopeAll or ScopeAssignedToMe with it. Not together
	// with AuthorUsername.
	AuthorID int64 `url:"author_id,omitempty"`
	// AuthorUsername selects by the author's username. Not together with AuthorID.
	AuthorUsername string `url:"author_username,omitempty"`
	// ClosedByID selects issues that this user closed. Not part of the contract.
	ClosedByID int64 `url:"closed_by_id,omitempty"`
	// Confidential selects confidential issues (true) or public ones (false).
	Confidential *bool `url:"confidential,omitempty"`
	// CreatedAfter selects issues created at this time or later.
	CreatedAfter time.Time `url:"created_after,omitempty"`
	// CreatedBefore selects issues created at this time or earlier.
	CreatedBefore time.Time `url:"created_before,omitempty"`
	// UpdatedAfter selects issues changed at this time or later.
	UpdatedAfter time.Time `url:"updated_after,omitempty"`
	// UpdatedBefore selects issues last changed at this time or earlier.
	UpdatedBefore time.Time `url:"updated_before,omitempty"`
	// DueDate selects by due date: one of the DueDateFilter constants, such as DueDateFilterToday,
	// DueDateFilterOverdue or DueDateFilterNone.
	DueDate DueDateFilter `url:"due_date,omitempty"`
	// EpicID selects by epic: ID(7), None or Any. Premium and Ultimate.
	EpicID IDFilter `url:"epic_id,omitempty"`
	// HealthStatus selects by health: Text(HealthStatusOnTrack), None or Any. The contract documents
	// it for List; deployed servers accept it in both lists. Ultimate; None and Any since 15.5.
	HealthStatus TextFilter `url:"health_status,omitempty"`
	// IIDs selects by IID.
	IIDs []int64 `url:"iids,brackets,omitempty"`
	// In selects the texts that Search covers: SearchInTitle, SearchInDescription or SearchInBoth;
	// empty for SearchInBoth. The contract documents it for List; deployed servers accept it in both
	// lists.
	In SearchIn `url:"in,omitempty"`
	// IssueType selects by type: IssueTypeIssue, IssueTypeIncident, IssueTypeTestCase, IssueTypeTask,
	// IssueTypeRequirement or IssueTypeTicket.
	IssueType IssueType `url:"issue_type,omitempty"`
	// IterationID selects by iteration: ID(7), None, Any or, not in the contract, Current. Not
	// together with IterationTitle. Premium and Ultimate.
	IterationID IterationFilter `url:"iteration_id,omitempty"`
	// IterationTitle selects by the iteration's title. Not together with IterationID. Premium and
	// Ultimate.
	IterationTitle string `url:"iteration_title,omitempty"`
	// Labels selects issues that have all of the labels: Labels("bug", "p1"), None or Any.
	Labels LabelFilter `url:"labels,omitempty"`
	// MilestoneID selects by milestone: None, Any, Upcoming or Started. Not together with Milestone.
	// The contract documents it for List; deployed servers accept it in both lists.
	MilestoneID MilestoneFilter `url:"milestone_id,omitempty"`
	// Milestone selects by the milestone's title: Text("v1"), None or Any. MilestoneID replaces None
	// and Any. Not together with MilestoneID.
	Milestone TextFilter `url:"milestone,omitempty"`
	// MyReactionEmoji selects by the user's own reaction: Text("thumbsup"), None or Any.
	MyReactionEmoji TextFilter `url:"my_reaction_emoji,omitempty"`
	// NonArchived excludes archived projects; nil for the server's default, true.
	NonArchived *bool `url:"non_archived,omitempty"`
	// Not excludes the issues that match its filters.
	Not *IssueNot `url:"not,omitempty"`
	// OrderBy is the sort key: one of the IssueOrderBy constants, such as IssueOrderByUpdatedAt; empty
	// for IssueOrderByCreatedAt.
	OrderBy IssueOrderBy `url:"order_by,omitempty"`
	// Scope selects issues by their relation to the user: ScopeCreatedByMe, ScopeAssignedToMe or
	// ScopeAll; empty for ScopeCreatedByMe in List and ScopeAll in ListForGroup.
	Scope Scope `url:"scope,omitempty"`
	// Search selects by words in the title and the description.
	Search string `url:"search,omitempty"`
	// Sort is the direction: SortAsc or SortDesc; empty for SortDesc.
	Sort Sort `url:"sort,omitempty"`
	// State selects by state: IssueStateOpened, IssueStateClosed or IssueStateAll; empty for all.
	State IssueState `url:"state,omitempty"`
	// Weight selects by weight: Number(3), None or Any. Premium and Ultimate.
	Weight NumberFilter `url:"weight,omitempty"`
	// WithLabelsDetails requests the colours and descriptions of labels in addition to their names.
	WithLabelsDetails *bool `url:"with_labels_details,omitempty"`
}

// IssueNot excludes the issues that match its fields. Its fields take ids, names and numbers, but
// only IterationID and MilestoneID take None and Any: these are names elsewhere. To exclude None,
// use Any in the field of the same name of ListIssuesOptions; to exclude Any, use None there.
// "List only" and "ListForGroup only" mark the fields of one list.
type IssueNot struct {
	// AssigneeID excludes issues of the assignee. Not together with AssigneeUsername.
	AssigneeID ID `url:"assignee_id,omitempty"`
	// AssigneeUsername excludes issues of the assignees. Not together with AssigneeID.
	AssigneeUsername []string `url:"assignee_username,brackets,omitempty"`
	// AuthorID excludes issues of the author. Not together with AuthorUsername.
	AuthorID int64 `url:"author_id,omitempty"`
	// AuthorUsername excludes issues of the author. Not together with AuthorID.
	AuthorUsername string `url:"author_username,omitempty"`
	// IIDs excludes issues with these IIDs. The contract documents it for List; deployed servers
	// accept it in both lists.
	IIDs []int64 `url:"iids,brackets,omitempty"`
	// IterationID excludes the issues of the iteration: ID(7) or, not in the contract, Current, None
	// or Any. Not together with IterationTitle. Premium and Ultimate.
	IterationID IterationFilter `url:"iteration_id,omitempty"`
	// IterationTitle excludes the issues of the iteration with the title. Not together with
	// IterationID. Premium and Ultimate.
	IterationTitle string `url:"iteration_title,omitempty"`
	// Labels excludes issues with the labels: Labels("bug").
	Labels LabelNames `url:"labels,omitempty"`
	// Milestone excludes the issues of the milestone with the title: Text("v1"). Not together with
	// MilestoneID.
	Milestone Text `url:"milestone,omitempty"`
	// MilestoneID excludes the issues of the milestones: None, Any, Upcoming or Started. Not together
	// with Milestone.
	MilestoneID MilestoneFilter `url:"milestone_id,omitempty"`
	// MyReactionEmoji excludes issues with this reaction of the user: Text("thumbsdown").
	// ListForGroup only. It is refused, because servers since 19.5 ignore it; SkipValidation sends it
	// to older ones.
	MyReactionEmoji Text `url:"my_reaction_emoji,omitempty"`
	// Search excludes issues that contain the words. ListForGroup only. It is refused, because servers
	// since 19.5 ignore it; SkipValidation sends it to older ones.
	Search string `url:"search,omitempty"`
	// In selects the texts that Search covers: SearchInTitle, SearchInDescription or SearchInBoth.
	// ListForGroup only. It is refused together with Search.
	In SearchIn `url:"in,omitempty"`
	// Weight excludes issues with the weight: new(Number(0)). Premium and Ultimate.
	Weight *Number `url:"weight,omitempty"`
}

func (o *ListIssuesOptions) check() error {
	return firstError(
		exclusive("assignee_id", o.AssigneeID != nil, "assignee_username", len(o.AssigneeUsername) > 0),
		exclusive("author_id", o.AuthorID != 0, "author_username", o.AuthorUsername != ""),
		exclusive("iteration_id", o.IterationID != nil, "iteration_title", o.IterationTitle != ""),
		exclusive("milestone_id", o.MilestoneID != nil, "milestone", o.Milestone != nil),
		o.Not.check(),
	)
}

func (n *IssueNot) check() error {
	if n == nil {
		return nil
	}
	return firstError(
		exclusive("not[assignee_id]", n.AssigneeID != 0, "not[assignee_username]", len(n.AssigneeUsername) > 0),
		exclusive("not[author_id]", n.AuthorID != 0, "not[author_username]", n.AuthorUsername != ""),
		exclusive("not[iteration_id]", n.IterationID != nil, "not[iteration_title]", n.IterationTitle != ""),
		exclusive("not[milestone_id]", n.MilestoneID != nil, "not[milestone]", n.Milestone != ""),
	)
}

// List lists issues that the user can see. Without Scope it lists only those that the user created.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) List(ctx context.Context, o *ListIssuesOptions, opts ...RequestOption) iter.Seq2[*Issue, error] {
	r := s.newGet("/issues").params(o)
	return list[Issue](ctx, r, opts)
}

// ListForGroup lists the issues of the projects of a group and its subgroups, with the options of
// List. Without Scope it lists all of them. GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) ListForGroup(ctx context.Context, group Ref, o *ListIssuesOptions, opts ...RequestOption) iter.Seq2[*Issue, error] {
	r := s.newGet("/groups/:id/issues", group).params(o)
	return list[Issue](ctx, r, opts)
}

// Subscribe subscribes the user to the issue. It may return ErrNotModified if the user is already
// subscribed; see ErrNotModified.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) Subscribe(ctx context.Context, project Ref, issue int64, opts ...RequestOption) (*Issue, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/subscribe", project, issue)
	return do[Issue](ctx, r, opts)
}

// Unsubscribe ends the user's subscription to the issue. It returns ErrNotModified if the user is
// not subscribed; see ErrNotModified.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) Unsubscribe(ctx context.Context, project Ref, issue int64, opts ...RequestOption) (*Issue, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/unsubscribe", project, issue)
	return do[Issue](ctx, r, opts)
}

// CreateTodo puts the issue on the user's to-do list. It returns ErrNotModified if the item exists
// already; see ErrNotModified.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) CreateTodo(ctx context.Context, project Ref, issue int64, opts ...RequestOption) (*Todo, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/todo", project, issue)
	return do[Todo](ctx, r, opts)
}

// promoteCommand is the line of a note that promotes its issue.
const promoteCommand = "/promote"

// PromoteIssueOptions sets the note that promotes an issue.
type PromoteIssueOptions struct {
	// Body is the text of the note. One of its lines must begin with /promote; the others become a
	// comment. Empty for /promote alone.
	Body string `json:"body,omitempty"`
	// Internal hides the note from users below Reporter. Not part of the contract.
	Internal *bool `json:"internal,omitempty"`
	// CreatedAt is the time of the note, sent in UTC, in milliseconds; zero for now. Administrators
	// and Owners. Not part of the contract.
	CreatedAt time.Time `json:"created_at,omitzero"`
}

// orCommand returns o, with the command as its body if it has none.
func (o *PromoteIssueOptions) orCommand() *PromoteIssueOptions {
	switch {
	case o == nil:
		return &PromoteIssueOptions{Body: promoteCommand}
	case o.Body == "":
		return &PromoteIssueOptions{Body: promoteCommand, Internal: o.Internal, CreatedAt: o.CreatedAt}
	}
	return o
}

func (o *PromoteIssueOptions) check() error {
	for line := range strings.Lines(o.Body) {
		// /promote_to and the like are other commands.
		if rest, found := strings.CutPrefix(line, promoteCommand); found && (rest == "" || strings.ContainsAny(rest[:1], " \t\r\n")) {
			return nil
		}
	}
	return &ValidationError{Param: "body", Reason: "no line of it begins with " + promoteCommand + ", so it would only add a comment"}
}

// Promote turns the issue into an epic. It adds a note with the command /promote. nil options send
// the command alone. It returns ErrBadRequest if the issue's project is not in a group, or if the
// issue is promoted already. Premium and Ultimate. GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) Promote(ctx context.Context, project Ref, issue int64, o *PromoteIssueOptions, opts ...RequestOption) (*Note, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/notes", project, issue).json(o.orCommand())
	return do[Note](ctx, r, opts)
}

// SetTimeEstimateOptions sets an estimate.
type SetTimeEstimateOptions struct {
	// Duration is the estimated working time, to the second. Required; ResetTimeEstimate removes an
	// estimate.
	Duration WorkDuration `json:"duration,omitempty"`
}

func (o *SetTimeEstimateOptions) check() error {
	return checkDuration(o.Duration, "ResetTimeEstimate removes an estimate")
}

// SetTimeEstimate sets the estimated working time of the issue.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) SetTimeEstimate(ctx context.Context, project Ref, issue int64, o *SetTimeEstimateOptions, opts ...RequestOption) (*TimeStats, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/time_estimate", project, issue).json(o)
	return do[TimeStats](ctx, r, opts)
}

// ResetTimeEstimate removes the estimate. GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) ResetTimeEstimate(ctx context.Context, project Ref, issue int64, opts ...RequestOption) (*TimeStats, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/reset_time_estimate", project, issue)
	return do[TimeStats](ctx, r, opts)
}

// AddSpentTimeOptions sets the working time to add.
type AddSpentTimeOptions struct {
	// Duration is the working time, to the second; a negative value subtracts time. Required;
	// ResetSpentTime removes all time spent.
	Duration WorkDuration `json:"duration,omitempty"`
	// Summary describes the work that was done.
	Summary string `json:"summary,omitempty"`
}

func (o *AddSpentTimeOptions) check() error {
	return checkDuration(o.Duration, "ResetSpentTime removes all time spent")
}

// AddSpentTime adds to the working time spent on the issue. After a failure with Error.MaybeApplied
// the time may have been added. GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) AddSpentTime(ctx context.Context, project Ref, issue int64, o *AddSpentTimeOptions, opts ...RequestOption) (*TimeStats, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/add_spent_time", project, issue).json(o)
	return do[TimeStats](ctx, r, opts)
}

// ResetSpentTime removes all working time spent on the issue.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) ResetSpentTime(ctx context.Context, project Ref, issue int64, opts ...RequestOption) (*TimeStats, error) {
	r := s.newPost("/projects/:id/issues/:issue_iid/reset_spent_time", project, issue)
	return do[TimeStats](ctx, r, opts)
}

// GetTimeStats reads the estimate of the issue and the time spent on it.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) GetTimeStats(ctx context.Context, project Ref, issue int64, opts ...RequestOption) (*TimeStats, error) {
	r := s.newGet("/projects/:id/issues/:issue_iid/time_stats", project, issue)
	return do[TimeStats](ctx, r, opts)
}

// ListRelatedMergeRequests lists the merge requests that mention the issue.
// GitLab docs: https://docs.gitlab.com/api/issues/
func (s *IssuesService) ListRelatedMergeRequests(ctx context.Context, project Ref, issue int64, opts ...RequestOption) iter.Seq2[*MergeRequest, error] {
	r := s.newGet("/projects/:id/issues/:issue_iid/related_merge_requests", project, issue)
	return list[MergeRequest](ctx, r, opts)
}
