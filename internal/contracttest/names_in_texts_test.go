package contracttest_test

import (
	"bufio"
	"go/ast"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// identifiers returns the exported names of the package: "Option", "Call.Form", "Client.With".
func identifiers(t *testing.T) map[string]bool {
	t.Helper()
	file, err := os.Open("api/forge.txt")
	require.NoError(t, err)
	defer file.Close()
	names := map[string]bool{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimPrefix(lines.Text(), "pkg forge, ")
		for _, form := range []string{`^(?:const|func|var|type) (\w+)`, `^type (\w+) struct, (\w+)`, `^type (\w+) struct, embedded \*?(\w+)`, `^method \(\*?(\w+)(?:\[\w+\])?\) (\w+)`} {
			if found := regexp.MustCompile(form).FindStringSubmatch(line); found != nil {
				names[strings.Join(found[1:], ".")] = true
			}
		}
	}
	require.Greater(t, len(names), 1000)
	return names
}

// TestNamesInTextsExist reads all texts of the package, of which those of errors name what to use: a
// field of an exported type, an option, or a name with its package. Each exists.
func TestNamesInTextsExist(t *testing.T) {
	known, found := identifiers(t), 0
	set, files := parsePackage(t, ".")
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, is := n.(*ast.BasicLit)
			if !is || literal.Kind != token.STRING || strings.HasPrefix(literal.Value, "`") {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			at := set.Position(literal.Pos()).String()
			for _, name := range regexp.MustCompile(`\b(?:forge\.)?[A-Z]\w*\.[A-Z]\w*(?:\.[A-Z]\w*)*`).FindAllString(text, -1) {
				name, inPackage := strings.CutPrefix(name, "forge.")
				parts := strings.Split(name, ".")
				if first := parts[0]; known[first] || inPackage {
					found++
					assert.True(t, known[strings.Join(parts[:min(len(parts), 2)], ".")], "%s: %q is no name of the package", at, name)
				}
			}
			for _, name := range regexp.MustCompile(`\bforge\.([A-Z]\w*)|\b(With[A-Z]\w*)`).FindAllStringSubmatch(text, -1) {
				found++
				assert.True(t, known[name[1]+name[2]], "%s: %q is no name of the package", at, name[0])
			}
			return true
		})
	}
	assert.Greater(t, found, 60)
}
