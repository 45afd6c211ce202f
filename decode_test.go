package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
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

func pointers(mismatches []Mismatch) (list []string) {
	for _, m := range mismatches {
		list = append(list, m.Pointer)
	}
	return list
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
	_, err = Collect(ListAs[own](ctx, decodeClient(t, `[null,{"id":1},tru`), call))
	assert.ErrorContains(t, err, "not valid JSON", "the page is broken, and not only an item")
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

func largeIssue(t testing.TB) []byte {
	data, err := os.ReadFile("testdata/issues/issue_large.json")
	require.NoError(t, err)
	return data
}

// largePage returns a page of 100 issues that differ like the issues of one project.
func largePage(t testing.TB) []byte {
	issue := string(bytes.TrimSpace(largeIssue(t)))
	people := []string{"ada.okafor Ada", "bob_k Bob", "chen.wei Chen", "dara-s Dara", "emil.r Emil", "fatima Fatima", "goran.p Goran", "hana_t Hana"}
	topics := []string{"Nightly export", "Import of archives", "Webhook delivery", "Runner registration", "Diff view", "Full-text search", "Two-factor sign-in"}
	items := make([]string, 100)
	for i := range items {
		author, assignee, topic := strings.Fields(people[i%8]), strings.Fields(people[(i*5+3)%8]), topics[i%7]
		items[i] = strings.NewReplacer(
			`"id":84021`, `"id":`+strconv.Itoa(84021+37*i), `"iid":318`, `"iid":`+strconv.Itoa(318+i),
			"/issues/318", "/issues/"+strconv.Itoa(318+i), "#318", "#"+strconv.Itoa(318+i),
			"mara.lindqvist", author[0], "Mara", author[1], "1187", strconv.Itoa(1180+i%8),
			"tomas_weber", assignee[0], "Tomás", assignee[1], "2043", strconv.Itoa(1180+(i*5+3)%8),
			"Nightly export", topic, "nightly export", strings.ToLower(topic),
			"pipelines", []string{"pipelines", "issues", "packages"}[i%3],
			"2026-03-04T16:40:09", fmt.Sprintf("2026-03-%02dT%02d:%02d:09", 1+i%28, i%24, i%60),
			"2026-02-11T08:14:52", fmt.Sprintf("2026-02-%02dT%02d:%02d:52", 1+i%27, i%23, i%59),
			"priority::2", "priority::"+strconv.Itoa(1+i%4),
		).Replace(issue)
	}
	return []byte("[" + strings.Join(items, ",") + "]")
}

// The memory of each element that is decoded counts: as an element of a page, a list or a map.
func TestElementsCount(t *testing.T) {
	const list, object = `[{},{},{}]`, `{"a":{},"b":{},"c":{}}`
	label, key := sizeOf[Label](), sizeOf[string]()
	foreign := func(out any) func(*jsonread.Reader) {
		return func(r *jsonread.Reader) { _, _ = unmarshalForeign(out, r) }
	}
	for name, test := range map[string]struct {
		text   string
		each   int
		decode func(*jsonread.Reader)
	}{
		"page":          {list, label, func(r *jsonread.Reader) { _, _ = decodePage[Label](r) }},
		"slice":         {list, label, func(r *jsonread.Reader) { sliceOf(r, (*Label).decodeFrom) }},
		"map":           {object, key + label, func(r *jsonread.Reader) { mapOf(r, (*Label).decodeFrom) }},
		"caller's list": {list, label, foreign(new([]Label))},
		"caller's map":  {object, key + label, foreign(new(map[string]Label))},
	} {
		for limit, fits := range map[int]bool{3 * test.each: true, 3*test.each - 1: false} {
			r := jsonread.Reader{Foreign: unmarshalForeign, Limit: int64(limit)}
			r.Reset([]byte(test.text))
			test.decode(&r)
			assert.Equal(t, fits, r.Err() == nil, "%s: %v", name, r.Err())
		}
	}
}
