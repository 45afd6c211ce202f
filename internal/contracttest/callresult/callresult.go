// Package callresult observes how a call ends, for tests of code that may panic, leave its
// goroutine, or hang.
package callresult

import (
	"fmt"
	"time"
)

// Patience is the time limit of one call: so long that only a call that hangs exceeds it.
const Patience = time.Minute

// Kind is how a function ended.
type Kind int

const (
	Returned Kind = iota // normally
	Panicked             // with a panic that its goroutine can recover
	Exited               // with runtime.Goexit
	Hung                 // it has not ended
)

// Outcome is the result of a call.
type Outcome struct {
	Kind  Kind
	Err   error // of a call that returned
	Value any   // of a panic
	Took  time.Duration
}

func (o Outcome) String() string {
	switch o.Kind {
	case Panicked:
		return fmt.Sprintf("panicked: %v", o.Value)
	case Exited:
		return "ended its goroutine"
	case Hung:
		return fmt.Sprintf("hung for %s", o.Took)
	default:
		return fmt.Sprintf("returned %v", o.Err)
	}
}

// Of calls f in its own goroutine and waits until it ends, at most for patience.
func Of(patience time.Duration, f func() error) Outcome {
	began, done := time.Now(), Start(f)
	select {
	case o := <-done:
		o.Took = time.Since(began)
		return o
	case <-time.After(patience):
		return Outcome{Kind: Hung, Took: patience}
	}
}

// Start calls f in its own goroutine and sends the outcome when it ends.
func Start(f func() error) <-chan Outcome {
	done := make(chan Outcome, 1)
	go func() {
		o := Outcome{Kind: Exited}
		defer func() {
			if value := recover(); value != nil {
				o = Outcome{Kind: Panicked, Value: value}
			}
			done <- o
		}()
		err := f()
		o = Outcome{Kind: Returned, Err: err}
	}()
	return done
}
