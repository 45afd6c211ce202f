package forge

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

func squeezed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// A response that the endpoint does not document is an error that describes the response, and never
// nil, nil. says is the text of the error of do; exec needs no value and accepts any JSON body.
func TestResponses(t *testing.T) {
	space := strings.Repeat(" ", 4097)
	for _, test := range []struct {
		name     string
		act      act
		says     string // "": no error
		exec     bool   // also an error of exec
		sentinel error
	}{
		{"object", sayJSON(`{"a":1}`), "", false, nil},
		{"no type", say(200, `{}`), "", false, nil},
		{"vendor type", say(200, `{}`, "Content-Type: application/problem+json; charset=utf-8"), "", false, nil},
		{"some white space", sayJSON("\n {} \r\n"), "", false, nil},
		{"gzip", say(200, squeezed(`{}`), jsonType, "Content-Encoding: gzip"), "", false, nil},
		{"HTML", say(200, "<html>", "Content-Type: text/html; charset=utf-8"), "perhaps a sign-in page", true, ErrInvalidResponse},
		{"text", say(200, "OK", "Content-Type: text/plain"), "text/plain instead of JSON", true, ErrInvalidResponse},
		{"empty", sayJSON(""), "no body", false, ErrInvalidResponse},
		{"204", say(204, ""), "no body", false, ErrInvalidResponse},
		{"white space", sayJSON("  \n"), "no body", false, ErrInvalidResponse},
		{"null", sayJSON(" null "), "null", false, ErrInvalidResponse},
		{"trailing garbage", sayJSON(`{} x`), "not valid JSON", false, ErrInvalidResponse},
		{"two values", sayJSON(`{}{}`), "not valid JSON", false, ErrInvalidResponse},
		{"cut JSON", sayJSON(`{"a":`), "not valid JSON", false, ErrInvalidResponse},
		{"HTML as JSON", sayJSON("<html>"), "not valid JSON", false, ErrInvalidResponse},
		{"page without a type", say(200, "\n<html>"), "the response is an HTML page instead of JSON, perhaps a sign-in page", true, ErrInvalidResponse},
		{"page of two types", say(200, "<html>", jsonType, "Content-Type: text/html"), "the response is an HTML page instead of JSON, perhaps a sign-in page", true, ErrInvalidResponse},
		{"identity", say(200, "{}", jsonType, "Content-Encoding: Identity"), "", false, nil},
		{"identity twice", say(200, "{}", jsonType, "Content-Encoding: identity, Identity"), "", false, nil},
		{"JSON of two types", say(200, "{}", "Content-Type: application/json, text/plain"), "", false, nil},
		{"long type", say(200, "OK", "Content-Type: "+strings.Repeat("x", 129)), strings.Repeat("x", 128) + "... instead of JSON", true, ErrInvalidResponse},
		{"long encoding", say(200, "{}", jsonType, "Content-Encoding: "+strings.Repeat("x", 65)), strings.Repeat("x", 64) + "..., which was not requested", true, ErrInvalidResponse},
		{"number", sayJSON(`7`), "JSON number", false, ErrInvalidResponse},
		{"number and garbage", sayJSON(`7 x`), "not valid JSON", false, ErrInvalidResponse},
		{"array", sayJSON(`[]`), "JSON array", false, ErrInvalidResponse},
		{"much white space", sayJSON("{}" + space), "4 KiB of white space", false, ErrInvalidResponse},
		{"most white space", sayJSON("{}" + space[1:]), "", false, nil},
		{"white space before", sayJSON(space + "{}"), "4 KiB of white space", false, ErrInvalidResponse},
		{"too large", sayJSON(`{"a":"` + strings.Repeat("x", 10_000) + `"}`), "larger than 8192 bytes", false, ErrResponseTooLarge},
		{"bomb", say(200, squeezed(`{"a":"`+strings.Repeat("x", 1<<20)+`"}`), jsonType, "Content-Encoding: gzip"), "larger than 8192 bytes", false, ErrResponseTooLarge},
		{"not gzip", say(200, `{"gzip":false}`, jsonType, "Content-Encoding: gzip"), "gzip", false, nil},
		{"headers", say(200, "{}", jsonType, "X-A: "+strings.Repeat("x", 300<<10)), "headers exceeded", true, nil},
		{"101", closing("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), "101", true, nil},
		{"300", say(300, "choose"), "300", true, nil},
		{"status 999", say(999, ""), "999", true, ErrServer},
		{"status 99", closing("HTTP/1.1 99 X\r\n\r\n"), "malformed", true, nil},
	} {
		w := newWire(t, always(test.act))
		c := wireClient(t, w.url)
		c.core.config.limits.json = 8192
		for name, err := range map[string]error{
			"do":   c.Do(t.Context(), callOf(RetryClassIdempotent), &struct{ A any }{}),
			"exec": exec(t.Context(), service{c.core}.newPost(idempotentRoute, ID(1), ID(2)), nil),
		} {
			if test.says == "" || name == "exec" && !test.exec {
				require.NoError(t, err, "%s %s", name, test.name)
				continue
			}
			require.ErrorContains(t, err, test.says, "%s %s", name, test.name)
			require.ErrorContains(t, err, "POST "+idempotentRoute)
			if test.sentinel != nil {
				require.ErrorIs(t, err, test.sentinel, "%s %s", name, test.name)
				assert.Equal(t, 1, asError(t, err).Attempts, test.name)
			}
			if status := asError(t, err).Status; status != 0 {
				require.ErrorContains(t, err, strconv.Itoa(status))
			}
		}
	}
	require.ErrorContains(t, timeStats(t.Context(), wireClient(t, newWire(t, always(sayJSON(""))).url)), "the response has no body")
}

// Every form in which deployed servers write an error (deployed-server.json).
func TestErrorBodies(t *testing.T) {
	for _, test := range []struct {
		body, kind, says string
		fields           map[string][]string
	}{
		{`{"message":"404 Project Not Found"}`, "application/json", "404 Project Not Found", nil},
		{`{"error":"name is missing"}`, "application/json", "name is missing", nil},
		{`{"error":"invalid_token","error_description":"Token was revoked."}`, "application/json", "invalid_token: Token was revoked.", nil},
		{`{"message":["a","b"]}`, "application/json", "a: b", nil},
		{`{"message":{"email":["has been taken","is bad"]}}`, "application/json", "email has been taken: email is bad", map[string][]string{"email": {"has been taken", "is bad"}}},
		{`{"message":{"base":{"name":["is long"]}}}`, "application/json", "base.name is long", map[string][]string{"base.name": {"is long"}}},
		{`{"message":{"error":"no"}}`, "application/json", "error no", map[string][]string{"error": {"no"}}},
		{`Retry later`, "text/plain", "Retry later", nil},
		{`<html><head><title>502 Bad Gateway</title>`, "text/html", "an HTML page titled 502 Bad Gateway", nil},
		{`<title>502 Bad Gateway</title>`, "", "an HTML page titled 502 Bad Gateway", nil},
		{"<html><head><title> \n</title>", "text/html", "an HTML page", nil},
		{`{"message":["","no"]}`, "application/json", "no", nil},
		{"\x1b[31mred\x00\r\nline \u202e", "text/plain", "[31mred  line", nil},
		{"\xff\xfe", "", "", nil},
		{``, "", "", nil},
		{`{"message":null}`, "application/json", "", nil},
		{`null`, "application/json", "", nil},
	} {
		w := newWire(t, always(say(400, test.body, "Content-Type: "+test.kind, "X-Request-Id: req-1")))
		err := wireClient(t, w.url).Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
		require.ErrorIs(t, err, ErrBadRequest)
		e := asError(t, err)
		assert.Equal(t, test.says, e.Message)
		assert.Equal(t, test.fields, e.Fields)
		assert.Equal(t, "req-1", e.RequestID)
		for _, part := range []string{"POST " + onceRoute, "400 Bad Request", "request id req-1"} {
			require.ErrorContains(t, err, part)
		}
	}
	err := wireClient(t, newWire(t, always(say(400, "", "X-Request-Id: "+strings.Repeat("x", 129)))).url).Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
	assert.Equal(t, strings.Repeat("x", 128)+"...", asError(t, err).RequestID)
	for _, size := range []int{maxErrorBody, maxErrorBody + 1} { // a larger one is no longer JSON
		start := `{"message":"a","rest":"`
		body := start + strings.Repeat("x", size-len(start)-len(`"}`)) + `"}`
		message := asError(t, wireClient(t, newWire(t, always(say(400, body, jsonType))).url).Do(t.Context(), callOf(RetryClassSafe), nil)).Message
		assert.Equal(t, size == maxErrorBody, message == "a", "%d: %.30s", size, message)
	}
	deep := strings.Repeat(`{"message":`, 10_000) + strings.Repeat("}", 10_000)
	for _, body := range []string{strings.Repeat("é", 200<<10), `{"message":"` + strings.Repeat("x", 20<<10) + `"}`, deep, `{"message":` + deep + `}`} {
		err := wireClient(t, newWire(t, always(say(500, body, jsonType))).url).Do(t.Context(), callOf(RetryClassNonIdempotent), nil)
		require.ErrorIs(t, err, ErrServer)
		assert.Less(t, len(err.Error()), 9<<10)
	}
}

// A response has what the server says of its rate limit.
func TestRateLimitOfResponse(t *testing.T) {
	var response Response
	w := newWire(t, always(say(200, "{}", jsonType, "RateLimit-Limit: 2000", "RateLimit-Remaining: 7", "RateLimit-Reset: 1790000000")))
	require.NoError(t, wireClient(t, w.url).Do(t.Context(), callOf(RetryClassSafe), nil, Into(&response)))
	assert.Equal(t, []int64{2000, 7, 1790000000}, []int64{int64(response.RateLimit.Limit), int64(response.RateLimit.Remaining), response.RateLimit.Reset.Unix()})
	var limited *RateLimitError
	require.ErrorAs(t, wireClient(t, newWire(t, always(say(429, "{}"))).url).Do(t.Context(), callOf(RetryClassSafe), nil, Retry(RetryPolicy{MaxAttempts: 1})), &limited)
	assert.Zero(t, limited.Until, "the server has not said when")
}

// A success is not believed if the body of its request could not be read. An error is.
func TestResponseToABrokenBody(t *testing.T) {
	broken := errors.New("broken")
	for status, want := range map[int]error{200: broken, 302: broken, 399: broken, 400: nil, 401: nil, 500: nil} {
		assert.Equal(t, want, checkResponse(&http.Response{StatusCode: status, Body: http.NoBody}, broken), status)
		require.NoError(t, checkResponse(&http.Response{StatusCode: status}, nil), status)
	}
	lost := errors.New("lost")
	assert.Equal(t, broken, sendError(nil, &http.Request{}, fmt.Errorf("write tcp 192.0.2.1:443: %w", broken), broken), "without the addresses")
	assert.Equal(t, lost, sendError(nil, &http.Request{}, lost, broken))
}

// When go-retryablehttp stops retrying, it closes all idle connections of the transport. The client
// prevents this: after 20 calls that lost their connections the other one stays open.
func TestConnectionsSurviveFailures(t *testing.T) { synctest.Test(t, connectionsSurviveFailures) }

func connectionsSurviveFailures(t *testing.T) {
	w := pipedWire(t, func(s seen) act {
		if strings.Contains(s.uri, "lost") {
			return closing("")
		}
		return doThen(func() { time.Sleep(time.Second) }, sayJSON("{}"))
	})
	c := w.client(t)
	hold := make(chan error)
	for range 2 { // two connections in the pool, since both calls take a second
		go func() { hold <- c.Do(t.Context(), callOf(RetryClassSafe), nil) }()
	}
	require.NoError(t, errors.Join(<-hold, <-hold))
	for range 20 {
		require.Error(t, c.Do(t.Context(), Call{Method: http.MethodPost, Route: "/lost"}, nil))
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	}
	assert.LessOrEqual(t, w.accepted(), 22)
}

// With any transport above the network, a write that had a connection is not sent again, even if
// the reported error is from before the connection. A read does not need this check.
func TestConnectionBelowOtherTransport(t *testing.T) {
	w := newWire(t, always(reset("")))
	below := &http.Transport{}
	t.Cleanup(below.CloseIdleConnections)
	for _, k := range []RetryClass{RetryClassSafe, RetryClassNonIdempotent} {
		sent := 0
		c := wireClient(t, w.url, through(func(req *http.Request) (*http.Response, error) {
			assert.Equal(t, k == RetryClassNonIdempotent, httptrace.ContextClientTrace(req.Context()) != nil)
			sent++
			_, err := below.RoundTrip(req)
			require.Error(t, err)
			return nil, &net.OpError{Op: "dial", Err: errors.New("nor is there another server")}
		}))
		var failed *Error
		require.ErrorAs(t, c.Do(t.Context(), callOf(k), nil), &failed)
		assert.Equal(t, k == RetryClassNonIdempotent, failed.MaybeApplied)
		assert.Equal(t, k == RetryClassNonIdempotent, sent == 1)
	}
}

// A download that is closed early ends its request, and no goroutine stays (goleak, in TestMain).
func TestDownloadClosedEarly(t *testing.T) {
	gone := make(chan struct{})
	w := newWire(t, always(func(conn net.Conn) bool {
		defer close(gone)
		return silent("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf")(conn)
	}))
	d, err := openArchive(t.Context(), wireClient(t, w.url))
	require.NoError(t, err)
	assert.Equal(t, "identity", w.seen()[0].header.Get("Accept-Encoding"))
	_, err = io.ReadFull(d, make([]byte, 4))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	_, err = d.Read(make([]byte, 1))
	require.ErrorContains(t, err, "closed")
	select {
	case <-gone:
	case <-time.After(time.Minute):
		t.Error("the connection is still open")
	}
}

// The header fields of every request: user agent, credential and accepted types.
func TestRequestHeaders(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	c := wireClient(t, w.url, WithUserAgent("report/1.2"))
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil, Sudo(42), Header("X-Trace", "a")))
	got := w.seen()[0]
	assert.Equal(t, "/api/v4/projects/1/issues/2/add_spent_time", got.uri)
	assert.JSONEq(t, `{"duration":"1h"}`, got.body)
	for name, want := range map[string]string{
		"User-Agent": "report/1.2 forge-go/" + Version, "Accept": "application/json", "Content-Type": "application/json",
		"Private-Token": secret, "Sudo": "42", "X-Trace": "a", "Accept-Encoding": "gzip", "Idempotency-Key": "",
	} {
		assert.Equal(t, want, got.header.Get(name), name)
	}
	appending := roundTrip(func(req *http.Request) (*http.Response, error) {
		req.Header.Add("User-Agent", "other")
		req.Header.Add("Accept", "a/b")
		return http.DefaultTransport.RoundTrip(req)
	})
	require.NoError(t, wireClient(t, w.url, WithHTTPClient(&http.Client{Transport: appending})).Do(t.Context(), callOf(RetryClassSafe), nil))
	got = w.seen()[1]
	assert.Equal(t, []any{[]string{"application/json", "a/b"}, secret}, []any{got.header["Accept"], got.header.Get("Private-Token")}, "the values share no memory")
	empty := func(req *http.Request) (*http.Response, error) {
		assert.Equal(t, []any{http.NoBody, int64(0)}, []any{req.Body, req.ContentLength}, "any other body of 0 bytes has an unknown length")
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: http.NoBody, Request: req}, nil
	}
	require.NoError(t, wireClient(t, w.url, through(empty)).Do(t.Context(), Call{Method: http.MethodPost, Route: "/x", Form: url.Values{}}, nil))
}

