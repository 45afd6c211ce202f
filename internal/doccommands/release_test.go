package doccommands_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestRelease runs all commands of docs/releasing.md in a clone: for the first release, a later
// one, and a retraction. The server of the repository is a folder, gh is a script that records its
// arguments, and .ci/run only compares the API.
func TestRelease(t *testing.T) {
	if os.Getenv("FORGE_COMMANDS") != "all" {
		t.Skip("runs with FORGE_COMMANDS=all only, as in .ci/run: it downloads modules and takes a minute")
	}
	server, clone, bin := t.TempDir(), filepath.Join(t.TempDir(), "clone"), t.TempDir()
	gh := "#!/bin/sh\nprintf '%s\\n' \"$*\" >" + bin + "/arguments\nwhile [ $# -gt 1 ]; do shift; done\ncp \"$1\" " + bin + "/notes\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "gh"), []byte(gh), 0o755))
	prepare := fmt.Sprintf(`
git clone -q --bare . %[1]s/forge-go.git
git clone -q %[1]s/forge-go.git %[2]s
cd %[2]s
git checkout -q -B main
git config user.name tester
git config user.email tester@example.com
printf '#!/bin/sh\nexec .ci/api\n' >.ci/run
git commit -qam 'a short .ci/run'
git push -q -f origin main
git push -q origin --delete $(git tag) 2>/dev/null || true
git tag -d $(git tag) >/dev/null 2>&1 || true
`, server, clone)
	output(t, root, prepare)

	steps := blocksOf(t, "docs/releasing.md")
	require.Len(t, steps, 9, "the test knows the blocks of docs/releasing.md by their order")
	version, start, set, check, tag, publish, use, first, retract := steps[0], steps[1], steps[2], steps[3], steps[4], steps[5], steps[6], steps[7], steps[8]
	// The go command requests a server by name; git uses the folder instead.
	env := fmt.Sprintf("export PATH=%s:$PATH GOPRIVATE=github.com/forge-sdk GOFLAGS=-mod=mod GIT_CONFIG_COUNT=1 "+
		"GIT_CONFIG_KEY_0=url.%s/forge-go.git.insteadOf GIT_CONFIG_VALUE_0=https://github.com/forge-sdk/forge-go\n", bin, server)

	out := output(t, clone, env+strings.Join([]string{version, start, check, first, publish, use}, "\n"))
	assert.Contains(t, out, `const Version = "0.1.0"`)
	notes, err := os.ReadFile(filepath.Join(bin, "notes"))
	require.NoError(t, err)
	assert.Contains(t, string(notes), "The first release")
	assert.NotContains(t, string(notes), "\n## ")

	next := strings.Replace(version, "v0.1.0", "v0.2.0", 1)
	output(t, clone, `sed -i 's/^## v0.1.0$/## Unreleased\n\n### Fixed\n\n- A test.\n\n## v0.1.0/' CHANGELOG.md && git commit -qam next && git push -q origin main`)
	out = output(t, clone, env+strings.Join([]string{next, start, set, check, tag, publish, use}, "\n"))
	assert.Contains(t, out, `const Version = "0.2.0"`)
	notes, err = os.ReadFile(filepath.Join(bin, "notes"))
	require.NoError(t, err)
	assert.Equal(t, "### Fixed\n\n- A test.", strings.TrimSpace(string(notes)))
	arguments, err := os.ReadFile(filepath.Join(bin, "arguments"))
	require.NoError(t, err)
	assert.Contains(t, string(arguments), "release create v0.2.0 --verify-tag")

	output(t, clone, retract+"grep -q 'retract v0.1.0' go.mod")
}

// blocksOf returns the shell blocks of a document, in order.
func blocksOf(t *testing.T, file string) (blocks []string) {
	t.Helper()
	for _, found := range block.FindAllStringSubmatch(read(t, file), -1) {
		blocks = append(blocks, unindent(found[1]))
	}
	return blocks
}
