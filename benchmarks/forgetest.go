package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	readers      = 16     // connections
	seededIssues = 10_000 // of one project
	seededPath   = "/api/v4/projects/acme%2Fapp"
)

// testServer is a running program forgetest. Calls are net/http by hand and decode nothing: the
// client shares the cores with the server.
type testServer struct {
	cmd    *exec.Cmd
	base   string
	client *http.Client
}

// startTestServer starts the program, and returns once it responds.
func startTestServer(ctx context.Context, program string, args ...string) (*testServer, error) {
	s := &testServer{client: &http.Client{Transport: pooled(readers)}}
	s.cmd = exec.CommandContext(ctx, program, append(args, "-addr", "127.0.0.1:0", "-token", token)...)
	s.cmd.Stderr = os.Stderr
	output, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	first, err := bufio.NewReader(output).ReadString('\n')
	s.base = strings.TrimSpace(strings.TrimPrefix(first, "URL"))
	if err == nil {
		err = s.send(ctx, http.MethodGet, "/_forgetest/health", "", http.StatusOK)
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// stop ends the program.
func (s *testServer) stop() error {
	s.client.CloseIdleConnections()
	return errors.Join(s.cmd.Process.Signal(syscall.SIGTERM), s.cmd.Wait())
}

func (s *testServer) send(ctx context.Context, method, path, body string, status int) error {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Private-Token", token)
	req.Header.Set("Accept-Encoding", "gzip") // net/http then leaves the response compressed
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != status {
		return fmt.Errorf("%s %s: %s", method, path, resp.Status)
	}
	return nil
}

// cpu returns the CPU time that the program has used so far. Linux counts it in hundredths of a
// second; elsewhere it is not known.
func (s *testServer) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ") // of the name
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0
	}
	return time.Duration(atoi(fields[11])+atoi(fields[12])) * time.Second / 100
}

// testServerRow measures the program forgetest: its start, small reads, and writes with 10,000
// issues in the project.
func testServerRow(ctx context.Context, b *bench) (lines []line, err error) {
	dir, err := os.MkdirTemp("", "forge-forgetest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	program, seed := filepath.Join(dir, "forgetest"), filepath.Join(dir, "seed.json")
	if _, err := goTool(ctx, "build", "-trimpath", "-o", program, "github.com/forge-sdk/forge-go/forgetest/cmd/forgetest"); err != nil {
		return nil, err
	}
	for _, start := range []struct {
		what  string
		args  []string
		limit time.Duration
	}{{"start to the response of health", nil, 13 * time.Millisecond}, {"start with -seed demo", []string{"-seed", "demo"}, 0}} {
		took, err := startTime(ctx, program, b.scaled(20, 5), start.args...)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line{What: start.what, Unit: inTime, Forge: took, Limit: float64(start.limit)})
	}
	if err := os.WriteFile(seed, seedOfIssues(seededIssues), 0o600); err != nil {
		return nil, err
	}
	s, err := startTestServer(ctx, program, "-seed", seed)
	if err != nil {
		return nil, err
	}
	served, err := s.measure(ctx, b)
	return append(lines, served...), errors.Join(err, s.stop())
}

// startTime returns the median of the times from the start of the program to its first response.
func startTime(ctx context.Context, program string, times int, args ...string) (float64, error) {
	var took []float64
	for range times {
		start := time.Now()
		s, err := startTestServer(ctx, program, args...)
		if err != nil {
			return 0, err
		}
		took = append(took, float64(time.Since(start)))
		if err := s.stop(); err != nil {
			return 0, err
		}
	}
	return middle(took), nil
}

// seedOfIssues returns a seed with n issues in one project.
func seedOfIssues(n int) []byte {
	issues := make([]map[string]any, n)
	for i := range issues {
		issues[i] = map[string]any{"title": "Crash at start " + strconv.Itoa(i), "labels": []string{"bug"}}
	}
	return must(json.Marshal(map[string]any{"projects": []any{map[string]any{"path": "acme/app", "issues": issues}}}))
}

// repeated is what a round sends: the same call many times, each of the next issue.
type repeated struct {
	method, path, body string
	status             int
	times, connections int
}

// measure measures reads and writes, in rounds.
func (s *testServer) measure(ctx context.Context, b *bench) ([]line, error) {
	calls := [...]repeated{
		{http.MethodGet, seededPath + "/issues/:iid", "", http.StatusOK, b.scaled(10_000, 2000), readers},
		{http.MethodPost, seededPath + "/issues", `{"title": "Crash at the end", "labels": "bug"}`, http.StatusCreated, b.scaled(1000, 500), 1},
		{http.MethodPost, seededPath + "/issues/:iid/add_spent_time", `{"duration": "1h"}`, http.StatusCreated, b.scaled(1000, 500), 1},
	}
	var taken [len(calls)]median
	for range b.scaled(b.rounds, 1) {
		for i, r := range calls {
			f, err := s.round(ctx, r)
			if err != nil {
				return nil, err
			}
			taken[i] = append(taken[i], f)
		}
	}
	const write = float64(300 * time.Microsecond)
	return []line{
		{What: "wall a read of an issue, 16 connections; 200 us are 5,000 a second", Unit: inTime, Forge: taken[0].of(wall), Limit: float64(200 * time.Microsecond)},
		{What: "CPU of such a read", Unit: inTime, Forge: taken[0].of(cpu)},
		{What: "CPU of creating an issue, 10,000 in the project", Unit: inTime, Forge: taken[1].of(cpu), Limit: write},
		{What: "CPU of adding time to one of them", Unit: inTime, Forge: taken[2].of(cpu), Limit: write},
	}, nil
}

// round returns the wall time and the CPU time of the server for one call.
func (s *testServer) round(ctx context.Context, r repeated) (figures, error) {
	var last atomic.Int64
	call := func(ctx context.Context, _ *digest) error {
		iid := strconv.FormatInt(last.Add(1)%seededIssues+1, 10)
		return s.send(ctx, r.method, strings.Replace(r.path, ":iid", iid, 1), r.body, r.status)
	}
	start, used := time.Now(), s.cpu()
	err := mixed{call}.concurrently(ctx, r.connections, r.times)
	n := time.Duration(r.times)
	return figures{wall: time.Since(start) / n, cpu: (s.cpu() - used) / n}, err
}
