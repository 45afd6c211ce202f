package savefile

import (
	"fmt"
	"io/fs"
)

// privateMode is the mode of private files, and of all files until they are complete.
const privateMode = fs.FileMode(0o600)

// prepare decides on the mode of the complete file, and makes it private until then.
func (t *temporary) prepare(old fs.FileInfo, private bool) error {
	info, err := t.file.Stat()
	if err != nil {
		return err
	}
	t.mode = info.Mode().Perm()
	switch {
	case private && hasModes && t.mode&^privateMode != 0:
		return fmt.Errorf("its file system cannot keep a file private: a new file has the mode %04o", t.mode)
	case private && old != nil:
		t.final = old.Mode().Perm()&privateMode | 0o400 // its owner has to read it
	case old != nil:
		t.final, t.old = old.Mode().Perm(), old
	default:
		t.final = t.mode
	}
	// A file system without modes rejects this call. The file then has its final permissions at most.
	if hidden := t.mode & privateMode; t.file.Chmod(hidden) == nil {
		t.mode = hidden
	}
	return nil
}

// withoutGroup removes the bits of the group that others do not have.
func withoutGroup(mode fs.FileMode) fs.FileMode {
	return mode&^0o070 | mode&(mode&0o007<<3)
}
