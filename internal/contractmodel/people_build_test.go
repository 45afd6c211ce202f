package contractmodel

import (
	"net/url"
	"time"

	"github.com/forge-sdk/forge-go/forgetest"
	"pgregory.net/rapid"
)

// peopleServer is a server with the data of a world.
type peopleServer struct {
	*forgetest.Server
	users    []*forgetest.User
	groups   []*forgetest.Group
	projects []*forgetest.Project
	runners  []*forgetest.Runner
}

// peopleServe starts a server with a world, and stores the server's IDs in the world.
func peopleServe(t *rapid.T, w *peopleWorld) *peopleServer {
	srv, err := forgetest.Start(forgetest.WithNeutralNames(), forgetest.WithRelease("18.2"), forgetest.WithTier(forgetest.Tier(w.Tier)), forgetest.WithOffering(forgetest.Offering(w.Offering)))
	if err != nil {
		t.Fatal(err)
	}
	srv.SetClock(func() time.Time { return peopleNow })
	s := &peopleServer{Server: srv}
	for i := range w.Users {
		s.addUser(i, &w.Users[i])
	}
	for i := range w.Groups {
		g := &w.Groups[i]
		added := srv.AddGroup(g.Path, forgetest.Visibility(g.Visibility))
		g.ID = added.ID
		for who, role := range g.Members {
			added.AddMember(s.users[who], forgetest.Role(role))
		}
		s.groups = append(s.groups, added)
	}
	for i := range w.Projects {
		p := &w.Projects[i]
		added := srv.AddProject(p.Path, forgetest.Visibility(p.Visibility))
		p.ID = added.ID
		for who, role := range p.Members {
			added.AddMember(s.users[who], forgetest.Role(role))
		}
		s.projects = append(s.projects, added)
	}
	for i := range w.Runners {
		s.addRunner(&w.Runners[i])
	}
	for i := range w.Jobs {
		j := &w.Jobs[i]
		job := s.runners[j.Runner].AddJob(s.projects[j.Project], j.System, func(d *forgetest.Document) { d.Set("status", j.Status) })
		j.ID = job.Get("id").(int64)
	}
	for i := range w.Events {
		s.addEvent(&w.Events[i])
	}
	return s
}

func (s *peopleServer) addUser(i int, u *peopleUser) {
	var added *forgetest.User
	switch {
	case i == 0:
		added = s.Root()
	case u.Bot == "project":
		added = s.AddBot(u.Username, forgetest.ProjectBot)
	case u.Bot == "internal":
		added = s.AddBot(u.Username, forgetest.InternalBot)
	case u.Admin:
		added = s.AddAdmin(u.Username)
	default:
		added = s.AddUser(u.Username)
	}
	added.Edit(func(d *forgetest.Document) {
		d.Set("name", u.Name).Set("state", u.State).Set("public_email", u.Public).Set("external", u.External)
		d.Set("is_auditor", u.Auditor).Set("two_factor_enabled", u.TwoFactor).Set("created_at", u.Created)
	})
	u.ID, u.Email = added.ID, added.Email
	for _, address := range u.Further {
		added.AddEmail(address)
	}
	for _, identity := range u.Identities {
		added.AddIdentity(identity[0], identity[1])
	}
	for key, value := range u.Attributes {
		added.SetCustomAttribute(key, value)
	}
	s.users = append(s.users, added)
}

func (s *peopleServer) addRunner(r *peopleRunner) {
	fill := func(d *forgetest.Document) {
		d.Set("paused", r.Paused).Set("tag_list", r.Tags).Set("version", r.Version)
		if r.Contacted.IsZero() {
			d.Set("contacted_at", nil)
		} else {
			d.Set("contacted_at", r.Contacted)
		}
	}
	var added *forgetest.Runner
	switch r.Type {
	case "instance_type":
		added = s.AddRunner(fill)
	case "group_type":
		added = s.groups[r.Group].AddRunner(fill)
	default:
		added = s.projects[r.Projects[0]].AddRunner(fill)
		for _, p := range r.Projects[1:] {
			added.Assign(s.projects[p])
		}
	}
	for i, version := range r.Managers {
		added.AddManager("m"+string(rune('0'+i)), func(d *forgetest.Document) { d.Set("version", version) })
	}
	r.ID = added.ID
	s.runners = append(s.runners, added)
}

func (s *peopleServer) addEvent(e *peopleEvent) {
	fill := func(d *forgetest.Document) { d.Set("author_id", s.users[e.Author].ID).Set("created_at", e.Created) }
	var added *forgetest.Document
	switch e.Type {
	case "User":
		added = s.users[e.Entity].AddAuditEvent(fill)
	case "Group":
		added = s.groups[e.Entity].AddAuditEvent(fill)
	case "Project":
		added = s.projects[e.Entity].AddAuditEvent(fill)
	default:
		added = s.AddAuditEvent(fill)
	}
	e.ID, e.EntityID = added.Get("id").(int64), added.Get("entity_id").(int64)
}

// Close closes the connections first, so that the server does not wait for the clients.
func (s *peopleServer) Close() {
	peopleHTTP.CloseIdleConnections()
	s.Server.Close()
}

// projectRef returns the address of a project; the tests of forgetest use its ID, too.
func (w *peopleWorld) projectRef(project int) string {
	if project < 0 {
		return "acme%2Fnone"
	}
	return url.PathEscape(w.Projects[project].Path)
}

func (w *peopleWorld) groupRef(group int) string {
	if group < 0 {
		return "99999"
	}
	return url.PathEscape(w.Groups[group].Path)
}
