package forge

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/forge-sdk/forge-go/internal/bufpool"
	"github.com/forge-sdk/forge-go/internal/safetext"
	"github.com/forge-sdk/forge-go/internal/savefile"
)

// Download is an answer that is read as a stream, in constant memory for any size. It must be closed. A stream
// that the server cuts short, or that stalls, is an error of Read and never an early end.
type Download struct {
	// Name is the file name that the server suggests, made fit to be joined to a path on every system:
	// without a directory and control characters, without leading dots and dashes, which would hide
	// the file or make an option of it, without dots and spaces at the end, and with _ for the
	// characters <>:"|?* that Windows does not take. It is empty when the server suggests none, when
	// nothing is left of it, when it is longer than 255 bytes, and when it is the name of a device on
	// Windows, such as NUL or con.txt. It can be the name of a file that is there: SaveTo replaces it.
	Name string
	// Size is the length in bytes; -1 when the server does not say.
	Size int64
	// ContentType is the media type that the server declares.
	ContentType string

	body    io.ReadCloser
	call    *Error // what Read wraps its errors in
	private bool   // a secret that SaveTo saves for its owner only
}

// Read reads the stream; any failure is an *Error that names the call.
func (d *Download) Read(p []byte) (int, error) {
	if d.body == nil {
		return 0, errNoStream
	}
	n, err := d.body.Read(p)
	if err == nil || err == io.EOF {
		return n, err
	}
	failed := *d.call
	failed.cause = err
	return n, &failed
}

// unusable returns the error of the call for content that cannot be used. An error of Read is one
// already.
func (d *Download) unusable(err error) error {
	var failed *Error
	if errors.As(err, &failed) {
		return err
	}
	own := *d.call
	own.cause = &sentinelError{sentinel: ErrAnswer, text: strings.TrimPrefix(err.Error(), "forge: "), cause: err}
	return &own
}

// WriteTo writes the rest of the stream to w, in larger steps than io.Copy makes by itself; io.Copy uses it.
func (d *Download) WriteTo(w io.Writer) (int64, error) {
	buffer := copyBuffers.Get()
	defer copyBuffers.Put(buffer, (*copyBuffer).memory)
	// Neither side is to choose a way of its own.
	return io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{d}, buffer[:])
}

// copyBuffer is what downloads are copied through. Over loopback smaller steps cost more CPU, and larger ones more time.
type copyBuffer [64 << 10]byte

func (b *copyBuffer) memory() []byte { return b[:] }

var copyBuffers bufpool.Pool[copyBuffer]

// Close gives the connection back. It may be called more than once.
func (d *Download) Close() error {
	if d.body == nil {
		return nil
	}
	return d.body.Close()
}

var errNoStream = errors.New("forge: the Download was not made by a call, and has no stream")

// SaveTo writes the rest of the stream to path and closes it. The file appears complete or not at
// all: the content goes to a temporary file in the same directory, which only its owner can read,
// and which is renamed at the end or removed on failure. Every error begins with "forge: saving"
// and wraps its cause: an error of package fs, or the *Error of the stream.
//
// A new file has the mode that the umask allows. A replaced file keeps its permission bits, and its
// owner and group where the process may set them. A file of SecureFilesService.Download never has
// more than the mode 0600, whatever it replaces, and belongs to the user who saves it; a file
// system that cannot keep it private is an error (on Windows, the access rights of the directory
// apply).
//
// A symbolic link stays, and the file that it leads to is replaced. SaveTo refuses a link to
// nothing, and what is not a regular file: a device, a pipe, a socket, a directory. In a directory
// such as /tmp, with the sticky bit and open to everybody, it refuses another user's file or link,
// too.
func (d *Download) SaveTo(path string) error {
	defer d.Close()
	err := savefile.Write(path, d.private, func(w io.Writer) error {
		_, err := d.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("forge: saving %s: %w", path, err)
	}
	return nil
}

const maxFileName = 255 // bytes; most file systems take no more

// fileName reads the suggested name in a Content-Disposition header and makes it one that a program
// can join to a path, the same on every system. It is empty where nothing can be made of the
// suggestion.
func fileName(h http.Header) string {
	_, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil {
		return ""
	}
	name := params["filename"]
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	if name = safetext.Clean(name, maxFileName); len(name) > maxFileName {
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
	if isReservedName(name) || !filepath.IsLocal(name) {
		return ""
	}
	return name
}

// isReservedName reports whether Windows takes a name for a device, whatever its extension is.
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

// stream reads a download.
type stream struct {
	read     func([]byte) (int, error)
	close    func() error
	closed   atomic.Bool
	progress func(done, total int64)
	done     int64
	total    int64
	limit    int64
}

// Read counts what it reads.
func (s *stream) Read(p []byte) (int, error) {
	if s.closed.Load() {
		return 0, errors.New("the download is closed")
	}
	n, err := s.read(p)
	s.done += int64(n)
	if s.limit > 0 && s.done > s.limit {
		return n, &sentinelError{sentinel: ErrTooLarge, text: fmt.Sprintf("the download is larger than %d bytes (MaxBytes)", s.limit)}
	}
	if s.progress != nil && (n > 0 || errors.Is(err, io.EOF)) {
		s.progress(s.done, s.total)
	}
	return n, err
}

// Close ends the attempt and frees its connection.
func (s *stream) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	return s.close()
}

// checksum is what a stream must come to; the zero checksum: anything.
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

// Read reads on; the end of a stream that differs is an error and not io.EOF.
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

// ChecksumAlgorithm names how a checksum is made. Servers may have values beyond the constant.
type ChecksumAlgorithm string

// ChecksumSHA256 is SHA-256.
const ChecksumSHA256 ChecksumAlgorithm = "sha256"
