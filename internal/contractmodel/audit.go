package contractmodel

import (
	"regexp"
	"slices"
	"strconv"
)

var auditTypes = []string{"User", "Group", "Project", "Service::Audit::InstanceScope"}

// auditDeployed is the name of the instance's entity type on deployed servers.
const auditDeployed = "Gitlab::Audit::InstanceScope"

// auditTime is the form of bounds in document 1 §4.7.
var auditTime = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`)

// auditFraction is the form with a fraction of a second. The documents leave open whether it is
// valid.
var auditFraction = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$`)

// auditAnswers models the lists of audit events (document 1 §4.7).
func auditAnswers(w *peopleWorld, q *peopleQuery) []peopleAnswer {
	m := &auditModel{w: w, q: q}
	fraction := false
	for _, name := range []string{"created_after", "created_before"} {
		fraction = fraction || auditFraction.MatchString(q.get(name))
	}
	var s peopleReadings
	s.open(fraction, "fraction", "refused", "acts")
	s.open(q.List == "audit" && q.get("entity_type") == auditDeployed, "deployedword", "refused", "acts")
	s.open(q.Keyset && !q.has("sort"), "sortless", "refused", "acts") // deployed servers have a default
	return s.answers(m.answer)
}

// auditModel models one request for audit events.
type auditModel struct {
	w *peopleWorld
	q *peopleQuery
}

func (m *auditModel) illegal(r peopleReading) bool {
	q := m.q
	for _, name := range []string{"created_after", "created_before"} {
		form := auditTime.MatchString(q.get(name)) || r["fraction"] == "acts" && auditFraction.MatchString(q.get(name))
		if q.has(name) && !form || q.notTime(name) {
			return true
		}
	}
	if q.List != "audit" {
		return false
	}
	types := auditTypes
	if r["deployedword"] == "acts" {
		types = append(slices.Clone(types), auditDeployed)
	}
	return q.notOneOf("entity_type", types...) || q.has("entity_id") && (!q.has("entity_type") || !peopleIsID(q.get("entity_id")))
}

func (m *auditModel) answer(r peopleReading) peopleAnswer {
	q := m.q
	refused, only := m.access()
	if m.illegal(r) {
		refused = append(refused, 400)
	}
	if q.Keyset && (q.get("order_by") != "id" || q.has("sort") && q.get("sort") != "desc" || r["sortless"] == "refused") {
		refused = append(refused, 400, 405)
	}
	if refused != nil {
		return peopleAnswer{Refused: refused}
	}
	var ids []int64
	for _, e := range m.w.Events {
		if (!only || e.Author == q.Who) && m.listed(&e) && q.within(e.Created, "created_after", "created_before") {
			ids = append(ids, e.ID)
		}
	}
	return peopleAnswer{Rows: peopleByID(ids, true)}
}

// access returns the statuses of a refusal, and whether the user sees only their own actions.
func (m *auditModel) access() (refused []int, only bool) {
	w, q := m.w, m.q
	all, some := peopleOwner, peopleDeveloper
	role := 0
	switch q.List {
	case "audit":
		switch {
		case q.Who < 0:
			refused = []int{401, 403}
		case !w.admin(q.Who):
			refused = []int{403}
		}
		if !w.own() {
			refused = append(refused, 403, 404)
		}
	case "groups/audit":
		refused = m.groupRefusal(some)
		if q.Target >= 0 {
			role = w.groupRole(q.Who, q.Target)
		}
	case "projects/audit":
		all = peopleMaintainer
		refused = peopleProjectRefusal(w, q.Who, q.Target, some, false)
		if q.Target >= 0 {
			role = w.projectRole(q.Who, q.Target)
		}
	}
	if !w.premium() {
		refused = append(refused, 403, 404)
	}
	return refused, q.List != "audit" && role < all && !w.admin(q.Who)
}

func (m *auditModel) groupRefusal(role int) []int {
	w, who := m.w, m.q.Who
	if m.q.Target < 0 {
		if who < 0 {
			return []int{401, 404}
		}
		return []int{404}
	}
	g := w.Groups[m.q.Target]
	has := 0
	if who >= 0 {
		has = w.groupRole(who, m.q.Target)
	}
	switch {
	case who < 0 && g.Visibility == peoplePublic:
		return []int{401, 403}
	case who < 0:
		return []int{401, 404}
	case w.admin(who) || has >= role:
		return nil
	case has == 0 && g.Visibility == peoplePrivate:
		if w.auditor(who) || w.belowGroup(who, m.q.Target) {
			return []int{403, 404}
		}
		return []int{404}
	case has == 0 && g.Visibility == peopleInternal && w.Users[who].External:
		return []int{403, 404}
	}
	return []int{403}
}

func (m *auditModel) listed(e *peopleEvent) bool {
	q := m.q
	switch q.List {
	case "groups/audit":
		return e.Type == "Group" && e.Entity == q.Target
	case "projects/audit":
		return e.Type == "Project" && e.Entity == q.Target
	}
	wanted := q.get("entity_type")
	if wanted == auditDeployed {
		wanted = auditTypes[3]
	}
	if q.has("entity_type") && e.Type != wanted {
		return false
	}
	return !q.has("entity_id") || strconv.FormatInt(e.EntityID, 10) == q.get("entity_id")
}
