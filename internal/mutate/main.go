// Mutate measures what the tests find. It draws small random changes of the code (mutants),
// compiles all of them into one set of test programs, each behind a switch that an environment
// variable sets, and runs for each mutant the tests that reach it, until one fails.
//
//	go run ./internal/mutate -n 60                                # a sample
//	go run ./internal/mutate -n 600 -seed 7                       # a score
//	go run ./internal/mutate -files 'call_retry.go,pagination*.go' -n 40
//
// The working tree is not changed: the instrumented files are an overlay of the go command. Tests
// that read source files from the disk do not see a mutant.
//
// Kinds of mutants: negated and removed conditions, moved bounds of comparisons, removed statements
// and calls, changed constants, swapped arguments and operators, dropped errors. Not changed, as no
// test should depend on them: texts for people (string constants with a space, and arguments of
// slog, errors.New, fmt.Errorf and panic), arguments of make, constants returned with others, the
// order of the arguments of Equal, DeepEqual and EqualFold, and the data of demonstrations
// (demo*.go). Declared constants are changed where they are used.
//
// A mutant is killed if a test fails or does not end. The tests of its file run first, then fast
// ones that reach few mutants. -without omits tests, to measure what only they kill. -longest omits
// slow tests, and ends a mutant's after ten times as long: the result is then a lower bound of the
// score.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"os/signal"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutate: ")
	var o options
	flag.StringVar(&o.files, "files", "*.go,internal/{conn,credential,jsonread,linkheader,safetext,savefile,task,throttle}/*.go,forgetest/*.go", "the `files` to change: patterns separated by commas")
	flag.IntVar(&o.n, "n", 60, "number of mutants")
	flag.Uint64Var(&o.seed, "seed", 1, "seed of the choice")
	flag.StringVar(&o.without, "without", "", "a `regexp` of tests to omit, matched with \"PACKAGE.TEST\"")
	flag.StringVar(&o.packages, "packages", "./...", "the `packages` whose tests run")
	flag.IntVar(&o.workers, "workers", 2, "test programs that run side by side")
	flag.DurationVar(&o.longest, "longest", 0, "omit tests that take longer than this; 0 for none")
	flag.StringVar(&o.only, "only", "", "a `regexp` of the mutants to run, matched with \"FILE:LINE KIND\"")
	flag.BoolVar(&o.verbose, "v", false, "print a line for each mutant, with the test that killed it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := o.run(ctx, os.Stdout)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}
