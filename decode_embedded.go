package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// A caller's struct that embeds a response type has its UnmarshalJSON, by promotion. encoding/json
// would call it, and leave the other fields of the struct empty. Such a struct is decoded here in
// parts: each embedded response type by its decoder, and the other fields as encoding/json decodes
// them, by a struct without methods. The parts of types that contain such structs are
// json.RawMessage at first. Response types in other places are decoded by their decoders, which
// record mismatches.

// isOwn reports whether a value that has decodeFrom is of a response type, and does not only embed
// one.
func isOwn(v any) bool { return isResponseType(reflect.TypeOf(v).Elem()) }

func isResponseType(t reflect.Type) bool {
	return t.PkgPath() == reflect.TypeFor[Date]().PkgPath() && reflect.PointerTo(t).Implements(reflect.TypeFor[decodable]())
}

// decode reads text into v, which is at pointer in the value that the Reader reads. ok is false for
// null and for another JSON type.
func (d *foreignDecoder) decode(v reflect.Value, text []byte, pointer string) (ok bool, err error) {
	if !foreignTypeOf(v.Type()).special {
		return d.plain(v, text, pointer)
	}
	if string(text) == "null" {
		if k := v.Kind(); k == reflect.Pointer || k == reflect.Slice || k == reflect.Map {
			v.SetZero()
		}
		return false, nil
	}
	if isResponseType(v.Type()) {
		return d.response(v, text, pointer)
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		}
		return d.decode(v.Elem(), text, pointer)
	}
	want := "object"
	if v.Kind() == reflect.Slice || v.Kind() == reflect.Array {
		want = "array"
	}
	if kind := kindOfText(text); kind != want {
		d.r.Note(pointer, v.Type().String(), kind)
		return false, nil
	}
	switch v.Kind() {
	case reflect.Map:
		return true, d.entries(v, text, pointer)
	case reflect.Struct:
		return true, d.parts(v, text, pointer)
	}
	return true, d.elements(v, text, pointer)
}

func kindOfText(text []byte) string {
	var r jsonread.Reader
	r.Reset(text)
	return r.Kind()
}

// response decodes a response type, and records its mismatches.
func (d *foreignDecoder) response(v reflect.Value, text []byte, pointer string) (ok bool, err error) {
	var r jsonread.Reader
	r.Limit = d.r.Limit
	r.Reset(text)
	v.SetZero()
	ok = v.Addr().Interface().(decodable).decodeFrom(&r)
	for _, m := range r.Mismatches() {
		d.r.Note(pointer+m.Pointer, m.Want, m.Got)
	}
	return ok, r.End()
}

// elements decodes a slice or an array.
func (d *foreignDecoder) elements(v reflect.Value, text []byte, pointer string) error {
	var items []json.RawMessage
	if err := json.Unmarshal(text, &items); err != nil {
		return err
	}
	if v.Kind() == reflect.Slice {
		v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	}
	for i := range min(v.Len(), len(items)) {
		if _, err := d.decode(v.Index(i), items[i], fmt.Sprintf("%s/%d", pointer, i)); err != nil {
			return err
		}
	}
	return nil
}

// entries decodes a map.
func (d *foreignDecoder) entries(v reflect.Value, text []byte, pointer string) error {
	raw := reflect.New(reflect.MapOf(v.Type().Key(), reflect.TypeFor[json.RawMessage]()))
	if err := json.Unmarshal(text, raw.Interface()); err != nil {
		return err
	}
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for entry := raw.Elem().MapRange(); entry.Next(); {
		item := reflect.New(v.Type().Elem()).Elem()
		if _, err := d.decode(item, entry.Value().Bytes(), pointer+"/"+pointerToken(fmt.Sprint(entry.Key()))); err != nil {
			return err
		}
		v.SetMapIndex(entry.Key(), item)
	}
	return nil
}

