package forgetest

import (
	"fmt"
	"strings"
)

// scope is the list or object in which an issue is read: of its project, of a group, or (if both
// are nil) of all projects. References depend on it.
type scope struct {
	project *Project
	group   *Group
	labels  bool  // with_labels_details
	user    *User // whose subscription is shown
}

func scopeOf(p *Project) scope { return scope{project: p} }

// render returns the issue in the form of responses: a copy of its document with all derived
// fields.
func (i *Issue) render(s scope) *Document {
	d := i.doc.clone()
	p := i.project
	web, api := fmt.Sprintf("/%s/-/issues/%d", p.Path, i.IID), fmt.Sprintf("%s/projects/%d", apiPath, p.ID)
	self := fmt.Sprintf("%s/issues/%d", api, i.IID)
	d.Set("web_url", link(web)).
		Set("references", p.references("#", i.IID, s)).
		Set("type", strings.ToUpper(d.text("issue_type"))).
		Set("time_stats", i.timeStats()).
		Set("subscribed", i.subscribers[s.user]).
		Set("upvotes", d.int("upvotes")+i.countAwards("thumbsup")).
		Set("downvotes", d.int("downvotes")+i.countAwards("thumbsdown")).
		Set("user_notes_count", d.int("user_notes_count")+int64(len(i.notes))).
		Set("_links", NewDocument("IssueLinks").Set("self", link(self)).Set("notes", link(self+"/notes")).
			Set("award_emoji", link(self+"/award_emoji")).Set("project", link(api)).Set("closed_as_duplicate_of", i.duplicateOf()))
	if d.int("merge_requests_count") == 0 {
		d.Set("merge_requests_count", len(i.related))
	}
	if assignees := d.assignees(); len(assignees) > 0 && d.doc("assignee") == nil {
		d.Set("assignee", assignees[0])
	}
	if epic := d.doc("epic"); epic != nil && d.Get("epic_iid") == nil {
		d.Set("epic_iid", epic.int("iid"))
	}
	all, done := checklist(d.text("description"))
	d.Set("has_tasks", all > 0).Set("task_completion_status",
		NewDocument("TaskCompletionStatus").Set("count", all).Set("completed_count", done))
	if all > 0 && d.text("task_status") == "" {
		d.Set("task_status", fmt.Sprintf("%d of %d checklist items completed", done, all))
	}
	if s.labels {
		p.tracker.addLabelDetails(d)
	}
	return d
}

// duplicateOf returns the address of the issue that this issue duplicates; nil if there is none.
func (i *Issue) duplicateOf() any {
	if address := i.doc.text("_links.closed_as_duplicate_of"); address != "" {
		return address
	}
	return nil
}

// addLabelDetails replaces the names of labels by their long form, which is another type.
func (t *tracker) addLabelDetails(d *Document) {
	names := d.labels()
	docs := make([]*Document, len(names))
	for i, name := range names {
		docs[i] = t.label(name)
	}
	d.values[d.shape.index["labels"]] = docs
}

// timeStats returns the issue's time tracking with its human-readable forms.
func (i *Issue) timeStats() *Document { return i.doc.doc("time_stats").withHumanTimes() }

func (d *Document) withHumanTimes() *Document {
	if d == nil {
		return nil
	}
	stats := d.clone()
	return stats.Set("human_time_estimate", humanDuration(stats.int("time_estimate"))).
		Set("human_total_time_spent", humanDuration(stats.int("total_time_spent")))
}

// references returns the short, relative and full names of a record ("#5", "app#5", "group/app#5").
func (p *Project) references(mark string, iid int64, s scope) *Document {
	short := fmt.Sprintf("%s%d", mark, iid)
	relative := p.relative(s.group) + short
	if s.project == p {
		relative = short
	}
	return NewDocument("References").Set("short", short).Set("relative", relative).Set("full", p.Path+short)
}
