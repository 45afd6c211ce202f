package forge

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// Decisions about JSON that is written from values of response types:
//
//   - A zero field is omitted, since null, absent and zero are the same to a reader of the value. A
//     pointer, a slice, a map and a Nullable are written unless they are nil or not set.
//   - Of a key that is both a field and in Extra, Extra is written if the field is what its value
//     decodes to. Otherwise a program has set the field since, and the field is written.
//   - A value replaces the one before it. encoding/json would merge the two, and leave fields of
//     the first value in the second.
//   - The methods are generated (zz_marshal.go); what they do is reflection. Rejected: generated
//     encoders, which add 100 kB to a program that reads one issue, and the tag omitzero, since a
//     type that embeds another one would still have its methods.

// otherForm is implemented by types that also come in another form than an object, for which they
// have decodeOther.
type otherForm interface {
	// otherForm returns the value to write instead, or false.
	otherForm() (any, bool)
}

// valueWriter writes the JSON of a response type. encoding/json writes most values inside.
type valueWriter struct {
	text []byte
	err  error
}

// marshalValue implements MarshalJSON for a response type.
func marshalValue(v any) ([]byte, error) {
	var w valueWriter
	w.value(reflect.ValueOf(v))
	return w.text, w.err
}

// unmarshalValue implements UnmarshalJSON. It replaces *v, a response type; null changes nothing. A
// value of another JSON type is a *json.UnmarshalTypeError; values inside v are in Extra then.
func unmarshalValue(data []byte, v decodable) error {
	var r jsonread.Reader
	r.Reset(data)
	if reflect.ValueOf(v).IsNil() { // a nil pointer is embedded
		return &json.InvalidUnmarshalError{Type: reflect.TypeOf(v)}
	}
	value := reflect.ValueOf(v).Elem()
	read := reflect.New(value.Type())
	kind := r.Kind()
	switch err := decodeValue(&r, read.Interface()); {
	case err != nil:
		return errors.New("forge: " + err.Error())
	case len(r.Mismatches()) > 0 && r.Mismatches()[0].Pointer == "":
		return &json.UnmarshalTypeError{Value: kind, Type: value.Type(), Offset: int64(len(data))}
	case kind != "null":
		value.Set(read.Elem())
	}
	return nil
}

// value writes a value of a response type, or of the type of a field of one.
func (w *valueWriter) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		w.text = strconv.AppendBool(w.text, v.Bool())
		return
	case reflect.Int, reflect.Int64:
		w.text = strconv.AppendInt(w.text, v.Int(), 10)
		return
	case reflect.String:
		w.string(v.String())
		return
	case reflect.Struct:
		if t := responseTypeOf(v.Type()); t != nil {
			w.object(v, t)
			return
		}
	}
	w.encode(v.Interface())
}

// encode writes a value with encoding/json.
func (w *valueWriter) encode(v any) {
	if at, isTime := v.(time.Time); isTime {
		v = writable(at)
	}
	text, err := json.Marshal(v)
	if w.text = append(w.text, text...); err != nil && w.err == nil {
		w.err = err
	}
}

// writable returns the time in UTC if its offset has seconds: RFC 3339 has none.
func writable(t time.Time) time.Time {
	if _, offset := t.Zone(); offset%60 != 0 {
		return t.UTC()
	}
	return t
}

