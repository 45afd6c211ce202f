package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestGenerated fails if an options type was changed without go generate.
func TestGenerated(t *testing.T) { current(t, "../..") }

// TestSample fails if a change of the generator changes its output.
func TestSample(t *testing.T) { current(t, "testdata/sample") }

func current(t *testing.T, dir string) {
	t.Helper()
	want, err := generate(dir)
	require.NoError(t, err)
	got, err := os.ReadFile(filepath.Join(dir, output))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got), "%s/%s is not current: run go generate", dir, output)
}

func TestRefused(t *testing.T) {
	for source, want := range map[string]string{
		"A string `url:\"a\"`\n}":                  `O.A: the tag "a" needs a name and omitempty`,
		"A string `url:\",omitempty\"`\n}":         `O.A: the tag ",omitempty" needs a name and omitempty`,
		"A []int64 `url:\"a,comma,omitempty\"`\n}": `O.A: the tag "a,comma,omitempty" has the unknown option "comma"`,
		"A, B string `url:\"a,omitempty\"`\n}":     "O: a field with a url tag needs one name",
		"E `url:\"e,omitempty\"`\n}":               "O: a field with a url tag needs one name",
		"A any `url:\"a,omitempty\"`\n}":           "O.A: no line for the type any",
		"A []bool `url:\"a,omitempty\"`\n}":        "O.A: no line for the type []bool",
		"A *string `url:\"a,omitempty\"`\n}":       "O.A: no line for the type *string",
		"A P `url:\"a,omitempty\"`\n}\n" + other:   "O.A: no line for the type P",
		"A *P `url:\"a,omitempty\"`\n}\n" + other:  "P.B: no line for the type float64",
		"A string": "expected",
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.go"), []byte("package p\n\ntype O struct {\n"+source+"\n"), 0o600))
		_, err := generate(dir)
		assert.ErrorContains(t, err, want, source)
	}
}

const other = "type P struct {\nB float64 `url:\"b,omitempty\"`\n}"
