package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	forge "github.com/forge-sdk/forge-go"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The program serves what it prints, until it is interrupted.
func TestRun(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	reader, writer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-addr", "127.0.0.1:0", "-seed", "demo", "-token", "my-token"}, writer, io.Discard)
	}()

	output := bufio.NewScanner(reader)
	var url, job, curl string
	for output.Scan() && !strings.HasPrefix(output.Text(), "Interrupt") {
		if rest, found := strings.CutPrefix(output.Text(), "URL "); found {
			url = strings.TrimSpace(rest)
		}
		if rest, found := strings.CutPrefix(output.Text(), "Job "); found {
			job = strings.TrimSpace(rest)
		}
		if strings.HasPrefix(output.Text(), "curl ") {
			curl = output.Text()
		}
	}
	assert.Contains(t, curl, `"PRIVATE-TOKEN: my-token" "`+url+`/api/v4/issues?scope=all`)

	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v4/issues?scope=all", nil)
	require.NoError(t, err)
	r.Header.Set("PRIVATE-TOKEN", "my-token")
	response, err := transport.RoundTrip(r)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "304", response.Header.Get("X-Total"))

	client, err := forge.NewClient(url, forge.WithJobToken(job))
	require.NoError(t, err)
	defer client.CloseIdleConnections()
	_, err = forge.Collect(client.Registry.ListForProject(t.Context(), forge.Path("acme/storefront"), nil))
	require.NoError(t, err)
	admin, err := forge.NewClient(url, forge.WithToken("my-token"))
	require.NoError(t, err)
	defer admin.CloseIdleConnections()
	requireDemoData(t, admin)

	stop()
	require.NoError(t, <-done)
	_, err = transport.RoundTrip(r)
	assert.Error(t, err)
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-seed", "other"}, {"-addr", "nowhere:x"}, {"-unknown"}, {"-release", "x"}} {
		assert.Error(t, run(t.Context(), args, io.Discard, io.Discard), args)
	}
	assert.ErrorContains(t, run(t.Context(), []string{"-release", "12.0"}, io.Discard, io.Discard), `-release: no release "12.0": known are 13.0 to 13.12`)
}

// requireDemoData checks that the server has what the program prints that it has.
func requireDemoData(t *testing.T, client *forge.Client) {
	t.Helper()
	names := regexp.MustCompile(`acme[a-z/-]*`).FindAllString(demoData, -1)
	require.Len(t, names, 6)
	for _, name := range names[:2] {
		for _, label := range []string{"bug", "feature", "security"} {
			issues, err := forge.Collect(client.Issues.ListForGroup(t.Context(), forge.Path(name), &forge.ListIssuesOptions{Labels: forge.Labels(label)}))
			require.NoError(t, err)
			assert.NotEmpty(t, issues, "%s: %s", name, label)
		}
	}
	for _, name := range names[2:] {
		_, err := forge.Collect(client.ResourceGroups.List(t.Context(), forge.Path(name)))
		require.NoError(t, err, name)
	}
	images, err := forge.Collect(client.Registry.ListForProject(t.Context(), forge.Path("acme/storefront"), nil))
	require.NoError(t, err)
	assert.NotEmpty(t, images)
	tree, err := forge.Collect(client.Repositories.ListTree(t.Context(), forge.Path("acme/platform/gateway"), nil))
	require.NoError(t, err)
	assert.NotEmpty(t, tree)
}
