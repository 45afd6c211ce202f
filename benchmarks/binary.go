package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:embed testdata/hello_forge.go.txt
var helloForge string

//go:embed testdata/hello_hand.go.txt
var helloHand string

// helloBuilt reports the size of a program and the number of modules that it links. Given a project
// the programs read an issue; otherwise they print hello. Neither figure depends on the load of the
// machine. The modules are those that the root module is bound to.
func helloBuilt(ctx context.Context, _ *bench) ([]line, error) {
	ours, modules, err := buildProgram(ctx, helloForge)
	if err != nil {
		return nil, err
	}
	hand, _, err := buildProgram(ctx, helloHand)
	return []line{
		{What: "size of the binary", Unit: inBytes, Forge: ours, Hand: hand, Most: 2.2e6, Exact: true}, // log/slog, the encoders, feeds and pacing are always linked
		{What: "modules linked", Unit: inCount, Forge: modules, Limit: 4, Exact: true},
	}, err
}

// buildProgram builds a program of one file, with the dependencies of this module.
func buildProgram(ctx context.Context, source string) (size, modules float64, err error) {
	dir, err := os.MkdirTemp("", "forge-hello-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	file, program, text := filepath.Join(dir, "main.go"), filepath.Join(dir, "hello"), ""
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		return 0, 0, err
	}
	for _, args := range [][]string{{"build", "-trimpath", "-o", program, file}, {"version", "-m", program}} {
		if text, err = goTool(ctx, args...); err != nil {
			return 0, 0, err
		}
	}
	for line := range strings.Lines(text) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "dep" && fields[1] != "github.com/forge-sdk/forge-go" {
			modules++
		}
	}
	info, err := os.Stat(program)
	if err != nil {
		return 0, 0, err
	}
	return float64(info.Size()), modules, nil
}

func goTool(ctx context.Context, args ...string) (string, error) {
	output, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, output)
	}
	return string(output), nil
}
