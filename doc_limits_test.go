package forge

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fieldComments are the comments of all fields of the package's structs, by "Type.Field", in one
// line each.
func fieldComments(t *testing.T) map[string]string {
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
		ast.Inspect(file, func(n ast.Node) bool {
			spec, isType := n.(*ast.TypeSpec)
			if !isType {
				return true
			}
			fields, isStruct := spec.Type.(*ast.StructType)
			for i := 0; isStruct && i < len(fields.Fields.List); i++ {
				field := fields.Fields.List[i]
				for _, ident := range field.Names {
					comments[spec.Name.Name+"."+ident.Name] = strings.Join(strings.Fields(field.Doc.Text()), " ")
				}
			}
			return false
		})
	}
	return comments
}

// A limit that only the server knows is said where the caller sets the value.
func TestLimitsAreDocumented(t *testing.T) {
	comments := fieldComments(t)
	for field, words := range map[string]string{
		"CreateChangelogOptions.To":   "A range has at most 15000 commits.",
		"GenerateChangelogOptions.To": "A range has at most 15000 commits.",
	} {
		assert.Contains(t, comments[field], words, field)
	}
}
