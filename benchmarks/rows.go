package main

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// bench is the environment of the rows.
type bench struct {
	server string
	rounds int
	quick  bool
}

// row measures one work and returns its lines of the table.
type row struct {
	name string
	run  func(context.Context, *bench) ([]line, error)
}

func rows() []row {
	return []row{
		{"one issue, served from memory", issueFromMemory},
		{"one registry tag, served from memory", tagFromMemory},
		{"one issue over loopback", issueOverLoopback},
		{"10,000 issues, no latency", listIssues},
		{"10,000 issues, gzipped", listZipped},
		{"10,000 issues, 20 ms a page", listSlow},
		{"100,000 audit events by keyset", listEvents},
		{"100,000 audit events, 5 ms a page and 5 ms of work", listEventsWorking},
		{"20,000 calls of 64 goroutines", callAtOnce},
		{"archive of 1 GiB", download},
		{"upload of 5 MB", upload},
		{"issue query with 20 filters", filters},
		{"memory while ranging over issues", memoryOfLists},
		{"building a client", buildClient},
		{"hello world, built", helloBuilt},
		{"hello world, run", helloStarted},
		{"text in several scripts", scripts},
		{"unknown fields", unknownFields},
		{"changes with 50 MB of diffs", changes},
		{"application settings", applicationSettings},
		{"a first retry", firstRetry},
		{"error paths", errorPaths},
		{"logging and hooks", observers},
		{"1,000 clients", manyClients},
		{"TLS handshakes", handshakes},
		{"mixed reads and writes, 64 goroutines", mixedAtOnce(64)},
		{"mixed reads and writes, 256 goroutines", mixedAtOnce(256)},
		{"fan-out over 1,000 projects", fanOutRow},
		{"tail latency under faults", underFaults},
		{"forgetest itself", embedded},
	}
}

// scaled returns n, or quick in a quick run.
func (b *bench) scaled(n, quick int) int {
	if b.quick {
		return quick
	}
	return n
}

// at returns the server's address with settings.
func (b *bench) at(settings string) string { return b.server + "/" + settings }

// lineOf returns a line with the medians of a metric. ours is the name of the contender with this
// client.
func lineOf(taken map[string]median, ours, what string, pick metric, show func(float64) string) line {
	return line{
		what: what, show: show, ours: taken[ours].of(pick), hand: taken[handName].of(pick),
		peer: taken[peerName].of(pick), hub: taken[githubName].of(pick),
	}
}

func issueFromMemory(ctx context.Context, b *bench) ([]line, error) {
	answer, hub := fromMemory(issue(0)), fromMemory(githubIssue(0))
	const base = "https://forge.example.com"
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(1000, 300)}.run(ctx, []contender{
		{forgeName, newOurs(base, forge.WithHTTPClient(&http.Client{Transport: answer})).issue},
		{handName, newHand(base, answer).issue},
		{peerName, newPeer(base, withTransport(answer)).issue},
		{githubName, newGitHub(base, hub).issue},
	})
	time, count := lineOf(taken, forgeName, "CPU", cpu, showTime), lineOf(taken, forgeName, "allocations", allocs, showCount)
	time.handTarget, time.peerTarget, count.limit = 0.30, 0.08, 40
	return []line{time, count}, err
}

func tagFromMemory(ctx context.Context, b *bench) ([]line, error) {
	answer := fromMemory(tagDocument)
	const base = "https://forge.example.com"
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000)}.run(ctx, []contender{
		{forgeName, newOurs(base, forge.WithHTTPClient(&http.Client{Transport: answer})).tag},
		{handName, newHand(base, answer).tag},
		{peerName, newPeer(base, withTransport(answer)).tag},
	})
	time, count := lineOf(taken, forgeName, "CPU", cpu, showTime), lineOf(taken, forgeName, "allocations", allocs, showCount)
	time.handTarget, time.peerTarget, count.limit = 0.60, 0.45, 25
	return []line{time, count}, err
}

