package forgetest

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// setting returns a parameter in any of its encodings. In a form or a query every type is text.
func (c *call) setting(name string) (value any, given bool) {
	if value, given = c.object[name]; given {
		return value, true
	}
	if values := c.params[name]; len(values) == 1 {
		return values[0], true
	}
	if list := slices.Concat(c.params[name], c.params[name+"[]"]); len(list) > 0 { // a name that occurs twice is a list, too
		items := []any{}
		for _, item := range list {
			if item != "" {
				items = append(items, item)
			}
		}
		return items, true
	}
	hash := map[string]any{}
	for wire, values := range c.params {
		if key, found := strings.CutPrefix(wire, name+"["); found {
			hash[strings.TrimSuffix(key, "]")] = values[0] // the key of a deeper level contains brackets
		}
	}
	return hash, len(hash) > 0
}

// parse converts a JSON value, or the text of a form, to the type in which documents store the
// field. Numbers, booleans and lists may be text in JSON too, as in the bodies of all endpoints:
// see [parameter.accepts]. fits is false for a wrong type, and for null if the contract does not
// allow it: requests send only true or false (Document 1 §2.1).
func (f *field) parse(value any) (parsed any, fits bool) {
	switch v := value.(type) {
	case nil:
		return nil, f.acceptsNull()
	case string:
		return f.parseText(v)
	case bool:
		return v, f.Type == "boolean"
	case json.Number:
		return f.parseNumber(v.String())
	case []any:
		return f.parseItems(v)
	case map[string]any:
		return f.parseHash(v)
	}
	return nil, false
}

// acceptsNull reports whether a request may send null: for a field that may be null in responses,
// and for a text that only requests have and that has no enum.
func (f *field) acceptsNull() bool { return f.Type != "boolean" && (f.Nullable || f.blank) }

func (f *field) parseText(s string) (any, bool) {
	switch f.Type {
	case "boolean":
		s = orElse(deployedBooleans[s], s)
		return s == "true", s == "true" || s == "false"
	case "integer", "number":
		if s == "" {
			return nil, f.acceptsNull()
		}
		return f.parseNumber(s)
	case "array":
		items := strings.Split(s, ",")
		return slices.DeleteFunc(items, func(v string) bool { return v == "" }), true
	}
	return s, f.Type == "string"
}

func (f *field) parseNumber(s string) (any, bool) {
	switch f.Type {
	case "integer":
		return parseID(s)
	case "number":
		n, err := strconv.ParseFloat(s, 64)
		return n, err == nil && !math.IsNaN(n) && !math.IsInf(n, 0)
	}
	return nil, false
}

// parseItems converts a list. Items without a type in the contract stay unchanged.
func (f *field) parseItems(items []any) (any, bool) {
	if f.Items != nil && f.Items.Ref != "" {
		items = slices.Clone(items)
		for i, item := range items {
			one, fits := (&field{Type: "object", Ref: f.Items.Ref}).parse(item)
			if !fits {
				return nil, false
			}
			items[i] = one
		}
	}
	if f.Items != nil && f.Items.Type == "string" {
		for _, item := range items {
			if _, isText := item.(string); !isText {
				return nil, false
			}
		}
	}
	return items, f.Type == "array"
}

// parseHash converts an object. Values without a type in the contract stay unchanged.
func (f *field) parseHash(hash map[string]any) (any, bool) {
	if f.Type != "object" && f.Type != "hash" {
		return nil, false
	}
	parsed := make(map[string]any, len(hash))
	for key, value := range hash {
		if strings.Contains(key, "[") || strings.Contains(key, "]") {
			return nil, false // this form has no deeper levels
		}
		if typed := f.keyField(key); typed != nil {
			one, fits := typed.parse(value)
			if !fits {
				return nil, false
			}
			parsed[key] = one
			continue
		}
		parsed[key] = value
	}
	return parsed, true
}

// keyField returns the contract's type for a key of an object; nil if there is none.
func (f *field) keyField(key string) *field {
	if f.Values != nil {
		return &field{Type: f.Values.Type}
	}
	if f.Ref == "" {
		return nil
	}
	kind := catalogue().shapes[f.Ref]
	if i, known := kind.index[key]; known {
		return kind.fields[i]
	}
	return nil
}
