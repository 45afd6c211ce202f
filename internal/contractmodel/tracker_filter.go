package contractmodel

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trackerWord returns the predefined word that a value has in any case, or "".
func trackerWord(value string, words ...string) string {
	for _, word := range words {
		if strings.EqualFold(value, word) {
			return word
		}
	}
	return ""
}

// trackerEnum filters by a parameter with a list of values.
func trackerEnum(values []string, test func(it *trackerItem, value string) bool) trackerFilter {
	return func(r *trackerReader, given []string) trackerTest {
		if !slices.Contains(values, given[0]) {
			return r.wrong()
		}
		return func(it *trackerItem) trackerVerdict { return trackerSure(test(it, given[0])) }
	}
}

// trackerBoolean filters by a boolean parameter.
func trackerBoolean(test func(it *trackerItem, value bool) bool) trackerFilter {
	return trackerEnum([]string{"true", "false"}, func(it *trackerItem, value string) bool { return test(it, value == "true") })
}

// trackerIgnored is the test of a parameter that selects nothing.
func trackerIgnored(*trackerItem, bool) bool { return true }

// trackerText filters by a text that is compared exactly.
func trackerText(field func(w *trackerWorld, it *trackerItem) string) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		return func(it *trackerItem) trackerVerdict { return trackerSure(field(r.w, it) == values[0]) }
	}
}

// trackerTextOrWord filters by a text, or by the words None and Any.
func trackerTextOrWord(field func(w *trackerWorld, it *trackerItem) string) trackerFilter {
	return trackerWords(trackerText(field), func(w *trackerWorld, it *trackerItem) bool { return field(w, it) != "" })
}

// trackerWords adds None and Any to a filter.
func trackerWords(filter trackerFilter, has func(w *trackerWorld, it *trackerItem) bool) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		switch trackerWord(values[0], "None", "Any") {
		case "None":
			return func(it *trackerItem) trackerVerdict { return trackerSure(!has(r.w, it)) }
		case "Any":
			return func(it *trackerItem) trackerVerdict { return trackerSure(has(r.w, it)) }
		}
		return filter(r, values)
	}
}

// trackerNotText filters by a text in not[]. Its row does not list the words. Open: whether None
// and Any are words there, or texts.
func trackerNotText(literal, worded trackerFilter) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		a, b := literal(r, values), worded(r, values)
		return func(it *trackerItem) trackerVerdict { return trackerEither(a(it), b(it)) }
	}
}

// trackerNumbers filters by integers, at most most if it is not 0. All must match.
func trackerNumbers(most int, test func(w *trackerWorld, it *trackerItem, n int64) bool) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		var numbers []int64
		for _, value := range values {
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				return r.wrong()
			}
			numbers = append(numbers, n)
		}
		if most > 0 && len(numbers) > most {
			return r.wrong()
		}
		return func(it *trackerItem) trackerVerdict {
			return trackerSure(!slices.ContainsFunc(numbers, func(n int64) bool { return !test(r.w, it, n) }))
		}
	}
}

func trackerNumber(test func(w *trackerWorld, it *trackerItem, n int64) bool) trackerFilter {
	return trackerNumbers(1, test)
}

// trackerIIDs filters by IIDs. One of them must match.
func trackerIIDs(r *trackerReader, values []string) trackerTest {
	if trackerNumbers(0, func(*trackerWorld, *trackerItem, int64) bool { return true })(r, values) == nil {
		return nil
	}
	return func(it *trackerItem) trackerVerdict {
		return trackerSure(slices.Contains(values, strconv.FormatInt(it.IID, 10)))
	}
}

// trackerIs compares a user by ID.
func trackerIs(field func(it *trackerItem) int) trackerFilter {
	return trackerNumber(func(w *trackerWorld, it *trackerItem, n int64) bool {
		return field(it) != trackerNobody && w.Users[field(it)].ID == n
	})
}

// trackerAmong reports whether the user with an ID is in a field.
func trackerAmong(field func(it *trackerItem) []int) trackerFilter {
	return trackerNumber(func(w *trackerWorld, it *trackerItem, n int64) bool {
		user := w.user(n)
		return user >= 0 && slices.Contains(field(it), user)
	})
}

func trackerAuthor(it *trackerItem) int { return it.Author }

func trackerMergeUser(it *trackerItem) int { return it.MergeUser }

func trackerAssignees(it *trackerItem) []int { return it.Assignees }

func trackerReviewers(it *trackerItem) []int { return it.Reviewers }

func trackerHasAssignee(_ *trackerWorld, it *trackerItem) bool { return len(it.Assignees) > 0 }

func trackerHasReviewer(_ *trackerWorld, it *trackerItem) bool { return len(it.Reviewers) > 0 }

// trackerName returns a user's name; "" if there is no user.
func trackerName(w *trackerWorld, user int) string {
	if user == trackerNobody {
		return ""
	}
	return w.Users[user].Username
}

func trackerAuthorName(w *trackerWorld, it *trackerItem) string { return trackerName(w, it.Author) }

func trackerMergeUserName(w *trackerWorld, it *trackerItem) string {
	return trackerName(w, it.MergeUser)
}

// trackerNames filters by names of users. Open: whether all of several must match, or one.
func trackerNames(field func(it *trackerItem) []int) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		return func(it *trackerItem) trackerVerdict {
			all, one := true, false
			for _, value := range values {
				has := slices.ContainsFunc(field(it), func(u int) bool { return r.w.Users[u].Username == value })
				all, one = all && has, one || has
			}
			return trackerEither(trackerSure(all), trackerSure(one))
		}
	}
}

