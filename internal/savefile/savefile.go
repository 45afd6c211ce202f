// Package savefile writes files that appear complete or not at all, with the mode that they should
// have.
package savefile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

const maxLinks = 40 // as in Linux

// Write creates or replaces the file at path with the output of write. The content is written to a
// temporary file in the same directory, which only its owner can read and whose name cannot be
// guessed. The temporary file is synced and renamed when write returns nil. Otherwise it is
// removed, also after a panic.
//
// A new file has the mode that the umask allows. A replaced file keeps its permission bits, and its
// owner and group if the process may set them. If the group cannot be kept, the new group gets no
// more permissions than others have. A private file never has more than the mode 0600, and belongs
// to the user who writes it.
//
// A symbolic link is kept, and the file that it points to is replaced. Write refuses a link to a
// missing file, anything that is not a regular file, and another user's file or link in a
// world-writable directory with the sticky bit.
func Write(path string, private bool, write func(io.Writer) error) error {
	target, old, err := resolve(path)
	if err != nil {
		return err
	}
	t, err := create(target, old, private)
	if err != nil {
		return err
	}
	defer t.discard()
	if err := t.prepare(old, private); err != nil {
		return err
	}
	if err := write(t.file); err != nil {
		return err
	}
	return t.commit(target)
}

// CheckRegular returns an error for anything that is not a regular file.
func CheckRegular(info fs.FileInfo) error {
	var kind string
	switch mode := info.Mode(); {
	case mode.IsRegular():
		return nil
	case mode.IsDir():
		kind = "a directory"
	case mode&fs.ModeNamedPipe != 0:
		kind = "a named pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	case mode&fs.ModeDevice != 0:
		kind = "a device"
	default:
		kind = "of the type " + mode.Type().String()
	}
	return fmt.Errorf("%s is %s and not a regular file", info.Name(), kind)
}

// resolve follows symbolic links to the file that will be replaced. old is nil if it does not exist
// yet. The system resolves directories: cleaning a path would change the meaning of ".." after a
// link.
func resolve(path string) (target string, old fs.FileInfo, err error) {
	target = path
	for range maxLinks {
		dir, name := filepath.Split(target)
		if name == "" {
			return "", nil, errors.New("the path has no file name: add one")
		}
		old, err = os.Lstat(target)
		switch {
		case errors.Is(err, fs.ErrNotExist) && target == path:
			return target, nil, nil
		case errors.Is(err, fs.ErrNotExist):
			return "", nil, fmt.Errorf("it is a symbolic link to a file that does not exist: %w", err)
		case err != nil:
			return "", nil, err
		}
		if err := checkTrust(dir, old); err != nil {
			return "", nil, err
		}
		if old.Mode()&fs.ModeSymlink == 0 {
			return target, old, CheckRegular(old)
		}
		next, err := os.Readlink(target)
		if err != nil {
			return "", nil, err
		}
		if target = next; !filepath.IsAbs(next) {
			target = dir + next
		}
	}
	return "", nil, errors.New("there are too many symbolic links")
}

// temporary is the file while it is incomplete.
type temporary struct {
	file      *os.File
	mode      fs.FileMode // current
	final     fs.FileMode
	old       fs.FileInfo // whose owner is kept; nil: none
	committed bool
}

// create creates the temporary file. A new file that is not private is created with all permissions
// that the umask allows: other ways to read the umask are not safe while other goroutines run. The
// file is empty at that moment.
func create(target string, old fs.FileInfo, private bool) (*temporary, error) {
	dir, _ := filepath.Split(target)
	mode := privateMode
	if old == nil && !private {
		mode = 0o666
	}
	file, err := os.OpenFile(dir+".forge-"+rand.Text()+".part", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	return &temporary{file: file}, nil
}

// commit sets the final mode and owner, and renames the file.
func (t *temporary) commit(target string) error {
	if t.old != nil && !keepOwner(t.file, t.old) {
		t.final = withoutGroup(t.final)
	}
	if t.mode != t.final {
		if err := t.file.Chmod(t.final); err != nil {
			return err
		}
	}
	if err := errors.Join(t.file.Sync(), t.file.Close()); err != nil {
		return err
	}
	if err := os.Rename(t.file.Name(), target); err != nil {
		return err
	}
	t.committed = true
	return nil
}

// discard removes the file unless it was committed.
func (t *temporary) discard() {
	if !t.committed {
		_ = t.file.Close()
		_ = os.Remove(t.file.Name())
	}
}
