package forge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// A transport or a token source that returns nothing fails the call.
func TestNilResults(t *testing.T) {
	for _, r := range runners {
		o := ends(t, func() error {
			return r.run(t.Context(), bubbleClient(t, through(func(*http.Request) (*http.Response, error) { return nil, nil })), Retry(impatient))
		})
		require.ErrorContains(t, o.err, "the transport returned neither a response nor an error", r.name)
		asError(t, o.err)
		o = ends(t, func() error {
			return r.run(t.Context(), wireClient(t, "https://forge.example.com", WithTokenSource(tokenSource(func() (*oauth2.Token, error) { return nil, nil }))))
		})
		require.ErrorIs(t, o.err, ErrNoCredential, r.name)

		for _, status := range []int{200, 302, 404} {
			c := bubbleClient(t, through(func(*http.Request) (*http.Response, error) { return &http.Response{StatusCode: status}, nil }))
			o = ends(t, func() error { return r.run(t.Context(), c, Retry(impatient)) })
			assert.Nil(t, o.panicked, "%s %d", r.name, status)
		}
	}
}

// Into does not keep data of the previous call: it is empty after a call without a response.
func TestIntoIsReset(t *testing.T) {
	w := newWire(t, script(say(200, "[]", jsonType, "X-Request-Id: first"), reset("")))
	for _, run := range runners {
		c := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 1}))
		r := Response{Status: 200, RequestID: "before", Attempts: 9, Mismatches: []Mismatch{{}}}
		require.Error(t, run.run(t.Context(), wireClient(t, refusedAddress(t), WithRetry(RetryPolicy{MaxAttempts: 1})), Into(&r)), run.name)
		r.Cursor = ""
		assert.Equal(t, Response{}, r, run.name)
		r = Response{Status: 200, RequestID: "before"}
		require.Error(t, run.run(t.Context(), c, Sudo(-1), Into(&r)), "refused before it is sent")
		assert.Equal(t, Response{}, r, run.name)
		missing := wireClient(t, newWire(t, always(say(404, "{}", jsonType, "X-Request-Id: missing"))).url)
		require.ErrorIs(t, run.run(t.Context(), missing, Into(&r)), ErrNotFound)
		assert.Equal(t, "404 missing", fmt.Sprint(r.Status, " ", r.RequestID), run.name)
	}
}

