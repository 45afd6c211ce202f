package forgetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// countNew counts the unknown field in a decoded value. Each object with a type must have it, and
// no other object may.
func countNew(t *testing.T, value any, typed bool) (n int) {
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			n += countNew(t, item, typed)
		}
	case map[string]any:
		_, has := v["x_new"]
		if assert.Equal(t, typed, has, v); has {
			assert.Equal(t, "new", v["x_new"])
			n++
		}
		for name, item := range v {
			n += countNew(t, item, typed && !untyped()[name])
		}
	}
	return n
}

// untyped are the fields whose objects have no type.
func untyped() map[string]bool {
	names := map[string]bool{}
	for _, s := range catalogue().shapes {
		for _, f := range s.fields {
			names[f.Name] = names[f.Name] || f.Ref == "" && (f.Type == "object" || f.Type == "hash")
		}
	}
	return names
}

// Every object of every read has the unknown field.
func TestUnknownFields(t *testing.T) {
	c := newCaller(t, contractServer(t, WithUnknownFields("x_new")))
	require.Equal(t, http.StatusOK, c.send("PUT", "/groups/group/integrations/emails-on-push", "recipients=a@example.com").Status)
	checked := 0
	for _, e := range examples() {
		endpoint := endpointByID(t, e.id)
		if endpoint.Method != http.MethodGet || endpoint.Base != "api" {
			continue
		}
		got := c.get(e.path)
		require.Equal(t, http.StatusOK, got.Status, e.id)
		if !strings.HasPrefix(got.Header.Get("Content-Type"), "application/json") {
			continue
		}
		var value any
		require.NoError(t, json.Unmarshal([]byte(got.Body), &value))
		assert.Positive(t, countNew(t, value, true), e.id)
		checked++
	}
	assert.Greater(t, checked, 45)
}

// Errors are unchanged, and so are the responses of a server without the option.
func TestUnknownFieldsOfErrors(t *testing.T) {
	c := newCaller(t, New(t, WithUnknownFields("x_new"), WithMismatchedTypes("message", "error")))
	assert.JSONEq(t, `{"message":"404 Project Not Found"}`, c.get("/projects/1/merge_requests").Body)
}

// A field of WithMismatchedTypes has another type in all objects, including nested ones.
func TestOtherTypes(t *testing.T) {
	s := contractServer(t, WithMismatchedTypes("id", "author", "labels", "references"))
	var issues []map[string]any
	require.NoError(t, json.Unmarshal([]byte(newCaller(t, s).get("/issues").Body), &issues))
	require.NotEmpty(t, issues)
	for _, issue := range issues {
		assert.Equal(t, []any{map[string]any{}, true, true, true}, []any{issue["id"], issue["author"], issue["labels"], issue["references"]})
		for _, user := range issue["assignees"].([]any) {
			assert.Equal(t, map[string]any{}, user.(map[string]any)["id"])
		}
		assert.IsType(t, "", issue["title"])
	}
}

func endpointByID(t *testing.T, id string) *endpoint {
	t.Helper()
	all := catalogue().endpoints
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	i := slices.IndexFunc(names, func(name string) bool { return all[name].ID == id })
	require.GreaterOrEqual(t, i, 0, id)
	return all[names[i]]
}
