package forge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// settingsModel has the state of a document when it was read, and its current state. Names are
// those of the contract.
type settingsModel struct {
	facts   *settingFacts
	base    map[string]any // as read
	now     map[string]any
	initial map[string]any // the fields just after reading
	edited  map[string]bool
	merged  map[string]bool // named by a Merge, so that a zero is an edit
	nulled  map[string]bool // merged as null, which a field shows as its zero
	unclear map[string]bool // the documents do not specify the result
	removed map[string]bool // entries of Extra that were read and deleted
	bad     map[string]bool // edits that cannot be sent
	perhaps map[string]bool // edits that perhaps cannot be sent
	renamed map[string]bool // names of the server in Extra
	own     map[string]bool // id and times
	sibling *settingsModel  // the model of the original, if this is the model of a copy
	log     []string
}

// modelOf returns the model of a document that was just read; base is nil for a document that was
// never read.
func modelOf(facts *settingFacts, s *forge.ApplicationSettings, base map[string]any) *settingsModel {
	m := &settingsModel{facts: facts, base: maps.Clone(base), now: maps.Clone(base), initial: map[string]any{}, edited: map[string]bool{}, merged: map[string]bool{}, nulled: map[string]bool{},
		unclear: map[string]bool{}, removed: map[string]bool{}, bad: map[string]bool{}, perhaps: map[string]bool{}, renamed: map[string]bool{}, own: map[string]bool{}}
	if m.now == nil {
		m.now = map[string]any{}
	}
	for name, fact := range facts.byName {
		if fact.field >= 0 {
			m.initial[name] = fieldJSON(settingField(s, fact))
		}
	}
	return m
}

// copied returns the model of a shallow copy. A change in place in the copy may change the
// original, too.
func (m *settingsModel) copied() *settingsModel {
	c := *m
	c.now, c.edited, c.merged, c.nulled = maps.Clone(m.now), maps.Clone(m.edited), maps.Clone(m.merged), maps.Clone(m.nulled)
	c.unclear, c.removed = maps.Clone(m.unclear), maps.Clone(m.removed)
	c.bad, c.perhaps, c.renamed, c.own = maps.Clone(m.bad), maps.Clone(m.perhaps), maps.Clone(m.renamed), maps.Clone(m.own)
	c.sibling = m
	return &c
}

func (m *settingsModel) note(format string, args ...any) {
	m.log = append(slices.Clip(m.log), fmt.Sprintf(format, args...))
}

// inPlace records that a setting was changed in memory that a copy may share, so that an earlier
// error may no longer exist.
func (m *settingsModel) inPlace(name string) {
	if m.sibling != nil {
		m.sibling.uncertain(name)
	}
}

func (m *settingsModel) restore(name string) {
	delete(m.now, name)
	if v, shown := m.base[name]; shown {
		m.now[name] = copyJSON(v)
	}
	if m.merged[name] {
		m.unclear[name] = true
	}
}

// field sets a field.
func (m *settingsModel) field(s *forge.ApplicationSettings, fact *settingFact, v any) {
	m.note("field %s = %s", fact.name, noteOf(v))
	setField(settingField(s, fact), v)
	m.fieldChanged(s, fact)
}

func noteOf(v any) string {
	if v == (notSet{}) {
		return "not set"
	}
	return string(writeJSON(v))
}

// fieldChanged records the current value of a field.
func (m *settingsModel) fieldChanged(s *forge.ApplicationSettings, fact *settingFact) {
	name, f := fact.name, settingField(s, fact)
	v := fieldJSON(f)
	m.edited[name] = true
	if m.bad[name] || m.perhaps[name] {
		m.uncertain(name)
	}
	if m.nulled[name] && f.IsZero() {
		m.unclear[name] = true // a merged null has the same value
	}
	if sameJSON(v, m.initial[name]) {
		m.restore(name)
		return
	}
	if f.Kind() == reflect.Slice && f.IsNil() && f.Type() != reflect.TypeFor[json.RawMessage]() {
		v = []any{}
	}
	if f.Kind() == reflect.Map && f.IsNil() {
		v = map[string]any{}
	}
	if v == (notSet{}) {
		v = nil
	}
	m.now[name] = v
	if f.Kind() == reflect.Float64 && (math.IsNaN(f.Float()) || math.IsInf(f.Float(), 0)) {
		m.bad[name] = true
	}
}

// uncertain removes a setting from those that must be an error, because another edit followed.
func (m *settingsModel) uncertain(name string) {
	delete(m.bad, name)
	m.perhaps[name], m.unclear[name] = true, true
}

