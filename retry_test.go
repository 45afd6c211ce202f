package forge

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fault is something that a server does again and again, and how often each class may be sent then.
type fault struct {
	name      string
	act       act
	attempts  [3]int // safe, repeatable, once
	ambiguous bool   // a write may have taken effect
	is        error
}

func faults() []fault {
	const head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n"
	lost, all, never := [3]int{4, 4, 1}, [3]int{4, 4, 4}, [3]int{1, 1, 1}
	list := []fault{
		{"reset after the request", reset(""), lost, true, nil},
		{"closed after the request", closing(""), lost, true, io.ErrUnexpectedEOF},
		{"reset in the status line", reset("HTTP/1.1 20"), lost, true, nil},
		{"reset after the headers", reset(head), lost, true, nil},
		{"reset in the body", reset(head + `{"a":`), lost, true, nil},
		{"cut body", closing(head + `{"a":1}`), lost, true, io.ErrUnexpectedEOF},
		{"cut chunk", closing("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n{}"), lost, true, io.ErrUnexpectedEOF},
		{"garbage", closing("\x00\x01 not HTTP\r\n\r\n"), lost, true, nil},
		{"429", say(429, "Retry later"), all, false, ErrRateLimited},
		{"501", say(501, ""), never, true, ErrServer},
		{"400", say(400, ""), never, false, ErrBadRequest},
		{"401", say(401, ""), never, false, ErrUnauthorized},
		{"403", say(403, ""), never, false, ErrForbidden},
		{"404", say(404, ""), never, false, ErrNotFound},
		{"409", say(409, ""), never, false, ErrConflict},
		{"complete but no JSON", sayJSON(`{"a":`), never, true, ErrAnswer},
		{"HTML", say(200, "<html>", "Content-Type: text/html"), never, true, ErrAnswer},
	}
	for _, status := range []int{408, 500, 502, 503, 504} {
		list = append(list, fault{strconv.Itoa(status), say(status, ""), lost, true, sentinelFor(status)})
	}
	return list
}

// Design 6.5, 6.6, 6.9: what is sent again follows from the class of the route and from what went wrong, on a new connection
// as on one that was used before; a write that may have taken effect says so, and a `once` route sees at most one effect.
func TestRetryByClassAndFault(t *testing.T) {
	for _, f := range faults() {
		for _, reused := range []bool{false, true} {
			for i, k := range []class{safe, repeatable, once} {
				t.Run(fmt.Sprintf("%s/%s/reused=%t", f.name, k, reused), func(t *testing.T) {
					t.Parallel()
					checkFault(t, f, k, f.attempts[i], reused)
				})
			}
		}
	}
}

