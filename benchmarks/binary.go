package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

//go:embed testdata/hello_forge.go.txt
var helloForge string

//go:embed testdata/hello_hand.go.txt
var helloHand string

// helloFloor does the same with the dependencies that the root module is bound to: net/http,
// encoding/json, go-retryablehttp, x/oauth2 and go-querystring. It is the floor of this client.
//
//go:embed testdata/hello_floor.go.txt
var helloFloor string

// program is a compiled hello world.
type program struct {
	path    string
	args    []string
	size    float64
	modules float64
	starts  []float64 // ns
	inits   []float64 // ns
	allocs  []float64 // of the initialization of packages
}

// hellos are the programs of a row.
type hellos struct{ us, hand, floor *program }

// helloBuilt reports the size of the binary and the number of linked modules. Neither depends on
// the load of the machine. The client adds no module to the floor, and at most 15 % to its size.
func helloBuilt(ctx context.Context, _ *bench) (lines []line, err error) {
	err = withHello(ctx, func(p hellos) error {
		lines = []line{
			{
				what: "size of the binary", show: showBytes, ours: p.us.size, hand: p.hand.size, floor: p.floor.size,
				most: 1.5e6, floorTarget: 1.15, exact: true,
			},
			{what: "modules linked", show: showCount, ours: p.us.modules, floor: p.floor.modules, floorTarget: 1, exact: true},
		}
		return nil
	})
	return lines, err
}

// helloStarted runs the programs in turn, and measures how long each runs, and what the
// initialization of its packages costs. The client adds at most 10 % to the allocations of the
// floor.
func helloStarted(ctx context.Context, b *bench) (lines []line, err error) {
	err = withHello(ctx, func(p hellos) error {
		client, floorClient := &program{path: p.us.path, args: []string{"-"}}, &program{path: p.floor.path, args: []string{"-"}}
		for range b.startRounds() {
			for _, p := range []*program{p.us, p.hand, p.floor, client, floorClient} {
				start := time.Now()
				if err := exec.CommandContext(ctx, p.path, p.args...).Run(); err != nil {
					return err
				}
				p.starts = append(p.starts, float64(time.Since(start)))
			}
		}
		for range b.scaled(31, 5) {
			for _, p := range []*program{p.us, p.hand, p.floor} {
				if err := p.trace(ctx); err != nil {
					return err
				}
			}
		}
		lines = []line{
			{
				what: "start and end of the process", show: showTime, ours: middle(p.us.starts), hand: middle(p.hand.starts), floor: middle(p.floor.starts),
				most: 1e5, noisy: true,
			},
			{what: "the same with a client made", show: showTime, noisy: true, ours: middle(client.starts), hand: middle(p.hand.starts), floor: middle(floorClient.starts)},
			{what: "initialization of packages", show: showTime, noisy: true, ours: middle(p.us.inits), hand: middle(p.hand.inits), floor: middle(p.floor.inits)},
			{
				what: "initialization of packages, allocations", show: showCount, ours: middle(p.us.allocs), hand: middle(p.hand.allocs), floor: middle(p.floor.allocs),
				floorTarget: 1.1, exact: true,
			},
		}
		return nil
	})
	return lines, err
}

func (b *bench) startRounds() int {
	if b.exact {
		return 1
	}
	return b.scaled(300, 50)
}

var initLine = regexp.MustCompile(`(?m)^init \S+ @.*, ([0-9.]+) ms clock, \d+ bytes, (\d+) allocs$`)

// trace runs the program with GODEBUG=inittrace=1, which reports what the initialization of each
// package costs.
func (p *program) trace(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, p.path)
	var report bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), "GODEBUG=inittrace=1"), &report
	if err := cmd.Run(); err != nil {
		return err
	}
	var took, allocs float64
	for _, match := range initLine.FindAllStringSubmatch(report.String(), -1) {
		ms, _ := strconv.ParseFloat(match[1], 64)
		n, _ := strconv.ParseFloat(match[2], 64)
		took, allocs = took+ms*1e6, allocs+n
	}
	if allocs == 0 {
		return fmt.Errorf("%s reports no initialization: %q", p.path, report.String())
	}
	p.inits, p.allocs = append(p.inits, took), append(p.allocs, allocs)
	return nil
}

// withHello builds the programs. Given a project they read an issue; otherwise they print hello.
func withHello(ctx context.Context, use func(hellos) error) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "forge-hello-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var p hellos
	for _, of := range []struct {
		program            **program
		name, source, root string
	}{{&p.us, "forge", helloForge, root}, {&p.hand, "hand", helloHand, ""}, {&p.floor, "floor", helloFloor, ""}} {
		if *of.program, err = buildProgram(ctx, filepath.Join(dir, of.name), of.source, of.root); err != nil {
			return err
		}
	}
	return use(p)
}

var requires = regexp.MustCompile(`(?ms)^require \(.*?^\)$`)

// buildProgram builds a module of one file. root is the path of this repository, or "" if the
// program does not import it. Its dependencies have the versions of the root module.
func buildProgram(ctx context.Context, dir, source, root string) (*program, error) {
	of, err := os.ReadFile("../go.mod")
	if err != nil {
		return nil, err
	}
	mod := "module hello\n\ngo 1.26.0\n\n" + string(bytes.Join(requires.FindAll(of, -1), []byte("\n"))) + "\n"
	if root != "" {
		mod += "\nrequire github.com/forge-sdk/forge-go v0.0.0\n\nreplace github.com/forge-sdk/forge-go => " + root + "\n"
	}
	err = errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644))
	if err != nil {
		return nil, err
	}
	p := &program{path: filepath.Join(dir, "hello")}
	if _, err := goTool(ctx, dir, "mod", "tidy"); err != nil {
		return nil, err
	}
	if _, err := goTool(ctx, dir, "build", "-trimpath", "-o", p.path, "."); err != nil {
		return nil, err
	}
	info, err := os.Stat(p.path)
	if err != nil {
		return nil, err
	}
	text, err := goTool(ctx, dir, "version", "-m", p.path)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "dep" && fields[1] != "github.com/forge-sdk/forge-go" {
			p.modules++
		}
	}
	p.size = float64(info.Size())
	return p, nil
}

func goTool(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return string(output), nil
}
