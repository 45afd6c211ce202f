package conn

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The error names a proxy that does not connect, and has the response header, which may contain a
// wait.
func TestProxyError(t *testing.T) {
	for _, test := range []struct {
		status    int
		text      string
		permanent bool
	}{
		{407, "the proxy responded with 407 Proxy Authentication Required: check the user and password in the address of the proxy", true},
		{403, "the proxy responded with 403 Forbidden", true},
		{404, "the proxy responded with 404 Not Found: it may be another server: check the address of the proxy", true},
		{408, "the proxy responded with 408 Request Timeout", false},
		{425, "the proxy responded with 425 Too Early", false},
		{429, "the proxy responded with 429 Too Many Requests", false},
		{500, "the proxy responded with 500 Internal Server Error", false},
		{502, "the proxy responded with 502 Bad Gateway", false},
		{525, "the proxy responded with 525 TLS Handshake Failed", false},
	} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(test.status)
		}))
		defer proxy.Close()
		address, err := url.Parse(proxy.URL)
		require.NoError(t, err)
		transport := Transport(&http.Transport{Proxy: http.ProxyURL(address)})
		_, err = (&http.Client{Transport: transport}).Get("https://forge.example.com")
		var refused *ProxyError
		require.ErrorAs(t, err, &refused)
		assert.Equal(t, test.status, refused.Status)
		assert.Equal(t, "7", refused.Header.Get("Retry-After"))
		assert.Equal(t, test.text, refused.Error())
		assert.Equal(t, test.permanent, refused.Permanent())
	}
}

// The error for an invalid proxy address does not quote the address.
func TestProxyAddressIsHidden(t *testing.T) {
	transport := Transport(&http.Transport{Proxy: func(*http.Request) (*url.URL, error) {
		return nil, errors.New("http://user:password@proxy")
	}})
	_, err := (&http.Client{Transport: transport}).Get("https://forge.example.com")
	require.ErrorContains(t, err, "the proxy's address cannot be used")
	assert.NotContains(t, err.Error(), "password")
}
