// Planted proves that tests can fail. breaks.txt lists breaks of the code, each with the test that
// must fail. simulation.txt lists breaks that the simulation must find. Planted applies them one
// after the other with go test -overlay, so that the working tree is not changed. It runs the named
// test and expects it to fail. A break that does not compile, or a test that does not run, is a
// failure of the list.
//
//	go run ./internal/planted            # all breaks
//	go run ./internal/planted -run Cursor  # breaks whose title, file, function or test matches
//	go run ./internal/planted -v -run Cursor  # with the output of the tests
//	go run ./internal/planted -list internal/planted/simulation.txt  # the breaks of another list
//	go run ./internal/planted -mutate 'pagination*.go,retry.go' -n 20 -seed 1 -test '. TestListLoops'
//
// With -mutate the breaks are small random changes that the program makes: a list contains only the
// breaks that its author thought of. mutant.go has the kinds of changes. The table shows which
// changes the test has found. Some changes have no effect on the behaviour, so a surviving change
// needs a check and is not a failure.
//
// Tests that read source files from the disk (TestGenerated, TestCatalogueIsParsed) do not see a
// break.
//
// Exit status 1 means that a test did not find its break. A break takes seconds, because its
// package is compiled again.
//
// The form of breaks.txt, whose blocks are separated by empty lines:
//
//	== A cursor that was altered is refused
//	in   pagination_cursor.go Cursor.position
//	test . TestCursorDamaged
//	- if err != nil || seal(data) != sum {
//	+ if err != nil {
//
// Paths are relative to the root of the repository. The second word of "in" is a function, a method
// (Type.method), or a type, constant or variable of the package. The lines after "-" must occur in
// it exactly once; indentation is ignored, and the first and the last may be parts of lines. The
// lines after "+" replace them. "test" has the directory of the test's package and the test; its
// subtests may follow after slashes, as for go test -run. The test may be in another module of the
// repository.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"regexp"
	"time"
)

const listFile = "internal/planted/breaks.txt"

func main() {
	log.SetFlags(0)
	log.SetPrefix("planted: ")
	run := flag.String("run", "", "only breaks whose title, file, function or test matches this `regexp`")
	list := flag.String("list", listFile, "the `file` with the breaks")
	r := &runner{root: ".", out: os.Stdout}
	flag.BoolVar(&r.verbose, "v", false, "print the output of the tests")
	flag.DurationVar(&r.timeout, "timeout", time.Minute, "limit of one test; a test that takes longer has failed")
	var m mutation
	flag.StringVar(&m.files, "mutate", "", "random changes of these `files` instead of a list: patterns separated by commas")
	flag.IntVar(&m.n, "n", 20, "number of changes, with -mutate")
	flag.Uint64Var(&m.seed, "seed", 1, "seed of the random choice, with -mutate")
	flag.StringVar(&m.test, "test", "", "the `directory and test` that must find them, with -mutate: \". TestListLoops\"")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	var failed int
	var err error
	if m.files != "" {
		err = r.mutate(ctx, &m)
	} else {
		failed, err = r.selected(ctx, *list, *run)
	}
	stop()
	if err != nil {
		log.Fatal(err)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// selected runs the breaks of a list that match a pattern.
func (r *runner) selected(ctx context.Context, list, pattern string) (failed int, err error) {
	matches, err := regexp.Compile(pattern)
	if err != nil {
		return 0, err
	}
	breaks, err := readList(r.root, list)
	if err != nil {
		return 0, err
	}
	return r.all(ctx, choose(breaks, matches))
}

func choose(breaks []plant, selected *regexp.Regexp) []plant {
	var chosen []plant
	for _, b := range breaks {
		if selected.MatchString(fmt.Sprint(b.title, " ", b.file, " ", b.decl, " ", b.pkg, " ", b.test)) {
			chosen = append(chosen, b)
		}
	}
	return chosen
}
