package forgetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// seedLoader adds the records of a seed. at is the node of the current record, for the error of a
// method that panics.
type seedLoader struct {
	server *Server
	folder string
	at     *seedNode
}

// locked reads the state under the server's lock.
func locked[T any](s *Server, read func() T) T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return read()
}

func (l *seedLoader) load(root *seedNode) {
	root.object("$schema", "users", "groups", "projects", "runners", "audit_events", "generated_audit_events", "settings")
	for _, n := range root.member("users").list() {
		l.user(n)
	}
	for _, n := range root.member("groups").list() {
		l.group(n)
	}
	for _, n := range root.member("projects").list() {
		l.project(n)
	}
	for _, n := range root.member("runners").list() {
		l.server.AddRunner(l.fields(n))
	}
	for _, n := range root.member("audit_events").list() {
		l.server.AddAuditEvent(l.fields(n))
	}
	for _, n := range root.member("users").list() {
		if role := n.member("role"); role != nil {
			l.memberEverywhere(l.knownUser(n.member("username")), roleOf(role))
		}
	}
	l.server.AddGeneratedAuditEvents(root.member("generated_audit_events").count())
	if n := root.member("settings"); n != nil {
		l.put(n, "/application/settings")
	}
}

func (l *seedLoader) user(n *seedNode) {
	l.at = n.object("username", "admin", "role", "name", "email", "state", "tokens")
	name := n.required("username").text()
	if locked(l.server, func() bool { return l.server.store.userByName(name) != nil }) {
		n.member("username").fail("there is a user %q already", name)
	}
	add := l.server.AddUser
	if n.member("admin").flag() {
		add = l.server.AddAdmin
	}
	u := add(name)
	for _, field := range []string{"name", "email", "state"} {
		if m := n.member(field); m != nil {
			l.at = m
			u.Edit(func(d *Document) { d.Set(field, m.text()) })
		}
	}
	for _, m := range n.member("tokens").list() {
		l.at = m.object("value", "scopes")
		value := m.required("value")
		if locked(l.server, func() bool { return l.server.store.tokens[value.text()].user != nil }) {
			value.fail("there is a token of this value already")
		}
		u.addToken(value.text(), m.member("scopes").texts()...)
	}
}

// knownUser returns the user that a node names.
func (l *seedLoader) knownUser(n *seedNode) *User {
	u := locked(l.server, func() *User { return l.server.store.userByName(n.text()) })
	if u == nil {
		n.fail("there is no user %q", n.text())
	}
	return u
}

func (l *seedLoader) visibility(n *seedNode) Visibility {
	switch n.text() {
	case "", Public.String():
		return Public
	case Internal.String():
		return Internal
	case Private.String():
		return Private
	}
	n.fail("it must be public, internal or private")
	return Public
}

// seedRoles are the roles by name.
var seedRoles = map[string]Role{"guest": Guest, "reporter": Reporter, "developer": Developer, "maintainer": Maintainer, "owner": Owner}

func (l *seedLoader) members(list []*seedNode, add func(*User, Role)) {
	for _, n := range list {
		n.object("username", "role")
		add(l.knownUser(n.required("username")), roleOf(n.required("role")))
	}
}

func roleOf(n *seedNode) Role {
	role, known := seedRoles[n.text()]
	if !known {
		n.fail("it must be guest, reporter, developer, maintainer or owner")
	}
	return role
}

// memberEverywhere sets the role of a user in all groups and projects.
func (l *seedLoader) memberEverywhere(u *User, role Role) {
	s := l.server
	s.edit()
	defer s.mu.Unlock()
	for _, g := range s.store.groups {
		g.members[u] = role
	}
	for _, p := range s.store.projects {
		p.members[u] = role
	}
}

