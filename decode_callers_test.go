package forge

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// ownPart and the types below are types that callers define.
type ownPart struct {
	ID    int             `json:"id"`
	Name  *string         `json:"name"`
	Parts []ownPart       `json:"parts"`
	Sizes map[string]int  `json:"sizes"`
	Pair  [2]bool         `json:"pair"`
	Any   any             `json:"any"`
	Kind  ownKind         `json:"kind"`
	Note  ownNote         `json:"note"`
	At    time.Time       `json:"at"`
	Count int             `json:"count,string"`
	ByID  map[int]ownPart `json:"by_id"`
	Bytes []byte          `json:"bytes"`
	Hid   int             `json:"-"`
	Dash  int             `json:"-,"` //nolint:staticcheck // the key "-"
	Deep  []map[string][]*map[string][2]int
	ownEmbedded
	*OwnRing
	After string `json:"after"`
}

// OwnRing and OwnLink embed each other.
type OwnRing struct {
	Ring  int `json:"ring"`
	Twice int `json:"twice"` // two at one depth hide each other
	*OwnLink
}

// OwnLink is the other part of OwnRing.
type OwnLink struct {
	Link int `json:"link"`
	Ring int `json:"ring"` // hidden
	*OwnRing
}

type ownEmbedded struct {
	Small int8    `json:"small"`
	Share float32 `json:"share"`
	After int     `json:"after"` // hidden
	Twice int     `json:"twice"`
}

// ownKind has UnmarshalJSON, which returns a type error of encoding/json.
type ownKind struct{ Name string }

func (k *ownKind) UnmarshalJSON(data []byte) error { return json.Unmarshal(data, &k.Name) }

// ownNote has UnmarshalJSON, which fails with its own error unless both keys are present.
type ownNote struct{ A, B int }

func (n *ownNote) UnmarshalJSON(data []byte) error {
	type plain ownNote
	if err := json.Unmarshal(data, (*plain)(n)); err != nil {
		return err
	}
	if string(data) != "null" && (n.A == 0 || n.B == 0) {
		return errors.New("half a note")
	}
	return nil
}

