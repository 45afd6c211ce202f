package main

import (
	"context"
	"fmt"
	"strconv"
)

// memoryOfLists measures that memory stays constant and that time is linear in the number of
// issues. The figures of the shorter list are medians of several processes. Code by hand reads it
// only: its memory is what the longer one is compared with, too.
func memoryOfLists(ctx context.Context, b *bench) (lines []line, err error) {
	short, long := b.scaled(100_000, 10_000), b.scaled(1_000_000, 50_000)
	var hand uses
	var took []float64
	cpuOf := func(u usage) float64 { return u.CPU }
	for _, n := range []int{short, long} {
		names, turns := []string{forgeName, ahead(8)}, 1 // the longer list takes long
		if n == short {
			names, turns = append(names, handName), b.scaled(3, 1)
		}
		taken, err := children{work: "list", base: b.at("n" + strconv.Itoa(n)), turns: turns}.run(ctx, names...)
		if err != nil {
			return nil, err
		}
		if n == short {
			hand = taken[handName]
		}
		one, eight := taken[forgeName], taken[ahead(8)]
		lines = append(lines,
			line{what: fmt.Sprintf("peak RSS, %s issues", thousands(n)), show: showBytes, ours: one.of(peakOf), hand: hand.of(peakOf), most: 2 << 20},
			line{what: fmt.Sprintf("peak RSS, %s issues, Ahead(8)", thousands(n)), show: showBytes, ours: eight.of(peakOf), hand: hand.of(peakOf), most: 12 << 20},
			line{what: fmt.Sprintf("CPU, %s issues", thousands(n)), show: showTime, ours: one.of(cpuOf), hand: taken[handName].of(cpuOf)})
		took = append(took, one.of(cpuOf)/float64(n))
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
