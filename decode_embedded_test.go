package forge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
)

// The types below are callers' types that embed response types. They are in another package, as
// callers' types are.

//forgevet:ignore
type stamped struct {
	forge.Issue
	Fetched time.Time `json:"fetched"`
}

//forgevet:ignore
type stampedPointer struct {
	*forge.Issue
	Fetched string `json:"fetched"`
	Title   int    `json:"title"` // hides Issue.Title
}

//forgevet:ignore
type deep struct {
	Base
	Note string
}

// Base embeds a response type one level down.
//
//forgevet:ignore
type Base struct {
	stamped
	Links []stamped           `json:"links"`
	ByKey map[string]*stamped `json:"by_key"`
	Pair  [2]stamped          `json:"pair"`
	Named forge.UserSummary   `json:"named"`
}

//forgevet:ignore
type node struct {
	forge.TimeStats
	Children []*node `json:"children"`
	Next     *node   `json:"next"`
}

//forgevet:ignore
type two struct {
	forge.TimeStats
	*forge.References
	Other string `json:"other"`
}

// decides has its own UnmarshalJSON, which counts.
//
//forgevet:ignore
type decides struct {
	forge.Issue
	Fetched string
}

func (d *decides) UnmarshalJSON(data []byte) error {
	d.Fetched = fmt.Sprintf("%d bytes", len(data))
	return nil
}

// decidesGeneric has its own UnmarshalJSON and a type parameter.
//
//forgevet:ignore
type decidesGeneric[T any] struct {
	forge.Issue
	Fetched T
}

func (d *decidesGeneric[T]) UnmarshalJSON([]byte) error {
	d.ID = 77
	return nil
}

// inherits has the UnmarshalJSON of another type of the caller.
type inherits struct{ decides }

// tagged is not flattened: the embedded type has a key.
//
//forgevet:ignore
type tagged struct {
	forge.Issue `json:"issue"`
	Fetched     string `json:"fetched"`
}

// readBoth reads a text with Do, and as the item of a list with ListAs.
func readBoth[T any](t require.TestingT, text string, options ...forge.Option) (value T, mismatches []forge.Mismatch) {
	body := text
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(body))
	}))
	defer server.Close()
	client, err := forge.NewClient(server.URL, append(options, forge.WithToken("glpat-0123456789abcdefghij"))...)
	require.NoError(t, err)
	var response forge.Response
	require.NoError(t, client.Do(context.Background(), forge.Call{Method: "GET", Route: "/x"}, &value, forge.Into(&response)))
	body = "[" + text + "]"
	items, err := forge.Collect(forge.ListAs[T](context.Background(), client, forge.Call{Method: "GET", Route: "/x"}))
	require.NoError(t, err)
	require.Len(t, items, 1)
	require.Equal(t, value, *items[0], "Do and ListAs differ")
	return value, response.Mismatches
}

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func TestEmbedded(t *testing.T) {
	const text = `{"id":1,"title":"t","fetched":"2026-03-01T00:00:00Z","x":[1],"weight":"heavy"}`
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	extra := map[string]json.RawMessage{"x": raw("[1]"), "weight": raw(`"heavy"`)}
	issue := forge.Issue{ID: 1, Title: "t", Extra: extra}

	got, mismatches := readBoth[stamped](t, text)
	assert.Equal(t, stamped{issue, at}, got)
	assert.Equal(t, []forge.Mismatch{{Pointer: "/weight", Want: "integer", Got: "string"}}, mismatches)
	//forgevet:ignore
	unnamed, _ := readBoth[struct {
		forge.Issue
		Fetched time.Time
	}](t, text)
	assert.Equal(t, at, unnamed.Fetched, "keys match in any case")
	assert.Equal(t, issue, unnamed.Issue)

	untitled := issue
	untitled.Title = ""
	byPointer, mismatches := readBoth[stampedPointer](t, text)
	assert.Equal(t, stampedPointer{Issue: &untitled, Fetched: "2026-03-01T00:00:00Z"}, byPointer)
	assert.Equal(t, []forge.Mismatch{{Pointer: "/title", Want: "int", Got: "string"}, {Pointer: "/weight", Want: "integer", Got: "string"}}, mismatches)
	byPointer, _ = readBoth[stampedPointer](t, `{"fetched":"f"}`)
	assert.Nil(t, byPointer.Issue, "none of its fields is there")

	withKey, _ := readBoth[tagged](t, `{"issue":{"id":1,"y":2},"fetched":"f","id":5}`)
	assert.Equal(t, tagged{forge.Issue{ID: 1, Extra: map[string]json.RawMessage{"y": raw("2")}}, "f"}, withKey)

	both, _ := readBoth[two](t, `{"time_estimate":5,"short":"#1","other":"o","z":1}`)
	z := map[string]json.RawMessage{"z": raw("1")}
	assert.Equal(t, two{forge.TimeStats{TimeEstimate: 5, Extra: z}, &forge.References{Short: "#1", Extra: z}, "o"}, both)
}

