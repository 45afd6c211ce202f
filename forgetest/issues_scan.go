package forgetest

import (
	"cmp"
	"slices"
	"strconv"
	"sync"
	"time"
)

// markEvery is the number of matches between two positions that a scan stores.
const markEvery = 1000

// issueScan iterates over the issues of a list in the order of their creation and stores none of
// them. It stores its position at every thousandth match, so that it reaches any page in few steps.
// A list of millions uses no memory.
type issueScan struct {
	trackers   []*tracker
	descending bool
	holds      func(*Issue) bool
	marks      [][]int64 // next iid of each tracker before match 0, 1000, 2000...
	found      int       // matches so far
	front      *scanner
}

// scanner is one iteration of a scan.
type scanner struct {
	scan  *issueScan
	index int // of the next match
	heads []scanHead
}

// scanHead is the next issue of one tracker.
type scanHead struct {
	tracker *tracker
	issue   *Issue // nil after the end
	iid     int64
	at, id  int64
	scratch *Issue // storage for generated issues, reused for each
}

func newIssueScan(trackers []*tracker, descending bool, holds func(*Issue) bool) *issueScan {
	s := &issueScan{trackers: trackers, descending: descending, holds: holds}
	places := make([]int64, len(trackers))
	for i, t := range trackers {
		places[i] = 1
		if descending {
			places[i] = t.last
		}
	}
	s.front = s.from(places, 0)
	s.marks = [][]int64{s.front.places()}
	return s
}

func (s *issueScan) from(places []int64, index int) *scanner {
	w := &scanner{scan: s, index: index, heads: make([]scanHead, len(places))}
	for i := range places {
		w.heads[i] = scanHead{tracker: s.trackers[i], iid: places[i]}
		w.heads[i].load()
	}
	return w
}

func (w *scanner) places() []int64 {
	places := make([]int64, len(w.heads))
	for i, h := range w.heads {
		places[i] = h.iid
	}
	return places
}

func (h *scanHead) load() {
	h.issue = h.tracker.load(h.iid, &h.scratch)
	if h.issue != nil {
		created, _ := h.issue.doc.values[issueColumns().created].(time.Time)
		h.at, h.id = created.UnixMilli(), h.issue.ID
	}
}

// head returns the tracker with the next issue; nil at the end.
func (w *scanner) head() *scanHead {
	var best *scanHead
	for i := range w.heads {
		h := &w.heads[i]
		if h.issue == nil {
			continue
		}
		if best == nil {
			best = h
			continue
		}
		if order := cmp.Or(cmp.Compare(h.at, best.at), cmp.Compare(h.id, best.id)); order > 0 == w.scan.descending {
			best = h
		}
	}
	return best
}

func (w *scanner) step(h *scanHead) {
	h.iid++
	if w.scan.descending {
		h.iid -= 2
	}
	h.load()
}

// next calls use with the next match, which is valid only during that call. It reports whether
// there was one.
func (w *scanner) next(use func(*Issue)) bool {
	for h := w.head(); h != nil; h = w.head() {
		matches := w.scan.holds(h.issue)
		if matches {
			w.index++
			use(h.issue)
		}
		w.step(h)
		if matches {
			return true
		}
	}
	return false
}

// reach continues the scan until n matches, or all, are known, and returns the number of known
// matches.
func (s *issueScan) reach(n int) int {
	for s.found < n && s.front.next(func(*Issue) {}) {
		s.found++
		if s.found%markEvery == 0 {
			s.marks = append(s.marks, s.front.places())
		}
	}
	return s.found
}

// listing returns the first n matches as a list.
func (s *issueScan) listing(n int, render func(*Issue) *Document) listing {
	var w *scanner
	return listing{n: s.reach(n), at: func(i int) (d *Document) {
		if w == nil || w.index != i {
			w = s.from(s.marks[i/markEvery], i/markEvery*markEvery)
		}
		for w.index < i {
			w.next(func(*Issue) {})
		}
		w.next(func(issue *Issue) { d = render(issue) })
		return d
	}}
}

// load is like at, but does not allocate for a generated issue: it fills scratch and returns it.
func (t *tracker) load(iid int64, scratch **Issue) *Issue {
	if i := t.stored[iid]; i != nil {
		return i
	}
	for _, g := range t.generated {
		if iid >= g.first && iid <= g.last {
			if *scratch == nil {
				*scratch = t.newIssue(time.Time{})
			}
			(*scratch).generate(iid, g.id+iid-g.first)
			return *scratch
		}
	}
	return nil
}

// columns are the indexes of fields in an issue's document.
type columns struct {
	id, iid, project, title, description, state, created, updated, closed, labels, weight int
}

var issueColumns = sync.OnceValue(func() columns {
	at := func(name string) int { return catalogue().shapes["Issue"].index[name] }
	return columns{
		id: at("id"), iid: at("iid"), project: at("project_id"), title: at("title"), description: at("description"),
		state: at("state"), created: at("created_at"), updated: at("updated_at"), closed: at("closed_at"),
		labels: at("labels"), weight: at("weight"),
	}
})

var batchLabels = sync.OnceValue(func() (labels [10][]string) {
	for i := range labels {
		labels[i] = []string{"batch-" + strconv.Itoa(i)}
	}
	return labels
})

// generate sets the fields of the issue to the generated values for this number.
func (i *Issue) generate(iid, id int64) {
	at, number := generatedTime(iid), decimal(iid)
	c, v := issueColumns(), i.doc.values
	i.IID, i.ID = iid, id
	v[c.id], v[c.iid], v[c.project] = id, iid, i.project.ID
	v[c.title], v[c.description] = "Generated issue "+number, "Record "+number+" of a generated list."
	v[c.created], v[c.updated] = at, at.Add(time.Hour)
	v[c.labels], v[c.weight] = batchLabels()[iid%10], iid%9
	v[c.state], v[c.closed] = "opened", nil
	if iid%3 == 0 {
		v[c.state], v[c.closed] = "closed", v[c.updated]
	}
}

// scanned returns the scan of the projects' issues in the order of creation, from this call or an
// earlier one.
func (c *call) scanned(projects []*Project, descending bool, conditions []condition) *issueScan {
	key := c.listKey()
	if s := c.store.scans[key]; s != nil {
		return s
	}
	trackers := make([]*tracker, len(projects))
	for i, p := range projects {
		trackers[i] = &p.tracker
	}
	if len(c.store.scans) >= keptLists {
		clear(c.store.scans)
	}
	user := c.user
	s := newIssueScan(trackers, descending, func(i *Issue) bool { return i.readableBy(user) && allHold(conditions, &i.item) })
	c.store.scans[key] = s
	return s
}

// inCreationOrder reports whether all projects number their issues in the order of creation.
func inCreationOrder(projects []*Project) bool {
	return !slices.ContainsFunc(projects, func(p *Project) bool { return p.tracker.disordered })
}
