package simulation

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// An invariant holds for each step of each program in each world. It has the name of its function.
type invariant struct {
	name string
	find func(o *Outcome, report func(step *observed, format string, args ...any))
}

func invariants() []invariant {
	return []invariant{
		{"ListIsComplete", listIsComplete},
		{"ListEndsOnce", listEndsOnce},
		{"CursorResumes", cursorResumes},
		{"CursorIsKnown", cursorIsKnown},
		{"ReadIsStored", readIsStored},
		{"OnceTakesEffectOnce", onceTakesEffectOnce},
		{"SeeOtherEndsWrites", seeOtherEndsWrites},
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
		{"SilentConnectionIsLeft", silentConnectionIsLeft},
		{"StatsAgree", statsAgree},
		{"WaitsAreKept", waitsAreKept},
		{"WaitsAreShared", waitsAreShared},
		{"ErrorsAreTyped", errorsAreTyped},
		{"FailsForAReason", failsForAReason},
		{"BudgetIsGivenBack", budgetIsGivenBack},
		{"PanicReachesCaller", panicReachesCaller},
		{"FilesAreWhole", filesAreWhole},
		{"SourcesAreClosed", sourcesAreClosed},
	}
}

// check returns the violations of all invariants.
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

// exchanges returns the requests of a step, without those to the proxy.
func (o *Outcome) exchanges(step *observed) (list []Exchange) {
	for _, e := range o.wire {
		if e.Call == step.step.ID && e.Origin != "proxy" {
			list = append(list, e)
		}
	}
	return list
}

// effects counts the writes of a step that took effect.
func (o *Outcome) effects(step *observed) (n int) {
	for _, e := range o.exchanges(step) {
		if e.Effect {
			n++
		}
	}
	return n
}

// quiet reports whether no write took effect.
func (o *Outcome) quiet() bool {
	return !slices.ContainsFunc(o.wire, func(e Exchange) bool { return e.Effect })
}

// hits reports whether a fault of one of the kinds, or of any kind, matches a step's call.
func (p *Plan) hits(step *observed, kinds ...FaultKind) bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool {
		return (f.Call == "*" || f.Call == "" || f.Call == step.step.ID) && (len(kinds) == 0 || slices.Contains(kinds, f.Kind))
	})
}

// damages reports whether bytes may arrive altered without an error. TLS detects altered bytes on
// the connection, but bytes of a body are altered before they are encrypted.
func (p *Plan) damages() bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool {
		return (f.Kind == Garble || f.Kind == Repeat) && (f.At == AtData || !p.World.Protocol.secure())
	})
}

// restarts reports whether a link leads to the first page under another address. Its rows come
// twice.
func (p *Plan) restarts() bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool { return f.Kind == Relink && f.Target == Start })
}

// moves reports whether a fault of one of the kinds is in the plan, such as one that adds rows.
func (p *Plan) moves(kinds ...FaultKind) bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool { return slices.Contains(kinds, f.Kind) })
}

// A list without an error has every row that the server had all the time, each once and in order.
// If rows are added or deleted meanwhile, keyset pagination returns each row that stayed at least
// once.
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
				continue // cursorResumes checks it
			case s.row.moving && !o.keyset(s) && !o.quiet():
			case s.before.same(s.after) && (!s.row.moving || o.unchanged(s)) && !o.plan.moves(Insert, Delete):
				if !slices.Equal(got, want) {
					report(s, "the list ended without an error and returned %d items of %d: %s", len(got), len(want), parted(got, want))
				}
			case s.before.status == http.StatusOK && (o.keyset(s) || !s.row.moving && s.step.Ahead == 0 && !o.plan.moves(Delete)):
				for _, k := range want {
					if slices.Contains(keys(s.after.items), k) && !slices.Contains(got, k) {
						report(s, "the list ended without an error and omitted %s, which stayed in it", k)
					}
				}
			}
		}
	}
}

