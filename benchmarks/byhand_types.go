package main

import "time"

// The structs that code without a client library declares: the fields of the documents, and of
// forge's types, in the same shapes.

type handUser struct {
	ID         int64  `json:"id"`
	Username   string `json:"username"`
	Name       string `json:"name"`
	State      string `json:"state"`
	AvatarURL  string `json:"avatar_url"`
	AvatarPath string `json:"avatar_path"`
	WebURL     string `json:"web_url"`
	Locked     *bool  `json:"locked"`
}

type handMilestone struct {
	ID          int64     `json:"id"`
	IID         int64     `json:"iid"`
	ProjectID   int64     `json:"project_id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	State       string    `json:"state"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	DueDate     string    `json:"due_date"`
	StartDate   string    `json:"start_date"`
	Expired     bool      `json:"expired"`
	WebURL      string    `json:"web_url"`
}

type handIteration struct {
	ID          int64     `json:"id"`
	IID         int64     `json:"iid"`
	Sequence    int       `json:"sequence"`
	GroupID     int64     `json:"group_id"`
	Title       string    `json:"title"`
	Description string    `json:"description"`
	State       int       `json:"state"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	StartDate   string    `json:"start_date"`
	DueDate     string    `json:"due_date"`
	WebURL      string    `json:"web_url"`
}

type handIssue struct {
	ID                 int64          `json:"id"`
	IID                int64          `json:"iid"`
	ProjectID          int64          `json:"project_id"`
	Title              string         `json:"title"`
	Description        string         `json:"description"`
	State              string         `json:"state"`
	CreatedAt          time.Time      `json:"created_at"`
	UpdatedAt          time.Time      `json:"updated_at"`
	ClosedAt           time.Time      `json:"closed_at"`
	ClosedBy           *handUser      `json:"closed_by"`
	Author             handUser       `json:"author"`
	Assignees          []handUser     `json:"assignees"`
	Assignee           *handUser      `json:"assignee"`
	Milestone          *handMilestone `json:"milestone"`
	Labels             []string       `json:"labels"`
	Type               string         `json:"type"`
	IssueType          string         `json:"issue_type"`
	Severity           string         `json:"severity"`
	MovedToID          *int64         `json:"moved_to_id"`
	Upvotes            int            `json:"upvotes"`
	Downvotes          int            `json:"downvotes"`
	MergeRequestsCount int            `json:"merge_requests_count"`
	UserNotesCount     int            `json:"user_notes_count"`
	DueDate            string         `json:"due_date"`
	Imported           bool           `json:"imported"`
	ImportedFrom       string         `json:"imported_from"`
	WebURL             string         `json:"web_url"`
	References         struct {
		Short    string `json:"short"`
		Relative string `json:"relative"`
		Full     string `json:"full"`
	} `json:"references"`
	TimeStats struct {
		TimeEstimate        int64  `json:"time_estimate"`
		TotalTimeSpent      int64  `json:"total_time_spent"`
		HumanTimeEstimate   string `json:"human_time_estimate"`
		HumanTotalTimeSpent string `json:"human_total_time_spent"`
	} `json:"time_stats"`
	HasTasks             bool   `json:"has_tasks"`
	TaskStatus           string `json:"task_status"`
	TaskCompletionStatus struct {
		Count          int `json:"count"`
		CompletedCount int `json:"completed_count"`
	} `json:"task_completion_status"`
	Confidential     bool  `json:"confidential"`
	DiscussionLocked bool  `json:"discussion_locked"`
	Subscribed       *bool `json:"subscribed"`
	Links            struct {
		Self                string `json:"self"`
		Notes               string `json:"notes"`
		AwardEmoji          string `json:"award_emoji"`
		Project             string `json:"project"`
		ClosedAsDuplicateOf string `json:"closed_as_duplicate_of"`
	} `json:"_links"`
	Weight              *int           `json:"weight"`
	Epic                *handEpic      `json:"epic"`
	EpicIID             *int64         `json:"epic_iid"`
	Iteration           *handIteration `json:"iteration"`
	HealthStatus        string         `json:"health_status"`
	BlockingIssuesCount int            `json:"blocking_issues_count"`
	ServiceDeskReplyTo  string         `json:"service_desk_reply_to"`
}

type handEpic struct {
	ID                     int64  `json:"id"`
	IID                    int64  `json:"iid"`
	Title                  string `json:"title"`
	URL                    string `json:"url"`
	GroupID                int64  `json:"group_id"`
	HumanReadableEndDate   string `json:"human_readable_end_date"`
	HumanReadableTimestamp string `json:"human_readable_timestamp"`
}

type handTag struct {
	Name          string    `json:"name"`
	Path          string    `json:"path"`
	Location      string    `json:"location"`
	Revision      string    `json:"revision"`
	ShortRevision string    `json:"short_revision"`
	Digest        string    `json:"digest"`
	CreatedAt     time.Time `json:"created_at"`
	TotalSize     int64     `json:"total_size"`
}
