package savefile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func text(content string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}
}

func read(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// assertAlone checks that a directory holds one file, and no temporary one.
func assertAlone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	assert.Equal(t, filepath.Base(path), entries[0].Name())
}

// A write that fails in any way keeps the old file and leaves no other file.
func TestFailedWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, Write(path, false, text("old")))
	broken := errors.New("broken")
	require.ErrorIs(t, Write(path, false, func(w io.Writer) error { return errors.Join(text("half")(w), broken) }), broken)
	assertAlone(t, path)
	assert.PanicsWithValue(t, "of the caller", func() { _ = Write(path, true, func(io.Writer) error { panic("of the caller") }) })
	assertAlone(t, path)
	require.ErrorIs(t, Write(path, false, func(w io.Writer) error { return w.(*os.File).Close() }), fs.ErrClosed)
	assertAlone(t, path)
	assert.Equal(t, "old", read(t, path))

	// In the meantime a directory has the name: renaming fails.
	require.NoError(t, os.Remove(path))
	require.Error(t, Write(path, false, func(io.Writer) error { return os.Mkdir(path, 0o700) }))
	assertAlone(t, path)
}

// A path without a directory is in the current directory, also for links.
func TestRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	require.NoError(t, Write("file", false, text("one")))
	require.NoError(t, os.Symlink("file", "link"))
	require.NoError(t, Write("link", true, text("two")))
	assert.Equal(t, "two", read(t, "file"))
	for _, path := range []string{"", ".", "..", "new/", "./"} {
		require.Error(t, Write(path, false, text("x")), path)
	}
	require.ErrorContains(t, Write("file/x", false, text("x")), "file/x")
}

// The group of a new file gets no permissions that others do not have.
func TestWithoutGroup(t *testing.T) {
	for mode, want := range map[fs.FileMode]fs.FileMode{
		0o660: 0o600, 0o640: 0o600, 0o664: 0o644, 0o644: 0o644, 0o777: 0o777, 0o775: 0o755, 0o604: 0o604, 0o606: 0o606, 0o600: 0o600, 0: 0,
	} {
		assert.Equal(t, want, withoutGroup(mode), "%o", mode)
	}
}