func issueOverLoopback(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	taken, err := race{rounds: 3 * b.rounds, times: b.scaled(1000, 300)}.run(ctx, []contender{
		{forgeName, newOurs(base).issue},
		{handName, newHand(base, transport()).issue},
		{peerName, newPeer(base).issue},
		{githubName, newGitHub(base, transport()).issue},
	})
	time := lineOf(taken, forgeName, "wall", wall, showTime)
	time.handTarget, time.peerTarget = 0.80, 0.50
	return []line{time}, err
}

func listIssues(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(10_000, 2000)
	base := b.at("n" + strconv.Itoa(n))
	taken, err := race{rounds: b.rounds, times: 1}.run(ctx, []contender{
		{forgeName, newOurs(base).issues()},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
		{githubName, newGitHub(base, transport()).issues},
		{rawName, newHand(base, transport()).discard},
	})
	time, count := lineOf(taken, forgeName, "CPU", cpu, showTime), lineOf(taken, forgeName, "allocations an issue", allocs, showCount)
	raw := lineOf(taken, rawName, "CPU of the transport alone, nothing decoded", cpu, showTime)
	raw.peer, raw.hub = 0, 0
	for _, figure := range []*float64{&count.ours, &count.hand, &count.peer, &count.hub} {
		*figure /= float64(n)
	}
	time.handTarget, time.peerTarget, count.limit = 0.33, 0.09, 25
	return []line{time, count, raw}, err
}

func listZipped(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("gz.n" + strconv.Itoa(b.scaled(10_000, 2000)))
	taken, err := race{rounds: b.rounds, times: 1}.run(ctx, []contender{
		{forgeName, newOurs(base).issues(forge.Ahead(8))},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
	})
	time := lineOf(taken, forgeName, "wall, Ahead(8)", wall, showTime)
	time.handTarget = 0.30
	return []line{time}, err
}

func listSlow(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("d20.n" + strconv.Itoa(b.scaled(10_000, 5000)))
	contenders := []contender{
		{forgeName, newOurs(base).issues()},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
	}
	for _, n := range []int{4, 8, 16} {
		contenders = append(contenders, contender{ahead(n), newOurs(base).issues(forge.Ahead(n))})
	}
	taken, err := race{rounds: b.scaled(5, 2), times: 1}.run(ctx, contenders)
	lines := []line{lineOf(taken, forgeName, "wall", wall, showTime)}
	for i, n := range []int{4, 8, 16} {
		l := lineOf(taken, ahead(n), "wall, "+ahead(n), wall, showTime)
		l.handTarget, l.peerTarget = []float64{0.27, 0.15, 0.09}[i], []float64{0, 0, 0.07}[i]
		lines = append(lines, l)
	}
	return lines, err
}

func ahead(n int) string { return fmt.Sprintf("Ahead(%d)", n) }

func listEvents(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n" + strconv.Itoa(b.scaled(100_000, 10_000)))
	taken, err := race{rounds: b.scaled(5, 3), times: 1}.run(ctx, []contender{
		{forgeName, newOurs(base).events()},
		{handName, newHand(base, transport()).events},
		{peerName, newPeer(base).events},
	})
	time := lineOf(taken, forgeName, "wall", wall, showTime)
	time.handTarget, time.peerTarget = 0.45, 0.30
	return []line{time}, err
}

func listEventsWorking(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("d5.n" + strconv.Itoa(b.scaled(100_000, 10_000)))
	taken, err := race{rounds: b.scaled(3, 2), times: 1, pause: 5 * time.Millisecond}.run(ctx, []contender{
		{forgeName, newOurs(base).events(forge.Ahead(1))},
		{handName, newHand(base, transport()).events},
	})
	time := lineOf(taken, forgeName, "wall, Ahead(1)", wall, showTime)
	time.handTarget = 0.60
	return []line{time}, err
}

