package nginx

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/integration/internal/nginxtest"
)

// nginx ends a connection after a few requests, over HTTP/1.1 and HTTP/2. No call fails, and no
// write is lost or executed twice.
func TestConnectionsEndAfterRequests(t *testing.T) {
	for _, tls := range []bool{false, true} {
		t.Run(fmt.Sprintf("TLS %t", tls), func(t *testing.T) {
			p := build(t, nginxtest.Config{TLS: tls, Server: "keepalive_requests 3;" + passed})
			// The client has the default waits: with waits of a millisecond the same ending connection could
			// fail all four attempts of a call.
			client, err := p.client.With(forge.WithRetry(forge.RetryPolicy{}))
			require.NoError(t, err)
			const workers, calls = 4, 25
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for range calls {
						assert.NoError(t, spend(t, client))
						_, err := client.Issues.GetTimeStats(t.Context(), app, 1)
						assert.NoError(t, err)
					}
				})
			}
			all.Wait()
			p.srv.AssertAppliedCount(t, addSpent, workers*calls)
			spent, err := p.client.Issues.GetTimeStats(t.Context(), app, 1)
			require.NoError(t, err)
			assert.EqualValues(t, workers*calls*3600, spent.TotalTimeSpent)
			p.nginx.Stop()
			assert.GreaterOrEqual(t, connections(p.nginx), workers*calls*2/3)
		})
	}
}

// nginx closes an idle connection at the moment when the next call uses it. Reads and idempotent
// writes succeed. A non-idempotent write succeeds or is an error, and is never executed twice.
func TestConnectionsEndWhenIdle(t *testing.T) {
	const idle = 5 * time.Millisecond
	p := build(t, nginxtest.Config{Server: "keepalive_timeout 5ms;" + passed})
	done, unsure := 0, 0
	for i := range 150 {
		_, err := p.client.Issues.GetTimeStats(t.Context(), app, 1)
		require.NoError(t, err)
		time.Sleep(idle - time.Millisecond + time.Duration(i%8)*250*time.Microsecond)
		if err = spend(t, p.client); err == nil {
			done++
			continue
		}
		var failed *forge.Error
		require.ErrorAs(t, err, &failed)
		require.True(t, failed.MaybeApplied)
		unsure++
	}
	effects := p.srv.CountApplied(addSpent)
	assert.GreaterOrEqual(t, effects, done)
	assert.LessOrEqual(t, effects, done+unsure)
	assert.Equal(t, p.srv.CountRequests(addSpent), effects)
	p.nginx.Stop()
	assert.Greater(t, connections(p.nginx), 50, "nginx closes the connections")
	t.Logf("%d done, %d unsure, %d effects, %d connections", done, unsure, effects, connections(p.nginx))
}

// connections counts the connections in the log of nginx.
func connections(s *nginxtest.Server) int {
	seen := map[string]bool{}
	for _, line := range s.AccessLog() {
		number, _, _ := strings.Cut(line, " ")
		seen[number] = true
	}
	return len(seen)
}

// Lists are the same with and without compression, over HTTP/1.1 and HTTP/2.
func TestCompression(t *testing.T) {
	var lists [][]string
	for _, test := range []struct {
		gzip string
		tls  bool
	}{{"off", false}, {"on", false}, {"on", true}} {
		p := build(t, nginxtest.Config{TLS: test.tls, Server: "gzip " + test.gzip + `; gzip_types *; gzip_proxied any; gzip_min_length 1;
			location / { proxy_pass http://$UPSTREAM; proxy_set_header Accept-Encoding ""; }`})
		p.app.AddIssues(220, nil)
		var titles []string
		for issue, err := range p.client.Issues.List(t.Context(), &forge.ListIssuesOptions{Scope: forge.ScopeAll}, forge.Ahead(4)) {
			require.NoError(t, err)
			titles = append(titles, fmt.Sprint(issue.IID, issue.Title, issue.References.Full))
		}
		require.Len(t, titles, 223)
		lists = append(lists, titles)
		p.nginx.Stop()
		compressed := slices.ContainsFunc(p.nginx.AccessLog(), func(line string) bool { return strings.HasSuffix(line, "gzip") })
		assert.Equal(t, test.gzip == "on", compressed)
	}
	assert.Equal(t, lists[0], lists[1])
	assert.Equal(t, lists[0], lists[2])
}
