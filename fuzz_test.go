package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// FuzzExpand: the path, split and decoded once, gives the arguments back, so that no argument leads to another route.
func FuzzExpand(f *testing.F) {
	for _, arg := range []string{"a", "group/app", "..", "%2e%2e", "a%2Fb", "ü b?#", "a//b", "\x00", "%", "100%25"} {
		f.Add(uint8(0), arg, arg)
		f.Add(uint8(3), arg, "tag")
	}
	templates := []string{
		"/projects/:id/registry/repositories/:repository_id/tags/:tag_name", "/projects/:id/repository/archive[.:format]", "/projects/:id/",
		"/v2/:image_path/manifests/:tag", "/groups/:id/integrations/:slug",
	}
	f.Fuzz(func(t *testing.T, which uint8, first, second string) {
		template := templates[int(which)%len(templates)]
		args := []any{Path(first), second}
		switch which % 5 {
		case 0:
			args = []any{Path(first), int64(7), second}
		case 2:
			args = args[:1]
		}
		expanded, err := expand(wirePath{}, template, args)
		if err != nil {
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Param)
			return
		}
		path := expanded.escaped
		plain, err := url.PathUnescape(path)
		require.NoError(t, err)
		require.Equal(t, plain, expanded.plain)
		u, err := url.Parse("https://forge.example.com/api/v4" + path)
		require.NoError(t, err)
		require.Equal(t, "/api/v4"+path, u.EscapedPath(), "the path changes on its way")
		require.Empty(t, u.RawQuery+u.Fragment)
		segments := strings.Split(path, "/")
		for i, segment := range segments {
			segments[i], err = url.PathUnescape(segment)
			require.NoError(t, err)
			require.NotContains(t, []string{".", ".."}, segments[i])
			require.False(t, segments[i] == "" && i > 0 && i < len(segments)-1, "an empty part in %q", path)
		}
		var want []string
		switch which % 5 {
		case 0:
			want = []string{"", "projects", first, "registry", "repositories", "7", "tags", second}
		case 1:
			want = []string{"", "projects", first, "repository", "archive"}
			if second != "" {
				want[4] = "archive." + second
			}
		case 2:
			want = []string{"", "projects", first, ""}
		case 3:
			want = slices.Concat([]string{"", "v2"}, strings.Split(first, "/"), []string{"manifests", second})
		case 4:
			want = []string{"", "groups", first, "integrations", second}
		}
		require.Equal(t, want, segments)
	})
}

