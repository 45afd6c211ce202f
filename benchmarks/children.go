package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/forge-sdk/forge-go"
)

// usage is what a child process reports about the work of a contender, in bytes and nanoseconds.
type usage struct {
	Peak  float64 // resident memory
	Above float64 // peak minus the resident memory after the first small call
	CPU   float64
}

// children does a work in processes, one for each turn of a contender, so that the memory of a turn
// is its own. It returns the medians of each contender.
func children(ctx context.Context, work, base string, turns int, names ...string) (map[string]usage, error) {
	taken := map[string]usage{}
	for _, name := range names {
		var peak, above, took []float64
		for range turns {
			var used usage
			if err := child(ctx, work+"/"+name, base, &used); err != nil {
				return nil, err
			}
			peak, above, took = append(peak, used.Peak), append(above, used.Above), append(took, used.CPU)
		}
		taken[name] = usage{middle(peak), middle(above), middle(took)}
	}
	return taken, nil
}

// beChild is the measured part of children: it does the work of a role and prints the figures.
func beChild(ctx context.Context, role string) error {
	base := os.Getenv(addressEnv)
	us, hand := newOurs(base), newHand(base, transport())
	first, do := us.issue, map[string]work{
		"archive/" + forgeName: us.archive, "archive/" + handName: hand.archive,
		"list/" + forgeName: us.issues(), "list/" + ahead(8): us.issues(forge.Ahead(8)), "list/" + handName: hand.issues,
	}[role]
	if do == nil {
		return fmt.Errorf("there is no role %s", role)
	}
	if strings.HasSuffix(role, handName) {
		first = hand.issue
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
	before := cpuTime()
	if err := do(ctx, &digest{}); err != nil {
		return err
	}
	used := usage{CPU: float64(cpuTime() - before), Peak: resident("VmHWM")}
	used.Above = used.Peak - start
	return json.NewEncoder(os.Stdout).Encode(used)
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
