package realclients

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/go-retryablehttp"
	"github.com/stretchr/testify/require"
	"gitlab.com/gitlab-org/api/client-go/v2"
	"golang.org/x/oauth2"
)

// golang makes calls with client-go.
type golang struct {
	*session
	api, hosted, outsider, owner, job, nobody, stranger *gitlab.Client
}

func TestClientGo(t *testing.T) {
	t.Parallel()
	s := newSession(t, "go")
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	type maker = func(string, ...gitlab.ClientOptionFunc) (*gitlab.Client, error)
	connect := func(start maker, base, token string) *gitlab.Client {
		client, err := start(token, gitlab.WithBaseURL(base), gitlab.WithoutRetries(),
			gitlab.WithHTTPClient(&http.Client{Transport: transport}))
		require.NoError(t, err)
		return client
	}
	c := &golang{session: s,
		api:      connect(gitlab.NewClient, s.URL, s.Token),
		hosted:   connect(gitlab.NewClient, s.HostedURL, s.HostedToken),
		outsider: connect(gitlab.NewClient, s.URL, s.OutsiderToken),
		owner:    connect(bearer, s.URL, s.OwnerToken),
		job:      connect(gitlab.NewJobClient, s.URL, s.JobToken),
		nobody:   connect(gitlab.NewClient, s.URL, ""),
		stranger: connect(gitlab.NewClient, s.URL, "wrong"),
	}
	for _, part := range []func(){c.registry, c.resources, c.repository, c.files, c.approvals, c.namespaces, c.audit, c.issues,
		c.mergeRequests, c.users, c.emails, c.runners, c.settings, c.integrations} {
		part()
	}
	s.end()
}

// bearer returns a client that sends its token like an OAuth token.
func bearer(token string, options ...gitlab.ClientOptionFunc) (*gitlab.Client, error) {
	source := gitlab.OAuthTokenSource{TokenSource: oauth2.StaticTokenSource(&oauth2.Token{AccessToken: token})}
	return gitlab.NewAuthSourceClient(source, options...)
}

// saw returns the result of a call, or its error in the form of the rows.
func saw(value any, response *gitlab.Response, err error) any {
	var refused *gitlab.ErrorResponse
	switch {
	case response != nil && response.StatusCode == http.StatusNotModified:
		return map[string]any{"status": http.StatusNotModified, "text": ""}
	case errors.Is(err, gitlab.ErrNotFound):
		return map[string]any{"status": http.StatusNotFound, "text": ""}
	case errors.As(err, &refused):
		return map[string]any{"status": refused.StatusCode, "text": refused.Message}
	case err != nil:
		return "error: " + err.Error()
	}
	return value
}

// done returns the result of a call without a value.
func done(response *gitlab.Response, err error) any { return saw(nil, response, err) }

// downloaded returns the result of a download.
func downloaded(content []byte, response *gitlab.Response, err error) any {
	return saw(digest(content), response, err)
}

// every reads all pages with the iterator of client-go.
func every[T any](list func(page gitlab.PaginationOptionFunc) ([]T, *gitlab.Response, error)) any {
	records, err := gitlab.ScanAndCollect(list)
	return saw(records, nil, err)
}

