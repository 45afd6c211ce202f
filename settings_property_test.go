package forge_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
)

// TestSettingsEdits edits a document that was read, or a copy of it. The document and its JSON have
// the edits. Each edit is in force after Apply, or reported with the reason, or refused before
// anything is sent. Nothing else is sent. Then nothing is left to change.
func TestSettingsEdits(t *testing.T) {
	t.Parallel()
	facts := settingsCatalogue(t)
	var server *settingsServer
	clients := settingsClients(t, &server)
	settingsChecks(t, 1500, func(r *rapid.T) {
		v := rapid.IntRange(0, len(clients)-1).Draw(r, "vocabulary")
		server = newSettingsServer(settingVocabularies[v])
		w := &settingsWorld{T: r, settingFacts: facts, server: server, client: clients[v]}
		w.world()
		m := w.read()
		original, copied := m.settings, *m.settings
		if rapid.Bool().Draw(r, "copy") {
			m.settings = &copied
		}
		for range rapid.IntRange(1, 6).Draw(r, "edits") {
			w.edit(m)
		}
		if w.oneOf(8, "broken") {
			m.breakIt(draw(w, "broken name", append(w.names, "unknown_to_all")...), draw(w, "broken text", "5", "", "{", "tru", "1 2"))
		}
		p := m.plan()
		d := m.settings.Diff()
		w.checkDiff(m, p, d)
		w.checkJSON(m)
		w.checkCopies(m, original, d)
		if len(d.Changes) > 0 && w.oneOf(6, "drop") { // as a program may do
			i := rapid.IntRange(0, len(d.Changes)-1).Draw(r, "dropped")
			delete(p.changes, d.Changes[i].Name)
			d.Changes = slices.Delete(d.Changes, i, i+1)
		}
		p.send(m, server.words)
		w.checkApply(m, p, d)
	})
}

// same fails the case if two values differ.
func (w *settingsWorld) same(m *settingsModel, what string, want, got any) {
	if !reflect.DeepEqual(want, got) {
		w.Fatalf("%s: want %v\ngot %v\nread: %s\nedits: %s\nshown: %s", what, want, got, writeJSON(m.base), strings.Join(m.log, "; "), writeJSON(w.server.shown()))
	}
}

// read reads the settings with Get or from JSON, or reads nothing.
func (w *settingsWorld) read() *settingsModel {
	m := &settingsModel{settingFacts: w.settingFacts, settings: new(forge.ApplicationSettings), start: map[string]any{}, now: map[string]any{}}
	how := draw(w, "read", "Get", "Get", "Get", "Unmarshal", "never")
	if how == "never" {
		return m
	}
	m.base, m.start, m.now = w.server.shown(), w.server.shown(), w.server.shown()
	s, err := w.client.Settings.Get(w.Context())
	require.NoError(w, err)
	if m.settings = s; how == "Unmarshal" {
		m.settings = new(forge.ApplicationSettings)
		require.NoError(w, json.Unmarshal(writeJSON(s), m.settings))
	}
	for name, v := range m.base {
		if f := m.field(name); f.IsValid() {
			want, _ := goValue(f.Type(), v)
			w.same(m, name, readJSON(writeJSON(want.Interface())), readJSON(writeJSON(f.Interface())))
		}
	}
	w.checkDiff(m, m.plan(), m.settings.Diff())
	return m
}

// checkDiff compares the changes with the plan.
func (w *settingsWorld) checkDiff(m *settingsModel, p *settingsPlan, d *forge.SettingsDiff) {
	w.same(m, "Diff is refused", p.refused, d.Err() != nil)
	if p.refused {
		w.same(m, "the error", "", problemOf(d.Err()))
		return
	}
	changes, notSent := p.told(m)
	w.same(m, "Changes", changes, tellAll(d.Changes))
	w.same(m, "NotSent", notSent, tellAll(d.NotSent))
	w.same(m, "OnlyInGot", 0, len(d.OnlyInGot))
	w.same(m, "secrets", "", printed(d.Changes, d.NotSent))
}