// foreignRows are texts of an ownPart, the places in them that do not fit, and the decoded value.
var foreignRows = []struct {
	text string
	want []Mismatch
	read ownPart
}{
	{`{"id":1,"after":"x"}`, nil, ownPart{ID: 1, After: "x"}},
	{`{"id":null,"name":null,"parts":null,"sizes":null,"pair":null,"any":null,"at":null,"count":null,"by_id":null,"bytes":null,"small":null,"after":"x"}`, nil, ownPart{After: "x"}},
	{`{"count":"5","bytes":"AQI=","kind":"k","note":{"a":1,"b":2},"by_id":{"7":{"id":1}},"after":"x"}`, nil,
		ownPart{Count: 5, Bytes: []byte{1, 2}, Kind: ownKind{"k"}, Note: ownNote{1, 2}, ByID: map[int]ownPart{7: {ID: 1}}, After: "x"}},
	{`{"id":"x","twice":"y","after":"x"}`, []Mismatch{{"/id", "int", "string"}}, ownPart{After: "x"}},
	{`{"id":1.5,"name":{"a":1},"after":"x"}`, []Mismatch{{"/id", "int", "number"}, {"/name", "string", "object"}}, ownPart{After: "x"}},
	{` { "parts" : [ { "id" : 1 } , { "id" : [ ] , "name" : "n" } , 7 ] , "after" : "x" } `,
		[]Mismatch{{"/parts/1/id", "int", "array"}, {"/parts/2", "forge.ownPart", "number"}}, ownPart{Parts: []ownPart{{ID: 1}, {Name: new("n")}}, After: "x"}},
	{`{"parts":{"id":1},"after":"x"}`, []Mismatch{{"/parts", "[]forge.ownPart", "object"}}, ownPart{After: "x"}},
	{`{"sizes":{"a/b~c":"x","d":2,"e":null},"after":"x"}`, []Mismatch{{"/sizes/a~1b~0c", "int", "string"}}, ownPart{Sizes: map[string]int{"d": 2, "e": 0}, After: "x"}},
	{`{"pair":[true,1,false],"after":"x"}`, []Mismatch{{"/pair/1", "bool", "number"}}, ownPart{Pair: [2]bool{true, false}, After: "x"}},
	{`{"any":[{"id":"x"}],"small":300,"share":1e99,"after":"x"}`, []Mismatch{{"/small", "int8", "number"}, {"/share", "float32", "number"}}, ownPart{Any: []any{map[string]any{"id": "x"}}, After: "x"}},
	{`{"ID":"x","After":"x"}`, []Mismatch{{"/ID", "int", "string"}}, ownPart{After: "x"}},
	{`{"id":"x","id":2,"pair":[false,true],"pair":[true],"after":"x"}`, []Mismatch{{"/id", "int", "string"}}, ownPart{ID: 2, Pair: [2]bool{true, false}, After: "x"}},
	{`{"parts":[{"parts":[{"parts":[{"sizes":{"":{}}}]}]}],"after":"x"}`, []Mismatch{{"/parts/0/parts/0/parts/0/sizes/", "int", "object"}},
		ownPart{Parts: []ownPart{{Parts: []ownPart{{Parts: []ownPart{{Sizes: map[string]int{}}}}}}}, After: "x"}},
	{`{"by_id":{"a":{},"7":{"id":"x"}},"after":"x"}`, []Mismatch{{"/by_id/a", "int", "string"}, {"/by_id/7/id", "int", "string"}}, ownPart{ByID: map[int]ownPart{7: {}}, After: "x"}},
	{`{"count":"7","count":5,"bytes":"!","after":"x"}`, []Mismatch{{"/count", "int", "number"}, {"/bytes", "[]uint8", "string"}}, ownPart{After: "x"}},
	// With Go 1.26, encoding/json stops at an error of UnmarshalJSON.
	{`{"kind":5,"after":"x"}`, []Mismatch{{"/kind", "forge.ownKind", "number"}}, ownPart{After: "x"}},
	{`{"kind":[1,2],"id":"x","after":"x"}`, []Mismatch{{"/kind", "forge.ownKind", "array"}, {"/id", "int", "string"}}, ownPart{After: "x"}},
	{`{"note":{"a":1},"after":"x"}`, []Mismatch{{"/note", "forge.ownNote", "object"}}, ownPart{After: "x"}},
	{`{"at":"yesterday","after":"x"}`, []Mismatch{{"/at", "time.Time", "string"}}, ownPart{After: "x"}},
}

// ownKept keeps what does not fit.
type ownKept struct {
	Part  ownPart                    `json:"part"`
	List  []ownPart                  `json:"list"`
	Extra map[string]json.RawMessage `json:"-"`
}

