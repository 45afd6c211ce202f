package contracttest_test

import (
	osexec "os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// NOTICE names each module that go.mod requires, and lists the modules that programs link separately.
func TestNotice(t *testing.T) {
	linked, others, found := strings.Cut(readText(t, "NOTICE"), "Tests only:")
	require.True(t, found)
	linking, err := osexec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".").Output()
	require.NoError(t, err)
	for _, entry := range regexp.MustCompile(`(?m)^\t(\S+) v`).FindAllStringSubmatch(readText(t, "go.mod"), -1) {
		needed := slices.Contains(strings.Fields(string(linking)), entry[1])
		assert.Contains(t, map[bool]string{true: linked, false: others}[needed], "- "+entry[1]+":")
	}
}
