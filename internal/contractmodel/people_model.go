package contractmodel

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// peopleQuery is a request for a list.
type peopleQuery struct {
	Who    int    // index of the user; -1 means without a credential
	List   string // "users", "runners", "runners/all", "projects/runners", ...
	Target int    // index of the group, project or runner of the path; -1 means it does not exist
	Params url.Values
	Keyset bool
}

func (q *peopleQuery) has(name string) bool { return q.Params.Has(name) }

func (q *peopleQuery) get(name string) string { return q.Params.Get(name) }

func (q *peopleQuery) on(name string) bool { return q.Params.Get(name) == "true" }

// peopleAnswer is a result that the documents allow. If the documents leave a point open, there are
// several results, and Reading has the choice for each open point.
type peopleAnswer struct {
	Reading peopleReading
	Refused []int     // the statuses of a refusal; nil for a list
	Rows    [][]int64 // IDs in order; the IDs of one element are tied
}

// peopleReading has a choice for each open point.
type peopleReading map[string]string

// peopleReadings collects the open points of a query.
type peopleReadings struct{ all []peopleReading }

func (s *peopleReadings) open(touched bool, point string, choices ...string) {
	if !touched {
		return
	}
	if s.all == nil {
		s.all = []peopleReading{{}}
	}
	var more []peopleReading
	for _, r := range s.all {
		for _, choice := range choices {
			copied := maps.Clone(r)
			copied[point] = choice
			more = append(more, copied)
		}
	}
	s.all = more
}

// answers returns the result of each reading.
func (s *peopleReadings) answers(answer func(r peopleReading) peopleAnswer) (all []peopleAnswer) {
	if s.all == nil {
		s.all = []peopleReading{{}}
	}
	for _, r := range s.all {
		a := answer(r)
		a.Reading = r
		all = append(all, a)
	}
	return all
}

// notOneOf reports whether a parameter is set and its value is not one of words.
func (q *peopleQuery) notOneOf(name string, words ...string) bool {
	return q.has(name) && !slices.Contains(words, q.get(name))
}

// notBoolean reports whether one of the parameters is set and not a boolean: document 1 §2.1 rule
// 3.
func (q *peopleQuery) notBoolean(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return q.notOneOf(name, "true", "false") })
}

// notTime reports whether one of the parameters is set and not an ISO 8601 timestamp.
func (q *peopleQuery) notTime(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := time.Parse(time.RFC3339Nano, q.get(name))
		return q.has(name) && err != nil
	})
}

// within reports whether a time is within the inclusive bounds.
func (q *peopleQuery) within(at time.Time, after, before string) bool {
	if text := q.get(after); text != "" {
		if bound, err := time.Parse(time.RFC3339Nano, text); err == nil && at.Before(bound) {
			return false
		}
	}
	if text := q.get(before); text != "" {
		if bound, err := time.Parse(time.RFC3339Nano, text); err == nil && at.After(bound) {
			return false
		}
	}
	return true
}

func peopleIsID(text string) bool {
	_, err := strconv.ParseInt(text, 10, 64)
	return err == nil
}

// peopleSorted sorts rows. Rows of equal rank are in one element of the result.
func peopleSorted[T any](rows []T, id func(T) int64, compare func(a, b T) int, descending bool) [][]int64 {
	rank := compare
	if descending {
		rank = func(a, b T) int { return compare(b, a) }
	}
	slices.SortStableFunc(rows, rank)
	var all [][]int64
	for i, row := range rows {
		if i == 0 || compare(rows[i-1], row) != 0 {
			all = append(all, nil)
		}
		all[len(all)-1] = append(all[len(all)-1], id(row))
	}
	return all
}

// peopleByID sorts a list by ID.
func peopleByID(ids []int64, descending bool) [][]int64 {
	return peopleSorted(ids, func(id int64) int64 { return id }, cmp.Compare[int64], descending)
}
