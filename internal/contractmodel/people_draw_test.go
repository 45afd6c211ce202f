package contractmodel

import (
	"fmt"
	"strings"
	"time"

	"pgregory.net/rapid"
)

// The data of a case are drawn completely before a server starts.

// peopleDie draws a number below 1024. Unlike the numbers of rapid, it does not prefer small
// values. It shrinks to 0.
var peopleDie = rapid.Custom(func(t *rapid.T) (n int) {
	for range 10 {
		n *= 2
		if rapid.Bool().Draw(t, "bit") {
			n++
		}
	}
	return n
})

func pick[T any](t *rapid.T, label string, values ...T) T {
	return values[peopleDie.Draw(t, label)%len(values)]
}

// number draws a number from lowest to highest.
func number(t *rapid.T, label string, lowest, highest int) int {
	return lowest + peopleDie.Draw(t, label)%(highest-lowest+1)
}

// chance returns true in one of n cases. It shrinks to false.
func chance(t *rapid.T, label string, n int) bool {
	return peopleDie.Draw(t, label)%n == n-1
}

var peopleTimes = []time.Time{
	peopleNow.Add(-48 * time.Hour), peopleNow.Add(-48*time.Hour + time.Millisecond), peopleNow.Add(-48*time.Hour + 500*time.Millisecond),
	peopleNow.Add(-48*time.Hour + time.Second), peopleNow.Add(-24 * time.Hour), peopleNow.Add(-time.Hour), peopleNow.Add(-700 * 24 * time.Hour),
}

func peopleDrawTier(t *rapid.T, w *peopleWorld) {
	w.Tier = pick(t, "tier", "ultimate", "premium", "free")
	w.Offering = pick(t, "offering", "self-managed", "dedicated", "hosted")
}

var peopleUsernames = []string{"Maya", "maya.l", "bob", "BOB-two", "al", "Alma", "zoe_q", "ann"}

var peopleNames = []string{"Maya Lindqvist", "maya lindqvist", "Bob", "BOB Zed", "Al", "Ada Bob", "ann-marie", "Q"}

// peopleDrawUsers draws the users. The first is the default user of the server.
func peopleDrawUsers(t *rapid.T, w *peopleWorld, n int, full bool) {
	w.Users = []peopleUser{{Username: "root", Name: "Root", Email: "root@example.com", State: "active", Admin: true, Created: peopleTimes[0]}}
	for i := 1; i <= n; i++ {
		u := peopleUser{Created: peopleTimes[0], State: "active"}
		u.Username = fmt.Sprintf("%s%d", pick(t, "username", peopleUsernames...), i)
		u.Name = pick(t, "name", peopleNames...)
		u.Email = u.Username + "@example.com"
		u.Admin = i > 1 && chance(t, "admin", 5)
		u.Auditor = !u.Admin && chance(t, "auditor", 5)
		u.External = !u.Admin && chance(t, "external", 4)
		if full {
			peopleDrawAccount(t, &u, i)
		}
		w.Users = append(w.Users, u)
	}
}

func peopleDrawAccount(t *rapid.T, u *peopleUser, i int) {
	u.Created = pick(t, "created", peopleTimes...)
	if !u.Admin && !u.Auditor && chance(t, "bot", 4) {
		u.Bot = pick(t, "bot kind", "project", "internal")
	}
	u.State = pick(t, "state", "active", "blocked", "deactivated")
	u.TwoFactor = chance(t, "two factor", 2)
	u.Public = pick(t, "public e-mail", "", u.Email, fmt.Sprintf("public%d@example.org", i))
	if chance(t, "further address", 4) {
		u.Further = []string{fmt.Sprintf("further%d@example.net", i)}
	}
	for _, provider := range []string{"ldapmain", "saml", "scim"} {
		if chance(t, "identity", 4) {
			u.Identities = append(u.Identities, [2]string{provider, fmt.Sprintf("uid=%s", pick(t, "uid", "Ada", "bob", "q"))})
		}
	}
	for _, key := range []string{"team", "site"} {
		if chance(t, "attribute", 2) {
			if u.Attributes == nil {
				u.Attributes = map[string]string{}
			}
			u.Attributes[key] = pick(t, "attribute value", "core", "Core", "x")
		}
	}
}