// FuzzLink: no header makes it panic or run on, and a well-formed next link is found behind anything well-formed.
func FuzzLink(f *testing.F) {
	for _, s := range []string{`</a?page=2>; rel="next"`, `<a>, <b>; rel=next`, `<a>; title="x, y; <z>"; rel="prev next"`, `<`, `;;,<>"`, `<a>;rel="\`} {
		f.Add(s, "/a?page=2")
	}
	f.Fuzz(func(t *testing.T, header, address string) {
		found, _ := nextLink(http.Header{"Link": {header}})
		require.Contains(t, header, found)
		if strings.Contains(address, ">") || address == "" {
			return
		}
		quoted := `<x>; title="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(header) + `"; rel=last, <` + address + `>; rel="next"`
		requireNext(t, address, quoted)
		requireNext(t, address, "garbage", "<"+address+">; rel=next")
	})
}

// FuzzRetryAfter: whatever is asked, the wait is neither negative nor without end.
func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"", "1", "0", "-1", "1e9", "99999999999999999999999999999999", "Fri, 20 Nov 2026 10:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", " 5 "} {
		f.Add(s, "Fri, 20 Nov 2026 10:00:00 GMT", "1800000000")
		f.Add("", s, s)
	}
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, retryAfter, date, reset string) {
		h := http.Header{"Retry-After": {retryAfter}, "Date": {date}, "Ratelimit-Reset": {reset}, "Ratelimit-Limit": {reset}}
		for _, status := range []int{http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			wait := readRetryAfter(status, h, now)
			require.GreaterOrEqual(t, wait, time.Duration(0))
			require.False(t, now.Add(wait).Before(now), "the time overflows")
		}
		if trimmed := strings.TrimSpace(retryAfter); len(trimmed) > 0 && len(trimmed) < 9 && strings.Trim(trimmed, "0123456789") == "" {
			var seconds int
			_, err := fmt.Sscanf(trimmed, "%d", &seconds)
			require.NoError(t, err)
			require.Equal(t, time.Duration(seconds)*time.Second, readRetryAfter(http.StatusServiceUnavailable, h, now))
		}
		_ = readRateLimit(h)
	})
}

// FuzzErrorBody: an error answer of any form becomes a short message that is safe to print.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{
		`{"message":"404 Project Not Found"}`, `{"message":{"email":["has already been taken"],"a":{"b":["c"]}}}`, `{"error":"insufficient_scope","error_description":"x"}`,
		`{"error":["a","b"]}`, `<html><title>502</title>`, `Retry later`, "\x00\x1b[31m", `{"message":null}`, `[]`, `"x"`, `{"message":{"":{"":[[[[[["x"]]]]]]}}}`, "\u202e",
	} {
		f.Add([]byte(s), "application/json")
		f.Add([]byte(s), "text/html; charset=utf-8")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if len(body) > maxErrorBody {
			return
		}
		message, fields := readMessage(body, contentType, cleanText)
		require.LessOrEqual(t, len(fields), maxErrorFields)
		texts := []string{message}
		for name, list := range fields {
			texts = append(append(texts, name), list...)
		}
		for _, text := range texts {
			require.LessOrEqual(t, len(text), maxErrorText+3)
			require.True(t, utf8.ValidString(text))
			require.False(t, hasControl(text), "%q", text)
		}
	})
}

// FuzzBaseURL: an address is refused, or the client calls exactly the host it names.
func FuzzBaseURL(f *testing.F) {
	for _, s := range []string{
		"https://forge.example.com", "https://forge.example.com:8443/git/api/v4/", "http://localhost", "https://user:hunter2@forge.example.com", "https://forge.example.com?x", "https://[::1]:3000",
		"https://forge.example.com/a//b", "https://forge.example.com/%2e%2e", "https://forge.example.com\\@evil", "https://ü.example.com/ü", "https://forge.example.com/%2F",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, address string) {
		client, err := NewClient(address, WithToken("secret-token"), WithPlainHTTP())
		if err != nil {
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid)
			require.False(t, strings.Contains(address, "hunter2") && strings.Contains(err.Error(), "hunter2"))
			return
		}
		own, err := url.Parse(client.BaseURL())
		require.NoError(t, err)
		given, err := url.Parse(address)
		require.NoError(t, err)
		require.True(t, sameOrigin(own, given))
		require.True(t, strings.HasSuffix(own.Path, "/api/v4"))
		require.Nil(t, own.User)
		require.Empty(t, own.RawQuery+own.Fragment)
		for part := range strings.SplitSeq(own.Path[1:], "/") {
			require.NotContains(t, []string{"", ".", ".."}, part)
		}
		again, err := NewClient(client.BaseURL(), WithPlainHTTP())
		require.NoError(t, err)
		require.Equal(t, client.BaseURL(), again.BaseURL(), "the address of a client makes the same client")
	})
}

// FuzzCursor: a cursor is refused, or is one that the package made for this list.
func FuzzCursor(f *testing.F) {
	const list = "abcdefghijkl"
	for _, query := range []string{"", "page=2&per_page=100", "id_after=5&pagination=keyset", "a=%2B+%C3%BC"} {
		f.Add(string(newCursor(list, query)), query)
	}
	for _, s := range []string{"", "1", "..", "1.abcdefghijkl.", "1.abcdefghijkl.AAAA", "2.abcdefghijkl.done", "1.other.done"} {
		f.Add(s, "private_token=x")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		position, err := Cursor(text).position(list)
		var invalid *ValidationError
		switch {
		case err != nil:
			require.ErrorAs(t, err, &invalid)
			require.Equal(t, "StartAt", invalid.Option)
		case position == "":
			require.True(t, Cursor(text).Done())
		default:
			again, err := newCursor(list, position).position(list)
			require.NoError(t, err)
			require.Equal(t, position, again)
		}
		if made := newCursor(list, query); len(made) <= maxCursor {
			position, err = made.position(list)
			require.NoError(t, err)
			require.Equal(t, query, position)
			require.Equal(t, query == "", made.Done())
			_, err = made.position("another-list")
			require.ErrorAs(t, err, &invalid)
		}
	})
}

// FuzzQueryRoundTrip: what the encoders write, a server reads back.
func FuzzQueryRoundTrip(f *testing.F) {
	for _, s := range []string{"a", "a b", "a+b&c=d", "ü", "]", "[", "", "a;b", "%", "\x00", "\xff"} {
		f.Add(s, s, int64(1))
	}
	f.Fuzz(func(t *testing.T, key, text string, id int64) {
		options := &encodeOptions{
			IIDs: []int64{id, 2}, Usernames: []string{text, key}, Assignee: ID(id), Approvers: IDs(id), Weight: Number(id), Title: Text(text), Labels: Labels(text, "x"),
			Custom: Hash{key: text}, Variables: HashList{{key: text}, {"k": key}}, Search: text, Not: &encodeOptions{Custom: Hash{key: text}, IIDs: []int64{id}},
		}
		values, err := encodeQuery(options)
		if err != nil {
			var invalid *ValidationError
			require.ErrorAs(t, err, &invalid)
			require.NotEmpty(t, invalid.Param)
			bad := id <= 0 || text == "" || strings.Contains(text, ",") || strings.TrimSpace(text) == "" || key == "" || strings.ContainsAny(key, "[]")
			require.True(t, bad, "%v", err)
			return
		}
		parsed, err := url.ParseQuery(values.Encode())
		require.NoError(t, err)
		number := fmt.Sprint(id)
		want := url.Values{
			"iids[]": {number, "2"}, "assignee_username[]": {text, key}, "assignee_id": {number}, "approved_by_ids[]": {number}, "weight": {number}, "milestone": {text},
			"labels": {text + ",x"}, "custom_attributes[" + key + "]": {text}, "variables[0][" + key + "]": {text}, "variables[1][k]": {key}, "search": {text},
			"not[custom_attributes][" + key + "]": {text}, "not[iids][]": {number},
		}
		if text == "" {
			delete(want, "search") // the other fields have types, whose empty values Unchecked sends
		}
		require.Equal(t, want, parsed)
	})
}

// FuzzWorkDuration: what is read is written in a form that is read as the same.
func FuzzWorkDuration(f *testing.F) {
	for _, s := range []string{"1w 2d 3h30m", "-45m", "1mo", "", "0m", "9999999999999999999w", "2562047h47m16s", "1h-5m", "1 h"} {
		f.Add(s, 8, 5)
	}
	f.Fuzz(func(t *testing.T, text string, hours, days int) {
		d, err := WorkCalendar{HoursPerDay: hours, DaysPerWeek: days}.Parse(text)
		if err != nil {
			return
		}
		again, err := ParseWorkDuration(d.String())
		require.NoError(t, err)
		require.Equal(t, d, again)
		if !strings.HasPrefix(strings.TrimSpace(text), "-") {
			require.GreaterOrEqual(t, d, WorkDuration(0))
		}
	})
}

// FuzzFileName: a suggested name is a name in the directory that it is joined to.
func FuzzFileName(f *testing.F) {
	for _, s := range []string{`attachment; filename="a.zip"`, `attachment; filename*=UTF-8''..%2f..%2fpasswd`, `attachment; filename=".."`, `attachment; filename="a\\..\\b"`, `inline`, `a; filename="\\"`, `a; filename=".-con.txt"`, `a; filename="-a:. "`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, disposition string) {
		name := fileName(http.Header{"Content-Disposition": {disposition}})
		if name == "" {
			return
		}
		require.Equal(t, "/dir/"+name, filepath.Join("/dir", name))
		require.Equal(t, "/dir", filepath.Dir(filepath.Join("/dir", name)))
		require.True(t, utf8.ValidString(name))
		require.False(t, hasControl(name))
		require.LessOrEqual(t, len(name), maxFileName)
		require.NotContains(t, ".- ", name[:1])
		require.NotContains(t, ". ", name[len(name)-1:])
		require.False(t, strings.ContainsAny(name, `<>:"|?*`))
		require.False(t, isReservedName(name))
	})
}

