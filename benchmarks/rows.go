package main

import (
	"context"
	"fmt"
	"io"
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
}

// row measures one work and returns its lines of the table. An exact row has lines that do not
// depend on the load of the machine.
type row struct {
	name  string
	exact bool
	run   func(context.Context, *bench) ([]line, error)
}

func rows() []row {
	return []row{
		{"one issue, served from memory", true, issueFromMemory},
		{"one issue over loopback", false, issueOverLoopback},
		{"a GET of HTTPClient, served from memory", true, getFromMemory},
		{"10,000 issues, no latency", false, listIssues},
		{"10,000 issues, 20 ms a page", false, listSlow},
		{"mixed reads and writes, 64 goroutines", false, mixedAtOnce},
		{"archive of 1 GiB", false, download},
		{"issue query with 20 filters", true, filters},
		{"application settings", true, applicationSettings},
		{"memory while ranging over issues", false, memoryOfLists},
		{"hello world, built", true, helloBuilt},
		{"the program forgetest", false, testServerRow},
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
func lineOf(taken map[string]median, ours, what string, pick metric, show unit) line {
	return line{
		What: what, Unit: show, Forge: taken[ours].of(pick), Hand: taken[handName].of(pick), V2: taken[v2Name].of(pick), Peer: taken[peerName].of(pick),
	}
}

// costs returns the lines of CPU and allocations.
func costs(taken map[string]median, suffix string) []line {
	return []line{
		lineOf(taken, forgeName, "CPU"+suffix, cpu, inTime),
		lineOf(taken, forgeName, "allocations"+suffix, allocs, inCount),
	}
}

// overMemory returns a client of this module that is served from memory.
func overMemory(m *memory) *ours {
	return newOurs(noServer, forge.WithHTTPClient(&http.Client{Transport: m}))
}

// issueFromMemory decodes the issues of the first page, one with each call.
func issueFromMemory(ctx context.Context, b *bench) ([]line, error) {
	docs := someIssues(perPage)
	contenders := []contender{
		{forgeName, overMemory(fromDocuments(docs)).issue},
		{handName, newHand(noServer, fromDocuments(docs)).issue},
		{peerName, newPeer(noServer, withTransport(fromDocuments(docs))).issue},
	}
	if hasV2 {
		contenders = append(contenders, contender{v2Name, newV2(noServer, fromDocuments(docs)).issue})
	}
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(400, 200), sent: docs}.run(ctx, contenders)
	lines := costs(taken, "")
	lines[0].HandTarget, lines[0].PeerTarget = 0.30, 0.07
	lines[1].Limit, lines[1].Exact = 44, true // 15 of them for the loop of go-retryablehttp
	return lines, err
}

// issueOverLoopback has no target: the two processes and the system's scheduler decide it.
func issueOverLoopback(ctx context.Context, b *bench) ([]line, error) {
	base := b.at("n1")
	contenders := []contender{
		{forgeName, newOurs(base).issue}, {handName, newHand(base, transport()).issue}, {peerName, newPeer(base).issue},
	}
	if hasV2 {
		contenders = append(contenders, contender{v2Name, newV2(base, transport()).issue})
	}
	taken, err := race{rounds: 6 * b.rounds, times: b.scaled(200, 100), sent: someIssues(1)}.run(ctx, contenders)
	took := lineOf(taken, forgeName, "wall", wall, inTime)
	took.Noisy = true
	return append([]line{took}, costs(taken, "")...), err
}

// getFromMemory compares a GET of other code through the client with the same GET of net/http. The
// response is not decoded.
func getFromMemory(ctx context.Context, b *bench) ([]line, error) {
	answer := fromMemory(tagDocument)
	get := func(client *http.Client) work {
		return func(ctx context.Context, d *digest) error {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, noServer+"/api/v4"+tagPath, http.NoBody)
			if err != nil {
				return err
			}
			resp, err := client.Do(req)
			if err != nil {
				return err
			}
			defer resp.Body.Close()
			n, err := io.Copy(io.Discard, resp.Body)
			if err == nil && n != int64(len(tagDocument)) {
				err = fmt.Errorf("a response of %d bytes", n)
			}
			d.item(nil)
			return err
		}
	}
	taken, err := race{rounds: 5 * b.rounds, times: b.scaled(2000, 1000)}.run(ctx, []contender{
		{forgeName, get(overMemory(answer).client.HTTPClient())}, {handName, get(&http.Client{Transport: answer})},
	})
	lines := costs(taken, "")
	lines[1].Exact = true
	return lines, err
}
