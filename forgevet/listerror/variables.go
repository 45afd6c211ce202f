package listerror

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"
)

// variables maps each local variable that is assigned only by its definition to the value that it
// is defined with.
func variables(files *inspector.Inspector, info *types.Info) map[types.Object]ast.Expr {
	v := values{info: info, of: map[types.Object]ast.Expr{}}
	// A definition is visited before all other assignments to a local variable.
	for node := range files.PreorderSeq((*ast.AssignStmt)(nil), (*ast.ValueSpec)(nil), (*ast.RangeStmt)(nil), (*ast.UnaryExpr)(nil)) {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for i, left := range node.Lhs {
				v.assign(left)
				if len(node.Lhs) == len(node.Rhs) {
					v.define(left, node.Rhs[i])
				}
			}
		case *ast.ValueSpec:
			if len(node.Names) == len(node.Values) {
				for i, name := range node.Names {
					v.define(name, node.Values[i])
				}
			}
		case *ast.RangeStmt:
			v.assign(node.Key)
			v.assign(node.Value)
		case *ast.UnaryExpr:
			if node.Op == token.AND { // the variable may be assigned through the pointer
				v.assign(node.X)
			}
		}
	}
	return v.of
}

type values struct {
	info *types.Info
	of   map[types.Object]ast.Expr
}

// define records the value of a local variable if name is its definition.
func (v *values) define(name, value ast.Expr) {
	if name, isName := name.(*ast.Ident); isName {
		variable := v.info.Defs[name]
		if variable != nil && variable.Parent() != variable.Pkg().Scope() {
			v.of[variable] = value
		}
	}
}

// assign forgets the value of a variable that is assigned again.
func (v *values) assign(variable ast.Expr) {
	if name, isName := ast.Unparen(variable).(*ast.Ident); isName {
		delete(v.of, v.info.Uses[name])
	}
}