func checkFault(t *testing.T, f fault, k class, attempts int, reused bool) {
	w := newWire(t, func(s seen) act {
		if s.uri == "/api/v4/user" {
			return sayJSON("{}")
		}
		return f.act
	})
	c := wireClient(t, w.url)
	var out any
	if reused {
		require.NoError(t, c.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user"}, &out))
	}
	err := c.Do(t.Context(), callOf(k), &out)
	e := asError(t, err)
	assert.Equal(t, attempts, e.Attempts)
	assert.Equal(t, f.ambiguous && k != safe, e.MaybeApplied)
	if f.is != nil {
		require.ErrorIs(t, err, f.is)
	}
	require.NotErrorIs(t, err, io.EOF) // a reader would take it for a good end

	var sent []seen
	for _, s := range w.seen() {
		if s.uri != "/api/v4/user" {
			sent = append(sent, s)
		}
	}
	if reused {
		require.Equal(t, 2, sent[0].nth)
		require.Equal(t, 1, sent[0].conn)
	}
	if extra := len(sent) - attempts; k != safe || !reused || extra < 0 || extra > 1 {
		// net/http itself repeats a GET, once, that met a connection which had died while it was idle.
		assert.Len(t, sent, attempts)
	}
	for _, s := range sent {
		assert.Equal(t, sent[0].body, s.body)
	}
}

// Design 6.6: where there was no connection nothing was sent, so every class is repeated and nothing can have been applied.
func TestRetryRefused(t *testing.T) {
	for _, k := range []class{safe, repeatable, once} {
		err := wireClient(t, refusedAddress(t)).Do(t.Context(), callOf(k), nil)
		e := asError(t, err)
		assert.Equal(t, 4, e.Attempts)
		assert.Zero(t, e.Status)
		assert.False(t, e.MaybeApplied)
	}
}

// Design 6.6: a server that accepts and resets at once has had a connection, so a `once` call is final.
func TestRetryResetAtOnce(t *testing.T) {
	for i, k := range []class{safe, repeatable, once} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		defer listener.Close()
		accepted := 0
		transport := &http.Transport{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			conn, err := new(net.Dialer).DialContext(ctx, network, addr)
			if peer, e := listener.Accept(); e == nil {
				accepted++ // and reset now that the dial has succeeded, before anything is sent
				reset("")(peer)
			}
			return conn, err
		}}
		c := wireClient(t, "http://"+listener.Addr().String(), WithHTTPClient(&http.Client{Transport: transport}))
		e := asError(t, c.Do(t.Context(), callOf(k), nil))
		want := []int{4, 4, 1}[i]
		assert.Equal(t, want, e.Attempts)
		assert.Equal(t, want, accepted)
		assert.Equal(t, k != safe, e.MaybeApplied)
	}
}

// On a connection that died while it was idle net/http may see it in time and take a new one, or not; a `once` call has one
// effect at most either way.
func TestRetryIdleConnectionDied(t *testing.T) {
	for range 20 {
		w := newWire(t, func(s seen) act {
			if s.conn == 1 {
				return reset("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
			}
			return sayJSON("{}")
		})
		c := wireClient(t, w.url)
		_ = c.Do(t.Context(), callOf(safe), nil)
		before := len(w.seen())
		err := c.Do(t.Context(), callOf(once), nil)
		effects := len(w.seen()) - before
		assert.LessOrEqual(t, effects, 1)
		if err != nil {
			assert.True(t, asError(t, err).MaybeApplied)
		}
	}
}

// Design 6.9: a 404 or 304 after an attempt that may have been applied is not turned into success, and says what it may mean.
func TestRetryAmbiguousThenGone(t *testing.T) {
	for _, status := range []int{404, 304} {
		w := newWire(t, script(reset(""), say(status, "")))
		err := wireClient(t, w.url).Do(t.Context(), callOf(repeatable), nil)
		e := asError(t, err)
		assert.Equal(t, status, e.Status)
		assert.Equal(t, 2, e.Attempts)
		assert.True(t, e.MaybeApplied)
		assert.Equal(t, status == 304, Unchanged(err))
	}
	w := newWire(t, always(say(304, "")))
	err := wireClient(t, w.url).Do(t.Context(), callOf(repeatable), nil)
	require.ErrorIs(t, err, ErrNotModified)
	assert.False(t, asError(t, err).MaybeApplied)
}

// Design 6.6, 6.7: an attempt that succeeds ends the call, and Response tells how many there were; `open` repeats until the headers.
func TestRetryThenSuccess(t *testing.T) {
	for _, r := range runners {
		w := newWire(t, script(say(502, "", "Connection: close"), reset(""), say(429, ""), say(200, "[]", jsonType)))
		var got Response
		require.NoError(t, r.run(t.Context(), wireClient(t, w.url), Into(&got)), r.name)
		assert.Equal(t, 4, got.Attempts, r.name)
		assert.Equal(t, 200, got.Status)
	}
}

// Design 6.6: a stream that is cut is an error of Read, never an early end, and never a second request.
func TestRetryOpenCut(t *testing.T) {
	w := newWire(t, always(closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")))
	d, err := openArchive(t.Context(), wireClient(t, w.url))
	require.NoError(t, err)
	defer d.Close()
	data, err := io.ReadAll(d)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, archiveRoute, asError(t, err).Route)
	assert.Equal(t, "half", string(data))
	assert.Len(t, w.seen(), 1)
}

// Design 6.6: certificate errors, alerts, plain http in place of TLS and unknown hosts are not mended by another attempt.
func TestRetryNeverForTLSAndUnknownHosts(t *testing.T) {
	quiet := log.New(io.Discard, "", 0)
	start := func(config *tls.Config) *httptest.Server {
		srv := httptest.NewUnstartedServer(http.NotFoundHandler())
		srv.TLS, srv.Config.ErrorLog = config, quiet
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv
	}
	plain := httptest.NewUnstartedServer(http.NotFoundHandler())
	plain.Config.ErrorLog = quiet
	plain.Start()
	t.Cleanup(plain.Close)
	old := start(&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}) //nolint:gosec // what must be refused
	mutual := start(&tls.Config{ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12})
	for name, address := range map[string]string{
		"unknown authority": start(nil).URL, "plain http": strings.Replace(plain.URL, "http:", "https:", 1),
		"old TLS": old.URL, "client certificate wanted": mutual.URL, "unknown host": "https://nowhere.example",
	} {
		transport := &http.Transport{TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}}
		switch name {
		case "old TLS", "client certificate wanted":
			transport.TLSClientConfig.RootCAs = mutual.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		case "unknown host":
			transport.DialContext = func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.DNSError{Err: "no such host", Name: "nowhere.example", IsNotFound: true}
			}
		}
		c := wireClient(t, address, WithHTTPClient(&http.Client{Transport: transport}))
		err := c.Do(t.Context(), callOf(safe), nil)
		assert.Equal(t, 1, asError(t, err).Attempts, "%s: %v", name, err)
	}
}

