package forge_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	forge "github.com/forge-sdk/forge-go"
)

// The files settings_model_*_test.go are a model of settings and of a server that keeps them,
// written from the documents (document 3 §2.1 and §4.1, the catalogue, the design) and not from the
// code of the library. They use only its public API. settings_property_test.go compares the model
// with the library.

// settingFact has the facts of the documents about a setting, and the library's fields for it.
type settingFact struct {
	name  string
	kind  string // JSON type: boolean, integer, number, string, array, object
	param bool   // documented parameter of the update
	shown bool   // documented field of the response
	tiers []string

	offerings []string
	enum      []string
	field     int // index in forge.ApplicationSettings, -1 without a field
}

// catalogueSetting is a parameter or a field of the catalogue.
type catalogueSetting struct {
	Name string   `json:"name"`
	Type string   `json:"type"`
	Enum []string `json:"enum"`
	Only *struct {
		Tiers     []string `json:"tiers"`
		Offerings []string `json:"offerings"`
	} `json:"only"`
	Requires     []string `json:"requires"`
	RequiredWhen string   `json:"required_when"`
}

// unnamedSettings are the names of the deployed product for settings that document 3 describes
// without a name, in the order of the catalogue.
var unnamedSettings = []string{
	"plantuml_enabled", "plantuml_url", "diagramsnet_enabled", "diagramsnet_url", "kroki_enabled", "kroki_url",
	"jira_connect_application_key", "jira_connect_public_key_storage_enabled", "jira_connect_proxy_url", "jira_connect_additional_audience_url",
}

// settingAliases are pairs of names of one setting: the old name, and the new one.
var settingAliases = map[string]string{
	"admin_notification_email":                     "abuse_notification_email",
	"allow_local_requests_from_hooks_and_services": "allow_local_requests_from_web_hooks_and_services",
	"signin_enabled":                               "password_authentication_enabled_for_web",
	"asset_proxy_whitelist":                        "asset_proxy_allowlist",
}

// settingReplacements are deprecated settings and their replacements. Both are separate settings.
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
	"antispam_api_key", "chatapp_secret", "chatapp_signing_secret", "chatapp_verification_token", "spam_check_api_key",
	"external_pipeline_validation_service_token", "asset_proxy_secret_key", "elasticsearch_password",
}

// identitySettings are fields of the object that are not settings.
var identitySettings = []string{"id", "created_at", "updated_at"}

// settingFacts has the facts of the documents, which are read once.
type settingFacts struct {
	byName     map[string]*settingFact
	names      []string            // sorted
	companions map[string][]string // settings that are required to enable a setting
}

