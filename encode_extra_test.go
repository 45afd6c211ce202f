package forge

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// typedOptions has a field of each kind that bodies of the API have.
type typedOptions struct {
	At       time.Time               `json:"at,omitzero"`
	Before   time.Time               `json:"at_before,omitzero"`
	Seconds  Nullable[time.Duration] `json:"seconds,omitzero"`
	Null     Nullable[time.Duration] `json:"null,omitzero"`
	Until    Nullable[time.Time]     `json:"until,omitzero"`
	Never    Nullable[time.Time]     `json:"never,omitzero"`
	Day      Date                    `json:"day,omitzero"`
	Work     WorkDuration            `json:"work,omitzero"`
	Age      Age                     `json:"age,omitzero"`
	Text     Nullable[string]        `json:"text,omitzero"`
	Word     IssueState              `json:"word,omitzero"`
	Flag     *bool                   `json:"flag,omitzero"`
	Count    int64                   `json:"count,omitzero"`
	Ratio    float64                 `json:"ratio,omitzero"`
	Names    []string                `json:"names,omitzero"`
	Raw      json.RawMessage         `json:"raw,omitzero"`
	Response *Label                  `json:"response,omitzero"`
}

func (*typedOptions) check() error { return nil }

type extraOptions struct{ Extra map[string]any }

func (*extraOptions) check() error                   { return nil }
func (o *extraOptions) extra() map[string]any        { return o.Extra }
func (o *extraOptions) MarshalJSON() ([]byte, error) { return []byte("{}"), nil }

type embeddedValue struct {
	V any `json:"v"`
}

func encoded(t *testing.T, options any) (members map[string]json.RawMessage) {
	t.Helper()
	body, err := encodeJSON(options)
	require.NoError(t, err)
	reader, err := body.open()
	require.NoError(t, err)
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &members))
	return members
}

