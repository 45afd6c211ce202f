// Package cases calls every documented endpoint through its typed method, with a distinct value in
// each field of its options. The tests of the module and the fault matrix share it.
package cases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// Method is an endpoint of the catalogue with its typed method.
type Method struct {
	Endpoint string
	Func     any
}

// Methods lists the typed method of each documented endpoint. The types of the methods show their
// arguments.
var Methods = []Method{
	{"registry.update_visibility", (*forge.RegistryService).SetVisibility},
	{"registry.list_project_repositories", (*forge.RegistryService).ListForProject},
	{"registry.list_group_repositories", (*forge.RegistryService).ListForGroup},
	{"registry.get_repository", (*forge.RegistryService).Get},
	{"registry.delete_repository", (*forge.RegistryService).Delete},
	{"registry.list_tags", (*forge.RegistryService).ListTags},
	{"registry.get_tag", (*forge.RegistryService).GetTag},
	{"registry.delete_tag", (*forge.RegistryService).DeleteTag},
	{"registry.delete_tags_bulk", (*forge.RegistryService).DeleteTags},
	{"registry_native.get_token", (*forge.RegistryNativeService).GetToken},
	{"registry_native.delete_manifest", (*forge.RegistryNativeService).DeleteManifest},
	{"registry_native.delete_tag_reference", (*forge.RegistryNativeService).DeleteTagReference}, //nolint:staticcheck // deprecated, and documented
	{"registry_native.catalog", (*forge.RegistryNativeService).ListCatalog},
	{"resource_groups.list", (*forge.ResourceGroupsService).List},
	{"resource_groups.get", (*forge.ResourceGroupsService).Get},
	{"resource_groups.list_upcoming_jobs", (*forge.ResourceGroupsService).ListUpcomingJobs},
	{"resource_groups.update", (*forge.ResourceGroupsService).Update},
	{"repositories.tree", (*forge.RepositoriesService).ListTree},
	{"repositories.get_blob", (*forge.RepositoriesService).GetBlob},
	{"repositories.get_blob_raw", (*forge.RepositoriesService).DownloadBlob},
	{"repositories.archive", (*forge.RepositoriesService).Archive},
	{"repositories.compare", (*forge.RepositoriesService).Compare},
	{"repositories.contributors", (*forge.RepositoriesService).ListContributors},
	{"repositories.merge_base", (*forge.RepositoriesService).GetMergeBase},
	{"repositories.add_changelog", (*forge.RepositoriesService).CreateChangelog},
	{"repositories.generate_changelog", (*forge.RepositoriesService).GenerateChangelog},
	{"secure_files.list", (*forge.SecureFilesService).List},
	{"secure_files.get", (*forge.SecureFilesService).Get},
	{"secure_files.create", (*forge.SecureFilesService).Upload},
	{"secure_files.download", (*forge.SecureFilesService).Download},
	{"secure_files.delete", (*forge.SecureFilesService).Delete},
	{"approval_settings.get_group", (*forge.ApprovalSettingsService).GetForGroup},
	{"approval_settings.update_group", (*forge.ApprovalSettingsService).UpdateForGroup},
	{"approval_settings.get_project", (*forge.ApprovalSettingsService).GetForProject},
	{"approval_settings.update_project", (*forge.ApprovalSettingsService).UpdateForProject},
	{"namespaces.list", (*forge.NamespacesService).List},
	{"namespaces.get", (*forge.NamespacesService).Get},
	{"namespaces.exists", (*forge.NamespacesService).Exists},
	{"audit_events.list_instance", (*forge.AuditEventsService).List},
	{"audit_events.get_instance", (*forge.AuditEventsService).Get},
	{"audit_events.list_group", (*forge.AuditEventsService).ListForGroup},
	{"audit_events.get_group", (*forge.AuditEventsService).GetForGroup},
	{"audit_events.list_project", (*forge.AuditEventsService).ListForProject},
	{"audit_events.get_project", (*forge.AuditEventsService).GetForProject},
	{"issues.list", (*forge.IssuesService).List},
	{"issues.list_group", (*forge.IssuesService).ListForGroup},
	{"issues.subscribe", (*forge.IssuesService).Subscribe},
	{"issues.unsubscribe", (*forge.IssuesService).Unsubscribe},
	{"issues.create_todo", (*forge.IssuesService).CreateTodo},
	{"issues.promote_by_note", (*forge.IssuesService).Promote},
	{"issues.set_time_estimate", (*forge.IssuesService).SetTimeEstimate},
	{"issues.reset_time_estimate", (*forge.IssuesService).ResetTimeEstimate},
	{"issues.add_spent_time", (*forge.IssuesService).AddSpentTime},
	{"issues.reset_spent_time", (*forge.IssuesService).ResetSpentTime},
	{"issues.time_stats", (*forge.IssuesService).GetTimeStats},
	{"issues.related_merge_requests", (*forge.IssuesService).ListRelatedMergeRequests},
	{"merge_requests.list", (*forge.MergeRequestsService).List},
	{"merge_requests.list_project", (*forge.MergeRequestsService).ListForProject},
	{"merge_requests.list_blocks", (*forge.MergeRequestsService).ListBlocks},
	{"merge_requests.create_block", (*forge.MergeRequestsService).CreateBlock},
	{"merge_requests.delete_block", (*forge.MergeRequestsService).DeleteBlock},
	{"merge_requests.list_blockees", (*forge.MergeRequestsService).ListBlockees},
	{"merge_requests.changes", (*forge.MergeRequestsService).GetChanges}, //nolint:staticcheck // deprecated, and documented
	{"merge_requests.subscribe", (*forge.MergeRequestsService).Subscribe},
	{"merge_requests.unsubscribe", (*forge.MergeRequestsService).Unsubscribe},
	{"merge_requests.create_todo", (*forge.MergeRequestsService).CreateTodo},
	{"merge_requests.list_versions", (*forge.MergeRequestsService).ListVersions},
	{"merge_requests.get_version", (*forge.MergeRequestsService).GetVersion},
	{"users.list", (*forge.UsersService).List},
	{"users.get", (*forge.UsersService).Get},
	{"users.current", (*forge.UsersService).GetCurrent},
	{"emails.list_current", (*forge.EmailsService).List},
	{"emails.list_user", (*forge.EmailsService).ListForUser},
	{"emails.get_current", (*forge.EmailsService).Get},
	{"emails.add_current", (*forge.EmailsService).Create},
	{"emails.add_user", (*forge.EmailsService).CreateForUser},
	{"emails.delete_current", (*forge.EmailsService).Delete},
	{"emails.delete_user", (*forge.EmailsService).DeleteForUser},
	{"runners.list", (*forge.RunnersService).List},
	{"runners.list_all", (*forge.RunnersService).ListAll},
	{"runners.get", (*forge.RunnersService).Get},
	{"runners.update", (*forge.RunnersService).Update},
	{"runners.pause", (*forge.RunnersService).Pause},
	{"runners.list_jobs", (*forge.RunnersService).ListJobs},
	{"runners.list_managers", (*forge.RunnersService).ListManagers},
	{"runners.list_project", (*forge.RunnersService).ListForProject},
	{"placeholder_reassignments.get", (*forge.PlaceholderReassignmentsService).List},
	{"placeholder_reassignments.get", (*forge.PlaceholderReassignmentsService).Download},
	{"placeholder_reassignments.submit", (*forge.PlaceholderReassignmentsService).Upload},
	{"settings.get", (*forge.SettingsService).Get},
	{"settings.update", (*forge.SettingsService).Update},
	{"integrations.list", (*forge.IntegrationsService).List},
	{"integrations.get", (*forge.IntegrationsService).Get},
	{"integrations.set", (*forge.IntegrationsService).Set},
	{"integrations.disable", (*forge.IntegrationsService).Disable},
}