// Trap: a transport that is not net/http's reports no connections, so what it fails at counts as sent, except a dial.
func TestRetryForeignTransport(t *testing.T) {
	for _, test := range []struct {
		err      error
		attempts int
	}{
		{errors.New("lost after sending"), 1},
		{&net.OpError{Op: "read", Err: errors.New("reset")}, 1},
		{&net.OpError{Op: "dial", Err: errors.New("refused")}, 4},
	} {
		mock := httpmock.NewMockTransport()
		mock.RegisterNoResponder(httpmock.NewErrorResponder(test.err))
		c := wireClient(t, "https://forge.example.com", WithHTTPClient(&http.Client{Transport: mock}))
		e := asError(t, c.Do(t.Context(), callOf(once), nil))
		assert.Equal(t, test.attempts, e.Attempts)
		assert.Equal(t, test.attempts == 1, e.MaybeApplied)
		assert.Equal(t, test.attempts, mock.GetTotalCallCount())
	}
}

// Design 6.6: a body that cannot be read again is sent once; one that can is sent with the same bytes.
func TestRetryUploads(t *testing.T) {
	for _, test := range []struct {
		name     string
		file     File
		answer   act
		attempts int
	}{
		{"bytes", FileBytes([]byte("content")), say(429, ""), 4},
		{"reader", FileReader(strings.NewReader("content"), 7), say(429, ""), 1},
	} {
		w := newWire(t, always(test.answer))
		c := wireClient(t, w.url)
		r := service{c}.post("/projects/:project_id/secure_files", ID(1)).upload(map[string]string{"name": "a"}, "file", test.file)
		require.Equal(t, test.attempts, asError(t, exec(t.Context(), r, nil)).Attempts, test.name)
		got := w.seen()
		require.Len(t, got, test.attempts)
		for _, s := range got {
			assert.Equal(t, got[0].body, s.body)
			assert.Contains(t, s.body, "content")
		}
	}
}

// A finished context ends the call without another attempt.
func TestRetryFinishedContext(t *testing.T) {
	w := newWire(t, always(say(502, "")))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := wireClient(t, w.url, WithRetry(RetryPolicy{MinWait: time.Hour, MaxWait: time.Hour})).Do(ctx, callOf(safe), nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorIs(t, err, ErrServer)
	assert.Len(t, w.seen(), 1)
}
