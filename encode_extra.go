package forge

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"
	"unicode/utf8"
)

// maxNesting is the depth to which a caller's value is encoded. encoding/json overflows the stack
// of the process with a deeper one, and the library with a value that contains itself.
const maxNesting = 1000

// extender is implemented by options that take parameters without a field.
type extender interface{ extra() map[string]any }

// withExtra adds the parameters without a field to the encoded options.
func withExtra(options any, object []byte) ([]byte, error) {
	more, ok := options.(extender)
	if !ok {
		return object, nil
	}
	return mergeExtra(object, more.extra())
}

// mergeExtra adds keys to an object. A key that a field has set is an error: the two would
// contradict each other.
func mergeExtra(object []byte, extra map[string]any) ([]byte, error) {
	if len(extra) == 0 {
		return object, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	for name, value := range extra {
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("the map Extra holds %q, which a field sets too: remove one of them", name)
		}
		text, err := marshalExtra(name, value)
		if err != nil {
			return nil, fmt.Errorf("%q in the map Extra: %w", name, err)
		}
		members[name] = text
	}
	return json.Marshal(members)
}

// membersOf encodes options as a JSON object, including the keys of its Extra, and splits
// it by key.
func membersOf(options any) (map[string]json.RawMessage, error) {
	data, err := marshalCallers(options)
	if err == nil {
		data, err = withExtra(options, data)
	}
	members := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(data, &members)
	}
	if err != nil {
		return nil, &ValidationError{Option: optionsName(options), Reason: "it cannot be encoded as JSON: " + err.Error()}
	}
	return members, nil
}

// marshalExtra encodes a value of Extra.
func marshalExtra(name string, value any) ([]byte, error) {
	if err := checkNesting(value); err != nil {
		return nil, err
	}
	form, err := extraValue(name, reflect.ValueOf(value))
	if err != nil {
		return nil, err
	}
	return json.Marshal(form)
}

