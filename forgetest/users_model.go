package forgetest

import (
	"fmt"
	"strings"
	"time"
)

// Role is the role of a user in a group or project.
type Role int

// The roles, from the weakest to the strongest.
const (
	NoAccess   Role = 0
	Guest      Role = 10
	Reporter   Role = 20
	Developer  Role = 30
	Maintainer Role = 40
	Owner      Role = 50
)

// mustExist panics if the role is not one of the constants: no rule of the server names another
// one.
func (r Role) mustExist() {
	if r < NoAccess || r > Owner || r%10 != 0 {
		panic(fmt.Sprintf("forgetest: AddMember: %d is not a role: use a constant such as Developer", int(r)))
	}
}

// User is an account. Its fields do not change after creation.
type User struct {
	ID       int64  // instance-wide
	Username string // also the path of the personal namespace
	Name     string // derived from the username: "maya.lindqvist" is "Maya Lindqvist"
	Email    string // username@example.com; the author address of commits
	// Token is an access token of the user.
	Token string
	// Admin reports whether the user is an administrator.
	Admin bool

	srv         *Server
	namespaceID int64
	summary     *Document
	doc         *Document
	updated     time.Time
	bot         BotKind // 0 for a human
	emails      []*Document
	attributes  []attribute
}

// AddUser creates a user with an access token and a personal namespace. If it exists, it is
// returned unchanged.
func (s *Server) AddUser(username string) *User {
	s.edit()
	defer s.mu.Unlock()
	return s.addUser(username, false)
}

// AddAdmin is [Server.AddUser] for an administrator.
func (s *Server) AddAdmin(username string) *User {
	s.edit()
	defer s.mu.Unlock()
	return s.addUser(username, true)
}

// Root returns the default user, to whom [Server.Token] belongs.
func (s *Server) Root() *User { return s.store.root }

func (s *Server) addUser(username string, admin bool) *User {
	if u := s.store.userByName(username); u != nil {
		return u
	}
	u := &User{
		ID: s.store.nextID("user", 1), Username: username, Name: titleCase(username), Email: username + "@example.com",
		Token: newToken("user"), Admin: admin, srv: s, namespaceID: s.store.nextID("namespace", 1),
	}
	u.summary = NewDocument("UserSummary").Set("id", u.ID).Set("username", username).Set("name", u.Name).
		Set("state", "active").Set("web_url", link("/"+username)).Set("public_email", "")
	u.doc = u.newDocument()
	u.addEmail(u.Email, true)
	s.store.users = append(s.store.users, u)
	s.store.userIDs[u.ID], s.store.usernames[strings.ToLower(username)] = u, u
	s.store.tokens[u.Token] = credential{scheme: "access_token", user: u}
	return u
}

// EditNamespace changes the document of the user's personal namespace: avatar_url, plan, end_date,
// trial, trial_ends_on and billable_members_count.
func (u *User) EditNamespace(fill func(namespace *Document)) *User {
	u.srv.editNamespace(u.namespaceID, fill)
	return u
}

// as returns the user in the form of a type that nests users.
func (u *User) as(kind string) *Document {
	if kind == "UserProfile" {
		return profileOf(u)
	}
	return u.summary
}

// render returns the user summary (Document 2 §2.1).
func (u *User) render() *Document { return u.summary }