// A result that another attempt could not change is that of the call, even if the context ends, or
// Timeout passes, before the call returns.
func TestFinalResultBeforeTheEnd(t *testing.T) {
	for _, row := range []struct {
		status   int
		act      act
		class    RetryClass
		canceled bool
	}{
		{404, say(404, ""), RetryClassSafe, false}, {400, say(400, ""), RetryClassSafe, false},
		{503, say(503, ""), RetryClassSafe, true}, {503, say(503, ""), RetryClassNonIdempotent, false},
		{0, closing(""), RetryClassNonIdempotent, true}, {404, closing("HTTP/1.1 404 X\r\nContent-Length: 9\r\n\r\nshort"), RetryClassNonIdempotent, true},
	} {
		var log bytes.Buffer
		ctx, cancel := context.WithCancel(t.Context())
		c := wireClient(t, newWire(t, always(row.act)).url, WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			WithOnAttempt(func(context.Context, Attempt) { cancel() }))
		err := c.Do(ctx, callOf(row.class), nil)
		assert.Equal(t, row.status, asError(t, err).Status)
		assert.Equal(t, row.status == 0, strings.Contains(err.Error(), "before a response arrived; context canceled"), err)
		assert.Equal(t, row.canceled, errors.Is(err, context.Canceled), "%v", err)
		assert.Equal(t, !row.canceled, bytes.Contains(log.Bytes(), []byte("level=WARN")), log.String())
		cancel()
	}
	synctest.Test(t, func(t *testing.T) {
		for status, want := range map[int]error{200: nil, 404: ErrNotFound, 503: ErrTimeout} {
			c := bubbleClient(t, statuses(func(*http.Request) (int, http.Header) {
				time.Sleep(10 * time.Second) // a transport that ignores the context
				return status, nil
			}))
			err := c.Do(t.Context(), callOf(RetryClassSafe), nil, Timeout(5*time.Second))
			require.ErrorIs(t, err, want)
			assert.Equal(t, status == 503, errors.Is(err, ErrTimeout))
		}
	})
}

