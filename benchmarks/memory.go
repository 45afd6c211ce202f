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
	hand := 0.0
	var took []float64
	for _, n := range []int{short, long} {
		names, turns := []string{forgeName, ahead(8)}, 1 // the longer list takes long
		if n == short {
			names, turns = append(names, handName), b.scaled(3, 1)
		}
		taken, err := children(ctx, "list", b.at("n"+strconv.Itoa(n)), turns, names...)
		if err != nil {
			return nil, err
		}
		if n == short {
			hand = taken[handName].Peak
		}
		what := fmt.Sprintf("peak RSS, %s issues", thousands(n))
		lines = append(lines,
			line{What: what, Unit: inBytes, Forge: taken[forgeName].Peak, Hand: hand, Most: 2 << 20},
			line{What: what + ", " + ahead(8), Unit: inBytes, Forge: taken[ahead(8)].Peak, Hand: hand, Most: 12 << 20})
		took = append(took, taken[forgeName].CPU/float64(n))
	}
	return append(lines, line{What: "CPU an issue, the longer list against the shorter", Unit: inRatio, Forge: took[1] / took[0], Limit: 1.15}), nil
}

// thousands returns a number with separators.
func thousands(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
