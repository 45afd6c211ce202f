package forgetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestUserList(t *testing.T) {
	s := New(t)
	s.SetClock(noon)
	s.Root().Edit(func(d *Document) { d.Set("created_at", noon()) })
	jane := s.AddUser("jane").Edit(func(d *Document) {
		d.Set("name", "Zoe Jane").Set("external", true).Set("public_email", "public@example.com").Set("two_factor_enabled", true).
			Set("created_at", noon().Add(-48*time.Hour))
	})
	tom := s.AddUser("tom").Edit(func(d *Document) { d.Set("state", "blocked").Set("is_auditor", true) })
	s.AddBot("alert-bot", InternalBot)
	s.AddBot("group_bot", ProjectBot)
	jane.AddEmail("private@example.com")
	jane.AddIdentity("ldapmain", "uid=jane")
	tom.AddIdentity("scim", "scim-tom")
	jane.SetCustomAttribute("team", "core")
	jane.SetCustomAttribute("team", "edge")
	s.AddProject("group/app").AddMember(jane, Developer)
	c := newCaller(t, s)
	asTom := c.as(jane.Token)
	for query, want := range map[string][]any{
		"":                          {5.0, 4.0, 3.0, 2.0, 1.0},
		"username=JANE":             {2.0},
		"username=jan":              {}, // whole names only
		"search=zoe":                {2.0},
		"search=bot":                {5.0, 4.0},
		"search=GROUP_b":            {5.0}, // in the username but not in the name
		"search=public@example.com": {2.0},
		"search=public@example":     {},
		"active=true":               {5.0, 4.0, 2.0, 1.0},
		"exclude_active=true":       {3.0},
		"external=true":             {2.0},
		"exclude_external=true":     {5.0, 4.0, 3.0, 1.0},
		"blocked=true":              {3.0},
		"humans=true":               {3.0, 2.0, 1.0},
		"exclude_humans=true":       {5.0, 4.0},
		"exclude_internal=true":     {5.0, 3.0, 2.0, 1.0},
		"without_project_bots=true": {4.0, 3.0, 2.0, 1.0},
		"created_before=" + noon().Add(-time.Hour).Format(time.RFC3339): {2.0},
		"created_after=" + noon().Add(-time.Hour).Format(time.RFC3339):  {5.0, 4.0, 3.0, 1.0},
	} {
		assert.Equal(t, want, c.get("/users?"+query).column(t, "id"), query)
		assert.Equal(t, want, asTom.get("/users?"+query).column(t, "id"), query)
	}
	for flag := range strings.FieldsSeq(`humans exclude_active exclude_external exclude_humans exclude_internal without_project_bots
		without_projects admins auditors skip_ldap`) {
		plain := c.get("/users")
		assert.Len(t, plain.array(t), 5)
		assert.Equal(t, plain.Body, c.get("/users?"+flag+"=false").Body, "%s is false by default", flag)
	}
	for query, want := range map[string][]any{ // filters of administrators, ignored for other users
		"sort=asc":                              {1.0, 2.0, 3.0, 4.0, 5.0},
		"order_by=username":                     {3.0, 1.0, 2.0, 5.0, 4.0},
		"order_by=name&sort=asc":                {4.0, 5.0, 1.0, 3.0, 2.0},
		"order_by=created_at":                   {5.0, 4.0, 3.0, 1.0, 2.0},
		"order_by=updated_at":                   {5.0, 4.0, 3.0, 2.0, 1.0},
		"two_factor=enabled":                    {2.0},
		"two_factor=disabled":                   {5.0, 4.0, 3.0, 1.0},
		"without_projects=true":                 {5.0, 4.0, 3.0, 1.0},
		"admins=true":                           {1.0},
		"auditors=true":                         {3.0},
		"skip_ldap=true":                        {5.0, 4.0, 3.0, 1.0},
		"extern_uid=uid=jane&provider=ldapmain": {2.0},
		"extern_uid=scim-tom&provider=scim":     {3.0},
		"custom_attributes[team]=edge":          {2.0},
		"custom_attributes[team]=core":          {},
		"custom_attributes[other]=edge":         {},
	} {
		assert.Equal(t, want, c.get("/users?"+query).column(t, "id"), query)
		assert.Equal(t, []any{5.0, 4.0, 3.0, 2.0, 1.0}, asTom.get("/users?"+query).column(t, "id"), query)
	}
	assert.Equal(t, []any{2.0}, c.get("/users?search=private@example.com").column(t, "id"))
	assert.Empty(t, asTom.get("/users?search=private@example.com").array(t))
	for query, body := range map[string]string{
		"active=false":     `{"error":"active does not have a valid value"}`,
		"external=false":   `{"error":"external does not have a valid value"}`,
		"blocked=false":    `{"error":"blocked does not have a valid value"}`,
		"humans=1":         `{"error":"humans is invalid"}`,
		"extern_uid=x":     `{"error":"provider is missing"}`,
		"two_factor=maybe": `{"error":"two_factor does not have a valid value"}`,
		"order_by=email":   `{"error":"order_by does not have a valid value"}`,
	} {
		assert.Equal(t, body, c.get("/users?"+query).Body, query)
	}
	assert.Equal(t, 401, c.as("").get("/users").Status)
	hosted := New(t, WithOffering(Hosted))
	hosted.AddUser("jane")
	assert.Len(t, newCaller(t, hosted).get("/users?admins=true").array(t), 2) // ignored on this offering
}

