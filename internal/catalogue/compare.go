package catalogue

import (
	"cmp"
	"maps"
	"reflect"
	"strings"
	"time"
)

// JSONFields returns the types of the fields of a struct by their JSON names.
func JSONFields(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && name == "" {
			maps.Copy(fields, JSONFields(field.Type))
		} else if name != "" && name != "-" {
			fields[name] = field.Type
		}
	}
	return fields
}

// WithoutZeros removes values that decode to zero, and normalizes the two forms of labels, the line
// breaks of Base64 and the fractions of times.
func WithoutZeros(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		members := map[string]any{}
		for name, member := range v {
			if member = WithoutZeros(name, member); member != nil {
				members[name] = member
			}
		}
		if len(members) > 0 {
			return members
		}
		return nil
	case []any:
		var items []any
		for _, item := range v {
			if name, isName := item.(string); isName && key == "labels" {
				item = map[string]any{"name": name}
			}
			items = append(items, WithoutZeros("", item))
		}
		if len(items) > 0 {
			return items
		}
		return nil
	case string:
		if key == "content" {
			v = strings.ReplaceAll(v, "\n", "")
		}
		if v == "" || v == "0001-01-01T00:00:00Z" {
			return nil
		}
		if at, err := time.Parse(time.RFC3339Nano, v); err == nil {
			return at.Format(time.RFC3339Nano)
		}
		return v
	case nil:
		return nil
	}
	if reflect.ValueOf(value).IsZero() {
		return nil
	}
	return value
}

// GoName returns the path of the Go fields for a wire name such as not[milestone] or iids[], or for
// the documents' name of a setting; without such a field, it returns the wire name.
func GoName(t reflect.Type, wire string) string {
	first, inner, nested := strings.Cut(strings.TrimSuffix(wire, "[]"), "[")
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return wire
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("url"), field.Tag.Get("json")), ",")
		switch {
		case name != ShownName(first):
		case nested:
			return field.Name + "." + GoName(field.Type, strings.Replace(inner, "]", "", 1))
		default:
			return field.Name
		}
	}
	return wire
}

// Service returns the field of a client that has the type of a service; nil if there is none.
func Service(client any, service reflect.Type) any {
	for field, value := range reflect.ValueOf(client).Elem().Fields() {
		if field.Type == service {
			return value.Interface()
		}
	}
	return nil
}

// BadSegments are arguments that a server, or a proxy in front of it, would read as another address
// than the caller intended.
var BadSegments = []string{
	"", " ", "\t", "\u00a0 ", ".", "..", "../b", "a/..", "a/../b", "a/./b", "./a", "%2e%2e", "%2E%2E", "%2e", ".%2e", "%2E.", "%2E/",
	"a/%2e%2e/b", "a%2F..%2Fb", "a%2f%2e%2e%2fb", "%2f", "a%2F", "%2Fa", "a%2f%2fb", "a\x00b", "a%00b", "a\nb", "a\rb", "a%0d%0ab", "a\x7fb",
	"a%7fb", "a\u0085b", "\xff", "a\xc3", "a//b", "/a", "a/", "/", "//", "a/b/", strings.Repeat("a", 2<<10+1),
}
