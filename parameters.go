package forge

import (
	"errors"
	"reflect"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file has the rules that follow from the type of a field of options: an int64 is an id, an
// int in a query is not negative. So a new field of options has the rules without further code.
// Fields of queries are checked by fieldChecker, which zz_query.go calls, and fields of JSON bodies
// by reflection, once for each type. zz_parameters.go, which is generated from internal/catalogue,
// has the query parameters of each endpoint: a filter that a list does not document is refused,
// unless deployed servers take it there. Enum values are not checked, because servers are newer
// than clients.

// fieldChecker rejects values of a query that are invalid for the kind of the field, and fields
// that the route does not document. It has the methods of queryWriter. The first error stays.
type fieldChecker struct {
	route      *route
	documented map[string]bool // nil: all parameters
	err        error
}

func newFieldChecker(r *route) fieldChecker {
	return fieldChecker{route: r, documented: r.documented()}
}

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

// allows records an error if the route does not document the parameter: servers ignore an unknown
// filter, and would list all items. It reports whether the value is to be checked.
func (c *fieldChecker) allows(key string) bool {
	if c.err != nil {
		return false
	}
	if c.documented != nil && !c.documented[key] {
		c.reject(key, c.route.Method+" "+c.route.Template+" does not document this filter, and servers ignore unknown filters")
	}
	return c.err == nil
}

func (c *fieldChecker) reject(key, reason string) {
	if reason != "" {
		c.err = &ValidationError{Param: key, Reason: reason}
	}
}

func (c *fieldChecker) text(key, text string) {
	if text != "" && c.allows(key) {
		c.reject(key, refusedText(text))
	}
}

func (c *fieldChecker) texts(key string, texts []string) {
	if texts != nil && c.allows(key) {
		c.reject(key, refusedTexts(texts, false))
	}
}

func (c *fieldChecker) ids(key string, ids []int64) {
	if ids != nil && c.allows(key) {
		c.reject(key, refusedIDs(ids, false))
	}
}

func (c *fieldChecker) id(key string, id int64) {
	if id != 0 && c.allows(key) {
		c.reject(key, refusedID(id))
	}
}

func (c *fieldChecker) count(key string, n int) {
	if n != 0 && c.allows(key) && n < 0 {
		c.reject(key, strconv.Itoa(n)+" is negative")
	}
}

func (c *fieldChecker) yes(key string, yes bool) { _ = yes && c.allows(key) }

func (c *fieldChecker) flag(key string, flag *bool) { _ = flag != nil && c.allows(key) }

func (c *fieldChecker) time(key, _ string, at time.Time) { _ = !at.IsZero() && c.allows(key) }

// filter checks the value of a filter interface. queryWriter rejects a nil pointer.
func (c *fieldChecker) filter(key string, value any) {
	if value == nil || !c.allows(key) || isNilPointer(value) {
		return
	}
	if filter, ok := value.(refuser); ok {
		c.reject(key, filter.refusal())
	}
}

func (c *fieldChecker) filterID(key string, id ID) { c.id(key, int64(id)) }

// filterText and filterLabels check fields of not, where servers have no keywords.
func (c *fieldChecker) filterText(key string, text Text) {
	if text != "" && c.allows(key) {
		c.reject(key, refusedText(string(text)))
	}
}

func (c *fieldChecker) filterNumber(key string, n *Number) { _ = n != nil && c.allows(key) }

func (c *fieldChecker) filterLabels(key string, names LabelNames) {
	if names != (LabelNames{}) && c.allows(key) {
		c.reject(key, refusedNames(names.Names()))
	}
}

func (c *fieldChecker) hash(key string, hash Hash) {
	if hash != nil && c.allows(key) {
		c.reject(key, hash.refusal())
	}
}

// bodyField is a field of a type of JSON bodies.
type bodyField struct {
	index   int
	key     string                       // on the wire
	refusal func(v reflect.Value) string // returns why a nonzero value is invalid, or ""; nil: every value is valid
	time    bool
}

var knownFields sync.Map // of reflect.Type: []bodyField

// unset reports whether the value is not sent. A zero time is zero in every zone.
func (f *bodyField) unset(v reflect.Value) bool {
	if f.time {
		return v.Interface().(time.Time).IsZero()
	}
	return v.IsZero()
}

// fieldsOf returns the fields of a struct type that are sent.
func fieldsOf(t reflect.Type) []bodyField {
	if known, ok := knownFields.Load(t); ok {
		return known.([]bodyField)
	}
	known, _ := knownFields.LoadOrStore(t, readFields(t))
	return known.([]bodyField)
}

func readFields(t reflect.Type) (fields []bodyField) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" || !field.IsExported() {
			continue
		}
		f := bodyField{index: field.Index[0], key: name, time: field.Type == reflect.TypeFor[time.Time]()}
		if !reflect.PointerTo(t).Implements(reflect.TypeFor[copier]()) {
			f.refusal = refusalOf(field.Type, strings.Contains(options, "omitzero"))
		}
		fields = append(fields, f)
	}
	return fields
}

// checkBody rejects values of a JSON body that are invalid for the kind of the field.
func checkBody(options any) error {
	v := reflect.Indirect(reflect.ValueOf(options))
	if v.Kind() != reflect.Struct || v.IsZero() {
		return nil
	}
	for _, f := range fieldsOf(v.Type()) {
		if value := v.Field(f.index); f.refusal != nil && !f.unset(value) {
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

// refusalOf returns the rule for the values of a field of a JSON body, by its type. A text may be
// blank, a number may be negative, and a list may be empty if it is sent regardless: an empty list
// clears the value.
func refusalOf(t reflect.Type, clears bool) func(reflect.Value) string {
	switch {
	case t == reflect.TypeFor[int64]():
		return func(v reflect.Value) string { return refusedID(v.Int()) }
	case t == reflect.TypeFor[[]int64]():
		return func(v reflect.Value) string { return refusedIDs(v.Interface().([]int64), clears) }
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String:
		return func(v reflect.Value) string {
			texts := make([]string, v.Len())
			for i := range texts {
				texts[i] = v.Index(i).String()
			}
			return refusedTexts(texts, clears)
		}
	}
	return nil
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

const emptyList = "it is empty, which servers treat as no filter: use nil to omit it"

func refusedTexts(texts []string, clears bool) string {
	if len(texts) == 0 && !clears {
		return emptyList
	}
	for i, text := range texts {
		if strings.TrimSpace(text) == "" {
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
