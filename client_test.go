package forge

import (
	"crypto/tls"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/forge-sdk/forge-go/internal/conn"
	"github.com/forge-sdk/forge-go/internal/safetext"
)

// WithHTTPClient rejects settings that a client cannot keep, and names the option to use instead.
// It adjusts the transport that it accepts.
func TestWithHTTPClient(t *testing.T) {
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	for says, h := range map[string]*http.Client{
		"nil":           nil,
		"WithToken":     {Jar: jar},
		"HeaderTimeout": {Timeout: time.Second},
		"redirects":     {CheckRedirect: func(*http.Request, []*http.Request) error { return nil }},
		"RootCAs":       {Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}, //nolint:gosec // what must be refused
	} {
		_, err := NewClient("https://forge.example.com", WithHTTPClient(h))
		require.ErrorContains(t, err, says)
	}
	given := &http.Transport{MaxIdleConnsPerHost: 200, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS10}} //nolint:gosec // what must be raised
	c, err := NewClient("https://forge.example.com", WithHTTPClient(&http.Client{Transport: given}))
	require.NoError(t, err)
	got := c.core.transport.(*http.Transport)
	assert.NotSame(t, given, got)
	assert.EqualValues(t, tls.VersionTLS12, got.TLSClientConfig.MinVersion)
	assert.EqualValues(t, tls.VersionTLS10, given.TLSClientConfig.MinVersion, "the caller's http.Client is not changed")
	assert.Equal(t, 200, got.MaxIdleConnsPerHost)
	assert.Equal(t, 10*time.Second, got.TLSHandshakeTimeout)
	assert.EqualValues(t, 256<<10, got.MaxResponseHeaderBytes)
	assert.NotNil(t, got.DialContext)
	c, err = NewClient("https://forge.example.com")
	require.NoError(t, err)
	assert.Same(t, conn.Shared(), c.core.transport, "its connections are shared")
	shared := http.DefaultTransport
	t.Cleanup(func() { http.DefaultTransport = shared })
	http.DefaultTransport = given
	c, err = NewClient("https://forge.example.com", WithHTTPClient(&http.Client{}))
	require.NoError(t, err)
	assert.Equal(t, 200, c.core.transport.(*http.Transport).MaxIdleConnsPerHost, "the default at the time of NewClient")
	assert.Equal(t, 512, conn.Shared().MaxIdleConnsPerHost)
	assert.EqualValues(t, tls.VersionTLS12, conn.Shared().TLSClientConfig.MinVersion)
}

// A derived client does not change its parent, and shares its connections.
func TestWithDerives(t *testing.T) { synctest.Test(t, withDerives) }

func withDerives(t *testing.T) {
	w := pipedWire(t, always(sayJSON("{}")))
	c := w.client(t)
	other, err := c.With(WithToken("other"), WithUserAgent("x"))
	require.NoError(t, err)
	bare, err := c.With(WithoutCredential())
	require.NoError(t, err)
	for _, client := range []*Client{c, other, bare, c} {
		require.NoError(t, client.Do(t.Context(), callOf(RetryClassSafe), nil))
	}
	var tokens []string
	for _, s := range w.seen() {
		tokens = append(tokens, s.header.Get("Private-Token"))
	}
	assert.Equal(t, []string{secret, "other", "", secret}, tokens)
	assert.Equal(t, 1, w.accepted())
	synctest.Wait() // the connection is idle
	c.CloseIdleConnections()
	require.NoError(t, bare.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, 2, w.accepted())
}

