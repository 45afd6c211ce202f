package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// runnerWorld has an instance runner, a group runner and a project runner of a private project,
// each with a job in that project. It has a user for each role in the project and in the group
// above it, and one without a role.
func runnerWorld(t *testing.T, opts ...Option) (*Server, map[string]*User) {
	s := New(t, opts...)
	p := s.AddProject("group/app", Private)
	g := s.AddGroup("group", Private)
	s.AddProject("elsewhere/app")
	for _, r := range []*Runner{s.AddRunner(nil), g.AddRunner(nil), p.AddRunner(nil)} {
		r.AddManager("s_1", nil)
		r.AddJob(p, "s_1", nil)
	}
	users := map[string]*User{"admin": s.AddAdmin("admin"), "nobody": s.AddUser("nobody"), "auditor": s.AddUser("auditor")}
	users["auditor"].Edit(func(d *Document) { d.Set("is_auditor", true) })
	for name, role := range map[string]Role{"guest": Guest, "reporter": Reporter, "developer": Developer, "maintainer": Maintainer, "owner": Owner} {
		users["project "+name], users["group "+name] = s.AddUser("project-"+name), s.AddUser("group-"+name)
		p.AddMember(users["project "+name], role)
		g.AddMember(users["group "+name], role)
	}
	return s, users
}

// atLeast lists the roles in the project or the group from a given role up, and administrators.
func atLeast(place string, from string) []string {
	roles := []string{"guest", "reporter", "developer", "maintainer", "owner"}
	who := []string{"admin"}
	for _, role := range roles[slices.Index(roles, from):] {
		who = append(who, place+" "+role)
	}
	return who
}

// The allowed runner calls of every role, for every kind of runner (Document 2 §4.5).
func TestRunnerRoles(t *testing.T) {
	s, users := runnerWorld(t)
	c := newCaller(t, s)
	var everyone []string
	for name := range users {
		everyone = append(everyone, name)
	}
	ownProject := slices.Concat(atLeast("project", "maintainer"), atLeast("group", "maintainer"))
	ownGroup := []string{"admin", "group owner"}
	jobsSeen := slices.Concat(atLeast("project", "reporter"), atLeast("group", "reporter"))
	for _, tc := range []struct {
		method, path string
		who          []string
		refused      int
	}{
		{"GET", "/runners", everyone, 0}, // those that the caller may manage
		{"GET", "/runners/all", []string{"admin", "auditor"}, 403},
		{"GET", "/runners/1", everyone, 403},
		{"GET", "/runners/2", ownGroup, 403},
		{"GET", "/runners/3", ownProject, 403},
		{"PUT", "/runners/1", []string{"admin"}, 403},
		{"PUT", "/runners/2", ownGroup, 403},
		{"PUT", "/runners/3", ownProject, 403},
		{"GET", "/runners/1/managers", everyone, 403},
		{"GET", "/runners/2/managers", ownGroup, 403},
		{"GET", "/runners/3/managers", ownProject, 403},
		{"GET", "/runners/1/jobs", everyone, 403},
		{"GET", "/runners/2/jobs", jobsSeen, 403},
		{"GET", "/runners/3/jobs", jobsSeen, 403},
		{"GET", "/projects/group%2Fapp/runners", append([]string{"auditor"}, ownProject...), 403},
	} {
		for name, u := range users {
			form := ""
			if tc.method == "PUT" {
				form = "description=x"
			}
			r := c.as(u.Token).send(tc.method, tc.path, form)
			want := http.StatusOK
			switch {
			case slices.Contains(tc.who, name):
			case name == "nobody" && strings.HasPrefix(tc.path, "/projects/"): // a private project
				want = http.StatusNotFound
			default:
				want = tc.refused
			}
			assert.Equal(t, want, r.Status, "%s: %s %s", name, tc.method, tc.path)
			if strings.HasSuffix(tc.path, "/jobs") && r.Status == 200 {
				assert.Len(t, r.array(t), map[bool]int{true: 1}[slices.Contains(jobsSeen, name)], "%s %s", name, tc.path)
			}
		}
		assert.Equal(t, 401, c.as("").send(tc.method, tc.path, "").Status, tc.path)
	}
	for name, want := range map[string][]any{
		"admin": {3.0, 2.0, 1.0}, "auditor": {}, "nobody": {}, "project developer": {}, "project maintainer": {3.0}, "project owner": {3.0},
		"group maintainer": {3.0}, "group owner": {3.0, 2.0},
	} {
		assert.Equal(t, want, c.as(users[name].Token).get("/runners").column(t, "id"), name)
	}
	assert.Equal(t, []any{3.0, 2.0, 1.0}, c.as(users["auditor"].Token).get("/projects/group%2Fapp/runners").column(t, "id"))
}

