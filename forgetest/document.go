package forgetest

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Document is one JSON object of the contract: an ordered set of fields with the types of the
// catalogue. A dotted name is a field of a nested document ("time_stats.time_estimate").
type Document struct {
	shape  *shape
	values []any
}

// link is a path on this server. It becomes an absolute URL when the document is encoded.
type link string

// absent marks a field that responses omit.
type absent struct{}

// renderer is a value that [Document.Set] accepts as a nested document.
type renderer interface{ render() *Document }

// NewDocument returns a document of the named type of the contract ("Issue", "Milestone"), with the
// zero value in every field.
func NewDocument(name string) *Document {
	s := catalogue().shapes[name]
	if s == nil {
		panic(fmt.Sprintf("forgetest: the contract has no type %q", name))
	}
	d := &Document{shape: s, values: make([]any, len(s.fields))}
	for i, f := range s.fields {
		d.values[i] = f.zero()
	}
	return d
}

func (f *field) zero() any {
	switch {
	case f.Type == "boolean":
		return false
	case f.Nullable, f.Format != "", f.Only != nil, f.Deprecated != nil:
		return nil
	}
	return f.empty()
}

// empty returns the zero value of the field's type; nil for a boolean.
func (f *field) empty() any {
	switch f.Type {
	case "integer":
		return int64(0)
	case "number":
		return float64(0)
	case "string":
		return ""
	case "array", "array<string>":
		return []string(nil)
	case "object", "hash":
		if f.Ref != "" {
			return NewDocument(f.Ref)
		}
		return map[string]string(nil)
	}
	return nil
}

// Set sets a field and returns the document. It panics if the type of the contract does not have
// the field, or if the field has another type. It accepts nil, bool, integers, float64, strings
// and types of strings, []string, *Document, []*Document, *User, []*User and map[string]string.
// Documents have the type that the contract names. A time is a time.Time, a forge.Date, or text
// such as "2026-03-01". The values of enums are not checked.
//
// Functions such as AddIssue panic if their fill has set a field that the server computes.
func (d *Document) Set(name string, value any) *Document {
	owner, f, i := d.locate(name)
	v, ok := f.convert(value)
	if !ok {
		panic(fmt.Sprintf("forgetest: %s.%s is %s, not %T %v%s", owner.shape.name, f.Name, f.describe(), value, value, f.remedy()))
	}
	owner.values[i] = v
	return d
}

// Get returns the value of a field: nil, bool, int64, float64, string, time.Time, []string,
// *Document, []*Document or map[string]string. It returns nil for every field of a nested document
// that is null.
func (d *Document) Get(name string) any {
	if head, rest, nested := strings.Cut(name, "."); nested {
		child := d.doc(head)
		if child == nil {
			return nil
		}
		return child.Get(rest)
	}
	_, _, i := d.locate(name)
	if l, ok := d.values[i].(link); ok {
		return string(l)
	}
	return d.values[i]
}

// Omit removes a field from every response and returns the document.
func (d *Document) Omit(name string) *Document {
	owner, _, i := d.locate(name)
	owner.values[i] = absent{}
	return d
}

// Fields lists the field names in the order of the contract. Those of settings are the documents'
// names; the methods of a Document take GitLab's names, too.
func (d *Document) Fields() []string {
	names := make([]string, len(d.shape.fields))
	for i, f := range d.shape.fields {
		names[i] = f.Name
	}
	return names
}

// locate follows a dotted name to the document that owns the last part.
func (d *Document) locate(name string) (*Document, *field, int) {
	head, rest, nested := strings.Cut(name, ".")
	i, ok := d.shape.index[head]
	if !ok {
		if neutral, known := neutralSetting(head); known {
			i, ok = d.shape.index[neutral]
		}
	}
	if !ok {
		panic(fmt.Sprintf("forgetest: %s has no field %q; near: %s; Fields lists all", d.shape.name, head, strings.Join(nearNames(head, d.Fields()), ", ")))
	}
	if !nested {
		return d, d.shape.fields[i], i
	}
	child, ok := d.values[i].(*Document)
	if !ok || child == nil {
		panic(fmt.Sprintf("forgetest: %s.%s has no nested document: set it before you use %q", d.shape.name, head, name))
	}
	return child.locate(rest)
}

// nearNames returns the three names with the smallest edit distance to a misspelled one. It sorts
// all.
func nearNames(name string, all []string) []string {
	slices.SortStableFunc(all, func(a, b string) int { return editDistance(name, a) - editDistance(name, b) })
	return all[:min(3, len(all))]
}

// clone copies the document; nested documents are shared.
func (d *Document) clone() *Document {
	return &Document{shape: d.shape, values: slices.Clone(d.values)}
}

// adopt copies the values of the fields that another document has under the same names.
func (d *Document) adopt(other *Document) *Document {
	for i, f := range d.shape.fields {
		if from, ok := other.shape.index[f.Name]; ok {
			d.values[i] = other.values[from]
		}
	}
	return d
}

func (f *field) describe() string {
	switch {
	case f.Format != "":
		return "a " + f.Format
	case f.Items != nil && f.Items.Ref != "":
		return "a list of " + f.Items.Ref
	case f.Ref != "":
		return "of type " + f.Ref
	}
	return "of type " + f.Type
}

