package conn

import (
	"io"
	"sync"
)

// Reader reads the body of a response. A read that takes too long ends the attempt.
type Reader struct {
	Left int64 // bytes to read; then the Reader ends

	body    io.Reader
	context *Context
}

// Reader returns the reader of at most limit bytes of a body. It replaces the one before: an
// attempt reads one response at a time.
func (c *Context) Reader(body io.Reader, limit int64) *Reader {
	c.reader = Reader{Left: limit, body: body, context: c}
	return &c.reader
}

// Read reads from the body and counts the bytes.
func (r *Reader) Read(p []byte) (int, error) {
	if r.Left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.Left {
		p = p[:r.Left]
	}
	r.context.awaitBytes()
	n, err := r.body.Read(p)
	r.Left -= int64(n)
	r.context.Counter.Received(n)
	return n, err
}

// Upload is the body of a request. Between two reads the transport writes to the network, which
// must not take longer than Limits.Stall; after the last one a response is due.
type Upload struct {
	Body    io.ReadCloser
	Context *Context
	Size    int64 // bytes of the whole body

	mu       sync.Mutex
	sent     int64
	detached bool
	closed   bool
	err      error // why the body could not be read, while the transport wanted it
}

// Read reads from the body. The time that the body takes is not the server's.
func (u *Upload) Read(p []byte) (int, error) {
	u.ifAttached(u.Context.Pause)
	n, err := u.Body.Read(p)
	u.ifAttached(func() {
		u.sent += int64(n)
		if err != nil && err != io.EOF && !u.closed {
			u.err = err
		}
		if u.sent >= u.Size || err != nil {
			u.Context.AwaitResponse()
		} else {
			u.Context.awaitBytes()
		}
	})
	return n, err
}

// Close closes the body. An error of a read that follows is not the body's own.
func (u *Upload) Close() error {
	u.mu.Lock()
	u.closed = true
	u.mu.Unlock()
	return u.Body.Close()
}

func (u *Upload) ifAttached(f func()) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !u.detached {
		f()
	}
}

// Detach ends the effects of further reads. It returns the number of bytes that were read, and the
// error that ended the reading. The transport may continue to read after it has returned an early
// response; the attempt waits for the body of that response then.
func (u *Upload) Detach() (sent int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.detached = true
	return u.sent, u.err
}
