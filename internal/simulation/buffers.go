package simulation

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/forge-sdk/forge-go/internal/bufpool"
)

// buffers watches the client's buffer pools. It counts the values in use and overwrites the
// returned ones. It checks later that no one has written to a returned value. Get returns the value
// that was returned last, so that two owners of one buffer conflict early.
type buffers struct {
	mu     sync.Mutex
	free   map[any][]any  // by pool, the latest last
	states map[any]string // of each value: where it was taken or returned
	memory map[any][]byte // of each returned value
	used   map[any]bool
	found  []Violation
	total  int // number of returned values
}

// poisoned is the content that overwrites a returned buffer.
var poisoned = sync.OnceValue(func() []byte { return bytes.Repeat([]byte{0xDB}, 16<<10) })

func overwrite(memory []byte) {
	for len(memory) > 0 {
		memory = memory[copy(memory, poisoned()):]
	}
}

var (
	watched atomic.Pointer[buffers] // nil: the pools are not watched
	running atomic.Int32            // number of open worlds
)

// WatchBuffers watches the pools of the client in the whole process, until stop is called. Every
// Run reports the misuse that was found. It reports buffers still in use only if no other Run is
// open.
func WatchBuffers() (stop func()) {
	watched.Store(&buffers{free: map[any][]any{}, states: map[any]string{}, memory: map[any][]byte{}, used: map[any]bool{}})
	bufpool.Watch(watched.Load())
	return func() {
		bufpool.Watch(nil)
		watched.Store(nil)
	}
}

// Get returns the value that was returned last, or nil.
func (b *buffers) Get(pool any) any {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := b.free[pool]
	if len(list) == 0 {
		return nil
	}
	v := list[len(list)-1]
	b.free[pool] = list[:len(list)-1]
	b.check(v)
	b.take(v)
	return v
}

// check reports writes to a value after it was returned.
func (b *buffers) check(v any) {
	for i := 0; i < len(b.memory[v]); i += len(poisoned()) {
		part := b.memory[v][i:]
		part = part[:min(len(part), len(poisoned()))]
		if !bytes.Equal(part, poisoned()[:len(part)]) {
			b.report("a buffer was written to after it was returned", v, i)
			break
		}
	}
	delete(b.memory, v)
}

func (b *buffers) report(what string, v any, at int) {
	b.found = append(b.found, Violation{"buffer", fmt.Sprintf("%s (%T, from byte %d on); %s; now at %s", what, v, at, b.states[v], caller())})
}

func (b *buffers) take(v any) {
	b.used[v], b.states[v] = true, "taken at "+caller()
}

// Made records a new value.
func (b *buffers) Made(_, v any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(v)
}

// Put overwrites a returned value and keeps it.
func (b *buffers) Put(pool, v any, memory []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.used[v] {
		b.report("a buffer was returned twice", v, 0)
		return
	}
	delete(b.used, v)
	b.total++
	overwrite(memory)
	b.states[v], b.memory[v] = "returned at "+caller(), memory
	b.free[pool] = append(b.free[pool], v)
}

// Drop forgets a value.
func (b *buffers) Drop(_, v any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.used[v] {
		b.report("a buffer was dropped after it was returned", v, 0)
	}
	delete(b.used, v)
	delete(b.states, v)
}

// inUse returns the values in use.
func (b *buffers) inUse() map[any]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := map[any]bool{}
	for v := range b.used {
		list[v] = true
	}
	return list
}

// result returns the violations, and the values in use that are not in before. It forgets both.
func (b *buffers) result(before map[any]bool, alone bool) (list []Violation) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for v := range b.memory {
		b.peek(v)
	}
	list, b.found = b.found, nil
	for v := range b.used {
		if alone && !before[v] {
			list = append(list, Violation{"buffer", fmt.Sprintf("a %T is still in use; %s", v, b.states[v])})
			delete(b.used, v)
			delete(b.states, v)
		}
	}
	return list
}

// peek checks a free value for writes. The value stays free.
func (b *buffers) peek(v any) {
	memory := b.memory[v]
	if b.check(v); memory != nil {
		overwrite(memory)
		b.memory[v] = memory
	}
}

// caller names the function of the client that called the pool.
func caller() string {
	var pcs [16]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		frame, more := frames.Next()
		if !strings.Contains(frame.Function, "(*buffers).") && !strings.Contains(frame.Function, "internal/bufpool") {
			return fmt.Sprintf("%s:%d", frame.Function, frame.Line)
		}
		if !more {
			return "?"
		}
	}
}
