package forge

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
)

// Settings and the options of integrations hold keys, tokens and webhooks. fmt and slog get the
// names of their fields, never a value. Format serves all verbs: a String method serves some, and
// fmt reads the fields, unexported ones included, for the others.

// setFields returns the type of a struct and the names of its fields that are set. Entries of maps
// without a field are listed with their keys.
func setFields(v any) string {
	var names []string
	value := reflect.ValueOf(v)
	for f, field := range value.Fields() {
		switch {
		case !f.IsExported() || field.IsZero():
		case f.Name == "Extra" || f.Name == "Params":
			for _, key := range slices.SortedFunc(slices.Values(field.MapKeys()), func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) }) {
				names = append(names, fmt.Sprintf("%s[%q]", f.Name, key))
			}
		case f.Name == "OnlyInGot", field.Kind() == reflect.Slice && field.Type().Elem().Implements(reflect.TypeFor[slog.LogValuer]()): // names
			names = append(names, fmt.Sprintf("%s: %v", f.Name, field.Interface()))
		default:
			names = append(names, f.Name)
		}
	}
	return value.Type().String() + "(" + strings.Join(names, ", ") + ")"
}

func writeNames(f fmt.State, v any) { _, _ = io.WriteString(f, setFields(v)) }
