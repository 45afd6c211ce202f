// Package embeddedjson has a check that finds structs whose fields encoding/json ignores, because
// they embed a response type of forge-go.
package embeddedjson

import (
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inspect"
	"golang.org/x/tools/go/ast/inspector"
)

// forgePath is the import path of the package whose methods are checked.
const forgePath = "github.com/forge-sdk/forge-go"

// Decisions:
//
//   - A struct is reported where it is declared, not where it is marshalled. A value reaches
//     encoding/json through any, log/slog or a framework, which no check can follow. Rejected:
//     omitting types that are an argument of ListAs: the program may marshal what ListAs yields.
//   - A struct is reported for its own fields only. Those of an embedded struct of the program are
//     reported there.
//   - A json tag of the embedded field changes nothing: its methods are promoted all the same.
//   - If two embedded types have the methods at the same depth, Go promotes neither, and
//     encoding/json reads and writes the fields of both. It ignores Extra then, and the keys that
//     both have. Such a struct is reported, too, unless tags name the embedded fields.
//   - The comment //forgevet:ignore is for structs that only ListAs and Do read. The comments that
//     linters read have no effect in go vet.
//   - There is no suggested fix: code that uses promoted fields does not compile with a named
//     field.

// Analyzer reports structs that embed a response type and lose fields in encoding/json.
var Analyzer = &analysis.Analyzer{
	Name: "embeddedjson",
	Doc: `report structs that lose fields in encoding/json because they embed a type of forge-go

The response types of package forge have MarshalJSON and UnmarshalJSON. A struct that embeds one has
these methods, too, and they know nothing of its other fields: json.Marshal does not write them, and
json.Unmarshal does not read them. Write a named field, such as "Issue forge.Issue" with the tag
json:"issue", or give the struct its own methods.

forge.ListAs and Client.Do read all fields of such a struct. It is harmless if the program uses it
with these only: then write the comment //forgevet:ignore above the struct.`,
	URL:      "https://pkg.go.dev/" + forgePath + "/forgevet/embeddedjson",
	Requires: []*analysis.Analyzer{inspect.Analyzer},
	Run:      run,
}

func run(pass *analysis.Pass) (any, error) {
	if pass.Pkg.Path() == forgePath {
		return nil, nil
	}
	files := pass.ResultOf[inspect.Analyzer].(*inspector.Inspector)
	ignored := ignoredLines(pass)
	named := map[ast.Expr]bool{} // structs of declarations, which are visited before their structs
	for node := range files.PreorderSeq((*ast.TypeSpec)(nil), (*ast.StructType)(nil)) {
		switch node := node.(type) {
		case *ast.TypeSpec:
			if node.Assign == token.NoPos {
				named[node.Type] = true
				report(pass, ignored, node.Name, declarationMessage(pass, node))
			}
		case *ast.StructType:
			if !named[node] {
				report(pass, ignored, node, message(pass.TypesInfo.TypeOf(node), nil, pass.Pkg))
			}
		}
	}
	return nil, nil
}

// line is a line of a file.
type line struct {
	file   string
	number int
}

// ignoredLines returns the lines after a comment //forgevet:ignore.
func ignoredLines(pass *analysis.Pass) map[line]bool {
	ignored := map[line]bool{}
	for _, file := range pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if comment.Text == "//forgevet:ignore" {
					at := pass.Fset.Position(comment.Pos())
					ignored[line{at.Filename, at.Line + 1}] = true
				}
			}
		}
	}
	return ignored
}

func report(pass *analysis.Pass, ignored map[line]bool, at ast.Node, message string) {
	position := pass.Fset.Position(at.Pos())
	if message != "" && !ignored[line{position.Filename, position.Line}] {
		pass.Report(analysis.Diagnostic{Pos: at.Pos(), Message: message})
	}
}

// declarationMessage returns the message for a declared type, or "". A type that is declared with
// another one, such as "type plain Row", has the promoted methods of Row, but not the methods of
// Row itself. It has no message for what is reported at the other type.
func declarationMessage(pass *analysis.Pass, spec *ast.TypeSpec) string {
	var other types.Type
	if _, isStruct := spec.Type.(*ast.StructType); !isStruct {
		other = pass.TypesInfo.TypeOf(spec.Type)
	}
	return message(pass.TypesInfo.Defs[spec.Name].Type(), other, pass.Pkg)
}
