package main

import (
	"cmp"
	"context"

	forge "github.com/forge-sdk/forge-go"
)

func instanceSteps() []step {
	return []step{
		{"GET /user", nil, func(ctx context.Context, w *walk) error { return w.readUser(ctx) }},
		{"GET /users", nil, func(ctx context.Context, w *walk) error { return drain(w.client.Users.List(ctx, nil, w.page...)) }},
		{"GET /users/:id", []need{aUser}, func(ctx context.Context, w *walk) error {
			return only(w.client.Users.Get(ctx, w.user.ID, &forge.GetUserOptions{WithCustomAttributes: true}))
		}},
		{"GET /users/:id/emails", []need{aUser}, func(ctx context.Context, w *walk) error {
			return drain(w.client.Emails.ListForUser(ctx, w.user.ID, w.page...))
		}},
		{"GET /user/emails", nil, func(ctx context.Context, w *walk) error { return keep(&w.email, w.client.Emails.List(ctx, w.page...)) }},
		{"GET /user/emails/:email_id", []need{anEmail}, func(ctx context.Context, w *walk) error {
			return only(w.client.Emails.Get(ctx, w.email.ID))
		}},
		{"GET /application/settings", nil, func(ctx context.Context, w *walk) error { return only(w.client.Settings.Get(ctx)) }},
		{"GET /audit_events", nil, func(ctx context.Context, w *walk) error {
			return keep(&w.event, w.client.AuditEvents.List(ctx, nil, w.page...))
		}},
		{"GET /audit_events/:id", []need{anEvent}, func(ctx context.Context, w *walk) error {
			return only(w.client.AuditEvents.Get(ctx, w.event.ID))
		}},
		{"GET /namespaces", nil, func(ctx context.Context, w *walk) error { return w.readNamespaces(ctx) }},
		{"GET /namespaces/:id", []need{aNamespace}, func(ctx context.Context, w *walk) error {
			return only(w.client.Namespaces.Get(ctx, forge.ID(w.namespace.ID)))
		}},
		{"GET /namespaces/:namespace/exists", []need{aNamespace}, func(ctx context.Context, w *walk) error {
			return only(w.client.Namespaces.Exists(ctx, w.namespace.Path, nil))
		}},
		{"GET /issues", nil, func(ctx context.Context, w *walk) error {
			return keep(&w.issue, w.client.Issues.List(ctx, allIssues(), w.page...))
		}},
		{"GET /merge_requests", nil, func(ctx context.Context, w *walk) error {
			return keep(&w.request, w.client.MergeRequests.List(ctx, allRequests(), w.page...))
		}},
	}
}

func groupSteps() []step {
	return []step{
		{"GET /groups/:id/issues", []need{aGroup}, func(ctx context.Context, w *walk) error {
			return keep(&w.issue, w.client.Issues.ListForGroup(ctx, w.group, allIssues(), w.page...))
		}},
		{"GET /groups/:id/registry/repositories", []need{aGroup}, func(ctx context.Context, w *walk) error {
			return keep(&w.repository, w.client.Registry.ListForGroup(ctx, w.group, w.page...))
		}},
		{"GET /groups/:id/audit_events", []need{aGroup}, func(ctx context.Context, w *walk) error {
			return keep(&w.groupEvent, w.client.AuditEvents.ListForGroup(ctx, w.group, nil, w.page...))
		}},
		{"GET /groups/:id/audit_events/:audit_event_id", []need{aGroup, aGroupEvent}, func(ctx context.Context, w *walk) error {
			return only(w.client.AuditEvents.GetForGroup(ctx, w.group, w.groupEvent.ID))
		}},
		{"GET /groups/:id/integrations", []need{aGroup}, func(ctx context.Context, w *walk) error {
			return keep(&w.integration, w.client.Integrations.List(ctx, w.group, w.page...))
		}},
		{"GET /groups/:id/integrations/:slug", []need{aGroup, anIntegration}, func(ctx context.Context, w *walk) error {
			return only(w.client.Integrations.Get(ctx, w.group, forge.IntegrationSlug(w.integration.Slug)))
		}},
		{"GET /groups/:id/merge_request_approval_setting", []need{aGroup}, func(ctx context.Context, w *walk) error {
			return only(w.client.ApprovalSettings.GetForGroup(ctx, w.group))
		}},
		{"GET /groups/:id/placeholder_reassignments", []need{aGroup}, func(ctx context.Context, w *walk) error {
			return w.readReassignments(ctx)
		}},
	}
}

