package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// mutation is a random choice of n mutants of the files, for one test.
type mutation struct {
	files string // patterns, relative to the root, separated by commas
	n     int
	seed  uint64
	test  string // "DIRECTORY TEST", as in a list
}

// mutate runs the test with each of the chosen mutants and prints a table. It skips mutants that do
// not compile and takes others instead.
func (r *runner) mutate(ctx context.Context, m *mutation) error {
	words := strings.Fields(m.test)
	if len(words) != 2 || m.n < 1 {
		return errors.New(`-mutate needs -n above 0, and -test "DIRECTORY TEST"`)
	}
	b := plant{pkg: words[0], test: words[1]}
	all, err := candidates(r.root, m.files)
	if err != nil {
		return err
	}
	switch result, err := r.test(ctx, &b, ""); {
	case err != nil:
		return err
	case result != survived:
		return fmt.Errorf("without a mutant the test is not green: %s", strings.ToLower(string(result)))
	}
	var tried, found, left int
	for _, i := range order(m.seed, len(all)) {
		if tried == m.n {
			break
		}
		began := time.Now()
		result, err := r.mutant(ctx, b, &all[i])
		switch {
		case err != nil:
			return err
		case result == noBuild:
			left++
			continue
		case result == caught:
			found++
		}
		tried++
		_, _ = fmt.Fprintf(r.out, "%-8s  %5.1fs  %s\n", verdict(result), time.Since(began).Seconds(), &all[i])
	}
	_, _ = fmt.Fprintf(r.out, "%d of %d found (%.0f%%), seed %d; %d did not compile; there are %d candidates\n",
		found, tried, 100*float64(found)/float64(max(tried, 1)), m.seed, left, len(all))
	return nil
}

// order returns the order in which n candidates are tried.
func order(seed uint64, n int) []int { return rand.New(rand.NewPCG(seed, 0)).Perm(n) }

// mutant runs the test with one mutant.
func (r *runner) mutant(ctx context.Context, b plant, m *mutant) (outcome, error) {
	source, err := os.ReadFile(filepath.Join(r.root, m.file))
	if err != nil {
		return "", err
	}
	b.file = m.file
	return r.over(ctx, &b, m.apply(source))
}

func verdict(result outcome) string {
	switch result {
	case caught:
		return "found"
	case survived:
		return "survived"
	}
	return strings.ToLower(string(result)) // the test skips itself with this mutant
}

// candidates returns all mutants of the files that the patterns match, in source order. It omits
// tests and generated files.
func candidates(root, patterns string) ([]mutant, error) {
	var names []string
	for pattern := range strings.SplitSeq(patterns, ",") {
		found, err := filepath.Glob(filepath.Join(root, strings.TrimSpace(pattern)))
		if err != nil {
			return nil, err
		}
		found = slices.DeleteFunc(found, func(path string) bool {
			name := filepath.Base(path)
			return filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "zz_")
		})
		if len(found) == 0 {
			return nil, fmt.Errorf("no source file matches %q", pattern)
		}
		names = append(names, found...)
	}
	slices.Sort(names)
	var all []mutant
	for _, name := range slices.Compact(names) {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		file, err := filepath.Rel(root, name)
		if err != nil {
			return nil, err
		}
		mutants, err := mutantsOf(file, source)
		if err != nil {
			return nil, err
		}
		all = append(all, mutants...)
	}
	return all, nil
}
