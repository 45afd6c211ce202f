// Package suite runs the tests of docs/testing.md in other languages against the program forgetest.
package suite

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

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

// In a browser, the page shows a request that comes after it was loaded.
func TestPageInBrowser(t *testing.T) {
	var loads atomic.Int32
	srv := forgetest.New(t, forgetest.WithControl("control", nil), forgetest.WithHTTPServer(func(server *http.Server) {
		inner := server.Handler
		server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/" && loads.Add(1) == 2 { // of the page's script
				later := httptest.NewRequestWithContext(r.Context(), http.MethodGet, "/api/v4/that-came-later", nil)
				inner.ServeHTTP(httptest.NewRecorder(), later)
			}
			inner.ServeHTTP(w, r)
		})
	}))
	browser := exec.CommandContext(t.Context(), "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir="+t.TempDir(),
		"--virtual-time-budget=5000", "--dump-dom", srv.URL+"/")
	page, err := browser.Output()
	require.NoError(t, err)
	assert.Contains(t, string(page), "/api/v4/that-came-later")
	assert.Contains(t, string(page), "GET /projects/:id/runners")
}
