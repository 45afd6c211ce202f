package forgetest_test

import (
	"context"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"crypto/fips140"
	"errors"
	"io"
	"net/http/httptest"
	"os"
	"os/exec"

	"crypto/x509"
	"net"
	"net/url"
	"strings"
	"testing/synctest"

	"reflect"

	"golang.org/x/oauth2"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/pipenet"
)

// The client and the server were written independently, both from the contract. This test uses them
// together, for the services of Document 1. Only the hosted offering has keyset pagination of tags;
// elsewhere the client's first request is rejected, and it continues by offset.
func TestClientRegistry(t *testing.T) {
	for offering, requests := range map[forgetest.Offering]int{forgetest.Hosted: 3, forgetest.SelfManaged: 1 + 3} {
		t.Run(string(offering), func(t *testing.T) { meetRegistry(t, forgetest.New(t, forgetest.WithOffering(offering)), requests) })
	}
}

func meetRegistry(t *testing.T, srv *forgetest.Server, requests int) {
	client, ctx := srv.Client(), t.Context()
	app := srv.AddProject("group/app")
	image := app.AddRegistryRepository("web").AddTags(230, func(i int, tag *forgetest.Document) {
		tag.Set("created_at", time.Now().AddDate(0, 0, -i))
	})
	project := forge.Path("group/app")
	tags, err := forge.Collect(client.Registry.ListTags(ctx, project, image.ID, nil))
	require.NoError(t, err)
	assert.Len(t, tags, 230)
	srv.AssertRequestCount(t, "GET /projects/:id/registry/repositories/:repository_id/tags", requests)

	o := &forge.DeleteTagsOptions{NameRegexDelete: "v.*[05]", NameRegexKeep: "v00.*", KeepN: 3, OlderThan: "4month"}
	preview, err := client.Registry.PreviewDeleteTags(ctx, project, image.ID, o)
	require.NoError(t, err)
	require.NotEmpty(t, preview.Delete)
	require.NoError(t, client.Registry.DeleteTags(ctx, project, image.ID, o))
	require.ErrorIs(t, client.Registry.DeleteTags(ctx, project, image.ID, o), forge.ErrRateLimited)
	srv.FinishBackgroundJobs()
	assert.Len(t, image.Tags(), 230-len(preview.Delete))
	for _, tag := range preview.Delete {
		assert.NotContains(t, image.Tags(), tag.Name)
	}

	const kind = "application/vnd.neutral.distribution.manifest.v2+json"
	require.NoError(t, client.RegistryNative.DeleteManifest(ctx, image.Path, "v0001", &forge.DeleteManifestOptions{ManifestType: kind}))
	assert.NotContains(t, image.Tags(), "v0001")
}

// A CI job deletes images of its project with its own credentials. They are sent to the token
// endpoint with HTTP basic authentication, and give no access to other projects (Document 1
// §4.1.2).
func TestRegistryWithJobCredentials(t *testing.T) {
	srv := forgetest.New(t)
	app, other := srv.AddProject("group/app"), srv.AddProject("group/other", forgetest.Private)
	image := app.AddRegistryRepository("").AddTag("v1", nil).AddTag("v2", nil)
	kept := other.AddRegistryRepository("").AddTag("v1", nil)
	token := app.AddJobToken(srv.Root())
	client := srv.Client(forge.WithJobToken(token), forge.WithRegistryCredentials("ci-job", token))
	require.NoError(t, client.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", nil))
	assert.Equal(t, []string{"v2"}, image.Tags())
	require.Error(t, client.RegistryNative.DeleteManifest(t.Context(), "group/other", "v1", nil))
	assert.Equal(t, []string{"v1"}, kept.Tags())
	basic := 0
	for _, r := range srv.Requests() {
		name, password, found := (&http.Request{Header: r.Header}).BasicAuth()
		if found {
			basic++
			assert.Equal(t, []string{"GET /jwt/auth", "ci-job", token}, []string{r.Route, name, password})
		}
	}
	assert.Equal(t, 2, basic, "a registry token for each image")
	wrong := srv.Client(forge.WithRegistryCredentials("ci-job", token+"x"))
	require.ErrorIs(t, wrong.RegistryNative.DeleteTagReference(t.Context(), "group/app", "v2"), forge.ErrUnauthorized) //nolint:staticcheck // what is deprecated is tested, too
}

// Retries in a test have short waits, unless the test sets the default policy.
func TestClientRetriesSoon(t *testing.T) {
	srv := forgetest.New(t)
	srv.Fail("GET /user", forgetest.Status(502).Times(3))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var waits []time.Duration
	_, err := srv.Client(forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) { waits = append(waits, a.WaitAfter) })).Users.GetCurrent(ctx, nil)
	require.NoError(t, err)
	require.Len(t, waits, 4)
	assert.LessOrEqual(t, slices.Max(waits), 2*time.Millisecond)
	assert.Positive(t, slices.Min(waits[:3]))

	srv.Fail("GET /user", forgetest.Status(502))
	patient := srv.Client(forge.WithRetry(forge.RetryPolicy{}), forge.WithOnAttempt(func(_ context.Context, a forge.Attempt) {
		assert.GreaterOrEqual(t, a.WaitAfter, 250*time.Millisecond)
		cancel()
	}))
	_, err = patient.Users.GetCurrent(ctx, nil)
	require.ErrorIs(t, err, context.Canceled)
}

