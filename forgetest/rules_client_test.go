package forgetest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// integrationOptions returns the options of the kinds in the order of the contract.
func integrationOptions() []forge.IntegrationOptions {
	return []forge.IntegrationOptions{
		&forge.TaskTrackerOptions{}, &forge.ProjectTrackerOptions{}, &forge.BuildServerOptions{}, &forge.IssueTrackerOptions{},
		&forge.PipelineServiceOptions{}, &forge.ChatClassicOptions{}, &forge.TwoURLTrackerAOptions{}, &forge.WikiWorkspaceOptions{},
		&forge.CustomIssueTrackerOptions{}, &forge.MonitoringOptions{}, &forge.TestGenerationOptions{}, &forge.TeamChatAOptions{},
		&forge.CIServiceOptions{}, &forge.EmailsOnPushOptions{}, &forge.EngineeringWorkflowOptions{}, &forge.TeamChatBOptions{},
		&forge.TeamChatCOptions{}, &forge.TeamChatDOptions{}, &forge.TwoURLTrackerBOptions{},
	}
}

// integrationKind is a kind of the contract.
type integrationKind struct {
	ID     string
	Params []struct {
		Name     string
		Required bool
	}
}

func integrationKinds(t *testing.T) (kinds []integrationKind) {
	t.Helper()
	text, err := os.ReadFile("../testdata/spec/endpoints.json")
	require.NoError(t, err)
	var endpoints []struct{ Kinds []integrationKind }
	require.NoError(t, json.Unmarshal(text, &endpoints))
	for _, e := range endpoints {
		kinds = append(kinds, e.Kinds...)
	}
	return kinds
}

// requiredParams returns the required parameters of the kinds, in the same order.
func requiredParams(t *testing.T) (all [][]string) {
	t.Helper()
	for _, kind := range integrationKinds(t) {
		var names []string
		for _, p := range kind.Params {
			if p.Required {
				names = append(names, p.Name)
			}
		}
		all = append(all, names)
	}
	return all
}

// with returns options of the same type with a value in each of the named parameters.
func with(o forge.IntegrationOptions, inherit *bool, names []string) forge.IntegrationOptions {
	made := reflect.New(reflect.TypeOf(o).Elem())
	for field, value := range made.Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "use_inherited_settings":
			value.Set(reflect.ValueOf(inherit))
		case !slices.Contains(names, name):
		case field.Type.Kind() == reflect.Pointer:
			value.Set(reflect.ValueOf(new(true)))
		default:
			value.SetString("value")
		}
	}
	return made.Interface().(forge.IntegrationOptions)
}

// The client and the server require the same parameters of an integration as the contract, also
// with inherited settings, since the contract has no exception for them. With SkipValidation any
// values are sent.
func TestClientIntegrationRules(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithGitLabVocabulary())
	srv.AddGroup("group")
	client, group := srv.Client(forge.WithVocabulary(forge.GitLab)), forge.Path("group")
	needed := requiredParams(t)
	require.Len(t, needed, 19)
	for i, kind := range integrationOptions() {
		require.NotEmpty(t, needed[i])
		for _, inherit := range []*bool{nil, new(false), new(true)} {
			all := with(kind, inherit, needed[i])
			require.NoError(t, client.Integrations.Set(t.Context(), group, all), "%T", kind)
			require.NoError(t, client.Integrations.Set(t.Context(), group, all, forge.SkipValidation()), "%T", kind)
			partial := [][]string{nil} // parameters that are set
			for _, missing := range needed[i] {
				partial = append(partial, slices.DeleteFunc(slices.Clone(needed[i]), func(name string) bool { return name == missing }))
			}
			for _, names := range partial {
				assertBothRefuse(t, srv, fmt.Sprintf("%T with %v", kind, names), func(ctx context.Context, opts ...forge.RequestOption) error {
					return client.Integrations.Set(ctx, group, with(kind, inherit, names), opts...)
				})
			}
		}
	}
}

// assertBothRefuse checks that the client rejects a call before it sends anything, and that the
// server rejects the request that SkipValidation sends.
func assertBothRefuse(t *testing.T, srv *forgetest.Server, what string, call func(ctx context.Context, opts ...forge.RequestOption) error) {
	t.Helper()
	before := len(srv.Requests())
	var invalid *forge.ValidationError
	if assert.ErrorAs(t, call(t.Context()), &invalid, what) {
		assert.Len(t, srv.Requests(), before, what)
	}
	var refused *forge.Error
	if assert.ErrorAs(t, call(t.Context(), forge.SkipValidation()), &refused, "%s, unchecked", what) {
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge}, refused.Status, what)
	}
}

