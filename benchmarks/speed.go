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
	listWork   = "10,000 issues, no latency"
	memoryWork = "memory while ranging over issues"
)

// documentsWithFigures are the files that hold figures, and what renders each.
var documentsWithFigures = map[string]func(text string, files []figuresFile) (string, error){
	speedPath: renderSpeed, readmePath: renderReadme,
}

// eachDocument renders the saved figures into each document, and calls use with its text before and
// after.
func eachDocument(files []figuresFile, use func(path, text, rendered string) error) error {
	for path, render := range documentsWithFigures {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rendered, err := render(string(text), files)
		if err != nil {
			return err
		}
		if err := use(path, string(text), rendered); err != nil {
			return err
		}
	}
	return nil
}

// writeDocuments renders the saved figures into docs/speed.md and the README.
func writeDocuments() error {
	files, err := loadAll()
	if err != nil {
		return err
	}
	err = eachDocument(files, func(path, _, rendered string) error { return os.WriteFile(path, []byte(rendered), 0o644) })
	if err != nil {
		return err
	}
	text, err := os.ReadFile(speedPath)
	if err != nil {
		return err
	}
	missing, obsolete, err := reasonsToEdit(string(text), files)
	printRows("Add these rows to the missed targets in docs/speed.md, each with a reason:", missing, " reason |")
	printRows("Remove these rows from there:", obsolete, "")
	return err
}

func printRows(title string, rows []string, end string) {
	if len(rows) > 0 {
		fmt.Println(title + "\n\n" + strings.Join(rows, end+"\n") + end + "\n")
	}
}

// checkDocuments compares docs/speed.md and the README with the saved figures. The test of this is
// cached by go test when only those files change, so -check calls it, too.
func checkDocuments() error {
	files, err := loadAll()
	if err != nil {
		return err
	}
	return eachDocument(files, func(path, text, rendered string) error {
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

// renderSpeed replaces the parts of docs/speed.md that are between markers.
func renderSpeed(text string, files []figuresFile) (string, error) {
	summary, err := summaryOf(files)
	if err != nil {
		return "", err
	}
	text, err = between(text, "summary", summary)
	for i, file := range files {
		var table bytes.Buffer
		fmt.Fprintf(&table, "%s, client-go %s, %d CPUs (%s), %s", file.Go, file.Peer, file.CPUs, file.CPU, file.Date)
		if file.Quick {
			fmt.Fprint(&table, ", a quick run, which is not for comparison")
		}
		fmt.Fprint(&table, ".\n\n")
		writeTable(&table, linesOf(file.Lines))
		if err == nil {
			text, err = between(text, "figures of "+releases[i], table.String())
		}
	}
	return text, err
}

// between replaces the text between two markers.
func between(text, name, part string) (string, error) {
	begin, end := "<!-- "+name+": written by go run . -tables -->\n", "<!-- end of "+name+" -->"
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return "", fmt.Errorf("there are no markers of %s", name)
	}
	return before + begin + "\n" + part + "\n" + end + after, nil
}

// find returns a line of a file.
func (f *figuresFile) find(work, what string) (line, error) {
	for _, l := range linesOf(f.Lines) {
		if l.work == work && strings.HasPrefix(l.what, what) {
			return l, nil
		}
	}
	return line{}, fmt.Errorf("the figures of %s have no line %q of %q", f.Go, what, work)
}

// summaryOf returns the first sentences of docs/speed.md, one in a line.
func summaryOf(files []figuresFile) (string, error) {
	var text strings.Builder
	for i := range files {
		f := &files[i]
		list, err := f.find(listWork, "CPU")
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&text, "On Go %s, a list of 10,000 issues takes %.2f of the CPU of code written by hand, and %.2f of the peer's.\n",
			strings.TrimPrefix(releases[i], "go"), list.ours/list.hand, list.ours/list.peer)
	}
	for _, l := range linesOf(files[0].Lines) {
		if l.work == memoryWork && strings.HasPrefix(l.what, "peak RSS") && !strings.Contains(l.what, "Ahead") {
			fmt.Fprintf(&text, "A process that ranges over %s needs %s.\n", strings.TrimPrefix(l.what, "peak RSS, "), l.show.text(l.ours))
		}
	}
	return text.String(), nil
}

// readmeRows are the rows of the README that have figures of speed.
var readmeRows = []struct{ title, work, what string }{
	{"CPU for a list of 10,000 issues", listWork, "CPU"},
	{"CPU for one issue without a network", "one issue, served from memory", "CPU"},
	{"CPU for a call, reads and writes of 64 goroutines", "mixed reads and writes, 64 goroutines", "CPU a call"},
}

// renderReadme replaces the rows of the README that have figures of speed. Each has one figure, of
// the first release; docs/speed.md has the others.
func renderReadme(text string, files []figuresFile) (string, error) {
	for _, r := range readmeRows {
		row, err := readmeRow(r.title, r.work, r.what, files)
		if err != nil {
			return "", err
		}
		before, rest, found := strings.Cut(text, "| "+r.title+" |")
		_, after, _ := strings.Cut(rest, "\n")
		if !found {
			return "", fmt.Errorf("the README has no row %q", r.title)
		}
		text = before + row + "\n" + after
	}
	return text, nil
}

func readmeRow(title, work, what string, files []figuresFile) (string, error) {
	for i := range files {
		l, err := files[i].find(work, what)
		if err == nil && l.peer <= l.hand {
			err = fmt.Errorf("on %s, client-go is not slower than code by hand: %s", files[i].Go, work)
		}
		if err != nil {
			return "", err
		}
	}
	l, err := files[0].find(work, what)
	return fmt.Sprintf("| %s | more than code written by hand | %.2f times the CPU of code written by hand | [%s, client-go %s](docs/speed.md) |",
		title, l.ours/l.hand, files[0].Go, files[0].Peer), err
}

const reasonsHeader = "| release | work | figure | compared with | reason |\n|---|---|---|---|---|\n"

// reasons returns the rows of the table of missed targets, without the reason, which is not empty.
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
		rows = append(rows, strings.Join(cells[:4], " | ")+" |")
	}
	return rows, nil
}