// A custom role with the permission admin_runners suffices for detail, update and pause of runners
// in the group or project in which it was set, and below.
func TestRunnerAdmins(t *testing.T) {
	s, _ := runnerWorld(t)
	inGroup, inProject, elsewhere := s.AddUser("in-group"), s.AddUser("in-project"), s.AddUser("elsewhere")
	s.AddGroup("group").AddMemberWithAdminRunners(inGroup, Guest)
	s.AddProject("group/app").AddMemberWithAdminRunners(inProject, Developer)
	s.AddGroup("elsewhere").AddMemberWithAdminRunners(elsewhere, Maintainer)
	for u, want := range map[*User]struct {
		list      []any
		get, edit []int
		jobs      int
		project   int
	}{
		inGroup:   {[]any{3.0, 2.0}, []int{200, 200, 200}, []int{403, 200, 200}, 0, 403},
		inProject: {[]any{3.0}, []int{200, 403, 200}, []int{403, 403, 200}, 1, 403},
		elsewhere: {[]any{}, []int{200, 403, 403}, []int{403, 403, 403}, 0, 404},
	} {
		c := newCaller(t, s).as(u.Token)
		assert.Equal(t, want.list, c.get("/runners").column(t, "id"), u.Username)
		assert.Equal(t, want.project, c.get("/projects/group%2Fapp/runners").Status, u.Username) // the document names only Maintainers and auditors
		for i := range 3 {
			path := fmt.Sprint("/runners/", i+1)
			assert.Equal(t, want.get[i], c.get(path).Status, "%s %s", u.Username, path)
			assert.Equal(t, want.edit[i], c.send("PUT", path, "paused=true").Status, "%s %s", u.Username, path)
			assert.Equal(t, want.edit[i], c.send("PUT", path, "description=x").Status, "%s %s", u.Username, path)
		}
		assert.Len(t, c.get("/runners/1/jobs").array(t), want.jobs, u.Username)
	}
	assert.Equal(t, Guest, s.AddGroup("group").role(inGroup))
	s.AddGroup("group/sub/deep").AddRunner(nil)
	s.AddProject("group/sub/lib").AddRunner(nil)
	assert.Equal(t, []any{5.0, 4.0, 3.0, 2.0}, newCaller(t, s).as(inGroup.Token).get("/runners").column(t, "id")) // also the runners of everything below
}

// A user can be an auditor only in the tiers that have auditors, Premium and Ultimate (Document 2
// §2.7).
func TestAuditorNeedsATier(t *testing.T) {
	for tier, want := range map[Tier][]int{Free: {403, 404}, Premium: {200, 200}, Ultimate: {200, 200}} {
		s, users := runnerWorld(t, WithTier(tier))
		c := newCaller(t, s).as(users["auditor"].Token)
		got := []int{c.get("/runners/all").Status, c.get("/projects/group%2Fapp/runners").Status}
		assert.Equal(t, want, got, tier)
	}
}

// Detail, update and pause need a token with the scope in their rows; api includes all scopes. The
// other calls need a scope for reading.
func TestRunnerScopes(t *testing.T) {
	s, users := runnerWorld(t)
	for _, who := range []string{"admin", "project maintainer"} {
		tokens := map[string]string{
			"": users[who].Token, "api": users[who].AddToken("api"), "read_api": users[who].AddToken("read_api"),
			"manage_runners": users[who].AddToken("manage_runners"), "manage_runner": users[who].AddToken("manage_runner"),
			"read_api manage_runners": users[who].AddToken("read_api", "manage_runners"), "other": users[who].AddToken("read_user"),
		}
		scoped := []string{"", "api", "manage_runners", "manage_runner", "read_api manage_runners"}
		reading := []string{"", "api", "read_api", "read_api manage_runners"}
		for route, e := range specified(t).endpoints {
			if e.Base != "api" || !strings.HasPrefix(e.ID, "runners.") || e.Only != nil && who != "admin" {
				continue
			}
			allowed := reading
			if e.Auth.Scope != "" {
				allowed = scoped
			}
			path := strings.NewReplacer(":runner_id", "3", "/projects/:id", "/projects/1", ":id", "3").Replace(e.Path)
			for name, token := range tokens {
				form := ""
				if e.Method == "PUT" {
					form = "paused=false"
				}
				want := map[bool]int{true: 200, false: 403}[slices.Contains(allowed, name)]
				r := newCaller(t, s).as(token).send(e.Method, path, form)
				assert.Equal(t, want, r.Status, "%s: %q %s", who, name, route)
				if want == 403 {
					assert.Contains(t, r.Body, "insufficient_scope")
				}
			}
		}
	}
}

