package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const archiveRoute = "GET /projects/:id/repository/archive[.:format]"

// newServer starts a server that the environment names, with the projects acme/a, acme/b and so on.
func newServer(t *testing.T, projects int) (srv *forgetest.Server, paths []string) {
	t.Helper()
	srv = demotest.Empty(t)
	srv.SetClock(forgetest.DemoTime) // two servers have the same commits
	for i := range projects {
		path := "acme/" + string(rune('a'+i))
		srv.AddProject(path).AddFiles(map[string]string{"README.md": path, "src/main.go": strings.Repeat("package main\n", 100)})
		paths = append(paths, path)
	}
	return srv, paths
}

// files lists the files below a folder, and checks them against the manifest.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "SHA256SUMS" {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		assert.Contains(t, string(sums), fmt.Sprintf("%x  %s\n", sha256.Sum256(content), filepath.ToSlash(name)))
		_, count, broken := verify(bytes.NewReader(content))
		assert.NoError(t, broken)
		assert.NotZero(t, count)
		names = append(names, filepath.ToSlash(name))
		return err
	}))
	assert.Equal(t, len(names), strings.Count(string(sums), "\n"), "the manifest lists what is there, and nothing else:\n%s", sums)
	return names
}

// TestResumes runs the same backup again and again, while projects change and files are lost and
// damaged.
func TestResumes(t *testing.T) {
	_, paths := newServer(t, 4)
	dir := t.TempDir()
	backup := func() string {
		var out strings.Builder
		require.NoError(t, run(t.Context(), []string{"-dir", dir, "-projects", paths[0] + "," + strings.Join(paths, ",")}, nil, &out))
		return out.String()
	}
	assert.Equal(t, 4, strings.Count(backup(), "saved, 2 files"), "a project that is named twice is saved once")
	first := files(t, dir)
	require.Len(t, first, 4)
	assert.Equal(t, 4, strings.Count(backup(), "unchanged"))

	require.NoError(t, os.Truncate(filepath.Join(dir, first[0]), 100))
	require.NoError(t, os.Remove(filepath.Join(dir, first[1])))
	out := backup()
	assert.Equal(t, 2, strings.Count(out, "saved, 2 files"), out)
	assert.Equal(t, first, files(t, dir))

}

// TestFailures: a project that fails stops no other, no half file has a final name, and the same
// command makes the rest.
func TestFailures(t *testing.T) {
	srv, paths := newServer(t, 3)
	args := []string{"-dir", t.TempDir(), "-parallel", "1", "-projects", strings.Join(append(paths, "acme/nobody", "acme/../x"), ",")}
	srv.Fail(archiveRoute, forgetest.TruncateBody(50).Times(1))
	var out strings.Builder
	err := run(t.Context(), args, nil, &out)
	assert.Equal(t, demo.Finding("3 of 5 projects failed; the same command tries again"), err)
	assert.Equal(t, 2, strings.Count(out.String(), "saved, 2 files"), out.String())
	assert.Regexp(t, `(?m)^acme/nobody +FAILED: .*404`, out.String())
	assert.Regexp(t, `(?m)^acme/\.\./x +FAILED: `, out.String())
	assert.Len(t, files(t, args[1]), 2)
	require.ErrorContains(t, run(t.Context(), args, nil, &out), "2 of 5 projects failed")
	assert.Len(t, files(t, args[1]), 3)
}

// TestInterrupted: what has a final name is whole, nothing else is left, and the next run makes the
// rest.
func TestInterrupted(t *testing.T) {
	var args []string
	demotest.Interrupt(t, run, "Saved and verified", func(t *testing.T) (*forgetest.Server, []string) {
		srv, paths := newServer(t, 4)
		args = []string{"-dir", t.TempDir(), "-parallel", "1", "-projects", strings.Join(paths, ",")}
		return srv, args
	}, func(t *testing.T) {
		_, paths := newServer(t, 4)
		if _, err := os.Stat(filepath.Join(args[1], "SHA256SUMS")); err == nil {
			files(t, args[1])
		}
		require.NoError(t, run(t.Context(), args, nil, io.Discard))
		assert.Len(t, files(t, args[1]), len(paths))
	})
}
