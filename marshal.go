package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/jsonwrite"
)

// Decisions about JSON that is written from values of response types:
//
//   - A zero field is omitted, since null, absent and zero are the same to a reader of the value. A
//     pointer, a slice, a map and a Nullable are written unless they are nil or not set.
//   - Of a key that is both a field and in Extra, Extra is written if the field is what its value
//     decodes to. Otherwise a program has set the field since, and the field is written.
//   - A value replaces the one before it. encoding/json would merge the two, and leave fields of
//     the first value in the second.
//   - Each type has both methods. One of them alone would let a value through in one direction.
//     Rejected: tags with omitempty and one method that adds Extra by reflection, which treats
//     nil and empty alike.

// encodable is implemented by response types. Their encoders are generated from the structs
// (zz_encode.go). A response type that also comes in another form has a method encodeOther, which
// its encoder calls first, and which reports whether it has written the value.
type encodable interface {
	decodable
	// encodeTo writes the value.
	encodeTo(w *jsonwrite.Writer)
}

// marshalValue implements MarshalJSON.
func marshalValue(v encodable) ([]byte, error) {
	var w jsonwrite.Writer
	v.encodeTo(&w)
	text, err := w.Bytes()
	if err != nil {
		return nil, fmt.Errorf("forge: %s: %w", reflect.TypeOf(v).Elem().Name(), err)
	}
	return text, nil
}

// unmarshalValue implements UnmarshalJSON for v, which is new. ok is false for null, which changes
// nothing. A value of another type is a *json.UnmarshalTypeError; those inside v are in Extra.
func unmarshalValue(data []byte, v decodable) (ok bool, err error) {
	var r jsonread.Reader
	r.Reset(data)
	kind := r.Kind()
	if err := decodeValue(&r, v); err != nil {
		return false, fmt.Errorf("forge: %s: %w", reflect.TypeOf(v).Elem().Name(), err)
	}
	if wrong := r.Mismatches(); len(wrong) > 0 && wrong[0].Pointer == "" {
		return false, &json.UnmarshalTypeError{Value: kind, Type: reflect.TypeOf(v).Elem(), Offset: int64(len(data))}
	}
	return kind != "null", nil
}

// closeObject ends the object of v.
func closeObject(w *jsonwrite.Writer, outer jsonwrite.Object, v encodable, extra map[string]json.RawMessage) {
	if clashes := w.Clashes(); len(clashes) > 0 {
		settleClashes(w, clashes, v, extra)
	}
	w.Close(outer)
}

// settleClashes decides which value is written of keys that are both a field of v and in Extra. The
// raw value is written if the field is as it was decoded from it, zero in most cases.
func settleClashes(w *jsonwrite.Writer, clashes []string, v encodable, extra map[string]json.RawMessage) {
	raw := map[string]json.RawMessage{}
	for _, key := range clashes {
		raw[key] = extra[key]
	}
	var text jsonwrite.Writer
	jsonwrite.Map(raw, &text, jsonwrite.Raw)
	object, err := text.Bytes()
	if err != nil {
		w.Fail(err)
		return
	}
	read := reflect.New(reflect.TypeOf(v).Elem()).Interface().(encodable)
	if err := decodeInto(object, read); err != nil {
		w.Fail(err)
		return
	}
	decoded := jsonwrite.Writer{WithoutExtra: true}
	read.encodeTo(&decoded)
	again, err := decoded.Bytes()
	if err != nil {
		w.Fail(err)
		return
	}
	fields, fromExtra, rest := readMembers(w.Fields()), readMembers(again), maps.Clone(extra)
	for _, key := range clashes {
		if bytes.Equal(fields[key], fromExtra[key]) {
			delete(fields, key)
		} else {
			delete(rest, key)
		}
	}
	w.Settle(filterObject(w.Fields(), func(key string) bool { return fields[key] != nil }), rest)
}

// filterObject returns the object with those keys that keep accepts.
func filterObject(object []byte, keep func(key string) bool) []byte {
	var r jsonread.Reader
	r.Reset(object)
	out, end := append(make([]byte, 0, len(object)), '{'), 0
	for open := r.Object(); open; {
		if end = r.Offset(); !r.Key() {
			break
		}
		wanted := keep(string(r.CurrentKey()))
		if r.Skip(); !wanted {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, bytes.TrimLeft(object[end:r.Offset()], ", \t\r\n")...)
	}
	return append(out, '}')
}