// FuzzAnswer: any bytes as an answer make a value or an error that names the call, never a panic and never nothing.
func FuzzAnswer(f *testing.F) {
	for _, s := range []string{`{"id":1}`, `[{"id":1}]`, `null`, ``, `[null]`, `{"id":"x"}`, `{"id":1}]`, `[`, "\xff", `{"a":{"a":[[[]]]}}`, `{"labels":[5],"due_date":5,"id":7}`, `<html>`, `1e999`, "{\"title\":\"\xff\\ud800\"}"} {
		f.Add([]byte(s), uint16(200), "application/json")
		f.Add([]byte(s), uint16(403), "text/html")
	}
	f.Fuzz(func(t *testing.T, body []byte, status uint16, contentType string) {
		client := answering(t, body, 200+int(status)%400, contentType)
		check := func(found bool, err error, route string) {
			if err == nil {
				require.True(t, found, "nothing and no error")
				return
			}
			var failed *Error
			require.ErrorAs(t, err, &failed)
			require.Equal(t, route, failed.Route)
			require.Contains(t, err.Error(), "GET "+route)
			require.True(t, utf8.ValidString(err.Error()))
			require.False(t, hasControl(err.Error()), "%q", err.Error())
		}
		ctx := context.Background()
		stats, err := client.Issues.GetTimeStats(ctx, ID(1), 2)
		check(stats != nil, err, "/projects/:id/issues/:issue_iid/time_stats")
		var own struct{ ID int64 }
		check(true, client.Do(ctx, Call{Method: http.MethodGet, Route: "/thing"}, &own), "/thing")
		check(true, client.Do(ctx, Call{Method: http.MethodGet, Route: "/thing"}, nil), "/thing")
		issues, err := Collect(client.Issues.List(ctx, nil, OnePage()))
		check(!slices.Contains(issues, nil), err, "/issues")
		rows, err := Collect(ListAs[listRow](ctx, client, Call{Method: http.MethodGet, Route: "/rows"}, Ahead(2)))
		check(!slices.Contains(rows, nil), err, "/rows")
	})
}

// answering is a client whose every call gets the same answer.
func answering(t *testing.T, body []byte, status int, contentType string) *Client {
	t.Helper()
	transport := staticAnswer(func(req *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		w.Header()["Content-Type"] = []string{contentType}
		w.Header().Set("Link", `<?page=2>; rel="next"`)
		if req.URL.Query().Get("page") == "2" {
			w.Header().Del("Link")
		}
		w.WriteHeader(status)
		_, _ = w.Write(body)
		return w.Result(), nil
	})
	client, err := NewClient("https://forge.example.com", WithHTTPClient(&http.Client{Transport: transport}), WithRetry(RetryPolicy{MaxAttempts: 1}))
	require.NoError(t, err)
	return client
}

type staticAnswer func(*http.Request) (*http.Response, error)

func (f staticAnswer) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func requireNext(t *testing.T, address string, headers ...string) {
	t.Helper()
	link, found := nextLink(http.Header{"Link": headers})
	require.True(t, found)
	require.Equal(t, address, link)
}
