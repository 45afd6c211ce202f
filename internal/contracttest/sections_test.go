package contracttest_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	// sectionName is a section of the contract, which readers of an error or a log do not have.
	sectionName = regexp.MustCompile(`Document \d|§`)
	outputBlock = regexp.MustCompile("(?s)```text\n.*?```")
)

// No text of a program names a section of the contract: no error, hint, log record, server message
// or output of an example. Comments may, and Route.Section does.
func TestTextsNameNoSections(t *testing.T) {
	checked := 0
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "testdata"}, entry.Name()):
			return filepath.SkipDir
		case strings.HasSuffix(path, ".md"):
			for _, block := range outputBlock.FindAllString(readText(t, path), -1) {
				assert.NotRegexp(t, sectionName, block, path)
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			checked++
			assert.Empty(t, sectionsIn(t, path, nil))
		}
		return nil
	}))
	assert.Greater(t, checked, 300, "files")
	source := "package p\nvar _ = Route{Section: \"Document 1 §2\"}\nvar _ = \"Document 1\" // §\nvar _ = f(`§4`)\n"
	assert.Equal(t, []string{`p.go:3: "Document 1"`, "p.go:4: `§4`"}, sectionsIn(t, "p.go", source), "the check itself")
}

// sectionsIn returns the string literals of a file that name a section. The Section of a Route is
// data.
func sectionsIn(t *testing.T, path string, source any) (found []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, source, parser.SkipObjectResolution)
	require.NoError(t, err)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.KeyValueExpr:
			key, named := n.Key.(*ast.Ident)
			return !named || key.Name != "Section"
		case *ast.BasicLit:
			if n.Kind == token.STRING && sectionName.MatchString(n.Value) {
				found = append(found, fmt.Sprintf("%s:%d: %s", path, set.Position(n.Pos()).Line, n.Value))
			}
		}
		return true
	})
	return found
}
