package simulation

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Violation is something that must never be. It is a value, reported outside of the bubble.
type Violation struct {
	Name string // of the invariant
	Text string
}

func (v Violation) String() string { return v.Name + ": " + v.Text }

// Run opens a bubble with the world of the plan, runs body in it, closes everything, and returns
// what the world found: a panic of body, and what is in use afterwards. t is for the bubble only
// and never fails.
func Run(t *testing.T, plan WorldPlan, body func(w *World)) (violations []Violation) {
	t.Helper()
	defer func() {
		if value := recover(); value != nil {
			violations = append(violations, Violation{"bubble", fmt.Sprintf("%v\n%s", value, stacks())})
		}
	}()
	synctest.Test(t, func(*testing.T) {
		w, err := newWorld(plan)
		if err != nil {
			violations = append(violations, Violation{"world", err.Error()})
			return
		}
		defer w.close()
		violations = append(violations, guarded(w, body)...)
		violations = append(violations, w.leftovers()...)
	})
	return violations
}

// guarded runs the program and keeps its panic, which would end the process.
func guarded(w *World, body func(w *World)) (violations []Violation) {
	returned := false
	defer func() {
		if returned {
			return
		}
		value := recover()
		if value == nil {
			value = "runtime.Goexit"
		}
		violations = []Violation{{"program", fmt.Sprintf("%v\n%s", value, debug.Stack())}}
	}()
	body(w)
	returned = true
	return nil
}

// grace is how long what is documented to go on may go on after the program's end: a list that was
// left waits 100 ms for its goroutines.
const grace = 200 * time.Millisecond

// leftovers finds what the client has left.
func (w *World) leftovers() (violations []Violation) {
	time.Sleep(grace)
	w.closeIdle()
	synctest.Wait()
	for _, c := range w.net.ends(func(c *conn) bool { return c.client }) {
		violations = append(violations, Violation{"connection", fmt.Sprintf(
			"connection %d to %s, opened for call %q, is still open", c.id, c.remote, c.call)})
	}
	return violations
}

// stacks are those of goroutines in bubbles that are blocked.
func stacks() string {
	buffer := make([]byte, 1<<20)
	buffer = buffer[:runtime.Stack(buffer, true)]
	var found []string
	for _, stack := range strings.Split(string(buffer), "\n\n") {
		if first, _, _ := strings.Cut(stack, "\n"); strings.Contains(first, "synctest bubble") {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
