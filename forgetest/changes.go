package forgetest

import (
	"slices"
	"time"
)

// visibility is when changes that a test makes become visible.
type visibility struct {
	late       func() time.Duration // nil: immediately
	dateOffset time.Duration
}

// SetLateness sets how long after its time a change becomes visible: late is called for each issue
// and merge request that the test adds, edits or deletes from now on. A transaction that commits
// after a newer one, and a replica that lags, show changes late; without it, or with nil, changes
// are visible immediately. Changes of one object become visible in their order.
// FinishBackgroundJobs shows all of them.
func (s *Server) SetLateness(late func() time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visibility.late = late
}

// SetDateOffset sets how far the clock of the Date header is ahead of the one that sets the times
// of objects, as between two machines; negative if it is behind.
func (s *Server) SetDateOffset(ahead time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visibility.dateOffset = ahead
}

func (s *Server) dateOffset() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.visibility.dateOffset
}

// Edit changes the issue's document, as another user would, and sets updated_at to the server's
// time unless change sets it.
func (i *Issue) Edit(change func(issue *Document)) {
	i.project.srv.editItem(&i.item, change, "id", "iid", "project_id")
}

// Edit changes the merge request's document, as another user would, and sets updated_at to the
// server's time unless change sets it.
func (mr *MergeRequest) Edit(change func(mr *Document)) {
	mr.project.srv.editItem(&mr.item, change, "id", "iid", "project_id")
}

// Delete removes the issue, as a deletion or a move to another project does.
func (i *Issue) Delete() { i.project.srv.hide(&i.item) }

// Delete removes the merge request.
func (mr *MergeRequest) Delete() { mr.project.srv.hide(&mr.item) }

func (s *Server) editItem(i *item, change func(*Document), computed ...string) {
	s.mu.Lock()
	next := i.newest().clone().Set("updated_at", s.now())
	s.mu.Unlock()
	next.fillWith(change, computed...)
	s.edit()
	defer s.mu.Unlock()
	i.pending = next
	s.show(i, func() { i.doc = next })
}

func (s *Server) hide(i *item) {
	s.edit()
	defer s.mu.Unlock()
	i.project.tracker.gaps = true
	s.show(i, func() { i.hidden = true })
}

// showAdded shows an object that was added. The caller holds mu.
func (s *Server) showAdded(i *item) {
	if s.visibility.late != nil {
		i.hidden, i.project.tracker.gaps = true, true
		s.show(i, func() { i.hidden = false })
	}
}

// newest returns the document with the changes that are not visible yet.
func (i *item) newest() *Document {
	if i.pending != nil {
		return i.pending
	}
	return i.doc
}

// show makes a change of the object visible: immediately, or late, but never before an earlier
// change. The caller holds mu.
func (s *Server) show(i *item, do func()) {
	if s.visibility.late == nil && !i.shown.After(s.now()) {
		do()
		return
	}
	if s.visibility.late != nil {
		i.shown = slices.MaxFunc([]time.Time{i.shown, s.now().Add(s.visibility.late())}, time.Time.Compare)
	}
	s.background = append(s.background, task{i.shown, func() {
		do()
		s.store.invalidate()
	}})
	slices.SortStableFunc(s.background, func(a, b task) int { return a.due.Compare(b.due) })
}