// extraValue returns a value of Extra in the form that a typed field would have: with times in UTC
// and durations in seconds, also inside pointers, slices, maps and structs.
func extraValue(key string, v reflect.Value) (form any, err error) {
	if !v.IsValid() {
		return nil, nil
	}
	if form, converted, err := wireForm(key, v.Interface()); converted {
		return form, err
	}
	switch {
	case !holdsTimes(v.Type(), nil):
	case v.Kind() == reflect.Struct:
		return extraStruct(v)
	case v.Kind() != reflect.Array && v.IsNil():
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface:
		return extraValue(key, v.Elem())
	case v.Kind() == reflect.Map:
		all := reflect.MakeMap(reflect.MapOf(v.Type().Key(), reflect.TypeFor[any]()))
		for name, item := range v.Seq2() {
			if form, err = extraValue(key, item); err != nil {
				return nil, err
			}
			all.SetMapIndex(name, boxed(form))
		}
		return all.Interface(), nil
	default:
		all := make([]any, v.Len())
		for i := range all {
			if all[i], err = extraValue(key, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
	return v.Interface(), nil
}

// boxed returns a value of type any, also for nil.
func boxed(value any) reflect.Value { return reflect.ValueOf(&value).Elem() }

// extraStruct encodes a struct with encoding/json, and replaces the fields that hold times.
func extraStruct(v reflect.Value) (any, error) {
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return nil, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, err
	}
	for _, f := range callerStructOf(v.Type()).fields {
		if _, sent := members[f.key]; !sent { // it is zero, or in a nil pointer
			continue
		}
		field := v.FieldByIndex(f.index)
		if !holdsTimes(field.Type(), nil) {
			continue
		}
		form, err := extraValue(f.key, field)
		if err != nil {
			return nil, err
		}
		if members[f.key], err = json.Marshal(form); err != nil {
			return nil, err
		}
	}
	return members, nil
}

// wireForm returns the form of values that the API expects and encoding/json does not write: times
// in UTC with milliseconds, and durations in seconds.
func wireForm(key string, value any) (form any, converted bool, err error) {
	switch value := value.(type) {
	case time.Time:
		form, err = writeTime(value, timeLayout, key)
		return form, true, err
	case time.Duration:
		if value <= 0 || value%time.Second != 0 {
			return nil, true, errors.New(value.String() + " is not a positive number of whole seconds: multiply by a unit, as in 1*time.Hour")
		}
		return int64(value / time.Second), true, nil
	case Nullable[time.Duration]:
		if d, set := value.Get(); set {
			return wireForm(key, d)
		}
		return nil, true, nil
	case Nullable[time.Time]:
		if at, set := value.Get(); set {
			return wireForm(key, at)
		}
		return nil, true, nil
	}
	return nil, false, nil
}

// holdsTimes reports whether a value of the type can hold a value that wireForm converts.
func holdsTimes(t reflect.Type, seen map[reflect.Type]bool) bool {
	if _, converted, _ := wireForm("", reflect.Zero(t).Interface()); converted || t.Kind() == reflect.Interface {
		return true
	}
	if seen[t] || t.Kind() != reflect.Pointer && encodesItself(t) {
		return false
	}
	if seen == nil {
		seen = map[reflect.Type]bool{}
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return holdsTimes(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if (f.IsExported() || f.Anonymous) && holdsTimes(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// encodesItself reports whether encoding/json calls a method of the type, or of a pointer to it.
func encodesItself(t reflect.Type) bool {
	for _, with := range []reflect.Type{t, reflect.PointerTo(t)} {
		if with.Implements(reflect.TypeFor[json.Marshaler]()) || with.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return true
		}
	}
	return false
}

// marshalCallers is json.Marshal for a value of the caller. It rejects one that contains itself, or
// is nested deeper than maxNesting. It does not look into types that encode themselves.
func marshalCallers(value any) ([]byte, error) {
	if err := checkNesting(value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

func checkNesting(value any) error {
	if isNestedDeeper(reflect.ValueOf(value), maxNesting) {
		return fmt.Errorf("it contains itself, or is nested more than %d levels deep", maxNesting)
	}
	return nil
}

func isNestedDeeper(v reflect.Value, levels int) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice, reflect.Array, reflect.Struct:
	default:
		return false
	}
	switch {
	case levels == 0:
		return true
	case v.Kind() == reflect.Interface, v.Kind() == reflect.Pointer:
		return isNestedDeeper(v.Elem(), levels-1)
	case encodesItself(v.Type()):
	case v.Kind() == reflect.Map:
		for _, item := range v.Seq2() {
			if isNestedDeeper(item, levels-1) {
				return true
			}
		}
	case v.Kind() == reflect.Struct:
		for f, field := range v.Fields() {
			if (f.IsExported() || f.Anonymous) && isNestedDeeper(field, levels-1) {
				return true
			}
		}
	default:
		for i := range v.Len() {
			if isNestedDeeper(v.Index(i), levels-1) {
				return true
			}
		}
	}
	return false
}

// textPlace is a pointer, map or slice that isUTF8 has followed. Types that encode themselves can
// hold one to a value that contains them.
type textPlace struct {
	at  uintptr
	len int
}

// isUTF8 reports whether all texts in a value are UTF-8.
func isUTF8(v reflect.Value, seen map[textPlace]bool) bool {
	place := textPlace{}
	switch v.Kind() {
	case reflect.String:
		return utf8.ValidString(v.String())
	case reflect.Pointer:
		place.at = v.Pointer()
	case reflect.Slice, reflect.Map:
		place = textPlace{v.Pointer(), v.Len()}
	}
	if place.at != 0 && seen[place] {
		return true
	}
	seen[place] = true
	within := func(v reflect.Value) bool { return isUTF8(v, seen) }
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || within(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !within(v.Index(i)) {
				return false
			}
		}
	case reflect.Map:
		for key, item := range v.Seq2() {
			if !within(key) || !within(item) {
				return false
			}
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			if !within(field) {
				return false
			}
		}
	}
	return true
}
