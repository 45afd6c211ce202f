package forge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	forge "github.com/forge-sdk/forge-go"
)

// settingsModel is a document with its expected values, which follow each edit. Names are those of
// the contract.
type settingsModel struct {
	*settingFacts
	settings *forge.ApplicationSettings
	base     map[string]any // as read; nil if the document was not read
	start    map[string]any // base with what was merged: an edit of a field is a difference to it
	now      map[string]any // expected values
	shared   bool           // an edit changed memory that copies share
	broken   bool           // an edit cannot be sent
	log      []string       // edits, for the message of a failure
}

func (m *settingsModel) note(format string, args ...any) {
	m.log = append(m.log, fmt.Sprintf(format, args...))
}

func (m *settingsModel) field(name string) reflect.Value {
	return reflect.ValueOf(m.settings).Elem().FieldByName(m.fields[name])
}

// goValue returns a JSON value as a Go value. It is zero if the type cannot hold the value.
func goValue(of reflect.Type, v any) (value reflect.Value, fits bool) {
	target := reflect.New(of)
	if json.Unmarshal(writeJSON(v), target.Interface()) != nil {
		return reflect.Zero(of), false
	}
	return target.Elem(), true
}

// set sets a field, if it can hold the value.
func (m *settingsModel) set(name string, v any) {
	f := m.field(name)
	if value, fits := goValue(f.Type(), v); fits {
		f.Set(value)
		m.changed(name)
	}
}

// changed reads the expected value of a field that was edited.
func (m *settingsModel) changed(name string) {
	f := m.field(name)
	v := readJSON(writeJSON(f.Interface()))
	m.note("field %s = %s", name, writeJSON(v))
	before, there := m.start[name]
	old, fits := reflect.Zero(f.Type()), true
	if there {
		old, fits = goValue(f.Type(), before)
	}
	_, kept := m.settings.Extra[name] // a value that does not fit
	switch {
	case !reflect.DeepEqual(old.Interface(), f.Interface()):
		m.now[name] = v
		if v == nil && f.Kind() == reflect.Slice {
			m.now[name] = []any{}
		}
		if v == nil && f.Kind() == reflect.Map {
			m.now[name] = map[string]any{}
		}
	case there && (fits || kept):
		m.now[name] = before
	default:
		delete(m.now, name)
	}
}

// inPlace changes the value of a pointer, the last element of a list, the entries of a map, or the
// parts of the struct.
func (m *settingsModel) inPlace(name string, v any) {
	f := m.field(name)
	switch {
	case f.Kind() == reflect.Pointer && !f.IsNil():
		if value, fits := goValue(f.Type().Elem(), v); fits {
			f.Elem().Set(value)
		}
	case f.Kind() == reflect.Slice && f.Len() > 0:
		f.Index(f.Len() - 1).SetString("edited")
	case f.Kind() == reflect.Map && f.Len() > 0:
		entry, _ := goValue(f.Type().Elem(), 9)
		f.SetMapIndex(reflect.ValueOf("added"), entry)
		f.SetMapIndex(reflect.ValueOf("default"), reflect.Value{})
	case name == protectionSetting:
		d := &m.settings.DefaultBranchProtectionDefaults
		for i := range d.AllowedToPush {
			d.AllowedToPush[i].AccessLevel = 20
		}
		d.AllowForcePush = !d.AllowForcePush
		overwrite(d.Extra["odd"])
	}
	m.shared = true
	m.changed(name)
}

// appended adds an element to a list.
func (m *settingsModel) appended(name string) {
	if name == protectionSetting {
		d := &m.settings.DefaultBranchProtectionDefaults
		d.AllowedToPush = append(d.AllowedToPush, forge.BranchAccess{AccessLevel: 10})
	} else if f := m.field(name); f.Kind() == reflect.Slice && f.Type().Elem().Kind() != reflect.Struct {
		element := reflect.New(f.Type().Elem()).Elem()
		if element.Kind() == reflect.String {
			element.SetString("d.example")
		}
		f.Set(reflect.Append(f, element))
	}
	m.changed(name)
}

// overwrite changes the digits of a text in place. The text stays JSON.
func overwrite(raw json.RawMessage) {
	for i, c := range raw {
		if c >= '1' && c <= '8' {
			raw[i]++
		}
	}
}

// extra sets an entry of Extra that has no field, or changes its bytes.
func (m *settingsModel) extra(name string, v any, inPlace bool) {
	raw, there := m.settings.Extra[name]
	switch {
	case inPlace && there:
		overwrite(raw)
	case m.settings.Extra == nil:
		m.settings.Extra = map[string]json.RawMessage{name: writeJSON(v)}
	default:
		m.settings.Extra[name] = writeJSON(v)
	}
	m.now[name], m.shared = readJSON(m.settings.Extra[name]), true
	m.note("Extra %s = %s", name, m.settings.Extra[name])
}

// deleted removes an entry of Extra: a setting without a field, or a value that the field cannot
// hold.
func (m *settingsModel) deleted(name string) {
	if _, there := m.settings.Extra[name]; !there {
		return
	}
	m.note("delete Extra %s", name)
	delete(m.settings.Extra, name)
	delete(m.now, name)
	m.shared = true
	if m.field(name).IsValid() { // it may be set
		m.changed(name)
	}
}

// breakIt puts a text into Extra that is not JSON, or that belongs into a field.
func (m *settingsModel) breakIt(name, text string) {
	_, there := m.settings.Extra[name]
	if belongs := m.field(name).IsValid() && !there; m.settings.Extra != nil && (belongs || !json.Valid([]byte(text))) {
		m.settings.Extra[name] = json.RawMessage(text)
		m.note("Extra %s = %s", name, text)
		m.broken, m.shared = true, true
	}
}

// merge merges an object, and describes what is wrong with the result.
func (m *settingsModel) merge(object map[string]any) (problem string) {
	m.note("merge %s", writeJSON(object))
	refused, text := false, writeJSON(object)
	for name, v := range object {
		old, known := m.now[name]
		if name == "id" || known && reflect.DeepEqual(old, v) { // changes nothing
			delete(object, name)
		} else if f := m.field(name); f.IsValid() {
			_, fits := goValue(f.Type(), v)
			refused = refused || !fits
		} else {
			refused = refused || !known
		}
	}
	before := string(writeJSON(m.settings))
	err := m.settings.Merge(text)
	switch after := string(writeJSON(m.settings)); {
	case refused != (err != nil):
		return fmt.Sprintf("Merge: %v", err)
	case refused && after != before:
		return "a failed Merge changes " + before + " to " + after
	case refused:
		return problemOf(err)
	}
	maps.Copy(m.now, object)
	maps.Copy(m.start, object)
	return ""
}
