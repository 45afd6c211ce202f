package contracttest_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// This file has helpers that read the source of the module: its declarations, comments and
// constants.

// parsePackage parses the files in dir, without tests.
func parsePackage(t *testing.T, dir string) (*token.FileSet, []*ast.File) {
	t.Helper()
	set, files, err := gosource.Parse(dir)
	require.NoError(t, err)
	return set, files
}

// eachFunction visits the functions and methods of the package in dir. A method is "Type.Method".
func eachFunction(t *testing.T, dir string, visit func(name string, f *ast.FuncDecl)) {
	t.Helper()
	_, files := parsePackage(t, dir)
	for _, file := range files {
		for _, decl := range file.Decls {
			f, isFunction := decl.(*ast.FuncDecl)
			if !isFunction {
				continue
			}
			name := f.Name.Name
			if f.Recv != nil {
				name = receiver(f.Recv.List[0].Type) + "." + name
			}
			visit(name, f)
		}
	}
}

// receiver returns the name of a method's type.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}

// eachDeclaration visits the types, constants and variables of the package in dir.
func eachDeclaration(t *testing.T, dir string, visit func(decl *ast.GenDecl)) {
	t.Helper()
	_, files := parsePackage(t, dir)
	for _, file := range files {
		for _, decl := range file.Decls {
			if general, isGeneral := decl.(*ast.GenDecl); isGeneral {
				visit(general)
			}
		}
	}
}

// eachType visits the types of the package.
func eachType(t *testing.T, visit func(spec *ast.TypeSpec, doc *ast.CommentGroup)) {
	t.Helper()
	eachDeclaration(t, ".", func(decl *ast.GenDecl) {
		for _, spec := range decl.Specs {
			if named, isType := spec.(*ast.TypeSpec); isType {
				visit(named, decl.Doc)
			}
		}
	})
}

// eachStruct visits the structs of the package.
func eachStruct(t *testing.T, visit func(name string, fields *ast.StructType)) {
	t.Helper()
	eachType(t, func(spec *ast.TypeSpec, _ *ast.CommentGroup) {
		if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
			visit(spec.Name.Name, fields)
		}
	})
}

// tagOf returns the tag of a field.
func tagOf(t *testing.T, field *ast.Field) reflect.StructTag {
	t.Helper()
	if field.Tag == nil {
		return ""
	}
	text, err := strconv.Unquote(field.Tag.Value)
	require.NoError(t, err)
	return reflect.StructTag(text)
}

// eachComment visits the comments of all names of the package in dir. A field or method is
// "Type.Name". The name of a group's comment is "a group of " and type, const or var.
func eachComment(t *testing.T, dir string, visit func(name string, comments ...*ast.CommentGroup)) {
	t.Helper()
	eachFunction(t, dir, func(name string, f *ast.FuncDecl) { visit(name, f.Doc) })
	eachDeclaration(t, dir, func(decl *ast.GenDecl) {
		own := decl.Doc // if only one name is declared
		if decl.Lparen.IsValid() {
			visit("a group of "+decl.Tok.String(), decl.Doc)
			own = nil
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				visit(spec.Names[0].Name, own, spec.Doc, spec.Comment)
			case *ast.TypeSpec:
				visit(spec.Name.Name, own, spec.Doc, spec.Comment)
				if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
					for _, field := range fields.Fields.List {
						for _, name := range field.Names {
							visit(spec.Name.Name+"."+name.Name, field.Doc, field.Comment)
						}
					}
				}
			}
		}
	})
}

// sourceComments returns the comments of the package's functions, methods, types and fields, each
// on one line, by the names of eachComment.
func sourceComments(t *testing.T) map[string]string {
	t.Helper()
	comments := map[string]string{}
	eachComment(t, ".", func(name string, parts ...*ast.CommentGroup) {
		for _, part := range parts {
			comments[name] += oneLine(part)
		}
	})
	return comments
}

func oneLine(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}

// eachConstant visits the string constants of the package. The type of an untyped one is "".
func eachConstant(t *testing.T, visit func(kind, name, text string)) {
	t.Helper()
	eachDeclaration(t, ".", func(decl *ast.GenDecl) {
		for _, spec := range decl.Specs {
			value, isValue := spec.(*ast.ValueSpec)
			if !isValue || decl.Tok != token.CONST || len(value.Values) != 1 {
				continue
			}
			literal, isLiteral := value.Values[0].(*ast.BasicLit)
			if !isLiteral || literal.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			kind := ""
			if value.Type != nil {
				kind = fmt.Sprint(value.Type)
			}
			visit(kind, value.Names[0].Name, text)
		}
	})
}

// constantNames returns the names of the package's string constants, by type and text.
func constantNames(t *testing.T) map[string]map[string]string {
	t.Helper()
	names := map[string]map[string]string{}
	eachConstant(t, func(kind, name, text string) {
		if names[kind] == nil {
			names[kind] = map[string]string{}
		}
		names[kind][text] = name
	})
	return names
}