func (c *golang) registry() {
	images, yes := c.api.ContainerRegistry, gitlab.Ptr(true)
	c.see("registry.list_project_repositories", saw(images.ListProjectRegistryRepositories(c.Shop,
		&gitlab.ListProjectRegistryRepositoriesOptions{Tags: yes, TagsCount: yes})))
	c.see("registry.list_project_repositories: of a job", saw(c.job.ContainerRegistry.ListProjectRegistryRepositories(c.Shop, nil)))
	c.see("registry.list_group_repositories", saw(images.ListGroupRegistryRepositories(c.GroupPath, nil)))
	c.see("registry.get_repository", saw(images.GetSingleRegistryRepository(c.Web,
		&gitlab.GetSingleRegistryRepositoryOptions{Tags: yes, TagsCount: yes})))
	tags := func(images gitlab.ContainerRegistryServiceInterface, options gitlab.ListOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.RegistryRepositoryTag, *gitlab.Response, error) {
			return images.ListRegistryRepositoryTags(c.Shop, c.Web, &gitlab.ListRegistryRepositoryTagsOptions{ListOptions: options}, page)
		})
	}
	keyset := gitlab.ListOptions{Pagination: "keyset", OrderBy: "name", PerPage: 7}
	sorted := keyset
	sorted.Sort = "asc"
	c.see("registry.list_tags", tags(images, gitlab.ListOptions{PerPage: 7}))
	c.see("registry.list_tags: keyset", tags(c.hosted.ContainerRegistry, sorted))
	c.see("registry.list_tags: keyset without sort", tags(c.hosted.ContainerRegistry, keyset))
	c.see("registry.list_tags: keyset on self-managed", tags(images, keyset))
	c.see("registry.get_tag", saw(images.GetRegistryRepositoryTagDetail(c.Shop, c.Web, "latest")))
	c.see("registry.get_tag: missing", saw(images.GetRegistryRepositoryTagDetail(c.Shop, c.Web, "nope")))
	c.see("registry.delete_tag", done(images.DeleteRegistryRepositoryTag(c.Shop, c.Web, "topic-30")))
	c.see("registry.delete_tag: protected", done(images.DeleteRegistryRepositoryTag(c.Shop, c.Web, "v1.0.0")))
	old := &gitlab.DeleteRegistryRepositoryTagsOptions{NameRegexpDelete: gitlab.Ptr("mr-.*"), KeepN: gitlab.Ptr(int64(1))}
	c.see("registry.delete_tags_bulk", done(images.DeleteRegistryRepositoryTags(c.Shop, c.Web, old)))
	c.see("registry.delete_tags_bulk: twice in an hour", done(images.DeleteRegistryRepositoryTags(c.Shop, c.Web, old)))
	c.see("registry.delete_repository", done(images.DeleteRegistryRepository(c.Shop, c.Cron)))
	c.see("registry.update_visibility", saw(c.api.Projects.EditProject(c.Shop,
		&gitlab.EditProjectOptions{ContainerRegistryAccessLevel: gitlab.Ptr(gitlab.PrivateAccessControl)})))
}

func (c *golang) resources() {
	groups, key := c.api.ResourceGroup, "production/eu_west"
	mode := func(mode gitlab.ResourceGroupProcessMode) *gitlab.EditAnExistingResourceGroupOptions {
		return &gitlab.EditAnExistingResourceGroupOptions{ProcessMode: gitlab.Ptr(mode)}
	}
	c.see("resource_groups.list", saw(groups.GetAllResourceGroupsForAProject(c.ProjectPath)))
	c.see("resource_groups.get", saw(groups.GetASpecificResourceGroup(c.ProjectPath, key)))
	c.see("resource_groups.list_upcoming_jobs", saw(groups.ListUpcomingJobsForASpecificResourceGroup(c.ProjectPath, key)))
	c.see("resource_groups.update", saw(groups.EditAnExistingResourceGroup(c.ProjectPath, key, mode(gitlab.OldestFirst))))
	c.see("resource_groups.update: a wrong mode", saw(groups.EditAnExistingResourceGroup(c.ProjectPath, key, mode("backwards"))))
}

func (c *golang) repository() {
	code, project := c.api.Repositories, c.ProjectPath
	tree := func(options gitlab.ListTreeOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.TreeNode, *gitlab.Response, error) {
			return code.ListTree(project, &options, page)
		})
	}
	c.see("repositories.tree", tree(gitlab.ListTreeOptions{Recursive: gitlab.Ptr(true), ListOptions: gitlab.ListOptions{PerPage: 4}}))
	c.see("repositories.tree: keyset", tree(gitlab.ListTreeOptions{Recursive: gitlab.Ptr(true),
		ListOptions: gitlab.ListOptions{PerPage: 4, Pagination: "keyset"}}))
	c.see("repositories.tree: a folder of a branch", tree(gitlab.ListTreeOptions{Path: gitlab.Ptr("docs"), Ref: &c.Last}))
	c.see("repositories.tree: missing folder", tree(gitlab.ListTreeOptions{Path: gitlab.Ptr("no/such")}))
	c.see("repositories.get_blob: bytes", downloaded(code.Blob(project, c.Blob)))
	c.see("repositories.get_blob_raw", downloaded(code.RawBlobContent(project, c.Blob)))
	c.see("repositories.get_blob_raw: of nobody", downloaded(c.nobody.Repositories.RawBlobContent(project, c.Blob)))
	c.see("repositories.archive", downloaded(code.Archive(project, &gitlab.ArchiveOptions{Format: gitlab.Ptr("tar.gz")})))
	var zip bytes.Buffer
	response, err := code.StreamArchive(project, &zip,
		&gitlab.ArchiveOptions{Format: gitlab.Ptr("zip"), Path: gitlab.Ptr("docs"), SHA: &c.Last})
	c.see("repositories.archive: a folder as zip", downloaded(zip.Bytes(), response, err))
	c.see("repositories.compare", saw(code.Compare(project, &gitlab.CompareOptions{
		From: gitlab.Ptr("main"), To: gitlab.Ptr("experiment/http3"), Straight: gitlab.Ptr(true)})))
	c.see("repositories.contributors", every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Contributor, *gitlab.Response, error) {
		return code.Contributors(project, &gitlab.ListContributorsOptions{
			ListOptions: gitlab.ListOptions{PerPage: 2}, OrderBy: gitlab.Ptr("commits"), Sort: gitlab.Ptr("desc")}, page)
	}))
	c.see("repositories.merge_base", saw(code.MergeBase(project, &gitlab.MergeBaseOptions{Ref: &[]string{c.Plain, c.Last}})))
	c.see("repositories.generate_changelog", saw(code.GenerateChangelogData(project,
		gitlab.GenerateChangelogDataOptions{Version: gitlab.Ptr("1.3.0")})))
	c.see("repositories.add_changelog", done(code.AddChangelog(project, &gitlab.AddChangelogOptions{
		Version: gitlab.Ptr("1.3.0"), Branch: gitlab.Ptr("main"), File: gitlab.Ptr("CHANGES.md")})))
}