// trackerAssigneeNames filters by names of assignees. GitLab Community Edition accepts only one.
// Open: whether the Free tier is the Community Edition.
func trackerAssigneeNames(r *trackerReader, values []string) trackerTest {
	if len(values) > 1 && r.w.Tier == "free" {
		r.mayRefuse(http.StatusBadRequest)
	}
	return trackerNames(trackerAssignees)(r, values)
}

// trackerLabels filters by labels, separated by commas. All must match. None and Any are words.
// Open: whether they are words in a list of several labels, and whether the other labels count
// then.
func trackerLabels(words ...string) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		names := strings.Split(values[0], ",")
		literal := trackerLabelNames(false)(r, values)
		worded := func(it *trackerItem, name string) trackerVerdict {
			switch trackerWord(name, append(words, "None", "Any")...) {
			case "":
				return trackerSure(slices.Contains(it.Labels, name))
			case "Any":
				return trackerSure(len(it.Labels) > 0)
			}
			return trackerSure(len(it.Labels) == 0)
		}
		return func(it *trackerItem) trackerVerdict {
			all, alone := trackerYes, trackerMaybe
			for _, name := range names {
				all = min(all, worded(it, name))
				if trackerWord(name, append(words, "None", "Any")...) != "" {
					alone = worded(it, name)
				}
			}
			if alone == trackerMaybe || len(names) == 1 {
				return all
			}
			return trackerEither(trackerEither(all, alone), literal(it))
		}
	}
}

// trackerLabelNames compares labels exactly. Open: whether not[labels] excludes items with all of
// the labels, or with one of them.
func trackerLabelNames(inNot bool) trackerFilter {
	return func(_ *trackerReader, values []string) trackerTest {
		names := strings.Split(values[0], ",")
		return func(it *trackerItem) trackerVerdict {
			found := 0
			for _, name := range names {
				if slices.Contains(it.Labels, name) {
					found++
				}
			}
			if inNot && found > 0 && found < len(names) {
				return trackerMaybe
			}
			return trackerSure(found == len(names))
		}
	}
}

func trackerMilestoneTitle(w *trackerWorld, it *trackerItem) string {
	if m := w.milestone(it); m != nil {
		return m.Title
	}
	return ""
}

// trackerReaction filters by the requester's reaction. Open: whether a requester without a
// credential has no reaction, or the filter has no effect.
func trackerReaction(words bool) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		word := trackerWord(values[0], "None", "Any")
		if !words {
			word = ""
		}
		if r.q.Who == trackerNobody {
			return func(*trackerItem) trackerVerdict { return trackerMaybe }
		}
		return func(it *trackerItem) trackerVerdict {
			var some, same bool
			for _, award := range it.Awards {
				mine := award.User == r.q.Who
				some, same = some || mine, same || mine && award.Emoji == values[0]
			}
			switch word {
			case "None":
				return trackerSure(!some)
			case "Any":
				return trackerSure(some)
			}
			return trackerSure(same)
		}
	}
}

// trackerParseTime parses an ISO 8601 time. Open: whether a date alone is a valid time.
func trackerParseTime(r *trackerReader, value string) (time.Time, bool) {
	if t, err := time.Parse(time.RFC3339Nano, value); err == nil {
		return t, true
	}
	if t, err := time.Parse(time.DateOnly, value); err == nil {
		r.mayRefuse(http.StatusBadRequest)
		return t, true
	}
	r.wrong()
	return time.Time{}, false
}

// trackerBound filters by an inclusive bound.
func trackerBound(field func(it *trackerItem) time.Time, after bool) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		bound, ok := trackerParseTime(r, values[0])
		if !ok {
			return nil
		}
		return func(it *trackerItem) trackerVerdict {
			if after {
				return trackerSure(!field(it).Before(bound))
			}
			return trackerSure(!field(it).After(bound))
		}
	}
}

// searched filters by search and in, and by their forms in not[].
func (r *trackerReader) searched() {
	places := "title,description"
	if r.table.places && r.q.Params.Has("in") {
		places = r.get("in")
		r.checkPlaces(places)
	}
	if term := r.get("search"); term != "" {
		r.add(trackerSearch(term, places))
	}
	if _, ok := r.table.not["search"]; !ok {
		return
	}
	other := places // open: whether not[search] without not[in] searches these or the default places
	places = "title,description"
	if r.q.Params.Has("not[in]") {
		places, other = r.get("not[in]"), r.get("not[in]")
		r.checkPlaces(places)
	}
	if term := r.get("not[search]"); term != "" {
		a, b := trackerSearch(term, places), trackerSearch(term, other)
		r.add(func(it *trackerItem) trackerVerdict { return trackerEither(a(it), b(it)).not() })
	}
}

// checkPlaces checks the value of in: title, description, or both with a comma. Open: whether their
// order matters.
func (r *trackerReader) checkPlaces(places string) {
	switch places {
	case "title", "description", "title,description":
	case "description,title":
		r.mayRefuse(http.StatusBadRequest)
	default:
		r.wrong()
	}
}

// trackerSearch searches for a text and ignores case. Open: whether several words may match
// separately.
func trackerSearch(term, places string) trackerTest {
	return func(it *trackerItem) trackerVerdict {
		var fields []string
		if strings.Contains(places, "title") {
			fields = append(fields, strings.ToLower(it.Title))
		}
		if strings.Contains(places, "description") {
			fields = append(fields, strings.ToLower(it.Description))
		}
		has := func(text string) bool {
			return slices.ContainsFunc(fields, func(field string) bool { return strings.Contains(field, strings.ToLower(text)) })
		}
		if has(term) {
			return trackerYes
		}
		for _, word := range strings.Fields(term) {
			if !has(word) {
				return trackerNo
			}
		}
		return trackerMaybe
	}
}
