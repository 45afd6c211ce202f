package simulation

import (
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
)

var (
	seedFlag   = flag.Uint64("seed", 0, "print the story of one `seed`")
	forFlag    = flag.Duration("for", 0, "search new seeds for this `time`, and stop at the first violation")
	countFlag  = flag.Int("seeds", 0, "try this `number` of seeds, starting at -from")
	fromFlag   = flag.Uint64("from", 1, "the first seed of -seeds")
	allFlag    = flag.Bool("all", false, "do not stop at a violation: count them by invariant")
	shrinkFlag = flag.Duration("shrink", 10*time.Second, "time limit for shrinking a failing plan")
	smallFlag  = flag.String("small", "", "shrink the plan of -seed while it violates this `invariant`")
)

// TestSimulation runs programs drawn from seeds: the seeds of this commit, or those of the flags.
func TestSimulation(t *testing.T) {
	debug.SetGCPercent(400)
	defer WatchBuffers()()
	log.SetOutput(io.Discard) // net/http logs the bytes that a server has changed
	switch {
	case *seedFlag != 0:
		plan := Draw(*seedFlag)
		if *smallFlag != "" {
			plan = Shrink(t, plan, *smallFlag, 20, time.Now().Add(time.Minute))
		}
		out := Play(t, plan)
		t.Log("\n" + out.Story())
		report(t, out)
	case *forFlag > 0:
		began := rand.Uint64() >> 16
		search(t, began, 1<<40, time.Now().Add(*forFlag))
	case *countFlag > 0:
		search(t, *fromFlag, *countFlag, time.Now().Add(24*time.Hour)) // -test.timeout ends it before
	default:
		count, limit := 300, 24*time.Hour
		if d, err := time.ParseDuration(os.Getenv("FORGE_SIMULATION")); err == nil {
			count, limit = 1<<40, d
		}
		search(t, seedOfCommit(), count, time.Now().Add(limit))
	}
}

// seedOfCommit returns a different seed for each commit.
func seedOfCommit() uint64 {
	id := os.Getenv("FORGE_COMMIT")
	if info, ok := debug.ReadBuildInfo(); ok && id == "" {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				id = s.Value
			}
		}
	}
	h := fnv.New64()
	_, _ = h.Write([]byte(id))
	return h.Sum64() >> 16
}

// search plays seeds until one violates an invariant, and shrinks its plan.
func search(t *testing.T, from uint64, count int, until time.Time) {
	t.Helper()
	var took []time.Duration
	for seed := from; len(took) < count && time.Now().Before(until); seed++ {
		began := time.Now()
		stuck := time.AfterFunc(10*time.Minute, func() { panic(fmt.Sprintf("seed %d does not end", seed)) })
		plan := Draw(seed)
		out := Play(t, plan)
		stuck.Stop()
		if took = append(took, time.Since(began)); len(took)%10_000 == 0 {
			t.Logf("%d seeds", len(took))
		}
		if len(out.Violations) == 0 {
			continue
		}
		if *allFlag {
			tally(t, seed, out.Violations)
			continue
		}
		t.Logf("seed %d, after %d other seeds: %v", seed, len(took)-1, out.Violations[0])
		small := Shrink(t, plan, out.Violations[0].Name, 20, time.Now().Add(*shrinkFlag))
		for range 20 {
			if again := Play(t, small); len(again.Violations) > 0 {
				out = again
				break
			}
		}
		t.Logf("\n%s\n%#v", out.Story(), *small)
		report(t, out)
		return
	}
	slices.Sort(took)
	t.Logf("%d seeds starting at %d, median %v, longest %v", len(took), from, took[len(took)/2], took[len(took)-1])
	t.Log(perName)
}

var perName = map[string]int{}

// tally reports the first violations of each invariant, and counts the others.
func tally(t *testing.T, seed uint64, violations []Violation) {
	t.Helper()
	for _, v := range violations[:1] {
		if perName[v.Name]++; perName[v.Name] <= 4 {
			t.Errorf("seed %d violates %.300v", seed, v)
		}
	}
}

func report(t *testing.T, out *Outcome) {
	t.Helper()
	for _, v := range out.Violations {
		t.Error(v)
	}
}

// TestDrawIsRepeatable checks that a seed always draws the same plan.
func TestDrawIsRepeatable(t *testing.T) {
	for seed := range uint64(200) {
		first, again := Draw(seed), Draw(seed)
		assert.Equal(t, first, again)
	}
}

// TestEveryEndpointIsCalled checks that programs call each documented endpoint, and that the
// requests arrive there.
func TestEveryEndpointIsCalled(t *testing.T) {
	called := map[string]int{}
	missing := func() (routes []string) {
		for _, r := range forge.Routes() {
			if called[r.Method+" "+r.Template] == 0 {
				routes = append(routes, r.Method+" "+r.Template)
			}
		}
		return routes
	}
	seeds := uint64(0)
	for ; len(missing()) > 0 && seeds < 1000; seeds++ {
		for _, s := range Play(t, Draw(seeds)).seen {
			for _, a := range s.attempts {
				called[a.Method+" "+a.Route]++
			}
		}
	}
	assert.Empty(t, missing())
	assert.Len(t, forge.Routes(), 94)
	t.Logf("%d seeds called every endpoint", seeds)
}
