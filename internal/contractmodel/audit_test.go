package contractmodel

import (
	"net/url"
	"strconv"
	"testing"
	"time"

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
		if w.Tier == "free" && !chance(t, "stays free", 4) {
			w.Tier = "ultimate"
		}
		peopleDrawUsers(t, w, number(t, "users", 1, 4), false)
		peopleDrawPlaces(t, w)
		for range number(t, "events", 1, 40) {
			w.Events = append(w.Events, auditDrawEvent(t, w))
		}
		if len(w.Events) > 0 && chance(t, "crowd", 60) {
			for len(w.Events) < 120 {
				w.Events = append(w.Events, w.Events[len(w.Events)/2])
			}
		}
		s := peopleServe(t, w)
		defer s.Close()
		for range peopleQueries {
			q := auditDrawQuery(t, w, list)
			address := "/audit_events"
			switch list {
			case "groups/audit":
				address = "/groups/" + w.groupRef(q.Target) + address
			case "projects/audit":
				address = "/projects/" + w.projectRef(q.Target) + address
			}
			auditSetEntity(w, q)
			peopleCompare(t, s, w, q, address, peopleDrawPerPage(t), auditAnswers(w, q), note)
		}
	})
}

func auditDrawEvent(t *rapid.T, w *peopleWorld) peopleEvent {
	e := peopleEvent{Type: pick(t, "entity", "Group", "Project", "Group", "Project", "User", "Service::Audit::InstanceScope")}
	e.Author = number(t, "author", 0, len(w.Users)-1)
	e.Created = pick(t, "created", peopleTimes...)
	switch e.Type {
	case "User":
		e.Entity = number(t, "entity user", 0, len(w.Users)-1)
	case "Group":
		e.Entity = number(t, "entity group", 0, len(w.Groups)-1)
	case "Project":
		e.Entity = number(t, "entity project", 0, len(w.Projects)-1)
	}
	return e
}

func auditDrawQuery(t *rapid.T, w *peopleWorld, list string) *peopleQuery {
	q := &peopleQuery{List: list, Who: peopleDrawWho(t, w), Params: url.Values{}}
	switch list {
	case "audit":
		if !chance(t, "anybody asks", 4) {
			q.Who = 0
		}
	case "groups/audit":
		q.Target = peopleDrawTarget(t, len(w.Groups))
	case "projects/audit":
		q.Target = peopleDrawTarget(t, len(w.Projects))
	}
	bound := func(name string) func() { return func() { q.Params.Set(name, auditTimeText(t)) } }
	kind := func() string {
		return pick(t, "entity_type", "User", "Group", "Project", "Service::Audit::InstanceScope", "User", "group", "Issue", auditDeployed)
	}
	entity := func() {
		q.Params.Set("entity_id", "event "+strconv.Itoa(number(t, "of event", 0, 24)))
		if chance(t, "no id", 8) {
			q.Params.Set("entity_id", "abc")
		}
	}
	peopleDrawFilters(t, q, []func(){
		bound("created_after"), bound("created_before"), func() { q.Params.Set("entity_type", kind()) },
		func() { entity(); q.Params.Set("entity_type", kind()) },
		func() {
			if chance(t, "id alone", 4) {
				entity()
			}
		},
	})
	if q.Keyset = chance(t, "keyset", 2); q.Keyset {
		if !chance(t, "without order_by", 20) {
			q.Params.Set("order_by", pick(t, "order_by", "id", "id", "id", "id", "created_at"))
		}
		if !chance(t, "without sort", 20) {
			q.Params.Set("sort", pick(t, "sort", "desc", "desc", "desc", "desc", "asc"))
		}
	}
	return q
}

func auditTimeText(t *rapid.T) string {
	at := pick(t, "bound", peopleTimes...).Truncate(time.Second)
	at = at.Add(pick(t, "shift", 0, time.Second, -time.Second, 0))
	if chance(t, "another form", 8) {
		return pick(t, "form", "2024-05-04", at.Format("2006-01-02T15:04:05+02:00"), at.Format("2006-01-02 15:04:05"), "yesterday",
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
