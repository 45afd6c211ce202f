package forgetest

import (
	"slices"
	"strings"
	"time"
)

// Role is what a user may do in a group or project (document 1 §5 rule 7).
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

// Visibility says who can read a group or project without being a member.
type Visibility int

// Private is for members, Internal for every user, Public for everyone.
const (
	Private Visibility = iota
	Internal
	Public
)

// User is an account. Its fields do not change after creation.
type User struct {
	ID       int64  // instance-wide
	Username string // also the path of the personal namespace
	Name     string // made of the username: "maya.lindqvist" is "Maya Lindqvist"
	Email    string // username@example.com; the author address of commits
	// Token is an access token of the user.
	Token string
	// Admin says whether the user is an administrator.
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

// Group is a namespace that holds groups and projects.
type Group struct {
	ID   int64  // shared with personal namespaces
	Path string // full path: "acme/platform"
	Name string // made of the last part of the path

	srv        *Server
	parent     *Group
	visibility Visibility
	members    map[*User]Role
	approvals  map[string]bool // approval settings that were changed

	runnerAdmins map[*User]bool // with the permission admin_runners
	placeholders []*Placeholder
	integrations map[string]*integration // by slug
}

// AddUser creates a user with an access token and a personal namespace. A user of that name is returned as it is.
func (s *Server) AddUser(username string) *User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addUser(username, false)
}

// AddAdmin is [Server.AddUser] for an administrator.
func (s *Server) AddAdmin(username string) *User {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addUser(username, true)
}

// Root returns the default user, the owner of [Server.Token].
func (s *Server) Root() *User { return s.root }

func (s *Server) addUser(username string, admin bool) *User {
	if u := s.userNamed(username); u != nil {
		return u
	}
	u := &User{
		ID: s.nextID("user", 1), Username: username, Name: titled(username), Email: username + "@example.com",
		Token: newToken("user"), Admin: admin, srv: s, namespaceID: s.nextID("namespace", 1),
	}
	u.summary = NewDocument("UserSummary").Set("id", u.ID).Set("username", username).Set("name", u.Name).
		Set("state", "active").Set("web_url", link("/"+username))
	u.doc = u.newDocument()
	u.addEmail(u.Email, true)
	s.users = append(s.users, u)
	s.userIDs[u.ID], s.usernames[strings.ToLower(username)] = u, u
	s.tokens[u.Token] = credential{scheme: "access_token", user: u}
	s.changed()
	return u
}

// document is the user summary (document 2 §2.1).
func (u *User) document() *Document { return u.summary }

// AddGroup creates a group and its missing parents and returns it. Groups are public unless another visibility is given.
func (s *Server) AddGroup(path string, visibility ...Visibility) *Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.addGroup(path)
	if len(visibility) > 0 {
		g.visibility = visibility[0]
	}
	return g
}

func (s *Server) addGroup(path string) *Group {
	if g := s.group(path); g != nil {
		return g
	}
	parent, name := split(path)
	g := &Group{Path: path, Name: titled(name), srv: s, visibility: Public, members: map[*User]Role{}, runnerAdmins: map[*User]bool{}}
	if parent != "" {
		g.parent = s.addGroup(parent)
	}
	g.ID = s.nextID("namespace", 1)
	s.groups = append(s.groups, g)
	s.changed()
	return g
}

// AddMember gives a user a role in the group and everything below it.
func (g *Group) AddMember(u *User, role Role) {
	g.srv.mu.Lock()
	defer g.srv.mu.Unlock()
	g.members[u] = role
	g.srv.changed()
}

// role is the strongest role of the user in the group or one of its ancestors.
func (g *Group) role(u *User) Role {
	role := NoAccess
	for ; g != nil && u != nil; g = g.parent {
		role = max(role, g.members[u])
	}
	return role
}

func (g *Group) readableBy(u *User) bool {
	return visible(g.visibility, u, g.role(u)) || slices.ContainsFunc(g.srv.projects, func(p *Project) bool {
		return within(p.Path, g.Path) && p.role(u) > NoAccess
	})
}

func visible(v Visibility, u *User, role Role) bool {
	switch {
	case v == Public, role > NoAccess:
		return true
	case u == nil:
		return false
	}
	return v == Internal || u.auditor()
}

// within reports whether a full path lies below a namespace.
func within(path, namespace string) bool {
	return len(path) > len(namespace) && path[len(namespace)] == '/' && strings.EqualFold(path[:len(namespace)], namespace)
}
