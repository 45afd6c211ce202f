package contractmodel

import (
	"slices"
	"time"
)

// peopleNow is the time of the server's clock.
var peopleNow = time.Date(2024, 5, 6, 12, 0, 0, 0, time.UTC)

// The roles of document 1 §5 rule 7, and lower ones.
const (
	peopleGuest      = 10
	peopleReporter   = 20
	peopleDeveloper  = 30
	peopleMaintainer = 40
	peopleOwner      = 50
)

// The visibilities: who can see a group or project without being a member.
const (
	peoplePrivate = iota
	peopleInternal
	peoplePublic
)

// peopleUser is an account.
type peopleUser struct {
	ID         int64
	Username   string
	Name       string
	Email      string   // private, primary
	Further    []string // private
	Public     string   // public e-mail; "" means none
	State      string
	Bot        string // "", "project" or "internal"
	External   bool
	Admin      bool
	Auditor    bool
	TwoFactor  bool
	Identities [][2]string // provider, external ID
	Attributes map[string]string
	Created    time.Time
}

// peopleGroup is a group. Parent is an index of peopleWorld.Groups; -1 means none.
type peopleGroup struct {
	ID         int64
	Path       string
	Visibility int
	Parent     int
	Members    map[int]int // index of the user to role
}

// peopleProject is a project of a group. If Group is -1, it is a personal project of the user
// Owner.
type peopleProject struct {
	ID         int64
	Path       string
	Visibility int
	Group      int
	Owner      int
	Members    map[int]int

	Archived   bool
	Priorities map[string]int // of labels; 1 is the highest
	Milestones []trackerMilestone
}

// peopleRunner is a runner of the instance, of a group or of projects.
type peopleRunner struct {
	ID        int64
	Type      string
	Group     int
	Projects  []int
	Paused    bool
	Contacted time.Time // zero means never
	Tags      []string
	Version   string
	Managers  []string // versions of its runner managers
}

// peopleJob is a job of a runner.
type peopleJob struct {
	ID      int64
	Runner  int
	Project int
	System  string
	Status  string
}

// peopleEvent is an audit event.
type peopleEvent struct {
	ID       int64
	Author   int
	Type     string // entity_type
	Entity   int    // index of the user, group or project
	EntityID int64
	Created  time.Time
}

// peopleWorld has all data of one case.
type peopleWorld struct {
	Tier     string // free, premium, ultimate
	Offering string // hosted, self-managed, dedicated
	Users    []peopleUser
	Groups   []peopleGroup
	Projects []peopleProject
	Runners  []peopleRunner
	Jobs     []peopleJob
	Events   []peopleEvent
}

// premium reports whether the features of Premium and Ultimate are available.
func (w *peopleWorld) premium() bool { return w.Tier != "free" }

// own reports whether the features of self-managed and dedicated instances are available.
func (w *peopleWorld) own() bool { return w.Offering != "hosted" }

func (w *peopleWorld) admin(who int) bool { return who >= 0 && w.Users[who].Admin }

func (w *peopleWorld) auditor(who int) bool { return who >= 0 && w.Users[who].Auditor }

// lineage returns a group and its ancestors.
func (w *peopleWorld) lineage(group int) (all []int) {
	for ; group >= 0; group = w.Groups[group].Parent {
		all = append(all, group)
	}
	return all
}

// groupRole returns the highest role of a user in a group or its ancestors.
func (w *peopleWorld) groupRole(who, group int) (role int) {
	for _, g := range w.lineage(group) {
		role = max(role, w.Groups[g].Members[who])
	}
	return role
}

// projectRole returns the highest role of a user in a project or in the groups above it.
func (w *peopleWorld) projectRole(who, project int) int {
	p := w.Projects[project]
	if p.Group < 0 && p.Owner == who {
		return peopleOwner
	}
	return max(p.Members[who], w.groupRole(who, p.Group))
}

// belowGroup reports whether a user has a role in a project or a subgroup of the group.
func (w *peopleWorld) belowGroup(who, group int) bool {
	for g := range w.Groups {
		if slices.Contains(w.lineage(g), group) && w.Groups[g].Members[who] > 0 {
			return true
		}
	}
	for _, p := range w.Projects {
		if slices.Contains(w.lineage(p.Group), group) && p.Members[who] > 0 {
			return true
		}
	}
	return false
}
