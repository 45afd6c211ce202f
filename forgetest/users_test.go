package forgetest

import (
	"slices"
	"testing"
	"time"

	"fmt"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// sampleUsers is the part of contractServer for users.
func sampleUsers(users ...*User) {
	for _, u := range users {
		u.AddIdentity("group_saml", u.Username)
		u.AddIdentity("scim", u.Username)
		u.AddEmail(u.Username + "2@example.com")
	}
}

// The model of internal/contractmodel proves the filters. This test has what it accepts in several
// readings, because the documents leave it open, and the refusals.
func TestUserList(t *testing.T) {
	s := New(t)
	jane := s.AddUser("jane").Edit(func(d *Document) { d.Set("name", "Zoe Jane").Set("public_email", "public@example.com") })
	assert.NotNil(t, jane.AddEmail("private@example.com").Get("confirmed_at"))
	jane.AddIdentity("ldapmain", "uid=jane")
	s.AddUser("Bob").AddIdentity("scim", "scim-bob")
	s.AddProject("root/own")
	c := newCaller(t, s)
	for query, want := range map[string][]any{
		"search=zo": {2.0}, "search=Zoe+Jane": {2.0}, "search=jane+zoe": {}, "search=xjane": {}, "search=private@example.com": {2.0}, "search=PUBLIC@example.com": {2.0},
		"extern_uid=UID=jane&provider=ldapmain": {}, "order_by=username&sort=asc": {3.0, 2.0, 1.0}, "order_by=name&sort=asc": {3.0, 1.0, 2.0}, "order_by=name": {2.0, 1.0, 3.0},
		"without_projects=true": {3.0, 2.0}, "without_projects=false": {3.0, 2.0, 1.0},
	} {
		assert.Equal(t, want, c.get("/users?"+query).column(t, "id"), query)
	}
	assert.Empty(t, c.as(jane.Token).get("/users?search=private@example.com").array(t), "only administrators search all addresses")
	assert.Len(t, c.as(jane.Token).get("/users?pagination=keyset&order_by=id&sort=asc&admins=true").array(t), 3)
	for query, body := range map[string]string{
		"extern_uid=x":     `{"error":"provider is missing"}`,
		"two_factor=maybe": `{"error":"two_factor does not have a valid value"}`,
		"order_by=email":   `{"error":"order_by does not have a valid value"}`,
	} {
		assert.Equal(t, body, c.get("/users?"+query).Body, query)
		assert.Equal(t, 200, c.as(jane.Token).get("/users?"+query).Status, "%s: a filter of administrators", query)
	}
	assert.Equal(t, 401, c.as("").get("/users").Status)
	free := New(t, WithTier(Free))
	free.AddUser("jane").AddIdentity("scim", "scim-jane")
	assert.Empty(t, newCaller(t, free).get("/users?extern_uid=scim-jane&provider=scim").array(t), "a provider of higher tiers")
}

// Before 18.2, saml_provider_id selects users by the identities of a SAML provider; since then it
// is ignored.
func TestSAMLProviderOfARelease(t *testing.T) {
	for release, known := range map[string]bool{"16.0": true, "18.1": true, "18.2": false, "": false} {
		var options []Option
		if release != "" {
			options = append(options, WithRelease(release))
		}
		s := New(t, options...)
		s.AddUser("jane").AddIdentity("group_saml", "jane")
		s.AddUser("tom").AddIdentity("ldapmain", "tom")
		c := newCaller(t, s)
		for query, want := range map[string][]any{"saml_provider_id=1": {2.0}, "saml_provider_id=2": {}} {
			if !known {
				want = []any{3.0, 2.0, 1.0}
			}
			for _, who := range []caller{c, c.as(s.store.userByName("tom").Token)} {
				assert.Equal(t, want, who.get("/users?"+query).column(t, "id"), "%s at %s", query, release)
			}
		}
		assert.Equal(t, map[bool]int{true: 400, false: 200}[known], c.get("/users?saml_provider_id=x").Status, release)
	}
}

// The order by the latest update, which no response shows: the model cannot prove it.
func TestUserKeyset(t *testing.T) {
	s := New(t)
	users, old := s.AddUsers(45, "user"), map[*User]*Document{}
	for _, u := range users {
		old[u] = u.AddEmail(u.Username + "1@example.com")
	}
	var want []any
	for i := range users {
		u := users[i*11%45]
		s.SetClock(func() time.Time { return time.Now().Add(time.Duration(i+1) * time.Minute) })
		switch i % 3 {
		case 0:
			u.Edit(func(d *Document) { d.Set("bio", "new") })
		case 1:
			u.AddEmail(u.Username + "2@example.com")
		case 2:
			assert.Equal(t, 204, newCaller(t, s).send("DELETE", fmt.Sprintf("/users/%d/emails/%d", u.ID, old[u].int("id")), "").Status)
		}
		want = append(want, u.Username)
	}
	c := newCaller(t, s)
	for _, who := range []caller{c, c.as(users[0].Token)} {
		for _, sort := range []string{"asc", "desc"} {
			walked, pages := who.walk("/users?pagination=keyset&per_page=10&order_by=updated_at&sort="+sort, "username")
			walked = slices.DeleteFunc(walked, func(name any) bool { return name == "root" })
			assert.Equal(t, want, walked, sort)
			assert.Equal(t, 5, pages)
			slices.Reverse(want)
		}
	}
	assert.Equal(t, want[44], c.get("/users?order_by=updated_at").column(t, "username")[0])
}

func TestManyUsersNeedKeyset(t *testing.T) {
	racetest.SkipSequential(t)
	s := New(t)
	s.AddUsers(49_998, "user")
	c := newCaller(t, s)
	assert.Equal(t, 200, c.get("/users").Status, "49,999 with the administrator")
	s.AddUsers(1, "usermore")
	assert.Equal(t, 405, c.get("/users").Status)
	assert.Equal(t, 200, c.get("/users?search=user").Status, "49,999 of 50,000")
	s.AddUsers(1, "userlast")
	assert.Equal(t, 405, c.get("/users").Status)
	assert.Equal(t, 405, c.get("/users?active=true").Status)
	assert.Len(t, c.get("/users?username=user7").array(t), 1) // the limit applies to the users in the response
	assert.Equal(t, 405, c.get("/users?search=user").Status)
	assert.Equal(t, 200, c.get("/users?exclude_active=true").Status)
	assert.Equal(t, 200, c.get("/users?search=user1").Status)
	assert.Equal(t, 200, c.get("/users?pagination=keyset&order_by=id&sort=asc").Status)
	for number, status := range map[string]int{"16.4": 200, "16.11": 200, "17.0": 405, "17.1": 405} {
		s.mu.Lock()
		WithRelease(number)(s)
		s.mu.Unlock()
		assert.Equal(t, status, c.get("/users?per_page=1").Status, "%s: the limit came with 17.0", number)
	}
}

func TestSingleUser(t *testing.T) {
	s := New(t, WithRelease("18.2"))
	jane := s.AddUser("jane")
	jane.SetCustomAttribute("team", "old")
	jane.SetCustomAttribute("team", "core")
	jane.Edit(func(d *Document) { d.Set("location", "Oslo").Set("state", "blocked") })
	app := s.AddProject("group/app")
	app.AddIssue(func(d *Document) { d.Set("author", jane) })
	app.AddIssue(nil)
	c := newCaller(t, s)
	asTom := c.as(s.AddUser("tom").Token)
	keys(t, "User", "list", asTom.get("/users").array(t)[0])
	single := asTom.get("/users/2").object(t)
	keys(t, "User", "single", single)
	assert.Equal(t, "Oslo", single["location"])
	keys(t, "User", "single", asTom.get("/users/3").object(t)) // also for the caller: GET /user has the other fields
	full := c.get("/users/2?with_custom_attributes=true").object(t)
	assert.Equal(t, []any{map[string]any{"key": "team", "value": "core"}}, full["custom_attributes"])
	assert.Contains(t, c.get("/users?with_custom_attributes=true").array(t)[0], "custom_attributes")
	assert.NotContains(t, asTom.get("/users/2?with_custom_attributes=true").object(t), "custom_attributes")
	assert.Equal(t, 404, c.get("/users/99").Status)
	assert.Equal(t, 400, c.get("/users/jane").Status)
	assert.Equal(t, 401, c.as("").get("/users/2").Status)
	for i, want := range []string{"blocked", "active"} {
		assertShown(t, c.get("/issues?scope=all&sort=asc").array(t)[i], map[string]any{"author.state": want})
	}
	assert.Equal(t, "active", asTom.get("/users/3").object(t)["state"])

	me := asTom.get("/user").object(t)
	assert.Equal(t, "tom", me["username"])
	assert.Equal(t, "jane", c.get("/user?sudo=2").object(t)["username"])
	assert.Equal(t, "root", c.get("/user").object(t)["username"])
	assert.Equal(t, 403, asTom.get("/user?sudo=2").Status)
	free := newCaller(t, New(t, WithTier(Free))).get("/user").object(t)
	assert.NotContains(t, free, "is_auditor")
}

func TestEmails(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	jane := s.AddUser("jane")
	c := newCaller(t, s)
	asJane := c.as(jane.Token)
	first := asJane.send("POST", "/user/emails", "email=second@example.com&skip_confirmation=true") // a parameter of administrators
	assert.Equal(t, 201, first.Status)
	assert.Nil(t, first.object(t)["confirmed_at"])
	assert.Equal(t, "second@example.com", first.object(t)["email"])
	for form, body := range map[string]string{
		"email=second@example.com": `{"message":{"email":["has already been taken"]}}`,
		"email=ROOT@example.com":   `{"message":{"email":["has already been taken"]}}`,
		"email=nonsense":           `{"message":{"email":["is invalid"]}}`,
		"email=a+b@example.com":    `{"message":{"email":["is invalid"]}}`, // a space
		"email=<a@example.com>":    `{"message":{"email":["is invalid"]}}`,
		"email=@example.com":       `{"message":{"email":["is invalid"]}}`,
		"email=a@":                 `{"message":{"email":["is invalid"]}}`,
		"":                         `{"error":"email is missing"}`,
	} {
		r := asJane.send("POST", "/user/emails", form)
		assert.Equal(t, 400, r.Status)
		assert.Equal(t, body, r.Body)
	}
	assert.Equal(t, []any{"jane@example.com", "second@example.com"}, asJane.get("/user/emails").column(t, "email"))
	assert.Equal(t, "second@example.com", asJane.get("/user/emails/3").object(t)["email"])
	assert.Equal(t, 404, asJane.get("/user/emails/1").Status) // root's

	assert.Equal(t, 201, c.send("POST", "/users/2/emails", "email=third@example.com").Status)
	skipped := c.send("POST", "/users/2/emails", "email=fourth@example.com&skip_confirmation=true").object(t)
	assert.NotNil(t, skipped["confirmed_at"])
	assert.Equal(t, "fourth@example.com", skipped["email"])
	assert.Equal(t, []any{2.0, 3.0, 4.0, 5.0}, c.get("/users/2/emails").column(t, "id"))
	confirmed := c.get("/users/2/emails").column(t, "confirmed_at")
	assert.Nil(t, confirmed[2], "skip_confirmation is false by default")
	assert.Equal(t, "2026-03-04T12:00:00.000Z", confirmed[3])
	kept := c.send("POST", "/users/1/emails", "email=fifth@example.com&skip_confirmation=false").object(t)
	assert.Nil(t, kept["confirmed_at"])
	for _, tc := range []struct {
		who          caller
		method, path string
		status       int
	}{
		{asJane, "GET", "/users/1/emails", 403}, {asJane, "POST", "/users/1/emails?email=x@example.com", 403},
		{asJane, "DELETE", "/users/1/emails/1", 403}, {asJane, "GET", "/users/2/emails", 403},
		{asJane, "POST", "/users/2/emails?email=x@example.com", 403}, {asJane, "DELETE", "/users/2/emails/3", 403},
		{c.as(""), "GET", "/users/2/emails", 401}, {c.as(""), "GET", "/user/emails/2", 401}, {c, "GET", "/users/99/emails", 404}, {c, "POST", "/users/99/emails?email=x@example.com", 404},
		{asJane, "DELETE", "/user/emails/2", 400}, // the primary address
		{c, "DELETE", "/users/2/emails/2", 400}, {asJane, "DELETE", "/user/emails/1", 404}, {asJane, "DELETE", "/user/emails/3", 204},
		{asJane, "DELETE", "/user/emails/3", 404}, {c, "DELETE", "/users/2/emails/4", 204}, {c, "DELETE", "/users/2/emails/4", 404},
		{c, "DELETE", "/users/99/emails/4", 404}, {c.as(""), "GET", "/user/emails", 401},
	} {
		assert.Equal(t, tc.status, tc.who.send(tc.method, tc.path, "").Status, "%s %s", tc.method, tc.path)
	}
	assert.Equal(t, []any{2.0, 5.0}, asJane.get("/user/emails").column(t, "id"))
	s.AssertAppliedCount(t, "DELETE /user/emails/:email_id", 1)
	hosted := New(t, WithOffering(Hosted))
	assert.Equal(t, 403, newCaller(t, hosted).get("/users/1/emails").Status)
	assert.Equal(t, []any{1.0}, newCaller(t, New(t)).get("/user/emails").column(t, "id"), "one address is an array too")
}

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

// A search matches a part of the name or of the path, and with full_path_search a part of the full
// path.
func TestNamespaceSearch(t *testing.T) {
	s := New(t)
	s.AddGroup("group/sub").Name = "Tango alpha"
	s.AddGroup("Other")
	c := newCaller(t, s)
	paths := func(query string) []any { return c.get("/namespaces?"+query).column(t, "full_path") }
	for search, want := range map[string][]any{
		"roup": {"group"}, "su": {"group/sub"}, "THE": {"Other"}, "O AL": {"group/sub"}, "oup/s": {}, "xsu": {}, "none": {},
	} {
		assert.Equal(t, want, paths("search="+esc(search)), search)
	}
	assert.Equal(t, []any{"group/sub"}, paths("full_path_search=true&search=oup%2Fs"))
	assert.Empty(t, paths("full_path_search=true&search=xgr"))
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
	assert.Equal(t, "Billing Api V 2", s.AddGroup("billing-api_v.2").Name)
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
