package forge

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	registryUser     = "robot"
	registryPassword = "registry-PASSWORD-0123456789"
	manifestV2       = "application/vnd.docker.distribution.manifest.v2+json"
)

// jwt returns a token with the given claims.
func jwt(claims string) string {
	return "eyJhbGciOiJub25lIn0." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".c2lnbmF0dXJl"
}

// nativeClient returns a client with separate addresses for the API, the registry and its tokens.
func nativeClient(t *testing.T, registry, auth act, options ...Option) (c *Client, api, registryWire, authWire *wire) {
	t.Helper()
	api = newWire(t, always(sayJSON("{}")))
	registryWire, authWire = newWire(t, always(registry)), newWire(t, always(auth))
	options = overriding([]Option{
		WithToken(secret), WithRegistry(registryWire.url+"/prefix", authWire.url), WithRegistryCredentials(registryUser, registryPassword),
	}, options...)
	return wireClient(t, api.url, options...), api, registryWire, authWire
}

func tokenAnswer(token string, more string) act {
	return sayJSON(fmt.Sprintf(`{"token":%q%s}`, token, more))
}

// A custom call gets the credential of its address. At the registry it gets none, because the
// registry requires a token for a scope. A client without a credential sends none, even if its
// parent has one.
func TestCredentialOfEachAddress(t *testing.T) {
	c, api, registry, auth := nativeClient(t, sayJSON("{}"), tokenAnswer("token", ""))
	bare, err := c.With(WithoutCredential())
	require.NoError(t, err)
	for _, client := range []*Client{c, bare} {
		for _, route := range []string{"/version", "/v2/_catalog", "/jwt/auth"} {
			require.NoError(t, client.Do(t.Context(), Call{Method: "GET", Route: route}, nil))
		}
	}
	sent := func(w *wire) (all []string) {
		for _, s := range w.seen() {
			all = append(all, s.header.Get("Private-Token")+s.header.Get("Authorization"))
		}
		return all
	}
	pair := "Basic " + base64.StdEncoding.EncodeToString([]byte(registryUser+":"+registryPassword))
	assert.Equal(t, []string{secret, ""}, sent(api))
	assert.Equal(t, []string{"", ""}, sent(registry))
	assert.Equal(t, []string{pair, pair}, sent(auth))
}

