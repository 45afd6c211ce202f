package main

import (
	"bytes"
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
		have, want := lines(d.Name, d.Got), lines(d.Name, d.Want)
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
func lines(name string, text json.RawMessage) (all []string) {
	if text == nil {
		return []string{"(not shown)"}
	}
	var value any
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(&value); err != nil {
		return []string{err.Error()}
	}
	value = masked(name, value)
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			all = append(all, encoded(item))
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			all = append(all, key+": "+encoded(v[key]))
		}
	}
	if all == nil { // a scalar, an empty list or object
		all = []string{encoded(value)}
	}
	return all
}

// masked returns a value without the secrets in it, because logs have many readers.
func masked(name string, value any) any {
	if (forge.SettingDifference{Name: name}).Secret() {
		return "(secret)"
	}
	switch v := value.(type) {
	case []any:
		for i := range v {
			v[i] = masked("", v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = masked(key, v[key])
		}
	}
	return value
}

func encoded(value any) string {
	text, _ := json.Marshal(value) // it was decoded from JSON
	return string(text)
}
