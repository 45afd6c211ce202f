package forgetest

import (
	"slices"
	"strings"
)

func listMergeRequests(c *call) response { return c.mergeRequestList(c.store.projects) }

func listProjectMergeRequests(c *call) response {
	return c.mergeRequestList([]*Project{c.project})
}

// mergeRequestList returns the merge requests that the caller can see and that match the filters
// (Document 2 §4.2.1).
func (c *call) mergeRequestList(projects []*Project) response {
	conditions := c.conditions()
	viewpoint := scope{project: c.project, labels: c.flag("with_labels_details"), user: c.user}
	var list []*MergeRequest
	for _, p := range projects {
		if !p.readableBy(c.user) || p.archived && c.flag("non_archived") {
			continue
		}
		for _, mr := range p.tracker.mergeRequests {
			if !mr.hidden && allHold(conditions, &mr.item) {
				list = append(list, mr)
			}
		}
	}
	c.sortMergeRequests(list)
	docs := listing{n: len(list), at: func(i int) *Document {
		d := list[i].render(viewpoint)
		if c.text("view") == "simple" {
			return simpleView(d)
		}
		return d
	}}
	a := c.page(docs)
	if c.flag("with_merge_status_recheck") {
		c.recheck(list)
	}
	return a
}

// recheck recalculates the merge status of open merge requests in the background, if the caller is
// at least Developer.
func (c *call) recheck(list []*MergeRequest) {
	for _, mr := range list {
		if mr.doc.text("merge_status") != "unchecked" || mr.doc.text("state") != "opened" || mr.project.role(c.user) < Developer {
			continue
		}
		c.server.schedule(func() {
			mr.doc.Set("merge_status", "can_be_merged").Set("detailed_merge_status", "mergeable")
			if mr.doc.bool("has_conflicts") {
				mr.doc.Set("merge_status", "cannot_be_merged").Set("detailed_merge_status", "conflict")
			}
		})
	}
}

func (c *call) sortMergeRequests(list []*MergeRequest) {
	order := c.textOr("order_by", "created_at")
	descending := c.textOr("sort", "desc") == "desc"
	slices.SortFunc(list, func(a, b *MergeRequest) int {
		return compareRecords(a.sortKey(order), b.sortKey(order), a.ID, b.ID, descending)
	})
}

// mergeRequestFieldValues returns the values of a merge request that a parameter is compared with.
func mergeRequestFieldValues(mr *MergeRequest, name string) (values []string) {
	switch name {
	case "approved_by_ids":
		return fieldTexts(documents(mr.approvedBy), "id")
	case "approver_ids":
		return fieldTexts(documents(mr.approvers), "id")
	case "environment":
		for _, d := range mr.deployments {
			values = append(values, d.environment)
		}
		return values
	case "merge_user_id":
		return queryText(mr.doc.Get("merge_user.id"))
	case "merge_user_username":
		return queryText(mr.doc.Get("merge_user.username"))
	case "reviewer_id", "reviewer_username":
		reviewers, _ := mr.doc.Get("reviewers").([]*Document)
		return fieldTexts(reviewers, strings.TrimPrefix(name, "reviewer_"))
	case "wip":
		if mr.doc.bool("draft") {
			return []string{"yes"}
		}
		return []string{"no"}
	}
	return queryText(mr.doc.Get(name)) // source_branch, target_branch
}
