package forge

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// settingRow is an entry of the catalogue, with methods for the values that its Go field must hold.
type settingRow catalogue.Setting

// kinds returns the kinds of Go values that hold a setting.
func (e settingRow) kinds() []reflect.Kind {
	typ := "boolean" // of a setting that only a condition names
	if e.Field != nil {
		typ = e.Field.Type
	} else if e.Param != nil {
		typ = e.Param.Type
	}
	return map[string][]reflect.Kind{
		"boolean": {reflect.Bool}, "integer": {reflect.Int, reflect.Int64}, "number": {reflect.Float64}, "string": {reflect.String}, "text": {reflect.String},
		"array": {reflect.Slice}, "array<string>": {reflect.Slice}, "hash": {reflect.Map}, "object": {reflect.Map, reflect.Struct},
	}[typ]
}

// mayBeOmitted reports whether a response may lack the setting, because only the update, a tier or
// a release has it.
func (e settingRow) mayBeOmitted() bool {
	return e.Field == nil || e.Field.Only != nil || e.Param != nil && e.Param.Only != nil
}

// mayBeNull reports whether null is a separate value of the setting. It is not for booleans, for
// which null means false. For three parameters it has a meaning on deployed servers, which the
// contract does not specify.
func (e settingRow) mayBeNull(name string) bool {
	kind := e.kinds()[0]
	return strings.HasSuffix(name, "runner_token_expiration_interval") || e.Field != nil && e.Field.Nullable && (kind == reflect.String || kind == reflect.Int)
}

// wantForm returns the required form of a setting's field in the document.
func (e settingRow) wantForm(name string) string {
	kind := e.kinds()[0]
	switch {
	case kind == reflect.Slice || kind == reflect.Map:
		return "plain" // nil means omitted
	case e.mayBeNull(name):
		return "a Nullable"
	case e.mayBeOmitted():
		return "a pointer"
	}
	return "plain"
}

// Every setting of the contract has a field of its kind in the document, and every parameter has
// one in the options. The field of a setting that a response may omit can represent this.
func TestSettingKinds(t *testing.T) {
	document, options := catalogue.JSONFields(reflect.TypeFor[ApplicationSettings]()), catalogue.JSONFields(reflect.TypeFor[UpdateSettingsOptions]())
	omitted := 0
	for name, entry := range catalogue.Settings() {
		e := settingRow(entry)
		if name == "created_at" || name == "updated_at" {
			continue
		}
		if e.mayBeOmitted() && !e.Beyond {
			omitted++
		}
		assert.Equal(t, e.wantForm(name), e.formOf(t, document, name), "ApplicationSettings: %s", name)
		if e.Param == nil && !slices.Contains(catalogue.SettingDependencies(), name) && !slices.Contains(catalogue.UnnamedSettings(), name) {
			assert.NotContains(t, options, name, "UpdateSettingsOptions")
			continue
		}
		form := e.formOf(t, options, name)
		if kind := e.kinds()[0]; kind == reflect.Bool || kind == reflect.Int || options[name] == reflect.TypeFor[string]() {
			assert.NotEqual(t, "plain", form, "UpdateSettingsOptions: the zero value of %s cannot be sent", name)
		}
		assert.Equal(t, e.mayBeNull(name), form == "a Nullable", "UpdateSettingsOptions: %s", name)
	}
	assert.Equal(t, 97+25, omitted)
}

// formOf returns the form of the setting's field, which must hold the setting's values.
func (e settingRow) formOf(t *testing.T, fields map[string]reflect.Type, name string) string {
	t.Helper()
	if !assert.Contains(t, fields, name) {
		return ""
	}
	value, form := fields[name], "plain"
	switch {
	case value == reflect.TypeFor[Nullable[string]]():
		value, form = reflect.TypeFor[string](), "a Nullable"
	case value == reflect.TypeFor[Nullable[int]]():
		value, form = reflect.TypeFor[int](), "a Nullable"
	case value.Kind() == reflect.Pointer:
		value, form = value.Elem(), "a pointer"
	}
	assert.Contains(t, e.kinds(), value.Kind(), name)
	if value.Kind() == reflect.Slice {
		assert.Equal(t, reflect.String, value.Elem().Kind(), name)
	}
	return form
}
