package demo

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/forge-sdk/forge-go/internal/savefile"
)

// SaveFile creates or replaces a file with what write writes. After a failure or a crash either the
// old content is there or the new one. A new file has the mode that the umask allows, a replaced
// one keeps its mode, and a private file is for its owner only. What is not a regular file is
// refused.
func SaveFile(path string, private bool, write func(io.Writer) error) error {
	if err := savefile.Write(path, private, write); err != nil {
		return fmt.Errorf("saving %s: %w", path, err)
	}
	return nil
}

// SaveBytes is SaveFile for a content that is complete.
func SaveBytes(path string, private bool, content []byte) error {
	return SaveFile(path, private, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// CheckRegular refuses a path that leads to a device, a pipe or a directory, before a program opens
// it. A file that does not exist is not an error.
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
