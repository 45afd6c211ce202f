package main

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/forge-sdk/forge-go"
)

func listIssues(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(10_000, 2000)
	base := b.at("n" + strconv.Itoa(n))
	contenders := []contender{
		{forgeName, newOurs(base).issues()},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
		{githubName, newGitHub(base, transport()).issues},
		{rawName, newHand(base, transport()).discard},
	}
	contenders = withV2(contenders, base, transport, func(c *byHand) work { return c.issues })
	taken, err := race{rounds: min(b.rounds, 5), times: 1, sent: someIssues(n)}.run(ctx, contenders)
	lines := costs(taken, forgeName, "")
	count := &lines[2]
	count.what = "allocations an issue"
	for _, figure := range []*float64{&count.ours, &count.hand, &count.v2, &count.peer, &count.hub} {
		*figure /= float64(n)
	}
	used := &lines[1]
	used.handTarget, used.v2Target, used.peerTarget, count.limit = 0.33, 0.50, 0.07, 12
	// The floor: code by hand that reads the pages and decodes nothing.
	lines[0].floor, used.floor = taken[rawName].of(wall), taken[rawName].of(cpu)
	return lines, err
}

// listZipped has sequential contenders, and prefetching of 8 pages by forge and by hand.
func listZipped(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(10_000, 2000)
	base := b.at("gz.n" + strconv.Itoa(n))
	contenders := []contender{
		{forgeName, newOurs(base).issues()},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
		{ahead(8), newOurs(base).issues(forge.Ahead(8))},
		{handAhead(8), newHand(base, pooled(8)).issuesAhead(8)},
	}
	contenders = withV2(contenders, base, transport, func(c *byHand) work { return c.issues })
	taken, err := race{rounds: min(b.rounds, 5), times: 1, sent: someIssues(n)}.run(ctx, contenders)
	lines := costs(taken, forgeName, "")
	lines[1].handTarget = 0.45
	parallel := costs(prefetched(taken, 8), ahead(8), ", Ahead(8), by hand with 8 goroutines")
	parallel[0].handTarget, parallel[1].handTarget = 0.60, 0.45
	sequential := lineOf(taken, ahead(8), "wall, Ahead(8), the others one page after the other", wall, showTime)
	sequential.handTarget = 0.30
	return append(append(lines, parallel...), sequential), err
}

func ahead(n int) string     { return fmt.Sprintf("Ahead(%d)", n) }
func handAhead(n int) string { return fmt.Sprintf("by hand with %d goroutines", n) }

// prefetched returns the figures of the contenders that prefetch n pages.
func prefetched(taken map[string]median, n int) map[string]median {
	return map[string]median{ahead(n): taken[ahead(n)], handName: taken[handAhead(n)]}
}

// pooled returns a plain transport that keeps n idle connections, as code by hand needs for n
// concurrent requests.
func pooled(n int) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, n
	return t
}

const latency = 20 * time.Millisecond

// listSlow compares each Ahead with sequential contenders, with code by hand that prefetches as
// many pages, and with the ideal, in which no time but the latency passes.
func listSlow(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(10_000, 5000)
	widths := []int{4, 8, 16}
	taken, err := race{rounds: 2, times: 1, sent: someIssues(n)}.run(ctx, slowContenders(b.at("d20.n"+strconv.Itoa(n)), widths))
	lines := costs(taken, forgeName, "")
	lines[0].floor, lines[0].floorTarget = ideal(n/perPage, 1), 1.15
	for i, w := range widths {
		sequential := lineOf(taken, ahead(w), "wall, "+ahead(w)+", the others one page after the other", wall, showTime)
		sequential.handTarget, sequential.peerTarget = []float64{0.27, 0.15, 0.09}[i], []float64{0, 0, 0.07}[i]
		equal := costs(prefetched(taken, w), ahead(w), fmt.Sprintf(", %s, %s", ahead(w), handAhead(w)))
		// No slower than a prefetch by hand. 16 pages need more CPU than 2 cores have within the
		// ideal, so their ratio with it is reported only.
		equal[0].handTarget, equal[1].handTarget = 1, 0.45
		equal[0].floor, equal[0].floorTarget = ideal(n/perPage, w), []float64{1.25, 1.25, 0}[i]
		lines = append(append(lines, sequential), equal...)
	}
	return lines, err
}

// slowContenders are sequential, or prefetch as many pages as the widths.
func slowContenders(base string, widths []int) []contender {
	contenders := []contender{
		{forgeName, newOurs(base).issues()},
		{handName, newHand(base, transport()).issues},
		{peerName, newPeer(base).issues},
	}
	contenders = withV2(contenders, base, transport, func(c *byHand) work { return c.issues })
	for _, w := range widths {
		contenders = append(contenders, contender{ahead(w), newOurs(base).issues(forge.Ahead(w))},
			contender{handAhead(w), newHand(base, pooled(w)).issuesAhead(w)})
	}
	return contenders
}

// ideal returns the latency of a list in which the first page is alone, and w others are in
// transit.
func ideal(pages, w int) float64 { return float64(latency) * float64(1+(pages-1+w-1)/w) }

func listEvents(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(100_000, 10_000)
	base := b.at("n" + strconv.Itoa(n))
	contenders := []contender{
		{forgeName, newOurs(base).events()},
		{handName, newHand(base, transport()).events},
		{peerName, newPeer(base).events},
	}
	contenders = withV2(contenders, base, transport, func(c *byHand) work { return c.events })
	taken, err := race{rounds: b.scaled(5, 3), times: 1, sent: someEvents(n)}.run(ctx, contenders)
	lines := costs(taken, forgeName, "")
	lines[0].handTarget, lines[0].peerTarget = 0.45, 0.30
	lines[1].handTarget = 0.45
	return lines, err
}

// listEventsWorking has a caller that works on each page for about 5 ms. The work is the same for
// both, and needs a core.
func listEventsWorking(ctx context.Context, b *bench) ([]line, error) {
	n := b.scaled(20_000, 5000)
	base := b.at("d5.n" + strconv.Itoa(n))
	contenders := []contender{
		{forgeName, newOurs(base).events(forge.Ahead(1))},
		{handName, newHand(base, transport()).events},
	}
	contenders = withV2(contenders, base, transport, func(c *byHand) work { return c.events })
	taken, err := race{rounds: b.scaled(5, 2), times: 1, pause: 5 * time.Millisecond, sent: someEvents(n)}.run(ctx, contenders)
	lines := costs(taken, forgeName, ", Ahead(1)")
	lines[0].handTarget = 0.60
	return lines, err
}
