package forge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Fields that the package does not have, and values of another type, are recorded by route and
// place, without the value or an index.
func TestDrift(t *testing.T) {
	var drift Drift
	c, err := serve(t,
		exchange{sent: "GET /issues", query: "per_page=100", answer: `[{"iid":1,"author":{"pronouns":"hunter2","id":"x"}},{"iid":2,"mood":[{"a":1}],"labels":[7],"author":{"pronouns":null}}]`},
		exchange{sent: settingsRead, answer: `{"repository_storages_weighted":{"hunter2":"much"},"a/b":{}}`},
		exchange{sent: "GET /users/1", answer: `{"id":"x"}`},
		exchange{sent: "GET /users/1", answer: `{"id":"x"}`},
	).With(WithDrift(&drift))
	require.NoError(t, err)
	for _, err := range c.Issues.List(t.Context(), nil) {
		require.NoError(t, err)
	}
	settings, err := c.Settings.Get(t.Context())
	require.NoError(t, err)
	assert.Len(t, settings.Extra, 2, "values are stored in Extra as without a Drift")
	var user User
	require.NoError(t, c.Do(t.Context(), Call{Method: "GET", Route: "/users/:id", Args: []Arg{ID(1)}}, &user))
	var own struct { // keeps what does not fit
		ID    int                        `json:"id"`
		Extra map[string]json.RawMessage `json:"-"`
	}
	require.NoError(t, c.Do(t.Context(), Call{Method: "GET", Route: "/users/:id", Args: []Arg{ID(1)}}, &own))
	assert.Equal(t, []DriftEntry{
		{"GET /application/settings", "/a~1b", "", "object", 1},
		{"GET /application/settings", "/repository_storages_weighted/*", "integer", "string", 1},
		{"GET /issues", "/*/author/id", "integer", "string", 1},
		{"GET /issues", "/*/author/pronouns", "", "null", 1},
		{"GET /issues", "/*/author/pronouns", "", "string", 1},
		{"GET /issues", "/*/labels/*", "object", "number", 1},
		{"GET /issues", "/*/mood", "", "array", 1},
		{"GET /users/:id", "/id", "integer", "string", 2},
	}, drift.Entries())
	text, err := json.Marshal(drift.Entries())
	require.NoError(t, err)
	assert.NotContains(t, string(text), "hunter2")
	assert.Zero(t, drift.Dropped())

	_, err = c.With(WithDrift(&drift), WithDrift(nil))
	require.NoError(t, err)

	var cleaned Drift
	cleaned.watch(&route{Route: Route{Method: "GET", Template: "/x"}}, func(text string, limit int) string { return fmt.Sprint(text, limit) })("/a", "b", "c")
	assert.Equal(t, []DriftEntry{{"GET /x", "/a512", "b", "c", 1}}, cleaned.Entries())
}

// Many clients may share one Drift, and a server cannot make it grow without a limit.
func TestDriftIsBounded(t *testing.T) {
	var drift Drift
	var b strings.Builder
	b.WriteString(`{"id":1`)
	for i := range 3000 {
		fmt.Fprintf(&b, `,"unknown%d":%d`, i, i)
	}
	b.WriteString("}")
	var group sync.WaitGroup
	for i := range 4 {
		c, err := serve(t, exchange{sent: settingsRead, answer: strings.ReplaceAll(b.String(), "unknown", fmt.Sprintf("unknown%d_", i))}).With(WithDrift(&drift))
		require.NoError(t, err)
		group.Go(func() {
			_, err := c.Settings.Get(t.Context())
			assert.NoError(t, err)
		})
	}
	group.Wait()
	assert.Len(t, drift.Entries(), 10_000)
	assert.Equal(t, 2000, drift.Dropped())
	known := drift.Entries()[0]
	drift.record(driftKey{known.Route, known.Pointer, known.Want, known.Got})
	assert.Equal(t, known.Count+1, drift.Entries()[0].Count, "a known place is counted")
	assert.Equal(t, 2000, drift.Dropped(), "it is not reset")
}

// Places in responses that are not JSON, or not an item of a list, are recorded, too.
func TestDriftBesideItems(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch r.URL.Path {
		case "/jwt/auth":
			_, _ = w.Write([]byte(`{"token":"hunter2","scope":"hunter2"}`))
		case "/v2/_catalog":
			_, _ = w.Write([]byte(`{"next":{"hunter2":1},"repositories":["hunter2"],"total":1}`))
		default:
			w.Header().Set("Content-Type", "text/csv")
			_, _ = w.Write([]byte("Source host,Import type,Source user identifier,Source user name,Source username,GitLab username,GitLab public email,a/b\n" +
				"h,t,1,n,u,,,hunter2\nh,t,2,n,u,,,\n"))
		}
	}))
	defer srv.Close()
	var drift Drift
	c, err := NewClient(srv.URL, WithDrift(&drift), WithRegistry(srv.URL, srv.URL), WithRegistryCredentials("u", "p"))
	require.NoError(t, err)
	defer c.CloseIdleConnections()
	for _, err := range c.RegistryNative.ListCatalog(t.Context()) {
		require.NoError(t, err)
	}
	rows, err := Collect(c.PlaceholderReassignments.List(t.Context(), ID(1)))
	require.NoError(t, err)
	require.Len(t, rows, 2)
	assert.Equal(t, []DriftEntry{
		{"GET /groups/:id/placeholder_reassignments", "/*/a~1b", "", "string", 2},
		{"GET /jwt/auth", "/scope", "", "string", 1},
		{"GET /v2/_catalog", "/next", "", "object", 1},
		{"GET /v2/_catalog", "/total", "", "number", 1},
	}, drift.Entries())

	strict, err := c.With(WithStrictDecoding())
	require.NoError(t, err)
	_, err = Collect(strict.RegistryNative.ListCatalog(t.Context()))
	require.ErrorContains(t, err, "no field has this name")
}
