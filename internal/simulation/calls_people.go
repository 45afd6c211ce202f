package simulation

import (
	"iter"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

func ownIssue(f *fixtures, s *Step) {
	issue := f.work.AddIssue(func(d *forgetest.Document) { d.Set("title", "Own "+s.ID).Set("created_at", past(s.Number)) })
	f.own[s.ID] = issue.IID
}

func ownMerge(f *fixtures, s *Step) {
	mr := f.work.AddMergeRequest(func(d *forgetest.Document) { d.Set("title", "Own "+s.ID).Set("created_at", past(s.Number)) })
	f.own[s.ID] = mr.IID
}

// issueFilters returns options for the lists of issues.
func issueFilters(c *calling) *forge.ListIssuesOptions {
	o := &forge.ListIssuesOptions{Scope: forge.ScopeAll, Labels: forge.Labels("app")}
	switch c.s.Variant % 4 {
	case 0:
		o.Labels = nil
	case 1:
		o.OrderBy, o.Sort = forge.IssueOrderByCreatedAt, forge.SortAsc
	case 2:
		o.Labels = forge.Labels("app", "l1")
	case 3:
		o.CreatedAfter = past(7)
	}
	return o
}

func issueCalls() []*row {
	const at = "/projects/:id/issues/:issue_iid/"
	issues := func(c *calling) *forge.IssuesService { return c.client.Issues }
	own := func(r *row) { r.setup = ownIssue }
	read := func(c *calling) int64 { return pick(c.f.issues, c.s.Number).IID }
	return []*row{
		items("Issues.List", "GET /issues", func(c *calling) iter.Seq2[*forge.Issue, error] {
			return issues(c).List(c.ctx, issueFilters(c), c.opts...)
		}),
		items("Issues.ListForGroup", "GET /groups/:id/issues", func(c *calling) iter.Seq2[*forge.Issue, error] {
			return issues(c).ListForGroup(c.ctx, acme, issueFilters(c), c.opts...)
		}),
		value("Issues.Subscribe", "POST "+at+"subscribe", func(c *calling) (*forge.Issue, error) {
			return issues(c).Subscribe(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		value("Issues.Unsubscribe", "POST "+at+"unsubscribe", func(c *calling) (*forge.Issue, error) {
			return issues(c).Unsubscribe(c.ctx, work, pick(c.f.workIssues, c.s.Number).IID, c.opts...)
		}),
		value("Issues.CreateTodo", "POST "+at+"todo", func(c *calling) (*forge.Todo, error) {
			return issues(c).CreateTodo(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		value("Issues.Promote", "POST "+at+"notes", func(c *calling) (*forge.Note, error) {
			return issues(c).Promote(c.ctx, work, c.f.own[c.s.ID], nil, c.opts...)
		}).with(own),
		value("Issues.SetTimeEstimate", "POST "+at+"time_estimate", func(c *calling) (*forge.TimeStats, error) {
			return issues(c).SetTimeEstimate(c.ctx, work, c.f.own[c.s.ID],
				&forge.SetTimeEstimateOptions{Duration: forge.WorkDuration(time.Hour)}, c.opts...)
		}).with(own),
		value("Issues.ResetTimeEstimate", "POST "+at+"reset_time_estimate", func(c *calling) (*forge.TimeStats, error) {
			return issues(c).ResetTimeEstimate(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		value("Issues.AddSpentTime", "POST "+at+"add_spent_time", func(c *calling) (*forge.TimeStats, error) {
			return issues(c).AddSpentTime(c.ctx, work, c.f.own[c.s.ID],
				&forge.AddSpentTimeOptions{Duration: forge.WorkDuration(time.Hour)}, c.opts...)
		}).with(own),
		value("Issues.ResetSpentTime", "POST "+at+"reset_spent_time", func(c *calling) (*forge.TimeStats, error) {
			return issues(c).ResetSpentTime(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		value("Issues.GetTimeStats", "GET "+at+"time_stats", func(c *calling) (*forge.TimeStats, error) {
			return issues(c).GetTimeStats(c.ctx, app, read(c), c.opts...)
		}),
		items("Issues.ListRelatedMergeRequests", "GET "+at+"related_merge_requests", func(c *calling) iter.Seq2[*forge.MergeRequest, error] {
			return issues(c).ListRelatedMergeRequests(c.ctx, app, pick(c.f.issues, c.s.Number%2).IID, c.opts...)
		}),
	}
}

func ownBlock(f *fixtures, s *Step) {
	mr := f.work.AddMergeRequest(nil)
	f.own[s.ID+" block"] = mr.AddBlocker(pick(f.workMerges, s.Number))
	f.own[s.ID] = mr.IID
}

func mergeCalls() []*row {
	const at = "/projects/:id/merge_requests/:merge_request_iid/"
	merges := func(c *calling) *forge.MergeRequestsService { return c.client.MergeRequests }
	own := func(r *row) { r.setup = ownMerge }
	return []*row{
		items("MergeRequests.List", "GET /merge_requests", func(c *calling) iter.Seq2[*forge.MergeRequest, error] {
			return merges(c).List(c.ctx, &forge.ListMergeRequestsOptions{Scope: forge.ScopeAll, Search: "Change", Sort: forge.SortAsc}, c.opts...)
		}),
		items("MergeRequests.ListForProject", "GET /projects/:id/merge_requests", func(c *calling) iter.Seq2[*forge.MergeRequest, error] {
			return merges(c).ListForProject(c.ctx, app, nil, c.opts...)
		}),
		items("MergeRequests.ListBlocks", "GET "+at+"blocks", func(c *calling) iter.Seq2[*forge.MergeRequestDependency, error] {
			return merges(c).ListBlocks(c.ctx, app, c.f.versioned.IID, c.opts...)
		}),
		value("MergeRequests.CreateBlock", "POST "+at+"blocks", func(c *calling) (*forge.MergeRequestDependency, error) {
			return merges(c).CreateBlock(c.ctx, work, c.f.own[c.s.ID],
				&forge.CreateBlockOptions{BlockingMergeRequestID: pick(c.f.workMerges, c.s.Number).ID}, c.opts...)
		}).with(own),
		nothing("MergeRequests.DeleteBlock", "DELETE "+at+"blocks/:block_id", func(c *calling) error {
			return merges(c).DeleteBlock(c.ctx, work, c.f.own[c.s.ID], c.f.own[c.s.ID+" block"], c.opts...)
		}).with(func(r *row) { r.setup = ownBlock }),
		items("MergeRequests.ListBlockees", "GET "+at+"blockees", func(c *calling) iter.Seq2[*forge.MergeRequestDependency, error] {
			return merges(c).ListBlockees(c.ctx, app, pick(c.f.merges, 0).IID, c.opts...)
		}),
		value("MergeRequests.GetChanges", "GET "+at+"changes", func(c *calling) (*forge.MergeRequestChanges, error) {
			return merges(c).GetChanges(c.ctx, app, c.f.versioned.IID, nil, c.opts...) //nolint:staticcheck // deprecated methods are tested, too
		}),
		value("MergeRequests.Subscribe", "POST "+at+"subscribe", func(c *calling) (*forge.MergeRequest, error) {
			return merges(c).Subscribe(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		value("MergeRequests.Unsubscribe", "POST "+at+"unsubscribe", func(c *calling) (*forge.MergeRequest, error) {
			return merges(c).Unsubscribe(c.ctx, work, pick(c.f.workMerges, c.s.Number).IID, c.opts...)
		}),
		value("MergeRequests.CreateTodo", "POST "+at+"todo", func(c *calling) (*forge.Todo, error) {
			return merges(c).CreateTodo(c.ctx, work, c.f.own[c.s.ID], c.opts...)
		}).with(own),
		items("MergeRequests.ListVersions", "GET "+at+"versions", func(c *calling) iter.Seq2[*forge.DiffVersion, error] {
			return merges(c).ListVersions(c.ctx, app, c.f.versioned.IID, c.opts...)
		}),
		value("MergeRequests.GetVersion", "GET "+at+"versions/:version_id", func(c *calling) (*forge.DiffVersion, error) {
			return merges(c).GetVersion(c.ctx, app, c.f.versioned.IID, c.f.own["version"], nil, c.opts...)
		}),
	}
}

func userCalls() []*row {
	emails := func(c *calling) *forge.EmailsService { return c.client.Emails }
	return []*row{
		items("Users.List", "GET /users", func(c *calling) iter.Seq2[*forge.User, error] {
			o := &forge.ListUsersOptions{Search: "crowd"}
			if c.s.Variant%2 == 0 {
				o.OrderBy, o.Sort = forge.UserOrderByID, forge.SortAsc
			}
			return c.client.Users.List(c.ctx, o, c.opts...)
		}),
		value("Users.Get", "GET /users/:id", func(c *calling) (*forge.User, error) {
			return c.client.Users.Get(c.ctx, c.f.member.ID, nil, c.opts...)
		}),
		value("Users.GetCurrent", "GET /user", func(c *calling) (*forge.User, error) {
			return c.client.Users.GetCurrent(c.ctx, nil, c.opts...)
		}).with(func(r *row) { r.moving = true }),
		items("Emails.List", "GET /user/emails", func(c *calling) iter.Seq2[*forge.Email, error] {
			return emails(c).List(c.ctx, c.opts...)
		}).with(func(r *row) { r.moving = true }),
		items("Emails.ListForUser", "GET /users/:id/emails", func(c *calling) iter.Seq2[*forge.Email, error] {
			return emails(c).ListForUser(c.ctx, c.f.member.ID, c.opts...)
		}).with(func(r *row) { r.moving = true }),
		value("Emails.Get", "GET /user/emails/:email_id", func(c *calling) (*forge.Email, error) {
			return emails(c).Get(c.ctx, pick(c.f.emails, c.s.Number), c.opts...)
		}),
		value("Emails.Create", "POST /user/emails", func(c *calling) (*forge.Email, error) {
			return emails(c).Create(c.ctx, &forge.CreateEmailOptions{Email: "new-" + c.s.ID + "@example.com"}, c.opts...)
		}),
		value("Emails.CreateForUser", "POST /users/:id/emails", func(c *calling) (*forge.Email, error) {
			return emails(c).CreateForUser(c.ctx, c.f.member.ID, &forge.CreateEmailForUserOptions{Email: "new-" + c.s.ID + "@example.com",
				SkipConfirmation: new(true)}, c.opts...)
		}),
		nothing("Emails.Delete", "DELETE /user/emails/:email_id", func(c *calling) error {
			return emails(c).Delete(c.ctx, c.f.own[c.s.ID], c.opts...)
		}).with(func(r *row) {
			r.setup = func(f *fixtures, s *Step) {
				f.own[s.ID] = f.server.Root().AddEmail("gone-" + s.ID + "@example.com").Get("id").(int64)
			}
		}),
		nothing("Emails.DeleteForUser", "DELETE /users/:id/emails/:email_id", func(c *calling) error {
			return emails(c).DeleteForUser(c.ctx, c.f.member.ID, c.f.own[c.s.ID], c.opts...)
		}).with(func(r *row) {
			r.setup = func(f *fixtures, s *Step) {
				f.own[s.ID] = f.member.AddEmail("gone-" + s.ID + "@example.com").Get("id").(int64)
			}
		}),
	}
}

func eventCalls() []*row {
	events := func(c *calling) *forge.AuditEventsService { return c.client.AuditEvents }
	moving := func(r *row) { r.moving = true }
	return []*row{
		items("AuditEvents.List", "GET /audit_events", func(c *calling) iter.Seq2[*forge.AuditEvent, error] {
			return events(c).List(c.ctx, nil, c.opts...)
		}).with(moving),
		value("AuditEvents.Get", "GET /audit_events/:id", func(c *calling) (*forge.AuditEvent, error) {
			return events(c).Get(c.ctx, c.f.events[0], c.opts...)
		}),
		items("AuditEvents.ListForGroup", "GET /groups/:id/audit_events", func(c *calling) iter.Seq2[*forge.AuditEvent, error] {
			return events(c).ListForGroup(c.ctx, acme, nil, c.opts...)
		}).with(moving),
		value("AuditEvents.GetForGroup", "GET /groups/:id/audit_events/:audit_event_id", func(c *calling) (*forge.AuditEvent, error) {
			return events(c).GetForGroup(c.ctx, acme, c.f.events[1], c.opts...)
		}),
		items("AuditEvents.ListForProject", "GET /projects/:id/audit_events", func(c *calling) iter.Seq2[*forge.AuditEvent, error] {
			return events(c).ListForProject(c.ctx, app, nil, c.opts...)
		}).with(moving),
		value("AuditEvents.GetForProject", "GET /projects/:id/audit_events/:audit_event_id", func(c *calling) (*forge.AuditEvent, error) {
			return events(c).GetForProject(c.ctx, app, c.f.events[2], c.opts...)
		}),
	}
}
