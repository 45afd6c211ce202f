package contractmodel

import (
	"maps"
	"slices"
)

// mrTable models document 2 §4.2.1. On deployed servers the project list also accepts in and
// deployed_*.
func mrTable(global bool) *trackerTable {
	rows, not := trackerShared(), trackerSharedNot()
	maps.Copy(rows, mrRows())
	not["assignee_username"] = trackerRow{"", trackerNames(trackerAssignees)}
	not["reviewer_id"] = trackerRow{"", trackerAmong(trackerReviewers)}
	not["reviewer_username"] = trackerRow{"", trackerNotText(trackerNames(trackerReviewers), trackerWords(trackerNames(trackerReviewers), trackerHasReviewer))}
	not["my_reaction_emoji"] = trackerRow{"", trackerNotText(trackerReaction(false), trackerReaction(true))}
	orders := map[string]trackerOrder{
		"created_at": trackerByNumbers(trackerCreated), "updated_at": trackerByNumbers(trackerUpdated), "title": trackerByTitle,
	}
	if global {
		orders["merged_at"] = trackerByNumbers(trackerMerged)
	} else {
		rows["iids[]"] = trackerRow{"", trackerIIDs}
	}
	return &trackerTable{
		rows: rows, not: not, orders: orders, own: global, places: true,
		exclusive: [][2]string{
			{"author_id", "author_username"}, {"merge_user_id", "merge_user_username"},
			{"reviewer_id", "reviewer_username"}, {"assignee_id", "assignee_username"},
		},
	}
}

// mrRows returns the rows that issues do not have.
func mrRows() map[string]trackerRow {
	return map[string]trackerRow{
		"approved_by_ids[]":   {"premium", trackerNumbers(5, mrApprovedBy)},
		"approved_by_ids":     {"premium", mrWordsOnly(func(it *trackerItem) []int { return it.Approved })},
		"approver_ids[]":      {"premium", mrApprovers},
		"approver_ids":        {"premium", mrWordsOnly(func(it *trackerItem) []int { return it.Approvers })},
		"merge_user_id":       {"", trackerIs(trackerMergeUser)},
		"merge_user_username": {"", trackerText(trackerMergeUserName)},
		"reviewer_id":         {"", trackerWords(trackerAmong(trackerReviewers), trackerHasReviewer)},
		// The row describes None and Any once for the ID and the name. Open: whether the name
		// accepts them.
		"reviewer_username": {"", trackerNotText(trackerNames(trackerReviewers), trackerWords(trackerNames(trackerReviewers), trackerHasReviewer))},
		"source_branch":     {"", trackerText(func(_ *trackerWorld, it *trackerItem) string { return it.Source })},
		"target_branch":     {"", trackerText(func(_ *trackerWorld, it *trackerItem) string { return it.Target })},
		"state":             {"", trackerEnum([]string{"opened", "closed", "locked", "merged", "all"}, trackerState)},
		"view":              {"", trackerEnum([]string{"simple"}, func(*trackerItem, string) bool { return true })},
		"wip":               {"", trackerEnum([]string{"yes", "no"}, func(it *trackerItem, value string) bool { return it.Draft == (value == "yes") })},

		"with_merge_status_recheck": {"", trackerBoolean(trackerIgnored)},
	}
}

func mrApprovedBy(w *trackerWorld, it *trackerItem, id int64) bool {
	return w.user(id) >= 0 && slices.Contains(it.Approved, w.user(id))
}

// mrApprovers filters by approvers. Open: whether all of the given users must be approvers, or one.
func mrApprovers(r *trackerReader, values []string) trackerTest {
	is := func(w *trackerWorld, it *trackerItem, id int64) bool {
		return w.user(id) >= 0 && slices.Contains(it.Approvers, w.user(id))
	}
	all := trackerNumbers(0, is)(r, values)
	if all == nil {
		return nil
	}
	return func(it *trackerItem) trackerVerdict {
		for _, value := range values {
			if trackerNumber(is)(r, []string{value})(it) == trackerYes {
				return trackerEither(trackerYes, all(it))
			}
		}
		return trackerNo
	}
}

// mrWordsOnly filters by an array of IDs in the form of one value. The documents do not show how
// the words None and Any are sent, nor whether one ID may have this form.
func mrWordsOnly(field func(it *trackerItem) []int) trackerFilter {
	return trackerWords(func(r *trackerReader, _ []string) trackerTest { return r.wrong() },
		func(_ *trackerWorld, it *trackerItem) bool { return len(field(it)) > 0 })
}

// deployed filters by environment, deployed_after and deployed_before. Open: whether the bounds are
// inclusive, and whether one deployment must match all three.
func (r *trackerReader) deployed() {
	type test func(d trackerDeploy) trackerVerdict
	var tests []test
	if r.q.Params.Has("environment") {
		tests = append(tests, func(d trackerDeploy) trackerVerdict { return trackerSure(d.Environment == r.get("environment")) })
	}
	for name, sign := range map[string]int{"deployed_after": 1, "deployed_before": -1} {
		if !r.q.Params.Has(name) {
			continue
		}
		bound, ok := trackerParseTime(r, r.get(name))
		if !ok {
			return
		}
		tests = append(tests, func(d trackerDeploy) trackerVerdict {
			switch sign * r.w.Now.Add(-d.Ago).Compare(bound) {
			case 0:
				return trackerMaybe
			case 1:
				return trackerYes
			}
			return trackerNo
		})
	}
	if len(tests) == 0 {
		return
	}
	r.add(func(it *trackerItem) trackerVerdict {
		together, apart := trackerNo, trackerYes
		for _, deploy := range it.Deploys {
			all := trackerYes
			for _, test := range tests {
				all = min(all, test(deploy))
			}
			together = max(together, all)
		}
		for _, test := range tests {
			once := trackerNo
			for _, deploy := range it.Deploys {
				once = max(once, test(deploy))
			}
			apart = min(apart, once)
		}
		return trackerEither(together, apart)
	})
}
