package forge

import (
	"encoding/json"
	"time"
)

// ProcessMode is the order in which the jobs of a resource group run.
type ProcessMode string

const (
	// ProcessModeUnordered runs jobs as soon as the resource is free, in any order.
	ProcessModeUnordered ProcessMode = "unordered"
	// ProcessModeOldestFirst runs the job of the oldest pipeline first.
	ProcessModeOldestFirst ProcessMode = "oldest_first"
	// ProcessModeNewestFirst runs the job of the newest pipeline first.
	ProcessModeNewestFirst ProcessMode = "newest_first"
	// ProcessModeNewestReadyFirst runs, of the jobs that are ready, the job of the newest pipeline
	// first.
	ProcessModeNewestReadyFirst ProcessMode = "newest_ready_first"
)

// JobStatus is the status of a CI job. Servers may return other values.
type JobStatus string

const (
	// JobStatusWaitingForResource is a job that waits for its resource group.
	JobStatusWaitingForResource JobStatus = "waiting_for_resource"
	// JobStatusCreated is a job that waits for those before it. Not part of the contract.
	JobStatusCreated JobStatus = "created"
	// JobStatusPreparing is one whose environment is being prepared. Not part of the contract.
	JobStatusPreparing JobStatus = "preparing"
	// JobStatusWaitingForCallback is one that waits for another system. Not part of the contract.
	JobStatusWaitingForCallback JobStatus = "waiting_for_callback"
	// JobStatusPending is one that waits for a runner. Not part of the contract.
	JobStatusPending JobStatus = "pending"
	// JobStatusCanceling is one that is being canceled. Not part of the contract.
	JobStatusCanceling JobStatus = "canceling"
	// JobStatusSkipped is one that was skipped. Not part of the contract.
	JobStatusSkipped JobStatus = "skipped"
	// JobStatusManual is one that a user must start. Not part of the contract.
	JobStatusManual JobStatus = "manual"
	// JobStatusScheduled is one that starts later. Not part of the contract.
	JobStatusScheduled JobStatus = "scheduled"
)

// ResourceGroup is a resource that CI jobs share.
type ResourceGroup struct {
	// ID is the instance-wide id; calls take Key.
	ID int64 `json:"id"`
	// Key is the name that jobs use for the group, unique in the project.
	Key string `json:"key"`
	// ProcessMode is the order in which jobs get the resource: ProcessModeUnordered,
	// ProcessModeOldestFirst, ProcessModeNewestFirst or ProcessModeNewestReadyFirst.
	ProcessMode ProcessMode `json:"process_mode"`
	// CreatedAt is when the group was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the group last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// UpcomingJob is a CI job that waits for a resource.
type UpcomingJob struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Status is the status of the job: one of the JobStatus constants, such as
	// JobStatusWaitingForResource; a server may return other values.
	Status JobStatus `json:"status"`
	// Stage is the stage of the pipeline that the job belongs to.
	Stage string `json:"stage"`
	// Name is the job's name in the CI configuration.
	Name string `json:"name"`
	// Ref is the branch or tag that it runs for.
	Ref string `json:"ref"`
	// Tag reports whether Ref is a tag.
	Tag bool `json:"tag"`
	// Coverage is the test coverage in percent; nil when the job reported none.
	Coverage *float64 `json:"coverage"`
	// AllowFailure reports whether the pipeline continues when the job fails.
	AllowFailure bool `json:"allow_failure"`
	// CreatedAt is when the job was created.
	CreatedAt time.Time `json:"created_at"`
	// StartedAt is when the job began; zero before that.
	StartedAt time.Time `json:"started_at"`
	// FinishedAt is when the job ended; zero before that.
	FinishedAt time.Time `json:"finished_at"`
	// ErasedAt is when the log and the artifacts were deleted; zero before. Not part of the contract.
	ErasedAt time.Time `json:"erased_at"`
	// FailureReason is the reason why the job failed, such as script_failure; empty if it did not
	// fail. Not part of the contract.
	FailureReason string `json:"failure_reason"`
	// Duration is how long the job has run, in seconds; nil before it began.
	Duration *float64 `json:"duration"`
	// QueuedDuration is how long the job has waited for a runner, in seconds; nil if it has not waited
	// yet.
	QueuedDuration *float64 `json:"queued_duration"`
	// User is the user who started the job.
	User *UserProfile `json:"user"`
	// Commit is the commit that the job runs for.
	Commit *Commit `json:"commit"`
	// Pipeline is the pipeline that the job is part of.
	Pipeline *Pipeline `json:"pipeline"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Project is the project of the job.
	Project *UpcomingJobProject `json:"project"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// UpcomingJobProject is the project of an upcoming job.
type UpcomingJobProject struct {
	// CIJobTokenScopeEnabled reports whether job tokens can access only the projects on an allow-list.
	CIJobTokenScopeEnabled bool `json:"ci_job_token_scope_enabled"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// Pipeline is the pipeline of a CI job or of a merge request. In those of a merge request and of a
// runner's jobs, the contract has only ID, SHA, Ref, Status and WebURL.
type Pipeline struct {
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
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
