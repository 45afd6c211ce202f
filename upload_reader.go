package forge

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
)

// bodyPump reads a request body that runs the caller's code: File.Open, a reader, Progress. That
// code runs in a separate goroutine and reads into a separate buffer, so that the call can return
// while it blocks. A panic in that code is raised again in the goroutine of the call. In a
// goroutine of net/http it would end the process.
//
// The goroutine of the transport requests bytes, and the pump reads once for each request. The pump
// never reads ahead.
type bodyPump struct {
	ended    <-chan struct{} // closed when the attempt has ended
	why      func() error    // the reason
	crash    *crash
	progress func(done, total int64)
	total    int64

	wanted chan int      // the number of bytes that the transport wants next
	reads  chan bodyRead // the result of opening the body, and of each read
	closed chan struct{} // closed when the transport has closed the body
	close  func()
	err    error // what Read returns from now on; only Read uses it

	body      io.ReadCloser // only the pump's goroutine uses it
	done      int64         // bytes that were reported to progress; only the pump's goroutine uses it
	reporting chan struct{} // has a value while progress runs
	silent    atomic.Bool   // progress is not called anymore

	mu     sync.Mutex
	buffer *copyBuffer // nil before the first read, and after the last
}

// bodyRead is the result of one step of a pump.
type bodyRead struct {
	n      int
	err    error
	direct io.ReadCloser // a body that runs no code of the caller: the transport reads it without a pump
}

// raiseCrash raises a panic in the caller's code again, in the goroutine of the call. For
// runtime.Goexit it returns the error.
func (b *payload) raiseCrash() error {
	if b == nil {
		return nil
	}
	return b.crash.raise()
}

// errBodyClosed is the error of Read after the transport has closed the body.
var errBodyClosed = errors.New("the body was closed while it was read")

// openBody opens a body for one attempt, whose context is ctx. Every wait ends with ctx.
func openBody(ctx context.Context, b *payload, progress func(done, total int64)) (io.ReadCloser, error) {
	if !b.foreign && progress == nil {
		return b.open()
	}
	p := &bodyPump{
		ended: ctx.Done(), why: ctx.Err, crash: &b.crash, progress: progress, total: b.size,
		wanted: make(chan int), reads: make(chan bodyRead), closed: make(chan struct{}), reporting: make(chan struct{}, 1),
	}
	p.close = sync.OnceFunc(func() { close(p.closed) })
	go p.run(b.open)
	opened := p.result()
	switch {
	case opened.err != nil:
		return nil, opened.err
	case opened.direct != nil:
		return opened.direct, nil
	}
	return p, nil
}

// Read requests bytes from the pump. It returns when the attempt ends or the transport closes the
// body.
func (p *bodyPump) Read(b []byte) (int, error) {
	if len(b) == 0 || p.err != nil {
		return 0, p.err
	}
	select {
	case p.wanted <- len(b):
	case <-p.closed:
		p.err = errBodyClosed
		return 0, p.err
	case <-p.ended:
		p.err = p.why()
		return 0, p.err
	}
	r := p.result()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err = r.err; p.err == nil && p.buffer == nil { // the attempt ended, and the pump released the buffer
		p.err = errBodyClosed
	}
	if p.err != nil {
		return 0, p.err
	}
	return copy(b, p.buffer[:r.n]), nil
}

// Close ends the pump. It does not wait for the caller's code.
func (p *bodyPump) Close() error {
	p.close()
	return nil
}

// result waits for the pump.
func (p *bodyPump) result() bodyRead {
	select {
	case r := <-p.reads:
		return r
	case <-p.closed:
		return bodyRead{err: errBodyClosed}
	case <-p.ended:
		return bodyRead{err: p.why()}
	}
}

// deliver passes a result to Read, and reports whether Read received it.
func (p *bodyPump) deliver(r bodyRead) bool {
	select {
	case p.reads <- r:
		return true
	case <-p.closed:
	case <-p.ended:
	}
	return false
}

