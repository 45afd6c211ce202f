package main

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

const fanWidth = 32 // calls of a fan-out at the same time

// fanOut returns a work that reads a tag of each project once.
func fanOut(projects int, read func(ctx context.Context, project int64) (any, error)) work {
	return func(ctx context.Context, d *digest) error {
		var running sync.WaitGroup
		var failed atomic.Pointer[error]
		free, tags := make(chan struct{}, fanWidth), make([]any, projects)
		for project := range projects {
			free <- struct{}{}
			running.Go(func() {
				defer func() { <-free }()
				tag, err := read(ctx, int64(project+1))
				if tags[project] = tag; err != nil {
					failed.Store(&err)
				}
			})
		}
		running.Wait()
		if err := failed.Load(); err != nil {
			return *err
		}
		for _, tag := range tags {
			d.item(tag)
		}
		return nil
	}
}

func (c *ours) projectTag(ctx context.Context, project int64) (any, error) {
	return c.client.Registry.GetTag(ctx, forge.ID(project), 7, "release/1.0")
}

func (c *byHand) projectTag(ctx context.Context, project int64) (any, error) {
	tag, path := new(handTag), "/api/v4/projects/"+strconv.FormatInt(project, 10)+"/registry/repositories/7/tags/release%2F1.0"
	return tag, c.decode(ctx, http.MethodGet, c.base+path, http.NoBody, "", tag)
}

func (c *peer) projectTag(ctx context.Context, project int64) (any, error) {
	tag, _, err := c.client.ContainerRegistry.GetRegistryRepositoryTagDetail(project, 7, "release/1.0", gitlab.WithContext(ctx))
	return tag, err
}

// fanOutRow measures calls to 1,000 projects, 32 at the same time, of a server that responds after
// 20 ms. The ideal is 20 ms for each 32 calls.
func fanOutRow(ctx context.Context, b *bench) ([]line, error) {
	projects, base := b.scaled(1000, 320), b.at("d20.n1")
	ideal := float64(latency) * math.Ceil(float64(projects)/fanWidth)
	sent := documents{"tag", projects, oneTag().at}
	contenders := []contender{
		{forgeName, fanOut(projects, newOurs(base).projectTag)},
		{handName, fanOut(projects, newHand(base, pooled(fanWidth)).projectTag)},
		{defaultPool, fanOut(projects, newHand(base, transport()).projectTag)},
		{peerName, fanOut(projects, newPeer(base).projectTag)},
	}
	contenders = withV2(contenders, base, func() http.RoundTripper { return pooled(fanWidth) }, func(c *byHand) work { return fanOut(projects, c.projectTag) })
	taken, err := race{rounds: b.scaled(7, 5), times: 1, sent: sent}.run(ctx, contenders)
	if err != nil {
		return nil, err
	}
	overIdeal := func(f figures) float64 { return float64(f.wall) / ideal }
	l := lineOf(taken, forgeName, "wall ÷ ideal", overIdeal, showRatio)
	l.limit = 1.1
	time := lineOf(taken, forgeName, "CPU a call", func(f figures) float64 { return float64(f.cpu) / float64(projects) }, showTime)
	pool := line{what: "wall ÷ ideal, by hand with the " + defaultPool, show: showRatio, ours: l.ours, hand: taken[defaultPool].of(overIdeal)}
	return []line{l, pool, time}, nil
}

// timed sends calls from several goroutines and records how long each takes, and how many fail.
func timed(ctx context.Context, do work, goroutines, calls int) (latencies []float64, failures int) {
	var running sync.WaitGroup
	var next, failed atomic.Int64
	latencies = make([]float64, calls)
	for range goroutines {
		running.Go(func() {
			for i := next.Add(1); i <= int64(calls); i = next.Add(1) {
				start := time.Now()
				if do(ctx, &digest{}) != nil {
					failed.Add(1)
				}
				latencies[i-1] = float64(time.Since(start))
			}
		})
	}
	running.Wait()
	return latencies, int(failed.Load())
}

// underFaults measures calls that only read, of a server that fails some of them: the latencies,
// and how many calls fail. All clients have their default limits and waits. By hand, nothing is
// retried but what net/http retries.
func underFaults(ctx context.Context, b *bench) ([]line, error) {
	const goroutines = 64
	calls, base := b.scaled(5000, 1000), b.at("faults.n1")
	whole := b.at("n1")
	if err := (race{sent: oneTag()}).agree(ctx, []contender{{forgeName, newOurs(whole).tag}, {handName, newHand(whole, transport()).tag}, {peerName, newPeer(whole).tag}}); err != nil {
		return nil, err
	}
	half := line{what: "latency, median", show: showTime, noisy: true}
	tail := line{what: "latency, 99th percentile", show: showTime, noisy: true}
	failures := line{what: "failed calls", show: showCount, limit: none, noisy: true}
	for _, c := range []struct {
		do               work
		half, tail, fail *float64
	}{
		{newOurs(base).tag, &half.ours, &tail.ours, &failures.ours},
		{newHand(base, pooled(goroutines)).tag, &half.hand, &tail.hand, &failures.hand},
		{newPeer(base).tag, &half.peer, &tail.peer, &failures.peer},
	} {
		latencies, failed := timed(ctx, c.do, goroutines, calls)
		*c.half, *c.fail = middle(latencies), float64(failed)
		*c.tail = latencies[len(latencies)*99/100] // sorted by middle
	}
	if failures.hand == 0 {
		return nil, errors.New("the server has not failed")
	}
	return []line{half, tail, failures}, nil
}
