package forge

import (
	"context"
	"iter"
)

// ResourceGroupsService reads and sets how CI jobs share a resource, such as an environment that
// takes one deployment at a time (Document 1 §4.2).
type ResourceGroupsService struct{ service }

// List lists the resource groups of a project. Document 1 §4.2.
func (s *ResourceGroupsService) List(ctx context.Context, project Ref, opts ...RequestOption) iter.Seq2[*ResourceGroup, error] {
	r := s.get("/projects/:id/resource_groups", project)
	return list[ResourceGroup](ctx, r, opts)
}

// Get reads one resource group. Document 1 §4.2.
func (s *ResourceGroupsService) Get(ctx context.Context, project Ref, key string, opts ...RequestOption) (*ResourceGroup, error) {
	r := s.get("/projects/:id/resource_groups/:key", project, key)
	return do[ResourceGroup](ctx, r, opts)
}

// ListUpcomingJobs lists the jobs that wait for the resource. Document 1 §4.2.
func (s *ResourceGroupsService) ListUpcomingJobs(ctx context.Context, project Ref, key string, opts ...RequestOption) iter.Seq2[*UpcomingJob, error] {
	r := s.get("/projects/:id/resource_groups/:key/upcoming_jobs", project, key)
	return list[UpcomingJob](ctx, r, opts)
}

// UpdateResourceGroupOptions changes a resource group; unset fields stay as they are.
type UpdateResourceGroupOptions struct {
	// ProcessMode decides which job is next: ProcessModeUnordered, ProcessModeOldestFirst,
	// ProcessModeNewestFirst or ProcessModeNewestReadyFirst; empty leaves it as it is.
	ProcessMode ProcessMode `json:"process_mode,omitempty"`
	// Extra holds parameters that no field names. They are sent too.
	Extra map[string]any `json:"-"`
}

func (o *UpdateResourceGroupOptions) extra() map[string]any { return o.Extra }

// Update sets which job is next for the resource. A mode that the server does not know is
// ErrBadRequest, and nothing changes. Document 1 §4.2.
func (s *ResourceGroupsService) Update(ctx context.Context, project Ref, key string, o *UpdateResourceGroupOptions, opts ...RequestOption) (*ResourceGroup, error) {
	r := s.put("/projects/:id/resource_groups/:key", project, key).json(o)
	return do[ResourceGroup](ctx, r, opts)
}
