package forgetest

import (
	"fmt"
	"net/http"
	"strings"
)

func issueRoutes() []route {
	return []route{
		{name: "GET /issues", handle: listIssues},
		{name: "GET /groups/:id/issues", handle: listGroupIssues},
		{name: "POST /projects/:id/issues/:issue_iid/subscribe", handle: subscribe},
		{name: "POST /projects/:id/issues/:issue_iid/unsubscribe", handle: unsubscribe},
		{name: "POST /projects/:id/issues/:issue_iid/todo", handle: createTodo},
		{name: "POST /projects/:id/issues/:issue_iid/notes", handle: createNote},
		{name: "POST /projects/:id/issues/:issue_iid/time_estimate", role: Reporter, handle: setEstimate},
		{name: "POST /projects/:id/issues/:issue_iid/reset_time_estimate", role: Reporter, handle: resetEstimate},
		{name: "POST /projects/:id/issues/:issue_iid/add_spent_time", role: Reporter, handle: addSpent},
		{name: "POST /projects/:id/issues/:issue_iid/reset_spent_time", role: Reporter, handle: resetSpent},
		{name: "GET /projects/:id/issues/:issue_iid/time_stats", handle: timeStats},
		{name: "GET /projects/:id/issues/:issue_iid/related_merge_requests", handle: relatedMergeRequests},
	}
}

// createNote adds a comment. A line that starts with /promote turns the issue into an epic and is
// removed from the comment. If no other lines are left, no comment is added.
func createNote(c *call) response {
	var kept []string
	promote := false
	for line := range strings.Lines(c.text("body")) {
		if command, _, _ := strings.Cut(strings.TrimSpace(line), " "); command == "/promote" && strings.HasPrefix(line, "/") {
			promote = true
			continue
		}
		kept = append(kept, line)
	}
	if promote {
		if a := c.promote(); a != nil {
			return *a
		}
	}
	now := c.server.now()
	internal := c.flag("internal") || c.issue.doc.bool("confidential")
	at := now
	if given, valid := parseTime(c.text("created_at")); valid && (c.user.Admin || c.project.role(c.user) >= Owner) {
		at = given
	}
	note := NewDocument("Note").Set("id", c.store.nextID("note", 1)).Set("body", strings.TrimSpace(strings.Join(kept, ""))).
		Set("author", c.user).Set("created_at", at).Set("updated_at", at).Set("project_id", c.project.ID).Set("imported_from", "none").
		Set("noteable_id", c.issue.ID).Set("noteable_type", "Issue").Set("noteable_iid", c.issue.IID).
		Set("confidential", internal).Set("internal", internal).Set("commands_changes.promote_to_epic", promote)
	c.issue.doc.Set("updated_at", now)
	if note.text("body") != "" {
		c.issue.notes = append(c.issue.notes, note)
	} else if promote && c.server.release.has(newest) {
		return response{status: http.StatusAccepted, doc: map[string]any{
			"commands_changes": map[string]bool{"promote_to_epic": true}, "summary": []string{"Promoted issue to an epic."},
		}}
	}
	return created(note)
}

// promote creates an epic from the issue in the project's group and closes the issue.
func (c *call) promote() *response {
	g := c.project.group
	switch {
	case c.project.role(c.user) < Reporter:
		return fail(failure(http.StatusForbidden, "403 Forbidden"))
	case g == nil:
		return fail(invalid("base", "Cannot promote issue because it does not belong to a group."))
	case c.issue.doc.doc("epic") != nil:
		return fail(invalid("base", "Issue already promoted to epic."))
	}
	iid := c.store.nextID(fmt.Sprintf("epic of group %d", g.ID), 1)
	now := c.server.now()
	c.issue.doc.Set("state", "closed").Set("closed_at", now).Set("closed_by", c.user).
		Set("epic", NewDocument("Epic").Set("id", c.store.nextID("epic", 1)).Set("iid", iid).Set("group_id", g.ID).
			Set("title", c.issue.doc.Get("title")).Set("url", fmt.Sprintf("/groups/%s/-/epics/%d", g.Path, iid)))
	return nil
}

func setEstimate(c *call) response {
	seconds, valid := parseDuration(c.text("duration"))
	if !valid || seconds < 0 {
		return invalid("time_estimate", "must have a valid format and be greater than or equal to zero.")
	}
	return c.track("time_estimate", seconds, http.StatusOK)
}

func resetEstimate(c *call) response { return c.track("time_estimate", 0, http.StatusOK) }

func addSpent(c *call) response {
	seconds, valid := parseDuration(c.text("duration"))
	total := c.issue.doc.int("time_stats.total_time_spent") + seconds
	switch {
	case !valid:
		return invalid("duration", "is invalid")
	case total < 0:
		return invalid("base", "Time to subtract exceeds the total time spent")
	}
	return c.track("total_time_spent", total, http.StatusCreated)
}

func resetSpent(c *call) response { return c.track("total_time_spent", 0, http.StatusOK) }

// track sets one value of the time tracking and returns all of its values.
func (c *call) track(name string, seconds int64, status int) response {
	c.issue.doc.Set("time_stats."+name, seconds).Set("updated_at", c.server.now())
	return response{status: status, doc: c.issue.timeStats()}
}

func timeStats(c *call) response { return ok(c.issue.timeStats()) }

func relatedMergeRequests(c *call) response {
	var docs []*Document
	for _, mr := range c.issue.related {
		if mr.project.readableBy(c.user) {
			docs = append(docs, mr.render(scopeOf(c.project)))
		}
	}
	return c.page(listOf(docs))
}
