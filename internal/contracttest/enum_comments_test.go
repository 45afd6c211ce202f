package contracttest_test

import (
	"go/ast"
	"go/types"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/gosource"
)

// mostNamed is the largest number of constants that a comment must name one by one. For a type with
// more constants an example is enough.
const mostNamed = 6

// unfitConstants has constants of a field's type that the field does not accept or return.
var unfitConstants = map[string]string{
	"Issue.State":                  "IssueStateAll",
	"ListIssuesOptions.Scope":      "ScopeReviewsForMe",
	"ListRunnerJobsOptions.Status": "JobStatusWaitingForResource",
	"MergeRequest.State":           "MergeRequestStateAll",
}

// taker is an exported field, or an exported function with parameters, and its comment.
type taker struct {
	owner, name string
	comment     string
	types       []types.Type
}

// takers returns the fields and functions of the root package.
func takers(pkg *gosource.Package) (found []taker) {
	for _, file := range pkg.Files {
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				found = append(found, functionTaker(pkg, decl))
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if named, isType := spec.(*ast.TypeSpec); isType && named.Name.IsExported() {
						found = append(found, fieldTakers(pkg, named)...)
					}
				}
			}
		}
	}
	return found
}

func functionTaker(pkg *gosource.Package, f *ast.FuncDecl) taker {
	owner, found := "", taker{name: f.Name.Name, comment: oneLine(f.Doc)}
	if f.Recv != nil {
		owner = receiver(f.Recv.List[0].Type)
		found.owner, found.name = owner, owner+"."+f.Name.Name
	}
	if f.Name.IsExported() && (owner == "" || ast.IsExported(owner)) {
		for _, param := range f.Type.Params.List {
			found.types = append(found.types, pkg.Info.Types[param.Type].Type)
		}
	}
	return found
}

func fieldTakers(pkg *gosource.Package, spec *ast.TypeSpec) (found []taker) {
	fields, isStruct := spec.Type.(*ast.StructType)
	if !isStruct {
		return nil
	}
	for _, field := range fields.Fields.List {
		for _, name := range field.Names {
			if name.IsExported() {
				owner := spec.Name.Name
				found = append(found, taker{owner, owner + "." + name.Name, oneLine(field.Doc), []types.Type{pkg.Info.Types[field.Type].Type}})
			}
		}
	}
	return found
}

// namedTypes returns the names of a type, and of the elements of its pointers, lists and Nullables.
func namedTypes(of types.Type) (names []*types.TypeName) {
	switch of := types.Unalias(of).(type) {
	case interface{ Elem() types.Type }:
		return namedTypes(of.Elem())
	case *types.Named:
		names = append(names, of.Obj())
		for argument := range of.TypeArgs().Types() {
			names = append(names, namedTypes(argument)...)
		}
	}
	return names
}

// valuesOf returns the values that a comment must name for a type: its constants that are not
// deprecated or, for a filter, the constants, conversions and functions that it accepts, such as
// None, ID( and Labels(.
func valuesOf(scope *types.Scope, marks map[string]string, kind *types.TypeName) (values []string) {
	filter, isInterface := kind.Type().Underlying().(*types.Interface)
	isFilter := isInterface && strings.HasSuffix(kind.Name(), "Filter")
	if !kind.Exported() || isInterface && !isFilter {
		return nil
	}
	fits := func(of types.Type) bool {
		return types.Identical(of, kind.Type()) || isFilter && types.Implements(of, filter)
	}
	for _, name := range scope.Names() {
		switch object := scope.Lookup(name).(type) {
		case *types.Const:
			if object.Exported() && fits(object.Type()) && marks[name] == "" {
				values = append(values, name)
			}
		case *types.TypeName:
			_, isBasic := object.Type().Underlying().(*types.Basic)
			if isFilter && isBasic && object.Exported() && fits(object.Type()) {
				values = append(values, name+"(")
			}
		case *types.Func:
			results := object.Signature().Results()
			if isFilter && object.Exported() && results.Len() == 1 && fits(results.At(0).Type()) {
				values = append(values, name+"(")
			}
		}
	}
	return values
}

// names reports whether the comment contains the value as a whole word.
func names(comment, value string) bool {
	return regexp.MustCompile(`\b` + regexp.QuoteMeta(value) + `(\b|")`).MatchString(comment)
}

// assertNames checks that a comment names the values. If there are more than mostNamed values, and
// for fields that do not belong to options, "one of the X constants" and an example are enough.
func assertNames(t *testing.T, field taker, kind string, values []string) {
	t.Helper()
	var missing []string
	for _, value := range values {
		switch named := names(field.comment, value); {
		case value == unfitConstants[field.name]:
			assert.False(t, named, "%s does not accept %s, but its comment names it: %s", field.name, value, field.comment)
		case !named:
			missing = append(missing, value)
		}
	}
	short := strings.Contains(field.comment, "one of the "+kind+" constants") && len(missing) < len(values)
	if !short || len(values) <= mostNamed && strings.HasSuffix(field.owner, "Options") {
		assert.Empty(t, missing, "the comment of %s does not name values of %s: %s", field.name, kind, field.comment)
	}
}

// The comment of a field names the constants that it accepts or returns, so that readers of the
// documentation find them. The comments of functions name those of their parameters.
func TestCommentsNameConstants(t *testing.T) {
	packages, err := gosource.Load(".", ".")
	require.NoError(t, err)
	require.Len(t, packages, 1)
	scope, marks, checked := packages[0].Types.Scope(), deprecationMarks(t), map[string]bool{}
	for _, field := range takers(packages[0]) {
		for _, of := range field.types {
			for _, kind := range namedTypes(of) {
				if kind.Pkg() != packages[0].Types {
					continue
				}
				if values := valuesOf(scope, marks, kind); len(values) > 0 {
					assertNames(t, field, kind.Name(), values)
					checked[field.name] = true
				}
			}
		}
	}
	for name, unfit := range unfitConstants {
		assert.True(t, checked[name], "%s has no type with the constant %s", name, unfit)
	}
	assert.GreaterOrEqual(t, len(checked), 100)
	t.Logf("%d comments name constants", len(checked))
}
