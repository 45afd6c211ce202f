package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// place is where a value occurs.
type place struct {
	owner string // Go name of the type around it
	wire  string
	reads bool
	query bool
	short string // name of its enum, if it is shared
	says  string
}

func (p place) inside(owner string) place { return place{owner: owner, reads: p.reads} }

// goType returns the Go type of a value.
func (b *builder) goType(ref *openapi3.SchemaRef, p place) string {
	if ref == nil || ref.Value == nil {
		return raw(p)
	}
	for _, r := range rules {
		if r.value == nil {
			continue
		}
		if typ := r.value(value{p.wire, ref.Value, p.query, p.reads}); typ != "" {
			return typ
		}
	}
	return b.declared(ref, p)
}

// raw is the type of a value of which nothing is known.
func raw(p place) string {
	if p.reads {
		return "json.RawMessage"
	}
	return "any"
}

// declared is the type that the document declares.
func (b *builder) declared(ref *openapi3.SchemaRef, p place) string {
	s := ref.Value
	properties := propertiesOf(s)
	switch {
	case ref.Ref != "" && (len(properties) > 0 || s.Type.Is("object")):
		return "*" + b.entity(ref, p)
	case len(s.AllOf) == 1 && len(s.Properties) == 0:
		return b.declared(s.AllOf[0], p)
	case len(properties) > 0:
		return "*" + b.inline(properties, p)
	case s.Type.Is("object") && p.query:
		return "forge.Hash"
	case s.Type.Is("object"):
		if extra := s.AdditionalProperties.Schema; extra != nil {
			return "map[string]" + strings.TrimPrefix(b.goType(extra, p), "*")
		}
		return "map[string]" + raw(p)
	case s.Type.Is("array"):
		return "[]" + strings.TrimPrefix(b.goType(s.Items, p), "*")
	case s.Type.Is("integer"):
		return "int64"
	case s.Type.Is("number"):
		return "float64"
	case s.Type.Is("boolean"):
		return "bool"
	case s.Format == "date-time":
		return "time.Time"
	case s.Format == "date":
		return "forge.Date"
	case s.Type.Is("string"), s.Type.Is("text"), s.Type.Is("symbol"):
		return b.text(s, p)
	}
	return raw(p)
}

func (b *builder) text(s *openapi3.Schema, p place) string {
	values := enumOf(s)
	if len(values) == 0 {
		return "string"
	}
	if typ := forgeEnum(p.wire, values); typ != "" {
		return typ
	}
	return b.enum(p.short, p.owner+camel(p.wire), p.says, values)
}

// entity returns the name of the type of a reference: one of forge, or a generated one.
func (b *builder) entity(ref *openapi3.SchemaRef, p place) string {
	key := ref.Ref[strings.LastIndexByte(ref.Ref, '/')+1:]
	if fix := b.config.Schemas[key]; fix.Type != "" {
		return b.replacement(key, fix.Type)
	}
	if typ := forgeType(ref.Ref); typ != "" && p.reads {
		return typ
	}
	name := b.schemas[key]
	if !p.reads { // a request has other tags and no Extra
		name += "Input"
	}
	b.define(name, "is "+entityOf(ref.Ref)+" of the document.", propertiesOf(ref.Value), place{owner: name, reads: p.reads}, b.config.Schemas[key].Fields)
	return name
}

// inline returns the name of the type of an object without a name.
func (b *builder) inline(properties openapi3.Schemas, p place) string {
	name := p.owner
	if p.wire != "" {
		name += camel(p.wire)
	}
	if b.structs[name] == nil {
		name = b.free(name)
	}
	b.define(name, fmt.Sprintf("is %s of %s.", cmp.Or(p.wire, "the value"), strings.TrimSuffix(p.owner, "Response")), properties, p.inside(name), nil)
	return name
}

// define makes a struct once. It is stored before its fields are made: types can contain
// themselves.
func (b *builder) define(name, says string, properties openapi3.Schemas, p place, fixes map[string]string) {
	if b.structs[name] != nil {
		return
	}
	s := &structType{Name: name, Says: says, IsReply: p.reads}
	b.structs[name] = s
	b.taken[name] = cmp.Or(b.taken[name], says)
	used := map[string]bool{"Extra": p.reads}
	for _, wire := range slices.Sorted(maps.Keys(properties)) {
		property := properties[wire]
		typ := fixes[wire]
		if typ != "" {
			typ = b.replacement(name+" "+wire, typ)
		} else {
			typ = b.goType(property, place{owner: name, wire: wire, reads: p.reads, says: "is a value of " + wire + "."})
		}
		if p.reads && fixes[wire] == "" && property.Ref != "" && strings.HasPrefix(typ, "*") && isListed(wire) {
			typ = "[]" + typ[1:]
		}
		f := &field{Name: fieldName(wire, used), Type: typ, Says: sentence(description(property)), Tag: fmt.Sprintf("`json:%q`", wire+",omitzero")}
		if !p.reads {
			f.Tag = fmt.Sprintf("`json:%q`", wire+","+omission(typ))
			if typ == "bool" || typ == "float64" {
				f.Type = "*" + typ
			}
		}
		s.Fields = append(s.Fields, f)
	}
}

// isListed reports whether a rule makes a list of a field that is declared as one entity.
func isListed(name string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool { return r.isList != nil && r.isList(name) })
}

// fieldName returns a Go name that no other field has.
func fieldName(wire string, used map[string]bool) string {
	name := camel(wire)
	for used[name] {
		name += "Value"
	}
	used[name] = true
	return name
}

// omission is the option of a json tag that omits what is not set. An empty list is sent.
func omission(typ string) string {
	if strings.HasPrefix(typ, "[]") || typ == "time.Time" || typ == "forge.Date" {
		return "omitzero"
	}
	return "omitempty"
}