// Parameters that the rows of Document 2 §4.3 limit to users, tiers and offerings have an effect
// only there. TestListsIgnoreParametersOfOtherPlatforms tests all parameters in the same way.
func TestUserListOnPlatforms(t *testing.T) {
	for _, tier := range []Tier{Free, Premium, Ultimate} {
		for _, offering := range []Offering{Hosted, SelfManaged, Dedicated} {
			s := New(t, WithTier(tier), WithOffering(offering))
			jane := s.AddUser("jane")
			s.AddProject("group/app").AddMember(jane, Guest)
			jane.AddEmail("private@example.com")
			jane.AddIdentity("ldapmain", "uid=jane")
			jane.AddIdentity("scim", "scim-jane")
			jane.SetCustomAttribute("team", "core")
			jane.Edit(func(d *Document) { d.Set("is_auditor", true) })
			c := newCaller(t, s)
			asJane := c.as(jane.Token)
			all, only := []any{2.0, 1.0}, []any{2.0}
			ifOwn := func(found []any) []any { // the result on an instance that is not hosted
				if offering == Hosted {
					return all
				}
				return found
			}
			ifSold := func(found []any) []any {
				if tier == Free {
					return all
				}
				return ifOwn(found)
			}
			none, scim := []any{}, only
			if tier == Free {
				scim = none
			}
			private := only
			if offering == Hosted {
				private = none
			}
			for query, want := range map[string][]any{
				"search=private@example.com":             private,
				"custom_attributes[team]=core":           ifOwn(only),
				"custom_attributes[team]=CORE":           ifOwn(none),
				"custom_attributes[none]=core":           ifOwn(none),
				"extern_uid=uid=jane&provider=ldapmain":  ifOwn(only),
				"extern_uid=uid=jane&provider=l":         ifOwn(none),
				"extern_uid=uid=jane&provider=ldap":      ifOwn(none),
				"extern_uid=uid=jane&provider=LDAPMAIN":  ifOwn(none),
				"extern_uid=uid=jane&provider=scim":      ifOwn(none),
				"extern_uid=scim-jane&provider=scim":     ifOwn(scim),
				"extern_uid=scim-jane&provider=ldapmain": ifOwn(none),
				"auditors=true":                          ifSold(only),
				"skip_ldap=true":                         ifSold([]any{1.0}),
				"two_factor=enabled":                     ifOwn(none),
				"admins=true":                            ifOwn([]any{1.0}),
				"sort=asc":                               ifOwn([]any{1.0, 2.0}),
				"order_by=username":                      ifOwn([]any{1.0, 2.0}),
				"without_projects=true":                  ifOwn([]any{1.0}),
			} {
				assert.Equal(t, want, c.get("/users?"+query).column(t, "id"), "%s %s %s", tier, offering, query)
				if query != "search=private@example.com" {
					assert.Equal(t, all, asJane.get("/users?"+query).column(t, "id"), "%s %s %s", tier, offering, query)
				}
			}
			assert.Empty(t, asJane.get("/users?search=private@example.com").array(t))
			attributes := c.get("/users?with_custom_attributes=true").array(t)[0]["custom_attributes"] != nil
			assert.Equal(t, offering != Hosted, attributes, "%s %s", tier, offering)
			assert.Contains(t, c.get("/users/2?with_custom_attributes=true").object(t), "custom_attributes")
		}
	}
}

