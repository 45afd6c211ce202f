package forgetest

import (
	"fmt"
	"strings"
)

// Project holds a repository, issues and members.
type Project struct {
	ID   int64  // instance-wide
	Path string // full path, "group/app"; [Project.MoveTo] changes it
	Name string // made of the last part of the path

	srv            *Server
	group          *Group // nil in a personal namespace
	visibility     Visibility
	archived       bool
	members        map[*User]Role
	runnerAdmins   map[*User]bool // with the permission admin_runners
	tracker        tracker
	repo           repository
	registry       registry
	secureFiles    []*secureFile
	resourceGroups []*ResourceGroup
	approvals      map[string]bool // approval settings that were changed
}

// AddProject creates a project and the groups above it and returns it. The first part of the path may be the name of a
// user. Projects are public unless another visibility is given.
func (s *Server) AddProject(path string, visibility ...Visibility) *Project {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, moved := s.project(path); p != nil && !moved {
		return p
	}
	parent, name := split(path)
	if parent == "" {
		panic(fmt.Sprintf("forgetest: project %q needs a group or a user above it", path))
	}
	p := &Project{ID: s.nextID("project", 1), Path: path, Name: titled(name), srv: s, visibility: Public, members: map[*User]Role{}, runnerAdmins: map[*User]bool{}}
	if len(visibility) > 0 {
		p.visibility = visibility[0]
	}
	p.adopt(parent)
	p.tracker.init(p)
	p.repo.init(p)
	s.projects = append(s.projects, p)
	s.changed()
	return p
}

// adopt places the project below a user or a group.
func (p *Project) adopt(parent string) {
	p.group = nil
	if u := p.srv.userNamed(parent); u != nil {
		p.members[u] = Owner
		return
	}
	p.group = p.srv.addGroup(parent)
}

// AddMember gives a user a role in the project.
func (p *Project) AddMember(u *User, role Role) {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	p.members[u] = role
	p.srv.changed()
}

// Archive marks the project as archived: lists with non_archived leave its issues out.
func (p *Project) Archive() {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	p.archived = true
	p.srv.changed()
}

// MoveTo gives the project another full path. From then on calls with the former path, not those with the id, are answered
// with a redirect to the project's id.
func (p *Project) MoveTo(path string) {
	p.srv.mu.Lock()
	defer p.srv.mu.Unlock()
	parent, _ := split(path)
	p.srv.moved[strings.ToLower(p.Path)] = p
	delete(p.srv.moved, strings.ToLower(path))
	p.Path = path
	p.adopt(parent)
	p.srv.changed()
}

// role is the strongest role of the user in the project or a group above it; administrators own everything.
func (p *Project) role(u *User) Role {
	switch {
	case u == nil:
		return NoAccess
	case u.Admin:
		return Owner
	}
	return p.member(u)
}

// member is the role that the user was given in the project or a group above it.
func (p *Project) member(u *User) Role { return max(p.members[u], p.group.role(u)) }

func (p *Project) readableBy(u *User) bool { return visible(p.visibility, u, p.role(u)) }

// slug is the last segment of the path.
func (p *Project) slug() string { return p.Path[strings.LastIndex(p.Path, "/")+1:] }

// relative is the path as seen from a group: the group's own path is cut off.
func (p *Project) relative(g *Group) string {
	if g != nil && within(p.Path, g.Path) {
		return p.Path[len(g.Path)+1:]
	}
	return p.Path
}

// document is the short form that to-do items carry (document 2 §2.4).
func (p *Project) document() *Document {
	parent, _ := split(p.Path)
	return NewDocument("TodoProject").Set("id", p.ID).Set("name", p.Name).Set("path", p.slug()).
		Set("name_with_namespace", strings.ReplaceAll(parent, "/", " / ")+" / "+p.Name).Set("path_with_namespace", p.Path)
}
