package conn

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A second connection within one request ends the attempt: while net/http requests it, or because
// it is closed. Below a caller's transport the count restarts after a response.
func TestTrace(t *testing.T) {
	const getConn, gotConn, response = "GetConn", "GotConn", "GotFirstResponseByte"
	for name, test := range map[string]struct {
		hooks              []string
		other              bool // the transport is not net/http's
		sent, ends, closed bool
	}{
		"no connection":                           {[]string{getConn}, false, false, false, false},
		"a connection":                            {[]string{getConn, gotConn}, false, true, false, false},
		"sought again":                            {[]string{getConn, gotConn, getConn}, false, true, true, false},
		"a second one":                            {[]string{getConn, gotConn, getConn, gotConn}, false, true, true, true},
		"a second one without GetConn":            {[]string{gotConn, gotConn}, true, true, true, true},
		"a second one after a response":           {[]string{getConn, gotConn, response, getConn, gotConn}, true, true, false, false},
		"a second one after a response, net/http": {[]string{getConn, gotConn, response, getConn}, false, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := newContext(t.Context(), time.Minute, time.Minute)
			transport := new(http.Transport)
			if test.other {
				transport = nil
			}
			trace := httptrace.ContextClientTrace(c.Trace(http.Header{}, transport))
			client, server := net.Pipe()
			defer client.Close()
			defer server.Close()
			for _, hook := range test.hooks {
				switch {
				case hook == getConn:
					trace.GetConn("")
				case hook == gotConn:
					trace.GotConn(httptrace.GotConnInfo{Conn: client})
				case trace.GotFirstResponseByte != nil:
					trace.GotFirstResponseByte()
				}
			}
			assert.Equal(t, test.sent, c.Connected(), "sent")
			assert.Equal(t, test.ends, c.Replayed(), "Replayed")
			assert.Equal(t, test.ends, c.Err() != nil, "the attempt has ended")
			assert.NoError(t, c.TimeoutCause(nil), "it is not a timeout")
			assert.Equal(t, test.closed, errors.Is(client.SetDeadline(time.Time{}), io.ErrClosedPipe), "the connection is closed")
			assert.False(t, c.IsHTTP2())
		})
	}
}

// A new request of the same attempt, after a redirect, has its own connections.
func TestTraceOfTheNextRequest(t *testing.T) {
	c := newContext(t.Context(), time.Minute, time.Minute)
	for range 3 {
		trace := httptrace.ContextClientTrace(c.Trace(http.Header{}, new(http.Transport)))
		trace.GetConn("")
		trace.GotConn(httptrace.GotConnInfo{})
		require.NoError(t, c.Err())
		require.True(t, c.Connected())
		require.False(t, c.Replayed())
	}
}

// Without TLS a connection is of HTTP/2 if the transport speaks nothing else.
func TestIsHTTP2(t *testing.T) {
	assert.False(t, newContext(t.Context(), 0, 0).IsHTTP2(), "without a request")
	for _, speaks := range [][2]bool{{true, true}, {false, true}, {true, false}, {false, false}} { // HTTP/1, HTTP/2 without TLS
		alone := !speaks[0] && speaks[1]
		c := newContext(t.Context(), time.Minute, time.Minute)
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP2(true)
		transport.Protocols.SetHTTP1(speaks[0])
		transport.Protocols.SetUnencryptedHTTP2(speaks[1])
		ctx := c.Trace(http.Header{}, transport)
		client, server := net.Pipe()
		defer client.Close()
		defer server.Close()
		httptrace.ContextClientTrace(ctx).GotConn(httptrace.GotConnInfo{Conn: client})
		assert.Equal(t, alone, c.IsHTTP2())
		httptrace.ContextClientTrace(ctx).GotConn(httptrace.GotConnInfo{Conn: client})
		require.Error(t, c.Err())
		closed := errors.Is(client.SetDeadline(time.Time{}), io.ErrClosedPipe)
		assert.Equal(t, !alone, closed, "an HTTP/2 connection stays open for other requests")
	}
}

// Over TLS, the protocol is the one that was agreed on.
func TestIsHTTP2OverTLS(t *testing.T) {
	for _, want := range []bool{false, true} {
		srv := httptest.NewUnstartedServer(http.NotFoundHandler())
		srv.EnableHTTP2 = want
		srv.StartTLS()
		defer srv.Close()
		c := newContext(t.Context(), time.Minute, time.Minute)
		transport := srv.Client().Transport.(*http.Transport)
		req, err := http.NewRequestWithContext(c.Trace(http.Header{}, transport), http.MethodGet, srv.URL, nil)
		require.NoError(t, err)
		resp, err := transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, want, c.IsHTTP2())
	}
}

// The kind of each transport error, and the error without the address.
func TestTransportErrors(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("refused")}
	assert.True(t, IsDial(fmt.Errorf("wrapped: %w", dial)))
	assert.False(t, IsDial(&net.OpError{Op: "read", Err: errors.New("reset")}))
	assert.False(t, IsDial(nil))

	wrapped := &url.Error{Op: "Get", URL: "https://forge.example.com/secret", Err: &url.Error{URL: "/", Err: dial}}
	assert.Equal(t, error(dial), UnwrapURLError(wrapped))
	assert.NoError(t, UnwrapURLError(nil))
	for _, end := range []error{io.EOF, fmt.Errorf("wrapped: %w", io.EOF), &url.Error{Err: io.EOF}} {
		err := UnwrapURLError(end)
		assert.NotErrorIs(t, err, io.EOF)
		assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
		assert.EqualError(t, err, "the connection was closed before a response arrived")
	}
	assert.ErrorIs(t, ErrNotProcessed, io.ErrUnexpectedEOF)
}
