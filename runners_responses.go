package forge

import (
	"encoding/json"
	"time"
)

// RunnerType is the level of a runner: instance, group or project.
type RunnerType string

const (
	// RunnerTypeInstance is a runner for all projects.
	RunnerTypeInstance RunnerType = "instance_type"
	// RunnerTypeGroup is a runner for the projects of a group.
	RunnerTypeGroup RunnerType = "group_type"
	// RunnerTypeProject is a runner for individual projects.
	RunnerTypeProject RunnerType = "project_type"
)

// RunnerStatus describes when a runner last contacted the server.
type RunnerStatus string

const (
	// RunnerStatusOnline is a runner that contacted the server recently.
	RunnerStatusOnline RunnerStatus = "online"
	// RunnerStatusOffline is one that did not contact the server recently.
	RunnerStatusOffline RunnerStatus = "offline"
	// RunnerStatusStale is one that did not contact the server for a long time.
	RunnerStatusStale RunnerStatus = "stale"
	// RunnerStatusNeverContacted is one that never contacted the server.
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
	// RunnerAccessLevelNotProtected takes the jobs of all branches and tags.
	RunnerAccessLevelNotProtected RunnerAccessLevel = "not_protected"
	// RunnerAccessLevelRefProtected takes those of protected branches and tags only.
	RunnerAccessLevelRefProtected RunnerAccessLevel = "ref_protected"
)

// Values of JobStatus that ListRunnerJobsOptions accepts. Jobs may have other values.
const (
	// JobStatusRunning is a job that is running.
	JobStatusRunning JobStatus = "running"
	// JobStatusSuccess is one that succeeded.
	JobStatusSuccess JobStatus = "success"
	// JobStatusFailed is one that failed.
	JobStatusFailed JobStatus = "failed"
	// JobStatusCanceled is one that was canceled.
	JobStatusCanceled JobStatus = "canceled"
)

// Runner is a CI runner. Lists return only the fields from ID to Status.
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
	// RunnerType is the level of the runner: RunnerTypeInstance, RunnerTypeGroup or RunnerTypeProject.
	RunnerType RunnerType `json:"runner_type"`
	// Name is the name; empty if there is none.
	Name string `json:"name"`
	// Online reports whether the runner contacted the server recently.
	Online bool `json:"online"`
	// Status describes when the runner last contacted the server: RunnerStatusOnline,
	// RunnerStatusOffline, RunnerStatusStale, RunnerStatusNeverContacted or, deprecated,
	// RunnerStatusPaused.
	Status RunnerStatus `json:"status"`
	// JobExecutionStatus reports whether the runner has jobs: idle or active. Not part of the
	// contract.
	JobExecutionStatus string `json:"job_execution_status"`
	// CreatedBy is the user who created the runner; nil if the server does not send it. Not part of
	// the contract.
	CreatedBy *UserSummary `json:"created_by"`
	// CreatedAt is when the runner was created. Not part of the contract.
	CreatedAt time.Time `json:"created_at"`
	// ContactedAt is when the runner last contacted the server; zero if it never did.
	ContactedAt time.Time `json:"contacted_at"`
	// MaintenanceNote is a note for the runner's administrators; empty if there is none.
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
	// Projects are the projects that the runner is assigned to; RunnerTypeProject only.
	Projects []RunnerProject `json:"projects"`
	// Groups are the groups that the runner belongs to; RunnerTypeGroup only. Not part of the
	// contract.
	Groups []RunnerGroup `json:"groups"`
	// TagList are the runner's tags. Jobs select runners by their tags.
	TagList []string `json:"tag_list"`
	// RunUntagged reports whether the runner takes jobs without tags; nil in lists. Not part of the
	// contract, which documents it only for Update.
	RunUntagged *bool `json:"run_untagged"`
	// Locked reports whether the runner cannot be assigned to further projects; nil in lists. Not part
	// of the contract, which documents it only for Update.
	Locked *bool `json:"locked"`
	// AccessLevel selects which jobs the runner takes: RunnerAccessLevelNotProtected or
	// RunnerAccessLevelRefProtected.
	AccessLevel RunnerAccessLevel `json:"access_level"`
	// MaximumTimeout is the maximum duration of a job, in seconds; nil if the runner sets no limit.
	MaximumTimeout *int `json:"maximum_timeout"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerProject is a project that a runner is assigned to. Deployed servers send more fields, which
// are in Extra.
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
	// Topics are the topics. Not part of the contract.
	Topics []string `json:"topics"`
	// Visibility is private, internal or public. Not part of the contract.
	Visibility string `json:"visibility"`
	// Namespace is the namespace of the project. Not part of the contract.
	Namespace *Namespace `json:"namespace"`
	// SSHURLToRepo is the address of the repository for SSH. Not part of the contract.
	SSHURLToRepo string `json:"ssh_url_to_repo"`
	// HTTPURLToRepo is the address of the repository for HTTP. Not part of the contract.
	HTTPURLToRepo string `json:"http_url_to_repo"`
	// WebURL is the address of the page. Not part of the contract.
	WebURL string `json:"web_url"`
	// AvatarURL is the address of the picture; empty if there is none. Not part of the contract.
	AvatarURL string `json:"avatar_url"`
	// StarCount counts the users who starred the project. Not part of the contract.
	StarCount int `json:"star_count"`
	// LastActivityAt is when the project was last active. Not part of the contract.
	LastActivityAt time.Time `json:"last_activity_at"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerGroup is a group that a runner belongs to. Not part of the contract.
