package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

//go:embed testdata/hello_forge.go.txt
var helloForge string

//go:embed testdata/hello_hand.go.txt
var helloHand string

// program is a compiled hello world.
type program struct {
	path    string
	args    []string
	size    float64
	modules float64
	starts  []float64 // ns
}

// helloBuilt reports the size of the binary and the number of linked modules. Neither depends on
// the load of the machine.
func helloBuilt(ctx context.Context, _ *bench) (lines []line, err error) {
	err = withHello(ctx, func(us, hand *program) error {
		lines = []line{
			{what: "size of the binary", show: showBytes, ours: us.size, hand: hand.size, most: 1.28e6},
			{what: "modules linked", show: showCount, ours: us.modules, limit: 4},
		}
		return nil
	})
	return lines, err
}

// helloStarted runs the programs in turn and measures how long each runs.
func helloStarted(ctx context.Context, b *bench) (lines []line, err error) {
	err = withHello(ctx, func(us, hand *program) error {
		client := &program{path: us.path, args: []string{"-"}}
		for range b.scaled(500, 100) {
			for _, p := range []*program{us, hand, client} {
				start := time.Now()
				if err := exec.CommandContext(ctx, p.path, p.args...).Run(); err != nil {
					return err
				}
				p.starts = append(p.starts, float64(time.Since(start)))
			}
		}
		lines = []line{
			{what: "start and end of the process", show: showTime, ours: middle(us.starts), hand: middle(hand.starts), most: 1e5},
			{what: "the same with a client made", show: showTime, ours: middle(client.starts), hand: middle(hand.starts)},
		}
		return nil
	})
	return lines, err
}

// withHello builds two programs. Given a project they read an issue; otherwise they print hello.
func withHello(ctx context.Context, use func(us, hand *program) error) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "forge-hello-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	us, err := buildProgram(ctx, filepath.Join(dir, "forge"), helloForge, root)
	if err != nil {
		return err
	}
	hand, err := buildProgram(ctx, filepath.Join(dir, "hand"), helloHand, "")
	if err != nil {
		return err
	}
	return use(us, hand)
}

// buildProgram builds a module of one file. root is the path of this repository, or "" if the
// program does not import it.
func buildProgram(ctx context.Context, dir, source, root string) (*program, error) {
	mod := "module hello\n\ngo 1.26.0\n"
	if root != "" {
		mod += "\nrequire github.com/forge-sdk/forge-go v0.0.0\n\nreplace github.com/forge-sdk/forge-go => " + root + "\n"
	}
	err := errors.Join(os.Mkdir(dir, 0o755), os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o644),
		os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o644))
	if err != nil {
		return nil, err
	}
	p := &program{path: filepath.Join(dir, "hello")}
	if _, err := goTool(ctx, dir, "mod", "tidy"); err != nil {
		return nil, err
	}
	if _, err := goTool(ctx, dir, "build", "-o", p.path, "."); err != nil {
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
