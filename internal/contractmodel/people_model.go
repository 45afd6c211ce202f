package contractmodel

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// peopleQuery is one list that is asked for.
type peopleQuery struct {
	Who    int    // index of the user; -1 is nobody
	List   string // "users", "runners", "runners/all", "projects/runners", ...
	Target int    // index of the group, project or runner of the path; -1 is one that does not exist
	Params url.Values
	Keyset bool
}

func (q *peopleQuery) has(name string) bool { return q.Params.Has(name) }

func (q *peopleQuery) get(name string) string { return q.Params.Get(name) }

func (q *peopleQuery) on(name string) bool { return q.Params.Get(name) == "true" }

// peopleAnswer is one result that the documents allow. Where they leave a point open there are
// several, and Reading says which way each takes it.
type peopleAnswer struct {
	Reading string
	Refused []int     // the statuses of a refusal; nil for a list
	Rows    [][]int64 // ids in order; those of one element are tied
}

// peopleReading is a choice for each open point.
type peopleReading map[string]string

func (r peopleReading) String() string {
	names := make([]string, 0, len(r))
	for name, choice := range r {
		names = append(names, name+"="+choice)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// peopleReadings collects the open points that a query touches.
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
			copied := peopleReading{point: choice}
			for k, v := range r {
				copied[k] = v
			}
			more = append(more, copied)
		}
	}
	s.all = more
}

// answers asks for the answer of each reading.
func (s *peopleReadings) answers(answer func(r peopleReading) peopleAnswer) (all []peopleAnswer) {
	if s.all == nil {
		s.all = []peopleReading{{}}
	}
	for _, r := range s.all {
		a := answer(r)
		a.Reading = r.String()
		all = append(all, a)
	}
	return all
}

func peopleRefused(statuses ...int) []peopleAnswer {
	return []peopleAnswer{{Refused: statuses}}
}

// oneOf says whether a parameter that was given has a value outside its words.
func (q *peopleQuery) notOneOf(name string, words ...string) bool {
	return q.has(name) && !slices.Contains(words, q.get(name))
}

// notBoolean says whether a parameter that was given is no boolean: document 1 §2.1 rule 3.
func (q *peopleQuery) notBoolean(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return q.notOneOf(name, "true", "false") })
}

// notTime says whether a parameter that was given is no ISO 8601 timestamp.
func (q *peopleQuery) notTime(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, err := time.Parse(time.RFC3339Nano, q.get(name))
		return q.has(name) && err != nil
	})
}

// within says whether a time is within the bounds, which belong to it.
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

// peopleSorted sorts rows and puts those of equal rank together.
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

// peopleByID is a list sorted by id alone.
func peopleByID(ids []int64, descending bool) [][]int64 {
	return peopleSorted(ids, func(id int64) int64 { return id }, cmp.Compare[int64], descending)
}
