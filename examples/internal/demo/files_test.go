package demo

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Without a flag, only the embedded server has a place for files, and it does not stay.
func TestPath(t *testing.T) {
	var out strings.Builder
	named, embedded := &Server{}, &Server{Embedded: true}
	for _, server := range []*Server{named, embedded} {
		path, remove, err := server.Path(&out, "-dir", "here", "audit")
		require.NoError(t, err)
		assert.Equal(t, "here", path)
		remove()
	}
	_, _, err := named.Path(&out, "-dir", "", "audit")
	require.EqualError(t, err, "-dir is missing: it names what to write to")
	assert.Empty(t, out.String())

	path, remove, err := embedded.Path(&out, "-dir", "", "audit")
	require.NoError(t, err)
	require.NoError(t, SaveBytes(path, false, nil))
	remove()
	assert.NoDirExists(t, filepath.Dir(path))
	assert.Equal(t, "No file is kept: -dir names a place for it.\n", out.String())

	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "nowhere"))
	_, _, err = embedded.Path(&out, "-dir", "", "audit")
	require.Error(t, err)
}

// A file is replaced as a whole or not at all, and what is not a file is left alone.
func TestSaveFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, CheckRegular(path), "it does not exist yet")
	require.NoError(t, SaveBytes(path, true, []byte("old")))
	require.NoError(t, CheckRegular(path))
	full := errors.New("the disk is full")
	err := SaveFile(path, false, func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return full
	})
	require.ErrorIs(t, err, full)
	require.EqualError(t, err, "saving "+path+": the disk is full")
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content))
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1)
	for _, other := range []string{dir, os.DevNull} {
		require.ErrorContains(t, SaveBytes(other, false, nil), "not a regular file")
		require.ErrorContains(t, CheckRegular(other), "not a regular file")
	}
	require.Error(t, CheckRegular(filepath.Join(path, "below")))
}