// reasonsToEdit returns the rows that the table of missed targets lacks, and those of targets that
// are not missed. A row of "both" is for both releases.
func reasonsToEdit(text string, files []figuresFile) (missing, obsolete []string, err error) {
	rows, err := reasons(text)
	used := map[string]bool{}
	var missed [2][]string
	for i, release := range releases {
		missed[i] = missedTargets(release, linesOf(files[i].Lines))
	}
	for i, release := range releases {
		for _, row := range missed[i] {
			both := strings.Replace(row, release, "both", 1)
			other := strings.Replace(row, release, releases[1-i], 1)
			used[row], used[both] = true, used[both] || slices.Contains(missed[1-i], other)
			if used[both] {
				row = both
			}
			if !slices.Contains(rows, row) && !slices.Contains(rows, strings.Replace(row, "both", release, 1)) && !slices.Contains(missing, row) {
				missing = append(missing, row)
			}
		}
	}
	for _, row := range rows {
		if !used[row] {
			obsolete = append(obsolete, row)
		}
	}
	return missing, obsolete, err
}

// withoutReason returns the missed targets of this release that have no reason in docs/speed.md.
func withoutReason(lines []line) (missed []string, err error) {
	text, err := os.ReadFile(speedPath)
	if err != nil {
		return nil, err
	}
	rows, err := reasons(string(text))
	for _, row := range missedTargets(release(), lines) {
		if !slices.Contains(rows, row) && !slices.Contains(rows, strings.Replace(row, release(), "both", 1)) {
			missed = append(missed, row)
		}
	}
	return missed, err
}

// missedTargets returns the missed targets of a release, in the form of the table "Missed targets"
// in docs/speed.md, without the reason.
func missedTargets(release string, lines []line) (missed []string) {
	for i := range lines {
		for _, name := range lines[i].missed() {
			missed = append(missed, fmt.Sprintf("| %s | %s | %s | %s |", release, lines[i].work, lines[i].what, name))
		}
	}
	return missed
}
