package forge

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	osexec "os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/forge-sdk/forge-go/internal/contracttest/callresult"
)

// Cases that may end the whole process run in a child process: the test binary with the same test.
// A crash is then a failed case, and a new child runs the remaining cases.

// childCase is one case. run returns the problems that it found.
type childCase struct {
	name string
	run  func(t *testing.T) []string
}

const (
	childVariable = "FORGE_TEST_CHILD"
	// childHung is the exit code of a child whose last case hung.
	childHung = 3
)

// childCrashes returns the number of crashes and hangs after which the remaining cases of a child
// are skipped; FORGE_TEST_CRASHES changes it.
func childCrashes() int {
	if n, err := strconv.Atoi(os.Getenv("FORGE_TEST_CRASHES")); err == nil {
		return n
	}
	return 8
}

// runInChild runs the cases in concurrent child processes, one for each processor. The test must
// call it first: in the child it does not return.
func runInChild(t *testing.T, cases []childCase) {
	t.Helper()
	if place := os.Getenv(childVariable); place != "" {
		beChild(t, place, cases)
	}
	parts := min(runtime.GOMAXPROCS(0), 4, max(1, len(cases)/8))
	done := make(chan []string, parts)
	for part := range parts {
		go func() { done <- driveChild(t.Context(), t.Name(), cases, part, parts) }()
	}
	for range parts {
		for _, problem := range <-done {
			t.Error(problem)
		}
	}
}

// driveChild runs every parts-th case, starting with case number part. After a case that ended the
// child it starts a new child with the next case.
func driveChild(ctx context.Context, test string, cases []childCase, part, parts int) (problems []string) {
	for from, crashes := part, 0; from < len(cases); {
		if crashes == childCrashes() {
			return append(problems, fmt.Sprintf("%d crashes and hangs; the cases from %q on were not run", crashes, cases[from].name))
		}
		next, found := runOneChild(ctx, test, cases, from, parts)
		problems = append(problems, found...)
		if next <= from {
			return append(problems, "the child process did not begin case "+cases[from].name)
		}
		crashes++
		from = next
	}
	return problems
}

// runOneChild runs one child process. next is the first case that it has not run.
func runOneChild(ctx context.Context, test string, cases []childCase, from, step int) (next int, problems []string) {
	pattern := "^" + strings.Join(strings.Split(test, "/"), "$/^") + "$"
	cmd := osexec.CommandContext(ctx, os.Args[0], "-test.run="+pattern, "-test.count=1", "-test.timeout=5m")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s %d %d", childVariable, test, from, step))
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	err := cmd.Run()
	next = from
	current, text := -1, strings.Builder{}
	lines := bufio.NewScanner(&output)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		mark, rest, _ := strings.Cut(lines.Text(), " ")
		switch mark {
		case "\x01begin":
			current, _ = strconv.Atoi(rest)
			text.Reset()
		case "\x01wrong":
			problem, _ := strconv.Unquote(rest)
			problems = append(problems, cases[current].name+": "+problem)
		case "\x01end":
			next, current = current+step, -1
			text.Reset()
		default:
			if text.Len() < 500 && !strings.HasPrefix(lines.Text(), "=== ") {
				text.WriteString("\n\t" + lines.Text())
			}
		}
	}
	if current >= 0 {
		return current + step, append(problems, fmt.Sprintf("%s: the process ended (%v):%s", cases[current].name, err, text.String()))
	}
	if next < len(cases) && cmd.ProcessState.ExitCode() != childHung {
		problems = append(problems, fmt.Sprintf("the child ended early (%v):%s", err, text.String()))
	}
	return next, problems
}

// beChild runs the cases of this child, and ends the process.
func beChild(t *testing.T, place string, cases []childCase) {
	t.Helper()
	var test string
	var from, step int
	_, err := fmt.Sscanf(place, "%s %d %d", &test, &from, &step)
	require.NoError(t, err)
	require.Equal(t, test, t.Name())
	for i := from; i < len(cases); i += step {
		fmt.Printf("\n\x01begin %d\n", i)
		leaks := goleak.IgnoreCurrent()
		found := make(chan []string, 1)
		ended := callresult.Of(callresult.Patience, func() error {
			found <- cases[i].run(t)
			return nil
		})
		var problems []string
		if ended.Kind != callresult.Returned {
			problems = append(problems, "the case itself "+ended.String())
		} else if problems = <-found; len(problems) == 0 {
			if err := goleak.Find(leaks); err != nil {
				problems = append(problems, "goroutines stay: "+err.Error())
			}
		}
		for _, problem := range problems {
			fmt.Printf("\n\x01wrong %q\n", problem)
		}
		fmt.Printf("\n\x01end %d\n", i)
		if ended.Kind == callresult.Hung {
			os.Exit(childHung) // a hanging case must not affect the following cases
		}
	}
	os.Exit(0)
}
