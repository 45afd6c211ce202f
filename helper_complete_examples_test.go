package forge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
)

// completeExamples builds example programs and interrupts them at each of their requests, as Ctrl-C
// does. Each must end with a nonzero exit code and a reason, and leave no file that looks complete.
// Programs in separate modules have this test there.
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
			assert.Greater(t, interrupted, 2, "the program has sent too few requests")
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

// run runs the program, and reports whether it reached that request. If it did, it must fail and
// print the reason.
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
	case <-time.After(callresult.Patience):
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

// completeExport interrupts an export at each of its requests, and runs the same command again to
// finish it. The files must have each event once.
func completeExport(t *testing.T, program string) {
	const pages, requests = 5, 6 // the first request is for the server's time
	for _, ahead := range []string{"0", "1", "8"} {
		for at := 1; at <= requests; at++ {
			dir := t.TempDir()
			all := numberedPages(idItem, pageSizes(pages, 3)...)
			w, _ := serveList(t, &pagedList{form: pagingForms[5], pages: all})
			p := &interruptedProgram{path: program, args: []string{"-dir", dir, "-ahead", ahead}, at: at}
			require.True(t, p.run(t, w))
			what := fmt.Sprintf("-ahead %s, interrupted at request %d", ahead, at)
			assert.NotContains(t, p.output.String(), "Exported", what)
			assert.Empty(t, exportedDays(t, dir), what)

			w, _ = serveList(t, &pagedList{form: pagingForms[5], pages: all})
			cmd := osexec.CommandContext(t.Context(), program, p.args...)
			cmd.Env = append(os.Environ(), "FORGE_URL="+w.url, "FORGE_TOKEN=secret-token", "FORGE_VOCABULARY=")
			output, err := cmd.CombinedOutput()
			require.NoError(t, err, string(output))
			days := exportedDays(t, dir)
			require.Len(t, days, 1, what)
			assert.Equal(t, upTo(14), exported(t, days[0]), what)
		}
	}
}

// exportedDays returns the files of complete days.
func exportedDays(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	require.NoError(t, err)
	return paths
}

// exported returns the ids of the events in a file.
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

// listInterruption interrupts a list at one page.
type listInterruption struct {
	name string
	// disturb is how the server handles a request for the page; nil means with the normal response.
	disturb func(k *trial, r pageResponse) act
	// before is called before the list begins.
	before func(k *trial)
	// consume is called with each item before it counts as delivered; page is the page of the item.
	consume func(k *trial, page int)
	// next returns the page to which the page links; 0 means the following one.
	next func(page int) int
	// sizes changes the sizes of the pages.
	sizes func(sizes []int, page int)
	// hook is called by WithOnAttempt for each attempt to request the page.
	hook func(k *trial)
	// ends are the ways in which the loop may end if the hook ends it.
	ends []callresult.Kind
	// is reports whether an error is the expected one; nil means that the list must complete in spite
	// of the interruption.
	is func(err error) bool
	// late: the list may end before the interruption reaches it.
	late bool
	// through: the items of the page itself are delivered before the error.
	through bool
	// sampled: it is tested at some pages only.
	sampled bool
	// fresh: it makes no sense for a list that starts at a cursor.
	fresh bool
	// expires: the context ends by its deadline instead of a cancellation.
	expires bool
	options []RequestOption
}

func isAnyOf(targets ...error) func(error) bool {
	return func(err error) bool {
		return slices.ContainsFunc(targets, func(target error) bool { return errors.Is(err, target) })
	}
}

// brokenConnection matches the error of a lost connection: an *Error whose cause is not the end of
// a context.
func brokenConnection(err error) bool {
	var failed *Error
	return errors.As(err, &failed) && !isAnyOf(context.Canceled, context.DeadlineExceeded, ErrServer, ErrInvalidResponse)(err)
}

func sendsText(text func(r pageResponse) act) func(*trial, pageResponse) act {
	return func(_ *trial, r pageResponse) act { return text(r) }
}

// sendsStatus responds to the request for the page with another status. The body is that of the
// page unless another one is given.
func sendsStatus(status int, body ...string) func(*trial, pageResponse) act {
	return sendsText(func(r pageResponse) act { return r.with(status, append(body, r.body)[0]).send() })
}

