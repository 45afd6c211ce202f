package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strconv"

	gitlab "gitlab.com/gitlab-org/api/client-go/v2"

	"github.com/forge-sdk/forge-go"
)

// buildClient has a floor that is independent of this client: the smallest call by hand, served
// from memory. A program that makes a client for each request should pay at most as much for it as
// for the request. By hand, a client is an address that is parsed, and an http.Client.
func buildClient(ctx context.Context, b *bench) ([]line, error) {
	var kept any // so that the compiler removes no client
	build := func(f func() (any, error)) work {
		return func(_ context.Context, d *digest) (err error) {
			d.add("", "", 0, 0)
			kept, err = f()
			return err
		}
	}
	taken, err := race{rounds: 5 * b.rounds, times: 2000}.run(ctx, []contender{
		{forgeName, build(func() (any, error) { return forge.NewClient(noServer, forge.WithToken(token)) })},
		{peerName, build(func() (any, error) { return gitlab.NewClient(token, gitlab.WithBaseURL(noServer)) })},
		{handName, build(func() (any, error) {
			address, err := url.Parse(noServer)
			return &handClient{address, &http.Client{}}, err
		})},
	})
	_ = kept
	if err != nil {
		return nil, err
	}
	docs := oneTag()
	call, err := race{rounds: 5 * b.rounds, times: 2000, sent: docs}.run(ctx, []contender{{handName, newHand(noServer, fromDocuments(docs)).tag}})
	lines := costs(taken, forgeName, "")
	for i, pick := range []metric{wall, cpu, allocs} {
		lines[i].floor = call[handName].of(pick)
	}
	lines[1].limit, lines[1].floorTarget = 2000, 1
	lines[2].limit, lines[2].exact = 40, true
	return lines, err
}

type handClient struct {
	base *url.URL
	http *http.Client
}

// manyClients measures 1,000 clients, each with its own token and one call: the memory that stays
// in use, and the CPU time.
func manyClients(ctx context.Context, b *bench) ([]line, error) {
	const clients = 1000
	answer := fromMemory(tagDocument)
	kept := make([]any, clients)
	build := map[string]func(i int) (client any, do work){
		forgeName: func(i int) (any, work) {
			c := &ours{must(forge.NewClient(noServer, forge.WithToken(token+strconv.Itoa(i)), forge.WithHTTPClient(&http.Client{Transport: answer})))}
			return c, c.tag
		},
		handName: func(int) (any, work) {
			c := newHand(noServer, answer)
			return c, c.tag
		},
		peerName: func(i int) (any, work) {
			c := &peer{must(gitlab.NewClient(token+strconv.Itoa(i), gitlab.WithBaseURL(noServer), withTransport(answer)))}
			return c, c.tag
		},
	}
	taken := map[string]median{}
	for range b.scaled(15, 5) {
		for name, one := range build {
			clear(kept)
			before, used := liveHeap(), cpuTime()
			for i := range kept {
				client, do := one(i)
				if err := do(ctx, &digest{}); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
				kept[i] = client
			}
			f := figures{cpu: (cpuTime() - used) / clients}
			f.bytes = (liveHeap() - before) / clients
			taken[name] = append(taken[name], f)
		}
	}
	runtime.KeepAlive(kept)
	return []line{
		lineOf(taken, forgeName, "memory a client", heap, showBytes),
		lineOf(taken, forgeName, "CPU of a client and its first call", cpu, showTime),
	}, nil
}

// liveHeap returns the bytes of the heap that are in use.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC() // finalizers and pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
