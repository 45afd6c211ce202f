package contracttest_test

import (
	"cmp"
	"encoding/json"
	"go/ast"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// deprecation is the entry of the catalogue for a deprecated endpoint, parameter or field.
type deprecation struct{ Since, Removal, Use string }

// deprecatedPart is a field or a parameter, with the values that are deprecated.
type deprecatedPart struct {
	Name       string
	Deprecated *deprecation
	Enum       []string `json:"enum_deprecated"`
}

// deprecations has the texts that the "Deprecated:" paragraph of each Go name must contain.
type deprecations struct {
	says      map[string][]string
	unnamed   []string                     // names whose replacement has no Go name: deprecated.tsv must describe it
	constants map[string]map[string]string // names of constants, by type and value
}

// add adds an entry of the catalogue. use is the Go name of the replacement; empty if it has none.
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
		fieldName := catalogue.GoName(kind, part.Name)
		field, found := kind.FieldByName(fieldName)
		require.True(t, found, "%s has no field for %s", kind, part.Name)
		if says := part.Deprecated; says != nil {
			use := catalogue.GoName(kind, says.Use)
			if use == says.Use { // no field has that wire name
				use = ""
			}
			d.add(kind.Name()+"."+fieldName, *says, use)
		}
		for _, value := range part.Enum {
			name := d.constants[field.Type.Name()][value]
			require.NotEmpty(t, name, "%s %s has no constant", field.Type, value)
			d.says[name] = append(d.says[name], "Deprecated: ")
		}
	}
}

// goMethods returns the methods of the endpoints by request line, from the table of
// docs/endpoints.md.
func goMethods(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("docs/endpoints.md")
	require.NoError(t, err)
	methods, service := map[string]string{}, ""
	for _, row := range regexp.MustCompile("(?m)^\\| (\\w*) ?\\| `(\\w+)` \\| `([A-Z]+ [^`]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		service = cmp.Or(row[1], service)
		methods[row[3]] = service + "Service." + row[2]
	}
	require.Len(t, methods, len(forge.Routes()))
	return methods
}

// wantDeprecations returns the names that are deprecated in the catalogue, and those that
// testdata/spec/deprecated.tsv adds from the text of the documents.
func wantDeprecations(t *testing.T) map[string][]string {
	t.Helper()
	want := &deprecations{says: map[string][]string{}, constants: constantNames(t)}
	want.ofTypes(t)
	want.ofEndpoints(t)
	lines := strings.Split(strings.TrimSuffix(string(catalogue.Fixture(t, "spec/deprecated.tsv")), "\n"), "\n")
	require.Equal(t, "section\tname\tsays", lines[0])
	named := map[string]bool{}
	for _, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		require.Len(t, columns, 3, line)
		named[columns[1]] = true
		want.says[columns[1]] = append(want.says[columns[1]], "Deprecated: ", columns[2])
	}
	for _, name := range want.unnamed {
		assert.True(t, named[name], "%s: deprecated.tsv does not name the replacement", name)
	}
	return want.says
}

// ofTypes adds the deprecated response fields and settings.
func (d *deprecations) ofTypes(t *testing.T) {
	t.Helper()
	var types map[string]struct{ Fields []deprecatedPart }
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/types.json"), &types))
	rows := maps.Clone(typeRows)
	rows["ApplicationSettingsUpdate"] = forge.ApplicationSettings{} // it has the settings of both
	for name, typ := range types {
		d.addParts(t, reflect.TypeOf(rows[name]), typ.Fields)
	}
}

// ofEndpoints adds the deprecated endpoints and parameters, including the parameters of
// integrations.
func (d *deprecations) ofEndpoints(t *testing.T) {
	t.Helper()
	var endpoints []struct {
		ID, Method, Path string
		Deprecated       *deprecation
		Query            []deprecatedPart `json:"query_params"`
		Body             []deprecatedPart `json:"body_params"`
		Kinds            []struct{ Params []deprecatedPart }
	}
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/endpoints.json"), &endpoints))
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

// deprecationMarks returns the paragraphs that begin with "Deprecated:", by the name that has the
// comment.
func deprecationMarks(t *testing.T) map[string]string {
	t.Helper()
	marks := map[string]string{}
	read := func(name string, comments ...*ast.CommentGroup) {
		for _, comment := range comments {
			for paragraph := range strings.SplitSeq(comment.Text(), "\n\n") {
				if strings.HasPrefix(strings.ToLower(paragraph), "deprecated:") {
					marks[name] += strings.Join(strings.Fields(paragraph), " ")
				}
			}
		}
	}
	eachComment(t, ".", read)
	eachComment(t, "forgetest", read)
	return marks
}

// The comment of each name that the documents call deprecated has a paragraph that begins with
// "Deprecated:" and states since when and what to use instead. No other comment has one.
func TestDeprecatedMarks(t *testing.T) {
	got, want := deprecationMarks(t), wantDeprecations(t)
	assert.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)))
	for name, parts := range want {
		for _, part := range parts {
			assert.Contains(t, got[name], part, name)
		}
	}
	t.Logf("%d names are deprecated", len(want))
}
