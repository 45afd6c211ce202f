package forgetest

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sampleImage is the part of contractServer for the registry.
func sampleImage(app *Project) {
	image := app.AddRegistryRepository("image")
	for _, tag := range []string{"v1", "v2", "v3", "v4"} {
		image.AddTag(tag, nil)
	}
}

// ticking sets a clock of the server that only the returned function advances.
func ticking(s *Server) (pass func(time.Duration)) {
	now := noon()
	s.SetClock(func() time.Time { return now })
	return func(d time.Duration) {
		now = now.Add(d)
		then := now
		s.SetClock(func() time.Time { return then })
	}
}

const registryPath = "/projects/group%2Fapp/registry/repositories"

// registryWorld has a project with two repositories. The first one has four tags with ages a day
// apart; two tags share one image.
func registryWorld(t *testing.T, options ...Option) (*Server, *RegistryRepository, caller) {
	s := New(t, options...)
	s.SetClock(noon)
	p := s.AddProject("group/app")
	r := p.AddRegistryRepository("web")
	for i, name := range []string{"latest", "v1", "v2", "feature/x"} {
		r.AddTag(name, func(d *Document) { d.Set("created_at", noon().AddDate(0, 0, -i)).Set("total_size", 100) })
	}
	r.AddTag("v2", func(d *Document) {
		d.Set("created_at", noon().AddDate(0, 0, -2)).Set("total_size", 100).Set("digest", r.tag("v1").doc.Get("digest"))
	})
	p.AddRegistryRepository("")
	return s, r, newCaller(t, s)
}

func TestRegistryRepositories(t *testing.T) {
	s, _, c := registryWorld(t, WithOffering(Hosted))
	host := strings.TrimPrefix(s.URL, "http://")
	list := c.get(registryPath).array(t)
	require.Len(t, list, 2)
	assert.Equal(t, map[string]any{
		"id": 1.0, "name": "web", "path": "group/app/web", "project_id": 1.0, "location": host + "/group/app/web",
		"created_at": "2026-03-04T12:00:00.000Z", "cleanup_policy_started_at": nil, "status": nil,
	}, list[0])
	assert.Equal(t, []any{"", "group/app", host + "/group/app"}, []any{list[1]["name"], list[1]["path"], list[1]["location"]})

	full := c.get(registryPath + "?tags=true&tags_count=true").array(t)[0]
	assert.EqualValues(t, 4, full["tags_count"])
	assert.Len(t, full["tags"], 4)
	tag := full["tags"].([]any)[0].(map[string]any)
	assert.Equal(t, []any{"feature/x", "group/app/web:feature/x"}, []any{tag["name"], tag["path"]})
	assert.Equal(t, host+"/group/app/web:feature/x", tag["location"])

	one := c.get("/registry/repositories/1?tags=true&tags_count=true&size=true").object(t)
	assert.Equal(t, []any{300.0, 4.0}, []any{one["size"], one["tags_count"]}) // v1 and v2 share an image
	assert.Len(t, one["tags"], 4)

	s.AddProject("group/sub/lib").AddRegistryRepository("x")
	s.AddProject("other/lib").AddRegistryRepository("x")
	assert.Len(t, c.get(registryPath).array(t), 2, "those of the project")
	group := c.get("/groups/group/registry/repositories?tags=true&tags_count=true")
	assert.Equal(t, []any{"group/app/web", "group/app", "group/sub/lib/x"}, group.column(t, "path"))
	for path, body := range map[string]string{
		"/registry/repositories/99":    `{"message":"404 Container Repository Not Found"}`,
		"/registry/repositories/x":     `{"error":"id is invalid"}`,
		registryPath + "/99/tags":      `{"message":"404 Container Repository Not Found"}`,
		registryPath + "/4/tags":       `{"message":"404 Container Repository Not Found"}`, // of another project
		registryPath + "/1/tags/none":  `{"message":"404 Tag Not Found"}`,
		registryPath + "?tags=perhaps": `{"error":"tags is invalid"}`,
	} {
		assert.Equal(t, body, c.get(path).Body, path)
	}
}

