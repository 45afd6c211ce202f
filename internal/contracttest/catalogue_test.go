package contracttest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// optionRows has the options type of each documented endpoint, nil if it has none. A service with
// one row needs a row for each of its endpoints.
var optionRows = []struct {
	endpoint string
	options  any
	// arguments are parameters that the method has as separate arguments.
	arguments []string
}{
	{endpoint: "repositories.tree", options: &forge.TreeOptions{}},
	{endpoint: "repositories.get_blob"},
	{endpoint: "repositories.get_blob_raw"},
	{endpoint: "repositories.archive", options: &forge.ArchiveOptions{}},
	{endpoint: "repositories.compare", options: &forge.CompareOptions{}},
	{endpoint: "repositories.contributors", options: &forge.ContributorsOptions{}},
	{endpoint: "repositories.merge_base", options: &forge.MergeBaseOptions{}},
	{endpoint: "repositories.add_changelog", options: &forge.CreateChangelogOptions{}},
	{endpoint: "repositories.generate_changelog", options: &forge.GenerateChangelogOptions{}},
	{endpoint: "registry.update_visibility", options: &forge.SetRegistryVisibilityOptions{}},
	{endpoint: "registry.list_project_repositories", options: &forge.ListRegistryRepositoriesOptions{}},
	{endpoint: "registry.list_group_repositories"},
	{endpoint: "registry.get_repository", options: &forge.GetRegistryRepositoryOptions{}},
	{endpoint: "registry.delete_repository"},
	{endpoint: "registry.list_tags", options: &forge.ListRegistryTagsOptions{}},
	{endpoint: "registry.get_tag"},
	{endpoint: "registry.delete_tag"},
	{endpoint: "registry.delete_tags_bulk", options: &forge.DeleteTagsOptions{}},
	{endpoint: "registry_native.get_token", options: &forge.RegistryTokenOptions{}, arguments: []string{"service"}}, // a constant
	{endpoint: "registry_native.delete_manifest", options: &forge.DeleteManifestOptions{}},
	{endpoint: "registry_native.delete_tag_reference"},
	{endpoint: "registry_native.catalog"},
	{endpoint: "resource_groups.list"},
	{endpoint: "resource_groups.get"},
	{endpoint: "resource_groups.list_upcoming_jobs"},
	{endpoint: "resource_groups.update", options: &forge.UpdateResourceGroupOptions{}},
	{endpoint: "secure_files.list"},
	{endpoint: "secure_files.get"},
	{endpoint: "secure_files.create", options: &forge.UploadSecureFileOptions{}, arguments: []string{"file"}}, // a separate part of the multipart body
	{endpoint: "secure_files.download"},
	{endpoint: "secure_files.delete"},
	{endpoint: "approval_settings.get_group"},
	{endpoint: "approval_settings.update_group", options: &forge.UpdateApprovalSettingsOptions{}},
	{endpoint: "approval_settings.get_project"},
	{endpoint: "approval_settings.update_project", options: &forge.UpdateApprovalSettingsOptions{}},
	{endpoint: "audit_events.list_instance", options: &forge.ListAuditEventsOptions{}},
	{endpoint: "audit_events.get_instance"},
	{endpoint: "audit_events.list_group", options: &forge.ListAuditEventsOptions{}},
	{endpoint: "audit_events.get_group"},
	{endpoint: "audit_events.list_project", options: &forge.ListAuditEventsOptions{}},
	{endpoint: "audit_events.get_project"},
	{endpoint: "namespaces.list", options: &forge.ListNamespacesOptions{}},
	{endpoint: "namespaces.get"},
	{endpoint: "namespaces.exists", options: &forge.NamespaceExistsOptions{}},
	{endpoint: "issues.list", options: &forge.ListIssuesOptions{}},
	{endpoint: "issues.list_group", options: &forge.ListIssuesOptions{}},
	{endpoint: "issues.subscribe"},
	{endpoint: "issues.unsubscribe"},
	{endpoint: "issues.create_todo"},
	{endpoint: "issues.promote_by_note", options: &forge.PromoteIssueOptions{}},
	{endpoint: "issues.set_time_estimate", options: &forge.SetTimeEstimateOptions{}},
	{endpoint: "issues.reset_time_estimate"},
	{endpoint: "issues.add_spent_time", options: &forge.AddSpentTimeOptions{}},
	{endpoint: "issues.reset_spent_time"},
	{endpoint: "issues.time_stats"},
	{endpoint: "issues.related_merge_requests"},
	{endpoint: "merge_requests.list", options: &forge.ListMergeRequestsOptions{}},
	{endpoint: "merge_requests.list_project", options: &forge.ListMergeRequestsOptions{}},
	{endpoint: "merge_requests.list_blocks"},
	{endpoint: "merge_requests.create_block", options: &forge.CreateBlockOptions{}},
	{endpoint: "merge_requests.delete_block"},
	{endpoint: "merge_requests.list_blockees"},
	{endpoint: "merge_requests.changes", options: &forge.ChangesOptions{}},
	{endpoint: "merge_requests.subscribe"},
	{endpoint: "merge_requests.unsubscribe"},
	{endpoint: "merge_requests.create_todo"},
	{endpoint: "merge_requests.list_versions"},
	{endpoint: "merge_requests.get_version", options: &forge.DiffVersionOptions{}},
	{endpoint: "users.list", options: &forge.ListUsersOptions{}},
	{endpoint: "users.get", options: &forge.GetUserOptions{}},
	{endpoint: "users.current", options: &forge.CurrentUserOptions{}},
	{endpoint: "emails.list_current"},
	{endpoint: "emails.list_user"},
	{endpoint: "emails.get_current"},
	{endpoint: "emails.add_current", options: &forge.CreateEmailOptions{}},
	{endpoint: "emails.add_user", options: &forge.CreateEmailForUserOptions{}},
	{endpoint: "emails.delete_current"},
	{endpoint: "emails.delete_user"},
	{endpoint: "runners.list", options: &forge.ListRunnersOptions{}},
	{endpoint: "runners.list_all", options: &forge.ListRunnersOptions{}},
	{endpoint: "runners.get"},
	{endpoint: "runners.update", options: &forge.UpdateRunnerOptions{}},
	{endpoint: "runners.pause", options: &forge.PauseRunnerOptions{}},
	{endpoint: "runners.list_jobs", options: &forge.ListRunnerJobsOptions{}},
	{endpoint: "runners.list_managers"},
	{endpoint: "runners.list_project", options: &forge.ListRunnersOptions{}},
	{endpoint: "placeholder_reassignments.get"},
	{endpoint: "placeholder_reassignments.submit", arguments: []string{"file"}},
	{endpoint: "settings.get"},
	{endpoint: "settings.update", options: &forge.UpdateSettingsOptions{}},
	{endpoint: "integrations.list"},
	{endpoint: "integrations.set", arguments: []string{"use_inherited_settings"}}, // TestIntegrationKinds
	{endpoint: "integrations.disable"},
	{endpoint: "integrations.get"},
}

