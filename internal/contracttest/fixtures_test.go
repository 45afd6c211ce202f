package contracttest_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// TestFixtures decodes the complete response of each endpoint, testdata/<service>/<name>.json: its
// type has all fields and no other. Every endpoint of deployed.json whose response has a type has
// such a file; the tests of the services read those of other endpoints.
func TestFixtures(t *testing.T) {
	for _, c := range cases.All(t) {
		file := "testdata/" + strings.ReplaceAll(c.Endpoint.ID, ".", "/") + ".json"
		text, err := os.ReadFile(file)
		if err != nil {
			assert.True(t, c.Endpoint.Ref.Page == "" || c.Endpoint.Response.Type == "", "%s: there is no complete response in %s", c.Name, file)
			continue
		}
		kind := c.Method.Type().Out(0)
		if kind.CanSeq2() {
			kind = reflect.SliceOf(kind.In(0).In(0))
		}
		if c.Endpoint.Response.Kind == "unknown" {
			continue
		}
		value := reflect.New(kind)
		require.NoError(t, json.Unmarshal(text, value.Interface()), file)
		assert.False(t, unknown(value), "%s: %s lacks a field; Extra has it: %+v", file, kind, value.Elem())
		written, err := json.Marshal(value.Interface())
		require.NoError(t, err)
		var want, have any
		require.NoError(t, json.Unmarshal(text, &want))
		require.NoError(t, json.Unmarshal(written, &have))
		assert.Equal(t, catalogue.WithoutZeros("", want), catalogue.WithoutZeros("", have), file)
	}
}

// TestFieldsAreShown checks that each field of a response type is in the catalogue, or has a value
// in a file of testdata: a name that no server sends would be in neither.
func TestFieldsAreShown(t *testing.T) {
	shown := map[reflect.Type]map[string]bool{}
	types := readTypes(t)
	for name, kind := range goTypes(t, types) {
		shown[kind] = map[string]bool{}
		for _, f := range types[name].Fields {
			shown[kind][catalogue.ShownName(f.Name)] = true
		}
	}
	for _, p := range catalogue.Endpoints()["settings.update"].Body {
		shown[reflect.TypeFor[forge.ApplicationSettings]()][p.Name] = true
	}
	for _, file := range glob(t, "testdata/*/*.json") {
		for _, kind := range responseTypes() {
			for _, form := range []reflect.Type{kind, reflect.SliceOf(kind)} {
				value := reflect.New(form)
				if json.Unmarshal([]byte(readText(t, file)), value.Interface()) == nil && !unknown(value) {
					show(value, shown)
				}
			}
		}
	}
	seen := map[reflect.Type]bool{reflect.TypeFor[forge.CatalogRepository](): true} // a plain name
	for _, kind := range responseTypes() {
		assertShown(t, kind, shown, seen)
	}
}

// unknown reports whether a decoded value has fields that its types lack.
func unknown(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer:
		return !v.IsNil() && unknown(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			if unknown(v.Index(i)) {
				return true
			}
		}
	case reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() && (field.Name == "Extra" && value.Kind() == reflect.Map && value.Len() > 0 || unknown(value)) {
				return true
			}
		}
	}
	return false
}

// show notes the fields that have a value.
func show(v reflect.Value, shown map[reflect.Type]map[string]bool) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			show(v.Elem(), shown)
		}
	case reflect.Slice:
		for i := range v.Len() {
			show(v.Index(i), shown)
		}
	case reflect.Struct:
		if shown[v.Type()] == nil {
			shown[v.Type()] = map[string]bool{}
		}
		for field, value := range v.Fields() {
			if field.IsExported() && !value.IsZero() {
				shown[v.Type()][jsonName(field)] = true
				show(value, shown)
			}
		}
	}
}

func jsonName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// assertShown checks the fields of a type and of the types that it contains.
func assertShown(t *testing.T, kind reflect.Type, shown map[reflect.Type]map[string]bool, seen map[reflect.Type]bool) {
	t.Helper()
	for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice || kind.Kind() == reflect.Map {
		kind = kind.Elem()
	}
	if seen[kind] || kind.Kind() != reflect.Struct || kind == reflect.TypeFor[time.Time]() || len(catalogue.JSONFields(kind)) == 0 {
		return
	}
	seen[kind] = true
	for field := range kind.Fields() {
		if name := jsonName(field); field.IsExported() && name != "-" {
			assert.True(t, name == "" || shown[kind][name], "%s.%s is not in the catalogue and has no value in testdata/*/*.json", kind, name)
			assertShown(t, field.Type, shown, seen)
		}
	}
}
