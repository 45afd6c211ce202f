package forge

import (
	"encoding/json"
	"reflect"
	"strings"
)

// plainUnmarshal decodes with encoding/json, by the fields and tags alone: the methods of response
// types would use the generated decoders, with which the result is compared.
func plainUnmarshal(data []byte, v any) error {
	out := reflect.ValueOf(v)
	plain := reflect.New(plainType(out.Type().Elem()))
	err := json.Unmarshal(data, plain.Interface())
	copyPlain(out.Elem(), plain.Elem())
	return err
}

// plainLabel decodes a Label, which may also be a text: its name.
type plainLabel struct{ value Label }

func (p *plainLabel) UnmarshalJSON(data []byte) error {
	field := reflect.ValueOf(&p.value).Elem()
	if strings.HasPrefix(string(data), `"`) {
		field.SetZero()
		return readJSON(data, &p.value.Name)
	}
	plain := reflect.New(withoutMethods(field.Type()))
	err := readJSON(data, plain.Interface())
	copyPlain(field, plain.Elem())
	return err
}

// plainType returns a type with the same fields, in which no response type has methods.
func plainType(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[Label]():
		return reflect.TypeFor[plainLabel]()
	case reflect.TypeFor[Date]():
		return t
	}
	switch {
	case t.Kind() == reflect.Pointer:
		return reflect.PointerTo(plainType(t.Elem()))
	case t.Kind() == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		return reflect.SliceOf(plainType(t.Elem()))
	case t.Kind() == reflect.Map:
		return reflect.MapOf(t.Key(), plainType(t.Elem()))
	case t.Kind() == reflect.Struct && reflect.PointerTo(t).Implements(reflect.TypeFor[decodable]()):
		return withoutMethods(t)
	}
	return t
}

func withoutMethods(t reflect.Type) reflect.Type {
	var fields []reflect.StructField
	for f := range t.Fields() {
		if f.IsExported() {
			fields = append(fields, reflect.StructField{Name: f.Name, Type: plainType(f.Type), Tag: f.Tag, Anonymous: f.Anonymous})
		}
	}
	return reflect.StructOf(fields)
}

// copyPlain copies a value of plainType(to.Type()).
func copyPlain(to, from reflect.Value) {
	switch {
	case to.Type() == from.Type():
		to.Set(from)
	case from.Kind() == reflect.Struct && reflect.PointerTo(from.Type()).Implements(reflect.TypeFor[json.Unmarshaler]()):
		to.Set(reflect.NewAt(to.Type(), from.Addr().UnsafePointer()).Elem())
	case to.Kind() == reflect.Pointer:
		if to.SetZero(); !from.IsNil() {
			to.Set(reflect.New(to.Type().Elem()))
			copyPlain(to.Elem(), from.Elem())
		}
	case to.Kind() == reflect.Slice:
		if to.SetZero(); !from.IsNil() {
			to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				copyPlain(to.Index(i), from.Index(i))
			}
		}
	case to.Kind() == reflect.Map:
		if to.SetZero(); !from.IsNil() {
			to.Set(reflect.MakeMap(to.Type()))
			for entry := from.MapRange(); entry.Next(); {
				item := reflect.New(to.Type().Elem()).Elem()
				copyPlain(item, entry.Value())
				to.SetMapIndex(entry.Key(), item)
			}
		}
	default:
		for f := range from.Type().Fields() {
			copyPlain(to.FieldByName(f.Name), from.FieldByIndex(f.Index))
		}
	}
}
