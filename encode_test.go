package forge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// arrival is a request as a server has parsed it.
type arrival struct {
	method, rawQuery, contentType string
	length                        int64
	query, form                   url.Values
	body                          string
}

// recorder returns the client of a server that stores the latest request and responds with an
// object.
func recorder(t *testing.T) (*Client, func() arrival) {
	t.Helper()
	var mu sync.Mutex
	var last arrival
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		body, _ := io.ReadAll(r.Body)
		last = arrival{method: r.Method, rawQuery: r.URL.RawQuery, query: r.URL.Query(), contentType: r.Header.Get("Content-Type"), length: r.ContentLength, body: string(body)}
		last.form, _ = url.ParseQuery(last.body)
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(srv.Close)
	return onceClient(t, srv.URL), func() arrival {
		mu.Lock()
		defer mu.Unlock()
		return last
	}
}

// Query and Call.Query add parameters to those of the options, and do not change the caller's
// values.
func TestQueryIsMergedNotChanged(t *testing.T) {
	client, last := recorder(t)
	query := url.Values{"a": make([]string, 1, 8)}
	query["a"][0] = "1"
	for range 2 {
		require.NoError(t, client.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user", Query: query}, nil, Query("a", "2"), Query("b", "x y")))
		assert.Equal(t, url.Values{"a": {"1", "2"}, "b": {"x y"}}, last().query)
		assert.Equal(t, url.Values{"a": {"1"}}, query)
		assert.Empty(t, query["a"][:2][1], "the caller's backing array was written to")
	}
}

// Times are written in UTC with milliseconds. A zero time in any zone is omitted.
func TestEncodeTimes(t *testing.T) {
	zone := time.FixedZone("", 2*60*60)
	day := time.Date(2026, 3, 1, 9, 30, 0, 5, zone)
	options := &ListIssuesOptions{CreatedAfter: day, CreatedBefore: time.Time{}.In(zone), UpdatedAfter: day.UTC(), Search: "x"}
	values, err := encodeQuery(options)
	require.NoError(t, err)
	assert.Equal(t, url.Values{"created_after": {"2026-03-01T07:30:00.000Z"}, "updated_after": {"2026-03-01T07:30:00.000Z"}, "search": {"x"}}, values)
	assert.Equal(t, day, options.CreatedAfter, "the caller's options have changed")

	const nines = 999_999_999
	for _, row := range []struct {
		key, layout string
		at          time.Time
		want        string // "": refused
	}{
		{"created_after", timeLayout, time.Date(2026, 3, 1, 9, 30, 0, nines, time.UTC), "2026-03-01T09:30:00.999Z"},
		{"created_before", timeLayout, time.Date(2026, 3, 1, 9, 30, 0, nines, time.UTC), "2026-03-01T09:30:01.000Z"},
		{"created_before", timeLayout, time.Date(2026, 3, 1, 9, 30, 0, 5e6, time.UTC), "2026-03-01T09:30:00.005Z"},
		{"date", time.RFC3339, time.Date(2026, 3, 1, 9, 30, 0, nines, time.FixedZone("", 53*60+28)), "2026-03-01T08:36:32Z"},
		{"created_before", time.RFC3339, time.Date(2026, 3, 1, 9, 30, 0, 1, time.UTC), "2026-03-01T09:30:01Z"},
		{"date", timeLayout, time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), "0000-01-01T00:00:00.000Z"},
		{"date", timeLayout, time.Date(-1, 12, 31, 23, 59, 59, 0, time.UTC), ""},
		{"date", timeLayout, time.Date(9999, 12, 31, 23, 59, 59, nines, time.UTC), "9999-12-31T23:59:59.999Z"},
		{"created_before", timeLayout, time.Date(9999, 12, 31, 23, 59, 59, nines, time.UTC), ""},
		{"date", timeLayout, time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3600)), ""},
		{"date", timeLayout, time.Date(2026, 1, 1, 23, 0, 0, 0, time.FixedZone("", 25*3600)), "2025-12-31T22:00:00.000Z"},
	} {
		text, err := writeTime(row.at, row.layout, row.key)
		assert.Equal(t, row.want, text, "%s %s", row.key, row.at)
		assert.Equal(t, row.want == "", err != nil, "%s %s", row.key, row.at)
	}
}

// A nil pointer in a filter is refused, and so is a struct that embeds the interface, which has no
// form on the wire.
func TestNilFilters(t *testing.T) {
	c := silentServer(t)
	refused(t, collectError(c.Issues.List(t.Context(), &ListIssuesOptions{AssigneeID: (*ID)(nil)})), "ListIssuesOptions.AssigneeID", "assignee_id")
	err := collectError(c.Issues.List(t.Context(), &ListIssuesOptions{Not: &IssueNot{MilestoneID: (*milestoneTime)(nil)}}))
	refused(t, err, "ListIssuesOptions.Not.MilestoneID", "not[milestone_id]")
	type mine struct{ IDFilter }
	err = collectError(c.Issues.List(t.Context(), &ListIssuesOptions{AssigneeID: mine{ID(1)}}))
	refused(t, err, "ListIssuesOptions.AssigneeID", "assignee_id")
	assert.ErrorContains(t, err, "it has type forge.mine, which is not a filter of this package")
}

func collectError[T any](items iter.Seq2[*T, error]) error {
	_, err := Collect(items)
	return err
}

