package contracttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

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

// tableRows returns the cells of the rows of the table below a heading, without its first two
// lines.
func tableRows(t *testing.T, file, heading string) (rows [][]string) {
	t.Helper()
	_, section, found := strings.Cut(readText(t, file), "\n"+heading+"\n")
	require.True(t, found, "%s has no heading %q", file, heading)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, line := range regexp.MustCompile(`(?m)^\|(.*)\|$`).FindAllStringSubmatch(section, -1) {
		var cells []string
		for cell := range strings.SplitSeq(line[1], " | ") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		rows = append(rows, cells)
	}
	require.Greater(t, len(rows), 2, "%s: no table below %q", file, heading)
	return rows[2:]
}

var (
	codeBlock    = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	relativeLink = regexp.MustCompile(`\]\(([^)\s:]+)\)`)
	heading      = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestDocumentLinks follows the links between the documents: the file exists, and so does the
// heading. docs/README.md links to every guide.
func TestDocumentLinks(t *testing.T) {
	checked, listed := 0, map[string]bool{"docs/README.md": true}
	for _, file := range glob(t, "*.md", "docs/*.md", "examples/*.md", "benchmarks/*.md") {
		for _, link := range relativeLink.FindAllStringSubmatch(codeBlock.ReplaceAllString(readText(t, file), ""), -1) {
			path, anchor, _ := strings.Cut(link[1], "#")
			target := file
			if path != "" {
				target = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
			}
			checked++
			if file == "docs/README.md" {
				listed[target] = true
			}
			if _, err := os.Stat(target); !assert.NoError(t, err, "%s links to %s", file, link[1]) || anchor == "" {
				continue
			}
			assert.Contains(t, anchors(readText(t, target)), anchor, "%s links to %s", file, link[1])
		}
	}
	assert.Greater(t, checked, 50, "the test has not found what it counts")
	for _, guide := range glob(t, "docs/*.md") {
		assert.True(t, listed[guide], "docs/README.md does not list %s", guide)
	}
}

// anchors returns the names by which links find the headings of a document.
func anchors(text string) (names []string) {
	punctuation := regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
	for _, h := range heading.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		names = append(names, strings.ReplaceAll(punctuation.ReplaceAllString(strings.ToLower(h[1]), ""), " ", "-"))
	}
	return names
}

// Every test and fuzz target that SECURITY.md and docs/proof.md name exists in this module or in a
// module below it, and every promise names at least one. A name may end in *.
func TestSecurityPromises(t *testing.T) {
	var declared []string
	for test := range declaredTests(t) {
		declared = append(declared, test[strings.Index(test, ":")+1:])
	}
	named := 0
	for file, heading := range map[string]string{"SECURITY.md": "## What is promised", "docs/proof.md": "## The keep-list"} {
		for _, row := range tableRows(t, file, heading) {
			names := regexp.MustCompile("`((?:Test|Fuzz)\\w*)(\\*?)`").FindAllStringSubmatch(row[1], -1)
			assert.NotEmpty(t, names, "%s: the promise has no proof: %s", file, row[0])
			for _, name := range names {
				named++
				assert.True(t, slices.ContainsFunc(declared, func(test string) bool {
					return test == name[1] || name[2] != "" && strings.HasPrefix(test, name[1])
				}), "%s: %s does not exist", file, name[0])
			}
		}
	}
	assert.Greater(t, named, 60, "the test has not found what it counts")
}

// TestGoReleases compares the Go releases of .ci/run with those that the workflows and the documents
// name, and checks that each action of a workflow is named by its digest, with the version behind it.
func TestGoReleases(t *testing.T) {
	run := regexp.MustCompile(`(?m)^first=go(1\.26\.\d+) other=go(1\.27\.\d+) `).FindStringSubmatch(readText(t, ".ci/run"))
	require.NotNil(t, run, "the releases of .ci/run")
	first, other := run[1], run[2]
	support := readText(t, "docs/support.md")
	floor := regexp.MustCompile(`1\.26\.(\d+), 1\.27\.(\d+) or a later patch`).FindStringSubmatch(support)
	require.NotNil(t, floor, "the oldest patches, in docs/support.md")
	for i, oldest := range []string{"1.26." + floor[1], "1.27." + floor[2]} {
		assert.GreaterOrEqual(t, patch(t, run[i+1]), patch(t, oldest), "the patch of .ci/run")
	}
	assert.Contains(t, support, "go"+first)
	assert.Contains(t, support, "go"+other)
	assert.Contains(t, readText(t, "go.mod"), "\ngo 1.26.0\n")
	assert.Contains(t, readText(t, ".github/workflows/ci.yml"), fmt.Sprintf("go: [%q, %q]", first, other))
	assert.Contains(t, readText(t, ".github/workflows/nightly.yml"), fmt.Sprintf("go-version: %q", first))
	actions := map[string]string{}
	for _, file := range glob(t, ".github/workflows/*") {
		for _, line := range regexp.MustCompile(`uses: *(\S+?)@(.*)`).FindAllStringSubmatch(readText(t, file), -1) {
			assert.Regexp(t, `^[0-9a-f]{40} # v\d+\.\d+\.\d+$`, line[2], "%s: %s", file, line[1])
			assert.Contains(t, []string{"", line[2]}, actions[line[1]], "%s: %s in two versions", file, line[1])
			actions[line[1]] = line[2]
		}
	}
	assert.NotEmpty(t, actions, "the test has not found what it counts")
}

func patch(t *testing.T, release string) (number int) {
	t.Helper()
	_, err := fmt.Sscanf(release[strings.LastIndex(release, ".")+1:], "%d", &number)
	require.NoError(t, err)
	return number
}
