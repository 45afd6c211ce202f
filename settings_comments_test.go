package forge

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fieldComment is the comment of the field for a setting or a parameter in one of the types.
type fieldComment struct{ at, text string }

// settingComments are the comments of the fields for settings, by name, for parameters of
// integrations as kind.parameter, and of the options of a kind, by kind.
func settingComments(t *testing.T) map[string][]fieldComment {
	t.Helper()
	types := typeComments(t, "settings_types.go", "settings_options.go", "integrations_options.go", "integrations_chat.go")
	comments := map[string][]fieldComment{}
	add := func(name, typeName, field string) {
		if text, has := types[typeName][field]; has {
			comments[name] = append(comments[name], fieldComment{typeName + " " + field, text})
		}
	}
	for name := range settingEntries(t) {
		add(name, "ApplicationSettings", name)
		add(name, "UpdateSettingsOptions", name)
	}
	for _, row := range kindRows {
		options := reflect.TypeOf(row.options()).Elem()
		add(string(row.kind), options.Name(), "")
		for param := range jsonFields(options) {
			add(string(row.kind)+"."+param, options.Name(), param)
		}
	}
	return comments
}

// typeComments are the comments in files, in one line each: by type and JSON name, and "" for the
// type itself.
func typeComments(t *testing.T, files ...string) map[string]map[string]string {
	t.Helper()
	types, same := map[string]map[string]string{}, map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, decl := range file.Decls {
			general, isGeneral := decl.(*ast.GenDecl)
			if !isGeneral || general.Tok != token.TYPE {
				continue
			}
			for _, spec := range general.Specs {
				spec := spec.(*ast.TypeSpec)
				types[spec.Name.Name] = map[string]string{"": oneLine(general.Doc)}
				switch kind := spec.Type.(type) {
				case *ast.StructType:
					maps.Copy(types[spec.Name.Name], structComments(t, kind))
				case *ast.Ident:
					same[spec.Name.Name] = kind.Name
				}
			}
		}
	}
	for name, of := range same {
		for field, text := range types[of] {
			if field != "" {
				types[name][field] = text
			}
		}
	}
	return types
}

func structComments(t *testing.T, of *ast.StructType) map[string]string {
	t.Helper()
	comments := map[string]string{}
	for _, field := range of.Fields.List {
		tag, err := strconv.Unquote(field.Tag.Value)
		require.NoError(t, err)
		name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		comments[name] = oneLine(field.Doc)
	}
	return comments
}

func oneLine(comment *ast.CommentGroup) string {
	return strings.Join(strings.Fields(comment.Text()), " ")
}

// settingTable reads a table of testdata/spec. Its names may have stars: a row then holds for every
// setting and parameter of the catalogue that matches, and at least one has to.
func settingTable(t *testing.T, file string, visit func(at, name string, columns []string)) {
	t.Helper()
	names := catalogueSettingNames(t)
	lines := strings.Split(strings.TrimSuffix(string(readFixture(t, "spec/"+file)), "\n"), "\n")
	for i, line := range lines[1:] {
		columns := strings.Split(line, "\t")
		at := fmt.Sprintf("%s:%d: %s", file, i+2, columns[0])
		require.Len(t, columns, 3, at)
		found := false
		for _, name := range names {
			matches, err := path.Match(columns[0], name)
			require.NoError(t, err, at)
			if matches {
				visit(at, name, columns)
				found = true
			}
		}
		assert.True(t, found, "%s: the catalogue has none", at)
	}
}

// catalogueSettingNames are the names that the tables may have.
func catalogueSettingNames(t *testing.T) []string {
	t.Helper()
	names := slices.Collect(maps.Keys(settingEntries(t)))
	for _, kind := range catalogueKinds(t) {
		names = append(names, kind.ID)
		for _, param := range kind.Params {
			names = append(names, kind.ID+"."+param.Name)
		}
	}
	slices.Sort(names)
	return names
}

// settingFacts are what the catalogue says of parameters beside their types.
type settingCatalogueFacts struct {
	Name    string
	Default json.RawMessage
	Min     *int64
	Max     *int64
	MinText string `json:"min_text"`
	Unit    string
	Note    string
}

