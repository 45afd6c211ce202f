package forge

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/forge-sdk/forge-go/internal/conn"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"
)

// privateServer returns a server whose certificate is from a private authority, and a pool with
// this authority.
func privateServer(t *testing.T, handler http.HandlerFunc) (address string, pool *x509.CertPool, certificate []byte) {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.EnableHTTP2 = true
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	pool = x509.NewCertPool()
	pool.AddCert(srv.Certificate())
	return srv.URL, pool, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
}

func replyJSON(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	}
}

// closed returns a function that closes a client's connections when the test ends.
func closed(t *testing.T) func(*Client, error) *Client {
	return func(c *Client, err error) *Client {
		t.Helper()
		require.NoError(t, err)
		t.Cleanup(c.CloseIdleConnections)
		return c
	}
}

// With WithRootCAs a client can reach a server with a certificate of a private authority, also over
// HTTP/2. Without it the error names the option, and the request is not sent again.
func TestRootCAs(t *testing.T) {
	proto := ""
	address, pool, _ := privateServer(t, func(w http.ResponseWriter, r *http.Request) {
		proto = r.Proto
		replyJSON("{}")(w, r)
	})
	unknown := closed(t)(NewClient(address, WithToken(secret)))
	err := unknown.Do(t.Context(), callOf(RetryClassSafe), nil)
	var authority x509.UnknownAuthorityError
	require.ErrorAs(t, err, &authority)
	require.ErrorContains(t, err, "WithRootCAs")
	assert.Equal(t, 1, asError(t, err).Attempts)
	assert.Empty(t, proto)

	c := closed(t)(NewClient(address, WithToken(secret), WithRootCAs(pool)))
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, "HTTP/2.0", proto)
	shared, own := conn.Shared(), c.core.transport.(*http.Transport)
	assert.NotSame(t, shared, own)
	assert.True(t, own.TLSClientConfig.RootCAs.Equal(pool), "the pool replaces that of the system")
	assert.NotSame(t, pool, own.TLSClientConfig.RootCAs, "certificates that are added later have no effect")
	assert.Nil(t, shared.TLSClientConfig.RootCAs, "the transport of other clients is not changed")
	assert.Equal(t, shared.MaxIdleConnsPerHost, own.MaxIdleConnsPerHost)
	assert.Equal(t, shared.IdleConnTimeout, own.IdleConnTimeout)
	assert.Equal(t, shared.TLSClientConfig.MinVersion, own.TLSClientConfig.MinVersion)
	require.Error(t, unknown.Do(t.Context(), callOf(RetryClassSafe), nil))
	derived := closed(t)(unknown.With(WithRootCAs(pool)))
	require.NoError(t, derived.Do(t.Context(), callOf(RetryClassSafe), nil))
	require.NoError(t, closed(t)(derived.With(WithUserAgent("x"))).Do(t.Context(), callOf(RetryClassSafe), nil))
}

// The pool also applies to the addresses of OAuth tokens and of the registry.
func TestRootCAsEverywhere(t *testing.T) {
	address, pool, _ := privateServer(t, func(w http.ResponseWriter, r *http.Request) {
		replyJSON(map[string]string{
			"/token": `{"access_token":"new-token-1","token_type":"bearer"}`, "/jwt/auth": `{"token":"opaque-token"}`, "/v2/_catalog": `{"repositories":["a"]}`,
		}[r.URL.Path]+strings.Repeat("{}", strings.Count(r.URL.Path, "/api/v4/")))(w, r)
	})
	options := []Option{
		WithOAuth(&oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: address + "/token"}}, expired("r1")),
		WithRegistry(address, address), WithRegistryCredentials("user", "password"),
	}
	calls := map[string]func(*Client) error{
		"OAuth": func(c *Client) error { return c.Do(t.Context(), callOf(RetryClassNonIdempotent), nil) },
		"registry": func(c *Client) error {
			_, err := Collect(c.RegistryNative.ListCatalog(t.Context()))
			return err
		},
	}
	unknown := closed(t)(NewClient(address, options...))
	known := closed(t)(NewClient(address, append(options, WithRootCAs(pool))...))
	later := closed(t)(unknown.With(WithRootCAs(pool)))
	for name, call := range calls {
		err := call(unknown)
		require.ErrorIs(t, err, ErrNoCredential, name)
		require.ErrorContains(t, err, "WithRootCAs", name)
		require.NoError(t, call(known), name)
		require.NoError(t, call(later), name)
	}
}

