package doccommands_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// root is the root of the repository.
const root = "../.."

// TestCommands runs each command of the documents, or checks what can be checked of one that takes
// minutes. A command that no rule covers fails the test.
//
// The commands download and compile the modules of the repository, so they run with
// FORGE_COMMANDS=all only, as .ci/run sets it. Without it, the test checks that a rule covers each.
func TestCommands(t *testing.T) {
	all := append(commandsOfDocuments(t), commandsOfComments(t)...)
	assert.Greater(t, len(all), 80, "the search itself is broken")
	done, rules := map[command]bool{}, rules(testLists{})
	for _, c := range all {
		c.text = withoutOptional(c.text)
		if done[c] {
			continue
		}
		done[c] = true
		t.Run(c.file+"/"+c.text, func(t *testing.T) {
			for _, r := range rules {
				if !r.pattern.MatchString(c.text) {
					continue
				}
				if os.Getenv("FORGE_COMMANDS") == "all" && r.run != nil {
					r.run(t, c)
				}
				return
			}
			t.Errorf("no rule runs this command of %s", c.file)
		})
	}
}

// withoutOptional removes the brackets around optional arguments.
func withoutOptional(text string) string {
	return strings.NewReplacer(" [-", " -", "]", "").Replace(text)
}

// rule says how a command is checked; the first rule that matches counts.
type rule struct {
	pattern *regexp.Regexp
	run     func(*testing.T, command) // nil: the reason is next to the rule
}

func rules(tests testLists) []rule {
	return []rule{
		// TestRelease runs the steps of a release, and installs the release as a caller does.
		{regexp.MustCompile(`\bgit (switch|tag|commit)\b|^version=|^sed |^notes=|\bv0\.1\.0\b|\$version`), nil},
		// The commands without arguments are named in sentences, and so is a command with a placeholder.
		{regexp.MustCompile(`^go (get|generate|run|test|vet|doc|install)$|^go test -overlay$|^go test -run <name>|@version$`), nil},
		// It updates to what is newest on the day, so its outcome is not that of this commit.
		{regexp.MustCompile(`^go get -u `), nil},
		{regexp.MustCompile(`^\.ci/\S+( \S+)?\n?$`), isScript},
		{regexp.MustCompile(`^go generate \./\.\.\.$`), run("go generate -n ./...")},
		{regexp.MustCompile(`^go run \./examples/quickstart\ngo test \./\.\.\.\n$`), firstStep},
		{regexp.MustCompile(`^go test \./\.\.\.$`), firstStep},
		{regexp.MustCompile(`^go vet \./\.\.\.$`), run("go vet .")}, // CI vets everything
		{regexp.MustCompile(`\bgo test\b`), tests.lists},
		{regexp.MustCompile(`^go doc `), documents},
		{regexp.MustCompile(`^go mod edit -replace|forgevet`), inUsersModule},
		{regexp.MustCompile(`\b(mockgen|moq)@`), generatesMocks},
		{regexp.MustCompile(`\bgo run\b`), programs{}.runs},
	}
}

// isScript checks that a script of .ci exists, can be executed, and is valid.
func isScript(t *testing.T, c command) {
	script, _, _ := strings.Cut(strings.TrimSpace(c.text), " ")
	info, err := os.Stat(filepath.Join(root, script))
	require.NoError(t, err)
	assert.NotZero(t, info.Mode()&0o111, "%s cannot be executed", script)
	output(t, root, "bash -n "+script)
}

// firstStep checks that CI begins with the README's test command, and has the quickstart.
func firstStep(t *testing.T, _ command) {
	steps := regexp.MustCompile(`(?m)^go (test|run) .*$`).FindAllString(read(t, ".ci/run"), -1)
	require.NotEmpty(t, steps)
	assert.Equal(t, "go test ./...", steps[0])
	assert.Contains(t, steps, "go run ./examples/quickstart")
}

