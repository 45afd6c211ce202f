package forge

import (
	"errors"
	"runtime"
	"testing"
)

// errHookPanic is the value that the hooks of these tests panic with.
var errHookPanic = errors.New("the hook's own panic")

// completeHooks is one list of each form whose hook panics, or ends its goroutine, after the
// attempt at each page. It runs in child processes: a panic in a goroutine of the library is the
// end of one.
func completeHooks(t *testing.T) {
	panics := &listInterruption{name: "the hook panics", ends: []endingKind{hasPanicked}, hook: func(*trial) { panic(errHookPanic) }}
	// With Ahead the hook may run in a goroutine of the library, whose end is an error of the list.
	exits := &listInterruption{name: "the hook ends its goroutine", ends: []endingKind{ranGoexit, hasReturned},
		hook: func(*trial) { runtime.Goexit() }, is: func(err error) bool { return err != nil }}
	var cases []childCase
	for _, form := range pagingForms {
		for _, cause := range []*listInterruption{panics, exits} {
			for _, k := range trialsOf(form, trialListOf(form), "", cause) {
				if k.from == 0 {
					cases = append(cases, childCase{k.String(), k.run})
				}
			}
		}
	}
	runInChild(t, cases)
}
