// Package forge has the signatures of the real package that the tests need.
package forge

import (
	"context"
	"io"
	"iter"
)

type (
	Issue                           struct{}
	PlaceholderReassignment         struct{}
	Call                            struct{}
	ListIssuesOptions               struct{}
	IssuesService                   struct{}
	PlaceholderReassignmentsService struct{}
)

type RequestOption func()

type Client struct {
	Issues                   *IssuesService
	PlaceholderReassignments *PlaceholderReassignmentsService
}

func (s *IssuesService) List(context.Context, *ListIssuesOptions) iter.Seq2[*Issue, error] {
	return nil
}

func (s *PlaceholderReassignmentsService) Read(io.Reader) iter.Seq2[*PlaceholderReassignment, error] {
	return nil
}

func ListAs[T any](context.Context, *Client, Call) iter.Seq2[*T, error] { return nil }

// Numbers is not in the real package: a sequence without an error is not a list.
func Numbers() iter.Seq2[int, *Issue] { return nil }
