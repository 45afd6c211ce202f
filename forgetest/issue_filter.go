package forgetest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is one test that an issue or a merge request of a list must pass.
type condition func(*item) bool

func all(conditions []condition, i *item) bool {
	for _, holds := range conditions {
		if !holds(i) {
			return false
		}
	}
	return true
}

// issueFilters are the list parameters that are compared with the issue, each also accepted inside not[...] (the deployed
// server takes them on both lists).
func issueFilters() []string {
	return []string{
		"assignee_id", "assignee_username", "author_id", "author_username", "confidential", "created_after", "created_before",
		"due_date", "epic_id", "health_status", "iids", "issue_type", "iteration_id", "iteration_title", "labels", "milestone",
		"milestone_id", "my_reaction_emoji", "search", "state", "updated_after", "updated_before", "weight",
	}
}

// conditions turns the query into conditions.
func (c *call) conditions(filters []string, defaultScope string) []condition {
	var conditions []condition
	switch c.textOr("scope", defaultScope) {
	case "created_by_me":
		conditions = append(conditions, func(i *item) bool { return i.writtenBy(c.user) })
	case "assigned_to_me":
		conditions = append(conditions, func(i *item) bool { return i.assignedTo(c.user) })
	}
	for _, name := range filters {
		wanted := c.matchers(name, c.filterValues(name, ""), c.text("in"))
		unwanted := c.matchers(name, c.filterValues(name, "not"), c.text("not[in]"))
		switch {
		case len(wanted) > 0 && name == "iids":
			conditions = append(conditions, func(i *item) bool { return some(wanted, i) })
		default:
			conditions = append(conditions, wanted...)
		}
		if len(unwanted) > 0 {
			conditions = append(conditions, func(i *item) bool { return !some(unwanted, i) })
		}
	}
	return conditions
}

func some(conditions []condition, i *item) bool {
	return slices.ContainsFunc(conditions, func(holds condition) bool { return holds(i) })
}

// filterValues reads a parameter or its not[...] form; lists are split.
func (c *call) filterValues(name, hash string) []string {
	if hash != "" {
		name = hash + "[" + name + "]"
	}
	switch strings.TrimSuffix(strings.TrimPrefix(name, "not["), "]") {
	case "iids", "labels", "assignee_username", "approved_by_ids", "approver_ids":
		return c.list(name + "[]")
	}
	return c.list(name)
}

func (c *call) matchers(name string, values []string, in string) []condition {
	var list []condition
	for _, value := range values {
		if name == "state" && value == "all" {
			continue
		}
		list = append(list, c.matcher(name, value, in))
	}
	return list
}

// matcher compares one parameter value with an issue.
func (c *call) matcher(name, value, in string) condition {
	switch name {
	case "search":
		return matchText(value, in)
	case "due_date":
		return matchDue(value, c.now())
	case "milestone", "milestone_id":
		return c.matchMilestone(name, value)
	case "created_after", "created_before", "updated_after", "updated_before":
		bound, _ := parseTime(value)
		field, side, _ := strings.Cut(name, "_")
		return func(i *item) bool {
			order := i.doc.time(field + "_at").Compare(bound)
			return order == 0 || (order > 0) == (side == "after")
		}
	}
	if side, found := strings.CutPrefix(name, "deployed_"); found {
		bound, _ := parseTime(value)
		return func(i *item) bool {
			return slices.ContainsFunc(i.mr.deployments, func(d deployment) bool {
				order := d.at.Compare(bound)
				return order == 0 || (order > 0) == (side == "after")
			})
		}
	}
	special := strings.ToLower(value)
	return func(i *item) bool {
		held := c.held(i, name)
		switch special {
		case "none", "no label":
			return len(held) == 0
		case "any":
			return len(held) > 0
		}
		return slices.ContainsFunc(held, func(h string) bool { return strings.EqualFold(h, value) })
	}
}