// FuzzResponse checks that every response gives a value or an error that names the call, and never
// a panic or nil without an error.
func FuzzResponse(f *testing.F) {
	for _, s := range []string{`{"id":1}`, `[{"id":1}]`, `null`, ``, `[null]`, `{"id":"x"}`, `{"id":1}]`, `[`, "\xff", `{"a":{"a":[[[]]]}}`, `{"labels":[5],"due_date":5,"id":7}`, `<html>`, `1e999`, "{\"title\":\"\xff\\ud800\"}"} {
		f.Add([]byte(s), uint16(200), "application/json")
		f.Add([]byte(s), uint16(403), "text/html")
	}
	f.Fuzz(func(t *testing.T, body []byte, status uint16, contentType string) {
		client := answering(t, body, 200+int(status)%400, contentType)
		check := func(found bool, err error, route string) {
			if err == nil {
				require.True(t, found, "neither a value nor an error")
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

// answering returns a client whose calls all get the same response.
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

// FuzzContentType checks that a response is decoded as JSON only if its content type is JSON, in
// any spelling and with any parameters, and never if it is an HTML page. A download accepts every
// other type. The type in an error is safe to print.
func FuzzContentType(f *testing.F) {
	for _, s := range []string{
		"application/json", "APPLICATION/JSON; charset=utf-8", "text/json", "application/problem+json", "", ";", "text/html", "text/html;", " Text/HTML ; x", "application/xhtml+xml",
		"text/plain", "application/json, text/html", "a/b+json;=;", "text/html+json", "json", "application/json\x00", "multipart/form-data; boundary=\"\x1b[31m\"", "\u202e",
	} {
		f.Add(s)
	}
	answered := ""
	client := fuzzClient(f, func(req *http.Request) (*http.Response, error) {
		return fuzzAnswer(req, http.StatusOK, http.Header{"Content-Type": {answered}}, `{"time_estimate":7}`), nil
	})
	f.Fuzz(func(t *testing.T, contentType string) {
		answered = contentType
		d, err := client.Repositories.DownloadBlob(context.Background(), ID(1), "a")
		require.NoError(t, err, "the content of a blob has any type")
		safeText(t, d.ContentType)
		require.NoError(t, d.Close())

		stats, err := client.Issues.GetTimeStats(context.Background(), ID(1), 1)
		bare, _, _ := strings.Cut(contentType, ";")
		switch bare = strings.ToLower(strings.TrimSpace(bare)); {
		case bare == "application/json", bare == "text/json", bare == "", strings.HasSuffix(bare, "+json"):
			require.NoError(t, err)
			require.EqualValues(t, 7, stats.TimeEstimate)
		case bare == "text/html", bare == "application/xhtml+xml":
			require.ErrorIs(t, err, ErrInvalidResponse)
			require.ErrorContains(t, err, "sign-in page")
		default:
			require.ErrorIs(t, err, ErrInvalidResponse)
			safeText(t, err.Error())
		}
	})
}

// FuzzHeaders checks the Response, Download or error for a response with any headers that net/http
// accepts.
func FuzzHeaders(f *testing.F) {
	for _, s := range []string{
		"Content-Type: application/json\r\nX-Total: 7\r\nX-Total-Pages: -1\r\nX-Next-Page: 2\r\n",
		"Link: <https://evil.example.com/?page=2&private_token=x&sudo=1>; rel=\"next\"\r\nSet-Cookie: a=b\r\nset-cookie: c\r\n",
		"X-Next-Page: 99999999999999999999\r\nRateLimit-Limit: 1e9\r\nRateLimit-Reset: 99999999999999\r\nRateLimit-Remaining: 0\r\n",
		"Retry-After: 19\r\n", "Retry-After: 99999999999999999999\r\nDate: Fri, 31 Dec 9999 23:59:59 GMT\r\n", "Location: //evil.example.com\r\n", "Location: /x\r\n", "Location: javascript:1\r\n",
		"Content-Disposition: attachment; filename*=UTF-8''..%2f..%2fpasswd\r\n", "X-Request-Id: \x1b[31m" + strings.Repeat("x", 300) + "\r\n", "Transfer-Encoding: chunked\r\n",
		"Content-Length: 5\r\n", "Content-Length: 1\r\nContent-Length: 2\r\n", "Content-Encoding: gzip\r\n", " folded: x\r\n", ": x\r\n", "Connection: close\r\nTrailer: Set-Cookie\r\n",
	} {
		f.Add(s, uint16(0))
		f.Add(s, uint16(229))
		f.Add(s, uint16(102))
	}
	f.Fuzz(func(t *testing.T, head string, status uint16) {
		code := 200 + int(status)%400
		client := fuzzClient(t, func(req *http.Request) (*http.Response, error) {
			wire := fmt.Sprintf("HTTP/1.1 %d X\r\n%s\r\n[{\"id\":1}]", code, head)
			return http.ReadResponse(bufio.NewReader(strings.NewReader(wire)), req)
		})
		ctx := context.Background()
		var page Response
		_, err := Collect(client.Issues.List(ctx, nil, OnePage(), Into(&page)))
		checkHeaderError(t, err, "/issues")
		if err == nil {
			checkPage(t, client, &page)
		}
		d, err := client.Repositories.Archive(ctx, ID(1), nil)
		checkHeaderError(t, err, archiveRoute)
		if err == nil {
			require.True(t, d.Name == "" || filepath.Join("/dir", d.Name) == "/dir/"+d.Name, d.Name)
			require.GreaterOrEqual(t, d.Size, int64(-1))
			safeText(t, d.ContentType)
			_, err = io.Copy(io.Discard, d)
			checkHeaderError(t, err, archiveRoute)
			_ = d.Close()
		}
	})
}

func checkPage(t *testing.T, client *Client, page *Response) {
	t.Helper()
	require.NotContains(t, page.Header, textproto.CanonicalMIMEHeaderKey("Set-Cookie"))
	require.LessOrEqual(t, len(page.RequestID), 128+len("..."))
	safeText(t, page.RequestID)
	n, known := page.Total()
	require.True(t, n >= 0 || !known)
	if page.Cursor.Done() {
		return
	}
	var asked *http.Request
	client, err := client.With(WithHTTPClient(&http.Client{Transport: staticAnswer(func(req *http.Request) (*http.Response, error) {
		asked = req
		return fuzzAnswer(req, http.StatusOK, http.Header{}, "[]"), nil
	})}))
	require.NoError(t, err)
	_, err = Collect(client.Issues.List(context.Background(), nil, StartAt(page.Cursor)))
	require.NoError(t, err, "a cursor of the client is not accepted")
	require.Equal(t, "forge.example.com", asked.URL.Host)
	require.Equal(t, "/api/v4/issues", asked.URL.Path)
	for name := range asked.URL.Query() {
		require.False(t, isCredentialParam(name), name)
	}
}

func checkHeaderError(t *testing.T, err error, route string) {
	t.Helper()
	if err == nil {
		return
	}
	var failed *Error
	require.ErrorAs(t, err, &failed)
	require.Equal(t, route, failed.Route)
	safeText(t, err.Error())
	var limited *RateLimitError
	if errors.As(err, &limited) && !limited.Until.IsZero() {
		require.False(t, limited.Until.Before(time.Now().Add(-time.Minute)))
	}
}