// With WithHTTPClient the certificates are set on a copy of its *http.Transport. Another kind of
// transport is refused. In With the newer of the two options counts.
func TestRootCAsWithHTTPClient(t *testing.T) {
	address, pool, _ := privateServer(t, replyJSON("{}"))
	through := func(transport http.RoundTripper) Option { return WithHTTPClient(&http.Client{Transport: transport}) }
	dials := 0
	given := &http.Transport{MaxIdleConnsPerHost: 200, DialContext: (&net.Dialer{Control: func(string, string, syscall.RawConn) error { dials++; return nil }}).DialContext}
	for _, options := range [][]Option{{through(given), WithRootCAs(pool)}, {WithRootCAs(pool), through(given)}} {
		c := closed(t)(NewClient(address, options...))
		require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
		assert.Equal(t, 200, c.core.transport.(*http.Transport).MaxIdleConnsPerHost)
	}
	assert.Equal(t, 2, dials)
	assert.True(t, given.TLSClientConfig == nil || given.TLSClientConfig.RootCAs == nil, "the caller's transport is not changed")

	foreign := roundTrip(func(*http.Request) (*http.Response, error) { return nil, io.EOF })
	own := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}}
	dialing := &http.Transport{DialTLSContext: given.DialContext}
	former := &http.Transport{DialTLS: net.Dial} //nolint:staticcheck // a caller may set it
	for says, transport := range map[string]http.RoundTripper{"not an *http.Transport": foreign, "its own RootCAs": own, "TLS connections itself": dialing, "opens its TLS connections": former} {
		for _, options := range [][]Option{{through(transport), WithRootCAs(pool)}, {WithRootCAs(pool), through(transport)}} {
			_, err := NewClient(address, options...)
			assert.Contains(t, refusedOption(t, err, "WithRootCAs"), says)
		}
	}
	careless := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // it is refused
	_, err := NewClient(address, through(careless), WithRootCAs(pool))
	assert.Contains(t, refusedOption(t, err, "WithHTTPClient"), "skips certificate checks")
	for reason, none := range map[string]*x509.CertPool{"nil": nil, "empty": x509.NewCertPool()} {
		_, err := NewClient(address, WithRootCAs(none))
		assert.Contains(t, refusedOption(t, err, "WithRootCAs"), reason)
	}

	parent := closed(t)(NewClient(address, WithRootCAs(pool)))
	closed(t)(parent.With(through(foreign))) // a transport of another kind replaces the certificates, too
	require.NoError(t, closed(t)(parent.With(through(&http.Transport{}))).Do(t.Context(), callOf(RetryClassSafe), nil), "the certificates are those of the parent")
	require.Error(t, closed(t)(parent.With(through(own))).Do(t.Context(), callOf(RetryClassSafe), nil), "the certificates are those of the transport")
	require.NoError(t, closed(t)(closed(t)(parent.With(through(own))).With(WithRootCAs(pool))).Do(t.Context(), callOf(RetryClassSafe), nil))
	_, err = closed(t)(parent.With(through(foreign))).With(WithRootCAs(pool))
	refusedOption(t, err, "WithRootCAs")
}

