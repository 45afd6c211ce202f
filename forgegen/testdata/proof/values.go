package main

import (
	contexts "context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go"
)

var context = contexts.Background()

var moment = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)

// known are values of types of forge.
var known = map[reflect.Type]any{
	reflect.TypeFor[time.Time]():         moment,
	reflect.TypeFor[forge.Date]():        forge.Date{Year: 2026, Month: 11, Day: 25},
	reflect.TypeFor[forge.IDFilter]():    forge.ID(5),
	reflect.TypeFor[forge.LabelFilter](): forge.Labels("bug"),
	reflect.TypeFor[forge.Hash]():        forge.Hash{"key": "value"},
	reflect.TypeFor[json.RawMessage]():   json.RawMessage(`{"a":1}`),
}

// fill sets all fields. It reports whether it has set a file.
func fill(v reflect.Value, files []string, withFile bool, depth int) (file bool) {
	t := v.Type()
	if value, isKnown := known[t]; isKnown {
		v.Set(reflect.ValueOf(value))
		return false
	}
	switch t.Kind() {
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(3)
	case reflect.Float64:
		v.SetFloat(1.5)
	case reflect.Interface:
		v.Set(reflect.ValueOf("text"))
	case reflect.Pointer:
		if t == reflect.TypeFor[*forge.File]() {
			if withFile {
				content := contentFile()
				v.Set(reflect.ValueOf(&content))
			}
			return withFile
		}
		if depth < 4 {
			v.Set(reflect.New(t.Elem()))
			fill(v.Elem(), nil, false, depth+1)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		fill(v.Index(0), nil, false, depth+1)
	case reflect.Map:
		v.Set(reflect.MakeMap(t))
		item := reflect.New(t.Elem()).Elem()
		fill(item, nil, false, depth+1)
		v.SetMapIndex(reflect.ValueOf("key"), item)
	case reflect.Struct:
		for i := range t.NumField() {
			if t.Field(i).Name == "FileField" {
				v.Field(i).SetString(files[0])
				continue
			}
			file = fill(v.Field(i), files, withFile, depth) || file
		}
	}
	return file
}

// Schema is what the document says of a value.
type Schema struct {
	Type   string             `json:",omitempty"`
	Format string             `json:",omitempty"`
	Items  *Schema            `json:",omitempty"`
	Fields map[string]*Schema `json:",omitempty"`
}

// sample returns a value of the schema that fits the Go type. With faults it is as servers send it:
// numbers and booleans are not text, a list is a list, an object is where a text is declared, and
// there is a field that the document does not have.
func sample(s *Schema, t reflect.Type, faults bool) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	isText := s.Type == "string"
	switch {
	case t == reflect.TypeFor[time.Time](), s.Format == "date-time":
		return moment.Format(time.RFC3339)
	case s.Format == "date", t == reflect.TypeFor[forge.Date]():
		return "2026-11-25"
	case t.Kind() == reflect.Slice && s.Type != "array":
		item := sample(s, t.Elem(), faults)
		return []any{item}
	case s.Type == "array" && s.Items != nil:
		if t.Kind() == reflect.Slice {
			t = t.Elem()
		}
		return []any{sample(s.Items, t, faults)}
	case len(s.Fields) > 0:
		return object(s, t, faults)
	case s.Type == "object":
		return map[string]any{"key": "value"}
	case s.Type == "integer", t.Kind() == reflect.Int64 && isText && faults:
		return 12
	case t.Kind() == reflect.Int64 && isText:
		return "12"
	case s.Type == "number":
		return 1.5
	case s.Type == "boolean", t.Kind() == reflect.Bool && isText && faults:
		return true
	case t.Kind() == reflect.Bool && isText:
		return "true"
	case isText && faults && t.Kind() == reflect.String:
		return map[string]any{"an": "object"}
	}
	return "text"
}

func object(s *Schema, t reflect.Type, faults bool) any {
	values := map[string]any{}
	for name, field := range s.Fields {
		if field == nil {
			continue
		}
		fieldType := reflect.TypeFor[string]()
		if t.Kind() == reflect.Struct {
			if f, found := fieldOf(t, name); found {
				fieldType = f.Type
			}
		}
		if faults && isForge(t) && field.Type == "string" {
			continue // the types of forge have their own tests
		}
		values[name] = sample(field, fieldType, faults)
	}
	if faults {
		values["x_unknown"] = "kept"
	}
	return values
}

