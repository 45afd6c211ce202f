package simulation

import (
	"slices"
	"testing"
	"time"
)

// Shrink removes parts of a failing plan while it violates the same invariant. The order of
// goroutines is not reproducible: a candidate fails if one of several runs fails.
func Shrink(t *testing.T, plan *Plan, name string, runs int, until time.Time) *Plan {
	t.Helper()
	fails := func(p *Plan) bool {
		for range runs {
			if time.Now().After(until) {
				return false
			}
			out := Play(t, p)
			if slices.ContainsFunc(out.Violations, func(v Violation) bool { return v.Name == name }) {
				return true
			}
		}
		return false
	}
	for smaller := true; smaller && time.Now().Before(until); {
		smaller = false
		for _, candidate := range plan.smaller() {
			if fails(candidate) {
				plan, smaller = candidate, true
				break
			}
		}
	}
	return plan
}

// clone returns a deep copy of a plan.
func (p *Plan) clone() *Plan {
	q := *p
	q.World.Faults = slices.Clone(p.World.Faults)
	q.Clients = slices.Clone(p.Clients)
	q.Goroutines = nil
	for _, steps := range p.Goroutines {
		q.Goroutines = append(q.Goroutines, slices.Clone(steps))
	}
	return &q
}

// smaller returns plans with fewer parts, the largest removals first.
func (p *Plan) smaller() (list []*Plan) {
	change := func(f func(q *Plan)) {
		q := p.clone()
		f(q)
		list = append(list, q)
	}
	for g := range p.Goroutines {
		if len(p.Goroutines) > 1 {
			change(func(q *Plan) { q.Goroutines = slices.Delete(q.Goroutines, g, g+1) })
		}
	}
	for g := range p.Goroutines {
		for s := range p.Goroutines[g] {
			if len(p.steps()) > 1 {
				change(func(q *Plan) {
					if q.Goroutines[g] = slices.Delete(q.Goroutines[g], s, s+1); len(q.Goroutines[g]) == 0 {
						q.Goroutines = slices.Delete(q.Goroutines, g, g+1)
					}
				})
			}
		}
	}
	for f := range p.World.Faults {
		change(func(q *Plan) { q.World.Faults = slices.Delete(q.World.Faults, f, f+1) })
	}
	return append(append(list, p.plainer()...), p.plainerSteps()...)
}

// plainer returns plans with simpler worlds, clients and data.
func (p *Plan) plainer() (list []*Plan) {
	q := func(changed bool, f func(q *Plan)) {
		if changed {
			c := p.clone()
			f(c)
			list = append(list, c)
		}
	}
	w := p.World
	q(w.Protocol != HTTP1, func(q *Plan) { q.World.Protocol = HTTP1 })
	q(w.Auth != PersonalToken, func(q *Plan) { q.World.Auth, q.World.Lifetime = PersonalToken, 0 })
	q(w.Latency > 0, func(q *Plan) { q.World.Latency = 0 })
	q(w.Rotating, func(q *Plan) { q.World.Rotating = false })
	q(w.Streams > 0, func(q *Plan) { q.World.Streams = 0 })
	q(w.Later, func(q *Plan) { q.World.Later = false })
	q(w.Proxy, func(q *Plan) { q.World.Proxy = false })
	q(w.Retry != WorldPlan{}.Retry, func(q *Plan) { q.World.Retry = WorldPlan{}.Retry })
	for i := range p.Clients {
		q(p.Clients[i] != ClientPlan{}, func(q *Plan) { q.Clients[i] = ClientPlan{} })
	}
	q(len(p.Clients) > 1, func(q *Plan) {
		q.Clients = q.Clients[:1]
		for _, s := range q.steps() {
			s.Client = 0
		}
	})
	for i := range p.Amount.counts() {
		for _, n := range []int{1, *p.Amount.counts()[i] / 2, *p.Amount.counts()[i] - 1} {
			q(n > 0 && n < *p.Amount.counts()[i], func(q *Plan) { *q.Amount.counts()[i] = n })
		}
	}
	return list
}

// counts returns the fields of an amount.
func (a *Amount) counts() []*int {
	return []*int{&a.Issues, &a.MergeRequests, &a.Tags, &a.Events, &a.Users, &a.Files, &a.Emails, &a.Jobs, &a.Tree, &a.Small}
}

// plainerSteps returns plans in which one field of one step is simpler.
func (p *Plan) plainerSteps() (list []*Plan) {
	for i, s := range p.steps() {
		q := func(changed bool, f func(s *Step)) {
			if changed {
				c := p.clone()
				f(c.steps()[i])
				list = append(list, c)
			}
		}
		q(s.Wait > 0, func(s *Step) { s.Wait = 0 })
		q(s.Ahead > 1, func(s *Step) { s.Ahead = 1 })
		q(s.Ahead > 0, func(s *Step) { s.Ahead = 0 })
		q(s.Twice, func(s *Step) { s.Twice = false })
		q(s.Resume, func(s *Step) { s.Resume = false })
		q(s.Break > 0, func(s *Step) { s.Break = 0 })
		q(s.Collect, func(s *Step) { s.Collect = false })
		q(s.Slow > 0, func(s *Step) { s.Slow = 0 })
		q(s.Size > 1, func(s *Step) { s.Size = 1 })
		q(s.Save, func(s *Step) { s.Save = false })
		q(s.MaxBytes > 0, func(s *Step) { s.MaxBytes = 0 })
		q(s.Read >= 0, func(s *Step) { s.Read = -1 })
		q(s.Deadline > 0, func(s *Step) { s.Deadline = 0 })
		q(s.Cancel > 0, func(s *Step) { s.Cancel = 0 })
		q(s.Header > 0, func(s *Step) { s.Header = 0 })
		q(s.Retry > 0, func(s *Step) { s.Retry = 0 })
		q(s.Smuggle != "", func(s *Step) { s.Smuggle = "" })
		q(s.Panic != "", func(s *Step) { s.Panic = "" })
		q(s.Variant > 3, func(s *Step) { s.Variant %= 4 })
		q(s.PerPage != 1 && s.PerPage != 0, func(s *Step) { s.PerPage = 0 })
	}
	return list
}
