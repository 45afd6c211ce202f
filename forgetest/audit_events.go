package forgetest

import (
	"fmt"
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

// longestQuery is the time that GitLab's page states for one query of the instance's events. Its
// code was not found to enforce it.
const longestQuery = 30 * 24 * time.Hour

// AuditEventLimit is what a server does with a query of the instance's audit events for a time of
// more than 30 days.
type AuditEventLimit int

// RefuseLongQueries responds 400, CutLongQueries lists the last 30 days of the time.
const (
	_ AuditEventLimit = iota
	RefuseLongQueries
	CutLongQueries
)

// WithAuditEventLimit limits each query of the instance's audit events to 30 days, as GitLab's page
// of them states; by default there is no limit. The end of a query without created_before is now. A
// query without created_after is for the 30 days before its end.
func WithAuditEventLimit(limit AuditEventLimit) Option {
	if limit != RefuseLongQueries && limit != CutLongQueries {
		panic(fmt.Sprintf("forgetest: WithAuditEventLimit: %d is not RefuseLongQueries or CutLongQueries", limit))
	}
	return func(s *Server) { s.auditLimit = limit }
}

// limit applies the limit of the server to the time of a query.
func (c *call) limit(filter *eventFilter) *response {
	end := filter.before
	if end.IsZero() {
		end = c.server.now()
	}
	start := end.Add(-longestQuery)
	switch {
	case c.server.auditLimit == 0 || c.group != nil || c.project != nil || !filter.after.Before(start):
	case c.server.auditLimit == RefuseLongQueries && !filter.after.IsZero():
		return fail(failure(http.StatusBadRequest, "400 Bad request - Date range limited to 30 days"))
	default:
		filter.after = start
	}
	return nil
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
	if a := c.limit(&filter); a != nil {
		return *a
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