// A user has a project with any role in the project or in a group above it.
func TestUsersWithoutProjects(t *testing.T) {
	s := New(t)
	s.AddProject("group/sub/app")
	s.AddGroup("empty")
	for _, name := range []string{"direct", "subgroup", "group", "other", "nobody"} {
		s.AddUser(name)
	}
	s.store.projects[0].AddMember(s.store.userByName("direct"), Guest)
	s.AddGroup("group/sub").AddMember(s.store.userByName("subgroup"), Guest)
	s.AddGroup("group").AddMember(s.store.userByName("group"), Owner)
	s.AddGroup("empty").AddMember(s.store.userByName("other"), Owner)
	assert.Equal(t, []any{"nobody", "other", "root"}, newCaller(t, s).get("/users?without_projects=true").column(t, "username"))
	s.AddProject("nobody/own")
	assert.Equal(t, []any{"other", "root"}, newCaller(t, s).get("/users?without_projects=true").column(t, "username"))
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

func TestUserKeyset(t *testing.T) {
	s := New(t)
	users := s.AddUsers(45, "user")
	for i, u := range users {
		s.SetClock(func() time.Time { return noon().Add(time.Duration(i*11%45) * time.Minute) }) // the time of the update
		u.Edit(func(d *Document) {
			d.Set("name", fmt.Sprint("Name ", i%7)).Set("created_at", noon().AddDate(0, 0, -i*13%45))
		})
	}
	c := newCaller(t, s)
	records := map[any]map[string]any{}
	for i, u := range users {
		records[float64(u.ID)] = map[string]any{
			"id": fmt.Sprintf("%03d", u.ID), "name": u.Name, "username": u.Username,
			"created_at": fmt.Sprintf("%03d", 45-i*13%45), "updated_at": fmt.Sprintf("%03d", i*11%45),
		}
	}
	for _, who := range []caller{c, c.as(users[0].Token)} {
		ids := func(order, sort string) []any {
			return who.get("/users?pagination=keyset&per_page=100&order_by="+order+"&sort="+sort).column(t, "id")
		}
		for _, order := range []string{"id", "name", "username", "created_at", "updated_at"} {
			reversed := ids(order, "desc")
			slices.Reverse(reversed)
			assert.Equal(t, ids(order, "asc"), reversed, order)
			if order != "id" && order != "updated_at" {
				assert.NotEqual(t, ids("id", "asc"), reversed, order)
			}
			for _, sort := range []string{"asc", "desc"} {
				query := fmt.Sprintf("/users?pagination=keyset&order_by=%s&sort=%s", order, sort)
				whole := who.get(query+"&per_page=100").column(t, "id")
				walked, pages := who.walk(query+"&per_page=10", "id")
				assert.Equal(t, whole, walked, query)
				assert.Len(t, walked, 46)
				assert.Equal(t, 5, pages)
				keys := []string{}
				for _, id := range walked {
					if record, known := records[id]; known { // all users except the administrator
						keys = append(keys, record[order].(string))
					}
				}
				sorted := slices.Sorted(slices.Values(keys))
				if sort == "desc" {
					slices.Reverse(sorted)
				}
				assert.Equal(t, sorted, keys, query)
			}
		}
	}
	r := c.get("/users?pagination=keyset&order_by=id&sort=asc&per_page=10")
	assert.NotContains(t, r.Header, "X-Total")
	s.SetClock(func() time.Time { return time.Now().Add(time.Hour) })
	users[20].Edit(func(d *Document) { d.Set("bio", "new") })
	assert.Equal(t, users[20].Username, c.get("/users?order_by=updated_at").column(t, "username")[0])
	assert.Equal(t, 400, c.get("/users?pagination=keyset&order_by=email&sort=asc").Status)
	assert.Equal(t, 400, c.get("/users?pagination=keyset").Status)
}

func TestManyUsersNeedKeyset(t *testing.T) {
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
	s := New(t)
	jane := s.AddUser("jane")
	jane.SetCustomAttribute("team", "core")
	jane.Edit(func(d *Document) { d.Set("location", "Oslo").Set("state", "blocked") })
	app := s.AddProject("group/app")
	app.AddIssue(func(d *Document) { d.Set("author", jane) })
	app.AddIssue(nil)
	c := newCaller(t, s)
	asTom := c.as(s.AddUser("tom").Token)
	keys(t, "User", "full", c.get("/users/2").object(t))
	keys(t, "User", "full", c.get("/users").array(t)[0])
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
	keys(t, "User", "full", me)
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
	first := asJane.send("POST", "/user/emails", "email=second@example.com")
	assert.Equal(t, 201, first.Status)
	keys(t, "Email", "", first.object(t))
	assert.Nil(t, first.object(t)["confirmed_at"])
	assert.Equal(t, "second@example.com", first.object(t)["email"])
	for form, body := range map[string]string{
		"email=second@example.com": `{"message":{"email":["has already been taken"]}}`,
		"email=ROOT@example.com":   `{"message":{"email":["has already been taken"]}}`,
		"email=nonsense":           `{"message":{"email":["is invalid"]}}`,
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
	alone := newCaller(t, New(t, WithOffering(Dedicated)))
	for _, path := range []string{"/users/1/emails", "/user/emails"} {
		assert.Equal(t, []any{1.0}, alone.get(path).column(t, "id"), "one address is an array too")
	}
}

func TestTokenScopes(t *testing.T) {
	s := New(t)
	s.AddRunner(nil)
	c := newCaller(t, s)
	limited, reading, whole := s.Root().AddToken("manage_runners"), s.Root().AddToken("read_api"), s.Root().AddToken("api")
	for _, tc := range []struct {
		token, method, path string
		status              int
	}{
		{limited, "GET", "/runners/1", 200}, {limited, "PUT", "/runners/1?paused=true", 200}, {limited, "GET", "/user", 403},
		{reading, "GET", "/user", 200}, {reading, "GET", "/runners/1", 403}, {reading, "PUT", "/runners/1?paused=true", 403},
		{whole, "PUT", "/runners/1?paused=false", 200},
	} {
		assert.Equal(t, tc.status, c.as(tc.token).send(tc.method, tc.path, "").Status, "%s %s", tc.method, tc.path)
	}
	body := c.as(limited).get("/user").object(t)
	require.Equal(t, "insufficient_scope", body["error"])
	assert.Contains(t, body, "error_description")
}