// All returns the methods of all endpoints, integrations.set once for each kind.
func All(t *testing.T) []*Case {
	t.Helper()
	var cases []*Case
	endpoints, deployed := catalogue.Endpoints(t), deployedParameters(t)
	for _, row := range Methods {
		endpoint, documented := endpoints[row.Endpoint]
		if !assert.True(t, documented, "%s is not in the catalogue", row.Endpoint) {
			continue
		}
		c := &Case{Name: row.Endpoint, Endpoint: endpoint, Method: reflect.ValueOf(row.Func)}
		for in := range c.Method.Type().Ins() {
			if in.Kind() == reflect.Pointer && in != c.Method.Type().In(0) && in != reflect.TypeFor[*forge.SecureFile]() {
				c.Options = in.Elem()
			}
		}
		c.Beyond = deployed[row.Endpoint]
		if row.Endpoint == "settings.update" {
			c.Beyond = append(catalogue.UnnamedSettings(), catalogue.SettingDependencies()...)
		}
		if len(endpoint.Kinds) == 0 {
			cases = append(cases, c)
			continue
		}
		for i, kind := range endpoint.Kinds {
			one, row := *c, Kinds[i]
			one.Name += " " + kind.ID
			one.Endpoint.Body, one.Kind, one.Slug = kind.Params, row.Kind, cmp.Or(kind.Slug, string(row.Kind))
			one.Options, one.Beyond = reflect.TypeOf(row.Options()).Elem(), row.Beyond
			cases = append(cases, &one)
		}
	}
	for _, c := range cases {
		if c.Options != nil {
			c.Foreign = foreignKeys(t, c)
		}
	}
	return cases
}

