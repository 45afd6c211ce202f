package contracttest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

type contractTypes map[string]struct{ Fields []catalogue.Field }

func readTypes(t *testing.T) contractTypes {
	t.Helper()
	var types contractTypes
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/types.json"), &types))
	return types
}

// TestConformanceFields decodes each field of each type of the catalogue: alone with a distinct
// value, null, absent, and together with all others. Fields are found by their Go names, and their
// tags are compared.
func TestConformanceFields(t *testing.T) {
	types := readTypes(t)
	covered, documented := 0, 0
	for _, name := range slices.Sorted(maps.Keys(types)) {
		fields := types[name].Fields
		if name == "ApplicationSettingsUpdate" { // a type of parameters: see TestConformance
			continue
		}
		documented += len(fields)
		t.Run(name, func(t *testing.T) {
			switch name {
			case "PlaceholderReassignmentRow":
				conformColumns(t, fields)
			case "ValidationError":
				conformValidation(t, fields)
			default:
				conformType(t, types, name)
			}
			covered += len(fields)
		})
	}
	assert.Equal(t, documented, covered)
	t.Logf("%d of %d documented fields have been read, in %d types", covered, documented, len(types)-1)
}

func conformType(t *testing.T, types contractTypes, name string) {
	t.Helper()
	require.NotNil(t, typeRows[name], "%s has no Go type", name)
	kind := reflect.TypeOf(typeRows[name])
	samples, whole := &fieldSamples{types: types}, map[string]any{}
	assert.True(t, decodeSample(t, kind, whole).IsZero(), "absent fields")
	for _, f := range allFields(types, name, kind) {
		f.Name = catalogue.ShownName(f.Name)
		whole[f.Name] = samples.value(f, 0)
		read := decodeSample(t, kind, map[string]any{f.Name: whole[f.Name]})
		field := conformField(t, read, f.Name)
		assertRead(t, f.Name, whole[f.Name], field)
		if field.IsValid() {
			field.SetZero()
		}
		assert.True(t, read.IsZero(), "%s also set another field: %+v", f.Name, read)
		read = decodeSample(t, kind, map[string]any{f.Name: nil})
		if field := conformField(t, read, f.Name); field.IsValid() && isNull(field) {
			field.SetZero()
		}
		assert.True(t, read.IsZero(), "%s is null", f.Name)
	}
	read := decodeSample(t, kind, whole)
	for name, value := range whole {
		assertRead(t, name, value, conformField(t, read, name))
		conformEmpty(t, kind, whole, name)
	}
}

// allFields returns the fields of a type and of the types that it embeds, for which another decoder
// is generated.
func allFields(types contractTypes, name string, kind reflect.Type) []catalogue.Field {
	all := slices.Clone(types[name].Fields)
	for i := range kind.NumField() {
		if !kind.Field(i).Anonymous {
			continue
		}
		for inner, row := range typeRows {
			if reflect.TypeOf(row) != kind.Field(i).Type {
				continue
			}
			for _, f := range types[inner].Fields {
				if !slices.ContainsFunc(all, func(own catalogue.Field) bool { return own.Name == f.Name }) {
					all = append(all, f)
				}
			}
		}
	}
	return all
}

// conformEmpty reads an object with the field at the end: as null, and as false or 0. Then even a
// field that may be absent is present.
func conformEmpty(t *testing.T, kind reflect.Type, whole map[string]any, name string) {
	t.Helper()
	others := maps.Clone(whole)
	delete(others, name)
	read := func(value any) reflect.Value {
		before, err := json.Marshal(others)
		require.NoError(t, err)
		last, err := json.Marshal(map[string]any{name: value})
		require.NoError(t, err)
		return conformField(t, readSample(t, kind, slices.Concat(bytes.TrimSuffix(before, []byte("}")), []byte(","), last[1:])), name)
	}
	if len(others) == 0 {
		return
	}
	if field := read(nil); field.IsValid() && !isNull(field) {
		assert.True(t, field.IsZero(), "%s is null at the end of the object: %v", name, field)
	}
	switch whole[name].(type) {
	case bool:
		assertRead(t, name, false, read(false))
	case int:
		assertRead(t, name, 0, read(0))
	}
}

// decodeSample decodes an object as responses are decoded. No value may have an unexpected type.
func decodeSample(t *testing.T, kind reflect.Type, members map[string]any) reflect.Value {
	t.Helper()
	data, err := json.Marshal(members)
	require.NoError(t, err)
	return readSample(t, kind, data)
}

