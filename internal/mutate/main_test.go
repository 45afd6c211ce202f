package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

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

// The output of a program reaches the watch, which ends the program at a slow test.
func TestLongest(t *testing.T) {
	ended := make(chan struct{})
	w := &watch{longest: time.Millisecond, end: func() { close(ended) }}
	_, err := io.Copy(w, struct{ io.Reader }{strings.NewReader("=== RUN   TestFast\n--- PASS: TestFast (0.00s)\n=== RUN   TestSlow\n")})
	require.NoError(t, err)
	require.NotNil(t, w.timer)
	<-ended
	assert.Equal(t, "TestSlow", w.stop())
}
