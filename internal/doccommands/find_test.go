package doccommands_test

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// command is a shell command of a document, or a block of commands that belong together.
type command struct {
	file string
	text string
}

var (
	block  = regexp.MustCompile("(?ms)^ *```(?:sh|bash|shell|console)\n(.*?)^ *```")
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inline = regexp.MustCompile("`([^`\n]+)`")

	// isCommand matches what a reader would type: a program of these documents and its arguments.
	isCommand = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*(?:` +
		`go (?:run|test|doc|get|mod|build|vet|install|generate|tool|work|env)\b|` +
		`(?:cd|curl|git|gh|npm|docker|python3?|export|golangci-lint|forgevet) |\.ci/)`)
)

// commandsOfDocuments returns the commands of all Markdown files except the changelog: blocks
// marked as shell, and inline code.
func commandsOfDocuments(t *testing.T) (all []command) {
	t.Helper()
	for _, file := range tracked(t, "*.md") {
		if file == "CHANGELOG.md" || strings.Contains(file, "testdata/") {
			continue
		}
		text := read(t, file)
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			all = append(all, command{file, unindent(found[1])})
		}
		for _, found := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if isCommand.MatchString(found[1]) {
				all = append(all, command{file, found[1]})
			}
		}
	}
	return all
}

// commandsOfComments returns the commands in the code blocks of comments.
func commandsOfComments(t *testing.T) (all []command) {
	t.Helper()
	for _, file := range tracked(t, "*.go") {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(file, "testdata/") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, file), nil, parser.ParseComments)
		require.NoError(t, err)
		for _, group := range parsed.Comments {
			text := strings.ReplaceAll(group.Text(), "\\\n", "")
			for line := range strings.Lines(text) {
				code, isCode := strings.CutPrefix(line, "\t")
				code, _, _ = strings.Cut(strings.TrimSpace(code), " # ")
				if isCode && isCommand.MatchString(code) {
					all = append(all, command{file, strings.TrimSpace(code)})
				}
			}
		}
	}
	return all
}

// unindent removes the indentation of the first line from all lines.
func unindent(text string) string {
	indent := text[:len(text)-len(strings.TrimLeft(text, " "))]
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n"+indent, "\n"), indent)
}

// tracked returns the files that git knows, new ones included.
func tracked(t *testing.T, pattern string) []string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "--cached", "--others", "--exclude-standard", "--", pattern)
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	var files []string
	for file := range strings.FieldsSeq(string(out)) {
		if _, err := os.Stat(filepath.Join(root, file)); err == nil {
			files = append(files, file)
		}
	}
	return files
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	return string(text)
}
