package forge

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/contracttest/catalogue"
	"github.com/forge-sdk/forge-go/internal/jsonread"
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
	entries := catalogue.Settings(t)
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

// Every setting that a response may omit distinguishes zero, null and absent values, and every
// setting that may be null distinguishes null.
func TestSettingsDistinguishAbsentFromZero(t *testing.T) {
	zeros := map[reflect.Kind]string{reflect.Bool: "false", reflect.Int: "0", reflect.String: `""`, reflect.Slice: "[]", reflect.Map: "{}"}
	read := func(text string) reflect.Value {
		var r jsonread.Reader
		var settings ApplicationSettings
		r.Reset([]byte(text))
		require.NoError(t, decodeValue(&r, &settings))
		assert.Empty(t, r.Mismatches(), text)
		assert.Empty(t, settings.Extra, text)
		return reflect.ValueOf(settings)
	}
	isNull := func(field reflect.Value) bool {
		nullable, is := field.Interface().(interface{ IsNull() bool })
		return is && nullable.IsNull()
	}
	entries := catalogue.Settings(t)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := settingRow(entries[name])
		if !e.mayBeOmitted() && !e.mayBeNull(name) {
			continue
		}
		kind, _ := e.kind()
		goName := catalogue.GoName(reflect.TypeFor[ApplicationSettings](), name)
		zero := read(fmt.Sprintf(`{%q:%s}`, name, zeros[kind])).FieldByName(goName)
		null := read(fmt.Sprintf(`{%q:null}`, name)).FieldByName(goName)
		assert.False(t, zero.IsZero(), "%s: %s reads as omitted", name, zeros[kind])
		assert.Equal(t, e.mayBeNull(name), isNull(null), "%s is null", name)
		assert.NotEqual(t, zero.Interface(), null.Interface(), "%s: null reads as %s", name, zeros[kind])
	}
}

// A value that does not fit a Nullable field is in Extra. The field is as if the value was omitted,
// for each earlier value of the field.
func TestNullableMisfits(t *testing.T) {
	for text, want := range map[string]ApplicationSettings{
		`{"home_page_url":7}`:                                {Extra: map[string]json.RawMessage{"home_page_url": json.RawMessage(`7`)}},
		`{"home_page_url":"x","home_page_url":{}}`:           {Extra: map[string]json.RawMessage{"home_page_url": json.RawMessage(`{}`)}},
		`{"home_page_url":"x","home_page_url":null}`:         {HomePageURL: Null[string]()},
		`{"home_page_url":null,"home_page_url":"x"}`:         {HomePageURL: Value("x")},
		`{"home_page_url":""}`:                               {HomePageURL: Value("")},
		`{"runner_token_expiration_interval":null}`:          {RunnerTokenExpirationInterval: Null[int]()},
		`{"runner_token_expiration_interval":0}`:             {RunnerTokenExpirationInterval: Value(0)},
		`{"runner_token_expiration_interval":7200.5}`:        {Extra: map[string]json.RawMessage{"runner_token_expiration_interval": json.RawMessage(`7200.5`)}},
		`{"default_project_visibility":"team"}`:              {DefaultProjectVisibility: "team"},
		`{"restricted_visibility_levels":["team","public"]}`: {RestrictedVisibilityLevels: []Visibility{"team", VisibilityPublic}},
		`{"whats_new_variant":"none"}`:                       {WhatsNewVariant: new(WhatsNewVariant("none"))},
	} {
		have, _, err := decodeText[ApplicationSettings](text)
		require.NoError(t, err)
		forgetBaseline(&have)
		assert.Equal(t, want, have, text)
	}
}
