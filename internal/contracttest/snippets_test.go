package contracttest_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// snippetImports are the packages that a snippet may use without importing them.
var snippetImports = []string{
	"bufio", "context", "crypto/tls", "crypto/x509", "encoding/csv", "encoding/json", "errors", "fmt", "io", "log", "log/slog", "net", "net/http", "net/url", "os", "strings", "sync", "testing", "testing/synctest", "time",
	"golang.org/x/oauth2", "github.com/forge-sdk/forge-go/forgetest",
}

// snippetNames are declarations that a snippet of statements may use.
const snippetNames = `
	ctx context.Context, client *forge.Client, err error, token, jobToken string, t *testing.T, srv *forgetest.Server,
	project, group forge.Ref, saved forge.Cursor, save func(forge.Cursor), handle func(any), options *forge.ListIssuesOptions, limiter forge.Limiter`

// TestSnippetsCompile type-checks every Go snippet of the README, AGENTS.md and docs/: complete
// files unchanged, declarations with the imports above, and statements inside a function that has
// the names above. A snippet that needs other modules must be part of a file that the text before
// it names. The module of that file requires these modules and tests the file.
func TestSnippetsCompile(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	packages := exportData(t)
	quoted := 0
	for _, file := range append(files, "README.md", "AGENTS.md", "SECURITY.md", "CHANGELOG.md") {
		for i, snippet := range goSnippets(t, file) {
			t.Run(fmt.Sprintf("%s/%d", file, i+1), func(t *testing.T) {
				if snippet.source == "" {
					assert.NoError(t, compileSnippet(snippet.text, packages), snippet.text)
					return
				}
				quoted++
				if !strings.Contains(readText(t, snippet.source), snippet.text) {
					t.Errorf("%s does not have:\n%s", snippet.source, snippet.text)
				}
			})
		}
	}
	assert.Equal(t, 31, quoted, "in the cookbook and the guides on credentials, observability, other clients, pagination, registry and testing")
}

// TestSnippetsThatDoNotCompile shows that the check reports snippets that do not compile for a
// reader.
func TestSnippetsThatDoNotCompile(t *testing.T) {
	packages := exportData(t)
	for _, snippet := range []string{
		"client.Issues.Lists(ctx, nil)",
		"x := forge.NoSuchName",
		"for issue, err := range client.Issues.List(ctx, nil) { ... }",
		"package main\n\nfunc main() { forge.NewClient() }",
		"func f() { undefined() }",
	} {
		assert.Error(t, compileSnippet(snippet, packages), snippet)
	}
	assert.NoError(t, compileSnippet("issue, err := client.Issues.Subscribe(ctx, project, 5)", packages))
}

// TestNamesInGuidesExist checks that every name in the text of the guides exists: with its package or
// variable, or of a field or method with its type or service.
func TestNamesInGuidesExist(t *testing.T) {
	files, err := filepath.Glob("docs/*.md")
	require.NoError(t, err)
	packages := exportData(t)
	checked := 0
	for _, file := range append(files, "README.md", "AGENTS.md", "SECURITY.md") {
		for _, name := range namesIn(t, file) {
			uses := []string{"_ = " + name, "type _ = " + name, "_ = " + name + "[int]", "type _ = " + name + "[int]"}
			assert.True(t, slices.ContainsFunc(uses, func(use string) bool { return compileSnippet(use, packages) == nil }),
				"%s names %s, which does not exist", file, name)
			checked++
		}
		if file == "docs/migrating.md" || file == "docs/other-clients.md" {
			continue // names of other clients
		}
		for _, name := range memberName.FindAllStringSubmatch(readText(t, file), -1) {
			service := compileSnippet("_ = client."+name[1], packages) == nil
			if !service && compileSnippet("type _ = forge."+name[1], packages) != nil {
				continue // of another module
			}
			uses := []string{"_ = client." + name[1] + "." + name[2], "_ = new(forge." + name[1] + ")." + name[2], "_ = forge." + name[1] + "." + name[2]}
			assert.True(t, slices.ContainsFunc(uses, func(use string) bool { return compileSnippet(use, packages) == nil }),
				"%s names %s, which does not exist", file, name[0])
			checked++
		}
	}
	assert.Greater(t, checked, 150)
}

// memberName is a field or method of a type or of a service, as inline code.
var memberName = regexp.MustCompile("`([A-Z]\\w*)\\.([A-Z]\\w*)(?:\\(\\))?`")

var inlineName = regexp.MustCompile("`[^`\n]*\\b((?:forge|forgetest|client|srv)\\.[A-Z][A-Za-z]*(?:\\.[A-Z][A-Za-z]*)?)")

// namesIn finds the names of the module in the inline code of a file.
func namesIn(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var names []string
	for _, match := range inlineName.FindAllStringSubmatch(regexp.MustCompile("(?ms)^ *```.*?^ *```").ReplaceAllString(string(text), ""), -1) {
		names = append(names, match[1])
	}
	return names
}

var goFence = regexp.MustCompile("(?ms)^(?:<!-- (\\S+\\.go) -->\n)? *```go\n(.*?)^ *```")

// goSnippet is a block of Go code in a document.
type goSnippet struct {
	source string // the file that has the code; empty if the document alone has it
	text   string
}

func goSnippets(t *testing.T, file string) []goSnippet {
	t.Helper()
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	var snippets []goSnippet
	for _, match := range goFence.FindAllStringSubmatch(string(text), -1) {
		snippets = append(snippets, goSnippet{match[1], match[2]})
	}
	return snippets
}

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
	if regexp.MustCompile(`(?m)^func [A-Za-z(]`).MatchString(snippet) {
		return b.String() + snippet
	}
	return b.String() + "func _(" + snippetNames + ") error {\n{\n" + snippet + "\n}\nreturn nil\n}\n"
}

// exportData imports packages from the export data in the build cache.
func exportData(t *testing.T) types.Importer {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", append([]string{
		"list", "-export", "-deps", "-f", "{{if .Export}}{{.ImportPath}}={{.Export}}{{end}}", ".",
	}, snippetImports...)...)
	out, err := list.Output()
	require.NoError(t, err)
	exports := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, file, _ := strings.Cut(strings.TrimSpace(line), "=")
		exports[path] = file
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
}