func projectSteps() []step {
	return []step{
		{"GET /projects/:id/issues/:issue_iid/time_stats", []need{anIssue}, func(ctx context.Context, w *walk) error {
			return only(w.client.Issues.GetTimeStats(ctx, forge.ID(w.issue.ProjectID), w.issue.IID))
		}},
		{"GET /projects/:id/issues/:issue_iid/related_merge_requests", []need{anIssue}, func(ctx context.Context, w *walk) error {
			return drain(w.client.Issues.ListRelatedMergeRequests(ctx, forge.ID(w.issue.ProjectID), w.issue.IID, w.page...))
		}},
		{"GET /projects/:id/audit_events", []need{aProject}, func(ctx context.Context, w *walk) error {
			return keep(&w.projectEvent, w.client.AuditEvents.ListForProject(ctx, w.project, nil, w.page...))
		}},
		{"GET /projects/:id/audit_events/:audit_event_id", []need{aProject, aProjectEvent}, func(ctx context.Context, w *walk) error {
			return only(w.client.AuditEvents.GetForProject(ctx, w.project, w.projectEvent.ID))
		}},
		{"GET /projects/:id/merge_request_approval_setting", []need{aProject}, func(ctx context.Context, w *walk) error {
			return only(w.client.ApprovalSettings.GetForProject(ctx, w.project))
		}},
		{"GET /projects/:id/resource_groups", []need{aProject}, func(ctx context.Context, w *walk) error {
			return keep(&w.resources, w.client.ResourceGroups.List(ctx, w.project, w.page...))
		}},
		{"GET /projects/:id/resource_groups/:key", []need{aProject, aResourceGroup}, func(ctx context.Context, w *walk) error {
			return only(w.client.ResourceGroups.Get(ctx, w.project, w.resources.Key))
		}},
		{"GET /projects/:id/resource_groups/:key/upcoming_jobs", []need{aProject, aResourceGroup}, func(ctx context.Context, w *walk) error {
			return drain(w.client.ResourceGroups.ListUpcomingJobs(ctx, w.project, w.resources.Key, w.page...))
		}},
		{"GET /projects/:project_id/secure_files", []need{aProject}, func(ctx context.Context, w *walk) error {
			return keep(&w.secure, w.client.SecureFiles.List(ctx, w.project, w.page...))
		}},
		{"GET /projects/:project_id/secure_files/:id", []need{aProject, aSecureFile}, func(ctx context.Context, w *walk) error {
			return only(w.client.SecureFiles.Get(ctx, w.project, w.secure.ID))
		}},
		{"GET /projects/:project_id/secure_files/:id/download", []need{theContent, aProject, aSecureFile}, func(ctx context.Context, w *walk) error {
			return glance(w.client.SecureFiles.Download(ctx, w.project, w.secure))
		}},
	}
}

func repositorySteps() []step {
	return []step{
		{"GET /projects/:id/repository/tree", []need{aProject}, func(ctx context.Context, w *walk) error { return w.readTree(ctx) }},
		{"GET /projects/:id/repository/blobs/:sha", []need{aProject, aFile}, func(ctx context.Context, w *walk) error {
			return only(w.client.Repositories.GetBlob(ctx, w.project, w.file.ID))
		}},
		{"GET /projects/:id/repository/blobs/:sha/raw", []need{theContent, aProject, aFile}, func(ctx context.Context, w *walk) error {
			return glance(w.client.Repositories.DownloadBlob(ctx, w.project, w.file.ID))
		}},
		{"GET /projects/:id/repository/archive[.:format]", []need{theContent, aProject}, func(ctx context.Context, w *walk) error {
			return glance(w.client.Repositories.Archive(ctx, w.project, nil))
		}},
		{"GET /projects/:id/repository/contributors", []need{aProject}, func(ctx context.Context, w *walk) error {
			return drain(w.client.Repositories.ListContributors(ctx, w.project, nil, w.page...))
		}},
		{"GET /projects/:id/repository/merge_base", []need{aProject}, func(ctx context.Context, w *walk) (err error) {
			w.commit, err = w.client.Repositories.GetMergeBase(ctx, w.project, &forge.MergeBaseOptions{Refs: []string{"HEAD", "HEAD"}})
			return err
		}},
		{"GET /projects/:id/repository/compare", []need{aProject}, func(ctx context.Context, w *walk) error {
			from, to := w.lastChange()
			return only(w.client.Repositories.Compare(ctx, w.project, &forge.CompareOptions{From: from, To: to}))
		}},
		{"GET /projects/:id/repository/changelog", []need{aProject}, func(ctx context.Context, w *walk) error {
			from, to := w.lastChange()
			return only(w.client.Repositories.GenerateChangelog(ctx, w.project, &forge.GenerateChangelogOptions{Version: "0.0.1", From: from, To: to}))
		}},
	}
}

