// Package contractmodel computes the result of each list from the API documents alone, and was
// written without the code of forgetest. Its tests compare forgetest with it on random data.
//
// A point is open if the documents do not decide it. There the model accepts each possible reading,
// and a comment names the point. The files people_*.go, users.go, runners.go and audit.go model
// users, runners and audit events; tracker_*.go, issues.go and merge_requests.go model issues and
// merge requests.
package contractmodel

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// trackerVerdict states whether an item is in a list, in three-valued logic.
type trackerVerdict int

// trackerMaybe is for an item that is in the list in one reading of the documents but not in
// another.
const (
	trackerNo trackerVerdict = iota
	trackerMaybe
	trackerYes
)

func trackerSure(b bool) trackerVerdict {
	if b {
		return trackerYes
	}
	return trackerNo
}

func (v trackerVerdict) not() trackerVerdict { return trackerYes - v }

// trackerEither returns the verdict if there are two readings.
func trackerEither(a, b trackerVerdict) trackerVerdict {
	if a == b {
		return a
	}
	return trackerMaybe
}

// trackerTest is a filter with its value.
type trackerTest func(*trackerItem) trackerVerdict

// trackerFilter parses the values of a parameter. It calls wrong if a value is not in the row, and
// may then return nil.
type trackerFilter func(r *trackerReader, values []string) trackerTest

// trackerRow is a row of the tables of document 2 §4.1.1 and §4.2.1: a filter, and the lowest tier
// that has it.
type trackerRow struct {
	tier   string
	filter trackerFilter
}

// trackerTable has the parameters of a list, by their wire names.
type trackerTable struct {
	rows, not map[string]trackerRow
	exclusive [][2]string
	orders    map[string]trackerOrder
	own       bool // the default of scope is created_by_me
	places    bool // the list has the parameter in
}

// trackerExpected is the result that the model expects of a list.
type trackerExpected struct {
	Must     bool  // it must be refused
	Refusals []int // the statuses with which it may be refused
	Verdicts map[int64]trackerVerdict
	Order    trackerOrder
	Desc     bool
}

// trackerReader evaluates a query.
type trackerReader struct {
	w     *trackerWorld
	q     *trackerQuery
	table *trackerTable
	must  bool
	codes map[int]bool
	tests []trackerTest
}

// wrong records that a value is invalid.
func (r *trackerReader) wrong() trackerTest {
	r.must = true
	return r.mayRefuse(http.StatusBadRequest)
}

// mayRefuse records statuses with which the server may refuse the query.
func (r *trackerReader) mayRefuse(codes ...int) trackerTest {
	for _, code := range codes {
		r.codes[code] = true
	}
	return nil
}

func (r *trackerReader) add(test trackerTest) {
	if test != nil {
		r.tests = append(r.tests, test)
	}
}

func (r *trackerReader) get(name string) string { return r.q.Params.Get(name) }

// licensed reports whether the tier of the server includes a tier (document 1 §1).
func (r *trackerReader) licensed(tier string) bool {
	tiers := []string{"", "free", "premium", "ultimate"}
	return slices.Index(tiers, r.w.Tier) >= slices.Index(tiers, tier)
}

// trackerModel returns the expected result of a list.
func trackerModel(w *trackerWorld, q *trackerQuery) *trackerExpected {
	r := &trackerReader{w: w, q: q, table: trackerTables()[q.List], codes: map[int]bool{}}
	r.target()
	r.scope()
	r.filters()
	r.excluded()
	r.searched()
	if q.List == trackerMerges || q.List == trackerProjectMerges {
		r.deployed()
	}
	e := &trackerExpected{Verdicts: map[int64]trackerVerdict{}}
	r.order(e)
	for _, it := range w.Items {
		verdict := trackerYes
		for _, test := range r.tests {
			verdict = min(verdict, test(it))
		}
		e.Verdicts[it.ID] = verdict
	}
	e.Must, e.Refusals = r.must, slices.Sorted(maps.Keys(r.codes))
	return e
}

// target checks the group or project, and selects its items that the requester can see.
func (r *trackerReader) target() {
	w, q := r.w, r.q
	merges := q.List == trackerMerges || q.List == trackerProjectMerges
	r.add(func(it *trackerItem) trackerVerdict { return w.visible(q.Who, it, merges) })
	switch q.List {
	case trackerIssues, trackerMerges:
		if q.Who == trackerNobody { // not specified; GitLab requires a user unless the scope is all
			r.mayRefuse(http.StatusUnauthorized)
		}
		return
	case trackerGroupIssues:
		readable := trackerNo
		if q.Target != trackerNobody {
			readable = w.groupReadable(q.Who, q.Target)
		}
		r.missing(readable)
		r.add(func(it *trackerItem) trackerVerdict {
			return trackerSure(q.Target != trackerNobody && slices.Contains(w.lineage(w.Projects[it.Project].Group), q.Target))
		})
	default:
		r.missing(trackerSure(q.Target != trackerNobody && w.readable(q.Who, q.Target)))
		r.add(func(it *trackerItem) trackerVerdict { return trackerSure(it.Project == q.Target) })
	}
}

