package forge

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What the catalogue tests know of options and types: wire names, samples, and which Go types fit.

// isBody reports whether the options are sent as JSON.
func isBody(options any) bool {
	return options != nil && len(jsonFields(reflect.TypeOf(options).Elem())) > 0
}

// wireFields sets every field, encodes the options as a call does, and gives the wire names with the types of their fields.
func wireFields(t *testing.T, options any) map[string]reflect.Type {
	t.Helper()
	if isBody(options) {
		return jsonFields(reflect.TypeOf(options).Elem())
	}
	full := reflect.New(reflect.TypeOf(options).Elem())
	for i := range full.Elem().NumField() {
		full.Elem().Field(i).Set(sample(t, full.Elem().Field(i).Type()))
	}
	values, err := encodeQuery(full.Interface())
	require.NoError(t, err)
	fields := map[string]reflect.Type{}
	for wire := range values {
		path := fieldOf(full.Type(), wire)
		field := full.Elem()
		for name := range strings.SplitSeq(path, ".") {
			if field.Kind() == reflect.Map {
				break // its keys are the caller's
			}
			field = reflect.Indirect(field).FieldByName(name)
			require.True(t, field.IsValid(), "no field sends %s", wire)
		}
		fields[wire] = field.Type()
	}
	return fields
}

// sample is a value other than zero that encodes.
func sample(t *testing.T, kind reflect.Type) reflect.Value {
	t.Helper()
	for _, value := range []any{ID(7), IDs(7), Number(7), Started, Text("x"), Labels("x"), time.Unix(1, 0), Hash{"<key>": "x"}, FileBytes([]byte("x"))} {
		if v := reflect.ValueOf(value); v.Type() == kind || kind.Kind() == reflect.Interface && v.Type().Implements(kind) {
			return v
		}
	}
	value := reflect.New(kind).Elem()
	switch kind.Kind() {
	case reflect.String:
		value.SetString("x")
	case reflect.Bool:
		value.SetBool(true)
	case reflect.Int, reflect.Int64:
		value.SetInt(int64(time.Hour))
	case reflect.Slice:
		value = reflect.Append(value, sample(t, kind.Elem()))
	case reflect.Pointer:
		value = reflect.New(kind.Elem())
		value.Elem().Set(sample(t, kind.Elem()))
	case reflect.Struct:
		for i := range value.NumField() {
			value.Field(i).Set(sample(t, value.Field(i).Type()))
		}
	default:
		require.Fail(t, "no sample", "%s: add one", kind)
	}
	return value
}

// setFields sets the fields of the named parameters.
func setFields(t *testing.T, options reflect.Value, params ...string) {
	t.Helper()
	for _, param := range params {
		field := options.FieldByName(fieldOf(options.Type(), param))
		require.True(t, field.IsValid(), "no field for %s", param)
		field.Set(sample(t, field.Type()))
	}
}

// checkWithout checks options that have everything but one parameter.
func checkWithout(t *testing.T, options any, param string) error {
	t.Helper()
	full := reflect.New(reflect.TypeOf(options).Elem())
	full.Elem().Set(sample(t, full.Type().Elem()))
	full.Elem().FieldByName(fieldOf(full.Type(), param)).SetZero()
	return checkOptions(full.Interface())
}

func checkOptions(options any) error {
	if c, checks := options.(checker); checks {
		return c.check()
	}
	return nil
}

func jsonFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			maps.Copy(fields, jsonFields(field.Type))
		} else if name != "" && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}

// fitsParam says which Go types a parameter may have.
func fitsParam(want string, field reflect.Type) bool {
	var fit []reflect.Type
	switch want {
	case "boolean":
		fit = []reflect.Type{reflect.TypeFor[*bool](), reflect.TypeFor[bool]()}
	case "integer":
		fit = []reflect.Type{reflect.TypeFor[int64](), reflect.TypeFor[int](), reflect.TypeFor[*int](), reflect.TypeFor[IDFilter](), reflect.TypeFor[NumberFilter](), reflect.TypeFor[ID](), reflect.TypeFor[*Number](), reflect.TypeFor[Nullable[time.Duration]](), reflect.TypeFor[Nullable[int]]()}
	case "array<integer>":
		fit = []reflect.Type{reflect.TypeFor[[]int64](), reflect.TypeFor[IDsFilter]()}
	case "array<string>":
		fit = []reflect.Type{reflect.TypeFor[[]string](), reflect.TypeFor[[]RunnerRegistrar]()}
	case "hash":
		fit = []reflect.Type{reflect.TypeFor[Hash](), reflect.TypeFor[map[string]any]()}
	case "text":
		fit = []reflect.Type{reflect.TypeFor[*string]()}
	case "datetime":
		fit = []reflect.Type{reflect.TypeFor[time.Time]()}
	case "string":
		if field.Kind() == reflect.String {
			return true
		}
		fit = []reflect.Type{reflect.TypeFor[TextFilter](), reflect.TypeFor[LabelFilter](), reflect.TypeFor[LabelNames](), reflect.TypeFor[MilestoneFilter](), reflect.TypeFor[WorkDuration](), reflect.TypeFor[*string](), reflect.TypeFor[Nullable[string]](),
			reflect.TypeFor[[]RegistryScope](), reflect.TypeFor[time.Time]()}
	}
	return slices.Contains(fit, field)
}

