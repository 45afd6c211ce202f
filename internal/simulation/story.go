package simulation

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Story returns a report of the run: the plan; then, in the order of virtual time, the calls, the
// requests on the wire and the results; and at the end the violations.
func (o *Outcome) Story() string {
	var text strings.Builder
	fmt.Fprintf(&text, "seed %d: %v\n", o.plan.Seed, o.plan.World)
	fmt.Fprintf(&text, "data: %+v\n", o.plan.Amount)
	for i, c := range o.plan.Clients {
		fmt.Fprintf(&text, "client %d: %+v\n", i, c)
	}
	for _, f := range o.plan.World.Faults {
		fmt.Fprintf(&text, "fault: %v\n", f)
	}
	lines := o.lines()
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(a.at, b.at) })
	for _, l := range lines {
		fmt.Fprintf(&text, "%14v  %-8s %s\n", l.at, l.who, l.text)
	}
	for _, v := range o.Violations {
		fmt.Fprintf(&text, "VIOLATED %v\n", v)
	}
	return text.String()
}

// line is one event of a story.
type line struct {
	at        time.Duration
	who, text string
}

func (o *Outcome) lines() (lines []line) {
	for _, s := range o.seen {
		lines = append(lines, line{s.begun, s.step.ID, "calls " + s.step.String()})
		for _, a := range s.attempts {
			text := fmt.Sprintf("attempt %d of %s %s took %v: status %d", a.Number, a.Method, a.Route, a.Duration, a.Status)
			if a.Err != nil {
				text += fmt.Sprintf(", %.160v", a.Err)
			}
			if a.WaitAfter > 0 {
				text += fmt.Sprintf("; the next in %v", a.WaitAfter)
			}
			lines = append(lines, line{a.at, s.step.ID, text})
		}
		if s.fired != nil {
			lines = append(lines, line{s.firedAt, s.step.ID, "panics in its " + s.step.Panic})
		}
		lines = append(lines, line{s.ended, s.step.ID, s.ending()})
	}
	for _, e := range o.wire {
		text := fmt.Sprintf("    on the wire: %s %s?%s to %s, connection %d", e.Method, e.Path, e.RawQuery, e.Origin, e.Conn)
		lines = append(lines, line{e.Began, e.Call, text})
		text = fmt.Sprintf("    on the wire: status %d, %d bytes, effect %v", e.Status, e.Sent, e.Effect)
		hits := make([]string, len(e.Faults))
		for i, f := range e.Faults {
			hits[i] = "; HIT BY " + f.String()
		}
		lines = append(lines, line{max(e.Ended, e.Began), e.Call, text + strings.Join(hits, "")})
	}
	return lines
}

// ending returns the result of a step.
func (o *observed) ending() string {
	if !o.done {
		return "has not returned"
	}
	var text strings.Builder
	text.WriteString("returns")
	if o.recovered != nil {
		text.Reset()
		fmt.Fprintf(&text, "panics: %v", o.recovered)
	}
	for _, w := range o.walks {
		fmt.Fprintf(&text, " [%d items, left %v, error %v]", len(w.items), w.left, w.err)
	}
	if o.stream != nil {
		fmt.Fprintf(&text, " [%d bytes of %d, whole %v, error %v]", len(o.stream.got), o.stream.size, o.stream.whole, o.stream.err)
	}
	fmt.Fprintf(&text, " error %v", o.err)
	return text.String()
}

// String returns the step with the values that are not the default.
func (s *Step) String() string {
	text := fmt.Sprintf("%s, client %d", s.Call, s.Client)
	add := func(set bool, format string, args ...any) {
		if set {
			text += ", " + fmt.Sprintf(format, args...)
		}
	}
	add(s.PerPage > 0, "PerPage(%d)", s.PerPage)
	add(s.Ahead > 0, "Ahead(%d)", s.Ahead)
	add(s.OnePage, "OnePage")
	add(s.Collect, "Collect")
	add(s.Twice, "twice")
	add(s.Break > 0, "leaves after %d", s.Break)
	add(s.Resume, "resumes")
	add(s.Slow > 0, "pauses %v", s.Slow)
	add(s.Source != "", "%d bytes from %s", s.Size, s.Source)
	add(s.Read >= 0, "reads %d bytes", s.Read)
	add(s.Save, "saves")
	add(s.MaxBytes > 0, "MaxBytes(%d)", s.MaxBytes)
	add(s.Deadline > 0, "deadline %v", s.Deadline)
	add(s.Cancel > 0, "cancelled after %v", s.Cancel)
	add(s.Header > 0, "HeaderTimeout(%v)", s.Header)
	add(s.Retry > 0, "%d attempts", s.Retry)
	add(s.Smuggle != "", "sets the header %s", s.Smuggle)
	add(s.Panic != "", "panics in its %s at time %d", s.Panic, s.PanicAt)
	return text
}
