package forge_test

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"

	forge "github.com/forge-sdk/forge-go"
)

// notSet is a Nullable without a value, in the place of a JSON value.
type notSet struct{}

// settingField is the field of a setting.
func settingField(s *forge.ApplicationSettings, fact *settingFact) reflect.Value {
	return reflect.ValueOf(s).Elem().Field(fact.field)
}

// fieldHolds reports whether a Go type can hold a JSON value. Null is held by all of them.
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

// nullableOf is the T of a Nullable[T].
func nullableOf(t reflect.Type) (inner reflect.Type, nullable bool) {
	get, nullable := t.MethodByName("Get")
	if _, isNull := t.MethodByName("IsNull"); !nullable || !isNull {
		return nil, false
	}
	return get.Type.Out(0), true
}

// setField sets a field to a value that it holds. Null is nil of what has a nil, and otherwise zero.
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
		// Spare room: an append to a copy may then write where the other looks.
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

// target is what a field holds, behind its pointer.
func target(f reflect.Value) reflect.Value {
	if f.Kind() == reflect.Pointer {
		f.Set(reflect.New(f.Type().Elem()))
		return f.Elem()
	}
	return f
}

// fieldJSON is the value of a field by its Go value alone. It uses no method of a settings type but
// those of Nullable.
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

// structJSON is a struct with its Extra. Keys of zero value are omitted.
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

// withoutBlanks is an object without its keys that are blank: whether a key of
// default_branch_protection_defaults is absent or zero is one to a Go struct.
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

// wantedAs compares what a difference wants with what the model wants.
func wantedAs(name string, model, library any) bool {
	if name == "default_branch_protection_defaults" {
		return inForce(withoutBlanks(model), withoutBlanks(library))
	}
	return sameJSON(model, library)
}
