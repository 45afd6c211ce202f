package forgetest

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNamespaces(t *testing.T) {
	s := New(t)
	jane, tom := s.AddUser("jane"), s.AddUser("tom")
	s.AddProject("group/sub/app").AddMember(tom, Developer)
	group := s.AddGroup("group")
	group.AddMember(jane, Maintainer)
	s.AddGroup("Other", Private).AddMember(jane, Owner)
	root := newCaller(t, s)
	asJane := root.as(jane.Token)
	paths := func(c caller, query string) []any { return c.get("/namespaces"+query).column(t, "full_path") }

	assert.Equal(t, []any{"root", "jane", "tom", "group", "group/sub", "Other"}, paths(root, ""))
	assert.Equal(t, []any{"jane", "group", "group/sub", "Other"}, paths(asJane, ""))
	assert.Equal(t, []any{"jane", "Other"}, paths(asJane, "?owned_only=true"))
	assert.Equal(t, []any{"jane", "group", "Other"}, paths(asJane, "?top_level_only=true"))
	assert.Equal(t, []any{"group"}, paths(asJane, "?search=GROUP"))
	assert.Equal(t, []any{"group", "group/sub"}, paths(asJane, "?search=group&full_path_search=true"))
	assert.Equal(t, []any{"tom"}, paths(root.as(tom.Token), ""))
	walked, _ := root.walk("/namespaces?per_page=2", "full_path")
	assert.Len(t, walked, 6)
	assert.Equal(t, 401, root.as("").get("/namespaces").Status)

	for _, ref := range []string{"group%2Fsub", "5"} {
		r := root.get("/namespaces/" + ref)
		require.Equal(t, 200, r.Status)
		n := r.object(t)
		keys(t, "Namespace", "detail", n)
		assert.Equal(t, "group/sub", n["full_path"])
		assert.EqualValues(t, 4, n["parent_id"])
		assert.Equal(t, "group", n["kind"])
		assert.EqualValues(t, 1, n["members_count_with_descendants"])
		assert.EqualValues(t, 1, n["projects_count"])
	}
	for _, n := range root.get("/namespaces?search=group").array(t) {
		keys(t, "Namespace", "list", n)
	}
	mine := asJane.get("/namespaces/jane").object(t)
	assert.Equal(t, "user", mine["kind"])
	assert.NotContains(t, mine, "members_count_with_descendants")
	assert.NotContains(t, asJane.get("/namespaces/group").object(t), "seats_in_use") // not an owner
	assert.Contains(t, asJane.get("/namespaces/Other").object(t), "seats_in_use")
	for _, ref := range []string{"none", "99", "tom"} {
		r := asJane.get("/namespaces/" + ref)
		assert.Equal(t, 404, r.Status)
		assert.JSONEq(t, `{"message":"404 Namespace Not Found"}`, r.Body)
	}
}

// A search finds a part of the name or of the path, and with full_path_search of the whole path.
func TestNamespaceSearch(t *testing.T) {
	s := New(t)
	s.AddGroup("group/sub").Name = "Tango alpha"
	s.AddGroup("Other")
	c := newCaller(t, s)
	paths := func(query string) []any { return c.get("/namespaces?"+query).column(t, "full_path") }
	for search, want := range map[string][]any{
		"roup": {"group"}, "su": {"group/sub"}, "THE": {"Other"}, "O AL": {"group/sub"}, "oup/s": {}, "none": {},
	} {
		assert.Equal(t, want, paths("search="+esc(search)), search)
	}
	assert.Equal(t, []any{"group/sub"}, paths("full_path_search=true&search=oup%2Fs"))
}

// What a namespace does not have is null: a parent, a picture, an end.
func TestNamespaceNulls(t *testing.T) {
	s := New(t)
	s.AddGroup("group")
	c := newCaller(t, s)
	for _, namespace := range []map[string]any{c.get("/namespaces/group").object(t), c.get("/namespaces?search=root").array(t)[0]} {
		for _, name := range []string{"parent_id", "avatar_url", "end_date", "trial_ends_on"} {
			assert.Contains(t, namespace, name)
			assert.Nil(t, namespace[name], name)
		}
	}
}

func TestNamespaceExists(t *testing.T) {
	s := New(t)
	s.AddGroup("group/sub")
	s.AddGroup("group1")
	c := newCaller(t, s)
	for path, body := range map[string]string{
		"/namespaces/group/exists":             `{"exists":true,"suggests":["group2"]}`,
		"/namespaces/GROUP/exists":             `{"exists":true,"suggests":["GROUP2"]}`,
		"/namespaces/root/exists":              `{"exists":true,"suggests":["root1"]}`,
		"/namespaces/sub/exists":               `{"exists":false,"suggests":[]}`,
		"/namespaces/sub/exists?parent_id=2":   `{"exists":true,"suggests":["sub1"]}`,
		"/namespaces/group/exists?parent_id=2": `{"exists":false,"suggests":[]}`,
		"/namespaces/sub/exists?parent_id=x":   `{"error":"parent_id is invalid"}`,
	} {
		assert.Equal(t, body, c.get(path).Body, path)
	}
}
