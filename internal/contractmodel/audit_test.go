package contractmodel

import (
	"context"
	"maps"
	"net/url"
	"strconv"
	"testing"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"pgregory.net/rapid"
)

// The audit events of an instance agree with document 1 §4.7.
func TestAuditModel(t *testing.T) { auditCheck(t, "audit") }

// The audit events of a group agree with document 1 §4.7.
func TestAuditGroupModel(t *testing.T) { auditCheck(t, "groups/audit") }

// The audit events of a project agree with document 1 §4.7.
func TestAuditProjectModel(t *testing.T) { auditCheck(t, "projects/audit") }

func auditCheck(t *testing.T, list string) {
	peopleCheck(t, func(t *rapid.T, note func(string)) {
		w := &peopleWorld{}
		peopleDrawTier(t, w)
		if w.Tier == "free" && !peopleChance(t, "stays free", 4) {
			w.Tier = "ultimate"
		}
		peopleDrawUsers(t, w, peopleNumber(t, "users", 1, 4), false)
		peopleDrawPlaces(t, w)
		for range peopleNumber(t, "events", 1, 40) {
			w.Events = append(w.Events, auditDrawEvent(t, w))
		}
		if len(w.Events) > 0 && peopleChance(t, "crowd", 60) {
			for len(w.Events) < 120 {
				w.Events = append(w.Events, w.Events[len(w.Events)/2])
			}
		}
		q := auditDrawQuery(t, w, list)
		path := peoplePick(t, "path", "id", "path")
		perPage := peopleDrawPerPage(t)
		s := peopleServe(t, w)
		defer s.Close()
		address := "/audit_events"
		switch list {
		case "groups/audit":
			address = "/groups/" + s.groupRef(w, q.Target, path) + address
		case "projects/audit":
			address = "/projects/" + s.projectRef(w, q.Target, path) + address
		}
		auditSetEntity(w, q)
		pages, fitting := peopleCompare(t, s, w, q, address, perPage, auditAnswers(w, q))
		auditThroughClient(t, w, s, q, perPage, note)
		peopleNote(q, pages, fitting, note)
	})
}

func auditThroughClient(t *rapid.T, w *peopleWorld, s *peopleServer, q *peopleQuery, perPage int, note func(string)) {
	var o forge.ListAuditEventsOptions
	params := maps.Clone(q.Params)
	params.Del("order_by")
	params.Del("sort")
	for _, name := range []string{"created_after", "created_before"} {
		if params.Has(name) && !auditTime.MatchString(params.Get(name)) {
			return
		}
	}
	if !peopleChance(t, "client", 8) || !peopleFill(&o, params) {
		return
	}
	note(q.List + " through the client")
	sent := (&peopleQuery{Who: q.Who, List: q.List, Target: q.Target, Params: params}).keysetDefaults()
	peopleThroughClient(t, s, sent, perPage, auditAnswers(w, sent), func(c *forge.Client, opts ...forge.RequestOption) ([]int64, error) {
		id := func(e *forge.AuditEvent) int64 { return e.ID }
		switch {
		case q.List == "groups/audit" && q.Target >= 0:
			return peopleIDs(c.AuditEvents.ListForGroup(context.Background(), forge.Path(w.Groups[q.Target].Path), &o, opts...), id)
		case q.List == "groups/audit":
			return peopleIDs(c.AuditEvents.ListForGroup(context.Background(), forge.ID(99999), &o, opts...), id)
		case q.List == "projects/audit" && q.Target >= 0:
			return peopleIDs(c.AuditEvents.ListForProject(context.Background(), forge.ID(w.Projects[q.Target].ID), &o, opts...), id)
		case q.List == "projects/audit":
			return peopleIDs(c.AuditEvents.ListForProject(context.Background(), forge.Path("acme/none"), &o, opts...), id)
		}
		return peopleIDs(c.AuditEvents.List(context.Background(), &o, opts...), id)
	})
}

func auditDrawEvent(t *rapid.T, w *peopleWorld) peopleEvent {
	e := peopleEvent{Type: peoplePick(t, "entity", "Group", "Project", "Group", "Project", "User", "Service::Audit::InstanceScope")}
	e.Author = peopleNumber(t, "author", 0, len(w.Users)-1)
	e.Created = peoplePick(t, "created", peopleTimes...)
	switch e.Type {
	case "User":
		e.Entity = peopleNumber(t, "entity user", 0, len(w.Users)-1)
	case "Group":
		e.Entity = peopleNumber(t, "entity group", 0, len(w.Groups)-1)
	case "Project":
		e.Entity = peopleNumber(t, "entity project", 0, len(w.Projects)-1)
	}
	return e
}

func auditDrawQuery(t *rapid.T, w *peopleWorld, list string) *peopleQuery {
	q := &peopleQuery{List: list, Who: peopleDrawWho(t, w), Params: url.Values{}}
	switch list {
	case "audit":
		if !peopleChance(t, "anybody asks", 4) {
			q.Who = 0
		}
	case "groups/audit":
		q.Target = peopleDrawTarget(t, len(w.Groups))
	case "projects/audit":
		q.Target = peopleDrawTarget(t, len(w.Projects))
	}
	bound := func(name string) func() { return func() { q.Params.Set(name, auditTimeText(t)) } }
	kind := func() string {
		return peoplePick(t, "entity_type", "User", "Group", "Project", "Service::Audit::InstanceScope", "User", "group", "Issue", auditDeployed)
	}
	entity := func() {
		q.Params.Set("entity_id", "event "+strconv.Itoa(peopleNumber(t, "of event", 0, 24)))
		if peopleChance(t, "no id", 8) {
			q.Params.Set("entity_id", "abc")
		}
	}
	peopleDrawFilters(t, q, []func(){
		bound("created_after"), bound("created_before"), func() { q.Params.Set("entity_type", kind()) },
		func() { entity(); q.Params.Set("entity_type", kind()) },
		func() {
			if peopleChance(t, "id alone", 4) {
				entity()
			}
		},
	})
	if q.Keyset = peopleChance(t, "keyset", 2); q.Keyset {
		if !peopleChance(t, "without order_by", 20) {
			q.Params.Set("order_by", peoplePick(t, "order_by", "id", "id", "id", "id", "created_at"))
		}
		if !peopleChance(t, "without sort", 20) {
			q.Params.Set("sort", peoplePick(t, "sort", "desc", "desc", "desc", "desc", "asc"))
		}
	}
	return q
}

func auditTimeText(t *rapid.T) string {
	at := peoplePick(t, "bound", peopleTimes...).Truncate(time.Second)
	at = at.Add(peoplePick(t, "shift", 0, time.Second, -time.Second, 0))
	if peopleChance(t, "another form", 8) {
		return peoplePick(t, "form", "2024-05-04", at.Format("2006-01-02T15:04:05+02:00"), at.Format("2006-01-02 15:04:05"), "yesterday",
			at.Format("2006-01-02T15:04:05.000Z"), "2024-13-01T00:00:00Z")
	}
	return at.Format("2006-01-02T15:04:05Z")
}

// auditSetEntity replaces the number of an event by the ID of its entity, which is known now.
func auditSetEntity(w *peopleWorld, q *peopleQuery) {
	text := q.get("entity_id")
	if len(text) < 6 || text[:6] != "event " {
		return
	}
	n, _ := strconv.Atoi(text[6:])
	id := int64(99999)
	if n < len(w.Events) {
		id = w.Events[n].EntityID
	}
	q.Params.Set("entity_id", strconv.FormatInt(id, 10))
}
