package main

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

const statsRoute = "GET /projects/:id/issues/:issue_iid/time_stats"

func TestDemo(t *testing.T) {
	t.Setenv("FORGE_URL", "")
	t.Setenv("REDIS_URL", "")
	var out strings.Builder
	require.NoError(t, run(t.Context(), []string{"-rate", "5000"}, nil, &out))
	assert.Regexp(t, `(?m)^ +all +[1-9]\d\d +[1-9]\d+\.\d h`, out.String())
	assert.Contains(t, out.String(), "refused by the server: 0\n")
}

// useServer starts a server that the environment names.
func useServer(t *testing.T, issues int) *forgetest.Server {
	t.Helper()
	srv := forgetest.New(t)
	t.Setenv("FORGE_URL", srv.URL)
	t.Setenv("FORGE_TOKEN", srv.Token)
	srv.AddProject("acme/app").AddIssues(issues, func(_ int, issue *forgetest.Document) {
		issue.Set("time_stats.total_time_spent", 3600)
	})
	return srv
}

// startRedis starts the real one.
func startRedis(t *testing.T) (address string) {
	t.Helper()
	program, err := exec.LookPath("redis-server")
	if err != nil {
		t.Skip("redis-server is not on the PATH: apt-get install redis-server; TestDemo runs with the one in the process")
	}
	dir := t.TempDir()
	socket := filepath.Join(dir, "redis")
	cmd := exec.Command(program, "--port", "0", "--unixsocket", socket, "--save", "", "--dir", dir)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	store := redis.NewClient(&redis.Options{Network: "unix", Addr: socket})
	defer store.Close()
	require.Eventually(t, func() bool { return store.Ping(t.Context()).Err() == nil }, 30*time.Second, 10*time.Millisecond)
	return "unix://" + socket
}

// TestShared runs three processes' worth of workers at once. Whatever the machine does, a kept
// limit takes this long at least.
func TestShared(t *testing.T) {
	const issues, rate = 60, 40
	srv := useServer(t, issues)
	t.Setenv("REDIS_URL", startRedis(t))
	started := time.Now()
	var wg sync.WaitGroup
	outs := make([]strings.Builder, 3)
	for i, part := range []string{"1/3", "2/3", "3/3"} {
		wg.Go(func() {
			assert.NoError(t, run(t.Context(), []string{"-part", part, "-rate", strconv.Itoa(rate)}, nil, &outs[i]))
		})
	}
	wg.Wait()
	limited := issues + 3 // each lists the issues, and asks who it is without the limit
	assert.GreaterOrEqual(t, time.Since(started), time.Duration(limited-rate/10)*time.Second/rate, "the limit was exceeded")
	srv.AssertRequestCount(t, statsRoute, issues)
	srv.AssertRequestCount(t, "*", limited+3)
	seen, waited := 0, 0
	for i := range outs {
		n, _ := strconv.Atoi(regexp.MustCompile(`(?m)^ +all +(\d+)`).FindStringSubmatch(outs[i].String())[1])
		waits, _ := strconv.Atoi(regexp.MustCompile(`delayed (\d+) times?`).FindStringSubmatch(outs[i].String())[1])
		seen, waited = seen+n, waited+waits
	}
	assert.Equal(t, issues, seen, "each issue is read by one of them")
	assert.Positive(t, waited)
}

// TestKey: workers with another user are not held up, and the key of the limit holds no token.
func TestKey(t *testing.T) {
	srv := useServer(t, 3)
	own := miniredis.RunT(t)
	t.Setenv("REDIS_URL", "redis://"+own.Addr())
	require.NoError(t, run(t.Context(), nil, nil, io.Discard))
	t.Setenv("FORGE_TOKEN", srv.AddAdmin("other").Token)
	require.NoError(t, run(t.Context(), nil, nil, io.Discard))
	keys := own.Keys()
	assert.Len(t, keys, 2)
	assert.NotContains(t, strings.Join(keys, "\n"), srv.Token)
}

// TestFailures: what a user meets. Without Redis nothing is sent under the limit.
func TestFailures(t *testing.T) {
	srv := useServer(t, 50)
	own := miniredis.RunT(t)
	t.Setenv("REDIS_URL", "redis://:hunter2secret@"+own.Addr()+"/x/y")
	err := run(t.Context(), nil, nil, io.Discard)
	require.ErrorContains(t, err, "REDIS_URL is no address")
	assert.NotContains(t, err.Error(), "hunter2secret")
	require.ErrorContains(t, run(t.Context(), []string{"-part", "3/2"}, nil, io.Discard), "part is like 2/5")

	t.Setenv("REDIS_URL", "redis://"+own.Addr())
	own.SetError("LOADING Redis is loading the dataset in memory")
	err = run(t.Context(), nil, nil, io.Discard)
	require.ErrorIs(t, err, forge.ErrRateLimited)
	require.ErrorContains(t, err, "the shared limit cannot be asked")
	srv.AssertNoRequest(t, "GET /issues", statsRoute)

	own.SetError("")
	srv.Fail(statsRoute, forgetest.Status(403).After(5))
	require.ErrorIs(t, run(t.Context(), []string{"-rate", "1000"}, nil, io.Discard), forge.ErrForbidden)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, run(ctx, nil, nil, io.Discard), context.Canceled)
}
