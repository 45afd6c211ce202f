package contracttest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/constant"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
	"github.com/forge-sdk/forge-go/internal/contracttest/cases"
	"github.com/forge-sdk/forge-go/internal/racetest"
)

// special are the words that some filters have instead of a value.
var special = map[string]any{"None": forge.None, "Any": forge.Any, "Upcoming": forge.Upcoming, "Started": forge.Started}

// TestCatalogueParameters compares the fields of options with the catalogue. The type of a field fits
// the type of the parameter, allows exactly its words and all values of its enumeration, and takes
// false exactly if the parameter does. TestConformance sends the parameters.
func TestCatalogueParameters(t *testing.T) {
	seen := 0
	for _, c := range cases.All(t) {
		if c.Options == nil {
			continue
		}
		options := reflect.New(c.Options).Interface()
		fields := cases.WireFields(t, options)
		for _, param := range c.Endpoint.Params() {
			name := param.Wire
			if cases.IsBody(options) {
				name = param.Name
			}
			field, known := fields[name]
			if !known { // an argument of the method, or sent by the client
				continue
			}
			seen++
			if param.Wire == "not[milestone_id]" { // the row of not has only the key; the row of milestone_id has its words
				param.Special = slices.Sorted(maps.Keys(special))
			}
			if param.Wire == "not[iteration_id]" { // deployed servers take the words of iteration_id
				param.Special = []string{"None", "Any"}
			}
			at := c.Name + " " + name
			assert.True(t, fitsParam(param.Type, field), "%s is %s in the catalogue and %s in Go", at, param.Type, field)
			assertEnum(t, at, param.Enum, field)
			for word, value := range special {
				assert.Equal(t, slices.Contains(param.Special, word), cases.Fits(value, field), "%s: %s", at, word)
			}
			if param.Type == "boolean" {
				assert.Equal(t, len(param.Allowed) == 1, field == reflect.TypeFor[bool](), "%s: false must be sent if it is allowed", at)
			}
		}
	}
	assert.Greater(t, seen, 400)
}

// TestCatalogueChecks checks that options are refused by the rules of the catalogue: without a
// required parameter, and with two that exclude each other. Two keys of not do if the rows of their
// names do. Any other two keys may be combined.
func TestCatalogueChecks(t *testing.T) {
	racetest.SkipSequential(t)
	excluded := map[reflect.Type]map[string][]string{} // the endpoints of the options share them
	for _, c := range cases.All(t) {
		if excluded[c.Options] == nil {
			excluded[c.Options] = map[string][]string{}
		}
		for _, param := range c.Endpoint.Params() {
			excluded[c.Options][param.Name] = append(excluded[c.Options][param.Name], param.ExclusiveWith...)
		}
	}
	for _, c := range cases.All(t) {
		if c.Options == nil {
			continue
		}
		with := func(names ...string) error {
			options := reflect.New(c.Options)
			cases.SetFields(t, options.Elem(), names...)
			return cases.Check(t, options.Interface())
		}
		fields := cases.WireFields(t, reflect.New(c.Options).Interface())
		var required []string
		for _, param := range c.Endpoint.Params() {
			byDefault := c.Name == "issues.promote_by_note" && param.Name == "body" // Promote sends the command
			if param.Required && !byDefault && fields[param.Wire] != nil {
				required = append(required, param.Wire)
			}
		}
		var invalid *forge.ValidationError
		for i, missing := range required {
			require.ErrorAs(t, with(slices.Delete(slices.Clone(required), i, i+1)...), &invalid, "%s: %s is required", c.Name, missing)
			assert.Equal(t, missing, invalid.Param, c.Name)
		}
		if err := with(required...); errors.As(err, &invalid) { // of the sample's form
			assert.Contains(t, append(required, "file"), invalid.Param, c.Name)
		}
		if c.Endpoint.ID != "settings.update" { // 100,000 pairs: TestSettingsEdits has its rules
			checkPairs(t, c, fields, excluded[c.Options], func(names ...string) error { return with(append(names, required...)...) })
		}
	}
}

// excludedBeyond are parameters of deployed servers that exclude one of the contract.
var excludedBeyond = map[string]string{"assignee_username": "assignee_id", "draft": "wip", "with_last_commit": "recursive",
	"selective_code_owner_removals": "retain_approvals_on_push", "require_password_to_approve": "require_reauthentication_to_approve", "name_regex": "name_regex_delete", "active": "paused"}

