package contractmodel

import (
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The list of users agrees with document 2 §4.3.
func TestUserModel(t *testing.T) {
	peopleCheck(t, func(t *rapid.T, note func(string)) {
		w := &peopleWorld{}
		peopleDrawTier(t, w)
		n := number(t, "users", 1, 9)
		if chance(t, "crowd", 60) {
			n = 110
		}
		peopleDrawUsers(t, w, n, n < 100)
		peopleDrawPlaces(t, w)
		s := peopleServe(t, w)
		defer s.Close()
		for range peopleQueries {
			q := userDrawQuery(t, w)
			peopleCompare(t, s, w, q, "/users", peopleDrawPerPage(t), userAnswers(w, q), note)
		}
	})
}

func userDrawQuery(t *rapid.T, w *peopleWorld) *peopleQuery {
	q := &peopleQuery{List: "users", Who: peopleDrawWho(t, w), Params: url.Values{}}
	if chance(t, "administrator asks", 2) {
		q.Who = 0
	}
	q.Keyset = chance(t, "keyset", 2)
	peopleDrawFilters(t, q, append(userDrawers(t, w, q), userAdminDrawers(t, w, q)...))
	if q.Keyset && !chance(t, "without an order", 8) {
		if !q.has("order_by") {
			q.Params.Set("order_by", pick(t, "order_by", userOrders...))
		}
		if !q.has("sort") {
			q.Params.Set("sort", pick(t, "sort", "desc", "asc"))
		}
	}
	return q
}

func userDrawers(t *rapid.T, w *peopleWorld, q *peopleQuery) []func() {
	user := func() *peopleUser { return &w.Users[number(t, "wanted", 0, len(w.Users)-1)] }
	set := func(name string, draw func() string) func() { return func() { q.Params.Set(name, draw()) } }
	all := []func(){
		set("username", func() string {
			u := user().Username
			return pick(t, "form", u, strings.ToUpper(u), strings.ToLower(u), u+"x", u[:len(u)-1], "nobody")
		}),
		set("search", func() string { return userDrawSearch(t, user()) }),
		set("saml_provider_id", func() string { return "5" }),
	}
	for _, name := range []string{"active", "external", "blocked"} {
		all = append(all, set(name, func() string { return pick(t, name, "true", "true", "true", "true", "false", "banana") }))
	}
	for _, name := range []string{"humans", "exclude_active", "exclude_external", "exclude_humans", "exclude_internal", "without_project_bots"} {
		all = append(all, set(name, func() string { return pick(t, name, "true", "true", "true", "false", "true", "banana") }))
	}
	for _, name := range []string{"created_after", "created_before"} {
		all = append(all, set(name, func() string {
			if chance(t, "no time", 12) {
				return pick(t, name, "yesterday", "2024-13-01T00:00:00Z")
			}
			return peopleTimeText(t, user().Created)
		}))
	}
	return all
}

func userDrawSearch(t *rapid.T, u *peopleUser) string {
	text := pick(t, "searched", u.Name, u.Username, u.Public, u.Email, u.Email, "zzz")
	if len(u.Further) > 0 && chance(t, "further searched", 2) {
		text = u.Further[0]
	}
	if text == "" {
		text = u.Name
	}
	if !strings.Contains(text, "@") || chance(t, "part of an address", 4) {
		from := number(t, "from", 0, len(text)-1)
		text = text[from : from+number(t, "length", 1, len(text)-from)]
	}
	return strings.TrimSpace(pick(t, "case", text, text, strings.ToUpper(text), strings.ToLower(text))) + ""
}

func userAdminDrawers(t *rapid.T, w *peopleWorld, q *peopleQuery) []func() {
	set := func(name string, draw func() string) func() { return func() { q.Params.Set(name, draw()) } }
	all := []func(){
		set("order_by", func() string { return pick(t, "order_by", append(userOrders, "email")...) }),
		set("sort", func() string { return pick(t, "sort", "asc", "desc", "asc", "desc", "up") }),
		set("two_factor", func() string { return pick(t, "two_factor", "enabled", "disabled", "enabled", "Enabled", "true") }),
		set("with_custom_attributes", func() string { return "true" }),
		func() {
			u := w.Users[number(t, "wanted", 0, len(w.Users)-1)]
			provider, uid := pick(t, "provider", "saml", "ldapmain", "scim", "ldap"), pick(t, "uid", "uid=Ada", "uid=ada", "uid=bob", "uid=")
			if len(u.Identities) > 0 {
				provider, uid = u.Identities[0][0], u.Identities[0][1]
			}
			if !chance(t, "without provider", 12) {
				q.Params.Set("provider", provider)
			}
			if !chance(t, "without uid", 12) {
				q.Params.Set("extern_uid", uid)
			}
		},
	}
	for _, name := range []string{"without_projects", "admins", "auditors", "skip_ldap"} {
		all = append(all, set(name, func() string { return pick(t, name, "true", "true", "true", "false", "banana") }))
	}
	for _, key := range []string{"team", "site"} {
		all = append(all, set("custom_attributes["+key+"]", func() string { return pick(t, key, "core", "Core", "x", "none") }))
	}
	return all
}
