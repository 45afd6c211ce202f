package contractmodel

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"
)

// trackerPick draws one of several values.
func trackerPick[T any](t *rapid.T, label string, values ...T) T {
	return rapid.SampledFrom(values).Draw(t, label)
}

// trackerSome draws a subset. It prefers small ones.
func trackerSome[T any](t *rapid.T, label string, values ...T) (some []T) {
	n := min(trackerPick(t, label+" count", 0, 0, 1, 1, 2, 3), len(values))
	if n == 0 {
		return nil
	}
	at := rapid.IntRange(0, len(values)-1).Draw(t, label)
	for i := range n {
		some = append(some, values[(at+i)%len(values)])
	}
	return some
}

func trackerChance(t *rapid.T, label string, in int) bool {
	return rapid.IntRange(0, in-1).Draw(t, label) == in-1
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
	trackerDrawMembers(t, w)
	trackerDrawItems(t, w, merges)
	return w
}

// trackerDrawPlaces draws the clock, the tier, the users, the groups and the projects.
func trackerDrawPlaces(t *rapid.T) *trackerWorld {
	now, err := time.Parse(time.RFC3339, trackerPick(t, "now", trackerClocks...))
	if err != nil {
		t.Fatal(err)
	}
	w := &trackerWorld{Now: now, Tier: trackerPick(t, "tier", "ultimate", "premium", "free")}
	for _, name := range []string{"root", "ann", "Bob", "any", "none"} {
		w.Users = append(w.Users, &trackerUser{Name: name, Blocked: name != "root" && trackerChance(t, name+" blocked", 6)})
	}
	visibility := rapid.SampledFrom([]int{trackerPrivate, trackerPublic, trackerPublic, trackerInternal})
	w.Groups = []*trackerGroup{{Path: "acme", Parent: trackerNobody}, {Path: "acme/sub", Parent: 0}, {Path: "acme2", Parent: trackerNobody}}
	for _, g := range w.Groups {
		g.Visibility = visibility.Draw(t, g.Path)
		if g.Parent != trackerNobody {
			g.Visibility = min(g.Visibility, w.Groups[g.Parent].Visibility)
		}
	}
	for _, p := range []*trackerProject{{Path: "acme/app"}, {Path: "acme/sub/lib", Group: 1}, {Path: "acme2/app", Group: 2}, {Path: "Bob/own", Group: trackerNobody}} {
		p.Owner = trackerNobody
		p.Visibility = visibility.Draw(t, p.Path)
		if p.Group == trackerNobody {
			p.Owner = 2
		} else {
			p.Visibility = min(p.Visibility, w.Groups[p.Group].Visibility)
		}
		trackerDrawProject(t, p)
		w.Projects = append(w.Projects, p)
	}
	return w
}

func trackerDrawMembers(t *rapid.T, w *trackerWorld) {
	for range trackerPick(t, "members", 0, 1, 2, 4) {
		m := trackerMember{User: rapid.IntRange(1, 4).Draw(t, "member"), Group: trackerNobody, Project: trackerNobody, Role: trackerPick(t, "role", 10, 20, 30, 40, 50)}
		if at := rapid.IntRange(0, 6).Draw(t, "of"); at < 3 {
			m.Group = at
		} else {
			m.Project = at - 3
		}
		again := func(other trackerMember) bool {
			return other.User == m.User && other.Group == m.Group && other.Project == m.Project
		}
		if owner := m.Project == 3 && m.User == 2; !owner && !slices.ContainsFunc(w.Members, again) { // one role in one place
			w.Members = append(w.Members, m)
		}
	}
}

