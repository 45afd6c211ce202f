package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// line is a line of the table: the figures of forge, of the hand-written code and of the peers. A
// zero figure is absent; a zero target is not set.
type line struct {
	work, what             string
	ours, hand, peer, hub  float64
	limit                  float64 // maximum of forge's figure
	most                   float64 // maximum of forge's figure minus the hand-written code's
	handTarget, peerTarget float64 // maximum ratios
	show                   func(float64) string
}

// missed reports which targets are missed.
func (l *line) missed() (own, hand, peer bool) {
	own = l.limit > 0 && l.ours > l.limit || l.most > 0 && l.ours-l.hand > l.most
	hand = l.handTarget > 0 && l.ours > l.handTarget*l.hand
	peer = l.peerTarget > 0 && l.ours > l.peerTarget*l.peer
	return own, hand, peer
}

// writeTable writes the lines as a Markdown table and returns the number of missed targets.
func writeTable(w io.Writer, lines []line) (missed int) {
	fmt.Fprintln(w, "| work | figure | forge | by hand | forge / by hand | peer | forge / peer | go-github |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|---|---|")
	previous := ""
	for i := range lines {
		l := &lines[i]
		own, hand, peer := l.missed()
		for _, miss := range []bool{own, hand, peer} {
			if miss {
				missed++
			}
		}
		work := l.work
		if work == previous {
			work = ""
		}
		previous = l.work
		figure := l.show(l.ours)
		switch {
		case l.limit > 0:
			figure += target("≤ "+l.show(l.limit), own)
		case l.most > 0:
			figure += target("≤ + "+l.show(l.most), own)
		}
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", work, l.what, figure,
			l.cell(l.hand), ratio(l.ours, l.hand, l.handTarget, hand), l.cell(l.peer), ratio(l.ours, l.peer, l.peerTarget, peer), l.cell(l.hub))
	}
	return missed
}

func (l *line) cell(figure float64) string {
	if figure == 0 {
		return ""
	}
	return l.show(figure)
}

func ratio(ours, theirs, limit float64, miss bool) string {
	if theirs == 0 {
		return ""
	}
	text := fmt.Sprintf("%.3g", ours/theirs)
	if limit > 0 {
		text += target(fmt.Sprintf("≤ %.3g", limit), miss)
	}
	return text
}

// target formats a target, and marks it if it is missed.
func target(text string, miss bool) string {
	if miss {
		return " **(" + text + ": missed)**"
	}
	return " (" + text + ")"
}

func showTime(ns float64) string {
	switch d := time.Duration(ns); {
	case d >= time.Second:
		return fmt.Sprintf("%.2f s", d.Seconds())
	case d >= time.Millisecond:
		return fmt.Sprintf("%.3g ms", d.Seconds()*1e3)
	default:
		return fmt.Sprintf("%.3g us", d.Seconds()*1e6)
	}
}

func showBytes(n float64) string {
	switch {
	case n >= 1<<20 || n <= -1<<20:
		return fmt.Sprintf("%.1f MiB", n/(1<<20))
	default:
		return fmt.Sprintf("%.0f KiB", n/(1<<10))
	}
}

func showCount(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") }
