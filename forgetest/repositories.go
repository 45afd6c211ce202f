package forgetest

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

func repositoryRoutes() []route {
	return []route{
		{name: "GET /projects/:id/repository/tree", handle: listTree},
		{name: "GET /projects/:id/repository/blobs/:sha", handle: getBlob},
		{name: "GET /projects/:id/repository/blobs/:sha/raw", handle: getRawBlob},
		{name: "GET /projects/:id/repository/archive[.:format]", handle: getArchive},
		{name: "GET /projects/:id/repository/compare", handle: compare},
		{name: "GET /projects/:id/repository/contributors", handle: listContributors},
		{name: "GET /projects/:id/repository/merge_base", handle: getMergeBase},
		{name: "POST /projects/:id/repository/changelog", role: Developer, handle: addChangelog},
		{name: "GET /projects/:id/repository/changelog", handle: getChangelog},
	}
}

// Reading a blob above limitedBlob bytes is limited to limitedCalls a minute (Document 1 §8),
// counted under largeBlobs.
const (
	limitedBlob  = 10 << 20
	limitedCalls = 5
	largeBlobs   = "large blobs"
)

// listTree lists folders before files (Document 1 §4.3).
func listTree(c *call) response {
	commit := c.project.repo.resolveOr(c.text("ref"))
	if commit == nil {
		return notFound("Tree")
	}
	path := strings.Trim(c.text("path"), "/")
	start := commit.tree.find(path)
	switch {
	case start.tree != nil:
	case c.server.release.has(release{17, 7}):
		return notFound("invalid revision or path")
	default:
		start.tree = new(tree) // there is nothing
	}
	prefix := ""
	if path != "" {
		prefix = path + "/"
	}
	var folders, files []*Document
	start.tree.walk(prefix, func(path string, e treeEntry) {
		if !c.flag("recursive") && strings.Contains(path[len(prefix):], "/") {
			return
		}
		d := NewDocument("TreeEntry").Set("id", e.id()).Set("name", e.name).Set("path", path).Set("mode", e.mode)
		if e.tree != nil {
			folders = append(folders, d.Set("type", "tree"))
			return
		}
		files = append(files, d.Set("type", "blob"))
	})
	docs := slices.Concat(folders, files)
	if c.text("pagination") == "none" && c.flag("recursive") {
		return ok(docs)
	}
	return c.page(listing{n: len(docs), at: func(i int) *Document { return docs[i] }, key: func(i int) string { return docs[i].text("path") }})
}

func getBlob(c *call) response {
	b := c.project.repo.blobs[c.args["sha"]]
	if b == nil {
		return notFound("Blob")
	}
	if b.length() > limitedBlob && c.store.rates[c.route.name] == nil {
		if limited := c.server.checkRate(largeBlobs); limited != nil {
			return *limited
		}
	}
	var content bytes.Buffer
	_ = b.copyTo(&content)
	return ok(NewDocument("Blob").Set("size", b.length()).Set("encoding", "base64").
		Set("content", base64.StdEncoding.EncodeToString(content.Bytes())).Set("sha", b.id))
}

func getRawBlob(c *call) response {
	b := c.project.repo.blobs[c.args["sha"]]
	if b == nil {
		return notFound("Blob")
	}
	a := response{status: http.StatusOK, stream: b.copyTo, size: b.length()}
	a.set("Content-Type", "application/octet-stream")
	a.set("Content-Disposition", `attachment; filename="`+b.id+`"`)
	return a
}

