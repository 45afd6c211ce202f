package forge

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	osexec "os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
)

// TestAllocations checks the allocations of a call, which do not depend on the load of the machine.
// The module benchmarks/ has the limits of lists with filters and of settings.
func TestAllocations(t *testing.T) {
	if racetest.Enabled {
		t.Skip("the race detector allocates on its own account: run without -race")
	}
	for name, test := range memoryCalls(t) {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, test.call(t.Context()))
			allocations := testing.AllocsPerRun(100, func() { _ = test.call(t.Context()) }) / test.items
			t.Logf("%.1f allocations", allocations)
			assert.LessOrEqual(t, allocations, test.limit)
		})
	}
}

type memoryCall struct {
	limit, items float64 // allocations for each item
	call         func(context.Context) error
}

// memoryCalls are calls whose response comes from memory; the response itself takes one allocation.
func memoryCalls(t testing.TB) map[string]memoryCall {
	tag, err := os.ReadFile("testdata/registry/get_tag.json")
	require.NoError(t, err)
	return map[string]memoryCall{
		"one issue": {44, 1, func() func(context.Context) error {
			client := memoryClient(t, largeIssue(t))
			return func(ctx context.Context) error {
				_, err := client.Issues.Subscribe(ctx, Path("group/app"), 5)
				return err
			}
		}()},
		"one registry tag": {28, 1, func() func(context.Context) error {
			client := memoryClient(t, tag)
			return func(ctx context.Context) error {
				_, err := client.Registry.GetTag(ctx, Path("group/app"), 7, "release/1.0")
				return err
			}
		}()},
		"a page of 100 issues": {12, 100, func() func(context.Context) error {
			client := memoryClient(t, largePage(t))
			return func(ctx context.Context) error {
				_, err := Collect(client.Issues.List(ctx, nil))
				return err
			}
		}()},
		"a GET of HTTPClient": {45, 1, rawCall(memoryClient(t, tag).HTTPClient())},
		"a 404":               {47, 1, refusedCall(t, http.StatusNotFound)},
		"a 304":               {33, 1, refusedCall(t, http.StatusNotModified)},
		"a 429":               {44, 1, refusedCall(t, http.StatusTooManyRequests)},
		"a retried 503":       {58, 1, refusedCall(t, http.StatusServiceUnavailable)},
	}
}

// rawCall requests an object as other clients do: without a parsed address.
func rawCall(client *http.Client) func(context.Context) error {
	return func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://forge.example.com/api/v4/projects/group%2Fapp/registry/repositories/7/tags/v1", http.NoBody)
		if err != nil {
			return err
		}
		resp, err := client.Do(req)
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		return resp.Body.Close()
	}
}

// refusedCall is refused with the status. Its retry after a 503 succeeds.
func refusedCall(t testing.TB, status int) func(context.Context) error {
	tag, err := os.ReadFile("testdata/registry/get_tag.json")
	require.NoError(t, err)
	header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"01HZY3V4W5"}}
	requests := 0
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		requests++
		code, text := status, []byte(`{"message":"404 Tag Not Found"}`)
		if status == http.StatusServiceUnavailable && requests%2 == 0 {
			code, text = http.StatusOK, tag
		}
		a := &memoryAnswer{Response: http.Response{StatusCode: code, Header: header, ContentLength: int64(len(text)), Request: req}}
		a.Reset(text)
		a.Body = a
		return &a.Response, nil
	})
	policy := RetryPolicy{MinWait: 1, MaxWait: 1, MaxAttempts: 2}
	if status != http.StatusServiceUnavailable {
		policy.MaxAttempts = 1
	}
	client, err := NewClient("https://forge.example.com", WithToken("glpat-0123456789abcdefghij"), WithRetry(policy), WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return func(ctx context.Context) error {
		_, err := client.Registry.GetTag(ctx, Path("group/app"), 7, "release/1.0", Header("If-None-Match", `"1"`))
		if (err == nil) != (status == http.StatusServiceUnavailable) {
			return fmt.Errorf("want the status %d: %w", status, err)
		}
		return nil
	}
}

// memoryClient returns a client whose calls all get the same response, without a network.
func memoryClient(t testing.TB, text []byte) *Client {
	header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"01HZY3V4W5"}}
	transport := roundTrip(func(req *http.Request) (*http.Response, error) {
		a := &memoryAnswer{Response: http.Response{StatusCode: http.StatusOK, Header: header, ContentLength: int64(len(text)), Request: req}}
		a.Reset(text)
		a.Body = a
		return &a.Response, nil
	})
	client, err := NewClient("https://forge.example.com", WithToken("glpat-0123456789abcdefghij"), WithHTTPClient(&http.Client{Transport: transport}))
	require.NoError(t, err)
	return client
}

// memoryAnswer is a response and its body in one allocation.
type memoryAnswer struct {
	http.Response
	bytes.Reader
}

func (*memoryAnswer) Close() error { return nil }

const (
	mib = 1 << 20
	gib = 1 << 30
)