// rule is a rule of the contract that the client also checks.
type rule struct {
	options  string // the type whose check has the rule
	rejected func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error
	// accepted is a similar call that meets the rule; nil if there is none.
	accepted func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error
	// ignored: the contract does not reject the call, and the server ignores or accepts the request
	// that SkipValidation sends.
	ignored bool
}

func drain[T any](items func(func(T, error) bool)) error {
	for _, err := range items {
		if err != nil {
			return err
		}
	}
	return nil
}

func second[T any](_ T, err error) error { return err }

func issueRules() []rule {
	list := func(o *forge.ListIssuesOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return drain(c.Issues.List(ctx, o, opts...))
		}
	}
	return []rule{
		{options: "ListIssuesOptions", rejected: list(&forge.ListIssuesOptions{AssigneeID: forge.ID(1), AssigneeUsername: []string{"ada"}}), accepted: list(&forge.ListIssuesOptions{AssigneeID: forge.ID(1)})},
		{options: "ListIssuesOptions", rejected: list(&forge.ListIssuesOptions{AuthorID: 1, AuthorUsername: "ada"}), accepted: list(&forge.ListIssuesOptions{AuthorUsername: "ada"})},
		{options: "ListIssuesOptions", rejected: list(&forge.ListIssuesOptions{IterationID: forge.ID(1), IterationTitle: "x"}), accepted: list(&forge.ListIssuesOptions{IterationTitle: "x"})},
		{options: "ListIssuesOptions", rejected: list(&forge.ListIssuesOptions{MilestoneID: forge.Started, Milestone: forge.Text("1.0")}), accepted: list(&forge.ListIssuesOptions{MilestoneID: forge.Started})},
		{options: "PromoteIssueOptions", rejected: promote("/promote_to x"), accepted: promote("please\n/promote"), ignored: true}, // a comment
		{options: "SetTimeEstimateOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Issues.SetTimeEstimate(ctx, app, 1, nil, opts...))
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Issues.SetTimeEstimate(ctx, app, 1, &forge.SetTimeEstimateOptions{Duration: 3600e9}, opts...))
		}},
		{options: "AddSpentTimeOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Issues.AddSpentTime(ctx, app, 1, nil, opts...))
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Issues.AddSpentTime(ctx, app, 1, &forge.AddSpentTimeOptions{Duration: 3600e9}, opts...))
		}},
	}
}

var app = forge.Path("group/app")

func promote(body string) func(context.Context, *forge.Client, ...forge.RequestOption) error {
	return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
		return second(c.Issues.Promote(ctx, app, 1, &forge.PromoteIssueOptions{Body: body}, opts...))
	}
}

func mergeRequestRules() []rule {
	list := func(o *forge.ListMergeRequestsOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return drain(c.MergeRequests.List(ctx, o, opts...))
		}
	}
	return []rule{
		{options: "ListMergeRequestsOptions", rejected: list(&forge.ListMergeRequestsOptions{ApprovedByIDs: forge.IDs(1, 2, 3, 4, 5, 6)}), accepted: list(&forge.ListMergeRequestsOptions{ApprovedByIDs: forge.IDs(1, 2, 3, 4, 5)})},
		{options: "ListMergeRequestsOptions", rejected: list(&forge.ListMergeRequestsOptions{AuthorID: 1, AuthorUsername: "ada"}), accepted: list(&forge.ListMergeRequestsOptions{AuthorID: 1})},
		{options: "ListMergeRequestsOptions", rejected: list(&forge.ListMergeRequestsOptions{MergeUserID: 1, MergeUserUsername: "ada"}), accepted: list(&forge.ListMergeRequestsOptions{MergeUserID: 1})},
		{options: "ListMergeRequestsOptions", rejected: list(&forge.ListMergeRequestsOptions{ReviewerID: forge.Any, ReviewerUsername: forge.Text("ada")}), accepted: list(&forge.ListMergeRequestsOptions{ReviewerID: forge.Any})},
		{options: "CreateBlockOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.MergeRequests.CreateBlock(ctx, app, 1, nil, opts...))
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.MergeRequests.CreateBlock(ctx, app, 1, &forge.CreateBlockOptions{BlockingMergeRequestID: 2}, opts...))
		}},
	}
}

