package triage

import (
	"context"
	"iter"
	"testing"

	forge "github.com/forge-sdk/forge-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/mock/gomock"
)

var _ issueTracker = (*forge.IssuesService)(nil)

// expectTwo is in docs/testing.md, word for word.
func expectTwo(mock *MockissueTracker, issues []*forge.Issue) {
	mock.EXPECT().List(gomock.Any(), gomock.Any(), gomock.Any()).DoAndReturn(
		func(_ context.Context, _ *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
			return forge.FakeList(issues, opts...)
		})
	mock.EXPECT().Subscribe(gomock.Any(), forge.ID(42), int64(7)).Return(nil, forge.ErrNotModified)
}

var issues = []*forge.Issue{{IID: 7, ProjectID: 42}, {IID: 8, ProjectID: 42}}

func TestGomock(t *testing.T) {
	mock := NewMockissueTracker(gomock.NewController(t))
	expectTwo(mock, issues)
	mock.EXPECT().Subscribe(gomock.Any(), gomock.Any(), int64(8)).Return(nil, forge.ErrForbidden)
	_, err := subscribeToBugs(t.Context(), mock)
	require.ErrorIs(t, err, forge.ErrForbidden)
}

func TestMoq(t *testing.T) {
	mock := &issueTrackerMoq{
		ListFunc: func(_ context.Context, _ *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
			return forge.FakeList(issues, opts...)
		},
		SubscribeFunc: func(context.Context, forge.Ref, int64, ...forge.RequestOption) (*forge.Issue, error) {
			return nil, forge.ErrNotModified
		},
	}
	total, err := subscribeToBugs(t.Context(), mock)
	require.NoError(t, err)
	assert.Equal(t, 2, total)
	assert.Len(t, mock.SubscribeCalls(), 2)
}
