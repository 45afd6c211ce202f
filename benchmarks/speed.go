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
	allPath    = "FIGURES.md"
	speedPath  = "../docs/speed.md"
	readmePath = "../README.md"
)

// eachDocument renders the saved figures into FIGURES.md, docs/speed.md and the README of the
// repository, and calls use with the text before and after.
func eachDocument(use func(path, text, rendered string) error) error {
	files, err := loadAll()
	if err != nil {
		return err
	}
	for path, render := range map[string]func(string, []figuresFile) (string, error){
		allPath: renderFigures, speedPath: renderSpeed, readmePath: renderReadme,
	} {
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

// writeDocuments renders the saved figures into the documents.
func writeDocuments() error {
	return eachDocument(func(path, _, rendered string) error { return os.WriteFile(path, []byte(rendered), 0o644) })
}

// checkDocuments compares the documents with the saved figures. The test of this is cached by go
// test when only those files change, so -check calls it, too.
func checkDocuments() error {
	return eachDocument(func(path, text, rendered string) error {
		if rendered != text {
			return fmt.Errorf("%s differs from the files in figures/: run go run . -tables", path)
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

// renderFigures replaces the tables of FIGURES.md, which have all figures and their targets.
func renderFigures(text string, files []figuresFile) (string, error) {
	return renderTables(text, files, func(file figuresFile) ([]line, error) { return file.Lines, nil })
}

// renderSpeed replaces the tables of docs/speed.md.
func renderSpeed(text string, files []figuresFile) (string, error) {
	return renderTables(text, files, userLines)
}

// userRows are the figures of docs/speed.md: those that a user of the library notices.
var userRows = []struct{ work, what string }{
	{"one issue, served from memory", "CPU"},
	{"one issue over loopback", "wall"},
	{"10,000 issues, no latency", "CPU"},
	{"10,000 issues, no latency", "allocations an issue"},
	{"10,000 issues, 20 ms a page", "wall"},
	{"10,000 issues, 20 ms a page", "wall, Ahead(8), the others one page after the other"},
	{"mixed reads and writes, 64 goroutines", "CPU a call"},
	{"archive of 1 GiB", "wall, same sink and buffer of 64 KiB"},
	{"archive of 1 GiB", "memory above start"},
	{"memory while ranging over issues", "peak RSS, 1,000,000 issues"},
	{"memory while ranging over issues", "peak RSS, 1,000,000 issues, Ahead(8)"},
	{"hello world, built", "size of the binary"},
}

// userLines returns the lines of docs/speed.md, without targets.
func userLines(file figuresFile) (lines []line, err error) {
	for _, r := range userRows {
		l, err := file.line(r.work, r.what)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line{Work: l.Work, What: l.What, Unit: l.Unit, Forge: l.Forge, Hand: l.Hand, V2: l.V2, Peer: l.Peer})
	}
	return lines, nil
}

// line returns the line with a figure.
func (file *figuresFile) line(work, what string) (*line, error) {
	for i := range file.Lines {
		if l := &file.Lines[i]; l.Work == work && l.What == what {
			return l, nil
		}
	}
	return nil, fmt.Errorf("on %s, there is no figure: %s, %s", file.Go, work, what)
}

// renderTables replaces the tables of a document, which are between markers.
func renderTables(text string, files []figuresFile, selected func(figuresFile) ([]line, error)) (string, error) {
	for i, file := range files {
		lines, err := selected(file)
		if err != nil {
			return "", err
		}
		begin, end := "<!-- figures of "+releases[i]+": written by go run . -tables -->\n", "\n<!-- end of figures of "+releases[i]+" -->"
		before, rest, found := strings.Cut(text, begin)
		_, after, closed := strings.Cut(rest, end)
		if !found || !closed {
			return "", fmt.Errorf("there are no markers of %s", releases[i])
		}
		var table bytes.Buffer
		fmt.Fprintf(&table, "\n%s, client-go %s, %d CPUs (%s), %s.\n\n", file.Go, file.Peer, file.CPUs, file.CPU, file.Date)
		writeTable(&table, lines)
		text = before + begin + table.String() + end + after
	}
	return text, nil
}

// readmeRows are the rows of the README that have figures of speed.
var readmeRows = []struct{ title, work, what string }{
	{"CPU for a list of 10,000 issues", "10,000 issues, no latency", "CPU"},
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
			l, err := f.line(r.work, r.what)
			if err != nil {
				return "", err
			}
			if l.Peer <= l.Hand {
				return "", fmt.Errorf("on %s, client-go is not slower than code by hand: %s", f.Go, r.work)
			}
			ratio = l.Forge / l.Hand
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
		return nil, errors.New("FIGURES.md has no table of missed targets")
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

// withoutReason returns the missed targets of this release that have no reason in FIGURES.md.
func withoutReason(lines []line) (missed []string, err error) {
	text, err := os.ReadFile(allPath)
	if err != nil {
		return nil, err
	}
	rows, err := reasons(string(text))
	return slices.DeleteFunc(missedTargets(release(), lines), func(row string) bool { return slices.Contains(rows, row) }), err
}
