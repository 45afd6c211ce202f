package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// filters measures lists of one page without items, served from memory: with 20 filters, and with
// nil options, which encode nothing. The difference is the cost of the filters. By hand, the query
// is url.Values, with one Set for each filter. Its address is the same as that of forge, which
// sameAddress checks.
func filters(ctx context.Context, b *bench) ([]line, error) {
	answer := fromMemory("[]")
	const base = noServer
	us, hand, them := newOurs(base, forge.WithHTTPClient(&http.Client{Transport: answer})), newHand(base, answer), newPeer(base, withTransport(answer))
	if err := sameAddress(ctx, base); err != nil {
		return nil, err
	}
	r := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000)}
	v2 := func(query func() url.Values) func(*byHand) work { return func(c *byHand) work { return c.list(query) } }
	same := func() http.RoundTripper { return answer }
	filtered, err := r.run(ctx, withV2([]contender{
		{forgeName, us.list(oursFiltered())},
		{handName, hand.list(handFiltered)},
		{peerName, them.list(peerFiltered())},
	}, base, same, v2(handFiltered)))
	if err != nil {
		return nil, err
	}
	bare, err := r.run(ctx, withV2([]contender{
		{forgeName, us.list(nil)},
		{handName, hand.list(handBare)},
		{peerName, them.list(nil)},
	}, base, same, v2(handBare)))
	if err != nil {
		return nil, err
	}
	lines := append(costs(filtered, forgeName, " of the call"), costs(bare, forgeName, " with nil options")...)
	lines[1].handTarget, lines[2].limit, lines[2].exact = 1.5, 50, true
	lines[5].limit, lines[5].exact = 26, true
	with, without := lines[1], lines[4]
	added := line{
		what: "CPU of the filters, the difference", show: showTime, handTarget: 1.5, peerTarget: 0.5,
		ours: with.ours - without.ours, hand: with.hand - without.hand, peer: with.peer - without.peer,
	}
	return append(lines, added), nil
}

func handBare() url.Values { return url.Values{"per_page": {"100"}} }

func (c *ours) list(o *forge.ListIssuesOptions) work {
	return func(ctx context.Context, d *digest) error {
		d.add("", "", 0, 0)
		for _, err := range c.client.Issues.List(ctx, o) {
			return err
		}
		return nil
	}
}

func (c *byHand) list(query func() url.Values) work {
	return func(ctx context.Context, d *digest) error {
		d.add("", "", 0, 0)
		return c.pages(ctx, c.base+"/api/v4/issues?"+query().Encode(), func(answer *http.Response) error {
			var page []*handIssue
			return c.unmarshal(answer.Body, &page)
		})
	}
}

func (c *peer) list(o *gitlab.ListIssuesOptions) work {
	return func(ctx context.Context, d *digest) error {
		d.add("", "", 0, 0)
		_, _, err := c.client.Issues.ListIssues(o, gitlab.WithContext(ctx))
		return err
	}
}

// addresses records the addresses of requests.
type addresses struct {
	memory *memory
	seen   []string
}

// RoundTrip records the address and returns the document.
func (a *addresses) RoundTrip(req *http.Request) (*http.Response, error) {
	a.seen = append(a.seen, req.URL.String())
	return a.memory.RoundTrip(req)
}

// sameAddress checks that forge and the code by hand send the same filters.
func sameAddress(ctx context.Context, base string) error {
	sent := &addresses{memory: fromMemory("[]")}
	for _, do := range []work{
		newOurs(base, forge.WithHTTPClient(&http.Client{Transport: sent})).list(oursFiltered()), newHand(base, sent).list(handFiltered),
	} {
		if err := do(ctx, &digest{}); err != nil {
			return err
		}
	}
	if sent.seen[0] != sent.seen[1] {
		return fmt.Errorf("forge sends %s, and the code by hand %s", sent.seen[0], sent.seen[1])
	}
	return nil
}

// handFiltered returns the filters as code without a client library sets them.
func handFiltered() url.Values {
	const layout = "2006-01-02T15:04:05.000Z"
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	v := url.Values{}
	v.Set("assignee_id", strconv.Itoa(42))
	v.Set("author_username", "ada.okafor")
	v.Set("confidential", strconv.FormatBool(false))
	v.Set("created_after", day.Format(layout))
	v.Set("created_before", day.AddDate(0, 1, 0).Format(layout))
	v.Set("updated_after", day.Format(layout))
	v.Set("updated_before", day.AddDate(0, 2, 0).Format(layout))
	v.Set("due_date", "month")
	for _, iid := range []int{1, 2, 3} {
		v.Add("iids[]", strconv.Itoa(iid))
	}
	v.Set("in", "title")
	v.Set("issue_type", "issue")
	v.Set("iteration_id", strconv.Itoa(7))
	v.Set("labels", "bug,p1")
	v.Set("milestone", "v1")
	v.Set("my_reaction_emoji", "thumbsup")
	v.Set("order_by", "updated_at")
	v.Set("per_page", "100")
	v.Set("scope", "all")
	v.Set("search", "export")
	v.Set("sort", "asc")
	v.Set("state", "opened")
	return v
}

func oursFiltered() *forge.ListIssuesOptions {
	day := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	return &forge.ListIssuesOptions{
		AssigneeID: forge.ID(42), AuthorUsername: "ada.okafor", Confidential: new(false), CreatedAfter: day, CreatedBefore: day.AddDate(0, 1, 0),
		UpdatedAfter: day, UpdatedBefore: day.AddDate(0, 2, 0), DueDate: forge.DueMonth, IIDs: []int64{1, 2, 3}, In: forge.SearchInTitle,
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
