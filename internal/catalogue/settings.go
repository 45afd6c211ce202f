package catalogue

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// SettingRow is a setting in settings.json, from which internal/gensettings makes the fields of
// ApplicationSettings and UpdateSettingsOptions, and the table of names. Its comment in both is Go,
// Doc, and the sentences that follow from the other columns.
type SettingRow struct {
	Go         string   // name of the fields
	Contract   string   // the documents' word; <...> if they have none; empty for a setting beyond them
	GitLab     string   // GitLab's word, if it is another; the key in JSON
	Type       string   // in Go, without pointer and Nullable
	Nullable   bool     // null is a separate value
	Access     string   // "read" or "update" for a setting that only responses or only updates have
	Tier       string   // the only tiers that have it, as a sentence
	Since      string   // the release that introduced it, if a source names one
	Gone       string   // the first release without it
	Needs      []string // settings that an update requires if this one is true
	ReplacedBy []string `json:"replaced_by"`
	Alias      bool     // it is the old name of ReplacedBy: both have one value
	Deprecated string   // the paragraph of the comment, if it is deprecated
	Doc        string   // the comment after the name
	DocRead    string   `json:"doc_read"`   // more for the field of ApplicationSettings
	DocUpdate  string   `json:"doc_update"` // more for the field of UpdateSettingsOptions
}

// SettingGroup is a group of settings with a heading.
type SettingGroup struct {
	Title    string
	Settings []SettingRow
}

// SettingGroups returns the settings in the order of the fields. It panics if a row has a key that
// SettingRow lacks.
func SettingGroups() []SettingGroup { return settingGroups() }

var settingGroups = sync.OnceValue(func() []SettingGroup {
	file, err := files.Open("settings.json")
	var all struct{ Groups []SettingGroup }
	if err == nil {
		decoder := json.NewDecoder(file)
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&all)
	}
	if err != nil {
		panic("catalogue: settings.json: " + err.Error())
	}
	return all.Groups
})

// SettingRows returns the settings without the groups.
func SettingRows() (rows []SettingRow) {
	for _, g := range SettingGroups() {
		rows = append(rows, g.Settings...)
	}
	return rows
}

// SettingWords returns GitLab's words by those of the documents, where they differ.
func SettingWords() map[string]string {
	words := map[string]string{}
	for _, r := range SettingRows() {
		if r.GitLab != "" && r.Contract != "" {
			words[r.Contract] = r.GitLab
		}
	}
	return words
}

// Key returns the name in the JSON of this package.
func (r SettingRow) Key() string { return cmp.Or(r.GitLab, r.Contract) }

// Neutral returns the documents' word, if it is another.
func (r SettingRow) Neutral() string {
	if r.GitLab == "" || r.IsUnnamed() {
		return ""
	}
	return r.Contract
}

// IsUnnamed reports whether the contract describes the setting without a name.
func (r SettingRow) IsUnnamed() bool { return strings.HasPrefix(r.Contract, "<") }

// MayBeOmitted reports whether a response may lack the setting.
func (r SettingRow) MayBeOmitted() bool {
	return r.Contract == "" || r.Access == "update" || r.Tier != "" || r.Since != ""
}

// Kind returns the JSON type. A named type is a string, except for the one struct.
func (r SettingRow) Kind() string {
	if strings.HasPrefix(r.Type, "[]") {
		return "array"
	}
	if strings.HasPrefix(r.Type, "map[") || r.IsStruct() {
		return "object"
	}
	kinds := map[string]string{"bool": "boolean", "int": "integer", "int64": "integer", "float64": "number"}
	return cmp.Or(kinds[r.Type], "string")
}

// IsStruct reports whether the type is a struct of the package.
func (r SettingRow) IsStruct() bool { return r.Type == "BranchProtectionDefaults" }

// seenIn is the release in which settings beyond the documents were seen, for those whose first
// release no source names.
const seenIn = "19.5"

// settingsBeyond returns the settings beyond the documents in the form of the fields in types.json.
func settingsBeyond() json.RawMessage {
	type only struct {
		Introduced string `json:"introduced"`
	}
	fields := []any{}
	for _, r := range SettingRows() {
		if r.Contract == "" {
			fields = append(fields, map[string]any{"name": r.Key(), "type": r.Kind(), "nullable": r.Nullable, "only": only{cmp.Or(r.Since, seenIn)}})
		}
	}
	text, _ := json.Marshal(fields) // plain values
	return text
}

// UnnamedSettings returns the settings that the contract describes without a name, sorted.
func UnnamedSettings() (names []string) {
	for _, r := range SettingRows() {
		if r.IsUnnamed() {
			names = append(names, r.Key())
		}
	}
	slices.Sort(names)
	return names
}

// SettingDependencies returns the settings that a condition or a deprecation of the contract names,
// but not its list of parameters.
func SettingDependencies() []string {
	return []string{"delete_unconfirmed_users", "enforce_terms", "password_authentication_enabled_for_web", "require_two_factor_authentication"}
}

// ShownName returns GitLab's name of a setting that the catalogue lists under a documents' name.
func ShownName(name string) string { return cmp.Or(settingWords()[name], name) }

var settingWords = sync.OnceValue(SettingWords)

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

// showNames replaces the documents' names of the settings that s refers to by GitLab's.
func (s *SettingFacts) showNames() {
	s.Name, s.RequiredWhen = ShownName(s.Name), ShownName(s.RequiredWhen)
	for i, name := range s.Requires {
		s.Requires[i] = ShownName(name)
	}
}

// Setting is a setting in responses, in the update, or in both. If both are nil, only a condition
// names it.
type Setting struct {
	Field, Param *SettingFacts
	Beyond       bool // the documents lack it
}

// Settings returns all settings, by the names of this package.
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
				name := ShownName(param.Name)
				param.showNames()
				entries[name] = Setting{Field: entries[name].Field, Param: param}
			}
		}
	}
	for _, name := range SettingDependencies() {
		if _, known := entries[name]; !known {
			entries[name] = Setting{}
		}
	}
	settable := SettingsBeyond()
	for _, field := range Fields[*SettingFacts]()["ApplicationSettings"] {
		entries[field.Name] = Setting{Field: field, Beyond: true}
		if slices.Contains(settable, field.Name) {
			entries[field.Name] = Setting{Field: field, Param: field, Beyond: true}
		}
	}
	return entries
}

// SettingsBeyond returns the settings beyond the documents that an update can set.
func SettingsBeyond() (names []string) {
	for _, r := range SettingRows() {
		if r.Contract == "" && r.Access != "read" {
			names = append(names, r.Key())
		}
	}
	return names
}
