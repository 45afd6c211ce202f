package contracttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// statement is a row of testdata/spec/statements-*.tsv: a statement of a section, the side that it
// is about, and its tests or the reason why it has none.
type statement struct{ at, section, text, side, proof string }

func statementsOf(t *testing.T, table string) (rows []statement) {
	t.Helper()
	lines := strings.Split(strings.TrimSuffix(readText(t, table), "\n"), "\n")
	for i, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 4, "%s:%d", table, i+2)
		rows = append(rows, statement{fmt.Sprintf("%s:%d", table, i+2), columns[0], columns[1], columns[2], columns[3]})
	}
	return rows
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
	decisions := strings.Join(strings.Fields(readText(t, "CONTRIBUTING.md")), " ")
	names := packageTests{}
	for _, table := range glob(t, "testdata/spec/statements-*.tsv") {
		rows := statementsOf(t, table)
		assert.Greater(t, len(rows), 300, table)
		seen, kinds := map[string]bool{}, map[string]int{}
		for _, r := range rows {
			about := r.section + " " + r.text + " " + r.side
			assert.False(t, seen[about], "%s: twice: %s", r.at, about)
			seen[about] = true
			words := len(strings.Fields(r.text))
			assert.True(t, words > 0 && words <= 12, "%s: %d words: %s", r.at, words, r.text)
			assert.Contains(t, []string{"client", "forgetest", "both"}, r.side, r.at)
			kinds[r.kind(t, names, decisions)]++
		}
		t.Logf("%s: %d rows: %v", table, len(rows), kinds)
	}
}

// proofs are the forms of the last column of a row: tests, or a kind with a reason. "silent" is a
// decision where the documents specify nothing, or disagree; "decided otherwise" is a sentence of the
// document, and the decision that departs from it; both may have tests. "not modelled" quotes a line
// of the list in forgetest's documentation, "documentation" is a statement that only a comment or a
// guide repeats, and "nothing" is one that requires no code on either side.
var proofs = regexp.MustCompile(`^(?:(silent): (.+?)|(decided otherwise): "[^"]+"; (.+?)|(not modelled): (.+?)|(nothing): (.+?)|(documentation))??` +
	`(?:(?:^|; )([^\s:]+:\w+(?:, [^\s:]+:\w+)*))?$`)

// kind checks the last column of a row, and returns what it is.
func (r *statement) kind(t *testing.T, names packageTests, decisions string) string {
	t.Helper()
	form := proofs.FindStringSubmatch(r.proof)
	if !assert.NotEmpty(t, form, "%s: %s", r.at, r.proof) || !assert.NotEmpty(t, r.proof, r.at) {
		return ""
	}
	if tests := form[10]; tests != "" {
		for test := range strings.SplitSeq(tests, ", ") {
			dir, name, _ := strings.Cut(test, ":")
			assert.True(t, names.has(t, dir, name), "%s: there is no test %q", r.at, test)
		}
	}
	switch kind := form[1] + form[3] + form[5] + form[7] + form[9]; kind {
	case "silent", "decided otherwise":
		if decision := form[2] + form[4]; !strings.Contains(decisions, decision) { // assert.Contains would print the whole file
			assert.Fail(t, "no decision in CONTRIBUTING.md", "%s: %s", r.at, decision)
		}
		return kind
	case "not modelled":
		assert.Contains(t, notModelled(t), form[6], "%s: not in the list of forgetest/doc.go", r.at)
		return kind
	case "nothing", "documentation":
		return kind
	default:
		return "test"
	}
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