func isForge(t reflect.Type) bool { return t.PkgPath() == reflect.TypeFor[forge.Client]().PkgPath() }

func fieldOf(t reflect.Type, name string) (reflect.StructField, bool) {
	for i := range t.NumField() {
		if f := t.Field(i); strings.Split(f.Tag.Get("json"), ",")[0] == name {
			return f, true
		}
	}
	return reflect.StructField{}, false
}

// result is the response of a call.
type result struct {
	method reflect.Type
	schema *Schema
	faults bool
	sent   any
}

func (r *result) isList() bool {
	return r.method.NumOut() == 1 && r.method.Out(0).Kind() == reflect.Func
}

// value is the type of the value or of an item; nil if there is none.
func (r *result) value() reflect.Type {
	switch out := r.method.Out(0); {
	case r.isList():
		return out.In(0).In(0).Elem()
	case r.method.NumOut() == 1 || out == reflect.TypeFor[*forge.Download]():
		return nil
	case out.Kind() == reflect.Pointer:
		return out.Elem()
	default:
		return out
	}
}

func (r *result) respond(w http.ResponseWriter) {
	t := r.value()
	if t == nil {
		w.Header().Set("Content-Type", "text/plain")
		_, _ = io.WriteString(w, "content")
		return
	}
	schema := r.schema
	if schema == nil {
		schema = &Schema{Type: "object"}
	}
	r.sent = sample(schema, t, r.faults)
	body := r.sent
	if r.isList() {
		body = []any{r.sent}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(body)
}

// check compares what a method returned with what was sent.
func (r *result) check(out []reflect.Value) error {
	if r.isList() {
		items := 0
		var first reflect.Value
		var err error
		for item, itemErr := range out[0].Seq2() {
			items, first = items+1, item
			if !itemErr.IsNil() {
				err = itemErr.Interface().(error)
			}
		}
		if err != nil || items != 1 {
			return fmt.Errorf("%d items, error %v", items, err)
		}
		return kept(r.sent, first)
	}
	if err, _ := out[len(out)-1].Interface().(error); err != nil {
		return err
	}
	if r.value() != nil {
		return kept(r.sent, out[0])
	}
	if download, isFile := out[0].Interface().(*forge.Download); isFile {
		data, err := io.ReadAll(download)
		if err != nil || string(data) != "content" {
			return fmt.Errorf("the download has %q, error %v", data, err)
		}
		return download.Close()
	}
	return nil
}

// kept checks that a value has what was sent: in its fields, or in Extra.
func kept(sent any, v reflect.Value) error {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return fmt.Errorf("%v became nil", sent)
		}
		v = v.Elem()
	}
	if list, isList := sent.([]any); isList && v.Kind() == reflect.Slice && v.Type() != reflect.TypeFor[json.RawMessage]() {
		if v.Len() != len(list) {
			return fmt.Errorf("%d of %d items", v.Len(), len(list))
		}
		return kept(list[0], v.Index(0))
	}
	fields, isObject := sent.(map[string]any)
	if !isObject || v.Kind() != reflect.Struct {
		if v.IsZero() {
			return fmt.Errorf("%v became zero", sent)
		}
		return nil
	}
	if isForge(v.Type()) {
		return keptByForge(fields, v)
	}
	extra := v.FieldByName("Extra").Interface().(map[string]json.RawMessage)
	for name, value := range fields {
		if _, inExtra := extra[name]; inExtra {
			continue
		}
		f, found := fieldOf(v.Type(), name)
		if !found {
			return fmt.Errorf("%s is lost", name)
		}
		if err := kept(value, v.FieldByIndex(f.Index)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// keptByForge checks the names that a type of forge has kept: its own tests check the values.
func keptByForge(fields map[string]any, v reflect.Value) error {
	data, err := json.Marshal(v.Interface())
	if err != nil {
		return err
	}
	var got map[string]json.RawMessage
	if err := json.Unmarshal(data, &got); err != nil {
		return err
	}
	var lost []string
	for name := range fields {
		if _, found := got[name]; !found {
			lost = append(lost, name)
		}
	}
	slices.Sort(lost)
	if len(lost) > 0 {
		return fmt.Errorf("%s has lost %s", v.Type(), lost)
	}
	return nil
}

func contentFile() forge.File { return forge.FileBytes([]byte("content")).Named("a.txt") }
