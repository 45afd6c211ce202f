package forgetest_test

import (
	"context"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"testing/synctest"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// serverCases are servers with each option, by the name of the option.
func serverCases(t *testing.T) map[string][][]forgetest.Option {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	http2Only := new(http.Protocols)
	http2Only.SetUnencryptedHTTP2(true)
	one := func(options ...forgetest.Option) [][]forgetest.Option {
		return [][]forgetest.Option{options}
	}
	cases := map[string][][]forgetest.Option{
		"WithDemo":          one(forgetest.WithDemo()),
		"WithAddr":          {{forgetest.WithAddr("127.0.0.1:0")}, {forgetest.WithAddr("localhost:0")}, {forgetest.WithAddr(":0")}, {forgetest.WithAddr("0.0.0.0:0")}},
		"WithListener":      {{forgetest.WithListener(listener)}, {forgetest.WithListener(pipenet.Listen())}},
		"WithToken":         one(forgetest.WithToken("glpat-chosen")),
		"WithPrefix":        one(forgetest.WithPrefix("/forge/sub")),
		"WithMaxQueryBytes": one(forgetest.WithMaxQueryBytes(1 << 10)),
		"WithExternalURL": {
			{forgetest.WithExternalURL("http://forge.test")},
			{forgetest.WithExternalURL("http://forge.example:8080/"), forgetest.WithPrefix("git")},
			{forgetest.WithExternalURL("https://FORGE.invalid"), forgetest.WithTLS()},
		},
		"WithTLS": {
			{forgetest.WithTLS()},
			{forgetest.WithTLS(), forgetest.WithPrefix("git"), forgetest.WithGitLabVocabulary()},
			{forgetest.WithTLS(), forgetest.WithListener(pipenet.Listen())},
		},
		"WithHTTPServer": {
			{forgetest.WithHTTPServer(func(s *http.Server) { s.Handler = http.StripPrefix("", s.Handler) })},
			{forgetest.WithHTTPServer(func(s *http.Server) { s.Protocols = http2Only })},
			{forgetest.WithTLS(), forgetest.WithHTTPServer(func(s *http.Server) {
				s.Protocols = new(http.Protocols)
				s.Protocols.SetHTTP2(true)
			})},
		},
		"WithTier":             one(forgetest.WithTier(forgetest.Free)),
		"WithOffering":         {{forgetest.WithOffering(forgetest.Hosted)}, {forgetest.WithOffering(forgetest.Dedicated)}},
		"WithRelease":          one(forgetest.WithRelease("16.4")),
		"WithGitLabVocabulary": one(forgetest.WithGitLabVocabulary()),
		"WithUnknownFields":    one(forgetest.WithUnknownFields("a_new_field")),
		"WithMismatchedTypes":  one(forgetest.WithMismatchedTypes("weight")),

		"WithJobTokenForAllProjects": one(forgetest.WithJobTokenForAllProjects()),
	}
	return cases
}

// TestClientOfEachOption checks that the client of a server needs no option, whatever the options of
// the server are.
func TestClientOfEachOption(t *testing.T) {
	cases := serverCases(t)
	for name, variants := range cases {
		for _, options := range variants {
			t.Run(name, func(t *testing.T) {
				srv := forgetest.New(t, options...)
				client := srv.Client()
				t.Cleanup(client.CloseIdleConnections)
				callEachPart(t, srv, client)
			})
		}
	}
}

// callEachPart calls the API, the registry and a download, and settings, whose names depend on the
// vocabulary.
func callEachPart(t *testing.T, srv *forgetest.Server, client *forge.Client) {
	ctx := t.Context()
	app := srv.AddProject("sweep/app")
	app.AddIssues(3, nil)
	app.AddFiles(map[string]string{"README.md": "An app\n"})
	image := app.AddRegistryRepository("web").AddTag("v1", nil)
	project := forge.ID(app.ID)

	issues, err := forge.Collect(client.Issues.List(ctx, &forge.ListIssuesOptions{Scope: forge.ScopeAll}, forge.PerPage(2)))
	require.NoError(t, err)
	assert.GreaterOrEqual(t, len(issues), 3)
	archive, err := client.Repositories.Archive(ctx, project, nil)
	require.NoError(t, err)
	content, err := io.ReadAll(archive)
	require.NoError(t, errors.Join(err, archive.Close()))
	assert.NotEmpty(t, content)
	paths, err := forge.Collect(client.RegistryNative.ListCatalog(ctx))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	assert.Equal(t, image.Path, paths[len(paths)-1].Name)
	_, err = client.Settings.Get(ctx)
	if !errors.Is(err, forge.ErrForbidden) { // the hosted offering has no settings
		require.NoError(t, err)
	}
}

// TestOwnOptionsWin checks that the options of Client replace those that it adds.
func TestOwnOptionsWin(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithTLS(), forgetest.WithGitLabVocabulary(), forgetest.WithPrefix("git"))
	get := func(options ...forge.Option) error {
		client := srv.Client(options...)
		defer client.CloseIdleConnections()
		_, err := client.Settings.Get(t.Context())
		return err
	}
	require.NoError(t, get())
	require.ErrorIs(t, get(forge.WithToken("another")), forge.ErrUnauthorized)
	require.ErrorIs(t, get(forge.WithoutCredential()), forge.ErrUnauthorized)
	require.ErrorContains(t, get(forge.WithVocabulary("")), "WithVocabulary(forge.GitLab)")
	other := httptest.NewTLSServer(http.NotFoundHandler())
	defer other.Close()
	roots := x509.NewCertPool()
	roots.AddCert(other.Certificate())
	var untrusted x509.UnknownAuthorityError
	require.ErrorAs(t, get(forge.WithRootCAs(roots)), &untrusted)
	refuse := errors.New("no connection")
	require.ErrorIs(t, get(forge.WithHTTPClient(&http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return nil, refuse },
	}})), refuse)
	require.NoError(t, get(forge.WithHTTPClient(&http.Client{Transport: &http.Transport{}})), "the certificate stays trusted")

	native := srv.Client(forge.WithRegistry(srv.URL+"/elsewhere", srv.RegistryAuthURL))
	defer native.CloseIdleConnections()
	srv.AddProject("group/app").AddRegistryRepository("").AddTag("v1", nil)
	require.ErrorIs(t, native.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", nil), forge.ErrNotFound)
}