// typeRows has the Go type of each type of the catalogue.
var typeRows = map[string]any{
	"TreeEntry":              forge.TreeEntry{},
	"Blob":                   forge.Blob{},
	"Comparison":             forge.Comparison{},
	"ComparisonCommit":       forge.ComparisonCommit{},
	"Diff":                   forge.Diff{},
	"Contributor":            forge.Contributor{},
	"MergeBaseCommit":        forge.Commit{},
	"ChangelogData":          forge.Changelog{},
	"RegistryRepository":     forge.RegistryRepository{},
	"RegistryTagSummary":     forge.RegistryTag{},
	"RegistryTagDetail":      forge.RegistryTagDetail{},
	"RegistryProject":        forge.RegistryProject{},
	"RegistryToken":          forge.RegistryToken{},
	"ResourceGroup":          forge.ResourceGroup{},
	"UpcomingJob":            forge.UpcomingJob{},
	"UpcomingJobProject":     forge.UpcomingJobProject{},
	"JobPipeline":            forge.JobPipeline{},
	"SecureFile":             forge.SecureFile{},
	"SecureFileMetadata":     forge.SecureFileMetadata{},
	"CertificateName":        forge.CertificateName{},
	"ApprovalSettings":       forge.ApprovalSettings{},
	"ApprovalSettingValue":   forge.ApprovalSetting{},
	"AuditEvent":             forge.AuditEvent{},
	"AuditEventDetails":      forge.AuditEventDetails{},
	"Namespace":              forge.Namespace{},
	"NamespaceAvailability":  forge.NamespaceAvailability{},
	"UserSummary":            forge.UserSummary{},
	"Issue":                  forge.Issue{},
	"LabelDetails":           forge.Label{},
	"References":             forge.References{},
	"TaskCompletionStatus":   forge.TaskCompletionStatus{},
	"IssueLinks":             forge.IssueLinks{},
	"Epic":                   forge.Epic{},
	"Iteration":              forge.Iteration{},
	"Milestone":              forge.Milestone{},
	"TimeStats":              forge.TimeStats{},
	"Todo":                   forge.Todo{},
	"TodoProject":            forge.TodoProject{},
	"Note":                   forge.Note{},
	"NoteCommandsChanges":    forge.NoteCommandsChanges{},
	"MergeRequest":           forge.MergeRequest{},
	"MergeRequestPipeline":   forge.MergeRequestPipeline{},
	"DiffRefs":               forge.DiffRefs{},
	"MergeRequestDependency": forge.MergeRequestDependency{},
	"MergeRequestChanges":    forge.MergeRequestChanges{},
	"DiffVersion":            forge.DiffVersion{},
	"VersionCommit":          forge.Commit{},
	"VersionDiff":            forge.Diff{},
	"User":                   forge.User{},
	"UserIdentity":           forge.UserIdentity{},
	"ScimIdentity":           forge.SCIMIdentity{},
	"Email":                  forge.Email{},
	"Runner":                 forge.Runner{},
	"RunnerProject":          forge.RunnerProject{},
	"RunnerManager":          forge.RunnerManager{},
	"RunnerJob":              forge.RunnerJob{},
	"RunnerJobPipeline":      forge.RunnerJobPipeline{},
	"RunnerJobProject":       forge.RunnerJobProject{},
	"Message":                forge.Message{},
	"JobCommit":              forge.Commit{},
	"UserProfile":            forge.UserProfile{},

	"ApplicationSettings":      forge.ApplicationSettings{},
	"BranchProtectionDefaults": forge.BranchProtectionDefaults{},
	"BranchAccess":             forge.BranchAccess{},
	"IntegrationSummary":       forge.IntegrationSummary{},
}

