package forge

import (
	"encoding/json"
	"errors"
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// optionRows name the options of each documented endpoint, nil where it takes none. A service with one row needs a row
// for each of its endpoints.
var optionRows = []struct {
	endpoint string
	options  any
	// arguments are parameters that the method takes as arguments of their own.
	arguments []string
}{
	{endpoint: "repositories.tree", options: &TreeOptions{}},
	{endpoint: "repositories.get_blob"},
	{endpoint: "repositories.get_blob_raw"},
	{endpoint: "repositories.archive", options: &ArchiveOptions{}},
	{endpoint: "repositories.compare", options: &CompareOptions{}},
	{endpoint: "repositories.contributors", options: &ContributorsOptions{}},
	{endpoint: "repositories.merge_base", options: &MergeBaseOptions{}},
	{endpoint: "repositories.add_changelog", options: &CreateChangelogOptions{}},
	{endpoint: "repositories.generate_changelog", options: &GenerateChangelogOptions{}},
	{endpoint: "registry.update_visibility", options: &SetRegistryVisibilityOptions{}},
	{endpoint: "registry.list_project_repositories", options: &ListRegistryRepositoriesOptions{}},
	{endpoint: "registry.list_group_repositories"},
	{endpoint: "registry.get_repository", options: &GetRegistryRepositoryOptions{}},
	{endpoint: "registry.delete_repository"},
	{endpoint: "registry.list_tags", options: &ListRegistryTagsOptions{}},
	{endpoint: "registry.get_tag"},
	{endpoint: "registry.delete_tag"},
	{endpoint: "registry.delete_tags_bulk", options: &DeleteTagsOptions{}},
	{endpoint: "registry_native.get_token", options: &RegistryTokenOptions{}, arguments: []string{"service"}}, // a constant
	{endpoint: "registry_native.delete_manifest", options: &DeleteManifestOptions{}},
	{endpoint: "registry_native.delete_tag_reference"},
	{endpoint: "registry_native.catalog"},
	{endpoint: "resource_groups.list"},
	{endpoint: "resource_groups.get"},
	{endpoint: "resource_groups.list_upcoming_jobs"},
	{endpoint: "resource_groups.update", options: &UpdateResourceGroupOptions{}},
	{endpoint: "secure_files.list"},
	{endpoint: "secure_files.get"},
	{endpoint: "secure_files.create", options: &UploadSecureFileOptions{}, arguments: []string{"file"}}, // a part of its own
	{endpoint: "secure_files.download"},
	{endpoint: "secure_files.delete"},
	{endpoint: "approval_settings.get_group"},
	{endpoint: "approval_settings.update_group", options: &UpdateApprovalSettingsOptions{}},
	{endpoint: "approval_settings.get_project"},
	{endpoint: "approval_settings.update_project", options: &UpdateApprovalSettingsOptions{}},
	{endpoint: "audit_events.list_instance", options: &ListAuditEventsOptions{}},
	{endpoint: "audit_events.get_instance"},
	{endpoint: "audit_events.list_group", options: &ListAuditEventsOptions{}},
	{endpoint: "audit_events.get_group"},
	{endpoint: "audit_events.list_project", options: &ListAuditEventsOptions{}},
	{endpoint: "audit_events.get_project"},
	{endpoint: "namespaces.list", options: &ListNamespacesOptions{}},
	{endpoint: "namespaces.get"},
	{endpoint: "namespaces.exists", options: &NamespaceExistsOptions{}},
	{endpoint: "issues.list", options: &ListIssuesOptions{}},
	{endpoint: "issues.list_group", options: &ListIssuesOptions{}},
	{endpoint: "issues.subscribe"},
	{endpoint: "issues.unsubscribe"},
	{endpoint: "issues.create_todo"},
	{endpoint: "issues.promote_by_note", options: &PromoteIssueOptions{}},
	{endpoint: "issues.set_time_estimate", options: &SetTimeEstimateOptions{}},
	{endpoint: "issues.reset_time_estimate"},
	{endpoint: "issues.add_spent_time", options: &AddSpentTimeOptions{}},
	{endpoint: "issues.reset_spent_time"},
	{endpoint: "issues.time_stats"},
	{endpoint: "issues.related_merge_requests"},
	{endpoint: "merge_requests.list", options: &ListMergeRequestsOptions{}},
	{endpoint: "merge_requests.list_project", options: &ListMergeRequestsOptions{}},
	{endpoint: "merge_requests.list_blocks"},
	{endpoint: "merge_requests.create_block", options: &CreateBlockOptions{}},
	{endpoint: "merge_requests.delete_block"},
	{endpoint: "merge_requests.list_blockees"},
	{endpoint: "merge_requests.changes", options: &ChangesOptions{}},
	{endpoint: "merge_requests.subscribe"},
	{endpoint: "merge_requests.unsubscribe"},
	{endpoint: "merge_requests.create_todo"},
	{endpoint: "merge_requests.list_versions"},
	{endpoint: "merge_requests.get_version", options: &DiffVersionOptions{}},
	{endpoint: "users.list", options: &ListUsersOptions{}},
	{endpoint: "users.get", options: &GetUserOptions{}},
	{endpoint: "users.current", options: &CurrentUserOptions{}},
	{endpoint: "emails.list_current"},
	{endpoint: "emails.list_user"},
	{endpoint: "emails.get_current"},
	{endpoint: "emails.add_current", options: &CreateEmailOptions{}},
	{endpoint: "emails.add_user", options: &CreateEmailForUserOptions{}},
	{endpoint: "emails.delete_current"},
	{endpoint: "emails.delete_user"},
	{endpoint: "runners.list", options: &ListRunnersOptions{}},
	{endpoint: "runners.list_all", options: &ListRunnersOptions{}},
	{endpoint: "runners.get"},
	{endpoint: "runners.update", options: &UpdateRunnerOptions{}},
	{endpoint: "runners.pause", options: &PauseRunnerOptions{}},
	{endpoint: "runners.list_jobs", options: &ListRunnerJobsOptions{}},
	{endpoint: "runners.list_managers"},
	{endpoint: "runners.list_project", options: &ListRunnersOptions{}},
	{endpoint: "placeholder_reassignments.get"},
	{endpoint: "placeholder_reassignments.submit", arguments: []string{"file"}},
	{endpoint: "settings.get"},
	{endpoint: "settings.update", options: &UpdateSettingsOptions{}},
	{endpoint: "integrations.list"},
	{endpoint: "integrations.set", arguments: []string{"use_inherited_settings"}}, // TestIntegrationKinds
	{endpoint: "integrations.disable"},
	{endpoint: "integrations.get"},
}

// typeRows name the Go type of each catalogue type.
var typeRows = map[string]any{
	"TreeEntry":              TreeEntry{},
	"Blob":                   Blob{},
	"Comparison":             Comparison{},
	"ComparisonCommit":       ComparisonCommit{},
	"Diff":                   Diff{},
	"Contributor":            Contributor{},
	"MergeBaseCommit":        Commit{},
	"ChangelogData":          Changelog{},
	"RegistryRepository":     RegistryRepository{},
	"RegistryTagSummary":     RegistryTag{},
	"RegistryTagDetail":      RegistryTagDetail{},
	"RegistryProject":        RegistryProject{},
	"RegistryToken":          RegistryToken{},
	"ResourceGroup":          ResourceGroup{},
	"UpcomingJob":            UpcomingJob{},
	"UpcomingJobProject":     UpcomingJobProject{},
	"JobPipeline":            JobPipeline{},
	"SecureFile":             SecureFile{},
	"SecureFileMetadata":     SecureFileMetadata{},
	"CertificateName":        CertificateName{},
	"ApprovalSettings":       ApprovalSettings{},
	"ApprovalSettingValue":   ApprovalSetting{},
	"AuditEvent":             AuditEvent{},
	"AuditEventDetails":      AuditEventDetails{},
	"Namespace":              Namespace{},
	"NamespaceAvailability":  NamespaceAvailability{},
	"UserSummary":            UserSummary{},
	"Issue":                  Issue{},
	"LabelDetails":           Label{},
	"References":             References{},
	"TaskCompletionStatus":   TaskCompletionStatus{},
	"IssueLinks":             IssueLinks{},
	"Epic":                   Epic{},
	"Iteration":              Iteration{},
	"Milestone":              Milestone{},
	"TimeStats":              TimeStats{},
	"Todo":                   Todo{},
	"TodoProject":            TodoProject{},
	"Note":                   Note{},
	"NoteCommandsChanges":    NoteCommandsChanges{},
	"MergeRequest":           MergeRequest{},
	"MergeRequestPipeline":   MergeRequestPipeline{},
	"DiffRefs":               DiffRefs{},
	"MergeRequestDependency": MergeRequestDependency{},
	"MergeRequestChanges":    MergeRequestChanges{},
	"DiffVersion":            DiffVersion{},
	"VersionCommit":          Commit{},
	"VersionDiff":            Diff{},
	"User":                   User{},
	"UserIdentity":           UserIdentity{},
	"ScimIdentity":           SCIMIdentity{},
	"Email":                  Email{},
	"Runner":                 Runner{},
	"RunnerProject":          RunnerProject{},
	"RunnerManager":          RunnerManager{},
	"RunnerJob":              RunnerJob{},
	"RunnerJobPipeline":      RunnerJobPipeline{},
	"RunnerJobProject":       RunnerJobProject{},
	"Message":                Message{},
	"JobCommit":              Commit{},
	"UserProfile":            UserProfile{},

	"ApplicationSettings":      ApplicationSettings{},
	"BranchProtectionDefaults": BranchProtectionDefaults{},
	"BranchAccess":             BranchAccess{},
	"IntegrationSummary":       IntegrationSummary{},
}

// fixtureRows name the Go type of each fixture, or of its items.
var fixtureRows = map[string]any{
	"repositories/tree.json":                 TreeEntry{},
	"repositories/tree_2.json":               TreeEntry{},
	"repositories/blob.json":                 Blob{},
	"repositories/comparison.json":           Comparison{},
	"repositories/comparison_same.json":      Comparison{},
	"repositories/contributors.json":         Contributor{},
	"repositories/merge_base.json":           Commit{},
	"repositories/changelog.json":            Changelog{},
	"registry/project.json":                  RegistryProject{},
	"registry/repository.json":               RegistryRepository{},
	"registry/repositories.json":             RegistryRepository{},
	"registry/repositories_group.json":       RegistryRepository{},
	"registry/tags.json":                     RegistryTag{},
	"registry/tags_2.json":                   RegistryTag{},
	"registry/tag.json":                      RegistryTagDetail{},
	"registry_native/token.json":             RegistryToken{},
	"resource_groups/resource_groups.json":   ResourceGroup{},
	"resource_groups/resource_group.json":    ResourceGroup{},
	"resource_groups/updated.json":           ResourceGroup{},
	"resource_groups/upcoming_jobs.json":     UpcomingJob{},
	"secure_files/secure_files.json":         SecureFile{},
	"secure_files/secure_file.json":          SecureFile{},
	"secure_files/uploaded.json":             SecureFile{},
	"approval_settings/group.json":           ApprovalSettings{},
	"approval_settings/project.json":         ApprovalSettings{},
	"audit_events/audit_events.json":         AuditEvent{},
	"audit_events/audit_event.json":          AuditEvent{},
	"audit_events/group.json":                AuditEvent{},
	"audit_events/group_event.json":          AuditEvent{},
	"audit_events/project.json":              AuditEvent{},
	"audit_events/project_event.json":        AuditEvent{},
	"namespaces/namespaces.json":             Namespace{},
	"namespaces/namespace.json":              Namespace{},
	"namespaces/exists.json":                 NamespaceAvailability{},
	"issues/issues.json":                     Issue{},
	"issues/subscribed.json":                 Issue{},
	"issues/unsubscribed.json":               Issue{},
	"issues/todo.json":                       Todo{},
	"issues/note.json":                       Note{},
	"issues/time_stats.json":                 TimeStats{},
	"issues/time_stats_unestimated.json":     TimeStats{},
	"issues/time_stats_unspent.json":         TimeStats{},
	"issues/merge_requests.json":             MergeRequest{},
	"merge_requests/merge_requests.json":     MergeRequest{},
	"merge_requests/blocks.json":             MergeRequestDependency{},
	"merge_requests/blockees.json":           MergeRequestDependency{},
	"merge_requests/block.json":              MergeRequestDependency{},
	"merge_requests/changes.json":            MergeRequestChanges{},
	"merge_requests/changes_cut.json":        MergeRequestChanges{},
	"merge_requests/subscribed.json":         MergeRequest{},
	"merge_requests/unsubscribed.json":       MergeRequest{},
	"merge_requests/todo.json":               Todo{},
	"merge_requests/versions.json":           DiffVersion{},
	"merge_requests/version.json":            DiffVersion{},
	"users/users.json":                       User{},
	"users/user.json":                        User{},
	"users/current.json":                     User{},
	"users/user_bare.json":                   User{},
	"emails/emails.json":                     Email{},
	"emails/email.json":                      Email{},
	"emails/created.json":                    Email{},
	"runners/runners.json":                   Runner{},
	"runners/runner.json":                    Runner{},
	"runners/runner_paused.json":             Runner{},
	"runners/managers.json":                  RunnerManager{},
	"runners/jobs.json":                      RunnerJob{},
	"placeholder_reassignments/message.json": Message{},
	"settings/settings.json":                 ApplicationSettings{},
	"integrations/integrations.json":         IntegrationSummary{},
	"integrations/integration.json":          Integration{},
}

// beyond lists what deployed servers have and the contract has not, by options type or catalogue type.
var beyond = map[string][]string{
	"ListIssuesOptions":     {"closed_by_id"},
	"ListNamespacesOptions": {"requested_hosted_plan"},
	"Blob":                  {"encoding", "sha"},
	"RegistryRepository":    {"delete_api_path"},
	"RegistryToken":         {"expires_in", "issued_at"},
	"SecureFile":            {"file_extension"},
	"AuditEvent":            {"event_name"},
	"Diff":                  {"collapsed", "generated_file", "too_large"},
	"MergeBaseCommit":       {"extended_trailers", "trailers", "web_url"},
	"Namespace": {"additional_purchased_storage_ends_on", "additional_purchased_storage_size", "ci_minutes_usage",
		"extra_shared_runners_minutes_limit", "shared_runners_minutes_limit"},
	"UserSummary":              {"avatar_path"},
	"Issue":                    {"blocking_issues_count", "service_desk_reply_to"},
	"Epic":                     {"human_readable_end_date", "human_readable_timestamp"},
	"Milestone":                {"expired", "group_id"},
	"ListMergeRequestsOptions": {"approved", "approved_by_usernames[]", "source_project_id"},
	"MergeRequestChanges":      changesBeyond(),
	"VersionDiff":              {"collapsed", "too_large"},
	"User":                     {"avatar_path", "custom_attributes", "skype"},
	"Runner":                   {"created_by", "job_execution_status", "locked", "run_untagged"},
	"RunnerManager":            {"job_execution_status"},
	"JobCommit":                {"extended_trailers"},
	"MergeRequest":             {"first_contribution", "head_pipeline", "merge_error", "rebase_in_progress", "title_html", "user"},
	"UpdateSettingsOptions":    slices.Sorted(slices.Values(slices.Concat(unnamedSettings(), settingDependencies()))),
	"IntegrationSummary":       {"incident_events"},
}

// changesBeyond are the fields of a merge request that the contract does not show for its changes, and the changes themselves.
func changesBeyond() []string {
	fields := jsonFields(reflect.TypeFor[MergeRequest]())
	fields["changes"] = nil
	return slices.Sorted(maps.Keys(fields))
}

// ownParams are sent by the core on behalf of every list.
var ownParams = []string{"page", "per_page", "pagination"}

type catalogueParam struct {
	Name, Wire, Type string
	Enum             []any
	Keys             []catalogueParam
	Required         bool
	ExclusiveWith    []string `json:"exclusive_with"`
	Encoding         []string // of a body parameter
	Const            string
	Special          []string // words instead of a value
	Allowed          []any    // the values of which one must be
	Format           string
	WireSpecial      string `json:"wire_special"`
}

type catalogueEndpoint struct {
	ID, Service, Status string
	Query               []catalogueParam `json:"query_params"`
	Body                []catalogueParam `json:"body_params"`
	Response            struct{ Type, Kind string }
	Pagination          struct {
		Keyset bool
		Order  *struct {
			OrderBy []string `json:"order_by"`
			Sort    []string
		} `json:"keyset_order"`
	}
}

// params lists the parameters of query and body, those of a hash one by one.
func (e catalogueEndpoint) params() []catalogueParam {
	var all []catalogueParam
	for _, param := range slices.Concat(e.Query, e.Body) {
		if slices.Contains(ownParams, param.Name) {
			continue
		}
		if len(param.Keys) > 0 {
			all = append(all, param.Keys...)
			continue
		}
		all = append(all, param)
	}
	return append(all, e.orderParams(all)...)
}

// orderParams are the parameters of an order that keyset pagination leaves to the caller.
func (e catalogueEndpoint) orderParams(others []catalogueParam) (all []catalogueParam) {
	if e.Pagination.Order == nil {
		return nil
	}
	for name, values := range map[string][]string{"order_by": e.Pagination.Order.OrderBy, "sort": e.Pagination.Order.Sort} {
		known := slices.ContainsFunc(others, func(p catalogueParam) bool { return p.Name == name })
		if len(values) > 1 && !known {
			param := catalogueParam{Name: name, Wire: name, Type: "string"}
			for _, value := range values {
				param.Enum = append(param.Enum, value)
			}
			all = append(all, param)
		}
	}
	return all
}

type catalogueField struct {
	Name, Type, Format, Ref string
	RefAny                  []string `json:"ref_any"`
	Items                   struct {
		Type, Ref   string
		Alternative struct{ Ref string } // another form of the items
	}
	Values   struct{ Type string } // of a map
	Nullable bool
	Enum     []any `json:"enum_seen"`
}

func readEndpoints(t *testing.T) map[string]catalogueEndpoint {
	t.Helper()
	var list []catalogueEndpoint
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &list))
	endpoints := map[string]catalogueEndpoint{}
	for _, e := range list {
		if e.Status == "documented" {
			endpoints[e.ID] = e
		}
	}
	return endpoints
}

