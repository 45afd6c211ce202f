package simulation

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Violation is a broken rule. It is a value, so that it can be reported outside of the bubble.
type Violation struct {
	Name string // of the invariant, or of a check in this file
	Text string
}

func (v Violation) String() string { return v.Name + ": " + v.Text }

// Run opens a bubble with the world of the plan, runs body in it, closes everything, and returns
// the violations: a panic of body, and resources that are still in use. t is only for the bubble
// and never fails.
func Run(t *testing.T, plan WorldPlan, body func(w *World)) (violations []Violation) {
	t.Helper()
	defer func() {
		if value := recover(); value != nil {
			violations = append(violations, Violation{"bubble", fmt.Sprintf("%v\n%s", value, stacks())})
		}
	}()
	certificate, err := theCertificate() // outside of the bubble: all bubbles share it
	if err != nil {
		return []Violation{{"world", err.Error()}}
	}
	defer watchBuffers()(&violations)
	started := runtime.NumGoroutine()
	synctest.Test(t, func(*testing.T) {
		w, err := newWorld(plan, certificate)
		if err != nil {
			violations = append(violations, Violation{"world", err.Error()})
			return
		}
		violations = append(violations, guarded(w, body)...)
		w.Settle()
		violations = append(violations, w.openConnections()...)
		w.close()
		synctest.Wait()
		left := goroutinesLeft(started)
		if violations = append(violations, left...); left != nil {
			time.Sleep(24 * time.Hour) // goroutines that wait for a time end
		}
	})
	return violations
}

// watchBuffers starts the check of the buffers of one run. report adds the violations.
func watchBuffers() (report func(*[]Violation)) {
	b := watched.Load()
	if b == nil {
		return func(*[]Violation) {}
	}
	alone, before := running.Add(1) == 1, b.inUse()
	return func(violations *[]Violation) {
		alone = running.Add(-1) == 0 && alone
		*violations = append(*violations, b.result(before, alone)...)
	}
}

// guarded runs the program and returns its panic as a violation, so that the process continues. The
// program runs in its own goroutine, because runtime.Goexit may end it, as t.FailNow does.
func guarded(w *World, body func(w *World)) (violations []Violation) {
	done := make(chan struct{})
	go func() {
		returned := false
		defer close(done)
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
	}()
	<-done
	return violations
}

// Settle waits for documented background work: a list that was left waits 100 ms for its
// goroutines, and the refresh of an OAuth token continues for 30 s. A server that has sent GOAWAY
// closes the connection after a second. Then Settle closes the connections that no call uses.
func (w *World) Settle() {
	grace := 200 * time.Millisecond
	if w.plan.has(GoAway) {
		grace = 1500 * time.Millisecond
	}
	if w.plan.Auth == OAuth {
		grace = 31 * time.Second
	}
	time.Sleep(grace)
	w.closeIdle()
	synctest.Wait()
}

func (w WorldPlan) has(kind FaultKind) bool {
	return slices.ContainsFunc(w.Faults, func(f Fault) bool { return f.Kind == kind })
}

// openConnections reports and closes the connections that the client has left open. If a connection
// without a stream gets GOAWAY, net/http removes it from its pool and waits for the server to close
// it. If the connection is stalled, the close never arrives, so the connection is not reported.
func (w *World) openConnections() (violations []Violation) {
	for _, c := range w.net.ends(func(c *conn) bool { return c.client && !c.proxys }) {
		if !w.plan.has(GoAway) || !c.in.stalled() {
			violations = append(violations, Violation{"connection", fmt.Sprintf(
				"connection %d to %s, opened for call %q, is still open", c.id, c.remote, c.call)})
		}
		_ = c.Close() // otherwise its goroutines would stay until the process ends
	}
	return violations
}

// goroutinesLeft reports the goroutines in the bubble, except the two of synctest. It first counts
// the goroutines, because reading all stacks is slow.
func goroutinesLeft(outside int) (violations []Violation) {
	if runtime.NumGoroutine() == outside+2 {
		return nil
	}
	own := bubble(string(stackOf(false)))
	for stack := range strings.SplitSeq(string(stackOf(true)), "\n\n") {
		if bubble(stack) == own && !strings.Contains(stack, "testing/synctest.") {
			violations = append(violations, Violation{"goroutine", "it still runs: " + stack})
		}
	}
	return violations
}

func stackOf(all bool) []byte {
	buffer := make([]byte, 1<<20)
	return buffer[:runtime.Stack(buffer, all)]
}

// bubble returns the number of the bubble in a goroutine's stack; empty outside of bubbles.
func bubble(stack string) string {
	first, _, _ := strings.Cut(stack, "\n")
	_, number, _ := strings.Cut(first, "synctest bubble ")
	number, _, _ = strings.Cut(number, "]")
	return number
}

// stacks returns the stacks of the goroutines in bubbles.
func stacks() string {
	var found []string
	for stack := range strings.SplitSeq(string(stackOf(true)), "\n\n") {
		if bubble(stack) != "" {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