// checkPairs sets each two parameters of options.
func checkPairs(t *testing.T, c *cases.Case, fields map[string]reflect.Type, excluded map[string][]string, with func(...string) error) {
	t.Helper()
	for one := range fields {
		for other := range fields {
			name, nested := strings.CutPrefix(strings.TrimSuffix(one, "[]"), "not[")
			against, too := strings.CutPrefix(strings.TrimSuffix(other, "[]"), "not[")
			name, against = strings.Trim(name, "[]"), strings.Trim(against, "[]")
			if alone := with(one); one == other || nested != too || alone != nil || with(other) != nil { // it needs a third
				assert.NotContains(t, fmt.Sprint(alone), "combined with", c.Name)
				continue
			}
			want := slices.Contains(excluded[name], against) || slices.Contains(excluded[against], name) ||
				!nested && (excludedBeyond[name] == against || excludedBeyond[against] == name)
			refused := with(one, other)
			assert.Equal(t, want, refused != nil, "%s: %s and %s", c.Name, one, other)
			if refused != nil { // the error names both
				assert.ErrorContains(t, refused, strings.TrimSuffix(one, "[]"), c.Name)
				assert.ErrorContains(t, refused, strings.TrimSuffix(other, "[]"), c.Name)
			}
		}
	}
}

// goTypes returns the Go type of each type of the catalogue: those that methods return, and those of
// their fields.
func goTypes(t *testing.T, types map[string]catalogueType) map[string]reflect.Type {
	t.Helper()
	found := map[string]reflect.Type{}
	var add func(name string, kind reflect.Type)
	add = func(name string, kind reflect.Type) {
		for kind.Kind() == reflect.Pointer || kind.Kind() == reflect.Slice {
			kind = kind.Elem()
		}
		if name == "" || found[name] != nil {
			return
		}
		found[name] = kind
		fields := catalogue.JSONFields(kind)
		for _, f := range types[name].Fields {
			if field := fields[catalogue.ShownName(f.Name)]; field != nil {
				for _, ref := range []string{f.Ref, f.Items.Ref, f.Items.Alternative.Ref} {
					add(ref, field)
				}
			}
		}
	}
	for _, c := range cases.All(t) {
		kind := c.Method.Type().Out(0)
		if kind.CanSeq2() {
			kind = kind.In(0).In(0)
		}
		if kind != reflect.TypeFor[*forge.Download]() && c.Endpoint.Response.Kind != "csv" {
			add(c.Endpoint.Response.Type, kind)
		}
	}
	return found
}

// catalogueType is a type of a response.
type catalogueType struct {
	Views  []string
	Fields []catalogue.Field
}

func readTypes(t *testing.T) map[string]catalogueType {
	t.Helper()
	types := catalogue.Types[catalogueType]()
	for name, more := range catalogue.Fields[catalogue.Field]() {
		all := types[name]
		for _, f := range more {
			if !slices.ContainsFunc(all.Fields, func(documented catalogue.Field) bool { return documented.Name == f.Name }) {
				all.Fields = append(all.Fields, f)
			}
		}
		types[name] = all
	}
	// They have tests of their own: TestReassignments, TestErrorTexts and TestSettingKinds.
	for _, name := range []string{"PlaceholderReassignmentRow", "ValidationError", "ApplicationSettingsUpdate"} {
		require.Contains(t, types, name)
		delete(types, name)
	}
	return types
}

// TestCatalogueFields compares the response types with the catalogue, field by field.
// TestNothingSentIsLost decodes the fields.
func TestCatalogueFields(t *testing.T) {
	types := readTypes(t)
	kinds := goTypes(t, types)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(types)), slices.Collect(maps.Keys(kinds)))
	for name, kind := range kinds {
		fields := catalogue.JSONFields(kind)
		for _, f := range types[name].Fields {
			field, found := fields[catalogue.ShownName(f.Name)]
			if name+"."+f.Name == "IntegrationSummary.properties" { // Integration has it
				continue
			}
			if !assert.True(t, found, "%s.%s has no field", name, f.Name) {
				continue
			}
			settings := name == "ApplicationSettings" // TestSettingKinds checks which of them may be omitted
			assert.True(t, settings || fitsField(kinds, f, field), "%s.%s is %s in the catalogue (nullable: %t) and %s in Go", name, f.Name, f.Type, f.Nullable, field)
			assertEnum(t, name+"."+f.Name, f.Enum, field)
		}
	}
}

// shownSometimes are fields without a condition in the catalogue that servers do not always show,
// and the flags for which null differs from false. For all other flags null means false (Document 1
// §2.1 rule 3).
var shownSometimes = []string{
	"Issue.subscribed", "MergeRequest.subscribed", "MergeRequest.approvals_before_merge",
	"VersionDiff.generated_file", "MergeRequest.discussion_locked", "MergeRequest.should_remove_source_branch",
}