// The memory that a call uses is bounded, whatever a server sends. Each case runs in a separate
// process, so that its peak is measured alone. The server runs in this process.
func TestMemory(t *testing.T) { measure(t, moved()) }

// moved are calls that move much data.
func moved() []hostile {
	announced := func(w io.Writer, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "%sContent-Length: %d\r\n\r\n{\"id\":1}", okHead, gib)
	}
	return []hostile{
		{"download", 32 * mib, endless(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", gib), "\x00", gib), func(ctx context.Context, client *Client) error {
			d, err := client.Repositories.Archive(ctx, ID(1), nil)
			if err != nil {
				return err
			}
			defer d.Close()
			n, err := io.Copy(io.Discard, d)
			if err == nil && n != gib {
				err = fmt.Errorf("%d bytes came", n)
			}
			return err
		}, nil, ""},
		{"upload", 32 * mib, takeUpload(256 * mib), upload(256 * mib), nil, ""},
		{"endless array", 96 * mib, endless(okHead+"Connection: close\r\n\r\n"+`[{"id":1}`, `,{"id":1}`, gib), listIssues, ErrResponseTooLarge, "MaxBytes"},
		{"announced", 64 * mib, announced, nil, ErrResponseTooLarge, "MaxBytes"},
		{"announced within MaxBytes", 64 * mib, announced, func(ctx context.Context, client *Client) error {
			_, err := client.Issues.GetTimeStats(ctx, ID(1), 1, MaxBytes(2*gib))
			return err
		}, io.ErrUnexpectedEOF, ""},
	}
}

// takeUpload requires a body of more than size bytes.
func takeUpload(size int64) func(io.Writer, *http.Request) {
	return func(w io.Writer, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n <= size || n != r.ContentLength {
			_, _ = io.WriteString(w, badHead+"\r\n")
			return
		}
		_, _ = io.WriteString(w, okHead+"Content-Length: 2\r\n\r\n{}")
	}
}

// upload sends a file of size bytes.
func upload(size int64) func(context.Context, *Client) error {
	return func(ctx context.Context, client *Client) error {
		file, err := os.CreateTemp("", "forge")
		if err != nil {
			return err
		}
		defer os.Remove(file.Name())
		if err := errors.Join(file.Truncate(size), file.Close()); err != nil {
			return err
		}
		return exec(ctx, service{client.core}.newPost("/projects/:project_id/secure_files", ID(1)).upload(nil, "content", FileAt(file.Name())), nil)
	}
}

const (
	childEnv = "FORGE_TEST_MEMORY_CASE"
	urlEnv   = "FORGE_TEST_MEMORY_URL"
)

// usage is the peak memory of a child.
type usage struct {
	heap     uint64
	resident uint64
	grown    uint64 // growth of resident since before the call
}

// runChild runs TestMemoryChild in a separate process.
func runChild(t *testing.T, name, address string) (use usage) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := osexec.CommandContext(ctx, os.Args[0], "-test.run=^TestMemoryChild$", "-test.v", "-test.count=1")
	for _, pair := range os.Environ() {
		if !strings.HasPrefix(pair, "GOMEMLIMIT=") && !strings.HasPrefix(pair, "GOGC=") && !strings.HasPrefix(pair, "GOCOVERDIR=") {
			cmd.Env = append(cmd.Env, pair)
		}
	}
	cmd.Env = append(cmd.Env, childEnv+"="+name, urlEnv+"="+address)
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", output)
	for line := range strings.Lines(string(output)) {
		if _, err := fmt.Sscanf(strings.TrimSpace(line), "peak %d %d %d", &use.heap, &use.resident, &use.grown); err == nil {
			return use
		}
	}
	require.Fail(t, "the child gave no figures", "%s", output)
	return use
}

// TestMemoryChild is the measured part of TestMemory and TestHostileServers.
func TestMemoryChild(t *testing.T) {
	name := os.Getenv(childEnv)
	if name == "" {
		t.Skip("runs as a child of TestMemory")
	}
	client := onceClient(t, os.Getenv(urlEnv))
	cases := map[string]func(context.Context, *Client) error{}
	for _, h := range append(moved(), hostiles()...) {
		cases[h.name] = h.run
	}
	before := residentPeak()
	err := cases[name](t.Context(), client)
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	// HeapSys is the peak size of the heap: it does not shrink.
	fmt.Printf("peak %d %d %d\n", stats.HeapSys, residentPeak(), residentPeak()-before)
	require.NoError(t, err)
}

// residentPeak returns the peak resident memory of the process; 0 if the system does not report it.
func residentPeak() uint64 {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return 0
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			n, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			return n << 10
		}
	}
	return 0
}

func repeat(w io.Writer, block []byte, size int64) {
	for size > 0 {
		n, err := w.Write(block[:min(int64(len(block)), size)])
		if size -= int64(n); err != nil {
			return
		}
	}
}

type countingWriter struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (w *countingWriter) Write(p []byte) (int, error) {
	n, err := w.ResponseWriter.Write(p)
	w.n.Add(int64(n))
	return n, err
}
