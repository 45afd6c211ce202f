package simulation

import (
	"errors"
	"fmt"

	forge "github.com/forge-sdk/forge-go"
)

// A call of class once takes effect at most once.
func onceTakesEffectOnce(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if n := o.effects(s); s.row.class() == forge.ClassOnce && n > 1 {
			report(s, "it took effect %d times", n)
		}
	}
}

// An effect that is reported done has happened: once, where the class is once.
func doneHasHappened(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if !s.row.writes() || s.err != nil || s.recovered != nil || !s.done {
			continue
		}
		if s.row.name == "Settings.Apply" || o.plan.damages() {
			continue // the server may say what is not true, and an empty difference is sent to nobody
		}
		if o.effects(s) == 0 {
			report(s, "it returned no error, and the server did nothing")
		}
	}
}

// A write that failed and may have taken effect says so, and one that says nothing had no effect.
func outcomeIsTold(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.err == nil || s.recovered != nil || s.row.name == "Settings.Apply" {
			continue
		}
		var failed *forge.Error
		told := errors.As(s.err, &failed) && failed.MaybeApplied
		switch n := o.effects(s); {
		case n > 0 && !told:
			report(s, "it took effect %d times, and the error does not say so: %v", n, s.err)
		case told && !s.row.writes():
			report(s, "a read says that it may have been applied: %v", s.err)
		case told && failed.Attempts == 0:
			report(s, "nothing was sent, and the error says that it may have been applied: %v", s.err)
		}
	}
}

// What the writes of a step left in the store is what the step was told.
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
					report(s, "what is stored has %d bytes and is not what was sent, which has %d", file.size, s.sent.size)
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

// Every file that the client opened is closed once when the call returns, unless its context ended.
func sourcesAreClosed(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		if s.opened != s.closed && s.fired == nil {
			report(s, "the file was opened %d times and closed %d times", s.opened, s.closed)
		}
	}
}

// A file that is saved is whole, one that is not is as it was, and nothing else is left in its
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
				report(s, "it failed, and the file has %d bytes of something else", len(got))
			}
		case got == nil:
			report(s, "SaveTo returned no error, and there is no file")
		case s.before.same(s.after) && !o.plan.damages() && !o.plan.strays(s) && string(got) != string(s.before.raw):
			report(s, "SaveTo returned no error, and the file has %d bytes of %d", len(got), len(s.before.raw))
		}
	}
	for _, name := range o.files {
		if !known[name] {
			report(nil, "the file %s was left behind", name)
		}
	}
}

// A panic of the caller's code reaches the caller with its own value, and no other panic does.
func panicReachesCaller(o *Outcome, report func(*observed, string, ...any)) {
	for _, s := range o.seen {
		switch {
		case s.recovered != nil && s.recovered != s.fired:
			report(s, "a panic that is not the caller's: %v", s.recovered)
		case s.fired == nil || s.recovered != nil:
		case s.limit > 0 && s.ended >= s.limit: // the call had returned
		case s.step.Panic == inClose && s.err != nil: // the file was not sent: it is closed at any time
		case s.step.Ahead > 0: // of pages that nobody may have wanted any more
		default:
			report(s, "the caller's code panicked in its %s, and the call returned %v", s.step.Panic, s.err)
		}
	}
}
