package forgetest

import (
	"fmt"
	"net/http"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
)

// starterRoutes are what clients of other languages call before they reach an endpoint of the
// contract, over the same data. They are not part of the contract. See [WithStarterRoutes].
func starterRoutes() []*route {
	searchable := &endpoint{QueryParams: []parameter{{Name: "search", Wire: "search", Type: "string"}}}
	issues, mrs := catalogue().endpoints["GET /groups/:id/issues"], catalogue().endpoints["GET /projects/:id/merge_requests"]
	list := []struct {
		name   string
		handle func(*call) response
		like   *endpoint // whose parameters and views it has
		role   Role
	}{
		{name: "GET /version", handle: showVersion},
		{name: "GET /metadata", handle: showMetadata},
		{name: "GET /groups", handle: listGroups, like: searchable},
		{name: "GET /groups/:id", handle: func(c *call) response { return ok(c.group.object(c)) }},
		{name: "GET /projects", handle: listProjects, like: searchable},
		{name: "GET /projects/:id", handle: func(c *call) response { return ok(c.project.object(c)) }},
		{name: "GET /projects/:id/issues", handle: func(c *call) response { return c.issueList([]*Project{c.project}) }, like: issues},
		{name: "POST /projects/:id/issues", handle: createIssue, like: issues, role: Reporter},
		{name: "GET /projects/:id/issues/:issue_iid", handle: func(c *call) response { return ok(c.renderItem()) }, like: issues},
		{name: "GET /projects/:id/issues/:issue_iid/notes", handle: func(c *call) response { return c.page(listOf(c.issue.notes)) }},
		{name: "POST /projects/:id/merge_requests", handle: createMergeRequest, like: mrs, role: Developer},
		{name: "GET /projects/:id/merge_requests/:merge_request_iid", handle: func(c *call) response { return ok(c.renderItem()) }, like: mrs},
	}
	routes := make([]*route, len(list))
	for i, row := range list {
		r, err := parseRoute(row.name)
		if err != nil {
			panic("forgetest: " + err.Error())
		}
		r.starter, r.handle, r.role = true, row.handle, row.role
		r.endpoint.Pagination.Offset = true
		if row.like != nil {
			r.endpoint.Response.Views = row.like.Response.Views
		}
		if row.like != nil && r.endpoint.Method == http.MethodGet {
			r.endpoint.QueryParams = row.like.QueryParams
		}
		routes[i] = r
	}
	return routes
}

// WithStarterRoutes adds routes that are not part of the contract, which clients in other languages
// call first: the version, lists of projects and groups and one of each, the issues of a project
// and one of them, their notes, and one merge request; issues and merge requests can be created.
// They read and write the same data. [Server.Handle] replaces them.
func WithStarterRoutes() Option {
	return func(s *Server) {
		for _, r := range starterRoutes() {
			s.routes.add(r)
		}
	}
}

// moduleVersion returns the version of this module in the running program, "(devel)" if it is not
// known.
var moduleVersion = sync.OnceValue(func() string {
	info, _ := debug.ReadBuildInfo()
	return versionIn(info)
})

// versionIn returns the version of this module in a program.
func versionIn(info *debug.BuildInfo) string {
	path := strings.TrimSuffix(reflect.TypeFor[Server]().PkgPath(), "/forgetest")
	for _, m := range append([]*debug.Module{&info.Main}, info.Deps...) {
		if m.Path == path && m.Version != "" {
			return m.Version
		}
	}
	return "(devel)"
}

func showVersion(c *call) response {
	return ok(map[string]any{"version": c.server.release.version(), "revision": "forgetest"})
}

func showMetadata(c *call) response {
	return ok(map[string]any{"version": c.server.release.version(), "revision": "forgetest", "enterprise": true,
		"kas": map[string]any{"enabled": false, "externalUrl": nil, "externalK8sProxyUrl": nil, "version": nil}})
}

func listGroups(c *call) response {
	visible := slices.DeleteFunc(slices.Clone(c.store.groups), func(g *Group) bool { return !g.readableBy(c.user) || !c.finds(g.Path) })
	return c.pageOf(len(visible), func(i int) map[string]any { return visible[i].object(c) })
}

func listProjects(c *call) response {
	visible := slices.DeleteFunc(slices.Clone(c.store.projects), func(p *Project) bool { return !p.readableBy(c.user) || !c.finds(p.Path) })
	slices.Reverse(visible) // newest first, as GitLab lists them
	return c.pageOf(len(visible), func(i int) map[string]any { return visible[i].object(c) })
}

