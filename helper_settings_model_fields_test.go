package forge_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"

	forge "github.com/forge-sdk/forge-go"
)

// notSet stands for a Nullable without a value among JSON values.
type notSet struct{}

// settingField returns the field of a setting.
func settingField(s *forge.ApplicationSettings, fact *settingFact) reflect.Value {
	return reflect.ValueOf(s).Elem().Field(fact.field)
}

// fieldHolds reports whether a Go type can hold a JSON value. Every type can hold null.
func fieldHolds(t reflect.Type, v any) bool {
	if v == nil || t == reflect.TypeFor[json.RawMessage]() {
		return true
	}
	if inner, nullable := nullableOf(t); nullable {
		return fieldHolds(inner, v)
	}
	switch v := v.(type) {
	case bool:
		return kindOf(t) == reflect.Bool
	case string:
		return kindOf(t) == reflect.String
	case json.Number:
		_, err := strconv.ParseInt(v.String(), 10, 64)
		return kindOf(t) == reflect.Float64 || err == nil && (kindOf(t) == reflect.Int || kindOf(t) == reflect.Int64)
	case []any:
		return kindOf(t) == reflect.Slice && !slices.ContainsFunc(v, func(e any) bool { return e == nil || !fieldHolds(elem(t), e) })
	case map[string]any:
		if kindOf(t) != reflect.Map {
			return kindOf(t) == reflect.Struct
		}
		if elem(t) == reflect.TypeFor[json.RawMessage]() {
			return true
		}
		for _, e := range v {
			if e == nil || !fieldHolds(elem(t), e) {
				return false
			}
		}
		return true
	}
	return false
}

func kindOf(t reflect.Type) reflect.Kind {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind()
}

func elem(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Elem()
}

// nullableOf returns the T of a Nullable[T].
func nullableOf(t reflect.Type) (inner reflect.Type, nullable bool) {
	get, nullable := t.MethodByName("Get")
	if _, isNull := t.MethodByName("IsNull"); !nullable || !isNull {
		return nil, false
	}
	return get.Type.Out(0), true
}

// setField sets a field to a value that it can hold. Null is nil if the type has nil, and otherwise
// the zero value.
func setField(f reflect.Value, v any) {
	f.SetZero()
	switch v := v.(type) {
	case nil:
		if _, nullable := nullableOf(f.Type()); nullable {
			if err := f.Addr().Interface().(json.Unmarshaler).UnmarshalJSON([]byte("null")); err != nil {
				panic(err)
			}
		}
	case notSet:
	case []any:
		if f.Type() == reflect.TypeFor[json.RawMessage]() {
			f.SetBytes(writeJSON(v))
			return
		}
		// With spare capacity an append to a copy may write into the memory of the original.
		f = target(f)
		f.Set(reflect.MakeSlice(f.Type(), len(v), len(v)+2))
		for i, e := range v {
			setField(f.Index(i), e)
		}
	default:
		f = target(f)
		if err := json.Unmarshal(writeJSON(v), f.Addr().Interface()); err != nil {
			panic(fmt.Sprintf("%s into %s: %v", writeJSON(v), f.Type(), err))
		}
	}
}

// target returns the value of a field, or the value to which its pointer points.
func target(f reflect.Value) reflect.Value {
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		return f.Elem()
	}
	return f
}

// fieldJSON returns the JSON value of a field, derived from its Go value. Of the settings types it
// uses only the methods of Nullable.
func fieldJSON(f reflect.Value) any {
	if _, nullable := nullableOf(f.Type()); nullable {
		if f.IsZero() {
			return notSet{}
		}
		out := f.MethodByName("Get").Call(nil)
		if !out[1].Bool() {
			return nil
		}
		return fieldJSON(out[0])
	}
	if f.Type() == reflect.TypeFor[json.RawMessage]() {
		if v, err := readJSON(f.Bytes()); err == nil {
			return v
		}
		return nil
	}
	switch f.Kind() {
	case reflect.Bool:
		return f.Bool()
	case reflect.String:
		return f.String()
	case reflect.Int, reflect.Int64:
		return json.Number(strconv.FormatInt(f.Int(), 10))
	case reflect.Float64:
		if math.IsNaN(f.Float()) {
			return "NaN"
		}
		return json.Number(strconv.FormatFloat(f.Float(), 'g', -1, 64))
	case reflect.Pointer, reflect.Slice, reflect.Map:
		if f.IsNil() {
			return nil
		}
	}
	switch f.Kind() {
	case reflect.Pointer:
		return fieldJSON(f.Elem())
	case reflect.Slice:
		list := []any{}
		for i := range f.Len() {
			list = append(list, fieldJSON(f.Index(i)))
		}
		return list
	case reflect.Map:
		object := map[string]any{}
		for _, k := range f.MapKeys() {
			object[k.String()] = fieldJSON(f.MapIndex(k))
		}
		return object
	case reflect.Struct:
		return structJSON(f)
	}
	panic(fmt.Sprintf("no kind of setting: %s", f.Type()))
}

