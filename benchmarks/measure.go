package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// work does the work of a contender once. It passes what it decodes to the digest.
type work func(ctx context.Context, d *digest) error

// figures are the costs of one repetition of a work.
type figures struct {
	wall, cpu time.Duration
	allocs    float64
}

// metric selects one of the figures.
type metric func(figures) float64

func wall(f figures) float64   { return float64(f.wall) }
func cpu(f figures) float64    { return float64(f.cpu) }
func allocs(f figures) float64 { return f.allocs }

// contender is a client, or code without one, that does the work of a row.
type contender struct {
	name string
	do   work
}

const (
	forgeName = "forge"
	handName  = "by hand"
	v2Name    = "by hand, encoding/json/v2"
	peerName  = "peer"
)

// race measures contenders against each other.
type race struct {
	rounds int       // turns of each contender
	times  int       // repetitions of the work in a turn
	sent   documents // what the server sends; without it nothing is compared
}

// run lets the contenders take turns, so that other load of the machine affects all of them. It
// returns the figures of each contender by name.
func (r race) run(ctx context.Context, contenders []contender) (map[string]median, error) {
	for _, c := range contenders {
		if err := r.agree(ctx, c); err != nil {
			return nil, err
		}
	}
	taken := map[string]median{}
	for round := range r.rounds {
		for turn := range contenders {
			c := contenders[(turn+round)%len(contenders)]
			f, err := r.turn(ctx, c)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			taken[c.name] = append(taken[c.name], f)
		}
	}
	return taken, nil
}

func (r race) turn(ctx context.Context, c contender) (figures, error) {
	runtime.GC()
	var d digest
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start, used := time.Now(), cpuTime()
	for range r.times {
		if err := c.do(ctx, &d); err != nil {
			return figures{}, err
		}
	}
	f := figures{wall: time.Since(start), cpu: cpuTime() - used}
	runtime.ReadMemStats(&after)
	n := r.times
	f.wall, f.cpu = f.wall/time.Duration(n), f.cpu/time.Duration(n)
	f.allocs = math.Round(float64(after.Mallocs-before.Mallocs) / float64(n))
	return f, nil
}

// cpuTime returns the CPU time that this process has used so far. The server is another process.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// median holds the figures of many turns and computes medians of them.
type median []figures

func (m median) of(pick metric) float64 {
	values := make([]float64, len(m))
	for i, f := range m {
		values[i] = pick(f)
	}
	return middle(values)
}

// middle sorts values and returns their median.
func middle(values []float64) float64 {
	slices.Sort(values)
	if len(values) == 0 {
		return 0
	}
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}
