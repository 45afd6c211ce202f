package contracttest_test

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// troubled is a server with the project acme/app, and a client whose retry policy is that of
// production.
type troubled struct {
	*forge.Client
	srv       *forgetest.Server
	app       *forgetest.Project
	project   forge.Ref
	transport http.RoundTripper
}

// inBubble returns the error of call, which runs in virtual time.
func inBubble(t *testing.T, call func(ctx context.Context, w *troubled) error, opts ...forgetest.Option) (err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		network := pipenet.Listen()
		srv := forgetest.New(t, append(opts, forgetest.WithListener(network))...)
		transport := &http.Transport{DialContext: network.DialContext}
		w := &troubled{
			Client: srv.Client(forge.WithHTTPClient(&http.Client{Transport: transport}), forge.WithRetry(forge.RetryPolicy{})),
			srv:    srv, app: srv.AddProject("acme/app", forgetest.Private), project: forge.Path("acme/app"), transport: transport,
		}
		defer w.CloseIdleConnections()
		w.app.AddIssues(5, nil)
		w.app.AddRegistryRepository("").AddTags(3, nil)
		err = call(t.Context(), w)
	})
	return err
}

// with returns the client with options. The tests know that they are valid.
func (w *troubled) with(opts ...forge.Option) *forge.Client {
	client, err := w.With(opts...)
	if err != nil {
		panic(err)
	}
	return client
}

// issues lists all issues, which fails.
func issues(ctx context.Context, client *forge.Client, opts ...forge.RequestOption) error {
	_, err := forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, opts...))
	return err
}

// environment sets the variables of forge.NewClientFromEnv. The ones of CI jobs are not set.
func environment(t *testing.T, address, token string) {
	t.Helper()
	for name, value := range map[string]string{
		"FORGE_URL": address, "FORGE_TOKEN": token, "CI_API_V4_URL": "", "CI_JOB_TOKEN": "", "CI_SERVER_TLS_CA_FILE": "",
	} {
		t.Setenv(name, value)
	}
}

// serve starts a server that is not the API.
func serve(t *testing.T, respond http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(respond)
	t.Cleanup(server.Close)
	return server
}

// overTCP returns the error of a list of issues with a client for the address, with its own
// connections.
func overTCP(t *testing.T, address string, transport *http.Transport, opts ...forge.Option) error {
	t.Helper()
	opts = append([]forge.Option{forge.WithToken("an-access-token"), forge.WithHTTPClient(&http.Client{Transport: transport})}, opts...)
	client, err := forge.NewClient(address, opts...)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	return issues(t.Context(), client)
}

// withoutConnection returns the error of a list of issues whose connections fail with cause.
func withoutConnection(t *testing.T, address net.Addr, cause error) error {
	t.Helper()
	return inBubble(t, func(ctx context.Context, w *troubled) error {
		transport := &http.Transport{DialContext: func(_ context.Context, network, _ string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: network, Addr: address, Err: cause}
		}}
		return issues(ctx, w.with(forge.WithHTTPClient(&http.Client{Transport: transport})))
	})
}

// throughProxy returns the error of a list of issues through a proxy that responds with the status
// to each CONNECT.
func throughProxy(t *testing.T, status int) error {
	t.Helper()
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		assert.Equal(t, http.MethodConnect, r.Method)
		w.WriteHeader(status)
	})
	address, err := url.Parse(proxy.URL)
	require.NoError(t, err)
	return overTCP(t, "https://gitlab.example.com", &http.Transport{Proxy: http.ProxyURL(address)})
}

// overTLS returns the error of a list of issues from a server whose certificate is for example.com
// and from a private authority.
func overTLS(t *testing.T, host string, trusted bool) error {
	t.Helper()
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	transport := &http.Transport{}
	pool := server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	if !trusted {
		pool = otherAuthority(t)
	}
	return overTCP(t, strings.Replace(server.URL, "127.0.0.1", host, 1), transport, forge.WithRootCAs(pool))
}

// otherAuthority returns a pool with an authority that has signed no server's certificate.
func otherAuthority(t *testing.T) *x509.CertPool {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, public, private)
	require.NoError(t, err)
	authority, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	pool := x509.NewCertPool()
	pool.AddCert(authority)
	return pool
}

// hour is a time to book.
func hour() *forge.AddSpentTimeOptions {
	return &forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}
}
