package forgetest

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// The entity type of events of the whole instance, in the contract and in the deployed product.
const (
	instanceScope = "Service::Audit::InstanceScope"
	deployedScope = "Gitlab::Audit::InstanceScope"
)

// auditLog holds audit events in the order of their ids, which have no gaps. Generated events are
// made when they are read and are not stored.
type auditLog struct {
	spans []eventSpan
	last  int64 // id
}

// eventSpan is one event, or a range of generated ones, about one entity by one author.
type eventSpan struct {
	first, n int64
	subject  entity
	author   *User
	at       time.Time // of the first; generated events follow at intervals of a minute
	doc      *Document // nil for a generated range
}

// entity is the subject of an event.
type entity struct {
	kind string // User, Group, Project or the instance's scope
	id   int64
	path string
}

// targetID returns the target_id of details. The documents do not show its type. Deployed servers
// send a path for projects and groups, and an id for all other entities.
func (e entity) targetID() any {
	if e.kind == "Group" || e.kind == "Project" {
		return e.path
	}
	return e.id
}

func entityOf(subject any) entity {
	switch e := subject.(type) {
	case *User:
		return entity{"User", e.ID, e.Username}
	case *Group:
		return entity{"Group", e.ID, e.Path}
	case *Project:
		return entity{"Project", e.ID, e.Path}
	}
	return entity{instanceScope, 1, "forge_instance"}
}

// eventFilter selects events; the zero value of kind, byID and author selects all.
type eventFilter struct {
	kind          string
	id            int64
	byID          bool
	author        *User
	after, before time.Time // inclusive; zero means unlimited
}

func (f eventFilter) matches(s eventSpan) bool {
	return (f.kind == "" || f.kind == s.subject.kind) && (!f.byID || f.id == s.subject.id) && (f.author == nil || f.author == s.author)
}

func (s eventSpan) time(i int64) time.Time { return s.at.Add(time.Duration(i) * time.Minute) }

// timeRange returns the part of an eventSpan that is within the filter's time.
func (f eventFilter) timeRange(s eventSpan) (from, to int64) {
	from = int64(sort.Search(int(s.n), func(i int) bool { return !s.time(int64(i)).Before(f.after) }))
	to = int64(sort.Search(int(s.n), func(i int) bool { return !f.before.IsZero() && s.time(int64(i)).After(f.before) }))
	return from, max(from, to)
}

// list returns the events that match, the highest id first. It does not visit each event.
func (l *auditLog) list(f eventFilter, scopeWord string) listing {
	type run struct {
		eventSpan
		high  int64 // its highest id
		start int   // its place in the list
		n     int
	}
	var runs []run
	n := 0
	for i := len(l.spans) - 1; i >= 0; i-- {
		s := l.spans[i]
		from, to := f.timeRange(s)
		if !f.matches(s) {
			continue
		}
		runs = append(runs, run{s, s.first + to - 1, n, int(to - from)})
		n += int(to - from)
	}
	find := func(i int) (run, int64) {
		r := runs[sort.Search(len(runs), func(k int) bool { return runs[k].start+runs[k].n > i })]
		return r, r.high - int64(i-r.start)
	}
	return listing{
		n: n,
		at: func(i int) *Document {
			r, id := find(i)
			return r.render(id, scopeWord)
		},
		key: func(i int) string {
			_, id := find(i)
			return strconv.FormatInt(id, 10)
		},
		after: func(key string) (int, bool) {
			id, valid := parseID(key)
			return sort.Search(n, func(i int) bool { _, other := find(i); return other < id }), valid
		},
	}
}

// at returns an event by id; nil if there is no such event or the filter excludes it.
func (l *auditLog) at(id int64, f eventFilter, scopeWord string) *Document {
	i := sort.Search(len(l.spans), func(i int) bool { return l.spans[i].first+l.spans[i].n > id })
	if id < 1 || i == len(l.spans) || !f.matches(l.spans[i]) {
		return nil
	}
	return l.spans[i].render(id, scopeWord)
}

// render returns the event in the form of responses. Events of the instance have their details at
// the top level, too.
func (s eventSpan) render(id int64, scopeWord string) *Document {
	var d *Document
	if s.doc != nil {
		d = s.doc.clone().Set("details", s.doc.doc("details").clone())
	} else {
		d = newEvent(s.subject, s.author, s.time(id-s.first))
		d.Set("details.custom_message", fmt.Sprintf("Generated event %d", id))
	}
	d.Set("id", id)
	details := d.doc("details")
	for _, name := range []string{"ip_address", "author_name", "entity_path", "target_details", "target_type", "target_id"} {
		if s.subject.kind != instanceScope {
			d.Omit(name)
			continue
		}
		d.Set(name, details.Get(name))
	}
	if s.subject.kind == instanceScope {
		d.Set("entity_type", scopeWord)
	} else {
		d.Omit("event_type")
	}
	for _, name := range details.Fields() {
		if details.Get(name) == nil && name != "ip_address" {
			details.Omit(name)
		}
	}
	return d
}

// newEvent returns an event that has no id yet.
func newEvent(on entity, author *User, at time.Time) *Document {
	kind := on.kind
	if kind == instanceScope {
		kind = "ApplicationSetting"
	}
	details := NewDocument("AuditEventDetails").Set("author_name", author.Name).Set("author_email", author.Email).
		Set("author_class", "User").Set("target_id", on.targetID()).Set("target_type", kind).
		Set("target_details", on.path).Set("entity_path", on.path).Set("ip_address", "127.0.0.1")
	return NewDocument("AuditEvent").Set("author_id", author.ID).Set("entity_id", on.id).Set("entity_type", on.kind).
		Set("details", details).Set("created_at", at).Set("event_type", "audit_operation")
}