// Documents accept the client's types: dates, and types of strings.
func TestDocumentOfClientTypes(t *testing.T) {
	d := forgetest.NewDocument("Issue").Set("due_date", forge.Date{Year: 2026, Month: 3, Day: 1}).Set("state", forge.IssueStateClosed)
	assert.Equal(t, []any{time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), "closed"}, []any{d.Get("due_date"), d.Get("state")})
	assert.Panics(t, func() { d.Set("title", forge.Date{Year: 2026, Month: 3, Day: 1}) })
}

// TestFIPSOnly runs the client and the server in a process that allows approved cryptography only.
// Anything else panics there.
func TestFIPSOnly(t *testing.T) {
	if !fips140.Enforced() {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestFIPSOnly$", "-test.v", "-test.count=1")
		child.Env = append(os.Environ(), "GODEBUG=fips140=only")
		out, err := child.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: TestFIPSOnly/OAuth", "the child has run the test")
		return
	}
	srv := forgetest.New(t, forgetest.WithTLS(), forgetest.WithDemo())
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	t.Run("API, archives and the catalog", func(t *testing.T) { callEachPart(t, srv, client) })
	t.Run("files and registry tokens", func(t *testing.T) { useFiles(t, srv, client) })
	t.Run("OAuth", func(t *testing.T) { useOAuth(t, srv) })
}

// useFiles uses checksums and signed registry tokens.
func useFiles(t *testing.T, srv *forgetest.Server, client *forge.Client) {
	project, ctx := forge.Path("acme/storefront"), t.Context()
	file, err := client.SecureFiles.Upload(ctx, project, &forge.UploadSecureFileOptions{Name: "key.jks", File: forge.FileBytes([]byte("a secret"))})
	require.NoError(t, err)
	download, err := client.SecureFiles.Download(ctx, project, file) // checks the checksum
	require.NoError(t, err)
	require.NoError(t, download.SaveTo(t.TempDir()+"/key.jks"))
	image := srv.AddProject("acme/new").AddRegistryRepository("").AddTag("v1", nil)
	require.NoError(t, client.RegistryNative.DeleteManifest(ctx, image.Path, "v1", nil))
}

// useOAuth refreshes a token.
func useOAuth(t *testing.T, srv *forgetest.Server) {
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token": "`+srv.Token+`", "token_type": "Bearer", "refresh_token": "next"}`)
	}))
	t.Cleanup(endpoint.Close)
	config := &oauth2.Config{ClientID: "id", Endpoint: oauth2.Endpoint{TokenURL: endpoint.URL}}
	client := srv.Client(forge.WithOAuth(config, &oauth2.Token{AccessToken: "old", RefreshToken: "refresh", Expiry: time.Now().Add(-time.Hour)}))
	t.Cleanup(client.CloseIdleConnections)
	user, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, "root", user.Username)
}

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
		"WithPrefix":        {{forgetest.WithPrefix("/forge/sub")}, {forgetest.WithPrefix("box/")}, {forgetest.WithPrefix("/")}},
		"WithMaxQueryBytes": one(forgetest.WithMaxQueryBytes(1 << 10)),
		"WithExternalURL": {
			{forgetest.WithExternalURL("http://forge.test")},
			{forgetest.WithExternalURL("http://forge.example:8080/"), forgetest.WithPrefix("git")},
			{forgetest.WithExternalURL("https://FORGE.invalid"), forgetest.WithTLS()},
		},
		"WithTLS": {
			{forgetest.WithTLS()},
			{forgetest.WithTLS(), forgetest.WithPrefix("git"), forgetest.WithNeutralNames()},
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
		"WithTier":            one(forgetest.WithTier(forgetest.Free)),
		"WithOffering":        {{forgetest.WithOffering(forgetest.Hosted)}, {forgetest.WithOffering(forgetest.Dedicated)}},
		"WithRelease":         one(forgetest.WithRelease("16.4")),
		"WithAuditEventLimit": {{forgetest.WithAuditEventLimit(forgetest.RefuseLongQueries)}, {forgetest.WithAuditEventLimit(forgetest.CutLongQueries)}},
		"WithNeutralNames":    one(forgetest.WithNeutralNames()),
		"WithUnknownFields":   one(forgetest.WithUnknownFields("a_new_field")),
		"WithMismatchedTypes": one(forgetest.WithMismatchedTypes("weight")),

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
	srv := forgetest.New(t, forgetest.WithTLS(), forgetest.WithPrefix("git"))
	get := func(options ...forge.Option) error {
		client := srv.Client(options...)
		defer client.CloseIdleConnections()
		_, err := client.Settings.Get(t.Context())
		return err
	}
	require.NoError(t, get())
	require.ErrorIs(t, get(forge.WithToken("another")), forge.ErrUnauthorized)
	require.ErrorIs(t, get(forge.WithoutCredential()), forge.ErrUnauthorized)
	require.ErrorContains(t, get(forge.WithVocabulary(forge.Neutral)), "WithVocabulary(forge.Neutral)")
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
	assert.Equal(t, []int64{0, 4102444800}, []int64{srv.Certificate().NotBefore.Unix(), srv.Certificate().NotAfter.Unix()}) // 1970 to 2100
	assert.True(t, srv.Certificate().IsCA)
	for _, host := range []string{"forge.test", "localhost", "127.0.0.1"} {
		require.NoError(t, forgetest.New(t, forgetest.WithTLS(), forgetest.WithExternalURL("https://forge.test")).Certificate().VerifyHostname(host))
	}
	client := srv.Client()
	defer client.CloseIdleConnections()
	_, err := client.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"HTTP/2.0": true}, protocols)
	p := srv.AddProject("group/app")
	p.AddIssues(1, nil)
	p.MoveTo("group/new")
	_, err = client.Issues.GetTimeStats(t.Context(), forge.Path("group/app"), 1)
	require.NoError(t, err, "a redirect of a moved project")

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
	open := func(options ...forgetest.Option) (*forge.Download, error) {
		srv := forgetest.New(t, options...)
		srv.AddProject("group/app")
		srv.Fail("GET /projects/:id/repository/archive[.:format]", forgetest.RedirectTo(storage.URL+"/archive", 302))
		client := srv.Client()
		t.Cleanup(client.CloseIdleConnections)
		return client.Repositories.Archive(t.Context(), forge.Path("group/app"), nil)
	}
	_, err := open()
	require.ErrorContains(t, err, "which is not https", "as for every client of a loopback address")
	_, err = open(forgetest.WithExternalURL("http://localhost"), forgetest.WithListener(pipenet.Listen()))
	require.ErrorContains(t, err, "which is not https")
	archive, err := open(forgetest.WithExternalURL("http://forge.test"))
	require.NoError(t, err)
	content, err := io.ReadAll(archive)
	require.NoError(t, errors.Join(err, archive.Close()))
	assert.Len(t, content, 10)
}

