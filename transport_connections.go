package forge

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// newTransport takes over the caller's transport, or makes the one that clients share, with the library's limits.
func newTransport(given http.RoundTripper) (http.RoundTripper, error) {
	if given != nil && isNil(given) {
		return nil, &ValidationError{Option: "WithHTTPClient", Reason: fmt.Sprintf("the Transport is a nil %T: leave it out for the default", given)}
	}
	switch t := given.(type) {
	case nil:
		return sharedTransport(), nil
	case *http.Transport:
		if t.TLSClientConfig != nil && t.TLSClientConfig.InsecureSkipVerify {
			return nil, &ValidationError{Option: "WithHTTPClient", Reason: "the transport skips certificate checks: set TLSClientConfig.RootCAs to the server's authority"}
		}
		return limited(t), nil
	default:
		return t, nil
	}
}

var (
	sharedOnce sync.Once
	shared     *http.Transport
)

// sharedTransport is made by the first client that needs it, not at import time.
func sharedTransport() *http.Transport {
	sharedOnce.Do(func() {
		shared = limited(&http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second})
	})
	return shared
}

// limited clones a transport and sets what the library promises.
func limited(t *http.Transport) *http.Transport {
	t = t.Clone()
	ownDial := t.DialContext != nil || t.Dial != nil || t.DialTLSContext != nil //nolint:staticcheck // a caller's Dial is respected
	if !ownDial {
		// Setting what follows would switch HTTP/2 off for a transport that has it by default, which Clone marks in the
		// protocols it offers: a server would choose what the transport no longer speaks.
		offers := t.TLSClientConfig == nil || slices.Contains(t.TLSClientConfig.NextProtos, "h2")
		t.ForceAttemptHTTP2 = t.ForceAttemptHTTP2 || offers && t.TLSNextProto == nil
		t.DialContext = newDialer().dial
	}
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{}
	}
	t.TLSClientConfig.MinVersion = max(t.TLSClientConfig.MinVersion, tls.VersionTLS12)
	t.Proxy = quietProxy(t.Proxy)
	t.TLSHandshakeTimeout = orDefault(t.TLSHandshakeTimeout, 10*time.Second)
	if t.OnProxyConnectResponse == nil {
		t.OnProxyConnectResponse = checkTunnel
	}
	t.ExpectContinueTimeout = orDefault(t.ExpectContinueTimeout, time.Second)
	t.MaxIdleConnsPerHost = orDefault(t.MaxIdleConnsPerHost, 64)
	t.MaxResponseHeaderBytes = orDefault(t.MaxResponseHeaderBytes, 256<<10)
	return t
}

// quietProxy drops the text of a failure to find the proxy: net/http quotes the address that the environment has, password included.
func quietProxy(find func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if find == nil {
		return nil
	}
	return func(req *http.Request) (*url.URL, error) {
		proxy, err := find(req)
		if err != nil {
			return nil, errors.New("the proxy's address cannot be used: HTTPS_PROXY, or what the transport's Proxy gives, must be a URL")
		}
		return proxy, nil
	}
}