// eachSettingFact visits the parameters of the update and of all integrations.
func eachSettingFact(t *testing.T, visit func(name string, p settingCatalogueFacts)) {
	t.Helper()
	var endpoints []struct {
		ID    string
		Body  []settingCatalogueFacts `json:"body_params"`
		Kinds []struct {
			ID     string
			Params []settingCatalogueFacts
		}
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	for _, e := range endpoints {
		if e.ID == "settings.update" {
			for _, p := range e.Body {
				visit(p.Name, p)
			}
		}
		for _, kind := range e.Kinds {
			for _, p := range kind.Params {
				visit(kind.ID+"."+p.Name, p)
			}
		}
	}
}

var statedDefault = regexp.MustCompile(`Default: (\w+)`)

// The comments state the defaults of the documents, and no others.
func TestSettingDefaults(t *testing.T) {
	constants, comments, defaults := constantTexts(t), settingComments(t), map[string]string{}
	settingTable(t, "setting_defaults.tsv", func(at, name string, columns []string) {
		assert.NotContains(t, defaults, name, "%s: twice", at)
		defaults[name] = columns[1]
		assert.NotEmpty(t, comments[name], "%s: no field", at)
	})
	for name, fields := range comments {
		for _, field := range fields {
			stated := statedDefault.FindAllStringSubmatch(field.text, -1)
			want, has := defaults[name]
			if !has {
				assert.Empty(t, stated, "%s: a default that the documents do not have: %s", field.at, field.text)
				continue
			}
			if assert.Len(t, stated, 1, "%s: it does not state its default, %s: %s", field.at, want, field.text) {
				is := stated[0][1]
				if text, isConstant := constants[is]; isConstant {
					is = strconv.Quote(text)
				}
				assert.Equal(t, want, is, "%s: %s", field.at, field.text)
			}
		}
	}
	eachSettingFact(t, func(name string, p settingCatalogueFacts) {
		want, has := defaults[name]
		require.Equal(t, string(p.Default) != "null" && p.Default != nil, has, "%s: the table or the catalogue has no default", name)
		if has {
			assert.JSONEq(t, want, string(p.Default), name)
			delete(defaults, name)
		}
	})
	assert.Empty(t, defaults, "the catalogue has no parameter")
}

// constantTexts are the string constants of the package by name.
func constantTexts(t *testing.T) map[string]string {
	t.Helper()
	texts := map[string]string{}
	eachDeclaration(t, func(decl *ast.GenDecl) {
		for _, spec := range decl.Specs {
			if value, isValue := spec.(*ast.ValueSpec); isValue && decl.Tok == token.CONST && len(value.Values) == 1 {
				if literal, isLiteral := value.Values[0].(*ast.BasicLit); isLiteral && literal.Kind == token.STRING {
					text, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					texts[value.Names[0].Name] = text
				}
			}
		}
	})
	return texts
}

// The comments say what the documents say: units, limits, special values, tiers, releases.
func TestSettingMeanings(t *testing.T) {
	comments, rows, entries := settingComments(t), map[string]string{}, settingEntries(t)
	settingTable(t, "setting_meanings.tsv", func(at, name string, columns []string) {
		rows[name] += columns[2] + "\n"
		types := 1
		if entries[name].param != nil || slices.Contains(settingDependencies(), name) {
			types = 2 // the settings and the options
		}
		assert.Len(t, comments[name], types, "%s: types with a field for %s", at, name)
		for _, field := range comments[name] {
			for phrase := range strings.SplitSeq(columns[2], " | ") {
				says := strings.Contains(strings.ToLower(field.text), strings.ToLower(strings.TrimPrefix(phrase, "!")))
				assert.NotEqual(t, strings.HasPrefix(phrase, "!"), says, "%s: %s: %q: %s", at, field.at, phrase, field.text)
			}
		}
	})
	eachSettingFact(t, func(name string, p settingCatalogueFacts) {
		if p.Unit != "" || p.Min != nil || p.Max != nil || p.MinText != "" || p.Note != "" {
			assert.Contains(t, rows, name, "the catalogue says more: %+v", p)
		}
		assert.Contains(t, rows[name], p.Unit, "%s: the unit", name)
		if p.Min != nil {
			assert.Contains(t, rows[name], fmt.Sprint("Minimum: ", *p.Min), name)
		}
		if p.Max != nil {
			assert.Contains(t, rows[name], fmt.Sprint("Maximum: ", *p.Max), name)
		}
	})
}

// A name that ends in a unit has it in its comment, too.
func TestSettingUnits(t *testing.T) {
	found := 0
	for name, fields := range settingComments(t) {
		for _, unit := range []string{"seconds", "minutes", "hours", "days", "months", "bytes", "mb"} {
			if !strings.HasSuffix(name, "_"+unit) || name == "time_tracking_limit_to_hours" {
				continue
			}
			found++
			for _, field := range fields {
				if unit == "mb" {
					unit = "MB"
				}
				assert.Contains(t, field.text, " "+unit, field.at)
			}
		}
	}
	assert.Equal(t, 9+2+1+2+3+1, found, "settings with a unit in the name")
}

// The options say which settings need which others.
func TestSettingCompanionsAreDocumented(t *testing.T) {
	options := typeComments(t, "settings_options.go")["UpdateSettingsOptions"]
	goName := func(name string) string { return fieldOf(reflect.TypeFor[UpdateSettingsOptions](), name) }
	for _, rule := range companionSettings() {
		for _, need := range rule.needs {
			assert.Regexp(t, `True requires [^.]*\b`+goName(need)+`\b`, options[rule.setting], rule.setting)
			assert.Regexp(t, `Required by `+goName(rule.setting)+`\b|`+goName(rule.setting)+` requires it`, options[need], need)
		}
	}
}