// hostile is a server that sends malicious responses, and the call to it.
type hostile struct {
	name  string
	limit uint64 // bytes that the client's process may grow by
	send  func(io.Writer, *http.Request)
	call  func(context.Context, *Client) error // nil: GetTimeStats
	want  error                                // nil: an error of net/http, which has no name
	says  string                               // what the error's text names; the call succeeds if want is nil, too
}

// For every response of a server, the call ends by itself with an error that names the reason, and
// the memory of the process grows by a bounded amount. Each case is measured in a separate process.
func TestHostileServers(t *testing.T) { measure(t, hostiles()) }

func measure(t *testing.T, cases []hostile) {
	t.Helper()
	if testing.Short() {
		t.Skip("moves gigabytes through loopback: left out with -short")
	}
	if racetest.Enabled {
		t.Skip("the race detector takes memory and time of its own: run without -race")
	}
	for _, test := range cases {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if !assert.NoError(t, err) {
				return
			}
			defer listener.Close()
			go serveHostile(listener, test.send)
			use := runChild(t, test.name, "http://"+listener.Addr().String())
			t.Logf("%s: heap %.1f MiB, resident %.1f MiB more than at the start", test.name, float64(use.heap)/mib, float64(use.grown)/mib)
			assert.Less(t, use.heap, test.limit, "bytes of heap")
			assert.Less(t, use.grown, test.limit, "bytes of resident memory")
		})
	}
}

