package simulation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An invariant holds for each step of each program in each world. Its name is that of the function.
type invariant struct {
	name string
	find func(o *Outcome, report func(step *observed, format string, args ...any))
}

func invariants() []invariant {
	return []invariant{
		{"ListIsComplete", listIsComplete},
		{"ListEndsOnce", listEndsOnce},
		{"CursorResumes", cursorResumes},
		{"ReadIsStored", readIsStored},
		{"OnceTakesEffectOnce", onceTakesEffectOnce},
		{"DoneHasHappened", doneHasHappened},
		{"OutcomeIsTold", outcomeIsTold},
		{"StoreAgrees", storeAgrees},
		{"ReturnsInTime", returnsInTime},
		{"NoCredentialElsewhere", noCredentialElsewhere},
		{"NoCredentialInText", noCredentialInText},
		{"CredentialIsTheClients", credentialIsTheClients},
		{"CredentialHeadersAreRefused", credentialHeadersAreRefused},
		{"AttemptsAreBounded", attemptsAreBounded},
		{"DeadWorldIsSpared", deadWorldIsSpared},
		{"WireIsAttempts", wireIsAttempts},
		{"StatsAgree", statsAgree},
		{"WaitsAreKept", waitsAreKept},
		{"ErrorsAreTyped", errorsAreTyped},
		{"FailsForAReason", failsForAReason},
		{"BudgetIsGivenBack", budgetIsGivenBack},
		{"PanicReachesCaller", panicReachesCaller},
		{"FilesAreWhole", filesAreWhole},
		{"SourcesAreClosed", sourcesAreClosed},
	}
}

// check finds what is violated.
func check(o *Outcome) (violations []Violation) {
	for _, i := range invariants() {
		i.find(o, func(step *observed, format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if step != nil {
				text = fmt.Sprintf("%s %s: %s", step.step.ID, step.step.Call, text)
			}
			violations = append(violations, Violation{i.name, text})
		})
	}
	return violations
}

// exchanges are the requests of a step.
func (o *Outcome) exchanges(step *observed) (list []Exchange) {
	for _, e := range o.wire {
		if e.Call == step.step.ID && e.Origin != "proxy" {
			list = append(list, e)
		}
	}
	return list
}

// effects counts the writes of a step that the server carried out.
func (o *Outcome) effects(step *observed) (n int) {
	for _, e := range o.exchanges(step) {
		if e.Effect {
			n++
		}
	}
	return n
}

// quiet: nothing was written.
func (o *Outcome) quiet() bool {
	return !slices.ContainsFunc(o.wire, func(e Exchange) bool { return e.Effect })
}

// hits are the faults that a plan aims at a step, or at all.
func (p *Plan) hits(step *observed, kinds ...FaultKind) bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool {
		return (f.Call == "*" || f.Call == "" || f.Call == step.step.ID) && (len(kinds) == 0 || slices.Contains(kinds, f.Kind))
	})
}

// damages reports whether bytes of a step may arrive altered, which without TLS nobody can notice;
// those of a body are altered above TLS.
func (p *Plan) damages() bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool {
		return (f.Kind == Garble || f.Kind == Repeat) && (f.At == AtData || !p.World.Protocol.secure())
	})
}

// restarts: a link leads to the first page under another address, so that it comes twice.
func (p *Plan) restarts() bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool { return f.Kind == Relink && f.Target == Start })
}

// moves reports whether rows come or go by a fault of one of the kinds.
func (p *Plan) moves(kinds ...FaultKind) bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool { return slices.Contains(kinds, f.Kind) })
}

// A list without an error has every row that the server had all the time, each once and in order;
// where rows move meanwhile, each that stayed comes at least once with keyset pagination.
func listIsComplete(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, w := range s.walks {
			if w.err != nil || w.left || s.recovered != nil || s.step.OnePage || !s.before.asked || s.row.whole {
				continue
			}
			if o.plan.damages() || o.plan.strays(s) || o.plan.restarts() {
				continue
			}
			got := keys(generics(w.items))
			want := keys(s.before.items)
			switch {
			case w.start != "":
				continue // cursorResumes
			case s.row.moving && !o.keyset(s) && !o.quiet():
			case s.before.same(s.after) && !o.plan.moves(Insert, Delete):
				if !slices.Equal(got, want) {
					report(s, "the list ended without an error and has %d items of %d: %s", len(got), len(want), parted(got, want))
				}
			case s.before.status == http.StatusOK && (o.keyset(s) || !s.row.moving && s.step.Ahead == 0 && !o.plan.moves(Delete)):
				for _, k := range want {
					if slices.Contains(keys(s.after.items), k) && !slices.Contains(got, k) {
						report(s, "the list ended without an error and without %s, which stayed in it", k)
					}
				}
			}
		}
	}
}

