package contracttest_test

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/jarcoal/httpmock"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// The declarations up to mockPages are in docs/testing.md, word for word.

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

// fakeTracker is an issueTracker in memory.
type fakeTracker struct {
	issues     []*forge.Issue
	failure    error // of Subscribe
	subscribed []int64
}

func (f *fakeTracker) List(_ context.Context, _ *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
	return forge.FakeList(f.issues, opts...)
}

func (f *fakeTracker) Subscribe(_ context.Context, _ forge.Ref, issue int64, opts ...forge.RequestOption) (*forge.Issue, error) {
	if f.failure != nil {
		return nil, f.failure
	}
	f.subscribed = append(f.subscribed, issue)
	return &forge.Issue{IID: issue}, forge.FakeResponse(forge.Response{Status: 201}, opts...)
}

func TestSubscribeToBugs(t *testing.T) {
	var bugs []*forge.Issue
	for i := range 50 {
		bugs = append(bugs, &forge.Issue{IID: int64(i + 1)})
	}
	fake := &fakeTracker{issues: bugs}
	total, err := subscribeToBugs(t.Context(), fake)
	if err != nil || total != 50 || len(fake.subscribed) != 20 {
		t.Error(total, err, fake.subscribed)
	}
	for want, failure := range map[error]error{
		forge.ErrNotFound:    &forge.Error{Status: 404},
		forge.ErrRateLimited: &forge.RateLimitError{Until: time.Now().Add(time.Minute)},
	} {
		_, err := subscribeToBugs(t.Context(), &fakeTracker{issues: bugs, failure: failure})
		if !errors.Is(err, want) {
			t.Error(err)
		}
	}
	if _, err := subscribeToBugs(t.Context(), &fakeTracker{issues: bugs, failure: forge.ErrNotModified}); err != nil {
		t.Error(err)
	}
}

func TestSubscribeToCrashes(t *testing.T) {
	const api = "https://gitlab.example.com/api/v4"
	mock := httpmock.NewMockTransport()
	mock.RegisterResponder("GET", api+"/issues", httpmock.NewStringResponder(200, `[{"iid": 7, "project_id": 42, "title": "It crashes"}]`))
	mock.RegisterResponder("POST", api+"/projects/42/issues/7/subscribe", httpmock.NewStringResponder(201, `{"iid": 7, "subscribed": true}`))
	client, err := forge.NewClient("https://gitlab.example.com", forge.WithToken("a-token"), forge.WithHTTPClient(&http.Client{Transport: mock}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := subscribeToBugs(t.Context(), client.Issues); err != nil {
		t.Fatal(err)
	}
	if n := mock.GetTotalCallCount(); n != 2 {
		t.Error(mock.GetCallCountInfo())
	}
}

// mockPages registers two pages of issues, and a user who is rate limited.
func mockPages(mock *httpmock.MockTransport) {
	issues := httpmock.NewStringResponder(200, `[{"id": 1}, {"id": 2}]`)
	next := http.Header{"Link": {`<https://gitlab.example.com/api/v4/issues?page=2>; rel="next"`}, "X-Total": {"4"}}
	mock.RegisterResponder("GET", `=~/api/v4/issues\b`, issues.HeaderSet(next))
	mock.RegisterResponderWithQuery("GET", "https://gitlab.example.com/api/v4/issues", "page=2", issues)
	limited := httpmock.NewStringResponder(429, `{"message": "429 Too Many Requests"}`)
	mock.RegisterResponder("GET", "https://gitlab.example.com/api/v4/user", limited.HeaderSet(http.Header{"Retry-After": {"30"}}))
}

// TestMockPages checks what the guide says about mockPages and about requests without a responder.
func TestMockPages(t *testing.T) {
	mock := httpmock.NewMockTransport()
	mockPages(mock)
	client, err := forge.NewClient("https://gitlab.example.com", forge.WithToken("a-token"), forge.WithHTTPClient(&http.Client{Transport: mock}),
		forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1, MaxRetryAfter: time.Second}))
	require.NoError(t, err)
	var page forge.Response
	issues, err := forge.Collect(client.Issues.List(t.Context(), nil, forge.Into(&page)))
	require.NoError(t, err)
	assert.Len(t, issues, 4)

	_, err = client.Namespaces.Get(t.Context(), forge.Path("group"))
	require.ErrorContains(t, err, "no responder found")
	var failed *forge.Error
	require.ErrorAs(t, err, &failed)
	assert.False(t, failed.MaybeApplied)
	_, err = client.Issues.CreateTodo(t.Context(), forge.ID(1), 2)
	require.ErrorContains(t, err, "no responder found")
	require.ErrorAs(t, err, &failed)
	assert.True(t, failed.MaybeApplied)

	_, err = client.Users.GetCurrent(t.Context(), nil)
	var limited *forge.RateLimitError
	require.ErrorAs(t, err, &limited)
	_, err = forge.Collect(client.Issues.List(t.Context(), nil))
	require.ErrorIs(t, err, forge.ErrRateLimited, "the client waits, as with a server")
}

// TestMockOfDefaultTransport checks which clients a mock of http.DefaultTransport reaches. No request
// of the others is lost: the test's server gets them.
func TestMockOfDefaultTransport(t *testing.T) {
	srv := forgetest.New(t)
	get := func(options ...forge.Option) error {
		client, err := forge.NewClient(srv.URL, append(options, forge.WithToken(srv.Token), forge.WithRetry(forge.RetryPolicy{MaxAttempts: 1}))...)
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		_, err = client.Users.GetCurrent(t.Context(), nil)
		return err
	}
	require.NoError(t, get(forge.WithHTTPClient(http.DefaultClient)), "the real http.DefaultTransport")
	early, err := forge.NewClient(srv.URL, forge.WithToken(srv.Token), forge.WithHTTPClient(http.DefaultClient))
	require.NoError(t, err)
	defer early.CloseIdleConnections()

	httpmock.Activate(t)
	for _, h := range []*http.Client{http.DefaultClient, {}} {
		require.ErrorContains(t, get(forge.WithHTTPClient(h)), "no responder found")
	}
	assert.Len(t, srv.Requests(), 1)
	require.NoError(t, get(), "a client has its own transport")
	_, err = early.Users.GetCurrent(t.Context(), nil)
	require.NoError(t, err, "the http.DefaultTransport of the moment at which the client was made")
	assert.Len(t, srv.Requests(), 3)

	httpmock.RegisterResponder("GET", srv.URL+"/api/v4/user", httpmock.NewStringResponder(200, `{"username": "mocked"}`))
	require.NoError(t, get(forge.WithHTTPClient(http.DefaultClient)))
	assert.Len(t, srv.Requests(), 3)
}
