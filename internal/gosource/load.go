// Package gosource reads packages of this repository, for generators and for tests that look at
// code. It needs the go command and the standard library only.
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

// listed is the output of go list for a package.
type listed struct {
	ImportPath, Export string
	DepOnly            bool
}

// Load returns the packages that match the patterns, as other packages see them.
func Load(dir string, patterns ...string) ([]*types.Package, error) {
	found, err := list(dir, patterns)
	if err != nil {
		return nil, err
	}
	imports := importsOf(found)
	var packages []*types.Package
	for _, p := range found {
		if p.DepOnly {
			continue
		}
		pkg, err := imports.Import(p.ImportPath)
		if err != nil {
			return nil, err
		}
		packages = append(packages, pkg)
	}
	return packages, nil
}

// Importer returns an importer of the packages that match the patterns, and of those that these
// import.
func Importer(dir string, patterns ...string) (types.Importer, error) {
	found, err := list(dir, patterns)
	return importsOf(found), err
}

// importsOf imports packages from the export data that the go command builds.
func importsOf(found []listed) types.Importer {
	exports := map[string]string{}
	for _, p := range found {
		exports[p.ImportPath] = p.Export
	}
	return importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
}

func list(dir string, patterns []string) ([]listed, error) {
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Export,DepOnly", "--"}, patterns...)
	cmd := exec.CommandContext(context.Background(), "go", args...)
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
