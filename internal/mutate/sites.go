package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
)

// mutant is one change, made of insertions into the text of its file.
type mutant struct {
	id       int
	file     string // relative to the root
	line     int
	function string
	kind     string
	text     string // the changed source, in one line
	edits    []edit
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d %s: %s: %s", m.file, m.line, m.kind, m.function, m.text)
}

// edit inserts text at an offset, and removes the n bytes that follow. "#" in the text stands for
// the number of the mutant.
type edit struct {
	at, n int
	text  string
	depth int  // of the node in the syntax tree
	end   bool // at is the end of the node
}

const sw = "mutswitch."

// finder collects the mutants of one file.
type finder struct {
	fset     *token.FileSet
	info     *types.Info
	pkg      *types.Package
	source   []byte
	file     string
	imports  map[string]string // import path to the name in this file
	stack    []ast.Node
	function string
	found    []mutant
}

func (f *finder) visit(file *ast.File) {
	f.imports = map[string]string{}
	for _, spec := range file.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		if name := f.info.PkgNameOf(spec); name != nil {
			f.imports[path] = name.Name()
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if n == nil {
			f.stack = f.stack[:len(f.stack)-1]
			return true
		}
		if f.skip(n) {
			return false
		}
		f.stack = append(f.stack, n)
		f.node(n)
		return true
	})
}

// skip reports whether no mutant belongs into n.
func (f *finder) skip(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GenDecl:
		if len(f.stack) == 1 {
			f.function = "var"
		}
		return n.Tok != token.VAR
	case *ast.FuncDecl:
		f.function = n.Name.Name
		if n.Recv != nil {
			f.function = strings.TrimLeft(f.text(n.Recv.List[0].Type), "*") + "." + f.function
		}
		return n.Body == nil || n.Name.Name == "init"
	case *ast.ArrayType, *ast.StructType, *ast.InterfaceType, *ast.FuncType, *ast.ImportSpec:
		return true
	case *ast.CallExpr:
		return f.isForPeople(n)
	}
	return false
}

// isForPeople reports whether the arguments of a call are texts for people or sizes.
func (f *finder) isForPeople(call *ast.CallExpr) bool {
	switch fun := f.text(call.Fun); {
	case fun == "panic", fun == "make", strings.HasPrefix(fun, "slog."), fun == "errors.New", fun == "fmt.Errorf":
		return true
	default:
		return false
	}
}

func (f *finder) parent(i int) ast.Node {
	if len(f.stack) <= i {
		return nil
	}
	return f.stack[len(f.stack)-1-i]
}

func (f *finder) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.IfStmt:
		f.condition(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			f.condition(n.Cond)
		}
	case *ast.CaseClause:
		for _, e := range n.List {
			if f.isBool(e) {
				f.condition(e)
			}
		}
	case *ast.BinaryExpr:
		f.binary(n)
	case *ast.BasicLit, *ast.Ident:
		f.constant(n.(ast.Expr))
	case *ast.ReturnStmt:
		f.results(n)
	case *ast.CallExpr:
		f.call(n)
	case *ast.BlockStmt:
		f.statements(n.List)
	case *ast.CommClause:
		f.statements(n.Body)
	}
	if n, ok := n.(*ast.CaseClause); ok {
		f.statements(n.Body)
	}
}

// condition negates a condition.
func (f *finder) condition(e ast.Expr) {
	if f.isBool(e) {
		f.wrap("negated condition", e, sw+"Flip(#, ", ")")
	}
}

func (f *finder) binary(n *ast.BinaryExpr) {
	if f.isConstant(n) {
		return
	}
	switch n.Op {
	case token.LAND, token.LOR:
		f.operands(n)
	case token.LSS, token.LEQ, token.GTR, token.GEQ:
		name := map[token.Token]string{token.LSS: "LT", token.LEQ: "LE", token.GTR: "GT", token.GEQ: "GE"}[n.Op]
		if f.sameOperands(n, types.IsOrdered) {
			f.operator("moved bound", n, name)
		}
	case token.ADD, token.SUB:
		if f.sameOperands(n, types.IsInteger) {
			f.operator("swapped operator", n, map[token.Token]string{token.ADD: "Add", token.SUB: "Sub"}[n.Op])
		}
	case token.EQL, token.NEQ:
		switch f.parent(1).(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.CaseClause: // condition has it
		default:
			if f.isBool(n) {
				f.wrap("negated comparison", n, sw+"Flip(#, ", ")")
			}
		}
	}
}

