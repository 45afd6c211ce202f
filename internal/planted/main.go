// Planted proves that tests can fail. breaks.txt lists breaks of the code, each with the test that
// must notice it. simulation.txt lists those that the simulation must find. Planted applies one after
// the other with go test -overlay, so that the working tree is not touched, runs the named test and
// expects it to fail. A break that does not compile, and a test that does not run, are failures of
// the list.
//
//	go run ./internal/planted            # all breaks
//	go run ./internal/planted -run Cursor  # those whose title, file, function or test matches
//	go run ./internal/planted -v -run Cursor  # with the output of the tests
//	go run ./internal/planted -list internal/planted/simulation.txt  # those of another list
//	go run ./internal/planted -mutate 'pagination*.go,retry.go' -n 20 -seed 1 -test '. TestListLoops'
//
// With -mutate the breaks are no list, but small changes made by machine and chosen at random: a
// list holds only what its author thought of. mutant.go has the kinds of changes. The table shows
// which of them the test has found. Some changes have no effect, so one that survived is a question
// and not a failure.
//
// Tests that read source files from the disk (TestGenerated, TestCatalogueIsRead) do not see a break.
//
// Exit status 1 means that a break was not noticed. A break takes seconds, because its package is
// compiled again.
//
// The form of breaks.txt, whose blocks are separated by empty lines:
//
//	== A cursor that was altered is refused
//	in   cursor.go Cursor.position
//	test . TestCursorDamaged
//	- if err != nil || seal(data) != sum {
//	+ if err != nil {
//
// Paths are relative to the root of the repository. The second word of "in" is a function, a method
// (Type.method), or a type, constant or variable of the package. The lines after "-" occur in it
// exactly once, whatever their indentation, and the first and last may be parts of lines; the lines
// after "+" replace them. "test" has the directory of the test's package and the test, whose
// subtests may follow after slashes, as for go test -run. A test in another module of the
// repository will do.
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
	flag.DurationVar(&r.timeout, "timeout", time.Minute, "of one test; one that takes longer has failed")
	var m mutation
	flag.StringVar(&m.files, "mutate", "", "no list, but random changes of these `files`: patterns with commas between them")
	flag.IntVar(&m.n, "n", 20, "how many changes, with -mutate")
	flag.Uint64Var(&m.seed, "seed", 1, "of the choice, with -mutate")
	flag.StringVar(&m.test, "test", "", "the `directory and test` that has to find them, with -mutate: \". TestListLoops\"")
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

// selected runs the breaks of a list that a pattern selects.
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
