package contracttest_test

import (
	"encoding/json"
	"go/constant"
	"go/types"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
)

// deployedEntry is what a release has beyond the contract, or drops.
type deployedEntry struct {
	Endpoint, Kind, Name, Type string
	Values                     []string // of a parameter or field; the properties of an integration
	Untyped                    string   // the key of the reason why it has no name in Go
}

// TestDeployed checks that each entry of testdata/deployed/19.5.json has a name in Go, or a reason
// why it has none, and never both.
func TestDeployed(t *testing.T) {
	var release struct {
		Untyped map[string]string
		Entries []deployedEntry
	}
	require.NoError(t, json.Unmarshal([]byte(readText(t, "testdata/deployed/19.5.json")), &release))
	methods := map[string]*cases.Case{}
	for _, c := range cases.All(t) {
		methods[c.Endpoint.Method+" "+c.Endpoint.Path] = c
	}
	listed, used := 0, map[string]bool{}
	for _, e := range release.Entries {
		c := methods[e.Endpoint]
		require.NotNil(t, c, e.Endpoint)
		if used[e.Untyped] = true; e.Untyped != "" {
			listed++
			assert.Contains(t, release.Untyped, e.Untyped, "%+v has no reason", e)
		}
		assert.Equal(t, e.Untyped == "", e.typed(t, c), "%+v: whether it has a name in Go", e)
	}
	for key, reason := range release.Untyped {
		assert.True(t, used[key], "no entry has the reason %s: %s", key, reason)
	}
	t.Logf("%d entries have a name in Go, %d a reason", len(release.Entries)-listed, listed)
}

// typed reports whether the entry has a name in Go.
func (e deployedEntry) typed(t *testing.T, c *cases.Case) bool {
	t.Helper()
	what, values := strings.CutSuffix(e.Kind, " values")
	var kind reflect.Type
	switch what {
	case "param":
		kind = paramType(t, c, e.Name)
	case "field", "gone":
		kind = fieldType(c, e.Name)
	case "dropped":
		return catalogue.Dropped()[c.Endpoint.ID][e.Name] != ""
	case "integration":
		return hasIntegration(e)
	default:
		require.Fail(t, "unknown kind", e.Kind)
	}
	return kind != nil && (!values || !slices.ContainsFunc(e.Values, func(value string) bool { return !hasConstant(t, kind, value) }))
}

// paramType returns the type of the field of the options that sends a parameter; nil if there is none.
func paramType(t *testing.T, c *cases.Case, name string) reflect.Type {
	t.Helper()
	if c.Options == nil {
		return nil
	}
	fields := cases.WireFields(t, reflect.New(c.Options).Interface())
	if kind := fields[name]; kind != nil {
		return kind
	}
	return fields[name+"[]"]
}

// fieldType returns the type of a field of the response, by its path; nil if there is none.
func fieldType(c *cases.Case, path string) reflect.Type {
	kind := c.Method.Type().Out(0)
	if kind.CanSeq2() {
		kind = kind.In(0).In(0)
	}
	for name := range strings.SplitSeq(path, ".") {
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		if kind = catalogue.JSONFields(kind)[name]; kind == nil {
			return nil
		}
	}
	return kind
}

// hasConstant reports whether the type of a filter or field has a constant for the value.
func hasConstant(t *testing.T, kind reflect.Type, value string) bool {
	t.Helper()
	for word, filter := range map[string]any{"None": forge.None, "Any": forge.Any, "Current": forge.Current} {
		if word == value {
			return cases.Fits(filter, kind)
		}
	}
	return slices.ContainsFunc(constants(t), func(c *types.Const) bool {
		return c.Type().String() == kind.PkgPath()+"."+kind.Name() && constant.StringVal(c.Val()) == value
	})
}

// hasIntegration reports whether a kind has the slug, and all of the properties as parameters.
func hasIntegration(e deployedEntry) bool {
	for _, known := range cases.Kinds {
		if string(known.Kind) == e.Name {
			fields := catalogue.JSONFields(reflect.TypeOf(known.Options()).Elem())
			return !slices.ContainsFunc(e.Values, func(property string) bool { return fields[property] == nil })
		}
	}
	return false
}
