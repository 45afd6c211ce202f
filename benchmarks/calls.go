package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// callAtOnce counts connections: those that concurrent calls open when none is idle, and those that
// the same calls open when they run again. Each contender is a process, with the defaults of its
// constructor. "By hand" is http.DefaultTransport, and next to it a transport whose pool has 64
// connections. Other load of the machine adds connections, so those of forge are medians.
func callAtOnce(ctx context.Context, b *bench) ([]line, error) {
	calls := b.scaled(20_000, 2000)
	base := b.at("n1")
	var of [4][]float64
	for i, name := range []string{"forge", "hand", "pooled", "peer"} {
		samples, rounds := make([][]float64, 4), 1
		if name == "forge" {
			rounds = b.scaled(3, 1)
		}
		for range rounds {
			var figures [4]float64
			if err := child(ctx, fmt.Sprint("calls ", calls, "/", name), base, &figures); err != nil {
				return nil, err
			}
			for k, figure := range figures {
				samples[k] = append(samples[k], figure)
			}
		}
		for _, sample := range samples {
			of[i] = append(of[i], middle(sample))
		}
	}
	var lines []line
	for k, what := range []string{"connections opened", "connections opened, again", "wall of a call", "CPU of a call"} {
		l := line{what: what, show: showCount, noisy: k < 2, ours: of[0][k], hand: of[1][k], peer: of[3][k]}
		tuned := line{what: what + ", by hand with a pool of 64", show: showCount, noisy: k < 2, ours: of[0][k], hand: of[2][k]}
		switch k {
		case 0:
			l.limit, l.peerTarget, tuned.handTarget = 102, 0.02, 1.25 // 1.6 for each goroutine
		case 1:
			l.limit = 67 // 1.05
		default:
			l.show, tuned.show = showTime, showTime
		}
		if lines = append(lines, l); k != 1 { // a pool of 64 opens no connection again
			lines = append(lines, tuned)
		}
	}
	return lines, nil
}

// beCalls does the calls of a contender, twice, and prints the figures of callAtOnce.
func beCalls(ctx context.Context, name, count, base string) error {
	calls, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	do, ok := map[string]func() work{
		"forge":  func() work { return newOurs(base).issue },
		"hand":   func() work { return newHand(base, transport()).issue },
		"pooled": func() work { return newHand(base, pooled(64)).issue },
		"peer":   func() work { return newPeer(base).issue },
	}[name]
	if !ok {
		return errors.New("there is no contender " + name)
	}
	issue, server := do(), base[:strings.LastIndex(base, "/")]
	all := func(ctx context.Context) error { return atOnce(ctx, issue, 64, calls) }
	cold, err := openedBy(ctx, server, all)
	if err != nil {
		return err
	}
	start, used := time.Now(), cpuTime()
	warm, err := openedBy(ctx, server, all)
	if err != nil {
		return err
	}
	n := float64(calls)
	return json.NewEncoder(os.Stdout).Encode([4]float64{cold, warm, float64(time.Since(start)) / n, float64(cpuTime()-used) / n})
}

// openedBy returns the number of connections that the server has accepted while do ran.
func openedBy(ctx context.Context, server string, do func(context.Context) error) (float64, error) {
	if _, err := opened(ctx, server); err != nil {
		return 0, err
	}
	if err := do(ctx); err != nil {
		return 0, err
	}
	n, err := opened(ctx, server)
	return n - 1, err // without the connection of this query
}

// opened returns the number of connections that the server has accepted since the last query.
func opened(ctx context.Context, server string) (n float64, err error) {
	hand := newHand(server, &http.Transport{DisableKeepAlives: true})
	err = hand.send(ctx, http.MethodGet, server+"/opened", http.NoBody, "", func(answer *http.Response) error {
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
