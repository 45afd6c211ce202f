package catalogue

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The parts of the three documents are complete: what is beyond them is in deployed.json.
func TestDocumentsAreComplete(t *testing.T) {
	var endpoints []Endpoint
	Read("endpoints.json", &endpoints)
	documented := 0
	for _, e := range endpoints {
		if e.Status == "documented" {
			documented++
		}
	}
	assert.Equal(t, 94, documented)
	var types map[string]struct{ Fields []Field }
	Read("types.json", &types)
	fields := 0
	for _, one := range types {
		fields += len(one.Fields)
	}
	assert.Equal(t, []int{68, 879}, []int{len(types), fields})
}

// The rows of endpoints have what the tests and forgetest read, with names that exist.
func TestRowsAreComplete(t *testing.T) {
	types := Types[struct{ Fields []Field }]()
	ids, routes := map[string]bool{}, map[string]bool{}
	for _, e := range Rows[Endpoint]() {
		if e.Status == "not shown" {
			continue
		}
		route := e.Method + " " + e.Path
		assert.False(t, ids[e.ID] || routes[route], "%s is twice in the catalogue", e.ID)
		ids[e.ID], routes[route] = true, true
		assert.Regexp(t, `^`+e.Service+`\.[a-z_]+$`, e.ID, "id is the service and a name")
		assert.Contains(t, []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}, e.Method, e.ID)
		assert.Contains(t, []string{"api", "registry", "auth"}, e.Base, "%s: base", e.ID)
		assert.Contains(t, []string{"none", "object", "array", "csv", "raw", "unknown"}, e.Response.Kind, "%s: response.kind", e.ID)
		assert.True(t, e.Ref.Doc > 0 && e.Ref.Section != "" || e.Ref.Page != "", "%s: ref.page is the page of GitLab's documentation", e.ID)
		assert.Regexp(t, `^https://docs\.gitlab\.com/api/[a-z_]+/$`, e.Docs(), "%s: pages.json has the page of each service", e.ID)
		assert.NotEmpty(t, e.Auth.Schemes, "%s: auth.schemes", e.ID)
		if e.Response.Type != "" {
			assert.Contains(t, types, e.Response.Type, "%s: response.type", e.ID)
		}
	}
	for name := range Fields[Field]() {
		assert.Contains(t, types, name, "fields")
	}
	for name, one := range types {
		for _, f := range one.Fields {
			assert.NotEmpty(t, f.Type, "%s.%s: type", name, f.Name)
			for _, ref := range append(f.RefAny, f.Ref, f.Items.Ref, f.Items.Alternative.Ref) {
				assert.True(t, ref == "" || types[ref].Fields != nil, "%s.%s: there is no type %s", name, f.Name, ref)
			}
		}
	}
}
