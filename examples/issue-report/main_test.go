package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
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

func useServer(t *testing.T) *forgetest.Server {
	t.Helper()
	srv := forgetest.New(t)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	return srv
}

func TestDemo(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	table, page := runReport(t)
	assert.Regexp(t, `(?m)^ +[1-9]\d+ +[1-9]\d+ +[1-9]\d+ h +[1-9]\d+ h +all issues$`, table)
	for _, label := range []string{"bug", "feature", "good first issue", "security", "performance", "documentation"} {
		assert.Contains(t, table, label)
		assert.Equal(t, 3, strings.Count(page, ">"+label+"<"), "%s: in both charts and in the table", label)
	}
}

// A page that is replaced keeps its mode, and a device is not replaced by a page.
func TestPageFile(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	path := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(path, []byte("old"), 0o600))
	require.NoError(t, run(t.Context(), []string{"-out", path}, nil, io.Discard))
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	require.ErrorContains(t, run(t.Context(), []string{"-out", os.DevNull}, nil, io.Discard), "not a regular file")

	r := &report{Title: "half", Labels: []row{{Name: "x"}}}
	tell := errors.New("the disk is full")
	require.ErrorIs(t, demo.SaveFile(path, false, func(w io.Writer) error { return errors.Join(r.write(w), tell) }), tell)
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Contains(t, string(content), "All issues", "a failure leaves the page of before")
}

func TestSums(t *testing.T) {
	srv := useServer(t)
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

	table, page := runReport(t, "-group", "acme", "-since", "2000-01-31", "-type", "issue")
	assert.Regexp(t, `(?m)^ +2 +1 +2 h +11 h +all issues$`, table)
	assert.Contains(t, page, "<h1>acme</h1>")
	request := srv.LastRequest(t, "GET /groups/:id/issues")
	assert.Contains(t, request.Query.Get("updated_after"), "2000-01-3")
	assert.Equal(t, "issue", request.Query.Get("issue_type"))
}

// TestPage holds the page to its promises: whole in itself, safe with any label, readable with many
// and with none.
func TestPage(t *testing.T) {
	srv := useServer(t)
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
		for decoder := xml.NewDecoder(strings.NewReader(charts[i])); ; {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
	}
}

func TestFailures(t *testing.T) {
	srv := useServer(t)
	t.Setenv("FORGE_TOKEN", "no-such-token")
	path := filepath.Join(t.TempDir(), "page.html")
	require.ErrorIs(t, run(t.Context(), []string{"-out", path}, nil, io.Discard), forge.ErrUnauthorized)
	assert.NoFileExists(t, path)
	require.ErrorContains(t, run(t.Context(), []string{"-since", "yesterday"}, nil, io.Discard), "yesterday")
	require.ErrorContains(t, run(t.Context(), []string{"-type", "bug"}, nil, io.Discard), `"bug": it is one of ["issue" "incident"`)

	t.Setenv("FORGE_TOKEN", srv.Token)
	require.ErrorIs(t, run(t.Context(), []string{"-group", "nobody", "-out", path}, nil, io.Discard), forge.ErrNotFound)
}
