package forgetest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// keysetAbove is the number of users in a list, over all its pages, from which on the list requires
// keyset pagination, since 17.0 (Document 1 §8). Shorter lists have offset pagination at every
// release, as on deployed servers.
const keysetAbove = 50_000

// BotKind is the purpose of a bot.
type BotKind int

// ProjectBot belongs to a project or group access token, InternalBot (alert bot, support bot) to
// the platform itself.
const (
	_ BotKind = iota
	ProjectBot
	InternalBot
)

// userRoutes has no route that accepts calls without credentials. The documents contradict each
// other about listing users: the table of Document 1 §8.1 requires no token, but Document 2 §4.3
// requires one unless a row states otherwise. The interpretation follows the row of the endpoint:
// forgetest responds 401.
func userRoutes() []route {
	return []route{
		{name: "GET /users", handle: listUsers},
		{name: "GET /users/:id", handle: getUser},
		{name: "GET /user", handle: getCurrentUser},
	}
}

// AddUsers creates n users named prefix1, prefix2 and so on.
func (s *Server) AddUsers(n int, prefix string) []*User {
	s.edit()
	defer s.mu.Unlock()
	users := make([]*User, n)
	for i := range n {
		users[i] = s.addUser(prefix+decimal(int64(i+1)), false)
	}
	return users
}

// AddBot creates a bot user.
func (s *Server) AddBot(username string, kind BotKind) *User {
	u := s.AddUser(username)
	s.edit()
	defer s.mu.Unlock()
	u.bot = kind
	u.doc.Set("bot", true)
	u.summary.Set("bot", true)
	return u
}

// Edit changes the user's document: u.Edit(func(d *Document) { d.Set("location",
// "Oslo").Set("state", "blocked") }).
func (u *User) Edit(fill func(user *Document)) *User {
	u.srv.edit()
	defer u.srv.mu.Unlock()
	u.doc.fillWith(fill, "id", "username", "custom_attributes")
	u.Name = u.doc.text("name")
	for _, name := range []string{"name", "state", "avatar_url", "locked", "public_email"} {
		u.summary.Set(name, u.doc.Get(name))
	}
	u.updated = u.srv.now()
	return u
}

// SetCustomAttribute sets a custom attribute of the user; administrators see and filter them.
func (u *User) SetCustomAttribute(key, value string) {
	u.srv.edit()
	defer u.srv.mu.Unlock()
	i := slices.IndexFunc(u.attributes, func(a attribute) bool { return a.Key == key })
	if i < 0 {
		u.attributes = append(u.attributes, attribute{key, value})
		return
	}
	u.attributes[i].Value = value
}

// AddIdentity adds an external identity ("ldapmain", "saml", "scim").
func (u *User) AddIdentity(provider, externUID string) {
	u.srv.edit()
	defer u.srv.mu.Unlock()
	field, d := "identities", NewDocument("UserIdentity").Set("provider", provider)
	switch provider {
	case "scim":
		field, d = "scim_identities", NewDocument("ScimIdentity").Set("active", true)
	case "group_saml":
		d.Set("saml_provider_id", 1)
	default:
		d.Omit("saml_provider_id")
	}
	list, _ := u.doc.Get(field).([]*Document)
	u.doc.Set(field, append(list, d.Set("extern_uid", externUID)))
}

// tokenScopes returns the scopes of access tokens: those of the contract, and those of GitLab.
func tokenScopes() []string {
	return []string{
		"api", "read_api", "manage_runners", "read_user", "read_repository", "write_repository", "read_registry", "write_registry", "sudo", "admin_mode", "create_runner",
		"manage_runner", "ai_features", "k8s_proxy", "read_service_ping", "self_rotate", "read_virtual_registry", "write_virtual_registry",
	}
}

// AddToken creates another access token. With scopes it is limited to them: "api" allows all calls,
// "manage_runners" the runner calls for which the contract names this scope, and "read_api" all
// other reads. The only scope of a fine-grained token is that of [Permissions].
func (u *User) AddToken(scopes ...string) string {
	token := newToken("user")
	u.addToken(token, scopes...)
	return token
}

