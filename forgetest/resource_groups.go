package forgetest

import (
	"fmt"
	"slices"
	"strings"
)

func resourceGroupRoutes() []route {
	return []route{
		{name: "GET /projects/:id/resource_groups", role: Developer, handle: listResourceGroups},
		{name: "GET /projects/:id/resource_groups/:key", role: Developer, handle: inResourceGroup(getResourceGroup)},
		{name: "GET /projects/:id/resource_groups/:key/upcoming_jobs", role: Developer, handle: inResourceGroup(listUpcomingJobs)},
		{name: "PUT /projects/:id/resource_groups/:key", role: Developer, handle: inResourceGroup(setProcessMode)},
	}
}

// ResourceGroup keeps jobs of a project from running at the same time.
type ResourceGroup struct {
	ID  int64  // instance-wide
	Key string // unique inside the project; used in paths

	project *Project
	doc     *Document
	jobs    []*Document // oldest first
}

// AddResourceGroup creates a resource group with process mode unordered. If it exists, it is
// returned unchanged.
func (p *Project) AddResourceGroup(key string) *ResourceGroup {
	p.srv.edit()
	defer p.srv.mu.Unlock()
	for _, g := range p.resourceGroups {
		if g.Key == key {
			return g
		}
	}
	g := &ResourceGroup{ID: p.srv.store.nextID("resource group", 1), Key: key, project: p}
	now := p.srv.now()
	g.doc = NewDocument("ResourceGroup").Set("id", g.ID).Set("key", key).Set("process_mode", "unordered").
		Set("created_at", now).Set("updated_at", now)
	p.resourceGroups = append(p.resourceGroups, g)
	return g
}

// AddUpcomingJob adds a job that waits for the resource and returns its document. fill, if not nil,
// changes it.
func (g *ResourceGroup) AddUpcomingJob(fill func(job *Document)) *Document {
	p := g.project
	p.srv.edit()
	now, id := p.srv.now(), p.srv.store.nextID("job", 1)
	sha := fmt.Sprintf("%040x", id)
	pipeline := NewDocument("JobPipeline").Set("id", id).Set("iid", id).Set("project_id", p.ID).Set("sha", sha).
		Set("ref", defaultBranch).Set("status", "running").Set("source", "push").Set("created_at", now).Set("updated_at", now).
		Set("web_url", link(fmt.Sprintf("/%s/-/pipelines/%d", p.Path, id)))
	commit := NewDocument("JobCommit").Set("id", sha).Set("short_id", sha[:8]).Set("created_at", now).Set("title", "Deploy").
		Set("message", "Deploy\n").Set("author_name", p.srv.store.root.Name).Set("author_email", p.srv.store.root.Email).Set("authored_date", now).
		Set("committer_name", p.srv.store.root.Name).Set("committer_email", p.srv.store.root.Email).Set("committed_date", now).
		Set("web_url", link(fmt.Sprintf("/%s/-/commit/%s", p.Path, sha)))
	d := NewDocument("UpcomingJob").Set("id", id).Set("status", "waiting_for_resource").Set("stage", "deploy").
		Set("name", "deploy:"+g.Key).Set("ref", defaultBranch).Set("created_at", now).Set("user", profileOf(p.srv.store.root)).
		Set("commit", commit).Set("pipeline", pipeline).Set("web_url", link(fmt.Sprintf("/%s/-/jobs/%d", p.Path, id)))
	p.srv.mu.Unlock()
	if fill != nil {
		fill(d)
	}
	p.srv.edit()
	defer p.srv.mu.Unlock()
	g.jobs = append(g.jobs, d)
	return d
}

// Get reads a field of the resource group's document.
func (g *ResourceGroup) Get(name string) any {
	g.project.srv.mu.Lock()
	defer g.project.srv.mu.Unlock()
	return g.doc.Get(name)
}

// profileOf returns the long form of a user inside jobs (Document 1 §2.3).
func profileOf(u *User) *Document {
	return NewDocument("UserProfile").adopt(u.doc)
}

// inResourceGroup finds the resource group that the path names.
func inResourceGroup(handle func(*call, *ResourceGroup) response) func(*call) response {
	return func(c *call) response {
		for _, g := range c.project.resourceGroups {
			if g.Key == c.args["key"] {
				return handle(c, g)
			}
		}
		return notFound("Resource Group")
	}
}

func listResourceGroups(c *call) response {
	docs := make([]*Document, len(c.project.resourceGroups))
	for i, g := range c.project.resourceGroups {
		docs[i] = g.doc
	}
	return c.page(listOf(docs))
}

func getResourceGroup(_ *call, g *ResourceGroup) response { return ok(g.doc) }

// withReason returns a job, which has a failure_reason only if it failed.
func (d *Document) withReason() *Document {
	if d.text("failure_reason") == "" {
		return d.clone().Omit("failure_reason")
	}
	return d
}

// listUpcomingJobs lists the jobs in the order in which they get the resource.
func listUpcomingJobs(c *call, g *ResourceGroup) response {
	jobs := make([]*Document, len(g.jobs))
	for i, job := range g.jobs {
		jobs[i] = job.withReason()
	}
	if strings.HasPrefix(g.doc.text("process_mode"), "newest") {
		slices.Reverse(jobs)
	}
	return c.page(listOf(jobs))
}

func setProcessMode(c *call, g *ResourceGroup) response {
	if mode := c.text("process_mode"); mode != "" {
		g.doc.Set("process_mode", mode).Set("updated_at", c.server.now())
	}
	return ok(g.doc)
}
