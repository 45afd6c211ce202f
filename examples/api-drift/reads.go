package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	forge "github.com/forge-sdk/forge-go"
)

var (
	page = []forge.RequestOption{forge.OnePage(), forge.PerPage(20)} // of each list
	// More issues, merge requests and details than lists show by default.
	allIssues   = &forge.ListIssuesOptions{Scope: forge.ScopeAll, WithLabelsDetails: new(true)}
	allRequests = &forge.ListMergeRequestsOptions{Scope: forge.ScopeAll, WithLabelsDetails: new(true)}
)

// all reads every endpoint once. A read that finds an object comes before those that need it.
func (w *walk) all(ctx context.Context, registry string) error {
	ctx, w.end = context.WithCancelCause(ctx)
	defer w.end(nil)
	user, err := w.client.Users.GetCurrent(ctx, nil)
	if w.did(err); err == nil {
		w.user = *user
	}
	if registry != "" { // its tokens come from the server, for the same user
		w.client, err = w.client.With(forge.WithRegistry(registry, strings.TrimSuffix(w.client.BaseURL(), "/api/v4")),
			forge.WithRegistryCredentials(w.user.Username, os.Getenv("FORGE_TOKEN")))
		if err != nil {
			return err
		}
	}
	w.readInstance(ctx, w.client)
	if w.project == forge.Path("") {
		w.project = forge.ID(cmp.Or(w.request.ProjectID, w.issue.ProjectID, w.repository.ProjectID))
	}
	w.readProject(ctx, w.client)
	w.readRepository(ctx, w.client)
	w.readRegistry(ctx, w.client)
	return context.Cause(ctx)
}

// readInstance reads the instance and a group.
func (w *walk) readInstance(ctx context.Context, c *forge.Client) {
	w.did(drain(c.Users.List(ctx, nil, page...)))
	w.did(only(c.Users.Get(ctx, w.user.ID, &forge.GetUserOptions{WithCustomAttributes: true})))
	w.did(drain(c.Emails.ListForUser(ctx, w.user.ID, page...)))
	var email forge.Email
	w.did(keep(&email, c.Emails.List(ctx, page...)))
	w.did(only(c.Emails.Get(ctx, email.ID)))
	w.did(only(c.Settings.Get(ctx)))
	var event, groupEvent forge.AuditEvent
	w.did(keep(&event, c.AuditEvents.List(ctx, nil, page...)))
	w.did(only(c.AuditEvents.Get(ctx, event.ID)))

	// A personal namespace has few objects.
	isGroup := func(n *forge.Namespace) bool { return n.Kind == forge.NamespaceKindGroup }
	var namespace forge.Namespace
	w.did(keep(&namespace, c.Namespaces.List(ctx, nil, page...), isGroup))
	w.did(only(c.Namespaces.Get(ctx, forge.ID(namespace.ID))))
	w.did(only(c.Namespaces.Exists(ctx, namespace.Path, nil)))
	if w.group == forge.Path("") && isGroup(&namespace) {
		w.group = forge.ID(namespace.ID)
	}
	w.did(keep(&w.issue, c.Issues.List(ctx, allIssues, page...)))
	w.did(keep(&w.request, c.MergeRequests.List(ctx, allRequests, page...)))

	w.did(keep(&w.issue, c.Issues.ListForGroup(ctx, w.group, allIssues, page...)))
	w.did(keep(&w.repository, c.Registry.ListForGroup(ctx, w.group, page...)))
	w.did(keep(&groupEvent, c.AuditEvents.ListForGroup(ctx, w.group, nil, page...)))
	w.did(only(c.AuditEvents.GetForGroup(ctx, w.group, groupEvent.ID)))
	var integration forge.IntegrationSummary
	w.did(keep(&integration, c.Integrations.List(ctx, w.group, page...)))
	w.did(only(c.Integrations.Get(ctx, w.group, forge.IntegrationSlug(integration.Slug))))
	w.did(only(c.ApprovalSettings.GetForGroup(ctx, w.group)))
	w.did(drain(c.PlaceholderReassignments.List(ctx, w.group)))
}

func (w *walk) readProject(ctx context.Context, c *forge.Client) {
	w.did(only(c.Issues.GetTimeStats(ctx, forge.ID(w.issue.ProjectID), w.issue.IID)))
	w.did(drain(c.Issues.ListRelatedMergeRequests(ctx, forge.ID(w.issue.ProjectID), w.issue.IID, page...)))
	var event forge.AuditEvent
	w.did(keep(&event, c.AuditEvents.ListForProject(ctx, w.project, nil, page...)))
	w.did(only(c.AuditEvents.GetForProject(ctx, w.project, event.ID)))
	w.did(only(c.ApprovalSettings.GetForProject(ctx, w.project)))
	var resources forge.ResourceGroup
	w.did(keep(&resources, c.ResourceGroups.List(ctx, w.project, page...)))
	w.did(only(c.ResourceGroups.Get(ctx, w.project, resources.Key)))
	w.did(drain(c.ResourceGroups.ListUpcomingJobs(ctx, w.project, resources.Key, page...)))
	var secure forge.SecureFile
	w.did(keep(&secure, c.SecureFiles.List(ctx, w.project, page...)))
	w.did(only(c.SecureFiles.Get(ctx, w.project, secure.ID)))
	w.did(glance(c.SecureFiles.Download(ctx, w.project, &secure)))
	var runner forge.Runner
	w.did(keep(&runner, c.Runners.ListAll(ctx, nil, page...)))
	w.did(keep(&runner, c.Runners.ListForProject(ctx, w.project, nil, page...)))
	w.did(keep(&runner, c.Runners.List(ctx, nil, page...)))
	w.did(only(c.Runners.Get(ctx, runner.ID, nil)))
	w.did(drain(c.Runners.ListJobs(ctx, runner.ID, nil, page...)))
	w.did(drain(c.Runners.ListManagers(ctx, runner.ID, page...)))
}

