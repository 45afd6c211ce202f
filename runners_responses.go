package forge

import (
	"encoding/json"
	"time"
)

// RunnerType describes whom a runner is for.
type RunnerType string

const (
	// RunnerTypeInstance is a runner for all projects.
	RunnerTypeInstance RunnerType = "instance_type"
	// RunnerTypeGroup is a runner for the projects of a group.
	RunnerTypeGroup RunnerType = "group_type"
	// RunnerTypeProject is a runner for some projects.
	RunnerTypeProject RunnerType = "project_type"
)

// RunnerStatus describes whether a runner is in touch with the server.
type RunnerStatus string

const (
	// RunnerStatusOnline is a runner that has been in touch recently.
	RunnerStatusOnline RunnerStatus = "online"
	// RunnerStatusOffline is one that has not been in touch recently.
	RunnerStatusOffline RunnerStatus = "offline"
	// RunnerStatusStale is one that has not been in touch for a long time.
	RunnerStatusStale RunnerStatus = "stale"
	// RunnerStatusNeverContacted is one that has never been in touch.
	RunnerStatusNeverContacted RunnerStatus = "never_contacted"
	// RunnerStatusActive selects runners that are not paused; a filter only.
	//
	// Deprecated: use ListRunnersOptions.Paused.
	RunnerStatusActive RunnerStatus = "active"
	// RunnerStatusPaused is a runner that takes no jobs.
	//
	// Deprecated: use ListRunnersOptions.Paused and Runner.Paused.
	RunnerStatusPaused RunnerStatus = "paused"
)

// RunnerAccessLevel selects which jobs a runner takes.
type RunnerAccessLevel string

const (
	// RunnerAccessNotProtected takes the jobs of all branches and tags.
	RunnerAccessNotProtected RunnerAccessLevel = "not_protected"
	// RunnerAccessRefProtected takes those of protected branches and tags only.
	RunnerAccessRefProtected RunnerAccessLevel = "ref_protected"
)

// Values by which the jobs of a runner can be selected; a JobStatus may have others.
const (
	// JobStatusRunning is a job that runs.
	JobStatusRunning JobStatus = "running"
	// JobStatusSuccess is one that went well.
	JobStatusSuccess JobStatus = "success"
	// JobStatusFailed is one that failed.
	JobStatusFailed JobStatus = "failed"
	// JobStatusCanceled is one that was canceled.
	JobStatusCanceled JobStatus = "canceled"
)

// Runner is a CI runner (Document 2 §2.9). Lists give the fields down to Status.
type Runner struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Description is the description.
	Description string `json:"description"`
	// IPAddress is the address of the runner; empty since 17.0.
	//
	// Deprecated: since 16.1; see RunnerManager.IPAddress.
	IPAddress string `json:"ip_address"`
	// Active reports whether the runner takes jobs.
	//
	// Deprecated: use Paused.
	Active bool `json:"active"`
	// Paused reports whether the runner takes no jobs.
	Paused bool `json:"paused"`
	// IsShared reports whether the runner is for all projects.
	IsShared bool `json:"is_shared"`
	// RunnerType describes whom the runner is for: RunnerTypeInstance, RunnerTypeGroup or
	// RunnerTypeProject.
	RunnerType RunnerType `json:"runner_type"`
	// Name is the name; empty when there is none.
	Name string `json:"name"`
	// Online reports whether the runner has been in touch recently.
	Online bool `json:"online"`
	// Status describes whether the runner is in touch: RunnerStatusOnline, RunnerStatusOffline,
	// RunnerStatusStale, RunnerStatusNeverContacted or, deprecated, RunnerStatusPaused.
	Status RunnerStatus `json:"status"`
	// JobExecutionStatus describes whether the runner has jobs: idle or active. Not part of the
	// contract.
	JobExecutionStatus string `json:"job_execution_status"`
	// CreatedBy is who created the runner; nil if the server does not send it. Not part of the
	// contract.
	CreatedBy *UserSummary `json:"created_by"`
	// ContactedAt is when the runner was last in touch; zero when never.
	ContactedAt time.Time `json:"contacted_at"`
	// MaintenanceNote is a note for the runner's administrators; empty when there is none.
	MaintenanceNote string `json:"maintenance_note"`
	// Architecture is the architecture of the processor.
	//
	// Deprecated: since 17.0; see RunnerManager.
	Architecture string `json:"architecture"`
	// Platform is the operating system.
	//
	// Deprecated: since 17.0; see RunnerManager.
	Platform string `json:"platform"`
	// Revision is the commit that the runner was built from.
	//
	// Deprecated: since 17.0; see RunnerManager.
	Revision string `json:"revision"`
	// Version is the runner's version.
	//
	// Deprecated: since 17.0; see RunnerManager.
	Version string `json:"version"`
	// Projects are the projects that the runner is for; RunnerTypeProject only.
	Projects []RunnerProject `json:"projects"`
	// TagList are the tags that jobs request.
	TagList []string `json:"tag_list"`
	// RunUntagged reports whether the runner takes jobs without tags; nil in lists. Not part of the
	// contract, which has it for Update only.
	RunUntagged *bool `json:"run_untagged"`
	// Locked reports whether the runner is not given to further projects; nil in lists. Not part of
	// the contract, which has it for Update only.
	Locked *bool `json:"locked"`
	// AccessLevel selects which jobs the runner takes: RunnerAccessNotProtected or
	// RunnerAccessRefProtected.
	AccessLevel RunnerAccessLevel `json:"access_level"`
	// MaximumTimeout is how long a job may run, in seconds; nil for no limit of the runner's own.
	MaximumTimeout *int `json:"maximum_timeout"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerProject is a project that a runner is for (Document 2 §2.9). Deployed servers send more
// fields, which are in Extra.
type RunnerProject struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the display name.
	Name string `json:"name"`
	// NameWithNamespace is the display name, preceded by those of its groups.
	NameWithNamespace string `json:"name_with_namespace"`
	// Path is the last part of PathWithNamespace.
	Path string `json:"path"`
	// PathWithNamespace is the full path, as Path references take it.
	PathWithNamespace string `json:"path_with_namespace"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerManager is a machine or process that works as a runner (Document 2 §2.9).
