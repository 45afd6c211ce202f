package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"
)

// usage is what a child process of a row reports about its work, in bytes and nanoseconds.
type usage struct {
	Above, CPU, Wall float64 // memory above start
	Count            uint64  // of the digest
}

// childPrefix begins the roles of the rows that report a usage.
const childPrefix = "row/"

// runChild does the work of a contender in a separate process: row names the work.
func runChild(ctx context.Context, row, who, base string) (used usage, err error) {
	role := childPrefix + row + "/" + who
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"="+role, addressEnv+"="+base), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return used, fmt.Errorf("%s: %w", role, err)
	}
	return used, json.Unmarshal(output, &used)
}

// runChildren lets the contenders take turns, each in a new process, and calls each after each.
func runChildren(ctx context.Context, row, base string, rounds int, who []string, each func(name string, used usage) error) (map[string][]usage, error) {
	taken := map[string][]usage{}
	for round := range rounds {
		for turn := range who {
			name := who[(turn+round)%len(who)]
			used, err := runChild(ctx, row, name, base)
			if err == nil && each != nil {
				err = each(name, used)
			}
			if err != nil {
				return nil, err
			}
			taken[name] = append(taken[name], used)
		}
	}
	return taken, nil
}

// ofChildren returns the median of a figure of a contender's processes; 0 if it had none.
func ofChildren(used []usage, pick func(usage) float64) float64 {
	values := make([]float64, len(used))
	for i, u := range used {
		values[i] = pick(u)
	}
	return middle(values)
}

// childLine returns a line with the medians of a figure.
func childLine(taken map[string][]usage, what string, pick func(usage) float64, show func(float64) string) line {
	return line{
		what: what, show: show, ours: ofChildren(taken[forgeName], pick), hand: ofChildren(taken[handName], pick),
		peer: ofChildren(taken[peerName], pick),
	}
}

// childAgainst returns a line that compares forge with another form of the code by hand; nothing if
// it was not measured.
func childAgainst(taken map[string][]usage, name, what string, pick func(usage) float64, show func(float64) string) []line {
	if len(taken[name]) == 0 {
		return nil
	}
	return []line{{what: what, show: show, ours: ofChildren(taken[forgeName], pick), hand: ofChildren(taken[name], pick)}}
}

// rowWork returns the work of a contender in a row.
func rowWork(role, base string) (work, error) {
	row, who, _ := strings.Cut(strings.TrimPrefix(role, childPrefix), "/")
	if row != "changes" {
		return mixedWork(row, who, base)
	}
	for _, c := range changesReaders(base) {
		if c.name == who {
			return c.do, nil
		}
	}
	return nil, errors.New("there is no contender " + who)
}

// beRowChild is the measured part of runChild: it does the work and prints the figures.
func beRowChild(ctx context.Context, role string) error {
	base := os.Getenv(addressEnv)
	do, err := rowWork(role, base)
	if err != nil {
		return err
	}
	first := newHand(base, &http.Transport{DisableKeepAlives: true}) // its connection is not used again
	if err := first.issue(ctx, &digest{}); err != nil {
		return err
	}
	debug.FreeOSMemory()
	start := resident("VmRSS")
	// Reset the peak, so that it covers the work alone.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var used usage
	var d digest
	began, cpuBefore := time.Now(), cpuTime()
	if err := do(ctx, &d); err != nil {
		return err
	}
	used.Wall, used.CPU = float64(time.Since(began)), float64(cpuTime()-cpuBefore)
	used.Above, used.Count = resident("VmHWM")-start, d.count
	return json.NewEncoder(os.Stdout).Encode(used)
}
