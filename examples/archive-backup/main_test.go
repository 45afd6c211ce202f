package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/vbauerster/mpb/v8"

	"github.com/forge-sdk/forge-go/forgetest"
)

const archiveRoute = "GET /projects/:id/repository/archive[.:format]"

// newServer starts a server that the environment names, with the projects acme/a, acme/b and so on.
func newServer(t *testing.T, projects int) (srv *forgetest.Server, paths []string) {
	t.Helper()
	srv = forgetest.New(t)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
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

func TestDemo(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	dir := t.TempDir()
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-dir", dir, "-parallel", "7"}, nil, &out))
	assert.Equal(t, 7, strings.Count(out.String(), "saved, "), out.String())
	assert.Contains(t, out.String(), "Saved and verified 7 projects: ")
	assert.Len(t, files(t, dir), 7)
}

// TestResumes runs the same backup again and again, while projects change and files are lost and
// damaged.
func TestResumes(t *testing.T) {
	srv, paths := newServer(t, 4)
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

	srv.AddProject("acme/e").AddFiles(map[string]string{"one": "1"})
	paths = append(paths, "acme/e")
	out = backup()
	assert.Equal(t, 4, strings.Count(out, "unchanged"), out)
	assert.Len(t, files(t, dir), 5)
}

// TestFiles: files that are replaced keep their modes, and nothing is written through a link that
// somebody has put there.
func TestFiles(t *testing.T) {
	_, paths := newServer(t, 1)
	dir := t.TempDir()
	victim := filepath.Join(t.TempDir(), "victim")
	require.NoError(t, os.WriteFile(victim, []byte("mine"), 0o600))
	require.NoError(t, os.Symlink(victim, filepath.Join(dir, "SHA256SUMS.new")))
	args := []string{"-dir", dir, "-projects", paths[0]}
	require.NoError(t, run(t.Context(), args, nil, io.Discard))
	text, err := os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
	require.NoError(t, os.Remove(filepath.Join(dir, "SHA256SUMS.new")))

	saved := files(t, dir)
	archive, sums := filepath.Join(dir, saved[0]), filepath.Join(dir, "SHA256SUMS")
	require.NoError(t, os.Truncate(archive, 100))
	require.NoError(t, os.Symlink(victim, archive+".part"))
	for _, path := range []string{archive, sums} {
		require.NoError(t, os.Chmod(path, 0o640))
	}
	require.NoError(t, run(t.Context(), args, nil, io.Discard))
	for _, path := range []string{archive, sums} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, os.FileMode(0o640), info.Mode(), path)
	}
	text, err = os.ReadFile(victim)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(text))
}

// TestFailures: a project that fails stops no other, what breaks off is tried again, and no half
// file has a final name.
func TestFailures(t *testing.T) {
	srv, paths := newServer(t, 3)
	dir, list := t.TempDir(), filepath.Join(t.TempDir(), "projects.txt")
	require.NoError(t, os.WriteFile(list, []byte(strings.Join(append(paths, "acme/nobody", "acme/../x"), "\n")), 0o600))
	srv.Fail(archiveRoute, forgetest.TruncateBody(50).Times(2))
	var out strings.Builder
	err := run(t.Context(), []string{"-dir", dir, "-list", list}, nil, &out)
	require.EqualError(t, err, "2 of 5 projects failed; the same command tries again")
	assert.Equal(t, 3, strings.Count(out.String(), "saved, 2 files"), out.String())
	assert.Regexp(t, `(?m)^acme/nobody +FAILED: .*404`, out.String())
	assert.Regexp(t, `(?m)^acme/\.\./x +FAILED: `, out.String())
	assert.Len(t, files(t, dir), 3)

	fresh := t.TempDir()
	srv.Fail(archiveRoute, forgetest.TruncateBody(50).Times(1+tries))
	err = run(t.Context(), []string{"-dir", fresh, "-parallel", "1", "-projects", "acme/a,acme/b"}, nil, &out)
	require.EqualError(t, err, "1 of 2 projects failed; the same command tries again")
	assert.Len(t, files(t, fresh), 1)
	require.NoError(t, run(t.Context(), []string{"-dir", fresh, "-projects", "acme/a,acme/b"}, nil, &out))
	assert.Len(t, files(t, fresh), 2)
}

func TestBrokenArchive(t *testing.T) {
	srv, paths := newServer(t, 1)
	srv.Fail(archiveRoute, forgetest.Respond(200, "application/octet-stream", "no archive at all"))
	dir := t.TempDir()
	var out strings.Builder
	require.Error(t, run(t.Context(), []string{"-dir", dir, "-projects", paths[0]}, nil, &out))
	assert.Contains(t, out.String(), ": the archive cannot be read")
	srv.AssertRequestCount(t, archiveRoute, tries)
	assert.NoFileExists(t, filepath.Join(dir, "SHA256SUMS"))
	left, err := filepath.Glob(filepath.Join(dir, "*", "*", "*"))
	require.NoError(t, err)
	assert.Empty(t, left, "nothing that failed stays behind")
}

// TestInterrupt stops a backup in the middle of its transfers.
func TestInterrupt(t *testing.T) {
	srv, paths := newServer(t, 6)
	srv.Fail(archiveRoute, forgetest.SlowBody(time.Minute).After(3))
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for srv.CountRequests(archiveRoute) < 5 {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	var out strings.Builder
	err := run(ctx, []string{"-dir", dir, "-parallel", "2", "-projects", strings.Join(paths, ",")}, nil, &out)
	require.ErrorContains(t, err, "interrupted: 3 of 6 projects not saved; the same command continues")
	require.ErrorIs(t, err, context.Canceled, "an error of the program, not a finding")
	assert.Len(t, files(t, dir), 3)
	srv.ClearFaults()
	require.NoError(t, run(t.Context(), []string{"-dir", dir, "-projects", strings.Join(paths, ",")}, nil, &out))
	assert.Len(t, files(t, dir), 6)
}

func TestBars(t *testing.T) {
	var out strings.Builder
	display := newBars(&out, 2, mpb.WithAutoRefresh())
	one, two := display.start("acme/a"), display.start("acme/b")
	one.report(1<<20, -1)
	one.end("saved, 2 files", nil)
	two.end("", context.Canceled)
	display.close()
	assert.Contains(t, out.String(), "saved, 2 files")
	assert.Contains(t, out.String(), "FAILED: context canceled")
}