// TestCatalogueParameters holds options and catalogue to each other: what the options send when every field is set is
// exactly what the endpoints document, under the same wire names.
func TestCatalogueParameters(t *testing.T) {
	endpoints, constants := readEndpoints(t), stringConstants(t)
	documented := map[string]map[string]bool{} // by options type
	sent := map[string]map[string]reflect.Type{}
	for _, row := range optionRows {
		endpoint, known := endpoints[row.endpoint]
		require.True(t, known, "%s is not in the catalogue", row.endpoint)
		name, fields := "", map[string]reflect.Type{}
		if row.options != nil {
			name, fields = optionsName(row.options), wireFields(t, row.options)
			sent[name] = fields
		}
		if documented[name] == nil {
			documented[name] = map[string]bool{}
		}
		for _, param := range endpoint.params() {
			wire := param.Wire
			if isBody(row.options) {
				wire = param.Name
			}
			documented[name][wire] = true
			field, reachable := fields[wire]
			if slices.Contains(row.arguments, wire) {
				continue
			}
			if assert.True(t, reachable, "%s: no field of %s sends %s", row.endpoint, name, wire) {
				assert.True(t, fitsParam(param.Type, field), "%s: %s is %s in the catalogue and %s in Go", row.endpoint, wire, param.Type, field)
				assertEnum(t, row.endpoint+" "+wire, param.Enum, field, constants)
			}
		}
	}
	for name, fields := range sent {
		var invented []string
		for _, wire := range slices.Sorted(maps.Keys(fields)) {
			if !documented[name][wire] {
				invented = append(invented, wire)
			}
		}
		assert.Equal(t, beyond[name], invented, "%s: parameters beyond the contract", name)
	}
}

