package contractmodel

import (
	"slices"
	"strings"
	"time"
)

// runnerAnswers models the lists of runners (document 2 §4.5).
func runnerAnswers(w *peopleWorld, q *peopleQuery) []peopleAnswer {
	m := &runnerModel{w: w, q: q}
	status, scope := q.get("status"), q.get("scope")
	offline := status == "offline" || scope == "offline"
	project := q.List == "projects/runners"
	versions := q.has("version_prefix") && !project
	var s peopleReadings
	s.open(q.Who >= 0 && !w.admin(q.Who) && q.List == "runners", "instance", "excluded", "included")
	s.open(w.admin(q.Who) && q.List == "runners", "administrator", "his", "hisandinstance", "owned", "all")
	s.open(w.auditor(q.Who) && !w.premium() && q.List != "runners", "auditorfree", "no", "yes")
	s.open(status == "online" || scope == "online" || offline || status == "stale" || status == "never_contacted", "pausedstatus", "no", "yes")
	s.open(offline, "offline", "only", "stale")
	s.open(scope == "offline", "offlinescope", "contacted", "every")
	s.open(len(runnerTags(q)) > 1, "tags", "all", "any")
	s.open(versions, "version", "runner", "managers", "either")
	s.open(versions && !runnerIsVersion(q.get("version_prefix")), "badversion", "refused", "text")
	s.open(versions, "prefix", "text", "parts")
	s.open(scope == "specific" && !project, "specific", "projects", "unshared")
	s.open(project && (scope == "specific" || scope == "shared"), "projectscope", "refused", "acts")
	s.open(true, "order", "desc", "asc")
	s.open(q.Keyset, "keyset", "refused", "ignored")
	return s.answers(m.answer)
}

// runnerModel models one request for runners.
type runnerModel struct {
	w *peopleWorld
	q *peopleQuery
}

func (m *runnerModel) illegal(r peopleReading) bool {
	scopes := []string{"active", "paused", "online", "offline"}
	if m.q.List == "runners/all" || r["projectscope"] == "acts" {
		scopes = append(scopes, "specific", "shared")
	}
	return m.q.notOneOf("scope", scopes...) || m.q.notOneOf("type", "instance_type", "group_type", "project_type") ||
		m.q.notOneOf("status", "online", "offline", "stale", "never_contacted", "active", "paused") ||
		m.q.notBoolean("paused") || r["badversion"] == "refused"
}

func (m *runnerModel) answer(r peopleReading) peopleAnswer {
	refused := m.refusal(r)
	if m.illegal(r) {
		refused = append(refused, 400)
	}
	if r["keyset"] == "refused" {
		refused = append(refused, 400, 405)
	}
	if refused != nil {
		return peopleAnswer{Refused: refused}
	}
	var ids []int64
	for i := range m.w.Runners {
		if m.listed(&m.w.Runners[i], r) && m.matches(&m.w.Runners[i], r) {
			ids = append(ids, m.w.Runners[i].ID)
		}
	}
	return peopleAnswer{Rows: peopleByID(ids, r["order"] != "asc")}
}

// refusal returns the statuses of a refusal; nil if the user may send the request.
func (m *runnerModel) refusal(r peopleReading) []int {
	w, who := m.w, m.q.Who
	auditor := w.auditor(who) && (w.premium() || r["auditorfree"] == "yes")
	switch m.q.List {
	case "runners":
		if who < 0 {
			return []int{401}
		}
	case "runners/all":
		switch {
		case who < 0:
			return []int{401, 403}
		case !w.own():
			return []int{403, 404}
		case !w.admin(who) && !auditor:
			return []int{403}
		}
	case "projects/runners":
		return peopleProjectRefusal(w, who, m.q.Target, peopleMaintainer, auditor)
	}
	return nil
}

// listed reports whether a runner is in the list without filters.
func (m *runnerModel) listed(u *peopleRunner, r peopleReading) bool {
	w, who := m.w, m.q.Who
	switch m.q.List {
	case "runners/all":
		return true
	case "projects/runners":
		switch u.Type {
		case "instance_type":
			return true
		case "group_type":
			return slices.Contains(w.lineage(w.Projects[m.q.Target].Group), u.Group)
		}
		return slices.Contains(u.Projects, m.q.Target)
	}
	admin := r["administrator"]
	if u.Type == "instance_type" {
		return r["instance"] == "included" || admin == "hisandinstance" || admin == "all"
	}
	if admin == "owned" || admin == "all" {
		return true
	}
	if u.Type == "group_type" {
		return w.groupRole(who, u.Group) >= peopleOwner
	}
	return slices.ContainsFunc(u.Projects, func(p int) bool { return w.projectRole(who, p) >= peopleMaintainer })
}

// runnerStatus returns the status of a runner. The documents do not define when it changes, so the
// data avoid these times.
func runnerStatus(u *peopleRunner) string {
	switch age := peopleNow.Sub(u.Contacted); {
	case u.Contacted.IsZero():
		return "never_contacted"
	case age < 2*time.Hour:
		return "online"
	case age < 7*24*time.Hour:
		return "offline"
	}
	return "stale"
}

