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
	require.NoError(t, os.Symlink("none", "dangling"))
	err := Write("dangling", false, text("x"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, "it is a symbolic link to a file that does not exist: ")
	require.NoFileExists(t, "none")
}

// info is a file of a mode.
type info struct {
	fs.FileInfo
	mode fs.FileMode
}

func (i info) Name() string      { return "x" }
func (i info) Mode() fs.FileMode { return i.mode }
func (i info) Sys() any          { return nil }

// The error names what is not a regular file.
func TestCheckRegular(t *testing.T) {
	for mode, kind := range map[fs.FileMode]string{
		fs.ModeDir | 0o755: "a directory", fs.ModeNamedPipe | 0o600: "a named pipe", fs.ModeSocket: "a socket", fs.ModeDevice: "a device",
		fs.ModeDevice | fs.ModeCharDevice: "a device", fs.ModeIrregular | 0o644: "of the type ?---------",
	} {
		assert.EqualError(t, CheckRegular(info{mode: mode}), "x is "+kind+" and not a regular file")
	}
	assert.NoError(t, CheckRegular(info{mode: 0o644 | fs.ModeSetuid}))
}

// A file without a known mode is not written to.
func TestPrepareFails(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	require.ErrorIs(t, (&temporary{file: file}).prepare(nil, false), fs.ErrClosed)
}

// The group of a new file gets no permissions that others do not have.
func TestWithoutGroup(t *testing.T) {
	for mode, want := range map[fs.FileMode]fs.FileMode{
		0o660: 0o600, 0o640: 0o600, 0o664: 0o644, 0o644: 0o644, 0o777: 0o777, 0o775: 0o755, 0o604: 0o604, 0o606: 0o606, 0o600: 0o600, 0: 0,
	} {
		assert.Equal(t, want, withoutGroup(mode), "%o", mode)
	}
}
