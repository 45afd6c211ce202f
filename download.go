package forge

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/savefile"
)

// Download is a response that is read as a stream, in constant memory for any size. It must be
// closed. If the server truncates the stream or stalls, Read returns an error, never io.EOF. One
// truncation cannot be recognised: that of a response of HTTP/1 with neither a length nor chunks,
// which ends with its connection. Its Size is -1, and Checksum finds the truncation.
type Download struct {
	// Name is the file name that the server suggests, made safe to join to a path on every system. It
	// has no directory, no control characters, no leading dots or dashes (which would hide the file or
	// make it an option), and no trailing dots or spaces. The characters <>:"|?*, which Windows does
	// not accept, are replaced by _. Name is empty if the server suggests no name, if nothing of the
	// name is left, if it is longer than 255 bytes, or if it is the name of a device on Windows, such
	// as NUL or con.txt. A file of this name may exist; SaveTo replaces it.
	Name string
	// Size is the length in bytes; -1 if the server does not send it.
	Size int64
	// ContentType is the media type that the server declares.
	ContentType string

	source  io.ReadCloser // a verifier of the checksum, on the stream (size, errors), on conn.Reader (silence)
	failure *Error        // copied by Read to wrap its errors
	private bool          // a secret that SaveTo saves for its owner only
}

// Read reads the stream. A failure is an *Error that names the call.
func (d *Download) Read(p []byte) (int, error) {
	if d.source == nil {
		return 0, errNoStream
	}
	n, err := d.source.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	failed := *d.failure
	failed.cause = err
	return n, &failed
}

// unusable returns an *Error of the call for content that cannot be used. It returns err unchanged
// if it is an *Error already, as the errors of Read are.
func (d *Download) unusable(err error) error {
	var failed *Error
	if errors.As(err, &failed) {
		return err
	}
	own := *d.failure
	own.cause = &sentinelError{sentinel: ErrInvalidResponse, text: strings.TrimPrefix(err.Error(), "forge: "), cause: err}
	return &own
}

// WriteTo writes the rest of the stream to w, in larger steps than io.Copy makes by itself. io.Copy
// calls it.
func (d *Download) WriteTo(w io.Writer) (int64, error) {
	buffer, _ := copyBuffers.Get().(*copyBuffer)
	defer copyBuffers.Put(buffer)
	// The structs hide WriteTo and ReadFrom, which io.CopyBuffer would call instead.
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{d}, buffer[:])
}

// copyBuffer is the buffer that a stream is copied through. Over loopback, a smaller one costs more
// CPU, and a larger one more time.
type copyBuffer [64 << 10]byte

var copyBuffers = sync.Pool{New: func() any { return new(copyBuffer) }}

// Close closes the stream and frees its connection. It may be called more than once.
func (d *Download) Close() error {
	if d.source == nil {
		return nil
	}
	return d.source.Close()
}

var errNoStream = errors.New("forge: the Download was not made by a call, and has no stream")

