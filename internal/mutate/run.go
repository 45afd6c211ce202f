package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

type options struct {
	files, without, packages, only string
	n, workers                     int
	seed                           uint64
	longest                        time.Duration
	verbose                        bool
}

// verdict is what became of a mutant.
type verdict struct {
	mutant
	killer string // the output's test, or the program that did not end
	tests  int    // that reach it
}

// run draws mutants and prints what the tests found.
func (o options) run(ctx context.Context, w io.Writer) error {
	t, err := here(ctx)
	if err != nil {
		return err
	}
	all, err := t.candidates(ctx, o.files)
	if err != nil {
		return err
	}
	chosen := draw(all, o.n, o.seed)
	if o.only != "" {
		only, err := regexp.Compile(o.only)
		if err != nil {
			return err
		}
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !only.MatchString(m.String()) })
		for i := range chosen {
			chosen[i].id = i // the file of hits has a byte for each
		}
	}
	verdicts, err := t.judge(ctx, w, o, chosen)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(w, "seed %d, %d of %d candidates, %d did not compile\n", o.seed, len(chosen), len(all), len(chosen)-len(verdicts))
	report(w, verdicts)
	return nil
}

// here is the module of the working directory.
func here(ctx context.Context) (*tree, error) {
	modules, err := goList(ctx, "-m", "-json=Dir,Path")
	if err != nil {
		return nil, err
	}
	if len(modules) != 1 {
		return nil, fmt.Errorf("%d modules: run it in the root of one", len(modules))
	}
	return &tree{root: modules[0].Dir, path: modules[0].Path, sources: map[string][]byte{}}, nil
}

// judge compiles the mutants, and runs the tests that reach them.
func (t *tree) judge(ctx context.Context, w io.Writer, o options, chosen []mutant) ([]verdict, error) {
	began := time.Now()
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	packages, err := goList(ctx, append([]string{"-json=Dir,ImportPath,TestGoFiles,XTestGoFiles"}, strings.Fields(o.packages)...)...)
	if err != nil {
		return nil, err
	}
	packages = slices.DeleteFunc(packages, func(m module) bool { return len(m.TestGoFiles)+len(m.XTestGoFiles) == 0 })
	size := len(chosen)
	chosen, err = t.build(ctx, dir, packages, chosen)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(w, "%d mutants compiled into the tests of %d packages (%.0fs)\n", len(chosen), len(packages), time.Since(began).Seconds())
	tests, err := o.covered(ctx, w, dir, packages, size)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(w, "%d groups of tests run without a mutant (%.0fs)\n", len(tests), time.Since(began).Seconds())
	var mu sync.Mutex
	var verdicts []verdict
	each(o.workers, chosen, func(m mutant) {
		if ctx.Err() != nil {
			return
		}
		v := o.try(ctx, m, tests)
		mu.Lock()
		defer mu.Unlock()
		verdicts = append(verdicts, v)
		if o.verbose {
			_, _ = fmt.Fprintf(w, "%-60s %s\n", cmp.Or(v.killer, "SURVIVED"), &v.mutant)
		}
	})
	_, _ = fmt.Fprintf(w, "%d mutants run (%.0fs)\n", len(verdicts), time.Since(began).Seconds())
	slices.SortFunc(verdicts, func(a, b verdict) int { return cmp.Compare(a.id, b.id) })
	return verdicts, ctx.Err()
}

// covered runs all tests without a mutant, and returns those that pass.
func (o options) covered(ctx context.Context, w io.Writer, dir string, packages []module, size int) ([]*test, error) {
	without, err := regexp.Compile(cmp.Or(o.without, "^$"))
	if err != nil {
		return nil, err
	}
	tests, err := list(ctx, dir, packages, without)
	if err != nil {
		return nil, err
	}
	var mu sync.Mutex
	var failure error
	run := func(tests []*test) (passed, again []*test) {
		each(o.workers, tests, func(t *test) {
			err := t.cover(ctx, size, o.longest)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err != nil:
				failure = err
			case t.failed != "" && len(t.names) == 1:
				_, _ = fmt.Fprintf(w, "omitted, as it fails without a mutant: %s\n\t%s\n", t, t.failed)
			case t.failed != "":
				again = append(again, t.apart()...)
			case len(t.names) > 0:
				passed = append(passed, t)
			}
		})
		return passed, again
	}
	passed, again := run(tests)
	others, _ := run(again)
	return append(passed, others...), failure
}

