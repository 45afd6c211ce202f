package contracttest_test

import (
	"go/ast"
	"go/token"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/gosource"
)

// parsePackage parses the files in dir, without tests.
func parsePackage(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	set, files, err := gosource.Parse(dir)
	require.NoError(t, err)
	return set, files
}

// Every exported struct field, every method of an interface and every constant and variable has a doc
// comment; golangci-lint requires those of types and functions. The comment of a block of constants
// documents its names if none has its own.
func TestEverythingIsDocumented(t *testing.T) {
	counted := 0
	for _, dir := range []string{".", "forgetest"} {
		set, files := parsePackage(t, dir)
		need := func(names []*ast.Ident, comments ...*ast.CommentGroup) {
			text := ""
			for _, c := range comments {
				text += strings.Trim(c.Text(), " .\n")
			}
			for _, name := range names {
				if name.IsExported() {
					counted++
					assert.NotEmpty(t, text, "%s: %s has no doc comment", set.Position(name.Pos()), name.Name)
				}
			}
		}
		for _, file := range files {
			for _, decl := range file.Decls {
				if general, is := decl.(*ast.GenDecl); is {
					needSpecs(general, need)
				}
			}
		}
	}
	assert.Greater(t, counted, 1000, "the test has not found what it counts")
}

func needSpecs(decl *ast.GenDecl, need func([]*ast.Ident, ...*ast.CommentGroup)) {
	shared := decl.Doc
	for _, spec := range decl.Specs {
		v, isValue := spec.(*ast.ValueSpec)
		if isValue && len(decl.Specs) > 1 && (decl.Tok == token.VAR || v.Doc != nil || v.Comment != nil) {
			shared = nil
		}
	}
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			need(spec.Names, spec.Doc, spec.Comment, shared)
		case *ast.TypeSpec:
			members := &ast.FieldList{}
			switch body := spec.Type.(type) {
			case *ast.StructType:
				members = body.Fields
			case *ast.InterfaceType:
				members = body.Methods
			}
			for _, m := range members.List {
				if spec.Name.IsExported() {
					need(m.Names, m.Doc, m.Comment)
				}
			}
		}
	}
}

// The comment of each service, and of each method that requests an endpoint, links the stored page of
// GitLab's documentation and no other. No comment that users read names a section of the documents.
func TestDocsLinks(t *testing.T) {
	pages, docs := map[string]string{}, map[string]string{}
	for _, e := range catalogue.Endpoints() {
		docs[e.Method+" "+e.Path] = e.Docs()
		pages[strings.ReplaceAll(e.Service, "_", "")+"service"] = catalogue.Endpoint{Service: e.Service}.Docs()
	}
	methods, err := gosource.Methods(".")
	require.NoError(t, err)
	for _, m := range methods {
		pages[strings.ToLower("*"+m.Service+"Service."+m.Name)] = docs[m.Verb+" "+m.Template]
	}
	link, section := regexp.MustCompile(`https://docs\.gitlab\.com/\S*`), regexp.MustCompile(`Document\s\d|§\d`)
	check := func(name string, comment *ast.CommentGroup) {
		if page, has := pages[strings.ToLower(name)]; has {
			assert.Equal(t, []string{page}, link.FindAllString(comment.Text(), -1), "the comment of %s links its page", name)
			delete(pages, strings.ToLower(name))
		}
	}
	for _, dir := range []string{".", "forgetest"} {
		set, files := parsePackage(t, dir)
		for _, file := range files {
			ast.FileExports(file)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CommentGroup:
					assert.NotRegexp(t, section, n.Text(), set.Position(n.Pos()))
				case *ast.GenDecl:
					if spec, is := n.Specs[0].(*ast.TypeSpec); is {
						check(spec.Name.Name, n.Doc)
					}
				case *ast.FuncDecl:
					if n.Recv != nil {
						check(types.ExprString(n.Recv.List[0].Type)+"."+n.Name.Name, n.Doc)
					}
				}
				return true
			})
		}
	}
	assert.Empty(t, pages, "they have no comment")
}

// exported returns the names that the committed list of a package's exported API has in one of the
// forms: "Option", "Call.Form", "Client.With".
func exported(t *testing.T, pkg string, forms ...string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, form := range forms {
		for _, found := range regexp.MustCompile(`(?m)^pkg `+pkg+`, `+form+`\b`).FindAllStringSubmatch(readText(t, "api/"+pkg+".txt"), -1) {
			names[strings.Join(found[1:], ".")] = true
		}
	}
	require.NotEmpty(t, names)
	return names
}

// TestNamesInTextsExist reads all texts of the package, of which those of errors name what to use: a
// field of an exported type, an option, or a name with its package. Each exists.
func TestNamesInTextsExist(t *testing.T) {
	known, found := exported(t, "forge", `(?:const|func|var|type) (\w+)`, `type (\w+) struct, (?:embedded \*?)?(\w+)`, `method \(\*?(\w+)(?:\[\w+\])?\) (\w+)`), 0
	name := regexp.MustCompile(`\b(?:(forge)\.)?([A-Z]\w*)(\.[A-Z]\w*)?`)
	set, files := parsePackage(t, ".")
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING || strings.HasPrefix(literal.Value, "`") {
				return true
			}
			for _, match := range name.FindAllStringSubmatch(literal.Value, -1) {
				inPackage, first, member := match[1] != "", match[2], match[3]
				if inPackage || strings.HasPrefix(first, "With") && len(first) > 4 || known[first] && member != "" {
					found++
					assert.True(t, known[first+member], "%s: %q is no name of the package", set.Position(literal.Pos()), match[0])
				}
			}
			return true
		})
	}
	assert.Greater(t, found, 60)
}
