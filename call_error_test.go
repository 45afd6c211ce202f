package forge

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/credential"
)

// A 404 that is not from an API gets the hint that the base URL may be wrong, until a call there
// has succeeded.
func TestHintBase(t *testing.T) {
	const hint = "check the base URL: the API was requested at "
	for _, test := range []struct {
		name, body, kind string
		hinted           bool
	}{
		{"a page", "<html><head><title>Not here</title>", "text/html", true},
		{"plain text", "404 page not found", "text/plain; charset=utf-8", true},
		{"nothing", "", "", true},
		{"an empty text", "", "text/plain", true},
		{"the API's own", `{"message":"404 Project Not Found"}`, "application/json", false},
		{"the API's own for an unknown route", `{"error":"404 Not Found"}`, "application/json", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWire(t, func(s seen) act {
				if strings.HasSuffix(s.uri, "/time_stats") {
					return say(404, test.body, "Content-Type: "+test.kind)
				}
				return say(200, "{}", jsonType)
			})
			c := wireClient(t, w.url+"/api")
			stats := func(ref Ref) string {
				_, err := c.Issues.GetTimeStats(t.Context(), ref, 1)
				require.ErrorIs(t, err, ErrNotFound)
				return err.Error()
			}
			assert.Equal(t, test.hinted, strings.Contains(stats(ID(1)), hint+w.url+"/api/api/v4"))
			both := stats(Path("group/app"))
			assert.Equal(t, test.hinted, strings.Contains(both, hint))
			assert.NotContains(t, both, "; ;")
			require.NoError(t, c.Do(t.Context(), Call{Method: http.MethodGet, Route: "/user"}, nil))
			assert.NotContains(t, stats(ID(1)), hint)
			assert.Equal(t, test.body == "" || strings.HasPrefix(test.body, `{"error"`), strings.Contains(stats(ID(1)), "the object may not exist, or"))
		})
	}
	w := newWire(t, always(say(404, "404 page not found", "Content-Type: text/plain")))
	err := wireClient(t, "https://forge.example.com", WithRegistry(w.url, w.url)).Do(t.Context(), Call{Method: http.MethodGet, Route: "/v2/_catalog"}, nil)
	require.ErrorIs(t, err, ErrNotFound)
	assert.NotContains(t, err.Error(), hint, "the registry has another address")
}

// An error names the object, so that the failed one of 200 groups is known: each kind of call,
// failure and log record has the path of the object, without host, query and credential.
func TestErrorsNameTheObject(t *testing.T) {
	const path = "/groups/acme%2Fplatform/issues"
	group := func(ctx context.Context, c *Client, opts ...RequestOption) error {
		_, err := Collect(c.Issues.ListForGroup(ctx, Path("acme/platform"), nil, opts...))
		return err
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		act    act
		cancel bool
		opts   []RequestOption
	}{
		"status":        {act: say(404, `{"message":"404 Group Not Found"}`, jsonType)},
		"rate limit":    {act: say(429, "", "Retry-After: 999")},
		"lost":          {act: reset("")},
		"broken JSON":   {act: sayJSON("[{")},
		"truncated":     {act: closing("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n[")},
		"wrong status":  {act: say(206, "[]", jsonType)},
		"repeated page": {act: say(200, "[]", jsonType, `Link: <`+path+`?page=1&per_page=100>; rel="next"`)},
		"canceled":      {act: sayJSON("[]"), cancel: true},
		"refused":       {act: sayJSON("[]"), opts: []RequestOption{PerPage(-1)}},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			var attempts []Attempt
			w := newWire(t, always(test.act))
			c := wireClient(t, w.url, WithRetry(RetryPolicy{MaxAttempts: 2, MinWait: time.Millisecond}),
				WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
				WithOnAttempt(func(_ context.Context, a Attempt) { attempts = append(attempts, a) }))
			ctx := t.Context()
			if test.cancel {
				ctx = canceled
			}
			err := group(ctx, c, test.opts...)
			require.Error(t, err)
			assert.Contains(t, err.Error(), "GET /groups/:id/issues ("+path+")")
			assert.NotContains(t, err.Error(), "per_page=100")
			var failed *Error
			var refused *ValidationError
			switch {
			case errors.As(err, &failed):
				assert.Equal(t, path, failed.Path)
				assert.NotEmpty(t, failed.causeText()+failed.Message+failed.hint, "a reason")
			case errors.As(err, &refused):
				assert.Equal(t, path, refused.Path)
				return
			}
			for _, a := range attempts {
				assert.Equal(t, path, a.Path)
			}
			if name != "canceled" {
				assert.Contains(t, log.String(), "path="+path)
			}
		})
	}
}