// TestCatalogueRows shows that no endpoint and no type of a service is forgotten.
func TestCatalogueRows(t *testing.T) {
	endpoints := readEndpoints(t)
	rows, services := map[string]bool{}, map[string]bool{}
	for _, row := range optionRows {
		assert.False(t, rows[row.endpoint], "%s has two rows", row.endpoint)
		rows[row.endpoint], services[endpoints[row.endpoint].Service] = true, true
	}
	for _, e := range endpoints {
		if !services[e.Service] {
			continue
		}
		assert.True(t, rows[e.ID], "%s has no row", e.ID)
		if e.Response.Type != "" && e.Response.Kind != "csv" {
			assert.NotNil(t, typeRows[e.Response.Type], "%s answers %s, which has no row", e.ID, e.Response.Type)
		}
	}
}

// TestCatalogueFields holds response types and catalogue to each other, field by field.
func TestCatalogueFields(t *testing.T) {
	var types map[string]struct{ Fields []catalogueField }
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/types.json"), &types))
	constants := stringConstants(t)
	beyond := maps.Clone(beyond)
	beyond["ApplicationSettings"] = settingsBeyondResponses(t)
	for name, value := range typeRows {
		require.Contains(t, types, name)
		fields := jsonFields(reflect.TypeOf(value))
		for _, f := range types[name].Fields {
			f.Name = shownName(f.Name)
			field, found := fields[f.Name]
			delete(fields, f.Name)
			if !assert.True(t, found, "%s.%s has no field", name, f.Name) {
				continue
			}
			settings := name == "ApplicationSettings" // TestSettingKinds knows which of them may be omitted
			assert.True(t, settings || fitsField(f, field), "%s.%s is %s in the catalogue (nullable: %t) and %s in Go", name, f.Name, f.Type, f.Nullable, field)
			assertEnum(t, name+"."+f.Name, f.Enum, field, constants)
			for _, ref := range append(f.RefAny, f.Ref, f.Items.Ref) {
				assert.True(t, ref == "" || typeRows[ref] != nil, "%s.%s refers to %s, which has no row", name, f.Name, ref)
			}
		}
		assert.Equal(t, beyond[name], slices.Sorted(maps.Keys(fields)), "%s: fields beyond the contract", name)
		extra, found := reflect.TypeOf(value).FieldByName("Extra")
		assert.True(t, found && extra.Tag == `json:"-"` && extra.Type == reflect.TypeFor[map[string]json.RawMessage](), "%s.Extra", name)
	}
}