func TestEmbeddedDeep(t *testing.T) {
	one := `{"id":2,"fetched":"2026-03-01T00:00:00Z","y":1}`
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	item := stamped{forge.Issue{ID: 2, Extra: map[string]json.RawMessage{"y": raw("1")}}, at}
	got, mismatches := readBoth[deep](t, `{"id":1,"note":"n","links":[`+one+`,null,5],"by_key":{"a/b":`+one+`,"c":null},"pair":[`+one+`],"named":{"id":[3]},"fetched":"2026-03-01T00:00:00Z","x":0}`)
	assert.Equal(t, deep{Base{
		stamped: stamped{forge.Issue{ID: 1, Extra: map[string]json.RawMessage{"x": raw("0")}}, at},
		Links:   []stamped{item, {}, {}}, ByKey: map[string]*stamped{"a/b": &item, "c": nil}, Pair: [2]stamped{item, {}},
		Named: forge.UserSummary{Extra: map[string]json.RawMessage{"id": raw("[3]")}},
	}, "n"}, got)
	assert.ElementsMatch(t, []forge.Mismatch{{Pointer: "/links/2", Want: "forge_test.stamped", Got: "number"}, {Pointer: "/named/id", Want: "integer", Got: "array"}}, mismatches)

	tree, _ := readBoth[node](t, `{"time_estimate":1,"children":[{"time_estimate":2,"next":{"time_estimate":3,"k":1}}],"next":null}`)
	assert.Equal(t, node{TimeStats: forge.TimeStats{TimeEstimate: 1}, Children: []*node{{TimeStats: forge.TimeStats{TimeEstimate: 2},
		Next: &node{TimeStats: forge.TimeStats{TimeEstimate: 3, Extra: map[string]json.RawMessage{"k": raw("1")}}}}}}, tree)

	list, _ := readBoth[map[string][]stamped](t, `{"k":[`+one+`]}`)
	assert.Equal(t, map[string][]stamped{"k": {item}}, list)
	_, mismatches = readBoth[map[string]stamped](t, `{"a":"x"}`)
	assert.Equal(t, []forge.Mismatch{{Pointer: "/a", Want: "forge_test.stamped", Got: "string"}}, mismatches)
	fixed, _ := readBoth[struct {
		At    forge.Date
		Owner *forge.UserSummary `json:"owner"`
		Any   any
	}](t, `{"At":"2026-03-01","owner":{"id":4},"Any":{"id":1}}`)
	assert.Equal(t, forge.NewDate(2026, 3, 1), fixed.At)
	assert.Equal(t, &forge.UserSummary{ID: 4}, fixed.Owner)
	assert.Equal(t, map[string]any{"id": 1.0}, fixed.Any)
}

// A type that decodes itself does so, also if it embeds a response type.
func TestEmbeddedOwnMethod(t *testing.T) {
	own, _ := readBoth[decides](t, `{"id":1}`)
	assert.Equal(t, decides{Fetched: "8 bytes"}, own)
	inherited, _ := readBoth[inherits](t, `{"id":1}`)
	assert.Equal(t, inherits{own}, inherited)
	inList, _ := readBoth[[]decides](t, `[{"id":1}]`)
	assert.Equal(t, []decides{own}, inList)
	generic, _ := readBoth[decidesGeneric[int]](t, `{"id":1,"Fetched":5}`)
	assert.Equal(t, int64(77), generic.ID)
	assert.Zero(t, generic.Fetched)
}