func (c *golang) files() {
	files, project := c.api.SecureFiles, c.ProjectPath
	create := func(content []byte) (*gitlab.SecureFile, *gitlab.Response, error) {
		return files.CreateSecureFile(project, bytes.NewReader(content), &gitlab.CreateSecureFileOptions{Name: gitlab.Ptr("größe & mehr.p12")})
	}
	c.see("secure_files.list", saw(files.ListProjectSecureFiles(project, nil)))
	c.see("secure_files.get", saw(files.ShowSecureFileDetails(project, c.File)))
	created, response, err := create(uploaded)
	c.see("secure_files.create", saw(created, response, err))
	c.see("secure_files.create: the same name", saw(create([]byte("x"))))
	body, response, err := files.DownloadSecureFile(project, c.File)
	require.NoError(c.t, err)
	content, err := io.ReadAll(body)
	require.NoError(c.t, errors.Join(err, body.Close()))
	c.see("secure_files.download", downloaded(content, response, nil))
	c.see("secure_files.delete", done(files.RemoveSecureFile(project, created.ID)))
	c.see("secure_files.get: missing", saw(files.ShowSecureFileDetails(project, created.ID)))
}

func (c *golang) approvals() {
	settings := c.api.MergeRequestApprovalSettings
	c.see("approval_settings.get_group", saw(settings.GetGroupMergeRequestApprovalSettings(c.GroupPath)))
	c.see("approval_settings.update_group", saw(settings.UpdateGroupMergeRequestApprovalSettings(c.GroupPath,
		&gitlab.UpdateGroupMergeRequestApprovalSettingsOptions{AllowAuthorApproval: gitlab.Ptr(false)})))
	c.see("approval_settings.get_project", saw(settings.GetProjectMergeRequestApprovalSettings(c.ProjectPath)))
	c.see("approval_settings.update_project", saw(settings.UpdateProjectMergeRequestApprovalSettings(c.ProjectPath,
		&gitlab.UpdateProjectMergeRequestApprovalSettingsOptions{RetainApprovalsOnPush: gitlab.Ptr(true)})))
}

func (c *golang) namespaces() {
	spaces, yes := c.api.Namespaces, gitlab.Ptr(true)
	list := func(options gitlab.ListNamespacesOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Namespace, *gitlab.Response, error) {
			return spaces.ListNamespaces(&options, page)
		})
	}
	c.see("namespaces.list", list(gitlab.ListNamespacesOptions{ListOptions: gitlab.ListOptions{PerPage: 9}}))
	c.see("namespaces.list: only top level", list(gitlab.ListNamespacesOptions{TopLevelOnly: yes, OwnedOnly: yes}))
	c.see("namespaces.get", saw(spaces.GetNamespace("acme/platform")))
	c.see("namespaces.exists", saw(spaces.NamespaceExists("acme", nil)))
	c.see("namespaces.exists: below a group", saw(spaces.NamespaceExists("platform", &gitlab.NamespaceExistsOptions{ParentID: &c.Group})))
}

