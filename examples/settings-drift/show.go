package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	forge "github.com/forge-sdk/forge-go"
)

// show prints the differences as a unified diff: one hunk for each setting, with the elements of
// lists and objects that only one side has.
func show(out io.Writer, name string, drift, unknown []forge.SettingDifference) {
	if len(drift) == 0 {
		fmt.Fprintln(out, "No drift: all settings of the file are in force.")
	} else {
		fmt.Fprintf(out, "--- the server\n+++ %s\n", name)
	}
	for _, d := range drift {
		fmt.Fprintf(out, "@@ %s @@\n", d.Name)
		have, want := lines(d, d.Got), lines(d, d.Want)
		gone, added := without(have, want), without(want, have)
		if len(gone)+len(added) == 0 { // another order, or a secret inside
			gone, added = have, want
		}
		for _, line := range gone {
			fmt.Fprintln(out, "-"+line)
		}
		for _, line := range added {
			fmt.Fprintln(out, "+"+line)
		}
	}
	for _, d := range unknown {
		fmt.Fprintf(out, "Unknown: %s is a secret, and the server does not show it.\n", d.Name)
	}
}

// without returns the lines that are not among others.
func without(all, others []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(line string) bool { return slices.Contains(others, line) })
}

// lines returns the lines of a value: the elements of a list or an object, or the value itself.
// Secrets are masked, because logs have many readers.
func lines(d forge.SettingDifference, value json.RawMessage) []string {
	if value == nil {
		return []string{"(not shown)"}
	}
	switch v := masked(d.Name, value).(type) {
	case []any:
		if len(v) == 0 {
			return []string{"[]"}
		}
		all := make([]string, len(v))
		for i, item := range v {
			all[i] = text(item)
		}
		return all
	case map[string]any:
		if len(v) == 0 {
			return []string{"{}"}
		}
		var all []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, key+": "+text(v[key]))
		}
		return all
	default:
		return []string{text(v)}
	}
}

// masked returns a value without the secrets in it.
func masked(name string, value json.RawMessage) any {
	if (forge.SettingDifference{Name: name}).Secret() {
		return json.RawMessage(`"(secret)"`)
	}
	var list []json.RawMessage
	var object map[string]json.RawMessage
	switch {
	case json.Unmarshal(value, &list) == nil && list != nil:
		all := make([]any, len(list))
		for i, item := range list {
			all[i] = masked("", item)
		}
		return all
	case json.Unmarshal(value, &object) == nil && object != nil:
		all := map[string]any{}
		for key, inner := range object {
			all[key] = masked(key, inner)
		}
		return all
	}
	return value
}

func text(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(data)
}
