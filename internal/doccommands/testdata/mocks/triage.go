// Package triage has the interface of docs/testing.md, for which gomock and moq generate mocks.
package triage

import (
	"context"
	"iter"

	forge "github.com/forge-sdk/forge-go"
)

type issueTracker interface {
	List(ctx context.Context, o *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error]
	Subscribe(ctx context.Context, project forge.Ref, issue int64, opts ...forge.RequestOption) (*forge.Issue, error)
}

var _ issueTracker = (*forge.IssuesService)(nil)