// foreignKeys returns the fields of query options that neither the catalogue nor deployed servers
// have on the endpoint.
func foreignKeys(t *testing.T, c *Case) map[string]bool {
	t.Helper()
	foreign := map[string]bool{}
	if c.Endpoint.Method != http.MethodGet {
		return foreign
	}
	for wire := range WireFields(t, reflect.New(c.Options).Interface()) {
		foreign[NameKey(wire)] = true
	}
	for _, param := range c.Endpoint.Params() {
		delete(foreign, NameKey(param.Wire))
	}
	for _, wire := range c.Beyond {
		delete(foreign, NameKey(wire))
	}
	return foreign
}

// deployedParameters returns the query parameters that deployed servers have beyond the contract,
// by endpoint.
func deployedParameters(t *testing.T) map[string][]string {
	t.Helper()
	var rows []struct {
		ID    string
		Query []string
	}
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/deployed_parameters.json"), &rows))
	all := map[string][]string{}
	for _, row := range rows {
		all[row.ID] = row.Query
	}
	return all
}

// Case is a typed method and its endpoint.
type Case struct {
	Name     string
	Endpoint catalogue.Endpoint
	Method   reflect.Value
	Options  reflect.Type // nil if there are none
	Kind     forge.IntegrationName
	Slug     string
	Foreign  map[string]bool // parameters of shared options that the endpoint lacks
	Beyond   []string        // parameters that deployed servers have beyond the contract
}

// Consume reads the results of a method to the end, and returns the error.
func Consume(results []reflect.Value) error {
	last := results[len(results)-1]
	if err, failed := last.Interface().(error); failed {
		return err
	}
	if last.Kind() == reflect.Func {
		for _, err := range last.Seq2() {
			if failure, failed := err.Interface().(error); failed {
				return failure
			}
		}
		return nil
	}
	if download, is := results[0].Interface().(*forge.Download); is {
		defer download.Close()
		_, err := io.Copy(io.Discard, download)
		return err
	}
	return nil
}

var pathParams = regexp.MustCompile(`\[\.:(\w+)\]|:(\w+)`)

// Arguments returns the arguments of a call of the method, and the path of its request.
func (c *Case) Arguments(t *testing.T, client *forge.Client, options *Filled) (in []reflect.Value, path string) {
	t.Helper()
	var segments []string
	next := func() string { return pathParams.FindAllStringSubmatch(c.Endpoint.Path, -1)[len(segments)][2] }
	for kind := range c.Method.Type().Ins() {
		var arg any
		id := int64(1001 + len(segments))
		switch {
		case len(in) == 0:
			arg = catalogue.Service(client, kind)
		case len(in) == 1:
			arg = t.Context()
		case kind == reflect.TypeFor[[]forge.RequestOption]():
			continue
		case kind == reflect.TypeFor[forge.Ref]():
			arg, segments = forge.Path("group/app"), append(segments, "group%2Fapp")
		case kind == reflect.TypeFor[int64]():
			arg, segments = id, append(segments, strconv.FormatInt(id, 10))
		case kind == reflect.TypeFor[*forge.SecureFile]():
			arg, segments = &forge.SecureFile{ID: id}, append(segments, strconv.FormatInt(id, 10))
		case kind == reflect.TypeFor[string]() && next() == "image_path":
			arg, segments = "group/app+β", append(segments, "group/app+%CE%B2")
		case kind == reflect.TypeFor[string]() && next() == "namespace": // one segment
			arg, segments = "release 1.0 +β?", append(segments, "release%201.0%20+%CE%B2%3F")
		case kind == reflect.TypeFor[string]():
			arg, segments = "release/1.0 +β?", append(segments, "release%2F1.0%20+%CE%B2%3F")
		case kind == reflect.TypeFor[forge.IntegrationName]():
			arg, segments = forge.IntegrationSlug("by/hand"), append(segments, "by%2Fhand")
		case kind == reflect.TypeFor[forge.IntegrationOptions]():
			segments = append(segments, c.Slug)
			arg = options.Value.Addr().Interface()
		case kind == reflect.TypeFor[forge.File]():
			file, sent := sampleFile()
			arg, options.Sent["file"] = file, sent
		default:
			arg = options.Value.Addr().Interface()
		}
		in = append(in, reflect.ValueOf(arg))
	}
	path = pathParams.ReplaceAllStringFunc(c.Endpoint.Path, func(param string) string {
		if strings.HasPrefix(param, "[.:") {
			return "." + url.PathEscape(options.Sent[NameKey(strings.Trim(param, "[.:]"))].Texts[0])
		}
		require.NotEmpty(t, segments, "%s has no argument", param)
		segment := segments[0]
		segments = segments[1:]
		return segment
	})
	require.Empty(t, segments, "arguments that are in no path")
	return in, path
}

