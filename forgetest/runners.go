package forgetest

import (
	"net/http"
	"slices"
	"strings"
)

// minJobTimeout is in seconds. The document has no minimum; this is the minimum of the deployed
// server.
const minJobTimeout = 600

func runnerRoutes() []route {
	return []route{
		{name: "GET /runners", handle: listRunners},
		{name: "GET /runners/all", handle: listAllRunners},
		{name: "GET /runners/:id", handle: getRunner},
		{name: "PUT /runners/:id", handle: updateRunner},
		{name: "PUT /runners/:runner_id", handle: updateRunner},
		{name: "GET /runners/:id/jobs", handle: listRunnerJobs},
		{name: "GET /runners/:id/managers", handle: listRunnerManagers},
		{name: "GET /projects/:id/runners", handle: listProjectRunners},
	}
}

// listRunners lists the runners that the caller may manage.
func listRunners(c *call) response {
	return c.runnerList(func(r *Runner) bool { return r.manageableBy(c.user) })
}

func listAllRunners(c *call) response {
	if !c.user.auditor() {
		return failure(http.StatusForbidden, "403 Forbidden")
	}
	return c.runnerList(func(*Runner) bool { return true })
}

// listProjectRunners lists the runners that take the project's jobs: its own, those of groups above
// it, and instance runners.
func listProjectRunners(c *call) response {
	if !c.user.auditor() && c.project.role(c.user) < Maintainer {
		return failure(http.StatusForbidden, "403 Forbidden")
	}
	return c.runnerList(func(r *Runner) bool { return r.servesProject(c.project) })
}

// runnerList returns the runners that match the filters, newest first.
func (c *call) runnerList(may func(*Runner) bool) response {
	var docs []*Document
	for _, r := range slices.Backward(c.store.runners) {
		if may(r) && c.matchesRunner(r) {
			docs = append(docs, r.render(c.server.now()))
		}
	}
	return c.page(listOf(docs)).as("list")
}

func (c *call) matchesRunner(r *Runner) bool {
	tags, _ := r.doc.Get("tag_list").([]string)
	for _, tag := range c.list("tag_list[]") {
		if !slices.Contains(tags, tag) {
			return false
		}
	}
	return (!c.has("type") || c.text("type") == r.kind()) &&
		(!c.has("paused") || c.flag("paused") == r.doc.bool("paused")) &&
		hasVersion(r.doc.text("version"), c.text("version_prefix")) &&
		r.hasState(c.text("status"), c) && r.hasState(c.text("scope"), c)
}

// hasVersion reports whether a version has a prefix. The document shows prefixes of whole numbers
// only (15.0, 14, 16.1.241). The interpretation follows the deployed server: 16.1 does not match
// 16.10.
func hasVersion(version, prefix string) bool {
	prefix = strings.TrimSuffix(prefix, ".")
	rest, found := strings.CutPrefix(version, prefix)
	return prefix == "" || found && (rest == "" || rest[0] < '0' || rest[0] > '9')
}

// hasState reports whether a runner matches a value of status or of the deprecated scope. Stale
// runners are offline too.
func (r *Runner) hasState(wanted string, c *call) bool {
	status := r.status(c.server.now())
	switch wanted {
	case "":
		return true
	case "active", "paused":
		return r.doc.bool("paused") == (wanted == "paused")
	case "specific", "shared":
		return (r.kind() == "instance_type") == (wanted == "shared")
	case "instance_type", "group_type", "project_type":
		return r.kind() == wanted
	case "offline":
		return status == "offline" || status == "stale"
	}
	return status == wanted
}

// runner returns the runner of the path if may allows it.
func (c *call) runner(may func(*Runner) bool) (*Runner, *response) {
	id, _ := parseID(c.args["id"] + c.args["runner_id"])
	i := slices.IndexFunc(c.store.runners, func(r *Runner) bool { return r.ID == id })
	if i < 0 {
		return nil, fail(notFound("Runner"))
	}
	if r := c.store.runners[i]; may(r) {
		return r, nil
	}
	return nil, fail(failure(http.StatusForbidden, "403 Forbidden - No access granted"))
}

func (c *call) mayEdit(r *Runner) bool { return r.manageableBy(c.user) }

// maySee reports whether the caller may see the runner: the runners of mayEdit, and instance
// runners, whose details every user can read.
func (c *call) maySee(r *Runner) bool { return c.mayEdit(r) || r.kind() == "instance_type" }

