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
	"sync/atomic"
	"syscall"
	"time"
)

// test is a few top-level tests, examples or fuzz targets with their seed corpus: they run in one
// process, because a process costs more than most tests.
type test struct {
	pkg     string
	names   []string
	files   []string // that have the tests
	dir     string   // of its package
	program string   // the compiled test program
	took    time.Duration
	reaches []int // mutants
	failed  string
}

func (t *test) String() string { return t.pkg + "." + strings.Join(t.names, ", ") }

// together is the number of tests in one process.
const together = 8

// apart returns the tests one by one.
func (t *test) apart() (all []*test) {
	for _, name := range t.names {
		all = append(all, &test{pkg: t.pkg, names: []string{name}, files: t.files, dir: t.dir, program: t.program})
	}
	return all
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
		cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-c", "-vet=off", "-ldflags=-s", "-overlay", overlay, "-o", to}, list...)...)
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
		files, err := declared(p)
		if err != nil {
			return nil, err
		}
		for some := range slices.Chunk(names, together) {
			t := &test{pkg: p.ImportPath, names: some, dir: p.Dir, program: program}
			for _, name := range some {
				t.files = append(t.files, files[name])
			}
			all = append(all, t)
		}
	}
	return all, nil
}

var declaration = regexp.MustCompile(`(?m)^func ((?:Test|Example|Fuzz)\w*)\(`)

// declared returns the file of each test of a package.
func declared(p module) (map[string]string, error) {
	files := map[string]string{}
	for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		source, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return nil, err
		}
		for _, name := range declaration.FindAllSubmatch(source, -1) {
			files[string(name[1])] = filepath.Join(p.Dir, file)
		}
	}
	return files, nil
}

// isOf reports whether the tests are named after a source file: those of call.go are in
// call_test.go and call_*_test.go.
func (t *test) isOf(source string) bool {
	stem := strings.TrimSuffix(source, ".go")
	return slices.ContainsFunc(t.files, func(file string) bool {
		return strings.HasSuffix(file, "/"+stem+"_test.go") || strings.Contains(file, "/"+stem+"_")
	})
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

var (
	begun = regexp.MustCompile(`(?m)^=== (?:RUN|CONT) +([^/\s]+)$`)
	ended = regexp.MustCompile(`(?m)^--- (?:PASS|SKIP): (\S+) \(([\d.]+s)\)`)
)

// cover runs the tests without a mutant, and records their time and the mutants that they reach.
// It omits those that take longer than longest.
func (t *test) cover(ctx context.Context, size int, longest time.Duration) error {
	file, err := os.CreateTemp("", "hits")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	if err = errors.Join(file.Truncate(int64(size)), file.Chmod(0o666), file.Close()); err != nil { // some tests have another user
		return err
	}
	var fast []string
	for len(t.names) > 0 {
		out := &watch{longest: longest}
		err := execute(ctx, []*test{t}, 5*time.Minute, out, "FORGE_MUTANT_HITS="+file.Name())
		slow := out.stop()
		if err != nil && slow == "" {
			t.failed, t.names = lastLines(out.text.Bytes()), append(fast, t.names...)
			return ctx.Err()
		}
		t.took += startup
		for _, line := range ended.FindAllSubmatch(out.text.Bytes(), -1) {
			name := string(line[1])
			if took, err := time.ParseDuration(string(line[2])); err == nil && slices.Contains(t.names, name) {
				t.took += took
				fast = append(fast, name)
			}
		}
		t.names = slices.DeleteFunc(t.names, func(name string) bool { return err == nil || name == slow || slices.Contains(fast, name) })
	}
	t.names = fast
	hits, err := os.ReadFile(file.Name())
	for id, hit := range hits {
		if hit != 0 {
			t.reaches = append(t.reaches, id)
		}
	}
	return err
}

// startup is about the time of a program without tests.
const startup = 20 * time.Millisecond

// watch is the output of a test program. It ends the program if one test takes longer than longest.
type watch struct {
	text    bytes.Buffer  // not embedded: its ReadFrom would bypass Write
	longest time.Duration // 0 for no limit
	end     context.CancelFunc
	test    string
	timer   *time.Timer
	expired atomic.Bool
}

func (w *watch) Write(p []byte) (int, error) {
	if names := begun.FindAllSubmatch(p, -1); len(names) > 0 && w.longest > 0 {
		if name := string(names[len(names)-1][1]); name != w.test && w.pause() {
			w.test = name
			w.timer = time.AfterFunc(w.longest, func() { w.expired.Store(true); w.end() })
		}
	}
	return w.text.Write(p)
}

// pause stops the timer, and reports whether the test was in time.
func (w *watch) pause() bool { return w.timer == nil || w.timer.Stop() }

// stop returns the test that took too long; "" if none did.
func (w *watch) stop() string {
	if w.pause(); w.expired.Load() {
		return w.test
	}
	return ""
}

// execute runs tests of one package until one fails.
func execute(ctx context.Context, tests []*test, limit time.Duration, out *watch, env ...string) error {
	var names []string
	for _, t := range tests {
		names = append(names, t.names...)
	}
	ctx, out.end = context.WithTimeout(ctx, limit+10*time.Second)
	defer out.end()
	cmd := exec.CommandContext(ctx, tests[0].program, "-test.run=^("+strings.Join(names, "|")+")$", "-test.failfast", "-test.v", "-test.count=1", "-test.timeout="+limit.String())
	cmd.Dir, cmd.Env = tests[0].dir, append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second // for children that keep the output open
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	err := cmd.Run()
	if cmd.Process != nil {
		_ = cmd.Cancel() // a mutant can make a child of the test run for ever
	}
	return err
}

func lastLines(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-12):], "\n\t")
}
