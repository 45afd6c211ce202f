package forgetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunnerLists(t *testing.T) {
	s := New(t)
	now := noon()
	s.SetClock(func() time.Time { return now })
	p, other := s.AddProject("group/sub/app"), s.AddProject("other/app")
	s.AddRunner(func(d *Document) { d.Set("contacted_at", nil) })
	s.AddGroup("group").AddRunner(func(d *Document) { d.Set("tag_list", []string{"linux", "fast"}).Set("version", "16.1.241") })
	p.AddRunner(func(d *Document) {
		d.Set("paused", true).Set("tag_list", []string{"linux"}).Set("contacted_at", now.Add(-3*time.Hour))
	})
	other.AddRunner(func(d *Document) { d.Set("contacted_at", now.Add(-8*24*time.Hour)) })
	owner, maintainer, auditor, guest := s.AddUser("owner"), s.AddUser("maintainer"), s.AddUser("auditor"), s.AddUser("guest")
	s.AddGroup("group").AddMember(owner, Owner)
	other.AddMember(maintainer, Maintainer)
	other.AddMember(guest, Developer)
	auditor.Edit(func(d *Document) { d.Set("is_auditor", true) })
	c := newCaller(t, s)
	for query, want := range map[string][]any{
		"":                                 {4.0, 3.0, 2.0, 1.0},
		"type=instance_type":               {1.0},
		"type=group_type":                  {2.0},
		"type=project_type":                {4.0, 3.0},
		"paused=true":                      {3.0},
		"paused=false":                     {4.0, 2.0, 1.0},
		"status=online":                    {2.0},
		"status=offline":                   {4.0, 3.0}, // stale ones too
		"status=stale":                     {4.0},
		"status=never_contacted":           {1.0},
		"status=active":                    {4.0, 2.0, 1.0},
		"status=paused":                    {3.0},
		"scope=paused":                     {3.0},
		"scope=active":                     {4.0, 2.0, 1.0},
		"scope=online":                     {2.0},
		"scope=offline":                    {4.0, 3.0},
		"tag_list[]=linux":                 {3.0, 2.0},
		"tag_list[]=linux&tag_list[]=fast": {2.0},
		"tag_list=linux,fast":              {2.0},
		"version_prefix=16.1":              {2.0},
	} {
		assert.Equal(t, want, c.get("/runners/all?"+query).column(t, "id"), query)
		assert.Equal(t, want, c.get("/runners?"+query).column(t, "id"), query)
	}
	assert.Equal(t, []any{1.0}, c.get("/runners/all?scope=shared").column(t, "id"))
	assert.Equal(t, []any{4.0, 3.0, 2.0}, c.get("/runners/all?scope=specific").column(t, "id"))
	assert.Equal(t, 400, c.get("/runners?scope=shared").Status)
	assert.Equal(t, 400, c.get("/runners?status=lost").Status)
	keys(t, "Runner", "list", c.get("/runners/all").array(t)[0])
	for id, want := range map[string]map[string]any{
		"3": {"paused": true, "active": false, "is_shared": false, "runner_type": "project_type", "online": false, "status": "offline"},
		"2": {"paused": false, "active": true, "is_shared": false, "runner_type": "group_type", "online": true, "status": "online"},
		"1": {"paused": false, "active": true, "is_shared": true, "runner_type": "instance_type", "online": false, "status": "never_contacted"},
	} {
		items := c.get("/runners?type=" + want["runner_type"].(string)).array(t)
		assertShown(t, items[len(items)-1], want)
		assertShown(t, c.get("/runners/"+id).object(t), want)
	}

	assert.Equal(t, []any{3.0, 2.0}, c.as(owner.Token).get("/runners").column(t, "id")) // Owners are Maintainers below
	assert.Equal(t, []any{4.0}, c.as(maintainer.Token).get("/runners").column(t, "id"))
	assert.Empty(t, c.as(guest.Token).get("/runners").array(t))
	assert.Equal(t, []any{4.0, 3.0, 2.0, 1.0}, c.as(auditor.Token).get("/runners/all").column(t, "id"))
	assert.Equal(t, 403, c.as(owner.Token).get("/runners/all").Status)
	assert.Equal(t, 401, c.as("").get("/runners").Status)
	for offering, want := range map[Offering]int{Hosted: 403, SelfManaged: 200, Dedicated: 200} {
		assert.Equal(t, want, newCaller(t, New(t, WithOffering(offering))).get("/runners/all").Status, offering)
	}

	for who, want := range map[*User]int{owner: 200, maintainer: 403, auditor: 200, guest: 403} {
		assert.Equal(t, want, c.as(who.Token).get("/projects/group%2Fsub%2Fapp/runners").Status, who.Username)
	}
	assert.Equal(t, []any{3.0, 2.0, 1.0}, c.get("/projects/group%2Fsub%2Fapp/runners").column(t, "id"))
	assert.Equal(t, []any{4.0, 1.0}, c.get("/projects/other%2Fapp/runners").column(t, "id"))
	for query, want := range map[string][]any{
		"type=instance_type": {1.0}, "type=group_type": {2.0}, "type=project_type": {3.0}, "paused=true": {3.0}, "paused=false": {2.0, 1.0},
		"status=online": {2.0}, "status=offline": {3.0}, "status=never_contacted": {1.0}, "status=stale": {}, "status=paused": {3.0},
		"scope=active": {2.0, 1.0}, "scope=paused": {3.0}, "scope=online": {2.0}, "scope=offline": {3.0}, "tag_list[]=fast": {2.0},
		"tag_list[]=linux": {3.0, 2.0}, "tag_list=linux,fast": {2.0},
	} {
		assert.Equal(t, want, c.get("/projects/group%2Fsub%2Fapp/runners?"+query).column(t, "id"), query)
	}

	now = now.Add(5 * time.Hour)
	assert.Empty(t, c.get("/runners/all?status=online").array(t)) // the status follows the clock
}

