package forge_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
)

// settingsProperty runs a property with a drawn server. Failures are printed with the edits.
func settingsProperty(t *testing.T, checks int, property func(w *settingsWorld)) {
	server := newSettingsServer(t)
	clients := settingsClients(t, server.URL)
	facts := settingsCatalogue(t)
	settingsChecks(t, checks, func(r *rapid.T) {
		w := &settingsWorld{T: r, facts: facts, server: server}
		w.world()
		w.client = clients[w.vocabulary]
		property(w)
		if broken := server.state().broken; len(broken) > 0 {
			w.Fatalf("the server got %v", broken)
		}
	})
}

// end fails the case if a check has found a problem.
func (w *settingsWorld) end(checks ...*settingsCheck) {
	for _, c := range checks {
		if len(c.problems) > 0 {
			w.Fatalf("%s\nread: %s\nedits: %s\nshown now: %s\nupdates: %v", strings.Join(c.problems, "\n"), writeJSON(c.model.base), strings.Join(c.model.log, "; "),
				writeJSON(w.server.state().shown), w.server.state().updates)
		}
	}
}

// TestSettingsEdits edits a document that was read. Each edit is in effect after Apply, or named
// with the reason, or refused before anything is sent. Nothing else is sent, and no other setting
// changes.
func TestSettingsEdits(t *testing.T) {
	settingsProperty(t, 1000, func(w *settingsWorld) {
		s, m := w.read()
		if rapid.Bool().Draw(w.T, "copy") {
			w.edits(s, m, 3)
			copied := *s
			original, other := s, m
			s, m = &copied, m.copied()
			defer func() {
				c := w.check(other)
				c.diff(original.Diff())
				w.sameRead(c, original, s)
				w.end(c)
			}()
		}
		w.edits(s, m, 6)
		c := w.check(m)
		d := s.Diff()
		c.diff(d)
		w.end(c)
		if d.Err() == nil && len(d.Changes) > 0 && rapid.IntRange(0, 5).Draw(w.T, "drop") == 0 {
			w.drop(c, d)
		}
		before, document := w.server.state(), writeDocument(s)
		report, err := w.client.Settings.Apply(w.Context(), d)
		after := w.server.state()
		c.applied(report, err, before, after)
		if writeDocument(s) != document {
			c.problem("Apply changes the document from %s to %s", document, writeDocument(s))
		}
		w.end(c)
		if err == nil {
			w.afterwards(c, s, d, report, after)
		} else if _, verifyErr := w.client.Settings.Verify(w.Context(), d); d.Err() != nil && verifyErr == nil {
			c.problem("Verify has no error where Apply has one: %v", err)
		}
		w.end(c)
	})
}

// drop deletes a change from the list, as a program may do.
func (w *settingsWorld) drop(c *settingsCheck, d *forge.SettingsDiff) {
	i := rapid.IntRange(0, len(d.Changes)-1).Draw(w.T, "dropped")
	if name := d.Changes[i].Name; !grouped(w.facts, name) && !c.may[name] {
		d.Changes = slices.Delete(d.Changes, i, i+1)
		delete(c.want, name)
		c.dropped = name
	}
}

// sameRead checks that the difference of two values of one read has exactly the changes of the
// second value.
func (w *settingsWorld) sameRead(c *settingsCheck, original, s *forge.ApplicationSettings) {
	d, err := forge.DiffSettings(original, s)
	own := s.Diff()
	if c.model.base == nil || err != nil || d.Err() != nil || own.Err() != nil {
		return
	}
	if !slices.EqualFunc(d.Changes, own.Changes, sameDifference) || !slices.EqualFunc(d.NotSent, own.NotSent, sameDifference) {
		c.problem("of one read: %s %s, and the changes are %s %s", tellAll(d.Changes), tellAll(d.NotSent), tellAll(own.Changes), tellAll(own.NotSent))
	}
}

