package forge

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
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
		if err == nil {
			return true
		}
		d.r.Back(text)
		d.walks = true
		defer func() { d.walks = false }()
		before := d.count
		if ok := d.parts(v, kind) && d.count == before; !ok || d.kept > 0 {
			return ok
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
	if err := unmarshal(text, v); err != nil {
		return d.misfit(v, kind, err)
	}
	return true
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
	if !ok {
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
	for ; n < v.Len(); n++ { // of an array: a slice has at most n
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
	if err := unmarshal(object, only); err != nil {
		d.misfit(v, kind, err)
		return
	}
	v.Set(only.Field(0))
}

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
		if found := embedded(typ, append(outer, t)); found != nil {
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
	outer = append(outer, t)
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
	extra, _ := allocated(v, s.extra)
	if !extra.CanSet() { // nor can a pointer that cannot be allocated
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