// fixtureRows has the Go type of each fixture, or of its items.
var fixtureRows = map[string]any{
	"repositories/tree.json":                 forge.TreeEntry{},
	"repositories/tree_2.json":               forge.TreeEntry{},
	"repositories/blob.json":                 forge.Blob{},
	"repositories/comparison.json":           forge.Comparison{},
	"repositories/comparison_same.json":      forge.Comparison{},
	"repositories/contributors.json":         forge.Contributor{},
	"repositories/merge_base.json":           forge.Commit{},
	"repositories/changelog.json":            forge.Changelog{},
	"registry/project.json":                  forge.RegistryProject{},
	"registry/repository.json":               forge.RegistryRepository{},
	"registry/repositories.json":             forge.RegistryRepository{},
	"registry/repositories_group.json":       forge.RegistryRepository{},
	"registry/tags.json":                     forge.RegistryTag{},
	"registry/tags_2.json":                   forge.RegistryTag{},
	"registry/tag.json":                      forge.RegistryTagDetail{},
	"registry_native/token.json":             forge.RegistryToken{},
	"resource_groups/resource_groups.json":   forge.ResourceGroup{},
	"resource_groups/resource_group.json":    forge.ResourceGroup{},
	"resource_groups/updated.json":           forge.ResourceGroup{},
	"resource_groups/upcoming_jobs.json":     forge.UpcomingJob{},
	"secure_files/secure_files.json":         forge.SecureFile{},
	"secure_files/secure_file.json":          forge.SecureFile{},
	"secure_files/uploaded.json":             forge.SecureFile{},
	"approval_settings/group.json":           forge.ApprovalSettings{},
	"approval_settings/project.json":         forge.ApprovalSettings{},
	"audit_events/audit_events.json":         forge.AuditEvent{},
	"audit_events/audit_event.json":          forge.AuditEvent{},
	"audit_events/group.json":                forge.AuditEvent{},
	"audit_events/group_event.json":          forge.AuditEvent{},
	"audit_events/project.json":              forge.AuditEvent{},
	"audit_events/project_event.json":        forge.AuditEvent{},
	"namespaces/namespaces.json":             forge.Namespace{},
	"namespaces/namespace.json":              forge.Namespace{},
	"namespaces/exists.json":                 forge.NamespaceAvailability{},
	"issues/issues.json":                     forge.Issue{},
	"issues/subscribed.json":                 forge.Issue{},
	"issues/unsubscribed.json":               forge.Issue{},
	"issues/todo.json":                       forge.Todo{},
	"issues/note.json":                       forge.Note{},
	"issues/time_stats.json":                 forge.TimeStats{},
	"issues/time_stats_unestimated.json":     forge.TimeStats{},
	"issues/time_stats_unspent.json":         forge.TimeStats{},
	"issues/merge_requests.json":             forge.MergeRequest{},
	"merge_requests/merge_requests.json":     forge.MergeRequest{},
	"merge_requests/blocks.json":             forge.MergeRequestDependency{},
	"merge_requests/blockees.json":           forge.MergeRequestDependency{},
	"merge_requests/block.json":              forge.MergeRequestDependency{},
	"merge_requests/changes.json":            forge.MergeRequestChanges{},
	"merge_requests/changes_cut.json":        forge.MergeRequestChanges{},
	"merge_requests/subscribed.json":         forge.MergeRequest{},
	"merge_requests/unsubscribed.json":       forge.MergeRequest{},
	"merge_requests/todo.json":               forge.Todo{},
	"merge_requests/versions.json":           forge.DiffVersion{},
	"merge_requests/version.json":            forge.DiffVersion{},
	"users/users.json":                       forge.User{},
	"users/user.json":                        forge.User{},
	"users/current.json":                     forge.User{},
	"users/user_bare.json":                   forge.User{},
	"emails/emails.json":                     forge.Email{},
	"emails/email.json":                      forge.Email{},
	"emails/created.json":                    forge.Email{},
	"runners/runners.json":                   forge.Runner{},
	"runners/runner.json":                    forge.Runner{},
	"runners/runner_paused.json":             forge.Runner{},
	"runners/managers.json":                  forge.RunnerManager{},
	"runners/jobs.json":                      forge.RunnerJob{},
	"placeholder_reassignments/message.json": forge.Message{},
	"settings/settings.json":                 forge.ApplicationSettings{},
	"integrations/integrations.json":         forge.IntegrationSummary{},
	"integrations/integration.json":          forge.Integration{},
}

