package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGenerated fails if the exported API was changed without go generate.
func TestGenerated(t *testing.T) { current(t, "../..", ".", "./forgetest") }

// TestSample fails if a change of the generator changes its output.
func TestSample(t *testing.T) { current(t, "testdata/sample", ".") }

func current(t *testing.T, dir string, patterns ...string) {
	t.Helper()
	files, err := generate(dir, patterns...)
	require.NoError(t, err)
	require.Len(t, files, len(patterns))
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, outputDir, name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s/api/%s is not current: run go generate", dir, name)
	}
}

func TestBrokenPackage(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module p\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte("package p\n\nvar X int = \"text\"\n"), 0o600))
	_, err := generate(dir, ".")
	assert.ErrorContains(t, err, "cannot use")
}

const before = `pkg forge, const Limit untyped int = 1
pkg forge, const Version untyped string = "0.1.0"
pkg forge, func New(string) *Client
pkg forge, method (*Client) Close() error
pkg forge, method (*Gone) Get() error
pkg forge, method (*Old) Renew()
pkg forge, type Client struct
pkg forge, type Client struct, Name string
pkg forge, type Client struct, embedded *http.Client
pkg forge, type Client struct, unexported fields
pkg forge, type Gone struct
pkg forge, type Gone struct, A int
pkg forge, type Old int
pkg forge, type Open interface { Next }
pkg forge, type Open interface, Next() error
pkg forge, type Pair[K comparable] struct
pkg forge, type Pair struct, Key K
pkg forge, type Sealed interface, unexported methods
pkg forge, var Default *Client
`

func TestRemoved(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string
		want     []string
	}{
		"nothing":                    {before, before, nil},
		"additions":                  {before, "pkg forge, func A()\n" + before + "pkg forge, var Z int\n", nil},
		"a constant's value":         {before, replaced(t, "int = 1", "int = 2"), []string{"Limit"}},
		"the version":                {before, replaced(t, "0.1.0", "0.2.0"), nil},
		"a signature":                {before, replaced(t, "New(string)", "New(string, bool)"), []string{"New"}},
		"a method":                   {before, replaced(t, "pkg forge, method (*Client) Close() error\n", ""), []string{"Client.Close"}},
		"a receiver":                 {before, replaced(t, "(*Client) Close", "(Client) Close"), []string{"Client.Close"}},
		"a field's type":             {before, replaced(t, "Name string", "Name *string"), []string{"Client.Name"}},
		"an embedded field":          {before, replaced(t, "embedded *http.Client", "embedded http.Client"), []string{"Client.Client"}},
		"unexported fields":          {before, replaced(t, "pkg forge, type Client struct, unexported fields\n", ""), nil},
		"a type with what is in it":  {before, replaced(t, "pkg forge, method (*Gone) Get() error\n", "", "pkg forge, type Gone struct\npkg forge, type Gone struct, A int\n", ""), []string{"Gone"}},
		"a type's kind":              {before, replaced(t, "type Old int", "type Old string"), []string{"Old"}},
		"another method to be had":   {before, replaced(t, "{ Next }", "{ Close, Next }"), []string{"Open"}},
		"a method of an interface":   {before, replaced(t, "Next() error", "Next() (int, error)"), []string{"Open.Next"}},
		"a constraint":               {before, replaced(t, "K comparable", "K any"), []string{"Pair"}},
		"a sealed interface, opened": {before, replaced(t, "Sealed interface, unexported methods", "Sealed interface { A }"), nil},
		"a variable":                 {before, replaced(t, "var Default *Client", "var Default Client"), []string{"Default"}},
		"all":                        {"pkg forgetest, func New() *Server\npkg forgetest, type Server struct\npkg forgetest, type Server struct, URL string\n", "", []string{"forgetest.New", "forgetest.Server"}},
	} {
		t.Run(name, func(t *testing.T) {
			names, err := removed(directory(t, test.old), directory(t, test.new))
			require.NoError(t, err)
			assert.Equal(t, test.want, names)
		})
	}
	_, err := removed(directory(t, "func New()\n"), directory(t, ""))
	assert.ErrorContains(t, err, `not a line of an api file: "func New()"`)
	names, err := removed(directory(t, before), t.TempDir())
	require.NoError(t, err)
	assert.Contains(t, names, "New", "a file that no longer exists")
}

func TestUnlisted(t *testing.T) {
	const head = "# Changelog\n\n## Unreleased\n\n### Added\n\n- `New` is mentioned here.\n\n### Breaking\n\n"
	const tail = "\n### Fixed\n\n- `Client.Close`\n\n## v0.2.0\n\n### Breaking\n\n- `Released`\n" +
		"\n## v0.1.0\n\n### Breaking\n\n- `Client.Close`, `New`\n"
	for text, want := range map[string][]string{
		"": {"Client.Close", "New"},
		"- `New` takes a context, and Client.Close. ": nil,
		"- `forge.New`; Client.Close.":                nil,
		"- Client.Close and `NewClient`":              {"New"},
		"- Client.Close and `forgetest.New`":          {"New"},
		"- New.Client.Close, Client.CloseAll":         {"Client.Close", "New"},
	} {
		changelog := filepath.Join(t.TempDir(), "CHANGELOG.md")
		require.NoError(t, os.WriteFile(changelog, []byte(head+text+"\n"+tail), 0o600))
		now := replaced(t, "New(string)", "New()", "(*Client) Close", "(Client) Close")
		names, err := unlisted(directory(t, before), directory(t, now), changelog, "v0.1.0")
		require.NoError(t, err)
		assert.ElementsMatch(t, want, names, text)
	}
	assert.True(t, mentions(breakingSections(head+tail, "v0.1.0"), "Released"), "a release that has no tag yet")
	assert.False(t, mentions(breakingSections(head+tail, "v0.1.0"), "New"))
	assert.True(t, mentions(breakingSections(head+tail, ""), "New"))
}

func replaced(t *testing.T, oldnew ...string) string {
	text := before
	for i := 0; i < len(oldnew); i += 2 {
		require.Contains(t, text, oldnew[i])
		text = strings.ReplaceAll(text, oldnew[i], oldnew[i+1])
	}
	return text
}

func directory(t *testing.T, api string) string {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "forge.txt"), []byte(api), 0o600))
	return dir
}
