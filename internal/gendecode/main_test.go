package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGenerated fails if a response type was changed without go generate.
func TestGenerated(t *testing.T) { current(t, "../..") }

// TestSample fails if a change of the generator changes its output.
func TestSample(t *testing.T) { current(t, "testdata/sample") }

func current(t *testing.T, dir string) {
	t.Helper()
	files, err := generate(dir)
	require.NoError(t, err)
	require.Len(t, files, 2)
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), "%s/%s is not current: run go generate", dir, name)
	}
}

func TestRefused(t *testing.T) {
	const head = "package p\n\nimport \"encoding/json\"\n\ntype Extra = map[string]json.RawMessage\ntype R struct {\nExtra map[string]json.RawMessage `json:\"-\"`\n"
	for source, want := range map[string]string{
		"ID int\n}":                                   "R.ID: the field has no json tag",
		"ID int `url:\"id\"`\n}":                      "R.ID: the json tag has no name",
		"ID int `json:\",omitempty\"`\n}":             "R.ID: the json tag has no name",
		"A int `json:\"a\"`\nB int `json:\"a\"`\n}":   `R.B: two fields have the name "a"`,
		"E\nB int `json:\"a\"`\n}\n" + embedded:       `R.B: two fields have the name "a"`,
		"*E\n}\n" + embedded:                          "R embeds *E: only response types without a tag can be embedded",
		"E `json:\"e\"`\n}\n" + embedded:              "R embeds E: only response types without a tag can be embedded",
		"P\n}\ntype P struct{ A int }":                "R embeds P: only response types without a tag can be embedded",
		"P P `json:\"p\"`\n}\ntype P struct{ A int }": "R.P: P needs a field Extra",
		"P []*E `json:\"p\"`\n}\n" + embedded:         "R.P: E needs a field Extra",
		"P *[]E `json:\"p\"`\n}\n" + embedded:         "R.P: E needs a field Extra",
		"P map[int]E `json:\"p\"`\n}\n" + embedded:    "R.P: E needs a field Extra",
		"P Nullable[any] `json:\"p\"`\n}":             "R.P: no function reads the type Nullable[any]",
		"P Nullable[[]int] `json:\"p\"`\n}":           "R.P: no function reads the type Nullable[[]int]",
		"P []Nullable[int] `json:\"p\"`\n}":           "R.P: no function reads the type []Nullable[int]",
		"P any `json:\"p\"`\n}":                       "R.P: no function reads the type any",
		"P [2]int `json:\"p\"`\n}":                    "R.P: no function reads the type [2]int",
		"P uint8 `json:\"p\"`\n}":                     "R.P: no function reads the type uint8",
		"P map[string]map[string]int `json:\"p\"`\n}": "R.P: no function reads the type map[string]map[string]int",
		"P A `json:\"p\"`\n}\ntype A string\nfunc (a *A) UnmarshalJSON([]byte) error { return nil }": "R.P: no function reads the type A",
		"P struct{} `json:\"p\"`\n}": "R.P: the struct needs a field Extra",
		"P":                          "expected",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte(head+source+"\n"), 0o600))
		_, err := generate(dir)
		assert.ErrorContains(t, err, want, source)
	}
}

const embedded = "type E struct {\nA int `json:\"a\"`\nExtra map[string]json.RawMessage `json:\"-\"`\n}"
