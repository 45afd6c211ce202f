package forge

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// deprecation is what the catalogue says of a deprecated endpoint, parameter or field.
type deprecation struct{ Since, Removal, Use string }

// deprecatedPart is a field or a parameter, with the values that are deprecated.
type deprecatedPart struct {
	Name       string
	Deprecated *deprecation
	Enum       []string `json:"enum_deprecated"`
}

// deprecations are the parts of the text that the mark of each Go name must have.
type deprecations struct {
	says      map[string][]string
	unnamed   []string          // names whose replacement has no Go name: the table has to say it
	constants map[string]string // names of constants, by "<type> <value>"
}

// add adds what the catalogue says. use is the Go name of the replacement; empty if it has none.
func (d *deprecations) add(name string, says deprecation, use string) {
	d.says[name] = append(d.says[name], "Deprecated: ", says.Removal, use)
	if says.Since != "" {
		d.says[name] = append(d.says[name], "since "+says.Since)
	}
	if says.Use != "" && use == "" {
		d.unnamed = append(d.unnamed, name)
	}
}

// addParts adds fields of a Go type by their wire names.
func (d *deprecations) addParts(t *testing.T, kind reflect.Type, parts []deprecatedPart) {
	t.Helper()
	for _, part := range parts {
		if part.Deprecated == nil && part.Enum == nil {
			continue
		}
		require.NotNil(t, kind, "%s has no Go type", part.Name)
		goName := fieldOf(kind, part.Name)
		field, found := kind.FieldByName(goName)
		require.True(t, found, "%s has no field for %s", kind, part.Name)
		if says := part.Deprecated; says != nil {
			use := fieldOf(kind, says.Use)
			if use == says.Use { // no field has that wire name
				use = ""
			}
			d.add(kind.Name()+"."+goName, *says, use)
		}
		for _, value := range part.Enum {
			name := d.constants[field.Type.Name()+" "+value]
			require.NotEmpty(t, name, "%s %s has no constant", field.Type, value)
			d.says[name] = append(d.says[name], "Deprecated: ")
		}
	}
}

// goMethods are the methods of the endpoints by their request lines, from the list in the
// documentation of the package.
func goMethods(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "zz_endpoints.go", nil, parser.ParseComments)
	require.NoError(t, err)
	methods := map[string]string{}
	for _, match := range regexp.MustCompile(`\[(\w+\.\w+)\]: ([A-Z]+ \S+)`).FindAllStringSubmatch(file.Doc.Text(), -1) {
		methods[match[2]] = match[1]
	}
	require.NotEmpty(t, methods)
	return methods
}

// wantDeprecations are the names that the catalogue calls deprecated, and those that
// testdata/spec/deprecated.tsv adds from the prose of the documents.
func wantDeprecations(t *testing.T, constants map[string]string) map[string][]string {
	t.Helper()
	want := &deprecations{says: map[string][]string{}, constants: constants}
	want.ofTypes(t)
	want.ofEndpoints(t)
	lines := strings.Split(strings.TrimSuffix(string(readFixture(t, "spec/deprecated.tsv")), "\n"), "\n")
	require.Equal(t, "section\tname\tsays", lines[0])
	named := map[string]bool{}
	for _, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 3, line)
		named[columns[1]] = true
		want.says[columns[1]] = append(want.says[columns[1]], "Deprecated: ", columns[2])
	}
	for _, name := range want.unnamed {
		assert.True(t, named[name], "%s: deprecated.tsv does not say what replaces it", name)
	}
	return want.says
}

// ofTypes adds the deprecated response fields and settings.
func (d *deprecations) ofTypes(t *testing.T) {
	t.Helper()
	var types map[string]struct{ Fields []deprecatedPart }
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/types.json"), &types))
	rows := maps.Clone(typeRows)
	rows["ApplicationSettingsUpdate"] = ApplicationSettings{} // it has the settings of both
	for name, typ := range types {
		d.addParts(t, reflect.TypeOf(rows[name]), typ.Fields)
	}
}

