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
	certificate, err := theCertificate() // outside, as it is for all bubbles
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
			time.Sleep(24 * time.Hour) // those that wait for a time end
		}
	})
	return violations
}

// watchBuffers begins to look after the buffers of one run; what it returns adds what was found.
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

// guarded runs the program and keeps its panic, which would end the process. A goroutine of its own
// may end by runtime.Goexit, as t.FailNow does.
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

// Settle waits until what is documented to go on after a call has ended: a list that was left waits
// 100 ms for its goroutines, and the refresh of an OAuth token goes on for 30 s. A server that has
// sent GOAWAY closes the connection after a second. Then Settle closes the connections that no call
// uses.
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

// openConnections finds the connections that the client has left open. net/http leaves one that has
// got GOAWAY after its last stream to the server, whose close does not arrive where the plan stalls.
func (w *World) openConnections() (violations []Violation) {
	leftToServer := w.plan.has(GoAway) && w.plan.has(Stall)
	for _, c := range w.net.ends(func(c *conn) bool { return c.client && !c.proxys }) {
		if leftToServer {
			_ = c.Close()
			continue
		}
		violations = append(violations, Violation{"connection", fmt.Sprintf(
			"connection %d to %s, opened for call %q, is still open", c.id, c.remote, c.call)})
		_ = c.Close() // or its goroutines would stay for the rest of the process
	}
	return violations
}

// goroutinesLeft finds what still runs in the bubble, which has two of its own. Looking at all
// stacks takes its time, so they are counted first.
func goroutinesLeft(outside int) (violations []Violation) {
	if runtime.NumGoroutine() == outside+2 {
		return nil
	}
	own := bubble(string(stackOf(false)))
	for stack := range strings.SplitSeq(string(stackOf(true)), "\n\n") {
		if bubble(stack) == own && !strings.Contains(stack, "testing/synctest.") {
			violations = append(violations, Violation{"goroutine", "it is left: " + stack})
		}
	}
	return violations
}

func stackOf(all bool) []byte {
	buffer := make([]byte, 1<<20)
	return buffer[:runtime.Stack(buffer, all)]
}

// bubble reads the number of a bubble from a goroutine's stack; empty where it is in none.
func bubble(stack string) string {
	first, _, _ := strings.Cut(stack, "\n")
	_, number, _ := strings.Cut(first, "synctest bubble ")
	number, _, _ = strings.Cut(number, "]")
	return number
}

// stacks are those of the goroutines in bubbles.
func stacks() string {
	var found []string
	for stack := range strings.SplitSeq(string(stackOf(true)), "\n\n") {
		if bubble(stack) != "" {
			found = append(found, stack)
		}
	}
	return strings.Join(found, "\n\n")
}
