package forge

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/jsonread"
	"github.com/forge-sdk/forge-go/internal/racetest"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// oddities are values of each JSON type, and values that fit a field only in part, or fit no field.
var oddities = []string{
	`{"odd":{"k":[1,"two"]}}`, `["odd",7,{"k":true},null,[]]`, `[{"odd":1},"x"]`, `[]`, `{}`, `"odd text"`, `""`, `"true"`, `"4711"`, `"2026-01-02"`, `"2026-01-02T03:04:05+0200"`,
	`4711`, `4711.25`, `9223372036854775808`, `12345678901234567890.5`, `-1e999`, `true`, `false`, `null`,
}

// hostileTexts returns objects of about 30 kB with many values that fit no field of the type, at
// places with long names, in each field and next to them.
func hostileTexts(typ reflect.Type) (texts []string) {
	long := strings.Repeat(`k\u00e9~/`, 2_000) // escaped in pointers
	values := strings.Repeat(`{},1,"odd",[],true,`, 250)
	list, object, n := `[`+values+`null]`, strings.Builder{}, 0
	for value := range strings.SplitSeq(strings.Trim(values, ","), ",") {
		fmt.Fprintf(&object, `"%d":%s,`, n, value)
		n++
	}
	object.WriteString(`"last":null`)
	for _, field := range reflect.VisibleFields(typ) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if kind := field.Type.Kind(); field.Anonymous || name == "" || name == "-" || kind <= reflect.Float64 || kind == reflect.String {
			continue
		}
		for _, form := range []string{`{%q:{"%s":%s}}`, `{%q:[{"%s":%s}]}`, `{%q:{"a":{"%s":%s}}}`} {
			texts = append(texts, fmt.Sprintf(form, name, long, list))
		}
		texts = append(texts, fmt.Sprintf(`{%q:{"%s":{%s}}}`, name, long, object.String()))
	}
	return append(texts, fmt.Sprintf(`{"%s":%s,%s}`, long, list, object.String()))
}

// What is kept of values that fit no field, and what is spent on them, is at most a multiple of the
// text: their number and the length of their names, which are data, are the server's choice.
func TestSurprisesAreBounded(t *testing.T) {
	racetest.SkipSequential(t)
	types := append(decodedTypes(t), reflect.TypeFor[ownPart](), reflect.TypeFor[ownKept](), reflect.TypeFor[struct {
		Lists map[string][]int
		Deep  map[string]map[string]ownPart
		Extra map[string]json.RawMessage `json:"-"`
	}](), reflect.TypeFor[struct{ Lists map[string]map[string]Issue }](), reflect.TypeFor[struct{ Lists map[string][]int }]())
	most := 0
	for _, typ := range types {
		for _, text := range hostileTexts(typ) {
			for _, strict := range []bool{false, true} {
				var drift Drift
				r := jsonread.Reader{Foreign: unmarshalForeign, Strict: strict, Watch: drift.watch(undocumentedRoute("GET", "/x"), safetext.Clean)}
				v, data := reflect.New(typ).Interface(), []byte(text)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				r.Reset(data)
				err := decodeValue(&r, v)
				runtime.ReadMemStats(&after)
				spent, kept := int(after.TotalAlloc-before.TotalAlloc), 0
				for _, m := range r.Mismatches() {
					kept += len(m.Pointer)
					assert.Less(t, len(m.Pointer), 1<<10)
				}
				var syntax *jsonread.SyntaxError
				require.NotErrorAs(t, err, &syntax)
				if err != nil {
					kept += len(err.Error())
				}
				for _, e := range drift.Entries() {
					kept += len(e.Pointer)
				}
				if kept > 128<<10 || spent > 100*len(text) {
					t.Fatalf("%s: %d bytes are kept and %d allocated for the %d bytes of %.120s", typ, kept, spent, len(text), text)
				}
				most = max(most, spent/len(text))
			}
		}
	}
	t.Logf("allocated: at most %d times the text", most)
}

// An item of a list keeps the raw values that are its own, and not those of the items after it.
func TestItemsKeepOwnBytes(t *testing.T) {
	for _, typ := range decodedTypes(t) {
		for _, odd := range []string{`{"odd":"x"}`, `[7]`, `"text"`} {
			var item strings.Builder
			for _, field := range reflect.VisibleFields(typ) {
				if name := jsonName(field); name != "" {
					fmt.Fprintf(&item, "%q:%s,", name, odd)
				}
			}
			own := "{" + item.String() + `"unknown":` + odd + "}"
			first := reflect.New(typ)
			var r jsonread.Reader
			r.Reset([]byte("[" + strings.Repeat(own+",", 100) + own + "]"))
			require.True(t, r.Array() && r.More())
			_, err := decodeItem(&r, first.Interface())
			require.NoError(t, err)
			kept := bytesIn(first)
			assert.LessOrEqual(t, kept, 3*len(own), "%s of %s", typ, odd)
			assert.NotZero(t, kept)
		}
	}
}

// bytesIn returns the capacity of all byte slices in a value.
func bytesIn(v reflect.Value) (n int) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = bytesIn(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += bytesIn(v.Field(i))
		}
	case reflect.Map:
		for entry := v.MapRange(); entry.Next(); {
			n += bytesIn(entry.Value())
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Cap()
		}
		for i := range v.Len() {
			n += bytesIn(v.Index(i))
		}
	}
	return n
}

// forgetBaseline removes the unexported state of settings.
func forgetBaseline(v any) {
	if settings, is := v.(*ApplicationSettings); is {
		settings.read, settings.base = nil, nil
	}
}

// decodedTypes returns all types with a decoder. Each must be part of a result of a service.
func decodedTypes(t *testing.T) (types []reflect.Type) {
	t.Helper()
	seen := map[reflect.Type]bool{}
	var visit func(reflect.Type)
	visit = func(typ reflect.Type) {
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Map}, typ.Kind()) {
			typ = typ.Elem()
		}
		_, decoded := reflect.New(typ).Interface().(decodable)
		if typ.Kind() != reflect.Struct || !decoded || seen[typ] || typ == reflect.TypeFor[Date]() {
			return
		}
		seen[typ] = true
		types = append(types, typ)
		for f := range typ.Fields() {
			visit(f.Type)
		}
	}
	for service := range reflect.TypeFor[Client]().Fields() {
		if service.Type.Kind() != reflect.Pointer || !service.IsExported() {
			continue
		}
		for m := range service.Type.Methods() {
			for out := range m.Type.Outs() {
				if out.Kind() == reflect.Func { // a list
					out = out.In(0).In(0)
				}
				visit(out)
			}
		}
	}
	generated, err := os.ReadFile("zz_decode.go")
	require.NoError(t, err)
	var names, want []string
	for _, m := range regexp.MustCompile(`(?m)^func \(v \*(\w+)\) decodeFrom`).FindAllSubmatch(generated, -1) {
		want = append(want, string(m[1]))
	}
	for _, typ := range types {
		names = append(names, typ.Name())
	}
	require.ElementsMatch(t, want, names)
	return types
}
