package forge

import (
	"crypto/x509"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

// jobAuthorities is the variable of a CI job that names a file with the certificates of its server.
const jobAuthorities = "CI_SERVER_TLS_CA_FILE"

// WithRootCAs trusts the certificate authorities in the pool, and no others: x509.SystemCertPool
// makes a pool that the system's are in. They hold for all addresses of the client: those of the
// API, of the registry and of OAuth tokens, and those that downloads are redirected to. The pool is
// copied, and the client has connections of its own. With WithHTTPClient it needs an
// *http.Transport whose RootCAs are not set.
func WithRootCAs(pool *x509.CertPool) Option {
	return func(c *config) error {
		switch {
		case pool == nil:
			return &ValidationError{Option: "WithRootCAs", Reason: "the pool is nil"}
		case pool.Equal(x509.NewCertPool()):
			return &ValidationError{Option: "WithRootCAs", Reason: "the pool is empty: AppendCertsFromPEM reports whether it found a certificate"}
		}
		c.rootCAs, c.newTransport = pool.Clone(), true
		return c.give("WithRootCAs")
	}
}

// openTransport makes the client's transport. Certificates that come from a parent or from a CI job
// give way to those of a transport of the caller's.
func (c *config) openTransport() (http.RoundTripper, error) {
	transport, err := newTransport(c.transport)
	if err != nil || c.rootCAs == nil {
		return transport, err
	}
	own, isTransport := transport.(*http.Transport)
	asked, reason := slices.Contains(c.given, "WithRootCAs"), "the transport of WithHTTPClient has RootCAs of its own"
	switch {
	case !isTransport:
		reason = "the RoundTripper of WithHTTPClient is not an *http.Transport: set the certificates there"
	case own.DialTLSContext != nil || own.DialTLS != nil: //nolint:staticcheck // a caller's DialTLS is respected
		reason = "the transport of WithHTTPClient opens its TLS connections itself: set the certificates there"
	case own.TLSClientConfig.RootCAs == nil || asked && !slices.Contains(c.given, "WithHTTPClient"):
		own = own.Clone()
		own.TLSClientConfig.RootCAs = c.rootCAs
		return own, nil
	}
	if asked {
		return nil, &ValidationError{Option: "WithRootCAs", Reason: reason}
	}
	return transport, nil
}

// isJobServer reports whether the client is for the server that runs the CI job.
func (c *config) isJobServer() bool {
	server, err := url.Parse(os.Getenv("CI_API_V4_URL"))
	return err == nil && sameOrigin(server, c.bases[apiBase])
}

// trustJobServer trusts the certificates that a CI job is given for its server, besides the
// system's. An explicit WithRootCAs stays.
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

// hintTLS says what to do about a certificate or a connection that TLS refuses.
func hintTLS(err error) string {
	var unknown x509.UnknownAuthorityError
	var roots x509.SystemRootsError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &unknown), errors.As(err, &roots):
		return "if the server's certificate comes from a private authority, give that to WithRootCAs (NewClientFromEnv takes " + jobAuthorities + " in a CI job)"
	case strings.Contains(err.Error(), "remote error: tls: certificate required"), strings.Contains(err.Error(), "remote error: tls: bad certificate"):
		return "the server asks for a certificate of the client: set TLSClientConfig.Certificates in the transport of WithHTTPClient"
	}
	return ""
}
