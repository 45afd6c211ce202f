package conn

import (
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Only a body of more than 64 KiB waits.
func TestExpectContinue(t *testing.T) {
	for size, expects := range map[int64]bool{-1: false, 0: false, 64 << 10: false, 64<<10 + 1: true} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://forge.example.com", http.NoBody)
		require.NoError(t, err)
		req.ContentLength = size
		assert.Equal(t, expects, ExpectContinue(req), size)
		assert.Equal(t, expects, req.Header.Get("Expect") == "100-continue", size)
	}
}

// Over HTTP/2 the header is removed when the connection is known; over HTTP/1.1 it stays.
func TestDropExpectOnHTTP2(t *testing.T) {
	for _, second := range []bool{false, true} {
		expect := ""
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { expect = r.Header.Get("Expect") }))
		srv.EnableHTTP2 = second
		srv.StartTLS()
		defer srv.Close()
		header := http.Header{"Expect": {"100-continue"}}
		ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { dropExpectOnHTTP2(header, got.Conn) }})
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, srv.URL, http.NoBody)
		require.NoError(t, err)
		req.Header = header
		resp, err := srv.Client().Transport.RoundTrip(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		assert.Equal(t, second, expect == "", "HTTP/2: %t", second)
	}
}
