package contractmodel

import (
	"maps"
	"time"
)

// trackerTables returns the parameters of the four lists.
func trackerTables() map[string]*trackerTable {
	return map[string]*trackerTable{
		trackerIssues: issueTable(true), trackerGroupIssues: issueTable(false),
		trackerMerges: mrTable(true), trackerProjectMerges: mrTable(false),
	}
}

// trackerShared returns the rows of both issues and merge requests.
func trackerShared() map[string]trackerRow {
	created, updated := func(it *trackerItem) time.Time { return it.Created }, func(it *trackerItem) time.Time { return it.Updated }
	return map[string]trackerRow{
		"assignee_id":         {"", trackerWords(trackerAmong(trackerAssignees), trackerHasAssignee)},
		"author_id":           {"", trackerIs(trackerAuthor)},
		"author_username":     {"", trackerText(trackerAuthorName)},
		"created_after":       {"", trackerBound(created, true)},
		"created_before":      {"", trackerBound(created, false)},
		"updated_after":       {"", trackerBound(updated, true)},
		"updated_before":      {"", trackerBound(updated, false)},
		"labels":              {"", trackerLabels()},
		"milestone":           {"", trackerTextOrWord(trackerMilestoneTitle)},
		"my_reaction_emoji":   {"", trackerReaction(true)},
		"with_labels_details": {"", trackerBoolean(trackerIgnored)},
	}
}

// trackerSharedNot returns the keys of not[] of all four lists.
func trackerSharedNot() map[string]trackerRow {
	return map[string]trackerRow{
		"assignee_id":     {"", trackerAmong(trackerAssignees)},
		"author_id":       {"", trackerIs(trackerAuthor)},
		"author_username": {"", trackerText(trackerAuthorName)},
		"labels":          {"", trackerNotText(trackerLabelNames(true), trackerNotLabels)},
		"milestone":       {"", trackerNotText(trackerText(trackerMilestoneTitle), trackerTextOrWord(trackerMilestoneTitle))},
	}
}

// trackerNotLabels filters by not[labels], with the special words of labels.
func trackerNotLabels(r *trackerReader, values []string) trackerTest {
	if trackerWord(values[0], "None", "Any", "No Label") != "" {
		return trackerLabels("No Label")(r, values)
	}
	return trackerLabelNames(true)(r, values)
}

// issueTable models document 2 §4.1.1. On deployed servers the group list also accepts
// health_status, milestone_id and in, and both lists accept not[weight], not[iteration_*] and
// not[milestone_id].
func issueTable(global bool) *trackerTable {
	rows, not := trackerShared(), trackerSharedNot()
	maps.Copy(rows, issueRows())
	not["assignee_username[]"] = trackerRow{"", trackerAssigneeNames}
	not["iteration_id"] = trackerRow{"premium", trackerNumber(issueHasIteration)}
	not["iteration_title"] = trackerRow{"premium", trackerText(issueIterationTitle)}
	not["weight"] = trackerRow{"premium", trackerNumber(issueHasWeight)}
	not["milestone_id"] = trackerRow{"", issueMilestoneWords}
	orders := map[string]trackerOrder{
		"created_at": trackerByNumbers(trackerCreated), "updated_at": trackerByNumbers(trackerUpdated),
		"due_date": trackerByNumbers(trackerDue), "label_priority": trackerByNumbers(trackerLabelPriority),
		"milestone_due": trackerByNumbers(trackerMilestoneDue), "popularity": trackerByNumbers(trackerPopularity),
		// Document 2 defines only priority. GitLab sorts by the milestone first, then by the
		// label.
		"priority":          trackerByNumbers(trackerMilestoneDue, trackerLabelPriority),
		"relative_position": trackerAnyOrder, "weight": trackerByNumbers(trackerWeight),
	}
	if global {
		orders["title"] = trackerByTitle
		not["iids[]"] = trackerRow{"", trackerIIDs}
	} else {
		not["my_reaction_emoji"] = trackerRow{"", trackerNotText(trackerReaction(false), trackerReaction(true))}
		not["search"] = trackerRow{"", func(*trackerReader, []string) trackerTest { return nil }}
		not["in"] = not["search"]
	}
	return &trackerTable{
		rows: rows, not: not, orders: orders, own: global, places: true,
		exclusive: [][2]string{
			{"assignee_id", "assignee_username"}, {"author_id", "author_username"},
			{"iteration_id", "iteration_title"}, {"milestone_id", "milestone"},
		},
	}
}

