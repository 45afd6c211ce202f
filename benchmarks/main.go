// Command benchmarks measures this client, its peers and hand-written code on the same work, and
// prints the table of docs/speed.md. See README.md in this folder.
package main

import (
	"bytes"
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
	"strconv"
	"strings"
	"time"
)

// roleEnv is the environment variable that sets the role of a child process.
const roleEnv = "FORGE_BENCHMARK_ROLE"

func main() {
	if err := run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "benchmarks:", err)
		os.Exit(1)
	}
}

// flags are those of the command. Children have the first three, too.
type flags struct {
	rounds       int
	quick, exact bool
	only         string
	check        bool
	compare      bool
	save, tables bool
}

func readFlags() (f flags) {
	flag.IntVar(&f.rounds, "rounds", 7, "how often each contender has its turn; the slow rows have fewer")
	flag.BoolVar(&f.quick, "quick", false, "do less work: to try a change, not for figures")
	flag.BoolVar(&f.exact, "exact", false, "run only what does not depend on the load of the machine: allocations and sizes")
	flag.StringVar(&f.only, "only", "", "run the rows whose names match this regular expression")
	flag.BoolVar(&f.check, "check", false, "exit with status 1 when a target is missed")
	flag.BoolVar(&f.compare, "compare", false, "compare with the saved figures of this Go release; with -check, a ratio that is 15 % worse is a failure")
	flag.BoolVar(&f.save, "save", false, "save the figures of all rows in figures/")
	flag.BoolVar(&f.tables, "tables", false, "write the saved figures into docs/speed.md and the README, and run nothing")
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
	case f.save && f.exact:
		return errors.New("-save and -exact exclude each other: the saved rows have all of their lines")
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
		if !pattern.MatchString(r.name) || f.exact && !slices.Contains(exactRows, r.name) {
			continue
		}
		start := time.Now()
		measured, err := runRow(ctx, r.name, server, f)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		lines = append(lines, measured...)
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", r.name, time.Since(start).Seconds())
	}
	return lines, nil
}

// runRow is the parent of beRow.
func runRow(ctx context.Context, name, server string, f flags) (lines []line, err error) {
	cmd := exec.CommandContext(ctx, os.Args[0], "-rounds", strconv.Itoa(f.rounds), fmt.Sprint("-quick=", f.quick), fmt.Sprint("-exact=", f.exact))
	cmd.Env, cmd.Stderr = append(os.Environ(), roleEnv+"=row "+name, addressEnv+"="+server), os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	return readLines(output)
}

// beRow measures a row and prints its lines as JSON.
func beRow(ctx context.Context, name string, f flags) error {
	if f.exact {
		f.rounds, f.quick = 1, true
	}
	all := rows()
	i := slices.IndexFunc(all, func(r row) bool { return r.name == name })
	lines, err := all[i].run(ctx, &bench{server: os.Getenv(addressEnv), rounds: f.rounds, quick: f.quick, exact: f.exact})
	if err != nil {
		return err
	}
	kept := lines[:0]
	for _, l := range lines {
		if l.work = name; l.exact || !f.exact {
			kept = append(kept, l)
		}
	}
	return json.NewEncoder(os.Stdout).Encode(savedLines(kept))
}

func readLines(text []byte) (lines []line, err error) {
	var saved []savedLine
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&saved); err != nil {
		return nil, err
	}
	return linesOf(saved), nil
}

// report prints the table and what is missed, and saves the figures.
func report(f flags, lines []line) error {
	fmt.Printf("%s, %d CPUs (%s), %s\n\n", runtime.Version(), runtime.NumCPU(), cpuName(), time.Now().Format(time.DateOnly))
	missed := writeTable(os.Stdout, lines)
	fmt.Printf("\n%d targets missed\n", missed)
	if f.save {
		if err := save(lines, f.quick, f.only != ""); err != nil {
			return err
		}
	}
	var worse []string
	if f.compare {
		old, err := load(release())
		if err != nil {
			return err
		}
		worse = regressions(linesOf(old.Lines), lines)
		fmt.Printf("%d ratios more than 15 %% worse than saved\n%s", len(worse), strings.Join(worse, ""))
	}
	if !f.check {
		return nil
	}
	unexplained, err := withoutReason(lines)
	if err != nil {
		return err
	}
	if len(unexplained)+len(worse) > 0 {
		return fmt.Errorf("%d ratios are worse than saved, and %d targets are missed without a reason in %s:\n%s", len(worse), len(unexplained), speedPath, strings.Join(unexplained, "\n"))
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
