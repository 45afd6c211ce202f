package contracttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// documentSections are the sections of the contract, by document; 0 is the text before the first
// section.
var documentSections = map[string]string{
	"1": "0 1 2 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 3 4 4.1 4.1.1 4.1.2 4.2 4.3 4.3.1 4.4 4.5 4.6 4.7 5 6 7 8 8.1 9",
	"2": "0 1 2 2.1 2.2 2.3 2.4 2.5 2.6 2.7 2.8 2.9 2.10 3 4 4.1 4.1.1 4.2 4.2.1 4.3 4.4 4.5 4.6",
	"3": "0 1 2 2.1 2.2 3 4 4.1 4.1.1 4.1.2 4.2 4.2.1 4.2.2 6",
}

// packageTests has the tests of each package directory, read once.
type packageTests map[string]map[string]bool

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// has reports whether a directory has a test.
func (n packageTests) has(t *testing.T, dir, name string) bool {
	t.Helper()
	if n[dir] == nil {
		n[dir] = map[string]bool{}
		files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
		require.NoError(t, err)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for _, match := range testFunction.FindAllSubmatch(text, -1) {
				n[dir][string(match[1])] = true
			}
		}
	}
	return n[dir][name]
}

// TestStatements checks the tables that name, for each statement of the documents, the tests that
// fail if the statement is false. It fails if such a test is renamed or removed.
func TestStatements(t *testing.T) {
	files, err := filepath.Glob("testdata/spec/statements-*.tsv")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	names := packageTests{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		require.Equal(t, "section\tstatement\tside\ttest", lines[0], file)
		document := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "statements-"), ".tsv")
		sections, last := strings.Fields(documentSections[document]), 0
		seen, kinds := map[string]bool{}, map[string]int{}
		for i, line := range lines[1:] {
			at := fmt.Sprintf("%s:%d", file, i+2)
			columns := strings.Split(line, "\t")
			if !assert.Len(t, columns, 4, at) {
				continue
			}
			section := slices.Index(sections, columns[0])
			assert.GreaterOrEqual(t, section, last, "%s: section %q does not exist, or comes too late", at, columns[0])
			last = max(last, section)
			about := strings.Join(columns[:3], "\t")
			assert.False(t, seen[about], "%s: twice: %s", at, about)
			seen[about] = true
			kinds[statementKind(t, at, columns, names)]++
		}
		t.Logf("document %s: %d statements: %v", document, len(lines)-1, kinds)
	}
}

// statementKind checks the statement, the side and the last column of a row, and returns what the
// last column is: tests, or a kind with its reason. "silent" is a decision about something that the
// documents do not specify, "not modelled" quotes a line of the list in forgetest's documentation,
// and "nothing" is a statement that requires no code on either side.
func statementKind(t *testing.T, at string, columns []string, names packageTests) string {
	t.Helper()
	words := len(strings.Fields(columns[1]))
	assert.True(t, words > 0 && words <= 12, "%s: %d words: %s", at, words, columns[1])
	assert.Contains(t, []string{"client", "forgetest", "both"}, columns[2], at)
	for _, kind := range []string{"silent", "nothing", "not modelled"} {
		reason, found := strings.CutPrefix(columns[3], kind+": ")
		if !found {
			continue
		}
		assert.NotEmpty(t, strings.TrimSpace(reason), "%s: %s without a reason", at, kind)
		if kind == "not modelled" {
			assert.Contains(t, notModelled(t), reason, "%s: not in the list of forgetest/doc.go", at)
		}
		return kind
	}
	for test := range strings.SplitSeq(columns[3], ", ") {
		dir, name, _ := strings.Cut(test, ":")
		assert.True(t, names.has(t, dir, name), "%s: there is no test %q", at, test)
	}
	return "test"
}

// notModelled returns the text after the heading "Not modelled" of forgetest's documentation, on
// one line.
func notModelled(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("forgetest/doc.go")
	require.NoError(t, err)
	_, list, found := strings.Cut(string(text), "// # Not modelled\n")
	require.True(t, found, "forgetest/doc.go has no heading Not modelled")
	return strings.Join(strings.Fields(strings.ReplaceAll(list, "//", " ")), " ")
}
