// Package listerror has a check that finds loops over a list of forge-go that drop its error.
package listerror

import (
	"fmt"
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/types/typeutil"
)

// forgePath is the import path of the package whose lists are checked.
const forgePath = "github.com/forge-sdk/forge-go"

// Decisions:
//
//   - A loop is reported if its sequence is an iter.Seq2[T, error] or an iter.Seq2[*T, error], and
//     T is a type of package forge. The source of the sequence does not matter: a loop over the
//     caller's own function that yields *forge.Issue drops the same error.
//   - ListAs yields a type of the caller. So a loop over a call of package forge is reported,
//     whatever it yields, and a loop over a local variable that has the result of such a call and
//     is never assigned again. The same holds for a function whose last parameters are request
//     options of package forge, such as a method that forgegen has written. Rejected: following a
//     sequence through parameters, fields, results and reassigned variables, which may hold a
//     sequence with another meaning of the error.
//   - There is no suggested fix: the code that handles the error depends on the results of the
//     function.

// Analyzer reports loops over a list that do not take the error.
var Analyzer = &analysis.Analyzer{
	Name: "listerror",
	Doc: `report loops over a list of forge-go that drop its error

A list yields pairs of an item and an error. "for issue := range client.Issues.List(ctx, nil)"
compiles and drops the error, so that a failed list looks like a short one. Write
"for issue, err := range ..." and check err. To drop the error on purpose, write "_ = err".`,
	URL:      "https://pkg.go.dev/" + forgePath + "/forgevet/listerror",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	files := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	c := checker{info: pass.TypesInfo, variables: variables(files, pass.TypesInfo)}
	for loop := range inspector.All[*ast.RangeStmt](files) {
		if isBlank(loop.Value) && c.isList(loop.X) {
			pass.Report(analysis.Diagnostic{Pos: loop.For, End: loop.X.End(), Message: message(loop.Key)})
		}
	}
	return nil, nil
}

// isBlank reports whether a variable of a loop is absent or the blank identifier.
func isBlank(variable ast.Expr) bool {
	name, isName := variable.(*ast.Ident)
	return variable == nil || isName && name.Name == "_"
}

func message(key ast.Expr) string {
	item := "item"
	if name, isName := key.(*ast.Ident); isName {
		item = name.Name
	}
	return fmt.Sprintf("the error of the list is dropped: a failed list looks like a short one; "+
		"write `for %s, err := range ...` and check err", item)
}

type checker struct {
	info      *types.Info
	variables map[types.Object]ast.Expr
}

// isList reports whether x is a list whose error matters: it yields values of package forge, or it
// was returned by package forge.
func (c *checker) isList(x ast.Expr) bool {
	item, isSequence := sequenceItem(c.info.TypeOf(x))
	return isSequence && (isForgeType(item) || c.isForgeCall(x))
}

// sequenceItem returns T if t is an iter.Seq2[T, error], or another type with the same underlying
// type. It needs the type of a range expression: such a function has one parameter.
func sequenceItem(t types.Type) (item types.Type, ok bool) {
	sequence, ok := t.Underlying().(*types.Signature)
	if !ok {
		return nil, false
	}
	yield, ok := sequence.Params().At(0).Type().Underlying().(*types.Signature)
	if !ok || yield.Params().Len() != 2 {
		return nil, false
	}
	isError := types.Identical(yield.Params().At(1).Type(), types.Universe.Lookup("error").Type())
	return yield.Params().At(0).Type(), isError
}

// isForgeType reports whether t is a type of package forge or a pointer to one.
func isForgeType(t types.Type) bool {
	if pointer, isPointer := t.Underlying().(*types.Pointer); isPointer {
		t = pointer.Elem()
	}
	named, isNamed := types.Unalias(t).(*types.Named)
	return isNamed && isForge(named.Obj().Pkg())
}

// isForgeCall reports whether x is a call of package forge, or of a function with request options,
// or a variable that has the result of one.
func (c *checker) isForgeCall(x ast.Expr) bool {
	if name, isName := x.(*ast.Ident); isName {
		x = ast.Unparen(c.variables[c.info.Uses[name]])
	}
	call, isCall := x.(*ast.CallExpr)
	if !isCall {
		return false
	}
	callee, isFunc := typeutil.Callee(c.info, call).(*types.Func)
	return isFunc && (isForge(callee.Pkg()) || takesOptions(callee.Signature()))
}

// takesOptions reports whether the last parameters of a function are of type forge.RequestOption.
func takesOptions(f *types.Signature) bool {
	if !f.Variadic() {
		return false
	}
	options, isSlice := f.Params().At(f.Params().Len() - 1).Type().(*types.Slice)
	if !isSlice {
		return false // a string
	}
	option, isNamed := types.Unalias(options.Elem()).(*types.Named)
	return isNamed && option.Obj().Name() == "RequestOption" && isForge(option.Obj().Pkg())
}

func isForge(p *types.Package) bool { return p != nil && p.Path() == forgePath }
