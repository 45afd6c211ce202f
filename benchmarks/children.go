package main

import (
	"bytes"
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
func child(ctx context.Context, role, base string) (memoryUse, error) {
	figures, err := childFigures(ctx, role, base, 3)
	if err != nil {
		return memoryUse{}, err
	}
	return memoryUse{figures[0], figures[1], figures[2]}, nil
}

// childFigures returns the n figures that a child process prints.
func childFigures(ctx context.Context, role, base string, n int) ([]float64, error) {
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"="+role, addressEnv+"="+base), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", role, err)
	}
	figures := make([]float64, n)
	from := bytes.NewReader(output)
	for i := range figures {
		if _, err := fmt.Fscan(from, &figures[i]); err != nil {
			return nil, fmt.Errorf("%s prints %q: %w", role, output, err)
		}
	}
	return figures, nil
}

// children returns the medians of several child processes.
func children(ctx context.Context, role, base string, n int) (memoryUse, error) {
	var peaks, aboves, tooks []float64
	for range n {
		use, err := child(ctx, role, base)
		if err != nil {
			return use, err
		}
		peaks, aboves, tooks = append(peaks, use.peak), append(aboves, use.above), append(tooks, use.took)
	}
	return memoryUse{middle(peaks), middle(aboves), middle(tooks)}, nil
}

// beChild is the measured part of child: it does the work of a role and prints the figures.
func beChild(ctx context.Context, role string) error {
	base := os.Getenv(addressEnv)
	if calls, ok := strings.CutPrefix(role, "calls "); ok {
		return beCalls(ctx, calls, base)
	}
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
		return us.issue, us.archive(usual), nil
	case "archive hand":
		return hand.issue, hand.archive(usual), nil
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
// issues. The figures are medians of several processes. Code by hand reads the shorter list only:
// its memory is what the longer one is compared with, too.
func memoryOfLists(ctx context.Context, b *bench) (lines []line, err error) {
	short, long := b.scaled(100_000, 10_000), b.scaled(1_000_000, 50_000)
	hand, err := children(ctx, "list hand", b.at("n"+strconv.Itoa(short)), b.scaled(3, 1))
	if err != nil {
		return nil, err
	}
	var took []float64
	for _, n := range []int{short, long} {
		base := b.at("n" + strconv.Itoa(n))
		one, err := children(ctx, "list forge", base, b.scaled(3, 1))
		if err != nil {
			return nil, err
		}
		eight, err := children(ctx, "list forge ahead", base, b.scaled(3, 1))
		if err != nil {
			return nil, err
		}
		used := line{what: fmt.Sprintf("CPU, %s issues", thousands(n)), show: showTime, ours: one.took * 1e9}
		if n == short {
			used.hand = hand.took * 1e9
		}
		lines = append(lines,
			line{what: fmt.Sprintf("peak RSS, %s issues", thousands(n)), show: showBytes, ours: one.peak, hand: hand.peak, most: 2 << 20},
			line{what: fmt.Sprintf("peak RSS, %s issues, Ahead(8)", thousands(n)), show: showBytes, ours: eight.peak, hand: hand.peak, most: 12 << 20}, used)
		took = append(took, one.took/float64(n))
	}
	growth := line{what: "CPU an issue, the longer list against the shorter", show: showRatio, ours: took[1] / took[0], limit: 1.15}
	return append(lines, growth), nil
}

// thousands returns a number with separators.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
