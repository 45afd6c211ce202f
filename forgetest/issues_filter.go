package forgetest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// condition is one condition of a filtered list of issues or merge requests.
type condition func(*item) bool

func allHold(conditions []condition, i *item) bool {
	for _, holds := range conditions {
		if !holds(i) {
			return false
		}
	}
	return true
}

// filters reports whether a parameter of a list is compared with the records. The other parameters
// select the scope, the order or the form of the list.
func (p parameter) filters() bool {
	switch p.Name {
	case "in", "non_archived", "order_by", "page", "per_page", "scope", "sort", "view", "with_labels_details", "with_merge_status_recheck":
		return false
	}
	return true
}

// conditions returns the conditions of the query.
func (c *call) conditions() (conditions []condition) {
	byDefault, _ := find(c.route.endpoint.QueryParams, "scope").Default.(string)
	switch c.textOr("scope", byDefault) {
	case "created_by_me":
		conditions = append(conditions, func(i *item) bool { return i.writtenBy(c.user) })
	case "assigned_to_me":
		conditions = append(conditions, func(i *item) bool { return i.assignedTo(c.user) })
	}
	for _, p := range c.route.endpoint.QueryParams {
		for _, key := range p.Keys {
			if unwanted := c.matchers(key, c.text("not[in]")); len(unwanted) > 0 {
				conditions = append(conditions, func(i *item) bool { return !anyHolds(unwanted, i) })
			}
		}
		switch wanted := c.matchers(p, c.text("in")); {
		case len(wanted) > 0 && p.Name == "iids":
			conditions = append(conditions, func(i *item) bool { return anyHolds(wanted, i) })
		default:
			conditions = append(conditions, wanted...)
		}
	}
	return conditions
}

func anyHolds(conditions []condition, i *item) bool {
	return slices.ContainsFunc(conditions, func(holds condition) bool { return holds(i) })
}

// matchers returns the conditions of a parameter or of a key of a hash, one for each value.
func (c *call) matchers(p parameter, in string) (list []condition) {
	if !p.filters() {
		return nil
	}
	for _, value := range c.values(p) {
		if p.Name == "state" && value == "all" {
			continue
		}
		if id, isID := parseID(value); isID && strings.Contains(p.Type, "integer") {
			value = decimal(id)
		}
		list = append(list, c.matcher(p, value, in))
	}
	return list
}

// matcher returns the condition that a record has a value. The comparison is exact, unless the
// value is a keyword of the parameter.
func (c *call) matcher(p parameter, value, in string) condition {
	name, word := p.Name, c.keywordOf(p, value)
	switch name {
	case "search":
		return matchText(value, in)
	case "due_date":
		return matchDue(value, c.server.now())
	case "milestone_id":
		return c.matchMilestone(word)
	case "iteration_id":
		if word == "current" {
			return iterationAt(c.server.now())
		}
	case "created_after", "created_before", "updated_after", "updated_before", "merged_after", "merged_before":
		bound, _ := parseTime(value)
		field, side, _ := strings.Cut(name, "_")
		return func(i *item) bool {
			at, known := i.doc.Get(field + "_at").(time.Time)
			order := at.Compare(bound)
			return known && (order == 0 || (order > 0) == (side == "after"))
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
	return func(i *item) bool {
		held := c.fieldValues(i, name)
		switch word {
		case "none":
			return len(held) == 0
		case "any":
			return len(held) > 0
		}
		return slices.Contains(held, value)
	}
}

// fieldValues returns the values of an issue that a parameter is compared with.
func (c *call) fieldValues(i *item, name string) []string {
	d := i.doc
	switch name {
	case "assignee_id":
		return fieldTexts(d.assignees(), "id")
	case "assignee_username":
		return fieldTexts(d.assignees(), "username")
	case "author_id":
		return queryText(d.Get("author.id"))
	case "author_username":
		return queryText(d.Get("author.username"))
	case "confidential":
		return queryText(d.bool(name)) // null is false
	case "closed_by_id":
		return queryText(d.Get("closed_by.id"))
	case "epic_id":
		return queryText(d.Get("epic.id"))
	case "iids":
		return queryText(d.Get("iid"))
	case "iteration_id":
		return queryText(d.Get("iteration.id"))
	case "iteration_title":
		return queryText(d.Get("iteration.title"))
	case "labels":
		return d.labels()
	case "milestone":
		return queryText(d.Get("milestone.title"))
	case "my_reaction_emoji":
		return i.awarded(c.user)
	}
	if i.mr != nil {
		return mergeRequestFieldValues(i.mr, name)
	}
	return queryText(d.Get(name)) // health_status, issue_type, state, weight
}

func fieldTexts(docs []*Document, field string) (values []string) {
	for _, d := range docs {
		values = append(values, queryText(d.Get(field))...)
	}
	return values
}

// queryText returns a value in the form of a query; nil for null and "".
func queryText(value any) []string {
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

// matchText returns the condition that the title or description contains each word of a search.
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

// matchDue returns the condition of a keyword of due_date.
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
		from, to = time.Time{}, today.AddDate(0, 0, -1)
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

// iterationAt returns the condition that a day is in the record's iteration.
func iterationAt(now time.Time) condition {
	today := now.Truncate(24 * time.Hour)
	return func(i *item) bool {
		iteration := i.doc.doc("iteration")
		return iteration != nil && !iteration.time("start_date").After(today) && !iteration.time("due_date").Before(today)
	}
}

// matchMilestone supports None, Any, Upcoming and Started. The documents do not define the last
// two. The interpretation: Upcoming is the open milestone of the project with the earliest due date
// after today, whether it has started or not. Started is an open milestone that began today or
// earlier and is not past its due date.
func (c *call) matchMilestone(word string) condition {
	today := c.server.now().Truncate(24 * time.Hour)
	return func(i *item) bool {
		m := i.doc.doc("milestone")
		switch {
		case word == "none":
			return m == nil
		case m == nil:
			return false
		case word == "upcoming":
			return m == i.project.tracker.upcoming(today)
		case word == "started":
			start, due := m.time("start_date"), m.time("due_date")
			return m.text("state") == "active" && !start.IsZero() && !start.After(today) && (due.IsZero() || !due.Before(today))
		}
		return true
	}
}