// afterwards checks the state after changes were applied.
func (w *settingsWorld) afterwards(c *settingsCheck, s *forge.ApplicationSettings, d *forge.SettingsDiff, report *forge.SettingsReport, after *settingsState) {
	again, err := w.client.Settings.Verify(w.Context(), d)
	require.NoError(w, err)
	if !slices.EqualFunc(report.NotApplied, again.NotApplied, sameDifference) {
		c.problem("Apply reports %s, and Verify %s", tellAll(report.NotApplied), tellAll(again.NotApplied))
	}
	if !sameJSON(documentOf(report.Settings), documentOf(again.Settings)) || len(w.server.state().updates) != len(after.updates) {
		c.problem("Verify reads other settings, or sends an update")
	}
	rest, err := forge.DiffSettings(report.Settings, s)
	require.NoError(w, err)
	for _, change := range rest.Changes {
		if c.dropped != change.Name && !c.may[change.Name] && !slices.ContainsFunc(report.NotApplied, func(d forge.SettingDifference) bool { return d.Name == change.Name }) {
			c.problem("%s is in force, and still a change: %s to %s", change.Name, change.Got, change.Want)
		}
	}
	if rest.Err() != nil {
		c.problem("the rest fails: %v", rest.Err())
	}
	_, err = w.client.Settings.Apply(w.Context(), d)
	require.NoError(w, err)
	if twice := w.server.state(); !sameJSON(after.held, twice.held) {
		c.problem("the same changes, applied again, change %s to %s", writeJSON(after.held), writeJSON(twice.held))
	}
}

func sameDifference(a, b forge.SettingDifference) bool {
	return a.Name == b.Name && a.Reason == b.Reason && string(a.Got) == string(b.Got) && string(a.Want) == string(b.Want)
}

// tellAll returns differences with their values as text.
func tellAll(list []forge.SettingDifference) string {
	var b strings.Builder
	for _, d := range list {
		b.WriteString(d.Name + " (" + string(d.Reason) + "): " + string(d.Got) + " to " + string(d.Want) + "; ")
	}
	return b.String()
}

// TestSettingsMarshal checks that the JSON of a document has the values that were read, with the
// edits, and that the decoded JSON has the same values and no changes.
func TestSettingsMarshal(t *testing.T) {
	settingsProperty(t, 400, func(w *settingsWorld) {
		s, m := w.read()
		w.edits(s, m, 6)
		c := w.check(m)
		text, err := json.Marshal(s)
		if err != nil {
			if len(m.bad)+len(m.perhaps) == 0 {
				c.problem("Marshal: %v", err)
			}
			w.end(c)
			return
		}
		c.marshalled(documentOf(s))
		var again forge.ApplicationSettings
		require.NoError(w, json.Unmarshal(text, &again))
		if d := again.Diff(); d.Err() != nil || len(d.Changes)+len(d.NotSent) > 0 {
			c.problem("what was unmarshalled has changes: %s %s", tellAll(d.Changes), tellAll(d.NotSent))
		}
		if writeDocument(&again) != string(text) {
			c.problem("%s becomes %s", text, writeDocument(&again))
		}
		for name, fact := range w.facts.byName {
			if fact.field >= 0 && !c.may[name] {
				a, b := fieldJSON(settingField(s, fact)), fieldJSON(settingField(&again, fact))
				if !wantedAs(name, a, b) && (!blankField(a) || !blankField(b)) {
					c.problem("the field %s has %v, and then %v", name, a, b)
				}
			}
		}
		w.end(c)
	})
}

func blankField(v any) bool { return v == (notSet{}) || blank(v) }

// marshalled checks the keys and values of a document that was edited.
func (c *settingsCheck) marshalled(document map[string]any) {
	for name := range mapsUnion(document, c.model.now) {
		want, wanted := c.model.now[name]
		got, there := document[name]
		other := c.otherName(name)
		switch {
		case c.may[name] || !c.model.edited[name] && c.model.edited[other]: // may change with the other name
		case wanted != there:
			c.problem("%s is in the document: %t, in what it marshals to: %t", name, wanted, there)
		case !wantedAs(name, want, got) && (!c.model.edited[name] || !inForce(want, got)):
			c.problem("%s marshals to %s, not %s", name, writeJSON(got), writeJSON(want))
		}
	}
}

// otherName returns the other name of a setting that has two names.
func (c *settingsCheck) otherName(name string) string {
	for old, replacement := range settingAliases {
		if name == replacement {
			return old
		}
	}
	return settingAliases[name]
}

// grouped reports whether a setting is related to others.
func grouped(facts *settingFacts, name string) bool {
	for _, group := range settingGroups() {
		if len(group) > 1 && slices.Contains(group, name) {
			return true
		}
	}
	return facts.companions[name] != nil
}
