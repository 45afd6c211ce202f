package forge

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func squeezed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// Answers: an answer that is not what the endpoint documents is an error that says what it is, and never nil, nil. `says` is
// what do says; exec needs no value and takes any body of JSON.
func TestAnswers(t *testing.T) {
	space := strings.Repeat(" ", 4097)
	for _, test := range []struct {
		name     string
		act      act
		says     string // "": no error
		exec     bool   // an error of exec as well
		sentinel error
	}{
		{"object", sayJSON(`{"a":1}`), "", false, nil},
		{"no type", say(200, `{}`), "", false, nil},
		{"vendor type", say(200, `{}`, "Content-Type: application/problem+json; charset=utf-8"), "", false, nil},
		{"some white space", sayJSON("\n {} \r\n"), "", false, nil},
		{"gzip", say(200, squeezed(`{}`), jsonType, "Content-Encoding: gzip"), "", false, nil},
		{"HTML", say(200, "<html>", "Content-Type: text/html; charset=utf-8"), "sign-in page?", true, ErrAnswer},
		{"text", say(200, "OK", "Content-Type: text/plain"), "text/plain instead of JSON", true, ErrAnswer},
		{"empty", sayJSON(""), "no body", false, ErrAnswer},
		{"204", say(204, ""), "no body", false, ErrAnswer},
		{"white space", sayJSON("  \n"), "no body", false, ErrAnswer},
		{"null", sayJSON(" null "), "null", false, ErrAnswer},
		{"trailing garbage", sayJSON(`{} x`), "not valid JSON", false, ErrAnswer},
		{"two values", sayJSON(`{}{}`), "not valid JSON", false, ErrAnswer},
		{"cut JSON", sayJSON(`{"a":`), "not valid JSON", false, ErrAnswer},
		{"number", sayJSON(`7`), "JSON number", false, ErrAnswer},
		{"array", sayJSON(`[]`), "JSON array", false, ErrAnswer},
		{"much white space", sayJSON("{}" + space), "4 KiB of white space", false, ErrAnswer},
		{"white space before", sayJSON(space + "{}"), "4 KiB of white space", false, ErrAnswer},
		{"too large", sayJSON(`{"a":"` + strings.Repeat("x", 10_000) + `"}`), "larger than 8192 bytes", false, ErrTooLarge},
		{"bomb", say(200, squeezed(`{"a":"`+strings.Repeat("x", 1<<20)+`"}`), jsonType, "Content-Encoding: gzip"), "larger than 8192 bytes", false, ErrTooLarge},
		{"not gzip", say(200, `{"gzip":false}`, jsonType, "Content-Encoding: gzip"), "gzip", false, nil},
		{"headers", say(200, "{}", jsonType, "X-A: "+strings.Repeat("x", 300<<10)), "headers exceeded", true, nil},
		{"101", closing("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"), "101", true, nil},
		{"300", say(300, "choose"), "300", true, nil},
		{"status 999", say(999, ""), "999", true, ErrServer},
		{"status 99", closing("HTTP/1.1 99 X\r\n\r\n"), "malformed", true, nil},
	} {
		w := newWire(t, always(test.act))
		c := wireClient(t, w.url)
		c.config.limits.json = 8192
		for name, out := range map[string]any{"do": &struct{ A any }{}, "exec": nil} {
			err := c.Do(t.Context(), callOf(repeatable), out)
			if test.says == "" || name == "exec" && !test.exec {
				require.NoError(t, err, "%s %s", name, test.name)
				continue
			}
			require.ErrorContains(t, err, test.says, "%s %s", name, test.name)
			require.ErrorContains(t, err, "POST "+repeatableRoute)
			if test.sentinel != nil {
				require.ErrorIs(t, err, test.sentinel, "%s %s", name, test.name)
				assert.Equal(t, 1, asError(t, err).Attempts, test.name)
			}
			if status := asError(t, err).Status; status != 0 {
				require.ErrorContains(t, err, strconv.Itoa(status))
			}
		}
	}
}