// TestFixturesAreWhole shows that the fixtures have every field of every type they hold, with a value other than zero in one of
// them, and nothing that no field names. So a field that is not read fails the table of its service.
func TestFixturesAreWhole(t *testing.T) {
	seen := map[reflect.Type]map[string]bool{}
	for file, value := range fixtureRows {
		var answer any
		require.NoError(t, json.Unmarshal(readFixture(t, file), &answer))
		markFields(t, file, reflect.TypeOf(value), answer, seen)
	}
	for kind, names := range seen {
		for name := range jsonFields(kind) {
			assert.True(t, names[name], "no fixture has a value for %s of %s", name, kind)
		}
	}
	for name, value := range typeRows {
		assert.NotEmpty(t, seen[reflect.TypeOf(value)], "no fixture has a %s", name)
	}
}

// markFields notes which fields of the type have a value.
func markFields(t *testing.T, at string, kind reflect.Type, value any, seen map[reflect.Type]map[string]bool) {
	t.Helper()
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
		kind = kind.Elem()
	}
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			markFields(t, at, kind, item, seen)
		}
	case map[string]any:
		if kind.Kind() != reflect.Struct {
			return
		}
		fields := jsonFields(kind)
		if seen[kind] == nil {
			seen[kind] = map[string]bool{}
		}
		for name, member := range v {
			field, found := fields[name]
			if assert.True(t, found, "%s: no field of %s is named %s", at, kind, name) && normal(name, member) != nil {
				seen[kind][name] = true
				markFields(t, at, field, member, seen)
			}
		}
	}
}

