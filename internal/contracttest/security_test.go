package contracttest_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every test and fuzz target that SECURITY.md names exists in this module or in a module below it,
// and every promise names at least one.
func TestSecurityPromises(t *testing.T) {
	text, err := os.ReadFile("SECURITY.md")
	require.NoError(t, err)
	declared := testNames(t)
	named := 0
	for row := range strings.Lines(string(text)) {
		names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]*)`").FindAllStringSubmatch(row, -1)
		for _, name := range names {
			named++
			assert.True(t, slices.Contains(declared, name[1]), "%s does not exist: %s", name[1], row)
		}
		if strings.HasPrefix(row, "| ") && !strings.HasPrefix(row, "| promise") {
			assert.NotEmpty(t, names, "the promise has no proof: %s", row)
		}
	}
	assert.Greater(t, named, 20, "the test has not found what it counts")
}

// testNames finds the tests and fuzz targets of all modules.
func testNames(t *testing.T) (names []string) {
	t.Helper()
	declaration := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range declaration.FindAllStringSubmatch(string(source), -1) {
			names = append(names, found[1])
		}
		return err
	}))
	return names
}