// try runs the tests that reach a mutant, until one fails: at first those of its file, then those
// that reach little else and are fast. With -longest, it ends after some time.
func (o options) try(ctx context.Context, m mutant, tests []*test) verdict {
	v := verdict{mutant: m}
	var reaching []*test
	for _, t := range tests {
		if slices.Contains(t.reaches, m.id) {
			reaching = append(reaching, t)
		}
	}
	v.tests = len(reaching)
	order := func(t *test) float64 {
		if t.isOf(m.file) {
			return t.took.Seconds()
		}
		return math.Inf(0)
	}
	slices.SortStableFunc(reaching, func(a, b *test) int {
		return cmp.Or(cmp.Compare(order(a), order(b)),
			cmp.Compare(float64(len(a.reaches)+5)*a.took.Seconds(), float64(len(b.reaches)+5)*b.took.Seconds()))
	})
	began := time.Now()
	for len(reaching) > 0 && ctx.Err() == nil && (o.longest == 0 || time.Since(began) < patience*o.longest) {
		n, total := 0, time.Duration(0)
		for n < len(reaching) && (n == 0 || total < time.Second) {
			total += reaching[n].took
			n++
		}
		if v.killer = batch(ctx, m, reaching[:n]); v.killer != "" {
			return v
		}
		reaching = reaching[n:]
	}
	return v
}

// patience is the number of the longest tests that a mutant gets, if there is a limit.
const patience = 10

// batch runs tests, one program for each package, and returns the test that failed.
func batch(ctx context.Context, m mutant, tests []*test) string {
	byPackage := map[string][]*test{}
	for _, t := range tests {
		byPackage[t.pkg] = append(byPackage[t.pkg], t)
	}
	for _, pkg := range slices.Sorted(maps.Keys(byPackage)) {
		limit := 20 * time.Second // a floor: the machine may be busy
		for _, t := range byPackage[pkg] {
			limit += 5 * t.took
		}
		var out watch
		err := execute(ctx, byPackage[pkg], limit, &out, fmt.Sprintf("FORGE_MUTANT=%d", m.id))
		if err == nil || ctx.Err() != nil {
			continue
		}
		if failed := regexp.MustCompile(`(?m)^--- FAIL: (\S+)`).FindSubmatch(out.text.Bytes()); failed != nil {
			return pkg + "." + string(failed[1])
		}
		return pkg + " (ended: " + byPackage[pkg][0].names[0] + ")"
	}
	return ""
}

// report prints the figures of each folder and the mutants that survived.
func report(w io.Writer, verdicts []verdict) {
	type figures struct{ killed, all int }
	by := map[string]*figures{}
	total := &figures{}
	for _, v := range verdicts {
		dir := filepath.Dir(v.file)
		if by[dir] == nil {
			by[dir] = &figures{}
		}
		for _, f := range []*figures{by[dir], total} {
			f.all++
			if v.killer != "" {
				f.killed++
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(by)) {
		_, _ = fmt.Fprintf(w, "%-28s %4d of %4d killed (%.1f%%)\n", dir, by[dir].killed, by[dir].all, 100*float64(by[dir].killed)/float64(by[dir].all))
	}
	_, _ = fmt.Fprintf(w, "%-28s %4d of %4d killed (%.1f%%)\n", "in all", total.killed, total.all, 100*float64(total.killed)/float64(max(total.all, 1)))
	for _, v := range verdicts {
		if v.killer == "" {
			_, _ = fmt.Fprintf(w, "survived (%d tests reach it): %s\n", v.tests, &v.mutant)
		}
	}
}