// run runs the caller's code, in its own goroutine. After runtime.Goexit only the deferred
// functions run.
func (p *bodyPump) run(open func() (io.ReadCloser, error)) {
	defer func() {
		p.release()
		if err := p.crash.err(); err != nil {
			p.deliver(bodyRead{err: err})
		}
	}()
	defer p.crash.guard(func() {
		if p.body != nil {
			_ = p.body.Close()
		}
	})
	p.crash.guard(func() { p.serve(open) })
}

// serve opens the body and reads it when the transport requests bytes.
func (p *bodyPump) serve(open func() (io.ReadCloser, error)) {
	body, err := open()
	if err != nil {
		p.deliver(bodyRead{err: err})
		return
	}
	p.body = body
	if m, ok := body.(*multipartBody); ok && m.own && p.progress == nil {
		if p.deliver(bodyRead{direct: body}) {
			p.body = nil
		}
		return
	}
	if !p.deliver(bodyRead{}) {
		return
	}
	for {
		var r bodyRead
		select {
		case size := <-p.wanted:
			if err == nil {
				r.n, err = p.read(size)
			}
		case <-p.closed:
			return
		case <-p.ended:
			return
		}
		if r.n == 0 { // bytes that came with an error are delivered first
			r.err = err
		}
		if !p.deliver(r) || r.err != nil {
			return
		}
	}
}

// read reads once.
func (p *bodyPump) read(size int) (int, error) {
	p.mu.Lock()
	if p.buffer == nil {
		p.buffer = copyBuffers.Get()
	}
	p.mu.Unlock()
	size = min(size, len(p.buffer))
	n, err := p.body.Read(p.buffer[:size])
	if n < 0 || n > size {
		return 0, errors.New("the reader of the body returned an impossible number of bytes")
	}
	if n > 0 && p.progress != nil {
		p.report(n)
	}
	return n, err
}

// release returns the buffer to the pool, unless Read copies from it at the moment.
func (p *bodyPump) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.buffer != nil {
		copyBuffers.Put(p.buffer, (*copyBuffer).memory)
		p.buffer = nil
	}
}

// report calls progress before the transport gets the bytes, so the last report comes before the
// response.
func (p *bodyPump) report(n int) {
	p.reporting <- struct{}{}
	defer func() { <-p.reporting }()
	if p.silent.Load() {
		return
	}
	p.done += int64(n)
	p.progress(p.done, p.total)
}

// silence ends the reports. It waits for one that is running, but not beyond the end of the
// attempt.
func (p *bodyPump) silence() {
	p.silent.Store(true)
	select {
	case p.reporting <- struct{}{}:
		<-p.reporting
		return
	default:
	}
	select {
	case p.reporting <- struct{}{}:
		<-p.reporting
	case <-p.ended:
	}
}

// crash records a panic or runtime.Goexit in the caller's code. The zero value is ready.
type crash struct{ first atomic.Pointer[abnormal] }

// abnormal is a panic or, with a nil value, runtime.Goexit: recover replaces a nil panic.
type abnormal struct{ panicked any }

// errGoexit is the error of a call whose File.Open, reader or Progress function did not return.
var errGoexit = errors.New("File.Open, the reader or Progress ended its goroutine (runtime.Goexit; t.FailNow and require do so)")

// guard runs f and keeps its panic.
func (c *crash) guard(f func()) {
	returned := false
	defer func() {
		if !returned {
			c.first.CompareAndSwap(nil, &abnormal{recover()})
		}
	}()
	f()
	returned = true
}

// err returns the error that the transport reads after a crash; nil without one.
func (c *crash) err() error {
	switch e := c.first.Load(); {
	case e == nil:
		return nil
	case e.panicked == nil:
		return errGoexit
	}
	return errors.New("File.Open, the reader or Progress panicked")
}

// raise raises a panic again, in the goroutine of the call. For runtime.Goexit it returns the
// error.
func (c *crash) raise() error {
	if e := c.first.Load(); e != nil && e.panicked != nil {
		panic(e.panicked)
	}
	return c.err()
}
