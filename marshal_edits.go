package forge

import (
	"encoding/json"
	"reflect"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// writeEdits changes an object as a program has changed the value that was decoded from it: the
// keys of Extra, and the fields. A new object gets all fields that are not nil. If a value cannot
// be encoded, writeEdits returns its key.
func writeEdits(object map[string]json.RawMessage, now, was reflect.Value, isNew bool) (key string, err error) {
	t := responseTypeOf(now.Type())
	extra, before := fieldAt(now, t.extra).Interface().(map[string]json.RawMessage), fieldAt(was, t.extra).Interface().(map[string]json.RawMessage)
	for name := range before {
		if _, kept := extra[name]; !kept {
			delete(object, name)
		}
	}
	for name, value := range extra {
		if !jsonread.Equal(before[name], value) {
			object[name] = value
		}
	}
	for _, f := range t.fields { // after Extra, which has the former value of a field that could not hold it
		field, old := fieldAt(now, f.index), fieldAt(was, f.index)
		if isSameField(field, old) && (!isNew || isNilValue(field)) {
			continue
		}
		if object[f.key], err = encodeEdited(field, old, object[f.key]); err != nil {
			return f.key, err
		}
	}
	return "", nil
}

// encodeEdited encodes a value that a program may have changed. Parts of objects that it did not
// change stay as read.
func encodeEdited(now, was reflect.Value, read json.RawMessage) (json.RawMessage, error) {
	isList := now.Kind() == reflect.Slice
	switch {
	case isList && now.IsNil():
		return json.RawMessage("[]"), nil
	case now.Kind() == reflect.Map && now.IsNil():
		return json.RawMessage("{}"), nil
	case isResponseStruct(now.Type()):
		object := jsonread.Members(read)
		if _, err := writeEdits(object, now, was, read == nil); err != nil {
			return nil, err
		}
		return json.Marshal(object)
	case isList && isResponseStruct(now.Type().Elem()):
		return encodeEditedList(now, was, read)
	}
	var w valueWriter
	w.encode(now.Interface())
	return w.text, w.err
}

func isResponseStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && responseTypeOf(t) != nil
}

// encodeEditedList encodes a list of objects, each compared with the one at its index. If elements
// of another type were omitted, indexes do not correspond, and all objects are new.
func encodeEditedList(now, was reflect.Value, read json.RawMessage) (_ json.RawMessage, err error) {
	var items []json.RawMessage
	if json.Unmarshal(read, &items) != nil || len(items) != was.Len() {
		items = nil
	}
	list := make([]json.RawMessage, now.Len())
	for i := range list {
		old, item := reflect.Zero(now.Type().Elem()), json.RawMessage(nil)
		if i < len(items) {
			old, item = was.Index(i), items[i]
		}
		if list[i], err = encodeEdited(now.Index(i), old, item); err != nil {
			return nil, err
		}
	}
	return json.Marshal(list)
}

func isNilValue(v reflect.Value) bool {
	return (v.Kind() == reflect.Slice || v.Kind() == reflect.Map || v.Kind() == reflect.Pointer) && v.IsNil()
}

// isSameField is reflect.DeepEqual for two fields of one type, without an allocation for most
// types.
func isSameField(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Bool, reflect.Int, reflect.Int64, reflect.String:
		return a.Equal(b)
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			return isSameField(a.Elem(), b.Elem())
		}
	}
	return reflect.DeepEqual(a.Interface(), b.Interface())
}
