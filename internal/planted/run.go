package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// runner runs the tests of the breaks in the repository at root.
type runner struct {
	root    string
	timeout time.Duration
	verbose bool
	out     io.Writer
}

// outcome is the result of a break.
type outcome string

const (
	caught   outcome = "caught"   // the test failed
	survived outcome = "SURVIVED" // the test passed
	skipped  outcome = "SKIPPED"  // the test did not run, or skipped itself
	noBuild  outcome = "NO BUILD" // the broken code does not compile
	red      outcome = "RED"      // the test fails without the break, too
)

// all runs the breaks and prints a line for each. failed is the number of breaks that were not
// caught.
func (r *runner) all(ctx context.Context, breaks []plant) (failed int, err error) {
	green := map[string]outcome{}
	for i := range breaks {
		b := &breaks[i]
		began := time.Now()
		result, err := r.one(ctx, b, green)
		if err != nil {
			return failed, fmt.Errorf("%s: %w", b.title, err)
		}
		if result != caught {
			failed++
		}
		_, _ = fmt.Fprintf(r.out, "%-8s  %5.1fs  %-28s %-28s %-16s %s\n          %s\n", result, time.Since(began).Seconds(), b.file, b.decl, b.pkg, b.test, b.title)
	}
	_, _ = fmt.Fprintf(r.out, "%d passed, %d failed\n", len(breaks)-failed, failed)
	return failed, nil
}

// one runs a break's test. Before its first break, each test runs once without a break.
func (r *runner) one(ctx context.Context, b *plant, green map[string]outcome) (outcome, error) {
	key := b.pkg + " " + b.test
	if green[key] == "" {
		result, err := r.test(ctx, b, "")
		if err != nil {
			return "", err
		}
		green[key] = result
	}
	switch green[key] {
	case survived: // without a break the test must pass
	case caught:
		return red, nil
	default:
		return green[key], nil
	}
	broken, err := b.apply(r.root)
	if err != nil {
		return "", err
	}
	return r.over(ctx, b, broken)
}

// over runs a break's test, with the text broken in place of the break's file.
func (r *runner) over(ctx context.Context, b *plant, broken []byte) (outcome, error) {
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	overlay, err := r.overlay(b, broken, dir)
	if err != nil {
		return "", err
	}
	return r.test(ctx, b, overlay)
}

// overlay writes the broken file and the overlay that replaces the real file by it.
func (r *runner) overlay(b *plant, broken []byte, dir string) (string, error) {
	replaced, err := filepath.Abs(filepath.Join(r.root, b.file))
	if err != nil {
		return "", err
	}
	copied, name := filepath.Join(dir, "broken.go"), filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(copied, broken, 0o600); err != nil {
		return "", err
	}
	text, err := json.Marshal(map[string]any{"Replace": map[string]string{replaced: copied}})
	if err != nil {
		return "", err
	}
	return name, os.WriteFile(name, text, 0o600)
}

// test runs the test of a break, with the overlay if it is not empty.
func (r *runner) test(ctx context.Context, b *plant, overlay string) (outcome, error) {
	pattern := "^" + b.testName() + "$" + strings.TrimPrefix(b.test, b.testName())
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout=" + r.timeout.String(), "-run=" + pattern}
	if overlay != "" {
		args = append(args, "-overlay="+overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = filepath.Join(r.root, b.pkg)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.Output()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil && len(stdout) == 0 {
		return "", fmt.Errorf("go test: %w: %s", err, stderr.Bytes())
	}
	return r.read(stdout, b.testName())
}

// read finds the outcome in the events of go test -json. A test that began and did not end, such as
// after a deadlock, has failed.
func (r *runner) read(events []byte, test string) (outcome, error) {
	result := skipped
	scanner := bufio.NewScanner(bytes.NewReader(events))
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var e struct{ Action, Test, Output, FailedBuild string }
		if err := json.Unmarshal(scanner.Bytes(), &e); err != nil {
			return "", fmt.Errorf("go test wrote %q: %w", scanner.Bytes(), err)
		}
		if r.verbose {
			_, _ = io.WriteString(r.out, e.Output)
		}
		switch {
		case e.Action == "build-fail" || e.FailedBuild != "":
			return noBuild, nil
		case e.Test != test:
		case e.Action == "run" || e.Action == "fail":
			result = caught
		case e.Action == "pass":
			result = survived
		case e.Action == "skip":
			result = skipped
		}
	}
	return result, scanner.Err()
}
