package forge

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
)

// Settings and options of integrations hold keys, tokens and webhooks. fmt and slog get no value,
// at most the names of the fields that are set. Format serves all verbs: a String method serves
// some, and fmt reads the fields, unexported ones included, for the others.

// Redacted is embedded in options whose values may be secrets: fmt and slog print that they are not
// shown. It has no other effect, and composite literals omit it.
type Redacted struct{}

const redactedText = "(not shown: the values may be secrets)"

// Format writes that the values are not shown.
func (Redacted) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redactedText) }

// LogValue returns that the values are not shown.
func (Redacted) LogValue() slog.Value { return slog.StringValue(redactedText) }

// setFields returns the type of a struct and the names of its fields that are set. Entries of maps
// without a field are listed with their keys.
func setFields(v any) string {
	var names []string
	value := reflect.ValueOf(v)
	for f, field := range value.Fields() {
		switch {
		case !f.IsExported() || field.IsZero():
		case f.Name == "Extra":
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
