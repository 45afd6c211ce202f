package forgetest

import (
	"fmt"
	"time"
)

// MergeRequest is a merge request of a project.
type MergeRequest struct {
	ID  int64 // instance-wide
	IID int64 // number inside the project; used in paths

	item
	versions    []*diffVersion
	blocks      []*block // merge requests that must be merged first
	approvedBy  []*User
	approvers   []*User
	deployments []deployment
}

// diffVersion is the state of the branches after a push.
type diffVersion struct {
	id                int64
	head, base, start *Commit // base may be nil
	at                time.Time
}

// block is a dependency: blocking must be merged before blocked.
type block struct {
	id                int64
	blocking, blocked *MergeRequest
}

type deployment struct {
	environment string
	at          time.Time
}

// AddMergeRequest creates a merge request. fill, if not nil, changes its document. If its branches
// exist in the repository, the merge request has a first diff version, and its sha, diff_refs and
// changes_count come from it unless fill sets them.
func (p *Project) AddMergeRequest(fill func(mr *Document)) *MergeRequest {
	p.srv.edit()
	mr := p.newMergeRequest(p.srv.now())
	p.srv.mu.Unlock()

	empty := mr.doc.clone()
	mr.doc.fillWith(fill, "id", "iid", "project_id", "web_url", "references", "reference", "subscribed", "work_in_progress",
		"allow_maintainer_to_push", "task_completion_status", "time_stats.human_time_estimate", "time_stats.human_total_time_spent")

	p.srv.edit()
	defer p.srv.mu.Unlock()
	mr.doc.completeAssignees()
	filled := mr.doc.clone()
	mr.recordVersion(mr.doc.time("created_at"))
	for _, name := range []string{"sha", "changes_count", "diff_refs"} {
		if given := filled.Get(name); given != empty.Get(name) {
			mr.doc.Set(name, given)
		}
	}
	p.tracker.mergeRequests = append(p.tracker.mergeRequests, mr)
	p.srv.showAdded(&mr.item)
	return mr
}

// newMergeRequest returns a merge request that is not in the list yet.
func (p *Project) newMergeRequest(now time.Time) *MergeRequest {
	mr := &MergeRequest{ID: p.srv.store.nextID("merge_request", 1), IID: p.srv.store.nextID(fmt.Sprintf("merge_request of project %d", p.ID), 1)}
	mr.item = item{project: p, mr: mr}
	mr.init()
	mr.doc = NewDocument("MergeRequest").Set("id", mr.ID).Set("iid", mr.IID).Set("project_id", p.ID).
		Set("source_project_id", p.ID).Set("target_project_id", p.ID).Set("title", fmt.Sprintf("Merge request %d", mr.IID)).
		Set("state", "opened").Set("imported_from", "none").Set("created_at", now).Set("updated_at", now).Set("prepared_at", now).
		Set("author", p.srv.store.root).Set("assignees", []*Document{}).Set("reviewers", []*Document{}).Set("target_branch", defaultBranch).
		Set("source_branch", fmt.Sprintf("change-%d", mr.IID)).Set("merge_status", "can_be_merged").Set("pipeline", nil).
		Set("blocking_discussions_resolved", true).Set("changes_count", nil)
	return mr
}

// AddMergeRequests creates n merge requests; fill, if not nil, is called with the index and the
// document of each.
func (p *Project) AddMergeRequests(n int, fill func(i int, mr *Document)) []*MergeRequest {
	list := make([]*MergeRequest, n)
	for i := range n {
		list[i] = p.AddMergeRequest(func(d *Document) {
			if fill != nil {
				fill(i, d)
			}
		})
	}
	return list
}

// Push commits the change to the source branch and adds a diff version. It ignores the branch in
// the change.
func (mr *MergeRequest) Push(change Change) *Commit {
	mr.lock()
	defer mr.unlock()
	change.Branch = mr.doc.text("source_branch")
	commit := mr.project.repo.commit(change, nil)
	mr.recordVersion(mr.project.srv.now())
	return commit
}

// Approve records the approval of users.
func (mr *MergeRequest) Approve(users ...*User) {
	mr.lock()
	defer mr.unlock()
	mr.approvedBy = append(mr.approvedBy, users...)
}

// AddApprovers makes users eligible approvers.
func (mr *MergeRequest) AddApprovers(users ...*User) {
	mr.lock()
	defer mr.unlock()
	mr.approvers = append(mr.approvers, users...)
}

