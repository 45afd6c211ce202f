package forge

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// Decisions about callers' types:
//
//   - They are strict: a value of another type is an error, unless a struct around it has the field
//     Extra map[string]json.RawMessage with the tag json:"-", which keeps it, as in response types.
//     Numbers, booleans and timestamps are read there in the forms that response types accept.
//   - encoding/json decodes them. Where it reports an error, and in types that contain response
//     types or an Extra, arrays, maps and structs are walked here, and encoding/json decodes what
//     they hold: it stops at the first error of a method UnmarshalJSON, and Go releases name the
//     place of an error in different ways. Each part of a text is passed to it twice at most.
//   - A struct that embeds a response type is refused: it has the methods of this type, so
//     encoding/json ignores its other fields. Reflection does not show whether a method was written
//     or promoted, so a struct with its own UnmarshalJSON is refused, too.

// misfitError is a value that does not fit a caller's type.
type misfitError struct {
	pointer, got string
	typ          reflect.Type
	cause        error // of encoding/json, or of a method of the type; nil for a response type
}

// Error names the place and both types. The text of a method of the type is added.
func (e *misfitError) Error() string {
	text := fmt.Sprintf("%s is a JSON %s, and its Go type is %s", safetext.Printable(e.pointer), e.got, e.typ)
	var wrong *json.UnmarshalTypeError
	if e.cause != nil && decodesItself(e.typ) && !errors.As(e.cause, &wrong) {
		text += ": " + safetext.Clean(e.cause.Error(), 256)
	}
	return text
}

// Unwrap returns the error of encoding/json, or of a method of the type.
func (e *misfitError) Unwrap() error { return e.cause }

// callerDecoder decodes one value.
type callerDecoder struct {
	r     *jsonread.Reader
	walks bool // encoding/json has failed on the value, or on one around it
	kept  int  // structs with an Extra around the value
	count int  // values that do not fit
	err   error
}

// unmarshalForeign decodes into a type without a generated decoder. ok is false for null and for a
// value of another type.
func unmarshalForeign(v any, r *jsonread.Reader) (ok bool, err error) {
	if r.Null() {
		return false, nil
	}
	d := callerDecoder{r: r}
	ok = d.value(reflect.ValueOf(v).Elem())
	if r.Err() != nil {
		return false, r.Err()
	}
	return ok, d.err
}

// value reads the next value into v. It returns false for a value of another type.
func (d *callerDecoder) value(v reflect.Value) bool {
	t, kind := v.Type(), d.r.Kind()
	if isResponseType(t) {
		return d.response(v, kind)
	}
	if ok, read := d.tolerant(v); read {
		return ok
	}
	if !d.walks && !isWalked(t) {
		text := d.r.View()
		err := unmarshal(text, v)
		if err == nil || d.r.Err() != nil {
			return err == nil
		}
		d.r.Back(text)
		d.walks = true
		defer func() { d.walks = false }()
		if before := d.count; !d.parts(v, kind) || d.count > before || d.kept > 0 {
			return d.count == before
		}
		return d.misfit(v, kind, err) // each part fits, but not the whole
	}
	return d.parts(v, kind)
}

// tolerant reads a value of a simple type in a struct with an Extra as response types do. read is
// false elsewhere, and for other types.
func (d *callerDecoder) tolerant(v reflect.Value) (ok, read bool) {
	switch t := v.Type(); {
	case d.kept == 0:
		return false, false
	case t == reflect.TypeFor[time.Time]():
		ok = jsonread.Time(v.Addr().Interface().(*time.Time), d.r)
	case decodesItself(t):
		return false, false
	case t.Kind() == reflect.String:
		var text string
		ok = jsonread.Text(&text, d.r)
		v.SetString(text)
	case t.Kind() == reflect.Bool:
		var flag bool
		ok = jsonread.Bool(&flag, d.r)
		v.SetBool(flag)
	case t.Kind() == reflect.Int64, t.Kind() == reflect.Int:
		var n int64
		ok = jsonread.Int(&n, d.r)
		v.SetInt(n)
	case t.Kind() == reflect.Float64:
		var n float64
		ok = jsonread.Float(&n, d.r)
		v.SetFloat(n)
	default:
		return false, false
	}
	if ok = ok || d.r.WasNull(); !ok {
		d.count++
	}
	return ok, true
}

// parts is value for a value whose parts are decoded one by one.
func (d *callerDecoder) parts(v reflect.Value, kind string) bool {
	switch t := v.Type(); {
	case kind == "null" || decodesItself(t):
	case t.Kind() == reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(t.Elem()))
		}
		ok := d.value(v.Elem())
		if !ok {
			v.SetZero()
		}
		return ok
	case kind == "array" && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array):
		d.elements(v)
		return true
	case kind == "object" && t.Kind() == reflect.Map:
		d.entries(v)
		return true
	case kind == "object" && t.Kind() == reflect.Struct:
		d.fields(v)
		return true
	}
	text := d.r.View()
	if err := unmarshal(text, v); err != nil && d.r.Err() == nil {
		return d.misfit(v, kind, err)
	}
	return d.r.Err() == nil
}