// structJSON returns the JSON value of a struct with its Extra. Keys with a zero value are omitted.
func structJSON(f reflect.Value) any {
	object := map[string]any{}
	for i := range f.NumField() {
		if f.Type().Field(i).Name == "Extra" {
			for name, raw := range f.Field(i).Interface().(map[string]json.RawMessage) {
				object[name], _ = readJSON(raw)
			}
			continue
		}
		if v := fieldJSON(f.Field(i)); !f.Field(i).IsZero() {
			name := f.Type().Field(i).Tag.Get("json")
			object[name] = v
		}
	}
	return object
}

// withoutBlanks returns an object without its blank keys: in the Go struct of
// default_branch_protection_defaults an absent key and a zero value are the same.
func withoutBlanks(v any) any {
	object, isObject := v.(map[string]any)
	if !isObject {
		return v
	}
	rest := map[string]any{}
	for name, e := range object {
		if !blank(e) {
			rest[name] = e
		}
	}
	return rest
}

// wantedAs compares the wanted value of a difference with that of the model.
func wantedAs(name string, model, library any) bool {
	if name == "default_branch_protection_defaults" {
		return inForce(withoutBlanks(model), withoutBlanks(library))
	}
	return sameJSON(model, library)
}

// settingsPlan is the expected result of the edits of a document.
type settingsPlan struct {
	fails    string            // why Err must not be nil
	mayFail  string            // why Err or Apply may fail
	missing  string            // why Apply must fail: a companion without a value
	conflict [][]string        // pairs of names; the error must have one of them
	want     map[string]any    // by the name that is not deprecated
	alias    map[string]string // the name that is sent, if it is the deprecated one
	send     map[string]bool   // names of want that are sent
	maySend  map[string]bool   // names that may be sent or not
	notSent  map[string]forge.SettingReason
	must     map[string]any  // companions that are sent
	may      map[string]bool // names that may be in the update and in the report, with any value
}