var readSettingFacts = sync.OnceValues(func() (*settingFacts, error) {
	var endpoints []struct {
		ID     string             `json:"id"`
		Params []catalogueSetting `json:"body_params"`
	}
	var types map[string]json.RawMessage
	var response struct {
		Fields []catalogueSetting `json:"fields"`
	}
	for name, into := range map[string]any{"endpoints": &endpoints, "types": &types} {
		text, err := os.ReadFile("internal/catalogue/" + name + ".json")
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := json.Unmarshal(types["ApplicationSettings"], &response); err != nil {
		return nil, err
	}
	facts := &settingFacts{byName: map[string]*settingFact{}, companions: map[string][]string{}}
	words := unnamedSettings
	for _, field := range response.Fields {
		if strings.HasPrefix(field.Name, "<") {
			field.Name, words = words[0], words[1:]
		}
		if !slices.Contains(identitySettings, field.Name) {
			facts.add(&field).shown = true
		}
	}
	for _, e := range endpoints {
		if e.ID == "settings.update" {
			for _, param := range e.Params {
				facts.add(&param).param = true
			}
		}
	}
	// Document 3 §4.1.1 mentions it only as the setting that requires two_factor_grace_period.
	facts.add(&catalogueSetting{Name: "require_two_factor_authentication", Type: "boolean"})
	facts.names = slices.Sorted(maps.Keys(facts.byName))
	for setting, companions := range facts.companions {
		slices.Sort(companions)
		facts.companions[setting] = slices.Compact(companions)
	}
	return facts, nil
})

func settingsCatalogue(t require.TestingT) *settingFacts {
	facts, err := readSettingFacts()
	require.NoError(t, err)
	return facts
}

// add adds a parameter or a field. If both have a fact, that of the parameter is used.
func (f *settingFacts) add(c *catalogueSetting) *settingFact {
	s := f.byName[c.Name]
	if s == nil {
		s = &settingFact{name: c.Name, field: jsonField(reflect.TypeFor[forge.ApplicationSettings](), c.Name)}
		f.byName[c.Name] = s
	}
	switch s.kind = c.Type; {
	case strings.HasPrefix(c.Type, "array"):
		s.kind = "array"
	case c.Type == "hash":
		s.kind = "object"
	case c.Type == "text":
		s.kind = "string"
	}
	if c.Only != nil {
		s.tiers, s.offerings = c.Only.Tiers, c.Only.Offerings
	}
	s.enum = c.Enum
	if len(c.Requires) > 0 {
		f.companions[c.Name] = append(f.companions[c.Name], c.Requires...)
	}
	if c.RequiredWhen != "" {
		f.companions[c.RequiredWhen] = append(f.companions[c.RequiredWhen], c.Name)
	}
	return s
}

// jsonField returns the index of the field of a struct with a wire name.
func jsonField(of reflect.Type, name string) int {
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Field(i).Tag.Get("json"), ","); tag == name {
			return i
		}
	}
	return -1
}

// The model has JSON values in the form of encoding/json, with json.Number.

func number(n int) json.Number { return json.Number(big.NewInt(int64(n)).String()) }

// readJSON returns the value of a text.
func readJSON(text []byte) (any, error) {
	var v any
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// writeJSON returns the text of a value.
func writeJSON(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// copyJSON returns a deep copy of v.
func copyJSON(v any) any {
	c, err := readJSON(writeJSON(v))
	if err != nil {
		panic(err)
	}
	return c
}

// sameJSON compares values: numbers by their value, objects without an order.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		other, ok := b.(json.Number)
		x, xOK := new(big.Rat).SetString(a.String())
		y, yOK := new(big.Rat).SetString(other.String())
		return ok && (a == other || xOK && yOK && x.Cmp(y) == 0)
	case []any:
		other, ok := b.([]any)
		return ok && slices.EqualFunc(a, other, sameJSON)
	case map[string]any:
		other, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, other, sameJSON)
	}
	return reflect.DeepEqual(a, b)
}

// blank reports whether a value is equal to null when settings are compared after they were read
// back.
func blank(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case bool:
		return !v
	case string:
		return v == ""
	case []any:
		return len(v) == 0
	case map[string]any:
		return len(v) == 0
	}
	return false
}

// inForce reports whether the value that a server shows is the requested one.
func inForce(want, shown any) bool {
	if text, isText := shown.(string); isText { // the deployed product writes polling_interval_multiplier as "1.0"
		if n, isNumber := want.(json.Number); isNumber && json.Valid([]byte(text)) {
			return sameJSON(n, json.Number(text))
		}
	}
	return sameJSON(want, shown) || want == nil && blank(shown) || shown == nil && blank(want)
}

func isSecretSetting(name string) bool { return slices.Contains(secretSettings, name) }

// TestSettingFacts checks that the model has the settings of the documents.
func TestSettingFacts(t *testing.T) {
	facts := settingsCatalogue(t)
	params, shown := 0, 0
	for _, s := range facts.byName {
		if s.param {
			params++
		}
		if s.shown {
			shown++
		}
	}
	require.Equal(t, []int{127, 139, 139 + 96 + 1}, []int{params, shown, len(facts.names)})
	for _, names := range []map[string][]string{settingReplacements, facts.companions} {
		for name, others := range names {
			for _, other := range append(others, name) {
				require.NotNil(t, facts.byName[other], other)
			}
		}
	}
}
