package contracttest_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// noSuchName are calls that readers of other clients try, and the types that do not have them. The
// compiler must not offer an unexported name instead.
var noSuchName = map[string]string{
	"client.Issues.Get(ctx, project, 5)":              "*forge.IssuesService has no field or method Get",
	"client.Issues.Create(ctx, project, nil)":         "*forge.IssuesService has no field or method Create",
	"client.Issues.Delete(ctx, project, 5)":           "*forge.IssuesService has no field or method Delete",
	"client.Issues.Put(ctx, project)":                 "*forge.IssuesService has no field or method Put",
	"client.Issues.ListProjectIssues(project, nil)":   "*forge.IssuesService has no field or method ListProjectIssues",
	"client.MergeRequests.Create(ctx, project, nil)":  "*forge.MergeRequestsService has no field or method Create",
	"client.MergeRequests.Update(ctx, project, 1)":    "*forge.MergeRequestsService has no field or method Update",
	"client.Registry.List(ctx, project)":              "*forge.RegistryService has no field or method List",
	"client.Registry.Find(ctx, project)":              "*forge.RegistryService has no field or method Find",
	"client.RegistryNative.Token(ctx)":                "*forge.RegistryNativeService has no field or method Token",
	"client.Repositories.Get(ctx, project)":           "*forge.RepositoriesService has no field or method Get",
	"client.Users.Create(ctx, nil)":                   "*forge.UsersService has no field or method Create",
	"client.Runners.Delete(ctx, 1)":                   "*forge.RunnersService has no field or method Delete",
	"client.Projects.List(ctx, nil)":                  "*forge.Client has no field or method Projects",
	"client.Groups":                                   "*forge.Client has no field or method Groups",
	"client.Pipelines":                                "*forge.Client has no field or method Pipelines",
	"client.Get(ctx, \"/projects\")":                  "*forge.Client has no field or method Get",
	"client.NewRequest(\"GET\", \"/projects\", nil)":  "*forge.Client has no field or method NewRequest",
	"client.Config.Token":                             "*forge.Client has no field or method Config",
	"client.Transport":                                "*forge.Client has no field or method Transport",
	"client.Close()":                                  "*forge.Client has no field or method Close",
	"new(forge.Download).Body":                        "*forge.Download has no field or method Body",
	"new(forge.Response).Body":                        "*forge.Response has no field or method Body",
	"new(forge.Response).NextPage":                    "*forge.Response has no field or method NextPage",
	"new(forge.Response).StatusCode":                  "*forge.Response has no field or method StatusCode",
	"new(forge.Error).Response":                       "*forge.Error has no field or method Response",
	"new(forge.Error).StatusCode":                     "*forge.Error has no field or method StatusCode",
	"forge.ListIssuesOptions{}.Page":                  "forge.ListIssuesOptions has no field or method Page",
	"forge.IssueStateOpened.String()":                 "forge.IssueState has no field or method String",
	"client.PlaceholderReassignments.Read(nil)":       "*forge.PlaceholderReassignmentsService has no field or method Read",
	"client.Integrations.Update(ctx, project, \"\")":  "*forge.IntegrationsService has no field or method Update",
	"client.AuditEvents.Create(ctx)":                  "*forge.AuditEventsService has no field or method Create",
	"client.ApprovalSettings.Get(ctx, project)":       "*forge.ApprovalSettingsService has no field or method Get",
	"client.Emails.Update(ctx, nil)":                  "*forge.EmailsService has no field or method Update",
	"client.ResourceGroups.Create(ctx, project, nil)": "*forge.ResourceGroupsService has no field or method Create",
	"client.SecureFiles.Create(ctx, project, nil)":    "*forge.SecureFilesService has no field or method Create",
	"client.Namespaces.Search(ctx, \"acme\")":         "*forge.NamespacesService has no field or method Search",
	"client.Settings.Set(ctx, nil)":                   "*forge.SettingsService has no field or method Set",
}

// Calls of methods and fields that do not exist do not compile, and the error names what does not
// exist, and nothing that callers cannot use.
func TestWrongProgramsDoNotCompile(t *testing.T) {
	packages := exportData(t)
	for call, reason := range noSuchName {
		err := compileSnippet("_ = "+call, packages)
		require.Error(t, err, call)
		_, message, _ := strings.Cut(err.Error(), " undefined ")
		assert.Equal(t, "(type "+reason+")", message, call)
	}
}

// triedNames are names that users of an HTTP client or of another client of this API try on a
// client, a service or a result.
var triedNames = strings.Fields(`
	Add All API Archive BaseURL Body Call Cancel Client Close Code Config Content Context Copy Count Create Credential
	Credentials Cursor Data Delete Do Download Edit Error Exec Execute Exists Fetch Fields File Filename Filter Find Get Groups
	Head Header Headers Host HTTP HTTPClient ID Info Items Iterate JSON Len Length Link Links List Load Log Login Message
	Method Name New Next NextPage Open Options Page Pages Patch Path Pipelines Post Preview Print Projects Put Query RateLimit
	Raw Read Remove Request Reset Response Retry Route Run Save Search Send Session Set Size Start Stat Stats Status
	StatusCode Stop Stream String Text Token Tokens Total Transport Type Unwrap Update Upload URL User UserAgent Validate
	Value Version Wait Write`)

// unexportedNames returns the unexported fields and methods that a selector on the type finds, also
// through embedded structs, unless an exported one has the same name.
func unexportedNames(t types.Type) []string {
	found := map[string]bool{}
	var walk func(t types.Type)
	walk = func(t types.Type) {
		for selection := range types.NewMethodSet(types.NewPointer(t)).Methods() {
			found[selection.Obj().Name()] = true
		}
		fields, isStruct := t.Underlying().(*types.Struct)
		for i := 0; isStruct && i < fields.NumFields(); i++ {
			field := fields.Field(i)
			found[field.Name()] = true
			if pointer, isPointer := field.Type().(*types.Pointer); field.Embedded() && isPointer {
				walk(pointer.Elem())
			} else if field.Embedded() {
				walk(field.Type())
			}
		}
	}
	walk(t)
	var names []string
	for name := range found {
		if public := strings.ToUpper(name[:1]) + name[1:]; !found[public] {
			names = append(names, name)
		}
	}
	return slices.Sorted(slices.Values(names))
}

// For a name that a type does not have, the compiler offers an unexported one that differs in the
// case of the first letter. Clients, services and results have none that a user tries.
func TestGuessesFindNoUnexportedNames(t *testing.T) {
	packages, err := gosource.Load(".", ".")
	require.NoError(t, err)
	scope, checked := packages[0].Types.Scope(), 0
	for _, name := range scope.Names() {
		named, isType := scope.Lookup(name).(*types.TypeName)
		isChecked := strings.HasSuffix(name, "Service") || slices.Contains([]string{"Client", "Download", "Response", "Error"}, name)
		if !isType || !named.Exported() || !isChecked {
			continue
		}
		checked++
		for _, unexported := range unexportedNames(named.Type()) {
			guess := strings.ToUpper(unexported[:1]) + unexported[1:]
			isGuess := slices.ContainsFunc(triedNames, func(tried string) bool { return strings.EqualFold(tried, guess) })
			assert.False(t, isGuess, "%s.%s: the compiler offers %s, which callers cannot use", name, guess, unexported)
		}
	}
	assert.GreaterOrEqual(t, checked, 20)
}
