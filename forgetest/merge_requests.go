package forgetest

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
)

func mergeRequestRoutes() []route {
	const one = "/projects/:id/merge_requests/:merge_request_iid"
	return []route{
		{name: "GET /merge_requests", handle: listMergeRequests},
		{name: "GET /projects/:id/merge_requests", handle: listProjectMergeRequests},
		{name: "GET " + one + "/blocks", handle: listBlocks},
		{name: "POST " + one + "/blocks", role: Developer, author: true, handle: createBlock},
		{name: "DELETE " + one + "/blocks/:block_id", role: Developer, author: true, handle: deleteBlock},
		{name: "GET " + one + "/blockees", handle: listBlockees},
		{name: "GET " + one + "/changes", handle: getChanges},
		{name: "POST " + one + "/subscribe", handle: subscribeMergeRequest},
		{name: "POST " + one + "/unsubscribe", handle: unsubscribeMergeRequest},
		{name: "POST " + one + "/todo", handle: createMergeRequestTodo},
		{name: "GET " + one + "/versions", handle: listVersions},
		{name: "GET " + one + "/versions/:version_id", handle: getVersion},
	}
}

// resolveMergeRequest finds the merge request that the path names.
func (c *call) resolveMergeRequest() *answer {
	ref, ok := c.args["merge_request_iid"]
	if !ok {
		return nil
	}
	iid, _ := parseID(ref)
	for _, mr := range c.project.tracker.mergeRequests {
		if mr.IID == iid {
			c.mr = mr
			return nil
		}
	}
	return fail(missing("Merge Request"))
}

func (s *store) mergeRequestByID(id int64) *MergeRequest {
	for _, p := range s.projects {
		for _, mr := range p.tracker.mergeRequests {
			if mr.ID == id {
				return mr
			}
		}
	}
	return nil
}

// document is the dependency as lists have it, with both merge requests.
func (b *block) document(c *call) *Document {
	look := scope{user: c.user}
	return NewDocument("MergeRequestDependency").Set("id", b.id).Set("project_id", b.blocked.project.ID).
		Set("blocking_merge_request", b.blocking.render(look)).Set("blocked_merge_request", b.blocked.render(look))
}

func listBlocks(c *call) answer {
	var docs []*Document
	for _, b := range c.mr.blocks {
		if b.blocking.project.readableBy(c.user) {
			docs = append(docs, b.document(c))
		}
	}
	return c.page(listOf(docs)).as(dependency)
}

// listBlockees lists the dependencies whose blocker this merge request is.
func listBlockees(c *call) answer {
	var docs []*Document
	for _, p := range c.projects {
		for _, mr := range p.tracker.mergeRequests {
			for _, b := range mr.blocks {
				if b.blocking == c.mr && p.readableBy(c.user) {
					docs = append(docs, b.document(c))
				}
			}
		}
	}
	return c.page(listOf(docs)).as(dependency)
}

// createBlock takes the instance-wide id of the blocking merge request.
func createBlock(c *call) answer {
	id, _ := parseID(c.text("blocking_merge_request_id"))
	other := c.mergeRequestByID(id)
	switch {
	case other == nil:
		return missing("Blocking merge request")
	case !other.project.readableBy(c.user):
		return failed(http.StatusForbidden, "403 Forbidden - Blocking merge request cannot be read")
	case slices.ContainsFunc(c.mr.blocks, func(b *block) bool { return b.blocking == other }):
		return failed(http.StatusConflict, "409 Conflict - Block already exists")
	case other == c.mr:
		return invalid("base", "This block is self-referential")
	case slices.ContainsFunc(other.blocks, func(b *block) bool { return b.blocking == c.mr }):
		return invalid("base", "This block would create a circular dependency")
	}
	return created(c.mr.block(other).document(c).Omit("blocked_merge_request")).as(dependency)
}

func deleteBlock(c *call) answer {
	id, _ := parseID(c.args["block_id"])
	i := slices.IndexFunc(c.mr.blocks, func(b *block) bool { return b.id == id })
	switch {
	case i < 0:
		return missing("Block")
	case !c.mr.blocks[i].blocking.project.readableBy(c.user):
		return failed(http.StatusForbidden, "403 Forbidden")
	}
	c.mr.blocks = slices.Delete(c.mr.blocks, i, i+1)
	return answer{status: http.StatusNoContent}
}

// changedFiles is how many files of a merge request the database holds: beyond that the server
// counts no further and cuts the diffs off. Only changes with access_raw_diffs have all of them.
const changedFiles = 100