func TestRegistrySizeIsOfTheHostedOffering(t *testing.T) {
	for _, other := range []Offering{SelfManaged, Dedicated} {
		_, _, c := registryWorld(t, WithOffering(other))
		assert.NotContains(t, c.get("/registry/repositories/1?size=true").object(t), "size", other)
	}
	_, r, c := registryWorld(t, WithOffering(Hosted))
	r.SetCreatedAt(time.Date(2021, 11, 4, 12, 0, 0, 0, time.UTC))
	assert.NotContains(t, c.get("/registry/repositories/1?size=true").object(t), "size")
	r.SetCreatedAt(time.Date(2021, 11, 5, 0, 0, 0, 0, time.UTC))
	assert.Contains(t, c.get("/registry/repositories/1?size=true").object(t), "size")
}

func TestRegistryTags(t *testing.T) {
	s, r, c := registryWorld(t)
	list := c.get(registryPath + "/1/tags")
	assert.Equal(t, []any{"feature/x", "latest", "v1", "v2"}, list.column(t, "name"))
	assert.Equal(t, []any{"feature/x"}, c.get(registryPath+"/1/tags?per_page=1").column(t, "name"))
	tag := c.get(registryPath + "/1/tags/feature%2Fx").object(t)
	assert.Regexp(t, `^[0-9a-f]{64}$`, tag["revision"])
	assert.Regexp(t, `^sha256:[0-9a-f]{64}$`, tag["digest"])
	assert.Equal(t, tag["revision"].(string)[:9], tag["short_revision"])
	assert.Equal(t, []any{"feature/x", "group/app/web:feature/x"}, []any{tag["name"], tag["path"]})
	assert.Equal(t, strings.TrimPrefix(s.URL, "http://")+"/group/app/web:feature/x", tag["location"])
	assert.Equal(t, "2026-03-01T12:00:00.000Z", tag["created_at"])
	assert.EqualValues(t, 100, tag["total_size"])
	assert.Equal(t, c.get(registryPath + "/1/tags/v1").object(t)["digest"], c.get(registryPath + "/1/tags/v2").object(t)["digest"])

	route := "DELETE /projects/:id/registry/repositories/:repository_id/tags/:tag_name"
	s.store.projects[0].ProtectRegistryTags("v1|release-.*")
	r.AddTag("v10", nil) // the rule is for the whole name
	for _, step := range []struct {
		tag    string
		status int
	}{{"v1", 403}, {"v10", 200}, {"v10", 404}, {"feature%2Fx", 200}, {"latest", 200}, {"none", 404}} {
		assert.Equal(t, step.status, c.send("DELETE", registryPath+"/1/tags/"+step.tag, "").Status, step.tag)
	}
	assert.Equal(t, []string{"v1", "v2"}, r.Tags())
	assert.Equal(t, 3, s.CountApplied(route))
}

// A tag is a name of an image: if a tag is deleted, the image and its blobs stay under their other
// tags.
func TestRegistryTagsOfOneImage(t *testing.T) {
	for _, bulk := range []bool{false, true} {
		s, r, c := registryWorld(t, WithOffering(Hosted))
		size := func() any { return c.get("/registry/repositories/1?size=true").object(t)["size"] }
		before, sizeBefore := c.get(registryPath+"/1/tags/v2"), size()
		require.Equal(t, 200, before.Status)
		if bulk {
			assert.Equal(t, 202, c.send("DELETE", registryPath+"/1/tags", "name_regex_delete=v1").Status)
			s.FinishBackgroundJobs()
		} else {
			assert.Equal(t, 200, c.send("DELETE", registryPath+"/1/tags/v1", "").Status)
		}
		assert.Equal(t, 404, c.get(registryPath+"/1/tags/v1").Status)
		assert.Equal(t, []string{"feature/x", "latest", "v2"}, r.Tags())
		assert.Equal(t, before.Body, c.get(registryPath+"/1/tags/v2").Body)
		assert.Equal(t, sizeBefore, size(), "v2 has the same image")
	}
}

