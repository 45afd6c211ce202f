package contractmodel

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// trackerSome draws a subset. It prefers small ones.
func trackerSome[T any](t *rapid.T, label string, values ...T) (some []T) {
	n := min(pick(t, label+" count", 0, 0, 1, 1, 2, 3), len(values))
	if n == 0 {
		return nil
	}
	at := rapid.IntRange(0, len(values)-1).Draw(t, label)
	for i := range n {
		some = append(some, values[(at+i)%len(values)])
	}
	return some
}

func trackerIndexes(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

var (
	trackerLabelPool = []string{"bug", "Bug", "ux", "any", "None", "a b", "BUG"}
	trackerTitlePool = []string{"v1", "V1", "None", "later", "any"}
	trackerDayPool   = []int{trackerNoDay, 0, -1, 1, -14, -15, 3, 6, -6, 20, 31, 45, 62, 400}
	// trackerClocks have a Wednesday, a Sunday, a Monday, and ends of months and of a year.
	trackerClocks = []string{"2026-03-11T12:00:00Z", "2026-03-15T00:00:00Z", "2026-03-16T23:59:59Z", "2026-01-31T08:00:00Z", "2025-12-31T18:30:00Z", "2028-02-29T07:00:00Z"}
	trackerHours  = []int{0, 0, 1, 1, 2, 24, 25}
	trackerWorded = []string{"Fix login", "fix LOGIN page", "login", "Deploy the page", "page fix", "", "100% a_b"}
	trackerEmojis = []string{"rocket", "Rocket", "heart", "None", "any"}
	trackerPlaces = []string{"production", "Production", "staging", "any"}
)

// trackerDrawWorld draws the data of a server completely, before the server starts.
func trackerDrawWorld(t *rapid.T, merges bool) *trackerWorld {
	w := trackerDrawPlaces(t)
	trackerDrawItems(t, w, merges)
	return w
}

// trackerDrawPlaces draws the clock, the tier, the users, the groups and the projects.
func trackerDrawPlaces(t *rapid.T) *trackerWorld {
	now, err := time.Parse(time.RFC3339, pick(t, "now", trackerClocks...))
	if err != nil {
		t.Fatal(err)
	}
	w := &trackerWorld{Now: now, peopleWorld: peopleWorld{Tier: pick(t, "tier", "ultimate", "premium", "free"), Offering: "self-managed"}}
	for i, name := range []string{"root", "ann", "Bob", "any", "none"} {
		state := "active"
		if i > 0 && chance(t, name+" blocked", 6) {
			state = "blocked"
		}
		w.Users = append(w.Users, peopleUser{Username: name, Name: name, State: state, Admin: i == 0, Created: peopleTimes[0]})
	}
	visibility := func(within int) int {
		return min(within, pick(t, "visibility", peoplePrivate, peoplePublic, peoplePublic, peopleInternal))
	}
	for i, path := range []string{"acme", "acme/sub", "acme2"} {
		g := peopleGroup{Path: path, Parent: trackerNobody, Visibility: visibility(peoplePublic), Members: peopleDrawMembers(t, &w.peopleWorld)}
		if i == 1 {
			g.Parent, g.Visibility = 0, visibility(w.Groups[0].Visibility)
		}
		w.Groups = append(w.Groups, g)
	}
	for i, path := range []string{"acme/app", "acme/sub/lib", "acme2/app", "Bob/own"} {
		p := peopleProject{Path: path, Group: i, Owner: trackerNobody, Visibility: visibility(peoplePublic), Members: peopleDrawMembers(t, &w.peopleWorld)}
		if i == 3 {
			p.Group, p.Owner = trackerNobody, 2
			delete(p.Members, p.Owner)
		} else {
			p.Visibility = min(p.Visibility, w.Groups[i].Visibility)
		}
		trackerDrawProject(t, &p)
		w.Projects = append(w.Projects, p)
	}
	return w
}

func trackerDrawItems(t *rapid.T, w *trackerWorld, merges bool) {
	for i := range pick(t, "items", 6, 12, 20, 1, 30, 45, 0) {
		w.Items = append(w.Items, trackerDrawItem(t, w, fmt.Sprint(i), merges))
	}
	if rapid.Bool().Draw(t, "in order") { // as if the items were created on a server one by one
		var times []time.Time
		for _, it := range w.Items {
			times = append(times, it.Created)
		}
		slices.SortFunc(times, time.Time.Compare)
		for i, it := range w.Items {
			it.Created = times[i]
		}
	}
}

func trackerDrawProject(t *rapid.T, p *peopleProject) {
	p.Archived = chance(t, "archived", 5)
	p.Priorities = map[string]int{}
	for i, label := range trackerSome(t, "priorities", trackerLabelPool...) {
		p.Priorities[label] = 1 + (i+len(p.Path))%3
	}
	for _, title := range trackerSome(t, "milestones", trackerTitlePool...) {
		p.Milestones = append(p.Milestones, trackerMilestone{
			Title: title, Start: pick(t, "start", trackerDayPool...), Due: pick(t, "due", trackerDayPool...),
			Closed: chance(t, "milestone closed", 5),
		})
	}
}

func trackerDrawItem(t *rapid.T, w *trackerWorld, label string, merges bool) *trackerItem {
	users := trackerIndexes(len(w.Users))
	it := &trackerItem{
		Project: pick(t, label+" project", 0, 0, 1, 1, 2, 3), Author: pick(t, label+" author", users...),
		Title: pick(t, label+" title", trackerWorded[:5]...), Description: pick(t, label+" description", trackerWorded...),
		Created:   w.Now.Add(-time.Duration(pick(t, label+" created", trackerHours...)) * time.Hour),
		Updated:   w.Now.Add(-time.Duration(pick(t, label+" updated", trackerHours...))*time.Hour + 500*time.Millisecond),
		Assignees: trackerSome(t, label+" assignees", users...), Labels: trackerSome(t, label+" labels", trackerLabelPool...),
		Milestone: trackerNobody, Due: trackerNoDay, Weight: trackerNobody, MergeUser: trackerNobody,
	}
	if n := len(w.Projects[it.Project].Milestones); n > 0 && !chance(t, label+" no milestone", 3) {
		it.Milestone = rapid.IntRange(0, n-1).Draw(t, label+" milestone")
	}
	if chance(t, label+" awarded", 2) {
		it.Awards = append(it.Awards, trackerAward{pick(t, label+" awards", users...), pick(t, label+" emoji", trackerEmojis...)})
	}
	if merges {
		trackerDrawMerge(t, w, it, label)
		return it
	}
	it.State = pick(t, label+" state", "opened", "opened", "closed")
	it.Confidential = chance(t, label+" confidential", 4)
	it.Due = pick(t, label+" due", trackerDayPool...)
	it.Type = pick(t, label+" type", "issue", "issue", "incident", "test_case", "task")
	it.Weight = pick(t, label+" weight", trackerNobody, 0, 1, 3, 3)
	it.Health = pick(t, label+" health", "", "on_track", "needs_attention", "at_risk")
	it.Iteration = pick(t, label+" iteration", 0, 1, 2, 3)
	it.Epic = pick(t, label+" epic", 0, 0, 1, 2)
	it.Upvotes = pick(t, label+" upvotes", 0, 0, 1, 2)
	return it
}

func trackerDrawMerge(t *rapid.T, w *trackerWorld, it *trackerItem, label string) {
	users := trackerIndexes(len(w.Users))
	it.State = pick(t, label+" state", "opened", "opened", "closed", "locked", "merged", "merged")
	if it.State == "merged" {
		it.MergeUser = pick(t, label+" merge user", users...)
		it.Merged = w.Now.Add(-time.Duration(pick(t, label+" merged", trackerHours...)) * time.Hour)
	}
	it.Reviewers = trackerSome(t, label+" reviewers", users...)
	it.Approved = trackerSome(t, label+" approved", users...)
	it.Approvers = trackerSome(t, label+" approvers", users...)
	it.Draft = chance(t, label+" draft", 3)
	it.Source = pick(t, label+" source", "fix", "Fix", "none")
	it.Target = pick(t, label+" target", "main", "Main", "any")
	for _, environment := range trackerSome(t, label+" deployed", trackerPlaces...) {
		it.Deploys = append(it.Deploys, trackerDeploy{environment, time.Duration(pick(t, label+" ago", trackerHours...)) * time.Hour})
	}
	slices.SortStableFunc(it.Deploys, func(a, b trackerDeploy) int { return int(b.Ago - a.Ago) })
}
