package forge_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
)

// TestSettingsTwoInstances applies the result of DiffSettings for the documents of two instances.
// Each setting that both have gets the value of the second, or is named. A setting that only one
// has is listed and never sent.
func TestSettingsTwoInstances(t *testing.T) {
	other := newSettingsServer(t)
	clients := settingsClients(t, other.URL)
	settingsProperty(t, 500, func(w *settingsWorld) {
		here := w.vocabulary
		w.vocabulary = rapid.IntRange(0, len(settingVocabularies)-1).Draw(w.T, "other vocabulary")
		w.fill(other, "other")
		want, err := clients[w.vocabulary].Settings.Get(w.Context())
		require.NoError(w, err)
		w.vocabulary = here
		have, err := w.client.Settings.Get(w.Context())
		require.NoError(w, err)

		edited := modelOf(w.facts, want, other.state().shown)
		for i := range rapid.IntRange(0, 2).Draw(w.T, "edits") {
			name := rapid.SampledFrom(append(w.names, "signup_enabled")).Draw(w.T, "edited")
			if fact := w.facts.byName[name]; fact != nil && !grouped(w.facts, name) {
				w.editField(want, edited, fact, "edit "+string(rune('0'+i)))
			}
		}
		c := &settingsCheck{model: modelOf(w.facts, have, w.server.state().shown), wireName: w.server.name}
		c.settingsPlan, c.onlyHave = planOfTwo(c.model, edited, w.sendable)
		c.model.log = edited.log
		c.model.note("want %s", writeJSON(edited.now))
		d, err := forge.DiffSettings(have, want)
		require.NoError(w, err)
		c.diff(d)
		w.end(c)
		before := w.server.state()
		report, err := w.client.Settings.Apply(w.Context(), d)
		after := w.server.state()
		c.applied(report, err, before, after)
		w.end(c)
		if err == nil {
			w.afterwards(c, want, d, report, after)
		}
		w.end(c)
	})
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

// planOfTwo returns the expected result of the differences between two documents, of which the
// second was edited.
func planOfTwo(have, want *settingsModel, sendable func(string) bool) (*settingsPlan, []string) {
	p := have.plan(sendable) // a plan without edits
	onlyHave := []string(nil)
	for name := range mapsUnion(have.base, want.now) {
		if settingAliases[name] != "" || want.unclear[name] {
			continue
		}
		a, shown, unclear := valueOf(have.base, name)
		b, wanted, unclearToo := valueOf(want.now, name)
		isEdit := want.edited[name] && (!sameJSON(b, want.base[name]) || !has(want.base, name))
		p.difference(have, name, a, b, shown, wanted, isEdit, unclear || unclearToo)
		if shown && !wanted {
			onlyHave = append(onlyHave, name)
		}
	}
	for old, name := range settingAliases { // settings whose new name no server shows
		if has(have.base, name) || has(want.now, name) || !has(have.base, old) && !has(want.now, old) {
			continue
		}
		a, shown, _ := valueOf(have.base, name)
		b, wanted, _ := valueOf(want.now, name)
		p.difference(have, name, a, b, shown, wanted, false, false)
		if shown && !wanted {
			onlyHave = append(onlyHave, name)
		}
	}
	for _, old := range slices.Sorted(maps.Keys(settingReplacements)) {
		for _, name := range settingReplacements[old] {
			_, oldChanges := p.want[old]
			_, changes := p.want[name]
			switch {
			case oldChanges && (p.may[name] || p.maySend[old] || changes && p.maySend[name]):
				p.may[old] = true
			case oldChanges && changes:
				p.notSent[old], p.send[old] = forge.SettingDeprecated, false
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(have.facts.companions)) {
		p.companions(have, name)
		for _, companion := range have.facts.companions[name] {
			if p.want[name] == true && p.notSent[companion] != "" { // only the other instance has it
				p.may[companion], p.mayFail, p.missing = true, "perhaps "+name+" requires "+companion, ""
			}
		}
	}
	p.needs(have)
	for name := range p.want {
		if !sendable(name) {
			p.mayFail = name + " has no word"
		}
	}
	slices.Sort(onlyHave)
	return p, onlyHave
}

func has(object map[string]any, name string) bool {
	_, there := object[name]
	return there
}

// valueOf returns the value of a setting that may have two names. It is unclear if their values
// differ.
func valueOf(shown map[string]any, name string) (v any, there, unclear bool) {
	v, there = shown[name]
	for old, replacement := range settingAliases {
		a, oldThere := shown[old]
		if replacement != name || !oldThere {
			continue
		}
		moved := underOtherName(name, a)
		if _, isText := moved.(string); isText && old == "signin_enabled" {
			unclear = true
		}
		if there && !sameJSON(moved, v) {
			unclear = true
		}
		if !there {
			v, there = moved, true
		}
	}
	return v, there, unclear
}

// difference adds the expected result for one setting.
func (p *settingsPlan) difference(m *settingsModel, name string, a, b any, shown, wanted, isEdit, unclear bool) {
	fact := m.facts.byName[name]
	for old, replacement := range settingAliases {
		if replacement == name && has(m.base, old) && !has(m.base, name) {
			p.alias[name] = old
		}
	}
	switch {
	case unclear:
		p.unclear(name)
	case !wanted || shown && sameJSON(a, b):
	case !shown && !isEdit:
		p.notSent[name] = forge.SettingAbsent
	case fact != nil && !isEdit && (fact.field >= 0 && !fieldHolds(m.typeOf(fact), b) || fact.field < 0 && !rightKind(fact, b)):
		p.notSent[name] = forge.SettingNotSettable
		if shown && inForce(a, b) {
			p.may[name] = true
		}
	default:
		p.want[name], p.send[name], p.maySend[name] = b, true, shown && inForce(a, b)
		if fact != nil && !rightKind(fact, b) {
			p.may[name] = true
		}
	}
}

// TestSettingsOptions applies options that a program has written. Each setting in them is in effect
// after Apply, or named with the reason, or refused before anything is sent. There is no document
// from which companions could be taken.
func TestSettingsOptions(t *testing.T) {
	settingsProperty(t, 400, func(w *settingsWorld) {
		o, m := new(forge.UpdateSettingsOptions), modelOf(w.facts, new(forge.ApplicationSettings), nil)
		for range rapid.IntRange(0, 5).Draw(w.T, "options") {
			name := rapid.SampledFrom(append(w.names, "signup_enabled", "domain_allowlist")).Draw(w.T, "option")
			fact := w.facts.byName[name]
			if fact == nil || fact.option < 0 {
				w.extraOption(o, m, name)
				continue
			}
			f := reflect.ValueOf(o).Elem().Field(fact.option)
			v := w.value(name, 0)
			if _, nullable := nullableOf(f.Type()); v == nil && !nullable || !fieldHolds(f.Type(), v) || f.Type().Kind() == reflect.Struct && !nullable {
				continue
			}
			m.note("option %s = %s", name, noteOf(v))
			setField(f, v)
			if m.edited[name], m.now[name] = true, v; f.IsZero() { // a zero field is not sent
				delete(m.edited, name)
				delete(m.now, name)
			}
		}
		c := w.check(m)
		c.byHand = true
		for _, group := range settingGroups() {
			if old := group[0]; m.edited[old] && (settingAliases[old] != "" || settingReplacements[old] != nil) &&
				slices.ContainsFunc(group[1:], func(name string) bool { return m.edited[name] }) {
				c.mayFail = "both names are given"
			}
		}
		d := o.Diff()
		c.diff(d)
		w.end(c)
		before := w.server.state()
		report, err := w.client.Settings.Apply(w.Context(), d)
		after := w.server.state()
		c.applied(report, err, before, after)
		w.end(c)
		if err == nil {
			w.afterwards(c, report.Settings, d, report, after)
		}
		w.end(c)
	})
}

// extraOption sets a setting in Extra, under the name of the server.
func (w *settingsWorld) extraOption(o *forge.UpdateSettingsOptions, m *settingsModel, name string) {
	if w.server.wire(name) != name || w.facts.byName[name] != nil {
		return
	}
	v := w.value(name, 8)
	m.note("option Extra %s = %s", name, noteOf(v))
	extra := reflect.ValueOf(o).Elem().FieldByName("Extra")
	if extra.IsNil() {
		extra.Set(reflect.MakeMap(extra.Type()))
	}
	value := reflect.New(extra.Type().Elem()).Elem()
	if raw, isRaw := value.Addr().Interface().(*json.RawMessage); isRaw {
		*raw = writeJSON(v)
	} else {
		value.Set(reflect.ValueOf(&v).Elem())
	}
	extra.SetMapIndex(reflect.ValueOf(name), value)
	m.edited[name], m.now[name] = true, v
}
