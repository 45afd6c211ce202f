package forgetest

import (
	"fmt"
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
		assertShown(t, n, map[string]any{
			"id": 5.0, "name": "Sub", "path": "sub", "full_path": "group/sub", "parent_id": 4.0, "kind": "group",
			"web_url": s.URL + "/groups/group/sub", "avatar_url": nil, "end_date": nil, "trial_ends_on": nil,
		})
		assert.EqualValues(t, 1, n["members_count_with_descendants"])
		assert.EqualValues(t, 1, n["projects_count"])
	}
	for _, n := range root.get("/namespaces").array(t) { // users and groups, at the top and below
		single := root.get(fmt.Sprintf("/namespaces/%v", n["id"])).object(t)
		for name, value := range n {
			assert.Equal(t, single[name], value, "%s of %s in the list", name, n["full_path"])
		}
	}
	mine := asJane.get("/namespaces/jane").object(t)
	assertShown(t, mine, map[string]any{
		"name": "Jane", "path": "jane", "full_path": "jane", "parent_id": nil, "kind": "user", "web_url": s.URL + "/jane",
	})
	assert.Equal(t, mine, asJane.get("/namespaces/"+fmt.Sprint(mine["id"])).object(t))
	assert.NotContains(t, mine, "members_count_with_descendants")
	assert.NotContains(t, asJane.get("/namespaces/group").object(t), "seats_in_use") // not an owner
	assert.Contains(t, asJane.get("/namespaces/Other").object(t), "seats_in_use")
	for _, ref := range []string{"none", "99", "tom"} {
		r := asJane.get("/namespaces/" + ref)
		assert.Equal(t, 404, r.Status)
		assert.JSONEq(t, `{"message":"404 Namespace Not Found"}`, r.Body)
	}
}

// The parent is the group directly above, at every depth.
func TestNamespaceParents(t *testing.T) {
	s := New(t)
	s.AddGroup("top/middle/low")
	c := newCaller(t, s)
	above := c.get("/namespaces/top").object(t)
	assert.Nil(t, above["parent_id"])
	for _, path := range []string{"top/middle", "top/middle/low"} {
		n := c.get("/namespaces/" + esc(path)).object(t)
		assert.Equal(t, above["id"], n["parent_id"], path)
		above = n
	}
}

// A search matches a part of the name or of the path, and with full_path_search a part of the full
// path.
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

// The numbers of a namespace count everything in it at any depth, and nothing outside of it.
func TestNamespaceNumbers(t *testing.T) {
	for offering, seen := range map[Offering]bool{Hosted: true, SelfManaged: false, Dedicated: false} {
		s := New(t, WithOffering(offering))
		s.SetClock(noon)
		jane, tom, ida := s.AddUser("jane"), s.AddUser("tom"), s.AddUser("ida")
		s.AddGroup("group").AddMember(jane, Owner)
		s.AddGroup("group").AddMember(tom, Maintainer)
		for path, text := range map[string]string{"group/app": "12345", "group/sub/lib": "1234567", "other/app": "x", "jane/own": "123"} {
			s.AddProject(path).AddFiles(map[string]string{"a.txt": text})
		}
		s.AddProject("group/sub/lib").AddMember(ida, Developer)
		c := newCaller(t, s)
		seats := map[string]any{"max_seats_used": 3.0, "seats_in_use": 3.0, "max_seats_used_changed_at": "2026-03-04T12:00:00.000Z"}
		numbers := map[string]any{
			"projects_count": 2.0, "root_repository_size": 12.0, "members_count_with_descendants": 3.0, "billable_members_count": 3.0,
			"trial": false, "plan": "ultimate",
		}
		owned := c.as(jane.Token).get("/namespaces/group").object(t)
		assertShown(t, owned, numbers)
		assertShown(t, owned, seats)
		assertShown(t, c.get("/namespaces?search=group").array(t)[0], numbers)
		assertShown(t, c.get("/namespaces/jane").object(t), map[string]any{
			"projects_count": 1.0, "root_repository_size": 3.0, "billable_members_count": 1.0, "trial": false,
		})
		for name := range seats {
			_, found := c.as(tom.Token).get("/namespaces/group").object(t)[name]
			assert.Equal(t, seen, found, "%s for a Maintainer, %s", name, offering)
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
