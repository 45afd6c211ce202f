package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestList checks that each break of the lists matches the current code, and that its test exists.
func TestList(t *testing.T) {
	for list, least := range map[string]int{listFile: 480, "internal/planted/simulation.txt": 22} {
		t.Run(filepath.Base(list), func(t *testing.T) { checkList(t, list, least) })
	}
}

// checkList checks a list and its minimum number of breaks, since a bad merge may lose some.
func checkList(t *testing.T, list string, least int) {
	breaks, err := readList(root, list)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(breaks), least)
	titles := map[string]bool{}
	for _, b := range breaks {
		assert.False(t, titles[b.title], "two breaks have the title %q", b.title)
		titles[b.title] = true
		_, err := b.apply(root)
		assert.NoError(t, err, b.title)
		found, err := b.hasTest(root)
		require.NoError(t, err)
		assert.True(t, found, "%s: no test %s in %s", b.title, b.testName(), b.pkg)
	}
}

func TestParse(t *testing.T) {
	breaks, err := parseList("A comment.\n\n== one\nin   a.go T.m\ntest . TestA/sub/x\n-\tif a {\n-\t\tb()\n+ c()\n\n== two\nin b/b.go f\ntest b TestB\n- x\n")
	require.NoError(t, err)
	assert.Equal(t, []plant{
		{title: "one", file: "a.go", decl: "T.m", pkg: ".", test: "TestA/sub/x", old: []string{"if a {", "b()"}, with: []string{"c()"}},
		{title: "two", file: "b/b.go", decl: "f", pkg: "b", test: "TestB", old: []string{"x"}},
	}, breaks)
	for text, want := range map[string]string{
		"== one\nin a.go\n":                    `2: expected "in FILE NAME"`,
		"== one\nfile a.go f\n":                `2: expected "in FILE NAME"`,
		"== one\nin a.go f\ntest . TestA\n":    `"one" needs lines in, test and -`,
		"== one\ntest . TestA\n- x\n":          `"one" needs lines in, test and -`,
		"== one\nin a.go f\n- x\n== two\n":     `"one" needs lines in, test and -`,
		"== one\nin a.go f\ntest . TestA x\n-": `3: expected`,
	} {
		_, err := parseList(text)
		assert.ErrorContains(t, err, want, text)
	}
}

const source = `package p

const limit = 3

var table = map[string]int{
	"a": 1,
}

type pair[K comparable, V any] struct{ key K }

func (p *pair[K, V]) get(a, b bool) int {
	if a && b {
		return 1
	}
	return 2
}

func get(a bool) int {
	if a {
		return 1
	}
	return 1
}
`

func TestApply(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600))
	for name, test := range map[string]struct {
		decl, old, with string
		from, to        string // the replaced part of the source
		err             string
	}{
		"part of a line":    {decl: "pair.get", old: "a && b", with: "a", from: "a && b", to: "a"},
		"two lines":         {decl: "get", old: "if a {\nreturn 1", with: "if !a {\nreturn 1", from: "if a {\n\t\treturn 1", to: "if !a {\nreturn 1"},
		"nothing instead":   {decl: "pair.get", old: "return 2", from: "return 2", to: ""},
		"a constant":        {decl: "limit", old: "3", with: "4", from: "3", to: "4"},
		"a variable":        {decl: "table", old: `"a": 1,`, with: `"a": 2,`, from: `"a": 1,`, to: `"a": 2,`},
		"a type":            {decl: "pair", old: "key K", with: "key V", from: "key K", to: "key V"},
		"twice":             {decl: "get", old: "return 1", with: "return 2", err: "p.go: the old statement occurs 2 times in get, not once"},
		"not at all":        {decl: "get", old: "return 3", with: "return 2", err: "occurs 0 times"},
		"elsewhere":         {decl: "get", old: "return 2", with: "return 3", err: "occurs 0 times"},
		"no such function":  {decl: "pair.put", old: "return 2", err: "p.go: no declaration of pair.put"},
		"not a full method": {decl: "put", old: "return 2", err: "p.go: no declaration of put"},
	} {
		t.Run(name, func(t *testing.T) {
			b := plant{file: "p.go", decl: test.decl, old: strings.Split(test.old, "\n")}
			if test.with != "" {
				b.with = strings.Split(test.with, "\n")
			}
			broken, err := b.apply(dir)
			if test.err != "" {
				require.ErrorContains(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, strings.Replace(source, test.from, test.to, 1), string(broken))
		})
	}
}

// TestRun runs breaks of a separate module. Only a test that ran and failed has caught its break.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module p\n\ngo 1.26\n",
		"p/p.go": "package p\n\nimport \"os\"\n\nfunc two() int {\n\treturn 1 + 1\n}\n\nfunc exits() {\n\tos.Getpid()\n}\n",
		"p/p_test.go": "package p\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tt.Run(\"sub\", func(t *testing.T) {\n\t\tif two() != 2 {\n\t\t\tt.Error(two())\n\t\t}\n\t})\n}\n\n" +
			"func TestIdle(t *testing.T) { exits() }\n\nfunc TestSkipped(t *testing.T) { t.Skip() }\n\nfunc TestRed(t *testing.T) { t.Error() }\n",
	} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	list := []plant{
		{title: "caught", test: "TestTwo/sub", with: []string{"return 3"}},
		{title: "survived", test: "TestIdle", with: []string{"return 3"}},
		{title: "no build", test: "TestTwo/sub", with: []string{"return x"}},
		{title: "skipped", test: "TestSkipped", with: []string{"return 3"}},
		{title: "missing", test: "TestMissing", with: []string{"return 3"}},
		{title: "red", test: "TestRed", with: []string{"return 3"}},
		{title: "exit", test: "TestIdle", decl: "exits", old: []string{"os.Getpid()"}, with: []string{"os.Exit(1)"}},
	}
	for i := range list {
		list[i].file, list[i].pkg = "p/p.go", "p"
		if list[i].decl == "" {
			list[i].decl, list[i].old = "two", []string{"return 1 + 1"}
		}
	}
	var out bytes.Buffer
	r := &runner{root: dir, timeout: time.Minute, out: &out}
	failed, err := r.all(t.Context(), list)
	require.NoError(t, err)
	assert.Equal(t, 5, failed)
	var words []string
	for _, m := range regexp.MustCompile(`(?m)^(\S+(?: \S+)?)  `).FindAllStringSubmatch(out.String(), -1) {
		words = append(words, m[1])
	}
	assert.Equal(t, []string{"caught", "SURVIVED", "NO BUILD", "SKIPPED", "SKIPPED", "RED", "caught"}, words, out.String())
	assert.Contains(t, out.String(), "2 passed, 5 failed\n")
	entries, err := os.ReadDir(filepath.Join(dir, "p"))
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the working tree is not changed")
}

func TestChoose(t *testing.T) {
	list := []plant{{title: "A cursor is checked", file: "a.go"}, {title: "b", test: "TestCursor"}, {title: "c", decl: "Cursor.get"}, {title: "d"}}
	assert.Len(t, choose(list, regexp.MustCompile("(?i)cursor")), 3)
	assert.Len(t, choose(list, regexp.MustCompile("")), 4)
}
