package forge

import (
	"testing"

	"go.uber.org/goleak"
)

// TestCompleteOrError: whatever interrupts a list, a wait, a preview or a file of rows, what came
// is complete, or an error says that it is not. The items are the server's, in order, without a gap
// and without a duplicate; an error comes last, once, and matches its cause; and the cursor beside
// it leads to all the rest.
func TestCompleteOrError(t *testing.T) {
	for _, test := range []struct {
		name string
		run  func(*testing.T)
	}{
		{"interruptions", completeInterruptions},
		{"hooks", completeHooks},
		{"methods", completeMethods},
		{"random", completeRandom},
		{"rows", completeRows},
		{"collect", completeCollect},
		{"waits", completeWaits},
		{"preview", completePreview},
		{"keyset", completeKeysetRefused},
		{"examples", completeExamples},
	} {
		t.Run(test.name, test.run)
	}
}

// completeInterruptions is one list of each form with each interruption.
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

// noLeaks checks, when all else of the test has been cleaned up, that no goroutine of it stays.
func noLeaks(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}
