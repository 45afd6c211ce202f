package forgetest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// root returns the name of a parameter without the brackets of arrays and hashes.
func (p parameter) root() string {
	root, _ := strings.CutSuffix(p.baseName(), "[<key>]")
	return root
}

// misplaced reports whether a wire name sends the parameter as an array or a hash although it is
// neither: keep_n[] for keep_n.
func (p parameter) misplaced(wire string) bool {
	return p.Type != "hash" && !p.covers(wire) && strings.HasPrefix(wire, p.baseName()+"[")
}

// hasWrongType reports whether a parameter was sent with a wrong type (Document 1 §7). In the query
// of a read, such a name is not a parameter of the endpoint and is ignored.
func (c *call) hasWrongType(p parameter) bool {
	if value, inBody := c.inBody(p.root()); inBody && !p.accepts(value) {
		return true
	}
	for wire := range c.params {
		if p.misplaced(wire) {
			return true
		}
	}
	return false
}

// emptyProblem describes why an empty value is invalid; "" if it is valid. No enum includes the
// empty value. A write accepts an empty text; for other types it accepts an empty value if the
// field of the response may be null. In the query of a read an empty value is not a filter.
func (c *call) emptyProblem(p parameter) string {
	switch {
	case !slices.Contains(c.params[p.Wire], ""):
	case len(p.Enum) > 0:
		return " does not have a valid value"
	case c.r.Method != http.MethodGet && slices.Contains([]string{"boolean", "integer", "datetime"}, p.Type) && !c.nullable(p.Name):
		return " is invalid"
	}
	return ""
}

// nullable reports whether the response has a field of that name that may be null.
func (c *call) nullable(name string) bool {
	s := catalogue().shapes[c.route.endpoint.Response.Type]
	if s == nil {
		return false
	}
	i, found := s.index[name]
	return found && s.fields[i].acceptsNull()
}

// inBody finds the value of a parameter, or of a key in a hash parameter ("not[iids]"), in a JSON
// body.
func (c *call) inBody(name string) (value any, found bool) {
	name, key, isKey := strings.Cut(name, "[")
	value, found = c.object[name]
	if isKey {
		hash, _ := value.(map[string]any)
		value, found = hash[strings.TrimSuffix(key, "]")]
	}
	return value, found
}

// accepts reports whether a JSON value has a type that the parameter can have. Numbers, booleans
// and lists may be text, as in a form; the values themselves are checked later. Null counts as
// absent, except for a boolean: requests send only true or false (Document 1 §2.1 rule 3).
func (p parameter) accepts(value any) bool {
	item, isArray := strings.CutPrefix(p.Type, "array<") // "integer>" or "string>"
	switch v := value.(type) {
	case nil:
		return p.Type != "boolean"
	case []any:
		one := parameter{Type: item}
		return isArray && !slices.ContainsFunc(v, func(item any) bool { return item == nil || !one.accepts(item) })
	case map[string]any:
		return p.Type == "hash"
	case bool:
		return p.Type == "boolean"
	case json.Number:
		return strings.Contains(p.Type, "integer")
	}
	return p.Type != "hash"
}
