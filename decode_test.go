package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// decodeText decodes from a buffer and then overwrites the buffer, so that a value that shares its
// memory is detected.
func decodeText[T any](text string) (v T, mismatches []Mismatch, err error) {
	r := jsonread.Reader{Foreign: unmarshalForeign}
	buffer := []byte(text)
	r.Reset(buffer)
	err = decodeValue(&r, &v)
	for i := range buffer {
		buffer[i] = 'X'
	}
	for _, m := range r.Mismatches() {
		mismatches = append(mismatches, Mismatch(m))
	}
	return v, mismatches, err
}

func TestDecodeExtra(t *testing.T) {
	issue, mismatches, err := decodeText[Issue](`{"new":{"a":[1, "x"]},"title":"a title","author":{"id":7,"pronouns":"she"},"labels":[{"name":"bug","lock":null}],` +
		`"milestone":{"ghost":true},"Title":"another case","esc\u0061ped":1,"gone":null}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, map[string]json.RawMessage{
		"new": json.RawMessage(`{"a":[1, "x"]}`), "Title": json.RawMessage(`"another case"`), "escaped": json.RawMessage(`1`), "gone": json.RawMessage(`null`),
	}, issue.Extra)
	assert.Equal(t, "a title", issue.Title)
	assert.Equal(t, UserSummary{ID: 7, Extra: map[string]json.RawMessage{"pronouns": json.RawMessage(`"she"`)}}, issue.Author)
	assert.Equal(t, []Label{{Name: "bug", Extra: map[string]json.RawMessage{"lock": json.RawMessage(`null`)}}}, issue.Labels)
	assert.Equal(t, map[string]json.RawMessage{"ghost": json.RawMessage(`true`)}, issue.Milestone.Extra)
}

// A value of the wrong type is decoded as the zero value, listed with its place and stored
// unparsed. It does not affect other fields.
func TestDecodeMismatches(t *testing.T) {
	for _, test := range []struct {
		field, want, got string // want and got are those of the mismatch
		value            string
	}{
		{"id", "integer", "boolean", `true`}, {"id", "integer", "string", `"4x"`}, {"id", "integer", "number", `1.0`}, {"id", "integer", "number", `1e3`},
		{"id", "integer", "number", `9223372036854775808`}, {"id", "integer", "object", `{"a":[]}`}, {"title", "string", "number", `5`}, {"state", "string", "array", `[{}]`},
		{"imported", "boolean", "string", `"yes"`}, {"created_at", "timestamp", "string", `"yesterday"`}, {"created_at", "timestamp", "number", `0`}, {"due_date", "date", "string", `"2026-02-29"`},
		{"due_date", "date", "array", `[]`}, {"author", "object", "string", `"ada"`}, {"closed_by", "object", "number", `1`}, {"assignees", "array", "object", `{ }`}, {"labels", "array", "string", `"bug"`},
		{"weight", "integer", "string", `"heavy"`}, {"author/id", "integer", "array", `{"id":[]}`}, {"milestone/due_date", "date", "boolean", `{"due_date":false}`},
		{"assignees/1", "object", "string", `[{"id":1},"x",{"id":3}]`}, {"labels/2/name", "string", "object", `["a",{"name":"b"},{"name":{}}]`}, {"labels/0", "object", "number", `[1]`},
	} {
		name, below, _ := strings.Cut(test.field, "/")
		text := fmt.Sprintf(`{"iid":5,%q: %s ,"web_url":"w"}`, name, test.value)
		issue, mismatches, err := decodeText[Issue](text)
		require.NoError(t, err, text)
		assert.Equal(t, []Mismatch{{Pointer: "/" + test.field, Want: test.want, Got: test.got}}, mismatches, text)
		assert.True(t, issue.IID == 5 && issue.WebURL == "w", text)
		if strings.Contains(below, "/") || strings.HasSuffix(below, "id") || strings.HasSuffix(below, "date") {
			assert.Nil(t, issue.Extra, "an object stores its own fields in Extra")
			continue
		}
		assert.Equal(t, map[string]json.RawMessage{name: json.RawMessage(test.value)}, issue.Extra, text)
		if below == "" {
			issue.IID, issue.WebURL, issue.Extra = 0, "", nil
			if name == "labels" || name == "assignees" {
				assert.Nil(t, issue.Assignees)
			}
			assert.Equal(t, Issue{}, issue, text)
		}
	}
}

func TestDecodeMismatchesBelow(t *testing.T) {
	page, mismatches, err := decodeText[page100[Issue]](`[{"id":1},{"id":"2"},{"id":3},{"id":4,"author":{"id":{},"name":"d"},"a~b/c":1,"title":[]},{"id":5}]`)
	require.NoError(t, err)
	assert.Equal(t, []Mismatch{{"/3/author/id", "integer", "object"}, {"/3/title", "string", "array"}}, mismatches)
	require.Len(t, page, 5)
	assert.Equal(t, "d", page[3].Author.Name)
	assert.Equal(t, map[string]json.RawMessage{"id": json.RawMessage(`{}`)}, page[3].Author.Extra)
	assert.Equal(t, map[string]json.RawMessage{"a~b/c": json.RawMessage(`1`), "title": json.RawMessage(`[]`)}, page[3].Extra)
	assert.Equal(t, []int64{1, 2, 3, 4, 5}, []int64{page[0].ID, page[1].ID, page[2].ID, page[3].ID, page[4].ID})

	commit, mismatches, err := decodeText[Commit](`{"trailers":{"a":1,"b":"c","d":"e","d":2},"extended_trailers":5,"parent_ids":["p",6],"id":"x"}`)
	require.NoError(t, err)
	assert.Equal(t, Commit{ID: "x", Trailers: map[string]string{"b": "c"}, ParentIDs: []string{"p"}, Extra: map[string]json.RawMessage{
		"trailers": json.RawMessage(`{"a":1,"b":"c","d":"e","d":2}`), "extended_trailers": json.RawMessage(`5`), "parent_ids": json.RawMessage(`["p",6]`),
	}}, commit)
	assert.Equal(t, []string{"/trailers/a", "/trailers/d", "/extended_trailers", "/parent_ids/1"}, pointers(mismatches))

	commit, mismatches, err = decodeText[Commit](`{"extended_trailers":{"a":["b",1],"c~d/e":"text","f":[],"g":null}}`)
	require.NoError(t, err)
	assert.Equal(t, Commit{ExtendedTrailers: map[string][]string{"a": {"b"}, "c~d/e": {"text"}, "f": {}, "g": nil}, Extra: map[string]json.RawMessage{
		"extended_trailers": json.RawMessage(`{"a":["b",1],"c~d/e":"text","f":[],"g":null}`),
	}}, commit)
	assert.Equal(t, []Mismatch{{"/extended_trailers/a/1", "string", "number"}}, mismatches)

	commit, mismatches, err = decodeText[Commit](`{"extended_trailers":{"a":"b","c":["d","e"],"f":""}}`)
	require.NoError(t, err)
	assert.Equal(t, Commit{ExtendedTrailers: map[string][]string{"a": {"b"}, "c": {"d", "e"}, "f": {""}}}, commit)
	assert.Empty(t, mismatches, "a text is decoded as a list of one item")

	blob, mismatches, err := decodeText[Blob](`{"content":[1],"size":2}`)
	require.NoError(t, err)
	assert.Equal(t, Blob{Size: 2, Extra: map[string]json.RawMessage{"content": json.RawMessage(`[1]`)}}, blob)
	assert.Equal(t, []Mismatch{{"/content", "base64", "array"}}, mismatches)

	change, mismatches, err := decodeText[AuditEventDetails](`{"change":["a"],"from":true,"to":7}`)
	require.NoError(t, err)
	assert.Equal(t, AuditEventDetails{Extra: map[string]json.RawMessage{"change": json.RawMessage(`["a"]`), "from": json.RawMessage(`true`), "to": json.RawMessage(`7`)}}, change)
	assert.Len(t, mismatches, 3)
}

func pointers(mismatches []Mismatch) (list []string) {
	for _, m := range mismatches {
		list = append(list, m.Pointer)
	}
	return list
}

// A text with many wrong values must not use many times its size in memory.
func TestDecodeMismatchesAreLimited(t *testing.T) {
	_, mismatches, err := decodeText[NamespaceAvailability](`{"suggests":[` + strings.Repeat("1,", 50000) + `1]}`)
	require.NoError(t, err)
	assert.Len(t, mismatches, 1000)
	assert.Equal(t, "/suggests/999", mismatches[999].Pointer)
}

// null is the zero value of every field of every response type.
func TestDecodeNulls(t *testing.T) {
	nulls[Issue](t)
	nulls[MergeRequest](t)
	nulls[Todo](t)
	nulls[Note](t)
	nulls[Milestone](t)
	nulls[UserSummary](t)
	nulls[Namespace](t)
	nulls[Comparison](t)
	nulls[Commit](t)
	nulls[Blob](t)
	nulls[TreeEntry](t)
	nulls[NamespaceAvailability](t)
}

func nulls[T any](t *testing.T) {
	t.Helper()
	var members []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "-" {
			members = append(members, fmt.Sprintf("%q: null", name))
		}
	}
	v, mismatches, err := decodeText[T]("{" + strings.Join(members, ",") + "}")
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Zero(t, v)
}

func TestDecodeUnions(t *testing.T) {
	issue, mismatches, err := decodeText[Issue](`{"id":"42","iid":7,"labels":["bug",{"name":"p1","color":"#f00"},"l\u00e9",null]}`)
	require.NoError(t, err)
	assert.Empty(t, mismatches)
	assert.Equal(t, []Label{{Name: "bug"}, {Name: "p1", Color: "#f00"}, {Name: "lé"}, {}}, issue.Labels)
	assert.EqualValues(t, 42, issue.ID)
	assert.EqualValues(t, 7, issue.IID)
	for _, text := range []string{`{"labels":null}`, `{}`, `{"labels":7}`} {
		issue, _, err = decodeText[Issue](text)
		require.NoError(t, err)
		assert.Nil(t, issue.Labels, text)
	}
	issue, _, err = decodeText[Issue](`{"labels":[]}`)
	require.NoError(t, err)
	assert.True(t, issue.Labels != nil && len(issue.Labels) == 0)
}

// The last value of a repeated key counts, and contains no part of an earlier value.
func TestDecodeRepeatedKeys(t *testing.T) {
	issue, _, err := decodeText[Issue](`{"title":"a","author":{"id":1,"x":1},"labels":["a","b"],"weight":1,"closed_by":{"id":1},"y":1,"iid":1,"due_date":"2026-01-01","milestone":{"id":1},` +
		`"title":"b","author":{"name":"n"},"labels":["c"],"weight":null,"closed_by":{"name":"m"},"y":2,"iid":"x","due_date":0,"milestone":4}`)
	require.NoError(t, err)
	assert.Equal(t, Issue{
		Title: "b", Author: UserSummary{Name: "n"}, Labels: []Label{{Name: "c"}}, ClosedBy: &UserSummary{Name: "m"}, Extra: map[string]json.RawMessage{
			"y": json.RawMessage("2"), "iid": json.RawMessage(`"x"`), "due_date": json.RawMessage("0"), "milestone": json.RawMessage("4"),
		},
	}, issue)

	issue, mismatches, err := decodeText[Issue](`{"title":5,"labels":[5],"author":7,"due_date":"x","title":"b","labels":["c"],"author":{"id":1},"due_date":null,"id":[],"id":{},"id":3}`)
	require.NoError(t, err)
	assert.Equal(t, Issue{ID: 3, Title: "b", Author: UserSummary{ID: 1}, Labels: []Label{{Name: "c"}}}, issue, "a value that fits removes an earlier one that did not fit")
	assert.Len(t, mismatches, 6, "all values that were sent")
}

// A raw field is nil for null.
func TestDecodeRaw(t *testing.T) {
	todo, _, err := decodeText[Todo](`{"target_type":"Issue","target":{"id":5, "x":[]}}`)
	require.NoError(t, err)
	assert.Equal(t, `{"id":5, "x":[]}`, string(todo.Target), "as it came, white space included") //nolint:testifylint // not any equal JSON
	issue, err := todo.Issue()
	require.NoError(t, err)
	assert.EqualValues(t, 5, issue.ID)
	todo, _, err = decodeText[Todo](`{"target_type":"Issue","target":null}`)
	require.NoError(t, err)
	assert.Nil(t, todo.Target)
	_, err = todo.Issue()
	assert.ErrorContains(t, err, "no target of type Issue")
}

func TestDecodeAwkward(t *testing.T) {
	for _, text := range awkward {
		for name, difference := range map[string]string{
			"issue":     differ[Issue]([]byte(text), namesOf[Issue]()),
			"page":      differ[page100[Issue]]([]byte(text), namesOf[Issue]()),
			"commit":    differ[Commit]([]byte(text), namesOf[Commit]()),
			"blob":      differ[Blob]([]byte(text), namesOf[Blob]()),
			"namespace": differ[Namespace]([]byte(text), namesOf[Namespace]()),
			"todo":      differ[Todo]([]byte(text), namesOf[Todo]()),
		} {
			assert.Empty(t, difference, "%s: %q", name, text)
		}
	}
	for text, want := range map[string]int64{
		`9007199254740993`: 9007199254740993, `9223372036854775807`: 9223372036854775807, `-9223372036854775808`: -9223372036854775808, `"9007199254740993"`: 9007199254740993, `-0`: 0, `"-5"`: -5,
	} {
		issue, mismatches, err := decodeText[Issue](`{"id":` + text + `}`)
		require.NoError(t, err)
		assert.Empty(t, mismatches, text)
		assert.Equal(t, want, issue.ID, text)
	}
	for text, want := range map[string]string{
		`"\ud800"`: "\ufffd", `"\ud83d\ude00"`: "😀", `"\ude00\ud83d"`: "\ufffd\ufffd", "\"a\xffb\"": "a\ufffdb", "\"\x7f\"": "\x7f", `"\u0000"`: "\x00", `"\ud800A"`: "\ufffdA",
	} {
		issue, _, err := decodeText[Issue](`{"title":` + text + `}`)
		require.NoError(t, err, text)
		assert.Equal(t, want, issue.Title, text)
	}
	for _, bad := range []string{"\ufeff{}", "{}\ufeff", "\v{}", "{}\f", "{}{}", `{"x":01}`, `{"x":tru}`, `{"x":"\x"}`, "{\"x\":\"\x01\"}", `{"x":[1,]}`, `{"id":1,}`, `{"id":NaN}`, `{"id":1.}`, ``} {
		_, _, err := decodeText[Issue](bad)
		var syntax *jsonread.SyntaxError
		assert.ErrorAs(t, err, &syntax, "%q", bad)
	}
}

func TestDecodeTimes(t *testing.T) {
	for text, want := range map[string]string{
		`"2026-03-01T09:30:00Z"`: "2026-03-01T09:30:00Z", `"2026-03-01T09:30:00.123456789Z"`: "2026-03-01T09:30:00.123456789Z", `"2026-03-01T09:30:00+05:30"`: "2026-03-01T09:30:00+05:30",
		`"2026-03-01T09:30:00.5-08:00"`: "2026-03-01T09:30:00.5-08:00", `"2026-03-01T09:30:00\u005a"`: "2026-03-01T09:30:00Z", `""`: "0001-01-01T00:00:00Z", `null`: "0001-01-01T00:00:00Z",
		`"2026-03-01t09:30:00z"`: "2026-03-01T09:30:00Z", `"2026-03-01 09:30:00,5+0530"`: "2026-03-01T09:30:00.5+05:30", `"2026-03-01T09:30:00-08"`: "2026-03-01T09:30:00-08:00", `"2026-03-01"`: "2026-03-01T00:00:00Z", `"2026-03-01T09:30:00"`: "2026-03-01T09:30:00Z",
		`"2026-12-31T23:59:60Z"`: "", `"2026-02-29T00:00:00Z"`: "", `"2026-03-01T24:00:00Z"`: "", `"2026-03-01T09:30:00+25:00"`: "", `"Z"`: "", `"+01:00"`: "",
	} {
		issue, mismatches, err := decodeText[Issue](`{"created_at":` + text + `}`)
		require.NoError(t, err)
		if want == "" {
			assert.Equal(t, []Mismatch{{"/created_at", "timestamp", "string"}}, mismatches, text)
			assert.Zero(t, issue.CreatedAt)
			assert.Equal(t, text, string(issue.Extra["created_at"]))
			continue
		}
		assert.Empty(t, mismatches, text)
		assert.Empty(t, issue.Extra, text)
		assert.Equal(t, want, issue.CreatedAt.Format(time.RFC3339Nano), text)
	}
}

// If a field can hold only a part of a value, the field has this part, and Extra has the unparsed
// value.
func TestDecodePart(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	for name, test := range map[string]struct {
		text string
		want func(*Issue)
	}{
		"more digits than a time has":     {`{"created_at":"2026-03-01T09:30:00.0000000001Z"}`, func(w *Issue) { w.CreatedAt = at }},
		"a timestamp for a date":          {`{"due_date":"2026-03-01T23:30:00-08:00"}`, func(w *Issue) { w.DueDate = NewDate(2026, 3, 1) }},
		"a boolean as text":               {`{"imported":"true"}`, func(w *Issue) { w.Imported = true }},
		"a boolean as text that is false": {`{"imported":"false"}`, func(*Issue) {}},
	} {
		issue, mismatches, err := decodeText[Issue](test.text)
		require.NoError(t, err, name)
		require.Len(t, mismatches, 1, name)
		field := strings.TrimPrefix(mismatches[0].Pointer, "/")
		want := Issue{Extra: map[string]json.RawMessage{field: json.RawMessage(strings.TrimSuffix(strings.SplitN(test.text, ":", 2)[1], "}"))}}
		test.want(&want)
		assert.Equal(t, want, issue, name)
	}
}

func TestDecodeTimesWithoutAllocation(t *testing.T) {
	r := jsonread.Reader{Foreign: unmarshalForeign}
	for _, text := range []string{`"2026-03-01T09:30:00.123Z"`, `"2026-03-01T09:30:00+02:00"`, `"2026-03-01T09:30:00.5+05:30"`, `null`, `""`} {
		data := []byte(`[` + strings.Repeat(text+",", 99) + text + `]`)
		var at time.Time
		// Reset forgets the path and the zone, which are one allocation each.
		assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
			r.Reset(data)
			for open := r.Array(); open && r.More(); {
				jsonread.Time(&at, &r)
			}
		}), 4.0, text)
	}
	data := []byte(`["2026-03-01","2024-02-29",null,""]`)
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() {
		r.Reset(data)
		var day Date
		for open := r.Array(); open && r.More(); {
			day.decodeFrom(&r)
		}
	}), 1.0)
}

func TestDecodeDeep(t *testing.T) {
	nest := func(open, end string, n int) string { return strings.Repeat(open, n) + strings.Repeat(end, n) }
	for name, text := range map[string]string{
		"unknown arrays": `{"x":` + nest("[", "]", 100000) + `}`, "unknown objects": `{"x":` + strings.Repeat(`{"x":`, 100000) + "1" + strings.Repeat("}", 100000) + `}`,
		"text": `{"title":` + nest("[", "]", 100000) + `}`, "array": `{"labels":` + nest("[", "]", 100000) + `}`, "object": `{"author":` + strings.Repeat(`{"id":`, 100000) + "1" + strings.Repeat("}", 100000) + `}`,
		"unclosed": strings.Repeat(`{"milestone":[`, 100000), "raw": `{"target":` + nest("[", "]", 100000) + `}`, "map": `{"trailers":` + nest("[", "]", 100000) + `}`,
	} {
		for _, err := range []error{second(decodeText[Issue](text)), second(decodeText[Todo](text)), second(decodeText[Commit](text)), second(decodeText[page100[Issue]]("[" + text + "]"))} {
			assert.ErrorContains(t, err, "nested too deeply at byte", name)
		}
	}
	for levels, valid := range map[int]bool{9999: true, 10000: false} { // levels below the issue itself
		text := `{"x":` + nest("[", "]", levels) + `}`
		_, _, err := decodeText[Issue](text)
		assert.Equal(t, valid, err == nil)
		assert.Equal(t, valid, json.Valid([]byte(text)))
	}
}

func second[T any](_ T, _ []Mismatch, err error) error { return err }

// A response that is truncated at any byte is an error that states where it ends.
func TestDecodeTruncated(t *testing.T) {
	whole := bytes.TrimSpace(largeIssue(t))
	for n := range whole {
		_, _, err := decodeText[Issue](string(whole[:n]))
		var syntax *jsonread.SyntaxError
		require.ErrorAs(t, err, &syntax, "cut at %d", n)
		require.Equal(t, n, syntax.Offset)
		_, _, err = decodeText[page100[Issue]]("[" + string(whole[:n]))
		require.ErrorAs(t, err, &syntax, "cut at %d", n)
	}
	issue, mismatches, err := decodeText[Issue](string(whole))
	require.NoError(t, err)
	require.Empty(t, mismatches)
	require.Empty(t, issue.Extra)
	require.Empty(t, differ[page100[Issue]](largePage(t), namesOf[Issue]()))
}

// decodeClient returns a client that gets the text in every response.
func decodeClient(t *testing.T, text string, options ...Option) *Client {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(text))
	}))
	t.Cleanup(srv.Close)
	client, err := NewClient(srv.URL, append(options, WithToken("decode-test-token"))...)
	require.NoError(t, err)
	return client
}

func TestDecodeErrorsNameTheCall(t *testing.T) {
	ctx := context.Background()
	for text, want := range map[string]string{
		`{"id":1,"path":"a","x":[1,]}`:  "a value was expected at byte 26 of 28",
		"  \n" + `{"id":1,"path":"a}`:   "the text ends in the middle of a value at byte 21 of 21",
		`{"id":1} {`:                    "unexpected data after the value at byte 9 of 10",
		"\v{}":                          "a value was expected at byte 0 of 3",
		"{}\v":                          "unexpected data after the value at byte 2 of 3",
		`[{"id":1}]`:                    "the response is a JSON array",
		strings.Repeat("[", 20000) + "": "nested too deeply at byte 10000 of 20000",
	} {
		_, err := decodeClient(t, text).Namespaces.Get(ctx, ID(7))
		var e *Error
		require.ErrorAs(t, err, &e, text)
		assert.ErrorIs(t, err, ErrInvalidResponse)
		assert.Equal(t, "GET /namespaces/:id", e.Method+" "+e.Route)
		assert.Equal(t, 1, e.Attempts, "a complete response is not requested again")
		assert.ErrorContains(t, err, want)
		assert.ErrorContains(t, err, "GET")
		assert.ErrorContains(t, err, "/namespaces/:id")
	}
}

func TestDecodeMismatchesReachTheCaller(t *testing.T) {
	ctx := context.Background()
	var response Response
	client := decodeClient(t, `{"id":1,"name":5,"path":"p"}`)
	namespace, err := client.Namespaces.Get(ctx, ID(1), Into(&response))
	require.NoError(t, err)
	assert.Equal(t, Namespace{ID: 1, Path: "p", Extra: map[string]json.RawMessage{"name": json.RawMessage("5")}}, *namespace)
	assert.Equal(t, []Mismatch{{"/name", "string", "number"}}, response.Mismatches)

	client = decodeClient(t, `[{"id":1},{"id":2},{"id":3},{"id":4,"kind":{},"x":1}]`)
	namespaces, err := Collect(client.Namespaces.List(ctx, nil, Into(&response)))
	require.NoError(t, err)
	assert.Len(t, namespaces, 4)
	assert.Equal(t, []Mismatch{{"/3/kind", "string", "object"}}, response.Mismatches)

	for _, text := range []string{`[{"id":1},null]`, `[{"id":1},5]`} {
		_, err = Collect(decodeClient(t, text).Namespaces.List(ctx, nil))
		assert.ErrorContains(t, err, "item 1 of the page", text)
	}
}

func TestDecodeStrict(t *testing.T) {
	ctx := context.Background()
	for text, want := range map[string]string{
		`{"id":1,"owner":{}}`: "/owner: no field has this name", `{"id":1,"name":5}`: "/name: it should be of type string and is number",
		`{"ci_minutes_usage":{"a/b":1}}`: "/ci_minutes_usage/a~1b: no field has this name", `{"id":{}}`: "/id: it should be of type integer and is object",
	} {
		_, err := decodeClient(t, text, WithStrictDecoding()).Namespaces.Get(ctx, ID(1))
		assert.ErrorContains(t, err, "strict decoding: "+want)
		_, err = Collect(decodeClient(t, "[{},"+text+"]", WithStrictDecoding()).Namespaces.List(ctx, nil))
		assert.ErrorContains(t, err, "strict decoding: /1"+want)
		_, err = decodeClient(t, text).Namespaces.Get(ctx, ID(1))
		assert.NoError(t, err)
	}
	_, err := decodeClient(t, `{"id":1,"name":null,"parent_id":null}`, WithStrictDecoding()).Namespaces.Get(ctx, ID(1))
	assert.NoError(t, err)
}

// Callers' own types are strict. The error of an item of a list comes with the item, after those
// before it.
func TestDecodeForeign(t *testing.T) {
	type part struct {
		ID   int    `json:"id"`
		Name string `json:"name"`
	}
	type own struct {
		ID    int    `json:"id"`
		Parts []part `json:"parts"`
	}
	ctx, call := context.Background(), Call{Method: http.MethodGet, Route: "/own"}
	var response Response
	var items []own
	var failed error
	for item, err := range ListAs[own](ctx, decodeClient(t, `[{"id":1},{"id":"x","parts":[{"id":2,"name":5}]},{"id":3}]`), call, Into(&response)) {
		require.NoError(t, failed, "the list has ended")
		items, failed = append(items, *item), err
	}
	assert.ErrorContains(t, failed, "the response does not fit your type: /1/id is a JSON string, and its Go type is int")
	assert.ErrorIs(t, failed, ErrInvalidResponse)
	assert.Equal(t, []own{{ID: 1}, {Parts: []part{{ID: 2}}}}, items)
	assert.Equal(t, []Mismatch{{"/1/id", "int", "string"}, {"/1/parts/0/name", "string", "number"}}, response.Mismatches)
	assert.False(t, response.Cursor.Done(), "the page is not consumed")

	for _, method := range []string{http.MethodGet, http.MethodPost} {
		var value own
		call.Method = method
		err := decodeClient(t, `{"parts":[{"name":true}],"id":4}`).Do(ctx, call, &value, Into(&response))
		var e *Error
		require.ErrorAs(t, err, &e)
		assert.ErrorContains(t, err, "/parts/0/name is a JSON boolean, and its Go type is string")
		assert.Equal(t, method == http.MethodPost, e.MaybeApplied)
		assert.Equal(t, http.StatusOK, e.Status)
		assert.Equal(t, own{ID: 4, Parts: []part{{}}}, value)
		assert.Equal(t, []string{"/parts/0/name"}, pointers(response.Mismatches))
	}
	call.Method = ""
	items2, err := Collect(ListAs[own](ctx, decodeClient(t, `[null,{"id":"x"}]`), call))
	assert.Empty(t, items2)
	assert.ErrorContains(t, err, "item 0 of the page is null")
	_, err = Collect(ListAs[Date](ctx, decodeClient(t, `["2026-01-02","x"]`), call))
	assert.ErrorContains(t, err, "item 1 of the page")
	err = decodeClient(t, `{"a":tru}`).Do(ctx, call, &map[string]any{})
	assert.ErrorContains(t, err, "at byte 8 of 9")
}

// A response of another type than the caller's is not blamed on the endpoint.
func TestDecodeForeignWhole(t *testing.T) {
	ctx := context.Background()
	do := func(out any) func(*Client) error {
		return func(c *Client) error { return c.Do(ctx, Call{Route: "/own"}, out) }
	}
	listAs := func(c *Client) error {
		_, err := Collect(ListAs[Issue](ctx, c, Call{Route: "/own"}))
		return err
	}
	const array, object = "the response is a JSON array, and out is of type ", "the response is a JSON object, "
	for _, test := range []struct {
		text string
		send func(*Client) error
		want string
	}{
		{`[{"id":1}]`, do(new(Issue)), array + "object: use ListAs, or a slice"},
		{`[{"id":1}]`, do(new(map[string]any)), array + "map[string]interface {}: use ListAs, or a slice"},
		{`[]`, do(new(struct{ ID int })), array + "struct { ID int }: use ListAs, or a slice"},
		{`{"id":1}`, do(new([]Issue)), object + "and out is of type []forge.Issue: pass a pointer to a struct or a map"},
		{`{"id":1}`, listAs, object + "and ListAs reads arrays: use Do"},
		{`{"id":1}`, func(c *Client) error { _, err := Collect(c.Issues.List(ctx, nil)); return err }, object + "which is not what this endpoint returns"},
		{`[{"id":1}]`, func(c *Client) error { _, err := c.Namespaces.Get(ctx, ID(1)); return err }, "the response is a JSON array, which is not what this endpoint returns"},
	} {
		err := test.send(decodeClient(t, test.text))
		require.ErrorIs(t, err, ErrInvalidResponse, test.text)
		assert.True(t, strings.HasSuffix(err.Error(), test.want), err)
	}
}
