// Layout checks that the structure of the repository stays as CONTRIBUTING.md describes it: which
// files depend on each other, which packages do not import the root package, which files declare
// methods of a call and assign its fields, what the small packages export, and which files have
// tests.
//
//	go run ./internal/layout
//
// It runs in the root of the repository, prints one line for each figure and each problem, and
// fails if there is a problem. It needs the go command and the standard library only.
package main

import (
	"fmt"
	"os"
)

// limits are the limits of the figures. A limit above its goal is lowered as soon as the code
// allows it.
type limits struct {
	circle     int // hand-written files in the largest circle of files
	services   int // service files and client.go in circles with other files
	callFields int
	untested   int // core files without a test file of the same name
	exports    map[string]int
	parts      []part
}

// part is a field of call, and the only file that assigns to it and to the fields of its type.
type part struct {
	field, file string
	foreign     int // allowed in other files
}

func repository() limits {
	return limits{
		circle:     18,
		services:   0,
		callFields: 10,
		untested:   0,
		exports:    map[string]int{"conn": 14, "throttle": 9, "credential": 15, "safetext": 5, "linkheader": 2},
		parts: []part{
			{field: "attempt", file: "call_attempt.go"},
			{field: "response", file: "call_response.go"},
			{field: "retry", file: "call_retry.go"},
			{field: "redirectedTo", file: "call_redirect.go"},
		},
	}
}

// leaves are packages below internal/ that do not import the root package. A package that does not
// exist is not checked.
func leaves() []string {
	return []string{"bufpool", "conn", "credential", "jsonread", "linkheader", "safetext", "savefile", "task", "throttle"}
}

func main() {
	r := &report{}
	if err := r.checkAll(".", repository()); err != nil {
		fmt.Fprintln(os.Stderr, "layout:", err)
		os.Exit(1)
	}
	for _, line := range r.figures {
		fmt.Println(line)
	}
	for _, line := range r.problems {
		fmt.Fprintln(os.Stderr, line)
	}
	if len(r.problems) > 0 {
		os.Exit(1)
	}
}

// report holds the results of the checks.
type report struct{ figures, problems []string }

func (r *report) problem(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// atMost records a figure, and a problem if it is above its limit.
func (r *report) atMost(what string, figure, limit int, details string) {
	r.figures = append(r.figures, fmt.Sprintf("%s: %d (at most %d)", what, figure, limit))
	if figure > limit {
		r.problem("%s: %d, which is more than %d: %s", what, figure, limit, details)
	}
}

// checkAll runs all checks of the repository in dir.
func (r *report) checkAll(dir string, l limits) error {
	root, err := load(dir)
	if err != nil {
		return err
	}
	r.checkCircles(root, l)
	r.checkCall(root, l)
	if err := r.checkTests(dir, l); err != nil {
		return err
	}
	return r.checkLeaves(dir, l)
}
