package contractmodel

import (
	"net/url"
	"slices"
	"time"
)

// trackerNobody is the index of a requester without a credential, and of an unset reference.
const trackerNobody = -1

// trackerWorld has the data of a server with issues or merge requests. The first account is an
// administrator.
type trackerWorld struct {
	peopleWorld
	Now   time.Time
	Items []*trackerItem
}

// trackerMilestone has dates as days from today; trackerNoDay means no date.
type trackerMilestone struct {
	Title      string
	Start, Due int
	Closed     bool
}

const trackerNoDay = 1 << 20

// trackerAward is a reaction.
type trackerAward struct {
	User  int
	Emoji string
}

// trackerDeploy is a deployment that happened Ago before now.
type trackerDeploy struct {
	Environment string
	Ago         time.Duration
}

// trackerItem is an issue or a merge request.
type trackerItem struct {
	ID, IID     int64
	Project     int
	Title       string
	Description string
	State       string
	Created     time.Time
	Updated     time.Time
	Author      int
	Assignees   []int
	Labels      []string
	Milestone   int
	Awards      []trackerAward

	Confidential bool
	Due          int
	Type         string
	Weight       int // trackerNobody means none
	Health       string
	Iteration    int // 0 means none
	Epic         int // 0 means none
	Upvotes      int

	Reviewers []int
	Approved  []int
	Approvers []int
	MergeUser int
	Merged    time.Time
	Draft     bool
	Source    string
	Target    string
	Deploys   []trackerDeploy
}

// trackerIterationTitle returns the title of an iteration.
func trackerIterationTitle(iteration int) string {
	return []string{"", "Sprint", "sprint", "None"}[iteration]
}

// trackerQuery is a request for a list.
type trackerQuery struct {
	List   string // a constant such as trackerIssues
	Who    int
	Target int // the group or project; trackerNobody means it does not exist
	Params url.Values
}

// The lists of document 2 §4.1 and §4.2.
const (
	trackerIssues        = "/issues"
	trackerGroupIssues   = "/groups/:id/issues"
	trackerMerges        = "/merge_requests"
	trackerProjectMerges = "/projects/:id/merge_requests"
)

// today returns midnight of the current date.
func (w *trackerWorld) today() time.Time { return w.Now.UTC().Truncate(24 * time.Hour) }

func (w *trackerWorld) user(id int64) int {
	return slices.IndexFunc(w.Users, func(u peopleUser) bool { return u.ID == id })
}

// milestone returns the milestone of an item; nil if it has none.
func (w *trackerWorld) milestone(it *trackerItem) *trackerMilestone {
	if it.Milestone == trackerNobody {
		return nil
	}
	return &w.Projects[it.Project].Milestones[it.Milestone]
}

// readable reports whether a user can read a project: members a private one, all users an internal
// one.
func (w *trackerWorld) readable(user, project int) bool {
	switch {
	case user == 0, w.Projects[project].Visibility == peoplePublic:
		return true
	case user == trackerNobody:
		return false
	}
	return w.Projects[project].Visibility == peopleInternal || w.projectRole(user, project) >= peopleGuest
}

// groupReadable reports whether a user can read a group. Open: whether members of a project or
// subgroup below it can, if they are not members of the group.
func (w *trackerWorld) groupReadable(user, group int) trackerVerdict {
	g := w.Groups[group]
	switch {
	case user == 0, g.Visibility == peoplePublic:
		return trackerYes
	case user == trackerNobody:
		return trackerNo
	case g.Visibility == peopleInternal:
		return trackerYes
	}
	switch {
	case w.groupRole(user, group) > 0:
		return trackerYes
	case w.belowGroup(user, group):
		return trackerMaybe
	}
	return trackerNo
}

// visible reports whether a user can see an item. The documents state only that confidential issues
// need a credential; GitLab shows them to their author, their assignees and Reporters. Open:
// whether a Guest can see the merge requests of a private project.
func (w *trackerWorld) visible(user int, it *trackerItem, merges bool) trackerVerdict {
	switch {
	case !w.readable(user, it.Project):
		return trackerNo
	case user == 0:
		return trackerYes
	case it.Confidential:
		return trackerSure(user != trackerNobody &&
			(it.Author == user || slices.Contains(it.Assignees, user) || w.projectRole(user, it.Project) >= peopleReporter))
	case merges && w.Projects[it.Project].Visibility == peoplePrivate && w.projectRole(user, it.Project) < peopleReporter:
		return trackerMaybe
	}
	return trackerYes
}
