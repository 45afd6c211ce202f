package forgetest

import "slices"

// changes lists how responses deviate from the contract.
type changes struct {
	unknown []string // names that no object of the contract has
	retyped []string // names of fields that are sent with another type
}

// WithUnknownFields adds fields of these names to each JSON object of a successful response,
// including the items of lists and nested objects, as a later release of the server does. Their
// value is the string "new". Objects without a type in the contract do not get them: for example
// the properties of an integration, or the trailers of a commit, whose keys are data. CSV files get
// no columns. In responses of [Server.Handle], Documents get them.
func WithUnknownFields(names ...string) Option {
	return func(s *Server) { s.changes.unknown = append(s.changes.unknown, names...) }
}

// WithMismatchedTypes sends the fields of these names with a JSON type that differs from the
// contract, in each object of a successful response: true instead of an object or an array, and an
// empty object instead of any other value.
func WithMismatchedTypes(names ...string) Option {
	return func(s *Server) { s.changes.retyped = append(s.changes.retyped, names...) }
}

// appendUnknown writes the unknown fields of an object that already has n fields.
func (c *changes) appendUnknown(b []byte, n int) []byte {
	if c == nil {
		return b
	}
	for i, name := range c.unknown {
		if n+i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, name), `:"new"`...)
	}
	return b
}

// appendRetyped writes a field with a type that differs from the contract. It reports false, and
// writes nothing, for a field that keeps its type.
func (c *changes) appendRetyped(b []byte, f *field) ([]byte, bool) {
	if c == nil || !slices.Contains(c.retyped, f.Name) {
		return b, false
	}
	switch f.Type {
	case "object", "hash", "array", "array<string>":
		return append(b, "true"...), true
	}
	return append(b, "{}"...), true
}
