package forge

import (
	"bytes"
	"io"
	"slices"
	"sync/atomic"

	"github.com/forge-sdk/forge-go/internal/bufpool"
	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// decodeBuffer is the buffer of a response, with the reader that decodes it.
type decodeBuffer struct {
	bytes.Buffer
	reader jsonread.Reader
}

// readBody reads at most limit bytes of body. length is the Content-Length, or -1.
func (w *decodeBuffer) readBody(body *conn.Reader, length, limit int64) (n int64, err error) {
	for n < limit {
		size := bufferSize(n, length, limit)
		if needed, has := size+bytes.MinRead, int64(w.Cap()); needed > has && (length > 0 || n > 0) {
			larger := bytes.NewBuffer(make([]byte, 0, max(needed, min(2*has, firstRead)))) // for the next response, too
			_, _ = larger.Write(w.Bytes())
			w.Buffer = *larger
		}
		body.Left = size - n
		var more int64
		more, err = w.ReadFrom(body)
		if n += more; err != nil || n < size {
			break
		}
	}
	return n, err
}

// bufferSize returns the size of the buffer after n bytes have come. A Content-Length is trusted up
// to 64 times of what has come, so that a large document needs no second buffer, and a server
// cannot make the client allocate without sending. Without it the buffer grows fourfold, up to the
// limit.
func bufferSize(n, length, limit int64) int64 {
	if length >= n {
		return min(length+1, max(64*n, firstRead), limit) // with one more byte, the last read reaches the end
	}
	if size := max(4*n, firstRead); size < limit-firstRead {
		return size
	}
	return limit // a last step of a few bytes would need another buffer
}

const (
	firstRead     = 1 << 20 // bytes that may be read before the buffer has their size
	largestPooled = 4 << 20 // bytes; a larger buffer is left to the garbage collector
)

var decodeBuffers bufpool.Pool[decodeBuffer]

// freeBuffer returns a buffer to the pool.
func freeBuffer(b *decodeBuffer) {
	if b.Cap() > largestPooled {
		decodeBuffers.Drop(b)
		return
	}
	decodeBuffers.Put(b, (*decodeBuffer).memory)
}

// memory returns the whole capacity of the buffer.
func (w *decodeBuffer) memory() []byte {
	w.Reset()
	return w.AvailableBuffer()[:w.Available()]
}

// bufferCache keeps a buffer of a list from page to page. With the pool alone, buffers were a fifth
// of the bytes that a list allocates: its pages come on changing processors, and the garbage
// collector empties the pool. A nil cache is the pool.
type bufferCache struct{ kept atomic.Pointer[decodeBuffer] }

func (c *bufferCache) get() *decodeBuffer {
	if c != nil {
		if b := c.kept.Swap(nil); b != nil {
			return b
		}
	}
	return decodeBuffers.Get()
}

func (c *bufferCache) put(b *decodeBuffer) {
	if c == nil || b.Cap() > largestPooled || !c.kept.CompareAndSwap(nil, b) {
		freeBuffer(b)
	}
}

// close returns the buffer to the pool.
func (c *bufferCache) close() {
	if b := c.kept.Swap(nil); b != nil {
		freeBuffer(b)
	}
}

// peek reads the first n bytes of a body, or as many as are enough, and returns a reader of the
// whole body. An error is returned by that reader, after the bytes before it.
func peek(body io.Reader, n int, enough func(head []byte) bool) (head []byte, whole io.Reader) {
	for len(head) < n && !enough(head) {
		head = slices.Grow(head, min(512, n-len(head)))
		more, err := body.Read(head[len(head):min(cap(head), n)])
		head = head[:len(head)+more]
		if err != nil {
			body = failedReader{err}
			break
		}
	}
	return head, io.MultiReader(bytes.NewReader(head), body)
}

// readFunc is a function as an io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// failedReader returns the error of an earlier read.
type failedReader struct{ err error }

func (r failedReader) Read([]byte) (int, error) { return 0, r.err }
