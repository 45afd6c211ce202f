package forge_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	forge "github.com/forge-sdk/forge-go"
	"github.com/forge-sdk/forge-go/internal/catalogue"
)

// The files helper_settings_model_*_test.go are a model of settings and of a server that stores
// them, written from the documents and not from the code of the library. They use only its public
// API. TestSettingsEdits compares the model with the library. The model has JSON values in the form
// of encoding/json.

// protectionSetting is the only setting whose field is a struct.
const protectionSetting = "default_branch_protection_defaults"

// settingAliases are deprecated names and the new names of the same settings.
var settingAliases = map[string]string{
	"admin_notification_email":                     "abuse_notification_email",
	"allow_local_requests_from_hooks_and_services": "allow_local_requests_from_web_hooks_and_services",
	"signin_enabled":                               "password_authentication_enabled_for_web",
	"asset_proxy_whitelist":                        "asset_proxy_allowlist",
}

// settingReplacements are deprecated settings and the separate settings that replace them.
var settingReplacements = map[string][]string{
	"housekeeping_full_repack_period":              {"housekeeping_optimize_repository_period"},
	"housekeeping_gc_period":                       {"housekeeping_optimize_repository_period"},
	"housekeeping_incremental_repack_period":       {"housekeeping_optimize_repository_period"},
	"throttle_unauthenticated_enabled":             {"throttle_unauthenticated_web_enabled", "throttle_unauthenticated_api_enabled"},
	"throttle_unauthenticated_period_in_seconds":   {"throttle_unauthenticated_web_period_in_seconds", "throttle_unauthenticated_api_period_in_seconds"},
	"throttle_unauthenticated_requests_per_period": {"throttle_unauthenticated_web_requests_per_period", "throttle_unauthenticated_api_requests_per_period"},
}

// secretSettings are keys, tokens, secrets and passwords.
var secretSettings = []string{
	"akismet_api_key", "slack_app_secret", "slack_app_signing_secret", "slack_app_verification_token", "spam_check_api_key", "jira_connect_application_key",
	"external_pipeline_validation_service_token", "asset_proxy_secret_key", "elasticsearch_password",
}

// unknownSettings are names that the documents do not have.
var unknownSettings = []string{"unknown_to_all", "x_unknown_2", "asset_proxy_secret_key", "elasticsearch_password"}

// settingFacts are the facts of the documents about settings.
type settingFacts struct {
	all        []string            // names, sorted
	kinds      map[string]string   // JSON types
	tiers      map[string]bool     // settings that only some tiers have
	settable   map[string]bool     // settings that an update can set
	fields     map[string]string   // Go fields
	companions map[string][]string // settings that are required to enable a setting
	groups     [][]string          // related settings
}

// settingsCatalogue reads the facts from the catalogue.
func settingsCatalogue(t *testing.T) *settingFacts {
	t.Helper()
	f := &settingFacts{kinds: map[string]string{}, tiers: map[string]bool{}, settable: map[string]bool{}, fields: map[string]string{}, companions: map[string][]string{}}
	for name, entry := range catalogue.Settings() {
		if name == "id" || name == "created_at" || name == "updated_at" {
			continue
		}
		f.all = append(f.all, name)
		f.fields[name] = catalogue.GoName(reflect.TypeFor[forge.ApplicationSettings](), name)
		f.kinds[name] = "boolean" // of a setting that only a condition names
		for _, s := range []*catalogue.SettingFacts{entry.Field, entry.Param} {
			if s != nil {
				kind, _, _ := strings.Cut(s.Type, "<")
				f.kinds[name] = cmp.Or(map[string]string{"hash": "object", "text": "string"}[kind], kind)
				f.tiers[name] = f.tiers[name] || s.Only != nil && len(s.Only.Tiers) > 0
			}
		}
		f.settable[name] = entry.Param != nil || slices.Contains(catalogue.SettingDependencies(), name) || slices.Contains(catalogue.UnnamedSettings(), name)
		if entry.Param != nil && entry.Param.RequiredWhen != "" {
			f.companions[entry.Param.RequiredWhen] = append(f.companions[entry.Param.RequiredWhen], name)
		}
	}
	slices.Sort(f.all)
	for _, old := range slices.Sorted(maps.Keys(settingAliases)) { // the first groups are drawn most
		f.groups = append(f.groups, []string{old, settingAliases[old]})
	}
	for _, related := range []map[string][]string{settingReplacements, f.companions} {
		for _, name := range slices.Sorted(maps.Keys(related)) {
			f.groups = append(f.groups, append([]string{name}, related[name]...))
		}
	}
	f.groups = append(f.groups, []string{protectionSetting}, []string{"repository_storages_weighted", "sign_in_restrictions"}, []string{"domain_allowlist", "runner_token_expiration_interval"})
	return f
}

// underOtherName converts a value to the form that it has under the other name of a setting. Only
// signin_enabled has another form.
func underOtherName(name string, v any) any {
	switch {
	case name == "signin_enabled" && (v == true || v == false):
		return fmt.Sprint(v)
	case name == "password_authentication_enabled_for_web" && (v == "true" || v == "false"):
		return v == "true"
	}
	return v
}

// partnerOf returns the other name of a setting that has two names.
func partnerOf(name string) string {
	for old, use := range settingAliases {
		if name == use {
			return old
		}
	}
	return settingAliases[name]
}

// shownAs returns the value of a setting, which a server may show under either of two names.
func shownAs(name string, shown map[string]any) (v any, isShown bool) {
	if v, isShown = shown[name]; !isShown {
		v, isShown = shown[partnerOf(name)]
		v = underOtherName(name, v)
	}
	return v, isShown
}

// blank reports whether a server may write a value as null, and null as the value.
func blank(v any) bool {
	if v == nil || v == false || v == "" {
		return true
	}
	r := reflect.ValueOf(v)
	return (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) && r.Len() == 0
}

// sameValue compares two values of a setting.
func sameValue(name string, a, b any) bool {
	return reflect.DeepEqual(normal(name, a), normal(name, b))
}

// normal returns a value without blank keys if the field is a struct, in which an absent key is the
// same as a blank.
func normal(name string, v any) any {
	object, isObject := v.(map[string]any)
	if !isObject || name != protectionSetting {
		return v
	}
	rest := map[string]any{}
	for name, e := range object {
		if !blank(e) {
			rest[name] = e
		}
	}
	return rest
}

func normalized(values map[string]any) map[string]any {
	rest := map[string]any{}
	for name, v := range values {
		rest[name] = normal(name, v)
	}
	return rest
}

// inForce reports whether the value that a server shows is the wanted one.
func inForce(name string, want, shown any) bool {
	return sameValue(name, want, shown) || want == nil && blank(shown) || shown == nil && blank(want)
}

// readJSON returns the value of a text; a text that is not JSON is a value of its own.
func readJSON(text []byte) (v any) {
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return v
}

// writeJSON returns the text of a value, or the error of its methods.
func writeJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage(err.Error())
	}
	return text
}
