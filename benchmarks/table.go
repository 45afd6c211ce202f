package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// line is a line of the table, as it is saved. A zero figure is absent; a zero target is not set.
type line struct {
	Work       string  `json:"work"`
	What       string  `json:"what"`
	Unit       unit    `json:"unit"`
	Exact      bool    `json:"exact,omitempty"` // does not depend on the load of the machine
	Noisy      bool    `json:"noisy,omitempty"` // differs from run to run, so it is not compared with saved figures
	Forge      float64 `json:"forge"`
	Hand       float64 `json:"by_hand,omitempty"`
	V2         float64 `json:"v2,omitempty"`
	Peer       float64 `json:"peer,omitempty"`
	Limit      float64 `json:"limit,omitempty"`           // maximum of forge's figure
	Most       float64 `json:"most_above_hand,omitempty"` // maximum of forge's figure minus the hand-written code's
	HandTarget float64 `json:"by_hand_target,omitempty"`  // maximum ratios
	V2Target   float64 `json:"v2_target,omitempty"`
	PeerTarget float64 `json:"peer_target,omitempty"`
}

// against is a comparison of forge with one of the others.
type against struct {
	name          string
	theirs, limit float64
}

func (l *line) comparisons() []against {
	return []against{{"by hand", l.Hand, l.HandTarget}, {"v2", l.V2, l.V2Target}, {"peer", l.Peer, l.PeerTarget}}
}

// missed returns the names of the missed targets: of the line itself, and of comparisons.
func (l *line) missed() (names []string) {
	if l.Limit > 0 && l.Forge > l.Limit || l.Most > 0 && l.Forge-l.Hand > l.Most {
		names = append(names, "forge")
	}
	for _, c := range l.comparisons() {
		if c.limit > 0 && c.theirs > 0 && l.Forge > c.limit*c.theirs {
			names = append(names, c.name)
		}
	}
	return names
}

// writeTable writes the lines as a Markdown table, without columns that have no figure.
func writeTable(w io.Writer, lines []line) {
	used := map[string]bool{}
	for i := range lines {
		for _, c := range lines[i].comparisons() {
			used[c.name] = used[c.name] || c.theirs > 0
		}
	}
	header := []string{"work", "figure", "forge"}
	for _, c := range new(line).comparisons() {
		if used[c.name] {
			header = append(header, c.name, "forge / "+c.name)
		}
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	previous := ""
	for i := range lines {
		l := &lines[i]
		work := l.Work
		if work == previous {
			work = ""
		}
		previous = l.Work
		fmt.Fprintf(w, "| %s |\n", strings.Join(append([]string{work, l.What}, l.cells(used)...), " | "))
	}
}

// cells returns the figures of a line, with their targets.
func (l *line) cells(used map[string]bool) []string {
	missed := l.missed()
	figure := l.Unit.text(l.Forge)
	switch {
	case l.Limit > 0:
		figure += target("≤ "+l.Unit.text(l.Limit), slices.Contains(missed, "forge"))
	case l.Most > 0:
		figure += target("≤ by hand + "+l.Unit.text(l.Most), slices.Contains(missed, "forge"))
	}
	cells := []string{figure}
	for _, c := range l.comparisons() {
		if !used[c.name] {
			continue
		}
		theirs, ratio := "", ""
		if c.theirs > 0 {
			theirs, ratio = l.Unit.text(c.theirs), fmt.Sprintf("%.3g", l.Forge/c.theirs)
			if c.limit > 0 {
				ratio += target(fmt.Sprintf("≤ %.3g", c.limit), slices.Contains(missed, c.name))
			}
		}
		cells = append(cells, theirs, ratio)
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
	inTime  unit = "ns"
	inBytes unit = "bytes"
	inCount unit = "count"
	inRatio unit = "ratio"
)

// text formats a figure.
func (u unit) text(n float64) string {
	switch u {
	case inTime:
		return timeText(n)
	case inBytes:
		if n >= 1<<20 {
			return fmt.Sprintf("%.1f MiB", n/(1<<20))
		}
		return fmt.Sprintf("%.0f KiB", n/(1<<10))
	case inRatio:
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