// addEvent appends an event with the author and time of the document.
func (s *Server) addEvent(on entity, author *User, d *Document) *Document {
	l := &s.store.events
	l.last++
	l.spans = append(l.spans, eventSpan{first: l.last, n: 1, subject: on, author: author, at: d.time("created_at"), doc: d.Set("id", l.last)})
	return d
}

// seedEvent adds an event for a test. fill, if not nil, changes its document.
func (s *Server) seedEvent(subject any, fill func(event *Document)) *Document {
	s.edit()
	d := newEvent(entityOf(subject), s.store.root, s.now())
	s.mu.Unlock()
	computed := []string{"id", "entity_id", "entity_type", "ip_address", "author_name", "entity_path", "target_details", "target_type", "target_id"}
	if subject != nil {
		computed = append(computed, "event_type") // only events of the instance have it
	}
	d.fillWith(fill, computed...)
	s.edit()
	defer s.mu.Unlock()
	return s.addEvent(entityOf(subject), s.store.userByID(d.int("author_id")), d)
}

func (s *Server) generateEvents(subject any, n int) {
	s.edit()
	defer s.mu.Unlock()
	l := &s.store.events
	l.spans = append(l.spans, eventSpan{first: l.last + 1, n: int64(n), subject: entityOf(subject), author: s.store.root, at: generatedTime(l.last + 1)})
	l.last += int64(n)
}

// AddAuditEvent records an event of the whole instance and returns its document. fill, if not nil,
// changes it: its author_id (by default the default user), its created_at, its details
// ("details.custom_message").
func (s *Server) AddAuditEvent(fill func(event *Document)) *Document { return s.seedEvent(nil, fill) }

// AddAuditEvent is [Server.AddAuditEvent] for an event about the user.
func (u *User) AddAuditEvent(fill func(event *Document)) *Document { return u.srv.seedEvent(u, fill) }

// AddAuditEvent is [Server.AddAuditEvent] for an event about the group.
func (g *Group) AddAuditEvent(fill func(event *Document)) *Document { return g.srv.seedEvent(g, fill) }

// AddAuditEvent is [Server.AddAuditEvent] for an event about the project.
func (p *Project) AddAuditEvent(fill func(event *Document)) *Document {
	return p.srv.seedEvent(p, fill)
}

// AddGeneratedAuditEvents adds n events of the whole instance that use no memory: each event is
// generated from its id when it is read. The time of the event with id n is n minutes after
// 2020-01-01.
func (s *Server) AddGeneratedAuditEvents(n int) { s.generateEvents(nil, n) }

// AddGeneratedAuditEvents is [Server.AddGeneratedAuditEvents] for events about the group.
func (g *Group) AddGeneratedAuditEvents(n int) { g.srv.generateEvents(g, n) }

// AddGeneratedAuditEvents is [Server.AddGeneratedAuditEvents] for events about the project.
func (p *Project) AddGeneratedAuditEvents(n int) { p.srv.generateEvents(p, n) }

// audit records a change that the caller made to a user, a group, a project or, if subject is nil,
// the instance.
func (c *call) audit(subject any, change, from, to string) {
	on := entityOf(subject)
	d := newEvent(on, c.user, c.server.now())
	host, _, _ := net.SplitHostPort(c.r.RemoteAddr)
	d.Set("details.change", change).Set("details.from", from).Set("details.to", to).Set("details.ip_address", host)
	c.server.addEvent(on, c.user, d)
}

// auditChanges returns a function that records what has changed since auditChanges was called. It
// is for services that record no events themselves: application settings and e-mail addresses
// (Document 1 §6).
func (c *call) auditChanges() (compare func()) {
	switch {
	case c.r.Method == http.MethodGet:
	case c.route.name == "PUT /application/settings":
		before := c.server.latestSettings()
		return func() { c.auditSettings(before, c.server.latestSettings()) }
	case strings.Contains(c.route.name, "/emails"):
		owner, a := c.owner()
		if a != nil {
			break
		}
		before := fieldTexts(owner.emails, "email")
		return func() {
			after := fieldTexts(owner.emails, "email")
			for _, address := range before {
				if !slices.Contains(after, address) {
					c.audit(owner, "email address", address, "")
				}
			}
			for _, address := range after {
				if !slices.Contains(before, address) {
					c.audit(owner, "email address", "", address)
				}
			}
		}
	}
	return func() {}
}

// auditSettings records each setting that differs, without the values of secrets.
func (c *call) auditSettings(before, after *Document) {
	text := func(v any) string {
		if s, isText := v.(string); isText {
			return s
		}
		return string(encoder{}.encode(v))
	}
	for i, f := range after.shape.fields {
		from, to := text(before.values[i]), text(after.values[i])
		secret := slices.ContainsFunc([]string{"_secret", "_token", "_key"}, func(end string) bool { return strings.HasSuffix(f.Name, end) })
		switch {
		case from == to || f.Name == "updated_at" || settingAliases()[f.Name] != "":
		case secret:
			c.audit(nil, c.deployedName(f.Name), "", "")
		default:
			c.audit(nil, c.deployedName(f.Name), from, to)
		}
	}
}
