package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The functions of testdata/known say in their names what becomes of their mutants.
func TestKnownOutcomes(t *testing.T) {
	t.Chdir("testdata/known")
	t.Setenv("GOFLAGS", "-mod=mod")
	for _, name := range []string{"FORGE_MUTANT", "FORGE_MUTANT_HITS"} { // of a run that includes this test
		t.Setenv(name, "")
	}
	o := options{files: "*.go", packages: "./...", n: 1000, workers: 2}
	tree, err := here(t.Context())
	require.NoError(t, err)
	all, err := tree.candidates(t.Context(), o.files)
	require.NoError(t, err)
	var out bytes.Buffer
	verdicts, err := tree.judge(t.Context(), &out, o, draw(all, o.n, 1))
	require.NoError(t, err)
	require.Len(t, verdicts, len(all), "each mutant compiles")
	kinds := map[string]bool{}
	for _, v := range verdicts {
		survives := strings.HasPrefix(v.function, "Survives")
		assert.Equal(t, survives, v.killer == "", "%s: %s", &v.mutant, v.killer)
		if !survives {
			kinds[v.kind] = true
		}
	}
	assert.Len(t, kinds, 10, "%v", kinds)
	assert.Contains(t, out.String(), "omitted, as it fails without a mutant: example.com/known.TestBroken")
}
