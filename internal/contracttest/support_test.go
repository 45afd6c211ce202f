package contracttest_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
)

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
