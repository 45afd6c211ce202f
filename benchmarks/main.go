// Command benchmarks measures this client, its peers and hand-written code on the same work, and
// prints the table of docs/speed.md. See README.md in this folder.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"regexp"
	"runtime"
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

func run(ctx context.Context) error {
	switch role := os.Getenv(roleEnv); {
	case role == "server":
		return serve(ctx)
	case strings.HasPrefix(role, childPrefix):
		return beRowChild(ctx, role)
	case role != "":
		return beChild(ctx, role)
	}
	rounds := flag.Int("rounds", 7, "how often each contender has its turn; the slow rows have fewer")
	only := flag.String("only", "", "run the rows whose names match this regular expression")
	quick := flag.Bool("quick", false, "do less work: for a look, not for figures")
	check := flag.Bool("check", false, "exit with status 1 when a target is missed")
	flag.Parse()
	pattern, err := regexp.Compile(*only)
	if err != nil {
		return err
	}
	server, stop, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer stop()
	b := &bench{server: server, rounds: *rounds, quick: *quick}
	var lines []line
	for _, r := range rows() {
		if !pattern.MatchString(r.name) {
			continue
		}
		start := time.Now()
		measured, err := r.run(ctx, b)
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		for i := range measured {
			measured[i].work = r.name
		}
		lines = append(lines, measured...)
		fmt.Fprintf(os.Stderr, "%s: %.0f s\n", r.name, time.Since(start).Seconds())
	}
	fmt.Printf("%s, %d CPUs (%s), %s\n\n", runtime.Version(), runtime.NumCPU(), cpuName(), time.Now().Format(time.DateOnly))
	missed := writeTable(os.Stdout, lines)
	fmt.Printf("\n%d targets missed\n", missed)
	if *check && missed > 0 {
		return fmt.Errorf("%d targets missed", missed)
	}
	return nil
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
