package forge

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"

	"github.com/forge-sdk/forge-go/internal/savefile"
)

// File is the content of an upload. FileAt, FileBytes and FileReader return one; a caller can also
// set the fields.
type File struct {
	// Name is the file's name, without a directory.
	Name string
	// Size is the number of bytes that Open's reader returns; the upload fails if it returns more or
	// fewer.
	Size int64
	// Open returns a reader at the start of the content. It is called once for each attempt, in the
	// goroutine of the call. A nil reader with a nil error is an error of the call.
	//
	// Read and Close of the reader run in a separate goroutine; a panic in them is raised again in the
	// goroutine of the call. Close is called once, and never while Read runs. A call that has sent the
	// file returns after Close has returned. An error of Close fails the upload. The call returns when
	// its context ends, even if Read or Close blocks: the goroutine ends when they return. A panic
	// after the call has returned is dropped.
	Open func() (io.ReadCloser, error)

	once bool
	path string // where FileAt found it
	err  error  // why it cannot be sent; Size is negative then
}

const defaultFileName = "file"

// errReadOnce ends the retries of a body that was already read.
var errReadOnce = errors.New("the body comes from FileReader and cannot be read twice: make a File for each call, or use FileAt or FileBytes")

// FileAt returns the file at path, which is opened for each attempt. It must be a regular file, or
// a symbolic link to one: opening a named pipe can block forever. If the file cannot be used, the
// upload returns the error.
func FileAt(path string) File {
	f := File{Name: filepath.Base(path), Size: -1, path: path}
	info, err := os.Stat(path)
	switch {
	case err == nil:
		err = savefile.CheckRegular(info)
	case path == "":
		err = errors.New("the path is empty")
	case strings.HasPrefix(path, "~/"):
		err = fmt.Errorf("%w: only shells replace ~: use os.UserHomeDir", err)
	}
	if f.err = err; err == nil {
		f.Size = info.Size()
	}
	f.Open = func() (io.ReadCloser, error) {
		if err != nil {
			return nil, err
		}
		return openRegular(path)
	}
	return f
}

// ending returns the file with a name of this ending. An empty name stays empty.
func (f File) ending(suffix string) File {
	if f.Name != "" && !strings.HasSuffix(f.Name, suffix) {
		f.Name += suffix
	}
	return f
}

// openRegular opens a regular file for reading. It does not block on a pipe. FileAt has refused
// devices; the path may lead to another file by now.
func openRegular(path string) (io.ReadCloser, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|openNonblock, 0)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil {
		err = savefile.CheckRegular(info)
	}
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return ownContent{file}, nil
}

// ownContent marks readers that run no code of the caller and do not block.
type ownContent struct{ io.ReadCloser }

// FileBytes returns a file with the given content, which must not change until the upload returns.
func FileBytes(content []byte) File {
	return File{Name: defaultFileName, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return ownContent{io.NopCloser(bytes.NewReader(content))}, nil
	}}
}

// FileReader returns a file of exactly size bytes read from r. It is sent once: the upload is not
// retried after bytes of it may have been sent. r is not closed. A nil r is rejected, and so is a
// nil pointer in r.
//
// r is read in another goroutine, as a reader of File.Open is. If the call ends while Read blocks,
// r must not be used until Read has returned.
func FileReader(r io.Reader, size int64) File {
	f := File{Name: defaultFileName, Size: size, once: true}
	if isNil(r) {
		f.err, f.Size = errors.New("the reader is nil"), -1
	}
	var used atomic.Bool
	f.Open = func() (io.ReadCloser, error) {
		if f.err != nil {
			return nil, f.err
		}
		if used.Swap(true) {
			return nil, errReadOnce
		}
		switch r.(type) {
		case *bytes.Reader, *bytes.Buffer, *strings.Reader:
			return ownContent{io.NopCloser(r)}, nil
		}
		return io.NopCloser(r), nil
	}
	return f
}

// Named returns the file under another name.
func (f File) Named(name string) File {
	f.Name = name
	return f
}

