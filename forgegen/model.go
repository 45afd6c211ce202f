package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// model is what is generated.
type model struct {
	Package  string
	Document *document
	Services []*service
	Structs  []*structType // of responses, by name
	Enums    []*enumType   // by name
}

// service is a tag.
type service struct {
	Name    string // Issues; the Go type is IssuesService
	Tag     string
	File    string // issues.go
	Methods []*method
}

// method is an operation as Go sees it.
type method struct {
	*operation
	Args     []argument
	Options  *structType // nil if there is nothing to set
	Body     *argument   // a body that is not an object
	FileName string      // field of an optional file; "" if there is none
	Value    string      // Go type of the value or of an item; "" if there is none
	Pointer  bool        // the value is returned as a pointer
	HasQuery bool
	HasBody  bool
}

// argument identifies an object.
type argument struct {
	Name, Type string
	Expr       string // of the forge.Arg
}

// structType is a struct with options, or of a response.
type structType struct {
	Name    string
	Says    string
	Fields  []*field
	IsReply bool // it has Extra
}

type field struct {
	Name, Type, Tag, Says string
}

// enumType is a type of texts.
type enumType struct {
	Name, Says string
	Values     []enumValue
}

type enumValue struct{ Name, Text string }

// builder makes a model. Names of types depend on the whole document, not on what is selected.
type builder struct {
	config    *config
	document  *document
	all       []*operation
	taken     map[string]string // who has a name in the package
	schemas   map[string]string // Go types by reference
	structs   map[string]*structType
	enums     map[string]*enumType
	replacing map[string]bool   // schemas and fields whose type of forgegen.yaml is being read
	err       error             // the first mistake in schemas of forgegen.yaml
	enumNames map[string]string // of parameters whose service has one list of values for the name
}

