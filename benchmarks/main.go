// Command benchmarks measures this client, client-go and hand-written code on the same work, and
// prints the table of FIGURES.md. See README.md in this folder.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
)

// The environment variables that set the role of a child process, and the address of the server.
const (
	roleEnv    = "FORGE_BENCHMARK_ROLE"
	addressEnv = "FORGE_BENCHMARK_ADDRESS"
)

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// flags are those of the command. The processes of rows have the first two, too.
type flags struct {
	quick, exact, check, compare, save, tables bool
	only                                       string
}

func readFlags() (f flags) {
	flag.BoolVar(&f.quick, "quick", false, "do less work: to try a change, not for figures")
	flag.BoolVar(&f.exact, "exact", false, "run only what does not depend on the load of the machine: allocations and sizes")
	flag.StringVar(&f.only, "only", "", "run the rows whose names match this regular expression")
	flag.BoolVar(&f.check, "check", false, "exit with status 1 when a target is missed")
	flag.BoolVar(&f.compare, "compare", false, "compare with the saved figures of this Go release; with -check, a ratio that is 15 % worse is a failure")
	flag.BoolVar(&f.save, "save", false, "save the figures in figures/")
	flag.BoolVar(&f.tables, "tables", false, "write the saved figures into FIGURES.md, docs/speed.md and the README, and run nothing")
	flag.Parse()
	return f
}

func run(ctx context.Context) error {
	f := readFlags()
	role := os.Getenv(roleEnv)
	name, isRow := strings.CutPrefix(role, "row ")
	switch {
	case role == "server":
		return serve(ctx)
	case isRow:
		return beRow(ctx, name, f)
	case role != "":
		return beChild(ctx, role)
	case f.tables:
		return writeDocuments()
	case f.save && (f.exact || f.quick || f.only != ""):
		return errors.New("-save is of a whole run, without -exact, -quick and -only")
	}
	lines, err := measure(ctx, f)
	if err != nil {
		return err
	}
	return report(f, lines)
}

// measure runs each row in its own process, so that no row has the memory of another one.
func measure(ctx context.Context, f flags) (lines []line, err error) {
	pattern, err := regexp.Compile(f.only)
	if err != nil {
		return nil, err
	}
	server, stop, err := startServer(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	for _, r := range rows() {
		if !pattern.MatchString(r.name) || f.exact && !r.exact {
			continue
		}
		start := time.Now()
		var measured []line
		if err := child(ctx, "row "+r.name, server, &measured, fmt.Sprint("-quick=", f.quick), fmt.Sprint("-exact=", f.exact)); err != nil {
			return nil, err
		}
		lines = append(lines, measured...)
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", r.name, time.Since(start).Seconds())
	}
	return lines, nil
}

// child runs a child process in a role, and decodes the JSON that it prints.
func child(ctx context.Context, role, base string, out any, args ...string) error {
	cmd := exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"="+role, addressEnv+"="+base), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", role, err)
	}
	return json.Unmarshal(output, out)
}

// beRow measures a row and prints its lines as JSON.
func beRow(ctx context.Context, name string, f flags) error {
	b := &bench{server: os.Getenv(addressEnv), rounds: 7, quick: f.quick || f.exact}
	if f.exact {
		b.rounds = 1
	}
	all := rows()
	i := slices.IndexFunc(all, func(r row) bool { return r.name == name })
	lines, err := all[i].run(ctx, b)
	if err != nil {
		return err
	}
	kept := []line{}
	for _, l := range lines {
		if l.Work = name; l.Exact || !f.exact {
			kept = append(kept, l)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(kept)
}

// report prints the table and what is missed, and saves the figures.
func report(f flags, lines []line) error {
	fmt.Printf("%s, %d CPUs (%s), %s\n\n", runtime.Version(), runtime.NumCPU(), cpuName(), time.Now().Format(time.DateOnly))
	writeTable(os.Stdout, lines)
	if f.save {
		if err := save(lines); err != nil {
			return err
		}
	}
	var bad []string
	if f.compare {
		old, err := load(release())
		if err != nil {
			return err
		}
		bad = regressions(old.Lines, lines)
		fmt.Printf("\n%d ratios more than 15 %% worse than saved\n%s\n", len(bad), strings.Join(bad, "\n"))
	}
	if !f.check {
		return nil
	}
	unexplained, err := withoutReason(lines)
	if err != nil {
		return err
	}
	if bad = append(bad, unexplained...); len(bad) > 0 {
		return fmt.Errorf("ratios are worse than saved, or targets are missed without a reason in %s:\n%s", allPath, strings.Join(bad, "\n"))
	}
	return checkDocuments()
}

// cpuName returns the name of the processor, or GOARCH if the system does not report it.
func cpuName() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