func unmarshal(text []byte, v reflect.Value) error {
	return json.Unmarshal(text, v.Addr().Interface())
}

// misfit records that the value just read does not fit v. It returns false.
func (d *callerDecoder) misfit(v reflect.Value, got string, cause error) bool {
	v.SetZero()
	d.r.Note(v.Type().String(), got)
	d.lost(v.Type(), got, cause)
	return false
}

// lost sets the error of a value that no Extra keeps. The caller of the decoder detects a response
// of another type.
func (d *callerDecoder) lost(t reflect.Type, got string, cause error) {
	d.count++
	if pointer := d.r.Pointer(); d.kept == 0 && d.err == nil && pointer != "" {
		d.err = &misfitError{pointer, got, t, cause}
	}
}

// response reads a response type, which keeps the values inside that do not fit.
func (d *callerDecoder) response(v reflect.Value, kind string) bool {
	v.SetZero()
	ok := v.Addr().Interface().(decodable).decodeFrom(d.r) || kind == "null"
	if !ok && d.r.Err() == nil {
		d.lost(v.Type(), kind, nil)
	}
	return ok
}

// elements reads an array. Elements of another type are omitted from a slice.
func (d *callerDecoder) elements(v reflect.Value) {
	t, n := v.Type(), 0
	if t.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(t, 0, 0))
	}
	for d.r.Array(); d.r.More(); {
		d.r.Take(int(t.Elem().Size()))
		switch {
		case t.Kind() == reflect.Slice:
			if item := reflect.New(t.Elem()).Elem(); d.value(item) {
				v.Set(reflect.Append(v, item))
			}
		case n < v.Len():
			d.value(v.Index(n))
		default:
			d.r.Skip()
		}
		n++
	}
	for ; t.Kind() == reflect.Array && n < v.Len(); n++ {
		v.Index(n).SetZero()
	}
}

// entries reads an object into a map. Values of another type are omitted.
func (d *callerDecoder) entries(v reflect.Value) {
	t := v.Type()
	if v.IsNil() {
		v.Set(reflect.MakeMap(t))
	}
	for d.r.Map(); d.r.Key(); {
		d.r.Take(int(t.Key().Size() + t.Elem().Size()))
		key := reflect.New(t.Key()).Elem()
		if err := readKey(key, string(d.r.CurrentKey())); err != nil {
			d.r.Skip()
			d.misfit(key, "string", err)
			continue
		}
		item := reflect.New(t.Elem()).Elem()
		if !d.value(item) {
			item = reflect.Value{} // deletes an earlier value of the same key
		}
		v.SetMapIndex(key, item)
	}
}

// readKey sets the key of a map.
func readKey(v reflect.Value, key string) error {
	if v.Kind() == reflect.String && !v.Addr().Type().Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		v.SetString(key)
		return nil
	}
	text, err := json.Marshal(map[string]any{key: nil})
	if err != nil {
		return err
	}
	read := reflect.New(reflect.MapOf(v.Type(), reflect.TypeFor[bool]())).Elem()
	if err = unmarshal(text, read); err == nil {
		v.Set(read.MapKeys()[0])
	}
	return err
}

// fields reads an object into a struct.
func (d *callerDecoder) fields(v reflect.Value) {
	s := callerStructOf(v.Type())
	extra := s.extraOf(v)
	enter := d.r.Map // the struct around it keeps what does not fit
	if extra != nil {
		*extra, enter = nil, d.r.Object
		d.kept++
		defer func() { d.kept-- }()
	}
	for enter(); d.r.Field(extra); {
		f := s.find(string(d.r.CurrentKey()))
		if f == nil && extra != nil {
			d.r.Unknown(extra)
			continue
		}
		if f == nil {
			d.r.Skip()
			continue
		}
		switch field, err := allocated(v, f.index); {
		case err != nil:
			kind := d.r.Kind()
			d.r.Skip()
			d.misfit(reflect.New(v.Type()).Elem(), kind, err)
		case f.quoted:
			d.quoted(field)
		default:
			d.value(field)
		}
	}
}

// quoted reads a field with the option string, as the only field of a struct.
func (d *callerDecoder) quoted(v reflect.Value) {
	kind, text := d.r.Kind(), d.r.View()
	only := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "F", Type: v.Type(), Tag: `json:"f,string"`}})).Elem()
	only.Field(0).Set(v)
	object := append(append([]byte(`{"f":`), text...), '}')
	if err := unmarshal(object, only); d.r.Err() == nil && err != nil {
		d.misfit(v, kind, err)
		return
	}
	v.Set(only.Field(0))
}
