package forge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// completeExamples builds programs, interrupts them at each of their requests as Ctrl-C does, and
// looks at what they leave: an exit code that is not 0, a reason, and no file that looks complete.
// Programs with modules of their own have this test there.
func completeExamples(t *testing.T) {
	noLeaks(t)
	bin := t.TempDir()
	build := osexec.CommandContext(t.Context(), "go", "build", "-o", bin+string(filepath.Separator),
		"./examples/audit-export", "./examples/reassign-users", "./examples/runner-health", "./examples/registry-cleanup")
	output, err := build.CombinedOutput()
	require.NoError(t, err, string(output))
	t.Run("audit-export", func(t *testing.T) { completeExport(t, filepath.Join(bin, "audit-export")) })
	const tags = "/projects/1/registry/repositories/7/tags"
	for _, p := range []struct {
		name, args string
		responses  map[string]pageResponse
	}{
		{"reassign-users", "-group 1 -out FILE", map[string]pageResponse{
			"/groups/1/placeholder_reassignments": {status: 200, header: []string{"Content-Type: text/csv"}, body: string(readFixture(t, "placeholder_reassignments/reassignments.csv"))},
			"/users":                              okResponse(`[{"id":1,"username":"one"}]`, "X-Next-Page: 2"),
			"/users 2":                            okResponse(`[{"id":2,"username":"two"}]`),
		}},
		{"runner-health", "-all", map[string]pageResponse{
			"/runners/all":        okResponse(`[{"id":1}]`, "X-Next-Page: 2"),
			"/runners/all 2":      okResponse(`[{"id":2}]`),
			"/runners/1":          okResponse(`{"id":1,"status":"online"}`),
			"/runners/2":          okResponse(`{"id":2,"status":"online"}`),
			"/runners/1/managers": okResponse(`[{"id":1}]`, "X-Next-Page: 2"), "/runners/1/managers 2": okResponse(`[{"id":2}]`),
			"/runners/2/managers": okResponse(`[]`), "/runners/1/jobs": okResponse(`[]`), "/runners/2/jobs": okResponse(`[]`),
		}},
		{"registry-cleanup", "-project 1 -repository web -match .* -yes", map[string]pageResponse{
			"/projects/1/registry/repositories":   okResponse(`[{"id":7,"project_id":1,"name":"web","path":"web"}]`, "X-Next-Page: 2"),
			"/projects/1/registry/repositories 2": okResponse(`[{"id":8,"project_id":1,"name":"x","path":"x"}]`),
			tags:                                  okResponse(`[{"name":"v1"}]`, "X-Next-Page: 2"), tags + " 2": okResponse(`[{"name":"v2"}]`),
			tags + "/v1": okResponse(`{"name":"v1","created_at":"2020-01-02T03:04:05Z"}`), tags + "/v2": okResponse(`{"name":"v2","created_at":"2020-01-02T03:04:05Z"}`),
		}},
	} {
		t.Run(p.name, func(t *testing.T) {
			interrupted := 0
			for at := 1; at <= 12; at++ {
				file := filepath.Join(t.TempDir(), "file")
				program := &interruptedProgram{path: filepath.Join(bin, p.name), args: strings.Fields(strings.ReplaceAll(p.args, "FILE", file)), at: at}
				w := scriptedServer(t, &trial{cause: &listInterruption{}}, "", p.responses)
				if !program.run(t, w) {
					break
				}
				interrupted++
				assert.NoFileExists(t, file, "interrupted at request %d", at)
			}
			assert.Greater(t, interrupted, 2, "the program has not asked for enough")
		})
	}
}

// interruptedProgram is a program that is interrupted while it waits for the response to a request.
type interruptedProgram struct {
	path   string
	args   []string
	at     int // the request, from 1
	output bytes.Buffer
}

// run runs the program, and reports whether it came as far as that request. If so it must fail, and
// say why.
func (p *interruptedProgram) run(t *testing.T, w *wire) (reached bool) {
	t.Helper()
	waits := make(chan bool, 1)
	n, answer := 0, w.answer
	w.mu.Lock()
	w.answer = func(s seen) act {
		if n++; n == p.at {
			return func(conn net.Conn) bool {
				waits <- true
				return silent("")(conn)
			}
		}
		return answer(s)
	}
	w.mu.Unlock()
	cmd := osexec.CommandContext(t.Context(), p.path, p.args...)
	cmd.Env = append(os.Environ(), "FORGE_URL="+w.url, "FORGE_TOKEN=secret-token", "FORGE_VOCABULARY=")
	var reason bytes.Buffer
	cmd.Stdout, cmd.Stderr = &p.output, &reason
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if p.at == 1 {
			t.Errorf("the program ended (%v) without a request: %s%s", err, &p.output, &reason)
		}
		return false
	case <-waits:
	}
	require.NoError(t, cmd.Process.Signal(os.Interrupt))
	select {
	case <-ended:
	case <-time.After(childPatience):
		_ = cmd.Process.Kill()
		<-ended
		t.Errorf("interrupted at request %d: it does not end", p.at)
		return true
	}
	what := fmt.Sprintf("%s %s, interrupted at request %d, says:\n%s%s", filepath.Base(p.path), strings.Join(p.args, " "), p.at, &p.output, &reason)
	assert.NotZero(t, cmd.ProcessState.ExitCode(), what)
	assert.NotEmpty(t, reason.String(), what)
	return true
}

// completeExport interrupts an export at each page, and lets the same command finish it: the file
// has each event once.
func completeExport(t *testing.T, program string) {
	const pages = 5
	for _, ahead := range []string{"0", "1", "8"} {
		for at := 1; at <= pages; at++ {
			dir := t.TempDir()
			file := filepath.Join(dir, "events.ndjson")
			all := numberedPages(idItem, pageSizes(pages, 3)...)
			w, _ := serveList(t, &pagedList{form: pagingForms[5], pages: all})
			p := &interruptedProgram{path: program, args: []string{"-file", file, "-ahead", ahead}, at: at}
			require.True(t, p.run(t, w))
			what := fmt.Sprintf("-ahead %s, interrupted at page %d", ahead, at)
			assert.NotContains(t, p.output.String(), "Wrote", what)
			assert.Less(t, len(exported(t, file)), 14, what)

			w, _ = serveList(t, &pagedList{form: pagingForms[5], pages: all})
			cmd := osexec.CommandContext(t.Context(), program, p.args...)
			cmd.Env = append(os.Environ(), "FORGE_URL="+w.url, "FORGE_TOKEN=secret-token", "FORGE_VOCABULARY=")
			output, err := cmd.CombinedOutput()
			require.NoError(t, err, string(output))
			assert.Equal(t, upTo(14), exported(t, file), what)
		}
	}
}

// exported are the ids of the events in a file.
func exported(t *testing.T, path string) (ids []int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		var event listRow
		if json.Unmarshal([]byte(line), &event) == nil {
			ids = append(ids, event.ID)
		}
	}
	return ids
}
