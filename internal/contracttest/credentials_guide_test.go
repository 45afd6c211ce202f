package contracttest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// The next function is in docs/credentials.md, word for word.

// newClientWithCertificate reads a client certificate and its key. roots has the authorities of
// servers; nil means those of the system.
func newClientWithCertificate(address, certificate, key string, roots *x509.CertPool, opts ...forge.Option) (*forge.Client, error) {
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	transport := &http.Transport{
		Proxy:           http.ProxyFromEnvironment, // the zero Transport has none
		TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots, MinVersion: tls.VersionTLS12},
	}
	return forge.NewClient(address, append(opts, forge.WithHTTPClient(&http.Client{Transport: transport}))...)
}

// clientCertificate writes a client certificate that signs itself, and its key.
func clientCertificate(t *testing.T) (certificate, key string, authority *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "deploy"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	require.NoError(t, err)
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	certificate, key = filepath.Join(t.TempDir(), "client.pem"), filepath.Join(t.TempDir(), "client.key")
	content := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certificate, content, 0o600))
	require.NoError(t, os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: encoded}), 0o600))
	authority = x509.NewCertPool()
	require.True(t, authority.AppendCertsFromPEM(content))
	return certificate, key, authority
}

// verifying starts a TLS server that requires a client certificate of the authorities.
func verifying(t *testing.T, authorities *x509.CertPool, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewUnstartedServer(handler)
	srv.TLS = &tls.Config{ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: authorities, MinVersion: tls.VersionTLS12}
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv
}

// What the guide says about client certificates: the snippet works, the token is sent as well, and
// the target of a redirected download gets the certificate, but not the token.
func TestClientCertificates(t *testing.T) {
	certificate, key, authority := clientCertificate(t)
	presented := func(r *http.Request) string {
		return r.TLS.PeerCertificates[0].Subject.CommonName + " " + r.Header.Get("Private-Token")
	}
	storage := verifying(t, authority, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, presented(r))
	})
	srv := verifying(t, authority, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/artifacts") {
			http.Redirect(w, r, storage.URL+"/artifacts.zip", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"name":"`+presented(r)+`"}`)
	})
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	roots.AddCert(storage.Certificate())
	token := forge.WithToken("glpat-0123456789")

	client, err := newClientWithCertificate(srv.URL, certificate, key, roots, token)
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	user, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "deploy glpat-0123456789", user.Name)
	d, err := client.Open(t.Context(), forge.Call{Route: "/projects/:id/jobs/:job_id/artifacts", Args: []forge.Arg{forge.ID(1), forge.ID(2)}})
	require.NoError(t, err)
	defer d.Close()
	content, err := io.ReadAll(d)
	require.NoError(t, err)
	assert.Equal(t, "deploy ", string(content))

	without, err := forge.NewClient(srv.URL, token, forge.WithRootCAs(roots))
	require.NoError(t, err)
	defer without.CloseIdleConnections()
	_, err = without.Users.GetCurrent(t.Context(), nil)
	require.ErrorContains(t, err, "client certificate")
	_, err = newClientWithCertificate(srv.URL, key, certificate, roots)
	require.Error(t, err, "the files are exchanged")
}
