package forge

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// settingRow is an entry of the catalogue, with methods for the values that its Go field must hold.
type settingRow catalogue.Setting

// kind returns the JSON type of a setting.
func (e settingRow) kind() string {
	kind := "boolean" // of a setting that only a condition names
	if e.Field != nil {
		kind, _, _ = strings.Cut(e.Field.Type, "<")
	} else if e.Param != nil {
		kind, _, _ = strings.Cut(e.Param.Type, "<")
	}
	return strings.NewReplacer("hash", "object", "text", "string").Replace(kind)
}

// isOfTier reports whether only some tiers have the setting.
func (e settingRow) isOfTier() bool {
	return slices.ContainsFunc([]*catalogue.SettingFacts{e.Field, e.Param}, func(s *catalogue.SettingFacts) bool {
		return s != nil && s.Only != nil && len(s.Only.Tiers) > 0
	})
}

// isSettable reports whether the options have the setting.
func (e settingRow) isSettable(name string) bool {
	return e.Param != nil || slices.Contains(catalogue.SettingDependencies(), name) || slices.Contains(catalogue.UnnamedSettings(), name)
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
	return strings.HasSuffix(name, "runner_token_expiration_interval") || e.Field != nil && e.Field.Nullable && (e.kind() == "string" || e.kind() == "integer")
}

// wantForm returns the required form of a setting's field in the document.
func (e settingRow) wantForm(name string) string {
	switch {
	case e.kind() == "array" || e.kind() == "object":
		return "plain" // nil means omitted
	case e.mayBeNull(name):
		return "a Nullable"
	case e.mayBeOmitted():
		return "a pointer"
	}
	return "plain"
}

// formOf returns the form of a field and the kind of the values that it holds.
func formOf(field reflect.Type) (form string, kind reflect.Kind) {
	switch {
	case field.Kind() == reflect.Pointer:
		return "a pointer", field.Elem().Kind()
	case strings.HasPrefix(field.Name(), "Nullable["):
		return "a Nullable", field.Field(0).Type.Kind()
	}
	return "plain", field.Kind()
}

// Every setting of the catalogue, and no other, has a field of its kind in the document, and every
// parameter has one in the options. The field of a setting that a response may omit can represent
// this. Exactly the settings that only some tiers have are marked so.
func TestSettingKinds(t *testing.T) {
	document, options := catalogue.JSONFields(reflect.TypeFor[ApplicationSettings]()), catalogue.JSONFields(reflect.TypeFor[UpdateSettingsOptions]())
	holds := map[string][]reflect.Kind{
		"boolean": {reflect.Bool}, "integer": {reflect.Int, reflect.Int64}, "number": {reflect.Float64}, "string": {reflect.String, reflect.Struct}, "array": {reflect.Slice}, "object": {reflect.Map, reflect.Struct},
	}
	settings, documented := catalogue.Settings(), map[string]int{}
	assert.Len(t, document, len(settings))
	for name, entry := range settings {
		e, s := settingRow(entry), settingNamed(name)
		require.Contains(t, document, name)
		form, kind := formOf(document[name])
		if name != "created_at" && name != "updated_at" {
			assert.Equal(t, e.wantForm(name), form, "ApplicationSettings: %s", name)
		}
		assert.Contains(t, holds[e.kind()], kind, "ApplicationSettings: %s", name)
		assert.True(t, kind != reflect.Slice || document[name].Elem().Kind() == reflect.String, name)
		assert.Equal(t, []any{e.kind(), e.isOfTier(), e.isSettable(name)}, []any{s.kind, s.isOfTier, s.isSettable}, name)
		for fact, is := range map[string]bool{"all": true, "settable": e.isSettable(name), "omitted": e.mayBeOmitted(), "tier": e.isOfTier(), "rate limits": strings.HasPrefix(name, "throttle_")} {
			if is && !e.Beyond {
				documented[fact]++
			}
		}
		if !e.isSettable(name) {
			continue
		}
		require.Contains(t, options, name)
		form, kind = formOf(options[name])
		assert.Contains(t, holds[e.kind()], kind, "UpdateSettingsOptions: %s", name)
		isPlain := kind != reflect.Bool && kind != reflect.Int && options[name] != reflect.TypeFor[string]()
		assert.True(t, isPlain || form != "plain", "UpdateSettingsOptions: the zero value of %s cannot be sent", name)
		assert.Equal(t, e.mayBeNull(name), form == "a Nullable", "UpdateSettingsOptions: %s", name)
		delete(options, name)
	}
	assert.Equal(t, map[string]int{"all": 142 + 96 + 1, "settable": 127 + 10 + 4, "omitted": 97 + 25, "tier": 23, "rate limits": 27}, documented)
	assert.Empty(t, options)
}
