package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// TestCompleteOrError interrupts a backup inside each of its transfers: it is an error, what has a
// final name is whole and in the manifest, and the next run makes the rest.
func TestCompleteOrError(t *testing.T) {
	srv, paths := newServer(t, 4)
	args := func(dir string) []string {
		return []string{"-dir", dir, "-parallel", "1", "-projects", strings.Join(paths, ",")}
	}
	for at := range paths {
		seen, dir := srv.CountRequests(archiveRoute), t.TempDir()
		srv.ClearFaults()
		srv.Fail(archiveRoute, forgetest.SlowBody(time.Minute).After(at))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for srv.CountRequests(archiveRoute) <= seen+at && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			time.Sleep(5 * time.Millisecond) // into the body
			cancel()
		}()
		var out strings.Builder
		require.Error(t, run(ctx, args(dir), nil, &out), "interrupted at archive %d: %s", at+1, &out)
		if at > 0 {
			assert.Len(t, files(t, dir), at)
		}
		left, err := filepath.Glob(filepath.Join(dir, "*", "*", "*.part*"))
		require.NoError(t, err)
		assert.Empty(t, left)
		srv.ClearFaults()
		require.NoError(t, run(t.Context(), args(dir), nil, &out))
		assert.Len(t, files(t, dir), len(paths))
		require.NoError(t, os.RemoveAll(dir))
	}
}
