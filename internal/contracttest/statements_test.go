package contracttest_test

import (
	"fmt"
	"io/fs"
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

var testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example)\w*)\(`)

// declaredTests returns the tests of all modules: "dir:TestName".
func declaredTests(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		for _, found := range testFunction.FindAllStringSubmatch(readText(t, path), -1) {
			names[filepath.ToSlash(filepath.Dir(path))+":"+found[1]] = true
		}
		return nil
	}))
	return names
}

// TestStatements checks the tables that name, for each statement of the documents, the tests that
// fail if the statement is false. It fails if such a test is renamed or removed, or if a row is: the
// tables have a row for each statement.
func TestStatements(t *testing.T) {
	names := declaredTests(t)
	for document, want := range []int{734, 839, 369} {
		table := fmt.Sprintf("testdata/spec/statements-%d.tsv", document+1)
		rows := statementsOf(t, table)
		assert.Len(t, rows, want, table)
		seen := map[string]bool{}
		for _, r := range rows {
			about := r.section + " " + r.text + " " + r.side
			assert.False(t, seen[about], "%s: twice: %s", r.at, about)
			seen[about] = true
			words := len(strings.Fields(r.text))
			assert.True(t, words > 0 && words <= 12, "%s: %d words: %s", r.at, words, r.text)
			assert.Contains(t, []string{"client", "forgetest", "both"}, r.side, r.at)
			r.check(t, names)
		}
	}
}

// proofs are the forms of the last column of a row: tests, or a kind with a reason. "silent" has the
// decision where the documents specify nothing, or disagree. "decided otherwise" is a sentence of
// the document, and the decision that departs from it. Both may have tests. "not modelled" is in the
// list of forgetest's documentation, "documentation" is a statement that only a comment or a guide
// repeats, and "nothing" is one that requires no code on either side. No text is compared with a
// comment: a comment may be reworded.
var proofs = regexp.MustCompile(`^(?:(silent): (.+?)|(decided otherwise): "[^"]+"; (.+?)|(not modelled): (.+?)|(nothing): (.+?)|(documentation))??` +
	`(?:(?:^|; )([^\s:]+:\w+(?:, [^\s:]+:\w+)*))?$`)

// check checks the last column of a row.
func (r *statement) check(t *testing.T, names map[string]bool) {
	t.Helper()
	form := proofs.FindStringSubmatch(r.proof)
	if !assert.NotEmpty(t, form, "%s: %s", r.at, r.proof) || !assert.NotEmpty(t, r.proof, r.at) {
		return
	}
	if tests := form[10]; tests != "" {
		for test := range strings.SplitSeq(tests, ", ") {
			assert.True(t, names[test], "%s: there is no test %q", r.at, test)
		}
	}
}
