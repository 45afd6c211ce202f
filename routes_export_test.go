package forge

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// The exported table says what the internal one says, and a caller cannot change the latter.
func TestRoutesAreACopy(t *testing.T) {
	all := Routes()
	require.Len(t, all, len(routes))
	i := slices.IndexFunc(all, func(r Route) bool { return r.Template == "/projects/:id/audit_events" })
	assert.Equal(t, Route{
		Method: "GET", Template: "/projects/:id/audit_events", Service: "audit_events", Section: "Document 1 §4.7",
		Class: ClassSafe, Pagination: PaginationKeyset, Tier: "Premium or Ultimate",
	}, all[i])
	all[i].Template = "changed"
	assert.Equal(t, "/projects/:id/audit_events", Routes()[i].Template)
}

// Each request's context tells its route, those of redirects included, so that a tracer can name its spans.
func TestRouteFromContext(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v4/namespaces/1" {
			http.Redirect(w, r, "/api/v4/namespaces/2", http.StatusMovedPermanently)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"id":2}`))
	}))
	defer srv.Close()
	var seen []string
	tracer := roundTripper(func(r *http.Request) (*http.Response, error) {
		route, ok := RouteFromContext(r.Context())
		assert.True(t, ok)
		seen = append(seen, route.Method+" "+route.Template+" "+string(route.Class))
		return http.DefaultTransport.RoundTrip(r)
	})
	client, err := NewClient(srv.URL, WithHTTPClient(&http.Client{Transport: tracer}))
	require.NoError(t, err)
	_, err = client.Namespaces.Get(t.Context(), ID(1))
	require.NoError(t, err)
	assert.Equal(t, []string{"GET /namespaces/:id safe", "GET /namespaces/:id safe"}, seen)
	_, ok := RouteFromContext(t.Context())
	assert.False(t, ok)
}

// A request for a token is not the call that needs it: the registry's has a route of its own, and a refresh has none.
func TestRouteFromContextOfTokens(t *testing.T) {
	_, config := tokenServer(t, func(url.Values, int) act { return sayToken("new", "r2") })
	api := newWire(t, always(sayJSON("{}")))
	registry := newWire(t, func(s seen) act {
		if s.method == http.MethodGet {
			return tokenAnswer("t0ken", "")
		}
		return say(202, "")
	})
	var seen []string
	tracer := through(func(r *http.Request) (*http.Response, error) {
		route, _ := RouteFromContext(r.Context())
		seen = append(seen, r.URL.Path+" is "+route.Template)
		return http.DefaultTransport.RoundTrip(r)
	})
	c := wireClient(t, api.url, tracer, WithOAuth(config, expired("r1")), WithRegistry(registry.url, registry.url), WithRegistryCredentials(registryUser, registryPassword))
	defer c.CloseIdleConnections()
	require.NoError(t, c.Do(t.Context(), callOf(safe), nil))
	require.NoError(t, c.RegistryNative.DeleteTagReference(t.Context(), "a/b", "v1"))
	assert.Equal(t, []string{
		"/token is ", "/api/v4/projects/1/issues/2/time_stats is " + safeRoute,
		"/jwt/auth is /jwt/auth", "/v2/a/b/tags/reference/v1 is /v2/:image_path/tags/reference/:tag",
	}, seen)
}
