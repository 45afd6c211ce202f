package contractmodel

import (
	"cmp"
	"slices"
	"strings"
)

var userOrders = []string{"id", "name", "username", "created_at", "updated_at"}

// userAnswers models GET /users.
func userAnswers(w *peopleWorld, q *peopleQuery) []peopleAnswer {
	m := &userModel{w: w, q: q, privileged: w.admin(q.Who) && w.own()}
	identity := m.privileged && q.has("provider") && q.has("extern_uid")
	var s peopleReadings
	s.open(q.Who < 0, "anonymous", "listed", "refused")
	s.open(strings.Contains(q.get("search"), " "), "words", "one", "each")
	s.open(q.has("search") && len([]rune(q.get("search"))) < 3, "short", "part", "whole")
	s.open(strings.Contains(q.get("search"), "@"), "mailcase", "exact", "fold")
	s.open(m.privileged && strings.Contains(q.get("search"), "@"), "further", "no", "yes")
	s.open(identity, "uidcase", "exact", "fold")
	s.open(identity && q.get("provider") == "scim" && !w.premium(), "scimfree", "ignored", "empty", "refused")
	s.open(m.privileged && q.has("provider") != q.has("extern_uid"), "half", "ignored", "refused")
	s.open(m.ignoredIllegal(), "ignoredparam", "unchecked", "checked")
	order := q.get("order_by")
	s.open(q.Keyset && !m.privileged, "keysetorder", "acts", "ignored")
	s.open(q.Keyset && q.has("order_by") && !q.has("sort"), "sortless", "refused", "acts") // deployed servers have a default
	s.open(order == "name" || order == "username", "collation", "bytes", "fold")
	return s.answers(m.answer)
}

// userModel models one request for users.
type userModel struct {
	w          *peopleWorld
	q          *peopleQuery
	privileged bool // the parameters for administrators have an effect
}

// ignoredIllegal reports whether a parameter without an effect has an invalid value.
func (m *userModel) ignoredIllegal() bool {
	if !m.privileged {
		return m.illegalAdmin(true)
	}
	return !m.w.premium() && m.q.notBoolean("auditors", "skip_ldap")
}

func (m *userModel) illegalAdmin(premium bool) bool {
	q := m.q
	return q.notOneOf("order_by", userOrders...) || q.notOneOf("sort", "asc", "desc") ||
		q.notOneOf("two_factor", "enabled", "disabled") || q.notBoolean("without_projects", "admins", "with_custom_attributes") ||
		premium && q.notBoolean("auditors", "skip_ldap")
}

func (m *userModel) illegal() bool {
	q := m.q
	return q.notOneOf("active", "true") || q.notOneOf("external", "true") || q.notOneOf("blocked", "true") ||
		q.notBoolean("humans", "exclude_active", "exclude_external", "exclude_humans", "exclude_internal", "without_project_bots") ||
		q.notTime("created_after", "created_before") || m.privileged && m.illegalAdmin(m.w.premium())
}

func (m *userModel) answer(r peopleReading) peopleAnswer {
	q := m.q
	refused := []int(nil)
	if r["anonymous"] == "refused" {
		refused = append(refused, 401, 403)
	}
	if m.illegal() || r["ignoredparam"] == "checked" || r["half"] == "refused" || r["scimfree"] == "refused" {
		refused = append(refused, 400)
	}
	if q.Keyset && (!q.has("order_by") || r["sortless"] == "refused") {
		refused = append(refused, 400, 405)
	}
	if q.Keyset && r["keysetorder"] == "acts" && (q.notOneOf("order_by", userOrders...) || q.notOneOf("sort", "asc", "desc")) {
		refused = append(refused, 400, 405)
	}
	if refused != nil {
		return peopleAnswer{Refused: refused}
	}
	var rows []*peopleUser
	for i := range m.w.Users {
		if m.matches(i, r) {
			rows = append(rows, &m.w.Users[i])
		}
	}
	order, sort := q.get("order_by"), q.get("sort")
	if !m.privileged && r["keysetorder"] != "acts" {
		order, sort = "", ""
	}
	return peopleAnswer{Rows: peopleSorted(rows, func(u *peopleUser) int64 { return u.ID }, userOrder(order, r), sort != "asc")}
}