func (c *golang) audit() {
	events := c.api.AuditEvents
	type list = func(*gitlab.ListAuditEventsOptions, ...gitlab.RequestOptionFunc) ([]*gitlab.AuditEvent, *gitlab.Response, error)
	all := func(list list, options gitlab.ListAuditEventsOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.AuditEvent, *gitlab.Response, error) {
			return list(&options, page)
		})
	}
	keyset := func(sort string) gitlab.ListAuditEventsOptions {
		return gitlab.ListAuditEventsOptions{ListOptions: gitlab.ListOptions{Pagination: "keyset", OrderBy: "id", Sort: sort, PerPage: 50}}
	}
	for name, list := range map[string]list{
		"instance": events.ListInstanceAuditEvents,
		"group": func(o *gitlab.ListAuditEventsOptions, p ...gitlab.RequestOptionFunc) ([]*gitlab.AuditEvent, *gitlab.Response, error) {
			return events.ListGroupAuditEvents(c.GroupPath, o, p...)
		},
		"project": func(o *gitlab.ListAuditEventsOptions, p ...gitlab.RequestOptionFunc) ([]*gitlab.AuditEvent, *gitlab.Response, error) {
			return events.ListProjectAuditEvents(c.ProjectPath, o, p...)
		},
	} {
		c.see("audit_events.list_"+name, all(list, gitlab.ListAuditEventsOptions{}))
		c.see(fmt.Sprintf("audit_events.list_%s: keyset", name), all(list, keyset("desc")))
		c.see(fmt.Sprintf("audit_events.list_%s: keyset without sort", name), all(list, keyset("")))
	}
	since := time.Date(2025, 6, 1, 0, 0, 0, 0, time.UTC)
	c.see("audit_events.list_instance: since", all(events.ListInstanceAuditEvents, gitlab.ListAuditEventsOptions{CreatedAfter: &since}))
	c.see("audit_events.list_instance: outsider", saw(c.outsider.AuditEvents.ListInstanceAuditEvents(nil)))
	c.see("audit_events.get_instance", saw(events.GetInstanceAuditEvent(c.Event)))
	c.see("audit_events.get_instance: missing", saw(events.GetInstanceAuditEvent(999999)))
	c.see("audit_events.get_group", saw(events.GetGroupAuditEvent(c.GroupPath, c.GroupEvent)))
	c.see("audit_events.get_project", saw(events.GetProjectAuditEvent(c.ProjectPath, c.ProjectEvent)))
}

func (c *golang) users() {
	users := c.api.Users
	list := func(options gitlab.ListUsersOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.User, *gitlab.Response, error) {
			return users.ListUsers(&options, page)
		})
	}
	keyset := gitlab.ListUsersOptions{ListOptions: gitlab.ListOptions{Pagination: "keyset", PerPage: 10}, OrderBy: gitlab.Ptr("id")}
	sorted := keyset
	sorted.Sort = gitlab.Ptr("asc")
	c.see("users.list", list(gitlab.ListUsersOptions{}))
	c.see("users.list: keyset", list(sorted))
	c.see("users.list: keyset without sort", list(keyset))
	c.see("users.list: filtered", list(gitlab.ListUsersOptions{
		Active: gitlab.Ptr(true), WithoutProjectBots: gitlab.Ptr(true), Search: gitlab.Ptr("crowd1")}))
	c.see("users.list: a name", list(gitlab.ListUsersOptions{Username: gitlab.Ptr("Tomas.Berg")}))
	c.see("users.get", saw(users.GetUser(c.User, nil)))
	c.see("users.get: missing", saw(users.GetUser(999999, nil)))
	c.see("users.current", saw(users.CurrentUser()))
	c.see("users.current: for another", saw(users.CurrentUser(gitlab.WithSudo(c.User))))
}

func (c *golang) emails() {
	users := c.api.Users
	add := func(address string) *gitlab.AddEmailOptions { return &gitlab.AddEmailOptions{Email: &address} }
	c.see("emails.list_current", saw(users.ListEmails()))
	c.see("emails.list_user", saw(users.ListEmailsForUser(c.User, nil)))
	c.see("emails.get_current", saw(users.GetEmail(c.Address)))
	c.see("emails.add_current", saw(users.AddEmail(add("root+third@example.com"))))
	c.see("emails.add_current: taken", saw(users.AddEmail(add("root+third@example.com"))))
	skipped := add("third@example.com")
	skipped.SkipConfirmation = gitlab.Ptr(true)
	c.see("emails.add_user", saw(users.AddEmailForUser(c.User, skipped)))
	c.see("emails.add_user: outsider", saw(c.outsider.Users.AddEmailForUser(c.User, add("fourth@example.com"))))
	c.see("emails.delete_current", done(users.DeleteEmail(c.Address)))
	c.see("emails.delete_user", done(users.DeleteEmailForUser(c.User, c.Another)))
	c.see("emails.get_current: missing", saw(users.GetEmail(999999)))
}

