package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The generated tables are those of the code and the catalogue.
func TestTablesAreCurrent(t *testing.T) {
	files, err := generate("../..")
	require.NoError(t, err)
	for name, want := range files {
		text, err := os.ReadFile("../../" + name)
		require.NoError(t, err)
		if want != string(text) { // assert.Equal would print both
			assert.Fail(t, "not current", "%s: run go generate ./...", name)
		}
	}
}

func TestSpliceNeedsMarkers(t *testing.T) {
	_, err := splice("# Title\n", "writes", "table")
	assert.ErrorContains(t, err, "markers")
}
