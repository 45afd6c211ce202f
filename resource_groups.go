package forge

import (
	"context"
	"iter"
)

// ResourceGroupsService reads and sets the order in which CI jobs use a shared resource, such as an
// environment that takes one deployment at a time.
// GitLab docs: https://docs.gitlab.com/api/resource_groups/
type ResourceGroupsService struct{ service }

// List lists the resource groups of a project.
// GitLab docs: https://docs.gitlab.com/api/resource_groups/
func (s *ResourceGroupsService) List(ctx context.Context, project Ref, opts ...RequestOption) iter.Seq2[*ResourceGroup, error] {
	r := s.newGet("/projects/:id/resource_groups", project)
	return list[ResourceGroup](ctx, r, opts)
}

// Get reads one resource group. GitLab docs: https://docs.gitlab.com/api/resource_groups/
func (s *ResourceGroupsService) Get(ctx context.Context, project Ref, key string, opts ...RequestOption) (*ResourceGroup, error) {
	r := s.newGet("/projects/:id/resource_groups/:key", project, key)
	return do[ResourceGroup](ctx, r, opts)
}

// ListUpcomingJobs lists the jobs that wait for the resource group.
// GitLab docs: https://docs.gitlab.com/api/resource_groups/
func (s *ResourceGroupsService) ListUpcomingJobs(ctx context.Context, project Ref, key string, opts ...RequestOption) iter.Seq2[*UpcomingJob, error] {
	r := s.newGet("/projects/:id/resource_groups/:key/upcoming_jobs", project, key)
	return list[UpcomingJob](ctx, r, opts)
}

// UpdateResourceGroupOptions changes a resource group; unset fields do not change.
type UpdateResourceGroupOptions struct {
	// ProcessMode is the order in which jobs get the resource: ProcessModeUnordered,
	// ProcessModeOldestFirst, ProcessModeNewestFirst or ProcessModeNewestReadyFirst; empty does not
	// change it.
	ProcessMode ProcessMode `json:"process_mode,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

func (o *UpdateResourceGroupOptions) extra() map[string]any { return o.Extra }

// Update sets the order in which jobs get the resource. If the server does not know the mode,
// Update returns ErrBadRequest and changes nothing.
// GitLab docs: https://docs.gitlab.com/api/resource_groups/
func (s *ResourceGroupsService) Update(ctx context.Context, project Ref, key string, o *UpdateResourceGroupOptions, opts ...RequestOption) (*ResourceGroup, error) {
	r := s.newPut("/projects/:id/resource_groups/:key", project, key).json(o)
	return do[ResourceGroup](ctx, r, opts)
}