// listInterruptions are all interruptions except those that need a separate process.
var listInterruptions = []*listInterruption{
	{name: "undisturbed"},
	{name: "context cancelled before the list", is: isAnyOf(context.Canceled), sampled: true, before: func(k *trial) { k.cancel() }},
	{name: "context cancelled before the response", is: isAnyOf(context.Canceled), disturb: func(k *trial, _ pageResponse) act {
		return doThen(k.cancel, silent(""))
	}},
	{name: "context cancelled inside the body", is: isAnyOf(context.Canceled), disturb: func(k *trial, r pageResponse) act {
		return doThen(k.cancel, silent(r.torn()))
	}},
	{name: "context cancelled after the response", is: isAnyOf(context.Canceled), late: true, disturb: func(k *trial, r pageResponse) act {
		return func(conn net.Conn) bool {
			defer k.cancel()
			return r.send()(conn)
		}
	}},
	{name: "context cancelled by the caller", is: isAnyOf(context.Canceled), late: true, consume: func(k *trial, page int) {
		if page == k.at {
			k.cancel()
		}
	}},
	{name: "deadline expired", is: isAnyOf(context.DeadlineExceeded), expires: true, disturb: func(k *trial, _ pageResponse) act {
		return doThen(k.cancel, silent(""))
	}},
	{name: "deadline expired inside the body", is: isAnyOf(context.DeadlineExceeded), expires: true, disturb: func(k *trial, r pageResponse) act {
		return doThen(k.cancel, silent(r.torn()))
	}},
	{name: "reset before the response", is: brokenConnection, disturb: sendsText(func(pageResponse) act { return reset("") })},
	{name: "reset inside the body", is: brokenConnection, disturb: sendsText(func(r pageResponse) act { return reset(r.torn()) })},
	{name: "closed inside the header", sampled: true, is: brokenConnection, disturb: sendsText(func(r pageResponse) act { return closing(r.head()) })},
	{name: "body truncated", is: isAnyOf(io.ErrUnexpectedEOF), disturb: sendsText(func(r pageResponse) act { return closing(r.torn()) })},
	{name: "chunked body truncated", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF), disturb: sendsText(func(r pageResponse) act {
		half := r.body[:len(r.body)/2]
		return closing(fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", r.head(), len(half), half))
	})},
	{name: "chunked body without its end", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF), disturb: sendsText(func(r pageResponse) act {
		return closing(fmt.Sprintf("%sTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n", r.head(), len(r.body), r.body))
	})},
	{name: "body of unknown length truncated", sampled: true, is: isAnyOf(io.ErrUnexpectedEOF, ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act {
		return closing(r.head() + "Connection: close\r\n\r\n" + r.body[:len(r.body)/2])
	})},
	{name: "half a document", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act { return r.with(200, r.body[:len(r.body)/2]).send() })},
	{name: "empty body", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(200, "")},
	{name: "null", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(200, "null")},
	{name: "sign-in page", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(200, "<html><title>Sign in</title></html>")},
	{name: "502 again and again", is: isAnyOf(ErrServer), disturb: sendsStatus(502, "bad gateway")},
	{name: "404", is: isAnyOf(ErrNotFound), disturb: sendsStatus(404, `{"message":"404 Not found"}`)},
	{name: "206 with items", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(206)},
	{name: "206 without items", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(206, "[]")},
	{name: "202 without items", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsStatus(202, "[]")},
	{name: "204", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act {
		return func(conn net.Conn) bool {
			_, err := io.WriteString(conn, r.with(204, "").head()+"\r\n")
			return err == nil
		}
	})},
	{name: "304", sampled: true, is: isAnyOf(ErrInvalidResponse), disturb: sendsText(func(r pageResponse) act {
		return func(conn net.Conn) bool {
			_, err := io.WriteString(conn, r.with(304, "").head()+"\r\n")
			return err == nil
		}
	})},
	{name: "empty page", sizes: func(sizes []int, page int) { sizes[page-1] = 0 }},
	{name: "next link to itself", is: isAnyOf(ErrRepeatedPage), through: true, next: func(page int) int { return page }},
	{name: "next link to the first page", sampled: true, is: isAnyOf(ErrRepeatedPage), through: true, fresh: true, next: func(int) int { return 1 }},
}

// doThen calls first before the act.
func doThen(first func(), then act) act {
	return func(conn net.Conn) bool {
		first()
		return then(conn)
	}
}