// maySeeJobs reports whether the caller may list the runner's jobs. It allows the users of maySee,
// and Reporters of a project that the runner serves. The document limits the list to their projects
// and does not specify whose request is rejected. The interpretation follows the deployed server:
// it rejects users who have no such project and may not see the runner.
func (c *call) maySeeJobs(r *Runner) bool {
	return c.maySee(r) || slices.ContainsFunc(c.store.projects, func(p *Project) bool { return r.servesProject(p) && p.role(c.user) >= Reporter })
}

func getRunner(c *call) response {
	r, a := c.runner(c.maySee)
	if a != nil {
		return *a
	}
	d := r.render(c.server.now())
	if c.text("include_projects") == "false" {
		d.Omit("projects")
	}
	return ok(d).as("detail")
}

// updateRunner changes the fields of the call; the same request line pauses a runner.
func updateRunner(c *call) response {
	r, a := c.runner(c.mayEdit)
	switch {
	case a != nil:
		return *a
	case c.has("active") && c.has("paused"): // an interpretation that follows the deployed server
		return rejected(http.StatusBadRequest, "active, paused are mutually exclusive")
	}
	d := r.doc.clone()
	for _, name := range []string{"description", "access_level", "maintenance_note"} {
		if c.params.Has(name) {
			d.Set(name, c.text(name))
		}
	}
	for _, name := range []string{"paused", "locked", "run_untagged"} {
		if c.has(name) {
			d.Set(name, c.flag(name))
		}
	}
	if c.has("active") {
		d.Set("paused", !c.flag("active"))
	}
	if tags, given := c.strings("tag_list"); given {
		d.Set("tag_list", tags)
	}
	if c.has("maximum_timeout") {
		seconds, _ := parseID(c.text("maximum_timeout"))
		d.Set("maximum_timeout", seconds)
	}
	for _, name := range []string{"maximum_timeout", "maintenance_note"} {
		if c.isCleared(name) {
			d.Set(name, nil)
		}
	}
	if a := checkRunner(d); a != nil {
		return *a
	}
	r.doc = d
	return ok(r.render(c.server.now())).as("detail")
}

// isCleared reports whether the call sets a nullable field to null: null in JSON, or a number
// without digits in a form. The row of the parameter does not mention null, but the row of the
// field does (Document 2 §2.9 and §4.5). Null for another field changes nothing.
func (c *call) isCleared(name string) bool {
	value, inBody := c.object[name]
	return inBody && value == nil || name == "maximum_timeout" && c.params.Has(name) && !c.has(name)
}

func checkRunner(d *Document) *response {
	tags, _ := d.Get("tag_list").([]string)
	timeout, limited := d.Get("maximum_timeout").(int64)
	switch {
	case limited && timeout < minJobTimeout:
		return fail(invalid("maximum_timeout", "needs to be at least 10 minutes"))
	case !d.bool("run_untagged") && len(tags) == 0:
		return fail(invalid("tags_list", "can not be empty when runner is not allowed to pick untagged jobs"))
	}
	return nil
}

// strings reads an array parameter that may be empty: [] in JSON or an empty value in a form.
func (c *call) strings(name string) (values []string, given bool) {
	_, inBody := c.object[name]
	return c.list(name + "[]"), inBody || c.params.Has(name) || c.params.Has(name+"[]")
}

// listRunnerJobs lists jobs of projects where the caller is at least Reporter.
func listRunnerJobs(c *call) response {
	r, a := c.runner(c.maySeeJobs)
	if a != nil {
		return *a
	}
	docs := []*Document{}
	for _, j := range r.jobs {
		if j.project.role(c.user) >= Reporter && (!c.has("status") || c.text("status") == j.doc.text("status")) &&
			(!c.has("system_id") || c.text("system_id") == j.systemID) {
			docs = append(docs, j.doc.withReason())
		}
	}
	if c.textOr("sort", "desc") == "desc" {
		slices.Reverse(docs)
	}
	list := listOf(docs)
	list.key = func(i int) string { return decimal(docs[i].int("id")) }
	list.uncounted = c.has("system_id") && c.server.release.has(newest)
	return c.page(list)
}

func listRunnerManagers(c *call) response {
	r, a := c.runner(c.maySee)
	if a != nil {
		return *a
	}
	if c.server.release.has(newest) {
		return ok(slices.Concat([]*Document{}, r.managers)) // without pages
	}
	return c.page(listOf(r.managers))
}