const Token, User, Content = "conformance-token", "robot", "content\n"

// Vocabulary returns a vocabulary that maps each neutral word to itself. Names that the contract
// omits are then the catalogue's placeholders.
func Vocabulary() forge.Vocabulary {
	var words strings.Builder
	for line := range strings.Lines(string(forge.GitLab)) {
		entry, _, is := strings.Cut(line, " = ")
		if !is {
			continue
		}
		kind, word, _ := strings.Cut(entry, " ")
		if slug, named := forge.IntegrationKind(word).Slug(""); named && kind == "slug" {
			word = slug
		}
		fmt.Fprintf(&words, "%s = %s\n", entry, word)
	}
	return forge.Vocabulary(words.String())
}

// LeastResponse returns the shortest response that the catalogue allows for the endpoint.
func LeastResponse(e catalogue.Endpoint) (status int, body string) {
	if len(e.Response.Status) == 0 {
		return http.StatusNoContent, ""
	}
	status = e.Response.Status[0]
	switch e.Response.Kind {
	case "none":
		return status, ""
	case "array":
		return status, "[{}]"
	case "csv":
		return status, "Source host,Import type,Source user identifier,Source user name,Source username,Platform username,Platform public email\n"
	case "raw":
		return status, Content
	}
	switch e.ID {
	case "registry_native.catalog":
		return status, `{"repositories":["group/app"]}`
	case "registry_native.get_token":
		return status, `{"token":"` + Token + `"}`
	}
	return status, "{}"
}

// Integration is a kind, its options, and the parameters of deployed servers beyond the contract.
type Integration struct {
	Kind    forge.IntegrationKind
	Options func() forge.IntegrationOptions
	Beyond  []string
}

// Kinds lists the options of each kind, in the order of the contract, and the parameters of
// deployed servers beyond it.
var Kinds = []Integration{
	{forge.IntegrationTaskTracker, func() forge.IntegrationOptions { return &forge.TaskTrackerOptions{} }, nil},
	{forge.IntegrationProjectTracker, func() forge.IntegrationOptions { return &forge.ProjectTrackerOptions{} }, nil},
	{forge.IntegrationBuildServer, func() forge.IntegrationOptions { return &forge.BuildServerOptions{} }, nil},
	{forge.IntegrationIssueTracker, func() forge.IntegrationOptions { return &forge.IssueTrackerOptions{} }, []string{"push_events"}},
	{forge.IntegrationPipelineService, func() forge.IntegrationOptions { return &forge.PipelineServiceOptions{} }, nil},
	{forge.IntegrationChatClassic, func() forge.IntegrationOptions { return &forge.ChatClassicOptions{} }, nil},
	{forge.IntegrationTwoURLTrackerA, func() forge.IntegrationOptions { return &forge.TwoURLTrackerAOptions{} }, []string{"push_events"}},
	{forge.IntegrationWikiWorkspace, func() forge.IntegrationOptions { return &forge.WikiWorkspaceOptions{} }, nil},
	{forge.IntegrationCustomIssueTracker, func() forge.IntegrationOptions { return &forge.CustomIssueTrackerOptions{} }, []string{"push_events"}},
	{forge.IntegrationMonitoring, func() forge.IntegrationOptions { return &forge.MonitoringOptions{} }, []string{"<mon>_ci_visibility"}},
	{forge.IntegrationTestGeneration, func() forge.IntegrationOptions { return &forge.TestGenerationOptions{} }, nil},
	{forge.IntegrationTeamChatA, func() forge.IntegrationOptions { return &forge.TeamChatAOptions{} }, []string{"alert_channel", "incident_channel", "vulnerability_channel"}},
	{forge.IntegrationCIService, func() forge.IntegrationOptions { return &forge.CIServiceOptions{} }, nil},
	{forge.IntegrationEmailsOnPush, func() forge.IntegrationOptions { return &forge.EmailsOnPushOptions{} }, nil},
	{forge.IntegrationEngineeringWorkflow, func() forge.IntegrationOptions { return &forge.EngineeringWorkflowOptions{} }, []string{"push_events"}},
	{forge.IntegrationTeamChatB, func() forge.IntegrationOptions { return &forge.TeamChatBOptions{} }, nil},
	{forge.IntegrationTeamChatC, func() forge.IntegrationOptions { return &forge.TeamChatCOptions{} }, nil},
	{forge.IntegrationTeamChatD, func() forge.IntegrationOptions { return &forge.TeamChatDOptions{} }, nil},
	{forge.IntegrationTwoURLTrackerB, func() forge.IntegrationOptions { return &forge.TwoURLTrackerBOptions{} }, []string{"push_events"}},
}