func (c *golang) runners() {
	runners := c.api.Runners
	all := func(options gitlab.ListRunnersOptions) any {
		return every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Runner, *gitlab.Response, error) {
			return runners.ListAllRunners(&options, page)
		})
	}
	c.see("runners.list", saw(c.owner.Runners.ListRunners(nil)))
	c.see("runners.list_all", all(gitlab.ListRunnersOptions{ListOptions: gitlab.ListOptions{PerPage: 2}}))
	c.see("runners.list_all: filtered", all(gitlab.ListRunnersOptions{
		Type: gitlab.Ptr("project_type"), Paused: gitlab.Ptr(false), TagList: &[]string{"go", "linux"}}))
	c.see("runners.list_all: outsider", saw(c.outsider.Runners.ListAllRunners(nil)))
	c.see("runners.get", saw(runners.GetRunnerDetails(c.Local)))
	c.see("runners.update", saw(runners.UpdateRunnerDetails(c.Local, &gitlab.UpdateRunnerDetailsOptions{
		Description: gitlab.Ptr("renamed"), MaximumTimeout: gitlab.Ptr(int64(3600)), TagList: &[]string{"go", "new"}})))
	c.see("runners.pause", saw(runners.UpdateRunnerDetails(c.Local, &gitlab.UpdateRunnerDetailsOptions{Paused: gitlab.Ptr(true)})))
	c.see("runners.list_jobs", every(func(page gitlab.PaginationOptionFunc) ([]*gitlab.Job, *gitlab.Response, error) {
		return runners.ListRunnerJobs(c.Local, &gitlab.ListRunnerJobsOptions{
			Status: gitlab.Ptr("running"), OrderBy: gitlab.Ptr("id"), Sort: gitlab.Ptr("asc")}, page)
	}))
	c.see("runners.list_managers", saw(runners.ListRunnerManagers(c.Local)))
	c.see("runners.list_project", saw(runners.ListProjectRunners(c.ProjectPath, nil)))
	c.see("runners.get: missing", saw(runners.GetRunnerDetails(999999)))
}

func (c *golang) settings() {
	settings := c.api.Settings
	c.see("settings.get", saw(settings.GetSettings()))
	c.see("settings.update", saw(settings.UpdateSettings(&gitlab.UpdateSettingsOptions{
		AfterSignUpText: gitlab.Ptr("Bye"), SignupEnabled: gitlab.Ptr(true), TerminalMaxSessionTime: gitlab.Ptr(int64(77)),
		SidekiqJobLimiterMode: gitlab.Ptr("compress"), DomainAllowlist: &[]string{"a.example.com", "b.example.com"}})))
	c.see("settings.update: a companion is missing", saw(settings.UpdateSettings(
		&gitlab.UpdateSettingsOptions{AkismetEnabled: gitlab.Ptr(true)})))
	c.see("settings.get: outsider", saw(c.outsider.Settings.GetSettings()))
}

func (c *golang) integrations() {
	all, group := c.api.Integrations, c.GroupPath
	options := &gitlab.SetGroupWebexTeamsOptions{BranchesToBeNotified: gitlab.Ptr("protected")}
	// client-go has no field for the address, which servers require.
	address := func(request *retryablehttp.Request) error {
		query := request.URL.Query()
		query.Set("webhook", "https://chat.example.com/hook")
		request.URL.RawQuery = query.Encode()
		return nil
	}
	c.see("integrations.set: without its address", saw(all.SetGroupWebexTeamsSettings(group, options)))
	c.see("integrations.set", saw(all.SetGroupWebexTeamsSettings(group, options, address)))
	c.see("integrations.get", saw(all.GetGroupWebexTeamsSettings(group)))
	c.see("integrations.list", saw(all.ListActiveGroupIntegrations(group, nil)))
	c.see("integrations.disable", done(all.DisableGroupWebexTeams(group)))
}
