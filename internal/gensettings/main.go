// Gensettings writes zz_settings.go: the structs ApplicationSettings and UpdateSettingsOptions, and
// the table of names. internal/catalogue/settings.json is the single source: add a row there, and
// run go generate. settings.go.tmpl has the comments of the structs.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"go/format"
	"log"
	"maps"
	"os"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/forge-sdk/forge-go/internal/catalogue"
)

const output = "zz_settings.go"

//go:embed settings.go.tmpl
var file string

func main() {
	log.SetFlags(0)
	log.SetPrefix("gensettings: ")
	source, err := generate(catalogue.SettingGroups())
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(output, source, 0o644); err != nil {
		log.Fatal(err)
	}
}

// settings are the rows by their names in JSON.
type settings map[string]catalogue.SettingRow

// generate returns the text of the output file.
func generate(groups []catalogue.SettingGroup) ([]byte, error) {
	all := settings{}
	for _, g := range groups {
		for _, r := range g.Settings {
			if _, twice := all[r.Key()]; twice {
				return nil, fmt.Errorf("two rows have the name %q", r.Key())
			}
			all[r.Key()] = r
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if err := all.check(all[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	text, err := template.New(output).Parse(file)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = text.Execute(&out, map[string]string{"Document": fields(groups, documentField), "Options": fields(groups, all.optionsField), "Table": all.table()})
	if err != nil {
		return nil, err
	}
	return format.Source(out.Bytes())
}

// check rejects a row that lacks a column, or that names a setting without a row.
func (all settings) check(r catalogue.SettingRow) error {
	switch {
	case r.Go == "" || r.Key() == "" || r.Type == "" || r.Doc == "":
		return errors.New("it needs go, contract or gitlab, type and doc")
	case r.Access != "" && r.Access != "read" && r.Access != "update":
		return fmt.Errorf("there is no access %q", r.Access)
	case r.Alias && len(r.ReplacedBy) != 1:
		return errors.New("one setting replaces an alias")
	}
	for _, name := range slices.Concat(r.Needs, r.ReplacedBy) {
		if _, known := all[name]; !known {
			return fmt.Errorf("there is no setting %q", name)
		}
	}
	return nil
}

// fields returns the fields of a struct, in groups. field returns one; empty for a setting without.
func fields(groups []catalogue.SettingGroup, field func(catalogue.SettingRow) string) string {
	var out strings.Builder
	for _, g := range groups {
		heading := comment(g.Title) + "\n"
		for _, r := range g.Settings {
			if text := field(r); text != "" {
				out.WriteString(heading + text)
				heading = ""
			}
		}
		out.WriteString("\n")
	}
	return strings.TrimSpace(out.String()) + "\n"
}

// documentField returns the field of ApplicationSettings. A value that a response may omit is a
// pointer; slices and maps can be nil.
func documentField(r catalogue.SettingRow) string {
	typ, more := r.Type, r.DocRead
	switch {
	case r.Nullable:
		typ = "Nullable[" + typ + "]"
	case r.MayBeOmitted() && r.Kind() != "array" && r.Kind() != "object":
		typ = "*" + typ
	}
	if more == "" && r.Access == "update" {
		more = "Update only."
	}
	return field(r, more, typ, "")
}

// optionsField returns the field of UpdateSettingsOptions. A value whose zero has a meaning is a
// pointer; a slice or a map that is empty is sent, and one that is nil is not.
func (all settings) optionsField(r catalogue.SettingRow) string {
	typ, omit, clears := r.Type, ",omitempty", ""
	switch {
	case r.Access == "read":
		return ""
	case r.Nullable:
		typ, omit = "Nullable["+typ+"]", ",omitzero"
	case r.Kind() == "array":
		omit, clears = ",omitzero", "An empty slice clears it."
	case r.Kind() == "object":
		typ, omit, clears = strings.Replace(typ, "json.RawMessage", "any", 1), ",omitzero", "An empty map clears it."
	case slices.Contains([]string{"bool", "int", "int64", "float64", "string"}, typ):
		typ = "*" + typ
	}
	return field(r, sentences(all.companions(r), clears, r.DocUpdate), typ, omit)
}

// companions returns the sentences about the settings that r requires, and those that require r.
// Only servers of a tier require its settings.
func (all settings) companions(r catalogue.SettingRow) string {
	var needs, ofTier, neededBy []string
	for _, name := range r.Needs {
		if all[name].Tier == "" {
			needs = append(needs, all[name].Go)
		} else {
			ofTier = append(ofTier, all[name].Go)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if slices.Contains(all[name].Needs, r.Key()) {
			neededBy = append(neededBy, all[name].Go)
		}
	}
	var requires, required string
	if len(needs) > 0 {
		requires = "True requires " + list(needs)
		if len(ofTier) > 0 {
			requires += " and, on Premium and Ultimate, " + list(ofTier)
		}
		requires += "."
	}
	if len(neededBy) > 0 {
		required = "Required by " + list(neededBy) + "."
		if r.Tier != "" {
			required = list(neededBy) + " requires it on these tiers."
		}
	}
	return sentences(requires, required)
}

// field returns a field with its comment. omit is the option of the tag.
func field(r catalogue.SettingRow, more, typ, omit string) string {
	tier, since := r.Tier, r.Since
	if tier != "" {
		tier += "."
	}
	if since != "" {
		since = "Since " + since + "."
	}
	text := comment(sentences(r.Go, r.Doc, tier, since, more))
	if r.Deprecated != "" {
		text += "//\n" + comment("Deprecated: "+r.Deprecated)
	}
	return fmt.Sprintf("%s%s %s `json:\"%s%s\"`\n", text, r.Go, typ, r.Key(), omit)
}

// table returns the rows of the table of names, sorted by name.
func (all settings) table() string {
	other := map[string]string{}
	for name, r := range all {
		if r.Alias {
			other[name], other[r.ReplacedBy[0]] = r.ReplacedBy[0], name
		}
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r := all[name]
		fmt.Fprintf(&out, "{name: %q, field: %q, kind: %q", name, r.Go, r.Kind())
		for _, column := range []struct {
			set  bool
			text string
		}{
			{r.IsStruct(), "isStruct: true"},
			{r.Access != "read", "isSettable: true"},
			{r.IsUnnamed(), "isUnnamed: true"},
			{r.Tier != "", "isOfTier: true"},
			{r.Alias, "isAlias: true"},
			{other[name] != "", fmt.Sprintf("other: %q", other[name])},
			{r.Needs != nil, fmt.Sprintf("needs: %#v", r.Needs)},
			{r.ReplacedBy != nil, fmt.Sprintf("replacedBy: %#v", r.ReplacedBy)},
		} {
			if column.set {
				out.WriteString(", " + column.text)
			}
		}
		out.WriteString("},\n")
	}
	return out.String()
}

// list joins names: A, B and C.
func list(names []string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

// sentences joins texts that are not empty.
func sentences(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), " ")
}

// comment returns a comment with lines of at most 100 columns, the tab counting as two.
func comment(text string) string {
	var out strings.Builder
	line := "//"
	for word := range strings.FieldsSeq(text) {
		if utf8.RuneCountInString(line+" "+word) > 98 {
			out.WriteString(line + "\n")
			line = "//"
		}
		line += " " + word
	}
	return out.String() + line + "\n"
}