// FuzzQueryRoundTrip checks that a server parses the values that the encoders have written.
func FuzzQueryRoundTrip(f *testing.F) {
	for _, s := range []string{"a", "a b", "a+b&c=d", "ü", "]", "[", "", "a;b", "%", "\x00", "\xff"} {
		f.Add(s, s, int64(1))
	}
	f.Fuzz(func(t *testing.T, key, text string, id int64) {
		all := url.Values{}
		for _, options := range []any{
			&ListIssuesOptions{
				IIDs: []int64{id, 2}, AssigneeUsername: []string{text, key}, AssigneeID: ID(id), Weight: Number(id), Milestone: Text(text), Labels: Labels(text, "x"), Search: text,
				Not: &IssueNot{Labels: Labels(text, key), IIDs: []int64{id}},
			},
			&ListMergeRequestsOptions{ApprovedByIDs: IDs(id)},
			&ListUsersOptions{CustomAttributes: Hash{key: text}},
		} {
			values, err := encodeQuery(options)
			if err != nil {
				var invalid *ValidationError
				require.ErrorAs(t, err, &invalid)
				require.NotEmpty(t, invalid.Param)
				require.True(t, strings.Contains(text+key, ",") || key == "" || strings.ContainsAny(key, "[]"), "%v", err)
				return
			}
			maps.Copy(all, values)
		}
		parsed, err := url.ParseQuery(all.Encode())
		require.NoError(t, err)
		number := fmt.Sprint(id)
		want := url.Values{
			"iids[]": {number, "2"}, "assignee_username[]": {text, key}, "assignee_id": {number}, "approved_by_ids[]": {number}, "weight": {number}, "milestone": {text},
			"labels": {text + ",x"}, "custom_attributes[" + key + "]": {text}, "search": {text}, "not[labels]": {text + "," + key}, "not[iids][]": {number},
		}
		if text == "" {
			delete(want, "search") // the other fields have filter types, whose empty values are sent with SkipValidation
		}
		require.Equal(t, want, parsed)
	})
}

// FuzzMultipartName checks that mime/multipart parses exactly the file with any name, and the text
// with any content, that were sent. A name that the format cannot carry is refused, and nothing is
// sent.
func FuzzMultipartName(f *testing.F) {
	for _, s := range []string{"a.txt", `a"b`, `a\b`, "a\r\nX-Injected: 1", "ü.txt", "a%22b", "\x00", "\u202etxt.exe", `"; name="other`, "..", "/etc/passwd", "--", "\xff", " ", "\u0085"} {
		f.Add(s, s, []byte(s))
	}
	f.Fuzz(func(t *testing.T, name, text string, content []byte) {
		var sent []byte
		var header http.Header
		client := fuzzClient(t, func(req *http.Request) (*http.Response, error) {
			header = req.Header
			var err error
			sent, err = io.ReadAll(req.Body)
			require.NoError(t, err)
			require.Len(t, sent, int(req.ContentLength))
			return fuzzAnswer(req, http.StatusCreated, http.Header{}, `{"id":1}`), nil
		})
		_, err := client.SecureFiles.Upload(context.Background(), ID(1), &UploadSecureFileOptions{Name: text, File: FileBytes(content).Named(name)})
		var invalid *ValidationError
		if errors.As(err, &invalid) {
			require.Nil(t, sent)
			require.True(t, name == "" || hasControl(name) || strings.TrimSpace(text) == "" || len(content) > maxSecureFile, "%v", err)
			return
		}
		require.NoError(t, err)
		media, params, err := mime.ParseMediaType(header.Get("Content-Type"))
		require.NoError(t, err)
		require.Equal(t, "multipart/form-data", media)
		require.NotContains(t, string(content)+text+name, params["boundary"])

		parts := multipart.NewReader(bytes.NewReader(sent), params["boundary"])
		require.Equal(t, formPart{"name", "", text, 1}, nextPart(t, parts))
		require.Equal(t, formPart{"file", name, string(content), 2}, nextPart(t, parts))
		_, err = parts.NextRawPart()
		require.Equal(t, io.EOF, err)
	})
}

// formPart is a part of a multipart body as a server parses it.
type formPart struct {
	field, file, content string
	headers              int
}

func nextPart(t *testing.T, parts *multipart.Reader) formPart {
	t.Helper()
	part, err := parts.NextRawPart()
	require.NoError(t, err)
	content, err := io.ReadAll(part)
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
	require.NoError(t, err)
	require.Equal(t, "form-data", kind)
	return formPart{params["name"], params["filename"], string(content), len(part.Header)}
}

// The values of a field follow from its type, in a nested struct, too. Other options have none.
func TestDocumentedValues(t *testing.T) {
	type inner struct {
		State IssueState `url:"state"`
	}
	type outer struct {
		Not   *inner      `url:"not"`
		Other *IssueState `url:"other"`
	}
	want := documentedValues(&ListIssuesOptions{}, "state")
	require.Contains(t, want, "opened")
	assert.Equal(t, want, documentedValues(&outer{}, "not[state]"))
	assert.Equal(t, want, documentedValues(&outer{}, "other"))
	for _, options := range []any{nil, ListIssuesOptions{}, new(int), &map[string]string{}} {
		assert.Nil(t, documentedValues(options, "state"), "%T", options)
	}
	assert.Nil(t, documentedValues(&ListIssuesOptions{}, "nope"))
	assert.Equal(t, want, (&request{queryOptions: &ListIssuesOptions{}, body: &outer{}}).valuesOf("state"))
	assert.Equal(t, want, (&request{queryOptions: &ListRunnersOptions{}, body: &outer{}}).valuesOf("other"))
	body, err := encodeJSON((*typedOptions)(nil))
	require.NoError(t, err)
	assert.EqualValues(t, len("null"), body.size)
	_, err = encodeJSON(struct {
		Hidden string `json:"-"`
	}{"\xff"})
	assert.NoError(t, err, "it is not sent")
}