func (l *seedLoader) group(n *seedNode) {
	l.at = n.object("path", "visibility", "members", "runners", "audit_events", "integrations")
	path := n.required("path")
	if locked(l.server, func() bool { return l.server.store.findGroup(path.text()) != nil }) {
		path.fail("there is a group %q already", path.text())
	}
	g := l.server.AddGroup(path.text(), l.visibility(n.member("visibility")))
	l.members(n.member("members").list(), g.AddMember)
	for _, m := range n.member("runners").list() {
		g.AddRunner(l.fields(m))
	}
	for _, m := range n.member("audit_events").list() {
		g.AddAuditEvent(l.fields(m))
	}
	if all := n.member("integrations"); all != nil {
		for _, m := range all.object("*").members {
			l.put(m.seedNode, fmt.Sprintf("/groups/%d/integrations/%s", g.ID, m.name))
		}
	}
}

func (l *seedLoader) project(n *seedNode) {
	l.at = n.object("path", "visibility", "archived", "members", "labels", "milestones", "issues", "generated_issues", "merge_requests",
		"repository", "registry", "runners", "audit_events", "secure_files", "resource_groups")
	path := n.required("path")
	if locked(l.server, func() bool { p, _ := l.server.store.findProject(path.text()); return p != nil }) {
		path.fail("there is a project %q already", path.text())
	}
	p := l.server.AddProject(path.text(), l.visibility(n.member("visibility")))
	l.members(n.member("members").list(), p.AddMember)
	if m := n.member("repository"); m != nil {
		l.repository(m, p)
	}
	l.tracker(n, p)
	for _, m := range n.member("registry").list() {
		l.at = m.object("name", "tags")
		images := p.AddRegistryRepository(m.member("name").text())
		for _, tag := range m.member("tags").list() {
			images.AddTag(tag.object("*").required("name").text(), l.fields(tag, "name"))
		}
	}
	for _, m := range n.member("runners").list() {
		p.AddRunner(l.fields(m))
	}
	for _, m := range n.member("audit_events").list() {
		p.AddAuditEvent(l.fields(m))
	}
	for _, m := range n.member("secure_files").list() {
		l.at = m.object("name", "content")
		p.AddSecureFile(m.required("name").text(), []byte(m.member("content").text()), nil)
	}
	for _, m := range n.member("resource_groups").list() {
		p.AddResourceGroup(m.text())
	}
	if n.member("archived").flag() {
		p.Archive()
	}
}

// tracker adds labels, milestones, issues and merge requests.
func (l *seedLoader) tracker(n *seedNode, p *Project) {
	for _, m := range n.member("labels").list() {
		l.at = m.object("name", "color", "description", "priority")
		p.AddLabel(m.required("name").text(), orElse(m.member("color").text(), "#428bca"), m.member("description").text(), m.member("priority").count())
	}
	for _, m := range n.member("milestones").list() {
		p.AddMilestone(m.object("*").required("title").text(), time.Time{}, time.Time{}).fillWith(l.fields(m, "title"), "id", "iid", "project_id", "web_url")
	}
	for _, m := range n.member("issues").list() {
		p.AddIssue(l.fields(m))
	}
	p.AddGeneratedIssues(n.member("generated_issues").count())
	for _, m := range n.member("merge_requests").list() {
		p.AddMergeRequest(l.fields(m))
	}
}

// fields returns a function that sets the fields of a document to those of an object, except for
// the named ones.
func (l *seedLoader) fields(n *seedNode, except ...string) func(*Document) {
	l.at = n.object("*")
	return func(d *Document) {
		for _, m := range n.members {
			if !slices.Contains(except, m.name) {
				l.at = m.seedNode
				l.set(d, m.name, m.seedNode)
			}
		}
	}
}

// set sets a field. Users are written by their names.
func (l *seedLoader) set(d *Document, name string, n *seedNode) {
	owner, f, _ := d.locate(name)
	switch {
	case n.kind == '{' && f.Ref != "":
		child := owner.doc(f.Name)
		if child == nil {
			child = NewDocument(f.Ref)
		}
		for _, m := range n.members {
			l.at = m.seedNode
			l.set(child, m.name, m.seedNode)
		}
		owner.Set(f.Name, child)
	case n.kind == '{':
		owner.Set(f.Name, n.plain())
	case n.kind == '[' && f.Items != nil && strings.HasPrefix(f.Items.Ref, "User"):
		var users []*User
		for _, item := range n.items {
			users = append(users, l.knownUser(item))
		}
		owner.Set(f.Name, users)
	case n.kind == '[':
		owner.Set(f.Name, n.texts())
	case strings.HasPrefix(f.Ref, "User") && n.value != nil:
		owner.Set(f.Name, l.knownUser(n))
	default:
		owner.Set(f.Name, number(n.value))
	}
}

