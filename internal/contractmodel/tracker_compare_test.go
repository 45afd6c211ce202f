package contractmodel

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"pgregory.net/rapid"
)

// trackerAnswer is the server's result: a list, or the status of a refusal.
type trackerAnswer struct {
	status int
	items  []*trackerItem
}

// path returns the address of the list.
func (q *trackerRequest) path(w *trackerWorld) string {
	switch q.List {
	case trackerGroupIssues:
		return strings.Replace(q.List, ":id", w.groupRef(q.Target), 1)
	case trackerProjectMerges:
		return strings.Replace(q.List, ":id", w.projectRef(q.Target), 1)
	}
	return q.List
}

// ask reads all pages of a list.
func (q *trackerRequest) ask(t *rapid.T, s *peopleServer, w *trackerWorld) *trackerAnswer {
	address := s.URL + "/api/v4" + q.path(w)
	pages, problem := s.walk(t, q.Who, address, q.Params, q.Size, false)
	if problem != "" {
		t.Fatalf("%s?%s: %s", address, q.Params.Encode(), problem)
	}
	answer := &trackerAnswer{status: pages[0].status}
	for _, page := range pages {
		for _, id := range page.ids {
			i := slices.IndexFunc(w.Items, func(it *trackerItem) bool { return it.ID == id })
			if i < 0 {
				t.Fatalf("%s?%s: an unknown item: id %d", address, q.Params.Encode(), id)
			}
			answer.items = append(answer.items, w.Items[i])
		}
	}
	return answer
}

// compare returns an error if a result disagrees with the model.
func (e *trackerExpected) compare(w *trackerWorld, answer *trackerAnswer) error {
	if answer.status != http.StatusOK {
		if !slices.Contains(e.Refusals, answer.status) {
			return fmt.Errorf("status %d; the model allows %v", answer.status, e.Refusals)
		}
		return nil
	}
	if e.Must {
		return fmt.Errorf("a list of %d; the model refuses it with %v", len(answer.items), e.Refusals)
	}
	got := map[int64]bool{}
	for _, it := range answer.items {
		if got[it.ID] {
			return fmt.Errorf("item %d is in the list twice: %s", it.ID, trackerIDs(answer.items))
		}
		got[it.ID] = true
	}
	for _, it := range w.Items {
		if verdict := e.Verdicts[it.ID]; got[it.ID] && verdict == trackerNo || !got[it.ID] && verdict == trackerYes {
			return fmt.Errorf("item %d is in the list: %t; the model says otherwise: %s\n%+v", it.ID, got[it.ID], trackerIDs(answer.items), it)
		}
	}
	for i, a := range answer.items {
		for _, b := range answer.items[i+1:] {
			if order, sure := e.Order(w, a, b, e.Desc); sure && order > 0 {
				return fmt.Errorf("item %d is before item %d: %s\n%+v\n%+v", a.ID, b.ID, trackerIDs(answer.items), a, b)
			}
		}
	}
	return nil
}

func trackerIDs(items []*trackerItem) string {
	ids := []int64{}
	for _, it := range items {
		ids = append(ids, it.ID)
	}
	return fmt.Sprint(ids)
}
