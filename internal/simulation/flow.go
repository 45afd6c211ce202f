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

// flow is one direction of a connection: what was written and not read yet. Each piece has the
// time at which it arrives, so that the reader waits, and never the writer.
type flow struct {
	latency time.Duration

	mu       sync.Mutex
	changed  sync.Cond
	pieces   []piece
	arrives  time.Time // of the latest piece; the next does not overtake it
	end      error     // that the reader gets after the pieces; nil: none yet
	ends     time.Time // when it arrives
	failed   error     // that the writer gets
	shutDown bool      // the reader has closed it
	deadline time.Time
	written  int64
	marks    []mark // of bytes that are not written yet, by place
	slow     slowness
	dead     bool // nothing is delivered any more, and no end
}

// mark is a place in a flow where something goes wrong on delivery. hit is called once the place is
// reached, without a lock.
type mark struct {
	at     int64
	kind   FaultKind
	wait   time.Duration
	length int
	head   bool // of a request
	stays  bool // until it is reached; others end with the response that they are for
	hit    func()
}

// slowness is a link that lets length bytes pass in each wait.
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
		var next time.Time // when there is something to look at
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

// take copies what has arrived.
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

// wait returns at a time, or when the flow changes. It gives the mutex back meanwhile.
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

// refused is what a write gets that the writer's own end has made impossible.
func (f *flow) refused() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// write keeps a copy of p. It reports whether the reader has gone, and which marks were reached.
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

// arm puts a mark so many bytes behind what was written so far.
func (f *flow) arm(offset int64, m mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m.at = f.written + offset
	f.marks = append(f.marks, m)
	slices.SortStableFunc(f.marks, func(a, b mark) int { return cmp.Compare(a.at, b.at) })
}

// disarm takes the marks away that were not reached.
func (f *flow) disarm() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.marks = slices.DeleteFunc(f.marks, func(m mark) bool { return !m.stays })
}

// strike does at once what a mark would do.
func (f *flow) strike(m mark) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.apply(m, nil)
}

// apply does what a mark stands for, to rest and what follows it.
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
				rest[i] = 1 // so that no server takes it for another request
			}
		}
	case Repeat:
		f.push(append([]byte(nil), rest[:min(max(1, m.length), len(rest))]...))
	}
}

// push lets bytes arrive after those before them, in pieces where the link is slow.
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

// maxPieces is into how many a slow link cuts one write.
const maxPieces = 64

// later moves the arrival of what is written from now on.
func (f *flow) later(wait time.Duration) {
	if at := time.Now().Add(f.latency); at.After(f.arrives) {
		f.arrives = at
	}
	f.arrives = f.arrives.Add(wait)
}

// finish lets an end arrive after the pieces. The first end counts.
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

// fail is what the writer gets from now on.
func (f *flow) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed == nil || errors.Is(err, net.ErrClosed) {
		f.failed = err
	}
}

// gone tells the writer that nobody reads: the connection was reset.
func (f *flow) gone() { f.fail(reset) }

// shut ends the reading. It reports whether bytes that have arrived were left, and whether it was
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

// unwrapEnd gives the io.EOF of a reader: net returns it bare.
func unwrapEnd(err error) error {
	if errors.Is(err, errEnd) {
		return io.EOF
	}
	return err
}