// number returns a json.Number as a Go number, and other values unchanged.
func number(value any) any {
	text, is := value.(json.Number)
	if !is {
		return value
	}
	if i, err := text.Int64(); err == nil {
		return i
	}
	f, _ := text.Float64()
	return f
}

// plain returns a node as encoding/json would decode it.
func (n *seedNode) plain() any {
	switch n.kind {
	case '{':
		object := map[string]any{}
		for _, m := range n.members {
			object[m.name] = m.plain()
		}
		return object
	case '[':
		list := []any{}
		for _, item := range n.items {
			list = append(list, item.plain())
		}
		return list
	}
	return n.value
}

// put sets something up through the API, as an administrator.
func (l *seedLoader) put(n *seedNode, path string) {
	l.at = n.object("*")
	body, _ := json.Marshal(n.plain())
	s := l.server
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPut, path, nil)
	if err != nil {
		n.fail("%v", err)
	}
	r.Header.Set("Private-Token", s.Token)
	r.Header.Set("Content-Type", "application/json")
	c := &call{server: s, store: &s.store, r: r, entry: &Request{}}
	c.findRoute("api", path)
	s.mu.Lock()
	a := c.run(body)
	s.mu.Unlock()
	if a.status >= http.StatusBadRequest {
		n.fail("%s", encoder{}.encode(a.doc))
	}
}

// repository adds a commit with the files of a folder, of the head of a git directory, or of the
// seed itself, and branches and tags on it.
func (l *seedLoader) repository(n *seedNode, p *Project) {
	l.at = n.object("folder", "git", "files", "message", "branches", "tags")
	files := map[string]string{}
	if m := n.member("files"); m != nil {
		for _, file := range m.object("*").members {
			files[file.name] = file.text()
		}
	}
	if m := n.member("folder"); m != nil {
		l.readFolder(m, files)
	}
	if m := n.member("git"); m != nil {
		l.readGit(m, files)
	}
	if len(files) == 0 {
		n.fail("it has no files: set files, folder or git")
	}
	p.AddCommit(Change{Files: files, Message: orElse(n.member("message").text(), "Initial commit")})
	for _, m := range n.member("branches").list() {
		p.AddBranch(m.text(), defaultBranch)
	}
	for _, m := range n.member("tags").list() {
		p.AddTag(m.text(), defaultBranch)
	}
}

// path returns a path of this machine that a seed names.
func (l *seedLoader) path(n *seedNode) string {
	switch {
	case l.folder == "":
		n.fail("a path of the server's machine is possible in a file only")
	case filepath.IsAbs(n.text()):
		return n.text()
	}
	return filepath.Join(l.folder, n.text())
}

func (l *seedLoader) readFolder(n *seedNode, files map[string]string) {
	root := os.DirFS(l.path(n))
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			if entry != nil && entry.IsDir() && entry.Name() == ".git" {
				return fs.SkipDir
			}
			return err
		}
		data, err := fs.ReadFile(root, name)
		files[name] = string(data)
		return err
	})
	if err != nil {
		n.fail("%v", err)
	}
}

func (l *seedLoader) readGit(n *seedNode, files map[string]string) {
	git := func(args ...string) []byte {
		command := exec.Command("git", append([]string{"-C", l.path(n)}, args...)...) //nolint:gosec,noctx // the user names the folder
		var problem bytes.Buffer
		command.Stderr = &problem
		out, err := command.Output()
		if err != nil {
			n.fail("git %s: %v: %s", args[0], err, strings.TrimSpace(problem.String()))
		}
		return out
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(git("ls-tree", "-r", "-z", "--name-only", "HEAD")), "\x00"), "\x00") {
		files[name] = string(git("cat-file", "blob", "HEAD:"+name))
	}
}
