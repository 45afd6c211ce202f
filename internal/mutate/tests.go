package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// test is a few top-level tests, examples or fuzz targets with their seed corpus: they run in one
// process, because a process costs more than most tests.
type test struct {
	pkg     string
	names   []string
	dir     string // of its package
	program string // the compiled test program
	took    time.Duration
	slow    []string // the names that -longest omits
	reaches []int    // mutants
	failed  string
}

func (t *test) String() string { return t.pkg + "." + strings.Join(t.names, ", ") }

// together is the number of tests in one process.
const together = 8

// apart returns the tests one by one.
func (t *test) apart() (all []*test) {
	for _, name := range t.names {
		all = append(all, &test{pkg: t.pkg, names: []string{name}, dir: t.dir, program: t.program})
	}
	return all
}

// fast returns the tests without the slow ones.
func (t *test) fast() []*test {
	names := slices.DeleteFunc(slices.Clone(t.names), func(name string) bool { return slices.Contains(t.slow, name) })
	if len(names) == 0 {
		return nil
	}
	return []*test{{pkg: t.pkg, names: names, dir: t.dir, program: t.program}}
}

// build compiles the test programs of the packages, with the mutants in them. Mutants that do not
// compile are removed from the list.
func (t *tree) build(ctx context.Context, dir string, packages []module, mutants []mutant) ([]mutant, error) {
	for range 20 {
		overlay, err := t.overlay(dir, mutants)
		if err != nil {
			return nil, err
		}
		text, err := t.compile(ctx, dir, overlay, packages)
		if err == nil {
			return mutants, nil
		}
		left := without(mutants, text)
		if len(left) == len(mutants) {
			return nil, fmt.Errorf("%w\n%s", err, text)
		}
		mutants = left
	}
	return nil, errors.New("too many mutants do not compile")
}

// compile compiles packages whose programs have different names together.
func (t *tree) compile(ctx context.Context, dir, overlay string, packages []module) (string, error) {
	rounds := [][]string{}
	used := map[string]int{}
	for _, p := range packages {
		round := used[path.Base(p.ImportPath)]
		used[path.Base(p.ImportPath)]++
		if round == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[round] = append(rounds[round], p.ImportPath)
	}
	for i, list := range rounds {
		to := filepath.Join(dir, "bin"+strconv.Itoa(i)) + "/"
		if err := os.MkdirAll(to, 0o700); err != nil {
			return "", err
		}
		cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-c", "-vet=off", "-overlay", overlay, "-o", to}, list...)...)
		cmd.Dir = t.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return string(out), err
		}
	}
	return "", nil
}

var position = regexp.MustCompile(`(?m)^(\S+\.go):(\d+):\d+: `)

// without returns the mutants without those in lines that the compiler reports.
func without(mutants []mutant, errs string) []mutant {
	bad := map[string]bool{}
	for _, m := range position.FindAllStringSubmatch(errs, -1) {
		bad[filepath.Base(m[1])+":"+m[2]] = true
	}
	return slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return bad[copyName(m.file)+":"+strconv.Itoa(m.line)] })
}

// list returns the tests of the packages, without those that the pattern matches.
func list(ctx context.Context, dir string, packages []module, without *regexp.Regexp) ([]*test, error) {
	var all []*test
	used := map[string]int{}
	for _, p := range packages {
		base := path.Base(p.ImportPath)
		program := filepath.Join(dir, "bin"+strconv.Itoa(used[base]), base+".test")
		used[base]++
		if _, err := os.Stat(program); err != nil {
			continue // no tests
		}
		cmd := exec.CommandContext(ctx, program, "-test.list", ".")
		cmd.Dir = p.Dir
		out, err := output(cmd)
		if err != nil {
			return nil, err
		}
		var names []string
		for _, name := range strings.Fields(string(out)) {
			if regexp.MustCompile(`^(Test|Example|Fuzz)`).MatchString(name) && !without.MatchString(p.ImportPath+"."+name) {
				names = append(names, name)
			}
		}
		for some := range slices.Chunk(names, together) {
			all = append(all, &test{pkg: p.ImportPath, names: some, dir: p.Dir, program: program})
		}
	}
	return all, nil
}

// each calls f for all items, in several goroutines.
func each[T any](workers int, items []T, f func(T)) {
	var wait sync.WaitGroup
	queue := make(chan T)
	for range workers {
		wait.Go(func() {
			for item := range queue {
				f(item)
			}
		})
	}
	for _, item := range items {
		queue <- item
	}
	close(queue)
	wait.Wait()
}

var passed = regexp.MustCompile(`(?m)^--- PASS: (\S+) \(([\d.]+s)\)`)

// cover runs the tests without a mutant, and records their time, those that take longer than
// longest, and the mutants that they reach.
func (t *test) cover(ctx context.Context, size int, longest time.Duration) error {
	file, err := os.CreateTemp("", "hits")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err = errors.Join(file.Truncate(int64(size)), file.Chmod(0o666), file.Close()); err != nil { // some tests have another user
		return err
	}
	began := time.Now()
	out, err := execute(ctx, []*test{t}, 5*time.Minute, "FORGE_MUTANT_HITS="+file.Name())
	t.took = time.Since(began)
	if err != nil {
		t.failed = lastLines(out)
		return ctx.Err()
	}
	for _, line := range passed.FindAllSubmatch(out, -1) {
		if took, err := time.ParseDuration(string(line[2])); err == nil && longest > 0 && took > longest {
			t.slow = append(t.slow, string(line[1]))
		}
	}
	hits, err := os.ReadFile(file.Name())
	for id, hit := range hits {
		if hit != 0 {
			t.reaches = append(t.reaches, id)
		}
	}
	return err
}

// execute runs tests of one package until one fails.
func execute(ctx context.Context, tests []*test, limit time.Duration, env ...string) ([]byte, error) {
	var names []string
	for _, t := range tests {
		names = append(names, t.names...)
	}
	ctx, cancel := context.WithTimeout(ctx, limit+10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, tests[0].program, "-test.run=^("+strings.Join(names, "|")+")$", "-test.failfast", "-test.v", "-test.count=1", "-test.timeout="+limit.String())
	cmd.Dir, cmd.Env = tests[0].dir, append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second // for children that keep the output open
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.Bytes(), err
}

func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n\t")
}
