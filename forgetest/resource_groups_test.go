package forgetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestResourceGroups(t *testing.T) {
	s := New(t)
	pass := ticking(s)
	p := s.AddProject("group/app")
	g := p.AddResourceGroup("production_eu")
	assert.Same(t, g, p.AddResourceGroup("production_eu"))
	p.AddResourceGroup("a/b c")
	s.AddProject("group/other").AddResourceGroup("other")
	c := newCaller(t, s)
	const path = "/projects/group%2Fapp/resource_groups"

	list := c.get(path).array(t)
	require.Len(t, list, 2)
	assert.Equal(t, []any{"production_eu", "a/b c"}, c.get(path).column(t, "key"))
	for _, key := range []string{"production_eu", "production%5Feu"} {
		got := c.get(path + "/" + key).object(t)
		assert.Equal(t, map[string]any{
			"id": 1.0, "key": "production_eu", "process_mode": "unordered",
			"created_at": "2026-03-04T12:00:00.000Z", "updated_at": "2026-03-04T12:00:00.000Z",
		}, got)
	}
	assert.Equal(t, "a/b c", c.get(path + "/a%2Fb%20c").object(t)["key"])
	for _, step := range []struct {
		form    string
		status  int
		mode    string
		updated string
	}{
		{"process_mode=oldest_first", 200, "oldest_first", "12:01"},
		{"process_mode=newest_first", 200, "newest_first", "12:02"},
		{"process_mode=newest_ready_first", 200, "newest_ready_first", "12:03"},
		{"process_mode=random", 400, "newest_ready_first", "12:03"},
		{"", 200, "newest_ready_first", "12:03"},
		{"process_mode=unordered", 200, "unordered", "12:06"},
	} {
		pass(time.Minute)
		r := c.send("PUT", path+"/production_eu", step.form)
		assert.Equal(t, step.status, r.Status, r.Body)
		got := c.get(path + "/production_eu").object(t)
		assert.Equal(t, step.mode, got["process_mode"])
		assert.Equal(t, "2026-03-04T12:00:00.000Z", got["created_at"])
		assert.Equal(t, "2026-03-04T"+step.updated+":00.000Z", got["updated_at"], step.form)
		if step.status == 200 {
			assert.Equal(t, got, r.object(t))
		}
	}
	assert.Equal(t, "unordered", g.Get("process_mode"))
	for _, missing := range []string{"/none", "/none/upcoming_jobs", "/other", "/other/upcoming_jobs"} {
		r := c.get(path + missing)
		assert.Equal(t, 404, r.Status)
		assert.JSONEq(t, `{"message":"404 Resource Group Not Found"}`, r.Body)
	}
	assert.Equal(t, 404, c.send("PUT", path+"/none", "process_mode=unordered").Status)
}

// profileTexts are the fields of a profile that may contain any text.
const profileTexts = "avatar_url bio location public_email linkedin twitter website_url organization job_title pronouns work_information"