// serveHostile responds to one request on each connection, until the listener closes.
func serveHostile(listener net.Listener, send func(io.Writer, *http.Request)) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			for requests := bufio.NewReader(conn); ; {
				req, err := http.ReadRequest(requests)
				if err != nil {
					return
				}
				w := bufio.NewWriterSize(conn, 256<<10)
				send(w, req)
				if w.Flush() != nil || req.Header.Get("X-Again") == "" {
					return
				}
			}
		}()
	}
}

// run makes the call to the hostile server and checks its result.
func (h hostile) run(ctx context.Context, client *Client) error {
	call := h.call
	if call == nil {
		call = timeStats
	}
	err := call(ctx, client)
	switch {
	case h.says == "" && h.want == nil:
		return err
	case err == nil:
		return errors.New("the call ended well")
	case h.want != nil && !errors.Is(err, h.want):
		return fmt.Errorf("want %w, got %w", h.want, err)
	case !strings.Contains(err.Error(), h.says):
		return fmt.Errorf("%q is not named: %w", h.says, err)
	case len(err.Error()) > 2*maxErrorText:
		return errors.New("the error's text is too long")
	}
	return nil
}

func timeStats(ctx context.Context, client *Client) error {
	_, err := client.Issues.GetTimeStats(ctx, ID(1), 1)
	return err
}

