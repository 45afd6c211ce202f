package contracttest_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// supportRow is a row of the table "What changes from release to release" in docs/support.md.
type supportRow struct{ release, sources string }

// TestSupportTable compares the table in docs/support.md with the statements of the specification,
// in both directions: each release that a statement names has a row with the section, and for each
// row with a section a statement of that section names the release.
func TestSupportTable(t *testing.T) {
	rows := supportRows(t)
	assert.Greater(t, len(rows), 50, "the test has not found what it counts")
	stated := releasesOfStatements(t)
	assert.Greater(t, len(stated), 50, "the test has not found what it counts")
	for place := range stated {
		found := false
		for _, row := range rows {
			found = found || row.has(place)
		}
		assert.True(t, found, "no row of docs/support.md has %s", place)
	}
	source := regexp.MustCompile(`D(\d) ((?:§[\d.]+(?:, )?)+)`)
	for _, row := range rows {
		for _, document := range source.FindAllStringSubmatch(row.sources, -1) {
			for section := range strings.SplitSeq(document[2], ", ") {
				if place := fmt.Sprintf("%s in D%s %s", row.release, document[1], section); section != "" {
					assert.True(t, stated[place], "no statement names release %s", place)
				}
			}
		}
	}
}

func (r supportRow) has(place string) bool {
	release, section, _ := strings.Cut(place, " in ")
	document, section, _ := strings.Cut(section, " ")
	return r.release == release && regexp.MustCompile(document+` [^D]*`+regexp.QuoteMeta(section)+`(?:,|;| |$)`).MatchString(r.sources)
}

// supportRows returns the rows. A row without a release belongs to the release above it.
func supportRows(t *testing.T) (rows []supportRow) {
	t.Helper()
	release := ""
	for _, row := range regexp.MustCompile(`(?m)^\| ([\d.]*) ?\| .* \| (.*) \|$`).FindAllStringSubmatch(readText(t, "docs/support.md"), -1) {
		if row[1] != "" {
			release = row[1]
		}
		rows = append(rows, supportRow{release, row[2]})
	}
	return rows
}

// releasesOfStatements returns the releases that the statements name, each with its section: "17.7
// in D1 §4.3".
func releasesOfStatements(t *testing.T) map[string]bool {
	t.Helper()
	places := map[string]bool{}
	number := regexp.MustCompile(`\b1\d\.\d{1,2}\b`)
	for document := 1; document <= 3; document++ {
		for _, r := range statementsOf(t, fmt.Sprintf("statements-%d.tsv", document)) {
			// The version of a runner and the numbers in these statements are not releases of the API.
			if strings.HasPrefix(r.text, "version_prefix ") || strings.HasPrefix(r.text, "Health statistics ") {
				continue
			}
			for _, release := range number.FindAllString(r.text, -1) {
				places[fmt.Sprintf("%s in D%d §%s", release, document, r.section)] = true
			}
		}
	}
	return places
}

// TestGoReleases compares the Go releases of .ci/run with those that the workflows and the documents
// name, and checks that each action of a workflow is named by its digest, with the version behind it.
func TestGoReleases(t *testing.T) {
	run := regexp.MustCompile(`(?m)^first=go(1\.26\.(\d+)) other=go(1\.27\.(\d+)) `).FindStringSubmatch(readText(t, ".ci/run"))
	if !assert.NotNil(t, run, "the releases of .ci/run") {
		return
	}
	first, other := run[1], run[3]
	floor := regexp.MustCompile(`Build programs with 1\.26\.(\d+), 1\.27\.(\d+) or a later patch`).FindStringSubmatch(readText(t, "docs/support.md"))
	if assert.NotNil(t, floor, "the oldest patches, in docs/support.md") {
		for i, patch := range []string{run[2], run[4]} {
			tested, err := strconv.Atoi(patch)
			assert.NoError(t, err)
			oldest, err := strconv.Atoi(floor[i+1])
			assert.NoError(t, err)
			assert.GreaterOrEqual(t, tested, oldest, "the patch of .ci/run")
		}
	}
	assert.Contains(t, readText(t, "docs/support.md"), "with go"+first)
	assert.Contains(t, readText(t, "docs/support.md"), "with go"+other)
	assert.Contains(t, readText(t, "go.mod"), "\ngo 1.26.0\n")
	assert.Contains(t, readText(t, ".github/workflows/ci.yml"), fmt.Sprintf("go: [%q, %q]", first, other))
	assert.Contains(t, readText(t, ".github/workflows/nightly.yml"), fmt.Sprintf("go-version: %q", first))
	files, err := filepath.Glob(".github/workflows/*")
	assert.NoError(t, err)
	actions := map[string]string{}
	for _, file := range files {
		for _, line := range regexp.MustCompile(`uses: *(\S+?)@(.*)`).FindAllStringSubmatch(readText(t, file), -1) {
			assert.Regexp(t, `^[0-9a-f]{40} # v\d+\.\d+\.\d+$`, line[2], "%s: %s", file, line[1])
			assert.Contains(t, []string{"", line[2]}, actions[line[1]], "%s: %s in two versions", file, line[1])
			actions[line[1]] = line[2]
		}
	}
	assert.NotEmpty(t, actions, "the test has not found what it counts")
}
