package contractmodel

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
	"pgregory.net/rapid"
)

// trackerQueries is the number of queries for each random world.
const trackerQueries = 10

// trackerEnvironment returns a number from the environment, or standard.
func trackerEnvironment(name string, standard uint64) uint64 {
	if n, err := strconv.ParseUint(os.Getenv(name), 10, 64); err == nil {
		return n
	}
	return standard
}

// trackerFlags sets the seed and the number of checks of rapid. FORGE_SEED changes the seed, and
// FORGE_CASES the number of queries for each list.
func trackerFlags(t *testing.T) {
	seed, cases := trackerEnvironment("FORGE_SEED", 20260101), trackerEnvironment("FORGE_CASES", 1200/trackerSlower)
	checks := (cases + trackerQueries - 1) / trackerQueries
	for name, value := range map[string]string{
		"rapid.seed": strconv.FormatUint(seed, 10), "rapid.checks": strconv.FormatUint(checks, 10), "rapid.nofailfile": "true",
		"rapid.shrinktime": "5s",
	} {
		old := flag.Lookup(name).Value.String()
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = flag.Set(name, old) })
	}
	t.Logf("FORGE_SEED=%d FORGE_CASES=%d", seed, cases)
}

// trackerRun compares a list of the server with the model.
func trackerRun(t *testing.T, list string) {
	trackerFlags(t)
	merges := list == trackerMerges || list == trackerProjectMerges
	client := &http.Client{Transport: &http.Transport{}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	seen := map[string]int{}
	rapid.Check(t, func(rt *rapid.T) {
		w := trackerDrawWorld(rt, merges)
		var queries []*trackerRequest
		for range trackerQueries {
			queries = append(queries, trackerDrawRequest(rt, w, list))
		}
		s, err := trackerServe(w, merges)
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		for _, q := range queries {
			q.resolve(w)
			if err := trackerCompare(client, s, w, q, seen); err != nil {
				rt.Fatalf("%s %s as %d, per_page=%s: %v", q.path(w), q.Params.Encode(), q.Who, q.Size, err)
			}
		}
	})
	t.Logf("%s: %v", list, seen)
}

// trackerCompare requests a list in all ways of the query, and compares each result with the model.
func trackerCompare(client *http.Client, s *forgetest.Server, w *trackerWorld, q *trackerRequest, seen map[string]int) error {
	answer, err := q.ask(client, s, w)
	if err == nil && q.Keyset && answer.status == http.StatusMethodNotAllowed {
		q.Keyset = false // document 1 §8.1 has no keyset pagination for these lists
		answer, err = q.ask(client, s, w)
	}
	if err == nil {
		err = trackerCheck(w, q, answer, seen)
	}
	if err != nil {
		return err
	}
	if q.Edge > 0 && answer.status == http.StatusOK {
		seen["edges"]++
		if err := q.edge(client, s, w, answer.items); err != nil {
			return err
		}
	}
	if !q.Client {
		return nil
	}
	answer, ok := q.askClient(s, w)
	if !ok {
		return nil
	}
	seen["by the client"]++
	if err := trackerModel(w, &q.trackerQuery).compare(w, answer); err != nil {
		return fmt.Errorf("by the client: %w", err)
	}
	return nil
}

// trackerCheck compares a result with the model and counts its kind.
func trackerCheck(w *trackerWorld, q *trackerRequest, answer *trackerAnswer, seen map[string]int) error {
	e := trackerModel(w, &q.trackerQuery)
	if err := e.compare(w, answer); err != nil {
		return err
	}
	seen["queries"]++
	if answer.status != http.StatusOK {
		seen["refused"]++
		return nil
	}
	seen["items"] += len(answer.items)
	if len(answer.items) > q.size() {
		seen["several pages"]++
	}
	for _, it := range w.Items {
		if e.Verdicts[it.ID] == trackerMaybe {
			seen["open"]++
		} else {
			seen["decided"]++
		}
	}
	return nil
}
