package forge

import (
	"context"
	"iter"
	"time"
	"unicode/utf8"
)

// RunnersService reads and changes CI runners. Get, Update and Pause need a token whose scope
// manages runners, and a role: Owner for the runners of a group, Maintainer for those of a project,
// administrator to change those of the instance; or a custom role with admin_runners.
// GitLab docs: https://docs.gitlab.com/api/runners/
type RunnersService struct{ service }

// RunnerScope selects runners by a property. The filters Paused, Status and Type replace it.
type RunnerScope string

const (
	// RunnerScopeActive selects runners that take jobs: Paused is false.
	RunnerScopeActive RunnerScope = "active"
	// RunnerScopePaused selects runners that take no jobs: Paused is true.
	RunnerScopePaused RunnerScope = "paused"
	// RunnerScopeOnline selects runners with RunnerStatusOnline.
	RunnerScopeOnline RunnerScope = "online"
	// RunnerScopeOffline selects runners with RunnerStatusOffline.
	RunnerScopeOffline RunnerScope = "offline"
	// RunnerScopeSpecific selects runners of groups and projects; ListAll only.
	RunnerScopeSpecific RunnerScope = "specific"
	// RunnerScopeShared selects runners of the instance; ListAll only.
	RunnerScopeShared RunnerScope = "shared"
	// RunnerScopeInstanceType selects as RunnerTypeInstance; not in List. Not part of the contract.
	RunnerScopeInstanceType RunnerScope = "instance_type"
	// RunnerScopeGroupType selects as RunnerTypeGroup; not in List. Not part of the contract.
	RunnerScopeGroupType RunnerScope = "group_type"
	// RunnerScopeProjectType selects as RunnerTypeProject; not in List. Not part of the contract.
	RunnerScopeProjectType RunnerScope = "project_type"
	// RunnerScopeNeverContacted selects as RunnerStatusNeverContacted. Not part of the contract.
	RunnerScopeNeverContacted RunnerScope = "never_contacted"
	// RunnerScopeStale selects as RunnerStatusStale. Not part of the contract.
	RunnerScopeStale RunnerScope = "stale"
)

// ListRunnersOptions filters the lists of runners.
type ListRunnersOptions struct {
	// Scope selects by a property: one of the RunnerScope constants, such as RunnerScopeActive.
	//
	// Deprecated: use Paused, Status and Type. Not together with the field that replaces the value.
	Scope RunnerScope `url:"scope,omitempty"`
	// Type selects runners of the instance, of groups or of projects: RunnerTypeInstance,
	// RunnerTypeGroup or RunnerTypeProject.
	Type RunnerType `url:"type,omitempty"`
	// Status selects by status: RunnerStatusOnline, RunnerStatusOffline, RunnerStatusStale or
	// RunnerStatusNeverContacted. RunnerStatusOffline may also return stale runners.
	Status RunnerStatus `url:"status,omitempty"`
	// Paused selects runners that take no jobs (true), or runners that take jobs (false).
	Paused *bool `url:"paused,omitempty"`
	// TagList selects runners that have all of the tags.
	TagList []string `url:"tag_list,brackets,omitempty"`
	// VersionPrefix selects by the beginning of the version: 15.0, 14, 16.1.241. The contract
	// documents it for List and ListAll; deployed servers accept it in all lists.
	VersionPrefix string `url:"version_prefix,omitempty"`
}

func (o *ListRunnersOptions) check() error {
	var inPaused, inStatus, inType bool
	switch o.Scope {
	case RunnerScopeActive, RunnerScopePaused:
		inPaused = true
	case RunnerScopeOnline, RunnerScopeOffline, RunnerScopeNeverContacted, RunnerScopeStale:
		inStatus = true
	case RunnerScopeSpecific, RunnerScopeShared, RunnerScopeInstanceType, RunnerScopeGroupType, RunnerScopeProjectType:
		inType = true
	}
	old := o.Status == RunnerStatusActive || o.Status == RunnerStatusPaused
	return firstError(
		replaced("scope", inPaused, "paused", o.Paused != nil),
		replaced("scope", inStatus || inPaused && old, "status", o.Status != ""),
		replaced("scope", inType, "type", o.Type != ""),
		replaced("status", old, "paused", o.Paused != nil),
	)
}

// List lists the runners that the user may manage.
// GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) List(ctx context.Context, o *ListRunnersOptions, opts ...RequestOption) iter.Seq2[*Runner, error] {
	r := s.newGet("/runners").params(o)
	return list[Runner](ctx, r, opts)
}

// ListAll lists all runners of the instance. Administrators and auditors; self-managed and
// dedicated. GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) ListAll(ctx context.Context, o *ListRunnersOptions, opts ...RequestOption) iter.Seq2[*Runner, error] {
	r := s.newGet("/runners/all").params(o)
	return list[Runner](ctx, r, opts)
}

// GetRunnerOptions sets the details that Get reads.
type GetRunnerOptions struct {
	// IncludeProjects requests Runner.Projects; nil for the server's default, true. new(false) is
	// faster for a runner of many projects. Not part of the contract.
	IncludeProjects *bool `url:"include_projects,omitempty"`
}

// Get reads a runner. Every user can read the runners of the instance.
// GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) Get(ctx context.Context, runner int64, o *GetRunnerOptions, opts ...RequestOption) (*Runner, error) {
	r := s.newGet("/runners/:id", runner).params(o)
	return do[Runner](ctx, r, opts)
}

// maxMaintenanceNote is the maximum length of a runner's MaintenanceNote, in characters.
const maxMaintenanceNote = 1024