// strays: a redirect leads the step to a place that serves something else.
func (p *Plan) strays(s *observed) bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool {
		return (f.Call == "*" || f.Call == s.step.ID) && f.Kind == Respond && f.Status >= 300 && f.Status < 400 && f.Target != Moved
	})
}

// keyset reports whether the pages of a step were read by keyset.
func (o *Outcome) keyset(s *observed) bool {
	all := o.exchanges(s)
	return len(all) > 0 && !slices.ContainsFunc(all, func(e Exchange) bool { return !strings.Contains(e.RawQuery, "pagination=keyset") })
}

func generics(list []any) []any {
	out := make([]any, len(list))
	for i, item := range list {
		out[i] = generic(item)
	}
	return out
}

// parted says where two lists part.
func parted(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("item %d, %s, is missing", i, want[i])
		case i >= len(want):
			return fmt.Sprintf("item %d, %s, is too much", i, got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("item %d is %s in place of %s", i, got[i], want[i])
		}
	}
	return ""
}

// A list gives items, then at most one error, and nothing after it.
func listEndsOnce(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, w := range s.walks {
			if w.wrong != "" {
				report(s, "%s", w.wrong)
			}
		}
	}
}

// A list that goes on with a cursor begins at the first page that was not wholly consumed.
func cursorResumes(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if len(s.walks) < 2 || s.walks[len(s.walks)-1].start == "" || !s.before.same(s.after) || o.plan.damages() || o.plan.moves(Insert, Delete) ||
			o.plan.strays(s) || o.plan.restarts() {
			continue
		}
		first, second := s.walks[len(s.walks)-2], s.walks[len(s.walks)-1]
		want, got := keys(s.before.items), keys(generics(second.items))
		if first.cursor.Done() {
			if len(got) > 0 || second.err != nil {
				report(s, "a finished cursor gives %d items and %v", len(got), second.err)
			}
			continue
		}
		done := len(first.items)
		if len(got) == 0 {
			if second.err == nil && s.recovered == nil && done < len(want) {
				report(s, "%d of %d items were consumed, and the cursor gives no more", done, len(want))
			}
			continue
		}
		at := slices.Index(want, got[0])
		switch {
		case at > done:
			report(s, "%d items were consumed, and the cursor goes on with item %d", done, at)
		case at < done-max(perPage(s), 1):
			report(s, "%d items were consumed, and the cursor goes back to item %d", done, at)
		}
		if second.err == nil && !s.step.OnePage && s.recovered == nil && !slices.Equal(got, want[max(at, 0):]) {
			report(s, "the list that went on has %d items: %s", len(got), parted(got, want[max(at, 0):]))
		}
	}
}

func perPage(s *observed) int {
	if s.step.PerPage == 0 {
		return 100
	}
	return s.step.PerPage
}

// What is read is what the server has, in fields or in Extra.
func readIsStored(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if !s.before.asked || !s.before.same(s.after) || o.plan.damages() || o.plan.moves(Insert, Delete) || o.plan.strays(s) {
			continue
		}
		switch {
		case s.value != nil && s.err == nil:
			if text := differ("", parsed(s.before.raw), generic(s.value), s.row.part); text != "" {
				report(s, "%s", text)
			}
		case s.stream != nil && !s.step.Save:
			got, stored := s.stream.got, s.before.raw
			if len(got) > len(stored) || string(got) != string(stored[:len(got)]) || s.stream.whole && len(got) != len(stored) {
				report(s, "%d bytes were read (whole: %v) that are not those of the %d that are stored", len(got), s.stream.whole, len(stored))
			}
		}
		for _, w := range s.walks {
			itemsAreStored(s, w, report)
		}
	}
}

func itemsAreStored(s *observed, w *walk, report func(*observed, string, ...any)) {
	stored := map[string]any{}
	for _, item := range s.before.items {
		stored[key(item)] = item
	}
	for _, item := range w.items {
		got := generic(item)
		want, has := stored[key(got)]
		if !has && len(stored) > 0 {
			report(s, "%s was read, and the server has no such item", key(got))
			return
		}
		if text := differ(key(got), want, got, s.row.part); has && text != "" {
			report(s, "%s", text)
			return
		}
	}
}

// A call returns within its deadline, or when its context is cancelled, plus 10 ms of virtual time.
func returnsInTime(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.limit == 0 || !s.done {
			continue
		}
		if late := s.ended - max(s.limit, s.begun) - s.slow; late > 10*time.Millisecond {
			report(s, "it returned %v after its context had ended", late)
		}
	}
}
