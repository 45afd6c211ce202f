package forgetest

import (
	"slices"
	"time"
)

// backgroundStep is how long, by the server's clock, each step of background work takes.
const backgroundStep = time.Second

// work is something that the server does later.
type work struct {
	due time.Time
	do  func()
}

// Settle finishes all background work at once: scheduled deletions, bulk deletions and the processing of uploaded files.
// Without it each step takes a second of the server's clock; a deleted registry repository shows delete_scheduled, then
// delete_ongoing, and is gone.
func (s *Server) Settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.background) > 0 {
		s.work(s.background[0].due)
	}
}

// later schedules one step of background work. The caller holds mu; do is called with it held and may schedule the next step.
func (s *Server) later(do func()) {
	s.background = append(s.background, work{s.now().Add(backgroundStep), do})
	slices.SortStableFunc(s.background, func(a, b work) int { return a.due.Compare(b.due) })
}

// work does what is due at a time, in order. The caller holds mu.
func (s *Server) work(now time.Time) {
	for len(s.background) > 0 && !s.background[0].due.After(now) {
		next := s.background[0]
		s.background = s.background[1:]
		next.do()
		s.changed()
	}
}
