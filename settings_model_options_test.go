package forge_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
)

// TestSettingsOptions: options written by hand, as changes: what they name is in force after Apply, or
// named with the reason, or refused before anything is sent. There is no document to take companions from.
func TestSettingsOptions(t *testing.T) {
	settingsProperty(t, 1000, func(w *settingsWorld) {
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
			if m.edited[name], m.now[name] = true, v; f.IsZero() { // it is not sent
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
		d := o.Changes()
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

// extraOption gives a setting in Extra, under the server's own word.
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
