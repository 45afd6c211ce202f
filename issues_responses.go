package forge

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// IssueState is the state of an issue: open or closed.
type IssueState string

const (
	// IssueStateOpened is an open issue.
	IssueStateOpened IssueState = "opened"
	// IssueStateClosed is a closed issue.
	IssueStateClosed IssueState = "closed"
	// IssueStateAll selects open and closed issues; filters only.
	IssueStateAll IssueState = "all"
)

// IssueType is the kind of an issue.
type IssueType string

const (
	// IssueTypeIssue is an ordinary issue.
	IssueTypeIssue IssueType = "issue"
	// IssueTypeIncident is an incident.
	IssueTypeIncident IssueType = "incident"
	// IssueTypeTestCase is a test case.
	IssueTypeTestCase IssueType = "test_case"
	// IssueTypeTask is a task.
	IssueTypeTask IssueType = "task"
	// IssueTypeRequirement is a requirement. Ultimate. Not part of the contract.
	IssueTypeRequirement IssueType = "requirement"
	// IssueTypeTicket is a request to the service desk. Not part of the contract.
	IssueTypeTicket IssueType = "ticket"
)

// WorkItemType is the kind of an issue, in capitals. Servers may return other values.
type WorkItemType string

const (
	// WorkItemTypeIssue is an ordinary issue.
	WorkItemTypeIssue WorkItemType = "ISSUE"
	// WorkItemTypeRequirement is a requirement. Ultimate. Not part of the contract.
	WorkItemTypeRequirement WorkItemType = "REQUIREMENT"
	// WorkItemTypeTicket is a request to the service desk. Not part of the contract.
	WorkItemTypeTicket WorkItemType = "TICKET"
)

// IssueSeverity is the severity of an incident. Servers may return other values.
type IssueSeverity string

const (
	// IssueSeverityUnknown is the severity of an incident for which none was set.
	IssueSeverityUnknown IssueSeverity = "UNKNOWN"
	// IssueSeverityLow is severity 4. Not part of the contract.
	IssueSeverityLow IssueSeverity = "LOW"
	// IssueSeverityMedium is severity 3. Not part of the contract.
	IssueSeverityMedium IssueSeverity = "MEDIUM"
	// IssueSeverityHigh is severity 2. Not part of the contract.
	IssueSeverityHigh IssueSeverity = "HIGH"
	// IssueSeverityCritical is severity 1, the highest. Not part of the contract.
	IssueSeverityCritical IssueSeverity = "CRITICAL"
)

// ImportSource is the source of an imported object. Servers may return other values.
type ImportSource string

// ImportSourceNone marks an object that was not imported.
const ImportSourceNone ImportSource = "none"

// HealthStatus is the health of an issue. Servers may return other values.
type HealthStatus string

const (
	// HealthStatusOnTrack marks an issue that is on schedule.
	HealthStatusOnTrack HealthStatus = "on_track"
	// HealthStatusNeedsAttention marks an issue that may miss its schedule. Not part of the
	// contract.
	HealthStatusNeedsAttention HealthStatus = "needs_attention"
	// HealthStatusAtRisk marks an issue that will miss its schedule. Not part of the contract.
	HealthStatusAtRisk HealthStatus = "at_risk"
)