// callAtOnce counts connections: those that concurrent calls open when none is idle, and those that
// the same calls open when they run again. Each client has the defaults of its constructor; "by
// hand" is http.DefaultTransport. Other work on the machine adds connections, so the figure of
// forge is the minimum of 3 rounds.
func callAtOnce(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	cold := line{what: "connections opened", show: showCount, limit: 102, peerTarget: 0.02} // 1.6 for each goroutine
	warm := line{what: "connections opened, again", show: showCount, limit: 67}             // 1.05
	forge := newOurs(base)
	for _, c := range []struct {
		do         work
		rounds     int
		cold, warm *float64
	}{
		{forge.issue, b.scaled(3, 1), &cold.ours, &warm.ours},
		{newHand(base, transport()).issue, 1, &cold.hand, &warm.hand},
		{newPeer(base).issue, 1, &cold.peer, &warm.peer},
	} {
		*c.cold, *c.warm = math.Inf(1), math.Inf(1)
		for range c.rounds {
			forge.client.CloseIdleConnections()
			for _, figure := range []*float64{c.cold, c.warm} {
				n, err := b.openedBy(ctx, c.do)
				if err != nil {
					return nil, err
				}
				*figure = min(*figure, n)
			}
		}
	}
	return []line{cold, warm}, nil
}

// openedBy returns the number of connections that 20,000 calls of 64 goroutines open.
func (b *bench) openedBy(ctx context.Context, do work) (float64, error) {
	if _, err := b.opened(ctx); err != nil {
		return 0, err
	}
	if err := atOnce(ctx, do, 64, b.scaled(20_000, 2000)); err != nil {
		return 0, err
	}
	n, err := b.opened(ctx)
	return n - 1, err // without the connection of this query
}

// opened returns the number of connections that the server has accepted since the last query.
func (b *bench) opened(ctx context.Context) (n float64, err error) {
	hand := newHand(b.server, &http.Transport{DisableKeepAlives: true})
	err = hand.send(ctx, http.MethodGet, b.at("opened"), http.NoBody, "", func(answer *http.Response) error {
		_, err := fmt.Fscan(answer.Body, &n)
		return err
	})
	return n, err
}

func atOnce(ctx context.Context, do work, goroutines, calls int) error {
	var running sync.WaitGroup
	var left atomic.Int64
	var failed atomic.Pointer[error]
	left.Store(int64(calls))
	for range goroutines {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				if err := do(ctx, &digest{}); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}

func download(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	taken, err := race{rounds: b.scaled(31, 3), times: 1}.run(ctx, []contender{
		{forgeName, newOurs(base).archive},
		{handName, newHand(base, transport()).archive},
		{peerName, newPeer(base).archive},
	})
	if err != nil {
		return nil, err
	}
	time := lineOf(taken, forgeName, "wall", wall, showTime)
	time.handTarget = 1.05
	memory := line{what: "memory above start", show: showBytes, limit: 2 << 20}
	for name, figure := range map[string]*float64{"archive forge": &memory.ours, "archive hand": &memory.hand} {
		grown, err := child(ctx, name, base)
		if err != nil {
			return nil, err
		}
		*figure = grown.above
	}
	return []line{time, memory}, nil
}

func upload(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	taken, err := race{rounds: 3 * b.rounds, times: 4}.run(ctx, []contender{
		{forgeName, newOurs(base).upload},
		{handName, newHand(base, transport()).upload},
		{peerName, newPeer(base).upload},
	})
	bytes, time := lineOf(taken, forgeName, "bytes allocated", heap, showBytes), lineOf(taken, forgeName, "wall", wall, showTime)
	bytes.limit, bytes.peerTarget, time.handTarget = 128<<10, 0.02, 0.6
	return []line{bytes, time}, err
}

func buildClient(ctx context.Context, b *bench) ([]line, error) {
	build := func(f func() error) work {
		return func(_ context.Context, d *digest) error {
			d.count++
			return f()
		}
	}
	taken, err := race{rounds: 5 * b.rounds, times: 2000}.run(ctx, []contender{
		{forgeName, build(func() error {
			_, err := forge.NewClient("https://forge.example.com", forge.WithToken(token))
			return err
		})},
		{peerName, build(func() error {
			_, err := gitlab.NewClient(token, gitlab.WithBaseURL("https://forge.example.com"))
			return err
		})},
		{handName, build(func() error {
			_, err := url.Parse("https://forge.example.com")
			return err
		})},
	})
	l := lineOf(taken, forgeName, "CPU", cpu, showTime)
	l.limit, l.hand = 2000, 0
	return []line{l}, err
}
