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

// buffers watches the client's pools: it counts what is in use, overwrites what was given back, and
// looks whether anybody has written to it since. It hands the latest one out first, so that two
// owners of one buffer meet soon.
type buffers struct {
	mu     sync.Mutex
	free   map[any][]any  // by pool, the latest last
	states map[any]string // of each value: where it was taken or given back
	memory map[any][]byte // of what was given back
	used   map[any]bool
	found  []Violation
	total  int // values given back
}

// poisoned is what a buffer is overwritten with.
var poisoned = sync.OnceValue(func() []byte { return bytes.Repeat([]byte{0xDB}, 16<<10) })

func overwrite(memory []byte) {
	for len(memory) > 0 {
		memory = memory[copy(memory, poisoned()):]
	}
}

var (
	watched atomic.Pointer[buffers] // nil: nobody watches
	running atomic.Int32            // worlds that are open
)

// WatchBuffers lets the pools of the client be watched, for the whole process, until stop is called.
// Every Run reports what was found; what is in use, where it is the only one at the time.
func WatchBuffers() (stop func()) {
	watched.Store(&buffers{free: map[any][]any{}, states: map[any]string{}, memory: map[any][]byte{}, used: map[any]bool{}})
	bufpool.Watch(watched.Load())
	return func() {
		bufpool.Watch(nil)
		watched.Store(nil)
	}
}

// Get hands out the value that was given back last.
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

// check looks for writes to what was given back.
func (b *buffers) check(v any) {
	for i := 0; i < len(b.memory[v]); i += len(poisoned()) {
		part := b.memory[v][i:]
		part = part[:min(len(part), len(poisoned()))]
		if !bytes.Equal(part, poisoned()[:len(part)]) {
			b.report("a buffer was written to after it was given back", v, i)
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

// Made notes a new value.
func (b *buffers) Made(_, v any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.take(v)
}

// Put overwrites a value that is given back, and keeps it.
func (b *buffers) Put(pool, v any, memory []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.used[v] {
		b.report("a buffer was given back twice", v, 0)
		return
	}
	delete(b.used, v)
	b.total++
	overwrite(memory)
	b.states[v], b.memory[v] = "given back at "+caller(), memory
	b.free[pool] = append(b.free[pool], v)
}

// Drop forgets a value.
func (b *buffers) Drop(_, v any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.used[v] {
		b.report("a buffer was dropped that was given back", v, 0)
	}
	delete(b.used, v)
	delete(b.states, v)
}

// inUse gives the values that are.
func (b *buffers) inUse() map[any]bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := map[any]bool{}
	for v := range b.used {
		list[v] = true
	}
	return list
}

// result gives what was found, and what is in use and was not before, and forgets both.
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

// peek looks for writes to what is free, and leaves it there.
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
