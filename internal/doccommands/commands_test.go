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
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/forgetest"
)

// root is the root of the repository.
const root = "../.."

// command is a shell command of a document, or a block of commands that belong together.
type command struct {
	file, text string
}

var (
	block  = regexp.MustCompile("(?ms)^ *```(?:sh|bash|shell|console)\n(.*?)^ *```")
	fenced = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inline = regexp.MustCompile("`([^`\n]+)`")

	optional = regexp.MustCompile(` \[(-[^\]]*)\]`) // an argument in brackets

	// isCommand matches what a reader would type: a program of these documents and its arguments.
	isCommand = regexp.MustCompile(`^(?:[A-Z_]+=\S* )*(?:` +
		`go (?:run|test|doc|get|mod|build|vet|install|generate|tool|work|env)\b|` +
		`(?:cd|curl|git|gh|npm|docker|python3?|export|golangci-lint|forgevet) |\.ci/)`)
)

// commandsOfDocuments returns the blocks marked as shell, and the commands in inline code.
func commandsOfDocuments(t *testing.T) (all []command) {
	t.Helper()
	for file := range strings.FieldsSeq(output(t, root, "git ls-files -- '*.md' ':!CHANGELOG.md' ':!*testdata/*'")) {
		text := read(t, file)
		for _, found := range block.FindAllStringSubmatch(text, -1) {
			all = append(all, command{file, strings.TrimLeft(found[1], " ")})
		}
		for _, found := range inline.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			if isCommand.MatchString(found[1]) {
				all = append(all, command{file, found[1]})
			}
		}
	}
	return all
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, file))
	require.NoError(t, err)
	return string(text)
}

