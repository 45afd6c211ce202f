//go:build unix

package savefile

import (
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A user who is not root cannot keep the owner and the group of a replaced file. The file is
// replaced anyway, and the new group gets no permissions.
func TestOtherUser(t *testing.T) {
	const user = 1234
	if path := os.Getenv("SAVEFILE_AS_OTHER"); path != "" {
		require.NoError(t, Write(path, false, text("new")))
		return
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(dir), 0o755))
	program, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	binary := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(binary, program, 0o755))
	folder := filepath.Join(dir, "folder")
	require.NoError(t, os.Mkdir(folder, 0o755))
	require.NoError(t, os.Chown(folder, user, user))
	path := filepath.Join(folder, "file")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, os.Chmod(path, 0o664))

	cmd := exec.CommandContext(t.Context(), binary, "-test.run=^TestOtherUser$")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "SAVEFILE_AS_OTHER="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "new", read(t, path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o644), info.Mode())
	assert.EqualValues(t, user, info.Sys().(*syscall.Stat_t).Uid)
	assertAlone(t, path)
}

// The owner of a file is not known on every file system.
func TestUnknownOwner(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "file"))
	require.NoError(t, err)
	defer file.Close()
	assert.False(t, keepOwner(file, info{}))
	assert.NoError(t, checkTrust(os.TempDir(), info{}))
}

// owned is a file of a user.
type owned struct {
	info
	user int
}

func (o owned) Sys() any { return &syscall.Stat_t{Uid: uint32(o.user)} }

// Only where everybody may write, and the sticky bit keeps what others have put there, the owner
// counts.
func TestCheckTrust(t *testing.T) {
	dir, other := t.TempDir(), os.Geteuid()+1
	for mode, trusted := range map[fs.FileMode]bool{0o777: true, fs.ModeSticky | 0o775: true, fs.ModeSticky | 0o777: false, fs.ModeSticky | 0o702: false, 0o755: true} {
		require.NoError(t, os.Chmod(dir, mode))
		assert.Equal(t, trusted, checkTrust(dir, owned{user: other}) == nil, "%s", mode)
		assert.NoError(t, checkTrust(dir, owned{user: os.Geteuid()}))
	}
	err := checkTrust(t.TempDir()+"/none", owned{user: other})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.Chmod(dir, fs.ModeSticky|0o777))
	err = checkTrust(dir, owned{user: other})
	require.ErrorIs(t, err, fs.ErrPermission)
	shared := "/tmp" // of another user, unless the test runs as root
	if os.Geteuid() == 0 {
		shared = t.TempDir()
		require.NoError(t, os.Chown(shared, other, -1))
		require.NoError(t, os.Chmod(shared, fs.ModeSticky|0o777))
	}
	assert.NoError(t, checkTrust(shared, owned{user: os.Geteuid()}), "the own file")
	assert.EqualError(t, err, "x belongs to another user, in a directory that everybody may write to: permission denied")
}

// The owner of a private file can read it, for every mode of the replaced file.
func TestPrivateIsReadable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Chmod(path, 0o044))
	require.NoError(t, Write(path, true, func(io.Writer) error { return nil }))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o400), info.Mode())
}

// A private file is private at all times, for every replaced file and every umask.
func TestPrivateAlways(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	for _, old := range []fs.FileMode{0o666, 0o777, 0} {
		path := filepath.Join(t.TempDir(), "file")
		if old != 0 {
			require.NoError(t, os.WriteFile(path, nil, old))
		}
		require.NoError(t, Write(path, true, func(w io.Writer) error {
			info, err := w.(*os.File).Stat()
			require.NoError(t, err)
			assert.Equal(t, fs.FileMode(0o600), info.Mode())
			return nil
		}))
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
}