func TestRegistryTagPages(t *testing.T) {
	s, _, c := registryWorld(t, WithOffering(Hosted))
	r := s.AddProject("group/many").AddRegistryRepository("x").AddTags(45, nil)
	path := fmt.Sprintf("/projects/group%%2Fmany/registry/repositories/%d/tags", r.ID)
	whole := r.Tags()
	offset, pages := c.walk(path+"?per_page=7", "name")
	assert.Len(t, offset, 45)
	assert.Equal(t, 7, pages)
	assert.Equal(t, "45", c.get(path).Header.Get("X-Total"))
	for _, sort := range []string{"asc", "desc"} {
		walked, _ := c.walk(path+"?pagination=keyset&order_by=name&per_page=7&sort="+sort, "name")
		names := []string{}
		for _, name := range walked {
			names = append(names, name.(string))
		}
		assert.Equal(t, whole, names, sort)
		slices.Reverse(whole)
	}
	for _, bad := range []string{"", "&order_by=name&sort=up", "&order_by=created_at&sort=asc", "&order_by=id&sort=asc", "&sort=asc"} {
		assert.Equal(t, 400, c.get(path+"?pagination=keyset"+bad).Status, bad)
	}
	// the last tag of a page may be deleted before the next page is requested
	first := c.get(path + "?pagination=keyset&order_by=name&sort=asc&per_page=1")
	assert.Equal(t, 200, c.send("DELETE", path+"/v0001", "").Status)
	assert.Equal(t, "v0002", c.get(first.next()).array(t)[0]["name"])
	last := c.get(path + "?pagination=keyset&order_by=name&sort=asc&per_page=44")
	assert.Empty(t, c.get(last.next()).array(t))
	assert.Empty(t, c.get(last.next()).next())
}

func TestRegistryRepositoryDeletion(t *testing.T) {
	s, r, c := registryWorld(t)
	pass := ticking(s)
	status := func() any { return c.get("/registry/repositories/1").object(t)["status"] }
	assert.Nil(t, status())
	gone := c.send("DELETE", registryPath+"/1", "")
	assert.Equal(t, 202, gone.Status)
	assert.Equal(t, "202", gone.Body)
	assert.Equal(t, "delete_scheduled", status())
	assert.Equal(t, 202, c.send("DELETE", registryPath+"/1", "").Status) // always accepted
	pass(time.Second)
	assert.Equal(t, "delete_ongoing", status())
	assert.Equal(t, 202, c.send("DELETE", registryPath+"/1", "").Status)
	assert.Equal(t, "delete_ongoing", status())
	assert.Len(t, c.get(registryPath).array(t), 2)
	pass(time.Second)
	assert.Equal(t, 404, c.get("/registry/repositories/1").Status)
	assert.Equal(t, 404, c.send("DELETE", registryPath+"/1", "").Status)
	assert.Equal(t, []any{"group/app"}, c.get(registryPath).column(t, "path"))
	assert.Equal(t, 202, c.send("DELETE", registryPath+"/2", "").Status)
	s.FinishBackgroundJobs()
	assert.Empty(t, c.get(registryPath).array(t))
	assert.Len(t, r.Tags(), 4) // blobs and tags are not touched
}

func TestRegistryBulkDeletion(t *testing.T) {
	for _, tc := range []struct {
		form string
		left string
	}{
		{"name_regex_delete=.*", "latest stable v2"},
		{"name_regex=.*", "latest stable v2"},
		{"name_regex_delete=.*&name_regex_keep=.*", "latest rc-1 rc-10 stable v1 v2 v3"},
		{"name_regex_delete=v", "latest rc-1 rc-10 stable v1 v2 v3"}, // the whole name
		{"name_regex_delete=v.%2B", "latest rc-1 rc-10 stable v2"},
		{"name_regex_delete=v.+", "latest rc-1 rc-10 stable v1 v2 v3"}, // a space
		{"name_regex_delete=v1|rc-.*&name_regex_keep=rc-1", "latest rc-1 stable v2 v3"},
		{"name_regex_delete=rc-1|v1", "latest stable v2 v3"}, // rc-1... or ...v1: no parentheses
		{"name_regex_delete=(rc-1|v1)", "latest rc-10 stable v2 v3"},
		{"name_regex_delete=v1&name_regex=.*", "latest rc-1 rc-10 stable v2 v3"}, // the alias counts alone
		{"name_regex_delete=v.%2B&keep_n=1", "latest rc-1 rc-10 stable v2 v3"},   // the newest of those that match
		{"name_regex_delete=v.%2B&name_regex_keep=v3&keep_n=1", "latest rc-1 rc-10 stable v1 v2 v3"},
		{"name_regex_delete=.*&older_than=1month", "latest rc-1 rc-10 stable v2 v3"},
		{"name_regex_delete=.*&older_than=1000000y", "latest rc-1 rc-10 stable v1 v2 v3"},
	} {
		s := New(t)
		s.SetClock(noon)
		p := s.AddProject("group/app")
		p.ProtectRegistryTags("v2")
		r := p.AddRegistryRepository("web")
		for name, days := range map[string]int{"latest": 300, "stable": 0, "v1": 90, "v2": 60, "v3": 20, "rc-1": 10, "rc-10": -9} { // the clock of a runner may be wrong
			age := time.Duration(days)*24*time.Hour + 2*time.Hour
			r.AddTag(name, func(d *Document) { d.Set("created_at", noon().Add(-age)) })
		}
		p.ProtectRegistryTags("stable")
		path := registryPath + "/1/tags"
		a := newCaller(t, s).send("DELETE", path, tc.form)
		assert.Equal(t, 202, a.Status, a.Body)
		assert.Len(t, r.Tags(), 7) // the deletion runs later
		s.FinishBackgroundJobs()
		assert.Equal(t, tc.left, strings.Join(r.Tags(), " "), tc.form)
	}
}

