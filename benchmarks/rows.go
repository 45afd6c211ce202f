package main

import (
	"context"
	"net/http"

	"github.com/forge-sdk/forge-go"
)

// noServer is the address of a client whose transport is memory.
const noServer = "https://forge.example.com"

// bench is the environment of the rows.
type bench struct {
	server string
	rounds int
	quick  bool
	exact  bool // only lines that do not depend on the load are kept
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
		{"20,000 audit events, 5 ms a page and 5 ms of work", listEventsWorking},
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

// exactRows have lines that do not depend on the load of the machine.
var exactRows = []string{
	"one issue, served from memory", "one registry tag, served from memory", "issue query with 20 filters",
	"building a client", "hello world, built", "hello world, run", "unknown fields", "application settings", "a first retry", "error paths",
	"logging and hooks",
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
func lineOf(taken map[string]median, ours, what string, pick metric, show unit) line {
	return line{
		what: what, show: show, ours: taken[ours].of(pick), hand: taken[handName].of(pick), v2: taken[v2Name].of(pick),
		peer: taken[peerName].of(pick), hub: taken[githubName].of(pick),
	}
}

// costs returns the lines of wall time, CPU and allocations.
func costs(taken map[string]median, ours, suffix string) []line {
	return []line{
		lineOf(taken, ours, "wall"+suffix, wall, showTime),
		lineOf(taken, ours, "CPU"+suffix, cpu, showTime),
		lineOf(taken, ours, "allocations"+suffix, allocs, showCount),
	}
}

// issueFromMemory decodes the issues of the first page, one with each call.
func issueFromMemory(ctx context.Context, b *bench) ([]line, error) {
	docs := someIssues(perPage)
	hub := documents{"github issue", perPage, githubIssue}
	contenders := []contender{
		{forgeName, newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: fromDocuments(docs)})).issue},
		{handName, newHand(noServer, fromDocuments(docs)).issue},
		{peerName, newPeer(noServer, withTransport(fromDocuments(docs))).issue},
		{githubName, newGitHub(noServer, fromDocuments(hub)).issue},
	}
	contenders = withV2(contenders, noServer, func() http.RoundTripper { return fromDocuments(docs) }, func(c *byHand) work { return c.issue })
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(400, 200), sent: docs}.run(ctx, contenders)
	lines := costs(taken, forgeName, "")
	lines[1].handTarget, lines[1].peerTarget = 0.30, 0.07
	lines[2].limit, lines[2].exact = 40, true
	return lines, err
}

func tagFromMemory(ctx context.Context, b *bench) ([]line, error) {
	docs := oneTag()
	contenders := []contender{
		{forgeName, newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: fromDocuments(docs)})).tag},
		{handName, newHand(noServer, fromDocuments(docs)).tag},
		{peerName, newPeer(noServer, withTransport(fromDocuments(docs))).tag},
	}
	contenders = withV2(contenders, noServer, func() http.RoundTripper { return fromDocuments(docs) }, func(c *byHand) work { return c.tag })
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000), sent: docs}.run(ctx, contenders)
	lines := costs(taken, forgeName, "")
	lines[1].handTarget, lines[1].peerTarget = 0.40, 0.25
	// The floor of allocations is the code by hand, on every release.
	lines[2].limit, lines[2].handTarget, lines[2].exact = 25, 1, true
	return lines, err
}

// issueOverLoopback has no target: the two processes and the system's scheduler decide it.
func issueOverLoopback(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	contenders := []contender{
		{forgeName, newOurs(base).issue},
		{handName, newHand(base, transport()).issue},
		{peerName, newPeer(base).issue},
		{githubName, newGitHub(base, transport()).issue},
	}
	contenders = withV2(contenders, base, transport, func(c *byHand) work { return c.issue })
	taken, err := race{rounds: 6 * b.rounds, times: b.scaled(200, 100), sent: someIssues(1)}.run(ctx, contenders)
	lines := costs(taken, forgeName, "")
	lines[0].noisy = true
	return lines, err
}