// Each credential is sent only to its own address: Basic authentication to the token endpoint, the
// registry token to the registry, and the credential of the API to neither.
func TestNativeCredentials(t *testing.T) {
	token := jwt(`{"exp":2000000300,"iat":2000000000}`)
	c, api, registry, auth := nativeClient(t, say(202, ""), tokenAnswer(token, ""))
	require.NoError(t, c.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1.0", nil))
	require.NoError(t, c.RegistryNative.DeleteManifest(t.Context(), "group/app", "sha256:0a0b", &DeleteManifestOptions{ManifestType: "application/x"}))
	require.NoError(t, c.RegistryNative.DeleteTagReference(t.Context(), "group/app", "v1.0"))
	require.NoError(t, c.RegistryNative.DeleteManifest(t.Context(), "group/other", "v1.0", nil))

	assert.Empty(t, api.seen())
	require.Len(t, auth.seen(), 2, "a token for each scope")
	for i, path := range []string{"group%2Fapp", "group%2Fother"} {
		s := auth.seen()[i]
		assert.Equal(t, "GET /jwt/auth?scope=repository%3A"+path+"%3Adelete&service=container_registry", s.method+" "+s.uri)
		assert.Equal(t, "Basic "+base64.StdEncoding.EncodeToString([]byte(registryUser+":"+registryPassword)), s.header.Get("Authorization"))
	}
	sent := []string{}
	for _, s := range registry.seen() {
		sent = append(sent, s.method+" "+s.uri+" "+s.header.Get("Accept"))
		assert.Equal(t, "Bearer "+token, s.header.Get("Authorization"))
	}
	assert.Equal(t, []string{
		"DELETE /prefix/v2/group/app/manifests/v1.0 " + manifestV2, "DELETE /prefix/v2/group/app/manifests/sha256:0a0b application/x",
		"DELETE /prefix/v2/group/app/tags/reference/v1.0 application/json", "DELETE /prefix/v2/group/other/manifests/v1.0 " + manifestV2,
	}, sent)
	for _, s := range append(registry.seen(), auth.seen()...) {
		assert.Empty(t, s.header.Get("PRIVATE-TOKEN"))
		assert.NotContains(t, fmt.Sprint(s.header), secret)
	}
}

// GetToken returns the client's token while it is valid, and a new one if there are request
// options.
func TestGetToken(t *testing.T) {
	scopes := &GetRegistryTokenOptions{Scopes: []RegistryScope{RepositoryScope("group/app", RegistryActionPull, RegistryActionPush), RegistryScopeCatalog}}
	c, _, _, auth := nativeClient(t, say(202, ""), sayJSON(string(readFixture(t, "registry_native/token.json"))))
	token, err := c.RegistryNative.GetToken(t.Context(), scopes)
	require.NoError(t, err)
	type shown RegistryToken // without the methods that hide it
	assertWhole(t, "registry_native/token.json", (*shown)(token))
	held := token.Token
	for range 2 {
		token.Token = "changed by its caller"
		token, err = c.RegistryNative.GetToken(t.Context(), scopes)
		require.NoError(t, err)
		assert.Equal(t, held, token.Token)
	}
	require.Len(t, auth.seen(), 1)
	assert.Equal(t, "/jwt/auth?scope=repository%3Agroup%2Fapp%3Apull%2Cpush&scope=registry%3Acatalog%3A%2A&service=container_registry", auth.seen()[0].uri)
	var answer Response
	_, err = c.RegistryNative.GetToken(t.Context(), scopes, Into(&answer))
	require.NoError(t, err)
	assert.Equal(t, 200, answer.Status)
	assert.Len(t, auth.seen(), 2)

	derived, err := c.With(WithUserAgent("derived/1"))
	require.NoError(t, err)
	_, err = derived.RegistryNative.GetToken(t.Context(), scopes)
	require.NoError(t, err)
	assert.Len(t, auth.seen(), 2, "a derived client shares the tokens")
	other, err := c.With(WithRegistryCredentials("other", "password"))
	require.NoError(t, err)
	_, err = other.RegistryNative.GetToken(t.Context(), scopes)
	require.NoError(t, err)
	assert.Len(t, auth.seen(), 3, "a client with other credentials does not share them")
}

// A token is used until shortly before it expires, according to its claims, or else to the field of
// the response, or else for a minute.
func TestRegistryTokenLifetime(t *testing.T) {
	now := time.Unix(2000000000, 0)
	for _, row := range []struct {
		token     string
		expiresIn int
		want      time.Duration
	}{
		{jwt(`{"exp":2000000300}`), 0, 300 * time.Second},
		{jwt(`{"exp":1000000300,"iat":1000000000}`), 900, 300 * time.Second}, // a wrong clock
		{jwt(`{"exp":1999999999}`), 0, 0},
		{jwt(`{"exp":1e300}`), 0, 24 * time.Hour},
		{jwt(`{"exp":"soon"}`), 120, 2 * time.Minute},
		{jwt(`{}`), 120, 2 * time.Minute},
		{jwt(`nonsense`), 0, time.Minute},
		{"opaque", 120, 2 * time.Minute},
		{"opaque", 0, time.Minute},
		{"opaque", -5, 0},
		{"a.!.b", 0, time.Minute},
		{strings.Replace(jwt(`{"exp":2000000300}`), ".c", "!.c", 1), 120, 2 * time.Minute},
	} {
		token := &RegistryToken{Token: row.token, ExpiresIn: row.expiresIn}
		assert.Equal(t, row.want, token.lifetime(now), row.token)
		assert.Equal(t, "forge.RegistryToken([redacted])", fmt.Sprint(*token))
	}
}

// nativeTransport returns a registry with its token endpoint, for a bubble of synctest.
func nativeTransport(t *testing.T, answer func(req *http.Request) (status int, body string), options ...Option) *Client {
	t.Helper()
	return bubbleClient(t, overriding([]Option{
		through(func(req *http.Request) (*http.Response, error) {
			status, body := answer(req)
			header := headers("Content-Type", "application/json")
			return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: req}, nil
		}),
		WithRegistry("https://registry.example.com", "https://auth.example.com"), WithRegistryCredentials(registryUser, registryPassword),
	}, options...)...)
}

func TestRegistryTokenExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exchanges, lifetime := 0, 300
		c := nativeTransport(t, func(req *http.Request) (int, string) {
			if req.URL.Host != "auth.example.com" {
				return 202, ""
			}
			exchanges++
			return 200, fmt.Sprintf(`{"token":"opaque-token-%d","expires_in":%d}`, exchanges, lifetime)
		})
		for i, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {289 * time.Second, 1}, {time.Second, 2}, {289 * time.Second, 2}, {time.Hour, 3}, {5 * time.Second, 3}, {5 * time.Second, 4}} {
			if i == 4 {
				lifetime = 20 // it is used for half of that
			}
			time.Sleep(step.wait)
			require.NoError(t, c.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil))
			assert.Equal(t, step.want, exchanges)
		}
	})
}

// Concurrent calls share one exchange, which continues when the caller that began it leaves.
func TestRegistryTokenFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		exchanges, deletions := 0, 0
		c := nativeTransport(t, func(req *http.Request) (int, string) {
			mu.Lock()
			defer mu.Unlock()
			if req.URL.Host == "auth.example.com" {
				exchanges++
				mu.Unlock()
				time.Sleep(5 * time.Second)
				mu.Lock()
				return 200, `{"token":"opaque-token"}`
			}
			deletions++
			return 202, ""
		})
		var calls sync.WaitGroup
		calls.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			assert.ErrorIs(t, c.RegistryNative.DeleteManifest(ctx, "a/b", "t", nil), context.DeadlineExceeded)
		})
		synctest.Wait()
		for range 9 {
			calls.Go(func() { assert.NoError(t, c.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil)) })
		}
		calls.Wait()
		assert.Equal(t, 1, exchanges)
		assert.Equal(t, 9, deletions)
	})
}

