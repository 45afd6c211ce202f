package forgetest

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

func namespaceRoutes() []route {
	return []route{
		{name: "GET /namespaces", handle: listNamespaces},
		{name: "GET /namespaces/:id", handle: getNamespace},
		{name: "GET /namespaces/:namespace/exists", handle: namespaceExists},
	}
}

// namespace is a group or the personal namespace of a user.
type namespace struct {
	id         int64
	name, path string
	parent     *Group
	group      *Group // nil for a user
	owner      *User  // nil for a group
}

// namespaces lists groups and users by id.
func (s *store) namespaces() []namespace {
	list := make([]namespace, 0, len(s.groups)+len(s.users))
	for _, g := range s.groups {
		list = append(list, namespace{id: g.ID, name: g.Name, path: g.Path, parent: g.parent, group: g})
	}
	for _, u := range s.users {
		list = append(list, namespace{id: u.namespaceID, name: u.Name, path: u.Username, owner: u})
	}
	slices.SortFunc(list, func(a, b namespace) int { return cmp.Compare(a.id, b.id) })
	return list
}

func (n namespace) slug() string { return n.path[strings.LastIndex(n.path, "/")+1:] }

func (n namespace) role(u *User) Role {
	switch {
	case n.owner == u:
		return Owner
	case n.group != nil:
		return n.group.role(u)
	}
	return NoAccess
}

func listNamespaces(c *call) response {
	search := strings.ToLower(c.text("search"))
	var docs []*Document
	for _, n := range c.store.namespaces() {
		role := n.role(c.user)
		text := n.name + "\n" + n.slug()
		if c.flag("full_path_search") {
			text = n.name + "\n" + n.path
		}
		switch {
		case role == NoAccess && !c.user.Admin,
			c.flag("owned_only") && role < Owner,
			c.flag("top_level_only") && n.parent != nil,
			!strings.Contains(strings.ToLower(text), search):
			continue
		}
		docs = append(docs, c.renderNamespace(n))
	}
	return c.page(listOf(docs))
}

func getNamespace(c *call) response {
	is := refersTo(c.args["id"])
	for _, n := range c.store.namespaces() {
		if is(n.id, n.path) && (c.user.Admin || n.role(c.user) > NoAccess) {
			return ok(c.renderNamespace(n))
		}
	}
	return notFound("Namespace")
}

// editNamespace stores the fields that fill sets, for the namespace with the id.
func (s *Server) editNamespace(id int64, fill func(*Document)) {
	s.edit()
	defer s.mu.Unlock()
	d := s.store.namespaceEdits[id]
	if d == nil {
		d = NewDocument("Namespace")
		s.store.namespaceEdits[id] = d
	}
	d.fillWith(fill, "id", "name", "path", "full_path", "kind", "parent_id", "web_url", "members_count_with_descendants", "root_repository_size",
		"projects_count", "max_seats_used", "seats_in_use", "max_seats_used_changed_at")
}

// renderNamespace returns the namespace as it is in responses, with the fields of EditNamespace.
func (c *call) renderNamespace(n namespace) *Document {
	d := c.computeNamespace(n)
	if edits := c.store.namespaceEdits[n.id]; edits != nil {
		for i, f := range edits.shape.fields {
			if !reflect.DeepEqual(edits.values[i], f.zero()) {
				d.values[i] = edits.values[i]
			}
		}
	}
	return d
}

// computeNamespace returns the namespace without the fields of EditNamespace. The plan is always
// shown: the documents state no condition (Document 1 §2.7).
func (c *call) computeNamespace(n namespace) *Document {
	d := NewDocument("Namespace").Set("id", n.id).Set("name", n.name).Set("path", n.slug()).Set("full_path", n.path).
		Set("plan", string(c.server.tier)).Set("billable_members_count", 1)
	for _, p := range c.store.projects {
		if within(p.Path, n.path) {
			d.Set("projects_count", d.int("projects_count")+1).
				Set("root_repository_size", d.int("root_repository_size")+p.repo.size())
		}
	}
	if n.owner != nil {
		return d.Set("kind", "user").Set("web_url", link("/"+n.path)).
			Omit("members_count_with_descendants").Omit("max_seats_used").Omit("seats_in_use").Omit("max_seats_used_changed_at")
	}
	members := c.store.membersBelow(n.group)
	d.Set("kind", "group").Set("web_url", link("/groups/"+n.path)).
		Set("members_count_with_descendants", members).Set("billable_members_count", members)
	if n.parent != nil {
		d.Set("parent_id", n.parent.ID)
	}
	if n.role(c.user) < Owner && !c.user.Admin && c.server.offering != Hosted {
		return d.Omit("max_seats_used").Omit("seats_in_use").Omit("max_seats_used_changed_at")
	}
	return d.Set("max_seats_used", members).Set("seats_in_use", members).Set("max_seats_used_changed_at", c.server.now())
}

// membersBelow counts the members of a group, its subgroups and their projects.
func (s *store) membersBelow(top *Group) int {
	members := map[*User]bool{}
	for _, g := range s.groups {
		if g == top || within(g.Path, top.Path) {
			for u := range g.members {
				members[u] = true
			}
		}
	}
	for _, p := range s.projects {
		if within(p.Path, top.Path) {
			for u := range p.members {
				members[u] = true
			}
		}
	}
	return len(members)
}

func namespaceExists(c *call) response {
	parent, _ := parseID(c.text("parent_id"))
	taken := map[string]bool{}
	for _, n := range c.store.namespaces() {
		if n.parent == nil && parent == 0 || n.parent != nil && n.parent.ID == parent {
			taken[strings.ToLower(n.slug())] = true
		}
	}
	wanted := c.args["namespace"]
	d := NewDocument("NamespaceAvailability").Set("exists", taken[strings.ToLower(wanted)]).Set("suggests", []string{})
	for i := 1; d.bool("exists"); i++ {
		if suggestion := fmt.Sprint(wanted, i); !taken[strings.ToLower(suggestion)] {
			return ok(d.Set("suggests", []string{suggestion}))
		}
	}
	return ok(d)
}