// Errors of streams that are read after the call, and of waits for an object, name the object too.
func TestLaterErrorsNameTheObject(t *testing.T) {
	torn := newWire(t, always(closing("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc")))
	d, err := openArchive(t.Context(), wireClient(t, torn.url))
	require.NoError(t, err)
	_, err = io.ReadAll(d)
	assert.Equal(t, "/projects/1/repository/archive", asError(t, err).Path)
	d, err = openArchive(t.Context(), wireClient(t, torn.url))
	require.NoError(t, err)
	require.ErrorContains(t, d.SaveTo(filepath.Join(t.TempDir(), "a")), "(/projects/1/repository/archive)")

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		waiting := pipedWire(t, always(sayJSON(`{"id":7,"status":"delete_scheduled"}`))).client(t)
		err := waiting.Registry.WaitDeleted(ctx, Path("a/"+secret), 7)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Contains(t, err.Error(), "a%2F[redacted]")
		assert.Empty(t, reveals(err))
	})

	lost := newWire(t, always(say(403, "", jsonType)))
	registry := wireClient(t, "https://forge.example.com", WithRegistry(lost.url, lost.url), WithRegistryCredentials("user", "password"))
	err = registry.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", &DeleteManifestOptions{ManifestType: "x"})
	assert.Contains(t, err.Error(), "/v2/group/app/manifests/v1")
	assert.Contains(t, err.Error(), "/jwt/auth")
}

// Errors of a server that cannot be reached say what to check.
func TestHintUnreachable(t *testing.T) {
	for hint, err := range map[string]error{
		"check the host name":            &net.OpError{Op: "dial", Err: &net.DNSError{IsNotFound: true}},
		"the proxy cannot be reached":    &net.OpError{Op: "proxyconnect", Err: &net.DNSError{IsNotFound: true}},
		"check the address and its port": &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)},
	} {
		assert.Contains(t, hintUnreachable(err), hint)
	}
	assert.Empty(t, hintUnreachable(&net.OpError{Op: "dial", Err: &net.DNSError{IsTimeout: true}}), "a lookup that may succeed later")
	assert.Empty(t, hintUnreachable(nil))
	for _, err := range []error{nil, io.EOF, net.ErrClosed, x509.CertificateInvalidError{Reason: x509.Expired}, x509.HostnameError{Certificate: &x509.Certificate{}, Host: "x"}} {
		assert.Empty(t, hintTLS(err), "no misleading hint")
	}
	assert.Contains(t, hintTLS(x509.SystemRootsError{}), "WithRootCAs")
	for _, err := range []error{&tls.CertificateVerificationError{}, tls.AlertError(40), tls.RecordHeaderError{}, x509.UnknownAuthorityError{}, x509.CertificateInvalidError{},
		x509.HostnameError{Certificate: &x509.Certificate{}}, &net.DNSError{IsNotFound: true}, &net.OpError{Op: "remote error", Err: io.EOF}} {
		err = &url.Error{Op: "Post", Err: err}
		assert.True(t, isPermanent(err), "%v", err)
		var refused *credential.Error
		require.ErrorAs(t, withoutTokenResponse("", err, nil), &refused)
		assert.False(t, refused.Temporary, "%v", err)
	}
	for _, err := range []error{&url.Error{Err: errors.New("x")}, &net.OpError{Op: "dial", Err: io.EOF}, io.EOF, io.ErrUnexpectedEOF} {
		var failed *credential.Error
		require.ErrorAs(t, withoutTokenResponse("", fmt.Errorf("a source: %w", err), nil), &failed)
		assert.True(t, failed.Temporary, "%v", err)
	}
	assert.Contains(t, hintTLS(errors.New("tls: first record does not look like a TLS handshake")), "plain http")
}

