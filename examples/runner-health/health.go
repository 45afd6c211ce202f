package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/examples/internal/demo"
)

// health is the state of a runner.
type health struct {
	runner   *forge.Runner
	managers []*forge.RunnerManager
	running  []*forge.RunnerJob
	stuck    []*forge.RunnerJob
	notes    []string // what needs attention
}

// judge records what needs attention.
func (h *health) judge(now time.Time, limit time.Duration, oldest string) {
	switch h.runner.Status {
	case forge.RunnerStatusOnline:
	case forge.RunnerStatusNeverContacted:
		h.notes = append(h.notes, "never started")
	default:
		h.notes = append(h.notes, string(h.runner.Status))
	}
	for _, m := range h.managers {
		if h.runner.Status == forge.RunnerStatusOnline && m.Status != forge.RunnerStatusOnline {
			h.notes = append(h.notes, fmt.Sprintf("machine %s is %s", m.SystemID, m.Status))
		}
		if compare(m.Version, oldest) < 0 {
			h.notes = append(h.notes, fmt.Sprintf("machine %s has %s", m.SystemID, m.Version))
		}
	}
	for _, job := range h.running {
		if !job.StartedAt.IsZero() && now.Sub(job.StartedAt) > limit {
			h.stuck = append(h.stuck, job)
		}
	}
	if len(h.stuck) > 0 {
		h.notes = append(h.notes, demo.Count(len(h.stuck), "job")+" may hang")
	}
}

// versions lists the versions of the runner's machines.
func (h *health) versions() string {
	var list []string
	for _, m := range h.managers {
		list = append(list, m.Version)
	}
	slices.SortFunc(list, func(a, b string) int { return compare(b, a) })
	return cmp.Or(strings.Join(slices.Compact(list), ", "), "-")
}

// compare orders versions by their numbers: 17.11.2 comes after 17.9.0.
func compare(a, b string) int {
	numbers := func(version string) (n []int) {
		for part := range strings.FieldsFuncSeq(version, func(r rune) bool { return r < '0' || r > '9' }) {
			number, _ := strconv.Atoi(part)
			n = append(n, number)
		}
		return n
	}
	return slices.Compare(numbers(a), numbers(b))
}

// ago formats how long before now something was: 12m, 7h, 23d; "never" for the zero time.
func ago(now, at time.Time) string {
	age := max(now.Sub(at), 0)
	switch {
	case at.IsZero():
		return "never"
	case age < time.Hour:
		return fmt.Sprintf("%dm", int(age.Minutes()))
	case age < 48*time.Hour:
		return fmt.Sprintf("%dh", int(age.Hours()))
	}
	return fmt.Sprintf("%dd", int(age.Hours()/24))
}