// Issue is an issue, incident, test case or task.
type Issue struct {
	// ID is the instance-wide id; calls take IID.
	ID int64 `json:"id"`
	// IID is the id within the project.
	IID int64 `json:"iid"`
	// ProjectID is the project's id.
	ProjectID int64 `json:"project_id"`
	// Title is the title.
	Title string `json:"title"`
	// Description is the text, in Markdown.
	Description string `json:"description"`
	// State is the state of the issue: IssueStateOpened or IssueStateClosed.
	State IssueState `json:"state"`
	// CreatedAt is when the issue was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the issue last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// ClosedAt is when the issue was closed; zero while it is open.
	ClosedAt time.Time `json:"closed_at"`
	// ClosedBy is the user who closed the issue; nil while it is open.
	ClosedBy *UserSummary `json:"closed_by"`
	// Author is the user who created the issue.
	Author UserSummary `json:"author"`
	// Assignees are the users who work on the issue.
	Assignees []UserSummary `json:"assignees"`
	// Assignee is the first of Assignees; nil if there is none.
	//
	// Deprecated: use Assignees.
	Assignee *UserSummary `json:"assignee"`
	// Milestone is the milestone; nil if there is none.
	Milestone *Milestone `json:"milestone"`
	// Labels are the labels. Without WithLabelsDetails, servers send only their names.
	Labels []Label `json:"labels"`
	// Type is the kind, in capitals: WorkItemTypeIssue, WorkItemTypeRequirement or WorkItemTypeTicket;
	// a server may return other values.
	Type WorkItemType `json:"type"`
	// IssueType is the kind: IssueTypeIssue, IssueTypeIncident, IssueTypeTestCase, IssueTypeTask,
	// IssueTypeRequirement or IssueTypeTicket.
	IssueType IssueType `json:"issue_type"`
	// Severity is the severity of an incident: IssueSeverityUnknown, IssueSeverityLow,
	// IssueSeverityMedium, IssueSeverityHigh or IssueSeverityCritical; a server may return other
	// values.
	Severity IssueSeverity `json:"severity"`
	// MovedToID is the instance-wide id of the issue that this one was moved to; nil if it was not
	// moved.
	MovedToID *int64 `json:"moved_to_id"`
	// Upvotes counts the thumbs up.
	Upvotes int `json:"upvotes"`
	// Downvotes counts the thumbs down.
	Downvotes int `json:"downvotes"`
	// MergeRequestsCount counts the merge requests that close the issue.
	MergeRequestsCount int `json:"merge_requests_count"`
	// UserNotesCount counts the comments.
	UserNotesCount int `json:"user_notes_count"`
	// DueDate is the day on which the issue is due; zero if there is none.
	DueDate Date `json:"due_date"`
	// StartDate is the day on which work begins; zero if there is none. Since 19.1. Not part of the
	// contract.
	StartDate Date `json:"start_date"`
	// Imported reports whether the issue was imported.
	Imported bool `json:"imported"`
	// ImportedFrom is the source of an imported issue, in the server's words; ImportSourceNone if it
	// was not imported.
	ImportedFrom ImportSource `json:"imported_from"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// References are the texts that mention the issue.
	References References `json:"references"`
	// TimeStats are the estimate and the time spent.
	TimeStats TimeStats `json:"time_stats"`
	// HasTasks reports whether the description has task list items.
	HasTasks bool `json:"has_tasks"`
	// TaskStatus is the state of the task list as text.
	TaskStatus string `json:"task_status"`
	// TaskCompletionStatus counts the task list items.
	TaskCompletionStatus TaskCompletionStatus `json:"task_completion_status"`
	// Confidential reports whether only members can see the issue.
	Confidential bool `json:"confidential"`
	// DiscussionLocked reports whether only members can comment.
	DiscussionLocked bool `json:"discussion_locked"`
	// Subscribed reports whether the user is subscribed; in responses of Subscribe and Unsubscribe;
	// nil elsewhere.
	Subscribed *bool `json:"subscribed"`
	// Links are addresses in the API of the issue and of related objects.
	Links IssueLinks `json:"_links"`
	// Weight is the weight; nil when none is set. Premium and Ultimate.
	Weight *int `json:"weight"`
	// Epic is the epic; nil if there is none. Premium and Ultimate.
	Epic *Epic `json:"epic"`
	// EpicIID is the id of the epic within its group; nil if there is none. Premium and Ultimate.
	//
	// Deprecated: use Epic. It is removed in API v5.
	EpicIID *int64 `json:"epic_iid"`
	// Iteration is the iteration; nil if there is none. Premium and Ultimate.
	Iteration *Iteration `json:"iteration"`
	// HealthStatus is the health of the issue: HealthStatusOnTrack, HealthStatusNeedsAttention or
	// HealthStatusAtRisk; a server may return other values. Empty when unset. Ultimate.
	HealthStatus HealthStatus `json:"health_status"`
	// BlockingIssuesCount counts the issues that this one blocks. Not part of the contract.
	BlockingIssuesCount int `json:"blocking_issues_count"`
	// ServiceDeskReplyTo is the address of the user who wrote to the service desk. Not part of the
	// contract.
	ServiceDeskReplyTo string `json:"service_desk_reply_to"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

func (i *Issue) change() (id int64, created, updated time.Time) {
	return i.ID, i.CreatedAt, i.UpdatedAt
}

// Milestone is the milestone of an issue or merge request. Some responses omit fields.
type Milestone struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// IID is the id within the project or group.
	IID int64 `json:"iid"`
	// ProjectID is the project's id; 0 for the milestone of a group.
	ProjectID int64 `json:"project_id"`
	// GroupID is the group's id; 0 for the milestone of a project. Not part of the contract.
	GroupID int64 `json:"group_id"`
	// Title is the title.
	Title string `json:"title"`
	// Description is the text, in Markdown.
	Description string `json:"description"`
	// State is the state of the milestone, such as active.
	State string `json:"state"`
	// CreatedAt is when the milestone was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the milestone last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// DueDate is the last day; zero if unset.
	DueDate Date `json:"due_date"`
	// StartDate is the first day; zero if unset.
	StartDate Date `json:"start_date"`
	// Expired reports whether DueDate has passed. Not part of the contract.
	Expired bool `json:"expired"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// References are the texts that mention an issue or merge request.
type References struct {
	// Short is the mention within the project: #5.
	Short string `json:"short"`
	// Relative is the mention within the group or project of the request.
	Relative string `json:"relative"`
	// Full is the mention from anywhere: group/app#5.
	Full string `json:"full"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// TimeStats are the estimate and the time spent.
type TimeStats struct {
	// TimeEstimate is the estimated working time, in seconds.
	TimeEstimate int64 `json:"time_estimate"`
	// TotalTimeSpent is the working time spent, in seconds.
	TotalTimeSpent int64 `json:"total_time_spent"`
	// HumanTimeEstimate is TimeEstimate in human-readable form, with the server's lengths of days and
	// weeks; empty if there is no estimate.
	HumanTimeEstimate string `json:"human_time_estimate"`
	// HumanTotalTimeSpent is TotalTimeSpent in human-readable form; empty if no time was spent.
	HumanTotalTimeSpent string `json:"human_total_time_spent"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// TaskCompletionStatus counts the task list items of a description.
type TaskCompletionStatus struct {
	// Count counts all items.
	Count int `json:"count"`
	// CompletedCount counts the items that are done.
	CompletedCount int `json:"completed_count"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// IssueLinks are addresses in the API. Their host is the one that the server is configured with,
// which clients may not reach.
type IssueLinks struct {
	// Self is the address of the issue.
	Self string `json:"self"`
	// Notes is the address of its comments.
	Notes string `json:"notes"`
	// AwardEmoji is the address of its reactions.
	AwardEmoji string `json:"award_emoji"`
	// Project is the address of its project.
	Project string `json:"project"`
	// ClosedAsDuplicateOf is the address of the issue that it duplicates; empty when it is not a
	// duplicate.
	ClosedAsDuplicateOf string `json:"closed_as_duplicate_of"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Epic is the epic of an issue. Premium and Ultimate.
type Epic struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// IID is the id within the group.
	IID int64 `json:"iid"`
	// Title is the title.
	Title string `json:"title"`
	// URL is the path of the page.
	URL string `json:"url"`
	// GroupID is the group's id.
	GroupID int64 `json:"group_id"`
	// HumanReadableEndDate is the last day as text. Not part of the contract.
	HumanReadableEndDate string `json:"human_readable_end_date"`
	// HumanReadableTimestamp is the time left as text. Not part of the contract.
	HumanReadableTimestamp string `json:"human_readable_timestamp"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Iteration is the iteration of an issue. Premium and Ultimate.
type Iteration struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// IID is the id within the group.
	IID int64 `json:"iid"`
	// Sequence is the number within the cadence.
	Sequence int `json:"sequence"`
	// GroupID is the group's id.
	GroupID int64 `json:"group_id"`
	// Title is the title; empty when none was given.
	Title string `json:"title"`
	// Description is the text, in Markdown.
	Description string `json:"description"`
	// State is the state, as a number that the server defines.
	State int `json:"state"`
	// CreatedAt is when the iteration was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the iteration last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// StartDate is the first day.
	StartDate Date `json:"start_date"`
	// DueDate is the last day.
	DueDate Date `json:"due_date"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// TodoAction is the reason why an item is on a to-do list. Servers may return other values.
type TodoAction string

const (
	// TodoActionMarked marks an item that the user added.
	TodoActionMarked TodoAction = "marked"
	// TodoActionAssigned marks an object that was assigned to the user. Not part of the contract.
	TodoActionAssigned TodoAction = "assigned"
	// TodoActionMentioned marks a text that mentions the user. Not part of the contract.
	TodoActionMentioned TodoAction = "mentioned"
	// TodoActionBuildFailed marks a merge request whose pipeline failed. Not part of the contract.
	TodoActionBuildFailed TodoAction = "build_failed"
	// TodoActionApprovalRequired marks a merge request that the user is to approve. Not part of the
	// contract.
	TodoActionApprovalRequired TodoAction = "approval_required"
	// TodoActionDirectlyAddressed marks a text that begins with a mention of the user. Not part of
	// the contract.
	TodoActionDirectlyAddressed TodoAction = "directly_addressed"
)

// TodoTargetType is the type of the target of a to-do item. Servers may return other values.
type TodoTargetType string

const (
	// TodoTargetTypeIssue is an issue.
	TodoTargetTypeIssue TodoTargetType = "Issue"
	// TodoTargetTypeMergeRequest is a merge request.
	TodoTargetTypeMergeRequest TodoTargetType = "MergeRequest"
)

// TodoState is the state of a to-do item, such as pending. Servers may return other values.
type TodoState string

// TodoStatePending is an item to be done.
const TodoStatePending TodoState = "pending"

// A Todo is an item of a to-do list.
type Todo struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Project is the target's project.
	Project TodoProject `json:"project"`
	// Group is the group of a target that has no project; nil otherwise. Not part of the contract.
	Group *Namespace `json:"group"`
	// Author is the user who put the item on the list.
	Author UserSummary `json:"author"`
	// ActionName is the reason why the item is on the list: one of the TodoAction constants, such as
	// TodoActionMarked; a server may return other values.
	ActionName TodoAction `json:"action_name"`
	// TargetType is the type of Target: TodoTargetTypeIssue or TodoTargetTypeMergeRequest; a server
	// may return other values.
	TargetType TodoTargetType `json:"target_type"`
	// Target is the issue or merge request as raw JSON. The methods Issue and MergeRequest decode it.
	Target json.RawMessage `json:"target"`
	// TargetURL is the address of the target's page.
	TargetURL string `json:"target_url"`
	// Body is the text of the item.
	Body string `json:"body"`
	// State is the state of the item: TodoStatePending until it is done; a server may return other
	// values.
	State TodoState `json:"state"`
	// CreatedAt is when the item was created.
	CreatedAt time.Time `json:"created_at"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Issue decodes the target. If TargetType is not TodoTargetTypeIssue, it returns an error.
func (t *Todo) Issue() (*Issue, error) { return todoTarget[Issue](t, TodoTargetTypeIssue) }

// MergeRequest decodes the target. If TargetType is not TodoTargetTypeMergeRequest, it returns an
// error.
func (t *Todo) MergeRequest() (*MergeRequest, error) {
	return todoTarget[MergeRequest](t, TodoTargetTypeMergeRequest)
}

func todoTarget[T any](t *Todo, want TodoTargetType) (*T, error) {
	if t.TargetType != want || len(t.Target) == 0 || string(t.Target) == "null" {
		return nil, fmt.Errorf("forge: the to-do item has no target of type %s; its type is %q", want, safetext.Clean(string(t.TargetType), 64))
	}
	var target T
	if err := decodeInto(t.Target, &target); err != nil {
		return nil, fmt.Errorf("forge: the target of the to-do item cannot be decoded: %w", err)
	}
	return &target, nil
}

// TodoProject is the project of a to-do item.
type TodoProject struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the display name.
	Name string `json:"name"`
	// NameWithNamespace is the display name, preceded by those of its groups.
	NameWithNamespace string `json:"name_with_namespace"`
	// Path is the last part of PathWithNamespace.
	Path string `json:"path"`
	// PathWithNamespace is the full path, which Path accepts.
	PathWithNamespace string `json:"path_with_namespace"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Note is a comment, or a command, on an issue.
type Note struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Type is the kind of comment; empty for an ordinary one.
	Type string `json:"type"`
	// Body is the text, in Markdown.
	Body string `json:"body"`
	// Attachment is the attached file; empty if there is none.
	Attachment string `json:"attachment"`
	// Author is the user who wrote the note.
	Author UserSummary `json:"author"`
	// CreatedAt is when the note was written.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the note last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// System reports whether the server wrote the note.
	System bool `json:"system"`
	// NoteableID is the instance-wide id of the object that the note is on.
	NoteableID int64 `json:"noteable_id"`
	// NoteableType is the type of that object.
	NoteableType string `json:"noteable_type"`
	// Resolvable reports whether the note can be marked as resolved.
	Resolvable bool `json:"resolvable"`
	// Confidential reports whether only members can see the note.
	Confidential bool `json:"confidential"`
	// NoteableIID is the id of that object within the project.
	NoteableIID int64 `json:"noteable_iid"`
	// CommandsChanges describes what the commands of the note did.
	CommandsChanges NoteCommandsChanges `json:"commands_changes"`
	// Summary describes what the commands did, as text. A note of commands only is not stored: then
	// only CommandsChanges and Summary are set. Not part of the contract.
	Summary []string `json:"summary"`
	// Internal is the newer name of Confidential. Not part of the contract.
	Internal bool `json:"internal"`
	// ProjectID is the project's id. Not part of the contract.
	ProjectID int64 `json:"project_id"`
	// Imported reports whether the note was imported. Not part of the contract.
	Imported bool `json:"imported"`
	// ImportedFrom is the source of an imported note, in the server's words; ImportSourceNone if it
	// was not imported. Not part of the contract.
	ImportedFrom ImportSource `json:"imported_from"`
	// Resolved reports whether the note is resolved; nil unless Resolvable. Not part of the contract.
	Resolved *bool `json:"resolved"`
	// ResolvedBy is the user who resolved it; nil if no one did. Not part of the contract.
	ResolvedBy *UserSummary `json:"resolved_by"`
	// ResolvedAt is when it was resolved; zero before. Not part of the contract.
	ResolvedAt time.Time `json:"resolved_at"`
	// CommitID is the commit that the note is on; empty if there is none. Not part of the contract.
	CommitID string `json:"commit_id"`
	// Position is the place in a diff of a note on one, as raw JSON. Not part of the contract.
	Position json.RawMessage `json:"position"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// NoteCommandsChanges describes what the commands of a note did.
type NoteCommandsChanges struct {
	// PromoteToEpic reports whether the issue was promoted to an epic.
	PromoteToEpic bool `json:"promote_to_epic"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