type RunnerManager struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// SystemID identifies a manager of the runner; ListRunnerJobsOptions takes it.
	SystemID string `json:"system_id"`
	// Version is the manager's version.
	Version string `json:"version"`
	// Revision is the commit that it was built from.
	Revision string `json:"revision"`
	// Platform is the operating system.
	Platform string `json:"platform"`
	// Architecture is the architecture of the processor.
	Architecture string `json:"architecture"`
	// CreatedAt is when the manager was first in touch.
	CreatedAt time.Time `json:"created_at"`
	// ContactedAt is when it was last in touch.
	ContactedAt time.Time `json:"contacted_at"`
	// IPAddress is its address.
	IPAddress string `json:"ip_address"`
	// Status describes whether the manager is in touch: RunnerStatusOnline, RunnerStatusOffline,
	// RunnerStatusStale or RunnerStatusNeverContacted.
	Status RunnerStatus `json:"status"`
	// JobExecutionStatus describes whether the manager has jobs: idle or active. Not part of the
	// contract.
	JobExecutionStatus string `json:"job_execution_status"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerJob is a CI job of a runner (Document 2 §2.9).
type RunnerJob struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Status is the status of the job: one of the JobStatus constants, such as JobStatusRunning; a
	// server may return other values.
	Status JobStatus `json:"status"`
	// Stage is the stage of the pipeline.
	Stage string `json:"stage"`
	// Name is the name in the CI configuration.
	Name string `json:"name"`
	// Ref is the branch or tag.
	Ref string `json:"ref"`
	// Tag reports whether Ref is a tag.
	Tag bool `json:"tag"`
	// Coverage is the test coverage in percent; nil when it is not known.
	Coverage *float64 `json:"coverage"`
	// CreatedAt is when the job was created.
	CreatedAt time.Time `json:"created_at"`
	// StartedAt is when the job began to run; zero before.
	StartedAt time.Time `json:"started_at"`
	// FinishedAt is when the job ended; zero before.
	FinishedAt time.Time `json:"finished_at"`
	// Duration is how long the job ran, in seconds; nil before it runs.
	Duration *float64 `json:"duration"`
	// QueuedDuration is how long the job waited for a runner, in seconds; nil when it is not known.
	QueuedDuration *float64 `json:"queued_duration"`
	// User is who started the job.
	User *UserProfile `json:"user"`
	// Commit is the commit that the job runs for.
	Commit *Commit `json:"commit"`
	// Pipeline is the job's pipeline.
	Pipeline *RunnerJobPipeline `json:"pipeline"`
	// Project is the job's project.
	Project *RunnerJobProject `json:"project"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerJobPipeline is the pipeline of a runner's job (Document 2 §2.9).
type RunnerJobPipeline struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// SHA is the commit that it runs for.
	SHA string `json:"sha"`
	// Ref is the branch or tag that it runs for.
	Ref string `json:"ref"`
	// Status is the status of the pipeline.
	Status string `json:"status"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerJobProject is the project of a runner's job (Document 2 §2.9).
type RunnerJobProject struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Description is the project's description.
	Description string `json:"description"`
	// Name is the display name.
	Name string `json:"name"`
	// NameWithNamespace is the display name, preceded by those of its groups.
	NameWithNamespace string `json:"name_with_namespace"`
	// Path is the last part of PathWithNamespace.
	Path string `json:"path"`
	// PathWithNamespace is the full path, as Path references take it.
	PathWithNamespace string `json:"path_with_namespace"`
	// CreatedAt is when the project was created.
	CreatedAt time.Time `json:"created_at"`
	// Extra holds fields that no struct field names, and the raw value of a field whose JSON type the
	// struct field cannot take.
	Extra map[string]json.RawMessage `json:"-"`
}
