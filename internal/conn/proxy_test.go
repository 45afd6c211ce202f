package conn

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"syscall"
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

// The statuses that net/http has no text for.
func TestProxyStatusText(t *testing.T) {
	texts := map[int]string{
		520: "Unknown Error Behind The Proxy", 521: "Server Is Down", 522: "Connection Timed Out", 523: "Server Is Unreachable", 524: "Response Timed Out",
		525: "TLS Handshake Failed", 526: "Invalid Certificate", 527: "Tunnel Error", 530: "Server Not Found",
	}
	for status := range 600 {
		assert.Equal(t, texts[status], ProxyStatusText(status), status)
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

// An address that was not read as its author meant it is refused.
func TestCheckProxy(t *testing.T) {
	const escape = "the proxy's address cannot be used: escape the password in it: HTTPS_PROXY, or the result of the transport's Proxy, must look like http://user:p%40ss@proxy.example.com:3128"
	const scheme = "the proxy's address cannot be used: it must begin with http://, https:// or socks5://"
	for address, want := range map[string]string{
		"http://proxy": "", "https://user:p%40ss@proxy:3128/": "", "socks5://proxy": "", "socks5h://proxy:1": "",
		"http://user:pa/ss@proxy": escape, "http://user:pa?ss@proxy": escape, "http://user:pa#ss@proxy": escape, "http://user/ss@proxy": escape, "http://user?ss@proxy": escape, "http://user#ss@proxy": escape, "http:proxy": escape, "http://": escape, "http://:3128": escape,
		"ftp://proxy": scheme, "//proxy": scheme,
	} {
		proxy, err := url.Parse(address)
		if err != nil { // such as a part of a password as the port
			proxy = &url.URL{Scheme: "http", Host: "user:pa", Path: "/ss@proxy"}
		}
		if err = checkProxy(proxy); want == "" {
			assert.NoError(t, err, address)
		} else {
			assert.EqualError(t, err, want, address)
		}
	}
	assert.EqualError(t, checkProxy(&url.URL{Scheme: "http", Opaque: "user", Host: "proxy"}), escape)
}

// The error of a connection to a proxy with a user keeps its cause and loses the host. Other errors
// stay as they are.
func TestHideProxy(t *testing.T) {
	withUser := &url.URL{Scheme: "http", User: url.User("user"), Host: "ss@proxy"}
	plain := &url.URL{Scheme: "http", Host: "proxy"}
	hidden := func(reason error) error { return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: reason} }
	op := func(op string, err error) error { return &net.OpError{Op: op, Net: "tcp4", Err: err} }
	lookup := func(host string) error {
		return &net.DNSError{Err: "no such host", Name: host, IsTimeout: true, IsTemporary: true, IsNotFound: true}
	}
	failed := hidden(errors.New("the connection to the proxy failed"))
	for _, test := range []struct {
		proxy     *url.URL
		err, want error
	}{
		{withUser, op("proxyconnect", io.EOF), failed},
		{withUser, op("socks connect", io.EOF), failed},
		{withUser, op("proxyconnect", op("dial", syscall.ECONNREFUSED)), hidden(syscall.ECONNREFUSED)},
		{withUser, op("proxyconnect", lookup("ss@proxy")), hidden(lookup("the host of the proxy"))},
		{withUser, op("proxyconnect", os.ErrDeadlineExceeded), hidden(os.ErrDeadlineExceeded)},
		{withUser, op("dial", io.EOF), nil},
		{withUser, io.EOF, nil},
		{plain, op("proxyconnect", io.EOF), nil},
		{nil, op("proxyconnect", io.EOF), nil},
	} {
		want := test.want
		if want == nil {
			want = test.err
		}
		assert.Equal(t, want, HideProxy(test.err, test.proxy), "%v", test.err)
	}
}
