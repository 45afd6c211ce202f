package main

import (
	"errors"
	"fmt"
	"go/ast"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// rootPackage is the import path that leaves do not import.
const rootPackage = "github.com/forge-sdk/forge-go"

// checkLeaves checks that the leaves do not import the root package, directly or through others,
// and that they export few names.
func (r *report) checkLeaves(dir string, l limits) error {
	for _, name := range leaves() {
		folder := filepath.Join(dir, "internal", name)
		if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		imports, err := gosource.Imports(folder)
		if err != nil {
			return err
		}
		if slices.Contains(imports, rootPackage) {
			r.problem("internal/%s imports the root package", name)
		}
		limit, limited := l.exports[name]
		if !limited {
			continue
		}
		s, err := load(folder)
		if err != nil {
			return err
		}
		exported := s.exported()
		r.atMost(fmt.Sprintf("exported names of internal/%s", name), len(exported), limit, strings.Join(exported, " "))
	}
	return nil
}

// exported returns the exported functions and types, and one name of each group of exported
// constants or variables, as go doc -short does.
func (s *source) exported() (names []string) {
	add := func(id *ast.Ident) bool {
		if id.IsExported() {
			names = append(names, id.Name)
		}
		return id.IsExported()
	}
	for _, f := range s.Files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if t, ok := spec.(*ast.TypeSpec); ok {
						add(t.Name)
					} else if v, ok := spec.(*ast.ValueSpec); ok && slices.ContainsFunc(v.Names, add) {
						break
					}
				}
			}
		}
	}
	return names
}
