package contractmodel

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	forge "github.com/forge-sdk/forge-go"
	"pgregory.net/rapid"
)

// The list of users agrees with document 2 §4.3.
func TestUserModel(t *testing.T) {
	peopleCheck(t, func(t *rapid.T, note func(string)) {
		w := &peopleWorld{}
		peopleDrawTier(t, w)
		n := peopleNumber(t, "users", 1, 9)
		if peopleChance(t, "crowd", 60) {
			n = 110
		}
		peopleDrawUsers(t, w, n, n < 100)
		peopleDrawPlaces(t, w)
		q := userDrawQuery(t, w)
		perPage := peopleDrawPerPage(t)
		s := peopleServe(t, w)
		defer s.Close()
		pages, fitting := peopleCompare(t, s, w, q, "/users", perPage, userAnswers(w, q))
		userCheckViews(t, w, q, pages)
		var o forge.ListUsersOptions
		if peopleChance(t, "client", 8) && peopleFill(&o, q.Params) {
			note("users through the client")
			sent := q.keysetDefaults()
			peopleThroughClient(t, s, sent, perPage, userAnswers(w, sent), func(c *forge.Client, opts ...forge.RequestOption) ([]int64, error) {
				return peopleIDs(c.Users.List(context.Background(), &o, opts...), func(u *forge.User) int64 { return u.ID })
			})
		}
		peopleNote(q, pages, fitting, note)
	})
}

func userDrawQuery(t *rapid.T, w *peopleWorld) *peopleQuery {
	q := &peopleQuery{List: "users", Who: peopleDrawWho(t, w), Params: url.Values{}}
	if peopleChance(t, "administrator asks", 2) {
		q.Who = 0
	}
	q.Keyset = peopleChance(t, "keyset", 2)
	peopleDrawFilters(t, q, append(userDrawers(t, w, q), userAdminDrawers(t, w, q)...))
	if q.Keyset && !peopleChance(t, "without an order", 8) {
		if !q.has("order_by") {
			q.Params.Set("order_by", peoplePick(t, "order_by", userOrders...))
		}
		if !q.has("sort") {
			q.Params.Set("sort", peoplePick(t, "sort", "desc", "asc"))
		}
	}
	return q
}

func userDrawers(t *rapid.T, w *peopleWorld, q *peopleQuery) []func() {
	user := func() *peopleUser { return &w.Users[peopleNumber(t, "wanted", 0, len(w.Users)-1)] }
	set := func(name string, draw func() string) func() { return func() { q.Params.Set(name, draw()) } }
	all := []func(){
		set("username", func() string {
			u := user().Username
			return peoplePick(t, "form", u, strings.ToUpper(u), strings.ToLower(u), u+"x", u[:len(u)-1], "nobody")
		}),
		set("search", func() string { return userDrawSearch(t, user()) }),
		set("saml_provider_id", func() string { return "5" }),
	}
	for _, name := range []string{"active", "external", "blocked"} {
		all = append(all, set(name, func() string { return peoplePick(t, name, "true", "true", "true", "true", "false", "banana") }))
	}
	for _, name := range []string{"humans", "exclude_active", "exclude_external", "exclude_humans", "exclude_internal", "without_project_bots"} {
		all = append(all, set(name, func() string { return peoplePick(t, name, "true", "true", "true", "false", "true", "banana") }))
	}
	for _, name := range []string{"created_after", "created_before"} {
		all = append(all, set(name, func() string {
			if peopleChance(t, "no time", 12) {
				return peoplePick(t, name, "yesterday", "2024-13-01T00:00:00Z")
			}
			return peopleTimeText(t, user().Created)
		}))
	}
	return all
}

func userDrawSearch(t *rapid.T, u *peopleUser) string {
	text := peoplePick(t, "searched", u.Name, u.Username, u.Public, u.Email, u.Email, "zzz")
	if len(u.Further) > 0 && peopleChance(t, "further searched", 2) {
		text = u.Further[0]
	}
	if text == "" {
		text = u.Name
	}
	if !strings.Contains(text, "@") || peopleChance(t, "part of an address", 4) {
		from := peopleNumber(t, "from", 0, len(text)-1)
		text = text[from : from+peopleNumber(t, "length", 1, len(text)-from)]
	}
	return strings.TrimSpace(peoplePick(t, "case", text, text, strings.ToUpper(text), strings.ToLower(text))) + ""
}

