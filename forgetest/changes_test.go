package forgetest_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// Changes become visible late and in the order of each object, the clock of Date differs, and a
// deleted object is gone from lists and calls.
func TestLateChanges(t *testing.T) {
	srv := forgetest.New(t)
	start := time.Date(2026, time.May, 1, 12, 0, 0, 0, time.UTC)
	now := start
	srv.SetClock(func() time.Time { return now })
	srv.SetDateOffset(-time.Minute)
	project := srv.AddProject("acme/app")
	issue, mr := project.AddIssue(nil), project.AddMergeRequest(nil)
	client := srv.Client()
	var page forge.Response
	issues := func() (titles []string) {
		for found, err := range client.Issues.List(t.Context(), &forge.ListIssuesOptions{Scope: forge.ScopeAll, Sort: forge.SortAsc}, forge.Into(&page)) {
			require.NoError(t, err)
			titles = append(titles, found.Title)
		}
		return titles
	}
	title := func(text string) func(*forgetest.Document) {
		return func(issue *forgetest.Document) { issue.Set("title", text) }
	}
	late := 30 * time.Second
	srv.SetLateness(func() time.Duration { return late })
	issue.Edit(title("first"))
	late = 0
	issue.Edit(title("second")) // waits for the first one
	late = 10 * time.Second
	added := project.AddIssue(title("added"))
	mr.Edit(title("changed"))
	srv.SetLateness(nil)

	assert.Equal(t, []string{"Issue 1"}, issues())
	assert.Equal(t, start.Add(-time.Minute).Format(time.RFC1123), page.Header.Get("Date")[:25]+" UTC")
	now = start.Add(10 * time.Second)
	assert.Equal(t, []string{"Issue 1", "added"}, issues())
	assert.Equal(t, "changed", mr.Get("title"))
	now = start.Add(30 * time.Second)
	assert.Equal(t, []string{"second", "added"}, issues())
	assert.Equal(t, start, issue.Get("updated_at"))

	added.Delete()
	mr.Delete()
	assert.Equal(t, []string{"second"}, issues())
	_, err := client.Issues.GetTimeStats(t.Context(), forge.ID(project.ID), added.IID)
	require.ErrorIs(t, err, forge.ErrNotFound)
	_, err = forge.Collect(client.MergeRequests.ListVersions(t.Context(), forge.ID(project.ID), mr.IID))
	require.ErrorIs(t, err, forge.ErrNotFound)
	mrs, err := forge.Collect(client.MergeRequests.ListForProject(t.Context(), forge.ID(project.ID), nil))
	require.NoError(t, err)
	assert.Empty(t, mrs)
}