// UpdateRunnerOptions changes a runner; unset fields do not change.
type UpdateRunnerOptions struct {
	// Description is the description; new("") clears it.
	Description *string `json:"description,omitempty"`
	// Active lets the runner take jobs, or pauses it.
	//
	// Deprecated: use Paused, which is the opposite; not together with it.
	Active *bool `json:"active,omitempty"`
	// Paused keeps the runner from taking jobs.
	Paused *bool `json:"paused,omitempty"`
	// TagList replaces the tags; an empty list that is not nil removes all tags.
	TagList []string `json:"tag_list,omitzero"`
	// RunUntagged sets whether the runner takes jobs without tags.
	RunUntagged *bool `json:"run_untagged,omitempty"`
	// Locked prevents the runner from being assigned to further projects.
	Locked *bool `json:"locked,omitempty"`
	// AccessLevel selects which jobs the runner takes: RunnerAccessLevelNotProtected or
	// RunnerAccessLevelRefProtected.
	AccessLevel RunnerAccessLevel `json:"access_level,omitempty"`
	// MaximumTimeout is the maximum duration of a job: Value(time.Hour). It is sent in seconds; a
	// value other than a positive number of whole seconds is an error. Null[time.Duration]() removes
	// the limit; the contract documents null for Runner.MaximumTimeout, but not for this parameter.
	MaximumTimeout Nullable[time.Duration] `json:"maximum_timeout,omitzero"`
	// MaintenanceNote is a note for the administrators of the runner, at most 1024 characters; new("")
	// clears it.
	MaintenanceNote *string `json:"maintenance_note,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

func (o *UpdateRunnerOptions) extra() map[string]any { return o.Extra }

func (o *UpdateRunnerOptions) check() error {
	note := 0
	if o.MaintenanceNote != nil {
		note = utf8.RuneCountInString(*o.MaintenanceNote)
	}
	return firstError(
		replaced("active", o.Active != nil, "paused", o.Paused != nil),
		atMost("maintenance_note", note, maxMaintenanceNote, "characters"),
	)
}

// Update changes a runner. GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) Update(ctx context.Context, runner int64, o *UpdateRunnerOptions, opts ...RequestOption) (*Runner, error) {
	r := s.newPut("/runners/:id", runner).json(o)
	return do[Runner](ctx, r, opts)
}

// PauseRunnerOptions sets whether a runner is paused.
type PauseRunnerOptions struct {
	// Paused keeps the runner from taking jobs; nil for true, and new(false) lets it take jobs again.
	Paused *bool `url:"paused,omitempty"`
	// Active is the opposite of Paused.
	//
	// Deprecated: use Paused; not together with it.
	Active *bool `url:"active,omitempty"`
}

// orPause returns o, or options that pause the runner if o sets nothing.
func (o *PauseRunnerOptions) orPause() *PauseRunnerOptions {
	if o == nil || o.Paused == nil && o.Active == nil {
		return &PauseRunnerOptions{Paused: new(true)}
	}
	return o
}

func (o *PauseRunnerOptions) check() error {
	return replaced("active", o.Active != nil, "paused", o.Paused != nil)
}

// Pause stops a runner from taking jobs. Running jobs continue. With nil options it pauses the
// runner; with Paused: new(false) it ends the pause.
// GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) Pause(ctx context.Context, runner int64, o *PauseRunnerOptions, opts ...RequestOption) (*Runner, error) {
	r := s.newPut("/runners/:runner_id", runner).form(o.orPause())
	return do[Runner](ctx, r, opts)
}

// RunnerJobOrderBy is the sort key of a list of jobs.
type RunnerJobOrderBy string

// RunnerJobOrderByID sorts by id.
const RunnerJobOrderByID RunnerJobOrderBy = "id"

// ListRunnerJobsOptions filters and sorts the jobs of a runner.
type ListRunnerJobsOptions struct {
	// SystemID selects the jobs of one of the runner's managers.
	SystemID string `url:"system_id,omitempty"`
	// Status selects by status: JobStatusRunning, JobStatusSuccess, JobStatusFailed or
	// JobStatusCanceled.
	Status JobStatus `url:"status,omitempty"`
	// OrderBy is the sort key: RunnerJobOrderByID. Required with Sort.
	OrderBy RunnerJobOrderBy `url:"order_by,omitempty"`
	// Sort is the direction: SortAsc or SortDesc; empty for SortDesc. It needs OrderBy.
	Sort Sort `url:"sort,omitempty"`
}

func (o *ListRunnerJobsOptions) check() error {
	return needs("sort", o.Sort != "", "order_by", o.OrderBy != "")
}

// ListJobs lists the jobs of a runner in the projects where the user is at least Reporter.
// GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) ListJobs(ctx context.Context, runner int64, o *ListRunnerJobsOptions, opts ...RequestOption) iter.Seq2[*RunnerJob, error] {
	r := s.newGet("/runners/:id/jobs", runner).params(o)
	return list[RunnerJob](ctx, r, opts)
}

// ListManagers lists the managers of the runner: the machines and processes that run its jobs. The
// contract does not specify whether the list has pages; a single page is read, too.
// GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) ListManagers(ctx context.Context, runner int64, opts ...RequestOption) iter.Seq2[*RunnerManager, error] {
	r := s.newGet("/runners/:id/managers", runner)
	return list[RunnerManager](ctx, r, opts)
}

// ListForProject lists the runners that a project can use, including those of its groups and of the
// instance. Administrators, and Maintainers and Auditors of the project.
// GitLab docs: https://docs.gitlab.com/api/runners/
func (s *RunnersService) ListForProject(ctx context.Context, project Ref, o *ListRunnersOptions, opts ...RequestOption) iter.Seq2[*Runner, error] {
	r := s.newGet("/projects/:id/runners", project).params(o)
	return list[Runner](ctx, r, opts)
}
