package forge

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// isResponseType reports whether t has a generated decoder. A struct of another package has the
// method decodeFrom if it embeds a response type.
func isResponseType(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[Date]().PkgPath() && reflect.PointerTo(t).Implements(reflect.TypeFor[decodable]())
}

func decodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// typeWalk looks for a type among the types of the values that encoding/json reads or writes.
type typeWalk struct {
	wanted func(reflect.Type) bool
	closed func(reflect.Type) bool // encoding/json calls the type's own method
	seen   map[reflect.Type]bool
}

// find returns the first type that is wanted: t or a type inside; nil if there is none.
func (w *typeWalk) find(t reflect.Type) reflect.Type {
	if w.seen[t] {
		return nil
	}
	w.seen[t] = true
	if w.wanted(t) {
		return t
	}
	if isResponseType(t) || t.Kind() != reflect.Pointer && w.closed(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return w.find(t.Elem())
	case reflect.Struct:
		for f := range t.Fields() {
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
				if found := w.find(f.Type); found != nil {
					return found
				}
			}
		}
	}
	return nil
}

// refuseEmbedded returns why encoding/json cannot read or write values of type t without loss: a
// struct in it embeds a response type. It is "" otherwise.
func refuseEmbedded(t reflect.Type, closed func(reflect.Type) bool) string {
	w := typeWalk{wanted: func(t reflect.Type) bool { return embedded(t, nil) != nil }, closed: closed, seen: map[reflect.Type]bool{}}
	found := w.find(t)
	if found == nil {
		return ""
	}
	response := embedded(found, nil)
	return fmt.Sprintf("%s embeds %s, whose methods hide its other fields from encoding/json: name the field, as in %s %s", found, response, response.Name(), response)
}

// embedded returns the response type that a struct embeds, at any depth; nil if it embeds none. The
// struct itself is embedded in outer: structs can embed pointers to each other.
func embedded(t reflect.Type, outer []reflect.Type) reflect.Type {
	if t.Kind() != reflect.Struct || isResponseType(t) || slices.Contains(outer, t) {
		return nil
	}
	for f := range t.Fields() {
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if !f.Anonymous {
			continue
		}
		if isResponseType(typ) {
			return typ
		}
		if found := embedded(typ, append(slices.Clip(outer), t)); found != nil {
			return found
		}
	}
	return nil
}

// walkedTypes has a bool by type.
var walkedTypes sync.Map

// isWalked reports whether encoding/json alone would lose something of a value: response types
// record what does not fit, and so do structs with an Extra.
func isWalked(t reflect.Type) bool {
	if known, ok := walkedTypes.Load(t); ok {
		return known.(bool)
	}
	w := typeWalk{
		wanted: func(t reflect.Type) bool {
			return isResponseType(t) || t.Kind() == reflect.Struct && !decodesItself(t) && callerStructOf(t).extra != nil
		},
		closed: decodesItself, seen: map[reflect.Type]bool{},
	}
	found := w.find(t) != nil
	walkedTypes.Store(t, found)
	return found
}

// callerStruct has the fields of a caller's struct that encoding/json reads.
type callerStruct struct {
	fields []callerField
	extra  []int // index path of the field Extra; nil if the struct has none
}

type callerField struct {
	key    string
	index  []int
	tagged bool // the key is in its tag
	quoted bool // its tag has the option string
}

// callerStructs has a *callerStruct by type.
var callerStructs sync.Map

func callerStructOf(t reflect.Type) *callerStruct {
	if known, ok := callerStructs.Load(t); ok {
		return known.(*callerStruct)
	}
	s := new(callerStruct)
	s.add(t, nil, nil)
	s.fields = slices.DeleteFunc(slices.Clone(s.fields), func(f callerField) bool { return slices.ContainsFunc(s.fields, f.isHiddenBy) })
	if f, has := t.FieldByName("Extra"); has && f.Tag.Get("json") == "-" && f.Type == reflect.TypeFor[map[string]json.RawMessage]() {
		s.extra = f.Index
	}
	callerStructs.Store(t, s)
	return s
}

// add adds the fields of a struct at an index path, and those of the structs that it embeds. The
// struct itself is embedded in outer, whose fields hide its own if it occurs there again.
func (s *callerStruct) add(t reflect.Type, path []int, outer []reflect.Type) {
	outer = append(slices.Clip(outer), t)
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		typ, index := f.Type, append(slices.Clone(path), f.Index...)
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		switch flat := f.Anonymous && name == "" && typ.Kind() == reflect.Struct; {
		case f.Tag.Get("json") == "-", !f.IsExported() && !flat, flat && slices.Contains(outer, typ):
		case flat:
			s.add(typ, index, outer)
		default:
			field := callerField{key: name, index: index, tagged: name != "", quoted: slices.Contains(strings.Split(options, ","), "string")}
			if name == "" {
				field.key = f.Name
			}
			s.fields = append(s.fields, field)
		}
	}
}

// isHiddenBy reports whether encoding/json ignores f because of another field: of several fields
// with one key, the least deep one counts, or the one with a tag. If that leaves several, none
// counts.
func (f callerField) isHiddenBy(other callerField) bool {
	if other.key != f.key || slices.Equal(other.index, f.index) {
		return false
	}
	return len(other.index) < len(f.index) || len(other.index) == len(f.index) && (other.tagged || !f.tagged)
}

// find returns the field of a key: the exact one, or one in another case; nil if there is none.
func (s *callerStruct) find(key string) *callerField {
	i := slices.IndexFunc(s.fields, func(f callerField) bool { return f.key == key })
	if i < 0 {
		i = slices.IndexFunc(s.fields, func(f callerField) bool { return strings.EqualFold(f.key, key) })
	}
	if i < 0 {
		return nil
	}
	return &s.fields[i]
}

// extraOf returns the field Extra of a struct; nil if it has none.
func (s *callerStruct) extraOf(v reflect.Value) *map[string]json.RawMessage {
	if s.extra == nil {
		return nil
	}
	extra, err := allocated(v, s.extra)
	if err != nil || !extra.CanSet() {
		return nil
	}
	return extra.Addr().Interface().(*map[string]json.RawMessage)
}

// allocated returns the field at an index path, and creates the embedded structs that it is in.
func allocated(v reflect.Value, index []int) (reflect.Value, error) {
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() && !v.CanSet() {
				return v, fmt.Errorf("cannot set the embedded pointer to an unexported struct: %s", v.Type().Elem())
			}
			if v.IsNil() {
				v.Set(reflect.New(v.Type().Elem()))
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v, nil
}
