package forgetest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// sortRecord has the position of a record for each sort key; nil means without a value.
type sortRecord = map[string]any

// orderWorld has records for every sort key: two with each value, so that there are ties, and some
// without a value.
func orderWorld(t *testing.T) (caller, map[string][]sortRecord) {
	s := New(t)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	p.AddLabel("first", "#ffffff", "", 1)
	p.AddLabel("second", "#ffffff", "", 2)
	early, late := p.AddMilestone("early", time.Time{}, day(2)), p.AddMilestone("late", time.Time{}, day(9))
	undated := p.AddMilestone("undated", time.Time{}, time.Time{})
	milestones := []*Document{late, nil, early, undated}
	labels := [][]string{{"second"}, nil, {"first", "second"}, {"plain"}}
	dues, ranks := []any{9, nil, 2, nil}, []any{2, nil, 1, nil}
	records := map[string][]sortRecord{}
	for i := range 32 {
		half := i % 16
		a, b := half/4, half%4
		at := day(1).Add(time.Duration(half) * time.Hour)
		changed := day(2).Add(time.Duration(half*5%16) * time.Hour) // no two keys have the same order
		p.AddIssue(func(d *Document) {
			d.Set("created_at", at).Set("updated_at", changed).Set("title", "Title "+string(rune('p'-half))).
				Set("milestone", milestones[a]).Set("labels", labels[b]).Set("upvotes", half*3%16)
			if half > 2 {
				d.Set("weight", half/2).Set("due_date", day(9-half/2))
			}
		})
		var weight, due any
		if half > 2 {
			weight, due = half/2, -half/2
		}
		records["Issue"] = append(records["Issue"], sortRecord{
			"created_at": half, "updated_at": half * 5 % 16, "title": -half, "due_date": due, "weight": weight, "popularity": half * 3 % 16,
			"relative_position": i, "milestone_due": dues[a], "label_priority": ranks[b], "priority": dues[a], "priority 2": ranks[b],
		})
		p.AddMergeRequest(func(d *Document) {
			d.Set("created_at", at).Set("updated_at", changed).Set("title", "Title "+string(rune('p'-half)))
			if half > 2 {
				d.Set("merged_at", day(half/2))
			}
		})
		records["MergeRequest"] = append(records["MergeRequest"], sortRecord{
			"created_at": half, "updated_at": half * 5 % 16, "title": -half, "merged_at": weight,
		})
	}
	return newCaller(t, s), records
}

// wantOrder sorts the iids: a record without a value is last in both directions, and ties are in
// the direction of the list.
func wantOrder(records []sortRecord, keys []string, descending bool) []any {
	iids := make([]int, len(records))
	for i := range iids {
		iids[i] = i + 1
	}
	sign := map[bool]int{true: -1, false: 1}[descending]
	slices.SortFunc(iids, func(x, y int) int {
		for _, key := range keys {
			a, b := records[x-1][key], records[y-1][key]
			switch {
			case a == b:
			case a == nil:
				return 1
			case b == nil:
				return -1
			default:
				return sign * (a.(int) - b.(int))
			}
		}
		return sign * (x - y)
	})
	values := make([]any, len(iids))
	for i, iid := range iids {
		values[i] = float64(iid)
	}
	return values
}

// Every sort key of every list of issues and merge requests, in both directions, page by page too.
func TestSortKeys(t *testing.T) {
	c, records := orderWorld(t)
	for _, l := range everyList(t) {
		order := find(l.QueryParams, "order_by")
		if order == nil || records[l.Response.Type] == nil {
			continue
		}
		for _, key := range order.Enum {
			for _, sort := range []string{"asc", "desc"} {
				want := wantOrder(records[l.Response.Type], []string{key, key + " 2"}, sort == "desc")
				query := l.ask("order_by=" + key + "&sort=" + sort)
				assert.Equal(t, want, c.get(query+"&per_page=100").column(t, "iid"), "%s %s %s", l.route, key, sort)
				walked, _ := c.walk(query+"&per_page=7", "iid")
				assert.Equal(t, want, walked, "%s %s %s", l.route, key, sort)
			}
		}
		if !strings.Contains(l.path, "issues/") {
			assert.Equal(t, c.get(l.ask("order_by=created_at&sort=desc")).Body, c.get(l.path).Body)
		}
	}
}
