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
	// ProcessModeOldestFirst runs the job of the oldest pipeline next.
	ProcessModeOldestFirst ProcessMode = "oldest_first"
	// ProcessModeNewestFirst runs the job of the newest pipeline next.
	ProcessModeNewestFirst ProcessMode = "newest_first"
	// ProcessModeNewestReadyFirst runs the job of the newest pipeline next whose job is ready.
	ProcessModeNewestReadyFirst ProcessMode = "newest_ready_first"
)

// JobStatus is the status of a CI job. Servers have values beyond the constants.
type JobStatus string

// JobStatusWaitingForResource is a job that waits for its resource group.
const JobStatusWaitingForResource JobStatus = "waiting_for_resource"

// ResourceGroup is a resource that CI jobs share (Document 1 §2.3).
type ResourceGroup struct {
	// ID is the instance-wide id; calls take Key.
	ID int64 `json:"id"`
	// Key is the name by which jobs refer to it, unique in the project.
	Key string `json:"key"`
	// ProcessMode decides which job is next: ProcessModeUnordered, ProcessModeOldestFirst,
	// ProcessModeNewestFirst or ProcessModeNewestReadyFirst.
	ProcessMode ProcessMode `json:"process_mode"`
	// CreatedAt is when the group was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when the group last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// UpcomingJob is a CI job that waits for a resource (Document 1 §2.3).
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
	// Duration is how long the job has run, in seconds; nil before it began.
	Duration *float64 `json:"duration"`
	// QueuedDuration is how long the job has waited for a runner, in seconds; nil before that.
	QueuedDuration *float64 `json:"queued_duration"`
	// User is who started the job.
	User *UserProfile `json:"user"`
	// Commit is the commit that the job runs for.
	Commit *Commit `json:"commit"`
	// Pipeline is the pipeline that the job is part of.
	Pipeline *JobPipeline `json:"pipeline"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Project describes what the job may do in its project.
	Project *UpcomingJobProject `json:"project"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// UpcomingJobProject is the project of an upcoming job (Document 1 §2.3).
type UpcomingJobProject struct {
	// CIJobTokenScopeEnabled reports whether job tokens reach only the projects on an allow-list.
	CIJobTokenScopeEnabled bool `json:"ci_job_token_scope_enabled"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// JobPipeline is the pipeline that a CI job is part of (Document 1 §2.3).
type JobPipeline struct {
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
	// Source is what started it.
	Source string `json:"source"`
	// CreatedAt is when it was created.
	CreatedAt time.Time `json:"created_at"`
	// UpdatedAt is when it last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}
