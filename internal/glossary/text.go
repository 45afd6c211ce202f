package main

import (
	"go/scanner"
	"go/token"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// code matches text that is not prose: quoted text, links to identifiers, names, calls, addresses.
var code = regexp.MustCompile("`[^`]*`" + `|"[^"]*"|\[[A-Za-z_.*]+\]|\b[a-z]+[A-Z]\w*|\b[A-Z]\w*[a-z]\w*[A-Z]\w*|\w+\.[A-Z]\w*|\.\w+|\b\w+\(|https?://\S+`)

// source checks the comments of a Go file.
func (c *checker) source(name string, text []byte) {
	generated := strings.HasPrefix(path.Base(name), "zz_")
	prose := !generated && !strings.HasSuffix(name, "_test.go")
	lines := strings.Split(string(text), "\n")
	for _, found := range lineComments(text) {
		number, comment := found.line, found.text
		if !generated {
			c.references(name, number, comment)
		}
		if !prose || isDirective(comment) {
			continue
		}
		line := lines[number-1]
		if alone := strings.HasPrefix(strings.TrimLeft(line, "\t "), "//"); alone && len([]rune(line)) > columns && strings.Contains(strings.TrimSpace(comment), " ") {
			c.found(name, number, "a comment of %d columns", len([]rune(line)))
		}
		c.words(name, number, proseOf(comment, following(lines, number)))
	}
}

// lineComment is the text of a comment after its slashes, and its line.
type lineComment struct {
	line int
	text string
}

// lineComments returns the line comments of a Go file.
func lineComments(text []byte) (comments []lineComment) {
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			return comments
		}
		if comment, ok := strings.CutPrefix(literal, "//"); tok == token.COMMENT && ok {
			comments = append(comments, lineComment{file.Line(pos), comment})
		}
	}
}

// isDirective reports whether a comment is an instruction to a tool, or indented code.
func isDirective(comment string) bool {
	return strings.HasPrefix(comment, "go:") || strings.HasPrefix(comment, "nolint") || strings.HasPrefix(comment, "\t")
}

// following returns the line after the comment that has the line.
func following(lines []string, number int) string {
	if number > 1 && strings.HasPrefix(strings.TrimSpace(lines[number-2]), "//") {
		return "" // not the first line of the comment
	}
	for _, line := range lines[number:] {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") {
			return line
		}
	}
	return ""
}

var (
	firstWord   = regexp.MustCompile(`^\w+`)
	identifiers = regexp.MustCompile(`\w+`)
)

// proseOf returns a comment without code. It also removes the first word if this is the name of the
// declaration that follows.
func proseOf(comment, declaration string) string {
	comment = strings.TrimSpace(comment)
	if name := firstWord.FindString(comment); name != "" && slices.Contains(identifiers.FindAllString(declaration, -1), name) {
		comment = comment[len(name):]
	}
	return code.ReplaceAllString(comment, " _ ")
}

var link = regexp.MustCompile(`\]\([^)]*\)`)

// guide checks the words of README.md, AGENTS.md, SECURITY.md and docs, and of the comments in
// their code.
func (c *checker) guide(name, text string) {
	c.paths(name, text)
	if name != "README.md" && name != "AGENTS.md" && name != "SECURITY.md" && path.Dir(name) != "docs" {
		return
	}
	fenced, number := false, 0
	for line := range strings.Lines(text) {
		number++
		switch _, comment, ok := strings.Cut(line, "// "); {
		case strings.HasPrefix(strings.TrimSpace(line), "```"):
			fenced = !fenced
		case !fenced:
			c.words(name, number, code.ReplaceAllString(link.ReplaceAllString(line, "]"), " _ "))
		case ok:
			c.words(name, number, code.ReplaceAllString(comment, " _ "))
		}
	}
}

var (
	pathName = regexp.MustCompile("`(\\.?[\\w-][\\w.-]*)((?:/[\\w.-]+)+)/?`")
	fileName = regexp.MustCompile(`(?:^|[^\w/.*<-])([A-Za-z_][\w/-]*\.(?:md|go))(?:[^\w(*.]|\.?$|\.[^\w])`)
	section  = regexp.MustCompile(`([\w./-]+\.md),? "([^"]+)"`)
	design   = regexp.MustCompile(`\bDesign \d+(\.\d+)?|\bshared/[\w./-]+|\bcatalogue's README`)
)

// paths finds paths in Markdown that begin with a folder of the repository, or of the file, and do
// not exist there.
func (c *checker) paths(name, text string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if m := design.FindString(line); m != "" {
			c.found(name, number, "%q is not in the repository: state the rule", m)
		}
		for _, m := range pathName.FindAllStringSubmatch(line, -1) {
			for _, dir := range []string{c.dir, path.Join(c.dir, path.Dir(name))} {
				folder, err := os.Stat(path.Join(dir, m[1]))
				if err != nil || !folder.IsDir() {
					continue
				}
				if _, err := os.Stat(path.Join(dir, m[1]+m[2])); err != nil {
					c.found(name, number, "there is no %s", m[1]+m[2])
				}
				break
			}
		}
	}
}

// references finds names of files and headings that do not exist.
func (c *checker) references(name string, number int, comment string) {
	if strings.Contains(comment, "://") {
		return
	}
	if m := design.FindString(comment); m != "" {
		c.found(name, number, "%q is not in the repository: state the rule", m)
	}
	for _, m := range fileName.FindAllStringSubmatch(comment, -1) {
		if strings.Contains(comment, "> "+m[1]) {
			continue // the output of a command
		}
		if !c.files[m[1]] && !c.files[path.Base(m[1])] && !strings.HasPrefix(m[1], "zz_") {
			c.found(name, number, "there is no file %s", m[1])
		}
	}
	for _, m := range section.FindAllStringSubmatch(comment, -1) {
		if headings, ok := c.headings[path.Base(m[1])]; ok && !headings[m[2]] {
			c.found(name, number, "%s has no heading %q", m[1], m[2])
		}
	}
}