// beyond lists parameters and fields that deployed servers have and the contract does not, by
// options type or catalogue type.
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
	"UpdateSettingsOptions":    slices.Sorted(slices.Values(slices.Concat(catalogue.UnnamedSettings(), catalogue.SettingDependencies()))),
	"IntegrationSummary":       {"incident_events"},
}

// changesBeyond returns the fields of a merge request that the contract does not show for its
// changes, and the field of the changes.
func changesBeyond() []string {
	fields := catalogue.JSONFields(reflect.TypeFor[forge.MergeRequest]())
	fields["changes"] = nil
	return slices.Sorted(maps.Keys(fields))
}

// TestCatalogueParameters compares options with the catalogue: with every field set, the options
// send exactly the documented parameters, under the same wire names.
func TestCatalogueParameters(t *testing.T) {
	endpoints := catalogue.Endpoints(t)
	documented := map[string]map[string]bool{} // by options type
	sent := map[string]map[string]reflect.Type{}
	for _, row := range optionRows {
		endpoint, known := endpoints[row.endpoint]
		require.True(t, known, "%s is not in the catalogue", row.endpoint)
		name, fields := "", map[string]reflect.Type{}
		if row.options != nil {
			name, fields = reflect.TypeOf(row.options).Elem().Name(), cases.WireFields(t, row.options)
			sent[name] = fields
		}
		if documented[name] == nil {
			documented[name] = map[string]bool{}
		}
		for _, param := range endpoint.Params() {
			wire := param.Wire
			if cases.IsBody(row.options) {
				wire = param.Name
			}
			documented[name][wire] = true
			field, reachable := fields[wire]
			if slices.Contains(row.arguments, wire) {
				continue
			}
			if assert.True(t, reachable, "%s: no field of %s sends %s", row.endpoint, name, wire) {
				assert.True(t, fitsParam(param.Type, field), "%s: %s is %s in the catalogue and %s in Go", row.endpoint, wire, param.Type, field)
				assertEnum(t, row.endpoint+" "+wire, param.Enum, field)
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

// TestCatalogueRows checks that each endpoint and each type of a service has a row.
func TestCatalogueRows(t *testing.T) {
	endpoints := catalogue.Endpoints(t)
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
			assert.NotNil(t, typeRows[e.Response.Type], "%s returns %s, which has no row", e.ID, e.Response.Type)
		}
	}
}

// TestCatalogueFields compares the response types with the catalogue, field by field.
func TestCatalogueFields(t *testing.T) {
	var types map[string]struct{ Fields []catalogue.Field }
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/types.json"), &types))
	beyond := maps.Clone(beyond)
	beyond["ApplicationSettings"] = settingsBeyondResponses(t)
	for name, value := range typeRows {
		require.Contains(t, types, name)
		fields := catalogue.JSONFields(reflect.TypeOf(value))
		for _, f := range types[name].Fields {
			f.Name = catalogue.ShownName(f.Name)
			field, found := fields[f.Name]
			delete(fields, f.Name)
			if !assert.True(t, found, "%s.%s has no field", name, f.Name) {
				continue
			}
			settings := name == "ApplicationSettings" // TestSettingKinds checks which of them may be omitted
			assert.True(t, settings || fitsField(f, field), "%s.%s is %s in the catalogue (nullable: %t) and %s in Go", name, f.Name, f.Type, f.Nullable, field)
			assertEnum(t, name+"."+f.Name, f.Enum, field)
			for _, ref := range append(f.RefAny, f.Ref, f.Items.Ref) {
				assert.True(t, ref == "" || typeRows[ref] != nil, "%s.%s refers to %s, which has no row", name, f.Name, ref)
			}
		}
		assert.Equal(t, beyond[name], slices.Sorted(maps.Keys(fields)), "%s: fields beyond the contract", name)
		extra, found := reflect.TypeOf(value).FieldByName("Extra")
		assert.True(t, found && extra.Tag == `json:"-"` && extra.Type == reflect.TypeFor[map[string]json.RawMessage](), "%s.Extra", name)
	}
}

// TestFixturesAreComplete checks the fixtures: each field of each of their types has a nonzero
// value in at least one fixture, and each key has a field. So a field that is not decoded fails the
// table test of its service.
func TestFixturesAreComplete(t *testing.T) {
	seen := map[reflect.Type]map[string]bool{}
	for file, value := range fixtureRows {
		var answer any
		require.NoError(t, json.Unmarshal(catalogue.Fixture(t, file), &answer))
		markFields(t, file, reflect.TypeOf(value), answer, seen)
	}
	for kind, names := range seen {
		for name := range catalogue.JSONFields(kind) {
			assert.True(t, names[name], "no fixture has a value for %s of %s", name, kind)
		}
	}
	for name, value := range typeRows {
		assert.NotEmpty(t, seen[reflect.TypeOf(value)], "no fixture has a %s", name)
	}
}

// markFields records which fields of the type have a value.
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
		fields := catalogue.JSONFields(kind)
		if seen[kind] == nil {
			seen[kind] = map[string]bool{}
		}
		for name, member := range v {
			field, found := fields[name]
			if assert.True(t, found, "%s: no field of %s is named %s", at, kind, name) && catalogue.WithoutZeros(name, member) != nil {
				seen[kind][name] = true
				markFields(t, at, field, member, seen)
			}
		}
	}
}

