package forgetest

import (
	"net/http"
	"time"
)

func auditEventRoutes() []route {
	return []route{
		{name: "GET /audit_events", admin: true, handle: listInstanceEvents},
		{name: "GET /audit_events/:id", admin: true, handle: getInstanceEvent},
		{name: "GET /groups/:id/audit_events", role: Developer, handle: listGroupEvents},
		{name: "GET /groups/:id/audit_events/:audit_event_id", role: Owner, handle: getGroupEvent},
		{name: "GET /projects/:id/audit_events", role: Developer, handle: listProjectEvents},
		{name: "GET /projects/:id/audit_events/:audit_event_id", role: Maintainer, handle: getProjectEvent},
	}
}

func listInstanceEvents(c *call) response {
	filter := eventFilter{kind: c.text("entity_type")}
	if filter.kind == deployedScope {
		filter.kind = instanceScope
	}
	if c.has("entity_id") {
		id, _ := parseID(c.text("entity_id"))
		filter.id, filter.byID = id, true
	}
	return c.eventPage(filter)
}

// listGroupEvents shows all events to Owners, and to others the events that they caused.
func listGroupEvents(c *call) response {
	filter := eventFilter{kind: "Group", id: c.group.ID, byID: true}
	if !c.user.Admin && c.group.role(c.user) < Owner {
		filter.author = c.user
	}
	return c.eventPage(filter)
}

// listProjectEvents shows all events to Maintainers, and to others the events that they caused.
func listProjectEvents(c *call) response {
	filter := eventFilter{kind: "Project", id: c.project.ID, byID: true}
	if c.project.role(c.user) < Maintainer {
		filter.author = c.user
	}
	return c.eventPage(filter)
}

// eventPage returns a page of the matching events, newest first.
func (c *call) eventPage(filter eventFilter) response {
	for name, bound := range map[string]*time.Time{"created_after": &filter.after, "created_before": &filter.before} {
		if !c.has(name) {
			continue
		}
		given, valid := parseTime(c.text(name))
		if !valid {
			return rejected(http.StatusBadRequest, name+" is invalid")
		}
		*bound = given
	}
	return c.page(c.store.events.list(filter, c.instanceScopeName()))
}

func getInstanceEvent(c *call) response { return c.event("id", eventFilter{}) }

func getGroupEvent(c *call) response {
	return c.event("audit_event_id", eventFilter{kind: "Group", id: c.group.ID, byID: true})
}

func getProjectEvent(c *call) response {
	return c.event("audit_event_id", eventFilter{kind: "Project", id: c.project.ID, byID: true})
}

// event returns the event with the id of a path parameter if the filter matches it.
func (c *call) event(arg string, filter eventFilter) response {
	id, _ := parseID(c.args[arg])
	d := c.store.events.at(id, filter, c.instanceScopeName())
	if d == nil {
		return notFound("Audit Event")
	}
	return ok(d)
}

// instanceScopeName returns the name of the instance's scope in responses.
func (c *call) instanceScopeName() string {
	if !c.server.neutral {
		return deployedScope
	}
	return instanceScope
}
