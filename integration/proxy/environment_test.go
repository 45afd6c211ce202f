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

// With CONNECT a proxy sees only the target of the connection and its own password. The API's token
// is inside TLS, and the API does not receive the proxy's password.
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

// With plain HTTP, which the caller has enabled, a proxy reads everything, including the token. The
// proxy's password is not passed on.
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

// requireCalls checks that each call arrived once, with the token and without the proxy's headers.
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

// The error names a proxy that is down. Nothing was sent, so calls of every class are retried.
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

// A proxy refuses a tunnel because of its password or because it cannot reach the server. Nothing
// was sent, so no write may have been applied. A wrong password is not retried.
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

// With plain HTTP the responses of a proxy cannot be distinguished from those of the server. They
// are handled in the same way: a non-idempotent call is not retried, and the error reports that it
// may have been applied.
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