// TestCatalogueChecks checks that options refuse the same as a server by the catalogue: missing
// required parameters, and two parameters that exclude each other.
func TestCatalogueChecks(t *testing.T) {
	endpoints := catalogue.Endpoints(t)
	for _, row := range optionRows {
		var required []string
		for _, param := range endpoints[row.endpoint].Params() {
			byDefault := row.endpoint == "issues.promote_by_note" && param.Name == "body" // Promote sends the command
			if param.Required && !byDefault && !slices.Contains(row.arguments, param.Name) {
				require.Error(t, cases.CheckWithout(t, row.options, param.Name), "%s: %s is required", row.endpoint, param.Name)
				required = append(required, param.Name)
			}
			for _, other := range param.ExclusiveWith {
				options := reflect.New(reflect.TypeOf(row.options).Elem())
				cases.SetFields(t, options.Elem(), param.Name, other)
				require.Error(t, cases.Check(t, options.Interface()), "%s: %s and %s", row.endpoint, param.Name, other)
				options.Elem().SetZero()
				cases.SetFields(t, options.Elem(), param.Name)
				require.NoError(t, cases.Check(t, options.Interface()), "%s: %s alone", row.endpoint, param.Name)
			}
		}
		if row.options != nil { // nothing else is
			options := reflect.New(reflect.TypeOf(row.options).Elem())
			cases.SetFields(t, options.Elem(), required...)
			var invalid *forge.ValidationError
			if err := cases.Check(t, options.Interface()); errors.As(err, &invalid) { // of the sample's form
				assert.Contains(t, slices.Concat(required, row.arguments), strings.TrimSuffix(invalid.Param, "[]"), row.endpoint)
			}
		}
	}
}

