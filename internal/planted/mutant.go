package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// mutant is one small change of a function.
type mutant struct {
	file, decl string
	line       int
	start, end int    // offsets of the replaced text
	old, with  string // the replaced text, and the new one
	kind       string
}

// String is the mutant's line in the table.
func (m *mutant) String() string {
	change := oneLine(m.old)
	if m.with != "" {
		change += "  =>  " + oneLine(m.with)
	}
	return fmt.Sprintf("%-28s %-28s %-18s %s", fmt.Sprintf("%s:%d", m.file, m.line), m.decl, m.kind, change)
}

// oneLine shortens a text for the table.
func oneLine(text string) string {
	const most = 60
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return string(runes)
}

// apply returns the source with the mutant applied.
func (m *mutant) apply(source []byte) []byte {
	return slices.Concat(source[:m.start], []byte(m.with), source[m.end:])
}

// mutator collects the mutants of one file.
type mutator struct {
	file, decl string
	source     []byte
	fset       *token.FileSet
	found      []mutant
}

// mutantsOf returns all mutants of the functions of a file, in source order.
func mutantsOf(name string, source []byte) ([]mutant, error) {
	m := &mutator{file: name, source: source, fset: token.NewFileSet()}
	file, err := parser.ParseFile(m.fset, name, source, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			m.decl = funcName(f)
			m.body(f.Type, f.Body)
		}
	}
	slices.SortStableFunc(m.found, func(a, b mutant) int { return cmp.Compare(a.start, b.start) })
	return m.found, nil
}

// body visits the body of a function of type typ. A function literal in it has its own results.
func (m *mutator) body(typ *ast.FuncType, body *ast.BlockStmt) {
	ast.Inspect(body, func(n ast.Node) bool {
		if f, ok := n.(*ast.FuncLit); ok {
			m.body(f.Type, f.Body)
			return false
		}
		m.node(typ, n)
		return true
	})
}

func (m *mutator) node(typ *ast.FuncType, n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		m.negate(n.Cond)
	case *ast.ForStmt:
		m.negate(n.Cond)
	case *ast.SwitchStmt:
		if n.Tag == nil {
			m.negateCases(n.Body)
		}
	case *ast.BinaryExpr:
		m.binary(n)
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			m.replace("removed !", n, m.text(n.X))
		}
	case *ast.BasicLit:
		if n.Kind == token.INT {
			m.replace("off by one", n, "("+n.Value+" + 1)")
			m.replace("off by one", n, "("+n.Value+" - 1)")
		}
	case *ast.ReturnStmt:
		m.forget(typ, n)
	case *ast.BlockStmt:
		m.drop(n.List)
	case *ast.CaseClause:
		m.drop(n.Body)
	case *ast.CommClause:
		m.drop(n.Body)
	}
}

// negateCases negates the conditions of a switch without a tag.
func (m *mutator) negateCases(body *ast.BlockStmt) {
	for _, clause := range body.List {
		for _, cond := range clause.(*ast.CaseClause).List {
			m.negate(cond)
		}
	}
}

// negate negates a condition. It omits conditions that another kind of mutant already negates.
func (m *mutator) negate(cond ast.Expr) {
	switch c := cond.(type) {
	case nil:
		return
	case *ast.UnaryExpr:
		if c.Op == token.NOT {
			return
		}
	case *ast.BinaryExpr:
		if c.Op == token.EQL || c.Op == token.NEQ {
			return
		}
	}
	m.replace("negated condition", cond, "!("+m.text(cond)+")")
}

var (
	swaps = map[token.Token]token.Token{
		token.EQL: token.NEQ, token.NEQ: token.EQL,
		token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ,
	}
	bounds = map[token.Token]token.Token{
		token.LSS: token.LEQ, token.LEQ: token.LSS, token.GTR: token.GEQ, token.GEQ: token.GTR,
	}
	logic = map[token.Token]token.Token{token.LAND: token.LOR, token.LOR: token.LAND}
)

// binary changes the operator. The parentheses keep the operands together in any context.
func (m *mutator) binary(b *ast.BinaryExpr) {
	for _, change := range []struct {
		kind string
		to   map[token.Token]token.Token
	}{{"swapped comparison", swaps}, {"boundary", bounds}, {"logic", logic}} {
		if op, ok := change.to[b.Op]; ok {
			m.replace(change.kind, b, "("+m.text(b.X)+" "+op.String()+" "+m.text(b.Y)+")")
		}
	}
}

// forget replaces a returned error by nil.
func (m *mutator) forget(typ *ast.FuncType, r *ast.ReturnStmt) {
	if typ.Results == nil || len(r.Results) == 0 || len(r.Results) != typ.Results.NumFields() {
		return // no result, or the results of a call
	}
	last := typ.Results.List[len(typ.Results.List)-1]
	value := r.Results[len(r.Results)-1]
	if t, ok := last.Type.(*ast.Ident); ok && t.Name == "error" && m.text(value) != "nil" {
		m.replace("nil for the error", value, "nil")
	}
}

// drop removes statements. It keeps declarations, because the code after them would not compile. It
// keeps return statements, for which there are other kinds of mutants.
func (m *mutator) drop(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE {
				m.replace("dropped statement", s, "")
			}
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt, *ast.DeferStmt, *ast.GoStmt, *ast.BranchStmt, *ast.IfStmt:
			m.replace("dropped statement", s, "")
		}
	}
}

func (m *mutator) text(n ast.Node) string {
	return string(m.source[m.fset.Position(n.Pos()).Offset:m.fset.Position(n.End()).Offset])
}

func (m *mutator) replace(kind string, n ast.Node, with string) {
	place := m.fset.Position(n.Pos())
	m.found = append(m.found, mutant{
		file: m.file, decl: m.decl, line: place.Line, kind: kind,
		start: place.Offset, end: m.fset.Position(n.End()).Offset, old: m.text(n), with: with,
	})
}