// A value in Extra is sent as a field of its type is, in each nesting: a time in UTC and in
// milliseconds, a duration in seconds, and the rest as encoding/json writes it.
func TestExtraEncodesAsFields(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 123_456_789, time.FixedZone("", 3600))
	yes := true
	options := &typedOptions{
		At: at, Before: at, Seconds: Value(time.Minute), Null: Null[time.Duration](), Until: Value(at), Never: Null[time.Time](), Day: Date{2026, time.March, 4}, Work: WorkDuration(time.Hour), Age: Age("3d"), Text: Value("é\u2028"),
		Word: IssueStateOpened, Flag: &yes, Count: math.MaxInt64, Ratio: 1.5, Names: []string{"a"}, Raw: json.RawMessage(`{"b":1}`), Response: &Label{Name: "bug"},
	}
	want := encoded(t, options)
	assert.JSONEq(t, `"2026-03-04T04:06:07.123Z"`, string(want["at"]))
	assert.JSONEq(t, `["2026-03-04T04:06:07.123Z",null,60,null]`, fmt.Sprintf("[%s,%s,%s,%s]", want["until"], want["never"], want["seconds"], want["null"]))
	for value, text := range map[any]string{Value(at): `{"x":"2026-03-04T04:06:07.123Z"}`, Null[time.Time](): `{"x":null}`, Value(time.Minute): `{"x":60}`, Null[time.Duration](): `{"x":null}`} {
		assert.JSONEq(t, text, string(encoded(t, &extraOptions{map[string]any{"y": map[string]any{"x": value}}})["y"]))
	}
	assert.JSONEq(t, `"2026-03-04T05:06:07.123456789+01:00"`, string(encoded(t, struct {
		At time.Time `json:"at"`
	}{at})["at"]), "a caller's own type")
	hidden := struct {
		At time.Time `json:"at"`
		at time.Time
	}{at, at.Add(time.Hour)}
	assert.JSONEq(t, `{"at":"2026-03-04T04:06:07.123Z"}`, string(encoded(t, &extraOptions{map[string]any{"y": hidden}})["y"]))
	assert.JSONEq(t, `{"Next":{"Next":null,"At":"0001-01-01T00:00:00.000Z"},"At":"2026-03-04T04:06:07.123Z"}`, string(encoded(t, &extraOptions{map[string]any{"y": ring{&ring{}, at}}})["y"]))
	for _, hidden := range []*Stamp{nil, {at}} {
		assert.JSONEq(t, `{"At":"x"}`, string(encoded(t, &extraOptions{map[string]any{"y": hides{hidden, "x"}}})["y"]))
	}
	assert.JSONEq(t, `{"X":1}`, string(encoded(t, &extraOptions{map[string]any{"y": struct {
		*Stamp
		X int
	}{nil, 1}}})["y"]))
	assert.JSONEq(t, `{"N":"1","At":"2026-03-04T04:06:07.123Z"}`, string(encoded(t, &extraOptions{map[string]any{"y": struct {
		N  int `json:",string"`
		At time.Time
	}{1, at}}})["y"]))
	nestings := map[string]func(v reflect.Value) any{
		"alone":        func(v reflect.Value) any { return v.Interface() },
		"pointer":      func(v reflect.Value) any { return pointerTo(v).Interface() },
		"two pointers": func(v reflect.Value) any { return pointerTo(pointerTo(v)).Interface() },
		"list of any":  func(v reflect.Value) any { return []any{v.Interface()} },
		"list": func(v reflect.Value) any {
			return reflect.Append(reflect.MakeSlice(reflect.SliceOf(v.Type()), 0, 1), v).Interface()
		},
		"list of pointers": func(v reflect.Value) any {
			return reflect.Append(reflect.MakeSlice(reflect.SliceOf(reflect.PointerTo(v.Type())), 0, 1), pointerTo(v)).Interface()
		},
		"array": func(v reflect.Value) any {
			array := reflect.New(reflect.ArrayOf(1, v.Type())).Elem()
			array.Index(0).Set(v)
			return array.Interface()
		},
		"map": func(v reflect.Value) any {
			m := reflect.MakeMap(reflect.MapOf(reflect.TypeFor[int](), v.Type()))
			m.SetMapIndex(reflect.ValueOf(7), v)
			return m.Interface()
		},
		"map of any":           func(v reflect.Value) any { return map[string]any{"x": v.Interface()} },
		"struct":               func(v reflect.Value) any { return struct{ V any }{v.Interface()} },
		"struct pointer":       func(v reflect.Value) any { return &struct{ V any }{v.Interface()} },
		"embeddedValue struct": func(v reflect.Value) any { return struct{ embeddedValue }{embeddedValue{v.Interface()}} },
		"deep":                 func(v reflect.Value) any { return []any{map[string][]*embeddedValue{"x": {{v.Interface()}}}} },
	}
	for f, field := range reflect.ValueOf(options).Elem().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		for nesting, nest := range nestings {
			got := encoded(t, &extraOptions{map[string]any{name: nest(field)}})[name]
			// encoding/json writes the frame of a value of the same shape.
			frame, err := json.Marshal(nest(reflect.ValueOf(want[name])))
			require.NoError(t, err)
			if !strings.Contains(nesting, "struct") && nesting != "deep" || name != "at_before" { // a bound is known by its key
				assert.JSONEq(t, string(frame), string(got), "%s in %s", f.Name, nesting)
			}
		}
	}
	for name, bad := range map[string]any{"year": time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), "fraction": time.Millisecond, "zero": time.Duration(0), "inside": []any{Value(time.Nanosecond)}} {
		_, err := encodeJSON(&extraOptions{map[string]any{"x": bad}})
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid, name)
		assert.Contains(t, invalid.Reason, `"x" in the map Extra: `)
	}
}

// A parameter that a map Extra holds is named with its options, and with the field that it belongs to.
func TestExtraIsNamed(t *testing.T) {
	for param, want := range map[string]string{"x": "ListIssuesOptions", "labels[x]": "ListIssuesOptions.Labels", "not[labels]": "ListIssuesOptions.Not.Labels", "not[x]": "ListIssuesOptions.Not", "x[labels]": "ListIssuesOptions"} {
		assert.Equal(t, want, optionName(&ListIssuesOptions{}, param), param)
	}
}

