package forge

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"strings"
)

// RegistryService manages container registries through the API: repositories, tags and their
// deletion. RegistryNativeService calls the registry itself.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
type RegistryService struct{ service }

// RegistryVisibility selects the users who may see a project's registry.
type RegistryVisibility string

const (
	// RegistryVisibilityEnabled shows the registry to everyone who can access the project.
	RegistryVisibilityEnabled RegistryVisibility = "enabled"
	// RegistryVisibilityPrivate shows the registry to members of the project with the Reporter role or
	// higher.
	RegistryVisibilityPrivate RegistryVisibility = "private"
	// RegistryVisibilityDisabled turns the registry off.
	RegistryVisibilityDisabled RegistryVisibility = "disabled"
)

// SetRegistryVisibilityOptions sets the visibility of a project's registry.
type SetRegistryVisibilityOptions struct {
	// Visibility selects the users who may see the registry: RegistryVisibilityEnabled,
	// RegistryVisibilityPrivate or RegistryVisibilityDisabled; empty does not change it.
	// RegistryVisibilityEnabled is the default.
	Visibility RegistryVisibility `json:"container_registry_access_level,omitempty"`
	// Extra holds parameters without a field. They are sent too.
	Extra map[string]any `json:"-"`
}

func (o *SetRegistryVisibilityOptions) extra() map[string]any { return o.Extra }

// SetVisibility sets the visibility of a project's registry.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) SetVisibility(ctx context.Context, project Ref, o *SetRegistryVisibilityOptions, opts ...RequestOption) (*RegistryProject, error) {
	r := s.newPut("/projects/:id/", project).json(o)
	return do[RegistryProject](ctx, r, opts)
}

// ListRegistryRepositoriesOptions sets the details that a list of registry repositories has.
type ListRegistryRepositoriesOptions struct {
	// Tags requests the tags of each repository.
	Tags *bool `url:"tags,omitempty"`
	// TagsCount requests the number of tags of each repository.
	TagsCount *bool `url:"tags_count,omitempty"`
}

// ListForProject lists the registry repositories of a project.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) ListForProject(ctx context.Context, project Ref, o *ListRegistryRepositoriesOptions, opts ...RequestOption) iter.Seq2[*RegistryRepository, error] {
	r := s.newGet("/projects/:id/registry/repositories", project).params(o)
	return list[RegistryRepository](ctx, r, opts)
}

// ListForGroup lists the registry repositories of a group's projects. Servers return no tags here
// since 15.0. GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) ListForGroup(ctx context.Context, group Ref, opts ...RequestOption) iter.Seq2[*RegistryRepository, error] {
	r := s.newGet("/groups/:id/registry/repositories", group)
	return list[RegistryRepository](ctx, r, opts)
}

// GetRegistryRepositoryOptions sets the details that Get reads.
type GetRegistryRepositoryOptions struct {
	// Tags requests the tags.
	Tags *bool `url:"tags,omitempty"`
	// TagsCount requests the number of tags.
	TagsCount *bool `url:"tags_count,omitempty"`
	// Size requests the size of all images together. Hosted offering only.
	Size *bool `url:"size,omitempty"`
}

// Get reads one registry repository. GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) Get(ctx context.Context, repository int64, o *GetRegistryRepositoryOptions, opts ...RequestOption) (*RegistryRepository, error) {
	r := s.newGet("/registry/repositories/:id", repository).params(o)
	return do[RegistryRepository](ctx, r, opts)
}

// Delete schedules a registry repository for deletion with all its tags. It returns before the work
// is done: Get reports RegistryStatusDeleteScheduled, then RegistryStatusDeleteOngoing, then
// ErrNotFound. WaitDeleted waits for it.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) Delete(ctx context.Context, project Ref, repository int64, opts ...RequestOption) error {
	r := s.newDelete("/projects/:id/registry/repositories/:repository_id", project, repository)
	return exec(ctx, r, opts)
}

// WaitDeleted returns when the registry repository is deleted: Get does not find it, and the
// project's list does not contain it. It returns ErrDeleteFailed if the deletion fails on the
// server. It polls after 1 s, then at intervals growing to 10 s, until ctx is done. Without a prior
// Delete it never returns by itself. Request options apply to every poll.
func (s *RegistryService) WaitDeleted(ctx context.Context, project Ref, repository int64, opts ...RequestOption) error {
	r := s.newDelete("/projects/:id/registry/repositories/:repository_id", project, repository)
	return r.poll(ctx, func() (done bool, saw string, err error) {
		found, err := s.Get(ctx, repository, nil, opts...)
		if errors.Is(err, ErrNotFound) {
			// A server that hides the project returns it, too.
			found, err = s.findInList(ctx, project, repository, opts)
		}
		switch {
		case found == nil:
			return err == nil, "", err
		case found.Status == RegistryStatusDeleteFailed:
			return false, "", r.fail(ErrDeleteFailed, "the server could not delete the repository")
		case found.Status == "":
			return false, "the repository is not being deleted", nil
		}
		return false, "the repository is " + r.core.safeText(string(found.Status), 64), nil
	})
}

