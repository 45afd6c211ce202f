package main

import (
	"context"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// filters measures lists of one page without items, served from memory: with 20 filters, and with
// nil options, which encode nothing. The difference is the cost of the filters.
func filters(ctx context.Context, b *bench) ([]line, error) {
	us, them := overMemory(fromMemory("[]")), newPeer(noServer, withTransport(fromMemory("[]")))
	r := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000)}
	filtered, err := r.run(ctx, []contender{{forgeName, us.list(oursFiltered())}, {peerName, them.list(peerFiltered())}})
	if err != nil {
		return nil, err
	}
	bare, err := r.run(ctx, []contender{{forgeName, us.list(nil)}, {peerName, them.list(nil)}})
	lines := append(costs(filtered, " of the call"), costs(bare, " with nil options")...)
	lines[0].PeerTarget, lines[2].PeerTarget = 1.2, 1.4
	lines[1].Limit, lines[1].Exact = 165, true // 15 of them, and of those with nil options, for the loop of go-retryablehttp
	lines[3].Limit, lines[3].Exact = 42, true
	with, without := lines[0], lines[2]
	return append(lines, line{
		What: "CPU of the filters, the difference", Unit: inTime, Forge: with.Forge - without.Forge, Peer: with.Peer - without.Peer,
	}), err
}

func (c *ours) list(o *forge.ListIssuesOptions) work {
	return func(ctx context.Context, d *digest) error {
		d.item(nil)
		for _, err := range c.client.Issues.List(ctx, o) {
			return err
		}
		return nil
	}
}

func (c *peer) list(o *gitlab.ListIssuesOptions) work {
	return func(ctx context.Context, d *digest) error {
		d.item(nil)
		_, _, err := c.client.Issues.ListIssues(o, gitlab.WithContext(ctx))
		return err
	}
}

func oursFiltered() *forge.ListIssuesOptions {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return &forge.ListIssuesOptions{
		AssigneeID: forge.ID(42), AuthorUsername: "ada.okafor", Confidential: new(false), CreatedAfter: day, CreatedBefore: day.AddDate(0, 1, 0),
		UpdatedAfter: day, UpdatedBefore: day.AddDate(0, 2, 0), DueDate: forge.DueDateFilterMonth, IIDs: []int64{1, 2, 3}, In: forge.SearchInTitle,
		IssueType: forge.IssueTypeIssue, IterationID: forge.ID(7), Labels: forge.Labels("bug", "p1"), Milestone: forge.Text("v1"),
		MyReactionEmoji: forge.Text("thumbsup"), OrderBy: forge.IssueOrderByUpdatedAt, Scope: forge.ScopeAll, Search: "export", Sort: forge.SortAsc,
		State: forge.IssueStateOpened,
	}
}

func peerFiltered() *gitlab.ListIssuesOptions {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	month, later := day.AddDate(0, 1, 0), day.AddDate(0, 2, 0)
	return &gitlab.ListIssuesOptions{
		AssigneeID: gitlab.AssigneeID(42), AuthorUsername: new("ada.okafor"), Confidential: new(false), CreatedAfter: &day, CreatedBefore: &month,
		UpdatedAfter: &day, UpdatedBefore: &later, DueDate: new("month"), IIDs: &[]int64{1, 2, 3}, In: new("title"),
		IssueType: new("issue"), IterationID: new(int64(7)), Labels: &gitlab.LabelOptions{"bug", "p1"}, Milestone: new("v1"),
		MyReactionEmoji: new("thumbsup"), OrderBy: new("updated_at"), Scope: new("all"), Search: new("export"), Sort: new("asc"), State: new("opened"),
	}
}
