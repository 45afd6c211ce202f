package forge

import (
	"encoding/json"
	"net/http"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// conformanceRows name the typed method of each documented endpoint. What the methods take is seen from their types.
var conformanceRows = []struct {
	endpoint string
	method   any
}{
	{"registry.update_visibility", (*RegistryService).SetVisibility},
	{"registry.list_project_repositories", (*RegistryService).ListForProject},
	{"registry.list_group_repositories", (*RegistryService).ListForGroup},
	{"registry.get_repository", (*RegistryService).Get},
	{"registry.delete_repository", (*RegistryService).Delete},
	{"registry.list_tags", (*RegistryService).ListTags},
	{"registry.get_tag", (*RegistryService).GetTag},
	{"registry.delete_tag", (*RegistryService).DeleteTag},
	{"registry.delete_tags_bulk", (*RegistryService).DeleteTags},
	{"registry_native.get_token", (*RegistryNativeService).GetToken},
	{"registry_native.delete_manifest", (*RegistryNativeService).DeleteManifest},
	{"registry_native.delete_tag_reference", (*RegistryNativeService).DeleteTagReference},
	{"registry_native.catalog", (*RegistryNativeService).ListCatalog},
	{"resource_groups.list", (*ResourceGroupsService).List},
	{"resource_groups.get", (*ResourceGroupsService).Get},
	{"resource_groups.list_upcoming_jobs", (*ResourceGroupsService).ListUpcomingJobs},
	{"resource_groups.update", (*ResourceGroupsService).Update},
	{"repositories.tree", (*RepositoriesService).ListTree},
	{"repositories.get_blob", (*RepositoriesService).GetBlob},
	{"repositories.get_blob_raw", (*RepositoriesService).DownloadBlob},
	{"repositories.archive", (*RepositoriesService).Archive},
	{"repositories.compare", (*RepositoriesService).Compare},
	{"repositories.contributors", (*RepositoriesService).ListContributors},
	{"repositories.merge_base", (*RepositoriesService).GetMergeBase},
	{"repositories.add_changelog", (*RepositoriesService).CreateChangelog},
	{"repositories.generate_changelog", (*RepositoriesService).GenerateChangelog},
	{"secure_files.list", (*SecureFilesService).List},
	{"secure_files.get", (*SecureFilesService).Get},
	{"secure_files.create", (*SecureFilesService).Upload},
	{"secure_files.download", (*SecureFilesService).Download},
	{"secure_files.delete", (*SecureFilesService).Delete},
	{"approval_settings.get_group", (*ApprovalSettingsService).GetForGroup},
	{"approval_settings.update_group", (*ApprovalSettingsService).UpdateForGroup},
	{"approval_settings.get_project", (*ApprovalSettingsService).GetForProject},
	{"approval_settings.update_project", (*ApprovalSettingsService).UpdateForProject},
	{"namespaces.list", (*NamespacesService).List},
	{"namespaces.get", (*NamespacesService).Get},
	{"namespaces.exists", (*NamespacesService).Exists},
	{"audit_events.list_instance", (*AuditEventsService).List},
	{"audit_events.get_instance", (*AuditEventsService).Get},
	{"audit_events.list_group", (*AuditEventsService).ListForGroup},
	{"audit_events.get_group", (*AuditEventsService).GetForGroup},
	{"audit_events.list_project", (*AuditEventsService).ListForProject},
	{"audit_events.get_project", (*AuditEventsService).GetForProject},
	{"issues.list", (*IssuesService).List},
	{"issues.list_group", (*IssuesService).ListForGroup},
	{"issues.subscribe", (*IssuesService).Subscribe},
	{"issues.unsubscribe", (*IssuesService).Unsubscribe},
	{"issues.create_todo", (*IssuesService).CreateTodo},
	{"issues.promote_by_note", (*IssuesService).Promote},
	{"issues.set_time_estimate", (*IssuesService).SetTimeEstimate},
	{"issues.reset_time_estimate", (*IssuesService).ResetTimeEstimate},
	{"issues.add_spent_time", (*IssuesService).AddSpentTime},
	{"issues.reset_spent_time", (*IssuesService).ResetSpentTime},
	{"issues.time_stats", (*IssuesService).GetTimeStats},
	{"issues.related_merge_requests", (*IssuesService).ListRelatedMergeRequests},
	{"merge_requests.list", (*MergeRequestsService).List},
	{"merge_requests.list_project", (*MergeRequestsService).ListForProject},
	{"merge_requests.list_blocks", (*MergeRequestsService).ListBlocks},
	{"merge_requests.create_block", (*MergeRequestsService).CreateBlock},
	{"merge_requests.delete_block", (*MergeRequestsService).DeleteBlock},
	{"merge_requests.list_blockees", (*MergeRequestsService).ListBlockees},
	{"merge_requests.changes", (*MergeRequestsService).GetChanges},
	{"merge_requests.subscribe", (*MergeRequestsService).Subscribe},
	{"merge_requests.unsubscribe", (*MergeRequestsService).Unsubscribe},
	{"merge_requests.create_todo", (*MergeRequestsService).CreateTodo},
	{"merge_requests.list_versions", (*MergeRequestsService).ListVersions},
	{"merge_requests.get_version", (*MergeRequestsService).GetVersion},
	{"users.list", (*UsersService).List},
	{"users.get", (*UsersService).Get},
	{"users.current", (*UsersService).GetCurrent},
	{"emails.list_current", (*EmailsService).List},
	{"emails.list_user", (*EmailsService).ListForUser},
	{"emails.get_current", (*EmailsService).Get},
	{"emails.add_current", (*EmailsService).Create},
	{"emails.add_user", (*EmailsService).CreateForUser},
	{"emails.delete_current", (*EmailsService).Delete},
	{"emails.delete_user", (*EmailsService).DeleteForUser},
	{"runners.list", (*RunnersService).List},
	{"runners.list_all", (*RunnersService).ListAll},
	{"runners.get", (*RunnersService).Get},
	{"runners.update", (*RunnersService).Update},
	{"runners.pause", (*RunnersService).Pause},
	{"runners.list_jobs", (*RunnersService).ListJobs},
	{"runners.list_managers", (*RunnersService).ListManagers},
	{"runners.list_project", (*RunnersService).ListForProject},
	{"placeholder_reassignments.get", (*PlaceholderReassignmentsService).List},
	{"placeholder_reassignments.get", (*PlaceholderReassignmentsService).Download},
	{"placeholder_reassignments.submit", (*PlaceholderReassignmentsService).Upload},
	{"settings.get", (*SettingsService).Get},
	{"settings.update", (*SettingsService).Update},
	{"integrations.list", (*IntegrationsService).List},
	{"integrations.get", (*IntegrationsService).Get},
	{"integrations.set", (*IntegrationsService).Set},
	{"integrations.disable", (*IntegrationsService).Disable},
}

// conformanceCases are the rows, that of integrations.set once for each kind, with what options of the type may send by the
// contract: on an endpoint that shares them, or beyond it.
func conformanceCases(t *testing.T) []*conformanceCase {
	t.Helper()
	var cases []*conformanceCase
	known := map[reflect.Type]map[string]bool{}
	endpoints := readContract(t)
	for _, row := range conformanceRows {
		endpoint, documented := endpoints[row.endpoint]
		if !assert.True(t, documented, "%s is not in the catalogue", row.endpoint) {
			continue
		}
		c := &conformanceCase{name: row.endpoint, endpoint: endpoint, method: reflect.ValueOf(row.method)}
		for in := range c.method.Type().Ins() {
			if in.Kind() == reflect.Pointer && in != c.method.Type().In(0) && in != reflect.TypeFor[*SecureFile]() {
				c.options = in.Elem()
			}
		}
		if len(endpoint.Kinds) == 0 {
			cases = append(cases, c)
			continue
		}
		for i, kind := range endpoint.Kinds {
			one := *c
			one.name += " " + kind.ID
			one.endpoint.Body, one.kind, one.slug = kind.Params, kindRows[i].kind, orDefault(kind.Slug, string(kindRows[i].kind))
			one.options = reflect.TypeOf(kindRows[i].options()).Elem()
			known[one.options] = setOf(kindRows[i].beyond)
			cases = append(cases, &one)
		}
	}
	for _, c := range cases {
		if c.options == nil {
			continue
		}
		if known[c.options] == nil {
			known[c.options] = setOf(beyond[c.options.Name()])
		}
		c.known, c.foreign = known[c.options], foreignKeys(t, c)
		for _, param := range c.endpoint.params() {
			c.known[param.Wire] = true
		}
		for _, param := range c.endpoint.Body {
			c.known[param.Name] = true // in JSON
		}
	}
	return cases
}

// foreignKeys are the fields of options for a query that neither the catalogue nor deployed servers
// have on the endpoint.
func foreignKeys(t *testing.T, c *conformanceCase) map[string]bool {
	t.Helper()
	foreign := map[string]bool{}
	if c.endpoint.Method != http.MethodGet {
		return foreign
	}
	for wire := range wireFields(t, reflect.New(c.options).Interface()) {
		foreign[nameKey(wire)] = true
	}
	for _, param := range c.endpoint.params() {
		delete(foreign, nameKey(param.Wire))
	}
	for _, wire := range deployedParameters(t)[c.endpoint.ID] {
		delete(foreign, nameKey(wire))
	}
	return foreign
}

// deployedParameters are the query parameters that deployed servers have beyond the contract, by
// endpoint.
func deployedParameters(t *testing.T) map[string][]string {
	t.Helper()
	var rows []struct {
		ID    string
		Query []string
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/deployed_parameters.json"), &rows))
	all := map[string][]string{}
	for _, row := range rows {
		all[row.ID] = row.Query
	}
	return all
}

func setOf(names []string) map[string]bool {
	set := map[string]bool{}
	for _, name := range names {
		set[name] = true
	}
	return set
}

// TestConformanceRows shows that each documented endpoint has a row, and each row a method of the service of its endpoint.
func TestConformanceRows(t *testing.T) {
	rows := map[string]bool{}
	for _, row := range conformanceRows {
		rows[row.endpoint] = true
	}
	endpoints := readContract(t)
	assert.Len(t, endpoints, 94)
	for id := range endpoints {
		assert.True(t, rows[id], "%s is called by no row", id)
	}
	assert.Len(t, rows, len(endpoints))
	t.Logf("%d of %d documented endpoints have a typed method", len(rows), len(endpoints))
}
