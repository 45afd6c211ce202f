package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const program = `package main

import (
	"context"
	"os"

	forge "github.com/forge-sdk/forge-go"
)

type job struct{}

func main() {
	ctx, client := context.Background(), new(forge.Client)
	for issue%[1]s := range client.Issues.List(ctx, nil) {
		use(issue%[1]s)
	}
	for row%[1]s := range client.PlaceholderReassignments.ReadCSV(os.Stdin) {
		use(row%[1]s)
	}
	for one%[1]s := range forge.ListAs[job](ctx, client, forge.Call{}) {
		use(one%[1]s)
	}
}

func use(...any) {}
`

// Both ways to run the command have the same findings in a program that uses the real package.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	tool := filepath.Join(dir, "forgevet")
	text, err := run(t, ".", "go", "build", "-o", tool, ".")
	require.NoError(t, err, text)
	writeModule(t, dir)

	for _, command := range [][]string{{tool, "./..."}, {"go", "vet", "-vettool=" + tool, "./..."}} {
		write(t, dir, "main.go", fmt.Sprintf(program, ""))
		text, err := run(t, dir, command...)
		var failed *exec.ExitError
		require.ErrorAs(t, err, &failed, text)
		assert.Equal(t, 3, strings.Count(text, "the error of the list is dropped"), text)
		for _, place := range []string{"main.go:14:", "main.go:17:", "main.go:20:"} {
			assert.Contains(t, text, place)
		}

		write(t, dir, "main.go", fmt.Sprintf(program, ", err"))
		text, err = run(t, dir, command...)
		assert.NoError(t, err)
		assert.Empty(t, text)
	}
	text, err = run(t, dir, tool, "help")
	require.NoError(t, err, text)
	assert.Contains(t, text, "\n    listerror ")
}

// writeModule writes a go.mod that uses the client of this repository, and its dependencies.
func writeModule(t *testing.T, dir string) {
	t.Helper()
	const name = "github.com/forge-sdk/forge-go"
	root, err := filepath.Abs("..")
	require.NoError(t, err)
	write(t, dir, "go.sum", read(t, filepath.Join(root, "go.sum")))
	mod := strings.Replace(read(t, filepath.Join(root, "go.mod")), "module "+name, "module example.com/program", 1)
	write(t, dir, "go.mod", fmt.Sprintf("%s\nrequire %s v0.0.0\n\nreplace %s => %q\n", mod, name, name, root))
}

func run(t *testing.T, dir string, command ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
	cmd.Dir = dir
	text, err := cmd.CombinedOutput()
	return string(text), err
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

func write(t *testing.T, dir, file, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600))
}