func pointerToken(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// parts decodes a struct: its own fields, and the response types that it embeds.
func (d *foreignDecoder) parts(v reflect.Value, text []byte, pointer string) error {
	t := foreignTypeOf(v.Type())
	present := map[string]bool{}
	own := filterObject(text, func(key string) bool {
		f := t.own(key)
		if f != nil {
			present[f.key] = true
		}
		return f != nil
	})
	mirror := reflect.New(t.mirror).Elem()
	for i, f := range t.fields {
		if field := existing(v, f.index); !f.special && field.IsValid() {
			mirror.Field(i).Set(field)
		}
	}
	if _, err := d.plain(mirror, own, pointer); err != nil {
		return err
	}
	for i, f := range t.fields {
		if !present[f.key] {
			continue
		}
		field, err := allocated(v, f.index)
		if err != nil {
			return err
		}
		if !f.special {
			field.Set(mirror.Field(i))
		} else if _, err = d.decode(field, mirror.Field(i).Bytes(), pointer+"/"+pointerToken(f.key)); err != nil {
			return err
		}
	}
	for _, p := range t.embedded {
		object := filterObject(text, func(key string) bool { return t.belongs(key, p) })
		if p.pointer && string(object) == "{}" {
			continue
		}
		part, err := allocated(v, p.index)
		if err == nil {
			_, err = d.decode(part, object, pointer)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filterObject returns the object with those keys that keep accepts.
func filterObject(object []byte, keep func(key string) bool) []byte {
	var r jsonread.Reader
	r.Reset(object)
	out := append(make([]byte, 0, len(object)), '{')
	for open := r.Object(); open; {
		start := r.Offset()
		if !r.Key() {
			break
		}
		wanted := keep(string(r.CurrentKey()))
		if r.Skip(); !wanted {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(out, bytes.TrimLeft(object[start:r.Offset()], ", \t\r\n")...)
	}
	return append(out, '}')
}

// existing returns the field at an index path; the zero Value below a nil pointer.
func existing(v reflect.Value, index []int) reflect.Value {
	for i, n := range index {
		if i > 0 && v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return reflect.Value{}
			}
			v = v.Elem()
		}
		v = v.Field(n)
	}
	return v
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

// foreignType describes how a caller's type is decoded.
type foreignType struct {
	special bool // response types are in it
	// Of a struct that is special:
	mirror   reflect.Type   // its own fields without methods; those that are special are raw
	fields   []foreignField // of mirror
	embedded []embeddedPart
}

type foreignField struct {
	key     string
	index   []int
	special bool
}

// embeddedPart is an embedded response type.
type embeddedPart struct {
	index   []int
	pointer bool
	depth   int
	keys    map[string]bool
}

// own returns the field of a key: the exact one, or one in another case that is not the key of an
// embedded type.
func (t *foreignType) own(key string) *foreignField {
	for i := range t.fields {
		if t.fields[i].key == key {
			return &t.fields[i]
		}
	}
	for _, p := range t.embedded {
		if p.keys[key] {
			return nil
		}
	}
	for i := range t.fields {
		if strings.EqualFold(t.fields[i].key, key) {
			return &t.fields[i]
		}
	}
	return nil
}

// belongs reports whether an embedded type gets a key: one that no field of the struct has, and no
// field of another embedded type that is less deep, or that alone has it.
func (t *foreignType) belongs(key string, p embeddedPart) bool {
	if t.own(key) != nil {
		return false
	}
	return !slices.ContainsFunc(t.embedded, func(other embeddedPart) bool {
		return other.keys[key] && (!p.keys[key] || other.depth < p.depth)
	})
}

// foreignTypes has a *foreignType by type.
var foreignTypes sync.Map

func foreignTypeOf(t reflect.Type) *foreignType {
	if known, ok := foreignTypes.Load(t); ok {
		return known.(*foreignType)
	}
	found := &foreignType{special: hasResponses(t, map[reflect.Type]bool{})}
	if found.special && t.Kind() == reflect.Struct && !isResponseType(t) {
		found.layout(t)
	}
	foreignTypes.Store(t, found)
	return found
}

// hasResponses reports whether a value of the type can have response types in it. A type that
// decodes itself has none.
func hasResponses(t reflect.Type, seen map[reflect.Type]bool) bool {
	switch {
	case isResponseType(t):
		return t != reflect.TypeFor[Date]()
	case seen[t] || decodesItself(t):
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return hasResponses(t.Elem(), seen)
	case reflect.Struct:
		for f := range t.Fields() {
			if (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" && hasResponses(f.Type, seen) {
				return true
			}
		}
	}
	return false
}

// decodesItself reports whether a type has UnmarshalJSON or UnmarshalText, other than from a
// response type that it embeds.
func decodesItself(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface {
		return false
	}
	pointer := reflect.PointerTo(t)
	method, has := pointer.MethodByName("UnmarshalJSON")
	if !has || !pointer.Implements(reflect.TypeFor[json.Unmarshaler]()) {
		_, has = pointer.MethodByName("UnmarshalText")
		return has
	}
	if byValue, has := t.MethodByName("UnmarshalJSON"); !isGenerated(method) || has && !isGenerated(byValue) {
		return true
	}
	if t.Kind() != reflect.Struct {
		return true
	}
	for f := range t.Fields() { // the method is that of an embedded type
		if !f.Anonymous {
			continue
		}
		embedded := f.Type
		if embedded.Kind() == reflect.Pointer {
			embedded = embedded.Elem()
		}
		if !isResponseType(embedded) && decodesItself(embedded) {
			return true
		}
	}
	return false
}

// isGenerated reports whether the compiler has made the method, because an embedded type has it.
func isGenerated(m reflect.Method) bool {
	f := runtime.FuncForPC(m.Func.Pointer())
	if f == nil {
		return false
	}
	file, _ := f.FileLine(f.Entry())
	return file == "<autogenerated>"
}

// fieldCandidate is a field of a struct that counts unless another one hides it.
type fieldCandidate struct {
	foreignField
	typ    reflect.Type
	tag    reflect.StructTag
	tagged bool
}

// isHiddenBy reports whether another field with the same key counts instead, or neither does.
func (c fieldCandidate) isHiddenBy(other fieldCandidate) bool {
	if other.key != c.key || slices.Equal(other.index, c.index) {
		return false
	}
	return len(other.index) < len(c.index) || len(other.index) == len(c.index) && (other.tagged || !c.tagged)
}

// layout finds the fields of a struct with the rules of encoding/json: of several fields with one
// key the least deep counts, or the one with a tag. If that leaves several, none counts.
func (t *foreignType) layout(struc reflect.Type) {
	var all []fieldCandidate
	var visit func(reflect.Type, []int)
	visit = func(struc reflect.Type, path []int) {
		for f := range struc.Fields() {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			typ, isPointer := f.Type, f.Type.Kind() == reflect.Pointer
			if isPointer {
				typ = typ.Elem()
			}
			index := append(slices.Clip(path), f.Index...)
			switch embedded := f.Anonymous && name == "" && typ.Kind() == reflect.Struct; {
			case f.Tag.Get("json") == "-", !f.IsExported() && !embedded, len(path) > 32:
			case embedded && isResponseType(typ) && typ != reflect.TypeFor[Date]():
				t.embedded = append(t.embedded, embeddedPart{index: index, pointer: isPointer, depth: len(index), keys: keysOf(typ)})
			case embedded:
				visit(typ, index)
			default:
				field := foreignField{key: name, index: index, special: foreignTypeOf(f.Type).special}
				if name == "" {
					field.key = f.Name
				}
				tag := reflect.StructTag(`json:"` + field.key + `,` + options + `"`)
				all = append(all, fieldCandidate{field, f.Type, tag, name != ""})
			}
		}
	}
	visit(struc, nil)
	var mirror []reflect.StructField
	for _, c := range all {
		if slices.ContainsFunc(all, c.isHiddenBy) ||
			slices.ContainsFunc(t.embedded, func(p embeddedPart) bool { return p.keys[c.key] && p.depth < len(c.index) }) {
			continue
		}
		if c.special {
			c.typ = reflect.TypeFor[json.RawMessage]()
		}
		t.fields = append(t.fields, c.foreignField)
		mirror = append(mirror, reflect.StructField{Name: fmt.Sprintf("F%d", len(mirror)), Type: c.typ, Tag: c.tag})
	}
	t.mirror = reflect.StructOf(mirror)
}

// keysOf returns the keys of the fields of a response type.
func keysOf(t reflect.Type) map[string]bool {
	keys := map[string]bool{}
	for _, f := range responseTypeOf(t).fields {
		keys[f.key] = true
	}
	return keys
}