func compare(c *call) response {
	source := c.project
	if id := c.text("from_project_id"); id != "" {
		source, _ = c.store.findProject(id)
		if source == nil || !source.readableBy(c.user) {
			return notFound("Project")
		}
	}
	from, to := source.repo.resolve(c.text("from")), c.project.repo.resolve(c.text("to"))
	if from == nil || to == nil {
		return notFound("Ref")
	}
	base := from
	if !c.flag("straight") {
		base = mergeBase([]*Commit{from, to})
	}
	d := NewDocument("Comparison").Set("commit", nil).Set("compare_same_ref", c.text("from") == c.text("to")).
		Set("web_url", link(fmt.Sprintf("/%s/-/compare/%s...%s", c.project.Path, c.text("from"), c.text("to"))))
	commits, diffs := []*Document{}, []*Document{}
	for _, commit := range between(from, to) {
		commits = append(commits, commit.fill(NewDocument("ComparisonCommit")))
	}
	if len(commits) > 0 {
		d.Set("commit", commits[len(commits)-1])
	}
	var old *tree
	if base != nil {
		old = base.tree
	}
	for _, change := range diffTrees(old, to.tree) {
		diffs = append(diffs, change.render(diffForm{unidiff: c.flag("unidiff")}))
	}
	return ok(d.Set("commits", commits).Set("diffs", diffs))
}

// fill sets the fields that all forms of a commit have.
func (c *Commit) fill(d *Document) *Document {
	return d.Set("id", c.ID).Set("short_id", c.ID[:8]).Set("title", c.title()).Set("created_at", c.date).
		Set("author_name", c.name).Set("author_email", c.email)
}

// describe adds the fields that commits have except in comparisons.
func (c *Commit) describe(d *Document, p *Project) *Document {
	last, _ := c.trailers()
	return c.fill(d).Set("parent_ids", c.parentIDs()).Set("message", c.Message).Set("authored_date", c.date).
		Set("committer_name", c.name).Set("committer_email", c.email).Set("committed_date", c.date).Set("trailers", last).
		Set("web_url", link(fmt.Sprintf("/%s/-/commit/%s", p.Path, c.ID)))
}

// contributor is the sum of the commits of one author; merges do not count.
type contributor struct {
	name, email                   string
	commits, additions, deletions int64
	first                         time.Time
}

func (r *repository) contributors(head *Commit) []*contributor {
	var list []*contributor
	for _, commit := range between(nil, head) {
		if len(commit.parents) > 1 {
			continue
		}
		i := slices.IndexFunc(list, func(a *contributor) bool { return a.email == commit.email })
		if i < 0 {
			i = len(list)
			list = append(list, &contributor{name: commit.name, email: commit.email, first: commit.date})
		}
		list[i].commits++
		var parent *tree
		if len(commit.parents) == 1 {
			parent = commit.parents[0].tree
		}
		for _, change := range diffTrees(parent, commit.tree) {
			additions, deletions := change.count()
			list[i].additions += additions
			list[i].deletions += deletions
		}
	}
	return list
}

// listContributors sorts by the date of the first commit by default.
func listContributors(c *call) response {
	head := c.project.repo.resolveOr(c.text("ref"))
	if head == nil {
		return notFound("Ref")
	}
	list := c.project.repo.contributors(head)
	slices.SortStableFunc(list, func(a, b *contributor) int {
		var order int
		switch c.text("order_by") {
		case "name":
			order = strings.Compare(a.name, b.name)
		case "email":
			order = strings.Compare(a.email, b.email)
		case "commits":
			order = cmp.Compare(a.commits, b.commits)
		default:
			order = a.first.Compare(b.first)
		}
		if c.text("sort") == "desc" {
			return -order
		}
		return order
	})
	docs := make([]*Document, len(list))
	for i, a := range list {
		docs[i] = NewDocument("Contributor").Set("name", a.name).Set("email", a.email).Set("commits", a.commits).
			Set("additions", a.additions).Set("deletions", a.deletions)
	}
	return c.page(listOf(docs))
}

func getMergeBase(c *call) response {
	refs := c.list("refs[]")
	if len(refs) < 2 {
		return failure(http.StatusBadRequest, "400 Bad request - Provide at least 2 refs")
	}
	commits := make([]*Commit, len(refs))
	for i, ref := range refs {
		if commits[i] = c.project.repo.resolve(ref); commits[i] == nil {
			return failure(http.StatusBadRequest, "400 Bad request - Could not find ref: %s", ref)
		}
	}
	base := mergeBase(commits)
	if base == nil {
		return notFound("Merge Base")
	}
	_, all := base.trailers()
	return ok(base.describe(NewDocument("MergeBaseCommit"), c.project).Set("extended_trailers", all))
}
