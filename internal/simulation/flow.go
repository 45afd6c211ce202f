package simulation

import (
	"io"
	"net"
	"os"
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

// write keeps a copy of p. It reports whether the reader has gone.
func (f *flow) write(p []byte) (gone bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != nil {
		return false, f.failed
	}
	f.written += int64(len(p))
	if f.shutDown {
		return true, nil
	}
	if f.end == nil && len(p) > 0 {
		f.add(append([]byte(nil), p...))
	}
	return false, nil
}

// add lets a piece arrive after those before it.
func (f *flow) add(data []byte) {
	f.later(0)
	f.pieces = append(f.pieces, piece{data, f.arrives})
	f.changed.Broadcast()
}

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
	if f.end != nil {
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
	if f.failed == nil || err == net.ErrClosed {
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
	if err == errEnd {
		return io.EOF
	}
	return err
}