func listIssues(ctx context.Context, client *Client) error {
	_, err := Collect(client.Issues.List(ctx, nil))
	return err
}

const (
	okHead  = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	badHead = "HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n"
	chunked = "Transfer-Encoding: chunked\r\n\r\n"
)

// endless sends the start and then a block repeatedly, up to size bytes.
func endless(start, block string, size int64) func(io.Writer, *http.Request) {
	return func(w io.Writer, _ *http.Request) {
		_, _ = io.WriteString(w, start)
		repeat(w, []byte(strings.Repeat(block, max(1, 64<<10/len(block)))), size)
	}
}

// zipped sends a gzip stream that decompresses to size spaces around a value.
func zipped(head string, size int64) func(io.Writer, *http.Request) {
	return func(w io.Writer, _ *http.Request) {
		var member bytes.Buffer
		z := gzip.NewWriter(&member)
		repeat(z, bytes.Repeat([]byte(" "), mib), 64*mib)
		_ = z.Close()
		_, _ = io.WriteString(w, head+"Content-Encoding: gzip\r\n\r\n")
		repeat(w, member.Bytes(), size/(64*mib)*int64(member.Len()))
	}
}

// nested sends a value and then depth opening brackets without their ends.
func nested(before, opening string, depth int) func(io.Writer, *http.Request) {
	return func(w io.Writer, _ *http.Request) {
		_, _ = io.WriteString(w, okHead+"Connection: close\r\n\r\n"+before+strings.Repeat(opening, depth))
	}
}

