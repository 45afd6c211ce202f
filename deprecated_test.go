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

// deprecations are the parts of the text that the mark of each Go name must have.
type deprecations map[string][]string

// add adds what the catalogue says. use is the Go name of the replacement, empty where it has none.
func (d deprecations) add(name string, says deprecation, use string) {
	d[name] = append(d[name], "Deprecated: ")
	if says.Since != "" {
		d[name] = append(d[name], "since "+says.Since)
	}
	d[name] = append(d[name], says.Removal, use)
}

// addField adds a field of a Go type by its wire name. It returns the name of a field whose
// replacement has no Go name: the table has to name one.
func (d deprecations) addField(kind reflect.Type, wire string, says deprecation) string {
	field := fieldOf(kind, wire)
	name, use := kind.Name()+"."+field, ""
	if says.Use != "" {
		if use = fieldOf(kind, says.Use); use == says.Use { // no field has that wire name
			d.add(name, says, "")
			return name
		}
	}
	d.add(name, says, use)
	return ""
}

// goMethods are the methods of the endpoints by their request lines, from the list in the
// documentation of the package.
func goMethods(t *testing.T) map[string]string {
	t.Helper()
	methods := map[string]string{}
	for _, match := range regexp.MustCompile(`\[(\w+\.\w+)\]: ([A-Z]+ \S+)`).FindAllStringSubmatch(packageDoc(t), -1) {
		methods[match[2]] = match[1]
	}
	require.NotEmpty(t, methods)
	return methods
}

// packageDoc is the generated part of the documentation of the package.
func packageDoc(t *testing.T) string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "zz_endpoints.go", nil, parser.ParseComments)
	require.NoError(t, err)
	return file.Doc.Text()
}

// wantDeprecations are the names that the catalogue and testdata/spec/deprecated.tsv call
// deprecated.
func wantDeprecations(t *testing.T) deprecations {
	t.Helper()
	want := deprecations{}
	unnamed := append(want.ofTypes(t), want.ofEndpoints(t)...)
	lines := strings.Split(strings.TrimSuffix(string(readFixture(t, "spec/deprecated.tsv")), "\n"), "\n")
	require.Equal(t, "section\tname\tsays", lines[0])
	named := map[string]bool{}
	for _, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 3, line)
		named[columns[1]] = true
		want[columns[1]] = append(want[columns[1]], "Deprecated: ", columns[2])
	}
	for _, name := range unnamed {
		assert.True(t, named[name], "%s: deprecated.tsv does not say what replaces it", name)
	}
	return want
}

// ofTypes adds the deprecated response fields and settings.
func (d deprecations) ofTypes(t *testing.T) (unnamed []string) {
	t.Helper()
	var types map[string]struct {
		Fields []struct {
			Name       string
			Deprecated *deprecation
		}
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/types.json"), &types))
	rows := maps.Clone(typeRows)
	rows["ApplicationSettingsUpdate"] = ApplicationSettings{} // it has the settings of both
	for name, typ := range types {
		for _, f := range typ.Fields {
			if f.Deprecated == nil {
				continue
			}
			require.NotNil(t, rows[name], "%s has no Go type", name)
			unnamed = append(unnamed, d.addField(reflect.TypeOf(rows[name]), f.Name, *f.Deprecated))
		}
	}
	return slices.DeleteFunc(unnamed, func(name string) bool { return name == "" })
}

// ofEndpoints adds the deprecated endpoints and parameters.
func (d deprecations) ofEndpoints(t *testing.T) (unnamed []string) {
	t.Helper()
	type param struct {
		Name       string
		Deprecated *deprecation
	}
	var endpoints []struct {
		ID, Method, Path string
		Deprecated       *deprecation
		Query            []param `json:"query_params"`
		Body             []param `json:"body_params"`
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
			if names[e.Deprecated.Use] == "" {
				unnamed = append(unnamed, method)
			}
		}
		for _, p := range slices.Concat(e.Query, e.Body) {
			if p.Deprecated != nil {
				require.NotNil(t, options[e.ID], e.ID)
				unnamed = append(unnamed, d.addField(options[e.ID], p.Name, *p.Deprecated))
			}
		}
	}
	return slices.DeleteFunc(unnamed, func(name string) bool { return name == "" })
}

// marks are the paragraphs that begin with "Deprecated:", by the name whose comment has them.
type marks map[string]string

// read notes the mark in a comment.
func (m marks) read(name string, comments ...*ast.CommentGroup) {
	for _, comment := range comments {
		for paragraph := range strings.SplitSeq(comment.Text(), "\n\n") {
			if strings.HasPrefix(strings.ToLower(paragraph), "deprecated:") {
				m[name] += strings.Join(strings.Fields(paragraph), " ")
			}
		}
	}
}

// decl reads the comments of a declaration, and of its fields.
func (m marks) decl(decl ast.Decl) {
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

// What the documents call deprecated has a paragraph of its comment that begins with "Deprecated:",
// and says since when and what to use. Nothing else has one.
func TestDeprecatedMarks(t *testing.T) {
	got := marks{}
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
	want := wantDeprecations(t)
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name, parts := range want {
		for _, part := range parts {
			assert.Contains(t, got[name], part, name)
		}
	}
	t.Logf("%d names are deprecated", len(want))
}
