package forgetest

import (
	"slices"
	"strings"
	"time"
)

const (
	runnerOnlineFor = 2 * time.Hour      // after its last contact a runner counts as online
	runnerStaleFrom = 7 * 24 * time.Hour // after its last contact a runner is stale
)

// Runner is a CI runner. Its status follows from contacted_at and the server's clock: online for
// two hours, then offline, stale after seven days, never_contacted when contacted_at is null.
// Releases before 17.0 show its ip_address; in later releases it is empty.
type Runner struct {
	ID int64 // the instance-wide id

	srv      *Server
	doc      *Document
	group    *Group     // of a group runner
	projects []*Project // of a project runner
	managers []*Document
	jobs     []*runnerJob
}

type runnerJob struct {
	doc      *Document
	project  *Project
	systemID string
}

// AddRunner creates an instance runner whose last contact is now. fill, if not nil, changes its
// document.
func (s *Server) AddRunner(fill func(runner *Document)) *Runner {
	return s.addRunner("instance_type", fill, func(*Runner) {})
}

// AddRunner creates a group runner. fill, if not nil, changes its document.
func (g *Group) AddRunner(fill func(runner *Document)) *Runner {
	return g.srv.addRunner("group_type", fill, func(r *Runner) { r.group = g })
}

// AddRunner creates a project runner. fill, if not nil, changes its document.
func (p *Project) AddRunner(fill func(runner *Document)) *Runner {
	return p.srv.addRunner("project_type", fill, func(r *Runner) { r.projects = []*Project{p} })
}

func (s *Server) addRunner(kind string, fill func(runner *Document), place func(*Runner)) *Runner {
	s.edit()
	r := &Runner{ID: s.store.nextID("runner", 1), srv: s}
	now := s.now()
	s.mu.Unlock()
	r.doc = NewDocument("Runner").Set("id", r.ID).Set("description", "Runner "+decimal(r.ID)).Set("ip_address", "").
		Set("active", true).Set("runner_type", kind).Set("is_shared", kind == "instance_type").Set("contacted_at", now).Set("created_at", now).
		Set("architecture", "amd64").Set("platform", "linux").Set("revision", "91a27b2a").Set("version", "18.0.0").
		Set("tag_list", []string{}).Set("access_level", "not_protected").Set("locked", false).Set("run_untagged", true)
	r.doc.fillWith(fill, "id", "runner_type", "online", "projects", "groups")
	s.edit()
	defer s.mu.Unlock()
	place(r)
	r.doc.Set("paused", r.doc.bool("paused") || !r.doc.bool("active")) // active is the old name of the opposite
	r.doc.Set("active", !r.doc.bool("paused"))
	s.store.runners = append(s.store.runners, r)
	return r
}

// Assign assigns a project runner to another project.
func (r *Runner) Assign(p *Project) {
	r.srv.edit()
	defer r.srv.mu.Unlock()
	r.projects = append(r.projects, p)
}

// AddManager adds a machine that runs the runner. fill, if not nil, changes its document.
func (r *Runner) AddManager(systemID string, fill func(manager *Document)) *Document {
	r.srv.edit()
	defer r.srv.mu.Unlock()
	now := r.srv.now()
	m := NewDocument("RunnerManager").Set("id", r.srv.store.nextID("runner manager", 1)).Set("system_id", systemID).
		Set("version", r.doc.Get("version")).Set("revision", r.doc.Get("revision")).Set("platform", r.doc.Get("platform")).
		Set("architecture", r.doc.Get("architecture")).Set("created_at", now).Set("contacted_at", now).
		Set("ip_address", "127.0.0.1").Set("status", "online")
	if fill != nil {
		fill(m)
	}
	r.managers = append(r.managers, m)
	return m
}