// missing expects 404 for an object that the requester cannot see (document 1 §5). Without a
// credential, 401 is allowed, too.
func (r *trackerReader) missing(readable trackerVerdict) {
	if readable == trackerYes {
		return
	}
	r.must = r.must || readable == trackerNo
	r.mayRefuse(http.StatusNotFound)
	if r.q.Who == trackerNobody {
		r.mayRefuse(http.StatusUnauthorized)
	}
}

// scope applies the parameter scope. Its default is created_by_me for the global lists, and all for
// the others. The row of the project's merge requests has no default.
func (r *trackerReader) scope() {
	scope := "all"
	if r.table.own {
		scope = "created_by_me"
	}
	if given := r.get("scope"); given != "" {
		scope = given
	}
	who := r.q.Who
	switch scope {
	case "all":
		return
	case "created_by_me":
		r.add(func(it *trackerItem) trackerVerdict { return trackerSure(who != trackerNobody && it.Author == who) })
	case "assigned_to_me":
		r.add(func(it *trackerItem) trackerVerdict {
			return trackerSure(who != trackerNobody && slices.Contains(it.Assignees, who))
		})
	default:
		r.wrong()
	}
	if who == trackerNobody { // without a user there are no items, or the request is refused
		r.mayRefuse(http.StatusUnauthorized)
	}
}

// filters evaluates the parameters of the list, and the keys of not[]. Undocumented parameters are
// ignored. An undocumented key of not[] may be refused.
func (r *trackerReader) filters() {
	for name, values := range r.q.Params {
		key, inNot := strings.CutPrefix(name, "not[")
		if !inNot {
			if row, ok := r.table.rows[name]; ok {
				r.add(r.row(row, values))
			}
			continue
		}
		key = strings.Replace(key, "]", "", 1)
		row, ok := r.table.not[key]
		if !ok {
			r.mayRefuse(http.StatusBadRequest)
			continue
		}
		if test := r.row(row, values); test != nil {
			r.add(func(it *trackerItem) trackerVerdict { return test(it).not() })
		}
	}
	if _, ok := r.table.rows["non_archived"]; ok && r.get("non_archived") != "false" {
		r.add(func(it *trackerItem) trackerVerdict { return trackerSure(!r.w.Projects[it.Project].Archived) })
	}
}

// row returns nil for a parameter that the tier lacks: it has no effect. Open: whether its value is
// checked.
func (r *trackerReader) row(row trackerRow, values []string) trackerTest {
	if r.licensed(row.tier) {
		return row.filter(r, values)
	}
	must := r.must
	row.filter(r, values)
	r.must = must
	return nil
}

// excluded refuses parameters that exclude each other. Open: whether this applies to the keys of
// not[], to parameters that the tier lacks, and to undocumented parameters of a list.
func (r *trackerReader) excluded() {
	for _, pair := range r.table.exclusive {
		if r.given(pair[0]) && r.given(pair[1]) && r.documented(pair[0]) && r.documented(pair[1]) {
			if r.licensed(r.table.rows[pair[0]].tier) && (pair[0] != "milestone_id" || r.q.List == trackerIssues) {
				r.wrong()
			}
			r.mayRefuse(http.StatusBadRequest)
		}
		if r.given("not["+pair[0]+"]") && r.given("not["+pair[1]+"]") {
			r.mayRefuse(http.StatusBadRequest)
		}
	}
}

func (r *trackerReader) given(name string) bool {
	return r.q.Params.Has(name) || r.q.Params.Has(name+"[]")
}

func (r *trackerReader) documented(name string) bool {
	_, one := r.table.rows[name]
	_, many := r.table.rows[name+"[]"]
	return one || many
}

// order evaluates order_by and sort.
func (r *trackerReader) order(e *trackerExpected) {
	name := r.get("order_by")
	if name == "" {
		name = "created_at"
	}
	order, ok := r.table.orders[name]
	if !ok {
		r.wrong()
		return
	}
	if name == "weight" && !r.licensed("premium") {
		order = trackerAnyOrder
		r.mayRefuse(http.StatusBadRequest)
	}
	switch r.get("sort") {
	case "", "desc":
		e.Desc = true
	case "asc":
	default:
		r.wrong()
	}
	e.Order = order
}