// finds reports whether the last part of a path has the text that the caller searches for.
func (c *call) finds(path string) bool {
	_, name := splitPath(path)
	return strings.Contains(strings.ToLower(name), strings.ToLower(c.text("search")))
}

// pageOf returns a page of objects that are not documents of the contract, with both paginations.
func (c *call) pageOf(n int, at func(i int) map[string]any) response {
	key := func(i int) string { return fmt.Sprint(at(i)["id"]) }
	return c.page(listing{n: n, position: "cursor", key: key, cut: func(from, to int) any {
		items := make([]any, 0, to-from)
		for i := from; i < to; i++ {
			items = append(items, at(i))
		}
		return items
	}})
}

func (v Visibility) String() string { return [...]string{"private", "internal", "public"}[v] }

func (g *Group) object(c *call) map[string]any {
	_, name := splitPath(g.Path)
	var parent any
	if g.parent != nil {
		parent = g.parent.ID
	}
	return map[string]any{"id": g.ID, "name": g.Name, "path": name, "full_path": g.Path, "full_name": strings.ReplaceAll(g.Path, "/", " / "),
		"visibility": g.visibility.String(), "parent_id": parent, "web_url": c.server.base(c.r) + "/groups/" + g.Path}
}

func (p *Project) object(c *call) map[string]any {
	above, name := splitPath(p.Path)
	namespace := map[string]any{"name": titleCase(above), "path": above, "full_path": above, "kind": "user"}
	if p.group != nil {
		namespace = map[string]any{"id": p.group.ID, "name": p.group.Name, "path": p.group.Path[strings.LastIndex(p.group.Path, "/")+1:],
			"full_path": p.group.Path, "kind": "group"}
	}
	return map[string]any{"id": p.ID, "name": p.Name, "path": name, "path_with_namespace": p.Path, "archived": p.archived,
		"name_with_namespace": strings.ReplaceAll(above, "/", " / ") + " / " + p.Name, "visibility": p.visibility.String(),
		"default_branch": defaultBranch, "namespace": namespace, "web_url": c.server.base(c.r) + "/" + p.Path,
		"_links": map[string]any{"self": c.server.base(c.r) + apiPath + "/projects/" + p.Path}}
}

// copyTexts copies the parameters of a body that a document has under the same names.
func (c *call) copyTexts(d *Document, names ...string) {
	for _, name := range names {
		if c.has(name) {
			d.Set(name, c.text(name))
		}
	}
}

// people returns the users of a parameter of ids.
func (c *call) people(name string) (users []*User) {
	for _, text := range c.list(name + "[]") {
		id, _ := parseID(text)
		if u := c.store.userByID(id); u != nil {
			users = append(users, u)
		}
	}
	return users
}

func (c *call) labelNames() []string {
	var names []string
	for _, text := range c.list("labels[]") {
		for name := range strings.SplitSeq(text, ",") {
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

func createIssue(c *call) response {
	if !c.has("title") {
		return rejected(http.StatusBadRequest, "title is missing")
	}
	t := &c.project.tracker
	i := t.newIssue(c.server.now())
	i.doc.Set("author", c.user).Set("labels", c.labelNames()).Set("assignees", c.people("assignee_ids"))
	c.copyTexts(i.doc, "title", "description", "due_date", "issue_type")
	i.doc.Set("confidential", c.flag("confidential"))
	t.last++
	i.complete(t.last, c.store.nextID("issue", 1))
	t.save(i)
	t.recordTime(i.doc.time("created_at"))
	return created(i.render(scope{project: c.project, user: c.user}))
}

func createMergeRequest(c *call) response {
	for _, name := range []string{"source_branch", "target_branch", "title"} {
		if !c.has(name) {
			return rejected(http.StatusBadRequest, name+" is missing")
		}
	}
	mr := c.project.newMergeRequest(c.server.now())
	mr.doc.Set("author", c.user).Set("labels", c.labelNames()).Set("assignees", c.people("assignee_ids")).Set("reviewers", c.people("reviewer_ids"))
	c.copyTexts(mr.doc, "title", "description", "source_branch", "target_branch")
	mr.recordVersion(mr.doc.time("created_at"))
	c.project.tracker.mergeRequests = append(c.project.tracker.mergeRequests, mr)
	return created(mr.render(scope{project: c.project, user: c.user}))
}