func TestRunnerUpdate(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	instance, group, own := s.AddRunner(nil), s.AddGroup("group").AddRunner(nil), p.AddRunner(nil)
	second := s.AddProject("other/app")
	own.Assign(second)
	maintainer, owner, further := s.AddUser("maintainer"), s.AddUser("owner"), s.AddUser("further")
	p.AddMember(maintainer, Maintainer)
	second.AddMember(further, Maintainer)
	s.AddGroup("group").AddMember(owner, Owner)
	c := newCaller(t, s)
	for _, tc := range []struct {
		who       *User
		runner    string
		get, edit int
	}{
		{s.Root(), "1", 200, 200}, {maintainer, "1", 200, 403}, {maintainer, "2", 403, 403}, {owner, "2", 200, 200},
		{maintainer, "3", 200, 200}, {owner, "3", 200, 200}, {further, "3", 200, 200},
		{further, "2", 403, 403}, {s.AddUser("guest"), "3", 403, 403}, {s.Root(), "9", 404, 404}, {s.Root(), "x", 400, 400},
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
	keys(t, "Runner", "detail", resumed)
	assert.Equal(t, false, resumed["paused"])
	assert.Equal(t, "not_protected", resumed["access_level"])
	assert.Len(t, resumed["projects"], 2)
	keys(t, "RunnerProject", "", resumed["projects"].([]any)[0].(map[string]any))
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
	assert.Equal(t, s.CountRequests("PUT /runners/:id"), s.CountRequests("PUT /runners/:runner_id"))
}

func TestRunnerJobsAndManagers(t *testing.T) {
	s := New(t)
	p, secret := s.AddProject("group/app"), s.AddProject("group/secret", Private)
	p.AddFiles(map[string]string{"a": "b"})
	r := s.AddRunner(nil)
	s.SetClock(noon)
	r.AddManager("s_1", func(d *Document) { d.Set("version", "17.1.0").Set("revision", "5a147c92") })
	manager := newCaller(t, s).get("/runners/1/managers").array(t)[0]
	keys(t, "RunnerManager", "", manager)
	assertShown(t, manager, map[string]any{
		"id": 1.0, "system_id": "s_1", "version": "17.1.0", "revision": "5a147c92", "platform": "linux", "architecture": "amd64",
		"created_at": "2026-03-04T12:00:00.000Z", "contacted_at": "2026-03-04T12:00:00.000Z", "ip_address": "127.0.0.1", "status": "online",
	})
	r.AddJob(p, "s_1", nil)
	r.AddJob(p, "s_2", func(d *Document) { d.Set("status", "failed") })
	r.AddJob(secret, "s_1", func(d *Document) { d.Set("status", "success") })
	reporter, guest := s.AddUser("reporter"), s.AddUser("guest")
	p.AddMember(reporter, Reporter)
	p.AddMember(guest, Guest)
	c := newCaller(t, s)
	for query, want := range map[string][]any{
		"": {3.0, 2.0, 1.0}, "order_by=id&sort=asc": {1.0, 2.0, 3.0}, "order_by=id": {3.0, 2.0, 1.0},
		"status=failed": {2.0}, "status=running": {1.0}, "status=success": {3.0}, "status=canceled": {}, "system_id=s_1": {3.0, 1.0}, "system_id=s_1&status=running": {1.0},
	} {
		assert.Equal(t, want, c.get("/runners/1/jobs?"+query).column(t, "id"), query)
	}
	job := c.get("/runners/1/jobs").array(t)[1]
	keys(t, "RunnerJob", "", job)
	require.NotNil(t, job["commit"])
	assertShown(t, job, map[string]any{
		"id": 2.0, "status": "failed", "stage": "test", "name": "test", "ref": "main", "tag": false, "coverage": nil,
		"created_at": "2026-03-04T12:00:00.000Z", "started_at": "2026-03-04T12:00:00.000Z", "finished_at": nil, "duration": nil,
		"queued_duration": nil, "user.username": "root", "commit.committer_name": "Root", "pipeline.id": 2.0, "project.name": "App",
	})
	assert.Equal(t, []any{2.0, 1.0}, c.as(reporter.Token).get("/runners/1/jobs").column(t, "id"))
	assert.Empty(t, c.as(guest.Token).get("/runners/1/jobs").array(t))
	assert.JSONEq(t, `{"error":"order_by is missing"}`, c.get("/runners/1/jobs?sort=asc").Body)
	assert.Equal(t, 400, c.get("/runners/1/jobs?status=waiting").Status)
}
