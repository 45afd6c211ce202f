package forge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
)

// File is what an upload takes: FileAt, FileBytes, FileReader, or a value of the caller's own.
type File struct {
	// Name is the file's name, without a directory.
	Name string
	// Size is the number of bytes that Open's reader gives; the upload fails if it gives more or fewer.
	Size int64
	// Open returns a reader at the start of the content. It is called once for each attempt.
	Open func() (io.ReadCloser, error)

	once bool
	path string // where FileAt found it
}

const defaultFileName = "file"

// errReadOnce ends the retries of a body that was read already.
var errReadOnce = errors.New("the body comes from FileReader and cannot be read a second time")

// FileAt is the file at path, opened anew for each attempt. What is wrong with it is reported by the upload.
func FileAt(path string) File {
	f := File{Name: filepath.Base(path), Size: -1, path: path}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		err = fmt.Errorf("%s is a directory", path)
	case err == nil:
		f.Size = info.Size()
	}
	f.Open = func() (io.ReadCloser, error) {
		if err != nil {
			return nil, err
		}
		return os.Open(path)
	}
	return f
}

// FileBytes is a file with the given content, which must not change until the upload returns.
func FileBytes(content []byte) File {
	return File{Name: defaultFileName, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(content)), nil
	}}
}

// FileReader is a file of exactly size bytes read from r. It is sent once: the upload is not retried after
// bytes of it may have been sent.
func FileReader(r io.Reader, size int64) File {
	var used atomic.Bool
	return File{Name: defaultFileName, Size: size, once: true, Open: func() (io.ReadCloser, error) {
		if used.Swap(true) {
			return nil, errReadOnce
		}
		return io.NopCloser(r), nil
	}}
}

// Named returns the file under another name.
func (f File) Named(name string) File {
	f.Name = name
	return f
}

// check refuses a file that cannot be sent.
func (f File) check() error {
	switch {
	case f.Open == nil:
		return errors.New("there is no file: use FileAt, FileBytes or FileReader")
	case f.Name == "":
		return errors.New("the file has no name")
	case hasControl(f.Name):
		return errors.New("the file's name has control bytes")
	case f.Size < 0:
		r, err := f.Open()
		if err != nil {
			return err
		}
		_ = r.Close()
		return errors.New("the file's size is not known")
	}
	return nil
}

// exactReader fails when the source has not exactly the size that was announced.
type exactReader struct {
	io.ReadCloser
	left int64
}

func (r *exactReader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.left -= int64(n)
	switch {
	case r.left < 0:
		return 0, errors.New("the file is longer than its Size")
	case err == io.EOF && r.left > 0:
		return n, fmt.Errorf("the file is %d bytes shorter than its Size: %w", r.left, io.ErrUnexpectedEOF)
	}
	return n, err
}