// A client and a derived client with the same API credential share the retry budget and the waits
// of the API; with the same registry credential they share those of the registry, and its tokens.
// They always share the counters.
func TestSharedPerCredential(t *testing.T) {
	const base, registry, auth = "https://forge.example.com", "https://registry.example.com", "https://auth.example.com"
	oauth := func() Option { return WithOAuth(&oauth2.Config{}, &oauth2.Token{AccessToken: "oauth-token-1"}) }
	source := oauth2.StaticTokenSource(&oauth2.Token{AccessToken: "source-token-1"})
	native := []Option{WithRegistry(registry, auth), WithRegistryCredentials("a", "password")}
	for _, test := range []struct {
		name        string
		parent      []Option
		with        []Option
		api, native bool
	}{
		{"nothing", []Option{WithToken("token-1")}, nil, true, true},
		{"another option", []Option{WithToken("token-1")}, []Option{WithUserAgent("x"), WithStrictDecoding()}, true, true},
		{"another transport", []Option{WithToken("token-1")}, []Option{WithHTTPClient(&http.Client{})}, true, true},
		{"the same token", []Option{WithToken("token-1")}, []Option{WithToken("token-1")}, true, true},
		{"another token", []Option{WithToken("token-1")}, []Option{WithToken("token-2")}, false, true},
		{"a part of the token", []Option{WithToken("token-1")}, []Option{WithToken("token-")}, false, true},
		{"the token as a job's", []Option{WithToken("token-1")}, []Option{WithJobToken("token-1")}, false, true},
		{"the same job token", []Option{WithJobToken("token-1")}, []Option{WithJobToken("token-1")}, true, true},
		{"none instead of one", []Option{WithToken("token-1")}, []Option{WithoutCredential()}, false, true},
		{"none, and none again", nil, []Option{WithoutCredential()}, true, true},
		{"one instead of none", nil, []Option{WithToken("token-1")}, false, true},
		{"OAuth, inherited", []Option{oauth()}, []Option{WithUserAgent("x")}, true, true},
		{"OAuth, given again", []Option{oauth()}, []Option{oauth()}, false, true},
		{"source, inherited", []Option{WithTokenSource(source)}, []Option{WithUserAgent("x")}, true, true},
		{"source, given again", []Option{WithTokenSource(source)}, []Option{WithTokenSource(source)}, false, true},
		{"the same registry", native, native, true, true},
		{"the same registry, written in another way", native, []Option{WithRegistry(registry+"/", "https://AUTH.example.com")}, true, true},
		{"another registry", native, []Option{WithRegistry(registry+"/other", auth)}, true, false},
		{"another token endpoint", native, []Option{WithRegistry(registry, auth+"/other")}, true, false},
		{"another password", native, []Option{WithRegistryCredentials("a", "password2")}, true, false},
		{"another user", native, []Option{WithRegistryCredentials("b", "password")}, true, false},
		{"registry credentials after none", []Option{native[0]}, []Option{native[1]}, true, false},
		{"another token for the API", append([]Option{WithToken("token-1")}, native...), []Option{WithToken("token-2")}, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			parent, err := NewClient(base, test.parent...)
			require.NoError(t, err)
			derived, err := parent.With(test.with...)
			require.NoError(t, err)
			assert.Equal(t, test.api, parent.core.apiGate == derived.core.apiGate, "the budget of the API")
			assert.Equal(t, test.native, parent.core.registryGate == derived.core.registryGate, "the budget of the registry")
			assert.Same(t, parent.core.stats, derived.core.stats)
			assert.NotSame(t, parent.core.apiGate, parent.core.registryGate)
			again, err := NewClient(base, test.parent...)
			require.NoError(t, err)
			assert.NotSame(t, parent.core.apiGate, again.core.apiGate)
			assert.NotSame(t, parent.core.stats, again.core.stats)
			assert.Empty(t, reveals([]any{parent, derived}, "token-1", "token-2", "oauth-token-1", "source-token-1", "password"))
		})
	}
}

