package simulation

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
)

const (
	proxyAddress  = "proxy.test:3128"
	proxyPassword = "simulated-proxy-password"
)

func proxyURL() *url.URL {
	return &url.URL{Scheme: "http", Host: proxyAddress, User: url.UserPassword("worker", proxyPassword)}
}

// proxied reports whether there is a proxy. With H2C there is none: net/http would speak HTTP/2
// without TLS to the proxy, and proxies do not support that.
func (w *World) proxied() bool { return w.plan.Proxy && w.plan.Protocol != H2C }

// proxy is an HTTP proxy. It opens tunnels, and forwards requests for http addresses.
type proxy struct{ world *World }

func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, password, ok := basicAuth(r.Header.Get("Proxy-Authorization")); !ok || password != proxyPassword {
		w.Header().Set("Proxy-Authenticate", `Basic realm="proxy"`)
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	if r.Method == http.MethodConnect {
		p.tunnel(w, r)
		return
	}
	p.forward(w, r)
}

// basicAuth parses the value of a Proxy-Authorization header.
func basicAuth(header string) (user, password string, ok bool) {
	r := &http.Request{Header: http.Header{"Authorization": {header}}}
	return r.BasicAuth()
}

// tunnel copies bytes in both directions until both have ended.
func (p *proxy) tunnel(w http.ResponseWriter, r *http.Request) {
	out, err := p.world.net.connect(r.Context(), r.Host, true)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = out.Close() }()
	in, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = in.Close() }()
	if own, ok := w.(*writer); ok {
		own.note(http.StatusOK)
	}
	defer closeAtEnd(p.world.ctx, in)()
	defer closeAtEnd(p.world.ctx, out)()
	if _, err := io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var both sync.WaitGroup
	both.Go(func() { carry(out, buffered) })
	both.Go(func() { carry(in, out) })
	both.Wait()
}

// carry copies one direction. It closes the other side cleanly at io.EOF, and resets it after an
// error.
func carry(to net.Conn, from io.Reader) {
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	if c := inner(to); c != nil && err != nil {
		c.reset()
	} else if c != nil {
		_ = c.CloseWrite()
	}
}

// forward sends a request over a separate connection.
func (p *proxy) forward(w http.ResponseWriter, r *http.Request) {
	forward := r.Clone(r.Context())
	forward.RequestURI = ""
	for _, name := range []string{"Proxy-Authorization", "Proxy-Connection", "Connection"} {
		forward.Header.Del(name)
	}
	transport := &http.Transport{
		DisableKeepAlives: true, DisableCompression: true,
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			c, err := p.world.net.connect(ctx, address, true)
			if err != nil { // a nil *conn in a net.Conn would not be nil
				return nil, err
			}
			return c, nil
		},
	}
	response, err := transport.RoundTrip(forward)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode < 200 { // 101: this proxy supports only HTTP
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for name, values := range response.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(response.StatusCode)
	if _, err := io.Copy(w, response.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
