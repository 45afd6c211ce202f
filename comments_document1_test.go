package forge

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// methodComments are the comments of all methods, by "Type.Method", in one line each.
func methodComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	comments := map[string]string{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			method, isFunction := decl.(*ast.FuncDecl)
			if !isFunction || method.Recv == nil {
				continue
			}
			if star, isPointer := method.Recv.List[0].Type.(*ast.StarExpr); isPointer {
				if kind, isName := star.X.(*ast.Ident); isName {
					comments[kind.Name+"."+method.Name.Name] = oneLine(method.Doc)
				}
			}
		}
	}
	return comments
}

// What only the server does is said where the caller asks for it (document 1). No request shows
// that such a sentence has become wrong.
func TestCommentsOfDocument1(t *testing.T) {
	comments := methodComments(t)
	maps.Copy(comments, fieldComments(t))
	for name, words := range map[string]string{
		"RegistryRepository.Name":                  "empty for the repository at the project's own path",
		"RegistryRepository.Size":                  "what they share counts once",
		"RegistryRepository.TagsCount":             "nil unless it was requested",
		"RegistryService.ListForGroup":             "no tags here since 15.0",
		"RegistryService.ListTags":                 "the hosted offering has since 16.10",
		"RepositoriesService.ListTree":             "before 17.7 it is an empty list",
		"TreeOptions.Path":                         "the directory to list; empty for the root",
		"TreeOptions.Ref":                          "a branch or tag",
		"ArchiveOptions.Path":                      "empty for the whole repository",
		"ArchiveOptions.SHA":                       "a commit, tag or branch; empty for the tip of the default branch",
		"CompareOptions.From":                      "the commit or branch to compare from",
		"CompareOptions.To":                        "the commit or branch to compare to",
		"CompareOptions.FromProjectID":             "the project that From is in",
		"CompareOptions.Straight":                  "compares From itself with To (from..to), not their merge base",
		"CompareOptions.Unidiff":                   "in the unified format",
		"RepositoriesService.GenerateChangelog":    "commits nothing. A CI job token may call it since 17.7",
		"CreateChangelogOptions.Version":           "a leading v is accepted since 17.0",
		"GenerateChangelogOptions.Version":         "a leading v is accepted since 17.0",
		"CreateChangelogOptions.From":              "the commit after which the range starts",
		"GenerateChangelogOptions.From":            "the commit after which the range starts",
		"CreateChangelogOptions.To":                "the last commit of the range",
		"GenerateChangelogOptions.To":              "the last commit of the range",
		"CreateChangelogOptions.Trailer":           "selects commits, case-sensitive",
		"GenerateChangelogOptions.Trailer":         "selects commits, case-sensitive",
		"ApprovalSettingsService.GetForGroup":      "Owner of the group",
		"ApprovalSettingsService.UpdateForGroup":   "Owner of the group",
		"ApprovalSettingsService.GetForProject":    "Maintainer of the project",
		"ApprovalSettingsService.UpdateForProject": "Maintainer of the project",
		"ListNamespacesOptions.Search":             "whose name or path contains the text",
		"ListNamespacesOptions.OwnedOnly":          "that the user owns",
		"ListNamespacesOptions.TopLevelOnly":       "leaves out subgroups",
		"ListNamespacesOptions.FullPathSearch":     "matches Search against full paths",
		"NamespacesService.List":                   "an administrator sees all of them",
		"NamespaceExistsOptions.ParentID":          "without it only top-level namespaces are",
		"AuditEventsService.List":                  "Administrators only; self-managed and dedicated",
		"AuditEventsService.Get":                   "Administrators only; self-managed and dedicated",
		"AuditEventsService.ListForGroup":          "Owners see those of all users, Developers and Maintainers their own",
		"AuditEventsService.GetForGroup":           "Owner of the group",
		"AuditEventsService.ListForProject":        "Maintainers see those of all users, Developers their own",
		"AuditEventsService.GetForProject":         "Maintainer of the project",
	} {
		assert.Contains(t, comments[name], words, name)
	}
}
