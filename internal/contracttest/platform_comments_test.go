package contracttest_test

import (
	"encoding/json"
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// availability is the restriction in the catalogue of a parameter or field that not all platforms
// have.
type availability struct {
	Tiers      []string
	Role       string
	Edition    string
	Introduced string
}

// phrases returns regular expressions of the texts that a comment must contain.
func (a availability) phrases() (phrases []string) {
	switch {
	case slices.Contains(a.Tiers, "premium"):
		phrases = append(phrases, `Premium and Ultimate\b`)
	case slices.Contains(a.Tiers, "ultimate"):
		phrases = append(phrases, `(^|[^d] )Ultimate\b`)
	}
	if a.Role != "" {
		phrases = append(phrases, `(?i)\b`+a.Role)
	}
	if a.Edition != "" {
		phrases = append(phrases, `(?i)\b`+a.Edition+` edition\b`)
	}
	if a.Introduced != "" {
		phrases = append(phrases, `(?i)\bsince `+regexp.QuoteMeta(a.Introduced)+`\b`)
	}
	return phrases
}

// The comments of response fields name the tiers and the releases that have them.
func TestFieldsNameTheirTier(t *testing.T) {
	var types map[string]struct {
		Fields []struct {
			Name string
			Only *availability
		}
	}
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/types.json"), &types))
	comments, checked := wireComments(t), 0
	for name, typ := range types {
		row := typeRows[name]
		if row == nil || strings.HasPrefix(name, "ApplicationSettings") { // see TestSettingMeanings
			continue
		}
		for _, f := range typ.Fields {
			if f.Only == nil {
				continue
			}
			for _, phrase := range f.Only.phrases() {
				assert.Regexp(t, phrase, comments[reflect.TypeOf(row).Name()][f.Name], "%s.%s", name, f.Name)
				checked++
			}
		}
	}
	assert.Greater(t, checked, 15)
}

// optionFact has the facts of the catalogue about a parameter in addition to its type.
type optionFact struct {
	Name, Wire string
	Only       *availability
	Default    any
}

// eachOptionFact visits the parameters of options, with the comments of their fields. The settings
// have separate tests.
func eachOptionFact(t *testing.T, visit func(at string, options reflect.Type, p optionFact, comment string)) {
	t.Helper()
	var endpoints []struct {
		ID    string
		Query []optionFact `json:"query_params"`
		Body  []optionFact `json:"body_params"`
	}
	require.NoError(t, json.Unmarshal(catalogue.Fixture(t, "spec/endpoints.json"), &endpoints))
	comments := wireComments(t)
	for _, e := range endpoints {
		for _, row := range optionRows {
			if row.endpoint != e.ID || row.options == nil || e.ID == "settings.update" {
				continue
			}
			options := reflect.TypeOf(row.options).Elem()
			for _, p := range slices.Concat(e.Query, e.Body) {
				comment, has := comments[options.Name()][p.Name]
				if has {
					visit(e.ID+" "+p.Name, options, p, comment)
				}
			}
		}
	}
}

// The comments of options name the tiers, the releases and the role that they require.
func TestOptionsNameTheirTier(t *testing.T) {
	checked := 0
	eachOptionFact(t, func(at string, _ reflect.Type, p optionFact, comment string) {
		if p.Only == nil {
			return
		}
		for _, phrase := range p.Only.phrases() {
			assert.Regexp(t, phrase, comment, at)
			checked++
		}
	})
	assert.Greater(t, checked, 30)
}

// proseDefaults are defaults that the documents describe, by type and parameter.
var proseDefaults = map[string]string{
	"TreeOptions.ref":                          "the default branch",
	"ContributorsOptions.ref":                  "the default branch",
	"CreateChangelogOptions.branch":            "the default branch",
	"CreateChangelogOptions.config_file_ref":   "the default branch",
	"GenerateChangelogOptions.config_file_ref": "the default branch",
	"CreateChangelogOptions.from":              "the latest stable version tag before Version",
	"GenerateChangelogOptions.from":            "the latest stable version tag before Version",
	"CreateChangelogOptions.to":                "the tip of Branch",
	"GenerateChangelogOptions.to":              "the tip of the default branch",
	"CreateChangelogOptions.date":              "now",
	"GenerateChangelogOptions.date":            "now",
}

// The comments of options name the default of the server.
func TestOptionsNameTheirDefaults(t *testing.T) {
	names, checked := constantNames(t), 0
	eachOptionFact(t, func(at string, options reflect.Type, p optionFact, comment string) {
		want := proseDefaults[options.Name()+"."+p.Name]
		field, _ := options.FieldByName(catalogue.GoName(options, p.Name))
		switch value := p.Default.(type) {
		case string:
			want, _, _ = strings.Cut(value, "<")
			if name := names[field.Type.Name()][value]; name != "" {
				want = name
			}
		case bool:
			if value { // comments do not state the default false
				want = "default, true"
			} else {
				assert.NotRegexp(t, `(?i)\btrue\b[^.;]*\bdefault|\bdefault\b[^.;]*\btrue\b|\b(nil|unset|omitted) (for|is|means) true\b`, comment, at)
				checked++
			}
		}
		if want != "" {
			want = regexp.QuoteMeta(want)
			assert.Regexp(t, `(empty|nil|zero) for [^.;]*\b`+want+`|\b`+want+` is the default`, comment, at)
			checked++
		}
	})
	assert.Greater(t, checked, 30)
}

// otherWords are the constants whose names do not end with their values.
var otherWords = map[string]string{
	"AuditEntityInstance":       "Service::Audit::InstanceScope",
	"CatalogScope":              "registry:catalog:*",
	"DueNone":                   "0",
	"IntegrationTwoURLTrackerA": "issue_tracker_two_urls_1",
	"IntegrationTwoURLTrackerB": "issue_tracker_two_urls_2",
	"RunnerTypeGroup":           "group_type",
	"RunnerTypeInstance":        "instance_type",
	"RunnerTypeProject":         "project_type",
	"SearchInBoth":              "title,description",
	"SettingTier":               "of another tier",
}

// The name of a constant ends with its value, so that DueToday cannot send "tomorrow".
func TestConstantsAreNamedForTheirValues(t *testing.T) {
	checked, marks := 0, strings.NewReplacer("_", "", "-", "", " ", "", ".", "")
	eachConstant(t, func(kind, name, word string) {
		if other, known := otherWords[name]; known {
			assert.Equal(t, other, word, name)
		} else if kind != "" && ast.IsExported(name) && kind != "Vocabulary" { // a vocabulary is a table, not a value
			end := marks.Replace(strings.ToLower(word))
			assert.True(t, end != "" && strings.HasSuffix(strings.ToLower(name), end), "%s is %q", name, word)
			checked++
		}
	})
	assert.Greater(t, checked, 150)
}

// The name of a field matches its wire name, so that ProxyURL cannot send another URL, and Platform
// is not decoded from the architecture.
func TestFieldsAreNamedForTheirKeys(t *testing.T) {
	checked, seen := 0, map[reflect.Type]bool{}
	var check func(kind reflect.Type)
	check = func(kind reflect.Type) {
		for kind.Kind() != reflect.Struct {
			if kind.Kind() != reflect.Pointer && kind.Kind() != reflect.Slice && kind.Kind() != reflect.Map {
				return
			}
			kind = kind.Elem()
		}
		if seen[kind] || kind.PkgPath() != reflect.TypeFor[forge.Issue]().PkgPath() {
			return
		}
		seen[kind] = true
		for field := range kind.Fields() {
			check(field.Type)
			for _, format := range []string{"json", "url"} {
				word, _, _ := strings.Cut(field.Tag.Get(format), ",")
				if word != "" && word != "-" {
					assert.Equal(t, cases.NameKey(word), cases.NameKey(field.Name), "%s.%s is %q", kind.Name(), field.Name, word)
					checked++
				}
			}
		}
	}
	for _, value := range typeRows {
		check(reflect.TypeOf(value))
	}
	for _, row := range optionRows {
		if row.options != nil {
			check(reflect.TypeOf(row.options))
		}
	}
	for _, kind := range integrationTypes() {
		check(kind)
	}
	assert.Greater(t, checked, 1300)
}