// A client derived with another transport refreshes the same OAuth token, over its own transport.
func TestOAuthOverAnotherTransport(t *testing.T) {
	tokens, config := tokenServer(t, func(_ url.Values, n int) act { return sayToken([]string{"", "new-token-1", "new-token-2"}[n], "r2") })
	valid := "new-token-1"
	api := guarded(t, func() string { return valid })
	parent := wireClient(t, api.url, WithOAuth(config, expired("r1")))
	dials := 0
	below := &http.Transport{}
	t.Cleanup(below.CloseIdleConnections)
	derived, err := parent.With(through(func(req *http.Request) (*http.Response, error) {
		dials++
		return below.RoundTrip(req)
	}))
	require.NoError(t, err)
	require.NoError(t, derived.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, 2, dials, "the refresh and the call")
	require.NoError(t, parent.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Len(t, tokens.seen(), 1, "the parent has the token that its child has refreshed")
	valid = "new-token-2"
	require.NoError(t, parent.Do(t.Context(), callOf(RetryClassSafe), nil))
	assert.Equal(t, 2, dials)
	assert.Equal(t, safetext.Redacted, derived.Redact("new-token-2"), "each client has the latest token")
}

// A client that NewClient did not make refuses calls, and says nothing of a server.
func TestClientsOfNoServer(t *testing.T) {
	for _, c := range []*Client{nil, {}} {
		_, err := c.With()
		refused(t, err, "Client", "")
		refused(t, c.Do(t.Context(), Call{Route: "/user"}, nil), "Client", "")
		assert.Equal(t, []any{"", "a", Stats{}}, []any{c.BaseURL(), c.Redact("a"), c.Stats()})
	}
	c, err := NewClient("https://forge.example.com")
	require.NoError(t, err)
	assert.Equal(t, "forge.Client(https://forge.example.com/api/v4)", c.String())
}

// The address of the server, with or without /api/v4 at its end, becomes that of the API. An address
// below /api, or of another version, is not that of a server.
func TestAddressOfTheAPI(t *testing.T) {
	for address, want := range map[string]string{
		"": "/api/v4", "/": "/api/v4", "/api/v4": "/api/v4", "/api/v4/": "/api/v4", "/git": "/git/api/v4", "/git/api/v4": "/git/api/v4", "/api": "/api/api/v4",
		"/api/v3": "", "/api/v5/": "", "/git/api/v3": "", "/api/v4/projects": "", "/api/v4/api/v4": "", "/-": "", "/a/-/b": "", "/a-": "/a-/api/v4",
		"/api/graphql": "", "/users/sign_in": "", "/users/sign_ins": "/users/sign_ins/api/v4", "/a.git": "",
	} {
		c, err := NewClient("https://forge.example.com" + address)
		if want == "" {
			assert.Contains(t, refusedOption(t, err, "baseURL"), "the path is not that of the server", address)
			continue
		}
		require.NoError(t, err, address)
		assert.Equal(t, "https://forge.example.com"+want, c.BaseURL())
	}
}

// The requests for registry tokens share the budget of the registry, and all others that of the API.
func TestGateOfEachServer(t *testing.T) {
	c, err := NewClient("https://forge.example.com")
	require.NoError(t, err)
	for server, registry := range map[base]bool{apiBase: false, registryBase: true, authBase: true, tokenBase: false, otherBase: false} {
		assert.Equal(t, registry, c.core.gateFor(server) == c.core.registryGate, "%d", server)
		assert.Equal(t, !registry, c.core.gateFor(server) == c.core.apiGate, "%d", server)
	}
}

// The error names a missing variable.
func TestFromEnvNamesTheMissingVariable(t *testing.T) {
	for set, missing := range map[string]string{"FORGE_URL": "FORGE_TOKEN", "FORGE_TOKEN": "FORGE_URL"} {
		t.Run(set, func(t *testing.T) {
			t.Setenv(missing, "")
			t.Setenv(set, "https://forge.example.com")
			_, err := NewClientFromEnv()
			require.ErrorContains(t, err, set+" is set and "+missing+" is not")
		})
	}
}

// Errors mention the limit of the hosted server only for the hosted server.
func TestPreviewOfTheHostedServer(t *testing.T) {
	for address, hosted := range map[string]bool{"https://gitlab.com": true, "https://gitlab.com.example.com": false} {
		client, err := NewClient(address, WithToken("x"))
		require.NoError(t, err)
		rules, err := client.Registry.previewRules(ID(42), 3, &DeleteTagsOptions{NameRegexDelete: ".*"}, nil)
		require.NoError(t, err)
		preview := &DeleteTagsPreview{}
		rules.sort([]*RegistryTagDetail{{RegistryTag: RegistryTag{Name: "v1"}}}, preview)
		assert.Equal(t, hosted, strings.Contains(strings.Join(preview.Unknown, " "), "GitLab.com removes"), address)
	}
}
