package proxy

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var proxyCredential = "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+password))

// Over CONNECT a proxy sees where the connection goes and its own password. The API's token is
// inside TLS, and the API sees nothing of the proxy's password.
func TestTunnel(t *testing.T) {
	for _, http2 := range []bool{false, true} {
		t.Run(fmt.Sprintf("HTTP/2 %t", http2), func(t *testing.T) {
			s := newServer(t, func(s *httptest.Server) {
				s.EnableHTTP2 = http2
				s.StartTLS()
			})
			p := newForward(t, s.Listener.Addr(), "")
			run(t, job{BaseURL: "https://example.com", Authority: s.authority()}, "HTTPS_PROXY="+p.url).requireSuccess(t)
			requests, received := p.seen()
			require.Len(t, requests, 1, "one tunnel for all calls")
			assert.Equal(t, "example.com:443", requests[0].RequestURI)
			assert.Equal(t, proxyCredential, requests[0].Header.Get("Proxy-Authorization"))
			assert.NotContains(t, received, token)
			s.requireCalls(t)
		})
	}
}

// Plain http through a proxy, which the caller has opted in to: the proxy reads everything, the
// token too. Its own password goes no further.
func TestPlain(t *testing.T) {
	s := newServer(t, (*httptest.Server).Start)
	p := newForward(t, s.Listener.Addr(), "")
	run(t, job{BaseURL: "http://forge.test"}, "HTTP_PROXY="+p.url).requireSuccess(t)
	requests, _ := p.seen()
	require.Len(t, requests, 3)
	for _, r := range requests {
		assert.Equal(t, "forge.test", r.URL.Host)
		assert.Equal(t, token, r.Header.Get("Private-Token"))
		assert.Equal(t, proxyCredential, r.Header.Get("Proxy-Authorization"))
	}
	s.requireCalls(t)
}

// requireCalls checks that each call came once, with the token, and with nothing that is the
// proxy's.
func (s *server) requireCalls(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	require.Len(t, s.headers, 3)
	assert.Equal(t, 2, s.writes)
	for _, header := range s.headers {
		assert.Equal(t, token, header.Get("Private-Token"))
		assert.Empty(t, header.Get("Proxy-Authorization"))
	}
}

// Hosts of NO_PROXY and loopback addresses are called without the proxy.
func TestNoProxy(t *testing.T) {
	s := newServer(t, (*httptest.Server).Start)
	p := newForward(t, s.Listener.Addr(), "")
	for _, base := range []string{"http://forge.test", s.URL} {
		run(t, job{BaseURL: base, Hosts: s.Listener.Addr().String()}, "HTTP_PROXY="+p.url, "NO_PROXY=forge.test").requireSuccess(t)
	}
	requests, _ := p.seen()
	assert.Empty(t, requests)
	assert.Len(t, s.headers, 6)
}

// A proxy that is down is an error that names it: nothing was sent, so that calls of every class
// are tried again.
func TestProxyDown(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	address := "http://user:" + password + "@" + listener.Addr().String()
	for _, base := range []string{"http://forge.test", "https://forge.test"} {
		r := run(t, job{BaseURL: base}, "HTTP_PROXY="+address, "HTTPS_PROXY="+address)
		r.requireFailure(t, "proxyconnect tcp: dial tcp "+listener.Addr().String()+": connect: connection refused", 4, 4, 4)
		assert.Equal(t, []bool{false, false, false}, r.Applied)
	}
}

// A proxy that refuses a tunnel, for its password or because it cannot reach the server: nothing
// has been sent, and no write may have been applied. A password does not become right by repeating
// it.
func TestTunnelRefused(t *testing.T) {
	s := newServer(t, (*httptest.Server).StartTLS)
	for status, attempts := range map[string]int{"407 Proxy Authentication Required": 1, "403 Forbidden": 1, "502 Bad Gateway": 4} {
		t.Run(status, func(t *testing.T) {
			p := newForward(t, s.Listener.Addr(), status)
			r := run(t, job{BaseURL: "https://example.com", Authority: s.authority()}, "HTTPS_PROXY="+p.url)
			r.requireFailure(t, "the proxy responded with "+status, attempts, attempts, attempts)
			assert.Equal(t, []bool{false, false, false}, r.Applied)
			requests, received := p.seen()
			assert.Len(t, requests, 3*attempts)
			assert.NotContains(t, received, token)
			assert.Empty(t, s.headers)
		})
	}
}

// The answers of a proxy to plain http cannot be told from the server's: they are judged like
// these, so that a non-idempotent call is not repeated, and the error says that it may have been
// applied.
func TestPlainRefused(t *testing.T) {
	s := newServer(t, (*httptest.Server).Start)
	for status, test := range map[string]struct {
		attempts []int
		applied  []bool
	}{
		"407 Proxy Authentication Required": {[]int{1, 1, 1}, []bool{false, false, false}},
		"502 Bad Gateway":                   {[]int{4, 4, 1}, []bool{false, true, true}},
	} {
		t.Run(status, func(t *testing.T) {
			p := newForward(t, s.Listener.Addr(), status)
			r := run(t, job{BaseURL: "http://forge.test"}, "HTTP_PROXY="+p.url)
			r.requireFailure(t, status, test.attempts...)
			assert.Equal(t, test.applied, r.Applied)
			assert.Empty(t, s.headers)
		})
	}
}