type RunnerGroup struct {
	// ID is the instance-wide id.
	ID int64 `json:"id"`
	// Name is the display name.
	Name string `json:"name"`
	// WebURL is the address of the page.
	WebURL string `json:"web_url"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerManager is a machine or process that runs the jobs of a runner.
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
	// CreatedAt is when the manager first contacted the server.
	CreatedAt time.Time `json:"created_at"`
	// ContactedAt is when it last contacted the server.
	ContactedAt time.Time `json:"contacted_at"`
	// IPAddress is the IP address of the manager.
	IPAddress string `json:"ip_address"`
	// Status describes when the manager last contacted the server: RunnerStatusOnline,
	// RunnerStatusOffline, RunnerStatusStale or RunnerStatusNeverContacted.
	Status RunnerStatus `json:"status"`
	// JobExecutionStatus reports whether the manager has jobs: idle or active. Not part of the
	// contract.
	JobExecutionStatus string `json:"job_execution_status"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerJob is a CI job of a runner.
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
	// AllowFailure reports whether the pipeline continues when the job fails. Not part of the
	// contract.
	AllowFailure bool `json:"allow_failure"`
	// WebURL is the address of the page. Not part of the contract.
	WebURL string `json:"web_url"`
	// Coverage is the test coverage in percent; nil when it is not known.
	Coverage *float64 `json:"coverage"`
	// CreatedAt is when the job was created.
	CreatedAt time.Time `json:"created_at"`
	// StartedAt is when the job began to run; zero before.
	StartedAt time.Time `json:"started_at"`
	// FinishedAt is when the job ended; zero before.
	FinishedAt time.Time `json:"finished_at"`
	// ErasedAt is when the log and the artifacts were deleted; zero before. Not part of the contract.
	ErasedAt time.Time `json:"erased_at"`
	// FailureReason is the reason why the job failed, such as script_failure; empty if it did not
	// fail. Not part of the contract.
	FailureReason string `json:"failure_reason"`
	// Duration is how long the job ran, in seconds; nil before it runs.
	Duration *float64 `json:"duration"`
	// QueuedDuration is how long the job waited for a runner, in seconds; nil when it is not known.
	QueuedDuration *float64 `json:"queued_duration"`
	// User is the user who started the job.
	User *UserProfile `json:"user"`
	// Commit is the commit that the job runs for.
	Commit *Commit `json:"commit"`
	// Pipeline is the job's pipeline.
	Pipeline *Pipeline `json:"pipeline"`
	// Project is the job's project.
	Project *RunnerJobProject `json:"project"`
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}

// RunnerJobProject is the project of a runner's job.
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
	// Extra holds unknown JSON fields, and raw values whose type does not fit their struct field.
	Extra map[string]json.RawMessage `json:"-"`
}
