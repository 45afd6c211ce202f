package simulation

import (
	"cmp"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"
)

// flow is one direction of a connection: the bytes that were written and not yet read. Each write
// has the time at which it arrives, so that only the reader waits.
type flow struct {
	latency time.Duration

	mu       sync.Mutex
	changed  sync.Cond
	pieces   []piece
	arrives  time.Time // when the last piece arrives; the next one does not overtake it
	end      error     // the error that the reader gets after the pieces; nil: none yet
	ends     time.Time // when the end arrives
	failed   error     // the error that the writer gets
	shutDown bool      // the reader has closed the flow
	deadline time.Time
	written  int64
	marks    []mark // marks at bytes that are not yet written, in order
	slow     slowness
	dead     bool // neither bytes nor the end are delivered from now on
}

// mark is a byte of a flow at which a fault acts. hit is called when the byte is written, without a
// lock.
type mark struct {
	at     int64
	kind   FaultKind
	wait   time.Duration
	length int
	head   bool // it is in the header of a request
	stays  bool // it stays until it is reached; other marks are removed after their response
	hit    func()
}

// slowness describes a slow link: it delivers length bytes per wait.
type slowness struct {
	length int
	wait   time.Duration
}

type piece struct {
	data []byte
	at   time.Time
}

func newFlow(latency time.Duration) *flow {
	f := &flow{latency: latency}
	f.changed.L = &f.mu
	return f
}

// read waits for the first piece to arrive.
func (f *flow) read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		now := time.Now()
		var next time.Time // when to check again
		switch {
		case f.shutDown:
			return 0, net.ErrClosed
		case !f.deadline.IsZero() && !f.deadline.After(now):
			return 0, os.ErrDeadlineExceeded
		case len(p) == 0:
			return 0, nil
		case len(f.pieces) > 0:
			if next = f.pieces[0].at; !next.After(now) {
				return f.take(p, now), nil
			}
		case f.end != nil:
			if next = f.ends; !next.After(now) {
				return 0, f.end
			}
		}
		if d := f.deadline; !d.IsZero() && (next.IsZero() || d.Before(next)) {
			next = d
		}
		f.wait(now, next)
	}
}

// take copies the pieces that have arrived.
func (f *flow) take(p []byte, now time.Time) (n int) {
	for len(f.pieces) > 0 && n < len(p) && !f.pieces[0].at.After(now) {
		first := &f.pieces[0]
		k := copy(p[n:], first.data)
		n += k
		if first.data = first.data[k:]; len(first.data) == 0 {
			f.pieces = f.pieces[1:]
		}
	}
	return n
}

// wait returns at next, or when the flow changes. It unlocks the mutex while it waits.
func (f *flow) wait(now, next time.Time) {
	if !next.IsZero() {
		timer := time.AfterFunc(next.Sub(now), f.wake)
		defer timer.Stop()
	}
	f.changed.Wait()
}

func (f *flow) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.changed.Broadcast()
}

// refused returns the error of a write that cannot succeed, because this end has closed or failed.
func (f *flow) refused() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// write queues a copy of p. It reports whether the reader has gone, and returns the hit functions
// of the marks that were reached.
func (f *flow) write(p []byte) (gone bool, hits []func(), err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return false, nil, f.failed
	}
	rest, at := append([]byte(nil), p...), f.written
	f.written += int64(len(p))
	for len(f.marks) > 0 && f.marks[0].at < f.written {
		m := f.marks[0]
		f.marks = f.marks[1:]
		before := max(0, m.at-at)
		f.push(rest[:before])
		rest, at = rest[before:], at+before
		f.apply(m, rest)
		hits = append(hits, m.hit)
	}
	f.push(rest)
	return f.shutDown, hits, nil
}

// arm adds a mark offset bytes after the last written byte.
func (f *flow) arm(offset int64, m mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.at = f.written + offset
	f.marks = append(f.marks, m)
	slices.SortStableFunc(f.marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
}

// stalled reports whether written bytes, or the end, have not arrived yet.
func (f *flow) stalled() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	return f.dead || f.arrives.After(now) || f.end != nil && f.ends.After(now)
}

// disarm removes the marks that were not reached.
func (f *flow) disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marks = slices.DeleteFunc(f.marks, func(m mark) bool { return !m.stays })
}

// strike applies a mark immediately.
func (f *flow) strike(m mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.apply(m, nil)
}

// apply applies a mark to rest and to the bytes after it.
func (f *flow) apply(m mark, rest []byte) {
	switch m.kind {
	case Reset:
		f.finishLocked(reset)
	case Cut:
		f.finishLocked(errEnd)
	case Stall:
		if f.dead = f.dead || m.wait == 0; !f.dead {
			f.later(m.wait)
		}
	case Slow:
		f.slow = slowness{max(1, m.length), m.wait}
	case Garble:
		for i := range min(max(1, m.length), len(rest)) {
			if rest[i] ^= 0x55; m.head {
				rest[i] = 1 // so that no server reads it as another request
			}
		}
	case Repeat:
		f.push(append([]byte(nil), rest[:min(max(1, m.length), len(rest))]...))
	}
}

// push queues bytes after the earlier ones. A slow link splits them into pieces.
func (f *flow) push(data []byte) {
	if f.end != nil || f.dead || f.shutDown || len(data) == 0 {
		return
	}
	size := len(data)
	if f.slow.length > 0 {
		size = max(f.slow.length, len(data)/maxPieces)
	}
	for len(data) > 0 {
		n := min(size, len(data))
		f.later(f.slow.wait)
		f.pieces = append(f.pieces, piece{data[:n:n], f.arrives})
		data = data[n:]
	}
	f.changed.Broadcast()
}

// maxPieces limits the number of pieces of one write over a slow link.
const maxPieces = 64

// later delays the arrival of everything that is written from now on.
func (f *flow) later(wait time.Duration) {
	if at := time.Now().Add(f.latency); at.After(f.arrives) {
		f.arrives = at
	}
	f.arrives = f.arrives.Add(wait)
}

// finish sends an end after the pieces. Only the first end counts.
func (f *flow) finish(end error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.finishLocked(end)
}

func (f *flow) finishLocked(end error) {
	if f.end != nil || f.dead {
		return
	}
	f.later(0)
	f.end, f.ends = end, f.arrives
	f.changed.Broadcast()
}

// fail sets the error of later writes. A net.ErrClosed replaces an earlier error.
func (f *flow) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil || errors.Is(err, net.ErrClosed) {
		f.failed = err
	}
}

// gone makes later writes fail with a reset: the reader has gone.
func (f *flow) gone() { f.fail(reset) }

// shut ends the reading. It reports whether unread bytes have arrived, and whether the flow was
// shut before.
func (f *flow) shut() (unread, again bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	again, f.shutDown = f.shutDown, true
	unread = len(f.pieces) > 0 && !f.pieces[0].at.After(time.Now())
	f.pieces = nil
	f.changed.Broadcast()
	return unread, again
}

func (f *flow) setDeadline(t time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.deadline = t
	f.changed.Broadcast()
}

// unwrapEnd returns io.EOF for errEnd: net returns a plain io.EOF to readers.
func unwrapEnd(err error) error {
	if errors.Is(err, errEnd) {
		return io.EOF
	}
	return err
}