func TestRegistryBulkDeletionRefusals(t *testing.T) {
	s, r, c := registryWorld(t)
	pass := ticking(s)
	path := registryPath + "/1/tags"
	for form, body := range map[string]string{
		"":                                            `{"error":"name_regex_delete is missing"}`,
		"keep_n=1":                                    `{"error":"name_regex_delete is missing"}`,
		"name_regex_delete=.*&keep_n=x":               `{"error":"keep_n is invalid"}`,
		"name_regex_delete=.*&keep_n=-1":              `{"error":"keep_n does not have a valid value"}`,
		"name_regex_delete=.*&older_than=soon":        `{"error":"older_than is invalid"}`,
		"name_regex_delete=(&name_regex_keep=.*":      `{"error":"name_regex_delete is an invalid regexp: error parsing regexp: missing closing ): ` + "`(`" + `"}`,
		"name_regex_delete=v1\\":                      `{"error":"name_regex_delete is an invalid regexp: error parsing regexp: trailing backslash at end of expression: ` + "``" + `"}`,
		"name_regex_delete=.*&name_regex_keep=(?=a)b": "name_regex_keep is an invalid regexp", // not RE2
		"name_regex=[":                                "name_regex is an invalid regexp",
	} {
		a := c.send("DELETE", path, form)
		assert.Equal(t, 400, a.Status, form)
		assert.Contains(t, a.Body, body, form)
	}
	other := c.send("DELETE", registryPath+"/x/tags", "name_regex_delete=.*")
	assert.Equal(t, []any{400, `{"error":"repository_id is invalid"}`}, []any{other.Status, other.Body})
	assert.Equal(t, 202, c.send("DELETE", path+"?name_regex_delete=v2", "").Status) // refused calls do not count
	again := c.send("DELETE", path, "name_regex_delete=.*")
	assert.Equal(t, 400, again.Status)
	assert.Contains(t, again.Body, "at most once an hour")
	pass(time.Hour - time.Second)
	assert.Equal(t, []string{"feature/x", "latest", "v1"}, r.Tags())
	assert.Equal(t, 400, c.send("DELETE", path, "name_regex_delete=.*").Status)
	pass(time.Second)
	response, err := c.request("DELETE", path, "application/json", `{"name_regex_delete":".*","keep_n":1}`)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, 202, response.StatusCode)
	assert.Equal(t, 202, c.send("DELETE", registryPath+"/2/tags", "name_regex_delete=.*").Status) // the limit of an hour applies to each repository
	s.FinishBackgroundJobs()
	assert.Equal(t, []string{"latest", "v1"}, r.Tags())
	assert.Equal(t, 3, s.CountApplied("DELETE /projects/:id/registry/repositories/:repository_id/tags"))
}

