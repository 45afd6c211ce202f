package contracttest_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// snippetImports are the packages that a snippet may use without importing them.
var snippetImports = []string{
	"bufio", "bytes", "context", "crypto/tls", "crypto/x509", "encoding/csv", "encoding/json", "errors", "fmt", "io", "iter", "log", "log/slog", "net", "net/http", "net/url", "os", "slices", "strings", "sync", "testing", "testing/synctest", "time",
	"github.com/jarcoal/httpmock", "golang.org/x/oauth2", "github.com/forge-sdk/forge-go/forgetest",
}

// snippetNames are declarations that a snippet of statements may use.
const snippetNames = `
	ctx context.Context, client *forge.Client, err error, token, jobToken string, t *testing.T, srv *forgetest.Server,
	project, group forge.Ref, saved forge.Cursor, save func(forge.Cursor), handle func(any), options *forge.ListIssuesOptions, limiter forge.Limiter`

// TestSnippetsCompile type-checks every Go snippet of the README, AGENTS.md and docs/: complete
// files unchanged, declarations with the imports above, and statements inside a function that has
// the names above. Declarations may use those of earlier snippets. A snippet that needs other modules
// must be part of a file that the text before it names. The module of that file requires these
// modules and tests the file.
func TestSnippetsCompile(t *testing.T) {
	packages, checked := exportData(t), 0
	for _, file := range append(glob(t, "docs/*.md"), "README.md", "AGENTS.md", "SECURITY.md", "CHANGELOG.md") {
		earlier := ""
		for i, match := range goFence.FindAllStringSubmatch(readText(t, file), -1) {
			source, text := match[1], match[2]
			checked++
			if source != "" {
				if !strings.Contains(readText(t, source), text) {
					t.Errorf("%s does not have:\n%s", source, text)
				}
				continue
			}
			err := compileSnippet(text, packages)
			if declares.MatchString(text) && !strings.HasPrefix(text, "package ") {
				if err != nil {
					err = compileSnippet(earlier+text, packages)
				}
				earlier += text
			}
			assert.NoError(t, err, "%s, snippet %d:\n%s", file, i+1, text)
		}
	}
	assert.Greater(t, checked, 50, "the test has not found what it counts")
	for _, wrong := range []string{"client.Issues.Lists(ctx, nil)", "for range client.Issues.List(ctx, nil) { ... }", "func f() { undefined() }"} {
		assert.Error(t, compileSnippet(wrong, packages), wrong)
	}
}

var (
	inlineName = regexp.MustCompile("`[^`\n]*\\b((?:forge|forgetest|client|srv)\\.[A-Z][A-Za-z]*(?:\\.[A-Z][A-Za-z]*)?)")
	// memberName is a field or method of a type or of a service, as inline code.
	memberName = regexp.MustCompile("`([A-Z]\\w*)\\.([A-Z]\\w*)(?:\\(\\))?`")
)

// TestNamesInGuidesExist checks that every name in the text of the guides exists: with its package or
// variable, or of a field or method with its type or service.
func TestNamesInGuidesExist(t *testing.T) {
	packages, checked := exportData(t), 0
	compiles := func(use string) bool { return compileSnippet(use, packages) == nil }
	for _, file := range append(glob(t, "docs/*.md"), "README.md", "AGENTS.md", "SECURITY.md") {
		exists := func(name string, uses ...string) {
			checked++
			assert.True(t, slices.ContainsFunc(uses, compiles), "%s names %s, which does not exist", file, name)
		}
		text := codeBlock.ReplaceAllString(readText(t, file), "")
		for _, match := range inlineName.FindAllStringSubmatch(text, -1) {
			exists(match[1], "_ = "+match[1], "type _ = "+match[1], "_ = "+match[1]+"[int]", "type _ = "+match[1]+"[int]")
		}
		if file == "docs/migrating.md" || file == "docs/other-clients.md" {
			continue // names of other clients
		}
		for _, match := range memberName.FindAllStringSubmatch(text, -1) {
			if first, member := match[1], match[2]; compiles("_ = client."+first) || compiles("type _ = forge."+first) { // or of another module
				exists(match[0], "_ = client."+first+"."+member, "_ = new(forge."+first+")."+member, "_ = forge."+first+"."+member)
			}
		}
	}
	assert.Greater(t, checked, 150)
}

var goFence = regexp.MustCompile("(?ms)^(?:<!-- (\\S+\\.go) -->\n)? *```go\n(.*?)^ *```")

// declares matches a snippet of declarations.
var declares = regexp.MustCompile(`(?m)^func [A-Za-z(]`)

// compileSnippet returns the errors of a compiler, except for unused names and imports.
func compileSnippet(snippet string, packages types.Importer) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "snippet.go", completeSnippet(snippet), 0)
	if err != nil {
		return err
	}
	var problems []error
	config := types.Config{Importer: packages, Error: func(err error) {
		var problem types.Error
		if !errors.As(err, &problem) || !problem.Soft {
			problems = append(problems, err)
		}
	}}
	_, _ = config.Check("snippet", fset, []*ast.File{file}, nil)
	return errors.Join(problems...)
}

func completeSnippet(snippet string) string {
	if strings.HasPrefix(snippet, "package ") {
		return snippet
	}
	var b strings.Builder
	b.WriteString("package snippet\nimport forge \"github.com/forge-sdk/forge-go\"\n")
	for _, path := range snippetImports {
		fmt.Fprintf(&b, "import %q\n", path)
	}
	if declares.MatchString(snippet) {
		return b.String() + snippet
	}
	return b.String() + "func _(" + snippetNames + ") error {\n{\n" + snippet + "\n}\nreturn nil\n}\n"
}

// exportData imports packages from the export data in the build cache.
func exportData(t *testing.T) types.Importer {
	t.Helper()
	packages, err := gosource.Importer(".", append([]string{"."}, snippetImports...)...)
	require.NoError(t, err)
	return packages
}