// In a bubble of testing/synctest the waits that a server requests take no real time.
func TestInsideABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv := forgetest.New(t, forgetest.WithMemoryNetwork())
		srv.AddProject("group/app").AddIssues(3, nil)
		srv.Fail("GET /issues", forgetest.TooManyRequests(30*time.Second).Times(1))
		client := srv.Client()
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
	for _, all := range []string{":0", "0.0.0.0:0"} {
		assert.Contains(t, forgetest.New(t, forgetest.WithAddr(all)).URL, "http://127.0.0.1:", "all addresses of the machine")
	}
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

// with returns options of the same type with a value in each of the named parameters.
func with(o forge.IntegrationOptions, inherit *bool, names []string) forge.IntegrationOptions {
	made := reflect.New(reflect.TypeOf(o).Elem())
	for field, value := range made.Elem().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "use_inherited_settings":
			value.Set(reflect.ValueOf(inherit))
		case !slices.Contains(names, name):
		case field.Type.Kind() == reflect.Pointer:
			value.Set(reflect.ValueOf(new(true)))
		case field.Type.Kind() == reflect.Int:
			value.SetInt(7)
		case field.Type == reflect.TypeFor[forge.NotifiedBranches]():
			value.SetString(string(forge.NotifiedBranchesProtected))
		default:
			value.SetString("value of " + name)
		}
	}
	return made.Interface().(forge.IntegrationOptions)
}

// Values that are read, decoded and set again do not change: properties, events, secrets that the
// program sets again, and the inheritance of settings.
func TestClientDecode(t *testing.T) {
	srv := forgetest.New(t)
	srv.AddGroup("parent")
	child := srv.AddGroup("parent/child")
	client := srv.Client()
	kinds := catalogue.Kinds()
	for i, row := range cases.Kinds {
		kind := row.Options()
		slug := string(row.Kind)
		var all []string
		for _, p := range kinds[i].Params {
			all = append(all, p.Name)
		}
		require.NoError(t, client.Integrations.Set(t.Context(), forge.Path("parent"), with(kind, nil, all)))
		for _, inherit := range []bool{false, true} {
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), with(kind, &inherit, all)))
			before, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			stored := child.Integration(slug)
			filled := with(kind, nil, nil)
			hidden, err := before.Decode(filled)
			require.NoError(t, err)
			secrets := with(kind, &inherit, hidden)
			for field, value := range reflect.ValueOf(secrets).Elem().Fields() {
				if !value.IsZero() {
					reflect.ValueOf(filled).Elem().FieldByName(field.Name).Set(value)
				}
			}
			require.NoError(t, client.Integrations.Set(t.Context(), forge.ID(child.ID), filled), "%T", kind)
			after, err := client.Integrations.Get(t.Context(), forge.ID(child.ID), forge.IntegrationSlug(slug))
			require.NoError(t, err)
			assert.Equal(t, inherit, after.Inherited, "%T", kind)
			after.UpdatedAt = before.UpdatedAt
			assert.Equal(t, before, after, "%T", kind)
			assert.Subset(t, child.Integration(slug), stored, "%T", kind)
		}
	}
}
