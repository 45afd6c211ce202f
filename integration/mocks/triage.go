// Package triage has the interface of docs/testing.md, and mocks that gomock and moq generated.
package triage

import (
	"context"
	"iter"

	forge "github.com/forge-sdk/forge-go"
)

// issueTracker is what subscribeToBugs needs of *forge.IssuesService.
type issueTracker interface {
	List(ctx context.Context, o *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error]
	Subscribe(ctx context.Context, project forge.Ref, issue int64, opts ...forge.RequestOption) (*forge.Issue, error)
}

// subscribeToBugs subscribes to the first 20 bugs, and returns the number of all bugs.
func subscribeToBugs(ctx context.Context, issues issueTracker) (total int, err error) {
	var page forge.Response
	bugs := &forge.ListIssuesOptions{Scope: forge.ScopeAll, Labels: forge.Labels("bug")}
	for issue, err := range issues.List(ctx, bugs, forge.OnePage(), forge.PerPage(20), forge.Into(&page)) {
		if err != nil {
			return 0, err
		}
		_, err = issues.Subscribe(ctx, forge.ID(issue.ProjectID), issue.IID)
		if err != nil && !forge.IsNotModified(err) {
			return 0, err
		}
	}
	total, _ = page.Total()
	return total, nil
}