// AddJob records a job of a project that a machine of the runner runs or ran. fill, if not nil,
// changes its document; the status is "running" by default.
func (r *Runner) AddJob(p *Project, systemID string, fill func(job *Document)) *Document {
	r.srv.edit()
	defer r.srv.mu.Unlock()
	now := r.srv.now()
	parent, _ := splitPath(p.Path)
	commit := p.repo.resolve("HEAD")
	d := NewDocument("RunnerJob").Set("id", r.srv.store.nextID("job", 1)).Set("status", "running").Set("stage", "test").Set("name", "test").
		Set("ref", defaultBranch).Set("tag", false).Set("created_at", now).Set("started_at", now).
		Set("user", NewDocument("UserProfile").adopt(r.srv.store.root.doc)).
		Set("pipeline", NewDocument("RunnerJobPipeline").Set("id", r.srv.store.nextID("pipeline", 1)).Set("ref", defaultBranch).Set("status", "running").
			Set("project_id", p.ID).Set("source", "push").Set("created_at", now).Set("updated_at", now)).
		Set("project", NewDocument("RunnerJobProject").adopt(p.render()).Set("description", p.Name).Set("created_at", now).
			Set("name_with_namespace", strings.ReplaceAll(parent, "/", " / ")+" / "+p.Name))
	if commit != nil {
		d.Set("commit", commit.describe(NewDocument("JobCommit"), p)).Set("pipeline.sha", commit.ID)
	}
	if fill != nil {
		fill(d)
	}
	r.jobs = append(r.jobs, &runnerJob{doc: d, project: p, systemID: systemID})
	return d
}

// Get reads a field of the runner's document.
func (r *Runner) Get(name string) any {
	r.srv.mu.Lock()
	defer r.srv.mu.Unlock()
	return r.render(r.srv.now()).Get(name)
}

func (r *Runner) kind() string { return r.doc.text("runner_type") }

// status returns the status that follows from the age of the last contact.
func (r *Runner) status(now time.Time) string {
	if given := r.doc.text("status"); given != "" {
		return given
	}
	contact, ok := r.doc.Get("contacted_at").(time.Time)
	switch age := now.Sub(contact); {
	case !ok:
		return "never_contacted"
	case age > runnerStaleFrom:
		return "stale"
	case age > runnerOnlineFor:
		return "offline"
	}
	return "online"
}

// render returns the runner as it is in responses.
func (r *Runner) render(now time.Time) *Document {
	status := r.status(now)
	d := r.doc.clone()
	if r.srv.release.has(release{17, 0}) { // the address is a field of the manager (Document 2 §2.9)
		d.Set("ip_address", "")
	}
	if r.group == nil {
		d.Omit("groups")
	} else {
		d.Set("groups", []*Document{NewDocument("RunnerGroup").Set("id", r.group.ID).Set("name", r.group.Name).Set("web_url", link("/groups/"+r.group.Path))})
	}
	return d.Set("status", status).Set("online", status == "online").Set("active", !r.doc.bool("paused")).
		Set("projects", renderAll("RunnerProject", r.projects))
}

// renderAll renders the items as documents of a type with fewer fields.
func renderAll[T renderer](shape string, items []T) []*Document {
	docs := documents(items)
	for i, d := range docs {
		docs[i] = NewDocument(shape).adopt(d)
	}
	return docs
}

// AddMemberWithAdminRunners adds a user with a custom role: the given role plus the permission
// admin_runners. With it the user can see, change and pause the runners of the group, its subgroups
// and their projects.
func (g *Group) AddMemberWithAdminRunners(u *User, role Role) {
	g.AddMember(u, role)
	g.srv.edit()
	defer g.srv.mu.Unlock()
	g.runnerAdmins[u] = true
}

// AddMemberWithAdminRunners is [Group.AddMemberWithAdminRunners] for the runners of the project.
func (p *Project) AddMemberWithAdminRunners(u *User, role Role) {
	p.AddMember(u, role)
	p.srv.edit()
	defer p.srv.mu.Unlock()
	p.runnerAdmins[u] = true
}

// administersRunners reports whether the user has admin_runners in the group or one of its
// ancestors.
func (g *Group) administersRunners(u *User) bool {
	for ; g != nil; g = g.parent {
		if g.runnerAdmins[u] {
			return true
		}
	}
	return false
}

// manageableBy reports whether a user may see the details of a runner and change it: administrators
// all, Owners the runners of their groups, Maintainers the runners of their projects, and custom
// roles with admin_runners (Document 2 §4.5).
func (r *Runner) manageableBy(u *User) bool {
	return u.Admin || r.group != nil && (r.group.role(u) >= Owner || r.group.administersRunners(u)) ||
		slices.ContainsFunc(r.projects, func(p *Project) bool {
			return p.role(u) >= Maintainer || p.runnerAdmins[u] || p.group.administersRunners(u)
		})
}

// servesProject reports whether the runner takes the jobs of a project.
func (r *Runner) servesProject(p *Project) bool {
	switch r.kind() {
	case "instance_type":
		return true
	case "group_type":
		return within(p.Path, r.group.Path)
	}
	return slices.Contains(r.projects, p)
}
