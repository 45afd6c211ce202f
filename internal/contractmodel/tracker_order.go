package contractmodel

import (
	"cmp"
	"math"
	"strings"
	"time"
)

// trackerOrder compares two items of a list: negative if a comes before b, positive if after. It
// returns false if the documents leave their order open.
type trackerOrder func(w *trackerWorld, a, b *trackerItem, desc bool) (int, bool)

// trackerNull is the number of a missing value. The documents do not define its position. The model
// puts it last in both directions, in each part of a key.
const trackerNull = math.MaxInt64

// trackerByNumbers sorts by several numbers.
func trackerByNumbers(keys ...func(w *trackerWorld, it *trackerItem) int64) trackerOrder {
	return func(w *trackerWorld, a, b *trackerItem, desc bool) (int, bool) {
		for _, key := range keys {
			x, y := key(w, a), key(w, b)
			order := cmp.Compare(x, y)
			if desc && x != trackerNull && y != trackerNull {
				order = -order
			}
			if order != 0 {
				return order, true
			}
		}
		return trackerTie(a, b, desc), true
	}
}

// trackerTie breaks a tie by ID.
func trackerTie(a, b *trackerItem, desc bool) int {
	if desc {
		return cmp.Compare(b.ID, a.ID)
	}
	return cmp.Compare(a.ID, b.ID)
}

// trackerAnyOrder accepts any order: the documents do not define the key.
func trackerAnyOrder(*trackerWorld, *trackerItem, *trackerItem, bool) (int, bool) { return 0, false }

// trackerByTitle sorts by title. If the order depends on case, it is open.
func trackerByTitle(_ *trackerWorld, a, b *trackerItem, desc bool) (int, bool) {
	exact, folded := strings.Compare(a.Title, b.Title), strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title))
	if exact == 0 {
		return trackerTie(a, b, desc), true
	}
	if exact != folded {
		return 0, false
	}
	if desc {
		return -exact, true
	}
	return exact, true
}

func trackerTime(t time.Time) int64 {
	if t.IsZero() {
		return trackerNull
	}
	return t.UnixNano()
}

func trackerCreated(_ *trackerWorld, it *trackerItem) int64 { return trackerTime(it.Created) }

func trackerUpdated(_ *trackerWorld, it *trackerItem) int64 { return trackerTime(it.Updated) }

func trackerMerged(_ *trackerWorld, it *trackerItem) int64 { return trackerTime(it.Merged) }

func trackerDay(day int) int64 {
	if day == trackerNoDay {
		return trackerNull
	}
	return int64(day)
}

func trackerDue(_ *trackerWorld, it *trackerItem) int64 { return trackerDay(it.Due) }

func trackerMilestoneDue(w *trackerWorld, it *trackerItem) int64 {
	if m := w.milestone(it); m != nil {
		return trackerDay(m.Due)
	}
	return trackerNull
}

// trackerPopularity returns the number of upvotes.
func trackerPopularity(_ *trackerWorld, it *trackerItem) int64 { return int64(it.Upvotes) }

func trackerWeight(_ *trackerWorld, it *trackerItem) int64 {
	if it.Weight == trackerNobody {
		return trackerNull
	}
	return int64(it.Weight)
}

// trackerLabelPriority returns the highest priority of the item's labels, which is the lowest
// number.
func trackerLabelPriority(w *trackerWorld, it *trackerItem) int64 {
	lowest := int64(trackerNull)
	for _, label := range it.Labels {
		if priority := w.Projects[it.Project].Priorities[label]; priority > 0 {
			lowest = min(lowest, int64(priority))
		}
	}
	return lowest
}
