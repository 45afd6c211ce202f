package forge_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// A fake of IssuesService.List that honours the request options of its caller.
func ExampleFakeList() {
	fake := func(_ context.Context, _ *forge.ListIssuesOptions, opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
		return forge.FakeList([]*forge.Issue{{ID: 1, Title: "One"}, {ID: 2, Title: "Two"}, {ID: 3, Title: "Three"}}, opts...)
	}

	var page forge.Response
	for issue, err := range fake(context.Background(), nil, forge.PerPage(2), forge.OnePage(), forge.Into(&page)) {
		fmt.Println(issue.Title, err)
	}
	total, _ := page.Total()
	fmt.Println(total, "issues, last page:", page.Cursor.Done())
	for issue, err := range fake(context.Background(), nil, forge.StartAt(page.Cursor)) {
		fmt.Println(issue.Title, err)
	}
	// Output:
	// One <nil>
	// Two <nil>
	// 3 issues, last page: false
	// Three <nil>
}

// A fake of IssuesService.Subscribe whose caller reads the response.
func ExampleFakeResponse() {
	fake := func(_ context.Context, _ forge.Ref, issue int64, opts ...forge.RequestOption) (*forge.Issue, error) {
		return &forge.Issue{IID: issue}, forge.FakeResponse(forge.Response{Status: 201, RequestID: "r-1"}, opts...)
	}

	var response forge.Response
	issue, err := fake(context.Background(), forge.ID(1), 5, forge.Into(&response))
	fmt.Println(issue.IID, err, response.Status, response.RequestID)
	// Output:
	// 5 <nil> 201 r-1
}

// listFunc is a list of issues, of a server or in memory.
type listFunc func(opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error]

// run is one loop over a list, which starts where the one before it ended.
type run struct {
	perPage, ahead, leaveAfter int // 0: unset, and never
	onePage                    bool
}

// trace returns what a program sees in its loops over a list, in text. A cursor is named by the order
// in which it appears, since a fake has other cursors.
func trace(t require.TestingT, list listFunc, runs []run) (lines []string) {
	var page forge.Response
	names := map[forge.Cursor]int{"": 0}
	see := func(what any) {
		if _, known := names[page.Cursor]; !known {
			names[page.Cursor] = len(names)
		}
		total, hasTotal := page.Total()
		pages := page.Header.Get("X-Total-Pages")
		lines = append(lines, fmt.Sprint(what, " status ", page.Status, " attempts ", page.Attempts, " total ", total, hasTotal,
			" pages ", pages, " page ", page.Header.Get("X-Page"), " size ", page.Header.Get("X-Per-Page"),
			" next ", page.Header.Get("X-Next-Page"), " cursor ", names[page.Cursor], page.Cursor.Done(), page.RateLimit, page.Mismatches))
	}
	for _, run := range runs {
		opts := []forge.RequestOption{forge.StartAt(page.Cursor), forge.Ahead(run.ahead), nil, forge.Into(&page)}
		if run.perPage > 0 {
			opts = append(opts, forge.PerPage(run.perPage))
		}
		if run.onePage {
			opts = append(opts, forge.OnePage())
		}
		n := 0
		for issue, err := range list(opts...) {
			require.NoError(t, err)
			see(issue.Title)
			if n++; n == run.leaveAfter {
				break
			}
		}
		see("end")
	}
	return lines
}

// TestFakeListBehavesAsAServersList compares a fake with the same list of a server.
func TestFakeListBehavesAsAServersList(t *testing.T) {
	t.Parallel()
	srv := forgetest.New(t)
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	groups := map[int]forge.Ref{}
	group := func(n int) forge.Ref {
		if groups[n] == nil {
			path := fmt.Sprint("group", n)
			srv.AddProject(path+"/app").AddIssues(n, nil)
			groups[n] = forge.Path(path)
		}
		return groups[n]
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 25), rapid.Just(101), rapid.Just(200)).Draw(t, "n")
		o := &forge.ListIssuesOptions{Scope: forge.ScopeAll, OrderBy: forge.IssueOrderByUpdatedAt} // by offset
		server := func(opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
			return client.Issues.ListForGroup(context.Background(), group(n), o, opts...)
		}
		items, err := forge.Collect(server())
		require.NoError(t, err)
		runs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) run {
			return run{
				perPage: rapid.SampledFrom([]int{0, 1, 2, 3, 7, 100, 150}).Draw(t, "per page"), ahead: rapid.IntRange(0, 2).Draw(t, "ahead"),
				leaveAfter: rapid.SampledFrom([]int{0, 0, 1, 5, 30}).Draw(t, "leave"), onePage: rapid.Bool().Draw(t, "one page"),
			}
		}), 1, 8).Draw(t, "runs")
		fake := func(opts ...forge.RequestOption) iter.Seq2[*forge.Issue, error] {
			return forge.FakeList(items, opts...)
		}
		assert.Equal(t, trace(t, server, runs), trace(t, fake, runs))
	})
}

