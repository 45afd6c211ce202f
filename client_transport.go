package forge

import (
	"crypto/x509"
	"fmt"
	"net/http"
	"net/url"
	"os"

	"github.com/forge-sdk/forge-go/internal/conn"
)

// openTransport returns the client's transport. The certificates of a caller's transport take
// precedence over those from a parent client or a CI job.
func (c *config) openTransport() (http.RoundTripper, error) {
	transport, err := newTransport(c.transport)
	if err != nil || c.rootCAs == nil {
		return transport, err
	}
	own, isTransport := transport.(*http.Transport)
	asked, reason := c.builder.givenRootCAs, "the transport of WithHTTPClient has its own RootCAs"
	switch {
	case !isTransport:
		reason = "the RoundTripper of WithHTTPClient is not an *http.Transport: set the certificates there"
	case own.DialTLSContext != nil || own.DialTLS != nil: //nolint:staticcheck // a caller's DialTLS is respected
		reason = "the transport of WithHTTPClient opens its TLS connections itself: set the certificates there"
	case own.TLSClientConfig.RootCAs == nil || asked && !c.builder.givenClient:
		own = own.Clone()
		own.TLSClientConfig.RootCAs = c.rootCAs
		return own, nil
	}
	if asked {
		return nil, &ValidationError{Option: "WithRootCAs", Reason: reason}
	}
	return transport, nil
}

// newTransport returns the shared transport for nil, a clone with the library's limits for an
// *http.Transport, and any other RoundTripper unchanged.
func newTransport(given http.RoundTripper) (http.RoundTripper, error) {
	if given != nil && isNil(given) {
		return nil, &ValidationError{Option: "WithHTTPClient", Reason: fmt.Sprintf("the Transport is a nil %T: omit it for the default", given)}
	}
	switch t := given.(type) {
	case nil:
		return conn.Shared(), nil
	case *http.Transport:
		if t.TLSClientConfig != nil && t.TLSClientConfig.InsecureSkipVerify {
			return nil, &ValidationError{Option: "WithHTTPClient", Reason: "the transport skips certificate checks: set TLSClientConfig.RootCAs to the server's authority"}
		}
		return conn.Transport(t), nil
	default:
		return t, nil
	}
}

// isJobServer reports whether the client's server is the one that runs the CI job.
func (c *config) isJobServer() bool {
	server, err := url.Parse(os.Getenv("CI_API_V4_URL"))
	return err == nil && sameOrigin(server, c.bases[apiBase])
}

// trustJobServer trusts the certificates that a CI job has for its server, in addition to the
// system's. An explicit WithRootCAs takes precedence.
func trustJobServer(c *config) error {
	file := os.Getenv(jobAuthorities)
	if file == "" || c.rootCAs != nil || !c.isJobServer() {
		return nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return &ValidationError{Option: jobAuthorities, Reason: "the file cannot be read: " + err.Error()}
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // as on a system without certificates
	}
	if !pool.AppendCertsFromPEM(pem) {
		return &ValidationError{Option: jobAuthorities, Reason: "the file has no certificate in PEM form: " + file}
	}
	c.rootCAs = pool
	return nil
}
