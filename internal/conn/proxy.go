package conn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"syscall"
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
	switch e.Status {
	case http.StatusProxyAuthRequired:
		text += ": check the user and password in the address of the proxy"
	case http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed:
		text += ": it may be another server: check the address of the proxy"
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
		switch {
		case err != nil:
			return nil, errors.New("the proxy's address cannot be used: HTTPS_PROXY, or the result of the transport's Proxy, must be a URL")
		case proxy == nil:
			return nil, nil
		}
		if err := checkProxy(proxy); err != nil {
			return nil, err
		}
		return proxy, nil
	}
}

// checkProxy rejects an address that was not read as its author meant it: the characters /, ? and #
// in a password end the host, so that a part of the password becomes the host.
func checkProxy(proxy *url.URL) error {
	switch {
	case strings.Trim(proxy.Path, "/") != "" || proxy.RawQuery != "" || proxy.Fragment != "" || proxy.Opaque != "" || proxy.Hostname() == "":
		return errors.New("the proxy's address cannot be used: escape the password in it: HTTPS_PROXY, or the result of the transport's Proxy, must look like http://user:p%40ss@proxy.example.com:3128")
	case !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, proxy.Scheme):
		return errors.New("the proxy's address cannot be used: it must begin with http://, https:// or socks5://")
	}
	return nil
}

// HideProxy replaces the error of a connection to a proxy with a user in its address, whose text
// would have the host: a part of the password, if that was not escaped.
func HideProxy(err error, proxy *url.URL) error {
	var op *net.OpError
	if proxy == nil || proxy.User == nil || !errors.As(err, &op) || op.Op != "proxyconnect" && !strings.HasPrefix(op.Op, "socks") {
		return err
	}
	var number syscall.Errno
	var lookup *net.DNSError
	reason := errors.New("the connection to the proxy failed")
	switch {
	case errors.As(err, &number):
		reason = number
	case errors.As(err, &lookup):
		reason = &net.DNSError{Err: lookup.Err, Name: "the host of the proxy", IsTimeout: lookup.IsTimeout, IsTemporary: lookup.IsTemporary, IsNotFound: lookup.IsNotFound}
	case op.Timeout():
		reason = os.ErrDeadlineExceeded
	}
	return &net.OpError{Op: "proxyconnect", Net: "tcp", Err: reason}
}

// ProxyOf returns the proxy of a request; nil if it has none.
func ProxyOf(transport *http.Transport, req *http.Request) *url.URL {
	if transport == nil || transport.Proxy == nil {
		return nil
	}
	proxy, _ := transport.Proxy(req)
	return proxy
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
