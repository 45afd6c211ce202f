package contracttest_test

import (
	"go/ast"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

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