// string writes a string. encoding/json escapes HTML in the result, if its caller wants that.
func (w *valueWriter) string(s string) {
	plain := 0 // bytes at the start that need no escape: all of most strings
	for plain < len(s) && s[plain] >= ' ' && s[plain] < utf8.RuneSelf && s[plain] != '"' && s[plain] != '\\' {
		plain++
	}
	w.text = append(append(w.text, '"'), s[:plain]...)
	for _, r := range s[plain:] {
		switch {
		case r == '"' || r == '\\':
			w.text = append(w.text, '\\', byte(r))
		case r < ' ' || r == '\u2028' || r == '\u2029': // JavaScript once took these two as line ends
			const hex = "0123456789abcdef"
			w.text = append(w.text, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		default:
			w.text = utf8.AppendRune(w.text, r)
		}
	}
	w.text = append(w.text, '"')
}

// key writes the key of the next value.
func (w *valueWriter) key(key string) {
	if w.text[len(w.text)-1] != '{' { // no value ends with it
		w.text = append(w.text, ',')
	}
	w.string(key)
	w.text = append(w.text, ':')
}

// object writes a response type.
func (w *valueWriter) object(v reflect.Value, t *responseType) {
	if t.other {
		if form, is := v.Interface().(otherForm).otherForm(); is {
			w.encode(form)
			return
		}
	}
	extra, _ := fieldAt(v, t.extra).Interface().(map[string]json.RawMessage)
	set := t.setFields(v, extra)
	w.text = append(w.text, '{')
	for _, f := range t.fields {
		field := fieldAt(v, f.index)
		if _, raw := extra[f.key]; raw && !set[f.key] || isOmitted(field) {
			continue
		}
		before := len(w.text)
		w.key(f.key)
		if w.value(field); field.Kind() == reflect.Struct && string(w.text[len(w.text)-3:]) == ":{}" {
			w.text = w.text[:before]
		}
	}
	for _, key := range slices.Sorted(maps.Keys(extra)) {
		if !set[key] {
			w.key(key)
			w.encode(extra[key])
		}
	}
	w.text = append(w.text, '}')
}

func fieldAt(v reflect.Value, index []int) reflect.Value {
	for _, i := range index {
		v = v.Field(i)
	}
	return v
}

// isOmitted reports whether a field is zero.
func isOmitted(field reflect.Value) bool {
	switch field.Type() {
	case reflect.TypeFor[time.Time]():
		return field.Interface().(time.Time).IsZero()
	case reflect.TypeFor[json.RawMessage]():
		return field.Len() == 0 || string(field.Bytes()) == "null"
	}
	return field.IsZero()
}

// responseType has the fields of a response type in the order of the struct.
type responseType struct {
	fields []responseField
	extra  []int
	other  bool // it is an otherForm
}

type responseField struct {
	key   string
	index []int
}

// responseTypes has a *responseType by type; nil for other types.
var responseTypes sync.Map

func responseTypeOf(t reflect.Type) *responseType {
	if known, ok := responseTypes.Load(t); ok {
		return known.(*responseType)
	}
	found := &responseType{other: t.Implements(reflect.TypeFor[otherForm]())}
	if found.add(t, nil); found.extra == nil {
		found = nil
	}
	responseTypes.Store(t, found)
	return found
}

// add adds the fields of t, which is at the index path of the type.
func (r *responseType) add(t reflect.Type, path []int) {
	for i := range t.NumField() {
		f, index := t.Field(i), append(slices.Clip(path), i)
		switch key := jsonName(f); {
		case f.Anonymous:
			r.add(f.Type, index)
		case key != "":
			r.fields = append(r.fields, responseField{key, index})
		case f.Name == "Extra":
			r.extra = index
		}
	}
}

// jsonName returns the JSON key of a field; "" if it has none.
func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "-" {
		return ""
	}
	return name
}

// setFields returns the keys in extra whose field a program has set: it differs from what the raw
// value decodes to.
func (r *responseType) setFields(v reflect.Value, extra map[string]json.RawMessage) (set map[string]bool) {
	for _, f := range r.fields {
		raw, both := extra[f.key]
		if !both {
			continue
		}
		read := reflect.New(v.Type())
		object, err := json.Marshal(map[string]json.RawMessage{f.key: raw})
		if err != nil || decodeInto(object, read.Interface()) != nil {
			continue // the caller finds the error
		}
		var now, before valueWriter // as text: white space in raw values may differ
		now.value(fieldAt(v, f.index))
		if before.value(fieldAt(read.Elem(), f.index)); string(now.text) != string(before.text) {
			if set == nil {
				set = map[string]bool{}
			}
			set[f.key] = true
		}
	}
	return set
}

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
		if isSameField(field, old) && (!isNew || canBeNil(field.Kind())) {
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

func canBeNil(k reflect.Kind) bool {
	return k == reflect.Slice || k == reflect.Map || k == reflect.Pointer
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
