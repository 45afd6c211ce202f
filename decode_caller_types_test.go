package forge

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// ownPart and the types below are types that callers define.
type ownPart struct {
	ID    int            `json:"id"`
	Name  *string        `json:"name"`
	Parts []ownPart      `json:"parts"`
	Sizes map[string]int `json:"sizes"`
	Pair  [2]bool        `json:"pair"`
	Any   any            `json:"any"`
	Kind  ownKind        `json:"kind"`
	Note  ownNote        `json:"note"`
	ownEmbedded
	After string `json:"after"`
}

type ownEmbedded struct {
	Small int8    `json:"small"`
	Share float32 `json:"share"`
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
	{`{"id":"x","after":"x"}`, []Mismatch{{"/id", "int", "string"}}, ownPart{After: "x"}},
	{`{"id":1.5,"name":{"a":1},"after":"x"}`, []Mismatch{{"/id", "int", "number"}, {"/name", "string", "object"}}, ownPart{After: "x"}},
	{` { "parts" : [ { "id" : 1 } , { "id" : [ ] , "name" : "n" } , 7 ] , "after" : "x" } `,
		[]Mismatch{{"/parts/1/id", "int", "array"}, {"/parts/2", "forge.ownPart", "number"}}, ownPart{Parts: []ownPart{{ID: 1}, {Name: new("n")}, {}}, After: "x"}},
	{`{"parts":{"id":1},"after":"x"}`, []Mismatch{{"/parts", "[]forge.ownPart", "object"}}, ownPart{After: "x"}},
	{`{"sizes":{"a/b~c":"x","d":2,"e":null},"after":"x"}`, []Mismatch{{"/sizes/a~1b~0c", "int", "string"}}, ownPart{Sizes: map[string]int{"a/b~c": 0, "d": 2, "e": 0}, After: "x"}},
	{`{"pair":[true,1,false],"after":"x"}`, []Mismatch{{"/pair/1", "bool", "number"}}, ownPart{Pair: [2]bool{true, false}, After: "x"}},
	{`{"any":[{"id":"x"}],"small":300,"share":1e99,"after":"x"}`, []Mismatch{{"/small", "int8", "number"}, {"/share", "float32", "number"}}, ownPart{Any: []any{map[string]any{"id": "x"}}, After: "x"}},
	{`{"ID":"x","After":"x"}`, []Mismatch{{"/ID", "int", "string"}}, ownPart{After: "x"}},
	{`{"id":"x","id":2,"after":"x"}`, []Mismatch{{"/id", "int", "string"}}, ownPart{ID: 2, After: "x"}},
	{`{"parts":[{"parts":[{"parts":[{"sizes":{"":{}}}]}]}],"after":"x"}`, []Mismatch{{"/parts/0/parts/0/parts/0/sizes/", "int", "object"}},
		ownPart{Parts: []ownPart{{Parts: []ownPart{{Parts: []ownPart{{Sizes: map[string]int{"": 0}}}}}}}, After: "x"}},
	// encoding/json stops at a type with UnmarshalJSON that reports a wrong type. The rest must still
	// be decoded.
	{`{"kind":5,"after":"x"}`, []Mismatch{{"/kind", "string", "number"}}, ownPart{After: "x"}},
	{`{"kind":[1,2],"id":"x","after":"x"}`, []Mismatch{{"/kind", "string", "array"}, {"/id", "int", "string"}}, ownPart{After: "x"}},
	{`{"note":{"a":1,"b":"x"},"after":"x"}`, []Mismatch{{"/note/b", "int", "string"}}, ownPart{After: "x"}},
}

// The library's own reader finds the places that do not fit a caller's type, so they are the same
// with each Go release.
func TestForeignMismatches(t *testing.T) {
	for _, row := range foreignRows {
		value, mismatches, err := decodeText[ownPart](row.text)
		if strings.Contains(row.text, `"note"`) { // without b it fails with its own error, as it would with null
			require.ErrorContains(t, err, "half a note", row.text)
			assert.Equal(t, row.want, mismatches, row.text)
			continue
		}
		require.NoError(t, err, row.text)
		assert.Equal(t, row.want, mismatches, row.text)
		assert.Equal(t, row.read, value, row.text)
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
		require.NoError(t, err)
		assert.Equal(t, []Mismatch{want}, mismatches, text)
	}
	_, _, err := decodeText[struct{ At time.Time }](`{"At":"yesterday"}`)
	assert.Error(t, err, "another error than a type error fails the response")
}

// If the exact place cannot be found, the mismatch has the place of the enclosing value.
func TestForeignMismatchesTogether(t *testing.T) {
	_, mismatches, err := decodeText[struct {
		Pairs []ownTogether `json:"pairs"`
		After string        `json:"after"`
	}](`{"pairs":[{"a":1},{"a":1,"b":2}],"after":"x"}`)
	require.NoError(t, err)
	assert.Equal(t, []Mismatch{{"/pairs/1", "bool", "object"}}, mismatches)
}

// ownTogether accepts either of two keys.
type ownTogether struct{}

func (*ownTogether) UnmarshalJSON(data []byte) error {
	if strings.Contains(string(data), `"a"`) && strings.Contains(string(data), `"b"`) {
		return json.Unmarshal([]byte(`5`), new(bool))
	}
	return nil
}

// A text with many wrong values must neither use many times its size in memory nor fail.
func TestForeignMismatchesAreLimited(t *testing.T) {
	items := strings.Repeat(`"x",`, 200_000) + `7`
	value, mismatches, err := decodeText[map[string][]int](`{"a":[` + items + `]}`)
	require.NoError(t, err)
	assert.Len(t, mismatches, maxMisfits)
	assert.Equal(t, fmt.Sprintf("/a/%d", maxMisfits-1), mismatches[maxMisfits-1].Pointer)
	assert.Equal(t, 7, value["a"][200_000])

	value, mismatches, err = decodeText[map[string][]int](`{"a":[` + strings.ReplaceAll(items, `"x"`, "1") + `,"x"]}`)
	require.NoError(t, err)
	assert.Equal(t, []Mismatch{{"/a/200001", "int", "string"}}, mismatches)
	assert.Len(t, value["a"], 200_002)

	deep := strings.Repeat(`{"parts":[`, 300)
	_, mismatches, err = decodeText[ownPart](deep + `{"id":"x"}` + strings.Repeat(`]}`, 300))
	require.NoError(t, err)
	require.Len(t, mismatches, 1)
	assert.Equal(t, misfitDepth, strings.Count(mismatches[0].Pointer, "/"))
}