func readSample(t *testing.T, kind reflect.Type, data []byte) reflect.Value {
	t.Helper()
	read, exported := reflect.New(kind), reflect.New(kind).Elem()
	var response forge.Response
	call := forge.Call{Method: http.MethodGet, Route: "/user"}
	require.NoError(t, jsonClient(t, string(data)).Do(t.Context(), call, read.Interface(), forge.Into(&response)), "%s", data)
	assert.Empty(t, response.Mismatches, "%s", data)
	for field, value := range read.Elem().Fields() {
		if field.IsExported() { // settings also have unexported fields
			exported.FieldByIndex(field.Index).Set(value)
		}
	}
	return exported
}

// isNull reports whether a field records that its value is null.
func isNull(field reflect.Value) bool {
	nullable, is := field.Interface().(interface{ IsNull() bool })
	return is && nullable.IsNull()
}

// conformField finds the field with the Go form of the name, and checks its tag.
func conformField(t *testing.T, value reflect.Value, name string) reflect.Value {
	t.Helper()
	for _, field := range reflect.VisibleFields(value.Type()) {
		if cases.NameKey(field.Name) == cases.NameKey(name) {
			assert.Equal(t, name, strings.Split(field.Tag.Get("json"), ",")[0], "tag of %s", field.Name)
			return value.FieldByIndex(field.Index)
		}
	}
	assert.Fail(t, "no field", "%s has no field for %s", value.Type(), name)
	return reflect.Value{}
}

// fieldSamples makes distinct values.
type fieldSamples struct {
	types  contractTypes
	number int
}

// value returns a value of the type in the catalogue. A reference to another type has the fields of
// that type, up to a depth.
func (s *fieldSamples) value(f catalogue.Field, depth int) any {
	s.number++
	n := s.number
	switch f.Type {
	case "boolean":
		return true
	case "integer":
		return n
	case "number":
		return float64(n) + 0.5
	case "array":
		return s.items(f, depth)
	case "object":
		if f.Ref != "" {
			return s.object(f.Ref, depth)
		}
		switch {
		case f.Values.Type == "integer":
			return map[string]any{"username": n}
		case f.Name == "extended_trailers": // the contract leaves the type open; servers send lists
			return map[string]any{"username": []any{fmt.Sprintf("value %d", n), "more"}}
		}
		return map[string]any{"username": fmt.Sprintf("value %d", n)}
	case "unknown":
		return map[string]any{"any": n}
	}
	at := time.Date(2026, 1, 2, 3, n, n%60, n%1000*1e6, time.UTC)
	switch {
	case f.Format == "timestamp":
		return at.Format("2006-01-02T15:04:05.000Z")
	case f.Format == "date":
		return at.AddDate(0, 0, n).Format(time.DateOnly)
	case f.Name == "content":
		return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "content %d", n))
	}
	return fmt.Sprintf("%s \"%d\" é\n", f.Name, n)
}

// items returns two items, in each form that the catalogue has for them.
func (s *fieldSamples) items(f catalogue.Field, depth int) []any {
	if f.Items.Ref != "" {
		return []any{s.object(f.Items.Ref, depth), map[string]any{}}
	}
	second := any(fmt.Sprintf("item of %d", s.number))
	if f.Items.Alternative.Ref != "" {
		second = s.object(f.Items.Alternative.Ref, depth)
	}
	return []any{fmt.Sprintf("%s %d", f.Name, s.number), second}
}

func (s *fieldSamples) object(name string, depth int) map[string]any {
	members := map[string]any{}
	for _, f := range s.types[name].Fields {
		if depth < 2 || f.Ref == "" && f.Items.Ref == "" {
			members[f.Name] = s.value(f, depth+1)
		}
	}
	return members
}

// assertRead checks that the Go value equals the JSON value.
func assertRead(t *testing.T, at string, want any, have reflect.Value) {
	t.Helper()
	if !have.IsValid() {
		return
	}
	if have.Kind() == reflect.Pointer {
		if !assert.False(t, have.IsNil(), at) {
			return
		}
		have = have.Elem()
	}
	switch value := have.Interface().(type) {
	case forge.Nullable[string]:
		text, ok := value.Get()
		assert.True(t, ok && text == want, "%s is %v, want %v", at, text, want)
		return
	case forge.Nullable[int]:
		number, ok := value.Get()
		assert.True(t, ok && number == want, "%s is %v, want %v", at, number, want)
		return
	}
	switch value := have.Interface().(type) {
	case time.Time:
		assert.Equal(t, want, value.Format("2006-01-02T15:04:05.000Z"), at)
		return
	case forge.Date:
		assert.Equal(t, want, value.String(), at)
		return
	case json.RawMessage:
		text, err := json.Marshal(want)
		require.NoError(t, err)
		assert.JSONEq(t, string(text), string(value), at)
		return
	case []byte:
		assert.Equal(t, want, base64.StdEncoding.EncodeToString(value), at)
		return
	}
	assertReadKind(t, at, want, have)
}

