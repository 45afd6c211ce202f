package contractmodel

import (
	"net/http"
	"testing"

	"pgregory.net/rapid"
)

func TestIssuesMatchModel(t *testing.T) { trackerRun(t, trackerIssues) }

func TestGroupIssuesMatchModel(t *testing.T) { trackerRun(t, trackerGroupIssues) }

func TestMergeRequestsMatchModel(t *testing.T) { trackerRun(t, trackerMerges) }

func TestProjectMergeRequestsMatchModel(t *testing.T) { trackerRun(t, trackerProjectMerges) }

// trackerQueries is the number of queries for each random world.
const trackerQueries = 10

// trackerRun compares a list of the server with the model.
func trackerRun(t *testing.T, list string) {
	merges := list == trackerMerges || list == trackerProjectMerges
	checkModel(t, 1800, trackerQueries, func(t *rapid.T, note func(string)) {
		w := trackerDrawWorld(t, merges)
		var queries []*trackerRequest
		for range trackerQueries {
			queries = append(queries, trackerDrawRequest(t, w, list))
		}
		s := trackerServe(t, w, merges)
		defer s.Close()
		for _, q := range queries {
			q.resolve(w)
			answer, e := q.ask(t, s, w), trackerModel(w, &q.trackerQuery)
			if err := e.compare(w, answer); err != nil {
				t.Fatalf("%s?%s as %d: %v", q.path(w), q.Params.Encode(), q.Who, err)
			}
			if answer.status != http.StatusOK {
				note("refused")
				continue
			}
			for _, it := range w.Items {
				note(map[bool]string{true: "open", false: "decided"}[e.Verdicts[it.ID] == trackerMaybe])
			}
		}
	})
}
