package forge

import (
	"cmp"
	"errors"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file finds the fields of options, once for each type, and the rules that follow from the
// type of a field: an int64 is an id, an int in a query is not negative. So a new field of options
// has the rules without further code. zz_parameters.go, which is generated from the catalogue and
// from testdata/spec/deployed_parameters.json, has the query parameters of each endpoint. Enum
// values are not checked.

// optionField is a field of an options type.
type optionField struct {
	index int
	key   string // on the wire: "iids[]", "not[weight]"
	// refusal returns why a nonzero value is invalid, or ""; nil: every value is valid.
	refusal func(v reflect.Value) string
	inner   []optionField // of a pointer to further fields, such as Not; one level, as in the contract
	foreign bool          // not documented for the route

	list, time bool
	layout     string // of a time
}

// optionFields are the fields of an options type.
type optionFields struct {
	all     []optionField
	byRoute sync.Map // of *route: the same fields, with foreign set
}

var knownFields sync.Map // of reflect.Type

// unset reports whether the value is not sent. A zero time is zero in every zone.
func (f *optionField) unset(v reflect.Value) bool {
	switch {
	case f.time && v.CanAddr():
		return v.Addr().Interface().(*time.Time).IsZero() // copies nothing
	case f.time:
		return v.Interface().(time.Time).IsZero()
	}
	return v.IsZero()
}

// fieldsSet returns the fields of a struct that are sent.
func fieldsSet(v reflect.Value, fields []optionField) []*optionField {
	set := make([]*optionField, 0, 16)
	for i := range fields {
		if f := &fields[i]; !f.unset(v.Field(f.index)) {
			set = append(set, f)
		}
	}
	return set
}

// fieldsOf returns the fields of a struct type that are sent.
func fieldsOf(t reflect.Type) *optionFields {
	if known, ok := knownFields.Load(t); ok {
		return known.(*optionFields)
	}
	known, _ := knownFields.LoadOrStore(t, &optionFields{all: readFields(t, "")})
	return known.(*optionFields)
}

// readFields lists the fields of a struct type. Inside another field their names are in brackets.
func readFields(t reflect.Type, outer string) (fields []optionField) {
	for field := range t.Fields() {
		query, body := field.Tag.Get("url"), field.Tag.Get("json")
		name, options, _ := strings.Cut(cmp.Or(query, body), ",")
		if name == "" || name == "-" || !field.IsExported() {
			continue
		}
		if outer != "" {
			name = outer + "[" + name + "]"
		}
		f := optionField{index: field.Index[0], key: name, list: field.Type.Kind() == reflect.Slice}
		if strings.Contains(options, "brackets") {
			f.key += "[]"
		}
		if field.Type == reflect.TypeFor[time.Time]() {
			f.time, f.layout = true, cmp.Or(field.Tag.Get("layout"), timeLayout)
		}
		if field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct && query != "" && outer == "" {
			f.inner = readFields(field.Type.Elem(), name)
		}
		if !reflect.PointerTo(t).Implements(reflect.TypeFor[copier]()) {
			f.refusal = refusalOf(field.Type, query != "", strings.Contains(options, "omitzero"))
		}
		fields = append(fields, f)
	}
	return fields
}

// on returns the fields as documented for the route. Servers ignore an unknown filter, and would
// list all items.
func (f *optionFields) on(r *route) []optionField {
	if known, ok := f.byRoute.Load(r); ok {
		return known.([]optionField)
	}
	fields := f.all
	if documented := r.parameters(); documented != "" {
		fields = documentedOn(fields, " "+documented+" ")
	}
	known, _ := f.byRoute.LoadOrStore(r, fields)
	return known.([]optionField)
}

func documentedOn(fields []optionField, documented string) []optionField {
	all := make([]optionField, len(fields))
	for i, f := range fields {
		if all[i] = f; f.inner != nil {
			all[i].inner = documentedOn(f.inner, documented)
		} else {
			all[i].foreign = !strings.Contains(documented, " "+strings.TrimSuffix(f.key, "[]")+" ")
		}
	}
	return all
}

// checkFields rejects values that are invalid for the kind of the field, and fields that the route
// does not document.
func checkFields(options any, r *route) error {
	v := reflect.Indirect(reflect.ValueOf(options))
	if v.Kind() != reflect.Struct || v.IsZero() {
		return nil
	}
	return checkStruct(v, fieldsOf(v.Type()).on(r), r)
}

func checkStruct(v reflect.Value, fields []optionField, r *route) error {
	for i := range fields {
		f := &fields[i]
		value := v.Field(f.index)
		if f.unset(value) {
			continue
		}
		if f.foreign {
			return &ValidationError{Param: f.key, Reason: r.Method + " " + r.Template + " does not document this filter, and servers ignore unknown filters"}
		}
		if f.inner != nil {
			if err := checkStruct(value.Elem(), f.inner, r); err != nil {
				return err
			}
		} else if f.refusal != nil {
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

// refusalOf returns the rule for the values of a field, by its type. In a body, a text may be
// blank, a number may be negative, and a list may be empty if it is sent regardless: an empty list
// clears the value.
func refusalOf(t reflect.Type, query, clears bool) func(reflect.Value) string {
	switch {
	case t.Kind() == reflect.Interface || t.Implements(reflect.TypeFor[refuser]()):
		return refusedByItself
	case t == reflect.TypeFor[int64]():
		return func(v reflect.Value) string { return refusedID(v.Int()) }
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String || t == reflect.TypeFor[[]int64]():
		return func(v reflect.Value) string { return refusedList(v, clears) }
	case t == reflect.TypeFor[int]() && query:
		return refusedNumber
	case t.Kind() == reflect.String && query:
		return func(v reflect.Value) string { return refusedText(v.String()) }
	}
	return nil
}

// refusedByItself calls the rule of the filter. A nil pointer is rejected when it is encoded.
func refusedByItself(v reflect.Value) string {
	if v.Kind() == reflect.Interface && v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() {
		return ""
	}
	if filter, ok := v.Interface().(refuser); ok {
		return filter.refusal()
	}
	return ""
}

func refusedNumber(v reflect.Value) string {
	if v.Int() < 0 {
		return strconv.FormatInt(v.Int(), 10) + " is negative"
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

func refusedList(v reflect.Value, clears bool) string {
	if v.Len() == 0 && !clears {
		return "it is empty, which servers treat as no filter: use nil to omit it"
	}
	for i := range v.Len() {
		if item := v.Index(i); item.Kind() == reflect.Int64 {
			if reason := refusedID(item.Int()); reason != "" {
				return reason
			}
		} else if strings.TrimSpace(item.String()) == "" {
			return "element " + strconv.Itoa(i) + " is blank"
		}
	}
	return ""
}

// checkNil rejects a nil pointer in a filter, such as (*ID)(nil): its methods would panic.
func checkNil(v reflect.Value, set []*optionField) error {
	for _, f := range set {
		switch value := v.Field(f.index); {
		case value.Kind() == reflect.Interface && value.Elem().Kind() == reflect.Pointer && value.Elem().IsNil():
			return &ValidationError{Param: f.key, Reason: "it is a nil " + value.Elem().Type().String()}
		case f.inner != nil:
			if err := checkNil(value.Elem(), fieldsSet(value.Elem(), f.inner)); err != nil {
				return err
			}
		}
	}
	return nil
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