// operands removes each operand of && and ||.
func (f *finder) operands(n *ast.BinaryExpr) {
	open := "(" + sw + "On(#) || "
	if n.Op == token.LOR {
		open = "(!" + sw + "On(#) && "
	}
	for _, e := range []ast.Expr{n.X, n.Y} {
		if f.isBool(e) {
			f.wrap("removed condition", e, open+"(", "))")
		}
	}
}

// sameOperands reports whether both operands have one type of the given kind, so that a generic
// function takes them.
func (f *finder) sameOperands(n *ast.BinaryExpr, kind types.BasicInfo) bool {
	x, y := f.info.TypeOf(n.X), f.info.TypeOf(n.Y)
	if x == nil || y == nil || !types.Identical(x, y) {
		return false
	}
	basic, ok := x.Underlying().(*types.Basic)
	return ok && basic.Info()&kind != 0 && basic.Info()&types.IsUntyped == 0
}

// operator replaces an operator by a function.
func (f *finder) operator(kind string, n *ast.BinaryExpr, name string) {
	typ, ok := f.typeText(f.info.TypeOf(n.X))
	if !ok {
		return
	}
	f.add(kind, n,
		edit{at: f.offset(n.Pos()), text: sw + name + "[" + typ + "](#, "},
		edit{at: f.offset(n.OpPos), n: len(n.Op.String()), text: ","},
		edit{at: f.offset(n.End()), text: ")", end: true})
}

// constant changes a constant where it is used.
func (f *finder) constant(e ast.Expr) {
	tv, ok := f.info.Types[e]
	if !ok || tv.Value == nil || !tv.IsValue() || f.isFixed(e) {
		return
	}
	basic, ok := tv.Type.Underlying().(*types.Basic)
	typ, named := f.typeText(tv.Type)
	switch {
	case !ok || !named || basic.Info()&types.IsUntyped != 0:
	case basic.Info()&types.IsInteger != 0:
		f.wrap("changed constant", e, sw+"Plus["+typ+"](#, ", ")")
	case basic.Info()&types.IsBoolean != 0 && basic.Kind() == types.Bool && typ == "bool":
		f.wrap("changed constant", e, sw+"Flip(#, ", ")")
	case basic.Info()&types.IsString != 0 && !strings.Contains(tv.Value.ExactString(), " "):
		f.wrap("changed constant", e, sw+"Text["+typ+"](#, ", ")")
	}
}

// isFixed reports whether the language wants a constant at the place of e, or e is a name there.
func (f *finder) isFixed(e ast.Expr) bool {
	child := ast.Node(e)
	for i := 1; f.parent(i) != nil; i++ {
		switch p := f.parent(i).(type) {
		case *ast.KeyValueExpr:
			if p.Key == child {
				return true // a field's name, or an index; keys of maps are few
			}
		case *ast.SelectorExpr:
			if i == 1 { // pkg.Const is changed as a whole only by its use; keep it simple
				return true
			}
		case *ast.ReturnStmt:
			return len(p.Results) > 1 // the value that comes with an error or false
		case *ast.BlockStmt, *ast.FuncLit:
			return false
		case *ast.BinaryExpr, *ast.UnaryExpr, *ast.ParenExpr:
		case *ast.IndexExpr:
			if p.Index == child {
				switch f.info.TypeOf(p.X).Underlying().(type) {
				case *types.Array, *types.Pointer:
					return true
				}
			}
		}
		child = f.parent(i)
	}
	return false
}

// results drops an error that is returned.
func (f *finder) results(n *ast.ReturnStmt) {
	for _, e := range n.Results {
		tv := f.info.Types[e]
		if tv.Type != nil && !tv.IsNil() && types.Identical(tv.Type, types.Universe.Lookup("error").Type()) {
			f.wrap("dropped error", e, sw+"Err(#, ", ")")
		}
	}
}

// isSymmetric reports whether a function compares for equality, by its name.
func isSymmetric(fun ast.Expr) bool {
	if s, qualified := fun.(*ast.SelectorExpr); qualified {
		fun = s.Sel
	}
	name, _ := fun.(*ast.Ident)
	return name != nil && strings.Contains(name.Name, "Equal")
}