// TestCommands runs each command of the Markdown files except the changelog, or checks what can be
// checked of one that takes minutes. A command that no rule covers fails the test.
//
// The commands download and compile the modules of the repository, so they run with
// FORGE_COMMANDS=all only, as .ci/run sets it. Without it, the test checks that a rule covers each.
func TestCommands(t *testing.T) {
	all := commandsOfDocuments(t)
	assert.Greater(t, len(all), 60, "the search itself is broken")
	done, rules := map[command]bool{}, rules()
	for _, c := range all {
		c.text = optional.ReplaceAllString(c.text, " $1")
		if done[c] {
			continue
		}
		done[c] = true
		t.Run(c.file+"/"+c.text, func(t *testing.T) {
			t.Parallel()
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

// rule says how a command is checked; the first rule that matches counts.
type rule struct {
	pattern *regexp.Regexp
	run     func(*testing.T, command) // nil: the reason is next to the rule
}

func rules() []rule {
	tests, programs := &known{of: map[string]string{}}, &known{of: map[string]string{}}
	return []rule{
		// TestRelease runs the steps of a release, and installs the release as a caller does.
		{regexp.MustCompile(`\bgit (switch|tag|commit)\b|^version=|^sed |^notes=|\bv0\.1\.0\b|\$version`), nil},
		// The commands without arguments are named in sentences, and so is a command with a placeholder.
		{regexp.MustCompile(`^go (get|generate|run|test|vet|doc|install)$|^go test -overlay$|^go test -run <name>|@version$`), nil},
		// It updates to what is newest on the day, so its outcome is not that of this commit.
		{regexp.MustCompile(`^go get -u `), nil},
		{regexp.MustCompile(`^\.ci/\S+( \S+)?\n?$`), isScript},
		// CI has these.
		{regexp.MustCompile(`^go run \./examples/quickstart\ngo test \./\.\.\.\n$|^go (test|vet|generate) \./\.\.\.$`), nil},
		{regexp.MustCompile(`forgegen`), generates},
		{regexp.MustCompile(`/_forgetest/`), controlsServer},
		{regexp.MustCompile(`\bgo test\b`), tests.lists},
		{regexp.MustCompile(`^go doc |^go mod edit -replace|forgevet`), inUsersModule},
		{regexp.MustCompile(`\b(mockgen|moq)@`), generatesMocks},
		{regexp.MustCompile(`\bgo run\b`), programs.runs},
	}
}

// controlsServer runs requests to the control API of a server.
func controlsServer(t *testing.T, c command) {
	srv := forgetest.New(t, forgetest.WithControl("control", nil))
	out := output(t, root, strings.ReplaceAll("URL="+srv.URL+" CONTROL=control\n"+c.text, "curl ", "curl --fail-with-body --silent --show-error "))
	assert.Contains(t, out, `"completed": false`)
}

// isScript checks that a script of .ci is valid.
func isScript(t *testing.T, c command) {
	script, _, _ := strings.Cut(strings.TrimSpace(c.text), " ")
	output(t, root, "test -x "+script+" && bash -n "+script)
}

var (
	runPattern = regexp.MustCompile(` -run (?:'([^']*)'|(\S+))`)
	testFlags  = regexp.MustCompile(` (-[a-z]+)(?:=\S+)?`)
	flagValue  = regexp.MustCompile(` -timeout \S+`)
	declared   = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Example|Benchmark)\w*)\(`)
)

// lists checks that the packages and flags of a test command exist, and that its pattern selects a
// test. CI runs the tests themselves; some of these commands take minutes.
func (k *known) lists(t *testing.T, c command) {
	pattern := "."
	if found := runPattern.FindStringSubmatch(c.text); found != nil {
		pattern = found[1] + found[2]
	}
	const files = `go list -f '{{range .TestGoFiles}}{{$.Dir}}/{{.}} {{end}}{{range .XTestGoFiles}}{{$.Dir}}/{{.}} {{end}}' `
	help := k.find("help", func() string { return output(t, root, "go help testflag && go help build") })
	text := flagValue.ReplaceAllString(runPattern.ReplaceAllString(c.text, ""), "")
	for _, flag := range testFlags.FindAllStringSubmatch(text, -1) {
		assert.Contains(t, help, "\t"+flag[1], c.text)
	}
	text = testFlags.ReplaceAllString(text, "")
	text = strings.Replace(text, "go test ", "cat $("+files, 1) + ")"
	source := k.find(text, func() string { return output(t, root, text) })
	selected := regexp.MustCompile(pattern)
	names := declared.FindAllStringSubmatch(source, -1)
	assert.True(t, slices.ContainsFunc(names, func(name []string) bool { return selected.MatchString(name[1]) }), "%s selects no test", c.text)
}

var (
	goRun   = regexp.MustCompile(`go run (\S+)([^|>&;#\n]*)`)
	flagged = regexp.MustCompile(` -([a-z][a-z-]*)`)
)

// known has what commands print: several documents name the same.
type known struct {
	mu sync.Mutex
	of map[string]string
}

func (k *known) find(key string, run func() string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, is := k.of[key]; !is {
		k.of[key] = run()
	}
	return k.of[key]
}

// runs builds the programs of a command and checks that they have its flags. Their own tests run them.
func (k *known) runs(t *testing.T, c command) {
	dir, text := folderOf(c.file, c.text)
	for _, call := range goRun.FindAllStringSubmatch(text, -1) {
		help := k.find(dir+" "+call[1], func() string {
			return output(t, dir, `go build -o "$T/program" `+call[1]+` && { timeout 60 "$T/program" -h || true; }`)
		})
		for _, f := range flagged.FindAllStringSubmatch(call[2], -1) {
			assert.Contains(t, help, "  -"+f[1], "%s: %s", c.file, c.text)
		}
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

// importing makes a user's module import the clone.
const importing = "go mod edit -replace github.com/forge-sdk/forge-go=../forge-go && go mod tidy && "

// inUsersModule runs a block of the README or of a guide in the module of a user.
func inUsersModule(t *testing.T, c command) {
	switch {
	case strings.Contains(c.text, "go mod edit"):
		c.text += "\ngo build ./... && go vet ./..."
	case !strings.Contains(c.text, "\n"):
		c.text = importing + "(cd ../forge-go/forgevet && go install .) && " + c.text
	default:
		c.text = importing + c.text
	}
	output(t, usersModule(t), c.text)
}

// generates runs forgegen in the module of a user, on the excerpt of the tests: GitLab may be out of
// reach.
func generates(t *testing.T, c command) {
	excerpt, err := filepath.Abs(filepath.Join(root, "forgegen/testdata/openapi_v3.yaml"))
	require.NoError(t, err)
	text := regexp.MustCompile(`-gitlab \d+\.\d+`).ReplaceAllString(c.text, "-spec "+excerpt)
	if own, _, found := strings.Cut(text, " deployed "); found { // it compares published documents
		output(t, root, own+" rules")
		return
	}
	settings := "spec: " + excerpt + "\nendpoints: ['GET /issues']\n"
	dir := usersModule(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "forgegen.yaml"), []byte(settings), 0o600))
	output(t, dir, "go mod edit -replace github.com/forge-sdk/forge-go=../forge-go\ngo -C ../forge-go/forgegen install .\n"+text+"\ngo mod tidy\ngo vet ./...")
}

// generatesMocks runs the generators of mocks in the module of a user, and the test of the mocks.
func generatesMocks(t *testing.T, c command) {
	const setup = "rm main.go && cp ../forge-go/internal/doccommands/testdata/mocks/* ."
	output(t, usersModule(t), setup+" && "+importing+c.text+"\ngo mod tidy && go test .")
}

// usersModule returns the folder of a module with the first program of the README, next to a link to
// the clone.
func usersModule(t *testing.T) string {
	parent := t.TempDir()
	clone, err := filepath.Abs(root)
	require.NoError(t, err)
	require.NoError(t, os.Symlink(clone, filepath.Join(parent, "forge-go")))
	program := regexp.MustCompile("(?s)```go\n(package main\n.*?)```").FindStringSubmatch(read(t, "README.md"))
	require.NotEmpty(t, program)
	dir := filepath.Join(parent, "user")
	require.NoError(t, os.Mkdir(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program[1]), 0o644))
	output(t, dir, "go mod init example.com/user")
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

// TestRelease runs all commands of docs/releasing.md in a clone: for the first release, a later
// one, and a retraction. The server of the repository is a folder, gh is a script that keeps the
// notes, and .ci/run only compares the API.
func TestRelease(t *testing.T) {
	if os.Getenv("FORGE_LONG") == "" {
		t.Skip("runs with FORGE_LONG=1 only, as in .ci/nightly: it downloads modules and takes a minute")
	}
	server, clone, bin := t.TempDir(), filepath.Join(t.TempDir(), "clone"), t.TempDir()
	gh := "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\ncp \"$1\" " + bin + "/notes\n"
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
git push -q -f -u origin main
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

	next := strings.Replace(version, "v0.1.0", "v0.2.0", 1)
	output(t, clone, `sed -i 's/^## v0.1.0$/## Unreleased\n\n### Fixed\n\n- A test.\n\n## v0.1.0/' CHANGELOG.md && git commit -qam next && git push -q origin main`)
	out = output(t, clone, env+strings.Join([]string{next, start, set, check, tag, publish, use}, "\n"))
	assert.Contains(t, out, `const Version = "0.2.0"`)
	notes, err := os.ReadFile(filepath.Join(bin, "notes"))
	require.NoError(t, err)
	assert.Equal(t, "### Fixed\n\n- A test.", strings.TrimSpace(string(notes)))

	output(t, clone, retract+"grep -q 'retract v0.1.0' go.mod")
}

// blocksOf returns the shell blocks of a document, in order.
func blocksOf(t *testing.T, file string) (blocks []string) {
	t.Helper()
	for _, found := range block.FindAllStringSubmatch(read(t, file), -1) {
		blocks = append(blocks, strings.TrimLeft(found[1], " "))
	}
	return blocks
}
