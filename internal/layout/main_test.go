package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func check(t *testing.T, dir string, l limits) *report {
	t.Helper()
	r := &report{}
	require.NoError(t, r.checkAll(dir, l))
	return r
}

// The repository is within its limits.
func TestRepository(t *testing.T) {
	r := check(t, "../..", repository())
	assert.Empty(t, r.problems)
	assert.NotEmpty(t, r.figures)
}

// Each check finds the file that breaks its rule.
func TestBroken(t *testing.T) {
	r := check(t, "testdata/broken", limits{
		circle: 2, callFields: 2, exports: map[string]int{"conn": 3},
		parts: []part{{"retry", "call_retry.go", 1}, {"response", "call_response.go", 0}},
	})
	assert.Equal(t, []string{
		"hand-written files in the largest circle: 3, which is more than 2: call.go users.go users_types.go",
		"service files and client.go in circles with other files: 2, which is more than 0: users.go users_types.go",
		"fields of call: 3, which is more than 2: retry url header",
		"users_types.go declares call.assign: methods of call are in call*.go",
		"assignments to call.retry outside call_retry.go: 8, which is more than 1: " +
			"users.go:8 users_types.go:9 users_types.go:10 users_types.go:11 users_types.go:12 users_types.go:13 users_types.go:17 users_types.go:18",
		"call has no field response, which call_response.go is to assign",
		"helpers_test.go has no test: a file of helpers is named helper_*_test.go",
		"core files without a test file of their name: 1, which is more than 0: call.go",
		"internal/conn imports the root package",
		"exported names of internal/conn: 4, which is more than 3: A C New D",
		"internal/task imports the root package",
	}, r.problems)
}

// A package that follows the rules has no problem, and its figures are printed.
func TestSound(t *testing.T) {
	r := check(t, "testdata/sound", limits{
		circle: 2, callFields: 1, exports: map[string]int{"conn": 1}, parts: []part{{"retry", "call_retry.go", 0}},
	})
	assert.Empty(t, r.problems)
	assert.Equal(t, []string{
		"hand-written files in the largest circle: 2 (at most 2)",
		"service files and client.go in circles with other files: 0 (at most 0)",
		"fields of call: 1 (at most 1)",
		"assignments to call.retry outside call_retry.go: 0 (at most 0)",
		"core files without a test file of their name: 0 (at most 0)",
		"exported names of internal/conn: 1 (at most 1)",
	}, r.figures)
}

// Circles are found for every kind of dependency between files. A file that only depends on a
// circle is not in it.
func TestCircles(t *testing.T) {
	for _, test := range []struct {
		links []string
		want  [][]string
	}{
		{[]string{"a b", "b c"}, nil},
		{[]string{"a b", "b a", "b c", "d a"}, [][]string{{"a", "b"}}},
		{[]string{"a b", "b c", "c a", "c d", "d e", "e d"}, [][]string{{"a", "b", "c"}, {"d", "e"}}},
		{[]string{"a b", "b c", "c b", "c d", "d a"}, [][]string{{"a", "b", "c", "d"}}},
		{[]string{"b a", "c a", "a b", "a c"}, [][]string{{"a", "b", "c"}}},
	} {
		g := graph{}
		for _, link := range test.links {
			from, to := link[:1], link[2:]
			if g[from] == nil {
				g[from] = map[string]bool{}
			}
			g[from][to] = true
		}
		assert.Equal(t, test.want, g.circles(), "%v", test.links)
	}
}