// fitsField says which Go types a field may have: a number is a pointer where null differs from
// zero, and TestConditionalFields knows which others are.
func fitsField(f catalogueField, field reflect.Type) bool {
	base := field
	if field.Kind() == reflect.Pointer {
		base = field.Elem()
	}
	switch f.Type {
	case "boolean":
		return base.Kind() == reflect.Bool
	case "integer":
		return field == reflect.TypeFor[AuditEventTarget]() || (base.Kind() == reflect.Int || base.Kind() == reflect.Int64) && (!f.Nullable || base != field)
	case "number":
		return base.Kind() == reflect.Float64 && (!f.Nullable || base != field)
	case "unknown":
		return field == reflect.TypeFor[json.RawMessage]()
	case "string":
		switch f.Format {
		case "timestamp":
			return field == reflect.TypeFor[time.Time]()
		case "date":
			return field == reflect.TypeFor[Date]()
		}
		return field.Kind() == reflect.String || field == reflect.TypeFor[[]byte]() || field == reflect.TypeFor[AuditEventChange]()
	case "array":
		want := reflect.TypeOf(typeRows[f.Items.Ref])
		return field.Kind() == reflect.Slice && (want == nil || field.Elem() == want)
	case "object":
		if f.Ref == "" { // the contract leaves the members open; deployed servers show them
			return field == reflect.TypeFor[json.RawMessage]() || field.Kind() == reflect.Map || field == reflect.TypeFor[*UserSummary]()
		}
		return base == reflect.TypeOf(typeRows[f.Ref]) && (!f.Nullable || base != field)
	}
	return false
}

// assertEnum shows that every value of the catalogue has a constant of the field's type.
func assertEnum(t *testing.T, at string, values []any, field reflect.Type, constants map[string]map[string]bool) {
	t.Helper()
	if field.Kind() != reflect.String {
		return
	}
	for _, value := range values {
		assert.True(t, value == nil || constants[field.Name()][value.(string)], "%s: %s has no constant for %v", at, field, value)
	}
}

// stringConstants are the package's typed string constants, by type.
func stringConstants(t *testing.T) map[string]map[string]bool {
	t.Helper()
	constants := map[string]map[string]bool{}
	eachDeclaration(t, func(decl *ast.GenDecl) {
		for _, spec := range decl.Specs {
			value, isValue := spec.(*ast.ValueSpec)
			if !isValue || decl.Tok != token.CONST || len(value.Values) != 1 {
				continue
			}
			kind, named := value.Type.(*ast.Ident)
			literal, isLiteral := value.Values[0].(*ast.BasicLit)
			if !named || !isLiteral || literal.Kind != token.STRING {
				continue
			}
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			if constants[kind.Name] == nil {
				constants[kind.Name] = map[string]bool{}
			}
			constants[kind.Name][text] = true
		}
	})
	return constants
}

func eachStruct(t *testing.T, visit func(name string, fields *ast.StructType)) {
	t.Helper()
	eachDeclaration(t, func(decl *ast.GenDecl) {
		for _, spec := range decl.Specs {
			if named, isType := spec.(*ast.TypeSpec); isType {
				if fields, isStruct := named.Type.(*ast.StructType); isStruct {
					visit(named.Name.Name, fields)
				}
			}
		}
	})
}

// eachDeclaration visits the declarations of the package without its tests.
func eachDeclaration(t *testing.T, visit func(decl *ast.GenDecl)) {
	t.Helper()
	set := token.NewFileSet()
	//nolint:staticcheck // one directory without build tags is all that is read
	packages, err := parser.ParseDir(set, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.ParseComments)
	require.NoError(t, err)
	for _, file := range packages["forge"].Files {
		for _, decl := range file.Decls {
			if general, isGeneral := decl.(*ast.GenDecl); isGeneral {
				visit(general)
			}
		}
	}
}
