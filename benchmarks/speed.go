package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

const (
	speedPath  = "../docs/speed.md"
	readmePath = "../README.md"
)

// eachDocument renders the saved figures into docs/speed.md and the README, and calls use with the
// text before and after.
func eachDocument(use func(path, text, rendered string) error) error {
	files, err := loadAll()
	if err != nil {
		return err
	}
	for path, render := range map[string]func(string, []figuresFile) (string, error){speedPath: renderSpeed, readmePath: renderReadme} {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rendered, err := render(string(text), files)
		if err == nil {
			err = use(path, string(text), rendered)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeDocuments renders the saved figures into docs/speed.md and the README.
func writeDocuments() error {
	return eachDocument(func(path, _, rendered string) error { return os.WriteFile(path, []byte(rendered), 0o644) })
}

// checkDocuments compares docs/speed.md and the README with the saved figures. The test of this is
// cached by go test when only those files change, so -check calls it, too.
func checkDocuments() error {
	return eachDocument(func(path, text, rendered string) error {
		if rendered != text {
			return fmt.Errorf("%s differs from the files in figures: run go run . -tables", path)
		}
		return nil
	})
}

func loadAll() (files []figuresFile, err error) {
	for _, r := range releases {
		file, err := load(r)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// renderSpeed replaces the tables of docs/speed.md, which are between markers.
func renderSpeed(text string, files []figuresFile) (string, error) {
	for i, file := range files {
		begin, end := "<!-- figures of "+releases[i]+": written by go run . -tables -->\n", "\n<!-- end of figures of "+releases[i]+" -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("there are no markers of %s", releases[i])
		}
		var table bytes.Buffer
		fmt.Fprintf(&table, "\n%s, client-go %s, %d CPUs (%s), %s.\n\n", file.Go, file.Peer, file.CPUs, file.CPU, file.Date)
		writeTable(&table, file.Lines)
		text = before + begin + table.String() + end + after
	}
	return text, nil
}

// readmeRows are the rows of the README that have figures of speed.
var readmeRows = []struct{ title, work, what string }{
	{"CPU for a list of 10,000 issues", "10,000 issues, no latency", "CPU"},
	{"CPU for one issue without a network", "one issue, served from memory", "CPU"},
	{"CPU for a call, reads and writes of 64 goroutines", "mixed reads and writes, 64 goroutines", "CPU a call"},
}

// renderReadme replaces the rows of the README that have figures of speed. Each has one figure, of
// the first release; docs/speed.md has the others.
func renderReadme(text string, files []figuresFile) (string, error) {
	for _, r := range readmeRows {
		before, rest, found := strings.Cut(text, "| "+r.title+" |")
		_, after, _ := strings.Cut(rest, "\n")
		if !found {
			return "", fmt.Errorf("the README has no row %q", r.title)
		}
		ratio := 0.0
		for _, f := range slices.Backward(files) {
			i := slices.IndexFunc(f.Lines, func(l line) bool { return l.Work == r.work && l.What == r.what })
			if i < 0 || f.Lines[i].Peer <= f.Lines[i].Hand {
				return "", fmt.Errorf("on %s, there is no figure, or client-go is not slower than code by hand: %s", f.Go, r.work)
			}
			ratio = f.Lines[i].Forge / f.Lines[i].Hand
		}
		text = before + fmt.Sprintf("| %s | more than code written by hand | %.2f times the CPU of code written by hand | [%s, client-go %s](docs/speed.md) |\n",
			r.title, ratio, files[0].Go, files[0].Peer) + after
	}
	return text, nil
}

const reasonsHeader = "| release | work | figure | compared with | reason |\n|---|---|---|---|---|\n"

// reasons returns the rows of the table of missed targets, without the reason, which is not empty.
// A row of "both" is returned for each release.
func reasons(text string) (rows []string, err error) {
	_, text, found := strings.Cut(text, reasonsHeader)
	text, _, ended := strings.Cut(text, "\n\n")
	if !found || !ended {
		return nil, errors.New("docs/speed.md has no table of missed targets")
	}
	for row := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(row), "|"), " | ")
		if len(cells) != 5 || strings.TrimSpace(cells[4]) == "" {
			return nil, fmt.Errorf("no reason in %s", row)
		}
		of := []string{strings.TrimPrefix(cells[0], "| ")}
		if of[0] == "both" {
			of = releases
		}
		for _, release := range of {
			rows = append(rows, fmt.Sprintf("%s | %s", release, strings.Join(cells[1:4], " | ")))
		}
	}
	return rows, nil
}

// missedTargets returns the missed targets of a release, in the form of reasons.
func missedTargets(release string, lines []line) (missed []string) {
	for i := range lines {
		for _, name := range lines[i].missed() {
			missed = append(missed, fmt.Sprintf("%s | %s | %s | %s", release, lines[i].Work, lines[i].What, name))
		}
	}
	return missed
}

// withoutReason returns the missed targets of this release that have no reason in docs/speed.md.
func withoutReason(lines []line) (missed []string, err error) {
	text, err := os.ReadFile(speedPath)
	if err != nil {
		return nil, err
	}
	rows, err := reasons(string(text))
	return slices.DeleteFunc(missedTargets(release(), lines), func(row string) bool { return slices.Contains(rows, row) }), err
}