// ring is a type in which its own pointer comes before a time.
type ring struct {
	Next *ring
	At   time.Time
}

// hides has a field that hides a time in an embedded struct.
type hides struct {
	*Stamp
	X string `json:"At"`
}

// Stamp is embedded.
type Stamp struct{ At time.Time }

// A value of a caller is encoded up to maxNesting levels, of which an interface is one. Fields that
// encoding/json does not write do not count, nor do values that encode themselves.
func TestNesting(t *testing.T) {
	for name, in := range map[string]func(any) any{
		"list": func(v any) any { return []any{v} }, "array": func(v any) any { return [2]any{1, v} }, "map": func(v any) any { return map[string]any{"a": v} },
		"pointer": func(v any) any { return &v }, "struct": func(v any) any { return embeddedValue{v} },
	} {
		deep := any(1)
		for range maxNesting / 2 {
			deep = in(deep)
		}
		require.NoError(t, checkNesting(deep), name)
		require.Error(t, checkNesting(in(deep)), name)
		require.Error(t, checkNesting(struct{ embeddedValue }{embeddedValue{deep}}), name)
		require.NoError(t, checkNesting(struct{ hidden any }{in(deep)}), name)
		require.NoError(t, checkNesting(extraOptions{map[string]any{"x": deep}}), name)
		_, err := encodeJSON(&extraOptions{map[string]any{"x": in(deep)}})
		require.ErrorContains(t, err, "levels", name)
		require.NoError(t, checkNesting(ownText{deep}), name)
	}
}

type ownText struct{ Value any }

func (ownText) MarshalText() ([]byte, error) { return nil, nil }

func pointerTo(v reflect.Value) reflect.Value {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p
}

// tree is a caller's type that encodes itself and whose values contain each other.
type tree struct {
	text        string
	parent, one *tree
	two         []*tree
	all         []any
	named       map[string]any
}

func (t *tree) MarshalJSON() ([]byte, error) { return json.Marshal(t.text) }

// A text that is not UTF-8 is rejected wherever it is in a body. The search ends in values that
// contain each other.
func TestBodiesAreUTF8(t *testing.T) {
	deep := any("\xff")
	for range 100 {
		deep = []any{deep}
	}
	for name, bad := range map[string]any{"text": "\xff", "key": map[string]int{"\xff": 1}, "raw": json.RawMessage("[\"\xff\"]"), "deep": deep} {
		_, err := encodeJSON(bad)
		assert.ErrorContains(t, err, "not valid UTF-8", "%s", name)
		_, err = encodeJSON(&extraOptions{map[string]any{"x": bad}})
		assert.ErrorContains(t, err, "not valid UTF-8", "%s in Extra", name)
	}
	_, err := encodeJSON(&xml.Name{Local: "\xff"})
	assert.EqualError(t, err, (&ValidationError{Option: "xml.Name", Reason: "a text in it is not valid UTF-8, which JSON cannot have"}).Error())
	_, err = encodeJSON(&typedOptions{At: time.Unix(0, 0), Ratio: math.NaN()})
	require.ErrorContains(t, err, "it cannot be encoded as JSON", "beside a time")
	for says, bad := range map[string]any{"unsupported value: NaN": math.NaN(), "0s is not a positive number of whole seconds": time.Duration(0)} {
		_, err = encodeJSON(&extraOptions{map[string]any{"x": struct {
			At    time.Time
			Other any
		}{time.Unix(0, 0), bad}}})
		require.ErrorContains(t, err, says, "beside a time")
	}
	root := &tree{text: "\ufffd"}
	root.parent, root.one = root, &tree{text: "b", parent: root}
	root.two = []*tree{root, root.one, root}
	root.all, root.named = make([]any, 2), map[string]any{}
	root.all[0], root.all[1], root.named["a"], root.named["b"] = root.all, root.all, root.named, root.named
	_, err = encodeJSON(&extraOptions{map[string]any{"x": root}})
	assert.NoError(t, err)
}
