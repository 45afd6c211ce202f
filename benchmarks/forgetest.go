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
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	readers      = 16     // connections
	seededIssues = 10_000 // of one project
	seededPath   = "/api/v4/projects/acme%2Fapp"
)

// testServer is a running program forgetest. Requests to it are plain net/http, so that the server
// is what is measured.
type testServer struct {
	cmd    *exec.Cmd
	base   string
	client *http.Client
}

// startTestServer starts the program, and returns once it answers.
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

// stop ends the program, which is then closed without an error.
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
		what string
		args []string
	}{{"start to the answer of health", nil}, {"the same with -seed demo", []string{"-seed", "demo"}}} {
		took, err := startTime(ctx, program, b.scaled(20, 5), start.args...)
		if err != nil {
			return nil, err
		}
		lines = append(lines, line{What: start.what, Unit: inTime, Noisy: true, Forge: took, Limit: float64(13 * time.Millisecond)})
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

// startTime returns the median of the times from the start of the program to its first answer.
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

// measure measures reads and writes, in rounds.
func (s *testServer) measure(ctx context.Context, b *bench) ([]line, error) {
	lines := []line{
		{What: "wall a read of an issue, 16 connections (200 us are 5,000 a second)", Unit: inTime, Noisy: true, Limit: float64(200 * time.Microsecond)},
		{What: "CPU of such a read", Unit: inTime, Noisy: true},
		{What: "CPU of creating an issue, with 10,000 in the project", Unit: inTime, Noisy: true, Limit: float64(300 * time.Microsecond)},
		{What: "CPU of adding spent time to one of them", Unit: inTime, Noisy: true, Limit: float64(300 * time.Microsecond)},
	}
	var taken [4][]float64
	for range b.scaled(b.rounds, 1) {
		read, err := s.each(ctx, b.scaled(10_000, 2000), readers, func(i int64) error {
			return s.send(ctx, http.MethodGet, fmt.Sprintf("%s/issues/%d", seededPath, 1+i%seededIssues), "", http.StatusOK)
		})
		if err != nil {
			return nil, err
		}
		created, err := s.each(ctx, b.scaled(1000, 500), 1, func(i int64) error {
			return s.send(ctx, http.MethodPost, seededPath+"/issues", `{"title": "Crash at the end", "labels": "bug"}`, http.StatusCreated)
		})
		if err != nil {
			return nil, err
		}
		spent, err := s.each(ctx, b.scaled(1000, 500), 1, func(i int64) error {
			return s.send(ctx, http.MethodPost, fmt.Sprintf("%s/issues/%d/add_spent_time", seededPath, 1+i), `{"duration": "1h"}`, http.StatusCreated)
		})
		if err != nil {
			return nil, err
		}
		for i, d := range []time.Duration{read.wall, read.cpu, created.cpu, spent.cpu} {
			taken[i] = append(taken[i], float64(d))
		}
	}
	for i := range lines {
		lines[i].Forge = middle(taken[i])
	}
	return lines, nil
}

// each sends n requests from several goroutines, and returns the wall and the CPU time of the
// server for one.
func (s *testServer) each(ctx context.Context, n, goroutines int, do func(i int64) error) (f figures, err error) {
	var running sync.WaitGroup
	var next atomic.Int64
	var failed atomic.Pointer[error]
	start, used := time.Now(), s.cpu()
	for range goroutines {
		running.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(i); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	running.Wait()
	if err := failed.Load(); err != nil {
		return f, *err
	}
	return figures{wall: time.Since(start) / time.Duration(n), cpu: (s.cpu() - used) / time.Duration(n)}, ctx.Err()
}