func run(text string) func(*testing.T, command) {
	return func(t *testing.T, _ command) { output(t, root, text) }
}

var (
	runPattern = regexp.MustCompile(` -run (?:'([^']*)'|(\S+))`)
	plainFlags = regexp.MustCompile(` (-v|-race|-timeout \S+|-count=\d+)\b`)
)

// lists checks that the packages and flags of a test command exist, and that its pattern selects a
// test. CI runs the tests themselves; some of these commands take minutes.
func (tests testLists) lists(t *testing.T, c command) {
	pattern := "."
	if found := runPattern.FindStringSubmatch(c.text); found != nil {
		pattern = found[1] + found[2]
	}
	text := plainFlags.ReplaceAllString(runPattern.ReplaceAllString(c.text, ""), "")
	text = strings.Replace(text, "go test ", "go test -list . ", 1)
	if tests[text] == "" {
		tests[text] = output(t, root, text)
	}
	selected := regexp.MustCompile(pattern)
	names := regexp.MustCompile(`(?m)^(Test|Fuzz|Example|Benchmark)\w*`).FindAllString(tests[text], -1)
	assert.True(t, slices.ContainsFunc(names, selected.MatchString), "%s selects no test", c.text)
}

// testLists are the tests of packages, by the command that lists them.
type testLists map[string]string

// documents runs go doc in a module that imports this one, where readers of the README are, and in
// this repository.
func documents(t *testing.T, c command) {
	assert.NotEmpty(t, output(t, usersModule(t), c.text))
	assert.NotEmpty(t, output(t, root, c.text))
}

// programs are the commands that ran, with their folders: several documents name the same.
type programs map[string]bool

// runs runs a program. One that refuses the example's names, such as a project that the embedded
// server does not have, must at least have its flags.
func (ran programs) runs(t *testing.T, c command) {
	text := regexp.MustCompile(` [>|] .*$`).ReplaceAllString(c.text, "")
	dir, text := folderOf(c.file, text)
	if ran[dir+" "+text] {
		return
	}
	ran[dir+" "+text] = true
	switch {
	case strings.Contains(text, "./internal/mutate"):
		output(t, dir, "go build -o "+os.DevNull+" ./internal/mutate") // minutes; TestKnownOutcomes runs it
		return
	case strings.HasSuffix(dir, "/benchmarks"):
		text += " -only 'hello world, built'"
	case strings.Contains(text, "cmd/forgetest"):
		servesUntilInterrupted(t, dir, text)
		return
	case strings.Contains(text, "redis://"), strings.Contains(text, "FORGE_URL="):
		text = regexp.MustCompile(`go run (\S+).*`).ReplaceAllString(text, "go build -o "+os.DevNull+" $1")
	}
	isExample := strings.Contains(text+dir, "examples/")
	if isExample {
		text = strings.ReplaceAll(text, "go run ", "go run -exec '"+inFolder(t)+"' ")
	}
	out, err := shell(t, dir, text)
	for _, broken := range []string{"flag provided but not defined", "no Go files", "panic:", "undefined:"} {
		assert.NotContains(t, out, broken)
	}
	if !isExample || !endsOtherwise.MatchString(text) {
		assert.NoError(t, err, out)
	}
}

// folderOf returns the folder in which the command of a file runs, and the command without its cd.
func folderOf(file, text string) (dir, rest string) {
	folder, rest, found := strings.Cut(text, " && ")
	folder, changes := strings.CutPrefix(folder, "cd ")
	switch {
	case found && changes:
		return filepath.Join(root, folder), rest
	case strings.Contains(text, "go run . ") || strings.HasSuffix(text, "go run ."):
		return filepath.Join(root, filepath.Dir(file)), text
	}
	return root, text
}

// endsOtherwise matches examples that end with another status than 0 here, as their tests check:
// they ask a person who is not there, find the differences that they look for, or look for objects
// of the reader's server.
var endsOtherwise = regexp.MustCompile(`(registry-cleanup|reassign-users|settings-drift|api-drift)\b| -[a-z-]+\b`)

