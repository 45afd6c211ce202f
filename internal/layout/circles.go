package main

import (
	"cmp"
	"go/ast"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// source is a type-checked package.
type source struct{ *gosource.Package }

// load type-checks the package in dir, without its tests.
func load(dir string) (*source, error) {
	packages, err := gosource.Load(dir, ".")
	if err != nil {
		return nil, err
	}
	return &source{packages[0]}, nil
}

// file returns the name of the file at the position.
func (s *source) file(p token.Pos) string { return filepath.Base(s.Fset.Position(p).Filename) }

// checkCircles checks the circles of files. A file depends on another one if it uses a type,
// function, method, field, constant or variable that the other one declares. In a circle, each file
// depends on all others, directly or through others.
func (r *report) checkCircles(s *source, l limits) {
	largest, mixed := []string(nil), []string(nil)
	services := s.serviceFiles()
	for _, circle := range s.dependencies().circles() {
		written := slices.DeleteFunc(slices.Clone(circle), isGenerated)
		if len(written) > len(largest) {
			largest = written
		}
		of := slices.DeleteFunc(slices.Clone(written), func(f string) bool { return !services[f] })
		if len(of) < len(written) {
			mixed = append(mixed, of...)
		}
	}
	r.atMost("hand-written files in the largest circle", len(largest), l.circle, strings.Join(largest, " "))
	r.atMost("service files and client.go in circles with other files", len(mixed), l.services, strings.Join(mixed, " "))
}

func isGenerated(file string) bool { return strings.HasPrefix(file, "zz_") }

// serviceFiles returns client.go, each file that declares a type named XService or a method of one,
// and each file whose name extends the name of such a file: users.go and users_responses.go.
func (s *source) serviceFiles() map[string]bool {
	services := map[string]bool{"client.go": true}
	for _, f := range s.Files {
		for _, d := range f.Decls {
			if strings.HasSuffix(declaredType(d), "Service") {
				services[s.file(f.Pos())] = true
			}
		}
	}
	for _, f := range s.Files {
		name := s.file(f.Pos())
		for i, c := range name {
			if c == '_' && services[name[:i]+".go"] {
				services[name] = true
			}
		}
	}
	return services
}

// declaredType returns the name of the type that d declares, or whose method it declares.
func declaredType(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return receiver(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if t, ok := spec.(*ast.TypeSpec); ok {
				return t.Name.Name
			}
		}
	}
	return ""
}

// receiver returns the name of the receiver type of f.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	t := f.Recv.List[0].Type
	for {
		switch of := t.(type) {
		case *ast.StarExpr:
			t = of.X
		case *ast.IndexExpr:
			t = of.X
		case *ast.IndexListExpr:
			t = of.X
		case *ast.Ident:
			return of.Name
		default:
			return ""
		}
	}
}

// graph maps a file to the files that it depends on.
type graph map[string]map[string]bool

func (s *source) dependencies() graph {
	g := graph{}
	for id, object := range s.Info.Uses {
		from := s.file(id.Pos())
		if g[from] == nil {
			g[from] = map[string]bool{}
		}
		if object.Pkg() != s.Types || !object.Pos().IsValid() {
			continue
		}
		if to := s.file(object.Pos()); to != from {
			g[from][to] = true
		}
	}
	return g
}

// circles returns the strongly connected components of at least two files (Tarjan's algorithm).
func (g graph) circles() (found [][]string) {
	order, low := map[string]int{}, map[string]int{}
	var stack []string
	var visit func(v string)
	visit = func(v string) {
		order[v] = len(order) + 1
		low[v] = order[v]
		stack = append(stack, v)
		for _, w := range slices.Sorted(maps.Keys(g[v])) {
			if order[w] == 0 {
				visit(w)
				low[v] = min(low[v], low[w])
			} else if slices.Contains(stack, w) {
				low[v] = min(low[v], order[w])
			}
		}
		if low[v] == order[v] {
			at := slices.Index(stack, v)
			if circle := slices.Sorted(slices.Values(stack[at:])); len(circle) > 1 {
				found = append(found, circle)
			}
			stack = stack[:at]
		}
	}
	for _, v := range slices.Sorted(maps.Keys(g)) {
		if order[v] == 0 {
			visit(v)
		}
	}
	slices.SortFunc(found, func(a, b []string) int { return cmp.Or(len(b)-len(a), slices.Compare(a, b)) })
	return found
}
