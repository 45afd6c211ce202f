//go:build unix

package savefile

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// hasModes reports that files have permission bits.
const hasModes = true

// keepOwner sets the owner and group of a file to those of old, if the process may. It reports
// whether the group is now the same.
func keepOwner(file *os.File, old fs.FileInfo) bool {
	info, err := file.Stat()
	if err != nil {
		return false
	}
	is, known := info.Sys().(*syscall.Stat_t)
	was, knew := old.Sys().(*syscall.Stat_t)
	switch {
	case !known || !knew:
		return false
	case is.Uid != was.Uid && file.Chown(int(was.Uid), int(was.Gid)) == nil:
		return true
	}
	return is.Gid == was.Gid || file.Chown(-1, int(was.Gid)) == nil
}

// checkTrust rejects a file or link that another user may have put there on purpose, as Linux does
// (fs.protected_symlinks, fs.protected_regular).
func checkTrust(dir string, found fs.FileInfo) error {
	if dir == "" {
		dir = "."
	}
	parent, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if parent.Mode()&fs.ModeSticky == 0 || parent.Mode().Perm()&0o002 == 0 {
		return nil
	}
	owner, known := found.Sys().(*syscall.Stat_t)
	of, knew := parent.Sys().(*syscall.Stat_t)
	if !known || !knew || int(owner.Uid) == os.Geteuid() || owner.Uid == of.Uid {
		return nil
	}
	return fmt.Errorf("%s belongs to another user, in a directory that everybody may write to: %w", found.Name(), fs.ErrPermission)
}