// peopleDrawPlaces draws groups, projects and their members.
func peopleDrawPlaces(t *rapid.T, w *peopleWorld) {
	paths := []string{"acme", "acme/sub", "acme/sub/deep", "zeta"}
	for i, path := range paths[:number(t, "groups", 1, len(paths))] {
		g := peopleGroup{Path: path, Parent: -1, Visibility: peoplePublic}
		if strings.Contains(path, "/") {
			g.Parent = i - 1
			g.Visibility = w.Groups[g.Parent].Visibility
		}
		g.Visibility = min(g.Visibility, pick(t, "visibility", peoplePublic, peoplePrivate, peopleInternal))
		g.Members = peopleDrawMembers(t, w)
		w.Groups = append(w.Groups, g)
	}
	for i := range number(t, "projects", 1, 4) {
		p := peopleProject{Group: -1, Owner: -1, Visibility: pick(t, "visibility", peoplePublic, peoplePrivate, peopleInternal)}
		if n := number(t, "namespace", -1, len(w.Groups)-1); n >= 0 {
			p.Group = n
			p.Visibility = min(p.Visibility, w.Groups[n].Visibility)
			p.Path = fmt.Sprintf("%s/app%d", w.Groups[n].Path, i)
		} else {
			p.Owner = number(t, "owner", 0, len(w.Users)-1)
			if w.Users[p.Owner].Bot != "" {
				p.Owner = 0
			}
			p.Path = fmt.Sprintf("%s/app%d", w.Users[p.Owner].Username, i)
		}
		p.Members = peopleDrawMembers(t, w)
		delete(p.Members, p.Owner) // the owner of a namespace has no other role there
		w.Projects = append(w.Projects, p)
	}
}

func peopleDrawMembers(t *rapid.T, w *peopleWorld) map[int]int {
	members := map[int]int{}
	for i := range w.Users {
		if i > 0 && chance(t, "member", 4) {
			members[i] = pick(t, "role", peopleOwner, peopleMaintainer, peopleDeveloper, peopleReporter, peopleGuest)
		}
	}
	return members
}

// peopleDrawWho draws the requester: -1 without a credential, or an account that may sign in.
func peopleDrawWho(t *rapid.T, w *peopleWorld) int {
	if chance(t, "nobody", 16) {
		return -1
	}
	who := number(t, "who", 0, len(w.Users)-1)
	for who > 0 && (w.Users[who].Bot != "" || w.Users[who].State != "active") {
		who--
	}
	return who
}

// peopleTimeText formats a bound: in UTC or another zone, with or without a fraction.
func peopleTimeText(t *rapid.T, at time.Time) string {
	at = at.Add(pick(t, "shift", 0, time.Millisecond, -time.Millisecond, time.Second))
	switch pick(t, "zone", 0, 1, 2) {
	case 1:
		return at.In(time.FixedZone("", 2*3600)).Format("2006-01-02T15:04:05.999Z07:00")
	case 2:
		return at.Format("2006-01-02T15:04:05.000Z07:00")
	}
	return at.Format("2006-01-02T15:04:05.999Z07:00")
}

// peopleDrawFilters draws up to five parameters of a list.
func peopleDrawFilters(t *rapid.T, q *peopleQuery, drawers []func()) {
	for range pick(t, "filters", 0, 1, 2, 1, 2, 3, 1, 4, 5) {
		pick(t, "filter", drawers...)()
	}
	if chance(t, "unknown", 8) {
		q.Params.Set("colour", "red")
	}
}

// peopleDrawTarget draws the object of a path; -1 is an object that does not exist.
func peopleDrawTarget(t *rapid.T, n int) int {
	if n == 0 || chance(t, "no target", 30) {
		return -1
	}
	return number(t, "target", 0, n-1)
}

// peopleDrawPerPage draws a page size. It prefers small ones.
func peopleDrawPerPage(t *rapid.T) int {
	if !chance(t, "any page size", 3) {
		return number(t, "per_page", 1, 6)
	}
	return number(t, "per_page", 1, 100)
}
