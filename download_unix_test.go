//go:build unix

package forge

import (
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withUmask sets the umask of the process, for tests that run alone.
func withUmask(t *testing.T, mask int) {
	t.Helper()
	old := syscall.Umask(mask)
	t.Cleanup(func() { syscall.Umask(old) })
}

// saver is a kind of download, and the most permissive mode of its files.
type saver struct {
	name   string
	open   func(*testing.T, string) *Download
	within fs.FileMode
}

func savers() []saver {
	return []saver{
		{"archive", func(t *testing.T, content string) *Download { return openContent(t, content) }, 0o777},
		{"secure file", openSecure, 0o600},
	}
}

// A new file has the mode that the umask allows; only the owner can read a secure file.
func TestSaveToHonoursUmask(t *testing.T) {
	for _, s := range savers() {
		for _, mask := range []fs.FileMode{0, 0o002, 0o022, 0o027, 0o077, 0o777} {
			path := filepath.Join(t.TempDir(), "file")
			withUmask(t, int(mask))
			require.NoError(t, s.open(t, "content").SaveTo(path), "%s %o", s.name, mask)
			assert.Equal(t, 0o666&s.within&^mask, modeOf(t, path), "%s, umask %o", s.name, mask)
		}
	}
}

// A replaced file keeps its mode; a secure file keeps only the permissions of its owner.
func TestSaveToKeepsMode(t *testing.T) {
	withUmask(t, 0o022)
	for _, s := range savers() {
		for _, mode := range []fs.FileMode{0o600, 0o644, 0o640, 0o666, 0o400, 0o755, 0o000} {
			path := filepath.Join(t.TempDir(), "file")
			require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
			require.NoError(t, os.Chmod(path, mode))
			require.NoError(t, s.open(t, "content").SaveTo(path))
			want := mode & s.within
			if s.within == 0o600 {
				want |= 0o400 // its owner must be able to read it
			}
			assert.Equal(t, want, modeOf(t, path), "%s, mode %o", s.name, mode)
			require.NoError(t, os.Chmod(path, 0o600))
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, "content", string(content))
		}
	}
}

// The file appears under its name when it is complete, not before. While it is incomplete, only its
// owner can read it, and its name cannot be guessed.
func TestSaveToIsAtomic(t *testing.T) {
	withUmask(t, 0)
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o666))
	seen := map[string]bool{}
	for i := range 3 {
		content := strings.Repeat(fmt.Sprint(i), 100_000)
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		d := openContent(t, content, Progress(func(int64, int64) {
			now, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, before, now)
			names := dirNames(t, dir)
			assert.Len(t, names, 2)
			assert.Equal(t, fs.FileMode(0o600), modeOf(t, filepath.Join(dir, names[0])))
			seen[names[0]] = true
		}))
		require.NoError(t, d.SaveTo(path))
		now, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, content, string(now))
		assert.Equal(t, fs.FileMode(0o666), modeOf(t, path))
	}
	assert.Len(t, seen, 3)
	for name := range seen {
		assert.Regexp(t, `^\.forge-[0-9A-Z]{21,}\.part$`, name)
	}
	assert.Equal(t, []string{"file"}, dirNames(t, dir))
}

// As root, a replaced file keeps its owner and group, but a secure file belongs to the user who
// saves it.
func TestSaveToKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	for _, s := range savers() {
		path := filepath.Join(t.TempDir(), "file")
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o640))
		require.NoError(t, os.Chown(path, 1234, 5678))
		require.NoError(t, s.open(t, "content").SaveTo(path))
		info, err := os.Stat(path)
		require.NoError(t, err)
		stat := info.Sys().(*syscall.Stat_t)
		want := [2]uint32{1234, 5678}
		if s.within == 0o600 {
			want = [2]uint32{0, 0}
		}
		assert.Equal(t, want, [2]uint32{stat.Uid, stat.Gid}, s.name)
		assert.Equal(t, 0o640&s.within, info.Mode(), s.name)
	}
}

// Anything that is not a regular file is refused and not changed.
func TestSaveToRefusesOthers(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, syscall.Mkfifo(at("pipe"), 0o600))
	t.Chdir(dir) // the path of a socket has 108 bytes at most
	listener, err := net.Listen("unix", "socket")
	require.NoError(t, err)
	defer listener.Close()
	require.NoError(t, os.Mkdir(at("directory"), 0o700))
	require.NoError(t, os.WriteFile(at("file"), []byte("old"), 0o600))
	for link, target := range map[string]string{
		"to pipe": "pipe", "to directory": "directory", "dangling": "nothing", "loop": "loop", "to device": os.DevNull, "below": "file/x",
	} {
		require.NoError(t, os.Symlink(target, at(link)))
	}
	paths := []string{at("pipe"), at("socket"), at("directory"), at("to pipe"), at("to directory"), at("dangling"), at("loop"), at("to device"), at("below")}
	if os.Geteuid() == 0 {
		if syscall.Mknod(at("device"), syscall.S_IFCHR|0o600, 1<<8|3) == nil { // as /dev/null is
			paths = append(paths, at("device"))
		}
	} else {
		paths = append(paths, os.DevNull)
	}
	before := dirNames(t, dir)
	for _, s := range savers() {
		for _, path := range paths {
			mode := modeOf(t, path)
			o := ends(t, func() error { return s.open(t, "content").SaveTo(path) })
			assertSaveError(t, o.err, path)
			assert.Equal(t, mode, modeOf(t, path), path)
		}
	}
	assert.Equal(t, before, dirNames(t, dir))
	null, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	assert.NotZero(t, null.Mode()&fs.ModeCharDevice)
	require.ErrorIs(t, openContent(t, "x").SaveTo(at("dangling")), fs.ErrNotExist)
}

