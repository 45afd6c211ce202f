package contracttest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// platforms of the truth table.
var platforms = []platform{
	{forgetest.Ultimate, forgetest.SelfManaged, "", true},
	{forgetest.Ultimate, forgetest.SelfManaged, "", false},
	{forgetest.Premium, forgetest.Dedicated, "", true},
	{forgetest.Free, forgetest.SelfManaged, "", true},
	{forgetest.Free, forgetest.Hosted, "", false},
	{forgetest.Ultimate, forgetest.Hosted, "", true},
	{forgetest.Ultimate, forgetest.SelfManaged, "16.4", true},
}

// TestHintsAreTrue calls every route, on each platform with a third of the credentials, and with
// FORGE_LONG=1 with all of them; with objects that exist and with ones that do not. Of each call that is rejected with 401, 403 or 404, the first sentence
// of the hint is true, no sentence states as a fact what is not true, and one names a true cause.
// Only a tier, an offering or a release may follow a sentence about a role that the caller has, since
// no response tells them apart. Calls of the API are then sent again to a server that hides the cause
// behind a 404 without a message, as deployed servers do, and a 403 to one that sends no message.
func TestHintsAreTrue(t *testing.T) {
	table := &truthTable{seen: map[string]int{}, rejected: map[string]bool{}, endpoints: accessOf(t)}
	sampled := platforms
	if racetest.Enabled { // texts do not depend on it, and all platforms take half a minute
		sampled = platforms[3:5]
	}
	for n, p := range sampled {
		t.Run(fmt.Sprintf("%s %s %s private=%t", p.tier, p.offering, p.release, p.private), func(t *testing.T) { table.fill(t, p, n) })
	}
	if racetest.Enabled {
		assert.Greater(t, table.cells, 1500, "rejected calls")
		return
	}
	for _, s := range sentences {
		assert.Positive(t, table.seen[s.form.String()], "no call has the hint %s", s.form)
	}
	for _, r := range forge.Routes() {
		assert.True(t, table.rejected[r.Method+" "+r.Template], "no call of %s %s was rejected", r.Method, r.Template)
	}
	assert.Greater(t, table.cells, 9000, "rejected calls")
}

type truthTable struct {
	endpoints map[string]access
	seen      map[string]int // hints by form
	rejected  map[string]bool
	cells     int
}

func (table *truthTable) fill(t *testing.T, p platform, number int) {
	w := newHintWorld(t, p)
	for i := range w.callers {
		if (i+number)%3 != 0 && !long {
			continue
		}
		client := w.client(t, w.callers[i])
		for _, r := range forge.Routes() {
			for missing := -1; missing < strings.Count(r.Template, "/:"); missing++ {
				c := &cell{table.endpoints[r.Method+" "+r.Template], p, w.callers[i], missing >= 0}
				changed := table.try(t, w, client, r, c, missing)
				if changed { // it took effect: objects may be gone, and roles not needed
					w = newHintWorld(t, p)
					client = w.client(t, w.callers[i])
				}
			}
		}
	}
}

// try makes the call of a cell and checks its hint. It reports whether the call changed the server.
func (table *truthTable) try(t *testing.T, w *hintWorld, client *forge.Client, r forge.Route, c *cell, missing int) (changed bool) {
	t.Helper()
	name := r.Method + " " + r.Template
	args := w.arguments(t, r.Template, missing)
	failed := rejectionOf(w.send(t.Context(), client, r, args))
	if failed == nil {
		return r.Class != forge.ClassSafe
	}
	table.rejected[name] = true
	table.check(t, c, failed)
	if failed.Status == 401 || c.Base != "api" || failed.Status == 403 && c.message(failed) != "" {
		return false
	}
	for _, hide := range []forgetest.Fault{forgetest.StatusMessage(404, "404 Not Found"), forgetest.StatusMessage(failed.Status, "")} {
		w.srv.Fail(name, hide)
		hidden := rejectionOf(w.send(t.Context(), client, r, args))
		w.srv.ClearFaults()
		if assert.NotNil(t, hidden, name) {
			table.check(t, c, hidden)
		}
	}
	return false
}

// rejectionOf returns the error with the status 401, 403 or 404; nil if there is none.
func rejectionOf(err error) *forge.Error {
	for err != nil {
		var failed *forge.Error
		if !errors.As(err, &failed) {
			return nil
		}
		if slices.Contains([]int{401, 403, 404}, failed.Status) {
			return failed
		}
		err = errors.Join(failed.Unwrap()...)
	}
	return nil
}

// message returns what the server says beyond the status.
func (c *cell) message(failed *forge.Error) string {
	said := strings.TrimPrefix(failed.Message, fmt.Sprintf("%d ", failed.Status))
	return strings.TrimPrefix(strings.TrimPrefix(said, "Forbidden"), "Not Found")
}

// check checks the hint of a rejected call.
func (table *truthTable) check(t *testing.T, c *cell, failed *forge.Error) {
	t.Helper()
	table.cells++
	text := failed.Error()
	place := fmt.Sprintf("%s %s as %q (missing %t): %s", c.Method, c.Path, c.name, c.missing, text)
	_, hint, _ := strings.Cut(text, "(request id "+failed.RequestID+")")
	if failed.RequestID == "" {
		_, hint, _ = strings.Cut(text, "; ")
		hint = "; " + hint
	}
	if hint = strings.TrimPrefix(hint, "; "); hint == "" {
		require.NotEmpty(t, c.message(failed), place) // the message says it
		return
	}
	var causes []bool // whether each sentence names one
	for _, part := range strings.Split(hint, "; ") {
		i := slices.IndexFunc(sentences, func(s sentence) bool { return s.form.MatchString(part) })
		if !assert.GreaterOrEqual(t, i, 0, "%s: %q is not a known sentence", place, part) {
			continue
		}
		s := sentences[i]
		table.seen[s.form.String()]++
		match := s.form.FindStringSubmatch(part)
		assert.True(t, s.fact == nil || s.fact(c, match[len(match)-1]), "%s: %q is false", place, part)
		causes = append(causes, s.cause(c))
	}
	assert.Contains(t, causes, true, "%s: no sentence names a true cause", place)
	if failed.Status != 404 && len(causes) > 0 && !causes[0] {
		assert.True(t, c.limited() && !c.lacksRole(), "%s: the first sentence names no true cause", place)
	}
}
