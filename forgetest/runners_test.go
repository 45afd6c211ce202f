package forgetest

import (
	"strings"
	"testing"
	"time"

	"fmt"
	"net/http"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleRunner is the part of contractServer for runners.
func sampleRunner(app *Project) {
	runner := app.AddRunner(nil)
	runner.AddManager("s_1", nil)
	runner.AddJob(app, "s_1", nil)
}

// The models of internal/contractmodel prove the filters. This test has what they accept in several
// readings, because the documents leave it open.
func TestRunnerLists(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	p := s.AddProject("group/app")
	s.AddRunner(func(d *Document) { d.Set("contacted_at", nil) })
	s.AddGroup("group").AddRunner(func(d *Document) { d.Set("tag_list", []string{"linux", "fast"}) })
	p.AddRunner(func(d *Document) {
		d.Set("paused", true).Set("tag_list", []string{"linux"}).Set("contacted_at", now.Add(-8*24*time.Hour))
	})
	c := newCaller(t, s)
	for query, want := range map[string][]any{
		"": {3.0, 2.0, 1.0}, "status=offline": {3.0}, "scope=offline": {3.0}, "status=stale": {3.0}, "tag_list[]=linux&tag_list[]=fast": {2.0}, "tag_list=linux,fast": {2.0},
	} {
		for _, list := range []string{"/runners", "/runners/all", "/projects/1/runners"} {
			assert.Equal(t, want, c.get(list+"?"+query).column(t, "id"), list+query)
		}
	}
	for query, want := range map[string][]any{
		"scope=specific": {3.0, 2.0}, "scope=shared": {1.0}, "scope=paused": {3.0}, "scope=active": {2.0, 1.0}, "status=paused": {3.0}, "status=never_contacted": {1.0},
		"status=online": {2.0}, "paused=true": {3.0}, "paused=false": {2.0, 1.0}, "type=group_type": {2.0},
	} {
		assert.Equal(t, want, c.get("/runners/all?"+query).column(t, "id"), query)
	}
	assert.Equal(t, 400, c.get("/projects/1/runners?scope=shared").Status)
	const hour = time.Hour
	for age, want := range map[time.Duration]string{ // the status of the second runner follows the clock
		2 * hour: "online", 2*hour + time.Millisecond: "offline", 7 * 24 * hour: "offline", 7*24*hour + time.Millisecond: "stale",
	} {
		s.SetClock(func() time.Time { return now.Add(age) })
		for _, status := range []string{"online", "offline", "stale"} {
			found := slices.Contains(c.get("/runners/all?status="+status).column(t, "id"), any(2.0))
			assert.Equal(t, status == want || status == "offline" && want == "stale", found, "%s after %s", status, age)
		}
	}
}

func TestRunnerUpdate(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	instance, group, own := s.AddRunner(nil), s.AddGroup("group").AddRunner(nil), p.AddRunner(nil)
	second := s.AddProject("other/app")
	own.Assign(second)
	further := s.AddUser("further")
	second.AddMember(further, Maintainer)
	c := newCaller(t, s)
	for _, tc := range []struct {
		who       *User
		runner    string
		get, edit int
	}{
		{further, "3", 200, 200}, {further, "2", 403, 403}, {s.Root(), "1", 200, 200}, {s.Root(), "2", 200, 200}, {s.Root(), "3", 200, 200}, {s.Root(), "9", 404, 404}, {s.Root(), "x", 400, 400},
	} {
		who := c.as(tc.who.Token)
		assert.Equal(t, tc.get, who.get("/runners/"+tc.runner).Status, "%s %s", tc.who.Username, tc.runner)
		assert.Equal(t, tc.edit, who.send("PUT", "/runners/"+tc.runner, "paused=true").Status, "%s %s", tc.who.Username, tc.runner)
		assert.Equal(t, tc.get, who.get("/runners/"+tc.runner+"/managers").Status)
	}
	assert.Equal(t, true, instance.Get("paused"))
	assert.Equal(t, false, group.Get("active"))

	at := "/runners/3"
	resumed := c.send("PUT", at, "active=true").object(t)
	assert.Equal(t, false, resumed["paused"])
	assert.Equal(t, "not_protected", resumed["access_level"])
	assert.Len(t, resumed["projects"], 2)
	changed := c.send("PUT", at, "description=Fast&tag_list[]=a&tag_list[]=b&run_untagged=false&locked=true&access_level=ref_protected"+
		"&maximum_timeout=3600&maintenance_note=Friday").object(t)
	for name, want := range map[string]any{
		"description": "Fast", "tag_list": []any{"a", "b"}, "run_untagged": false, "locked": true, "access_level": "ref_protected",
		"maximum_timeout": 3600.0, "maintenance_note": "Friday",
	} {
		assert.Equal(t, want, changed[name], name)
		assert.Equal(t, want, c.get(at).object(t)[name], name)
	}
	for form, body := range map[string]string{
		"tag_list=":             `{"message":{"tags_list":["can not be empty when runner is not allowed to pick untagged jobs"]}}`,
		"maximum_timeout=10":    `{"message":{"maximum_timeout":["needs to be at least 10 minutes"]}}`,
		"maximum_timeout=soon":  `{"error":"maximum_timeout is invalid"}`,
		"access_level=everyone": `{"error":"access_level does not have a valid value"}`,
		"paused=maybe":          `{"error":"paused is invalid"}`,
		"maintenance_note=" + strings.Repeat("x", 1025): `{"message":{"maintenance_note":["is too long (maximum is 1024 characters)"]}}`,
	} {
		r := c.send("PUT", at, form)
		assert.Equal(t, 400, r.Status, "%.30s", form)
		assert.Equal(t, body, r.Body)
	}
	for _, letter := range []string{"x", "ü"} { // the limit counts characters, not bytes
		assert.Equal(t, 200, c.send("PUT", at, "maintenance_note="+esc(strings.Repeat(letter, 1024))).Status, letter)
		assert.Equal(t, 400, c.send("PUT", at, "maintenance_note="+esc(strings.Repeat(letter, 1025))).Status, letter)
	}
	assert.Equal(t, "not_protected", c.send("PUT", at, "access_level=not_protected").object(t)["access_level"])
	s.Fail("PUT /runners/:runner_id", Status(502).Times(1)) // the same request line as PUT /runners/:id
	assert.Equal(t, 502, c.send("PUT", at, "paused=true").Status)
	assert.Equal(t, 502, s.LastRequest(t, "PUT /runners/:runner_id").Status)
	assert.Equal(t, s.CountRequests("PUT /runners/:id"), s.CountRequests("PUT /runners/:runner_id"))
	assert.Equal(t, s.CountApplied("PUT /runners/:id"), s.CountApplied("PUT /runners/:runner_id"))
}

func TestRunnerJobsAndManagers(t *testing.T) {
	s := New(t)
	p, secret := s.AddProject("group/app"), s.AddProject("group/secret", Private)
	p.AddFiles(map[string]string{"a": "b"})
	r := s.AddRunner(nil)
	s.SetClock(noon)
	r.AddManager("s_1", func(d *Document) { d.Set("version", "17.1.0").Set("revision", "5a147c92") })
	manager := newCaller(t, s).get("/runners/1/managers").array(t)[0]
	assertShown(t, manager, map[string]any{
		"id": 1.0, "system_id": "s_1", "version": "17.1.0", "revision": "5a147c92", "platform": "linux", "architecture": "amd64",
		"created_at": "2026-03-04T12:00:00.000Z", "contacted_at": "2026-03-04T12:00:00.000Z", "ip_address": "127.0.0.1", "status": "online",
	})
	r.AddManager("s_2", nil)
	assertShown(t, newCaller(t, s).get("/runners/1/managers").array(t)[1], map[string]any{"version": "18.0.0", "revision": "91a27b2a"})
	assertShown(t, newCaller(t, s).get("/runners/1").object(t), map[string]any{"run_untagged": true, "locked": false, "access_level": "not_protected", "tag_list": []any{}})
	r.AddJob(p, "s_1", nil)
	r.AddJob(p, "s_2", func(d *Document) { d.Set("status", "failed") })
	r.AddJob(secret, "s_1", func(d *Document) { d.Set("status", "success") })
	reporter, guest := s.AddUser("reporter"), s.AddUser("guest")
	p.AddMember(reporter, Reporter)
	p.AddMember(guest, Guest)
	c := newCaller(t, s)
	job := c.get("/runners/1/jobs").array(t)[1]
	require.NotNil(t, job["commit"])
	assertShown(t, job, map[string]any{
		"id": 2.0, "status": "failed", "stage": "test", "name": "test", "ref": "main", "tag": false, "coverage": nil,
		"created_at": "2026-03-04T12:00:00.000Z", "started_at": "2026-03-04T12:00:00.000Z", "finished_at": nil, "duration": nil,
		"queued_duration": nil, "user.username": "root", "commit.committer_name": "Root", "pipeline.id": 2.0, "pipeline.status": "running", "project.name": "App",
	})
	assert.Equal(t, []any{2.0, 1.0}, c.as(reporter.Token).get("/runners/1/jobs").column(t, "id"))
	for query, want := range map[string][]any{
		"system_id=s_1": {3.0, 1.0}, "status=success": {3.0}, "status=running&system_id=s_2": {}, "order_by=id&sort=asc": {1.0, 2.0, 3.0},
	} {
		assert.Equal(t, want, c.get("/runners/1/jobs?"+query).column(t, "id"), query)
	}
	assert.Empty(t, c.as(guest.Token).get("/runners/1/jobs").array(t))
	assert.JSONEq(t, `{"error":"order_by is missing"}`, c.get("/runners/1/jobs?sort=asc").Body)
	assert.Equal(t, 400, c.get("/runners/1/jobs?status=waiting").Status)
}

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

// otherScopes are the scopes of GitLab that allow no call of the runners.
const otherScopes = `read_user read_repository write_repository read_registry write_registry sudo admin_mode create_runner ai_features k8s_proxy
	read_service_ping self_rotate read_virtual_registry write_virtual_registry`

// Detail, update and pause need a token with the scope in their rows; api includes all scopes. The
// other calls need a scope for reading.
func TestRunnerScopes(t *testing.T) {
	s, users := runnerWorld(t)
	for _, who := range []string{"admin", "project maintainer"} {
		tokens := map[string]string{
			"": users[who].Token, "api": users[who].AddToken("api"), "read_api": users[who].AddToken("read_api"),
			"manage_runners": users[who].AddToken("manage_runners"), "manage_runner": users[who].AddToken("manage_runner"),
			"read_api manage_runners": users[who].AddToken("read_api", "manage_runners"), "other": users[who].AddToken(strings.Fields(otherScopes)...),
		}
		scoped := []string{"", "api", "manage_runners", "manage_runner", "read_api manage_runners"}
		reading := []string{"", "api", "read_api", "read_api manage_runners"}
		for route, e := range catalogue().endpoints {
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
					accepted := map[bool]string{true: "read_api api", false: "api manage_runner"}[e.Auth.Scope == ""]
					assert.Regexp(t, `^{"error":"insufficient_scope","error_description":".+","scope":"`+accepted+`"}$`, r.Body)
				}
			}
		}
	}
}