// SaveTo writes the rest of the stream to path and closes it. The file appears complete or not at
// all: the content is written to a temporary file in the same directory, which only its owner can
// read, and which is renamed at the end or removed on failure. For a response without a length, see
// Download: use Checksum. Every error begins with
// "forge: saving" and wraps its cause: an error of package fs, or the *Error of the stream.
//
// A new file has the mode that the umask allows. A replaced file keeps its permission bits, and its
// owner and group if the process may set them. A file of SecureFilesService.Download has at most
// the mode 0600, even if it replaces a file with another mode, and belongs to the user who saves
// it. SaveTo returns an error if the file system cannot keep the file private (on Windows, the
// access rights of the directory apply).
//
// A symbolic link stays, and its target is replaced. SaveTo rejects a link without a target, and
// anything that is not a regular file: a device, a pipe, a socket, a directory. In a directory with
// the sticky bit that is open to everyone, such as /tmp, it also rejects another user's file or
// link.
func (d *Download) SaveTo(path string) error {
	defer d.Close()
	err := savefile.Write(path, d.private, func(w io.Writer) error {
		_, err := d.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("forge: saving %s: %w%s", path, err, saveHint(path, err))
	}
	return nil
}

// saveHint returns what to do about an error of SaveTo; "" if the error says it.
func saveHint(path string, err error) string {
	var file *fs.PathError
	switch dir := filepath.Dir(path); {
	case !errors.As(err, &file) || file.Op != "open":
		return ""
	case isMissing(dir):
		return "; the directory " + dir + " does not exist: create it first"
	case errors.Is(err, fs.ErrPermission):
		return "; the directory " + dir + " must be writable: SaveTo creates a temporary file there"
	}
	return ""
}

// isMissing reports whether nothing exists at path: some file systems, such as /proc, return the
// same error for a file that cannot be created.
func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

const maxFileName = 255 // bytes; most file systems accept no more

// fileName returns the suggested name in a Content-Disposition header, made safe to join to a path,
// the same on every system. It is empty if no usable name is left.
func fileName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := params["filename"]
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if name = safetext.Printable(name); len(name) > maxFileName {
		return ""
	}
	name = strings.Map(func(r rune) rune {
		if strings.ContainsRune(`<>:"|?*`, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeftFunc(name, func(r rune) bool { return r == '.' || r == '-' || unicode.IsSpace(r) })
	name = strings.TrimRightFunc(name, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
	if isReservedName(name) {
		return ""
	}
	return name
}

// isReservedName reports whether Windows treats a name as a device, with or without an extension.
func isReservedName(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	switch base {
	case "CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$":
		return true
	}
	port, isPort := strings.CutPrefix(base, "COM")
	if !isPort {
		port, isPort = strings.CutPrefix(base, "LPT")
	}
	const ports = "0123456789¹²³"
	return isPort && utf8.RuneCountInString(port) == 1 && strings.Contains(ports, port)
}

// stream is the body of a response that the caller reads after its call has ended.
type stream struct {
	incoming
	content  io.Reader     // of raw
	raw      io.ReadCloser // HTTPClient replaces the Body of the response
	done     int64
	limit    int64
	closed   atomic.Bool
	endLimit func() // the limit of Timeout ends with the stream
}

// newStream returns the stream of the content of a response. The context of the request ends with
// it: it would keep the call in memory.
func newStream(in incoming, content io.Reader) *stream {
	s := &stream{incoming: in, content: content, limit: in.call.options.limits.stream, raw: in.resp.Body}
	if in.wire.Pause(); s.isEmpty() {
		s.end()
	}
	return s
}

// isEmpty reports whether there is nothing to read: the caller may never read or close the stream.
func (s *stream) isEmpty() bool { return s.raw == http.NoBody }

// onEnd sets the function that ends the limit of Timeout.
func (s *stream) onEnd(endLimit func()) {
	if s.endLimit = endLimit; s.isEmpty() {
		endLimit()
	}
}

func (s *stream) end() {
	if s.wire.Cancel(nil); s.endLimit != nil {
		s.endLimit()
	}
}

// Read reads the stream, counts its bytes and reports the progress.
func (s *stream) Read(p []byte) (int, error) {
	if s.closed.Load() {
		return 0, errors.New("the download is closed: SaveTo and Close end it, so make the call again")
	}
	n, err := s.content.Read(p)
	ended := err == io.EOF //nolint:errorlint // another error may wrap it
	if ended {
		s.redactHeader(s.resp.Trailer)
	} else if err != nil {
		err = s.redactError(s.wire.TimeoutCause(conn.UnwrapURLError(err)))
	}
	if s.wire.Pause(); err != nil {
		s.end()
	}
	s.done += int64(n)
	if s.limit > 0 && s.done > s.limit {
		return n, &sentinelError{sentinel: ErrResponseTooLarge, text: fmt.Sprintf("the download is larger than %d bytes (MaxBytes)", s.limit)}
	}
	if progress := s.call.options.progress; progress != nil && (n > 0 || ended) {
		progress(s.done, s.resp.ContentLength)
	}
	return n, err
}

// Close ends the attempt and frees its connection. It may be called concurrently with Read.
func (s *stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	defer s.end()
	return s.raw.Close()
}

// checksum is the expected checksum of a stream. The zero checksum accepts any content.
type checksum struct {
	want string // hex
	make func() hash.Hash
}

// verified returns the stream, which ends in an error if its content differs.
func (s checksum) verified(stream io.ReadCloser) io.ReadCloser {
	if s.make == nil {
		return stream
	}
	return &verifier{ReadCloser: stream, hash: s.make(), want: s.want}
}

// verifier reads a stream and hashes it.
type verifier struct {
	io.ReadCloser
	hash hash.Hash
	want string
}

// Read returns an error instead of io.EOF if the content differs.
func (v *verifier) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	_, _ = v.hash.Write(p[:n]) // it never fails
	if err != io.EOF {
		return n, err
	}
	if got := hex.EncodeToString(v.hash.Sum(nil)); !strings.EqualFold(got, v.want) {
		return n, &sentinelError{sentinel: ErrChecksum, text: "the content's SHA-256 is " + got + " and should be " + safetext.Clean(v.want, 128)}
	}
	return n, io.EOF
}