// strays reports whether a redirect leads the step to an address with other content.
func (p *Plan) strays(s *observed) bool {
	return slices.ContainsFunc(p.World.Faults, func(f Fault) bool {
		return (f.Call == "*" || f.Call == s.step.ID) && f.Kind == Respond && f.Status >= 300 && f.Status < 400 && f.Target != Moved
	})
}

// keyset reports whether all requests of a step used keyset pagination.
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

// parted describes the first difference between two lists.
func parted(got, want []string) string {
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Sprintf("item %d, %s, is missing", i, want[i])
		case i >= len(want):
			return fmt.Sprintf("item %d, %s, is not expected", i, got[i])
		case got[i] != want[i]:
			return fmt.Sprintf("item %d is %s in place of %s", i, got[i], want[i])
		}
	}
	return ""
}

// A list returns items, then at most one error, and nothing after it.
func listEndsOnce(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, w := range s.walks {
			if w.wrong != "" {
				report(s, "%s", w.wrong)
			}
		}
	}
}

// A list that continues from a cursor begins at the first page that was not fully consumed.
func cursorResumes(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if len(s.walks) < 2 || s.walks[len(s.walks)-1].start == "" || !o.unchanged(s) || o.plan.damages() || o.plan.moves(Insert, Delete) ||
			o.plan.strays(s) || o.plan.restarts() {
			continue
		}
		first, second := s.walks[len(s.walks)-2], s.walks[len(s.walks)-1]
		want, got := keys(s.before.items), keys(generics(second.items))
		if first.cursor.Done() {
			if len(got) > 0 || second.err != nil {
				report(s, "a finished cursor returns %d items and %v", len(got), second.err)
			}
			continue
		}
		done := len(first.items)
		if len(got) == 0 {
			if second.err == nil && s.recovered == nil && done < len(want) {
				report(s, "%d of %d items were consumed, and the cursor returns no more", done, len(want))
			}
			continue
		}
		at := slices.Index(want, got[0])
		switch {
		case at > done:
			report(s, "%d items were consumed, and the cursor continues with item %d", done, at)
		case at < done-max(perPage(s), 1):
			report(s, "%d items were consumed, and the cursor goes back to item %d", done, at)
		}
		if second.err == nil && !s.step.OnePage && s.recovered == nil && !slices.Equal(got, want[max(at, 0):]) {
			report(s, "the continued list returned %d items: %s", len(got), parted(got, want[max(at, 0):]))
		}
	}
}

// Each item of a list comes with a cursor, so that a program that stops there can continue later.
func cursorIsKnown(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		for _, w := range s.walks {
			if at := slices.Index(w.cursors, ""); at >= 0 && !s.row.whole {
				report(s, "item %d came without a cursor", at)
			}
		}
	}
}

func perPage(s *observed) int {
	if s.step.PerPage == 0 {
		return 100
	}
	return s.step.PerPage
}

// A read returns the server's values, in fields or in Extra.
func readIsStored(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if !o.unchanged(s) || o.plan.damages() || o.plan.moves(Insert, Delete) || o.plan.strays(s) {
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
				report(s, "%d bytes were read (whole: %v), and they differ from the %d stored bytes", len(got), s.stream.whole, len(stored))
			}
		}
		for _, w := range s.walks {
			itemsAreStored(s, w, report)
		}
	}
}

// unchanged reports whether the server's value was the same during the whole step. If it is equal
// before and after two writes, the second may have undone the first.
func (o *Outcome) unchanged(s *observed) bool {
	return s.before.same(s.after) && o.writesDuring(s) <= 1
}

// writesDuring counts the writes of other steps that took effect while a step ran.
func (o *Outcome) writesDuring(s *observed) (n int) {
	for _, e := range o.wire {
		if e.Effect && e.Call != s.step.ID && e.Began <= s.ended && e.Ended >= s.begun {
			n++
		}
	}
	return n
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

// A call returns within its deadline, or when its context is canceled, plus 10 ms of virtual time.
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
