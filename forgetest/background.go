package forgetest

import (
	"slices"
	"time"
)

// backgroundStep is the duration of each step of background work, by the server's clock.
const backgroundStep = time.Second

// task is scheduled background work.
type task struct {
	due time.Time
	do  func()
}

// FinishBackgroundJobs finishes all background work: scheduled deletions, bulk deletions and the
// processing of uploaded files. Without it each step takes a second of the server's clock: a
// deleted registry repository has the status delete_scheduled, then delete_ongoing, and then no
// longer exists.
func (s *Server) FinishBackgroundJobs() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.background) > 0 {
		s.runDue(s.background[0].due)
	}
}

// schedule adds one step of background work. The caller holds mu. do is called with mu held too,
// and may schedule the next step.
func (s *Server) schedule(do func()) {
	s.background = append(s.background, task{s.now().Add(backgroundStep), do})
	slices.SortStableFunc(s.background, func(a, b task) int { return a.due.Compare(b.due) })
}

// runDue runs the tasks that are due at a time, in order. The caller holds mu.
func (s *Server) runDue(now time.Time) {
	for len(s.background) > 0 && !s.background[0].due.After(now) {
		next := s.background[0]
		s.background = s.background[1:]
		next.do()
	}
}
