package contractmodel

import (
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
	"pgregory.net/rapid"
)

// trackerServe starts a server with the data of a world, and stores the server's IDs in the world.
func trackerServe(t *rapid.T, w *trackerWorld, merges bool) *peopleServer {
	f := &trackerFiller{peopleServer: peopleServe(t, &w.peopleWorld), w: w, now: w.Now}
	f.SetClock(func() time.Time { return f.now })
	for i, p := range w.Projects {
		for label, priority := range p.Priorities {
			f.projects[i].AddLabel(label, "#ff0000", "", priority)
		}
		var milestones []*forgetest.Document
		for _, m := range p.Milestones {
			document := f.projects[i].AddMilestone(m.Title, f.date(m.Start), f.date(m.Due))
			if m.Closed {
				document.Set("state", "closed")
			}
			milestones = append(milestones, document)
		}
		f.milestones = append(f.milestones, milestones)
	}
	for _, it := range w.Items {
		if merges {
			f.merge(it)
		} else {
			f.issue(it)
		}
	}
	for i, p := range w.Projects {
		if p.Archived {
			f.projects[i].Archive()
		}
	}
	return f.peopleServer
}

// trackerFiller creates the issues or merge requests of a server.
type trackerFiller struct {
	*peopleServer
	w          *trackerWorld
	now        time.Time
	milestones [][]*forgetest.Document
}

// date returns the date of a day; zero if a milestone has no date.
func (f *trackerFiller) date(day int) time.Time {
	if day == trackerNoDay {
		return time.Time{}
	}
	return f.w.today().AddDate(0, 0, day)
}

func (f *trackerFiller) some(users []int) []*forgetest.User {
	some := []*forgetest.User{}
	for _, u := range users {
		some = append(some, f.users[u])
	}
	return some
}

// fill sets the common fields of issues and merge requests.
func (f *trackerFiller) fill(d *forgetest.Document, it *trackerItem) {
	d.Set("title", it.Title).Set("description", it.Description).Set("state", it.State).
		Set("created_at", it.Created).Set("updated_at", it.Updated).
		Set("author", f.users[it.Author]).Set("assignees", f.some(it.Assignees)).Set("labels", append([]string{}, it.Labels...))
	if it.Milestone != trackerNobody {
		d.Set("milestone", f.milestones[it.Project][it.Milestone])
	}
}

func (f *trackerFiller) issue(it *trackerItem) {
	issue := f.projects[it.Project].AddIssue(func(d *forgetest.Document) {
		f.fill(d, it)
		d.Set("confidential", it.Confidential).Set("issue_type", it.Type).Set("upvotes", it.Upvotes)
		if it.Due != trackerNoDay {
			d.Set("due_date", f.date(it.Due).Format(time.DateOnly))
		}
		if it.Weight != trackerNobody {
			d.Set("weight", it.Weight)
		}
		if it.Health != "" {
			d.Set("health_status", it.Health)
		}
		if it.Iteration != 0 {
			d.Set("iteration", forgetest.NewDocument("Iteration").Set("id", it.Iteration).Set("title", trackerIterationTitle(it.Iteration)))
		}
		if it.Epic != 0 {
			d.Set("epic", forgetest.NewDocument("Epic").Set("id", it.Epic))
		}
	})
	for _, award := range it.Awards {
		issue.AddAwardEmoji(f.users[award.User], award.Emoji)
	}
	it.ID, it.IID = issue.ID, issue.IID
}

func (f *trackerFiller) merge(it *trackerItem) {
	mr := f.projects[it.Project].AddMergeRequest(func(d *forgetest.Document) {
		f.fill(d, it)
		d.Set("reviewers", f.some(it.Reviewers)).Set("draft", it.Draft).Set("source_branch", it.Source).Set("target_branch", it.Target)
		if it.State == "merged" {
			d.Set("merge_user", f.users[it.MergeUser]).Set("merged_at", it.Merged)
		}
	})
	mr.Approve(f.some(it.Approved)...)
	mr.AddApprovers(f.some(it.Approvers)...)
	for _, award := range it.Awards {
		mr.AddAwardEmoji(f.users[award.User], award.Emoji)
	}
	for _, deploy := range it.Deploys {
		f.now = f.w.Now.Add(-deploy.Ago)
		mr.Deploy(deploy.Environment)
	}
	f.now = f.w.Now
	it.ID, it.IID = mr.ID, mr.IID
}
