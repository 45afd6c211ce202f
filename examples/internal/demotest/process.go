package demotest

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// itself is the environment variable that makes a test binary run the program.
const itself = "FORGE_EXAMPLE_ITSELF"

// Main is the TestMain of a program. If Command started the test binary, it runs the program, so
// that there is a process to interrupt or to kill.
func Main(m *testing.M, program func()) {
	if os.Getenv(itself) != "" {
		program()
		return
	}
	os.Exit(m.Run())
}

// Command returns a process of the program that is tested.
func Command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
	cmd.Env = append(os.Environ(), itself+"=1")
	return cmd
}

// Result is what a process has printed and left.
type Result struct {
	// Code is the exit code.
	Code int
	// Out is the standard output.
	Out string
	// Err is the standard error.
	Err string
	// Files are the files and folders in the working directory, as slash-separated paths.
	Files []string
}

// Process runs the program as a process in a working directory, with an empty folder for temporary
// files. It checks what is true of each run: nothing is left in the temporary folder, the output
// has no escape codes, because it does not go to a terminal, no plural after a 1, and not the
// token, and a run that fails prints an error.
func Process(t *testing.T, dir, input string, args ...string) Result {
	t.Helper()
	temporary := t.TempDir()
	var out, problems bytes.Buffer
	cmd := Command(t, args...)
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, strings.NewReader(input), &out, &problems
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		cmd.Env = append(cmd.Env, name+"="+temporary)
	}
	_ = cmd.Run() // the exit code is enough
	r := Result{Code: cmd.ProcessState.ExitCode(), Out: out.String(), Err: problems.String(), Files: files(t, dir)}
	text := r.Out + r.Err
	assert.Empty(t, files(t, temporary), "left in the folder for temporary files")
	assert.NotContains(t, text, "\x1b", "escape codes")
	assert.Empty(t, wrongPlurals(text), text)
	if token := os.Getenv("FORGE_TOKEN"); token != "" {
		assert.NotContains(t, text, token)
	}
	if r.Code != 0 {
		assert.NotEmpty(t, r.Err, "exit code %d: %s", r.Code, text)
	}
	return r
}

func files(t *testing.T, dir string) (paths []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && path != dir {
			path, err = filepath.Rel(dir, path)
			paths = append(paths, filepath.ToSlash(path))
		}
		return err
	}))
	return paths
}

// wrongPlurals returns what is like "1 files".
func wrongPlurals(text string) []string {
	return regexp.MustCompile(`(^|[^\w.,:/-])1 [a-z]+s\b`).FindAllString(text, -1)
}
