package realclients

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// The clients, and the number of endpoints of the contract that each has. A smaller number means
// fewer tests and needs a reason.
var figures = map[string]int{"python": 69, "javascript": 75, "go": 87}

// endpointID is an endpoint of the contract, with the method of each client for it; "" means none.
type endpointID struct{ id, python, javascript, golang string }

// coverage lists the endpoints that at least one of the clients has. No other endpoint is compared.
var coverage = []endpointID{
	{"registry.update_visibility", "projects.update", "Projects.edit", "Projects.EditProject"},
	{"registry.list_project_repositories", "project.repositories.list", "ContainerRegistry.allRepositories", "ContainerRegistry.ListProjectRegistryRepositories"},
	{"registry.list_group_repositories", "group.registry_repositories.list", "ContainerRegistry.allRepositories", "ContainerRegistry.ListGroupRegistryRepositories"},
	{"registry.get_repository", "registry_repositories.get", "ContainerRegistry.showRepository", "ContainerRegistry.GetSingleRegistryRepository"},
	{"registry.delete_repository", "repositories.delete", "ContainerRegistry.removeRepository", "ContainerRegistry.DeleteRegistryRepository"},
	{"registry.list_tags", "tags.list", "ContainerRegistry.allTags", "ContainerRegistry.ListRegistryRepositoryTags"},
	{"registry.get_tag", "tags.get", "ContainerRegistry.showTag", "ContainerRegistry.GetRegistryRepositoryTagDetail"},
	{"registry.delete_tag", "tags.delete", "ContainerRegistry.removeTag", "ContainerRegistry.DeleteRegistryRepositoryTag"},
	{"registry.delete_tags_bulk", "tags.delete_in_bulk", "ContainerRegistry.removeTags", "ContainerRegistry.DeleteRegistryRepositoryTags"},
	{"resource_groups.list", "", "ResourceGroups.all", "ResourceGroup.GetAllResourceGroupsForAProject"},
	{"resource_groups.get", "", "ResourceGroups.show", "ResourceGroup.GetASpecificResourceGroup"},
	{"resource_groups.list_upcoming_jobs", "", "ResourceGroups.allUpcomingJobs", "ResourceGroup.ListUpcomingJobsForASpecificResourceGroup"},
	{"resource_groups.update", "", "ResourceGroups.edit", "ResourceGroup.EditAnExistingResourceGroup"},
	{"repositories.tree", "project.repository_tree", "Repositories.allRepositoryTrees", "Repositories.ListTree"},
	{"repositories.get_blob", "project.repository_blob", "Repositories.showBlob", "Repositories.Blob"},
	{"repositories.get_blob_raw", "project.repository_raw_blob", "Repositories.showBlobRaw", "Repositories.RawBlobContent"},
	{"repositories.archive", "project.repository_archive", "Repositories.showArchive", "Repositories.Archive, StreamArchive"},
	{"repositories.compare", "project.repository_compare", "Repositories.compare", "Repositories.Compare"},
	{"repositories.contributors", "project.repository_contributors", "Repositories.allContributors", "Repositories.Contributors"},
	{"repositories.merge_base", "project.repository_merge_base", "Repositories.mergeBase", "Repositories.MergeBase"},
	{"repositories.add_changelog", "", "Repositories.editChangelog", "Repositories.AddChangelog"},
	{"repositories.generate_changelog", "", "Repositories.showChangelog", "Repositories.GenerateChangelogData"},
	{"secure_files.list", "secure_files.list", "SecureFiles.all", "SecureFiles.ListProjectSecureFiles"},
	{"secure_files.get", "secure_files.get", "SecureFiles.show", "SecureFiles.ShowSecureFileDetails"},
	{"secure_files.create", "secure_files.create", "SecureFiles.create", "SecureFiles.CreateSecureFile"},
	{"secure_files.download", "secure_file.download", "SecureFiles.download", "SecureFiles.DownloadSecureFile"},
	{"secure_files.delete", "secure_file.delete", "SecureFiles.remove", "SecureFiles.RemoveSecureFile"},
	{"approval_settings.get_group", "", "", "MergeRequestApprovalSettings.GetGroupMergeRequestApprovalSettings"},
	{"approval_settings.update_group", "", "", "MergeRequestApprovalSettings.UpdateGroupMergeRequestApprovalSettings"},
	{"approval_settings.get_project", "", "", "MergeRequestApprovalSettings.GetProjectMergeRequestApprovalSettings"},
	{"approval_settings.update_project", "", "", "MergeRequestApprovalSettings.UpdateProjectMergeRequestApprovalSettings"},
	{"namespaces.list", "namespaces.list", "Namespaces.all", "Namespaces.ListNamespaces"},
	{"namespaces.get", "namespaces.get", "Namespaces.show", "Namespaces.GetNamespace"},
	{"namespaces.exists", "namespaces.exists", "Namespaces.exists", "Namespaces.NamespaceExists"},
	{"audit_events.list_instance", "audit_events.list", "AuditEvents.all", "AuditEvents.ListInstanceAuditEvents"},
	{"audit_events.get_instance", "audit_events.get", "AuditEvents.show", "AuditEvents.GetInstanceAuditEvent"},
	{"audit_events.list_group", "group.audit_events.list", "AuditEvents.all", "AuditEvents.ListGroupAuditEvents"},
	{"audit_events.get_group", "group.audit_events.get", "AuditEvents.show", "AuditEvents.GetGroupAuditEvent"},
	{"audit_events.list_project", "project.audit_events.list", "AuditEvents.all", "AuditEvents.ListProjectAuditEvents"},
	{"audit_events.get_project", "project.audit_events.get", "AuditEvents.show", "AuditEvents.GetProjectAuditEvent"},
	{"issues.list", "issues.list", "Issues.all", "Issues.ListIssues"},
	{"issues.list_group", "group.issues.list", "Issues.all", "Issues.ListGroupIssues"},
	{"issues.subscribe", "issue.subscribe", "Issues.subscribe", "Issues.SubscribeToIssue"},
	{"issues.unsubscribe", "issue.unsubscribe", "Issues.unsubscribe", "Issues.UnsubscribeFromIssue"},
	{"issues.create_todo", "issue.todo", "Issues.createTodo", "Issues.CreateTodo"},
	{"issues.promote_by_note", "issue.notes.create", "Issues.promote", "Notes.CreateIssueNote"},
	{"issues.set_time_estimate", "issue.time_estimate", "Issues.addTimeEstimate", "Issues.SetTimeEstimate"},
	{"issues.reset_time_estimate", "issue.reset_time_estimate", "Issues.resetTimeEstimate", "Issues.ResetTimeEstimate"},
	{"issues.add_spent_time", "issue.add_spent_time", "Issues.addSpentTime", "Issues.AddSpentTime"},
	{"issues.reset_spent_time", "issue.reset_spent_time", "Issues.resetSpentTime", "Issues.ResetSpentTime"},
	{"issues.time_stats", "issue.time_stats", "Issues.showTimeStats", "Issues.GetTimeSpent"},
	{"issues.related_merge_requests", "issue.related_merge_requests", "Issues.allRelatedMergeRequests", "Issues.ListMergeRequestsRelatedToIssue"},
	{"merge_requests.list", "mergerequests.list", "MergeRequests.all", "MergeRequests.ListMergeRequests"},
	{"merge_requests.list_project", "project.mergerequests.list", "MergeRequests.all", "MergeRequests.ListProjectMergeRequests"},
	{"merge_requests.list_blocks", "", "", "MergeRequests.GetMergeRequestDependencies"},
	{"merge_requests.create_block", "", "", "MergeRequests.CreateMergeRequestDependency"},
	{"merge_requests.delete_block", "", "", "MergeRequests.DeleteMergeRequestDependency"},
	{"merge_requests.changes", "mergerequest.changes", "MergeRequests.showChanges", "MergeRequests.GetMergeRequestChanges"},
	{"merge_requests.subscribe", "mergerequest.subscribe", "MergeRequests.subscribe", "MergeRequests.SubscribeToMergeRequest"},
	{"merge_requests.unsubscribe", "mergerequest.unsubscribe", "MergeRequests.unsubscribe", "MergeRequests.UnsubscribeFromMergeRequest"},
	{"merge_requests.create_todo", "mergerequest.todo", "MergeRequests.createTodo", "MergeRequests.CreateTodo"},
	{"merge_requests.list_versions", "mergerequest.diffs.list", "MergeRequests.allDiffVersions", "MergeRequests.GetMergeRequestDiffVersions"},
	{"merge_requests.get_version", "mergerequest.diffs.get", "MergeRequests.showDiffVersion", "MergeRequests.GetSingleMergeRequestDiffVersion"},
	{"users.list", "users.list", "Users.all", "Users.ListUsers"},
	{"users.get", "users.get", "Users.show", "Users.GetUser"},
	{"users.current", "auth", "Users.showCurrentUser", "Users.CurrentUser"},
	{"emails.list_current", "user.emails.list", "UserEmails.all", "Users.ListEmails"},
	{"emails.list_user", "user.emails.list", "UserEmails.all", "Users.ListEmailsForUser"},
	{"emails.get_current", "user.emails.get", "UserEmails.show", "Users.GetEmail"},
	{"emails.add_current", "user.emails.create", "UserEmails.create", "Users.AddEmail"},
	{"emails.add_user", "user.emails.create", "UserEmails.create", "Users.AddEmailForUser"},
	{"emails.delete_current", "user.emails.delete", "UserEmails.remove", "Users.DeleteEmail"},
	{"emails.delete_user", "user.emails.delete", "UserEmails.remove", "Users.DeleteEmailForUser"},
	{"runners.list", "runners.list", "Runners.all", "Runners.ListRunners"},
	{"runners.list_all", "runners_all.list", "Runners.all", "Runners.ListAllRunners"},
	{"runners.get", "runners.get", "Runners.show", "Runners.GetRunnerDetails"},
	{"runners.update", "runner.save", "Runners.edit", "Runners.UpdateRunnerDetails"},
	{"runners.pause", "runners.update", "Runners.edit", "Runners.UpdateRunnerDetails"},
	{"runners.list_jobs", "runner.jobs.list", "Runners.allJobs", "Runners.ListRunnerJobs"},
	{"runners.list_managers", "", "", "Runners.ListRunnerManagers"},
	{"runners.list_project", "project.runners.list", "Runners.all", "Runners.ListProjectRunners"},
	{"settings.get", "settings.get", "ApplicationSettings.show", "Settings.GetSettings"},
	{"settings.update", "settings.save", "ApplicationSettings.edit", "Settings.UpdateSettings"},
	{"integrations.list", "", "", "Integrations.ListActiveGroupIntegrations"},
	{"integrations.set", "", "", "Integrations.SetGroupWebexTeamsSettings"},
	{"integrations.disable", "", "", "Integrations.DisableGroupWebexTeams"},
	{"integrations.get", "", "", "Integrations.GetGroupWebexTeamsSettings"},
}

func (e endpointID) call(client string) string {
	return map[string]string{"python": e.python, "javascript": e.javascript, "go": e.golang}[client]
}

// route returns the route under which the server counts the requests of an endpoint.
func route(t *testing.T, id string) string {
	t.Helper()
	endpoints := catalogue.Endpoints()
	require.Contains(t, endpoints, id)
	e := endpoints[id]
	if e.SameAs != "" {
		e = endpoints[e.SameAs]
	}
	return e.Method + " " + e.Path
}

// TestCoverage compares the figures with the table.
func TestCoverage(t *testing.T) {
	counts := map[string]int{}
	for _, e := range coverage {
		require.NotEmpty(t, route(t, e.id))
		for client := range figures {
			if e.call(client) != "" {
				counts[client]++
			}
		}
	}
	assert.Equal(t, figures, counts)
}
