package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// Every documented endpoint has a method, and docs/endpoints.md lists them all.
func TestTablesAreCurrent(t *testing.T) {
	rows, err := read("../..")
	require.NoError(t, err)
	called := map[string]bool{}
	for _, r := range rows {
		called[r.route.Method+" "+r.route.Template] = true
	}
	for _, r := range forge.Routes() {
		assert.Contains(t, called, r.Method+" "+r.Template, "no method calls it")
	}
	text, err := os.ReadFile("../../" + guide)
	require.NoError(t, err)
	want, err := splice(text, markdown(rows))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(text), "run go generate ./...")
	parameters, err := os.ReadFile("../../zz_parameters.go")
	require.NoError(t, err)
	table, err := parameterTable("../../testdata/spec")
	require.NoError(t, err)
	assert.Equal(t, string(table), string(parameters), "run go generate ./...")
}

func TestSpliceNeedsMarkers(t *testing.T) {
	_, err := splice([]byte("# Title\n"), []byte("table"))
	assert.ErrorContains(t, err, "markers")
}