// remedy returns the Go type to pass, where the name of the contract's type does not show it.
func (f *field) remedy() string {
	switch {
	case f.Format != "":
		return `: pass a time.Time, or text such as "2026-03-01"`
	case f.Items != nil && strings.HasPrefix(f.Items.Ref, "User"):
		return ": pass []*User or []*Document"
	case f.Items != nil && f.Items.Ref != "":
		return ": pass []*Document of NewDocument"
	case strings.HasPrefix(f.Ref, "User"):
		return ": pass a *User or a *Document"
	case f.Ref != "":
		return fmt.Sprintf(": pass NewDocument(%q)", f.Ref)
	case strings.HasPrefix(f.Type, "array"):
		return ": pass []string"
	}
	return ""
}

// fillWith calls fill with the document. It panics, and restores the document, if fill changed a
// field that the server computes, since the value would be lost.
func (d *Document) fillWith(fill func(*Document), computed ...string) {
	if fill == nil {
		return
	}
	former, before := slices.Clone(d.values), make([]string, len(computed))
	text := func(name string) string { return string(encoder{}.append(nil, d.Get(name), "")) }
	for i, name := range computed {
		before[i] = text(name)
	}
	fill(d)
	for i, name := range computed {
		if text(name) != before[i] {
			d.values = former
			panic(fmt.Sprintf("forgetest: %s.%s cannot be set: the server computes it", d.shape.name, name))
		}
	}
}

// convert converts a value to the type in which documents store the field.
func (f *field) convert(value any) (any, bool) {
	switch v := value.(type) {
	case nil:
		return nil, true
	case *Document:
		return orNil(v), f.Type == "object" && isOf(f.Ref, v)
	case *User:
		if v == nil {
			return nil, true
		}
		return f.convert(v.as(f.Ref))
	case renderer:
		return f.convert(v.render())
	case bool:
		return v, f.hasType("boolean")
	case float64:
		return v, f.Type == "number"
	case link:
		return v, f.Type == "string"
	case string:
		if f.Format != "" {
			return parseTime(v)
		}
		return v, f.hasType("string")
	case time.Time:
		return v, f.Format != ""
	case interface {
		In(*time.Location) time.Time
	}: // forge.Date
		return v.In(time.UTC), f.Format != ""
	case map[string]string, map[string]any:
		return v, f.Type == "object" && f.Ref == "" || f.hasType("hash")
	case []string:
		return v, strings.HasPrefix(f.Type, "array") && (f.Items == nil || f.Items.Type != "object")
	case []*Document:
		return v, f.Type == "array" && (f.Items == nil || f.Items.Ref != "" && isOf(f.Items.Ref, v...))
	case []*User:
		return f.convert(documents(v))
	}
	if v := reflect.ValueOf(value); v.Kind() == reflect.String { // a type of strings, such as forge.IssueState
		return f.convert(v.String())
	}
	n, ok := integer(value)
	return n, ok && (f.hasType("integer") || f.Type == "number")
}

// isOf reports whether documents have a type of the contract. "" is any type; nil is null.
func isOf(kind string, docs ...*Document) bool {
	return kind == "" || !slices.ContainsFunc(docs, func(d *Document) bool { return d != nil && d.shape.name != kind })
}

// hasType reports whether the field has the type, which may be one of several ("integer|string"),
// or unknown.
func (f *field) hasType(kind string) bool {
	return f.Type == "unknown" || slices.Contains(strings.Split(f.Type, "|"), kind)
}

func orNil(d *Document) any {
	if d == nil {
		return nil
	}
	return d
}

func documents[T renderer](items []T) []*Document {
	docs := make([]*Document, len(items))
	for i, item := range items {
		docs[i] = item.render()
	}
	return docs
}

func integer(value any) (int64, bool) {
	switch n := value.(type) {
	case int:
		return int64(n), true
	case int32:
		return int64(n), true
	case int64:
		return n, true
	}
	return 0, false
}

// parseTime reads an ISO 8601 timestamp or date.
func parseTime(s string) (time.Time, bool) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// The methods below return the zero value for null.

func (d *Document) text(name string) string {
	s, _ := d.Get(name).(string)
	return s
}

func (d *Document) int(name string) int64 {
	n, _ := d.Get(name).(int64)
	return n
}

func (d *Document) bool(name string) bool {
	b, _ := d.Get(name).(bool)
	return b
}

func (d *Document) time(name string) time.Time {
	t, _ := d.Get(name).(time.Time)
	return t
}

func (d *Document) doc(name string) *Document {
	child, _ := d.Get(name).(*Document)
	return child
}

func (d *Document) assignees() []*Document {
	list, _ := d.Get("assignees").([]*Document)
	return list
}

// completeAssignees makes the one assignee that a test has set the list of assignees, by which
// lists filter.
func (d *Document) completeAssignees() {
	if one := d.doc("assignee"); one != nil && len(d.assignees()) == 0 {
		d.Set("assignees", []*Document{one})
	}
}

func (d *Document) labels() []string {
	list, _ := d.Get("labels").([]string)
	return list
}
