package contractmodel

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// trackerWord reports whether a value is a predefined word, in any case.
func trackerWord(value string, words ...string) string {
	for _, word := range words {
		if strings.EqualFold(value, word) {
			return word
		}
	}
	return ""
}

// trackerEnum is a parameter with a list of values.
func trackerEnum(values []string, test func(it *trackerItem, value string) bool) trackerFilter {
	return func(r *trackerReader, given []string) trackerTest {
		if !slices.Contains(values, given[0]) {
			return r.wrong()
		}
		return func(it *trackerItem) trackerVerdict { return trackerSure(test(it, given[0])) }
	}
}

// trackerBoolean is a boolean parameter.
func trackerBoolean(test func(it *trackerItem, value bool) bool) trackerFilter {
	return trackerEnum([]string{"true", "false"}, func(it *trackerItem, value string) bool { return test(it, value == "true") })
}

// trackerIgnored is a parameter that selects nothing.
func trackerIgnored(*trackerItem, bool) bool { return true }

// trackerText is a text that is compared exactly.
func trackerText(field func(w *trackerWorld, it *trackerItem) string) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		return func(it *trackerItem) trackerVerdict { return trackerSure(field(r.w, it) == values[0]) }
	}
}

// trackerTextOrWord is a text for which None and Any are words.
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

// trackerNotText is a text inside of not. Its row does not name the words: whether None and Any are
// texts there, or words, is open.
func trackerNotText(literal, worded trackerFilter) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		a, b := literal(r, values), worded(r, values)
		return func(it *trackerItem) trackerVerdict { return trackerEither(a(it), b(it)) }
	}
}

// trackerNumbers is integers; all must be found.
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

// trackerIIDs finds those that have one of the numbers.
func trackerIIDs(r *trackerReader, values []string) trackerTest {
	if trackerNumbers(0, func(*trackerWorld, *trackerItem, int64) bool { return true })(r, values) == nil {
		return nil
	}
	return func(it *trackerItem) trackerVerdict {
		return trackerSure(slices.Contains(values, strconv.FormatInt(it.IID, 10)))
	}
}

// trackerIs compares a user by its id.
func trackerIs(field func(it *trackerItem) int) trackerFilter {
	return trackerNumber(func(w *trackerWorld, it *trackerItem, n int64) bool {
		return field(it) != trackerNobody && w.Users[field(it)].ID == n
	})
}

// trackerAmong looks for a user by its id.
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

// trackerName is a user's name; nobody has none.
func trackerName(w *trackerWorld, user int) string {
	if user == trackerNobody {
		return ""
	}
	return w.Users[user].Name
}

func trackerAuthorName(w *trackerWorld, it *trackerItem) string { return trackerName(w, it.Author) }

func trackerMergeUserName(w *trackerWorld, it *trackerItem) string {
	return trackerName(w, it.MergeUser)
}

// trackerNames looks for users by their names. Whether all of several must be there, or one, is
// open.
func trackerNames(field func(it *trackerItem) []int) trackerFilter {
	return func(r *trackerReader, values []string) trackerTest {
		return func(it *trackerItem) trackerVerdict {
			all, one := true, false
			for _, value := range values {
				has := slices.ContainsFunc(field(it), func(u int) bool { return r.w.Users[u].Name == value })
				all, one = all && has, one || has
			}
			return trackerEither(trackerSure(all), trackerSure(one))
		}
	}
}

// trackerAssigneeNames: the community edition takes one value only. Whether the Free tier is it is
// open.
func trackerAssigneeNames(r *trackerReader, values []string) trackerTest {
	if len(values) > 1 && r.w.Tier == "free" {
		r.mayRefuse(http.StatusBadRequest)
	}
	return trackerNames(trackerAssignees)(r, values)
}

// trackerLabels: all of the labels, separated by commas. None and Any are words; whether they are
// in a list of several labels is open, and whether the rest of the list counts then.
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

// trackerLabelNames compares labels exactly. Whether not[labels] excludes what has all of them, or
// what has one of them, is open.
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

// trackerReaction is the requester's. Somebody without credentials has none, or the filter means
// nothing for them: that is open.
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

// trackerParseTime reads ISO 8601. Whether a date alone is a datetime is open.
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

// trackerBound is an inclusive bound.
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

// searched reads search and in, and their forms in the hash.
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
	other := places // which of the two not[search] looks into without not[in] is open
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

// checkPlaces: title, description, or both joined by a comma. The order of the two is open.
func (r *trackerReader) checkPlaces(places string) {
	switch places {
	case "title", "description", "title,description":
	case "description,title":
		r.mayRefuse(http.StatusBadRequest)
	default:
		r.wrong()
	}
}

// trackerSearch finds a text without regard to case. Whether a search of several words finds the
// words apart from each other is open.
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
