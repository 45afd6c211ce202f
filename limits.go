package forge

import (
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
// pauses between reads is not punished. Its times are those since clock, which are cheaper to take than others.
type watchdog struct {
	limits *limits
	life   *lifetime
	clock  *time.Time

	mu      sync.Mutex
	timer   *time.Timer
	fires   time.Duration // when the timer does; 0: not at all
	due     time.Duration // when the current wait is too long; 0: there is none
	reason  string
	limit   time.Duration
	stopped bool

	reader answerReader // of the answer, in the same piece of memory
}

// begin watches another attempt. A timer of the one before that fires late finds no wait that is due.
func (w *watchdog) begin(life *lifetime, l *limits, clock *time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life, w.limits, w.clock, w.stopped, w.due, w.fires = life, l, clock, false, 0, 0
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
	w.limit, w.reason, w.due = limit, reason, time.Since(*w.clock)+limit
	switch {
	case w.timer == nil:
		w.timer = time.AfterFunc(limit, w.wake)
	case w.fires == 0 || w.fires > w.due:
		w.timer.Reset(limit)
	default:
		return // the timer is early, and goes on from there: setting it anew for every read would cost more than the read
	}
	w.fires = w.due
}

// rest ends the current wait.
func (w *watchdog) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.due = 0
}

// stop ends all waits: the attempt is over.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped = true; w.timer != nil {
		w.timer.Stop()
	}
}

// wake looks whether the current wait is too long.
func (w *watchdog) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch left := w.due - time.Since(*w.clock); {
	case w.stopped:
	case w.due == 0:
		w.fires = 0
	case left > 0:
		w.fires = w.due
		w.timer.Reset(left)
	default:
		w.life.end(&failure{sentinel: ErrTimeout, text: fmt.Sprintf("%s %s", w.reason, w.limit)})
	}
}

// answerReader reads an answer's body under the watchdog.
type answerReader struct {
	body io.Reader
	call *call
	left int64 // bytes to be read yet
}

func (r *answerReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > r.left {
		p = p[:r.left]
	}
	r.call.watch.expectBytes()
	n, err := r.body.Read(p)
	r.left -= int64(n)
	r.call.receive(n)
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
	r.tell(func() {
		r.done += int64(n)
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

// detach ends what reading reports, and gives the bytes that were read: the transport may read on for a while after it has
// returned an early answer, whose body the watchdog watches then.
func (r *uploadReader) detach() (done int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
	return r.done
}