func hostiles() []hostile {
	chunk := fmt.Sprintf("%x\r\n%s\r\n", 64<<10, strings.Repeat("x", 64<<10))
	foreign := func(ctx context.Context, client *Client) error {
		return client.Do(ctx, Call{Method: http.MethodGet, Route: "/thing"}, new(map[string]any))
	}
	return []hostile{
		{"endless error body", 48 * mib, endless(badHead+chunked, chunk, gib), nil, ErrForbidden, "403"},
		{"gzip bomb", 96 * mib, zipped(okHead, 10*gib), nil, ErrResponseTooLarge, "MaxBytes"},
		{"gzip bomb as an error", 48 * mib, zipped(badHead, 10*gib), nil, ErrForbidden, "403"},
		{"string of 1 GiB", 96 * mib, endless(okHead+`Connection: close`+"\r\n\r\n"+`{"title":"`, "a", gib), nil, ErrResponseTooLarge, "MaxBytes"},
		{"string of 1 GiB as an error", 48 * mib, endless(badHead+`Connection: close`+"\r\n\r\n"+`{"message":"`, "a", gib), nil, ErrForbidden, "403"},
		{"values after the value", 96 * mib, endless(okHead+"Connection: close\r\n\r\n{}", "{}", gib), nil, ErrResponseTooLarge, "MaxBytes"},
		{"white space after the value", 96 * mib, endless(okHead+"Connection: close\r\n\r\n{}", " ", 16*mib), nil, ErrInvalidResponse, "white space"},
		{"headers of 2 MiB", 48 * mib, endless(okHead+"X-Long: ", "x", 2*mib), nil, nil, "headers exceeded"},
		{"endless header lines", 48 * mib, endless(okHead, "X-More: x\r\n", gib), nil, nil, "headers exceeded"},
		{"endless trailers", 48 * mib, endless(okHead+chunked+"2\r\n{}\r\n0\r\n", "X-More: x\r\n", gib), nil, nil, "trailer"},
		{"endless informational answers", 48 * mib, endless("", "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n", gib), nil, nil, "headers exceeded"},
		{"chunks of 1 byte", 48 * mib, endless(okHead+chunked, "1\r\n \r\n", gib), func(ctx context.Context, client *Client) error {
			_, err := client.Issues.GetTimeStats(ctx, ID(1), 1, MaxBytes(mib))
			return err
		}, ErrResponseTooLarge, "MaxBytes"},
		{"chunks with long extensions", 48 * mib, endless(okHead+chunked, "1;"+strings.Repeat("x", 1024)+"\r\n \r\n", gib), nil, nil, "non-data"},
		{"100,000 levels in a list", 48 * mib, nested("", "[", 100_000), listIssues, ErrInvalidResponse, "nested"},
		{"100,000 levels in an unknown member", 48 * mib, nested("", `{"a":`, 100_000), nil, ErrInvalidResponse, "nested"},
		{"100,000 levels in a caller's type", 48 * mib, nested("", `{"a":[`, 100_000), foreign, ErrInvalidResponse, "nested"},
		{"100,000 levels in an error", 48 * mib, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, badHead+"Connection: close\r\n\r\n"+strings.Repeat(`{"message":`, 100_000))
		}, nil, ErrForbidden, "403"},
		{"a page of empty items", 400 * mib, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, okHead+"Connection: close\r\n\r\n[{}")
			repeat(w, []byte(strings.Repeat(",{}", 10_000)), 31*mib/30_000*30_000)
			_, _ = io.WriteString(w, "]")
		}, listIssues, ErrResponseTooLarge, "items"},
		{"pages without end", 48 * mib, endlessPages, walkPages(3_000), nil, ""},
		{"pages without end, read ahead", 48 * mib, endlessPages, walkPages(3_000, Ahead(8)), nil, ""},
		{"a link of 200 KiB", 48 * mib, func(w io.Writer, _ *http.Request) {
			_, _ = io.WriteString(w, okHead+`Link: <https://x/?page=2&x=`+strings.Repeat("y", 200<<10)+">; rel=next\r\nContent-Length: 2\r\n\r\n[]")
		}, listIssues, ErrInvalidResponse, "longer than 64 KiB"},
	}
}

// endlessPages is a list in which every page has a link to a next page, and 32 KiB of content.
func endlessPages(w io.Writer, req *http.Request) {
	page := queryInt(req.URL.Query(), "page", 1)
	req.Header.Set("X-Again", "1")
	body := `[{"id":1,"description":"` + strings.Repeat("x", 32<<10) + `"}]`
	_, _ = fmt.Fprintf(w, "%sLink: <https://x/?page=%d>; rel=next\r\nContent-Length: %d\r\n\r\n%s", okHead, page+1, len(body), body)
}

// walkPages reads a number of pages and leaves the list.
func walkPages(pages int, opts ...RequestOption) func(context.Context, *Client) error {
	return func(ctx context.Context, client *Client) error {
		n := 0
		for _, err := range client.Issues.List(ctx, nil, append(opts, PerPage(1))...) {
			if n++; err != nil || n == pages {
				return err
			}
		}
		return fmt.Errorf("the list ended after %d items", n)
	}
}