// held are the values of an issue that a parameter is compared with.
func (c *call) held(i *item, name string) []string {
	d := i.doc
	switch name {
	case "assignee_id":
		return each(d.assignees(), "id")
	case "assignee_username":
		return each(d.assignees(), "username")
	case "author_id":
		return plainText(d.Get("author.id"))
	case "author_username":
		return plainText(d.Get("author.username"))
	case "epic_id":
		return plainText(d.Get("epic.id"))
	case "iids":
		return plainText(d.Get("iid"))
	case "iteration_id":
		return plainText(d.Get("iteration.id"))
	case "iteration_title":
		return plainText(d.Get("iteration.title"))
	case "labels":
		return d.labels()
	case "my_reaction_emoji":
		return i.awarded(c.user)
	}
	if i.mr != nil && name != "state" {
		return heldByMergeRequest(i.mr, name)
	}
	return plainText(d.Get(name)) // confidential, health_status, issue_type, state, weight
}

func each(docs []*Document, field string) (values []string) {
	for _, d := range docs {
		values = append(values, plainText(d.Get(field))...)
	}
	return values
}

// plainText is a value as a query writes it; null and "" are nothing.
func plainText(value any) []string {
	switch v := value.(type) {
	case string:
		if v != "" {
			return []string{v}
		}
	case int64:
		return []string{strconv.FormatInt(v, 10)}
	case bool:
		return []string{strconv.FormatBool(v)}
	}
	return nil
}

// matchText finds all words of a search in the title or description.
func matchText(search, in string) condition {
	words := strings.Fields(strings.ToLower(search))
	return func(i *item) bool {
		var title, description string
		if in == "" || strings.Contains(in, "title") {
			title = strings.ToLower(i.doc.text("title"))
		}
		if in == "" || strings.Contains(in, "description") {
			description = strings.ToLower(i.doc.text("description"))
		}
		return !slices.ContainsFunc(words, func(w string) bool {
			return !strings.Contains(title, w) && !strings.Contains(description, w)
		})
	}
}

// matchDue understands the keywords of due_date.
func matchDue(keyword string, now time.Time) condition {
	today := now.Truncate(24 * time.Hour)
	monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
	first := today.AddDate(0, 0, 1-today.Day())
	from, to := today, today
	switch keyword {
	case "0":
		return func(i *item) bool { return i.doc.Get("due_date") == nil }
	case "any":
		return func(i *item) bool { return i.doc.Get("due_date") != nil }
	case "tomorrow":
		from, to = today.AddDate(0, 0, 1), today.AddDate(0, 0, 1)
	case "overdue":
		from, to = time.Time{}.Add(1), today.AddDate(0, 0, -1)
	case "week":
		from, to = monday, monday.AddDate(0, 0, 6)
	case "month":
		from, to = first, first.AddDate(0, 1, -1)
	case "next_month_and_previous_two_weeks":
		from, to = today.AddDate(0, 0, -14), first.AddDate(0, 2, -1)
	}
	return func(i *item) bool {
		due := i.doc.time("due_date")
		return !due.IsZero() && !due.Before(from) && !due.After(to)
	}
}

// matchMilestone understands titles, ids, None, Any, Upcoming (the next one due) and Started (begun and not over).
func (c *call) matchMilestone(name, value string) condition {
	today := c.now().Truncate(24 * time.Hour)
	field := "title"
	if name == "milestone_id" {
		field = "id"
	}
	return func(i *item) bool {
		m := i.doc.doc("milestone")
		switch keyword := strings.ToLower(value); {
		case keyword == "none":
			return m == nil
		case m == nil:
			return false
		case keyword == "any":
			return true
		case name == "milestone_id" && keyword == "upcoming":
			return m == i.project.tracker.upcoming(today)
		case name == "milestone_id" && keyword == "started":
			start, due := m.time("start_date"), m.time("due_date")
			return m.text("state") == "active" && !start.IsZero() && !start.After(today) && (due.IsZero() || !due.Before(today))
		}
		return slices.Contains(plainText(m.Get(field)), value)
	}
}