// Deployed servers have the name of the scope in the singular.
func TestDeployedRunnerScope(t *testing.T) {
	s := New(t)
	s.AddRunner(nil)
	r := newCaller(t, s).as(s.Root().AddToken("read_user")).get("/runners/1")
	assert.Contains(t, r.Body, `"scope":"api manage_runner"`)
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
		{`{"description":"x"}`, 200, 3600.0}, {`{"description":""}`, 200, 3600.0}, {`{"maximum_timeout":599}`, 400, 3600.0}, {`{"maximum_timeout":0}`, 400, 3600.0},
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
	for _, version := range []string{"16.1.241", "16.10.0", "1.6.0", "16.1.2", "", "15.0.0~beta.1", "16.19.0"} {
		s.AddRunner(func(d *Document) { d.Set("version", version) })
	}
	c := newCaller(t, s)
	for prefix, want := range map[string][]any{
		"": {7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0}, "16": {7.0, 4.0, 2.0, 1.0}, "16.": {7.0, 4.0, 2.0, 1.0}, "16.1": {4.0, 1.0}, "16.1.241": {1.0}, "16.1.24": {},
		"1": {3.0}, "15.0": {6.0}, "15.0.0": {6.0}, "17": {}, "6": {},
	} {
		assert.Equal(t, want, c.get(fmt.Sprint("/runners/all?version_prefix=", prefix)).column(t, "id"), prefix)
	}
}