// Do changes only what the response has.
func TestEmbeddedKeeps(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":1}`))
	}))
	defer server.Close()
	client, err := forge.NewClient(server.URL, forge.WithToken("glpat-0123456789abcdefghij"))
	require.NoError(t, err)
	value := stampedPointer{Fetched: "before"}
	require.NoError(t, client.Do(t.Context(), forge.Call{Method: "GET", Route: "/x"}, &value))
	assert.Equal(t, stampedPointer{Issue: &forge.Issue{ID: 1}, Fetched: "before"}, value)
}

// A struct that embeds a response type has the fields that the response type and a struct of the
// other fields have.
func TestEmbeddedLikeItsParts(t *testing.T) {
	type others struct {
		Fetched string         `json:"fetched"`
		Counts  map[string]int `json:"counts"`
		Flag    *bool
	}
	//forgevet:ignore
	type whole struct {
		others
		forge.Namespace
	}
	values := []string{"1", "0", "null", `"x"`, `""`, "true", `{"a":1}`, `{"a":"b"}`, "[]", "[1]", `"2026-03-01T00:00:00Z"`}
	keys := []string{"id", "name", "parent_id", "fetched", "counts", "Flag", "flag", "FETCHED", "unknown", "billable_members_count", "Name"}
	rapid.Check(t, func(rt *rapid.T) {
		var all, rest []string
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 0, len(keys), strings.ToLower).Draw(rt, "keys") {
			member := fmt.Sprintf("%q : %s", key, rapid.SampledFrom(values).Draw(rt, key))
			if all = append(all, member); !slices.Contains([]string{"fetched", "counts", "flag"}, strings.ToLower(key)) {
				rest = append(rest, member)
			}
		}
		got, _ := readBoth[whole](rt, "{"+strings.Join(all, ", ")+"}")
		own, _ := readBoth[others](rt, "{"+strings.Join(all, ", ")+"}")
		namespace, _ := readBoth[forge.Namespace](rt, "{"+strings.Join(rest, ", ")+"}")
		if want := (whole{own, namespace}); !reflect.DeepEqual(want, got) {
			rt.Fatalf("%+v instead of %+v", got, want)
		}
	})
}

// encoding/json calls the method of the embedded type, as the documentation of Extra says. A field
// with a name has no such effect.
func TestEmbeddedInEncodingJSON(t *testing.T) {
	var value stamped
	require.NoError(t, json.Unmarshal([]byte(`{"id":1,"fetched":"2026-03-01T00:00:00Z"}`), &value))
	assert.True(t, value.Fetched.IsZero())
	named := struct {
		Issue   forge.Issue `json:"issue"`
		Fetched time.Time   `json:"fetched"`
	}{forge.Issue{ID: 1, Extra: map[string]json.RawMessage{"x": raw("1")}}, time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	text, err := json.Marshal(named)
	require.NoError(t, err)
	assert.JSONEq(t, `{"issue":{"id":1,"x":1},"fetched":"2026-03-01T00:00:00Z"}`, string(text))
	again := named
	again.Issue, again.Fetched = forge.Issue{}, time.Time{}
	require.NoError(t, json.Unmarshal(text, &again))
	assert.Equal(t, named, again)
}

//forgevet:ignore
type marshalsItself struct {
	forge.Issue
	Note string
}

func (marshalsItself) MarshalJSON() ([]byte, error) { return []byte(`"own"`), nil }

//forgevet:ignore
type outer struct {
	forge.Issue
	inner
}

type inner struct{ forge.TimeStats }

// A body of a call must not lose the fields next to an embedded response type.
func TestCallBodyEmbeds(t *testing.T) {
	sent := 0
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { sent++ }))
	defer srv.Close()
	client, err := forge.NewClient(srv.URL, forge.WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
	require.NoError(t, err)
	send := func(body any) error {
		return client.Do(t.Context(), forge.Call{Method: "POST", Route: "/things", Body: body}, nil)
	}
	for _, body := range []any{stamped{}, &stamped{}, []*stamped{}, map[string]struct{ A []stamped }{}, deep{}, two{}, outer{}} {
		var invalid *forge.ValidationError
		require.ErrorAs(t, send(body), &invalid, "%T", body)
		require.ErrorContains(t, invalid, "it embeds forge.")
	}
	assert.Zero(t, sent)
	for _, body := range []any{forge.Issue{}, []*forge.Issue{}, struct{ forge.Issue }{}, struct{ A forge.Issue }{}, marshalsItself{}, map[string]any{}} {
		require.NoError(t, send(body), "%T", body)
	}
	assert.Equal(t, 6, sent)
}
