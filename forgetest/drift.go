package forgetest

import "slices"

// changes are the differences between responses and the contract.
type changes struct {
	unknown []string // names that no object of the contract has
	retyped []string // names of fields that are sent with another type
}

// WithUnknownFields adds fields of these names to each JSON object of a successful response, as a
// later release of a server does: to the items of lists, and to the objects in them. Their value is
// the string "new". Objects that the contract has no type for do not get them: the properties of an
// integration, or the trailers of a commit, whose keys are data. CSV files get no columns.
func WithUnknownFields(names ...string) Option {
	return func(s *Server) { s.changes.unknown = append(s.changes.unknown, names...) }
}

// WithMismatchedTypes sends the fields of these names with another JSON type than the contract has,
// in each object of a successful response: objects and arrays as true, everything else as an empty
// object.
func WithMismatchedTypes(names ...string) Option {
	return func(s *Server) { s.changes.retyped = append(s.changes.retyped, names...) }
}

// appendUnknown writes the unknown fields of an object that has n fields already.
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

// appendRetyped writes a field with another type than that of the contract, and reports whether it
// has one.
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
