package triage

import (
	"context"
	"errors"
	"iter"
	"testing"

	forge "github.com/forge-sdk/forge-go"
	"go.uber.org/mock/gomock"
)

func expectTwo(mock *MockissueTracker, issues []*forge.Issue) {
	mock.EXPECT().List(gomock.Any(), gomock.Any(), gomock.Any()).DoAndReturn(
		func(_ context.Context, _ *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
			return forge.FakeList(issues, opts...)
		})
	mock.EXPECT().Subscribe(gomock.Any(), forge.ID(42), int64(7)).Return(nil, forge.ErrNotModified)
}

func TestExpectTwo(t *testing.T) {
	mock := NewMockissueTracker(gomock.NewController(t))
	expectTwo(mock, []*forge.Issue{{IID: 7}, {IID: 8}})
	issues, err := forge.Collect(mock.List(t.Context(), nil, forge.PerPage(1), forge.OnePage()))
	if err != nil || len(issues) != 1 {
		t.Error(issues, err)
	}
	if _, err := mock.Subscribe(t.Context(), forge.ID(42), 7); !errors.Is(err, forge.ErrNotModified) {
		t.Error(err)
	}
}

var _ = issueTrackerMoq{ListFunc: nil, SubscribeFunc: nil}
