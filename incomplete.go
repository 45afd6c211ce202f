package forge

import "fmt"

// cuttable is implemented by answers that a server may cut and mark as cut. cut says what is missing and how to get it, "" for an
// answer that is whole.
type cuttable interface{ cut() string }

// Complete makes an error, which matches ErrIncomplete, of an answer that the server has marked as cut: changes that overflow,
// diffs that are collapsed or too large, a comparison that ran out of time. Without it the method Incomplete of the answer tells.
func Complete() RequestOption {
	return func(o *callOptions) {
		if o.fits("Complete", kindDo) {
			o.complete = true
		}
	}
}

// whole refuses a cut answer where the caller wants all or nothing. The answer is final: the server would cut it again.
func (c *call) whole(out any) error {
	answer, may := out.(cuttable)
	if !may || !c.options.complete {
		return nil
	}
	if what := answer.cut(); what != "" {
		c.last.err = &failure{sentinel: ErrIncomplete, text: "the answer is not whole: " + what}
		return c.error()
	}
	return nil
}

// cutDiffs says how many diffs were left out, "" when none was. Servers before 18.4 mark none: there, a diff without text that
// changes nothing else either was left out, too.
func cutDiffs(diffs []Diff, remedy string) string {
	n, first := 0, ""
	for _, d := range diffs {
		same := d.OldPath == d.NewPath && d.AMode == d.BMode && !d.NewFile && !d.DeletedFile && !d.RenamedFile
		if d.Collapsed || d.TooLarge || d.Diff == "" && same {
			n, first = n+1, orDefault(first, d.NewPath)
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d diffs are collapsed or too large, the first is that of %q: %s", n, len(diffs), cleanText(first, 256), remedy)
}