func (u *User) addToken(token string, scopes ...string) {
	for _, scope := range scopes {
		switch fine := strings.HasPrefix(scope, fineGrained); {
		case fine && len(scopes) > 1:
			panic("forgetest: AddToken: a fine-grained token has no other scope than that of Permissions")
		case !fine && !slices.Contains(tokenScopes(), scope):
			panic(fmt.Sprintf("forgetest: AddToken: %q is not a scope; near: %s", scope, strings.Join(nearNames(scope, tokenScopes()), ", ")))
		}
	}
	u.srv.edit()
	defer u.srv.mu.Unlock()
	u.srv.store.tokens[token] = credential{scheme: "access_token", user: u, scopes: scopes}
}

// attribute is a custom attribute. The contract does not show its fields; these are the fields of
// deployed servers.
type attribute struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// newDocument fills the user's document (Document 2 §2.7).
func (u *User) newDocument() *Document {
	now := u.srv.now()
	return NewDocument("User").Set("id", u.ID).Set("username", u.Username).Set("name", u.Name).Set("state", "active").
		Set("web_url", link("/"+u.Username)).Set("created_at", now).Set("confirmed_at", now).Set("email", u.Email).
		Set("commit_email", u.Email).Set("is_admin", u.Admin).Set("namespace_id", u.namespaceID).Set("theme_id", 1).
		Set("color_scheme_id", 1).Set("projects_limit", 100_000).Set("can_create_group", true).Set("can_create_project", true).
		Set("is_auditor", false).Set("using_license_seat", true).Set("trial", false).Set("plan", string(u.srv.tier)).
		Set("identities", []*Document{}).Set("scim_identities", []*Document{}).
		Set("last_activity_on", now).Set("last_sign_in_at", now).Set("current_sign_in_at", now).Set("local_time", now.Format("3:04 PM"))
}

// auditor reports whether the user may read everything: an administrator, or an auditor in a tier
// other than Free (Document 2 §2.7 and §4.5).
func (u *User) auditor() bool {
	return u != nil && (u.Admin || u.srv.tier != Free && u.doc.bool("is_auditor"))
}

// withUserView selects the view of users in a response; administrators see the full one. Others see
// it in GET /user only, not by their own id.
func (c *call) withUserView(a response, view string) response {
	if c.user.Admin {
		view = "full"
	}
	if c.flag("with_custom_attributes") { // a parameter of administrators
		return a.as(view, "custom_attributes")
	}
	return a.as(view)
}

func (u *User) renderFull() *Document {
	list := make([]attribute, len(u.attributes))
	copy(list, u.attributes)
	d := u.doc.clone()
	i := d.shape.index["custom_attributes"]
	d.values[i] = list
	return d
}

func getUser(c *call) response {
	id, _ := parseID(c.args["id"])
	u := c.store.userByID(id)
	if u == nil {
		return notFound("User")
	}
	a := c.withUserView(ok(u.renderFull()), "single")
	return a.as(append(a.views, "by id")...)
}

func getCurrentUser(c *call) response { return ok(c.user.renderFull()).as("full") }

func listUsers(c *call) response {
	users := slices.DeleteFunc(slices.Clone(c.store.users), func(u *User) bool { return !c.matchesUser(u) })
	if len(users) >= keysetAbove && c.text("pagination") != "keyset" && c.server.release.has(release{17, 0}) {
		return rejected(http.StatusMethodNotAllowed, "Offset pagination is not available for 50,000 or more records of type User. Use keyset pagination")
	}
	c.sortUsers(users)
	return c.withUserView(c.page(listing{
		n:   len(users),
		at:  func(i int) *Document { return users[i].renderFull() },
		key: func(i int) string { return users[i].Username },
	}), "list")
}

