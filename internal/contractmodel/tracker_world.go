package contractmodel

import (
	"net/url"
	"slices"
	"strings"
	"time"
)

// The visibilities and roles of document 1 §4 and §5.
const (
	trackerPrivate = iota
	trackerInternal
	trackerPublic

	trackerGuest    = 10
	trackerReporter = 20
	trackerOwner    = 50
)

// trackerNobody is the index of a requester without a credential, and of what is not set.
const trackerNobody = -1

// trackerWorld is the data of a server that has issues or merge requests. Indexes name users,
// groups and projects; ids are those of the server and are filled in when it has the data.
type trackerWorld struct {
	Now      time.Time
	Tier     string // free, premium, ultimate
	Users    []*trackerUser
	Groups   []*trackerGroup
	Projects []*trackerProject
	Members  []trackerMember
	Items    []*trackerItem
}

// trackerUser is an account; the first of a world is an administrator.
type trackerUser struct {
	ID      int64
	Token   string
	Name    string
	Blocked bool
}

type trackerGroup struct {
	ID         int64
	Path       string
	Parent     int
	Visibility int
}

// trackerProject belongs to a group, or to the personal namespace of Owner.
type trackerProject struct {
	ID         int64
	Path       string
	Group      int
	Owner      int
	Visibility int
	Archived   bool
	Priorities map[string]int // of labels; 1 is the highest
	Milestones []trackerMilestone
}

// trackerMilestone has days from today as dates; trackerNoDay is none.
type trackerMilestone struct {
	Title      string
	Start, Due int
	Closed     bool
}

const trackerNoDay = 1 << 20

// trackerMember is a role in a group or in a project; the other index is trackerNobody.
type trackerMember struct{ User, Group, Project, Role int }

// trackerAward is a reaction.
type trackerAward struct {
	User  int
	Emoji string
}

// trackerDeploy is a deployment, Ago before now.
type trackerDeploy struct {
	Environment string
	Ago         time.Duration
}

// trackerItem is an issue or a merge request.
type trackerItem struct {
	ID, IID     int64
	URL         string
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
	Weight       int // trackerNobody is none
	Health       string
	Iteration    int // 0 is none
	Epic         int // 0 is none
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

// trackerIterationTitle is the title of an iteration.
func trackerIterationTitle(iteration int) string {
	return []string{"", "Sprint", "sprint", "None"}[iteration]
}

// trackerQuery is a list that is asked for.
type trackerQuery struct {
	List   string // one of trackerLists
	Who    int
	Target int // the group or project; trackerNobody is one that does not exist
	Params url.Values
}

// The lists of document 2 §4.1 and §4.2.
const (
	trackerIssues        = "GET /issues"
	trackerGroupIssues   = "GET /groups/:id/issues"
	trackerMerges        = "GET /merge_requests"
	trackerProjectMerges = "GET /projects/:id/merge_requests"
)

// today is the date of now, as midnight.
func (w *trackerWorld) today() time.Time { return w.Now.UTC().Truncate(24 * time.Hour) }

func (w *trackerWorld) user(id int64) int {
	return slices.IndexFunc(w.Users, func(u *trackerUser) bool { return u.ID == id })
}

// milestone is nil for an item without one.
func (w *trackerWorld) milestone(it *trackerItem) *trackerMilestone {
	if it.Milestone == trackerNobody {
		return nil
	}
	return &w.Projects[it.Project].Milestones[it.Milestone]
}

// inGroup reports whether a project is in a group or below it.
func (w *trackerWorld) inGroup(project, group int) bool {
	for g := w.Projects[project].Group; g != trackerNobody; g = w.Groups[g].Parent {
		if g == group {
			return true
		}
	}
	return false
}

// role is the highest that a user has in a project, by itself or by a group above it.
func (w *trackerWorld) role(user, project int) int {
	role := 0
	if user != trackerNobody && w.Projects[project].Owner == user {
		role = trackerOwner
	}
	for _, m := range w.Members {
		if m.User == user && (m.Project == project || m.Group != trackerNobody && w.inGroup(project, m.Group)) {
			role = max(role, m.Role)
		}
	}
	return role
}

// readable reports who can read a project: a private one its members, an internal one every user.
func (w *trackerWorld) readable(user, project int) bool {
	switch {
	case user == 0, w.Projects[project].Visibility == trackerPublic:
		return true
	case user == trackerNobody:
		return false
	}
	return w.Projects[project].Visibility == trackerInternal || w.role(user, project) >= trackerGuest
}

// groupReadable reports who can read a group. The documents do not say whether those can who are
// members of something below it only: that is open.
func (w *trackerWorld) groupReadable(user, group int) trackerVerdict {
	g := w.Groups[group]
	switch {
	case user == 0, g.Visibility == trackerPublic:
		return trackerYes
	case user == trackerNobody:
		return trackerNo
	case g.Visibility == trackerInternal:
		return trackerYes
	}
	verdict := trackerNo
	for _, m := range w.Members {
		if m.User != user {
			continue
		}
		if m.Group != trackerNobody && strings.HasPrefix(g.Path+"/", w.Groups[m.Group].Path+"/") {
			return trackerYes
		}
		if m.Group != trackerNobody && strings.HasPrefix(w.Groups[m.Group].Path, g.Path+"/") ||
			m.Project != trackerNobody && w.inGroup(m.Project, group) {
			verdict = trackerMaybe
		}
	}
	return verdict
}

// visible reports whether a user sees an item. The documents say of a confidential issue that it
// needs credentials; the product shows it to its author, its assignees and Reporters. They do not
// say whether a Guest sees the merge requests of a private project: that is open.
func (w *trackerWorld) visible(user int, it *trackerItem, merges bool) trackerVerdict {
	switch {
	case !w.readable(user, it.Project):
		return trackerNo
	case user == 0:
		return trackerYes
	case it.Confidential:
		return trackerSure(user != trackerNobody &&
			(it.Author == user || slices.Contains(it.Assignees, user) || w.role(user, it.Project) >= trackerReporter))
	case merges && w.Projects[it.Project].Visibility == trackerPrivate && w.role(user, it.Project) < trackerReporter:
		return trackerMaybe
	}
	return trackerYes
}