func (m *runnerModel) matches(u *peopleRunner, r peopleReading) bool {
	q := m.q
	switch {
	case q.has("type") && u.Type != q.get("type"),
		q.has("paused") && u.Paused != q.on("paused"),
		q.has("status") && !m.inStatus(u, q.get("status"), r),
		q.has("scope") && !m.inScope(u, q.get("scope"), r),
		q.has("version_prefix") && q.List != "projects/runners" && !m.inVersion(u, q.get("version_prefix"), r):
		return false
	}
	missing := 0
	tags := runnerTags(q)
	for _, tag := range tags {
		if !slices.Contains(u.Tags, tag) {
			missing++
		}
	}
	return missing == 0 || r["tags"] == "any" && missing < len(tags)
}

// runnerTags returns the requested tags, in both forms of deployed servers.
func runnerTags(q *peopleQuery) (tags []string) {
	for _, name := range []string{"tag_list[]", "tag_list"} {
		for _, text := range q.Params[name] {
			tags = append(tags, strings.Split(text, ",")...)
		}
	}
	return tags
}

func (m *runnerModel) inStatus(u *peopleRunner, status string, r peopleReading) bool {
	switch status {
	case "active":
		return !u.Paused
	case "paused":
		return u.Paused
	}
	if u.Paused && r["pausedstatus"] == "yes" {
		return false
	}
	is := runnerStatus(u)
	return is == status || status == "offline" && is == "stale" && r["offline"] == "stale"
}

func (m *runnerModel) inScope(u *peopleRunner, scope string, r peopleReading) bool {
	switch scope {
	case "specific":
		return u.Type == "project_type" || u.Type == "group_type" && r["specific"] == "unshared"
	case "shared":
		return u.Type == "instance_type"
	case "offline":
		if r["offlinescope"] == "every" && runnerStatus(u) == "never_contacted" {
			return !u.Paused || r["pausedstatus"] != "yes"
		}
	}
	return m.inStatus(u, scope, r)
}

func runnerIsVersion(text string) bool {
	return text != "" && strings.Trim(text, "0123456789.") == ""
}

func (m *runnerModel) inVersion(u *peopleRunner, prefix string, r peopleReading) bool {
	fits := func(version string) bool {
		if r["prefix"] == "parts" {
			return version == prefix || strings.HasPrefix(version, strings.TrimSuffix(prefix, ".")+".")
		}
		return strings.HasPrefix(version, prefix)
	}
	return r["version"] != "managers" && fits(u.Version) || r["version"] != "runner" && slices.ContainsFunc(u.Managers, fits)
}

// peopleProjectRefusal returns the statuses of a refusal by an endpoint of a project that needs a
// role. reader means that the user may call it without a role.
func peopleProjectRefusal(w *peopleWorld, who, project, role int, reader bool) []int {
	if project < 0 {
		if who < 0 {
			return []int{401, 404}
		}
		return []int{404}
	}
	p := w.Projects[project]
	switch {
	case who < 0 && p.Visibility == peoplePublic:
		return []int{401, 403}
	case who < 0:
		return []int{401, 404}
	case w.admin(who) || reader || w.projectRole(who, project) >= role:
		return nil
	case p.Visibility == peoplePrivate && w.projectRole(who, project) == 0:
		if w.auditor(who) {
			return []int{403, 404}
		}
		return []int{404}
	case p.Visibility == peopleInternal && w.Users[who].External && w.projectRole(who, project) == 0:
		return []int{403, 404}
	}
	return []int{403}
}

// runnerJobAnswers models GET /runners/:id/jobs.
func runnerJobAnswers(w *peopleWorld, q *peopleQuery) []peopleAnswer {
	refused := []int(nil)
	if q.Target < 0 {
		refused = append(refused, 404)
	}
	if q.Who < 0 {
		refused = append(refused, 401)
	}
	if q.notOneOf("status", "running", "success", "failed", "canceled") || q.notOneOf("order_by", "id") ||
		q.notOneOf("sort", "asc", "desc") || q.has("sort") && !q.has("order_by") {
		refused = append(refused, 400)
	}
	if refused != nil {
		return []peopleAnswer{{Refused: refused}}
	}
	reporter := false
	for p := range w.Projects {
		assigned := slices.Contains(w.Runners[q.Target].Projects, p) || slices.ContainsFunc(w.Jobs, func(j peopleJob) bool {
			return j.Runner == q.Target && j.Project == p
		})
		reporter = reporter || assigned && w.projectRole(q.Who, p) >= peopleReporter
	}
	var s peopleReadings
	s.open(w.admin(q.Who), "administrator", "all", "his")
	s.open(w.auditor(q.Who), "auditor", "no", "all")
	s.open(!w.admin(q.Who) && !reporter, "noproject", "empty", "refused")
	return s.answers(func(r peopleReading) peopleAnswer {
		if r["noproject"] == "refused" {
			return peopleAnswer{Refused: []int{403, 404}}
		}
		var ids []int64
		for _, j := range w.Jobs {
			visible := r["administrator"] == "all" || r["auditor"] == "all" || w.projectRole(q.Who, j.Project) >= peopleReporter
			if j.Runner == q.Target && visible && (!q.has("status") || j.Status == q.get("status")) &&
				(!q.has("system_id") || j.System == q.get("system_id")) {
				ids = append(ids, j.ID)
			}
		}
		return peopleAnswer{Rows: peopleByID(ids, q.get("sort") != "asc")}
	})
}
