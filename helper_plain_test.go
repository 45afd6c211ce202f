package forge

import (
	"encoding/json"
	"reflect"
	"strings"
)

// plainUnmarshal decodes with encoding/json, by the fields and tags alone: the methods of response
// types would use the generated decoders, with which the result is compared.
func plainUnmarshal(data []byte, v any) error { return plainDecode(data, v, json.Unmarshal) }

func plainDecode(data []byte, v any, unmarshal func([]byte, any) error) error {
	out := reflect.ValueOf(v)
	plain := reflect.New(plainType(out.Type().Elem()))
	err := unmarshal(data, plain.Interface())
	copyPlain(out.Elem(), plain.Elem())
	return err
}

// plainNames are the types that may also be a text: a name.
type plainNames interface {
	Label | AuditEventChange | CatalogRepository
}

// plainName decodes a type that may also be a text. Its fields are those of T.
type plainName[T plainNames] struct{ value T }

func (p *plainName[T]) UnmarshalJSON(data []byte) error {
	field := reflect.ValueOf(&p.value).Elem()
	if strings.HasPrefix(string(data), `"`) {
		field.SetZero()
		return readJSON(data, field.FieldByName("Name").Addr().Interface())
	}
	if field.NumField() == 2 && field.Type() == reflect.TypeFor[AuditEventChange]() {
		return readJSON(data, field.FieldByName("Extra").Addr().Interface())
	}
	plain := reflect.New(withoutMethods(field.Type()))
	err := readJSON(data, plain.Interface())
	copyPlain(field, plain.Elem())
	return err
}

// plainTarget decodes an AuditEventTarget.
type plainTarget struct{ value AuditEventTarget }

func (p *plainTarget) UnmarshalJSON(data []byte) error {
	p.value = AuditEventTarget{}
	switch {
	case len(data) > 0 && data[0] == '{':
		return readJSON(data, &p.value.Extra)
	case len(data) > 0 && data[0] == '"':
		err := readJSON(data, &p.value.Name)
		p.value.ID = idOf(p.value.Name)
		return err
	}
	return readJSON(data, &p.value.ID)
}

// plainType returns a type with the same fields, in which no response type has methods.
func plainType(t reflect.Type) reflect.Type {
	switch t {
	case reflect.TypeFor[Label]():
		return reflect.TypeFor[plainName[Label]]()
	case reflect.TypeFor[AuditEventChange]():
		return reflect.TypeFor[plainName[AuditEventChange]]()
	case reflect.TypeFor[CatalogRepository]():
		return reflect.TypeFor[plainName[CatalogRepository]]()
	case reflect.TypeFor[AuditEventTarget]():
		return reflect.TypeFor[plainTarget]()
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
