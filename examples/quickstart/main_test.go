package main

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestQuickstart runs the program against the embedded server and against a "real" one that the
// environment names.
func TestQuickstart(t *testing.T) {
	defer goleak.VerifyNone(t)
	t.Setenv("FORGE_URL", "")
	t.Setenv("TMPDIR", t.TempDir())
	var out strings.Builder
	require.NoError(t, run(t.Context(), &out))
	entries, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		assert.True(t, info.IsDir() && info.Mode().Perm() == 0o700, "%s: others may have files in a shared directory", entry.Name())
	}
	for _, want := range []string{"embedded", "Issues", "Tree", "Archive", "now subscribed", "nothing to change", "unsubscribed again"} {
		assert.Contains(t, out.String(), want)
	}
	assert.Equal(t, 1, strings.Count(out.String(), "now subscribed"), "the second answer must be the documented no-op")
}
