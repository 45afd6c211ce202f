package main

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed switch.go.txt
var switchSource []byte

// module is the part of go list's output that the program reads.
type module struct {
	Dir, Path, ImportPath, Export string
	GoFiles                       []string
	TestGoFiles, XTestGoFiles     []string
}

// goList lists packages, with the export data of all they import.
func goList(ctx context.Context, args ...string) ([]module, error) {
	out, err := output(exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...))
	if err != nil {
		return nil, err
	}
	var list []module
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		switch err := d.Decode(&m); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, err
		}
		list = append(list, m)
	}
}

func output(cmd *exec.Cmd) ([]byte, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, stderr.Bytes())
	}
	return out, nil
}

// tree is the module whose code is changed.
type tree struct {
	root    string
	path    string // of the module
	sources map[string][]byte
}

// candidates returns all mutants of the files that the patterns match, in the order of the files.
func (t *tree) candidates(ctx context.Context, patterns string) ([]mutant, error) {
	files, err := match(t.root, patterns)
	if err != nil {
		return nil, err
	}
	dirs := []string{}
	for _, name := range files {
		if dir := "./" + filepath.Dir(name); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	all, err := goList(ctx, append([]string{"-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles"}, dirs...)...)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, m := range all {
		exports[m.ImportPath] = m.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var found []mutant
	for _, m := range all {
		dir, err := filepath.Rel(t.root, m.Dir)
		if err != nil || !slices.Contains(dirs, "./"+dir) {
			continue
		}
		mutants, err := t.inPackage(fset, imports, m, dir, files)
		if err != nil {
			return nil, err
		}
		found = append(found, mutants...)
	}
	slices.SortStableFunc(found, func(a, b mutant) int { return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line)) })
	return found, nil
}

// inPackage returns the mutants of the chosen files of one package.
func (t *tree) inPackage(fset *token.FileSet, imports types.Importer, m module, dir string, chosen []string) ([]mutant, error) {
	var parsed []*ast.File
	for _, name := range m.GoFiles {
		file, err := parser.ParseFile(fset, filepath.Join(m.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		parsed = append(parsed, file)
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{}}
	pkg, err := (&types.Config{Importer: imports}).Check(m.ImportPath, fset, parsed, info)
	if err != nil {
		return nil, err
	}
	var found []mutant
	for i, file := range parsed {
		name := filepath.Join(dir, m.GoFiles[i])
		if !slices.Contains(chosen, name) {
			continue
		}
		source, err := os.ReadFile(filepath.Join(t.root, name))
		if err != nil {
			return nil, err
		}
		t.sources[name] = source
		f := &finder{fset: fset, info: info, pkg: pkg, source: source, file: name}
		f.visit(file)
		found = append(found, f.found...)
	}
	return found, nil
}

// match returns the files that the patterns match, without tests, generated files and the data of
// demonstrations.
func match(root, patterns string) ([]string, error) {
	var names []string
	for _, pattern := range expand(patterns) {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			name, err := filepath.Rel(root, path)
			if err != nil {
				return nil, err
			}
			if base := filepath.Base(name); filepath.Ext(name) == ".go" && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(base, "zz_") && !strings.HasPrefix(base, "demo") {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no source file matches %q", patterns)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

var braces = regexp.MustCompile(`^(.*)\{(.*)\}(.*)$`)

// expand splits patterns at commas, and those with a list in braces into one pattern each.
func expand(patterns string) []string {
	var out []string
	for _, p := range regexp.MustCompile(`[^,{]*(\{[^}]*\})?[^,{]*`).FindAllString(patterns, -1) {
		parts := braces.FindStringSubmatch(p)
		if parts == nil {
			out = append(out, strings.TrimSpace(p))
			continue
		}
		for name := range strings.SplitSeq(parts[2], ",") {
			out = append(out, strings.TrimSpace(parts[1]+name+parts[3]))
		}
	}
	return slices.DeleteFunc(out, func(p string) bool { return p == "" })
}

// draw chooses n mutants by a seed and numbers them in the order of their files.
func draw(all []mutant, n int, seed uint64) []mutant {
	var chosen []mutant
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(all))
	order = order[:min(n, len(order))]
	slices.Sort(order)
	for id, i := range order {
		m := all[i]
		m.id = id
		chosen = append(chosen, m)
	}
	return chosen
}

// instrument returns the text of a file with mutants.
func instrument(source []byte, module string, mutants []mutant) []byte {
	type insertion struct {
		edit
		id int
	}
	var all []insertion
	for _, m := range mutants {
		for _, e := range m.edits {
			e.text = strings.ReplaceAll(e.text, "#", strconv.Itoa(m.id))
			all = append(all, insertion{e, m.id})
		}
	}
	slices.SortStableFunc(all, func(a, b insertion) int {
		switch {
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		case a.end != b.end && a.end:
			return -1
		case a.end != b.end:
			return 1
		case a.end:
			return cmp.Or(cmp.Compare(b.depth, a.depth), cmp.Compare(b.id, a.id))
		}
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.id, b.id))
	})
	var out bytes.Buffer
	last := 0
	for _, e := range all {
		out.Write(source[last:e.at])
		out.WriteString(e.text)
		last = e.at + e.n
	}
	out.Write(source[last:])
	// In the line of the package clause, so that lines keep their numbers.
	at := regexp.MustCompile(`(?m)^package \w+`).FindIndex(out.Bytes())[1]
	return slices.Insert(out.Bytes(), at, []byte(`; import mutswitch "`+module+`/internal/mutswitch"`)...)
}

// overlay writes the instrumented files, and the overlay for the go command, into dir.
func (t *tree) overlay(dir string, mutants []mutant) (string, error) {
	replace := map[string]string{filepath.Join(t.root, "internal/mutswitch/switch.go"): filepath.Join(dir, "switch.go")}
	if err := os.WriteFile(filepath.Join(dir, "switch.go"), switchSource, 0o600); err != nil {
		return "", err
	}
	byFile := map[string][]mutant{}
	for _, m := range mutants {
		byFile[m.file] = append(byFile[m.file], m)
	}
	for name, list := range byFile {
		copied := filepath.Join(dir, copyName(name))
		replace[filepath.Join(t.root, name)] = copied
		if err := os.WriteFile(copied, instrument(t.sources[name], t.path, list), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name := filepath.Join(dir, "overlay.json")
	return name, os.WriteFile(name, text, 0o600)
}

// copyName returns the name of the instrumented copy of a file.
func copyName(name string) string { return strings.ReplaceAll(name, "/", "_") }