// A value that does not fit a caller's type is an error that names it, with each Go release, and
// all others are decoded. A struct with an Extra keeps it.
func TestForeignMismatches(t *testing.T) {
	for _, row := range foreignRows {
		value, mismatches, err := decodeText[ownPart](row.text)
		assert.Equal(t, row.want, mismatches, row.text)
		assert.Equal(t, row.read, value, row.text)
		var misfit *misfitError
		require.Equal(t, len(row.want) > 0, errors.As(err, &misfit), row.text)
		if misfit != nil {
			m := row.want[0]
			text := m.Pointer + " is a JSON " + m.Got + ", and its Go type is " + m.Want
			if slices.Contains([]string{"forge.ownNote", "time.Time"}, m.Want) { // the text of its method follows
				text += ": "
				assert.True(t, strings.HasPrefix(err.Error(), text), err)
			} else {
				assert.EqualError(t, err, text)
			}
		}

		kept, mismatches, err := decodeText[ownKept](`{"list":[` + row.text + `],"part":` + row.text + `,"new":1}`)
		require.NoError(t, err, row.text)
		assert.Len(t, mismatches, 2*len(row.want))
		want := ownKept{Part: row.read, List: []ownPart{row.read}, Extra: map[string]json.RawMessage{"new": json.RawMessage("1")}}
		if len(row.want) > 0 {
			assert.Equal(t, "/list/0"+row.want[0].Pointer, mismatches[0].Pointer)
			want.Extra["part"], want.Extra["list"] = json.RawMessage(strings.TrimSpace(row.text)), json.RawMessage("["+row.text+"]")
		}
		assert.Equal(t, want, kept)

		r := jsonread.Reader{Foreign: unmarshalForeign}
		r.Strict = true
		r.Reset([]byte(row.text))
		var strict *jsonread.StrictError
		err = decodeValue(&r, new(ownPart))
		require.Equal(t, len(row.want) > 0, errors.As(err, &strict), row.text)
		if strict != nil {
			assert.Equal(t, row.want[0].Pointer, strict.Pointer)
		}
	}
	for text, want := range map[string]Mismatch{`5`: {"", "map[string]int", "number"}, `["a"]`: {"", "map[string]int", "array"}, `{"a":"b"}`: {"/a", "int", "string"}} {
		_, mismatches, err := decodeText[map[string]int](text)
		assert.Equal(t, want.Pointer != "", err != nil, "the call finds the error of a whole response")
		assert.Equal(t, []Mismatch{want}, mismatches, text)
	}
	_, _, err := decodeText[struct{ At time.Time }](`{"At":"yesterday"}`)
	assert.ErrorContains(t, err, `/At is a JSON string, and its Go type is time.Time: parsing time "yesterday"`)
}

// likeEncodingJSON decodes a text part by part, and as a whole with encoding/json, into two values
// that were equal. Both must fail, or the values must be equal again.
func likeEncodingJSON[T any](t require.TestingT, text string, before func() T) {
	ours, theirs := before(), before()
	var r jsonread.Reader
	r.Reset([]byte(text))
	d := callerDecoder{r: &r, walks: true}
	d.value(reflect.ValueOf(&ours).Elem())
	err := json.Unmarshal([]byte(text), &theirs)
	require.Equal(t, err != nil, d.err != nil, "%s: %v, %v", text, err, d.err)
	if err == nil {
		require.Equal(t, theirs, ours, "%s", text)
	}
}