// In a CI job the client trusts the certificates of CI_SERVER_TLS_CA_FILE in addition to those of
// the system, for the server that runs the job.
func TestJobAuthorities(t *testing.T) {
	address, pool, certificate := privateServer(t, replyJSON("{}"))
	file := filepath.Join(t.TempDir(), "authority.pem")
	require.NoError(t, os.WriteFile(file, certificate, 0o600))
	set := func(env map[string]string) {
		for _, name := range []string{"FORGE_URL", "FORGE_TOKEN", "CI_API_V4_URL", "CI_JOB_TOKEN", jobAuthorities} {
			t.Setenv(name, env[name])
		}
	}
	job := func(file string) {
		set(map[string]string{"CI_API_V4_URL": address + "/api/v4", "CI_JOB_TOKEN": secret, jobAuthorities: file})
	}
	job(file)
	c := closed(t)(NewClientFromEnv())
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	all, err := x509.SystemCertPool()
	if err != nil { // in TestJobAuthoritiesAlone
		all = x509.NewCertPool()
	}
	all.AppendCertsFromPEM(certificate)
	assert.True(t, c.core.transport.(*http.Transport).TLSClientConfig.RootCAs.Equal(all), "in addition to those of the system")
	require.NoError(t, closed(t)(c.With(WithToken("another-token"))).Do(t.Context(), callOf(RetryClassSafe), nil))

	set(map[string]string{"CI_API_V4_URL": address + "/api/v4", jobAuthorities: file, "FORGE_URL": address, "FORGE_TOKEN": secret})
	require.NoError(t, closed(t)(NewClientFromEnv()).Do(t.Context(), callOf(RetryClassSafe), nil), "another token for the same server")
	set(map[string]string{"CI_API_V4_URL": "https://forge.example.com/api/v4", jobAuthorities: file, "FORGE_URL": address, "FORGE_TOKEN": secret})
	require.ErrorContains(t, closed(t)(NewClientFromEnv()).Do(t.Context(), callOf(RetryClassSafe), nil), "WithRootCAs", "another server")
	set(map[string]string{"CI_API_V4_URL": "https://[", jobAuthorities: file, "FORGE_URL": address, "FORGE_TOKEN": secret})
	require.ErrorContains(t, closed(t)(NewClientFromEnv()).Do(t.Context(), callOf(RetryClassSafe), nil), "WithRootCAs", "the job's address cannot be parsed")
	set(map[string]string{jobAuthorities: "/does/not/exist", "FORGE_URL": address, "FORGE_TOKEN": secret})
	require.ErrorContains(t, closed(t)(NewClientFromEnv()).Do(t.Context(), callOf(RetryClassSafe), nil), "WithRootCAs", "no job")

	job("")
	require.ErrorContains(t, closed(t)(NewClientFromEnv()).Do(t.Context(), callOf(RetryClassSafe), nil), jobAuthorities)
	require.NoError(t, os.WriteFile(file, []byte("-----BEGIN CERTIFICATE-----\nbroken\n"), 0o600))
	for name, says := range map[string]string{file: "no certificate", filepath.Dir(file): "cannot be read", file + "x": "cannot be read"} {
		job(name)
		_, err := NewClientFromEnv()
		assert.Contains(t, refusedOption(t, err, jobAuthorities), says)
		require.NoError(t, closed(t)(NewClientFromEnv(WithRootCAs(pool))).Do(t.Context(), callOf(RetryClassSafe), nil), "an explicit pool is used")
	}
	require.NoError(t, os.WriteFile(file, certificate, 0o600))
	job(file)
	through := func(transport http.RoundTripper) Option { return WithHTTPClient(&http.Client{Transport: transport}) }
	require.NoError(t, closed(t)(NewClientFromEnv(through(&http.Transport{}))).Do(t.Context(), callOf(RetryClassSafe), nil))
	own := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS12}}
	require.Error(t, closed(t)(NewClientFromEnv(through(own))).Do(t.Context(), callOf(RetryClassSafe), nil), "the certificates of the transport apply")
	closed(t)(NewClientFromEnv(through(roundTrip(nothing))))
}

// The same on a system whose own certificates cannot be read.
func TestJobAuthoritiesAlone(t *testing.T) {
	cmd := osexec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestJobAuthorities$")
	cmd.Env = append(os.Environ(), "SSL_CERT_FILE="+t.TempDir(), "SSL_CERT_DIR=/does/not/exist")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
}
