package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// limits bound what a server can make the client wait for or hold.
type limits struct {
	header time.Duration // wait for the first byte of an answer, in each attempt
	stall  time.Duration // silence within a read or write
	json   int64         // bytes of a JSON answer, decompressed
	stream int64         // bytes of a download; 0: none
}

var defaultLimits = limits{header: time.Minute, stall: time.Minute, json: 32 << 20}

// watchdog ends an attempt whose server keeps silent. It runs only while the client waits for the server, so a caller who
// pauses between reads is not punished.
type watchdog struct {
	limits limits
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	timer   *time.Timer
	reason  string
	limit   time.Duration
	stopped bool
}

func newWatchdog(cancel context.CancelCauseFunc, l limits) *watchdog {
	return &watchdog{cancel: cancel, limits: l}
}

// expectHeader starts the wait for an answer.
func (w *watchdog) expectHeader() { w.start(w.limits.header, "no answer within") }

// expectBytes starts the wait for the server to send or take bytes.
func (w *watchdog) expectBytes() { w.start(w.limits.stall, "the connection stalled for") }

func (w *watchdog) start(limit time.Duration, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	w.limit, w.reason = limit, reason
	if w.timer == nil {
		w.timer = time.AfterFunc(limit, w.bite)
		return
	}
	w.timer.Reset(limit)
}

// rest ends the current wait.
func (w *watchdog) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
}

// stop ends all waits: the attempt is over.
func (w *watchdog) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.rest()
}

func (w *watchdog) bite() {
	w.mu.Lock()
	text, stopped := fmt.Sprintf("%s %s", w.reason, w.limit), w.stopped
	w.mu.Unlock()
	if !stopped {
		w.cancel(&failure{sentinel: ErrTimeout, text: text})
	}
}

// timeoutCause gives the watchdog's error in place of the "context canceled" that it caused.
func timeoutCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, ErrTimeout) {
		return cause
	}
	return err
}

// answerReader reads an answer's body under the watchdog.
type answerReader struct {
	body  io.Reader
	watch *watchdog
}

func (r *answerReader) Read(p []byte) (int, error) {
	r.watch.expectBytes()
	n, err := r.body.Read(p)
	r.watch.rest()
	return n, err
}

// uploadReader gives a body to the transport. Between two of its reads the transport writes to the network, which is what the
// watchdog watches; once the body has ended an answer is due.
type uploadReader struct {
	body     io.ReadCloser
	watch    *watchdog
	progress func(done, total int64)
	done     int64
	total    int64

	mu       sync.Mutex
	detached bool
}

func (r *uploadReader) Read(p []byte) (int, error) {
	r.tell(r.watch.rest)
	n, err := r.body.Read(p)
	r.done += int64(n)
	r.tell(func() {
		if r.progress != nil {
			r.progress(r.done, r.total)
		}
		if r.done >= r.total || err != nil {
			r.watch.expectHeader()
		} else {
			r.watch.expectBytes()
		}
	})
	return n, err
}

func (r *uploadReader) Close() error { return r.body.Close() }

func (r *uploadReader) tell(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.detached {
		f()
	}
}

// detach ends what reading reports: the transport may read on for a while after it has returned an early answer, whose
// body the watchdog watches then.
func (r *uploadReader) detach() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
}