// On the hosted offering one bulk deletion removes 200 tags, the oldest first. The tags that are
// left are compared with a model, for random ages and parameters.
func TestRegistryBulkDeletionLeavesWhatTheModelLeaves(t *testing.T) {
	const day = 24 * time.Hour
	random := rand.New(rand.NewPCG(7, 19))
	for round := range 24 {
		offering := []Offering{Hosted, SelfManaged, Hosted, Dedicated}[round%4]
		s := New(t, WithOffering(offering))
		s.SetClock(noon)
		p := s.AddProject("group/app")
		p.ProtectRegistryTags("v.*7")
		r := p.AddRegistryRepository("web")
		ages := random.Perm(220 + random.IntN(200)) // in days
		r.AddTags(len(ages), func(i int, tag *Document) { tag.Set("created_at", noon().Add(-time.Duration(ages[i])*day)) })
		keep, older := random.IntN(2)*random.IntN(60), random.IntN(2)*(1+random.IntN(60))
		form := fmt.Sprintf("name_regex_delete=v.*&name_regex_keep=v.*3&keep_n=%d", keep)
		if older > 0 {
			form += fmt.Sprintf("&older_than=%dd", older)
		}

		doomed := map[int]string{} // names by age
		for i, age := range ages {
			if name := fmt.Sprintf("v%04d", i+1); !strings.HasSuffix(name, "7") && !strings.HasSuffix(name, "3") {
				doomed[age] = name
			}
		}
		for _, age := range slices.Sorted(maps.Keys(doomed)) { // the newest first
			if keep > 0 || age < older {
				delete(doomed, age)
			}
			keep--
		}
		for _, age := range slices.Sorted(maps.Keys(doomed)) {
			if offering == Hosted && len(doomed) > 200 {
				delete(doomed, age)
			}
		}
		gone := slices.Collect(maps.Values(doomed))
		left := slices.DeleteFunc(r.Tags(), func(name string) bool { return slices.Contains(gone, name) })
		assert.Equal(t, 202, newCaller(t, s).send("DELETE", registryPath+"/1/tags", form).Status)
		s.FinishBackgroundJobs()
		assert.Equal(t, left, r.Tags(), "%s, %d tags: %s", offering, len(ages), form)
	}
}

func TestRegistryVisibility(t *testing.T) {
	s := New(t)
	users := map[string]*User{}
	for _, name := range []string{"stranger", "guest", "reporter", "developer", "maintainer"} {
		users[name] = s.AddUser(name)
	}
	for i, project := range []*Project{s.AddProject("group/public"), s.AddProject("group/private", Private), s.AddProject("group/internal", Internal)} {
		for name, role := range map[string]Role{"guest": Guest, "reporter": Reporter, "developer": Developer, "maintainer": Maintainer} {
			project.AddMember(users[name], role)
		}
		r := project.AddRegistryRepository("web").AddTag("v1", nil)
		c := newCaller(t, s)
		outside := []int{200, 404, 200}[i] // a user without a role
		off := []int{403, 404, 403}[i]
		for _, tc := range []struct {
			level string
			want  map[string]int
		}{
			{"", map[string]int{"stranger": outside, "guest": 200, "reporter": 200, "": 401}},
			{"private", map[string]int{"stranger": off, "guest": 403, "reporter": 200, "": 401}},
			{"disabled", map[string]int{"stranger": off, "guest": 403, "reporter": 403, "maintainer": 403, "": 401}},
			{"enabled", map[string]int{"stranger": outside, "guest": 200, "": 401}},
		} {
			form := ""
			if tc.level != "" {
				form = "container_registry_access_level=" + tc.level
			}
			a := c.as(users["maintainer"].Token).send("PUT", fmt.Sprintf("/projects/%d/", project.ID), form)
			assert.Equal(t, 200, a.Status)
			shown := map[string]any{"id": float64(project.ID), "name": []string{"Public", "Private", "Internal"}[i], "container_registry_access_level": cmp.Or(tc.level, "enabled")}
			assert.Equal(t, shown, a.object(t))
			unchanged := c.send("PUT", fmt.Sprintf("/projects/%d/", project.ID), "").object(t)
			assert.Equal(t, shown, unchanged, "the parameter is optional")
			if tc.level == "disabled" {
				for _, path := range []string{"", "/tags?name_regex_delete=.*", "/tags/v1"} {
					path = fmt.Sprintf("/projects/%d/registry/repositories/%d%s", project.ID, r.ID, path)
					assert.Equal(t, 403, c.as(users["maintainer"].Token).send("DELETE", path, "").Status, path)
				}
			}
			for name, status := range tc.want {
				as := c.as("")
				if name != "" {
					as = c.as(users[name].Token)
				}
				base := fmt.Sprintf("/projects/%d/registry/repositories", project.ID)
				for _, path := range []string{base, fmt.Sprintf("%s/%d/tags", base, r.ID), fmt.Sprintf("%s/%d/tags/v1", base, r.ID), fmt.Sprintf("/registry/repositories/%d", r.ID)} {
					assert.Equal(t, status, as.get(path).Status, "%s %q %s", name, tc.level, path)
				}
				if name != "" {
					seen := slices.Contains(as.get("/groups/group/registry/repositories").column(t, "path"), any(r.Path))
					assert.Equal(t, status == 200, seen)
				}
			}
		}
		put := fmt.Sprintf("/projects/%d/", project.ID)
		assert.Equal(t, 400, c.send("PUT", put, "container_registry_access_level=public").Status)
		assert.Equal(t, 403, c.as(users["developer"].Token).send("PUT", put, "container_registry_access_level=private").Status)
		assert.Equal(t, 400, c.send("PUT", strings.TrimSuffix(put, "/"), "container_registry_access_level=public").Status)
		base := fmt.Sprintf("/projects/%d/registry/repositories/%d", project.ID, r.ID)
		for _, tc := range []struct {
			name                  string
			tag, bulk, repository int
		}{{"reporter", 403, 403, 403}, {"developer", 200, 403, 403}, {"maintainer", 404, 202, 202}} {
			as := c.as(users[tc.name].Token)
			assert.Equal(t, tc.tag, as.send("DELETE", base+"/tags/v1", "").Status, tc.name)
			assert.Equal(t, tc.bulk, as.send("DELETE", base+"/tags", "name_regex_delete=x").Status, tc.name)
			assert.Equal(t, tc.repository, as.send("DELETE", base, "").Status, tc.name)
		}
	}
}

