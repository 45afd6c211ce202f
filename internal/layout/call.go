package main

import (
	"go/ast"
	"go/types"
	"strings"
)

// checkCall checks the type call, which is the state of one call: how many fields it has, which
// files declare its methods, and which files assign to its parts.
func (r *report) checkCall(s *source, l limits) {
	object := s.Types.Scope().Lookup("call")
	if object == nil {
		r.problem("there is no type call")
		return
	}
	call, ok := object.Type().Underlying().(*types.Struct)
	if !ok {
		r.problem("call is not a struct")
		return
	}
	var names []string
	for f := range call.Fields() {
		names = append(names, f.Name())
	}
	r.atMost("fields of call", len(names), l.callFields, strings.Join(names, " "))
	for _, f := range s.Files {
		for _, d := range f.Decls {
			m, ok := d.(*ast.FuncDecl)
			if name := s.file(f.Pos()); ok && receiver(m) == "call" && !strings.HasPrefix(name, "call") {
				r.problem("%s declares call.%s: methods of call are in call*.go", name, m.Name.Name)
			}
		}
	}
	for _, p := range l.parts {
		r.checkPart(s, call, p)
	}
}

// checkPart checks that only one file assigns to a part of call. Any file may create a whole call.
func (r *report) checkPart(s *source, call *types.Struct, p part) {
	owned := map[types.Object]bool{}
	for f := range call.Fields() {
		if f.Name() != p.field {
			continue
		}
		own(f, owned)
	}
	if len(owned) == 0 {
		r.problem("call has no field %s, which %s is to assign", p.field, p.file)
		return
	}
	var foreign []string
	for _, f := range s.Files {
		if s.file(f.Pos()) != p.file {
			foreign = append(foreign, s.assignments(f, owned)...)
		}
	}
	r.atMost("assignments to call."+p.field+" outside "+p.file, len(foreign), p.foreign, strings.Join(foreign, " "))
}

// own adds a field and all fields of its type, including the fields of embedded types.
func own(f *types.Var, owned map[types.Object]bool) {
	owned[f] = true
	inner, ok := f.Type().Underlying().(*types.Struct)
	if !ok {
		return
	}
	for field := range inner.Fields() {
		if owned[field] = true; field.Embedded() {
			own(field, owned)
		}
	}
}

// assignments returns the places in a file that assign to one of the fields, or to a part of one.
func (s *source) assignments(f *ast.File, owned map[types.Object]bool) (places []string) {
	add := func(targets ...ast.Expr) {
		for _, target := range targets {
			if target != nil && s.isInside(target, owned) {
				position := s.Fset.Position(target.Pos())
				position.Filename, position.Column = s.file(target.Pos()), 0
				places = append(places, position.String())
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			add(n.Lhs...)
		case *ast.IncDecStmt:
			add(n.X)
		case *ast.RangeStmt:
			add(n.Key, n.Value)
		case *ast.UnaryExpr: // the address allows assignments
			if n.Op.String() == "&" {
				add(n.X)
			}
		}
		return true
	})
	return places
}

// isInside reports whether an expression is one of the fields, or an element or a field of one.
func (s *source) isInside(e ast.Expr, owned map[types.Object]bool) bool {
	for {
		switch of := e.(type) {
		case *ast.ParenExpr:
			e = of.X
		case *ast.IndexExpr:
			e = of.X
		case *ast.SelectorExpr:
			if owned[s.Info.Uses[of.Sel]] {
				return true
			}
			e = of.X
		default:
			return false
		}
	}
}
