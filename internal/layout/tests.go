package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
)

// corePatterns match the core files of the root package, each of which has a test file of its name.
func corePatterns() []string {
	return []string{
		"call*.go", "pagination*.go", "core.go", "client.go", "request*.go", "retry.go", "observe.go", "path.go",
		"encode.go", "decode.go", "errors*.go", "download.go", "file.go", "contract.go",
	}
}

// checkTests checks that each core file has a test file, and that each test file has a test. A file
// of helpers only is named helper_*_test.go.
func (r *report) checkTests(dir string, l limits) error {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return err
	}
	var untested []string
	for _, path := range files {
		name := filepath.Base(path)
		if !strings.HasSuffix(name, "_test.go") {
			if isCore(name) && !slices.Contains(files, strings.TrimSuffix(path, ".go")+"_test.go") {
				untested = append(untested, name)
			}
			continue
		}
		if strings.HasPrefix(name, "helper_") || name == "main_test.go" {
			continue
		}
		tested, err := hasTest(path)
		if err != nil {
			return err
		}
		if !tested {
			r.problem("%s has no test: a file of helpers is named helper_*_test.go", name)
		}
	}
	r.atMost("core files without a test file of their name", len(untested), l.untested, strings.Join(untested, " "))
	return nil
}

func isCore(name string) bool {
	return slices.ContainsFunc(corePatterns(), func(pattern string) bool {
		matched, _ := filepath.Match(pattern, name)
		return matched
	})
}

// hasTest reports whether a file has a function that go test runs.
func hasTest(path string) (bool, error) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(f.Decls, func(d ast.Decl) bool {
		fn, ok := d.(*ast.FuncDecl)
		return ok && fn.Recv == nil && slices.ContainsFunc([]string{"Test", "Fuzz", "Benchmark", "Example"}, func(kind string) bool {
			return strings.HasPrefix(fn.Name.Name, kind)
		})
	}), nil
}
