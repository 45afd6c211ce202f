package conn

import (
	"io"
	"sync"
)

// Reader reads the body of a response. A read that takes too long ends the attempt.
type Reader struct {
	Left int64 // bytes left to read; at 0 the Reader ends

	body    io.Reader
	context *Context
}

// Reader returns the reader of at most limit bytes of a body. It replaces the previous Reader.
func (c *Context) Reader(body io.Reader, limit int64) *Reader {
	c.reader = Reader{Left: limit, body: body, context: c}
	return &c.reader
}

// BytesReceived returns the number of bytes that the readers of the response have read.
func (c *Context) BytesReceived() int64 { return c.received }

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
	if n > 0 {
		r.context.received += int64(n)
		r.context.Counter.Received(n)
	}
	return n, err
}

// Upload is the body of a request. Between two reads the transport writes to the network, for at
// most Limits.Stall. After the last read it waits for a response.
type Upload struct {
	Body    io.ReadCloser
	Context *Context
	Size    int64 // bytes of the whole body; -1: not known

	mu       sync.Mutex
	sent     int64
	detached bool
	closed   bool
	err      error // why a read of the transport failed
}

// Read reads from the body. The time of the read does not count as a wait for the server.
func (u *Upload) Read(p []byte) (int, error) {
	u.ifAttached(u.Context.Pause)
	n, err := u.Body.Read(p)
	u.ifAttached(func() {
		u.sent += int64(n)
		if err != nil && err != io.EOF && !u.closed {
			u.err = err
		}
		if u.Size >= 0 && u.sent >= u.Size || err != nil {
			u.Context.AwaitResponse()
		} else {
			u.Context.awaitBytes()
		}
	})
	return n, err
}

// Close closes the body. An error of a later read is not recorded as an error of the body.
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

// Detach returns the number of bytes that were read, and the error that ended the reading. Further
// reads have no effect. A transport that has returned an early response may continue to read, while
// the attempt already waits for the body of that response.
func (u *Upload) Detach() (sent int64, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.detached = true
	return u.sent, u.err
}