// An empty file is a file. TestDownloadRefusals has what is not one.
func TestAnswersOpen(t *testing.T) {
	for _, a := range []act{say(200, "<html>", "Content-Type: text/plain"), say(200, "")} {
		d, err := openArchive(t.Context(), wireClient(t, newWire(t, always(a)).url))
		require.NoError(t, err)
		require.NotNil(t, d)
		_, err = io.Copy(io.Discard, d)
		require.NoError(t, err)
		require.NoError(t, d.Close())
	}
	w := newWire(t, always(say(200, "12345", `Content-Disposition: attachment; filename="../../a.tar"`)))
	d, err := openArchive(t.Context(), wireClient(t, w.url), MaxBytes(4))
	require.NoError(t, err)
	assert.Equal(t, "a.tar", d.Name)
	assert.EqualValues(t, 5, d.Size)
	path := filepath.Join(t.TempDir(), "out")
	require.ErrorIs(t, d.SaveTo(path), ErrTooLarge)
	assert.NoFileExists(t, path)
	assert.Equal(t, "identity", w.seen()[0].header.Get("Accept-Encoding"))
}

// Every form in which servers in the field write an error (deployed-server.json).
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
		{"\x1b[31mred\x00\r\nline \u202e", "text/plain", "[31mred  line", nil},
		{"\xff\xfe", "", "", nil},
		{``, "", "", nil},
		{`{"message":null}`, "application/json", "", nil},
		{`null`, "application/json", "", nil},
	} {
		w := newWire(t, always(say(400, test.body, "Content-Type: "+test.kind, "X-Request-Id: req-1")))
		err := wireClient(t, w.url).Do(t.Context(), callOf(once), nil)
		require.ErrorIs(t, err, ErrBadRequest)
		e := asError(t, err)
		assert.Equal(t, test.says, e.Message)
		assert.Equal(t, test.fields, e.Fields)
		assert.Equal(t, "req-1", e.RequestID)
		for _, part := range []string{"POST " + onceRoute, "400 Bad Request", "request id req-1"} {
			require.ErrorContains(t, err, part)
		}
	}
	deep := strings.Repeat(`{"message":`, 10_000) + strings.Repeat("}", 10_000)
	for _, body := range []string{strings.Repeat("é", 200<<10), `{"message":"` + strings.Repeat("x", 20<<10) + `"}`, deep, `{"message":` + deep + `}`} {
		err := wireClient(t, newWire(t, always(say(500, body, jsonType))).url).Do(t.Context(), callOf(once), nil)
		require.ErrorIs(t, err, ErrServer)
		assert.Less(t, len(err.Error()), 9<<10)
	}
}

// Design 6.2: what WithHTTPClient refuses, naming the option to use, and what is set on a transport that it takes.
func TestWithHTTPClient(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	for says, h := range map[string]*http.Client{
		"nil":           nil,
		"WithToken":     {Jar: jar},
		"HeaderTimeout": {Timeout: time.Second},
		"redirects":     {CheckRedirect: func(*http.Request, []*http.Request) error { return nil }},
		"RootCAs":       {Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}, //nolint:gosec // what must be refused
	} {
		_, err := NewClient("https://forge.example.com", WithHTTPClient(h))
		require.ErrorContains(t, err, says)
	}
	given := &http.Transport{MaxIdleConnsPerHost: 200, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS10}} //nolint:gosec // what must be raised
	c, err := NewClient("https://forge.example.com", WithHTTPClient(&http.Client{Transport: given}))
	require.NoError(t, err)
	got := c.transport.(*http.Transport)
	assert.NotSame(t, given, got)
	assert.EqualValues(t, tls.VersionTLS12, got.TLSClientConfig.MinVersion)
	assert.EqualValues(t, tls.VersionTLS10, given.TLSClientConfig.MinVersion, "the caller's own is not changed")
	assert.Equal(t, 200, got.MaxIdleConnsPerHost)
	assert.Equal(t, 10*time.Second, got.TLSHandshakeTimeout)
	assert.EqualValues(t, 256<<10, got.MaxResponseHeaderBytes)
	assert.NotNil(t, got.DialContext)
	assert.Equal(t, 64, sharedTransport().MaxIdleConnsPerHost)
	assert.EqualValues(t, tls.VersionTLS12, sharedTransport().TLSClientConfig.MinVersion)
}

