package forgetest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

func emailRoutes() []route {
	return []route{
		{name: "GET /user/emails", handle: listEmails},
		{name: "GET /users/:id/emails", admin: true, handle: listEmails},
		{name: "GET /user/emails/:email_id", handle: getEmail},
		{name: "POST /user/emails", handle: addEmail},
		{name: "POST /users/:id/emails", admin: true, handle: addEmail},
		{name: "DELETE /user/emails/:email_id", handle: deleteEmail},
		{name: "DELETE /users/:id/emails/:email_id", admin: true, handle: deleteEmail},
	}
}

// AddEmail adds another confirmed address to the user. The first address, [User.Email], is the
// primary one.
func (u *User) AddEmail(address string) *Document {
	u.srv.edit()
	defer u.srv.mu.Unlock()
	return u.addEmail(address, true)
}

func (u *User) addEmail(address string, confirmed bool) *Document {
	d := NewDocument("Email").Set("id", u.srv.store.nextID("email", 1)).Set("email", address).Set("confirmed_at", nil)
	if confirmed {
		d.Set("confirmed_at", u.srv.now())
	}
	u.emails = append(u.emails, d)
	u.updated = u.srv.now()
	return d
}

// owner returns the user whose addresses the call reads or changes: the user in the path, or the
// caller if the path names none.
func (c *call) owner() (*User, *response) {
	ref, named := c.args["id"]
	if !named {
		return c.user, nil
	}
	id, _ := parseID(ref)
	if u := c.store.userByID(id); u != nil {
		return u, nil
	}
	return nil, fail(notFound("User"))
}

func listEmails(c *call) response {
	u, a := c.owner()
	if a != nil {
		return *a
	}
	return c.page(listOf(u.emails))
}

func getEmail(c *call) response {
	if i := c.user.emailIndex(c.args["email_id"]); i >= 0 {
		return ok(c.user.emails[i])
	}
	return notFound("Email")
}

func (u *User) emailIndex(ref string) int {
	id, _ := parseID(ref)
	return slices.IndexFunc(u.emails, func(d *Document) bool { return d.int("id") == id })
}

// addEmail adds an address. The address is unconfirmed unless an administrator skips the
// confirmation.
func addEmail(c *call) response {
	u, a := c.owner()
	if a != nil {
		return *a
	}
	address := c.text("email")
	name, host, found := strings.Cut(address, "@")
	switch {
	case !found || name == "" || host == "" || strings.ContainsAny(address, " \t<>"):
		return invalid("email", "is invalid")
	case c.store.isEmailTaken(address):
		return invalid("email", "has already been taken")
	}
	_, named := c.args["id"]
	return created(u.addEmail(address, named && c.flag("skip_confirmation")))
}

// isEmailTaken reports whether any user has the address.
func (s *store) isEmailTaken(address string) bool {
	return slices.ContainsFunc(s.users, func(u *User) bool {
		return slices.ContainsFunc(u.emails, func(d *Document) bool { return strings.EqualFold(d.text("email"), address) })
	})
}

func deleteEmail(c *call) response {
	u, a := c.owner()
	if a != nil {
		return *a
	}
	i := u.emailIndex(c.args["email_id"])
	switch {
	case i < 0:
		return notFound("Email")
	case u.emails[i].text("email") == u.Email:
		return failure(http.StatusBadRequest, "400 Bad request - Cannot delete primary email")
	}
	u.emails = slices.Delete(u.emails, i, i+1)
	u.updated = c.server.now()
	return response{status: http.StatusNoContent}
}

func decimal(n int64) string { return strconv.FormatInt(n, 10) }
