package conn

import (
	"cmp"
	"crypto/tls"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

var (
	sharedOnce sync.Once
	shared     *http.Transport
)

// Shared returns the transport of all clients without WithHTTPClient. The first call creates it.
func Shared() *http.Transport {
	sharedOnce.Do(func() {
		shared = Transport(&http.Transport{
			Proxy:           http.ProxyFromEnvironment,
			IdleConnTimeout: 90 * time.Second,
		})
	})
	return shared
}

// Transport returns a clone of t with the limits of the library. Limits that t already has are
// kept.
func Transport(t *http.Transport) *http.Transport {
	t = t.Clone()
	ownDial := t.DialContext != nil || t.Dial != nil || t.DialTLSContext != nil //nolint:staticcheck // a caller's Dial is respected
	if !ownDial {
		// The settings below would switch HTTP/2 off for a transport that has it by default. Clone has
		// then already listed h2 in the offered protocols, and a server would select it.
		offers := t.TLSClientConfig == nil || slices.Contains(t.TLSClientConfig.NextProtos, "h2")
		t.ForceAttemptHTTP2 = t.ForceAttemptHTTP2 || offers && t.TLSNextProto == nil
		t.DialContext = (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext
	}
	if t.TLSClientConfig == nil {
		t.TLSClientConfig = &tls.Config{}
	}
	t.TLSClientConfig.MinVersion = max(t.TLSClientConfig.MinVersion, tls.VersionTLS12)
	t.Proxy = redactProxyErrors(t.Proxy)
	t.TLSHandshakeTimeout = cmp.Or(t.TLSHandshakeTimeout, 10*time.Second)
	if t.OnProxyConnectResponse == nil {
		t.OnProxyConnectResponse = checkProxyResponse
	}
	t.ExpectContinueTimeout = cmp.Or(t.ExpectContinueTimeout, time.Second)
	t.MaxIdleConnsPerHost = cmp.Or(t.MaxIdleConnsPerHost, 512)
	t.MaxResponseHeaderBytes = cmp.Or(t.MaxResponseHeaderBytes, 256<<10)
	pingSilentConnections(t)
	return t
}

// pingSilentConnections lets HTTP/2 detect a connection on which nothing arrives anymore, and close
// it. All calls share one connection: without the ping each retry and each later call would wait on
// it until its timeout.
func pingSilentConnections(t *http.Transport) {
	if t.HTTP2 == nil {
		t.HTTP2 = &http.HTTP2Config{}
	}
	t.HTTP2.SendPingTimeout = cmp.Or(t.HTTP2.SendPingTimeout, 30*time.Second)
	t.HTTP2.PingTimeout = cmp.Or(t.HTTP2.PingTimeout, 15*time.Second)
}
