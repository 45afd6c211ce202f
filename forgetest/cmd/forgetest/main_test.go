package main

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
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

// A wrong argument is an error that says what to do.
func TestArguments(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	for text, args := range map[string][]string{
		"no such file or directory":                         {"-seed", "other"},
		"unknown port":                                      {"-addr", "nowhere:x"},
		"flag provided but not defined: -unknown":           {"-unknown"},
		`unknown argument "demo": options begin with -`:     {"demo"},
		"is not free, premium or ultimate":                  {"-tier", "gold"},
		"is not hosted, self-managed or dedicated":          {"-offering", "cloud"},
		"19.0 to 19.5":                                      {"-release", "99.1"},
		"it must be a token, or name=value,role":            {"-token", "maya=abc"},
		"it must be guest, reporter, developer":             {"-token", "maya=abc,boss"},
		"another program serves there, perhaps a forgetest": {"-addr", taken.Addr().String()},
	} {
		assert.ErrorContains(t, run(t.Context(), args, io.Discard, io.Discard), text, args)
	}
}

// -routes lists the routes, without those beyond the contract with -contract-only. A ready file has
// what a program needs, and the tokens of -token have their roles.
func TestOptions(t *testing.T) {
	var all, contract strings.Builder
	require.NoError(t, run(t.Context(), []string{"-routes"}, &all, io.Discard))
	require.NoError(t, run(t.Context(), []string{"-routes", "-contract-only"}, &contract, io.Discard))
	assert.Contains(t, all.String(), "GET /version\n")
	assert.NotContains(t, contract.String(), "GET /version\n")

	ctx, stop := context.WithCancel(t.Context())
	ready, done := filepath.Join(t.TempDir(), "ready.json"), make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"-addr", "127.0.0.1:0", "-seed", "demo", "-token", "my-token", "-token", "priya=reads,reporter", "-token", "boss=all,admin",
			"-control-token", "control", "-ready-file", ready}, io.Discard, io.Discard)
	}()
	var data []byte
	for data == nil {
		data, _ = os.ReadFile(ready)
		runtime.Gosched()
	}
	var addresses struct {
		URL, Token string
		Control    string `json:"control_token"`
	}
	require.NoError(t, json.Unmarshal(data, &addresses))
	assert.Equal(t, []string{"my-token", "control"}, []string{addresses.Token, addresses.Control})
	for token, status := range map[string]error{"my-token": nil, "all": nil, "reads": forge.ErrForbidden} {
		client, err := forge.NewClient(addresses.URL, forge.WithToken(token))
		require.NoError(t, err)
		defer client.CloseIdleConnections()
		_, err = client.Settings.Get(ctx)
		require.ErrorIs(t, err, status, token)
		_, err = forge.Collect(client.Issues.ListForGroup(ctx, forge.Path("acme"), nil))
		require.NoError(t, err)
	}
	stop()
	require.NoError(t, <-done)
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
