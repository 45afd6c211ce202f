package contracttest_test

import (
	"fmt"
	"regexp"
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
		for line := range strings.Lines(readText(t, fmt.Sprintf("testdata/spec/statements-%d.tsv", document))) {
			columns := strings.Split(line, "\t")
			// The version of a runner and the numbers in these statements are not releases of the API.
			if len(columns) < 2 || strings.HasPrefix(columns[1], "version_prefix ") || strings.HasPrefix(columns[1], "Health statistics ") {
				continue
			}
			for _, release := range number.FindAllString(columns[1], -1) {
				places[fmt.Sprintf("%s in D%d §%s", release, document, columns[0])] = true
			}
		}
	}
	return places
}