// Trap: on giving up, go-retryablehttp closes all idle connections of the transport. 20 failing calls leave them alone.
func TestConnectionsSurviveFailures(t *testing.T) {
	for name, fail := range map[string]act{
		"status": say(503, "down"), "limit": say(429, "", "Retry-After: 0"), "404": say(404, `{"message":"404 Not Found"}`, jsonType), "JSON": sayJSON("{"),
		"HTML": say(200, "<html>", "Content-Type: text/html"), "image": say(200, "x", "Content-Type: image/png"), "redirect": say(302, "", "Location: https://127.0.0.1:1/"),
	} {
		w := newWire(t, always(fail))
		c := wireClient(t, w.url)
		for range 20 {
			require.Error(t, c.Do(t.Context(), callOf(safe), new(any)))
		}
		assert.Equal(t, 1, w.accepted(), name)
	}
	w := newWire(t, func(s seen) act {
		if strings.Contains(s.uri, "lost") {
			return reset("")
		}
		return sayJSON("{}")
	})
	c := wireClient(t, w.url)
	hold := make(chan error)
	for range 2 { // two connections in the pool
		go func() { hold <- c.Do(t.Context(), callOf(safe), nil) }()
	}
	require.NoError(t, errors.Join(<-hold, <-hold))
	for range 20 {
		require.Error(t, c.Do(t.Context(), Call{Method: http.MethodPost, Route: "/lost"}, nil))
		require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
	}
	assert.LessOrEqual(t, w.accepted(), 22)
}

// A connection that nobody waits for any more is not opened: the hop has another. One that loses its connection, within net/http or to a
// redirect, gets the next.
func TestDial(t *testing.T) {
	w := newWire(t, func(s seen) act {
		switch {
		case strings.Contains(s.uri, "moved"):
			return say(307, "", "Location: /api/v4/issues", "Connection: close")
		case s.nth == 2:
			return reset("") // the connection was used before, so net/http would send the request once more
		}
		return sayJSON("{}")
	})
	ctx := new(call).traced(t.Context(), http.Header{}, true)
	trace := httptrace.ContextClientTrace(ctx)
	for _, connected := range []bool{false, true} {
		if connected {
			trace.GotConn(httptrace.GotConnInfo{})
		} else {
			trace.GetConn("")
		}
		conn, err := newDialer().dial(ctx, "tcp", strings.TrimPrefix(w.url, "http://"))
		if connected {
			require.ErrorIs(t, err, errConnected)
			continue
		}
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}

	c := wireClient(t, w.url, WithHTTPClient(&http.Client{Transport: &http.Transport{Proxy: func(req *http.Request) (*url.URL, error) {
		assert.NotNil(t, req.Context().Value(hopKey{}), "a read's dial knows its hop too")
		return nil, nil
	}}}))
	for i, route := range []string{"/issues", "/issues", "/moved"} {
		var r Response
		require.NoError(t, c.Do(t.Context(), Call{Method: http.MethodGet, Route: route}, nil, Into(&r)))
		assert.Equal(t, []int{1, 2, 1}[i], r.Attempts, route)
	}
	assert.Equal(t, 1+3, w.accepted(), "one for the first call, one for each that was lost")
}