// TestConditionalFields checks flags and numbers. One that only some views, roles, tiers, editions or
// requests show is a pointer, so that false and 0 are always values from the server. All other flags
// are not pointers. Ids are never 0, and settings have a separate test.
func TestConditionalFields(t *testing.T) {
	types, checked := readTypes(t), 0
	for name, kind := range goTypes(t, types) {
		for _, f := range types[name].Fields {
			isID := f.Name == "id" || strings.HasSuffix(f.Name, "_id") || strings.HasSuffix(f.Name, "iid")
			if isID || name == "ApplicationSettings" || !slices.Contains([]string{"boolean", "integer", "number"}, f.Type) {
				continue
			}
			pointer := catalogue.JSONFields(kind)[f.Name].Kind() == reflect.Pointer
			switch {
			case f.Sometimes(types[name].Views) || slices.Contains(shownSometimes, name+"."+f.Name):
				assert.True(t, pointer, "%s.%s is not always shown: it must be a pointer", name, f.Name)
				checked++
			case f.Type == "boolean":
				assert.False(t, pointer, "%s.%s is always shown: it must not be a pointer", name, f.Name)
			}
		}
	}
	assert.Greater(t, checked, 25)
}

// fitsParam reports whether a parameter may have a Go type.
func fitsParam(want string, field reflect.Type) bool {
	if want == "string" && field.Kind() == reflect.String {
		return true
	}
	return slices.ContainsFunc(map[string][]any{
		"boolean":        {new(bool), false},
		"integer":        {int64(0), 0, new(int), new(forge.IDFilter), new(forge.IterationFilter), new(forge.NumberFilter), forge.ID(0), new(forge.Number), forge.Nullable[time.Duration]{}, forge.Nullable[int]{}},
		"array<integer>": {[]int64{}, new(forge.IDListFilter)},
		"array<string>":  {[]string{}, []forge.RunnerRegistrar{}},
		"hash":           {forge.Hash{}, map[string]any{}},
		"text":           {new(string)},
		"datetime":       {time.Time{}},
		"string": {new(forge.TextFilter), new(forge.LabelFilter), forge.LabelNames{}, new(forge.MilestoneFilter), forge.WorkDuration(0), new(string), forge.Nullable[string]{},
			[]forge.RegistryScope{}, time.Time{}},
	}[want], func(value any) bool {
		kind := reflect.TypeOf(value)
		return kind == field || kind.Kind() == reflect.Pointer && kind.Elem() == field && field.Kind() == reflect.Interface
	})
}

// fitsField reports whether a field may have a Go type. A number is a pointer if null differs from
// zero; TestConditionalFields checks the other pointers.
func fitsField(kinds map[string]reflect.Type, f catalogue.Field, field reflect.Type) bool {
	base := field
	if field.Kind() == reflect.Pointer {
		base = field.Elem()
	}
	null := !f.Nullable || base != field
	switch f.Type + " " + f.Format {
	case "boolean ":
		return base.Kind() == reflect.Bool
	case "integer ":
		return field == reflect.TypeFor[forge.AuditEventTarget]() || null && (base.Kind() == reflect.Int || base.Kind() == reflect.Int64)
	case "number ":
		return null && base.Kind() == reflect.Float64
	case "unknown ":
		return field == reflect.TypeFor[json.RawMessage]()
	case "string timestamp":
		return field == reflect.TypeFor[time.Time]()
	case "string date":
		return field == reflect.TypeFor[forge.Date]()
	case "array ":
		want := kinds[f.Items.Ref]
		return field.Kind() == reflect.Slice && (want == nil || field.Elem() == want)
	case "object ", "hash ":
		if f.Ref == "" { // the contract does not name the keys; deployed servers show them
			return field == reflect.TypeFor[json.RawMessage]() || field.Kind() == reflect.Map || field == reflect.TypeFor[*forge.UserSummary]()
		}
		return null && base == kinds[f.Ref]
	}
	return f.Type == "string" && (field.Kind() == reflect.String || field == reflect.TypeFor[[]byte]() || field == reflect.TypeFor[forge.AuditEventChange]())
}

// assertEnum checks that the field's type has a constant for every value that the catalogue has. The
// algorithm of a checksum is the exception: Download compares it.
func assertEnum(t *testing.T, at string, values []any, field reflect.Type) {
	t.Helper()
	if field.Kind() != reflect.String || at == "SecureFile.checksum_algorithm" {
		return
	}
	listed := map[any]bool{}
	for _, c := range constants(t) {
		if c.Type().String() == field.PkgPath()+"."+field.Name() {
			listed[constant.StringVal(c.Val())] = true
		}
	}
	for _, value := range values {
		if value == "Service::Audit::InstanceScope" {
			value = string(forge.AuditEntityTypeInstance)
		}
		assert.True(t, value == nil || listed[value], "%s: %s has no constant for %v", at, field, value)
	}
}