// networkFault is a fault that each connection has, and what errors.As and errors.Is find in the
// error of a call.
type networkFault struct {
	name  string
	dial  func(ctx context.Context) (net.Conn, error)
	tls   func(*tls.Config)                  // nil: no TLS
	ctx   func(t *testing.T) context.Context // nil: that of the test
	wants []func(error) bool
}

// finds returns a check that errors.As finds an error of a type.
func finds[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}

func matches(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

func timesOut(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// networkFaults are faults of connections to addresses of the form https://x.test.
func networkFaults(t *testing.T) []networkFault {
	t.Helper()
	start := func(config *tls.Config) *httptest.Server {
		srv := httptest.NewUnstartedServer(http.NotFoundHandler())
		srv.TLS, srv.Config.ErrorLog = config, log.New(io.Discard, "", 0)
		srv.StartTLS()
		t.Cleanup(srv.Close)
		return srv
	}
	srv := start(nil)
	old := start(&tls.Config{MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}) //nolint:gosec // what must be refused
	mutual, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = mutual.Close() })
	// TLS 1.3 refuses after the handshake: then net/http may report the write that it interrupts.
	wantsCertificate := &tls.Config{Certificates: srv.TLS.Certificates, ClientAuth: tls.RequireAnyClientCert, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12}
	go func() {
		for c, err := mutual.Accept(); err == nil; c, err = mutual.Accept() {
			go func() {
				defer c.Close()
				_ = tls.Server(c, wantsCertificate).Handshake()
				_, _ = io.Copy(io.Discard, c) // a close with unread bytes would be a reset, and hide the alert
			}()
		}
	}()
	trusted := x509.NewCertPool()
	trusted.AddCert(srv.Certificate())
	to := func(address string) func(context.Context) (net.Conn, error) {
		return func(ctx context.Context) (net.Conn, error) { return new(net.Dialer).DialContext(ctx, "tcp", address) }
	}
	secure, certificate := to(srv.Listener.Addr().String()), finds[*tls.CertificateVerificationError]
	trust := func(c *tls.Config) { c.RootCAs = trusted }
	waits := func(ctx context.Context) (net.Conn, error) {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.Context().Done(): // the exchange of a token outlives its caller
			return nil, t.Context().Err()
		}
	}
	plainServer := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plainServer.Close)
	return []networkFault{
		{"unknown authority", secure, func(c *tls.Config) { c.RootCAs = x509.NewCertPool() }, nil, []func(error) bool{certificate, finds[x509.UnknownAuthorityError]}},
		{"another host", secure, func(c *tls.Config) { trust(c); c.ServerName = "x.test" }, nil, []func(error) bool{certificate, finds[x509.HostnameError]}},
		{"an expired certificate", secure, func(c *tls.Config) {
			trust(c)
			c.Time = func() time.Time { return time.Date(3000, 1, 1, 0, 0, 0, 0, time.UTC) }
		}, nil, []func(error) bool{certificate, finds[x509.CertificateInvalidError]}},
		{"plain http", to(plainServer.Listener.Addr().String()), nil, nil, []func(error) bool{func(err error) bool {
			return finds[tls.RecordHeaderError](err) || errors.Is(err, http.ErrSchemeMismatch) // as http.Client says
		}}},
		{"old TLS", to(old.Listener.Addr().String()), trust, nil, []func(error) bool{finds[*net.OpError]}},
		{"a client certificate", to(mutual.Addr().String()), trust, nil, []func(error) bool{finds[*net.OpError]}},
		{"refused", dialRefused, nil, nil, []func(error) bool{finds[*net.OpError], finds[net.Error], finds[syscall.Errno], matches(syscall.ECONNREFUSED)}},
		{"reset", dialReset, nil, nil, []func(error) bool{finds[*net.OpError], finds[net.Error], finds[syscall.Errno], matches(syscall.ECONNRESET)}},
		{"unknown host", func(context.Context) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "x.test", IsNotFound: true}}
		}, nil, nil, []func(error) bool{finds[*net.OpError], finds[net.Error], finds[*net.DNSError]}},
		{"dial timeout", func(context.Context) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: context.DeadlineExceeded}
		}, nil, nil, []func(error) bool{finds[*net.OpError], timesOut}},
		{"deadline", waits, nil, func(t *testing.T) context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			t.Cleanup(cancel)
			return ctx
		}, []func(error) bool{matches(context.DeadlineExceeded), timesOut}},
		{"canceled", waits, nil, func(t *testing.T) context.Context {
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx
		}, []func(error) bool{matches(context.Canceled)}},
	}
}