// plan computes the expected result of the edits. sendable reports whether the vocabulary can send
// a name.
func (m *settingsModel) plan(sendable func(name string) bool) *settingsPlan {
	p := &settingsPlan{want: map[string]any{}, alias: map[string]string{}, send: map[string]bool{}, maySend: map[string]bool{},
		notSent: map[string]forge.SettingReason{}, must: map[string]any{}, may: map[string]bool{}}
	for name := range m.edited {
		v, has := m.now[name]
		base, shown := m.base[name]
		switch {
		case m.bad[name]:
			p.fails = "the edit of " + name
		case m.unclear[name] || m.perhaps[name]:
			p.unclear(name)
		case m.removed[name]:
			p.notSent[name] = forge.SettingNotSettable
		case !has || shown && sameJSON(v, base):
		default:
			p.want[name] = v
			p.send[name], p.maySend[name] = true, shown && inForce(v, base)
			if !sendable(name) {
				p.mayFail = name + " has no word"
			}
		}
	}
	for name := range m.unclear {
		p.unclear(name)
	}
	for name := range m.perhaps {
		p.mayFail = "an edit of " + name
	}
	for name := range m.renamed {
		p.unclear(name)
	}
	for name := range m.own {
		p.notSent[name] = forge.SettingNotSettable
	}
	for _, old := range slices.Sorted(maps.Keys(settingAliases)) {
		p.aliases(m, old, settingAliases[old])
	}
	for _, old := range slices.Sorted(maps.Keys(settingReplacements)) {
		for _, replacement := range settingReplacements[old] {
			p.replaced(old, replacement)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(m.facts.companions)) {
		p.companions(m, name)
	}
	p.needs(m)
	return p
}

func (p *settingsPlan) unclear(name string) {
	p.may[name] = true
	p.mayFail = "unclear edits of " + name
	delete(p.want, name)
	for old, replacement := range settingAliases {
		if name == old || name == replacement {
			p.may[old], p.may[replacement] = true, true
		}
	}
}

// aliases combines the edits of the two names of a setting.
func (p *settingsPlan) aliases(m *settingsModel, old, name string) {
	a, oldEdited := p.want[old]
	b, edited := p.want[name]
	if p.may[old] || p.may[name] {
		delete(p.want, old)
		delete(p.want, name)
		return
	}
	if !oldEdited && !edited {
		return
	}
	delete(p.want, old)
	moved := underOtherName(name, a)
	_, isText := moved.(string)
	switch {
	case oldEdited && old == "signin_enabled" && isText: // neither "true" nor "false"
		p.unclear(name)
		delete(p.want, name)
		return
	case oldEdited && edited && !inForce(moved, b):
		p.fails, p.conflict = old+" and "+name+" differ", append(p.conflict, []string{old, name})
		return
	case oldEdited && edited && !sameJSON(moved, b):
		p.mayFail, p.maySend[name] = old+" and "+name+" are not quite the same", true
	case oldEdited && !edited:
		p.want[name], p.send[name] = moved, true
		shown, isShown := m.base[name]
		p.maySend[name] = p.maySend[old] || isShown && inForce(moved, shown)
	}
	past, oldShown := m.base[old]
	if _, shown := m.base[name]; oldShown && !shown {
		p.alias[name] = old
		if inForce(p.want[name], underOtherName(name, past)) {
			p.maySend[name] = true
		}
	}
}

// replaced removes a deprecated setting if its replacement is sent.
func (p *settingsPlan) replaced(old, name string) {
	a, oldEdited := p.want[old]
	b, edited := p.want[name]
	switch {
	case p.may[old] && (edited || p.may[name]), oldEdited && p.may[name]:
		p.mayFail, p.may[old] = "unclear edits of "+old+" or "+name, true
		delete(p.want, old)
	case !oldEdited || !edited:
	case !inForce(a, b):
		p.fails, p.conflict = old+" and "+name+" differ", append(p.conflict, []string{old, name})
	case !sameJSON(a, b):
		p.mayFail, p.may[old] = old+" and "+name+" are not quite the same", true
	default:
		p.notSent[old] = forge.SettingDeprecated
		p.send[old] = false
	}
}

// companions adds the settings that are required to enable a setting.
func (p *settingsPlan) companions(m *settingsModel, name string) {
	fact := m.facts.byName[name]
	enabled := p.want[name] == true && p.send[name]
	for _, companion := range m.facts.companions[name] {
		value, shown := m.base[companion]
		_, edited := p.want[companion]
		other := m.facts.byName[companion]
		switch {
		case p.may[name]:
			p.may[companion], p.mayFail = true, "perhaps "+name+" requires "+companion
		case !enabled || edited && p.send[companion] && !p.maySend[companion]:
		case p.maySend[name] || fact == nil || p.may[companion] || edited || m.edited[companion] || shown && (blank(value) || !rightKind(other, value)):
			p.may[companion], p.mayFail = true, "perhaps "+name+" requires "+companion
		case shown:
			p.must[companion] = value
		case len(other.tiers) == 0:
			p.missing = name + " requires " + companion
		}
	}
}

// needs applies the rule that unconfirmed_users_delete_after_days works only with
// delete_unconfirmed_users.
func (p *settingsPlan) needs(m *settingsModel) {
	_, edited := p.want["unconfirmed_users_delete_after_days"]
	if p.want["delete_unconfirmed_users"] == true || !edited && !p.may["unconfirmed_users_delete_after_days"] {
		return
	}
	if m.base["delete_unconfirmed_users"] == true {
		if !m.edited["delete_unconfirmed_users"] {
			p.may["delete_unconfirmed_users"] = true // may be sent as a companion
		}
		return
	}
	p.may["delete_unconfirmed_users"], p.mayFail = true, "unconfirmed_users_delete_after_days needs delete_unconfirmed_users"
}

// sent returns the changes that must and may be sent, without companions.
func (p *settingsPlan) sent() (must, may map[string]any) {
	must, may = map[string]any{}, map[string]any{}
	for name, v := range p.want {
		switch {
		case p.may[name] || p.maySend[name]:
			may[name] = v
		case p.send[name]:
			must[name] = v
		}
	}
	return must, may
}