func userAdminDrawers(t *rapid.T, w *peopleWorld, q *peopleQuery) []func() {
	set := func(name string, draw func() string) func() { return func() { q.Params.Set(name, draw()) } }
	all := []func(){
		set("order_by", func() string { return peoplePick(t, "order_by", append(userOrders, "email")...) }),
		set("sort", func() string { return peoplePick(t, "sort", "asc", "desc", "asc", "desc", "up") }),
		set("two_factor", func() string { return peoplePick(t, "two_factor", "enabled", "disabled", "enabled", "Enabled", "true") }),
		set("with_custom_attributes", func() string { return "true" }),
		func() {
			u := w.Users[peopleNumber(t, "wanted", 0, len(w.Users)-1)]
			provider, uid := peoplePick(t, "provider", "saml", "ldapmain", "scim", "ldap"), peoplePick(t, "uid", "uid=Ada", "uid=ada", "uid=bob", "uid=")
			if len(u.Identities) > 0 {
				provider, uid = u.Identities[0][0], u.Identities[0][1]
			}
			if !peopleChance(t, "without provider", 12) {
				q.Params.Set("provider", provider)
			}
			if !peopleChance(t, "without uid", 12) {
				q.Params.Set("extern_uid", uid)
			}
		},
	}
	for _, name := range []string{"without_projects", "admins", "auditors", "skip_ldap"} {
		all = append(all, set(name, func() string { return peoplePick(t, name, "true", "true", "true", "false", "banana") }))
	}
	for _, key := range []string{"team", "site"} {
		all = append(all, set("custom_attributes["+key+"]", func() string { return peoplePick(t, key, "core", "Core", "x", "none") }))
	}
	return all
}

var (
	userListKeys = []string{"id", "username", "name", "state", "locked", "avatar_url", "web_url"}
	userFullKeys = []string{
		"created_at", "email", "is_admin", "confirmed_at", "theme_id", "color_scheme_id", "projects_limit", "identities",
		"can_create_group", "can_create_project", "two_factor_enabled", "external", "private_profile", "namespace_id",
	}
	userPremiumKeys = []string{"shared_runners_minutes_limit", "extra_shared_runners_minutes_limit", "is_auditor", "using_license_seat"}
)

// userCheckViews compares the keys of the rows with the views of document 2 §2.7. Open: whether the
// requester's own row has the full view if they are not an administrator.
func userCheckViews(t *rapid.T, w *peopleWorld, q *peopleQuery, pages []*peoplePage) {
	if pages[0].status != http.StatusOK {
		return
	}
	has := func(row map[string]json.RawMessage, name string) bool { _, ok := row[name]; return ok }
	for _, page := range pages {
		for i, row := range page.rows {
			shown := func(name string) bool { return has(row, name) }
			missing := func(name string) bool { return !shown(name) }
			full := slices.Concat(userListKeys, userFullKeys)
			switch own := q.Who >= 0 && page.ids[i] == w.Users[q.Who].ID; {
			case slices.ContainsFunc(userListKeys, missing):
				t.Fatalf("a key of the list view is missing in %v", row)
			case w.admin(q.Who) && slices.ContainsFunc(full, missing):
				t.Fatalf("a key of the full view is missing in %v", row)
			case w.admin(q.Who) && w.premium() && slices.ContainsFunc(userPremiumKeys, missing),
				!w.premium() && slices.ContainsFunc(userPremiumKeys, shown):
				t.Fatalf("keys of Premium and Ultimate on %s: %v", w.Tier, row)
			case !w.admin(q.Who) && !own && len(row) != len(userListKeys):
				t.Fatalf("more keys than the list view's: %v", row)
			case has(row, "custom_attributes") != (w.admin(q.Who) && w.own() && q.on("with_custom_attributes")):
				t.Fatalf("custom attributes: %v", row)
			}
		}
	}
}
