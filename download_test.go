package forge

import (
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openContent opens a download of the content, from a server.
func openContent(t *testing.T, content string, opts ...RequestOption) *Download {
	t.Helper()
	d, err := openArchive(t.Context(), wireClient(t, newWire(t, always(say(200, content))).url), opts...)
	require.NoError(t, err)
	return d
}

// openSecure opens a download of a secure file.
func openSecure(t *testing.T, content string) *Download {
	t.Helper()
	d, err := wireClient(t, newWire(t, always(say(200, content))).url).SecureFiles.Download(t.Context(), ID(1), &SecureFile{ID: 1})
	require.NoError(t, err)
	return d
}

// dirNames lists a directory.
func dirNames(t *testing.T, dir string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// assertSaveError checks the one form of all errors of SaveTo, and that nothing is left behind.
func assertSaveError(t *testing.T, err error, path string) {
	t.Helper()
	require.Error(t, err)
	assert.True(t, strings.HasPrefix(err.Error(), "forge: saving "+path+": "), err.Error())
	if info, statErr := os.Stat(filepath.Dir(path)); statErr == nil && info.IsDir() {
		for _, name := range dirNames(t, filepath.Dir(path)) {
			assert.NotContains(t, name, ".forge-", "the temporary file is left")
		}
	}
}

// Every error of SaveTo has one form, matches its cause, and leaves the old file and no temporary one.
func TestSaveToErrors(t *testing.T) {
	dir := t.TempDir()
	old := filepath.Join(dir, "old")
	require.NoError(t, os.WriteFile(old, []byte("old"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "full"), 0o700))

	for path, is := range map[string]error{
		filepath.Join(dir, "missing", "x"): os.ErrNotExist, filepath.Join(old, "x"): nil, dir: nil, filepath.Join(dir, "full"): nil,
		"": nil, filepath.Join(dir, "missing") + string(filepath.Separator): nil, filepath.Join(dir, "a\x00b"): nil,
		filepath.Join(dir, strings.Repeat("x", 300)): nil,
	} {
		d := openContent(t, "content")
		err := d.SaveTo(path)
		assertSaveError(t, err, path)
		if is != nil {
			require.ErrorIs(t, err, is, path)
		}
		_, err = d.Read(make([]byte, 1))
		require.ErrorContains(t, err, "closed", "it is closed all the same")
	}

	for name, test := range map[string]struct {
		act  act
		opts []RequestOption
		is   error
	}{
		"cut":       {closing("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncontent"), nil, io.ErrUnexpectedEOF},
		"reset":     {reset("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncontent"), nil, nil},
		"too large": {say(200, "content"), []RequestOption{MaxBytes(3)}, ErrTooLarge},
		"checksum":  {say(200, "content"), []RequestOption{Checksum(ChecksumSHA256, sumOf("else"))}, ErrChecksum},
	} {
		d, err := openArchive(t.Context(), wireClient(t, newWire(t, always(test.act)).url), test.opts...)
		if err != nil { // the reset was faster
			continue
		}
		err = d.SaveTo(old)
		assertSaveError(t, err, old)
		assert.Equal(t, archiveRoute, asError(t, err).Route, name)
		if test.is != nil {
			require.ErrorIs(t, err, test.is, name)
		}
	}
	content, err := os.ReadFile(old)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content))
	assert.Equal(t, []string{"full", "old"}, dirNames(t, dir))
}

// A panic or runtime.Goexit in Progress leaves no temporary file either.
func TestSaveToPanics(t *testing.T) {
	for name, act := range map[string]func(){"panic": func() { panic("of the caller") }, "Goexit": runtime.Goexit} {
		path := filepath.Join(t.TempDir(), "file")
		d := openContent(t, "content", Progress(func(int64, int64) { act() }))
		ends(t, func() error { return d.SaveTo(path) })
		assert.Empty(t, dirNames(t, filepath.Dir(path)), name)
		_, err := d.Read(make([]byte, 1))
		require.ErrorContains(t, err, "closed", name)
	}
}

// The file appears under its name when it is complete, not before.
func TestSaveToIsAtomic(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	var seen int
	d := openContent(t, strings.Repeat("x", 200_000), Progress(func(int64, int64) {
		seen++
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, "old", string(content))
		assert.Len(t, dirNames(t, dir), 2)
	}))
	require.NoError(t, d.SaveTo(path))
	assert.NotZero(t, seen)
	assert.Equal(t, []string{"file"}, dirNames(t, dir))
}

// A stream that fails is an error of the stream and of saving, in this order.
func TestSaveToOfABrokenStream(t *testing.T) {
	w := newWire(t, always(func(conn net.Conn) bool {
		_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ncontent")
		return false
	}))
	d, err := openArchive(t.Context(), wireClient(t, w.url))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "file")
	err = d.SaveTo(path)
	assert.True(t, strings.HasPrefix(err.Error(), "forge: saving "+path+": forge: GET "+archiveRoute), err.Error())
	var failed *Error
	require.ErrorAs(t, err, &failed)
	assert.Equal(t, http.MethodGet, failed.Method)
}
