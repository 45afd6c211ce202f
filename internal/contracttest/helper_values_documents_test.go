package contracttest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// This file has the documents of TestNothingSentIsLost, and the places in which the test replaces a
// value.

// fullDocument is a document of a type.
type fullDocument struct {
	name   string
	kind   reflect.Type
	tree   any // maps, slices, and json.RawMessage or values of a decoder
	places []*documentPlace
}

// documentPlace is a value in a document that is decoded into a field. holder is the nearest
// object. key is the key in holder whose value is this value, or an array or a map that contains
// it.
type documentPlace struct {
	pointer     string
	holder, key string
	kind        reflect.Type
	element     bool
	get         func() any
	set         func(any)
	object      map[string]any // the holder
	replace     func(any)      // replaces the holder; nil if the holder is the whole document
	owner       reflect.Type   // the holder's type
	first       bool           // the first place of this field and this kind of element
	firstKind   bool           // the first place of this Go type
	turn        int            // counts the other places
}

// responseTypes returns the types that methods of services return and that are decoded from JSON.
func responseTypes() (types []reflect.Type) {
	for field := range reflect.TypeFor[forge.Client]().Fields() {
		if !field.IsExported() {
			continue
		}
		for method := range field.Type.Methods() {
			if method.Type.NumIn() < 2 || method.Type.In(1) != reflect.TypeFor[context.Context]() {
				continue
			}
			kind := method.Type.Out(0)
			if kind.CanSeq2() {
				kind = kind.In(0).In(0)
			}
			if kind.Kind() != reflect.Pointer || len(catalogue.JSONFields(kind.Elem())) == 0 || slices.Contains(types, kind.Elem()) {
				continue
			}
			types = append(types, kind.Elem())
		}
	}
	return types
}

// fullDocuments returns a document of each response type with every field set.
func fullDocuments(t *testing.T) (documents []*fullDocument) {
	t.Helper()
	types := responseTypes()
	require.Greater(t, len(types), 30, "the response types are not found")
	for _, kind := range types {
		documents = append(documents, &fullDocument{name: kind.Name(), kind: kind, tree: filledTree(kind, nil)})
	}
	slices.SortFunc(documents, func(a, b *fullDocument) int { return strings.Compare(a.name, b.name) })
	met := map[string]bool{}
	turn := 0
	for _, document := range documents {
		document.places = document.allPlaces()
		for _, p := range document.places {
			field := fmt.Sprint(p.owner, p.key, p.kind, p.element)
			kind := fmt.Sprint(p.kind, p.element)
			p.first, p.firstKind, p.turn = !met[field], !met[kind], turn
			met[field], met[kind] = true, true
			turn++
		}
	}
	return documents
}

// filledTree returns a value that fills every field of a type. above are the enclosing types.
func filledTree(kind reflect.Type, above []reflect.Type) any {
	raw := func(text string) any { return json.RawMessage(text) }
	switch kind {
	case reflect.TypeFor[time.Time]():
		return raw(`"2026-01-02T03:04:05.678Z"`)
	case reflect.TypeFor[forge.Date]():
		return raw(`"2026-01-02"`)
	case reflect.TypeFor[json.RawMessage]():
		return raw(`{"open":[1,"two"]}`)
	case reflect.TypeFor[[]byte]():
		return raw(`"Ynl0ZXM="`)
	}
	if isNullable(kind) {
		return filledTree(reflect.New(kind).MethodByName("Get").Type().Out(0), above)
	}
	switch kind.Kind() {
	case reflect.Pointer:
		return filledTree(kind.Elem(), above)
	case reflect.Struct:
		if slices.Contains(above, kind) {
			return map[string]any{}
		}
		if len(catalogue.JSONFields(kind)) == 0 { // its decoder reads other forms
			return raw(`"name"`)
		}
		tree := map[string]any{"key_that_no_field_has": raw(`{"kept":1e2}`)}
		for name, field := range catalogue.JSONFields(kind) {
			tree[name] = filledTree(field, append(slices.Clone(above), kind))
		}
		return tree
	case reflect.Slice:
		return []any{filledTree(kind.Elem(), above), filledTree(kind.Elem(), above)}
	case reflect.Map:
		return map[string]any{"a": filledTree(kind.Elem(), above), "b/~c": filledTree(kind.Elem(), above)}
	case reflect.Bool:
		return raw("true")
	case reflect.Float64:
		return raw("1.5")
	case reflect.Int, reflect.Int64:
		return raw("42")
	case reflect.String:
		return raw(`"text"`)
	}
	panic("no value of " + kind.String() + ": add one")
}

// allPlaces returns the places of a document.
func (d *fullDocument) allPlaces() (places []*documentPlace) {
	var object func(tree map[string]any, kind reflect.Type, at string, replace func(any))
	var value func(p documentPlace)
	value = func(p documentPlace) {
		places = append(places, &p)
		kind := p.kind
		for kind.Kind() == reflect.Pointer {
			kind = kind.Elem()
		}
		inner := p
		inner.element = true
		switch tree := p.get().(type) {
		case map[string]any:
			if kind.Kind() == reflect.Struct {
				object(tree, kind, p.pointer, p.set)
			} else if kind.Kind() == reflect.Map && kind.Elem() != reflect.TypeFor[json.RawMessage]() {
				for key := range tree {
					inner.pointer, inner.kind = p.pointer+"/"+pointerToken(key), kind.Elem()
					inner.get, inner.set = func() any { return tree[key] }, func(v any) { tree[key] = v }
					value(inner)
				}
			}
		case []any:
			for i := range min(len(tree), 2) {
				if kind.Kind() != reflect.Slice {
					break
				}
				inner.pointer, inner.kind = fmt.Sprintf("%s/%d", p.pointer, i), kind.Elem()
				inner.get, inner.set = func() any { return tree[i] }, func(v any) { tree[i] = v }
				value(inner)
			}
		}
	}
	object = func(tree map[string]any, kind reflect.Type, at string, replace func(any)) {
		fields := catalogue.JSONFields(kind)
		keys := make([]string, 0, len(tree))
		for key := range tree {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			if field, known := fields[key]; known {
				value(documentPlace{pointer: at + "/" + pointerToken(key), holder: at, key: key, kind: field, object: tree, owner: kind, replace: replace,
					get: func() any { return tree[key] }, set: func(v any) { tree[key] = v }})
			}
		}
	}
	object(d.tree.(map[string]any), d.kind, "", nil)
	return places
}

var pointerEscapes = strings.NewReplacer("~", "~0", "/", "~1")

func pointerToken(key string) string { return pointerEscapes.Replace(key) }

// text returns the document as JSON, with another value in a place.
func (d *fullDocument) text(p *documentPlace, value string) string {
	before := p.get()
	defer p.set(before)
	p.set(json.RawMessage(value))
	return treeText(d.tree)
}

// textTwice returns the document with the key of a place twice, with another value first.
func (d *fullDocument) textTwice(p *documentPlace, value string) string {
	whole := "{" + treeText(p.key) + ":" + value + "," + treeText(p.object)[1:]
	if p.replace == nil {
		return whole
	}
	p.replace(json.RawMessage(whole))
	defer p.replace(p.object)
	return treeText(d.tree)
}

func treeText(tree any) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(tree); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}