// call replaces a call by its argument, and swaps neighboring arguments.
func (f *finder) call(n *ast.CallExpr) {
	if tv := f.info.Types[n.Fun]; tv.IsType() || tv.IsBuiltin() || f.isConstant(n) {
		return
	}
	result := f.info.TypeOf(n)
	_, alone := f.parent(1).(*ast.ExprStmt) // the call is made in any case, and its result not used
	for _, arg := range n.Args {
		typ, ok := f.typeText(result)
		if ok && !alone && !f.isDeferred() && f.isSimple(arg) && !f.isConstant(arg) && types.Identical(f.info.TypeOf(arg), result) {
			f.wrap("removed call", n, sw+"Other["+typ+"](#, ", ", "+f.text(arg)+")")
			break
		}
	}
	if n.Ellipsis.IsValid() || isSymmetric(n.Fun) {
		return
	}
	for i := 1; i < len(n.Args); i++ {
		a, b := n.Args[i-1], n.Args[i]
		ta, tb := f.info.TypeOf(a), f.info.TypeOf(b)
		typ, ok := f.typeText(ta)
		if !ok || !f.isSimple(a) || !f.isSimple(b) || !types.Identical(ta, tb) || f.text(a) == f.text(b) || strings.HasPrefix(typ, "untyped") {
			continue
		}
		m := sw + "Other[" + typ + "](#, "
		f.add("swapped arguments", n,
			edit{at: f.offset(a.Pos()), text: m, depth: 1}, edit{at: f.offset(a.End()), text: ", " + f.text(b) + ")", end: true, depth: 1},
			edit{at: f.offset(b.Pos()), text: m, depth: 1}, edit{at: f.offset(b.End()), text: ", " + f.text(a) + ")", end: true, depth: 1})
	}
}

// isDeferred reports whether the call is that of a defer or go statement, which must be a call.
func (f *finder) isDeferred() bool {
	switch f.parent(1).(type) {
	case *ast.DeferStmt, *ast.GoStmt:
		return true
	}
	return false
}

// isSimple reports whether evaluating e twice has no effect.
func (f *finder) isSimple(e ast.Expr) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return true
	case *ast.SelectorExpr:
		return f.isSimple(e.X)
	}
	return false
}

// statements removes statements that the code around them compiles without.
func (f *finder) statements(list []ast.Stmt) {
	for i, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt:
			if call, ok := s.X.(*ast.CallExpr); ok && f.isForPeople(call) {
				continue
			}
		case *ast.AssignStmt:
			if s.Tok == token.DEFINE || f.text(s.Lhs[0]) == "_" {
				continue
			}
		case *ast.DeferStmt, *ast.IncDecStmt, *ast.SendStmt:
		case *ast.BranchStmt:
			if s.Tok == token.FALLTHROUGH || s.Tok == token.GOTO {
				continue
			}
		case *ast.ReturnStmt:
			if i != len(list)-1 || len(s.Results) > 0 {
				continue
			}
		default:
			continue
		}
		f.wrap("removed statement", s, "if !"+sw+"On(#) { ", " }")
	}
}

func (f *finder) isBool(e ast.Expr) bool {
	tv := f.info.Types[e]
	basic, ok := tv.Type.(*types.Basic)
	return ok && tv.IsValue() && basic.Info()&types.IsBoolean != 0 && tv.Value == nil
}

func (f *finder) isConstant(e ast.Expr) bool { return f.info.Types[e].Value != nil }

// typeText returns a type as the file writes it; false if the file cannot name it.
func (f *finder) typeText(t types.Type) (string, bool) {
	if _, several := t.(*types.Tuple); several || t == nil {
		return "", false
	}
	named := true
	text := types.TypeString(t, func(p *types.Package) string {
		if p == f.pkg {
			return ""
		}
		name, ok := f.imports[p.Path()]
		named = named && ok && name != "_" && name != "."
		return name
	})
	return text, named
}

func (f *finder) wrap(kind string, n ast.Node, open, shut string) {
	f.add(kind, n, edit{at: f.offset(n.Pos()), text: open}, edit{at: f.offset(n.End()), text: shut, end: true})
}

func (f *finder) add(kind string, n ast.Node, edits ...edit) {
	depth := len(f.stack)
	if f.parent(0) == n {
		depth--
	}
	for i := range edits {
		edits[i].depth += depth
	}
	text := strings.Join(strings.Fields(f.text(n)), " ")
	if len(text) > 90 {
		text = text[:90] + "..."
	}
	f.found = append(f.found, mutant{file: f.file, line: f.fset.Position(n.Pos()).Line, function: f.function, kind: kind, text: text, edits: edits})
}

func (f *finder) offset(p token.Pos) int { return f.fset.Position(p).Offset }

func (f *finder) text(n ast.Node) string {
	return string(f.source[f.offset(n.Pos()):f.offset(n.End())])
}