// TestCatalogueChecks shows that options refuse what the catalogue says a server would: required parameters that are missing,
// and two that exclude one another.
func TestCatalogueChecks(t *testing.T) {
	endpoints := readEndpoints(t)
	for _, row := range optionRows {
		var required []string
		for _, param := range endpoints[row.endpoint].params() {
			if param.Required && !slices.Contains(row.arguments, param.Name) {
				require.Error(t, checkWithout(t, row.options, param.Name), "%s: %s is required", row.endpoint, param.Name)
				required = append(required, param.Name)
			}
			for _, other := range param.ExclusiveWith {
				options := reflect.New(reflect.TypeOf(row.options).Elem())
				setFields(t, options.Elem(), param.Name, other)
				require.Error(t, checkOptions(options.Interface()), "%s: %s and %s", row.endpoint, param.Name, other)
				options.Elem().SetZero()
				setFields(t, options.Elem(), param.Name)
				require.NoError(t, checkOptions(options.Interface()), "%s: %s alone", row.endpoint, param.Name)
			}
		}
		if row.options != nil { // nothing else is
			options := reflect.New(reflect.TypeOf(row.options).Elem())
			setFields(t, options.Elem(), required...)
			var invalid *ValidationError
			if err := checkOptions(options.Interface()); errors.As(err, &invalid) { // of the sample's form
				assert.Contains(t, required, strings.TrimSuffix(invalid.Param, "[]"), row.endpoint)
			}
		}
	}
}

