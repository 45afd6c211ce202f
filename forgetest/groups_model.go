package forgetest

import (
	"slices"
	"strings"
)

// Visibility is the set of users that can read a group or project without a role in it.
type Visibility int

// Private is visible to members of the group or project, Internal to every user, Public to
// everyone.
const (
	Private Visibility = iota
	Internal
	Public
)

// Group is a namespace that holds groups and projects.
type Group struct {
	ID   int64  // shared with personal namespaces
	Path string // full path: "acme/platform"
	Name string // derived from the last part of the path

	srv        *Server
	parent     *Group
	visibility Visibility
	members    map[*User]Role
	approvals  map[string]bool // approval settings that were changed

	runnerAdmins map[*User]bool // with the permission admin_runners
	placeholders []*Placeholder
	integrations map[string]*integration // by slug
}

// AddGroup creates a group and its missing parents and returns it. Groups are public unless another
// visibility is set.
func (s *Server) AddGroup(path string, visibility ...Visibility) *Group {
	s.edit()
	defer s.mu.Unlock()
	g := s.addGroup(path)
	if len(visibility) > 0 {
		g.visibility = visibility[0]
	}
	return g
}

func (s *Server) addGroup(path string) *Group {
	if g := s.store.findGroup(path); g != nil {
		return g
	}
	parent, name := splitPath(path)
	g := &Group{Path: path, Name: titleCase(name), srv: s, visibility: Public, members: map[*User]Role{}, runnerAdmins: map[*User]bool{}}
	if parent != "" {
		g.parent = s.addGroup(parent)
	}
	g.ID = s.store.nextID("namespace", 1)
	s.store.groups = append(s.store.groups, g)
	return g
}

// AddMember sets the role of a user in the group, its subgroups and their projects.
func (g *Group) AddMember(u *User, role Role) {
	if u == nil {
		panic("forgetest: AddMember: the user is nil")
	}
	role.mustExist()
	g.srv.edit()
	defer g.srv.mu.Unlock()
	g.members[u] = role
}

// EditNamespace changes the group's document in responses of namespaces: avatar_url, plan,
// end_date, trial, trial_ends_on and billable_members_count.
func (g *Group) EditNamespace(fill func(namespace *Document)) *Group {
	g.srv.editNamespace(g.ID, fill)
	return g
}

// role returns the strongest role of the user in the group or one of its ancestors.
func (g *Group) role(u *User) Role {
	role := NoAccess
	for ; g != nil; g = g.parent {
		role = max(role, g.members[u])
	}
	return role
}

func (g *Group) readableBy(u *User) bool {
	return visible(g.visibility, u, g.role(u)) || slices.ContainsFunc(g.srv.store.projects, func(p *Project) bool {
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

// within reports whether a full path is below a namespace.
func within(path, namespace string) bool {
	return len(path) > len(namespace) && path[len(namespace)] == '/' && strings.EqualFold(path[:len(namespace)], namespace)
}