// ofEndpoints adds the deprecated endpoints and parameters, those of integrations included.
func (d *deprecations) ofEndpoints(t *testing.T) {
	t.Helper()
	var endpoints []struct {
		ID, Method, Path string
		Deprecated       *deprecation
		Query            []deprecatedPart `json:"query_params"`
		Body             []deprecatedPart `json:"body_params"`
		Kinds            []struct{ Params []deprecatedPart }
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	methods, names, options := goMethods(t), map[string]string{}, map[string]reflect.Type{}
	for _, e := range endpoints {
		_, names[e.ID], _ = strings.Cut(methods[e.Method+" "+e.Path], ".")
	}
	for _, row := range optionRows {
		if row.options != nil {
			options[row.endpoint] = reflect.TypeOf(row.options).Elem()
		}
	}
	for _, e := range endpoints {
		if e.Deprecated != nil {
			method := methods[e.Method+" "+e.Path]
			require.NotEmpty(t, method, e.ID)
			d.add(method, *e.Deprecated, names[e.Deprecated.Use])
		}
		d.addParts(t, options[e.ID], slices.Concat(e.Query, e.Body))
		for i, kind := range e.Kinds {
			d.addParts(t, integrationTypes()[i].Elem(), kind.Params)
		}
	}
}

// marks are the paragraphs that begin with "Deprecated:", by the name whose comment has them.
type marks struct {
	texts     map[string]string
	constants map[string]string // names, by "<type> <value>"
}

// read notes the mark in a comment.
func (m *marks) read(name string, comments ...*ast.CommentGroup) {
	for _, comment := range comments {
		for paragraph := range strings.SplitSeq(comment.Text(), "\n\n") {
			if strings.HasPrefix(strings.ToLower(paragraph), "deprecated:") {
				m.texts[name] += strings.Join(strings.Fields(paragraph), " ")
			}
		}
	}
}

// decl reads the comments of a declaration, and of its fields.
func (m *marks) decl(decl ast.Decl) {
	if function, isFunction := decl.(*ast.FuncDecl); isFunction {
		name := function.Name.Name
		if function.Recv != nil {
			kind := function.Recv.List[0].Type
			if star, isPointer := kind.(*ast.StarExpr); isPointer {
				kind = star.X
			}
			if of, isPlain := kind.(*ast.Ident); isPlain {
				name = of.Name + "." + name
			}
		}
		m.read(name, function.Doc)
		return
	}
	general := decl.(*ast.GenDecl)
	m.read("a group of "+general.Tok.String(), general.Doc)
	for _, spec := range general.Specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			m.read(spec.Names[0].Name, spec.Doc, spec.Comment)
			m.constant(spec)
		case *ast.TypeSpec:
			m.read(spec.Name.Name, spec.Doc, spec.Comment)
			if fields, isStruct := spec.Type.(*ast.StructType); isStruct {
				for _, field := range fields.Fields.List {
					for _, name := range field.Names {
						m.read(spec.Name.Name+"."+name.Name, field.Doc, field.Comment)
					}
				}
			}
		}
	}
}

// constant notes a typed string constant.
func (m *marks) constant(spec *ast.ValueSpec) {
	kind, isTyped := spec.Type.(*ast.Ident)
	if !isTyped || len(spec.Values) != 1 {
		return
	}
	if literal, isLiteral := spec.Values[0].(*ast.BasicLit); isLiteral && literal.Kind == token.STRING {
		m.constants[kind.Name+" "+strings.Trim(literal.Value, `"`)] = spec.Names[0].Name
	}
}

// What the documents call deprecated has a paragraph of its comment that begins with "Deprecated:",
// and says since when and what to use. Nothing else has one.
func TestDeprecatedMarks(t *testing.T) {
	got := &marks{texts: map[string]string{}, constants: map[string]string{}}
	for _, dir := range []string{".", "forgetest"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		require.NoError(t, err)
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
			require.NoError(t, err)
			for _, decl := range file.Decls {
				got.decl(decl)
			}
		}
	}
	want := wantDeprecations(t, got.constants)
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got.texts)))
	for name, parts := range want {
		for _, part := range parts {
			assert.Contains(t, got.texts[name], part, name)
		}
	}
	t.Logf("%d names are deprecated", len(want))
}
