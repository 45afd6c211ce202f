package forgetest

import (
	"maps"
	"slices"
	"time"
)

// item is the common part of issues and merge requests.
type item struct {
	project     *Project
	doc         *Document
	subscribers map[*User]bool
	todos       map[*User]*Document
	awards      map[string]map[*User]bool
	mr          *MergeRequest // nil for an issue
	hidden      bool          // not visible yet, or deleted
	pending     *Document     // with the changes that are not visible yet; nil: doc
	shown       time.Time     // when the last change becomes visible
}

func (i *item) init() {
	i.subscribers = map[*User]bool{}
	i.todos = map[*User]*Document{}
	i.awards = map[string]map[*User]bool{}
}

func (i *item) award(u *User, emoji string) {
	i.project.srv.edit()
	defer i.project.srv.mu.Unlock()
	if i.awards[emoji] == nil {
		i.awards[emoji] = map[*User]bool{}
	}
	i.awards[emoji][u] = true
}

func (i *item) writtenBy(u *User) bool { return u != nil && i.doc.int("author.id") == u.ID }

func (i *item) assignedTo(u *User) bool {
	return u != nil && slices.ContainsFunc(i.doc.assignees(), func(d *Document) bool { return d.int("id") == u.ID })
}

// countAwards returns the number of reactions with an emoji.
func (i *item) countAwards(emoji string) int64 { return int64(len(i.awards[emoji])) }

// awarded returns the emojis with which a user has reacted.
func (i *item) awarded(u *User) []string {
	names := slices.Sorted(maps.Keys(i.awards))
	return slices.DeleteFunc(names, func(name string) bool { return !i.awards[name][u] })
}

// setSubscribed starts or ends the subscription of a user, and reports whether this changed
// anything.
func (i *item) setSubscribed(u *User, on bool) (changed bool) {
	changed = i.subscribers[u] != on
	i.subscribers[u] = on
	return changed
}

// item returns the issue or merge request that the path names.
func (c *call) item() *item {
	if c.mr != nil {
		return &c.mr.item
	}
	return &c.issue.item
}

// renderItem returns the document of the issue or merge request, as the caller sees it.
func (c *call) renderItem() *Document {
	viewpoint := scope{project: c.project, user: c.user}
	if c.mr != nil {
		return c.mr.render(viewpoint)
	}
	return c.issue.render(viewpoint)
}

func subscribe(c *call) response   { return c.setSubscribed(true) }
func unsubscribe(c *call) response { return c.setSubscribed(false) }

func (c *call) setSubscribed(on bool) response {
	if !c.item().setSubscribed(c.user, on) {
		return notModified()
	}
	return created(c.renderItem())
}

// createTodo adds a to-do for the issue or merge request, once for each user.
func createTodo(c *call) response {
	i, target := c.item(), c.renderItem()
	if i.todos[c.user] != nil {
		return notModified()
	}
	todo := NewDocument("Todo").Set("id", c.store.nextID("todo", 1)).Set("project", c.project.render()).Set("author", c.user).
		Set("action_name", "marked").Set("target_type", target.shape.name).Set("target", target).
		Set("target_url", link(target.text("web_url"))).Set("body", target.Get("title")).
		Set("state", "pending").Set("created_at", c.server.now())
	i.todos[c.user] = todo
	return created(todo)
}
