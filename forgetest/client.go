package forgetest

import (
	"cmp"
	"context"
	"crypto/x509"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// Client returns a client of the server, with the token of the default user unless the options set
// another credential. It has its own connections, which Close of the server ends. Its retries wait
// one or two milliseconds; WithRetry sets another policy.
//
// The client has what the options of the server require: the prefix, the addresses and the
// credentials of the registry, forge.Neutral with [WithNeutralNames], and the certificate of
// [WithTLS]. The given options replace these. If the listener of [WithListener] has a method
// DialContext, as net.Dialer has, the client connects with it. It connects to the listener, too,
// if the host of [WithExternalURL] is reserved for tests: forge.test, or another name that ends in
// .test, .example or .invalid.
func (s *Server) Client(options ...forge.Option) *forge.Client {
	own := []forge.Option{
		forge.WithRetry(forge.RetryPolicy{MinWait: time.Millisecond, MaxWait: 2 * time.Millisecond}),
		forge.WithHTTPClient(&http.Client{Transport: s.clientTransport()}), forge.WithToken(s.Token),
		forge.WithRegistry(s.RegistryURL, s.RegistryAuthURL), forge.WithRegistryCredentials("root", s.Token),
	}
	if s.neutral {
		own = append(own, forge.WithVocabulary(forge.Neutral))
	}
	if s.tls {
		roots := x509.NewCertPool()
		roots.AddCert(s.Certificate())
		own = append(own, forge.WithRootCAs(roots))
	}
	if host := hostOf(s.URL); host != "localhost" && !net.ParseIP(host).IsLoopback() {
		own = append(own, forge.WithPlainHTTP()) // the token is of no use elsewhere
	}
	client, err := forge.NewClient(s.URL, own...)
	if err == nil {
		client, err = client.With(options...)
	}
	if err != nil {
		panic("forgetest: " + err.Error())
	}
	return client
}

// clientTransport returns the connections of a client.
func (s *Server) clientTransport() *http.Transport {
	t := &http.Transport{}
	if p := s.http.Protocols; p != nil && !p.HTTP1() {
		t.Protocols = p
	}
	direct, ok := s.listener.(interface {
		DialContext(ctx context.Context, network, address string) (net.Conn, error)
	})
	switch {
	case ok:
		t.DialContext = s.dialWith(direct.DialContext)
	case isReserved(hostOf(s.URL)):
		t.DialContext = s.dialWith(func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, s.bound.Network(), s.bound.String())
		})
	}
	return t
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// dialWith returns a function that connects to the server with dial, and to any other address, such
// as the target of a redirect, over the network.
func (s *Server) dialWith(dial dialFunc) dialFunc {
	own := ""
	if u, err := url.Parse(s.URL); err == nil {
		own = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme]))
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.EqualFold(address, own) {
			return dial(ctx, network, address)
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
}

// isReserved reports whether no name server knows the host: RFC 6761 §6 reserves these names for
// tests.
func isReserved(host string) bool {
	host = strings.ToLower(host)
	return strings.HasSuffix(host, ".test") || strings.HasSuffix(host, ".example") || strings.HasSuffix(host, ".invalid")
}