func assertReadKind(t *testing.T, at string, want any, have reflect.Value) {
	t.Helper()
	switch have.Kind() {
	case reflect.Struct:
		switch bare := want.(type) { // labels, changes and targets have two forms
		case string:
			assert.Equal(t, bare, have.FieldByName("Name").String(), at)
			return
		case int:
			assert.Equal(t, int64(bare), have.FieldByName("ID").Int(), at)
			return
		}
		for name, member := range want.(map[string]any) {
			assertRead(t, at+"."+name, member, conformField(t, have, name))
		}
	case reflect.Slice:
		items := want.([]any)
		if assert.Equal(t, len(items), have.Len(), at) {
			for i, item := range items {
				assertRead(t, fmt.Sprintf("%s[%d]", at, i), item, have.Index(i))
			}
		}
	case reflect.Map:
		wantText, err := json.Marshal(want)
		require.NoError(t, err)
		text, err := json.Marshal(have.Interface())
		require.NoError(t, err)
		assert.JSONEq(t, string(wantText), string(text), at)
	case reflect.String:
		assert.Equal(t, want, have.String(), at)
	case reflect.Bool:
		assert.Equal(t, want, have.Bool(), at)
	case reflect.Float64:
		assert.InDelta(t, want, have.Float(), 0, at)
	case reflect.Int, reflect.Int64:
		assert.Equal(t, int64(want.(int)), have.Int(), at)
	default:
		assert.Fail(t, "no comparison", "%s is %s", at, have.Type())
	}
}

// conformColumns reads each column of a file of reassignments, filled and empty. A file without the
// column is an error.
func conformColumns(t *testing.T, fields []catalogue.Field) {
	t.Helper()
	client, err := forge.NewClient("https://forge.example")
	require.NoError(t, err)
	var names, values []string
	for i, f := range fields {
		names, values = append(names, f.Name), append(values, fmt.Sprintf("value %d", i))
	}
	row := func(names, values []string) (*forge.PlaceholderReassignment, error) {
		file := strings.Join(names, ",") + "\n" + strings.Join(values, ",") + "\n"
		rows, err := forge.Collect(client.PlaceholderReassignments.ReadCSV(strings.NewReader(file)))
		if err != nil {
			return nil, err
		}
		require.Len(t, rows, 1)
		return rows[0], nil
	}
	for i, name := range names {
		for _, value := range []string{values[i], ""} {
			line := slices.Clone(values)
			line[i] = value
			read, err := row(names, line)
			require.NoError(t, err)
			goName := ""
			for word := range strings.FieldsSeq(strings.TrimPrefix(name, "Platform ")) {
				goName += strings.ToUpper(word[:1]) + word[1:]
			}
			have := reflect.ValueOf(read).Elem().FieldByName(goName)
			require.True(t, have.IsValid(), "no field for %s", name)
			assert.Equal(t, value, have.String(), name)
			assert.Empty(t, read.Extra)
			var written strings.Builder
			require.NoError(t, client.PlaceholderReassignments.WriteCSV(&written, func(yield func(*forge.PlaceholderReassignment, error) bool) { yield(read, nil) }))
			assert.Equal(t, strings.Join(names, ",")+"\n"+strings.Join(line, ",")+"\n", written.String())
		}
		_, err := row(slices.Delete(slices.Clone(names), i, i+1), slices.Delete(slices.Clone(values), i, i+1))
		require.ErrorContains(t, err, name)
	}
}

// conformValidation reads the form of an error response that the contract shows.
func conformValidation(t *testing.T, fields []catalogue.Field) {
	t.Helper()
	require.Len(t, fields, 1)
	for answer, want := range map[string]map[string][]string{
		`{"%s":{"name":["is too long","is taken"],"file":["is missing"]}}`: {"name": {"is too long", "is taken"}, "file": {"is missing"}},
		`{"%s":null}`: nil,
		`{}`:          nil,
	} {
		answer = strings.Replace(answer, "%s", fields[0].Name, 1)
		c := memoryClient(t, func(*http.Request) (*http.Response, error) {
			return jsonResponse(http.StatusBadRequest, answer), nil
		})
		_, err := c.Emails.Get(t.Context(), 7)
		var failed *forge.Error
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, want, failed.Fields, answer)
	}
}
