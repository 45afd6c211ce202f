package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

const (
	post  = "POST /projects/:id/repository/changelog"
	notes = `## 1.3.0 (2026-03-02)

### fixed (1 change)

- [Keep the query when a route rewrites the path](acme/platform/gateway@c0d1a38f46e86ecb49443ff1fe37a5536895b864)

### security (1 change)

- [Refuse tokens with spaces](acme/platform/gateway@a1a238c5359eafcbfffb97940b36d5761c8c8151)
`
)

var gateway = []string{"-project", "acme/platform/gateway", "-version", "1.3.0"}

// release1 runs the program for version 1.3.0 of the gateway and returns both of its outputs.
func release1(t *testing.T, input string, args ...string) (out, progress string, err error) {
	var b strings.Builder
	out, err = demotest.Run(t, func(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
		return run(ctx, args, in, out, &b)
	}, input, append(gateway, args...)...)
	return out, b.String(), err
}

// changelog reads a file of the default branch, as the server has it now.
func changelog(t *testing.T, srv *forgetest.Server, path string) string {
	client, gateway := srv.Client(), forge.Path("acme/platform/gateway")
	for entry, err := range client.Repositories.ListTree(t.Context(), gateway, &forge.ListTreeOptions{Recursive: new(true)}) {
		require.NoError(t, err)
		if entry.Path == path {
			blob, err := client.Repositories.GetBlob(t.Context(), gateway, entry.ID)
			require.NoError(t, err)
			return string(blob.Content)
		}
	}
	return ""
}

// The notes alone are the output, to be written to a file. They are committed after a yes, and once.
func TestCommit(t *testing.T) {
	srv := demotest.Server(t)
	srv.SetClock(forgetest.DemoTime)
	out, _, err := release1(t, "")
	require.NoError(t, err)
	assert.Equal(t, notes, out)
	_, progress, err := release1(t, "n\n", "-commit")
	require.NoError(t, err)
	assert.Contains(t, progress, "Commit this to CHANGELOG.md? [y/N] Nothing was changed.")
	srv.AssertRequestCount(t, post, 0)

	_, progress, err = release1(t, "y\n", "-commit")
	require.NoError(t, err)
	assert.Contains(t, progress, "Committed to CHANGELOG.md.")
	assert.Contains(t, changelog(t, srv, "CHANGELOG.md"), notes)
	_, _, err = release1(t, "", "-commit", "-yes")
	assert.Equal(t, demo.Finding("CHANGELOG.md has a section for 1.3.0 already: nothing was committed"), err)
	srv.AssertAppliedCount(t, post, 1)

	_, _, err = release1(t, "", "-commit", "-yes", "-file", "docs/changes/NEWS.md")
	require.NoError(t, err)
	assert.Equal(t, notes, changelog(t, srv, "docs/changes/NEWS.md"))
	_, _, err = release1(t, "", "-commit", "-yes", "-version", "0.1.0")
	require.ErrorContains(t, err, "-from names the commit after which the notes begin")
}

// The call is sent once. When its answer is lost, the program looks whether it was carried out, and
// never commits twice.
func TestLostResponse(t *testing.T) {
	srv := demotest.Server(t)
	srv.Fail(post, forgetest.DropResponse().Times(1))
	_, progress, err := release1(t, "", "-commit", "-yes")
	require.NoError(t, err)
	assert.Contains(t, progress, "The answer was lost")
	assert.Contains(t, progress, "Committed to CHANGELOG.md.")
	srv.AssertAppliedCount(t, post, 1)

	srv.Fail(post, forgetest.Status(502).Times(1))
	_, _, err = release1(t, "", "-commit", "-yes", "-file", "NEWS.md")
	require.ErrorIs(t, err, forge.ErrServer)
	require.ErrorContains(t, err, "NEWS.md has no section for 1.3.0: it was not committed, and may be tried again")
	srv.AssertRequestCount(t, post, 2)
	assert.Empty(t, changelog(t, srv, "NEWS.md"))
}

// A run that is interrupted at any request fails, and does not say that it has committed.
func TestInterrupted(t *testing.T) {
	demotest.Interrupt(t, func(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
		return run(ctx, args, in, out, out)
	}, "Committed to ", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), append(gateway, "-commit", "-yes")
	}, nil)
}