// userOrder compares by an order of document 2 §4.3. The default is ID.
func userOrder(order string, r peopleReading) func(a, b *peopleUser) int {
	text := func(s string) string {
		if r["collation"] == "fold" {
			return strings.ToLower(s)
		}
		return s
	}
	return func(a, b *peopleUser) int {
		switch order {
		case "name":
			return strings.Compare(text(a.Name), text(b.Name))
		case "username":
			return strings.Compare(text(a.Username), text(b.Username))
		case "created_at":
			return a.Created.Compare(b.Created)
		case "updated_at": // no response has the field, so its order cannot be checked
			return 0
		}
		return cmp.Compare(a.ID, b.ID)
	}
}

func (m *userModel) matches(i int, r peopleReading) bool {
	u, q := &m.w.Users[i], m.q
	human := u.Bot == ""
	switch {
	case q.has("username") && !strings.EqualFold(u.Username, q.get("username")),
		q.has("search") && !m.found(u, q.get("search"), r),
		q.on("active") && u.State != "active",
		q.on("external") && !u.External,
		q.on("blocked") && u.State != "blocked",
		q.on("humans") && !human,
		q.on("exclude_active") && u.State == "active",
		q.on("exclude_external") && u.External,
		q.on("exclude_humans") && human,
		q.on("exclude_internal") && u.Bot == "internal",
		q.on("without_project_bots") && u.Bot == "project",
		!q.within(u.Created, "created_after", "created_before"):
		return false
	}
	return !m.privileged || m.matchesAdmin(i, u, r)
}

func (m *userModel) matchesAdmin(i int, u *peopleUser, r peopleReading) bool {
	q, premium := m.q, m.w.premium()
	for _, key := range []string{"team", "site"} {
		if name := "custom_attributes[" + key + "]"; q.has(name) {
			if value, ok := u.Attributes[key]; !ok || value != q.get(name) {
				return false
			}
		}
	}
	switch {
	case q.get("two_factor") == "enabled" && !u.TwoFactor,
		q.get("two_factor") == "disabled" && u.TwoFactor,
		q.on("without_projects") && m.hasProject(i),
		q.on("admins") && !u.Admin,
		premium && q.on("auditors") && !u.Auditor,
		premium && q.on("skip_ldap") && slices.ContainsFunc(u.Identities, func(x [2]string) bool { return strings.HasPrefix(x[0], "ldap") }):
		return false
	}
	if !q.has("provider") || !q.has("extern_uid") || r["scimfree"] == "ignored" {
		return true
	}
	return r["scimfree"] != "empty" && slices.ContainsFunc(u.Identities, func(x [2]string) bool {
		same := x[1] == q.get("extern_uid") || r["uidcase"] == "fold" && strings.EqualFold(x[1], q.get("extern_uid"))
		return x[0] == q.get("provider") && same
	})
}

func (m *userModel) hasProject(i int) bool {
	for p := range m.w.Projects {
		if m.w.projectRole(i, p) > 0 {
			return true
		}
	}
	return false
}

// found applies search: parts of the name or the username, or a whole address.
func (m *userModel) found(u *peopleUser, search string, r peopleReading) bool {
	fuzzy := func(text string) bool {
		text, want := strings.ToLower(text), strings.ToLower(search)
		switch {
		case r["short"] == "whole":
			return text == want
		case r["words"] == "each":
			return !slices.ContainsFunc(strings.Fields(want), func(word string) bool { return !strings.Contains(text, word) })
		}
		return strings.Contains(text, want)
	}
	address := func(text string) bool {
		return text == search || r["mailcase"] == "fold" && strings.EqualFold(text, search)
	}
	return fuzzy(u.Name) || fuzzy(u.Username) || u.Public != "" && address(u.Public) ||
		m.privileged && (address(u.Email) || r["further"] == "yes" && slices.ContainsFunc(u.Further, address))
}
