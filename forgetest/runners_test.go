package forgetest

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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
	assert.Equal(t, []any{3.0, 2.0}, c.get("/runners/all?scope=specific").column(t, "id"))
	assert.Equal(t, 400, c.get("/projects/1/runners?scope=shared").Status)
	now = now.Add(5 * time.Hour)
	assert.Empty(t, c.get("/runners/all?status=online").array(t), "the status follows the clock")
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
	job := c.get("/runners/1/jobs").array(t)[1]
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
