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

// Package is a package with its syntax and what its names mean.
type Package struct {
	// Types is the package itself.
	Types *types.Package
	// Info has the types of expressions, and the objects that identifiers define and use.
	Info *types.Info
	// Files are the parsed files, with their comments.
	Files []*ast.File
}

// listed is what go list reports of a package.
type listed struct {
	ImportPath, Dir, Export, ForTest string
	GoFiles                          []string
	DepOnly                          bool
}

// Load type-checks the packages that the patterns name, without their tests.
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

// load takes the imports of the packages from the export data that the go command builds, so that
// only the packages themselves are parsed.
func load(dir string, patterns, flags []string, wanted func(listed) bool) ([]*Package, error) {
	found, err := list(dir, patterns, flags)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, p := range found {
		exports[p.ImportPath] = p.Export
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
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
	return &Package{Types: pkg, Info: info, Files: files}, nil
}
