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

// proxied reports whether there is a proxy. net/http would speak HTTP/2 without TLS to it, which no
// proxy does.
func (w *World) proxied() bool { return w.plan.Proxy && w.plan.Protocol != H2C }

// proxy is a proxy for HTTP: it opens tunnels, and forwards requests for http.
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

// basicAuth reads the credential of a proxy.
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

// carry copies one direction. The end goes on as an end, and a failure as a reset.
func carry(to net.Conn, from io.Reader) {
	_, err := io.Copy(struct{ io.Writer }{to}, struct{ io.Reader }{from})
	if c := inner(to); c != nil && err != nil {
		c.reset()
	} else if c != nil {
		_ = c.CloseWrite()
	}
}

// forward sends a request on, over a connection of its own.
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
			if err != nil { // a nil *conn is no nil net.Conn
				return nil, err
			}
			return c, nil
		},
	}
	answer, err := transport.RoundTrip(forward)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < 200 { // 101: this proxy forwards nothing but HTTP
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if _, err := io.Copy(w, answer.Body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