func repositoryRules() []rule {
	compare := func(from, to string) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Repositories.Compare(ctx, app, &forge.CompareOptions{From: from, To: to}, opts...))
		}
	}
	base := func(refs ...string) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Repositories.GetMergeBase(ctx, app, &forge.MergeBaseOptions{Refs: refs}, opts...))
		}
	}
	return []rule{
		{options: "CompareOptions", rejected: compare("", "main"), accepted: compare("main", "main")},
		{options: "CompareOptions", rejected: compare("main", "")},
		{options: "MergeBaseOptions", rejected: base("main"), accepted: base("main", "main")},
		{options: "MergeBaseOptions", rejected: base()},
		{options: "CreateChangelogOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return c.Repositories.CreateChangelog(ctx, app, nil, opts...)
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return c.Repositories.CreateChangelog(ctx, app, &forge.CreateChangelogOptions{Version: "1.0.0"}, opts...)
		}},
		{options: "GenerateChangelogOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Repositories.GenerateChangelog(ctx, app, nil, opts...))
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Repositories.GenerateChangelog(ctx, app, &forge.GenerateChangelogOptions{Version: "1.0.0"}, opts...))
		}},
		{options: "UploadSecureFileOptions", rejected: upload("", 1), accepted: upload("key", 5<<20)},
		{options: "UploadSecureFileOptions", rejected: upload("large", 5<<20+1)},
		{options: "UpdateApprovalSettingsOptions", rejected: approval(true), accepted: approval(false)},
	}
}

func upload(name string, size int) func(context.Context, *forge.Client, ...forge.RequestOption) error {
	return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
		file := forge.FileBytes(make([]byte, size)).Named("key.pem")
		return second(c.SecureFiles.Upload(ctx, app, &forge.UploadSecureFileOptions{Name: name, File: file}, opts...))
	}
}

func approval(retain bool) func(context.Context, *forge.Client, ...forge.RequestOption) error {
	return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
		return second(c.ApprovalSettings.UpdateForProject(ctx, app, &forge.UpdateApprovalSettingsOptions{SelectiveCodeOwnerRemovals: new(true), RetainApprovalsOnPush: &retain}, opts...))
	}
}

func registryRules() []rule {
	remove := func(repository int64, o *forge.DeleteTagsOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return c.Registry.DeleteTags(ctx, app, repository, o, opts...)
		}
	}
	return []rule{
		{options: "DeleteTagsOptions", rejected: remove(1, nil), accepted: remove(1, &forge.DeleteTagsOptions{NameRegex: "v1"})}, //nolint:staticcheck // what is deprecated is tested, too
		{options: "DeleteTagsOptions", rejected: remove(2, &forge.DeleteTagsOptions{NameRegexDelete: "("}), accepted: remove(2, &forge.DeleteTagsOptions{NameRegexDelete: "()"})},
		{options: "DeleteTagsOptions", rejected: remove(3, &forge.DeleteTagsOptions{NameRegex: "("})}, //nolint:staticcheck // what is deprecated is tested, too
		{options: "DeleteTagsOptions", rejected: remove(3, &forge.DeleteTagsOptions{NameRegexDelete: "v", NameRegexKeep: "["}), accepted: remove(3, &forge.DeleteTagsOptions{NameRegexDelete: "v", NameRegexKeep: "[a]"})},
		{options: "DeleteTagsOptions", rejected: remove(4, &forge.DeleteTagsOptions{NameRegexDelete: "v", OlderThan: "soon"}), accepted: remove(4, &forge.DeleteTagsOptions{NameRegexDelete: "v", OlderThan: forge.Days(1)})},
		{options: "DeleteTagsOptions", rejected: remove(5, &forge.DeleteTagsOptions{NameRegexDelete: "v", NameRegex: "v"}), ignored: true}, //nolint:staticcheck // what is deprecated is tested, too
	}
}

func peopleRules() []rule {
	users := func(o *forge.ListUsersOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return drain(c.Users.List(ctx, o, opts...))
		}
	}
	events := func(o *forge.ListAuditEventsOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return drain(c.AuditEvents.List(ctx, o, opts...))
		}
	}
	return []rule{
		{options: "ListUsersOptions", rejected: users(&forge.ListUsersOptions{ExternUID: "1"}), accepted: users(&forge.ListUsersOptions{ExternUID: "1", Provider: "ldap"})},
		{options: "ListUsersOptions", rejected: users(&forge.ListUsersOptions{Provider: "ldap"})},
		{options: "ListAuditEventsOptions", rejected: events(&forge.ListAuditEventsOptions{EntityID: 1}), accepted: events(&forge.ListAuditEventsOptions{EntityID: 1, EntityType: forge.AuditEntityUser})},
		{options: "CreateEmailOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Emails.Create(ctx, nil, opts...))
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Emails.Create(ctx, &forge.CreateEmailOptions{Email: "new@example.com"}, opts...))
		}},
		{options: "CreateEmailForUserOptions", rejected: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Emails.CreateForUser(ctx, 1, nil, opts...))
		}, accepted: func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Emails.CreateForUser(ctx, 1, &forge.CreateEmailForUserOptions{Email: "more@example.com"}, opts...))
		}},
	}
}