// Values are decoded one by one as encoding/json decodes the whole, and errors are found in the
// same texts.
func TestForeignLikeEncodingJSON(t *testing.T) {
	values := []string{"1", "-7", "300", "1.5", "null", `"x"`, `""`, `"5"`, `"AQI="`, "true", "{}", "[]", `{"a":1}`, `{"7":{"id":2}}`, "[1,2]", "[true]", `[{"id":1,"x":2},{"kind":"k"}]`, `"2026-03-01T00:00:00Z"`, `[{"a":[{"b":[1,2,3]},null,{"b":[1]}]},null]`, `[{"a":[{"b":["x"]}]}]`}
	keys := []string{"id", "ID", "name", "parts", "sizes", "pair", "any", "kind", "note", "at", "count", "by_id", "bytes", "small", "share", "after", "After", "unknown", "ring", "link", "-", "Hid", "Deep", "twice"}
	filled := func() ownPart {
		return ownPart{ID: 9, Name: new("n"), Sizes: map[string]int{"a": 9}, Pair: [2]bool{true, true}, Any: 9, Kind: ownKind{"j"}, Count: 9, Bytes: []byte("b"), ownEmbedded: ownEmbedded{Small: 9, Twice: 9}, OwnRing: &OwnRing{Ring: 9}}
	}
	for _, key := range keys {
		for _, value := range values {
			likeEncodingJSON(t, `{"`+key+`":`+value+`}`, filled)
		}
	}
	for _, text := range []string{`{"Same":1,"Other":2}`, `{"small":1}`, `{"small":null,"SHARE":1}`, `{"OwnNumber":1,"ownNumber":2}`} {
		likeEncodingJSON(t, text, func() (v twins) { return v })
		likeEncodingJSON(t, text, func() (v struct {
			twinA
			twinTagged
			OwnNumber
			ownNumber
		}) {
			return v
		})
		likeEncodingJSON(t, text, func() (v struct{ *ownEmbedded }) { return v }) // encoding/json cannot allocate it
		likeEncodingJSON(t, text, func() (v struct{ *ownEmbedded }) {
			v.ownEmbedded = new(ownEmbedded)
			return v
		})
	}
	likeEncodingJSON(t, `{"Issue":{"id":1},"Users":[{"id":2},null],"ByKey":{"a":{"id":3}}}`, func() (v struct {
		Issue Issue
		Users []*UserSummary
		ByKey map[string]Label
	}) {
		v.Issue, v.Users, v.ByKey = Issue{Title: "old"}, []*UserSummary{{Name: "old"}}, map[string]Label{"a": {Name: "old"}, "b": {}}
		return v
	})
	rapid.Check(t, func(rt *rapid.T) {
		var members []string
		for range rapid.IntRange(0, 5).Draw(rt, "members") {
			members = append(members, `"`+rapid.SampledFrom(keys).Draw(rt, "key")+`":`+rapid.SampledFrom(values).Draw(rt, "value"))
		}
		likeEncodingJSON(rt, "{"+strings.Join(members, ",")+"}", func() (v ownPart) { return v })
	})
}