// TestTLS checks the certificate, the protocols and the addresses of WithTLS.
func TestTLS(t *testing.T) {
	assert.Nil(t, forgetest.New(t).Certificate())
	protocols := map[string]bool{}
	srv := forgetest.New(t, forgetest.WithTLS(), forgetest.WithHTTPServer(func(s *http.Server) {
		next := s.Handler
		s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			protocols[r.Proto] = r.TLS != nil
			next.ServeHTTP(w, r)
		})
	}))
	for _, address := range []string{srv.URL, srv.RegistryURL, srv.RegistryAuthURL} {
		u, err := url.Parse(address)
		require.NoError(t, err)
		assert.Equal(t, "https", u.Scheme)
		require.NoError(t, srv.Certificate().VerifyHostname(u.Hostname()))
	}
	require.NoError(t, srv.Certificate().VerifyHostname("localhost"))
	client := srv.Client()
	defer client.CloseIdleConnections()
	_, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"HTTP/2.0": true}, protocols)

	const route = "POST /projects/:id/issues/:issue_iid/subscribe"
	srv.AddProject("group/app").AddIssues(1, nil)
	srv.Fail(route, forgetest.DropResponse().Times(1))
	_, err = client.Issues.Subscribe(t.Context(), forge.Path("group/app"), 1)
	require.True(t, err == nil || forge.IsNotModified(err), err)
	srv.AssertRequestCount(t, route, 2)

	stranger, err := forge.NewClient(srv.URL, forge.WithToken(srv.Token))
	require.NoError(t, err)
	defer stranger.CloseIdleConnections()
	_, err = stranger.Users.GetCurrent(t.Context(), nil)
	require.ErrorContains(t, err, "WithRootCAs")
}

// TestClientFollowsRedirectsElsewhere checks that only connections to the server are redirected to
// its listener.
func TestClientFollowsRedirectsElsewhere(t *testing.T) {
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/octet-stream")
		_, _ = io.WriteString(w, strings.Repeat("x", 10))
	}))
	defer storage.Close()
	srv := forgetest.New(t, forgetest.WithExternalURL("http://forge.test"))
	srv.AddProject("group/app").AddFiles(map[string]string{"README.md": "An app\n"})
	srv.Fail("GET /projects/:id/repository/archive[.:format]", forgetest.RedirectTo(storage.URL+"/archive", 302))
	client := srv.Client()
	defer client.CloseIdleConnections()
	archive, err := client.Repositories.Archive(t.Context(), forge.Path("group/app"), nil)
	require.NoError(t, err)
	content, err := io.ReadAll(archive)
	require.NoError(t, errors.Join(err, archive.Close()))
	assert.Len(t, content, 10)
}

// In a bubble of testing/synctest the waits that a server requests take no real time.
func TestInsideABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		network := pipenet.Listen()
		srv := forgetest.New(t, forgetest.WithListener(network))
		srv.AddProject("group/app").AddIssues(3, nil)
		srv.Fail("GET /issues", forgetest.TooManyRequests(30*time.Second).Times(1))
		client := srv.Client(forge.WithHTTPClient(&http.Client{
			Transport: &http.Transport{DialContext: network.DialContext},
		}))
		defer client.CloseIdleConnections()

		start := time.Now()
		issues, err := forge.Collect(client.Issues.List(t.Context(), nil))
		require.NoError(t, err)
		assert.Len(t, issues, 3)
		assert.GreaterOrEqual(t, time.Since(start), 30*time.Second)
		assert.Equal(t, "http://127.0.0.1:80", srv.URL)
	})
}

// The server's URLs and links follow WithExternalURL, and the http.Server can be changed before it
// serves.
func TestURLAndHTTPServer(t *testing.T) {
	network := pipenet.Listen()
	var seen []string
	srv := forgetest.New(t, forgetest.WithExternalURL("https://forge.test/"), forgetest.WithPrefix("sub"),
		forgetest.WithListener(network), forgetest.WithHTTPServer(func(s *http.Server) {
			next := s.Handler
			s.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				seen = append(seen, r.URL.Path)
				next.ServeHTTP(w, r)
			})
		}))
	assert.Equal(t, "https://forge.test/sub", srv.URL)
	assert.Equal(t, "https://forge.test", srv.RegistryURL)
	srv.AddProject("group/app").AddIssues(3, nil)

	client := &http.Client{Transport: &http.Transport{DialContext: network.DialContext}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1/sub/api/v4/issues?per_page=1", nil)
	require.NoError(t, err)
	request.Header.Set("PRIVATE-TOKEN", srv.Token)
	resp, err := client.Do(request)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, []string{"/sub/api/v4/issues"}, seen)
	assert.Contains(t, resp.Header.Get("Link"), "<https://forge.test/sub/api/v4/issues?")
}