func mergeRequestSteps() []step {
	target := func(w *walk) (forge.Ref, int64) { return forge.ID(w.request.ProjectID), w.request.IID }
	return []step{
		{"GET /projects/:id/merge_requests", []need{aProject}, func(ctx context.Context, w *walk) error {
			return keep(&w.request, w.client.MergeRequests.ListForProject(ctx, w.project, allRequests(), w.page...))
		}},
		{"GET /projects/:id/merge_requests/:merge_request_iid/changes", []need{aRequest}, func(ctx context.Context, w *walk) error {
			project, iid := target(w)
			return only(w.client.MergeRequests.GetChanges(ctx, project, iid, nil)) //nolint:staticcheck // deprecated, and an endpoint of the contract
		}},
		{"GET /projects/:id/merge_requests/:merge_request_iid/versions", []need{aRequest}, func(ctx context.Context, w *walk) error {
			project, iid := target(w)
			return keep(&w.version, w.client.MergeRequests.ListVersions(ctx, project, iid, w.page...))
		}},
		{"GET /projects/:id/merge_requests/:merge_request_iid/versions/:version_id", []need{aRequest, aVersion}, func(ctx context.Context, w *walk) error {
			project, iid := target(w)
			return only(w.client.MergeRequests.GetVersion(ctx, project, iid, w.version.ID, nil))
		}},
		{"GET /projects/:id/merge_requests/:merge_request_iid/blocks", []need{aRequest}, func(ctx context.Context, w *walk) error {
			project, iid := target(w)
			return drain(w.client.MergeRequests.ListBlocks(ctx, project, iid, w.page...))
		}},
		{"GET /projects/:id/merge_requests/:merge_request_iid/blockees", []need{aRequest}, func(ctx context.Context, w *walk) error {
			project, iid := target(w)
			return drain(w.client.MergeRequests.ListBlockees(ctx, project, iid, w.page...))
		}},
	}
}

func runnerSteps() []step {
	return []step{
		{"GET /runners/all", nil, func(ctx context.Context, w *walk) error {
			return keep(&w.runner, w.client.Runners.ListAll(ctx, nil, w.page...))
		}},
		{"GET /projects/:id/runners", []need{aProject}, func(ctx context.Context, w *walk) error {
			return keep(&w.runner, w.client.Runners.ListForProject(ctx, w.project, nil, w.page...))
		}},
		{"GET /runners", nil, func(ctx context.Context, w *walk) error {
			return keep(&w.runner, w.client.Runners.List(ctx, nil, w.page...))
		}},
		{"GET /runners/:id", []need{aRunner}, func(ctx context.Context, w *walk) error {
			return only(w.client.Runners.Get(ctx, w.runner.ID))
		}},
		{"GET /runners/:id/jobs", []need{aRunner}, func(ctx context.Context, w *walk) error {
			return drain(w.client.Runners.ListJobs(ctx, w.runner.ID, nil, w.page...))
		}},
		{"GET /runners/:id/managers", []need{aRunner}, func(ctx context.Context, w *walk) error {
			return drain(w.client.Runners.ListManagers(ctx, w.runner.ID, w.page...))
		}},
	}
}