// The effect of a PUT with null, with values out of range, and with two names of one parameter.
func TestRunnerValues(t *testing.T) {
	s, _ := runnerWorld(t)
	c := newCaller(t, s)
	put := func(body string) reply { return c.sendJSON("PUT", "/runners/3", body) }
	field := func(name string) any { return c.get("/runners/3").object(t)[name] }
	for _, tc := range []struct {
		body   string
		status int
		want   any // maximum_timeout
	}{
		{`{"maximum_timeout":600}`, 200, 600.0}, {`{"maximum_timeout":null}`, 200, nil}, {`{"maximum_timeout":3600}`, 200, 3600.0},
		{`{"description":"x"}`, 200, 3600.0}, {`{"maximum_timeout":599}`, 400, 3600.0}, {`{"maximum_timeout":0}`, 400, 3600.0},
		{`{"maximum_timeout":-1}`, 400, 3600.0}, {`{"maximum_timeout":"soon"}`, 400, 3600.0}, {`{"maximum_timeout":1.5}`, 400, 3600.0},
		{`{"maximum_timeout":99999999999999999999}`, 400, 3600.0}, {`{"maximum_timeout":2592000}`, 200, 2592000.0},
		{`{"description":null,"maintenance_note":null,"tag_list":null}`, 200, 2592000.0},
		{`{"description":"y","paused":null}`, 400, 2592000.0}, {`{"access_level":""}`, 400, 2592000.0},
	} {
		assert.Equal(t, tc.status, put(tc.body).Status, tc.body)
		assert.Equal(t, tc.want, field("maximum_timeout"), tc.body)
	}
	assert.Equal(t, 200, c.send("PUT", "/runners/3", "maximum_timeout=").Status)
	assert.Nil(t, field("maximum_timeout"))

	for body, want := range map[string][]any{`{"tag_list":"a,b","maximum_timeout":"600"}`: {"a", "b"}, `{"tag_list":[]}`: {}} { // as real clients send it
		assert.Equal(t, 200, put(body).Status, body)
		assert.Equal(t, want, field("tag_list"), body)
	}

	for _, both := range []string{"active=true&paused=true", "active=false&paused=false", "active=true&paused=false", "active=false&paused=true"} {
		r := c.send("PUT", "/runners/3", both)
		assert.Equal(t, 400, r.Status, both)
		assert.JSONEq(t, `{"error":"active, paused are mutually exclusive"}`, r.Body)
		assert.Equal(t, false, field("paused"))
	}
	for _, step := range []struct {
		form   string
		paused bool
	}{{"active=false", true}, {"active=true", false}, {"paused=true", true}, {"description=x", true}, {"paused=false", false}} {
		assert.Equal(t, 200, c.send("PUT", "/runners/3", step.form).Status)
		assert.Equal(t, step.paused, field("paused"), step.form)
		assert.Equal(t, !step.paused, field("active"), step.form)
	}
}

// A prefix of a version consists of whole numbers: 16.1 is not a prefix of 16.10.
func TestRunnerVersionPrefix(t *testing.T) {
	s := New(t)
	for _, version := range []string{"16.1.241", "16.10.0", "1.6.0", "16.1.2", "", "15.0.0~beta.1"} {
		s.AddRunner(func(d *Document) { d.Set("version", version) })
	}
	c := newCaller(t, s)
	for prefix, want := range map[string][]any{
		"": {6.0, 5.0, 4.0, 3.0, 2.0, 1.0}, "16": {4.0, 2.0, 1.0}, "16.": {4.0, 2.0, 1.0}, "16.1": {4.0, 1.0}, "16.1.241": {1.0}, "16.1.24": {},
		"1": {3.0}, "15.0": {6.0}, "15.0.0": {6.0}, "17": {}, "6": {},
	} {
		assert.Equal(t, want, c.get(fmt.Sprint("/runners/all?version_prefix=", prefix)).column(t, "id"), prefix)
	}
}
