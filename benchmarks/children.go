package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/forge-sdk/forge-go"
)

// memoryUse is what a child process reports about itself, in bytes and seconds.
type memoryUse struct {
	peak  float64 // resident
	above float64 // peak minus the resident memory after the first small call
	took  float64
}

const addressEnv = "FORGE_BENCHMARK_ADDRESS"

// child does the work of a role in a separate process, so that its memory is measured alone.
func child(ctx context.Context, role, base string) (use memoryUse, err error) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"="+role, addressEnv+"="+base), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return use, fmt.Errorf("%s: %w", role, err)
	}
	_, err = fmt.Sscan(string(output), &use.peak, &use.above, &use.took)
	return use, err
}

// beChild is the measured part of child: it does the work of a role and prints the figures.
func beChild(ctx context.Context, role string) error {
	base := os.Getenv(addressEnv)
	first, work, err := childWork(role, base)
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
	used := cpuTime()
	if err := work(ctx, &digest{}); err != nil {
		return err
	}
	peak := resident("VmHWM")
	fmt.Println(peak, peak-start, (cpuTime() - used).Seconds())
	return nil
}

// childWork returns a small call to begin with, and the work to measure.
func childWork(role, base string) (first, do work, err error) {
	us, hand := newOurs(base), newHand(base, transport())
	switch role {
	case "archive forge":
		return us.issue, us.archive, nil
	case "archive hand":
		return hand.issue, hand.archive, nil
	case "list forge":
		return us.issue, us.issues(), nil
	case "list forge ahead":
		return us.issue, us.issues(forge.Ahead(8)), nil
	case "list hand":
		return hand.issue, hand.issues, nil
	}
	return nil, nil, errors.New("there is no role " + role)
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

// memoryOfLists measures that memory stays constant and that time is linear in the number of
// issues.
func memoryOfLists(ctx context.Context, b *bench) (lines []line, err error) {
	var took []float64
	for _, n := range []int{b.scaled(100_000, 10_000), b.scaled(1_000_000, 100_000)} {
		base := b.at("n" + strconv.Itoa(n))
		used := map[string]memoryUse{}
		for _, role := range []string{"list hand", "list forge", "list forge ahead"} {
			if used[role], err = child(ctx, role, base); err != nil {
				return nil, err
			}
		}
		hand := used["list hand"]
		lines = append(lines,
			line{what: fmt.Sprintf("peak RSS, %d issues", n), show: showBytes, ours: used["list forge"].peak, hand: hand.peak, most: 2 << 20},
			line{what: fmt.Sprintf("peak RSS, %d issues, Ahead(8)", n), show: showBytes, ours: used["list forge ahead"].peak, hand: hand.peak, most: 12 << 20},
			line{what: fmt.Sprintf("CPU, %d issues", n), show: showTime, ours: used["list forge"].took * 1e9, hand: hand.took * 1e9})
		took = append(took, used["list forge"].took/float64(n))
	}
	growth := line{what: "CPU an issue, the longer list against the shorter", show: func(x float64) string { return fmt.Sprintf("%.2f", x) }, ours: took[1] / took[0], limit: 1.15}
	return append(lines, growth), nil
}
