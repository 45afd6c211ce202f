package catalogue

import (
	"strings"
)

// UnnamedSettings returns the settings that the contract describes without a name, sorted.
func UnnamedSettings() []string {
	return []string{"diagramsnet_enabled", "diagramsnet_url", "jira_connect_additional_audience_url", "jira_connect_application_key", "jira_connect_proxy_url",
		"jira_connect_public_key_storage_enabled", "kroki_enabled", "kroki_url", "plantuml_enabled", "plantuml_url"}
}

// SettingDependencies returns the settings that a condition or a deprecation of the contract names,
// but not its list of parameters.
func SettingDependencies() []string {
	return []string{"delete_unconfirmed_users", "enforce_terms", "password_authentication_enabled_for_web", "require_two_factor_authentication"}
}

// ShownName returns the JSON name of a field that the catalogue lists under a placeholder.
func ShownName(name string) string {
	switch name {
	case "<issue_tracker_connect: application key>":
		return "jira_connect_application_key"
	case "<issue_tracker_connect: public-key-storage flag>":
		return "jira_connect_public_key_storage_enabled"
	case "<issue_tracker_connect: proxy URL>":
		return "jira_connect_proxy_url"
	case "<issue_tracker_connect: additional audience URL>":
		return "jira_connect_additional_audience_url"
	}
	return strings.NewReplacer("<diagram1>", "plantuml", "<diagram2>", "diagramsnet", "<diagram3>", "kroki").Replace(name)
}

// SettingFacts describes a setting according to one part of the contract.
type SettingFacts struct {
	Name, Type   string
	Nullable     bool
	Only         *struct{ Tiers []string }
	Requires     []string        // settings that are required if this one is true
	RequiredWhen string          `json:"required_when"` // the setting that requires this one
	Needs        map[string]bool // values of other settings without which this one has no effect
	Deprecated   struct{ Use string }
}

// Setting is a setting in responses, in the update, or in both. If both are nil, only a condition
// names it.
type Setting struct{ Field, Param *SettingFacts }

// Settings returns all settings of the contract, by the names of this package.
func Settings() map[string]Setting {
	entries := map[string]Setting{}
	for _, field := range Types[struct{ Fields []*SettingFacts }]()["ApplicationSettings"].Fields {
		entries[ShownName(field.Name)] = Setting{Field: field}
	}
	for _, e := range Rows[struct {
		ID   string
		Body []*SettingFacts `json:"body_params"`
	}]() {
		if e.ID == "settings.update" {
			for _, param := range e.Body {
				entries[param.Name] = Setting{entries[param.Name].Field, param}
			}
		}
	}
	for _, name := range SettingDependencies() {
		entries[name] = Setting{entries[name].Field, entries[name].Param}
	}
	return entries
}
