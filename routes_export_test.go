package forge

import (
	"net/http"
	"net/http/httptest"
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
