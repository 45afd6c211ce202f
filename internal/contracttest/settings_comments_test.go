package contracttest_test

import (
	"encoding/json"
	"fmt"
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

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// fieldComment is the comment of the field for a setting or a parameter in one of the types.
type fieldComment struct{ at, text string }

// settingComments returns the comments of the fields for settings (by name), of parameters of
// integrations (by kind.parameter), and of the options of a kind (by kind).
func settingComments(t *testing.T) map[string][]fieldComment {
	t.Helper()
	types := wireComments(t)
	comments := map[string][]fieldComment{}
	add := func(name, typeName, field string) {
		if text, has := types[typeName][field]; has {
			comments[name] = append(comments[name], fieldComment{typeName + " " + field, text})
		}
	}
	for name := range catalogue.Settings(t) {
		add(name, "ApplicationSettings", name)
		add(name, "UpdateSettingsOptions", name)
	}
	for _, row := range cases.Kinds {
		options := reflect.TypeOf(row.Options()).Elem()
		add(string(row.Kind), options.Name(), "")
		for param := range catalogue.JSONFields(options) {
			add(string(row.Kind)+"."+param, options.Name(), param)
		}
	}
	return comments
}

// settingTable reads a table of testdata/spec. Its names may contain stars: such a row is for all
// matching settings and parameters of the catalogue, of which there must be at least one.
func settingTable(t *testing.T, file string, visit func(at, name string, columns []string)) {
	t.Helper()
	names := catalogueSettingNames(t)
	lines := strings.Split(strings.TrimSuffix(string(catalogue.Fixture(t, "spec/"+file)), "\n"), "\n")
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

// catalogueSettingNames returns the names that the tables may contain.
func catalogueSettingNames(t *testing.T) []string {
	t.Helper()
	names := slices.Collect(maps.Keys(catalogue.Settings(t)))
	for _, kind := range catalogue.Kinds(t) {
		names = append(names, kind.ID)
		for _, param := range kind.Params {
			names = append(names, kind.ID+"."+param.Name)
		}
	}
	slices.Sort(names)
	return names
}

// settingCatalogueFacts has the facts of the catalogue about a parameter in addition to its type.
type settingCatalogueFacts struct {
	Name    string
	Default json.RawMessage
	Min     *int64
	Max     *int64
	MinText string `json:"min_text"`
	Unit    string
	Note    string
	// RequiredWhen is a setting that requires this one when it is true.
	RequiredWhen string `json:"required_when"`
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
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/endpoints.json"), &endpoints))
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

// The comments state the defaults of the documents and no other defaults.
func TestSettingDefaults(t *testing.T) {
	constants, comments, defaults := map[string]string{}, settingComments(t), map[string]string{}
	eachConstant(t, func(_, name, text string) { constants[name] = text })
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

// The comments state the facts of the documents: units, limits, special values, tiers, releases.
func TestSettingMeanings(t *testing.T) {
	comments, rows, entries := settingComments(t), map[string]string{}, catalogue.Settings(t)
	settingTable(t, "setting_meanings.tsv", func(at, name string, columns []string) {
		rows[name] += columns[2] + "\n"
		types := 1
		if entries[name].Param != nil || slices.Contains(catalogue.SettingDependencies(), name) {
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
			assert.Contains(t, rows, name, "the table lacks facts of the catalogue: %+v", p)
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

// The comments of the options name the settings that a setting requires.
func TestSettingCompanionsAreDocumented(t *testing.T) {
	options, rules := wireComments(t)["UpdateSettingsOptions"], 0
	goName := func(name string) string {
		return catalogue.GoName(reflect.TypeFor[forge.UpdateSettingsOptions](), name)
	}
	eachSettingFact(t, func(need string, p settingCatalogueFacts) {
		if setting := p.RequiredWhen; setting != "" {
			assert.Regexp(t, `True requires [^.]*\b`+goName(need)+`\b`, options[setting], setting)
			assert.Regexp(t, `Required by `+goName(setting)+`\b|`+goName(setting)+` requires it`, options[need], need)
			rules++
		}
	})
	assert.Greater(t, rules, 20)
}
