package conn

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// Limits bound how long an attempt waits for the server.
type Limits struct {
	Header time.Duration // until the first byte of a response
	Stall  time.Duration // without progress within a read or write
	Err    error         // wrapped by the error of a wait that was too long
}

// Counter receives the number of bytes of each read of a response that has any.
type Counter interface {
	Received(n int)
}

// Context is the context of one request. It ends with the call's, with Cancel, or when the server
// is silent for too long. It measures only while the client waits for the server, so a caller that
// pauses between reads has no time limit. Its times are offsets from Clock. It creates a cancelable
// child, and a timer, on the first call of Done; most responses from memory never need them.
//
// The four exported fields are set before its first use.
type Context struct {
	context.Context //nolint:containedctx // it is one: that of the call
	Limits          *Limits
	Counter         Counter
	Clock           time.Time

	mu             sync.Mutex
	cause          error           // why the attempt has ended; nil while it runs
	child          context.Context //nolint:containedctx // of Context, created by Done
	cancelChild    context.CancelCauseFunc
	timer          *time.Timer
	timerAt        time.Duration // when the timer fires; 0: it does not run
	deadline       time.Duration // of the current wait; 0: there is none
	awaitsResponse bool          // the current wait is for a response to begin

	trace    *trace // of the request; nil: it is not traced
	reader   Reader // of the response; in the same allocation
	received int64  // bytes of the response
}

// TimeoutError is a limit of time of the library that has passed. It is a net.Error. It is not
// temporary, since programs send a request with such an error again, a write included.
type TimeoutError struct {
	Text     string
	Sentinel error
}

func (e *TimeoutError) Error() string { return e.Text }
func (e *TimeoutError) Unwrap() error { return e.Sentinel }

// Timeout returns true.
func (e *TimeoutError) Timeout() bool { return true }

// Temporary returns false.
func (e *TimeoutError) Temporary() bool { return false }

// AwaitResponse starts the wait for a response.
func (c *Context) AwaitResponse() { c.start(c.Limits.Header, true) }

// awaitBytes starts the wait for the server to send or take bytes.
func (c *Context) awaitBytes() { c.start(c.Limits.Stall, false) }

func (c *Context) start(limit time.Duration, response bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Since(c.Clock)
	if c.expire(now); c.cause != nil {
		return
	}
	limit = min(limit, math.MaxInt64-now)
	c.deadline, c.awaitsResponse = now+limit, response
	c.reset(limit)
}

// Pause ends the current wait.
func (c *Context) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check()
	c.deadline = 0
}

// Cancel ends the attempt, for the first cause that is given; nil stands for context.Canceled.
func (c *Context) Cancel(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cause == nil {
		cause = context.Canceled
	}
	c.cancel(cause)
}

func (c *Context) cancel(cause error) {
	if c.cause != nil {
		return
	}
	c.cause, c.deadline = cause, 0
	if c.timer != nil {
		c.timer.Stop()
	}
	if c.cancelChild != nil {
		c.cancelChild(cause)
	}
}

// check expires an overdue wait, for callers that never call Done.
func (c *Context) check() {
	if c.deadline > 0 {
		c.expire(time.Since(c.Clock))
	}
}

// expire ends the attempt if the current wait is too long.
func (c *Context) expire(now time.Duration) {
	if c.deadline == 0 || now < c.deadline {
		return
	}
	text := fmt.Sprintf("the connection stalled for %s", c.Limits.Stall)
	if c.awaitsResponse {
		text = fmt.Sprintf("no response within %s", c.Limits.Header)
	}
	c.cancel(&TimeoutError{text, c.Limits.Err})
}

// reset sets the timer for the current wait. A timer that fires too early is set again: to reset it
// on every read costs more than the read.
func (c *Context) reset(left time.Duration) {
	switch {
	case c.child == nil || c.timerAt > 0 && c.timerAt <= c.deadline:
		return
	case c.timer == nil:
		c.timer = time.AfterFunc(left, c.onTimer)
	default:
		c.timer.Reset(left)
	}
	c.timerAt = c.deadline
}

func (c *Context) onTimer() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timerAt = 0
	now := time.Since(c.Clock)
	if c.expire(now); c.deadline > 0 {
		c.reset(c.deadline - now)
	}
}

// Done creates the child on its first call.
func (c *Context) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.child == nil {
		c.arm()
	}
	return c.child.Done()
}

// arm creates the child, and starts the timer if there is a wait.
func (c *Context) arm() {
	c.child, c.cancelChild = context.WithCancelCause(c.Context)
	switch {
	case c.cause != nil:
		c.cancelChild(c.cause)
	case c.deadline > 0:
		c.reset(c.deadline - time.Since(c.Clock))
	}
}

// Err reports the end of the attempt, or of the call.
func (c *Context) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check()
	switch {
	case c.child != nil:
		return c.child.Err()
	case c.cause != nil:
		return context.Canceled
	}
	return c.Context.Err()
}

// Value returns the child's value, so that contexts derived from this one end with the child and
// need no goroutine.
func (c *Context) Value(key any) any {
	c.mu.Lock()
	parent := c.Context
	if c.child != nil {
		parent = c.child
	}
	c.mu.Unlock()
	return parent.Value(key)
}

// TimeoutCause returns the timeout that has ended the attempt or its call, in place of the "context
// canceled" that it caused; without a timeout it returns err. A timeout of the call is a cause of
// its context that matches Limits.Err.
func (c *Context) TimeoutCause(err error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.check()
	var timeout *TimeoutError
	if errors.As(c.cause, &timeout) {
		return timeout
	}
	if cause := context.Cause(c.Context); cause != nil && errors.Is(cause, c.Limits.Err) {
		return cause
	}
	return err
}