// issueRows returns the rows that merge requests do not have.
func issueRows() map[string]trackerRow {
	due := []string{"0", "any", "today", "tomorrow", "overdue", "week", "month", "next_month_and_previous_two_weeks"}
	return map[string]trackerRow{
		"labels":              {"", trackerLabels("No Label")}, // None is deprecated
		"assignee_username[]": {"", trackerAssigneeNames},
		"confidential":        {"", trackerBoolean(func(it *trackerItem, value bool) bool { return it.Confidential == value })},
		"due_date": {"", func(r *trackerReader, values []string) trackerTest {
			if trackerEnum(due, func(*trackerItem, string) bool { return true })(r, values) == nil {
				return nil
			}
			return func(it *trackerItem) trackerVerdict { return issueDue(r.w, it, values[0]) }
		}},
		"epic_id": {"premium", trackerWords(
			trackerNumber(func(_ *trackerWorld, it *trackerItem, n int64) bool { return it.Epic != 0 && int64(it.Epic) == n }),
			func(_ *trackerWorld, it *trackerItem) bool { return it.Epic != 0 })},
		"health_status":   {"ultimate", trackerTextOrWord(func(_ *trackerWorld, it *trackerItem) string { return it.Health })},
		"iids[]":          {"", trackerIIDs},
		"issue_type":      {"", trackerEnum([]string{"issue", "incident", "test_case", "task"}, func(it *trackerItem, value string) bool { return it.Type == value })},
		"iteration_id":    {"premium", trackerWords(trackerNumber(issueHasIteration), func(_ *trackerWorld, it *trackerItem) bool { return it.Iteration != 0 })},
		"iteration_title": {"premium", trackerText(issueIterationTitle)},
		"milestone_id":    {"", issueMilestoneWords},
		"non_archived":    {"", trackerBoolean(trackerIgnored)},
		"state":           {"", trackerEnum([]string{"all", "opened", "closed"}, trackerState)},
		"weight":          {"premium", trackerWords(trackerNumber(issueHasWeight), func(_ *trackerWorld, it *trackerItem) bool { return it.Weight != trackerNobody })},
	}
}

func trackerState(it *trackerItem, value string) bool { return value == "all" || it.State == value }

func issueHasIteration(_ *trackerWorld, it *trackerItem, n int64) bool {
	return it.Iteration != 0 && int64(it.Iteration) == n
}

func issueIterationTitle(_ *trackerWorld, it *trackerItem) string {
	return trackerIterationTitle(it.Iteration)
}

func issueHasWeight(_ *trackerWorld, it *trackerItem, n int64) bool {
	return it.Weight != trackerNobody && int64(it.Weight) == n
}

// issueMilestoneWords accepts only the four words of milestone_id. The documents do not define
// Upcoming and Started. In GitLab, Upcoming is the project's open milestone with the next due date
// after today, and Started is every open milestone that has begun. Open: whether a milestone after
// its due date is started.
func issueMilestoneWords(r *trackerReader, values []string) trackerTest {
	word := trackerWord(values[0], "None", "Any", "Upcoming", "Started")
	if word == "" {
		return r.wrong()
	}
	return func(it *trackerItem) trackerVerdict {
		m := r.w.milestone(it)
		switch {
		case m == nil || word == "None":
			return trackerSure((m == nil) == (word == "None"))
		case word == "Any":
			return trackerYes
		case word == "Upcoming":
			return issueUpcoming(r.w.Projects[it.Project].Milestones, m)
		case m.Closed || m.Start == trackerNoDay || m.Start > 0:
			return trackerNo
		case m.Due < 0:
			return trackerMaybe
		}
		return trackerYes
	}
}

// issueUpcoming compares a milestone with the nearest due date after today among the open
// milestones of the project. Open: whether all milestones with that date are upcoming, or one.
func issueUpcoming(milestones []trackerMilestone, m *trackerMilestone) trackerVerdict {
	next, count := trackerNoDay, 0
	for _, other := range milestones {
		if other.Closed || other.Due <= 0 || other.Due > next || other.Due == trackerNoDay {
			continue
		}
		if other.Due < next {
			next, count = other.Due, 0
		}
		count++
	}
	switch {
	case m.Closed || m.Due != next || next == trackerNoDay:
		return trackerNo
	case count > 1:
		return trackerMaybe
	}
	return trackerYes
}

// issueDue compares a due date with a keyword. The documents only list the keywords. Open: whether
// a closed issue is overdue, and whether a week begins on Monday or on Sunday.
func issueDue(w *trackerWorld, it *trackerItem, word string) trackerVerdict {
	if word == "0" || it.Due == trackerNoDay {
		return trackerSure((word == "0") == (it.Due == trackerNoDay))
	}
	today := w.today()
	due := today.AddDate(0, 0, it.Due)
	switch word {
	case "today":
		return trackerSure(it.Due == 0)
	case "tomorrow":
		return trackerSure(it.Due == 1)
	case "overdue":
		if it.Due < 0 && it.State != "opened" {
			return trackerMaybe
		}
		return trackerSure(it.Due < 0)
	case "week":
		sunday := today.AddDate(0, 0, -int(today.Weekday()))
		monday := today.AddDate(0, 0, -(int(today.Weekday())+6)%7)
		in := func(start time.Time) bool { return !due.Before(start) && due.Before(start.AddDate(0, 0, 7)) }
		return trackerEither(trackerSure(in(sunday)), trackerSure(in(monday)))
	case "month":
		return trackerSure(due.Year() == today.Year() && due.Month() == today.Month())
	case "next_month_and_previous_two_weeks":
		end := time.Date(today.Year(), today.Month()+2, 1, 0, 0, 0, 0, time.UTC)
		return trackerSure(it.Due >= -14 && due.Before(end))
	}
	return trackerYes // any
}
