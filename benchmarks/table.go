package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// line is a line of the table. A zero figure is absent; a zero target is not set.
type line struct {
	work, what              string
	ours                    float64
	hand, v2, peer, hub     float64
	floor                   float64 // what the work costs at least, without a client
	limit                   float64 // maximum of forge's figure
	most                    float64 // maximum of forge's figure minus the hand-written code's
	handTarget, v2Target    float64 // maximum ratios
	peerTarget, floorTarget float64
	show                    unit
	exact                   bool // does not depend on the load of the machine
	noisy                   bool // differs from run to run, so it is not compared with saved figures
}

// against is a comparison of forge with one of the others.
type against struct {
	name          string
	theirs, limit float64
}

func (l *line) comparisons() []against {
	return []against{
		{"by hand", l.hand, l.handTarget}, {"v2", l.v2, l.v2Target}, {"peer", l.peer, l.peerTarget},
		{"go-github", l.hub, 0}, {"floor", l.floor, l.floorTarget},
	}
}

// missed returns the names of the missed targets: of the line itself, and of comparisons.
func (l *line) missed() (names []string) {
	if l.limit > 0 && l.ours > l.limit || l.most > 0 && l.ours-l.hand > l.most {
		names = append(names, "forge")
	}
	for _, c := range l.comparisons() {
		if c.limit > 0 && c.theirs > 0 && l.ours > c.limit*c.theirs {
			names = append(names, c.name)
		}
	}
	return names
}

// writeTable writes the lines as a Markdown table, and returns the number of missed targets.
// Columns without a figure are omitted.
func writeTable(w io.Writer, lines []line) (missed int) {
	used := map[string]bool{}
	for i := range lines {
		for _, c := range lines[i].comparisons() {
			used[c.name] = used[c.name] || c.theirs > 0
		}
	}
	header := []string{"work", "figure", "forge"}
	for _, c := range new(line).comparisons() {
		if used[c.name] {
			header = append(header, c.name)
			if c.name != githubName {
				header = append(header, "forge / "+c.name)
			}
		}
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	previous := ""
	for i := range lines {
		l := &lines[i]
		work := l.work
		if work == previous {
			work = ""
		}
		previous = l.work
		missed += len(l.missed())
		fmt.Fprintf(w, "| %s |\n", strings.Join(append([]string{work, l.what}, l.cells(used)...), " | "))
	}
	return missed
}

// cells returns the figures of a line, with their targets.
func (l *line) cells(used map[string]bool) []string {
	missed := l.missed()
	figure := l.show.text(l.ours)
	switch {
	case l.limit > 0:
		figure += target("≤ "+l.show.text(l.limit), slices.Contains(missed, "forge"))
	case l.most > 0:
		figure += target("≤ by hand + "+l.show.text(l.most), slices.Contains(missed, "forge"))
	}
	cells := []string{figure}
	for _, c := range l.comparisons() {
		if !used[c.name] {
			continue
		}
		theirs, ratio := "", ""
		if c.theirs > 0 {
			theirs, ratio = l.show.text(c.theirs), fmt.Sprintf("%.3g", l.ours/c.theirs)
		}
		if c.limit > 0 && c.theirs > 0 {
			ratio += target(fmt.Sprintf("≤ %.3g", c.limit), slices.Contains(missed, c.name))
		}
		if cells = append(cells, theirs); c.name != githubName {
			cells = append(cells, ratio)
		}
	}
	return cells
}

// target formats a target, and marks it if it is missed.
func target(text string, miss bool) string {
	if miss {
		return " **(" + text + ": missed)**"
	}
	return " (" + text + ")"
}

// unit is what a figure counts.
type unit string

const (
	showTime  unit = "ns"
	showBytes unit = "bytes"
	showCount unit = "count"
	showRatio unit = "ratio"
)

// text formats a figure.
func (u unit) text(n float64) string {
	switch u {
	case showTime:
		return timeText(n)
	case showBytes:
		if n >= 1<<20 || n <= -1<<20 {
			return fmt.Sprintf("%.1f MiB", n/(1<<20))
		}
		if n < 10<<10 && n > -10<<10 {
			return fmt.Sprintf("%.0f B", n)
		}
		return fmt.Sprintf("%.0f KiB", n/(1<<10))
	case showRatio:
		return fmt.Sprintf("%.2f", n)
	default:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0")
	}
}

func timeText(ns float64) string {
	switch d := time.Duration(ns); {
	case d >= 999_500*time.Microsecond: // with three digits it would be 1e+03 ms
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= 999_500*time.Nanosecond:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	default:
		return fmt.Sprintf("%.3g us", d.Seconds()*1e6)
	}
}
