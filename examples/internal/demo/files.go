package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/forge-sdk/forge-go/internal/savefile"
)

// Path returns the value of a flag: the path that a program writes to. With the embedded server the
// value may be empty. The path is then name in a temporary folder, which remove removes.
func (s *Server) Path(out io.Writer, flag, value, name string) (path string, remove func(), err error) {
	switch {
	case value != "":
		return value, func() {}, nil
	case !s.Embedded:
		return "", nil, fmt.Errorf("%s is missing: it names what to write to", flag)
	}
	dir, err := os.MkdirTemp("", "forge-example-")
	return filepath.Join(dir, name), func() {
		_ = os.RemoveAll(dir)
		fmt.Fprintf(out, "No file is kept: %s names a place for it.\n", flag)
	}, err
}

// SaveFile creates or replaces a file with what write writes. After a failure or a crash the file
// has its old content or the new one. A new file has the mode that the umask allows, a replaced one
// keeps its mode, and a private file is for its owner only. If the path is not a regular file,
// SaveFile returns an error.
func SaveFile(path string, private bool, write func(io.Writer) error) error {
	if err := savefile.Write(path, private, write); err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return nil
}

// SaveBytes is SaveFile for content in memory.
func SaveBytes(path string, private bool, content []byte) error {
	return SaveFile(path, private, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// CheckRegular returns an error if the path is a device, a pipe or a directory. Programs call it
// before they open a file. A file that does not exist is not an error.
func CheckRegular(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return savefile.CheckRegular(info)
}