func registrySteps() []step {
	return []step{
		{"GET /projects/:id/registry/repositories", []need{aProject}, func(ctx context.Context, w *walk) error {
			o := &forge.ListRegistryRepositoriesOptions{Tags: new(true), TagsCount: new(true)}
			tagged := func(r *forge.RegistryRepository) bool { return len(r.Tags) > 0 }
			return keep(&w.repository, w.client.Registry.ListForProject(ctx, w.project, o, w.page...), tagged)
		}},
		{"GET /registry/repositories/:id", []need{aRepository}, func(ctx context.Context, w *walk) error {
			o := &forge.GetRegistryRepositoryOptions{Tags: new(true), TagsCount: new(true), Size: new(true)}
			return only(w.client.Registry.Get(ctx, w.repository.ID, o))
		}},
		{"GET /projects/:id/registry/repositories/:repository_id/tags", []need{aRepository}, func(ctx context.Context, w *walk) error {
			return keep(&w.tag, w.client.Registry.ListTags(ctx, forge.ID(w.repository.ProjectID), w.repository.ID, nil, w.page...))
		}},
		{"GET /projects/:id/registry/repositories/:repository_id/tags/:tag_name", []need{aRepository, aTag}, func(ctx context.Context, w *walk) error {
			return only(w.client.Registry.GetTag(ctx, forge.ID(w.repository.ProjectID), w.repository.ID, w.tag.Name))
		}},
		{"GET /jwt/auth", []need{theRegistry}, func(ctx context.Context, w *walk) error {
			scope := forge.CatalogScope
			if w.repository != nil {
				scope = forge.RepositoryScope(w.repository.Path, forge.RegistryPull)
			}
			return only(w.client.RegistryNative.GetToken(ctx, &forge.RegistryTokenOptions{Scopes: []forge.RegistryScope{scope}}))
		}},
		{"GET /v2/_catalog", []need{theRegistry}, func(ctx context.Context, w *walk) error {
			return drain(w.client.RegistryNative.ListCatalog(ctx, w.page...))
		}},
	}
}

// allIssues returns options for more issues and details than a list shows by default.
func allIssues() *forge.ListIssuesOptions {
	return &forge.ListIssuesOptions{Scope: forge.ScopeAll, WithLabelsDetails: new(true)}
}

// allRequests is allIssues for merge requests.
func allRequests() *forge.ListMergeRequestsOptions {
	return &forge.ListMergeRequestsOptions{Scope: forge.ScopeAll, WithLabelsDetails: new(true)}
}

func (w *walk) readUser(ctx context.Context) (err error) {
	if w.user, err = w.client.Users.GetCurrent(ctx, nil); err != nil || w.registry == "" {
		return err
	}
	return w.useRegistry()
}

// readNamespaces prefers groups: a personal namespace has few objects.
func (w *walk) readNamespaces(ctx context.Context) error {
	isGroup := func(n *forge.Namespace) bool { return n.Kind == forge.NamespaceKindGroup }
	err := keep(&w.namespace, w.client.Namespaces.List(ctx, nil, w.page...), isGroup)
	if w.group == nil && w.namespace != nil && isGroup(w.namespace) {
		w.group = forge.ID(w.namespace.ID)
	}
	return err
}

// readReassignments reads the first rows of the file.
func (w *walk) readReassignments(ctx context.Context) error {
	rows := 0
	for _, err := range w.client.PlaceholderReassignments.List(ctx, w.group) {
		if rows++; err != nil || rows == w.perPage {
			return err
		}
	}
	return nil
}

func (w *walk) readTree(ctx context.Context) error {
	isFile := func(e *forge.TreeEntry) bool { return e.Type == forge.TreeEntryBlob }
	err := keep(&w.file, w.client.Repositories.ListTree(ctx, w.project, nil, w.page...), isFile)
	if w.file != nil && !isFile(w.file) {
		w.file = nil
	}
	return err
}

// lastChange returns two commits to compare: the last one and its parent, or HEAD twice if they are
// not known.
func (w *walk) lastChange() (from, to string) {
	if w.commit == nil || len(w.commit.ParentIDs) == 0 {
		return "HEAD", "HEAD"
	}
	return w.commit.ParentIDs[0], cmp.Or(w.commit.ID, "HEAD")
}
