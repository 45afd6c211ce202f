package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/examples/internal/demotest"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestTriage is what a test with a recording looks like.
func TestTriage(t *testing.T) {
	client, stop, err := replay("testdata/triage")
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, triage(t.Context(), client, &out))
	require.NoError(t, stop())
	assert.Contains(t, out.String(), "Root has 14 bugs to give away")
	assert.Contains(t, out.String(), "acme/billing-api#13: subscribed is now false")
}

// TestRoundTrip records a server that is gone when the recording is replayed.
func TestRoundTrip(t *testing.T) {
	srv := demotest.Empty(t)
	srv.AddProject("acme/app").AddIssues(12, func(_ int, issue *forgetest.Document) { issue.Set("labels", []string{"bug"}) })
	srv.Fail("GET /issues", forgetest.Status(502).Times(1))
	path := filepath.Join(t.TempDir(), "cassette")
	var recorded, replayed strings.Builder
	require.NoError(t, run(t.Context(), []string{"-record", "-cassette", path}, nil, &recorded))
	assert.Contains(t, recorded.String(), "Root has 12 bugs")
	_, recordedText, _ := strings.Cut(recorded.String(), "\n\n")
	sent := srv.CountRequests("*")
	srv.Close()

	require.NoError(t, run(t.Context(), []string{"-cassette", path}, nil, &replayed))
	assert.Equal(t, recordedText, replayed.String())
	assert.Equal(t, 7, sent, "user, three pages of which one twice, and two writes")
	info, err := os.Stat(path + ".yaml")
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode(), "nobody has read yet what is in it")
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	assert.Equal(t, sent, strings.Count(string(content), "- id: "), "one exchange for each request")
	assert.NotContains(t, string(content), srv.Token)
}

// TestInterrupted: a recording that was there stays as it was, because one that ends in the middle
// would replay a shorter list.
func TestInterrupted(t *testing.T) {
	demotest.Server(t)
	path := filepath.Join(t.TempDir(), "triage")
	require.NoError(t, run(t.Context(), []string{"-record", "-cassette", path}, nil, io.Discard))
	before, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	demotest.Interrupt(t, run, "subscribed is now false", func(t *testing.T) (*forgetest.Server, []string) {
		return demotest.Server(t), []string{"-record", "-cassette", path}
	}, func(t *testing.T) {
		after, err := os.ReadFile(path + ".yaml")
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
	})
}
