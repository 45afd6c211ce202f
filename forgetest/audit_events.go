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

func listInstanceEvents(c *call) answer {
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

// listGroupEvents shows Owners all events, others those of their own actions.
func listGroupEvents(c *call) answer {
	filter := eventFilter{kind: "Group", id: c.group.ID, byID: true}
	if !c.user.Admin && c.group.role(c.user) < Owner {
		filter.author = c.user
	}
	return c.eventPage(filter)
}

// listProjectEvents shows Maintainers all events, others those of their own actions.
func listProjectEvents(c *call) answer {
	filter := eventFilter{kind: "Project", id: c.project.ID, byID: true}
	if c.project.role(c.user) < Maintainer {
		filter.author = c.user
	}
	return c.eventPage(filter)
}

// eventPage answers the events that pass, the latest first.
func (c *call) eventPage(filter eventFilter) answer {
	for name, bound := range map[string]*time.Time{"created_after": &filter.after, "created_before": &filter.before} {
		if !c.has(name) {
			continue
		}
		given, valid := parseTime(c.text(name))
		if !valid {
			return refused(http.StatusBadRequest, name+" is invalid")
		}
		*bound = given
	}
	return c.page(c.events.list(filter, c.eventWords()))
}

func getInstanceEvent(c *call) answer { return c.event("id", eventFilter{}) }

func getGroupEvent(c *call) answer {
	return c.event("audit_event_id", eventFilter{kind: "Group", id: c.group.ID, byID: true})
}

func getProjectEvent(c *call) answer {
	return c.event("audit_event_id", eventFilter{kind: "Project", id: c.project.ID, byID: true})
}

// event answers one event of those that the path covers.
func (c *call) event(arg string, filter eventFilter) answer {
	id, _ := parseID(c.args[arg])
	d := c.events.at(id, filter, c.eventWords())
	if d == nil {
		return missing("Audit Event")
	}
	return ok(d)
}

// eventWords is the word for the instance's own scope in answers.
func (c *call) eventWords() string {
	if c.gitlab {
		return deployedScope
	}
	return instanceScope
}
