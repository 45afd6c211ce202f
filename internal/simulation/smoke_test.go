package simulation

import (
	"fmt"
	"testing"
)

func TestSmoke(t *testing.T) {
	r := newSource(1)
	p := &Plan{Amount: Amount{12, 8, 9, 6, 5, 3, 3, 4, 6, 2, 3000}, Clients: []ClientPlan{{}}}
	for i, row := range calls() {
		s := drawStep(r, fmt.Sprintf("g0.s%d", i), i, []*row_{row}, 1)
		s = Step{ID: s.ID, Number: i, Call: row.name, Read: -1, Variant: s.Variant, Source: fromCaller, Size: 10, PerPage: 3 * b(row.items != nil && !row.whole)}
		p.Goroutines = append(p.Goroutines, []Step{s})
	}
	out := Play(t, p)
	for _, v := range out.Violations {
		t.Error(v)
	}
	for _, o := range out.seen {
		fmt.Println(o.step.Call, o.row.route, o.ended-o.begun, o.err, len(o.attempts), o.recovered, o.before.status)
		for _, w := range o.walks {
			fmt.Println("   ", len(w.items), len(o.before.items), w.err, w.wrong, w.cursor.Done())
		}
	}
}

type row_ = row

func b(v bool) int {
	if v {
		return 1
	}
	return 0
}