// inFolder returns a program for go run -exec that runs its arguments in an empty folder, so that
// an example writes nothing into the repository.
func inFolder(t *testing.T) string {
	dir := t.TempDir()
	script := filepath.Join(dir, "run")
	text := "#!/bin/sh\ncase $PWD in */recording) ;; *) cd " + dir + ";; esac\nexec \"$@\"\n"
	require.NoError(t, os.WriteFile(script, []byte(text), 0o755))
	return script
}

// servesUntilInterrupted starts the stand-alone server, on a free port, and interrupts it after two
// seconds.
func servesUntilInterrupted(t *testing.T, dir, text string) {
	out, err := shell(t, dir, "go build -o $T/server "+strings.Fields(text)[2]+
		" && { timeout -s INT 2 $T/server "+strings.Join(strings.Fields(text)[3:], " ")+" -addr 127.0.0.1:0 || [ $? = 124 ]; }")
	require.NoError(t, err, out)
	assert.Contains(t, out, "http://127.0.0.1:")
	assert.Contains(t, out, "curl ")
}

// inUsersModule runs a block of the README or of a guide in the module of a user, next to the
// clone.
func inUsersModule(t *testing.T, c command) {
	if !strings.Contains(c.text, "\n") {
		c.text = "(cd ../forge-go/forgevet && go install .) && " + c.text
	}
	if strings.Contains(c.text, "go mod edit") {
		dir := usersFolder(t)
		output(t, dir, "go mod init example.com/user")
		output(t, dir, c.text+"\ngo build ./... && go vet ./...")
		return
	}
	output(t, usersModule(t), c.text)
}

// generatesMocks runs the generators of mocks in the module of a user, and the test of the mocks.
func generatesMocks(t *testing.T, c command) {
	const mocks = "internal/doccommands/testdata/mocks/"
	dir := usersModule(t)
	require.NoError(t, os.Remove(filepath.Join(dir, "main.go")))
	for _, file := range []string{"triage.go", "expect_two_test.go"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, file), []byte(read(t, mocks+file)), 0o644))
	}
	output(t, dir, c.text+"\ngo mod tidy && go test .")
}

// usersModule returns the folder of a module that imports the client.
func usersModule(t *testing.T) string {
	dir := usersFolder(t)
	output(t, dir, "go mod init example.com/user && go mod edit -replace github.com/forge-sdk/forge-go=../forge-go && go mod tidy")
	return dir
}

// usersFolder returns a folder with the first program of the README, next to a link to the clone.
func usersFolder(t *testing.T) string {
	parent := t.TempDir()
	clone, err := filepath.Abs(root)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(clone, filepath.Join(parent, "forge-go")))
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindStringSubmatch(read(t, "README.md"))
	require.NotEmpty(t, program)
	dir := filepath.Join(parent, "user")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program[1]), 0o644))
	return dir
}

// output runs a command that must succeed.
func output(t *testing.T, dir, text string) string {
	t.Helper()
	out, err := shell(t, dir, text)
	require.NoError(t, err, "%s\n%s", text, out)
	return out
}

// shell runs a command of bash without the settings of this machine for the client. $T is an empty
// folder, and installed programs are found.
func shell(t *testing.T, dir, text string) (string, error) {
	t.Helper()
	temporary := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", text)
	cmd.Dir = dir
	for _, entry := range os.Environ() {
		if !strings.HasPrefix(entry, "FORGE_") && !strings.HasPrefix(entry, "GOBIN=") && !strings.HasPrefix(entry, "PATH=") {
			cmd.Env = append(cmd.Env, entry)
		}
	}
	cmd.Env = append(cmd.Env, "T="+temporary, "GOBIN="+temporary, fmt.Sprintf("PATH=%s:%s", temporary, os.Getenv("PATH")))
	out, err := cmd.CombinedOutput()
	return string(out), err
}
