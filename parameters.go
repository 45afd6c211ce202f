package forge

import (
	"cmp"
	"errors"
	"net/url"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file has the rules that follow from the type of a field of options: an int64 is an id, an
// int in a query is not negative. So a new field of options has the rules without further code. The
// fields of a type are read once, by reflection. zz_parameters.go, which is generated from
// internal/catalogue, has the query parameters of each endpoint: a filter that a list does not
// document is refused, unless deployed servers take it there, and so is one that they drop. Enum
// values are not checked, because servers are newer than clients.

var documentedParameters sync.Map // of *route: its parameters

// documented returns the parameters of the route; nil if the contract lists none. Names of lists
// are in it with and without brackets.
func (r *route) documented() map[string]bool {
	if known, ok := documentedParameters.Load(r); ok {
		return known.(map[string]bool)
	}
	names := r.parameters()
	if names == "" {
		return nil
	}
	all := map[string]bool{}
	for name := range strings.FieldsSeq(names) {
		all[name], all[name+"[]"] = true, true
	}
	known, _ := documentedParameters.LoadOrStore(r, all)
	return known.(map[string]bool)
}

// checkDocumented rejects a parameter that the route does not document: servers ignore an unknown
// filter, and would list all items. Of several, the first in the order of the query is named.
func (r *route) checkDocumented(query url.Values) error {
	if len(query) == 0 {
		return nil
	}
	documented := r.documented()
	if documented == nil {
		return nil
	}
	unknown := ""
	for key := range query {
		if documented[key] || unknown != "" && unknown < key {
			continue
		}
		if hash, _, _ := strings.Cut(key, "["); !documented[hash] { // a hash has keys of the caller
			unknown = key
		}
	}
	if unknown == "" {
		return nil
	}
	return &ValidationError{Param: unknown, Reason: r.Method + " " + r.Template + " does not document this filter, and servers ignore unknown filters"}
}

// checkDropped rejects a filter that current GitLab drops silently, which would list all items. A
// client with the vocabulary Neutral sends it: the documents have it.
func (r *route) checkDropped(query url.Values, v Vocabulary) error {
	if v == Neutral {
		return nil
	}
	for filter := range strings.FieldsSeq(r.dropped()) {
		if name, release, _ := strings.Cut(filter, "="); query.Has(name) {
			return &ValidationError{Param: name, Reason: r.Method + " " + r.Template + " drops this filter silently in release " + release +
				" and later, and would list all items: filter the items of the list, or send it to an older server with SkipValidation"}
		}
	}
	return nil
}

// optionField is a field of options that is sent.
type optionField struct {
	index   int
	key     string                       // on the wire
	layout  string                       // of a time; empty for other types
	inner   []*optionField               // of the struct that a field of a query points to
	refusal func(v reflect.Value) string // returns why a nonzero value is invalid, or ""; nil: every value is valid
}

var knownFields sync.Map // of reflect.Type: []*optionField

// unset reports whether the value is not sent. A zero time is zero in every zone.
func (f *optionField) unset(v reflect.Value) bool {
	if f.layout != "" {
		return v.Interface().(time.Time).IsZero()
	}
	return v.IsZero()
}

// fieldsOf returns the fields of a struct type that are sent.
func fieldsOf(t reflect.Type) []*optionField {
	if known, ok := knownFields.Load(t); ok {
		return known.([]*optionField)
	}
	known, _ := knownFields.LoadOrStore(t, readFields(t, ""))
	return known.([]*optionField)
}

// readFields reads the tags of a struct. outer is the key of the field that points to it, if any:
// the keys are then of the form not[milestone].
func readFields(t reflect.Type, outer string) (fields []*optionField) {
	for field := range t.Fields() {
		tag, inQuery := field.Tag.Lookup("url")
		name, options, _ := strings.Cut(cmp.Or(tag, field.Tag.Get("json")), ",")
		if name == "" || name == "-" {
			continue
		}
		f := &optionField{index: field.Index[0], key: name}
		if outer != "" {
			f.key = outer + "[" + name + "]"
		}
		if strings.Contains(options, "brackets") {
			f.key += "[]"
		}
		switch {
		case field.Type == reflect.TypeFor[time.Time]():
			f.layout = cmp.Or(field.Tag.Get("layout"), timeLayout)
		case inQuery && field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct:
			f.inner = readFields(field.Type.Elem(), f.key)
		case !reflect.PointerTo(t).Implements(reflect.TypeFor[copier]()):
			f.refusal = refusalOf(field.Type, inQuery, strings.Contains(options, "omitzero"))
		}
		fields = append(fields, f)
	}
	return fields
}

// checkFields rejects values of options that are invalid for the type of their field.
func checkFields(options any) error {
	v := reflect.Indirect(reflect.ValueOf(options))
	if v.Kind() != reflect.Struct {
		return nil
	}
	return checkEach(v, fieldsOf(v.Type()))
}

func checkEach(v reflect.Value, fields []*optionField) error {
	for _, f := range fields {
		switch value := v.Field(f.index); {
		case f.unset(value):
		case f.inner != nil:
			if err := checkEach(value.Elem(), f.inner); err != nil {
				return err
			}
		case f.refusal != nil:
			if reason := f.refusal(value); reason != "" {
				return &ValidationError{Param: f.key, Reason: reason}
			}
		}
	}
	return nil
}

// copier is implemented by options whose fields may hold any value of a server's own document.
// Their type is not named here, so that programs that do not use it do not link it.
type copier interface{ copiesDocument() }

// refuser is implemented by filters. refusal returns why a value is invalid, or "".
type refuser interface{ refusal() string }

// refusalOf returns the rule for the values of a field, by its type. In a body a text may be blank,
// a number may be negative, and a list may be empty if it is sent regardless: an empty list clears
// the value.
func refusalOf(t reflect.Type, inQuery, clears bool) func(reflect.Value) string {
	switch {
	case t == reflect.TypeFor[int64](), t == reflect.TypeFor[ID]():
		return func(v reflect.Value) string { return refusedID(v.Int()) }
	case t == reflect.TypeFor[[]int64]():
		return func(v reflect.Value) string { return refusedIDs(v.Interface().([]int64), clears) }
	case t == reflect.TypeFor[LabelNames](): // of not, where servers have no keywords
		return func(v reflect.Value) string { return refusedNames(v.Interface().(LabelNames)) }
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return func(v reflect.Value) string { return refusedTexts(v, clears) }
	case !inQuery:
	case t.Kind() == reflect.String:
		return func(v reflect.Value) string { return refusedText(v.String()) }
	case t.Kind() == reflect.Int:
		return func(v reflect.Value) string { return refusedCount(v.Int()) }
	case t.Kind() == reflect.Interface, t == reflect.TypeFor[Hash]():
		return refusedFilter
	}
	return nil
}

// refusedFilter ignores nil pointers: toWire rejects them.
func refusedFilter(v reflect.Value) string {
	filter := reflect.Indirect(reflect.ValueOf(v.Interface()))
	if !filter.IsValid() {
		return ""
	}
	if ruled, ok := filter.Interface().(refuser); ok {
		return ruled.refusal()
	}
	return ""
}

func refusedID(id int64) string {
	if id <= 0 {
		return "id " + strconv.FormatInt(id, 10) + " is not positive"
	}
	return ""
}

func refusedText(text string) string {
	if strings.TrimSpace(text) == "" {
		return "it is blank, which servers treat as omitted"
	}
	return ""
}

func refusedCount(n int64) string {
	if n < 0 {
		return strconv.FormatInt(n, 10) + " is negative"
	}
	return ""
}

const emptyList = "it is empty, which servers treat as no filter: use nil to omit it"

func refusedTexts(texts reflect.Value, clears bool) string {
	if texts.Len() == 0 && !clears {
		return emptyList
	}
	for i := range texts.Len() {
		if strings.TrimSpace(texts.Index(i).String()) == "" {
			return "element " + strconv.Itoa(i) + " is blank"
		}
	}
	return ""
}

func refusedIDs(ids []int64, clears bool) string {
	if len(ids) == 0 && !clears {
		return emptyList
	}
	for _, id := range ids {
		if reason := refusedID(id); reason != "" {
			return reason
		}
	}
	return ""
}

// The functions below are rules for single parameters. Their errors have the name of the parameter;
// nameOption adds the Go name of its field.

// firstError returns the first error of several rules, or nil.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// required rejects options without a required parameter.
func required(param string, set bool) error {
	if set {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it is required"}
}

// exclusive rejects two parameters that exclude each other.
func exclusive(param string, set bool, other string, otherSet bool) error {
	if !set || !otherSet {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it cannot be combined with " + other}
}

// isTrue reports whether an optional boolean is set to true.
func isTrue(value *bool) bool { return value != nil && *value }

// needs rejects a parameter that needs another one.
func needs(param string, set bool, other string, otherSet bool) error {
	if !set || otherSet {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it needs " + other + " as well"}
}

// replaced rejects a deprecated parameter together with its replacement.
func replaced(param string, set bool, use string, useSet bool) error {
	if !set || !useSet {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it is deprecated, and " + use + " is set too: omit " + param}
}

// atMost rejects more values than the endpoint allows.
func atMost(param string, n, most int, unit string) error {
	if n <= most {
		return nil
	}
	return &ValidationError{Param: param, Reason: "it has " + strconv.Itoa(n) + " " + unit + "; the maximum is " + strconv.Itoa(most)}
}

// isRE2 rejects a pattern that is not RE2, the syntax of Go and of the server.
func isRE2(param, pattern string) error {
	_, err := regexp.Compile(pattern)
	if err == nil {
		return nil
	}
	reason := err.Error()
	if bad := (*syntax.Error)(nil); errors.As(err, &bad) { // its text would state the kind of error again
		reason = bad.Code.String() + ": `" + bad.Expr + "`"
	}
	return &ValidationError{Param: param, Reason: "it is not an RE2 pattern: " + reason}
}
