package contracttest_test

import (
	"go/constant"
	"go/types"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/gosource"
)

// otherWords are the constants whose names do not end with their values.
var otherWords = map[string]string{
	"AuditEntityTypeInstance": "Gitlab::Audit::InstanceScope",
	"RegistryScopeCatalog":    "registry:catalog:*",
	"DueDateFilterNone":       "0",
	"RunnerTypeGroup":         "group_type",
	"RunnerTypeInstance":      "instance_type",
	"RunnerTypeProject":       "project_type",
	"SearchInBoth":            "title,description",
	"SettingTier":             "of another tier",
}

// otherPrefixes are the types whose constants do not begin with their names.
var otherPrefixes = map[string]string{
	"IntegrationKind": "Integration", "JobLimiterMode": "JobLimiter", "SettingReason": "Setting", "WhatsNewVariant": "WhatsNew", "YesNo": "",
}

// The name of a constant begins with its type, and ends with its value, so that DueDateFilterToday cannot send "tomorrow".
func TestConstantsAreNamedForTheirValues(t *testing.T) {
	checked, marks := 0, strings.NewReplacer("_", "", "-", "", " ", "", ".", "")
	for _, c := range constants(t) {
		name, word := c.Name(), constant.StringVal(c.Val())
		kind := c.Type().(*types.Named).Obj().Name()
		prefix, other := otherPrefixes[kind]
		if !other {
			prefix = kind
		}
		assert.True(t, strings.HasPrefix(name, prefix), "%s is a %s", name, kind)
		if kind == "IntegrationKind" {
			continue // TestIntegrationKinds compares them
		}
		if other, known := otherWords[name]; known {
			assert.Equal(t, other, word, name)
			continue
		}
		end := marks.Replace(strings.ToLower(word))
		assert.True(t, end != "" && strings.HasSuffix(strings.ToLower(name), end), "%s is %q", name, word)
		checked++
	}
	assert.Greater(t, checked, 140)
}

// constants returns the exported texts whose types are exported.
func constants(t *testing.T) (all []*types.Const) {
	t.Helper()
	packages, err := rootPackage()
	require.NoError(t, err)
	scope := packages[0].Scope()
	for _, name := range scope.Names() {
		c, is := scope.Lookup(name).(*types.Const)
		if is && c.Exported() && c.Val().Kind() == constant.String && exportedType(c.Type()) {
			all = append(all, c)
		}
	}
	return all
}

var rootPackage = sync.OnceValues(func() ([]*types.Package, error) { return gosource.Load(".", ".") })

// exportedType reports whether the type has a name of the package.
func exportedType(kind types.Type) bool {
	named, is := kind.(*types.Named)
	return is && named.Obj().Exported()
}

// The name of a field matches its wire name, so that ProxyURL cannot send another URL, and Platform
// is not decoded from the architecture.
func TestFieldsAreNamedForTheirKeys(t *testing.T) {
	checked := 0
	for name, kind := range zeroTypes(t) {
		if kind.Kind() != reflect.Struct {
			continue
		}
		for field := range kind.Fields() {
			for _, format := range []string{"json", "url"} {
				word, _, _ := strings.Cut(field.Tag.Get(format), ",")
				if word != "" && word != "-" {
					assert.Equal(t, cases.NameKey(word), cases.NameKey(field.Name), "%s.%s is %q", name, field.Name, word)
					checked++
				}
			}
		}
	}
	assert.Greater(t, checked, 1300)
}
