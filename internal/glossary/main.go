// Glossary checks the language of comments and guides: words that the glossary replaces, comment
// lines over 100 columns, and references to files or headings that do not exist.
//
//	go run ./internal/glossary
//
// It runs in the root of the repository, prints one line for each finding, and fails if there is
// one. It reads comments of Go files that are neither tests nor generated, README.md, AGENTS.md,
// SECURITY.md and docs/*.md. References are checked in comments of tests, too. It needs the
// standard library only.
package main

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

//go:embed glossary.txt
var glossary string

// columns is the longest comment line; a tab counts as one column.
const columns = 100

// entry is a line of the glossary.
type entry struct {
	better      string
	not, except *regexp.Regexp // except is nil if there is no exception
}

// entries returns the glossary.
func entries(text string) (list []entry, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		parts := strings.Split(line, "\t")
		if len(parts) < 2 {
			return nil, fmt.Errorf("glossary: %q has no second column", line)
		}
		e := entry{better: parts[0]}
		if e.not, err = regexp.Compile("(?i)" + parts[1]); err != nil {
			return nil, err
		}
		if len(parts) > 2 {
			if e.except, err = regexp.Compile("(?i)" + parts[2]); err != nil {
				return nil, err
			}
		}
		list = append(list, e)
	}
	return list, nil
}

// checker collects the findings in the files below a folder.
type checker struct {
	dir      string
	entries  []entry
	files    map[string]bool            // paths, and names without their folder
	headings map[string]map[string]bool // by the name of a Markdown file
	findings []string
}

func main() {
	findings, err := check(".")
	if err != nil {
		fmt.Fprintln(os.Stderr, "glossary:", err)
		os.Exit(1)
	}
	for _, finding := range findings {
		fmt.Fprintln(os.Stderr, finding)
	}
	if len(findings) > 0 {
		os.Exit(1)
	}
}

// check returns the findings in the files below dir.
func check(dir string) ([]string, error) {
	c := &checker{dir: dir, files: map[string]bool{}, headings: map[string]map[string]bool{}}
	var err error
	if c.entries, err = entries(glossary); err != nil {
		return nil, err
	}
	paths, err := c.list()
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join(dir, path))
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(path, ".go") {
			c.source(path, text)
		} else {
			c.guide(path, string(text))
		}
	}
	return c.findings, nil
}

// list returns the Go and Markdown files, and records their names and headings.
func (c *checker) list() (paths []string, err error) {
	err = filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() {
			if path != c.dir && (name == "testdata" || name == "node_modules" || name[0] == '.') {
				return filepath.SkipDir
			}
			return nil
		}
		if ext := filepath.Ext(path); ext != ".go" && ext != ".md" {
			return nil
		}
		relative, err := filepath.Rel(c.dir, path)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		paths = append(paths, relative)
		c.files[relative], c.files[d.Name()] = true, true
		if strings.HasSuffix(path, ".md") {
			return c.readHeadings(path)
		}
		return nil
	})
	return paths, err
}

var heading = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)

func (c *checker) readHeadings(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	set := map[string]bool{}
	for _, m := range heading.FindAllSubmatch(text, -1) {
		set[string(m[1])] = true
	}
	c.headings[filepath.Base(path)] = set
	return nil
}

func (c *checker) found(path string, line int, format string, args ...any) {
	c.findings = append(c.findings, fmt.Sprintf("%s:%d: ", path, line)+fmt.Sprintf(format, args...))
}

// words finds words of the glossary in prose.
func (c *checker) words(path string, line int, prose string) {
	for _, e := range c.entries {
		if word := e.not.FindString(prose); word != "" && (e.except == nil || !e.except.MatchString(prose)) {
			c.found(path, line, "%q: write %s", word, e.better)
		}
	}
}
