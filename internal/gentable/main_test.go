package main

import (
	"os"
	"testing"

	"github.com/forge-sdk/forge-go/internal/gosource"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The generated tables are those of the code.
func TestTablesAreCurrent(t *testing.T) {
	methods, err := gosource.Methods("../..")
	require.NoError(t, err)
	text, err := os.ReadFile("../../" + guide)
	require.NoError(t, err)
	want, err := splice(text, markdown(methods))
	require.NoError(t, err)
	assert.Equal(t, string(want), string(text), "run go generate ./...")
	parameters, err := os.ReadFile("../../zz_parameters.go")
	require.NoError(t, err)
	assert.Equal(t, string(parameterTable()), string(parameters), "run go generate ./...")
}

func TestSpliceNeedsMarkers(t *testing.T) {
	_, err := splice([]byte("# Title\n"), []byte("table"))
	assert.ErrorContains(t, err, "markers")
}