// The size of a page may be in the query of a fake, as in that of a server's list; PerPage replaces
// it.
func TestFakeListWithPageInQuery(t *testing.T) {
	srv := forgetest.New(t)
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	srv.AddProject("group/app").AddIssues(5, nil)
	o := &forge.ListIssuesOptions{Scope: forge.ScopeAll, OrderBy: forge.IssueOrderByUpdatedAt}
	items, err := forge.Collect(client.Issues.List(t.Context(), o))
	require.NoError(t, err)
	for want, opts := range map[int][]forge.RequestOption{
		2: {forge.Query("per_page", "2")}, 3: {forge.Query("per_page", "2"), forge.PerPage(3)}, 5: {forge.Query("per_page", "1000")},
	} {
		opts = append(opts, forge.OnePage())
		page, err := forge.Collect(forge.FakeList(items, opts...))
		require.NoError(t, err)
		assert.Len(t, page, want)
		page, err = forge.Collect(client.Issues.List(t.Context(), o, opts...))
		require.NoError(t, err)
		assert.Len(t, page, want, "of the server")
	}
}

// A page has the headers of a server. A size that is not positive is that of a full page.
func TestFakeListHeaders(t *testing.T) {
	items := make([]*forge.User, 101)
	for i := range items {
		items[i] = new(forge.User)
	}
	for query, size := range map[string]string{"2": "2", "0": "100", "x": "100", "101": "100"} {
		var page forge.Response
		for _, err := range forge.FakeList(items, forge.Query("per_page", query), forge.OnePage(), forge.Into(&page)) {
			require.NoError(t, err)
		}
		pages := map[string]string{"2": "51", "100": "2"}[size]
		assert.Equal(t, http.Header{"Content-Type": {"application/json"}, "X-Page": {"1"}, "X-Per-Page": {size}, "X-Total": {"101"}, "X-Total-Pages": {pages}, "X-Next-Page": {"2"}}, page.Header)
	}
}

// TestFakeListRejectsOptions checks that a fake refuses the options that a list refuses.
func TestFakeListRejectsOptions(t *testing.T) {
	srv := forgetest.New(t)
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	for name, opts := range map[string][]forge.RequestOption{
		"Progress": {forge.Progress(nil)}, "Checksum": {forge.Checksum("")},
		"PerPage": {forge.PerPage(0)}, "Ahead": {forge.Ahead(-1)}, "StartAt": {forge.StartAt("x")},
		"Timeout": {forge.Timeout(0)}, "Sudo": {forge.Sudo(0)}, "Header": {forge.Header("Cookie", "a")},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := forge.Collect(client.Users.List(t.Context(), nil, opts...))
			_, fakeErr := forge.Collect(forge.FakeList([]*forge.User{{}}, opts...))
			var want, got *forge.ValidationError
			require.ErrorAs(t, err, &want)
			require.ErrorAs(t, fakeErr, &got)
			assert.Equal(t, []string{want.Option, want.Param, want.Reason}, []string{got.Option, got.Param, got.Reason})
		})
	}
	var page forge.Response
	_, err := forge.Collect(forge.FakeList([]*forge.User{{}, {}}, forge.Since("mark"), forge.Into(&page), forge.PerPage(1)))
	require.NoError(t, err)
	require.Equal(t, forge.Mark("mark"), page.Mark)
	var plan forge.PlannedRequest
	_, err = forge.Collect(forge.FakeList([]*forge.User{{}}, forge.DryRun(&plan)))
	require.ErrorIs(t, err, forge.ErrDryRun)
}

