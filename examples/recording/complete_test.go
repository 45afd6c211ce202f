package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// TestCompleteOrError interrupts a recording at each of its requests: it is an error, and the
// recording that was there stays as it was, because one that ends in the middle would replay a
// shorter list.
func TestCompleteOrError(t *testing.T) {
	srv := forgetest.New(t, forgetest.WithDemo())
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	cassette := filepath.Join(t.TempDir(), "triage")
	require.NoError(t, run(t.Context(), []string{"-record", "-cassette", cassette}, nil, io.Discard))
	before, err := os.ReadFile(cassette + ".yaml")
	require.NoError(t, err)
	requests := srv.CountRequests("*")
	require.Greater(t, requests, 3)
	for at := range requests {
		seen := srv.CountRequests("*")
		srv.ClearFaults()
		srv.Fail("*", forgetest.HeaderDelay(time.Hour).After(at))
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			for srv.CountRequests("*") <= seen+at && ctx.Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		require.ErrorIs(t, run(ctx, []string{"-record", "-cassette", cassette}, nil, io.Discard), context.Canceled, "interrupted at request %d", at+1)
		after, err := os.ReadFile(cassette + ".yaml")
		require.NoError(t, err)
		assert.True(t, bytes.Equal(before, after), "interrupted at request %d: another recording is there", at+1)
	}
}
