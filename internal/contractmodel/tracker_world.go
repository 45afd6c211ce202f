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

// trackerNobody is the index of a requester without a credential, and of an unset reference.
const trackerNobody = -1

// trackerWorld has the data of a server with issues or merge requests. Indexes identify users,
// groups and projects. The server's IDs are set after the data is created there.
type trackerWorld struct {
	Now      time.Time
	Tier     string // free, premium, ultimate
	Users    []*trackerUser
	Groups   []*trackerGroup
	Projects []*trackerProject
	Members  []trackerMember
	Items    []*trackerItem
}

// trackerUser is an account. The first account of a world is an administrator.
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

// trackerMilestone has dates as days from today; trackerNoDay means no date.
type trackerMilestone struct {
	Title      string
	Start, Due int
	Closed     bool
}

const trackerNoDay = 1 << 20

// trackerMember is a role in a group or in a project. The other index is trackerNobody.
type trackerMember struct{ User, Group, Project, Role int }

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
	trackerIssues        = "GET /issues"
	trackerGroupIssues   = "GET /groups/:id/issues"
	trackerMerges        = "GET /merge_requests"
	trackerProjectMerges = "GET /projects/:id/merge_requests"
)

// today returns midnight of the current date.
func (w *trackerWorld) today() time.Time { return w.Now.UTC().Truncate(24 * time.Hour) }

func (w *trackerWorld) user(id int64) int {
	return slices.IndexFunc(w.Users, func(u *trackerUser) bool { return u.ID == id })
}

// milestone returns the milestone of an item; nil if it has none.
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

// role returns the highest role of a user in a project, directly or from a group above it.
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

// readable reports whether a user can read a project: members a private one, all users an internal
// one.
func (w *trackerWorld) readable(user, project int) bool {
	switch {
	case user == 0, w.Projects[project].Visibility == trackerPublic:
		return true
	case user == trackerNobody:
		return false
	}
	return w.Projects[project].Visibility == trackerInternal || w.role(user, project) >= trackerGuest
}

// groupReadable reports whether a user can read a group. Open: whether members of a project or
// subgroup below it can, if they are not members of the group.
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
			(it.Author == user || slices.Contains(it.Assignees, user) || w.role(user, it.Project) >= trackerReporter))
	case merges && w.Projects[it.Project].Visibility == trackerPrivate && w.role(user, it.Project) < trackerReporter:
		return trackerMaybe
	}
	return trackerYes
}
