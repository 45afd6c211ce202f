package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMutants compares all mutants of a small file with the expected ones: each kind, at its line.
func TestMutants(t *testing.T) {
	source, err := os.ReadFile("testdata/mutants.go")
	require.NoError(t, err)
	mutants, err := mutantsOf("p.go", source)
	require.NoError(t, err)
	var got []string
	for _, m := range mutants {
		got = append(got, fmt.Sprintf("%d %s: %s => %s", m.line, m.kind, oneLine(m.old), m.with))
		assert.Equal(t, "stack.push", m.decl)
		broken := m.apply(source)
		assert.NotEqual(t, string(source), string(broken))
		_, err := parser.ParseFile(token.NewFileSet(), "p.go", broken, 0)
		assert.NoError(t, err, "%s", &m)
	}
	assert.Equal(t, []string{
		"14 dropped statement: if len(s.items) >= s.limit && !force { return 0, errFull } => ",
		"14 negated condition: len(s.items) >= s.limit && !force => !(len(s.items) >= s.limit && !force)",
		"14 logic: len(s.items) >= s.limit && !force => (len(s.items) >= s.limit || !force)",
		"14 swapped comparison: len(s.items) >= s.limit => (len(s.items) <= s.limit)",
		"14 boundary: len(s.items) >= s.limit => (len(s.items) > s.limit)",
		"14 removed !: !force => force",
		"15 off by one: 0 => (0 + 1)",
		"15 off by one: 0 => (0 - 1)",
		"15 nil for the error: errFull => nil",
		"17 dropped statement: s.items = append(s.items, item) => ",
		"19 dropped statement: s.notify() => ",
		"23 negated condition: size() > 9 => !(size() > 9)",
		"23 swapped comparison: size() > 9 => (size() < 9)",
		"23 boundary: size() > 9 => (size() >= 9)",
		"23 off by one: 9 => (9 + 1)",
		"23 off by one: 9 => (9 - 1)",
		"24 dropped statement: s.notify() => ",
		"26 nil for the error: err => nil",
	}, got)
}

// blind is a module whose test checks only one of its functions. In the file unused, a mutant
// without the assignment to _ does not compile.
var blind = map[string]string{
	"go.mod":       "module p\n\ngo 1.26\n",
	"p/seen.go":    "package p\n\nfunc less(a, b int) bool { return a < b }\n",
	"p/unseen.go":  "package p\n\nvar calls int\n\nfunc count() {\n\tcalls++\n\tcalls--\n}\n",
	"p/unused.go":  "package p\n\nfunc pick() {\n\tvar n int\n\t_ = n\n}\n",
	"p/zz_made.go": "package p\n\nfunc made() int { return 1 }\n",
	"p/p_test.go": `package p

import "testing"

func TestLess(t *testing.T) {
	count()
	if less(1, 1) || less(2, 1) || !less(1, 2) {
		t.Error()
	}
}

func TestRed(t *testing.T) { t.Error() }

func TestPicky(t *testing.T) {
	if !less(1, 2) {
		t.Skip("a mutant")
	}
}
`,
}

func blindModule(t *testing.T, out io.Writer) *runner {
	dir := t.TempDir()
	for name, text := range blind {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	return &runner{root: dir, timeout: time.Minute, out: out}
}

// TestMutate runs all mutants of the module: the test finds those of one function, those of the
// other survive, and one mutant does not compile.
func TestMutate(t *testing.T) {
	var out bytes.Buffer
	r := blindModule(t, &out)
	m := &mutation{files: "p/*.go", n: 9, seed: 1, test: "p TestLess"}
	require.NoError(t, r.mutate(t.Context(), m))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	verdicts := map[string]string{}
	for _, line := range lines[:len(lines)-1] {
		words := strings.Fields(line)
		verdicts[strings.Join(words[2:], " ")] = words[0]
	}
	assert.Equal(t, map[string]string{
		"p/seen.go:3 less swapped comparison a < b => (a > b)": "found",
		"p/seen.go:3 less boundary a < b => (a <= b)":          "found",
		"p/unseen.go:6 count dropped statement calls++":        "survived",
		"p/unseen.go:7 count dropped statement calls--":        "survived",
	}, verdicts, out.String())
	assert.Equal(t, "2 of 4 found (50%), seed 1; 1 did not compile; there are 5 candidates", lines[len(lines)-1])

	out.Reset()
	m = &mutation{files: "p/seen.go", n: 2, seed: 1, test: "p TestPicky"}
	require.NoError(t, r.mutate(t.Context(), m))
	assert.Contains(t, out.String(), "skipped ")
	assert.Contains(t, out.String(), "0 of 2 found (0%)", "a test that skips itself has found nothing")
}

// TestMutateChoice checks that a seed always selects the same mutants, and that another seed
// selects others.
func TestMutateChoice(t *testing.T) {
	all, err := candidates(root, "retry.go, call_redirect.go,retry.*")
	require.NoError(t, err)
	chosen := func(seed uint64) (places []int) { return order(seed, len(all))[:20] }
	first, same := chosen(1), chosen(1)
	assert.Equal(t, first, same)
	assert.NotEqual(t, first, chosen(2))
	again, err := candidates(root, "call_redirect.go,retry.go")
	require.NoError(t, err)
	assert.Equal(t, all, again, "the order of the patterns, and a file named twice, change nothing")
	files := map[string]bool{}
	for _, m := range all {
		files[m.file] = true
	}
	assert.Equal(t, map[string]bool{"retry.go": true, "call_redirect.go": true}, files)
}

func TestMutateRefuses(t *testing.T) {
	r := blindModule(t, io.Discard)
	for _, test := range []struct {
		m    mutation
		want string
	}{
		{mutation{files: "p/*.go", n: 1, test: "TestLess"}, `-test "DIRECTORY TEST"`},
		{mutation{files: "p/*.go", test: "p TestLess"}, "-n above 0"},
		{mutation{files: "p/seen.go,q.go", n: 1, test: "p TestLess"}, `no source file matches "q.go"`},
		{mutation{files: "p/zz_*.go", n: 1, test: "p TestLess"}, `no source file matches "p/zz_*.go"`},
		{mutation{files: "p/p_test.go", n: 1, test: "p TestLess"}, `no source file matches "p/p_test.go"`},
		{mutation{files: "p/*.go", n: 1, test: "p TestRed"}, "the test is not green: caught"},
		{mutation{files: "p/*.go", n: 1, test: "p TestMissing"}, "the test is not green: skipped"},
	} {
		assert.ErrorContains(t, r.mutate(t.Context(), &test.m), test.want)
	}
}
