// Package task runs functions that call the caller's code in separate goroutines. The goroutine
// that waits for the task raises a panic again, and detects a function that does not return.
package task

import (
	"context"
	"runtime/debug"
)

// sentinel is a constant error.
type sentinel string

// Error returns the sentinel's text.
func (s sentinel) Error() string { return string(s) }

const (
	// ErrGoexit is the error of a function that ended its goroutine, as t.FailNow does.
	ErrGoexit = sentinel("a function of the caller ended its goroutine (runtime.Goexit)")
	// ErrRunning is the error of a function that has not returned.
	ErrRunning = sentinel("a function of the caller has not returned")
)

// Task is a function in its own goroutine.
type Task[T any] struct {
	done     chan struct{} // closed when the function has ended; the other fields are set before
	value    T
	err      error
	panicked *panicked
}

// Go starts f.
func Go[T any](f func() (T, error)) *Task[T] {
	t := &Task[T]{done: make(chan struct{})}
	go t.run(f)
	return t
}

func (t *Task[T]) run(f func() (T, error)) {
	defer close(t.done)
	defer func() {
		if value := recover(); value != nil {
			t.panicked = &panicked{value, debug.Stack()}
		}
	}()
	t.err = ErrGoexit // unless f returns
	t.value, t.err = f()
}

// Wait returns when the function or ctx has ended, and reports whether the function has. It returns
// true for a function that has ended even if ctx has ended, too.
func (t *Task[T]) Wait(ctx context.Context) bool {
	select {
	case <-t.done:
		return true
	case <-ctx.Done():
	}
	return t.ended()
}

func (t *Task[T]) ended() bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// Result returns the results of the function. If the function panicked, each call of Result panics
// with the same value in the goroutine of the caller. The error is ErrGoexit if the function ended
// its goroutine, and ErrRunning if it has not ended.
func (t *Task[T]) Result() (T, error) {
	if !t.ended() {
		var none T
		return none, ErrRunning
	}
	if t.panicked != nil {
		t.panicked.raise()
	}
	return t.value, t.err
}

// panicked is a panic that was recovered.
type panicked struct {
	value any
	stack []byte
}

// raise panics twice. recover returns the second value, which is the original one. Without a
// recover the runtime prints both values, and the first one has the stack of the goroutine that
// failed.
func (p *panicked) raise() {
	defer panic(p.value)
	panic(p)
}

// Error returns the stack of the goroutine that failed.
func (p *panicked) Error() string { return "in another goroutine:\n" + string(p.stack) }
