package forgetest

import (
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
		{name: "POST " + one + "/subscribe", handle: subscribe},
		{name: "POST " + one + "/unsubscribe", handle: unsubscribe},
		{name: "POST " + one + "/todo", handle: createTodo},
		{name: "GET " + one + "/versions", handle: listVersions},
		{name: "GET " + one + "/versions/:version_id", handle: getVersion},
	}
}

// resolveMergeRequest finds the merge request that the path names.
func (c *call) resolveMergeRequest() *response {
	ref, ok := c.args["merge_request_iid"]
	if !ok {
		return nil
	}
	iid, _ := parseID(ref)
	for _, mr := range c.project.tracker.mergeRequests {
		if mr.IID == iid && !mr.hidden {
			c.mr = mr
			return nil
		}
	}
	return fail(notFound("Merge Request"))
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

// render returns the dependency as it is in lists, with both merge requests.
func (b *block) render(c *call) *Document {
	viewpoint := scope{user: c.user}
	return NewDocument("MergeRequestDependency").Set("id", b.id).Set("project_id", b.blocked.project.ID).
		Set("blocking_merge_request", b.blocking.render(viewpoint)).Set("blocked_merge_request", b.blocked.render(viewpoint))
}

func listBlocks(c *call) response {
	var docs []*Document
	for _, b := range c.mr.blocks {
		if b.blocking.project.readableBy(c.user) {
			docs = append(docs, b.render(c))
		}
	}
	return c.page(listOf(docs)).as(dependency)
}

// listBlockees lists the dependencies in which this merge request is the blocking one.
func listBlockees(c *call) response {
	var docs []*Document
	for _, p := range c.store.projects {
		for _, mr := range p.tracker.mergeRequests {
			for _, b := range mr.blocks {
				if b.blocking == c.mr && p.readableBy(c.user) {
					docs = append(docs, b.render(c))
				}
			}
		}
	}
	return c.page(listOf(docs)).as(dependency)
}

// createBlock expects the instance-wide id of the blocking merge request.
func createBlock(c *call) response {
	id, _ := parseID(c.text("blocking_merge_request_id"))
	other := c.store.mergeRequestByID(id)
	switch {
	case other == nil:
		return notFound("Blocking merge request")
	case !other.project.readableBy(c.user):
		return failure(http.StatusForbidden, "403 Forbidden - Blocking merge request cannot be read")
	case slices.ContainsFunc(c.mr.blocks, func(b *block) bool { return b.blocking == other }):
		return failure(http.StatusConflict, "409 Conflict - Block already exists")
	case other == c.mr:
		return invalid("base", "This block is self-referential")
	case slices.ContainsFunc(other.blocks, func(b *block) bool { return b.blocking == c.mr }):
		return invalid("base", "This block would create a circular dependency")
	}
	return created(c.mr.block(other).render(c).Omit("blocked_merge_request")).as(dependency)
}

func deleteBlock(c *call) response {
	id, _ := parseID(c.args["block_id"])
	i := slices.IndexFunc(c.mr.blocks, func(b *block) bool { return b.id == id })
	switch {
	case i < 0:
		return notFound("Block")
	case !c.mr.blocks[i].blocking.project.readableBy(c.user):
		return failure(http.StatusForbidden, "403 Forbidden")
	}
	c.mr.blocks = slices.Delete(c.mr.blocks, i, i+1)
	return response{status: http.StatusNoContent}
}

// changedFiles is the number of changed files of a merge request that the server stores. It does
// not count files beyond it, and omits their diffs. Only changes with access_raw_diffs contain all
// diffs.
const changedFiles = 100

// countFiles returns the number of changed files in the form of responses.
func countFiles(n int) string {
	if n > changedFiles {
		return strconv.Itoa(changedFiles) + "+"
	}
	return strconv.Itoa(n)
}

// getChanges returns the merge request with its diffs. It omits diffs above a limit; overflow is
// true then.
func getChanges(c *call) response {
	d := NewDocument("MergeRequestChanges").adopt(c.mr.render(scope{project: c.project, user: c.user}))
	form := diffForm{unidiff: c.flag("unidiff"), raw: c.flag("access_raw_diffs")}
	changes := c.mr.latest().changes()
	overflow := len(changes) > changedFiles && !form.raw
	if overflow {
		changes = changes[:changedFiles]
	}
	docs := make([]*Document, len(changes))
	for i, change := range changes {
		docs[i] = change.render(form)
		overflow = overflow || docs[i].bool("too_large")
	}
	return ok(d.Set("changes", docs).Set("overflow", overflow))
}

// listVersions lists the diff versions, newest first.
func listVersions(c *call) response {
	var docs []*Document
	for _, v := range slices.Backward(c.mr.versions) {
		docs = append(docs, v.render(c.mr))
	}
	return c.page(listOf(docs))
}

func getVersion(c *call) response {
	id, _ := parseID(c.args["version_id"])
	for _, v := range c.mr.versions {
		if v.id == id {
			return ok(v.fill(v.render(c.mr), c.mr.project, diffForm{unidiff: c.flag("unidiff")})).as("single")
		}
	}
	return notFound("Merge Request Diff")
}

func (v *diffVersion) render(mr *MergeRequest) *Document {
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

// fill adds the fields of the single version: commits, newest first, and diffs.
func (v *diffVersion) fill(d *Document, p *Project, form diffForm) *Document {
	commits, diffs := []*Document{}, []*Document{}
	for _, commit := range slices.Backward(between(v.base, v.head)) {
		_, all := commit.trailers()
		commits = append(commits, commit.describe(NewDocument("VersionCommit"), p).Set("extended_trailers", all))
	}
	changes := v.changes()
	for _, change := range changes[:min(changedFiles, len(changes))] {
		diffs = append(diffs, NewDocument("VersionDiff").adopt(change.render(form)).Set("generated_file", p.repo.generated[change.newPath]))
	}
	return d.Set("commits", commits).Set("diffs", diffs)
}