// matchesUser reports whether a user matches the parameters of the list (Document 2 §4.3).
func (c *call) matchesUser(u *User) bool {
	state, external := u.doc.text("state"), u.doc.bool("external")
	at := u.doc.time("created_at")
	after, _ := parseTime(c.text("created_after"))
	before, hasBefore := parseTime(c.text("created_before"))
	for _, refusal := range []bool{
		c.has("username") && !strings.EqualFold(c.text("username"), u.Username),
		c.has("search") && !u.matchesSearch(c.text("search"), c.user.Admin && c.server.offering != Hosted),
		c.has("public_email") && !strings.EqualFold(c.text("public_email"), u.doc.text("public_email")),
		c.flag("active") && state != "active",
		c.flag("exclude_active") && state == "active",
		c.flag("external") && !external,
		c.flag("exclude_external") && external,
		c.flag("blocked") && state != "blocked",
		c.flag("humans") && u.bot != 0,
		c.flag("exclude_humans") && u.bot == 0,
		c.flag("exclude_internal") && u.bot == InternalBot,
		c.flag("without_project_bots") && u.bot == ProjectBot,
		at.Before(after),
		hasBefore && at.After(before),
	} {
		if refusal {
			return false
		}
	}
	return c.matchesAdminFilters(u)
}

// matchesAdminFilters reports whether a user matches the parameters that only administrators may
// use. For other callers they are already dropped.
func (c *call) matchesAdminFilters(u *User) bool {
	for _, refusal := range []bool{
		c.has("two_factor") && u.doc.bool("two_factor_enabled") != (c.text("two_factor") == "enabled"),
		c.flag("without_projects") && slices.ContainsFunc(c.store.projects, func(p *Project) bool { return p.member(u) > NoAccess }),
		c.flag("admins") && !u.Admin,
		c.flag("auditors") && !u.doc.bool("is_auditor"),
		c.flag("skip_ldap") && slices.ContainsFunc(u.identities("identities"), usesLDAP),
		c.has("extern_uid") && !c.hasIdentity(u, c.text("provider"), c.text("extern_uid")),
		c.has("saml_provider_id") && !slices.Contains(fieldTexts(u.identities("identities"), "saml_provider_id"), c.text("saml_provider_id")),
	} {
		if refusal {
			return false
		}
	}
	for wire, values := range c.params {
		key, hash := strings.CutPrefix(wire, "custom_attributes[")
		if hash && !slices.Contains(u.attributes, attribute{strings.TrimSuffix(key, "]"), values[0]}) {
			return false
		}
	}
	return true
}

// matchesSearch reports whether the name or username contains a text, or an e-mail address equals
// it: the public address only, or any address.
func (u *User) matchesSearch(search string, anyAddress bool) bool {
	search = strings.ToLower(search)
	if strings.Contains(strings.ToLower(u.Name+"\n"+u.Username), search) || strings.EqualFold(u.doc.text("public_email"), search) {
		return true
	}
	return anyAddress && slices.ContainsFunc(u.emails, func(e *Document) bool { return strings.EqualFold(e.text("email"), search) })
}

// hasIdentity reports whether the user has this identity of a provider. The document states only
// that the provider scim is unavailable in some tiers. The interpretation is that the filter then
// matches no user, as for an unknown provider.
func (c *call) hasIdentity(u *User, provider, uid string) bool {
	if provider == "scim" {
		return c.server.tier != Free && slices.ContainsFunc(u.identities("scim_identities"), func(d *Document) bool { return d.text("extern_uid") == uid })
	}
	return slices.ContainsFunc(u.identities("identities"), func(d *Document) bool {
		return d.text("provider") == provider && d.text("extern_uid") == uid
	})
}

func (u *User) identities(field string) []*Document {
	list, _ := u.doc.Get(field).([]*Document)
	return list
}

// usesLDAP reports whether an identity is one of an LDAP server: "ldapmain", "ldapsecondary".
func usesLDAP(identity *Document) bool { return strings.HasPrefix(identity.text("provider"), "ldap") }

func (c *call) sortUsers(users []*User) {
	order, descending := c.textOr("order_by", "id"), c.textOr("sort", "desc") == "desc"
	slices.SortFunc(users, func(a, b *User) int {
		var result int
		switch order {
		case "name":
			result = strings.Compare(a.Name, b.Name)
		case "username":
			result = strings.Compare(a.Username, b.Username)
		case "created_at":
			result = a.doc.time(order).Compare(b.doc.time(order))
		case "updated_at":
			result = a.updated.Compare(b.updated)
		}
		result = cmp.Or(result, cmp.Compare(a.ID, b.ID))
		if descending {
			return -result
		}
		return result
	})
}