func TestUpcomingJobs(t *testing.T) {
	s := New(t)
	s.AddProject("group/first").AddResourceGroup("production").AddUpcomingJob(nil) // so that no two ids are equal
	s.AddProject("group/second")
	g := s.AddProject("group/app").AddResourceGroup("production")
	s.Root().Edit(func(d *Document) {
		for i, name := range strings.Fields(profileTexts) {
			d.Set(name, fmt.Sprint("profile ", i))
		}
		d.Set("followers", 7).Set("following", 8).Set("bot", true)
	})
	for i := range 3 {
		g.AddUpcomingJob(func(d *Document) { d.Set("name", fmt.Sprintf("deploy %d", i)).Set("user.location", "Oslo") })
	}
	c := newCaller(t, s)
	const path = "/projects/3/resource_groups/production"
	job := c.get(path + "/upcoming_jobs").array(t)[0]
	assert.Equal(t, "waiting_for_resource", job["status"])
	assert.Equal(t, "root", job["user"].(map[string]any)["username"])
	assert.Equal(t, "Oslo", job["user"].(map[string]any)["location"])
	profile := c.get("/user").object(t)
	for _, name := range strings.Fields("id username name state web_url created_at bot followers following local_time " + profileTexts) {
		if name != "location" {
			assert.Equal(t, profile[name], job["user"].(map[string]any)[name], name)
		}
	}
	sha := strings.Repeat("0", 39) + "2"
	assertShown(t, job, map[string]any{
		"id": 2.0, "stage": "deploy", "name": "deploy 0", "ref": "main", "tag": false, "allow_failure": false, "web_url": s.URL + "/group/app/-/jobs/2",
		"commit.id": sha, "commit.short_id": "00000000", "commit.title": "Deploy", "commit.message": "Deploy\n",
		"commit.author_name": "Root", "commit.author_email": "root@example.com", "commit.committer_name": "Root",
		"commit.committer_email": "root@example.com", "commit.authored_date": job["created_at"], "commit.committed_date": job["created_at"],
		"commit.created_at": job["created_at"], "commit.web_url": s.URL + "/group/app/-/commit/" + sha,
		"commit.parent_ids": []any{}, "commit.trailers": map[string]any{}, "project": map[string]any{"ci_job_token_scope_enabled": false},
		"pipeline.id": 2.0, "pipeline.iid": 2.0, "pipeline.project_id": 3.0, "pipeline.sha": sha, "pipeline.ref": "main",
		"pipeline.status": "running", "pipeline.source": "push", "pipeline.web_url": s.URL + "/group/app/-/pipelines/2",
		"pipeline.created_at": job["created_at"], "pipeline.updated_at": job["created_at"],
		"coverage": nil, "started_at": nil, "finished_at": nil, "duration": nil, "queued_duration": nil,
	})
	g.AddUpcomingJob(func(d *Document) {
		d.Set("coverage", 12.5).Set("started_at", noon()).Set("finished_at", noon().Add(time.Minute)).Set("tag", true).
			Set("project.ci_job_token_scope_enabled", true).Set("duration", 1.5).Set("queued_duration", 2.0)
	})
	job = c.get(path + "/upcoming_jobs").array(t)[3]
	assert.Equal(t, []any{12.5, "2026-03-04T12:00:00.000Z", "2026-03-04T12:01:00.000Z", 1.5, 2.0},
		[]any{job["coverage"], job["started_at"], job["finished_at"], job["duration"], job["queued_duration"]})
	assertShown(t, job, map[string]any{"tag": true, "allow_failure": false, "project.ci_job_token_scope_enabled": true, "user.bot": true})
	g.jobs = g.jobs[:3]
	for mode, want := range map[string][]any{
		"unordered":          {"deploy 0", "deploy 1", "deploy 2"},
		"oldest_first":       {"deploy 0", "deploy 1", "deploy 2"},
		"newest_first":       {"deploy 2", "deploy 1", "deploy 0"},
		"newest_ready_first": {"deploy 2", "deploy 1", "deploy 0"},
	} {
		assert.Equal(t, 200, c.send("PUT", path, "process_mode="+mode).Status)
		walked, pages := c.walk(path+"/upcoming_jobs?per_page=2", "name")
		assert.Equal(t, want, walked, mode)
		assert.Equal(t, 2, pages)
	}
}

func TestResourceGroupRoles(t *testing.T) {
	s := New(t)
	p := s.AddProject("group/app")
	p.AddResourceGroup("x")
	c := newCaller(t, s)
	for name, tc := range map[string]struct {
		role   Role
		status int
	}{"reporter": {Reporter, 403}, "developer": {Developer, 200}, "stranger": {NoAccess, 403}} {
		u := s.AddUser(name)
		p.AddMember(u, tc.role)
		for _, path := range []string{"", "/x", "/x/upcoming_jobs"} {
			assert.Equal(t, tc.status, c.as(u.Token).get("/projects/1/resource_groups"+path).Status, name+path)
		}
		assert.Equal(t, tc.status, c.as(u.Token).send("PUT", "/projects/1/resource_groups/x", "process_mode=oldest_first").Status)
	}
	assert.Equal(t, 401, c.as("").get("/projects/1/resource_groups").Status)
}