func TestJobTokensReachTheirProjectOnly(t *testing.T) {
	s := New(t)
	app, other := s.AddProject("group/app"), s.AddProject("group/other")
	for _, p := range []*Project{app, other} {
		p.AddRegistryRepository("web").AddTag("v1", nil)
	}
	c := newCaller(t, s)
	token := app.AddJobToken(s.Root())
	for path, status := range map[string]int{
		"/projects/1/registry/repositories":           200,
		"/projects/1/registry/repositories/1/tags":    200,
		"/projects/1/registry/repositories/1/tags/v1": 200,
		"/registry/repositories/1":                    200,
		"/projects/2/registry/repositories":           403,
		"/projects/2/registry/repositories/2/tags/v1": 403,
		"/registry/repositories/2":                    403,
		"/groups/group/registry/repositories":         401, // does not accept job tokens
		"/projects/1/resource_groups":                 401,
	} {
		assert.Equal(t, status, c.as("").with("GET", path, "JOB-TOKEN", token).Status, path)
	}
	assert.Equal(t, 200, c.as("").with("DELETE", "/projects/1/registry/repositories/1/tags/v1", "JOB-TOKEN", token).Status)
	for _, path := range []string{"/tags?name_regex_delete=.*", ""} {
		for project, status := range map[int]int{1: 202, 2: 403} {
			path := fmt.Sprintf("/projects/%d/registry/repositories/%d%s", project, project, path)
			assert.Equal(t, status, c.as("").with("DELETE", path, "JOB-TOKEN", token).Status, path)
		}
	}
	assert.Equal(t, 401, c.as("").with("PUT", "/projects/1/", "JOB-TOKEN", token).Status)
	for path, status := range map[string]int{"/projects/1/registry/repositories": 200, "/projects/2/registry/repositories": 403} {
		assert.Equal(t, status, c.as("").with("GET", path, "JOB-TOKEN", s.JobToken).Status, "the server's token is that of the first project")
	}
	lenient := New(t, WithJobTokenForAllProjects())
	lenient.AddProject("group/app")
	lenient.AddProject("group/other")
	assert.Equal(t, 200, newCaller(t, lenient).as("").with("GET", "/projects/2/registry/repositories", "JOB-TOKEN", lenient.JobToken).Status)
}

func TestHostedArchivesAreLimited(t *testing.T) {
	for offering, want := range map[Offering]int{Hosted: 429, SelfManaged: 200, Dedicated: 200} {
		s := New(t, WithOffering(offering))
		pass := ticking(s)
		s.AddProject("group/app").AddFiles(map[string]string{"README.md": "x"})
		c := newCaller(t, s)
		for range 5 {
			assert.Equal(t, 200, c.get("/projects/1/repository/archive").Status)
		}
		a := c.get("/projects/1/repository/archive")
		assert.Equal(t, want, a.Status)
		assert.Equal(t, want == 429, a.Header.Get("Retry-After") != "")
		pass(59 * time.Second)
		assert.Equal(t, want, c.get("/projects/1/repository/archive").Status)
		pass(time.Second)
		assert.Equal(t, 200, c.get("/projects/1/repository/archive").Status, "a minute later")
	}
}
