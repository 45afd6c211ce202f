package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"github.com/forge-sdk/forge-go"
)

func listIssues(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(10_000, 2000)
	base := b.at("n" + strconv.Itoa(n))
	contenders := []contender{
		{forgeName, newOurs(base).issues()}, {handName, newHand(base, transport()).issues}, {peerName, newPeer(base).issues},
	}
	if hasV2 {
		contenders = append(contenders, contender{v2Name, newV2(base, transport()).issues})
	}
	taken, err := race{rounds: min(b.rounds, 5), times: 1, sent: someIssues(n)}.run(ctx, contenders)
	lines := append([]line{lineOf(taken, forgeName, "wall", wall, inTime)}, costs(taken, "")...)
	used, count := &lines[1], &lines[2]
	count.What = "allocations an issue"
	for _, figure := range []*float64{&count.Forge, &count.Hand, &count.V2, &count.Peer} {
		*figure /= float64(n)
	}
	used.HandTarget, used.V2Target, used.PeerTarget, count.Limit = 0.33, 0.50, 0.07, 12
	return lines, err
}

func ahead(n int) string { return fmt.Sprintf("Ahead(%d)", n) }

// pooled returns a plain transport that keeps n idle connections, as code by hand needs for n
// concurrent requests.
func pooled(n int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, n
	return t
}

// listSlow compares each Ahead with sequential contenders.
func listSlow(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(10_000, 5000)
	base, widths := b.at("d20.n"+strconv.Itoa(n)), []int{4, 8, 16}
	contenders := []contender{
		{forgeName, newOurs(base).issues()}, {handName, newHand(base, transport()).issues}, {peerName, newPeer(base).issues},
	}
	for _, w := range widths {
		contenders = append(contenders, contender{ahead(w), newOurs(base).issues(forge.Ahead(w))})
	}
	taken, err := race{rounds: 2, times: 1, sent: someIssues(n)}.run(ctx, contenders)
	lines := []line{lineOf(taken, forgeName, "wall", wall, inTime), lineOf(taken, forgeName, "CPU", cpu, inTime)}
	for i, w := range widths {
		sequential := lineOf(taken, ahead(w), "wall, "+ahead(w)+", the others one page after the other", wall, inTime)
		sequential.HandTarget, sequential.PeerTarget = []float64{0.27, 0.15, 0.09}[i], []float64{0, 0, 0.07}[i]
		lines = append(lines, sequential)
	}
	return lines, err
}