// TestZeroOptionsSendNothing shows that a field that is not set never reaches the wire.
func TestZeroOptionsSendNothing(t *testing.T) {
	for _, row := range optionRows {
		if row.options == nil {
			continue
		}
		if isBody(row.options) {
			body, err := json.Marshal(row.options)
			require.NoError(t, err)
			assert.JSONEq(t, "{}", string(body), row.endpoint)
			continue
		}
		values, err := encodeQuery(row.options)
		require.NoError(t, err)
		assert.Empty(t, values, row.endpoint)
	}
	for _, row := range kindRows {
		body, err := json.Marshal(row.options())
		require.NoError(t, err)
		assert.JSONEq(t, "{}", string(body), row.kind)
	}
	values, err := encodeQuery(&ListIssuesOptions{Not: &IssueNot{}})
	require.NoError(t, err)
	assert.Empty(t, values)
}

// TestTagsOmitZero looks at every struct of the package: a url tag has omitempty, a json tag of options omitempty or omitzero,
// and no field has both.
func TestTagsOmitZero(t *testing.T) {
	seen := 0
	eachStruct(t, func(name string, fields *ast.StructType) {
		for _, field := range fields.Fields.List {
			if field.Tag == nil {
				continue
			}
			text, err := strconv.Unquote(field.Tag.Value)
			require.NoError(t, err)
			inQuery, inBody := reflect.StructTag(text).Get("url"), reflect.StructTag(text).Get("json")
			at := name + " " + text
			assert.True(t, inQuery == "" || inBody == "", "%s: both forms", at)
			if inQuery != "" && inQuery != "-" {
				seen++
				assert.Contains(t, inQuery, ",omitempty", at)
			}
			if strings.HasSuffix(name, "Options") && inBody != "" && inBody != "-" {
				seen++
				assert.True(t, strings.HasSuffix(inBody, ",omitempty") || strings.HasSuffix(inBody, ",omitzero"), at)
			}
		}
	})
	assert.Greater(t, seen, 70)
}