// countFiles is the number of changed files, as the server writes it.
func countFiles(n int) string {
	if n > changedFiles {
		return strconv.Itoa(changedFiles) + "+"
	}
	return strconv.Itoa(n)
}

// getChanges answers the merge request with its diffs. Diffs above a limit are left out and overflow is true.
func getChanges(c *call) answer {
	d := NewDocument("MergeRequestChanges").adopt(c.mr.render(scope{project: c.project, user: c.user}))
	form := diffForm{unidiff: c.flag("unidiff"), raw: c.flag("access_raw_diffs")}
	changes := c.mr.latest().changes()
	overflow := len(changes) > changedFiles && !form.raw
	if overflow {
		changes = changes[:changedFiles]
	}
	docs := make([]*Document, len(changes))
	for i, change := range changes {
		docs[i] = change.document(form)
		overflow = overflow || docs[i].bool("too_large")
	}
	return ok(d.Set("changes", docs).Set("overflow", overflow))
}

func subscribeMergeRequest(c *call) answer {
	if c.mr.subscribers[c.user] {
		return unchanged()
	}
	c.mr.subscribers[c.user] = true
	return created(c.mr.render(scope{project: c.project, user: c.user}))
}

func unsubscribeMergeRequest(c *call) answer {
	if !c.mr.subscribers[c.user] {
		return unchanged()
	}
	delete(c.mr.subscribers, c.user)
	return created(c.mr.render(scope{project: c.project, user: c.user}))
}

func createMergeRequestTodo(c *call) answer {
	return c.markTodo(&c.mr.item, "MergeRequest", c.mr.render(scope{project: c.project, user: c.user}))
}

// markTodo makes a to-do of an issue or a merge request, once for each user.
func (c *call) markTodo(i *item, kind string, target *Document) answer {
	if i.todos[c.user] != nil {
		return unchanged()
	}
	todo := NewDocument("Todo").Set("id", c.nextID("todo", 1)).Set("project", c.project.document()).Set("author", c.user).
		Set("action_name", "marked").Set("target_type", kind).Set("target", target).
		Set("target_url", link(target.text("web_url"))).Set("body", target.Get("title")).
		Set("state", "pending").Set("created_at", c.now())
	i.todos[c.user] = todo
	return created(todo)
}

// listVersions lists the newest version first.
func listVersions(c *call) answer {
	var docs []*Document
	for _, v := range slices.Backward(c.mr.versions) {
		docs = append(docs, v.document(c.mr))
	}
	return c.page(listOf(docs))
}

func getVersion(c *call) answer {
	id, _ := parseID(c.args["version_id"])
	for _, v := range c.mr.versions {
		if v.id == id {
			return ok(v.fill(v.document(c.mr), &c.mr.project.repo, diffForm{unidiff: c.flag("unidiff")})).as("single")
		}
	}
	return missing("Merge Request Diff")
}

func (v *diffVersion) document(mr *MergeRequest) *Document {
	changes := v.changes()
	var patch []byte
	for _, change := range changes {
		patch = append(patch, change.newPath+change.new.idOrNone()...)
	}
	return NewDocument("DiffVersion").Set("id", v.id).Set("head_commit_sha", v.head.ID).Set("base_commit_sha", v.baseID()).
		Set("start_commit_sha", v.start.ID).Set("created_at", v.at).Set("merge_request_id", mr.ID).Set("state", "collected").
		Set("real_size", countFiles(len(changes))).Set("patch_id_sha", objectID("patch", patch))
}

func (e treeEntry) idOrNone() string {
	if e.blob == nil {
		return ""
	}
	return e.id()
}

// fill adds what only the single version has: commits, newest first, and diffs.
func (v *diffVersion) fill(d *Document, repo *repository, form diffForm) *Document {
	commits, diffs := []*Document{}, []*Document{}
	for _, commit := range slices.Backward(between(v.base, v.head)) {
		last, all := commit.trailers()
		commits = append(commits, commit.fill(NewDocument("VersionCommit")).Set("parent_ids", commit.parentIDs()).
			Set("message", commit.Message).Set("authored_date", commit.date).Set("committer_name", commit.name).
			Set("committer_email", commit.email).Set("committed_date", commit.date).
			Set("trailers", last).Set("extended_trailers", all).
			Set("web_url", link(fmt.Sprintf("/commit/%s", commit.ID))))
	}
	changes := v.changes()
	for _, change := range changes[:min(changedFiles, len(changes))] {
		diffs = append(diffs, NewDocument("VersionDiff").adopt(change.document(form)).Set("generated_file", repo.generated[change.newPath]))
	}
	return d.Set("commits", commits).Set("diffs", diffs)
}
