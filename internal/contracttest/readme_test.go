package contracttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/forgetest"
)

// TestTriage is the test that the README quotes.
func TestTriage(t *testing.T) {
	srv := forgetest.New(t)
	app := srv.AddProject("group/app")
	app.AddIssues(250, func(i int, issue *forgetest.Document) {
		issue.Set("title", fmt.Sprintf("Bug %d", i)).Set("labels", []string{"bug"})
	})
	srv.Fail("GET /issues", forgetest.Status(502).Times(1)) // retried

	issues, err := forge.Collect(srv.Client().Issues.List(t.Context(), &forge.ListIssuesOptions{
		Scope: forge.ScopeAll, Labels: forge.Labels("bug"),
	}))
	if err != nil || len(issues) != 250 {
		t.Fatal(len(issues), err)
	}
}

// maxReadme is the maximum number of lines of the README. Longer texts belong in docs/.
const maxReadme = 200

// TestReadme checks that the README is short, that it shows TestTriage, and that docs/README.md
// lists every guide.
func TestReadme(t *testing.T) {
	readme := readText(t, "README.md")
	assert.LessOrEqual(t, strings.Count(readme, "\n"), maxReadme, "move details to docs/")
	triage := regexp.MustCompile(`(?ms)^func TestTriage.*?^}\n`).FindString(readText(t, "internal/contracttest/readme_test.go"))
	require.NotEmpty(t, triage)
	if !strings.Contains(readme, "```go\n"+triage+"```\n") {
		t.Error("the README shows another TestTriage than this file has")
	}
	for _, guide := range glob(t, "docs/*.md") {
		name := filepath.Base(guide)
		if name != "README.md" && !strings.Contains(readText(t, "docs/README.md"), "]("+name+")") {
			t.Errorf("docs/README.md does not list %s", name)
		}
	}
}

var (
	codeBlock    = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	relativeLink = regexp.MustCompile(`\]\(([^)\s:]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
	goRun        = regexp.MustCompile(`\bgo (?:run|test) (?:-\S+ )*(\./\S+)`)
)

// TestDocumentLinks follows the links between the documents: the file exists, and so does the
// heading.
func TestDocumentLinks(t *testing.T) {
	checked := 0
	for _, file := range glob(t, "*.md", "docs/*.md", "examples/*.md", "benchmarks/*.md") {
		for _, link := range relativeLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(readText(t, file), ""), -1) {
			path, anchor, _ := strings.Cut(link[1], "#")
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
			}
			checked++
			if _, err := os.Stat(target); !assert.NoError(t, err, "%s links to %s", file, link[1]) || anchor == "" {
				continue
			}
			assert.Contains(t, anchors(readText(t, target)), anchor, "%s links to %s", file, link[1])
		}
	}
	assert.Greater(t, checked, 50, "the test has not found what it counts")
}

// TestCommandsNameFolders checks that the folders in the commands of the README and the examples
// exist.
func TestCommandsNameFolders(t *testing.T) {
	checked := 0
	for _, file := range []string{"README.md", "examples/README.md"} {
		for _, command := range goRun.FindAllStringSubmatch(readText(t, file), -1) {
			folder := strings.TrimRight(strings.TrimSuffix(command[1], "..."), "`/")
			assert.DirExists(t, filepath.FromSlash(folder), "%s: %s", file, command[0])
			checked++
		}
	}
	assert.Greater(t, checked, 8, "the test has not found what it counts")
}

// anchors returns the names by which links find the headings of a document.
func anchors(text string) (names []string) {
	punctuation := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, h := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		names = append(names, strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return names
}

func readText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func glob(t *testing.T, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		files = append(files, found...)
	}
	return files
}
