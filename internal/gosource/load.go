// Package gosource type-checks packages of this repository from source, for generators and for
// tests that look at code. It needs the go command and the standard library only.
package gosource

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Package is a parsed and type-checked package.
type Package struct {
	// Types is the package itself.
	Types *types.Package
	// Info holds the types of expressions, and the objects that identifiers define and use.
	Info *types.Info
	// Files are the parsed files, with their comments.
	Files []*ast.File
	// Fset holds the positions of the files.
	Fset *token.FileSet
}

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Dir, Export, ForTest string
	GoFiles                          []string
	DepOnly                          bool
}

// Load type-checks the packages that match the patterns, without their tests.
func Load(dir string, patterns ...string) ([]*Package, error) {
	return load(dir, patterns, nil, func(p listed) bool { return !p.DepOnly })
}

// LoadWithTests type-checks one package together with the tests that belong to it; tests in an
// external package (forge_test) do not.
func LoadWithTests(dir, pattern string) (*Package, error) {
	packages, err := load(dir, []string{pattern}, []string{"-test"}, func(p listed) bool {
		return p.ForTest != "" && p.ImportPath == p.ForTest+" ["+p.ForTest+".test]"
	})
	if err == nil && len(packages) != 1 {
		err = fmt.Errorf("%s has %d packages with tests", pattern, len(packages))
	}
	if err != nil {
		return nil, err
	}
	return packages[0], nil
}

// LoadExternalTests type-checks the packages that match the patterns, without tests, and their
// external tests (forge_test).
func LoadExternalTests(dir string, patterns ...string) ([]*Package, error) {
	return load(dir, patterns, []string{"-test"}, func(p listed) bool {
		external := p.ForTest != "" && p.ImportPath == p.ForTest+"_test ["+p.ForTest+".test]"
		return external || p.ForTest == "" && !p.DepOnly && !strings.HasSuffix(p.ImportPath, ".test")
	})
}

// Imports returns the import paths of the packages that the package in dir imports without its
// tests, directly or through others.
func Imports(dir string) ([]string, error) {
	found, err := list(dir, []string{"."}, nil)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, p := range found {
		if p.DepOnly {
			paths = append(paths, p.ImportPath)
		}
	}
	return paths, nil
}

// Errors type-checks the source of a file in the module in dir, and returns the compiler's
// messages. The file may import the packages that the patterns match, and those that these import.
func Errors(dir, source string, patterns ...string) ([]string, error) {
	found, err := list(dir, patterns, nil)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "main.go", source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var messages []string
	config := types.Config{Importer: importsOf(fset, found), Error: func(err error) {
		var failed types.Error
		if errors.As(err, &failed) {
			messages = append(messages, failed.Msg)
		}
	}}
	_, _ = config.Check("main", fset, []*ast.File{file}, nil) // Error has all errors
	return messages, nil
}

// load reads imported packages from the export data that the go command builds, so that only the
// matched packages are parsed.
func load(dir string, patterns, flags []string, wanted func(listed) bool) ([]*Package, error) {
	found, err := list(dir, patterns, flags)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	imports := importsOf(fset, found)
	var packages []*Package
	for _, p := range found {
		if !wanted(p) {
			continue
		}
		pkg, err := check(fset, p, imports)
		if err != nil {
			return nil, err
		}
		packages = append(packages, pkg)
	}
	return packages, nil
}

// importsOf returns an importer of the packages.
func importsOf(fset *token.FileSet, found []listed) types.Importer {
	exports := map[string]string{}
	for _, p := range found {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

func list(dir string, patterns, flags []string) ([]listed, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,ForTest,GoFiles,DepOnly"}, flags...)
	cmd := exec.CommandContext(context.Background(), "go", append(append(args, "--"), patterns...)...)
	var stderr bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, stderr.Bytes())
	}
	var found []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return found, nil
		} else if err != nil {
			return nil, err
		}
		found = append(found, p)
	}
}

func check(fset *token.FileSet, p listed, imports types.Importer) (*Package, error) {
	var files []*ast.File
	for _, name := range p.GoFiles {
		if !filepath.IsAbs(name) {
			name = filepath.Join(p.Dir, name)
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
	}
	path, _, _ := strings.Cut(p.ImportPath, " ")
	config := types.Config{Importer: imports}
	pkg, err := config.Check(path, fset, files, info)
	if err != nil {
		return nil, err
	}
	return &Package{Types: pkg, Info: info, Files: files, Fset: fset}, nil
}

// Parse parses the files of the package in dir, without its tests.
func Parse(dir string) (*token.FileSet, []*ast.File, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, nil, err
	}
	set, files := token.NewFileSet(), []*ast.File(nil)
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, nil, err
		}
		files = append(files, file)
	}
	if len(files) == 0 {
		return nil, nil, fmt.Errorf("%s has no Go files", dir)
	}
	return set, files, nil
}