// checkJSON checks that the JSON of a document has its values, and can be read without a change.
func (w *settingsWorld) checkJSON(m *settingsModel) {
	text, err := json.Marshal(m.settings)
	w.same(m, "Marshal fails", m.broken, err != nil)
	if m.broken {
		w.same(m, "Merge fails", true, m.settings.Merge([]byte("{}")) != nil)
		return
	}
	w.same(m, "JSON", normalized(m.now), documentOf(m.settings))
	again := new(forge.ApplicationSettings)
	require.NoError(w, json.Unmarshal(text, again))
	w.same(m, "JSON, read", string(text), string(writeJSON(again)))
	d := again.Diff()
	w.same(m, "Changes of JSON, read", 0, len(d.Changes)+len(d.NotSent))
}

// documentOf returns a document without its id and times.
func documentOf(s *forge.ApplicationSettings) map[string]any {
	object, _ := readJSON(writeJSON(s)).(map[string]any)
	for _, name := range []string{"id", "created_at", "updated_at"} {
		delete(object, name)
	}
	return normalized(object)
}

// checkCopies checks that edits of a copy change the original only in memory that both share.
func (w *settingsWorld) checkCopies(m *settingsModel, original *forge.ApplicationSettings, d *forge.SettingsDiff) {
	if m.settings == original || d.Err() != nil {
		return
	}
	if own := original.Diff(); !m.shared {
		w.same(m, "the original", 0, len(own.Changes)+len(own.NotSent))
	}
	if both, err := forge.DiffSettings(original, m.settings); m.base != nil {
		require.NoError(w, err)
		w.same(m, "difference to the original", tellAll(d.Changes), tellAll(both.Changes))
	}
}

// checkApply compares the update and the report with the plan.
func (w *settingsWorld) checkApply(m *settingsModel, p *settingsPlan, d *forge.SettingsDiff) {
	document := string(writeJSON(m.settings))
	report, err := w.client.Settings.Apply(w.Context(), d)
	w.same(m, "Apply fails", p.fails, err != nil)
	if p.fails {
		w.same(m, "the error of Apply", "", problemOf(err))
		w.same(m, "updates of a call that failed", 0, len(w.server.updates))
		_, err = w.client.Settings.Verify(w.Context(), d)
		w.same(m, "Verify fails", p.refused, err != nil)
		return
	}
	w.checkUpdates(m, p, 1)
	w.same(m, "settings of the report", normalized(w.server.shown()), documentOf(report.Settings))
	w.same(m, "NotApplied", p.report(m, w.server.shown()), tellAll(report.NotApplied))
	w.same(m, "secrets", "", printed(report.NotApplied))
	again, err := w.client.Settings.Verify(w.Context(), d)
	require.NoError(w, err)
	w.same(m, "Verify", tellAll(report.NotApplied), tellAll(again.NotApplied))
	w.checkUpdates(m, p, 1)
	rest, err := forge.DiffSettings(report.Settings, m.settings)
	require.NoError(w, err)
	for _, change := range rest.Changes {
		_, wanted := p.changes[change.Name]
		if reported := slices.ContainsFunc(report.NotApplied, func(d forge.SettingDifference) bool { return d.Name == change.Name }); wanted && !reported {
			w.same(m, "left to change after Apply", "", change.Name)
		}
	}
	_, err = w.client.Settings.Apply(w.Context(), d)
	require.NoError(w, err)
	w.checkUpdates(m, p, 2)
	w.same(m, "the document after Apply", document, string(writeJSON(m.settings)))
}

// checkUpdates checks that n updates were sent, or none without a change.
func (w *settingsWorld) checkUpdates(m *settingsModel, p *settingsPlan, n int) {
	if len(p.changes) == 0 {
		n = 0
	}
	w.same(m, "updates", n, len(w.server.updates))
	for _, update := range w.server.updates {
		w.same(m, "the update", normalized(p.body), normalized(update))
	}
}

// problemOf describes what is wrong with the error of a call that sends nothing.
func problemOf(err error) string {
	if !errors.As(err, new(*forge.ValidationError)) || strings.Contains(err.Error(), secretMark) {
		return fmt.Sprintf("%T: %v", err, err)
	}
	return ""
}

// printed returns the text of differences if it has a secret.
func printed(lists ...[]forge.SettingDifference) string {
	var text strings.Builder
	for _, d := range slices.Concat(lists...) {
		fmt.Fprintf(&text, "%v %+v %#v %s", d, d, d, d)
		if slices.Contains(secretSettings, d.Name) {
			text.Write(writeJSON(d))
		}
	}
	if strings.Contains(text.String(), secretMark) {
		return text.String()
	}
	return ""
}