// The tag "-" hides a field and not its key, which another field may have.
func TestForeignDash(t *testing.T) {
	type dash struct {
		Hid  int `json:"-"`
		Dash int `json:"-,"` //nolint:staticcheck // the key "-"
		ownKept
	}
	value, mismatches, err := decodeText[dash](`{"-":1,"Hid":2,"new":3}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, dash{Dash: 1, ownKept: ownKept{Extra: map[string]json.RawMessage{"Hid": json.RawMessage("2"), "new": json.RawMessage("3")}}}, value)
}

// Two fields of one name hide each other, whatever is between them.
type twinA struct {
	Same  int
	Other int
}

type twinB struct {
	Same int
}

type twinTagged struct {
	Tagged int `json:"Same"` // hides that of twinA
}

// OwnNumber and ownNumber are no structs, and are fields when they are embedded.
type (
	OwnNumber int
	ownNumber int
)

type twins struct {
	twinA
	twinB
}

// Response types inside a caller's type are decoded by their decoders.
func TestForeignResponseTypes(t *testing.T) {
	type own struct {
		Issue  Issue             `json:"issue"`
		Owner  *UserSummary      `json:"owner"`
		ByKey  map[string][]Note `json:"by_key"`
		Day    Date              `json:"day"`
		Number int               `json:"number"`
	}
	const text = `{"issue":{"id":1,"x":[1],"weight":"heavy"},"owner":{"id":[]},"by_key":{"a/b":[{"id":{}},null]},"day":"2026-03-01","number":7}`
	var want own
	require.NoError(t, json.Unmarshal([]byte(text), &want)) // the methods of the response types lose nothing
	got, mismatches, err := decodeText[own](text)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	assert.Equal(t, []string{"/issue/weight", "/owner/id", "/by_key/a~1b/0/id"}, pointers(mismatches))

	got, _, err = decodeText[own](`{"issue":5,"owner":[],"by_key":{"a":[{"id":1},7]},"number":7}`)
	assert.EqualError(t, err, "/issue is a JSON number, and its Go type is forge.Issue")
	assert.Equal(t, own{ByKey: map[string][]Note{"a": {{ID: 1}}}, Number: 7}, got)
	issues, mismatches, err := decodeText[[]Issue](`[{"id":1,"weight":"heavy"},{"id":2}]`)
	require.NoError(t, err)
	assert.Len(t, issues, 2)
	assert.Equal(t, []string{"/0/weight"}, pointers(mismatches))
}

// ownCounted counts how often each of its values is decoded.
type ownCounted int

var ownDecodes int

func (*ownCounted) UnmarshalJSON([]byte) error {
	ownDecodes++
	return nil
}

type ownNode struct {
	Count ownCounted
	ID    int
	Kids  []ownNode
	Map   map[string]*ownNode
}

// One value that does not fit must not make a response much more expensive, wherever it is: each
// value is decoded at most three times.
func TestForeignWork(t *testing.T) {
	const n = 500
	type keeps struct {
		ownNode
		Extra map[string]json.RawMessage `json:"-"`
	}
	type holds struct { // a response type is in it
		Nodes []ownNode
		Issue *Issue
	}
	one := `{"Count":1,"ID":1}`
	many := strings.Repeat(one+",", n)
	for name, node := range map[string]string{
		"wide":        `{"Kids":[` + many + `{"ID":"x"}]}`,
		"first":       `{"Kids":[{"ID":"x"},` + many + one + `]}`,
		"all":         `{"Kids":[` + strings.ReplaceAll(many, `"ID":1`, `"ID":"x"`) + one + `]}`,
		"deep":        strings.Repeat(`{"Count":1,"Kids":[`, n) + `{"ID":"x"}` + strings.Repeat(`]}`, n),
		"deep in map": strings.Repeat(`{"Count":1,"Map":{"k":`, n) + `{"ID":"x"}` + strings.Repeat(`}}`, n),
		"deep, all":   strings.Repeat(`{"Count":1,"ID":"x","Kids":[7,`, n) + `{}` + strings.Repeat(`]}`, n),
	} {
		for _, v := range []any{new(ownNode), new(keeps), new(holds), new([]ownNode), new(map[string]*ownNode)} {
			text := node
			switch v.(type) {
			case *holds:
				text = `{"Nodes":[` + node + `],"Issue":{"id":1}}`
			case *[]ownNode:
				text = `[` + node + `]`
			case *map[string]*ownNode:
				text = `{"a":` + node + `}`
			}
			ownDecodes = 0
			r := jsonread.Reader{Foreign: unmarshalForeign}
			r.Reset([]byte(text))
			err := decodeValue(&r, v)
			_, tolerant := v.(*keeps)
			assert.Equal(t, tolerant, err == nil, "%s in %T: %v", name, v, err)
			assert.LessOrEqual(t, ownDecodes, 3*(n+1), "%s in %T", name, v)
		}
	}
}

// A struct with an Extra is as tolerant as a response type, in pointers, lists and maps, too.
func TestForeignTolerance(t *testing.T) {
	type own struct {
		ID    int64                      `json:"id"`
		Share *float64                   `json:"share"`
		Flags []bool                     `json:"flags"`
		Sure  bool                       `json:"sure"`
		Sizes map[string]int             `json:"sizes"`
		At    time.Time                  `json:"at"`
		State IssueState                 `json:"state"`
		Extra map[string]json.RawMessage `json:"-"`
	}
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	got, mismatches, err := decodeText[own](`{"id":"7","share":"1.5","flags":[true,false],"sizes":{"a":"2"},"at":"2026-03-01 09:30:00 UTC","state":"opened"}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, own{ID: 7, Share: new(1.5), Flags: []bool{true, false}, Sizes: map[string]int{"a": 2}, At: at, State: "opened"}, got)
	got, mismatches, err = decodeText[own](`{"id":null,"share":null,"at":"","flags":["maybe"],"sure":"true","state":5}`)
	require.NoError(t, err)
	assert.Len(t, mismatches, 3)
	assert.Equal(t, own{Flags: []bool{}, Sure: true, Extra: map[string]json.RawMessage{
		"flags": json.RawMessage(`["maybe"]`), "sure": json.RawMessage(`"true"`), "state": json.RawMessage("5"),
	}}, got)
	got, mismatches, err = decodeText[own](`{"flags":[null,true],"sizes":{"a":null}}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, own{Flags: []bool{false, true}, Sizes: map[string]int{"a": 0}}, got)
	named, mismatches, err := decodeText[struct {
		N     int                        `json:"n,omitempty,string"`
		Extra map[string]json.RawMessage `json:"extra"`
	}](`{"n":"5","extra":{"a":1},"new":2}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, 5, named.N)
	assert.Equal(t, map[string]json.RawMessage{"a": json.RawMessage("1")}, named.Extra, "a field of its own key")
	_, _, err = decodeText[struct {
		Kept own
		ID   int64
	}](`{"Kept":{"id":"7"},"ID":"8"}`)
	assert.EqualError(t, err, "/ID is a JSON string, and its Go type is int64", "the struct around it is not")
}

