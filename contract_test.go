package forge

import (
	"cmp"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/gosource"
)

// The methods of the services, the route table and the catalogue agree.
func TestRoutes(t *testing.T) {
	assert.True(t, slices.IsSortedFunc(routes, func(a, b route) int {
		return cmp.Or(strings.Compare(a.Template, b.Template), strings.Compare(a.Method, b.Method))
	}), "the table is not sorted")
	want := map[string]route{}
	for _, e := range catalogue.Endpoints() {
		want[e.Method+" "+e.Path] = catalogueRoute(t, e)
	}
	rows := map[string]bool{}
	for _, r := range routes {
		name := r.Method + " " + r.Template
		assert.False(t, rows[name], "%s is in the table twice", name)
		rows[name] = true
		if documented, ok := want[name]; assert.True(t, ok, "%s is not in the catalogue", name) {
			documented.quota, documented.secret, documented.advice = r.quota, r.secret, r.advice // they have tests of their own
			assert.Equal(t, documented, r, "contract.go (actual) and internal/catalogue differ")
		}
		found, ok := findRoute(r.Method, r.Template)
		assert.True(t, ok && found.Method == r.Method && found.Template == r.Template, "%s is not found", name)
	}
	for name := range want {
		assert.True(t, rows[name], "%s is documented and not in the table", name)
	}
	methods, err := gosource.Methods(".")
	require.NoError(t, err)
	for _, m := range methods {
		name := m.Verb + " " + m.Template
		assert.True(t, rows[name], "%s.%s: %s is not in the table", m.Service, m.Name, name)
		delete(want, name)
	}
	assert.Empty(t, want, "they have no method")
}

// catalogueClass returns the class that the catalogue declares or that follows from the method. The
// documents declare none: six of their writes by POST set a state, and one DELETE is allowed once
// an hour.
func catalogueClass(e catalogue.Endpoint) RetryClass {
	last := e.Path[strings.LastIndex(e.Path, "/")+1:]
	switch {
	case e.Class != "":
		return RetryClass(e.Class)
	case e.Method == http.MethodPost && slices.Contains([]string{"subscribe", "unsubscribe", "todo", "time_estimate", "reset_time_estimate", "reset_spent_time"}, last):
		return RetryClassIdempotent
	case e.ID == "registry.delete_tags_bulk":
		return RetryClassNonIdempotent
	}
	return undocumentedRoute(e.Method, e.Path).Class
}

func TestClassesOfMethods(t *testing.T) {
	for method, want := range map[string]RetryClass{"GET": RetryClassSafe, "HEAD": RetryClassSafe, "PUT": RetryClassIdempotent, "DELETE": RetryClassIdempotent, "POST": RetryClassNonIdempotent, "PATCH": RetryClassNonIdempotent} {
		assert.Equal(t, want, undocumentedRoute(method, "/x").Class, method)
	}
}

// defaultFirst lists the values of a keyset ordering, the default of the server first.
func defaultFirst(e catalogue.Endpoint, param string, values []string) string {
	standard := ""
	for _, p := range e.Query {
		if text, ok := p.Default.(string); ok && p.Name == param {
			standard = text
		}
	}
	values = slices.Clone(values)
	if i := slices.Index(values, standard); i > 0 {
		values = slices.Insert(slices.Delete(values, i, i+1), 0, standard)
	}
	return strings.Join(values, ",")
}

// roles maps each text of the catalogue about callers to Route.Role. Texts about the credential or
// about the extent of the response name no role.
var roles = map[string]string{
	"":              "",
	"administrator": "an administrator",
	"administrator credentials are required to obtain the token":      "an administrator",
	"administrator or auditor":                                        "an administrator or auditor",
	"administrator, or at least Maintainer or Auditor in the project": "an administrator or auditor, or at least the Maintainer role for the project",
	"Owner of the group":                                              "the Owner role for the group",
	"group owners and administrators":                                 "the Owner role for the group",
	"Maintainer of the project":                                       "at least the Maintainer role for the project",
	"Maintainer or above":                                             "at least the Maintainer role for the project",
	"at least the Maintainer role for the group":                      "at least the Maintainer role for the group",
	"Owner sees all users' events; Developer or Maintainer only events of their own actions": "at least the Developer role for the group",
	"Maintainer or above sees all users' events; Developer only own actions":                 "at least the Developer role for the project",
	ownersOfRunners + "instance runner details: any authenticated user; " + customRole:       "the Owner role for the runner's group, at least the Maintainer role for one of its projects, or a custom role with admin_runners",
	ownersOfRunners + "instance runners: administrator for changes; " + customRole:           "the Owner role for the runner's group, at least the Maintainer role for one of its projects, a custom role with admin_runners, or an administrator",

	"anyone on a public repository; otherwise an authenticated user": "",
	"authenticated": "", "authenticated user": "", "signed-in user": "", "authenticated user; an administrator sees all namespaces": "",
	"issues the user can access": "", "merge requests the user can access": "",
	"registry user and password, or job credentials": "", "holder of a registry token": "", "holder of a registry token; not a personal or project access token": "",
}