func runnerRules() []rule {
	update := func(o *forge.UpdateRunnerOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return second(c.Runners.Update(ctx, 1, o, opts...))
		}
	}
	list := func(o *forge.ListRunnersOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return drain(c.Runners.ListAll(ctx, o, opts...))
		}
	}
	jobs := func(o *forge.ListRunnerJobsOptions) func(context.Context, *forge.Client, ...forge.RequestOption) error {
		return func(ctx context.Context, c *forge.Client, opts ...forge.RequestOption) error {
			return drain(c.Runners.ListJobs(ctx, 1, o, opts...))
		}
	}
	note := strings.Repeat("é", 1024)
	return []rule{
		{options: "UpdateRunnerOptions", rejected: update(&forge.UpdateRunnerOptions{MaintenanceNote: new(note + "x")}), accepted: update(&forge.UpdateRunnerOptions{MaintenanceNote: &note})},
		{options: "ListRunnerJobsOptions", rejected: jobs(&forge.ListRunnerJobsOptions{Sort: forge.SortAsc}), accepted: jobs(&forge.ListRunnerJobsOptions{Sort: forge.SortAsc, OrderBy: forge.RunnerJobOrderByID})},
		// The contract does not exclude a deprecated name next to the new one.
		{options: "ListRunnersOptions", rejected: list(&forge.ListRunnersOptions{Scope: forge.RunnerScopeActive, Paused: new(true)}), accepted: list(&forge.ListRunnersOptions{Paused: new(true)}), ignored: true}, //nolint:staticcheck // what is deprecated is tested, too
	}
}

// elsewhere are types whose rules only the client has, or that other tests cover: the hash not[...]
// and settings.
var elsewhere = []string{
	"ArchiveOptions", "Call", "Client", "core", "CustomIntegration", "Date", "File", "IssueNot", "MergeRequestNot", "PauseRunnerOptions", "RegistryScope", "RegistryTokenOptions",
	"RetryPolicy", "UpdateSettingsOptions", "request", "settingsUpdate",
}

// The client and the server reject the same calls and accept the same calls, for each rule that
// both check.
func TestClientRules(t *testing.T) {
	srv := forgetest.New(t)
	project := srv.AddProject("group/app")
	first := project.AddCommit(forgetest.Change{Message: "first", Files: map[string]string{"a": "b"}})
	project.AddTag("v0.9.0", first.ID)
	project.AddFiles(map[string]string{"c": "d"})
	project.AddIssue(nil)
	project.AddMergeRequest(nil)
	project.AddMergeRequest(nil)
	project.AddRunner(nil)
	for i := range 5 {
		project.AddRegistryRepository(fmt.Sprint("image", i))
	}
	client := srv.Client()
	covered := map[string]bool{}
	for i, r := range slices.Concat(issueRules(), mergeRequestRules(), repositoryRules(), registryRules(), peopleRules(), runnerRules()) {
		what := fmt.Sprintf("%s, rule %d", r.options, i)
		covered[r.options] = true
		call := func(ctx context.Context, opts ...forge.RequestOption) error { return r.rejected(ctx, client, opts...) }
		if r.ignored {
			before := len(srv.Requests())
			require.ErrorAs(t, call(t.Context()), new(*forge.ValidationError), what)
			assert.Len(t, srv.Requests(), before, what)
			require.NoError(t, call(t.Context(), forge.SkipValidation()), what)
		} else {
			assertBothRefuse(t, srv, what, call)
		}
		if r.accepted != nil {
			require.NoError(t, r.accepted(t.Context(), client), "%s, accepted", what)
		}
	}
	for _, o := range integrationOptions() {
		covered[reflect.TypeOf(o).Elem().Name()] = true
	}
	for _, name := range elsewhere {
		covered[name] = true
	}
	for _, name := range checkedTypes(t) {
		assert.True(t, covered[name], "%s has rules and no row", name)
	}
}

// checkedTypes returns the types of the client that have a method check.
func checkedTypes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("../*.go")
	require.NoError(t, err)
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			f, isFunc := decl.(*ast.FuncDecl)
			if !isFunc || f.Recv == nil || f.Name.Name != "check" {
				continue
			}
			receiver := f.Recv.List[0].Type
			if star, isPointer := receiver.(*ast.StarExpr); isPointer {
				receiver = star.X
			}
			names = append(names, receiver.(*ast.Ident).Name)
		}
	}
	require.Greater(t, len(names), 40)
	return names
}