// Deploy records a deployment to an environment at the server's time.
func (mr *MergeRequest) Deploy(environment string) {
	mr.lock()
	defer mr.unlock()
	mr.deployments = append(mr.deployments, deployment{environment, mr.project.srv.now()})
}

// AddAwardEmoji adds a reaction ("thumbsup", "rocket") of a user to the merge request.
func (mr *MergeRequest) AddAwardEmoji(u *User, emoji string) { mr.award(u, emoji) }

// AddBlocker adds a dependency and returns its id: the other merge request must be merged first.
func (mr *MergeRequest) AddBlocker(other *MergeRequest) int64 {
	mr.lock()
	defer mr.unlock()
	return mr.block(other).id
}

// Get reads a field of the merge request's document.
func (mr *MergeRequest) Get(name string) any {
	mr.lock()
	defer mr.unlock()
	return mr.render(scopeOf(nil)).Get(name)
}

func (mr *MergeRequest) lock()   { mr.project.srv.edit() }
func (mr *MergeRequest) unlock() { mr.project.srv.mu.Unlock() }

func (mr *MergeRequest) block(other *MergeRequest) *block {
	b := &block{id: mr.project.srv.store.nextID("block", 1), blocking: other, blocked: mr}
	mr.blocks = append(mr.blocks, b)
	return b
}

// recordVersion adds a version if both branches exist.
func (mr *MergeRequest) recordVersion(at time.Time) {
	repo := &mr.project.repo
	head, start := repo.branches[mr.doc.text("source_branch")], repo.branches[mr.doc.text("target_branch")]
	if head == nil || start == nil {
		return
	}
	v := &diffVersion{id: mr.project.srv.store.nextID("diff version", 1), head: head, start: start, base: mergeBase([]*Commit{head, start}), at: at}
	mr.versions = append(mr.versions, v)
	mr.doc.Set("sha", head.ID).Set("changes_count", countFiles(len(v.changes()))).
		Set("diff_refs", NewDocument("DiffRefs").Set("base_sha", v.baseID()).Set("head_sha", head.ID).Set("start_sha", start.ID))
}

// latest returns the newest version; nil if there is none.
func (mr *MergeRequest) latest() *diffVersion {
	if len(mr.versions) == 0 {
		return nil
	}
	return mr.versions[len(mr.versions)-1]
}

func (v *diffVersion) baseID() string {
	if v.base == nil {
		return ""
	}
	return v.base.ID
}

func (v *diffVersion) changes() []fileChange {
	if v == nil {
		return nil
	}
	var from *tree
	if v.base != nil {
		from = v.base.tree
	}
	return diffTrees(from, v.head.tree)
}

// render returns the merge request in the form of responses.
func (mr *MergeRequest) render(s scope) *Document {
	d := mr.doc.clone()
	references := mr.project.references("!", mr.IID, s)
	all, done := checklist(d.text("description"))
	d.Set("web_url", link(fmt.Sprintf("/%s/-/merge_requests/%d", mr.project.Path, mr.IID))).
		Set("references", references).Set("reference", references.text("relative")).
		Set("time_stats", d.doc("time_stats").withHumanTimes()).Set("work_in_progress", d.Get("draft")).Set("allow_maintainer_to_push", d.Get("allow_collaboration")).
		Set("subscribed", mr.subscribers[s.user]).
		Set("upvotes", d.int("upvotes")+mr.countAwards("thumbsup")).
		Set("downvotes", d.int("downvotes")+mr.countAwards("thumbsdown")).
		Set("task_completion_status", NewDocument("TaskCompletionStatus").Set("count", all).Set("completed_count", done))
	if d.doc("merged_by") == nil {
		d.Set("merged_by", d.Get("merge_user"))
	}
	if assignees := d.assignees(); len(assignees) > 0 && d.doc("assignee") == nil {
		d.Set("assignee", assignees[0])
	}
	if d.Get("detailed_merge_status") == "" { // unless the test has set a status
		d.Set("detailed_merge_status", map[bool]string{true: "mergeable", false: "not_open"}[d.text("state") == "opened"])
	}
	if s.labels {
		mr.project.tracker.addLabelDetails(d)
	}
	return d
}

// simpleView keeps the fields of view=simple: id, iid, URL, title, description and basic state.
func simpleView(d *Document) *Document {
	for _, name := range d.Fields() {
		switch name {
		case "id", "iid", "project_id", "title", "description", "state", "created_at", "updated_at", "web_url":
		default:
			d.Omit(name)
		}
	}
	return d
}