// A token that the registry refuses is discarded, and the call is sent again once with another
// token.
func TestRegistryTokenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exchanges, sent := 0, []string{}
		good := "opaque-token-2"
		c := nativeTransport(t, func(req *http.Request) (int, string) {
			if req.URL.Host == "auth.example.com" {
				exchanges++
				return 200, fmt.Sprintf(`{"token":"opaque-token-%d"}`, exchanges)
			}
			sent = append(sent, req.Header.Get("Authorization"))
			if req.Header.Get("Authorization") != "Bearer "+good {
				return 401, `{"errors":[{"code":"UNAUTHORIZED","message":"authentication required: ` + strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ") + `","detail":null}]}`
			}
			return 202, ""
		})
		require.NoError(t, c.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil))
		assert.Equal(t, []string{"Bearer opaque-token-1", "Bearer opaque-token-2"}, sent)
		good, sent = "none", nil
		err := c.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil)
		require.ErrorIs(t, err, ErrUnauthorized)
		assert.Len(t, sent, 2, "the call is sent again only once")
		assert.ErrorContains(t, err, "UNAUTHORIZED: authentication required: [redacted]")
		assert.NotContains(t, err.Error(), "opaque-token")
	})
}

// The error of a failed exchange names the cause, without the password.
func TestRegistryTokenFails(t *testing.T) {
	pair := base64.StdEncoding.EncodeToString([]byte(registryUser + ":" + registryPassword))
	c, _, registry, _ := nativeClient(t, say(202, ""), say(401, `{"message":"wrong: `+registryPassword+" "+pair+`"}`, jsonType))
	err := c.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil)
	require.ErrorIs(t, err, ErrNoCredential)
	require.ErrorIs(t, err, ErrUnauthorized)
	require.ErrorContains(t, err, "GET /jwt/auth: 401")
	assert.NotContains(t, err.Error(), registryPassword)
	assert.NotContains(t, err.Error(), pair)
	assert.Empty(t, registry.seen())

	for _, answer := range []string{`{}`, `{"token":""}`, `{"token":"a\nb"}`} {
		c, _, registry, _ = nativeClient(t, say(202, ""), sayJSON(answer))
		require.ErrorIs(t, c.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil), ErrNoCredential, answer)
		assert.Empty(t, registry.seen())
	}
}

// The catalogue is an object. Its next link is relative and has its own parameter names.
func TestListCatalog(t *testing.T) {
	pages := map[string]string{"/prefix/v2/_catalog?n=100": "catalog", "/prefix/v2/_catalog?last=group%2Fapp%2Fworker&n=100": "catalog_2"}
	auth := newWire(t, always(tokenAnswer("opaque-token", "")))
	registry := newWire(t, func(s seen) act {
		link := "X-None: x"
		if pages[s.uri] == "catalog" {
			link = `Link: </v2/_catalog?last=group%2Fapp%2Fworker&n=100>; rel="next"`
		}
		return say(200, string(readFixture(t, "registry_native/"+pages[s.uri]+".json")), jsonType, link)
	})
	c := wireClient(t, registry.url, WithRegistry(registry.url+"/prefix", auth.url), WithRegistryCredentials(registryUser, registryPassword))
	for _, opts := range [][]RequestOption{nil, {Ahead(3)}} {
		var page Response
		repositories, err := Collect(c.RegistryNative.ListCatalog(t.Context(), append(opts, Into(&page))...))
		require.NoError(t, err)
		names := []string{}
		for _, repository := range repositories {
			names = append(names, repository.String())
		}
		assert.Equal(t, []string{"group/app", "group/app/worker", "team/site"}, names)
		assert.True(t, page.Cursor.Done())
	}
	var page Response
	_, err := Collect(c.RegistryNative.ListCatalog(t.Context(), OnePage(), Into(&page)))
	require.NoError(t, err)
	rest, err := Collect(c.RegistryNative.ListCatalog(t.Context(), StartAt(page.Cursor), PerPage(7)))
	require.NoError(t, err)
	assert.Len(t, rest, 1, "a cursor is valid for every page size")
	assert.Len(t, auth.seen(), 1)
	assert.Contains(t, auth.seen()[0].uri, "scope=registry%3Acatalog%3A%2A")
}

// A page without the key of its items is an error, not the end of the list.
func TestListCatalogBroken(t *testing.T) {
	for body, want := range map[string]string{
		`{}`: "it has no repositories", `[]`: "not what this endpoint returns", `{"repositories":{}}`: "repositories is a JSON object", `{"repositories":"a"}`: "JSON string",
		`{"repositories":["a",5]}`: "item 1", `{"repositories":["a"`: "not valid JSON", `{"repositories":`: "", `{"repositories":}`: "not valid JSON",
	} {
		c, _, _, _ := nativeClient(t, sayJSON(body), tokenAnswer("opaque-token", ""), WithRetry(RetryPolicy{MaxAttempts: 1}))
		repositories, err := Collect(c.RegistryNative.ListCatalog(t.Context()))
		require.ErrorIs(t, err, ErrInvalidResponse, body)
		require.ErrorContains(t, err, want, body)
		assert.Empty(t, repositories)
	}
	for _, body := range []string{`{"repositories":null}`, `{"repositories":[],"x":{"y":[]}}`} {
		c, _, _, _ := nativeClient(t, sayJSON(body), tokenAnswer("opaque-token", ""))
		repositories, err := Collect(c.RegistryNative.ListCatalog(t.Context()))
		require.NoError(t, err)
		assert.Empty(t, repositories)
	}
}

func TestNativeRefused(t *testing.T) {
	c, api, registry, auth := nativeClient(t, say(202, ""), tokenAnswer("opaque-token", ""))
	without, err := c.With(WithVocabulary(Neutral))
	require.NoError(t, err)
	err = without.RegistryNative.DeleteManifest(t.Context(), "a/b", "t", nil)
	assertRefused(t, err, "DeleteManifestOptions.ManifestType", "Accept")
	require.ErrorContains(t, err, "WithVocabulary(forge.Neutral)")
	require.Error(t, c.RegistryNative.DeleteTagReference(t.Context(), "a b:c", "t"), "parameters that would request another scope")
	for _, scope := range []RegistryScope{"", "repository:a", "repository::pull", RepositoryScope("a/b"), RepositoryScope("", RegistryActionPull), RepositoryScope("a/../b", RegistryActionPull),
		RepositoryScope("a b", RegistryActionPull), RepositoryScope("a", RegistryActionPull, ""), "repository:a:pull repository:b:pull", "a:b:c:d", "repository:a\x01:pull", ":a:pull", "repository:a:pull,", "repository:a:,pull", "repository:a:", "repository:a%2Fb:pull"} {
		_, err := c.RegistryNative.GetToken(t.Context(), &GetRegistryTokenOptions{Scopes: []RegistryScope{RegistryScopeCatalog, scope}})
		assertRefused(t, err, "GetRegistryTokenOptions.Scopes", "scope")
	}
	for scope, reason := range map[RegistryScope]string{
		"repository:a%2Fb:pull":                 `the image path: it is escaped already: use "a/b", which the client escapes`,
		RegistryScope(strings.Repeat("x", 257)): `"` + strings.Repeat("x", 256) + `..." is not of the form repository:<image path>:<actions>: use RepositoryScope or RegistryScopeCatalog`,
	} {
		assert.Equal(t, reason, reasonOf(scope.check()))
	}
	require.NoError(t, RegistryScope("repository:a:x%2Fy").check(), "only the path is escaped")
	_, err = c.RegistryNative.GetToken(t.Context(), nil)
	assertRefused(t, err, "GetRegistryTokenOptions.Scopes", "scope")
	_, err = wireClient(t, api.url).RegistryNative.GetToken(t.Context(), &GetRegistryTokenOptions{Scopes: []RegistryScope{RegistryScopeCatalog}})
	assertRefused(t, err, "WithRegistry", "")
	for _, w := range []*wire{api, registry, auth} {
		assert.Empty(t, w.seen())
	}
	for _, pair := range [][2]string{{"", "x"}, {"x", ""}, {"a:b", "x"}, {"a\n", "x"}, {"a", "x\n"}} {
		_, err := NewClient("https://forge.example.com", WithRegistryCredentials(pair[0], pair[1]))
		var invalid *ValidationError
		require.ErrorAs(t, err, &invalid)
		assert.NotContains(t, err.Error(), "x\n")
	}
	_, err = NewClient("https://forge.example.com", WithRegistry("http://registry.example.com", "https://auth.example.com"), WithRegistryCredentials("a", "b"))
	require.ErrorContains(t, err, "plain http")
}

// A media type that is invalid in a header is refused before a token is requested.
func TestManifestTypeRefused(t *testing.T) {
	c, _, registry, auth := nativeClient(t, say(202, ""), tokenAnswer("opaque-token", ""))
	for _, kind := range []string{"a/b\r\nX-Injected: y", "a/b\x00", "a/b\x7f"} {
		o := &DeleteManifestOptions{ManifestType: kind}
		err := c.RegistryNative.DeleteManifest(t.Context(), "group/app", "v1", o)
		assertRefused(t, err, "DeleteManifestOptions.ManifestType", "Accept")
	}
	assert.Empty(t, registry.seen())
	assert.Empty(t, auth.seen())
}

// The time limit of a token exchange is not a deadline of the caller: if the exchange would have to
// wait longer, the error does not report a deadline that the caller has not set.
func TestRegistryTokenPastItsOwnLimit(t *testing.T) {
	for name, answer := range map[string]act{
		"backoff": say(http.StatusServiceUnavailable, ""), "asked": say(http.StatusTooManyRequests, "", "Retry-After: 50"),
	} {
		t.Run(name, func(t *testing.T) {
			c, _, _, _ := nativeClient(t, say(http.StatusAccepted, ""), answer)
			c, err := c.With(WithRetry(RetryPolicy{MinWait: 20 * time.Minute, MaxWait: 20 * time.Minute}))
			require.NoError(t, err)
			for range 2 { // the wait that the server requested from the first call delays the second
				err := c.RegistryNative.DeleteTagReference(t.Context(), "a/b", "t")
				require.ErrorIs(t, err, ErrNoCredential)
				require.ErrorIs(t, err, ErrTimeout)
				require.NotErrorIs(t, err, context.DeadlineExceeded)
			}
		})
	}
}