// readRepository reads the files and a merge request of the project.
func (w *walk) readRepository(ctx context.Context, c *forge.Client) {
	isFile := func(e *forge.TreeEntry) bool { return e.Type == forge.TreeEntryTypeBlob }
	var file forge.TreeEntry
	w.did(keep(&file, c.Repositories.ListTree(ctx, w.project, nil, page...), isFile))
	w.did(only(c.Repositories.GetBlob(ctx, w.project, file.ID)))
	w.did(glance(c.Repositories.DownloadBlob(ctx, w.project, file.ID)))
	w.did(glance(c.Repositories.Archive(ctx, w.project, nil)))
	w.did(drain(c.Repositories.ListContributors(ctx, w.project, nil, page...)))
	from, to := "HEAD", "HEAD"
	last, err := c.Repositories.GetMergeBase(ctx, w.project, &forge.GetMergeBaseOptions{Refs: []string{"HEAD", "HEAD"}})
	if w.did(err); err == nil && len(last.ParentIDs) > 0 {
		from = last.ParentIDs[0]
	}
	w.did(only(c.Repositories.Compare(ctx, w.project, &forge.CompareOptions{From: from, To: to})))
	w.did(only(c.Repositories.GenerateChangelog(ctx, w.project, &forge.GenerateChangelogOptions{Version: "0.0.1", From: from, To: to})))

	w.did(keep(&w.request, c.MergeRequests.ListForProject(ctx, w.project, allRequests, page...)))
	project, iid := forge.ID(w.request.ProjectID), w.request.IID
	w.did(only(c.MergeRequests.GetChanges(ctx, project, iid, nil))) //nolint:staticcheck // deprecated, and an endpoint of the contract
	var version forge.DiffVersion
	w.did(keep(&version, c.MergeRequests.ListVersions(ctx, project, iid, page...)))
	w.did(only(c.MergeRequests.GetVersion(ctx, project, iid, version.ID, nil)))
	w.did(drain(c.MergeRequests.ListBlocks(ctx, project, iid, page...)))
	w.did(drain(c.MergeRequests.ListBlockees(ctx, project, iid, page...)))
}

func (w *walk) readRegistry(ctx context.Context, c *forge.Client) {
	listed := &forge.ListRegistryRepositoriesOptions{Tags: new(true), TagsCount: new(true)}
	hasTags := func(r *forge.RegistryRepository) bool { return len(r.Tags) > 0 }
	w.did(keep(&w.repository, c.Registry.ListForProject(ctx, w.project, listed, page...), hasTags))
	w.did(only(c.Registry.Get(ctx, w.repository.ID, &forge.GetRegistryRepositoryOptions{Tags: new(true), TagsCount: new(true), Size: new(true)})))
	project := forge.ID(w.repository.ProjectID)
	var tag forge.RegistryTag
	w.did(keep(&tag, c.Registry.ListTags(ctx, project, w.repository.ID, nil, page...)))
	w.did(only(c.Registry.GetTag(ctx, project, w.repository.ID, tag.Name)))
	scope := forge.RegistryScopeCatalog
	if w.repository.ID != 0 {
		scope = forge.RepositoryScope(w.repository.Path, forge.RegistryActionPull)
	}
	w.did(only(c.RegistryNative.GetToken(ctx, &forge.GetRegistryTokenOptions{Scopes: []forge.RegistryScope{scope}})))
	w.did(drain(c.RegistryNative.ListCatalog(ctx, page...)))
}

// keep reads a page and keeps one item: the first that is preferred, or else the first.
func keep[T any](kept *T, items iter.Seq2[*T, error], preferred ...func(*T) bool) error {
	page, err := forge.Collect(items)
	if len(page) > 0 {
		*kept = *page[0]
	}
	for _, prefer := range preferred {
		if i := slices.IndexFunc(page, prefer); i >= 0 {
			*kept = *page[i]
		}
	}
	return err
}

// drain reads a page and discards it.
func drain[T any](items iter.Seq2[*T, error]) error { return keep(new(T), items) }

// only returns the error of a read and discards the value.
func only[T any](_ *T, err error) error { return err }

// glance reads the first bytes of a download.
func glance(file *forge.Download, err error) error {
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = io.CopyN(io.Discard, file, 512); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