// buildModel models the selected operations.
func buildModel(c *config, d *document, all []*operation, selected map[*endpoint]bool) (*model, error) {
	b := &builder{config: c, document: d, all: all, taken: map[string]string{}, schemas: map[string]string{}, structs: map[string]*structType{}, enums: map[string]*enumType{}, replacing: map[string]bool{}}
	if err := b.nameAll(d, selected); err != nil {
		return nil, err
	}
	services := map[string]*service{}
	for _, op := range all {
		if !selected[op.endpoint] {
			continue
		}
		s := services[op.Service]
		if s == nil {
			s = &service{Name: op.Service, Tag: op.Tag, File: fileName(op.Tag)}
			services[op.Service] = s
		}
		m, err := b.method(op)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		s.Methods = append(s.Methods, m)
	}
	if b.err != nil {
		return nil, b.err
	}
	m := &model{Package: c.Package, Document: d}
	for _, name := range slices.Sorted(maps.Keys(services)) {
		s := services[name]
		slices.SortFunc(s.Methods, func(a, b *method) int { return strings.Compare(a.Name, b.Name) })
		m.Services = append(m.Services, s)
	}
	for _, name := range slices.Sorted(maps.Keys(b.structs)) {
		m.Structs = append(m.Structs, b.structs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(b.enums)) {
		m.Enums = append(m.Enums, b.enums[name])
	}
	return m, nil
}

// fileName is the file of a service. A name such as x_test or x_linux would have a meaning for go
// build.
func fileName(tag string) string {
	return snake(tag) + "_service.go"
}

// nameAll sets the names of services, options and schemas of the document.
func (b *builder) nameAll(d *document, selected map[*endpoint]bool) error {
	for _, name := range []string{"Client", "New"} {
		b.taken[name] = "the package's own " + name
	}
	methods := map[string]*operation{}
	for _, op := range b.all {
		op.Name = cmp.Or(op.Fix.Name, op.Name)
		b.taken[op.Service+"Service"] = "the service of tag " + op.Tag
		if !selected[op.endpoint] {
			continue
		}
		key := op.Service + "." + op.Name
		if other := methods[key]; other != nil {
			return fmt.Errorf("%s and %s are both %s: rename one in forgegen.yaml:\n\tcorrections:\n\t  %s:\n\t    name: %s2", other, op, key, op, op.Name)
		}
		methods[key] = op
	}
	for _, op := range b.all {
		b.taken[op.TypeName+"Options"] = op.String()
	}
	if err := b.nameSchemas(d); err != nil {
		return err
	}
	b.nameEnums()
	return nil
}

// ciPrefix is the module of the names of entities of CI/CD.
var ciPrefix = regexp.MustCompile(`^Ci([A-Z])`)

// nameSchemas sets the Go name of each schema: the shortest that no other has.
func (b *builder) nameSchemas(d *document) error {
	if d.spec.Components == nil {
		return nil
	}
	refs := slices.Sorted(maps.Keys(d.spec.Components.Schemas))
	forms := []func(string) string{
		func(ref string) string {
			return camel(strings.TrimSuffix(ciPrefix.ReplaceAllString(entityOf(ref), "$1"), "Entity"))
		},
		func(ref string) string { return camel(entityOf(ref)) },
		camel,
	}
	names := map[string]string{}
	for _, form := range forms {
		count := map[string]int{}
		for _, ref := range refs {
			count[form(ref)]++
		}
		for _, ref := range refs {
			if name := form(ref); names[ref] == "" && count[name] == 1 && b.taken[name] == "" {
				names[ref], b.taken[name] = name, ref
			}
		}
	}
	for ref, fix := range b.config.Schemas {
		switch other := b.taken[fix.Name]; {
		case !slices.Contains(refs, ref):
			return fmt.Errorf("schemas: no generated endpoint uses a schema %s; the nearest are %s", ref, strings.Join(nearestSchemas(refs, ref), ", "))
		case fix.Name != "" && other != "" && other != ref:
			return fmt.Errorf("schemas: %s: the name %s is that of %s: choose another", ref, fix.Name, other)
		}
	}
	for _, ref := range refs {
		name := cmp.Or(b.config.Schemas[ref].Name, names[ref])
		if name == "" {
			name = b.free(camel(ref))
		}
		b.taken[name], b.schemas[ref] = ref, name
	}
	return nil
}

// free returns the name, or with a suffix if it is taken.
func (b *builder) free(name string) string {
	for _, suffix := range []string{"", "Value", "Value2", "Value3", "Value4"} {
		if b.taken[name+suffix] == "" {
			return name + suffix
		}
	}
	return name + "Value5"
}

// nameEnums finds the parameters whose values are the same everywhere in their service.
func (b *builder) nameEnums() {
	lists := map[string]map[string]bool{}
	for _, op := range b.all {
		for _, p := range op.Params {
			if values := enumOf(p.Schema.Value); len(values) > 0 {
				name := enumName(op, p)
				if lists[name] == nil {
					lists[name] = map[string]bool{}
				}
				lists[name][strings.Join(values, " ")] = true
			}
		}
	}
	b.enumNames = map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		if len(lists[name]) == 1 && b.taken[name] == "" {
			b.enumNames[name], b.taken[name] = name, "values"
		}
	}
}

func enumName(op *operation, p *param) string { return camel(singular(op.Tag)) + camel(p.Wire) }

// enum returns the type of a text with values; a short name is shared.
func (b *builder) enum(short, long, says string, values []string) string {
	name := b.enumNames[short]
	if name == "" {
		if name = long; b.enums[name] == nil {
			name = b.free(long)
		}
	}
	if b.enums[name] != nil {
		return name
	}
	e := &enumType{Name: name, Says: says}
	used := map[string]bool{}
	for _, text := range values {
		constant := name + camel(text)
		for used[constant] || b.taken[constant] != "" && b.taken[constant] != name {
			constant += "Other"
		}
		used[constant], b.taken[constant] = true, name
		e.Values = append(e.Values, enumValue{constant, text})
	}
	b.enums[name], b.taken[name] = e, cmp.Or(b.taken[name], "values")
	return name
}