// A symbolic link is kept, and the file that it points to is replaced. The temporary file is in the
// directory of that file.
func TestSaveToFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "real")
	require.NoError(t, os.Mkdir(folder, 0o700))
	target := filepath.Join(folder, "file")
	require.NoError(t, os.Symlink("real", filepath.Join(dir, "linked")))
	require.NoError(t, os.Symlink(filepath.Join("linked", "..", "real", "file"), filepath.Join(dir, "one")))
	require.NoError(t, os.Symlink("one", filepath.Join(dir, "two")))
	require.NoError(t, os.Symlink(target, filepath.Join(dir, "absolute")))
	for _, s := range savers() {
		for _, link := range []string{"one", "two", "absolute", "linked/file"} {
			require.NoError(t, os.WriteFile(target, []byte("old"), 0o640))
			path := filepath.Join(dir, link)
			before := dirNames(t, dir)
			require.NoError(t, s.open(t, "content of "+link).SaveTo(path), link)
			assert.Equal(t, before, dirNames(t, dir))
			assert.Equal(t, []string{"file"}, dirNames(t, folder))
			content, err := os.ReadFile(target)
			require.NoError(t, err)
			assert.Equal(t, "content of "+link, string(content))
			assert.Equal(t, 0o640&s.within, modeOf(t, target))
			require.NoError(t, os.Remove(target))
		}
	}
	assert.NotZero(t, modeOf(t, filepath.Join(dir, "one"))&fs.ModeSymlink)

	// The system resolves ".." below a linked directory.
	elsewhere := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(elsewhere, "deep"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join("..", "up"), filepath.Join(elsewhere, "deep", "link")))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "deep"), filepath.Join(dir, "deep")))
	for _, path := range []string{filepath.Join(elsewhere, "up"), filepath.Join(dir, "up")} {
		require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	}
	require.NoError(t, openContent(t, "new").SaveTo(filepath.Join(dir, "deep", "link")))
	for path, want := range map[string]string{filepath.Join(elsewhere, "up"): "new", filepath.Join(dir, "up"): "old"} {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, want, string(content), path)
	}
}

// In a world-writable directory another user's link is not followed, as in the kernel.
func TestSaveToDistrustsLinks(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a link of another user")
	}
	shared, own := t.TempDir(), t.TempDir()
	target := filepath.Join(own, "important")
	link := filepath.Join(shared, "link")
	require.NoError(t, os.Chmod(shared, 0o777|fs.ModeSticky))
	require.NoError(t, os.Symlink(target, link))
	save := func() error {
		require.NoError(t, os.WriteFile(target, []byte("old"), 0o600))
		return openContent(t, "content").SaveTo(link)
	}
	require.NoError(t, save(), "a link of one's own")
	require.NoError(t, os.Lchown(link, 1234, 1234))
	err := save()
	assertSaveError(t, err, link)
	require.ErrorIs(t, err, fs.ErrPermission)
	content, err := os.ReadFile(target)
	require.NoError(t, err)
	assert.Equal(t, "old", string(content))
	require.NoError(t, os.Chown(shared, 1234, 1234))
	require.NoError(t, save(), "a link of the directory's owner")
}

// FileAt refuses anything that is not a regular file before it opens it.
func TestFileAtRefusesOthers(t *testing.T) {
	client := silentServer(t)
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	require.NoError(t, os.Symlink(pipe, filepath.Join(dir, "link")))
	for path, text := range map[string]string{
		pipe: "a named pipe", filepath.Join(dir, "link"): "a named pipe", os.DevNull: "a device", dir: "a directory",
	} {
		var opened bool
		o := ends(t, func() error {
			err := sendFile(t, client, FileAt(path))
			opened = true
			return err
		})
		require.True(t, opened)
		refused(t, o.err, "File", "file")
		require.ErrorContains(t, o.err, text)
	}

	// A file that was regular is checked again.
	path := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(path, []byte("x"), 0o600))
	file := FileAt(path)
	require.NoError(t, os.Rename(pipe, path))
	o := ends(t, func() error { return sendFile(t, client, file) })
	require.ErrorContains(t, o.err, "a named pipe")
	asError(t, o.err)
}
