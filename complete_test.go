package forge

import (
	"testing"

	"go.uber.org/goleak"
)

// TestCompleteOrError interrupts lists of each form, and of each method, in many ways. A list is
// complete, or there is an error. The items are those of the server, in order, without a gap or a
// duplicate. An error is the last pair, occurs once, and matches its cause, and the cursor leads to
// all remaining items.
func TestCompleteOrError(t *testing.T) {
	t.Run("interruptions", completeInterruptions)
	t.Run("methods", completeMethods)
}

// completeInterruptions reads a list of each form with each interruption.
func completeInterruptions(t *testing.T) {
	for _, form := range pagingForms {
		t.Run(form.name, func(t *testing.T) {
			noLeaks(t)
			list := trialListOf(form)
			cursor := trialCursor(t, form, list, numberedPages(idItem, pageSizes(7, 3)...), 2)
			var trials []*trial
			for _, cause := range listInterruptions {
				trials = append(trials, trialsOf(form, list, cursor, cause)...)
			}
			runTrials(t, trials)
		})
	}
}

// noLeaks checks after all other cleanups of the test that none of its goroutines stays.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}
