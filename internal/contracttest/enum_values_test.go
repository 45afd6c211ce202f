package contracttest_test

import (
	"encoding/json"
	"fmt"
	"go/token"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-querystring/query"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// noValues has the types with constants that are not an enumeration: scopes of repositories are
// made by a function, and a vocabulary is a document.
var noValues = []string{"RegistryScope", "Vocabulary"}

// listedValues returns the results of the method Values of a type, or nil if it has none.
func listedValues(kind reflect.Type) (values []reflect.Value) {
	method, found := kind.MethodByName("Values")
	if !found {
		return nil
	}
	list := method.Func.Call([]reflect.Value{reflect.Zero(kind)})[0]
	for i := range list.Len() {
		values = append(values, list.Index(i))
	}
	return values
}

// enumerations returns the types of the package that have a method Values, by name. It finds those
// that a method of a service, an integration or one of the functions below uses.
func enumerations() map[string]reflect.Type {
	found, seen := map[string]reflect.Type{}, map[reflect.Type]bool{}
	var walk func(kind reflect.Type)
	walk = func(kind reflect.Type) {
		if seen[kind] {
			return
		}
		seen[kind] = true
		if _, has := kind.MethodByName("Values"); has && kind.PkgPath() == reflect.TypeFor[forge.Client]().PkgPath() {
			found[kind.Name()] = kind
		}
		for _, part := range parts(kind) {
			walk(part)
		}
	}
	walk(reflect.TypeFor[*forge.Client]())
	walk(reflect.TypeFor[forge.IntegrationKind]())
	for _, function := range []any{forge.Routes, forge.Checksum, forge.RepositoryScope} {
		walk(reflect.TypeOf(function))
	}
	for _, row := range cases.Kinds {
		walk(reflect.TypeOf(row.Options()))
	}
	return found
}

// parts returns the types that a type consists of: elements, fields, parameters and results, and
// the types of its methods.
func parts(kind reflect.Type) (all []reflect.Type) {
	switch kind.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		all = append(all, kind.Elem())
	case reflect.Struct:
		for i := range kind.NumField() {
			all = append(all, kind.Field(i).Type)
		}
	case reflect.Func:
		for i := range kind.NumIn() {
			all = append(all, kind.In(i))
		}
		for i := range kind.NumOut() {
			all = append(all, kind.Out(i))
		}
	}
	for i := range kind.NumMethod() {
		all = append(all, kind.Method(i).Type)
	}
	return all
}

// Values of each type with constants returns them in the order of their declarations, and in a new
// slice. The types have no other methods that would change how a value is written.
func TestEnumerationValues(t *testing.T) {
	want := map[string][]string{}
	eachConstant(t, func(kind, name, text string) {
		if token.IsExported(name) && token.IsExported(kind) && !slices.Contains(noValues, kind) {
			want[kind] = append(want[kind], text)
		}
	})
	types := enumerations()
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(types)))
	assert.GreaterOrEqual(t, len(types), 50)
	for name, kind := range types {
		var texts []string
		values := listedValues(kind)
		for _, value := range values {
			texts = append(texts, value.String())
			assertPlain(t, value)
		}
		assert.Equal(t, want[name], texts, name)
		require.NotEmpty(t, values, name)
		values[0].SetString("changed by the caller")
		assert.Equal(t, want[name][0], listedValues(kind)[0].String(), "%s: Values returns a new slice", name)
	}
}

// assertPlain checks that a value is written as its text in JSON, in a query and by fmt.
func assertPlain(t *testing.T, value reflect.Value) {
	t.Helper()
	text := value.String()
	body, err := json.Marshal(map[string]any{"v": value.Interface()})
	require.NoError(t, err)
	plain, err := json.Marshal(map[string]string{"v": text})
	require.NoError(t, err)
	assert.Equal(t, string(plain), string(body), value.Type())

	options := reflect.New(reflect.StructOf([]reflect.StructField{{Name: "V", Type: value.Type(), Tag: `url:"v,omitempty"`}})).Elem()
	options.Field(0).Set(value)
	sent, err := query.Values(options.Interface())
	require.NoError(t, err)
	assert.Equal(t, url.Values{"v": {text}}, sent, value.Type())

	for _, verb := range []string{"%v", "%+v", "%s", "%q"} {
		assert.Equal(t, fmt.Sprintf(verb, text), fmt.Sprintf(verb, value.Interface()), value.Type())
	}
}