// Turns are given back, and where nobody gives one back the wait for it is short.
func TestDialTurns(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	d := newDialer()
	open := func() {
		t.Helper()
		conn, err := d.dial(t.Context(), "tcp", strings.TrimPrefix(w.url, "http://"))
		require.NoError(t, err)
		require.NoError(t, conn.Close())
	}
	d.Control = func(string, string, syscall.RawConn) error {
		assert.NotEmpty(t, d.turns, "opening one takes a turn")
		return nil
	}
	for range 2 * dialsAtOnce {
		open()
		assert.Empty(t, d.turns)
	}
	for range dialsAtOnce {
		d.turns <- struct{}{}
	}
	start := time.Now()
	open()
	assert.GreaterOrEqual(t, time.Since(start), turnWait)
	assert.Len(t, d.turns, dialsAtOnce)
}

// Whatever lies above the network, a write that had a connection is not sent again, though what is reported was before there was one. A
// read needs no watching there.
func TestConnectionBelowOtherTransport(t *testing.T) {
	w := newWire(t, always(reset("")))
	below := &http.Transport{}
	t.Cleanup(below.CloseIdleConnections)
	for _, k := range []class{safe, once} {
		sent := 0
		c := wireClient(t, w.url, through(func(req *http.Request) (*http.Response, error) {
			_, traced := req.Context().Value(hopKey{}).(*hopContext)
			assert.Equal(t, k == once, traced)
			sent++
			_, err := below.RoundTrip(req)
			require.Error(t, err)
			return nil, &net.OpError{Op: "dial", Err: errors.New("nor is there another server")}
		}))
		var failed *Error
		require.ErrorAs(t, c.Do(t.Context(), callOf(k), nil), &failed)
		assert.Equal(t, k == once, failed.MaybeApplied)
		assert.Equal(t, k == once, sent == 1)
	}
}

// A download that is closed early ends its request, and leaves nothing behind (goleak, in TestMain).
func TestDownloadClosedEarly(t *testing.T) {
	gone := make(chan struct{})
	w := newWire(t, always(func(conn net.Conn) bool {
		defer close(gone)
		return silent("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf")(conn)
	}))
	d, err := openArchive(t.Context(), wireClient(t, w.url))
	require.NoError(t, err)
	_, err = io.ReadFull(d, make([]byte, 4))
	require.NoError(t, err)
	require.NoError(t, d.Close())
	require.NoError(t, d.Close())
	_, err = d.Read(make([]byte, 1))
	require.ErrorContains(t, err, "closed")
	select {
	case <-gone:
	case <-time.After(5 * time.Second):
		t.Error("the connection is still open")
	}
}

// The header of every request: who asks, and for what.
func TestRequestHeaders(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	c := wireClient(t, w.url, WithUserAgent("report/1.2"))
	require.NoError(t, c.Do(t.Context(), callOf(once), nil, Sudo(42), Header("X-Trace", "a")))
	got := w.seen()[0]
	assert.Equal(t, "/api/v4/projects/1/issues/2/add_spent_time", got.uri)
	assert.JSONEq(t, `{"duration":"1h"}`, got.body)
	for name, want := range map[string]string{
		"User-Agent": "report/1.2 forge-go/" + Version, "Accept": "application/json", "Content-Type": "application/json",
		"Private-Token": secret, "Sudo": "42", "X-Trace": "a", "Accept-Encoding": "gzip", "Idempotency-Key": "",
	} {
		assert.Equal(t, want, got.header.Get(name), name)
	}
}

// A derived client changes nothing of its parent, and shares its connections.
func TestWithDerives(t *testing.T) {
	w := newWire(t, always(sayJSON("{}")))
	c := wireClient(t, w.url)
	other, err := c.With(WithToken("other"), WithUserAgent("x"))
	require.NoError(t, err)
	bare, err := c.With(WithoutCredential())
	require.NoError(t, err)
	for _, client := range []*Client{c, other, bare, c} {
		require.NoError(t, client.Do(t.Context(), callOf(safe), nil))
	}
	var tokens []string
	for _, s := range w.seen() {
		tokens = append(tokens, s.header.Get(tokenHeader))
	}
	assert.Equal(t, []string{secret, "other", "", secret}, tokens)
	assert.Equal(t, 1, w.accepted())
}
