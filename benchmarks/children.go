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
	"strconv"
	"strings"
	"time"

	"github.com/forge-sdk/forge-go"
)

const addressEnv = "FORGE_BENCHMARK_ADDRESS"

// usage is what a child process reports about the work of a contender, in bytes and nanoseconds.
type usage struct {
	Peak      float64 // resident memory
	Above     float64 // peak minus the resident memory after the first small call
	CPU, Wall float64
	Count     uint64 // items
}

// usageOf selects one of the figures.
type usageOf func(usage) float64

// child runs a child process in a role, and decodes the JSON that it prints.
func child(ctx context.Context, role, base string, out any) error {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"="+role, addressEnv+"="+base), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	return json.Unmarshal(output, out)
}

// children are processes that do a work, one for each turn of a contender, so that the memory and
// the connections of a turn are its own.
type children struct {
	work  string // the first part of the role
	base  string
	turns int
	check func(name string, used usage) error // called after each turn, unless it is nil
}

// run lets the contenders take turns.
func (c children) run(ctx context.Context, names ...string) (map[string]uses, error) {
	taken := map[string]uses{}
	for round := range c.turns {
		for turn := range names {
			name := names[(turn+round)%len(names)]
			var used usage
			err := child(ctx, c.work+"/"+name, c.base, &used)
			if err == nil && c.check != nil {
				err = c.check(name, used)
			}
			if err != nil {
				return nil, err
			}
			taken[name] = append(taken[name], used)
		}
	}
	return taken, nil
}

// uses are the figures of the processes of a contender.
type uses []usage

// of returns the median of a figure; 0 if the contender had no turn.
func (u uses) of(pick usageOf) float64 {
	values := make([]float64, len(u))
	for i, used := range u {
		values[i] = pick(used)
	}
	return middle(values)
}

func peakOf(u usage) float64  { return u.Peak }
func aboveOf(u usage) float64 { return u.Above }

// childLine returns a line with the medians of a figure.
func childLine(taken map[string]uses, what string, pick usageOf, show unit) line {
	return line{
		what: what, show: show, ours: taken[forgeName].of(pick), hand: taken[handName].of(pick), v2: taken[v2Name].of(pick),
		peer: taken[peerName].of(pick),
	}
}

// childAgainst returns a line that compares forge with another form of the code by hand.
func childAgainst(taken map[string]uses, name, what string, pick usageOf, show unit) line {
	return line{what: what, show: show, ours: taken[forgeName].of(pick), hand: taken[name].of(pick)}
}

// beChild is the measured part of children.run: it does the work of a role and prints the figures.
func beChild(ctx context.Context, role string) error {
	base := os.Getenv(addressEnv)
	what, name, _ := strings.Cut(role, "/")
	if calls, ok := strings.CutPrefix(what, "calls "); ok {
		return beCalls(ctx, name, calls, base)
	}
	first, do, err := childWork(what, name, base)
	if err != nil {
		return err
	}
	if err := first(ctx, &digest{}); err != nil {
		return err
	}
	debug.FreeOSMemory()
	start := resident("VmRSS")
	// Reset the peak, so that it covers the work alone.
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	var d digest
	began, before := time.Now(), cpuTime()
	if err := do(ctx, &d); err != nil {
		return err
	}
	used := usage{Wall: float64(time.Since(began)), CPU: float64(cpuTime() - before), Peak: resident("VmHWM"), Count: d.count}
	used.Above = used.Peak - start
	return json.NewEncoder(os.Stdout).Encode(used)
}

// childWork returns a small call to begin with, and the work to measure. The mixed calls begin with
// a call on a connection that is not used again, because their rows count connections.
func childWork(what, name, base string) (first, do work, err error) {
	us, hand := newOurs(base), newHand(base, transport())
	first = map[string]work{forgeName: us.issue, ahead(8): us.issue, peerName: newPeer(base).issue}[name]
	if first == nil {
		first = hand.issue
	}
	var all []contender
	switch what {
	case "archive":
		all = []contender{{forgeName, us.archive(usual)}, {handName, hand.archive(usual)}}
	case "list":
		all = []contender{{forgeName, us.issues()}, {ahead(8), us.issues(forge.Ahead(8))}, {handName, hand.issues}}
	case "changes":
		all = changesReaders(base)
	default:
		first = newHand(base, &http.Transport{DisableKeepAlives: true}).issue
		all, err = mixedWorks(what, base)
	}
	if err != nil {
		return nil, nil, err
	}
	for _, c := range all {
		if c.name == name {
			return first, c.do, nil
		}
	}
	return nil, nil, fmt.Errorf("%s has no contender %s", what, name)
}

// resident returns a field of /proc/self/status, in bytes.
func resident(name string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, name+":"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 64)
			return n * 1024
		}
	}
	return 0
}
