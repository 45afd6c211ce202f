package main

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// TestCompleteOrError interrupts a report at each page of its list: it is an error, and no page is
// written from the part that came.
func TestCompleteOrError(t *testing.T) {
	const route = "GET /issues"
	for at := range 5 {
		srv := useServer(t) // one for each run: it fetches ahead, and late requests would count for the next
		srv.AddProject("acme/app").AddIssues(450, nil)
		srv.Fail(route, forgetest.HeaderDelay(time.Hour).After(at))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for srv.CountRequests(route) <= at && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		path := filepath.Join(t.TempDir(), "page.html")
		err := run(ctx, []string{"-out", path}, nil, io.Discard)
		require.ErrorIs(t, err, context.Canceled, "interrupted at page %d", at+1)
		assert.NoFileExists(t, path)
	}
}