// element changes, in place, an element of a list, an entry of a map, or the value of a pointer.
func (m *settingsModel) element(s *forge.ApplicationSettings, fact *settingFact, at int, v any) {
	f := settingField(s, fact)
	if f.Kind() == reflect.Pointer && !f.IsNil() {
		f = f.Elem()
	}
	switch f.Kind() {
	case reflect.Slice:
		if f.Len() == 0 || !fieldHolds(f.Type().Elem(), v) || v == nil || f.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		setField(f.Index(at%f.Len()), v)
	case reflect.Map:
		if f.IsNil() || !fieldHolds(f.Type().Elem(), v) || v == nil {
			return
		}
		value := reflect.New(f.Type().Elem()).Elem()
		setField(value, v)
		keys := f.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return bytes.Compare([]byte(a.String()), []byte(b.String())) })
		keys = append(keys, reflect.ValueOf("added").Convert(f.Type().Key()))
		if at%5 == 4 {
			value = reflect.Value{} // deletes the entry
		}
		f.SetMapIndex(keys[at%len(keys)], value)
	default:
		if settingField(s, fact).Kind() != reflect.Pointer || !fieldHolds(f.Type(), v) || v == nil {
			return
		}
		setField(f, v)
	}
	m.note("element %d of %s = %s", at, fact.name, noteOf(v))
	m.inPlace(fact.name)
	m.fieldChanged(s, fact)
}

// appended adds an element to a list.
func (m *settingsModel) appended(s *forge.ApplicationSettings, fact *settingFact, v any) {
	f := settingField(s, fact)
	if f.Kind() != reflect.Slice || f.Type().Elem().Kind() == reflect.Uint8 || v == nil || !fieldHolds(f.Type().Elem(), v) {
		return
	}
	m.note("append to %s %s", fact.name, noteOf(v))
	e := reflect.New(f.Type().Elem()).Elem()
	setField(e, v)
	f.Set(reflect.Append(f, e))
	m.fieldChanged(s, fact)
}

// rawBytes changes a byte of raw JSON in place, if the result is other valid JSON.
func rawBytes(raw json.RawMessage) bool {
	old, err := readJSON(raw)
	if err != nil {
		return false
	}
	for i, c := range raw {
		for _, other := range []byte("z7") {
			raw[i] = other
			if v, err := readJSON(raw); err == nil && !sameJSON(v, old) && bytes.ContainsAny(raw[i:i+1], "z7") {
				return true
			}
		}
		raw[i] = c
	}
	return false
}

// rawInPlace changes, in place, the bytes of a raw field or of an entry of Extra.
func (m *settingsModel) rawInPlace(s *forge.ApplicationSettings, name string) {
	fact := m.facts.byName[name]
	if fact != nil && fact.field >= 0 {
		object, _ := settingField(s, fact).Interface().(map[string]json.RawMessage)
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if rawBytes(object[key]) {
				m.note("bytes of %s.%s are now %s", name, key, object[key])
				m.inPlace(name)
				m.fieldChanged(s, fact)
				return
			}
		}
		return
	}
	if raw := s.Extra[name]; rawBytes(raw) {
		m.note("bytes of Extra %s are now %s", name, raw)
		m.extraChanged(name, raw)
	}
}

// protection changes a nested value of the object default_branch_protection_defaults.
func (m *settingsModel) protection(s *forge.ApplicationSettings, how, level int) {
	const name = "default_branch_protection_defaults"
	object, isObject := m.now[name].(map[string]any)
	push, _ := object["allowed_to_push"].([]any)
	if _, shown := m.now[name]; shown && !isObject || object["allowed_to_push"] != nil && push == nil || m.removed[name] {
		return
	}
	object, d := maps.Clone(object), &s.DefaultBranchProtectionDefaults
	if object == nil {
		object = map[string]any{}
	}
	switch how {
	case 0:
		d.AllowForcePush = !d.AllowForcePush
		object["allow_force_push"] = d.AllowForcePush
	case 1:
		d.AllowedToPush = append(d.AllowedToPush, forge.BranchAccess{AccessLevel: level})
		object["allowed_to_push"] = append(slices.Clip(push), map[string]any{"access_level": number(level)})
	case 2:
		if len(push) == 0 || len(d.AllowedToPush) != len(push) {
			return
		}
		first := maps.Clone(push[0].(map[string]any))
		d.AllowedToPush[0].AccessLevel, first["access_level"] = level, number(level)
		object["allowed_to_push"] = append([]any{first}, push[1:]...)
		m.inPlace(name)
	case 3:
		if d.Extra["odd"] == nil {
			return
		}
		d.Extra["odd"], object["odd"] = writeJSON(level), number(level)
		m.inPlace(name)
	}
	m.note("%s: edit %d with %d", name, how, level)
	m.edited[name] = true
	m.now[name] = object
	if sameJSON(fieldJSON(reflect.ValueOf(d).Elem()), m.initial[name]) {
		m.restore(name)
	}
}

// extra sets an entry of Extra.
func (m *settingsModel) extra(s *forge.ApplicationSettings, name string, raw json.RawMessage) {
	m.note("Extra %s = %q", name, raw)
	if s.Extra == nil {
		s.Extra = map[string]json.RawMessage{}
		if m.sibling != nil {
			defer func(sibling *settingsModel) { m.sibling = sibling }(m.sibling)
			m.sibling = nil
		}
	}
	s.Extra[name] = raw
	m.extraChanged(name, raw)
}

