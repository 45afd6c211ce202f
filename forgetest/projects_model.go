package forgetest

import (
	"fmt"
	"strings"
)

// Project is a project with its repository, issues and members.
type Project struct {
	ID   int64  // instance-wide
	Path string // full path, "group/app"; [Project.MoveTo] changes it
	Name string // derived from the last part of the path

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

// AddProject creates a project and the groups above it and returns it. The first part of the path
// may be the name of a user. Projects are public unless another visibility is set.
func (s *Server) AddProject(path string, visibility ...Visibility) *Project {
	s.edit()
	defer s.mu.Unlock()
	if p, moved := s.store.findProject(path); p != nil && !moved {
		return p
	}
	parent, name := splitPath(path)
	if parent == "" {
		panic(fmt.Sprintf("forgetest: project %q needs a group or a user above it", path))
	}
	p := &Project{ID: s.store.nextID("project", 1), Path: path, Name: titleCase(name), srv: s, visibility: Public, members: map[*User]Role{}, runnerAdmins: map[*User]bool{}}
	if len(visibility) > 0 {
		p.visibility = visibility[0]
	}
	p.adopt(parent)
	p.tracker.init(p)
	p.repo.init(p)
	s.store.projects = append(s.store.projects, p)
	if len(s.store.projects) == 1 && !s.jobReachesAll {
		s.store.tokens[s.JobToken] = credential{scheme: "job_token", user: s.store.root, project: p}
	}
	return p
}

// adopt puts the project below a user or a group.
func (p *Project) adopt(parent string) {
	p.group = nil
	if u := p.srv.store.userByName(parent); u != nil {
		p.members[u] = Owner
		return
	}
	p.group = p.srv.addGroup(parent)
}

// AddMember sets the role of a user in the project.
func (p *Project) AddMember(u *User, role Role) {
	if u == nil {
		panic("forgetest: AddMember: the user is nil")
	}
	role.mustExist()
	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.members[u] = role
}

// Archive archives the project: lists with non_archived omit its issues.
func (p *Project) Archive() {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.archived = true
}

// MoveTo changes the full path of the project. After that, calls with the former path are
// redirected to the path with the project's id. Calls with the id are not redirected.
func (p *Project) MoveTo(path string) {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	parent, _ := splitPath(path)
	p.srv.store.moved[strings.ToLower(p.Path)] = p
	p.Path = path
	p.adopt(parent)
}

// role returns the strongest role of the user in the project or a group above it; administrators
// own everything.
func (p *Project) role(u *User) Role {
	switch {
	case u == nil:
		return NoAccess
	case u.Admin:
		return Owner
	}
	return p.member(u)
}

// member returns the role of the user in the project or a group above it.
func (p *Project) member(u *User) Role { return max(p.members[u], p.group.role(u)) }

func (p *Project) readableBy(u *User) bool { return visible(p.visibility, u, p.role(u)) }

// slug returns the last segment of the path.
func (p *Project) slug() string { return p.Path[strings.LastIndex(p.Path, "/")+1:] }

// relative returns the path without the path of g, a group above it; all of it without one.
func (p *Project) relative(g *Group) string {
	if g != nil {
		return p.Path[len(g.Path)+1:]
	}
	return p.Path
}

// render returns the short form of a project in to-do items (Document 2 §2.4).
func (p *Project) render() *Document {
	parent, _ := splitPath(p.Path)
	return NewDocument("TodoProject").Set("id", p.ID).Set("name", p.Name).Set("path", p.slug()).
		Set("name_with_namespace", strings.ReplaceAll(parent, "/", " / ")+" / "+p.Name).Set("path_with_namespace", p.Path)
}