// A server that requests a client certificate is named as the cause. The alert comes from a
// transport: over a connection, net/http may report the write that the alert interrupts.
func TestClientCertificateRequested(t *testing.T) {
	const certificateRequired = 116
	c := wireClient(t, "https://x.example.com", through(func(*http.Request) (*http.Response, error) {
		return nil, &net.OpError{Op: "remote error", Err: tls.AlertError(certificateRequired)}
	}))
	err := c.Do(t.Context(), callOf(RetryClassSafe), nil)
	assert.Equal(t, 1, asError(t, err).Attempts)
	assert.ErrorContains(t, err, "TLSClientConfig.Certificates")
}

// Each error of a connection has the types of the standard library, whatever call it ends.
// Certificate errors, TLS alerts, plain HTTP instead of TLS and unknown hosts are not retried.
func TestStandardErrorTypes(t *testing.T) {
	const home = "https://x.example.com"
	for _, fault := range networkFaults(t) {
		transport := &http.Transport{
			DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return fault.dial(ctx) },
			TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		}
		if fault.tls != nil {
			fault.tls(transport.TLSClientConfig)
		}
		c := wireClient(t, home, WithHTTPClient(&http.Client{Transport: transport}), WithRegistry("https://registry.example.com", "https://tokens.example.com"))
		oauth := wireClient(t, home, WithHTTPClient(&http.Client{Transport: transport}),
			WithOAuth(&oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: "https://tokens.example.com/token"}}, expired("r1")))
		for name, call := range map[string]func(context.Context) error{
			"Do":    func(ctx context.Context) error { return c.Do(ctx, callOf(RetryClassNonIdempotent), nil) },
			"ahead": func(ctx context.Context) error { _, err := Collect(c.Issues.List(ctx, nil, Ahead(2))); return err },
			"upload": func(ctx context.Context) error {
				return exec(ctx, uploadOf(c, FileReader(strings.NewReader("x"), 1)), nil)
			},
			"HTTPClient": func(ctx context.Context) error {
				_, _, err := send(ctx, c.HTTPClient(), http.MethodGet, home+"/x", "")
				return err
			},
			"HTTPClient, another host": func(ctx context.Context) error {
				_, _, err := send(ctx, c.HTTPClient(), http.MethodPost, "https://other.example.com/x", "{}")
				return err
			},
			"registry tokens": func(ctx context.Context) error {
				_, err := Collect(c.RegistryNative.ListCatalog(ctx))
				return err
			},
			"OAuth": func(ctx context.Context) error { return oauth.Do(ctx, callOf(RetryClassSafe), nil) },
		} {
			ctx := t.Context()
			if fault.ctx != nil {
				ctx = fault.ctx(t)
			}
			err := call(ctx)
			require.Error(t, err)
			if name == "Do" && (fault.tls != nil || fault.name == "plain http" || fault.name == "unknown host") {
				assert.Equal(t, 1, asError(t, err).Attempts, "%s: %v", fault.name, err)
			}
			for i, want := range fault.wants {
				assert.True(t, want(err), "%s, %s: %d: %v", fault.name, name, i, err)
			}
		}
	}
}