// findInList returns a repository from its project's list, or nil if it is not there.
func (s *RegistryService) findInList(ctx context.Context, project Ref, repository int64, opts []RequestOption) (*RegistryRepository, error) {
	for found, err := range s.ListForProject(ctx, project, nil, opts...) {
		if err != nil || found.ID == repository {
			return found, err
		}
	}
	return nil, nil
}

// ListRegistryTagsOptions sets the order in which tags are listed.
type ListRegistryTagsOptions struct {
	// Sort is the direction of the order by name: SortAsc or SortDesc. It needs keyset pagination,
	// which the hosted offering has since 16.10; other servers reject the call. Empty for SortAsc on
	// servers that order the list.
	Sort Sort `url:"sort,omitempty"`
}

// ListTags lists the tags of a registry repository by name. It requests keyset pagination, which
// the hosted offering has since 16.10. Other servers return 405. The client then lists the tags by
// offset, and remembers this. If the options set a direction, the call fails instead.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) ListTags(ctx context.Context, project Ref, repository int64, o *ListRegistryTagsOptions, opts ...RequestOption) iter.Seq2[*RegistryTag, error] {
	r := s.newGet("/projects/:id/registry/repositories/:repository_id/tags", project, repository).params(o)
	return list[RegistryTag](ctx, r, opts)
}

// GetTag reads a tag with its digest, size and age.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) GetTag(ctx context.Context, project Ref, repository int64, tag string, opts ...RequestOption) (*RegistryTagDetail, error) {
	r := s.newGet("/projects/:id/registry/repositories/:repository_id/tags/:tag_name", project, repository, tag)
	return do[RegistryTagDetail](ctx, r, opts)
}

// DeleteTag deletes one tag; the image's data stays until the registry's garbage collection. It
// returns ErrForbidden for a protected tag.
// GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) DeleteTag(ctx context.Context, project Ref, repository int64, tag string, opts ...RequestOption) error {
	r := s.newDelete("/projects/:id/registry/repositories/:repository_id/tags/:tag_name", project, repository, tag)
	return exec(ctx, r, opts)
}

// DeleteTagsOptions selects the tags that a bulk deletion removes. Patterns are RE2. The tag latest
// and protected tags are never deleted.
type DeleteTagsOptions struct {
	// NameRegexDelete is the pattern of the names to delete; .* matches all names. Required, unless
	// NameRegex is given. Deployed servers match it as \A<pattern>\z, against the whole name. Put
	// alternations in parentheses: (a|b).
	NameRegexDelete string `url:"name_regex_delete,omitempty"`
	// NameRegex is the former name of NameRegexDelete.
	//
	// Deprecated: use NameRegexDelete. Not together with it.
	NameRegex string `url:"name_regex,omitempty"`
	// NameRegexKeep is the pattern of the names to keep, even if NameRegexDelete matches them. It is
	// matched in the same way.
	NameRegexKeep string `url:"name_regex_keep,omitempty"`
	// KeepN is the number of matching tags to keep: those with the newest manifests; 0 keeps none.
	KeepN int `url:"keep_n,omitempty"`
	// OlderThan is the minimum age of the tags to delete: "1h", "7d", "1month"; empty for any
	// age.
	OlderThan Age `url:"older_than,omitempty"`
}

func (o *DeleteTagsOptions) check() error {
	return firstError(
		replaced("name_regex", o.NameRegex != "", "name_regex_delete", o.NameRegexDelete != ""),
		required("name_regex_delete", o.pattern() != ""),
		isRE2("name_regex_delete", o.NameRegexDelete),
		isRE2("name_regex", o.NameRegex),
		isRE2("name_regex_keep", o.NameRegexKeep),
		isAge("older_than", o.OlderThan),
	)
}

// pattern returns the pattern of the names to delete, from NameRegexDelete or NameRegex.
func (o *DeleteTagsOptions) pattern() string { return cmp.Or(o.NameRegexDelete, o.NameRegex) }

func isAge(param string, age Age) error {
	if age == "" {
		return nil
	}
	if _, err := age.duration(); err != nil {
		return &ValidationError{Param: param, Reason: strings.TrimPrefix(err.Error(), "forge: ")}
	}
	return nil
}

// DeleteTags schedules the deletion of the tags that the options select; PreviewDeleteTags lists
// them beforehand. It returns before the work is done. A repository accepts one such call an hour.
// A second call returns a *RateLimitError. If this client made the first call, the second is not
// sent, unless SkipValidation is set. Otherwise the server refuses it with 400, and
// RateLimitError.Until is the latest possible time. The hosted offering removes a limited number of
// tags at a time. GitLab docs: https://docs.gitlab.com/api/container_registry/
func (s *RegistryService) DeleteTags(ctx context.Context, project Ref, repository int64, o *DeleteTagsOptions, opts ...RequestOption) error {
	r := s.newDelete("/projects/:id/registry/repositories/:repository_id/tags", project, repository).form(o)
	return exec(ctx, r, opts)
}