// check returns an error for a file that cannot be sent.
func (f File) check() error {
	switch {
	case f.Open == nil:
		return errors.New("there is no file: use FileAt, FileBytes or FileReader")
	case f.Name == "":
		return errors.New("the file has no name: set File.Name")
	case hasControl(f.Name):
		return errors.New("the file's name has control bytes")
	case f.Size < 0 && f.err != nil:
		return f.err
	case f.Size < 0:
		return errors.New("its Size is negative: it must be the number of bytes; use FileAt or FileBytes if it is not known")
	}
	return nil
}

// open opens the file for one attempt.
func (f File) open() (*exactReader, error) {
	content, err := f.Open()
	switch {
	case err != nil:
		return nil, err
	case isNil(content):
		return nil, errors.New("File.Open returned a nil reader and a nil error")
	}
	_, own := content.(ownContent)
	return &exactReader{content: content, left: f.Size, own: own}, nil
}

// isNil reports whether v is nil, or a nil pointer or function in an interface.
func isNil(v any) bool {
	if v == nil {
		return true
	}
	switch r := reflect.ValueOf(v); r.Kind() {
	case reflect.Pointer, reflect.Func:
		return r.IsNil()
	}
	return false
}

// exactReader reads content whose length the caller states: a file, or the body of a request of
// HTTPClient. It returns an error if the length differs.
type exactReader struct {
	content io.ReadCloser
	left    int64
	own     bool  // content is the library's own
	body    bool  // it is the body of a request, not a file
	err     error // what Read returns from now on
	closed  atomic.Bool
}

const maxEmptyReads = 100 // as in bufio

// errWrongLength is wrapped by the error for content that does not have its stated length.
var errWrongLength = errors.New("the length is wrong")

// Read reads the content. Before it returns the last bytes, it reads to io.EOF and closes the
// content: the server does not have the complete request at that time, so content that is too long
// and an error of Close fail the upload.
func (r *exactReader) Read(p []byte) (n int, err error) {
	if r.err != nil {
		return 0, r.err
	}
	n, err = r.next(p)
	if r.left -= int64(n); r.left == 0 && err == nil {
		var more int
		more, err = r.next(make([]byte, 1))
		r.left -= int64(more)
	}
	if err == nil && r.left >= 0 {
		return n, nil
	}
	if r.err = r.finish(err); r.err != io.EOF { //nolint:errorlint // only io.EOF itself ends a stream
		n = 0 // they may be the last bytes of the request
	}
	return n, r.err
}

// finish closes the content, and returns its final error.
func (r *exactReader) finish(err error) error {
	closing, whole := r.Close(), err == io.EOF //nolint:errorlint // only io.EOF itself ends a stream
	switch {
	case r.left < 0:
		return r.wrongLength("longer", nil)
	case whole && r.left > 0:
		return r.wrongLength(fmt.Sprintf("%d bytes shorter", r.left), io.ErrUnexpectedEOF)
	case whole && closing != nil:
		return fmt.Errorf("%s cannot be closed: %w", r.name(), closing)
	}
	return err
}

func (r *exactReader) name() string {
	if r.body {
		return "the body"
	}
	return "the file"
}

func (r *exactReader) wrongLength(how string, cause error) error {
	field := "Size"
	if r.body {
		field = "ContentLength"
	}
	return &sentinelError{errWrongLength, r.name() + " is " + how + " than its " + field + ": set it to the number of bytes", cause}
}

// next reads until there are bytes or an error.
func (r *exactReader) next(p []byte) (int, error) {
	for range maxEmptyReads {
		n, err := r.content.Read(p)
		switch {
		case n < 0 || n > len(p):
			return 0, fmt.Errorf("%s cannot be read: Read returned %d for %d bytes", r.name(), n, len(p))
		case err != nil && err != io.EOF:
			return n, fmt.Errorf("%s cannot be read: %w", r.name(), err)
		case n > 0 || err != nil || len(p) == 0:
			return n, err
		}
	}
	return 0, fmt.Errorf("%s cannot be read: %w", r.name(), io.ErrNoProgress)
}

// Close closes the content once.
func (r *exactReader) Close() error {
	if r.closed.Swap(true) {
		return nil
	}
	return r.content.Close()
}
