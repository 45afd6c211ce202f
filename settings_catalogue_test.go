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

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

// catalogueSetting is what the contract says of a setting in one place.
type catalogueSetting struct {
	Name, Type string
	Nullable   bool
	Only       json.RawMessage
	Items      struct{ Type string }
}

// settingEntry is a setting: in responses, in the update, or in both. Neither: a condition names it.
type settingEntry struct{ field, param *catalogueSetting }

// settingEntries are all settings of the contract, by the names of this package.
func settingEntries(t *testing.T) map[string]settingEntry {
	t.Helper()
	var types map[string]struct{ Fields []*catalogueSetting }
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/types.json"), &types))
	var endpoints []struct {
		ID   string
		Body []*catalogueSetting `json:"body_params"`
	}
	require.NoError(t, json.Unmarshal(readFixture(t, "spec/endpoints.json"), &endpoints))
	entries := map[string]settingEntry{}
	for _, field := range types["ApplicationSettings"].Fields {
		entries[shownName(field.Name)] = settingEntry{field: field}
	}
	for _, e := range endpoints {
		if e.ID == "settings.update" {
			for _, param := range e.Body {
				entries[param.Name] = settingEntry{entries[param.Name].field, param}
			}
		}
	}
	for _, name := range settingDependencies() {
		entries[name] = settingEntry{entries[name].field, entries[name].param}
	}
	return entries
}

// settingsBeyondResponses are the settings that the contract does not show in responses.
func settingsBeyondResponses(t *testing.T) (names []string) {
	t.Helper()
	for name, e := range settingEntries(t) {
		if e.field == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// kind is the JSON type of a setting's values, and of the elements of a list.
func (e settingEntry) kind() (kind reflect.Kind, element reflect.Kind) {
	of := e.field
	if of == nil {
		of = e.param
	}
	if of == nil {
		return reflect.Bool, reflect.Invalid // of a setting that a condition names
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

// mayBeOmitted reports whether a response may lack the setting: it is an update's, a tier's or a release's.
func (e settingEntry) mayBeOmitted() bool {
	isLimited := func(s *catalogueSetting) bool { return s != nil && s.Only != nil && string(s.Only) != "null" }
	return e.field == nil || isLimited(e.field) || isLimited(e.param)
}

// clearedByNull are the update's settings for which deployed servers give null a meaning. The contract is silent.
func clearedByNull() []string {
	return []string{"group_runner_token_expiration_interval", "project_runner_token_expiration_interval", "runner_token_expiration_interval"}
}

// mayBeNull reports whether null is a value of the setting: not of booleans, whose null is false.
func (e settingEntry) mayBeNull(name string) bool {
	kind, _ := e.kind()
	return slices.Contains(clearedByNull(), name) || e.field != nil && e.field.Nullable && (kind == reflect.String || kind == reflect.Int)
}

// The forms that a field of a setting may have.
const (
	plainForm    = "plain"
	pointerForm  = "a pointer"
	nullableForm = "a Nullable"
)

// settingForm takes a field's type apart.
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
func (e settingEntry) hasKind(value reflect.Type) bool {
	kind, element := e.kind()
	switch {
	case value.Kind() == reflect.Int64 && kind == reflect.Int, value == reflect.TypeFor[BranchProtectionDefaults]() && kind == reflect.Map:
		return true
	case value.Kind() == reflect.Slice && kind == reflect.Slice:
		return value.Elem().Kind() == element
	}
	return value.Kind() == kind && (kind != reflect.String || value != reflect.TypeFor[json.RawMessage]())
}

// wantForm is the form of a setting's field on the document.
func (e settingEntry) wantForm(name string) string {
	kind, _ := e.kind()
	switch {
	case kind == reflect.Slice || kind == reflect.Map:
		return plainForm // nil is omitted
	case e.mayBeNull(name):
		return nullableForm
	case e.mayBeOmitted():
		return pointerForm
	}
	return plainForm
}

// Every setting of the contract has a field of its kind on the document, and every parameter has one on the options. A field
// of a setting that a response may omit can hold that.
func TestSettingKinds(t *testing.T) {
	document, options := jsonFields(reflect.TypeFor[ApplicationSettings]()), jsonFields(reflect.TypeFor[UpdateSettingsOptions]())
	entries := settingEntries(t)
	require.Len(t, entries, 142+96+1)
	omitted := 0
	for name, e := range entries {
		if e.field != nil && (name == "created_at" || name == "updated_at") {
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
		if field = options[name]; e.param == nil && !slices.Contains(settingDependencies(), name) && !slices.Contains(unnamedSettings(), name) {
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

// Zero, null and nothing are told apart in every setting that a response may omit, and null in every setting that may be null.
func TestSettingsTellAbsentFromZero(t *testing.T) {
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
	entries := settingEntries(t)
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e := entries[name]
		if !e.mayBeOmitted() && !e.mayBeNull(name) {
			continue
		}
		kind, _ := e.kind()
		goName := fieldOf(reflect.TypeFor[ApplicationSettings](), name)
		zero := read(fmt.Sprintf(`{%q:%s}`, name, zeros[kind])).FieldByName(goName)
		null := read(fmt.Sprintf(`{%q:null}`, name)).FieldByName(goName)
		assert.False(t, zero.IsZero(), "%s: %s reads as omitted", name, zeros[kind])
		assert.Equal(t, e.mayBeNull(name), isNull(null), "%s is null", name)
		assert.NotEqual(t, zero.Interface(), null.Interface(), "%s: null reads as %s", name, zeros[kind])
	}
}

// A value that a Nullable field cannot take is in Extra, and the field is as if it was omitted, whatever came before.
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
