package simulation

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	forge "github.com/forge-sdk/forge-go"
)

// A call of class non-idempotent takes effect at most once.
func onceTakesEffectOnce(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if n := o.effects(s); s.row.class() == forge.ClassNonIdempotent && n > 1 {
			report(s, "it took effect %d times", n)
		}
	}
}

// A write that gets a 303 is finished: the client sends nothing more for it. The client does not
// always receive the response that the server sends.
func seeOtherEndsWrites(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if !s.row.writes() || s.row.more {
			continue
		}
		for i, a := range s.attempts {
			if a.Status == http.StatusSeeOther && i < len(s.attempts)-1 {
				report(s, "attempt %d was made after a response with 303", s.attempts[i+1].Number)
			}
			all := o.during(s, a)
			at := slices.IndexFunc(all, func(e Exchange) bool { return e.Status == http.StatusSeeOther && e.Method != http.MethodGet })
			if at >= 0 && at < len(all)-1 {
				report(s, "a response with 303 was followed in attempt %d", a.Number)
			}
		}
	}
}

// A write that returns no error has taken effect.
func doneHasHappened(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if !s.row.writes() || s.err != nil || s.recovered != nil || !s.done {
			continue
		}
		if s.row.name == "Settings.Apply" || o.plan.damages() {
			continue // damaged bytes may hide the status, and Settings.Apply may send nothing
		}
		if o.effects(s) == 0 {
			report(s, "it returned no error, and the server did nothing")
		}
	}
}

// The error of a write reports whether the write may have taken effect: MaybeApplied is set if it
// has.
func outcomeIsTold(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.err == nil || s.recovered != nil || s.row.name == "Settings.Apply" {
			continue
		}
		var failed *forge.Error
		reported := errors.As(s.err, &failed) && failed.MaybeApplied
		switch n := o.effects(s); {
		case n > 0 && !reported:
			report(s, "it took effect %d times, and the error does not say so: %v", n, s.err)
		case reported && !s.row.writes():
			report(s, "a read says that it may have been applied: %v", s.err)
		case reported && failed.Attempts == 0:
			report(s, "nothing was sent, and the error says that it may have been applied: %v", s.err)
		}
	}
}

// The store agrees with the results of the writes of a step.
func storeAgrees(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		n := o.effects(s)
		done := s.err == nil && s.recovered == nil && !o.plan.damages()
		switch s.row.name {
		case "SecureFiles.Upload":
			files := o.stored["up-"+s.step.ID]
			if len(files) != n || done && n != 1 {
				report(s, "%d files are stored after %d effects, error %v", len(files), n, s.err)
			}
			for _, file := range files {
				if file != s.sent && !o.plan.damages() {
					report(s, "the stored file has %d bytes and differs from the sent file, which has %d", file.size, s.sent.size)
				}
			}
		case "Issues.AddSpentTime", "Do post":
			if spent := o.spent[s.step.ID]; spent != 3600*int64(n) || done && n != 1 {
				report(s, "%d s are booked after %d effects, error %v", spent, n, s.err)
			}
		case "Emails.Create", "Emails.CreateForUser":
			if stored := o.addresses[fmt.Sprintf("new-%s@example.com", s.step.ID)]; stored != min(n, 1) || done && n != 1 {
				report(s, "%d addresses are stored after %d effects, error %v", stored, n, s.err)
			}
		}
	}
}

// Every file that the client opened is closed when the call returns, unless the caller's code
// panicked.
func sourcesAreClosed(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.opened != s.closed && s.fired == nil {
			report(s, "the file was opened %d times and closed %d times", s.opened, s.closed)
		}
	}
}

// A saved file is complete. If the call fails, the file is unchanged. No other file is left in the
// directory.
func filesAreWhole(o *Outcome, report func(*observed, string, ...any)) {
	known := map[string]bool{}
	for _, s := range o.seen {
		if !s.step.Save {
			continue
		}
		known[s.step.ID+".saved"] = true
		got := o.saved[s.step.ID]
		switch {
		case s.stream == nil || !s.stream.whole:
			if string(got) != string(s.step.old()) {
				report(s, "it failed, and the file has changed: it has %d bytes", len(got))
			}
		case got == nil:
			report(s, "SaveTo returned no error, and there is no file")
		case o.unchanged(s) && !o.plan.damages() && !o.plan.strays(s) && string(got) != string(s.before.raw):
			report(s, "SaveTo returned no error, and the file has %d bytes of %d", len(got), len(s.before.raw))
		}
	}
	for _, name := range o.files {
		if !known[name] {
			report(nil, "the file %s was left behind", name)
		}
	}
}

// If the caller's code panics, the panic reaches the caller with the same value. There is no other
// panic.
func panicReachesCaller(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		switch {
		case s.recovered != nil && s.recovered != s.fired && (!s.row.more || !o.firedElsewhere(s)):
			report(s, "a panic that is not the caller's: %v", s.recovered)
		case s.fired == nil || s.recovered != nil:
		case s.limit > 0 && s.ended >= s.limit: // the call had returned
		case s.step.Panic == inClose && s.err != nil: // the file was not sent, so it may be closed at any time
		case s.step.Ahead > 0: // the panic is in a page that may no longer be needed
		default:
			report(s, "the caller's code panicked in its %s, and the call returned %v", s.step.Panic, s.err)
		}
	}
}

// firedElsewhere reports whether a call panicked with the value of another call, because both
// waited for the same registry token.
func (o *Outcome) firedElsewhere(s *observed) bool {
	return slices.ContainsFunc(o.seen, func(other *observed) bool {
		return other.row.more && other.fired != nil && other.fired == s.recovered
	})
}
