package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// runReport runs the program and returns what it printed and the page.
func runReport(t *testing.T, args ...string) (table, page string) {
	t.Helper()
	var out strings.Builder
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, run(t.Context(), append(args, "-out", path), nil, &out))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return out.String(), string(content)
}

// Each issue counts for its labels, and once in all. A page is replaced as a whole or not at all.
func TestSums(t *testing.T) {
	srv := demotest.Empty(t)
	fill := func(state string, estimate, spent int, labels ...string) func(*forgetest.Document) {
		return func(d *forgetest.Document) {
			d.Set("state", state).Set("labels", labels).Set("time_stats.time_estimate", estimate).Set("time_stats.total_time_spent", spent)
		}
	}
	app, other := srv.AddProject("acme/app"), srv.AddProject("other/app")
	app.AddIssue(fill("opened", 7200, 3600, "bug", "p1"))
	app.AddIssue(fill("closed", 0, 36000, "bug"))
	app.AddIssue(fill("opened", 0, 0))
	other.AddIssue(fill("opened", 3600, 0, "bug"))

	table, _ := runReport(t)
	assert.Regexp(t, `(?m)^ +2 +1 +3 h +11 h +bug$`, table)
	assert.Regexp(t, `(?m)^ +1 +0 +2 h +1 h +p1$`, table)
	assert.Regexp(t, `(?m)^ +1 +0 +0 h +0 h +\(no label\)$`, table)
	assert.Regexp(t, `(?m)^ +3 +1 +3 h +11 h +all issues$`, table, "an issue with two labels counts once")

	table, page := runReport(t, "-group", "acme", "-since", "2000-01-31")
	assert.Regexp(t, `(?m)^ +2 +1 +2 h +11 h +all issues$`, table)
	assert.Contains(t, page, "<h1>acme</h1>")
	assert.Contains(t, srv.LastRequest(t, "GET /groups/:id/issues").Query.Get("updated_after"), "2000-01-3")
}

// TestPage holds the page to its promises: whole in itself, safe with any label, readable with many
// and with none.
func TestPage(t *testing.T) {
	srv := demotest.Empty(t)
	table, page := runReport(t)
	assert.Contains(t, table, "There is no issue")
	assert.Contains(t, page, "There is no issue")
	assert.NotContains(t, page, "<svg")

	app := srv.AddProject("acme/app")
	hostile := `<img src=x onerror="alert(1)">`
	app.AddIssues(40, func(i int, issue *forgetest.Document) {
		issue.Set("labels", []string{[]string{hostile, "a", "Ärger & Öl"}[i%3], strings.Repeat("w", i+1)})
	})
	_, page = runReport(t)
	assert.NotContains(t, page, "<img")
	assert.NotContains(t, page, "<script")
	assert.Contains(t, page, "first 15 labels")
	addresses := regexp.MustCompile(`(?:src|href|url)\s*[=(]`).FindAllString(strings.ReplaceAll(page, "src=x", ""), -1)
	assert.Empty(t, addresses, "the page asks other hosts for nothing")

	charts := regexp.MustCompile(`(?s)<svg .*?</svg>`).FindAllString(page, -1)
	require.Len(t, charts, 2)
	for i, bars := range []int{15, 30} {
		assert.Equal(t, bars, strings.Count(charts[i], "<path d=")-1, "bars, and one line")
	}
}

// What fails writes no page, and leaves the page of before.
func TestFailures(t *testing.T) {
	demotest.Server(t)
	path := filepath.Join(t.TempDir(), "page.html")
	require.ErrorContains(t, run(t.Context(), []string{"-since", "yesterday", "-out", path}, nil, io.Discard), "yesterday")
	require.ErrorIs(t, run(t.Context(), []string{"-group", "nobody", "-out", path}, nil, io.Discard), forge.ErrNotFound)
	assert.NoFileExists(t, path)
	require.NoError(t, run(t.Context(), []string{"-out", path}, nil, io.Discard))
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	demotest.Interrupt(t, run, "Page ", func(t *testing.T) (*forgetest.Server, []string) {
		srv := demotest.Empty(t)
		srv.AddProject("acme/app").AddIssues(450, nil)
		return srv, []string{"-out", path}
	}, func(t *testing.T) {
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(before), string(after), "a page from the part that came")
	})
}