func (m *settingsModel) extraChanged(name string, raw json.RawMessage) {
	m.inPlace(name)
	before := m.edited[name]
	m.edited[name] = true
	delete(m.removed, name)
	v, err := readJSON(raw)
	if raw == nil {
		m.perhaps[name], m.unclear[name] = true, true
		return
	}
	if before && (m.bad[name] || m.perhaps[name]) {
		m.uncertain(name)
	}
	if err != nil {
		m.bad[name] = true
		return
	}
	fact, base := m.facts.byName[name], m.base[name]
	_, shown := m.base[name]
	switch {
	case fact == nil:
		m.now[name] = v
	case fact.field < 0 && rightKind(fact, v):
		m.now[name] = v
	case fact.field < 0:
		m.uncertain(name)
	case fieldHolds(m.typeOf(fact), v) && v != nil && !before && (!shown || !sameJSON(v, base)):
		m.bad[name] = true
	default:
		m.uncertain(name)
	}
}

func (m *settingsModel) typeOf(fact *settingFact) reflect.Type {
	return reflect.TypeFor[forge.ApplicationSettings]().Field(fact.field).Type
}

// rightKind reports whether a value has the JSON type of the documents.
func rightKind(fact *settingFact, v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return fact.kind == "boolean"
	case string:
		return fact.kind == "string"
	case json.Number:
		return fact.kind == "number" || fact.kind == "integer" && !bytes.ContainsAny([]byte(v), ".eE")
	case []any:
		return fact.kind == "array"
	}
	return fact.kind == "object"
}

// deleted removes an entry of Extra.
func (m *settingsModel) deleted(s *forge.ApplicationSettings, name string) {
	if _, there := s.Extra[name]; !there {
		return
	}
	m.note("delete Extra %s", name)
	m.inPlace(name)
	delete(s.Extra, name)
	m.edited[name] = true
	if fact := m.facts.byName[name]; fact != nil && fact.field >= 0 || m.merged[name] {
		m.uncertain(name)
		return
	}
	delete(m.bad, name)
	delete(m.perhaps, name)
	delete(m.unclear, name)
	delete(m.now, name)
	if _, shown := m.base[name]; shown {
		m.removed[name] = true
	}
}

// identity changes the id or a time.
func (m *settingsModel) identity(s *forge.ApplicationSettings, which int) {
	switch name := identitySettings[which]; name {
	case "id":
		s.ID += 7
		m.own[name] = true
	case "created_at":
		s.CreatedAt = s.CreatedAt.Add(time.Hour)
		m.own[name] = true
	default:
		s.UpdatedAt = s.UpdatedAt.Add(time.Hour)
		m.own[name] = true
	}
	m.note("identity %d", which)
}

// merge merges an object and describes what is wrong with the result.
func (m *settingsModel) merge(s *forge.ApplicationSettings, object map[string]any) string {
	m.note("merge %s", writeJSON(object))
	mustFail, mayFail := "", len(m.bad)+len(m.perhaps) > 0 // an earlier edit may cause the error
	for name, v := range object {
		fact := m.facts.byName[name]
		_, shown := m.base[name]
		_, there := s.Extra[name]
		switch {
		case slices.Contains(identitySettings, name):
		case fact == nil && shown && !there, shown && sameJSON(v, m.base[name]): // a removed setting; a value that changes nothing
			mayFail = true
		case fact == nil && !shown && !there, fact != nil && fact.field >= 0 && !fieldHolds(m.typeOf(fact), v):
			mustFail = name
		case fact != nil && !rightKind(fact, v):
			mayFail = true
		}
	}
	before := writeDocument(s)
	err := s.Merge(writeJSON(object))
	var refused *forge.ValidationError
	switch {
	case err != nil && !errors.As(err, &refused):
		return fmt.Sprintf("Merge fails with %T", err)
	case err != nil && mustFail == "" && !mayFail:
		return "Merge fails: " + err.Error()
	case err == nil && mustFail != "":
		return "Merge takes " + mustFail
	case err != nil:
		if after := writeDocument(s); after != before {
			return "a failed Merge changes " + before + " to " + after
		}
		return ""
	}
	for name, v := range object {
		if slices.Contains(identitySettings, name) {
			continue
		}
		if m.bad[name] || m.perhaps[name] {
			m.uncertain(name)
		}
		if fact := m.facts.byName[name]; fact != nil && !rightKind(fact, v) {
			m.uncertain(name)
		}
		delete(m.removed, name)
		m.edited[name], m.merged[name], m.nulled[name], m.now[name] = true, true, v == nil, copyJSON(v)
	}
	return ""
}

// writeDocument returns the JSON of a document, or the error of Marshal.
func writeDocument(s *forge.ApplicationSettings) string {
	text, err := json.Marshal(s)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
