package conn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// ProxyError is the error of a proxy that did not connect to the server. Nothing was sent.
type ProxyError struct {
	Status int
	Header http.Header
}

// Error names the proxy. The error of net/http is the text of the status alone, which reads as if
// the server had refused the call.
func (e *ProxyError) Error() string {
	name := http.StatusText(e.Status)
	if name == "" {
		name = ProxyStatusText(e.Status)
	}
	text := fmt.Sprintf("the proxy responded with %d %s", e.Status, name)
	if e.Status == http.StatusProxyAuthRequired {
		text += ": check the user and password in the address of the proxy"
	}
	return text
}

// Permanent reports whether the proxy would respond in the same way again.
func (e *ProxyError) Permanent() bool {
	return e.Status < 500 && e.Status != http.StatusRequestTimeout &&
		e.Status != http.StatusTooEarly && e.Status != http.StatusTooManyRequests
}

// checkProxyResponse is the OnProxyConnectResponse of transports whose own is nil.
func checkProxyResponse(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
	if resp.StatusCode == http.StatusOK {
		return nil
	}
	return &ProxyError{resp.StatusCode, resp.Header}
}

// redactProxyErrors replaces the error of a failure to find the proxy: net/http quotes the address
// in the environment, password included.
func redactProxyErrors(find func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if find == nil {
		return nil
	}
	return func(req *http.Request) (*url.URL, error) {
		proxy, err := find(req)
		if err != nil {
			return nil, errors.New("the proxy's address cannot be used: HTTPS_PROXY, or the result of the transport's Proxy, must be a URL")
		}
		return proxy, nil
	}
}

// ProxyStatusText returns the text of a status of a proxy that got no response from the server
// behind it, or "" for others. These statuses are not registered, so net/http has no text for them.
func ProxyStatusText(status int) string {
	switch status {
	case 520:
		return "Unknown Error Behind The Proxy"
	case 521:
		return "Server Is Down"
	case 522:
		return "Connection Timed Out"
	case 523:
		return "Server Is Unreachable"
	case 524:
		return "Response Timed Out"
	case 525:
		return "TLS Handshake Failed"
	case 526:
		return "Invalid Certificate"
	case 527:
		return "Tunnel Error"
	case 530:
		return "Server Not Found"
	}
	return ""
}
