package contracttest_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
)

// This file has helpers of the catalogue tests: wire names, samples, and the Go types that fit a
// type of the catalogue.

// fitsParam reports whether a parameter may have a Go type.
func fitsParam(want string, field reflect.Type) bool {
	var fit []reflect.Type
	switch want {
	case "boolean":
		fit = []reflect.Type{reflect.TypeFor[*bool](), reflect.TypeFor[bool]()}
	case "integer":
		fit = []reflect.Type{reflect.TypeFor[int64](), reflect.TypeFor[int](), reflect.TypeFor[*int](), reflect.TypeFor[forge.IDFilter](), reflect.TypeFor[forge.NumberFilter](), reflect.TypeFor[forge.ID](), reflect.TypeFor[*forge.Number](), reflect.TypeFor[forge.Nullable[time.Duration]](), reflect.TypeFor[forge.Nullable[int]]()}
	case "array<integer>":
		fit = []reflect.Type{reflect.TypeFor[[]int64](), reflect.TypeFor[forge.IDListFilter]()}
	case "array<string>":
		fit = []reflect.Type{reflect.TypeFor[[]string](), reflect.TypeFor[[]forge.RunnerRegistrar]()}
	case "hash":
		fit = []reflect.Type{reflect.TypeFor[forge.Hash](), reflect.TypeFor[map[string]any]()}
	case "text":
		fit = []reflect.Type{reflect.TypeFor[*string]()}
	case "datetime":
		fit = []reflect.Type{reflect.TypeFor[time.Time]()}
	case "string":
		if field.Kind() == reflect.String {
			return true
		}
		fit = []reflect.Type{reflect.TypeFor[forge.TextFilter](), reflect.TypeFor[forge.LabelFilter](), reflect.TypeFor[forge.LabelNames](), reflect.TypeFor[forge.MilestoneFilter](), reflect.TypeFor[forge.WorkDuration](), reflect.TypeFor[*string](), reflect.TypeFor[forge.Nullable[string]](),
			reflect.TypeFor[[]forge.RegistryScope](), reflect.TypeFor[time.Time]()}
	}
	return slices.Contains(fit, field)
}

// fitsField reports whether a field may have a Go type. A number is a pointer if null differs from
// zero; TestConditionalFields checks the other pointers.
func fitsField(f catalogue.Field, field reflect.Type) bool {
	base := field
	if field.Kind() == reflect.Pointer {
		base = field.Elem()
	}
	switch f.Type {
	case "boolean":
		return base.Kind() == reflect.Bool
	case "integer":
		return field == reflect.TypeFor[forge.AuditEventTarget]() || (base.Kind() == reflect.Int || base.Kind() == reflect.Int64) && (!f.Nullable || base != field)
	case "number":
		return base.Kind() == reflect.Float64 && (!f.Nullable || base != field)
	case "unknown":
		return field == reflect.TypeFor[json.RawMessage]()
	case "string":
		switch f.Format {
		case "timestamp":
			return field == reflect.TypeFor[time.Time]()
		case "date":
			return field == reflect.TypeFor[forge.Date]()
		}
		return field.Kind() == reflect.String || field == reflect.TypeFor[[]byte]() || field == reflect.TypeFor[forge.AuditEventChange]()
	case "array":
		want := reflect.TypeOf(typeRows[f.Items.Ref])
		return field.Kind() == reflect.Slice && (want == nil || field.Elem() == want)
	case "object":
		if f.Ref == "" { // the contract does not name the keys; deployed servers show them
			return field == reflect.TypeFor[json.RawMessage]() || field.Kind() == reflect.Map || field == reflect.TypeFor[*forge.UserSummary]()
		}
		return base == reflect.TypeOf(typeRows[f.Ref]) && (!f.Nullable || base != field)
	}
	return false
}

// assertEnum checks that the method Values of the field's type returns every value that the
// catalogue has. TestEnumerationValues compares it with the constants.
func assertEnum(t *testing.T, at string, values []any, field reflect.Type) {
	t.Helper()
	if field.Kind() != reflect.String {
		return
	}
	var listed []any
	for _, value := range listedValues(field) {
		listed = append(listed, value.String())
	}
	for _, value := range values {
		assert.True(t, value == nil || slices.Contains(listed, value), "%s: %s has no constant for %v", at, field, value)
	}
}
