package conn

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A caller's plain transport speaks HTTP/2, as it would without the library's limits.
func TestPlainTransportKeepsHTTP2(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Proto)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	given := &http.Transport{}
	transport := Transport(given)
	assert.True(t, transport.ForceAttemptHTTP2)
	assert.False(t, given.ForceAttemptHTTP2, "the caller's transport is not changed")
	off := Transport(&http.Transport{TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}})
	assert.False(t, off.ForceAttemptHTTP2, "HTTP/2 stays off if the caller has switched it off")
	own := Transport(&http.Transport{TLSClientConfig: &tls.Config{}})
	assert.False(t, own.ForceAttemptHTTP2, "net/http has no HTTP/2 with a configuration of TLS")

	assert.True(t, Shared().ForceAttemptHTTP2)
	assert.Equal(t, 90*time.Second, Shared().IdleConnTimeout)
	forced := Transport(&http.Transport{ForceAttemptHTTP2: true, TLSNextProto: map[string]func(string, *tls.Conn) http.RoundTripper{}})
	assert.True(t, forced.ForceAttemptHTTP2, "what the caller has set stays")

	transport.TLSClientConfig.RootCAs = srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	for _, again := range []bool{false, true} {
		if again {
			transport = Transport(transport)
		}
		resp, err := (&http.Client{Transport: transport}).Get(srv.URL)
		require.NoError(t, err)
		proto, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, "HTTP/2.0", string(proto), "given twice: %t", again)
		transport.CloseIdleConnections()
	}
}

// What a caller's transport has is kept; what it lacks has a limit.
func TestTransportKeepsLimits(t *testing.T) {
	limits := func(t *http.Transport) []any {
		return []any{t.TLSHandshakeTimeout, t.ExpectContinueTimeout, t.MaxIdleConnsPerHost, t.MaxResponseHeaderBytes, t.TLSClientConfig.MinVersion}
	}
	given := &http.Transport{
		TLSHandshakeTimeout: 1, ExpectContinueTimeout: 2, MaxIdleConnsPerHost: 3, MaxResponseHeaderBytes: 4,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS13},
	}
	assert.Equal(t, limits(given), limits(Transport(given)))
	assert.Equal(t, []any{10 * time.Second, time.Second, 512, int64(256 << 10), uint16(tls.VersionTLS12)}, limits(Transport(&http.Transport{})))
	refuse := func(context.Context, string, string) (net.Conn, error) { return nil, net.ErrClosed }
	for _, given := range []*http.Transport{
		{Dial: func(string, string) (net.Conn, error) { return nil, net.ErrClosed }},
		{DialContext: refuse}, {DialTLSContext: refuse},
	} {
		got := Transport(given)
		assert.Equal(t, given.DialContext == nil, got.DialContext == nil)
		assert.False(t, got.ForceAttemptHTTP2)
		_, err := got.RoundTrip(httptest.NewRequest(http.MethodGet, "https://forge.example.com", nil))
		require.ErrorIs(t, err, net.ErrClosed)
	}
}

// Silent HTTP/2 connections are pinged. Times that the caller's transport has are kept, and the
// transport itself is not changed.
func TestPingTimes(t *testing.T) {
	given := &http.Transport{}
	config := Transport(given).HTTP2
	assert.Equal(t, []time.Duration{30 * time.Second, 15 * time.Second}, []time.Duration{config.SendPingTimeout, config.PingTimeout})
	if given.HTTP2 != nil { // Clone of Go 1.27 creates one
		assert.Zero(t, given.HTTP2.SendPingTimeout)
		assert.Zero(t, given.HTTP2.PingTimeout)
	}
	given.HTTP2 = &http.HTTP2Config{SendPingTimeout: time.Minute}
	config = Transport(given).HTTP2
	assert.Equal(t, []time.Duration{time.Minute, 15 * time.Second}, []time.Duration{config.SendPingTimeout, config.PingTimeout})
	assert.Zero(t, given.HTTP2.PingTimeout)
}
