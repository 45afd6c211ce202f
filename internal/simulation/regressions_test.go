package simulation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
)

// found has the shrunk plans of earlier violations.
var found = map[string]struct {
	seed uint64 // the seed that found it
	plan Plan
}{
	// The link to the next page had no address, and the list ended there without an error.
	"a next link without an address": {132, Plan{
		World:      WorldPlan{Faults: []Fault{{Call: "g0.s0", At: AtAfter, Kind: Relink, Target: Nowhere, Attempt: 1}}},
		Goroutines: [][]Step{{{ID: "g0.s0", Call: "MergeRequests.List", PerPage: 1, Read: -1}}},
	}},
	"a next link without an address, by keyset": {6229, Plan{
		World:      WorldPlan{Faults: []Fault{{Call: "g0.s0", At: AtAfter, Kind: Relink, Target: Nowhere}}},
		Goroutines: [][]Step{{{ID: "g0.s0", Call: "AuditEvents.ListForProject", PerPage: 5, Ahead: 4, Read: -1}}},
	}},
	// A registry token was not available within the client's time limit for its exchange. The
	// error reported a deadline of the caller, who had none.
	"a token that would take too long": {5693, Plan{
		World: WorldPlan{
			Faults: []Fault{{Call: "*", At: AtBefore, Kind: Respond, Status: 503}},
			Retry:  forge.RetryPolicy{MinWait: 30 * time.Second},
		},
		Goroutines: [][]Step{{{ID: "g0.s0", Call: "RegistryNative.DeleteTagReference", Read: -1}}},
	}},
	// The hook ended the call after the response to the download had begun, and the response was not
	// closed.
	"a hook that panics in front of a download": {9100308, Plan{
		Goroutines: [][]Step{{{ID: "g0.s0", Call: "PlaceholderReassignments.Download", Read: -1, Panic: inAttempt, PanicAt: 1}}},
	}},
	// All attempts of the second call, and all later calls, waited on the connection of the first.
	"a connection that stalls for ever": {9202336, Plan{
		World:      WorldPlan{Protocol: H2C, Faults: []Fault{{Call: "g0.s0", Attempt: 1, At: AtData, Byte: 200, Kind: Stall}}},
		Goroutines: [][]Step{{{ID: "g0.s0", Call: "ApprovalSettings.GetForProject", Read: -1}}, {{ID: "g1.s0", Call: "Emails.Delete", Wait: time.Second, Read: -1}}},
	}},
}

// TestFound plays the plans of earlier violations.
func TestFound(t *testing.T) {
	for name, f := range found {
		t.Run(name, func(t *testing.T) {
			f.plan.Amount = Amount{Issues: 3, MergeRequests: 3, Tags: 3, Events: 6, Users: 3, Files: 2, Emails: 3, Jobs: 3, Tree: 3, Small: 2}
			f.plan.Clients = []ClientPlan{{}}
			out := Play(t, &f.plan)
			assert.Empty(t, out.Violations, "seed %d\n%s", f.seed, out.Story())
		})
	}
}