func trackerDrawItems(t *rapid.T, w *trackerWorld, merges bool) {
	for i := range trackerPick(t, "items", 6, 12, 20, 1, 30, 45, 0) {
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

func trackerDrawProject(t *rapid.T, p *trackerProject) {
	p.Archived = trackerChance(t, "archived", 5)
	p.Priorities = map[string]int{}
	for i, label := range trackerSome(t, "priorities", trackerLabelPool...) {
		p.Priorities[label] = 1 + (i+len(p.Path))%3
	}
	for _, title := range trackerSome(t, "milestones", trackerTitlePool...) {
		p.Milestones = append(p.Milestones, trackerMilestone{
			Title: title, Start: trackerPick(t, "start", trackerDayPool...), Due: trackerPick(t, "due", trackerDayPool...),
			Closed: trackerChance(t, "milestone closed", 5),
		})
	}
}

func trackerDrawItem(t *rapid.T, w *trackerWorld, label string, merges bool) *trackerItem {
	users := trackerIndexes(len(w.Users))
	it := &trackerItem{
		Project: trackerPick(t, label+" project", 0, 0, 1, 1, 2, 3), Author: trackerPick(t, label+" author", users...),
		Title: trackerPick(t, label+" title", trackerWorded[:5]...), Description: trackerPick(t, label+" description", trackerWorded...),
		Created:   w.Now.Add(-time.Duration(trackerPick(t, label+" created", trackerHours...)) * time.Hour),
		Updated:   w.Now.Add(-time.Duration(trackerPick(t, label+" updated", trackerHours...))*time.Hour + 500*time.Millisecond),
		Assignees: trackerSome(t, label+" assignees", users...), Labels: trackerSome(t, label+" labels", trackerLabelPool...),
		Milestone: trackerNobody, Due: trackerNoDay, Weight: trackerNobody, MergeUser: trackerNobody,
	}
	if n := len(w.Projects[it.Project].Milestones); n > 0 && !trackerChance(t, label+" no milestone", 3) {
		it.Milestone = rapid.IntRange(0, n-1).Draw(t, label+" milestone")
	}
	if trackerChance(t, label+" awarded", 2) {
		it.Awards = append(it.Awards, trackerAward{trackerPick(t, label+" awards", users...), trackerPick(t, label+" emoji", trackerEmojis...)})
	}
	if merges {
		trackerDrawMerge(t, w, it, label)
		return it
	}
	it.State = trackerPick(t, label+" state", "opened", "opened", "closed")
	it.Confidential = trackerChance(t, label+" confidential", 4)
	it.Due = trackerPick(t, label+" due", trackerDayPool...)
	it.Type = trackerPick(t, label+" type", "issue", "issue", "incident", "test_case", "task")
	it.Weight = trackerPick(t, label+" weight", trackerNobody, 0, 1, 3, 3)
	it.Health = trackerPick(t, label+" health", "", "on_track", "needs_attention", "at_risk")
	it.Iteration = trackerPick(t, label+" iteration", 0, 1, 2, 3)
	it.Epic = trackerPick(t, label+" epic", 0, 0, 1, 2)
	it.Upvotes = trackerPick(t, label+" upvotes", 0, 0, 1, 2)
	return it
}

func trackerDrawMerge(t *rapid.T, w *trackerWorld, it *trackerItem, label string) {
	users := trackerIndexes(len(w.Users))
	it.State = trackerPick(t, label+" state", "opened", "opened", "closed", "locked", "merged", "merged")
	if it.State == "merged" {
		it.MergeUser = trackerPick(t, label+" merge user", users...)
		it.Merged = w.Now.Add(-time.Duration(trackerPick(t, label+" merged", trackerHours...)) * time.Hour)
	}
	it.Reviewers = trackerSome(t, label+" reviewers", users...)
	it.Approved = trackerSome(t, label+" approved", users...)
	it.Approvers = trackerSome(t, label+" approvers", users...)
	it.Draft = trackerChance(t, label+" draft", 3)
	it.Source = trackerPick(t, label+" source", "fix", "Fix", "none")
	it.Target = trackerPick(t, label+" target", "main", "Main", "any")
	for _, environment := range trackerSome(t, label+" deployed", trackerPlaces...) {
		it.Deploys = append(it.Deploys, trackerDeploy{environment, time.Duration(trackerPick(t, label+" ago", trackerHours...)) * time.Hour})
	}
	slices.SortStableFunc(it.Deploys, func(a, b trackerDeploy) int { return int(b.Ago - a.Ago) })
}
