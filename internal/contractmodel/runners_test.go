package contractmodel

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The runners that a user owns agree with document 2 §4.5.
func TestRunnerModel(t *testing.T) { runnerCheck(t, "runners") }

// All runners of an instance agree with document 2 §4.5.
func TestRunnerAllModel(t *testing.T) { runnerCheck(t, "runners/all") }

// The runners of a project agree with document 2 §4.5.
func TestRunnerProjectModel(t *testing.T) { runnerCheck(t, "projects/runners") }

func runnerCheck(t *testing.T, list string) {
	peopleCheck(t, func(t *rapid.T, note func(string)) {
		w := runnerDrawWorld(t)
		s := peopleServe(t, w)
		defer s.Close()
		for range peopleQueries {
			q := &peopleQuery{List: list, Who: peopleDrawWho(t, w), Params: url.Values{}}
			if list == "runners/all" && !w.auditor(q.Who) && chance(t, "administrator asks", 2) {
				q.Who = 0
			}
			peopleDrawFilters(t, q, runnerDrawers(t, w, q))
			q.Keyset = chance(t, "keyset", 20)
			address := "/" + list
			if list == "projects/runners" {
				q.Target = peopleDrawTarget(t, len(w.Projects))
				address = "/projects/" + w.projectRef(q.Target) + "/runners"
			}
			peopleCompare(t, s, w, q, address, peopleDrawPerPage(t), runnerAnswers(w, q), note)
		}
	})
}

func runnerDrawWorld(t *rapid.T) *peopleWorld {
	w := &peopleWorld{}
	peopleDrawTier(t, w)
	peopleDrawUsers(t, w, number(t, "users", 1, 4), false)
	peopleDrawPlaces(t, w)
	for range number(t, "runners", 1, 16) {
		r := peopleRunner{Type: pick(t, "type", "project_type", "group_type", "instance_type"), Group: -1}
		switch r.Type {
		case "group_type":
			r.Group = number(t, "group", 0, len(w.Groups)-1)
		case "project_type":
			first := number(t, "project", 0, len(w.Projects)-1)
			r.Projects = []int{first}
			for p := range w.Projects {
				if p != first && chance(t, "assigned", 3) {
					r.Projects = append(r.Projects, p)
				}
			}
		}
		r.Paused = chance(t, "paused", 3)
		r.Contacted = pick(t, "contacted", peopleNow.Add(-time.Minute), peopleNow.Add(-24*time.Hour), peopleNow.Add(-30*24*time.Hour), time.Time{})
		r.Version = pick(t, "version", "15.0.1", "15.0.0", "1.5.0", "15.10.0", "16.1.241", "16.1.24", "14.9.2")
		r.Tags = []string{}
		for _, tag := range []string{"linux", "Linux", "go", "arm"} {
			if chance(t, "tag", 3) {
				r.Tags = append(r.Tags, tag)
			}
		}
		for range number(t, "managers", 0, 2) {
			r.Managers = append(r.Managers, pick(t, "manager", r.Version, "15.0.2", "17.3.0"))
		}
		w.Runners = append(w.Runners, r)
	}
	return w
}

func runnerDrawers(t *rapid.T, w *peopleWorld, q *peopleQuery) []func() {
	set := func(name string, values ...string) func() {
		return func() { q.Params.Set(name, pick(t, name, values...)) }
	}
	tags := func() string { return pick(t, "tag", "linux", "go", "arm", "Linux", "LINUX", "none") }
	return []func(){
		set("scope", "active", "paused", "online", "offline", "specific", "shared", "Active", "all"),
		set("type", "instance_type", "group_type", "project_type", "project_type", "Group_type", "shared"),
		set("status", "online", "offline", "stale", "never_contacted", "active", "paused", "Online", "lost"),
		set("paused", "true", "false", "true", "false", "true", "yeah"),
		set("version_prefix", "15.0", "14", "16.1.241", "16.1.24", "15", "1", "15.", "abc", "99"),
		func() { q.Params.Add("tag_list[]", tags()) },
		func() { q.Params.Add("tag_list[]", tags()) },
		func() {
			if !q.has("tag_list[]") {
				q.Params.Set("tag_list", strings.Join([]string{tags(), tags()}, ","))
			}
		},
	}
}

// The jobs of a runner agree with document 2 §4.5.
func TestRunnerJobModel(t *testing.T) {
	peopleCheck(t, func(t *rapid.T, note func(string)) {
		w := runnerDrawWorld(t)
		if len(w.Runners) > 0 {
			for range number(t, "jobs", 1, 30) {
				if job, possible := runnerDrawJob(t, w); possible {
					w.Jobs = append(w.Jobs, job)
				}
			}
		}
		q := &peopleQuery{List: "runners/jobs", Who: peopleDrawWho(t, w), Params: url.Values{}}
		q.Target = peopleDrawTarget(t, len(w.Runners))
		if len(w.Jobs) > 0 && !chance(t, "any runner", 3) {
			q.Target = w.Jobs[0].Runner
		}
		set := func(name string, values ...string) func() {
			return func() { q.Params.Set(name, pick(t, name, values...)) }
		}
		peopleDrawFilters(t, q, []func(){
			set("system_id", "m0", "m1", "M0", "m"), set("status", "running", "success", "failed", "canceled", "pending", "Running"),
			set("order_by", "id", "id", "id", "created_at"), func() {
				q.Params.Set("order_by", "id")
				q.Params.Set("sort", pick(t, "sort", "asc", "desc", "asc", "up"))
			}, func() {
				if chance(t, "sort alone", 4) {
					q.Params.Set("sort", "asc")
				}
			},
		})
		perPage := peopleDrawPerPage(t)
		s := peopleServe(t, w)
		defer s.Close()
		id := int64(99999)
		if q.Target >= 0 {
			id = w.Runners[q.Target].ID
		}
		peopleCompare(t, s, w, q, fmt.Sprintf("/runners/%d/jobs", id), perPage, runnerJobAnswers(w, q), note)
	})
}

// runnerDrawJob draws a job of a project that the runner may run.
func runnerDrawJob(t *rapid.T, w *peopleWorld) (job peopleJob, possible bool) {
	job.Runner = number(t, "runner", 0, min(2, len(w.Runners)-1))
	r := w.Runners[job.Runner]
	var projects []int
	for p := range w.Projects {
		if r.Type == "instance_type" || r.Type == "group_type" && slices.Contains(w.lineage(w.Projects[p].Group), r.Group) || slices.Contains(r.Projects, p) {
			projects = append(projects, p)
		}
	}
	if projects == nil {
		return job, false
	}
	job.Project = pick(t, "project", projects...)
	job.System = pick(t, "system", "m0", "m1")
	job.Status = pick(t, "status", "running", "success", "failed", "canceled", "pending")
	return job, true
}
