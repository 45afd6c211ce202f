// Package suite runs the tests of docs/testing.md in other languages against the program forgetest.
package suite

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// program builds forgetest, and returns an environment with it on the PATH.
func program(t *testing.T) []string {
	folder := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(folder, "forgetest"), "github.com/forge-sdk/forge-go/forgetest/cmd/forgetest")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return append(os.Environ(), "PATH="+folder+":"+os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE=1")
}

// The suites pass, and each runs as many tests as it has.
func TestSuites(t *testing.T) {
	environment := program(t)
	for name, suite := range map[string]struct {
		command []string
		passed  string
	}{
		"Python":     {[]string{"/usr/bin/python3", "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", "."}, "2 passed"},
		"JavaScript": {[]string{"node", "--test", "issues.test.mjs"}, "# pass 2"},
		"curl":       {[]string{"bash", "issues.sh"}, `"applied": 1`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), suite.command[0], suite.command[1:]...) //nolint:gosec // the table's
			command.Env = environment
			out, err := command.CombinedOutput()
			require.NoError(t, err, "%s", out)
			assert.Contains(t, string(out), suite.passed)
		})
	}
}

// In a browser, the page shows a request that comes after it was loaded, and what a person types
// into the search field selects the routes.
func TestPageInBrowser(t *testing.T) {
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not on the PATH: apt-get install chromium")
	}
	srv := forgetest.New(t, forgetest.WithControl("control", nil))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(ctx, chromedp.Navigate(srv.URL+"/")))

	routesAfter := func(keys string) []string {
		require.NoError(t, chromedp.Do(ctx, chromedp.SendKeys("#search", keys)))
		shown, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](
			`[...document.querySelectorAll("ul.routes li")].filter(row => row.checkVisibility()).map(row => row.textContent)`))
		require.NoError(t, err)
		return shown
	}
	all := srv.RouteNames()
	found := slices.DeleteFunc(slices.Clone(all), func(route string) bool { return !strings.Contains(route, "audit_events") })
	assert.NotEmpty(t, found)
	assert.Equal(t, found, routesAfter("Audit_Events"))
	assert.Empty(t, routesAfter("x"))
	assert.Equal(t, all, routesAfter(strings.Repeat(kb.Backspace, len("Audit_Eventsx"))))

	require.ErrorIs(t, srv.Client().Do(t.Context(), forge.Call{Route: "/that-came-later"}, nil), forge.ErrNotFound)
	_, err = chromedp.Run(ctx, chromedp.Poll[bool](`document.getElementById("requests").textContent.includes("GET /api/v4/that-came-later")`))
	require.NoError(t, err)
}
