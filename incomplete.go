package forge

import (
	"fmt"
	"strconv"
	"strings"
)

// cuttable is implemented by responses that a server may cut. cut says what is missing, "" for a
// response that is whole, and how to get it; raw reports that the request had raw diffs already.
type cuttable interface {
	cut(raw bool) (missing, remedy string)
}

// Complete makes an error, which matches ErrIncomplete, of a response that shows that the server
// cut it: changes that overflow, fewer diffs than were counted, diffs that are collapsed or too
// large, a comparison that ran out of time. Without it the method Incomplete of the response
// reports that.
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
	if missing, remedy := answer.cut(c.query.Get("access_raw_diffs") == "true"); missing != "" {
		c.last.err = &failure{sentinel: ErrIncomplete, text: "the answer is not whole: " + missing + ": " + remedy}
		return c.error()
	}
	return nil
}

// cutDiffs says how many diffs were left out, "" when none was. Servers before 18.4 mark none: there, a diff without text that
// changes nothing else either was left out, too.
func cutDiffs(diffs []Diff) string {
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
	return fmt.Sprintf("%d of %d diffs are collapsed or too large, the first is that of %q", n, len(diffs), cleanText(first, 256))
}

// cutCount says that there are fewer diffs than the server counted, "" where that is not so or not
// known. A count that stopped has a +: there are more than that.
func cutCount(diffs []Diff, name, count string) string {
	number, more := strings.CutSuffix(count, "+")
	counted, err := strconv.Atoi(number)
	switch {
	case diffs == nil || err != nil:
		return ""
	case more && len(diffs) <= counted:
		return fmt.Sprintf("%d diffs, and the server counted more (%s %d+)", len(diffs), name, counted)
	case len(diffs) < counted:
		return fmt.Sprintf("%d diffs of %d (%s)", len(diffs), counted, name)
	}
	return ""
}
