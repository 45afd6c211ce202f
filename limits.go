package forge

import (
	"fmt"
	"io"
	"math"
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
// pauses between reads is not punished. Its times are those since clock, which are cheaper to take than others. There is a timer
// only where somebody waits for the end: a transport that answers from memory never does.
type watchdog struct {
	limits *limits
	life   *lifetime
	clock  *time.Time

	mu      sync.Mutex
	timer   *time.Timer
	fires   time.Duration // when the timer does; 0: not at all
	due     time.Duration // when the current wait is too long; 0: there is none
	answer  bool          // the current wait is for an answer to begin
	heard   bool          // somebody waits for the end, or did in an attempt before
	stopped bool

	reader answerReader // of the answer, in the same piece of memory
}

// begin watches another attempt. A timer of the one before that fires late finds no wait that is due.
func (w *watchdog) begin(life *lifetime, l *limits, clock *time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.life, w.limits, w.clock, w.stopped, w.due, w.fires = life, l, clock, false, 0, 0
	life.watch = w
}

// expectHeader starts the wait for an answer.
func (w *watchdog) expectHeader() { w.start(w.limits.header, true) }

// expectBytes starts the wait for the server to send or take bytes.
func (w *watchdog) expectBytes() { w.start(w.limits.stall, false) }

func (w *watchdog) start(limit time.Duration, answer bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped {
		return
	}
	now := time.Since(*w.clock)
	w.judge(now)
	limit = min(limit, math.MaxInt64-now)
	w.due, w.answer = now+limit, answer
	w.wind(limit)
}

// rest ends the current wait.
func (w *watchdog) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due > 0 {
		w.judge(time.Since(*w.clock))
	}
	w.due = 0
}

// stop ends all waits: the attempt is over.
func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stopped, w.due = true, 0; w.timer != nil {
		w.timer.Stop()
	}
}

// listen sets the timer, as somebody waits for the end from now on.
func (w *watchdog) listen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heard = true; w.due > 0 {
		w.wind(w.due - time.Since(*w.clock))
	}
}

// look is for those who ask and do not wait.
func (w *watchdog) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.due > 0 {
		w.judge(time.Since(*w.clock))
	}
}

// wake is where the timer fires.
func (w *watchdog) wake() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fires = 0
	if w.due == 0 {
		return
	}
	now := time.Since(*w.clock)
	if w.judge(now); now < w.due {
		w.wind(w.due - now)
	}
}

// judge ends the attempt if the current wait is too long.
func (w *watchdog) judge(now time.Duration) {
	if w.due == 0 || now < w.due {
		return
	}
	text := fmt.Sprintf("the connection stalled for %s", w.limits.stall)
	if w.answer {
		text = fmt.Sprintf("no answer within %s", w.limits.header)
	}
	w.life.end(&failure{sentinel: ErrTimeout, text: text})
}

// wind sets the timer for the current wait. One that fires before goes on from there: setting it anew for every read would cost more
// than the read.
func (w *watchdog) wind(left time.Duration) {
	switch {
	case !w.heard || w.fires > 0 && w.fires <= w.due:
		return
	case w.timer == nil:
		w.timer = time.AfterFunc(left, w.wake)
	default:
		w.timer.Reset(left)
	}
	w.fires = w.due
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
	body  io.ReadCloser // as it is, or a bodyPump where it runs the caller's code
	watch *watchdog
	done  int64
	total int64

	mu       sync.Mutex
	detached bool
	closed   bool
	failed   error // why the body could not be read, while the transport wanted it
}

func (r *uploadReader) Read(p []byte) (int, error) {
	r.tell(r.watch.rest)
	n, err := r.body.Read(p)
	r.tell(func() {
		r.done += int64(n)
		if err != nil && err != io.EOF && !r.closed {
			r.failed = err
		}
		if r.done >= r.total || err != nil {
			r.watch.expectHeader()
		} else {
			r.watch.expectBytes()
		}
	})
	return n, err
}

func (r *uploadReader) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	return r.body.Close()
}

func (r *uploadReader) tell(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.detached {
		f()
	}
}

// detach ends what reading reports, and returns the bytes that were read, and why no more could be:
// the transport may read on for a while after it has returned an early answer, whose body the
// watchdog watches then.
func (r *uploadReader) detach() (done int64, failed error) {
	if p, pumped := r.body.(*bodyPump); pumped {
		p.silence()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.detached = true
	return r.done, r.failed
}