const (
	ownersOfRunners = "group runners: Owner in the owner namespace; project runners: at least Maintainer in an assigned project; "
	customRole      = "a custom role with admin_runners permission qualifies"
)

// catalogueRoute returns the row of the table that follows from the catalogue.
func catalogueRoute(t *testing.T, e catalogue.Endpoint) route {
	t.Helper()
	r := route{
		Route: Route{
			Method: e.Method, Template: e.Path, Service: e.Service, Class: catalogueClass(e), Role: e.Auth.Who, Release: e.Only.Introduced,
			Docs:        e.Docs(),
			Permissions: catalogue.Permissions()[e.ID],
			JobToken:    slices.Contains(e.Auth.Schemes, "job_token"),
			Anonymous:   slices.Contains([]string{"when_public", "implied_when_public", "implied"}, e.Auth.Anonymous),
		},
		scope: map[bool]string{true: Neutral.gitlab(scopeWord, e.Auth.Scope)}[e.Base == "api"],
		base:  map[string]base{"api": apiBase, "registry": registryBase, "auth": authBase}[e.Base],
		html:  strings.HasSuffix(e.Path, "/raw"), // the content of the file
		// Deployed servers send a 304 for every call that changes nothing, even if the documents name no
		// status.
		notModified: e.HasRule("no_op"),
		project:     strings.HasPrefix(e.Path, "/projects/:"),
		refs:        strings.Contains(e.Path, "/repository/"),
	}
	has := func(name string) bool {
		return e.Pagination.Offset && slices.ContainsFunc(e.Query, func(p catalogue.Param) bool { return p.Name == name })
	}
	switch {
	case has("updated_after"):
		r.feed = feedChanges
	case e.Service == "audit_events" && has("created_after"):
		r.feed = map[bool]feedKind{true: feedRecordsOfMonth, false: feedRecords}[e.Path == "/audit_events"]
	}
	if e.Ref.Page == "" {
		role, known := roles[e.Auth.Who]
		require.True(t, known, "%s %s: %q is not in roles", e.Method, e.Path, e.Auth.Who)
		r.Role = role
	}
	if e.Pagination.Offset {
		r.Pagination = PaginationOffset
	}
	if e.Pagination.Keyset {
		r.Pagination = PaginationKeyset
		if order := e.Pagination.Order; order != nil {
			r.orders, r.sorts = defaultFirst(e, "order_by", order.OrderBy), defaultFirst(e, "sort", order.Sort)
		}
	}
	if e.Deprecated != nil {
		r.Deprecated = "since " + e.Deprecated.Since + "; use " + e.Deprecated.Use
	}
	if e.Only.Tiers != nil {
		r.Tier = "Premium or Ultimate"
	}
	if e.Only.Offerings != nil {
		r.Offering = "self-managed or dedicated"
	}
	return r
}

// The exported table equals the internal one, and a caller cannot change the internal one.
func TestRoutesAreACopy(t *testing.T) {
	all := Routes()
	require.Len(t, all, len(routes))
	i := slices.IndexFunc(all, func(r Route) bool { return r.Template == "/projects/:id/audit_events" })
	assert.Equal(t, Route{
		Method: "GET", Template: "/projects/:id/audit_events", Service: "audit_events", Docs: "https://docs.gitlab.com/api/audit_events/",
		Class: RetryClassSafe, Pagination: PaginationKeyset, Role: "at least the Developer role for the project", Permissions: "read_audit_event", Tier: "Premium or Ultimate",
	}, all[i])
	all[i].Template = "changed"
	assert.Equal(t, "/projects/:id/audit_events", Routes()[i].Template)
}

// The context of each request has its route, also after a redirect, so that a tracer can name its
// spans.
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
	tracer := roundTrip(func(r *http.Request) (*http.Response, error) {
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

// A request for a token does not have the route of the call that needs the token: a registry token
// has its own route, and a refresh has none.
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
	require.NoError(t, c.Do(t.Context(), callOf(RetryClassSafe), nil))
	require.NoError(t, c.RegistryNative.DeleteTagReference(t.Context(), "a/b", "v1"))
	assert.Equal(t, []string{
		"/token is ", "/api/v4/projects/1/issues/2/time_stats is " + safeRoute,
		"/jwt/auth is /jwt/auth", "/v2/a/b/tags/reference/v1 is /v2/:image_path/tags/reference/:tag",
	}, seen)
}