// TestZeroOptionsSendNothing checks that a field that is not set is never sent.
func TestZeroOptionsSendNothing(t *testing.T) {
	for _, row := range optionRows {
		if row.options == nil {
			continue
		}
		if cases.IsBody(row.options) {
			body, err := json.Marshal(row.options)
			require.NoError(t, err)
			assert.JSONEq(t, "{}", string(body), row.endpoint)
			continue
		}
		options := row.options
		if _, upload := options.(*forge.UploadSecureFileOptions); upload { // an upload needs its file
			options = &forge.UploadSecureFileOptions{File: forge.FileBytes(nil).Named("f")}
		}
		byMethod := map[string][]string{"secure_files.create": {"name"}, "runners.pause": {"paused"}}[row.endpoint]
		assert.Subset(t, slices.Concat(cases.ClientParams, byMethod), cases.SentNames(t, options), row.endpoint)
	}
	for _, row := range cases.Kinds {
		body, err := json.Marshal(row.Options())
		require.NoError(t, err)
		assert.JSONEq(t, "{}", string(body), row.Kind)
	}
	assert.Subset(t, cases.ClientParams, cases.SentNames(t, &forge.ListIssuesOptions{Not: &forge.IssueNot{}}))
}

// TestTagsOmitZero checks every struct of the package: a url tag has omitempty, a json tag of
// options has omitempty or omitzero, and no field has both tags.
func TestTagsOmitZero(t *testing.T) {
	seen := 0
	eachStruct(t, func(name string, fields *ast.StructType) {
		for _, field := range fields.Fields.List {
			tag := tagOf(t, field)
			inQuery, inBody := tag.Get("url"), tag.Get("json")
			at := fmt.Sprint(name, " ", tag)
			assert.True(t, inQuery == "" || inBody == "", "%s: it has a url tag and a json tag", at)
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

// settingsBeyondResponses returns the settings that the contract does not show in responses.
func settingsBeyondResponses(t *testing.T) (names []string) {
	t.Helper()
	for name, e := range catalogue.Settings(t) {
		if e.Field == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
