package forge

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// settingRow is an entry of the catalogue, with methods for the values that its Go field must hold.
type settingRow catalogue.Setting

// kind returns the JSON type of a setting's values, and of the elements of a list.
func (e settingRow) kind() (kind reflect.Kind, element reflect.Kind) {
	of := e.Field
	if of == nil {
		of = e.Param
	}
	if of == nil {
		return reflect.Bool, reflect.Invalid // a setting that only a condition names
	}
	switch of.Type {
	case "boolean":
		return reflect.Bool, reflect.Invalid
	case "integer":
		return reflect.Int, reflect.Invalid
	case "number":
		return reflect.Float64, reflect.Invalid
	case "array", "array<string>":
		return reflect.Slice, reflect.String
	case "hash", "object":
		return reflect.Map, reflect.Invalid
	}
	return reflect.String, reflect.Invalid
}

// mayBeOmitted reports whether a response may lack the setting, because only the update, a tier or
// a release has it.
func (e settingRow) mayBeOmitted() bool {
	isLimited := func(s *catalogue.SettingFacts) bool { return s != nil && s.Only != nil && string(s.Only) != "null" }
	return e.Field == nil || isLimited(e.Field) || isLimited(e.Param)
}

// clearedByNull returns the settings of the update for which null has a meaning on deployed
// servers. The contract does not specify this.
func clearedByNull() []string {
	return []string{"group_runner_token_expiration_interval", "project_runner_token_expiration_interval", "runner_token_expiration_interval"}
}

// mayBeNull reports whether null is a separate value of the setting. It is not for booleans, for
// which null means false.
func (e settingRow) mayBeNull(name string) bool {
	kind, _ := e.kind()
	return slices.Contains(clearedByNull(), name) || e.Field != nil && e.Field.Nullable && (kind == reflect.String || kind == reflect.Int)
}

// The forms that a field of a setting may have.
const (
	plainForm    = "plain"
	pointerForm  = "a pointer"
	nullableForm = "a Nullable"
)

// settingForm returns the parts of a field's type.
func settingForm(field reflect.Type) (value reflect.Type, form string) {
	switch field {
	case reflect.TypeFor[Nullable[string]]():
		return reflect.TypeFor[string](), nullableForm
	case reflect.TypeFor[Nullable[int]]():
		return reflect.TypeFor[int](), nullableForm
	}
	if field.Kind() == reflect.Pointer {
		return field.Elem(), pointerForm
	}
	return field, plainForm
}

// hasKind reports whether values of the setting fit the Go type.
func (e settingRow) hasKind(value reflect.Type) bool {
	kind, element := e.kind()
	switch {
	case value.Kind() == reflect.Int64 && kind == reflect.Int, value == reflect.TypeFor[BranchProtectionDefaults]() && kind == reflect.Map:
		return true
	case value.Kind() == reflect.Slice && kind == reflect.Slice:
		return value.Elem().Kind() == element
	}
	return value.Kind() == kind && (kind != reflect.String || value != reflect.TypeFor[json.RawMessage]())
}

// wantForm returns the required form of a setting's field in the document.
func (e settingRow) wantForm(name string) string {
	kind, _ := e.kind()
	switch {
	case kind == reflect.Slice || kind == reflect.Map:
		return plainForm // nil means omitted
	case e.mayBeNull(name):
		return nullableForm
	case e.mayBeOmitted():
		return pointerForm
	}
	return plainForm
}

// Every setting of the contract has a field of its kind in the document, and every parameter has
// one in the options. The field of a setting that a response may omit can represent this.
func TestSettingKinds(t *testing.T) {
	document, options := catalogue.JSONFields(reflect.TypeFor[ApplicationSettings]()), catalogue.JSONFields(reflect.TypeFor[UpdateSettingsOptions]())
	entries := catalogue.Settings()
	require.Len(t, entries, 142+96+1)
	omitted := 0
	for name, entry := range entries {
		e := settingRow(entry)
		if e.Field != nil && (name == "created_at" || name == "updated_at") {
			continue
		}
		field := document[name]
		if !assert.NotNil(t, field, "ApplicationSettings has no field for %s", name) {
			continue
		}
		value, form := settingForm(field)
		assert.True(t, e.hasKind(value), "ApplicationSettings: %s is %s", name, field)
		assert.Equal(t, e.wantForm(name), form, "ApplicationSettings: %s is %s", name, field)
		if e.mayBeOmitted() {
			omitted++
		}
		if field = options[name]; e.Param == nil && !slices.Contains(catalogue.SettingDependencies(), name) && !slices.Contains(catalogue.UnnamedSettings(), name) {
			assert.Nil(t, field, "UpdateSettingsOptions: %s", name)
			continue
		}
		if !assert.NotNil(t, field, "UpdateSettingsOptions has no field for %s", name) {
			continue
		}
		value, form = settingForm(field)
		assert.True(t, e.hasKind(value), "UpdateSettingsOptions: %s is %s", name, field)
		if value.Kind() == reflect.Bool || value.Kind() == reflect.Int || value == reflect.TypeFor[string]() {
			assert.NotEqual(t, plainForm, form, "UpdateSettingsOptions: the zero value of %s cannot be sent", name)
		}
		assert.Equal(t, e.mayBeNull(name), form == nullableForm, "UpdateSettingsOptions: %s is %s", name, field)
	}
	assert.Equal(t, 97+25, omitted)
}