// Embedded structs are read as encoding/json does, four levels deep and with a key of their own. A
// field Extra of another type is no place for what does not fit.
func TestForeignEmbedded(t *testing.T) {
	type Four struct{ A, B, C int }
	type Three struct{ Four }
	type Two struct{ Three }
	type One struct{ Two }
	likeEncodingJSON(t, `{"A":1,"B":2,"C":3}`, func() (v struct{ One }) { return v })
	likeEncodingJSON(t, `{"A":1,"B":2,"C":3}`, func() (v One) { return v })
	likeEncodingJSON(t, `{"f":{"A":1},"A":2,"Four":{"B":1}}`, func() (v struct {
		Four `json:"f"`
	}) {
		return v
	})
	type own struct {
		ID    int
		Extra map[string]any `json:"-"`
	}
	value, mismatches, err := decodeText[own](`{"ID":1,"new":2}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, own{ID: 1}, value)
}

// A map keeps null as the zero value, and loses a key whose last value does not fit. A list of texts
// may be one text. An object without the items of a page is an error.
func TestDecodeParts(t *testing.T) {
	read := func(text string) *jsonread.Reader {
		r := &jsonread.Reader{Foreign: unmarshalForeign}
		r.Reset([]byte(text))
		return r
	}
	assert.Equal(t, map[string]string{"a": "", "b": "x"}, mapOf(read(`{"a":null,"b":"x","c":"x","c":[]}`), jsonread.Text[string]))
	assert.Equal(t, map[string][]string{"a": nil, "b": {}}, mapOf(read(`{"a":null,"b":[],"c":5}`), sliceDecoder(jsonread.Text[string])))
	for text, want := range map[string][]string{`"a"`: {"a"}, `["a","b"]`: {"a", "b"}, "[]": {}, "5": nil, "null": nil} {
		var got []string
		texts(&got, read(text))
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]int{`{"a":1,"rows":[{"id":1},{"id":2}],"b":2}`: 2, `{"rows":null}`: 0, `{"rows":[]}`: 0, `{"a":1}`: -1, `{}`: -1, `{"rows":5}`: -1, `{"rows":[{"id":1}`: -1, `{"rows":[{"id":`: -1, "5": 0, "5 x": -1, `{"rows":[]} x`: -1} {
		rows, err := decodeMember[listRow](read(text), "rows")
		assert.Equal(t, want < 0, err != nil, "%s: %v", text, err)
		assert.Len(t, rows, max(want, 0), text)
	}
	_, err := decodePage[listRow](read("[] x"))
	require.Error(t, err, "there is more than the page")
	_, err = unmarshalForeign(new(struct{ A int }), read(`{"A":`))
	require.Error(t, err, "the text is cut off")
	require.EqualError(t, decodeInto([]byte("1"), new(int)), "*int has no decoder")
}