// TestFakeListCursors checks which cursors a fake accepts.
func TestFakeListCursors(t *testing.T) {
	cursor := func(list iter.Seq2[*forge.User, error]) (last error) {
		for _, err := range list {
			last = err
		}
		return last
	}
	users := []*forge.User{{ID: 1}, {ID: 2}}
	var page forge.Response
	require.NoError(t, cursor(forge.FakeList(users, forge.PerPage(1), forge.OnePage(), forge.Into(&page))))
	saved := page.Cursor
	found, err := forge.Collect(forge.FakeList(append(users, &forge.User{ID: 3}), forge.StartAt(saved)))
	require.NoError(t, err)
	assert.Len(t, found, 2, "a list that has grown")
	found, err = forge.Collect(forge.FakeList(users[:1], forge.StartAt(saved)))
	require.NoError(t, err)
	assert.Empty(t, found, "a list that has shrunk")

	srv := forgetest.New(t)
	client := srv.Client()
	t.Cleanup(client.CloseIdleConnections)
	require.NoError(t, cursor(client.Users.List(t.Context(), nil, forge.OnePage(), forge.Into(&page))))
	issues := forge.FakeList([]*forge.Issue{{}}, forge.StartAt(saved))
	for name, list := range map[string]func() error{
		"of a server": func() error { return cursor(forge.FakeList(users, forge.StartAt(page.Cursor))) },
		"of other filters": func() error {
			return cursor(forge.FakeList(users, forge.StartAt(saved), forge.Query("active", "true")))
		},
		"damaged":             func() error { return cursor(forge.FakeList(users, forge.StartAt(saved[:len(saved)-1]))) },
		"for a server":        func() error { return cursor(client.Users.List(t.Context(), nil, forge.StartAt(saved))) },
		"of another item":     func() error { _, err := forge.Collect(issues); return err },
		"of a nil item":       func() error { return cursor(forge.FakeList([]*forge.User{{}, nil})) },
		"with no list option": func() error { return forge.FakeResponse(forge.Response{}, forge.StartAt(saved)) },
	} {
		var invalid *forge.ValidationError
		require.ErrorAs(t, list(), &invalid, name)
		if name == "of a nil item" {
			assert.Equal(t, forge.ValidationError{Option: "FakeList", Reason: "item 1 is nil"}, *invalid)
		}
	}
}

// TestFakeListTotals checks that totals are omitted as on a server, for lists above 10,000 items.
func TestFakeListTotals(t *testing.T) {
	for n, known := range map[int]bool{10_000: true, 10_001: false} {
		items := make([]*forge.User, n)
		for i := range items {
			items[i] = new(forge.User)
		}
		var page forge.Response
		_, err := forge.Collect(forge.FakeList(items, forge.Into(&page), forge.OnePage()))
		require.NoError(t, err)
		_, got := page.Total()
		assert.Equal(t, known, got, n)
	}
}

// TestFakeResponse checks the defaults of a response, and the options that apply to lists only.
func TestFakeResponse(t *testing.T) {
	got := forge.Response{Status: 500, RequestID: "earlier"}
	require.NoError(t, forge.FakeResponse(forge.Response{Header: http.Header{"X-A": {"b"}}}, nil, forge.Into(&got), forge.Timeout(time.Second), forge.Checksum("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")))
	assert.Equal(t, forge.Response{Status: 200, Attempts: 1, Header: http.Header{"X-A": {"b"}}}, got)
	require.NoError(t, forge.FakeResponse(forge.Response{Status: 202, Attempts: 3}, forge.Into(&got)))
	assert.Equal(t, forge.Response{Status: 202, Attempts: 3}, got)
	require.NoError(t, forge.FakeResponse(forge.Response{}))
	require.ErrorIs(t, forge.FakeResponse(forge.Response{}, forge.DryRun(nil)), forge.ErrDryRun)
	for _, opt := range []forge.RequestOption{forge.OnePage(), forge.PerPage(2), forge.Ahead(1), forge.StartAt("")} {
		var invalid *forge.ValidationError
		require.ErrorAs(t, forge.FakeResponse(forge.Response{}, opt), &invalid)
	}
}
