package forge

import (
	"cmp"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-querystring/query"
)

// This file has the encoder and the checks by reflection that preceded zz_query.go. They are the
// oracle of the generated code. They work on shadows of options: structs with the same fields and
// tags, in which the filters have the types below, which encode themselves.

type (
	oldWord      string
	oldID        int64
	oldNumber    int64
	oldText      string
	oldIDs       []int64
	oldLabels    []string
	oldHash      map[string]string
	oldValidator interface{ refusal() string }
)

func (w oldWord) EncodeValues(key string, v *url.Values) error { return oldSet(v, key, string(w)) }

func (t oldText) EncodeValues(key string, v *url.Values) error { return oldSet(v, key, string(t)) }

func (id oldID) EncodeValues(key string, v *url.Values) error {
	return oldSet(v, key, strconv.FormatInt(int64(id), 10))
}

func (n oldNumber) EncodeValues(key string, v *url.Values) error {
	return oldSet(v, key, strconv.FormatInt(int64(n), 10))
}

func (ids oldIDs) EncodeValues(key string, v *url.Values) error {
	if len(ids) == 0 {
		return oldSet(v, key+"[]", "")
	}
	for _, id := range ids {
		v.Add(key+"[]", strconv.FormatInt(id, 10))
	}
	return nil
}

func (names oldLabels) EncodeValues(key string, v *url.Values) error {
	for _, name := range names {
		if strings.Contains(name, ",") {
			return &ValidationError{Param: key, Reason: "label " + strconv.Quote(name) + " has a comma, which separates labels on the wire"}
		}
	}
	return oldSet(v, key, strings.Join(names, ","))
}

func (h oldHash) EncodeValues(key string, v *url.Values) error {
	for name, value := range h {
		if name == "" || strings.ContainsAny(name, "[]") {
			return &ValidationError{Param: key, Reason: "the key " + strconv.Quote(name) + " is empty or has brackets"}
		}
		v.Set(key+"["+name+"]", value)
	}
	return nil
}

func oldSet(v *url.Values, key, value string) error {
	v.Set(key, value)
	return nil
}

func (id oldID) refusal() string { return oldRefusedID(int64(id)) }

func (t oldText) refusal() string {
	if strings.TrimSpace(string(t)) == "" {
		return "the text is blank: leave the filter nil, or use None"
	}
	return oldRefusedWord(string(t))
}

func (ids oldIDs) refusal() string {
	if len(ids) == 0 {
		return "no ids: leave the filter nil, or use None"
	}
	for _, id := range ids {
		if reason := oldRefusedID(id); reason != "" {
			return reason
		}
	}
	return ""
}

func (names oldLabels) refusal() string {
	if len(names) == 0 {
		return "no labels: leave the filter nil, or use None"
	}
	for _, name := range names {
		switch {
		case strings.TrimSpace(name) == "":
			return "a label is blank"
		case strings.EqualFold(name, "No Label"):
			return strconv.Quote(name) + " is a word of the server: use None"
		case oldRefusedWord(name) != "":
			return oldRefusedWord(name)
		}
	}
	return ""
}

func (h oldHash) refusal() string {
	if len(h) == 0 {
		return "it is empty, which servers treat as no filter: use nil to omit it"
	}
	for name := range h {
		if strings.TrimSpace(name) == "" {
			return "a key of it is blank"
		}
	}
	return ""
}

func oldRefusedID(id int64) string {
	if id <= 0 {
		return "id " + strconv.FormatInt(id, 10) + " is not positive"
	}
	return ""
}

func oldRefusedWord(name string) string {
	for _, word := range []string{"None", "Any"} {
		if strings.EqualFold(name, word) {
			return strconv.Quote(name) + " cannot be selected: the server reads it as a keyword. For the keyword, use forge." + word
		}
	}
	return ""
}

// oldTypes returns the types of the shadow for types of options.
func oldTypes() map[reflect.Type]reflect.Type {
	types := map[reflect.Type]reflect.Type{
		reflect.TypeFor[ID](): reflect.TypeFor[oldID](), reflect.TypeFor[Text](): reflect.TypeFor[oldText](), reflect.TypeFor[*Number](): reflect.TypeFor[*oldNumber](),
		reflect.TypeFor[LabelNames](): reflect.TypeFor[oldLabels](), reflect.TypeFor[Hash](): reflect.TypeFor[oldHash](),
	}
	for _, filter := range []reflect.Type{
		reflect.TypeFor[IDFilter](), reflect.TypeFor[IDListFilter](), reflect.TypeFor[NumberFilter](), reflect.TypeFor[TextFilter](), reflect.TypeFor[LabelFilter](), reflect.TypeFor[MilestoneFilter](),
	} {
		types[filter] = reflect.TypeFor[query.Encoder]()
	}
	return types
}

// shadow returns a pointer to the shadow of a struct.
func shadow(v reflect.Value) reflect.Value {
	var fields []reflect.StructField
	var values []reflect.Value
	for field, value := range v.Fields() {
		inner := field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct
		kind, changed := oldTypes()[field.Type]
		switch {
		case changed:
			value = oldValue(value, kind)
		case inner && value.IsNil():
			kind, value = reflect.TypeFor[*struct{}](), reflect.Zero(reflect.TypeFor[*struct{}]())
		case inner:
			value = shadow(value.Elem())
			kind = value.Type()
		default:
			kind = field.Type
		}
		fields = append(fields, reflect.StructField{Name: field.Name, Type: kind, Tag: field.Tag})
		values = append(values, value)
	}
	s := reflect.New(reflect.StructOf(fields))
	for i, value := range values {
		s.Elem().Field(i).Set(value)
	}
	return s
}

// oldValue returns the value of a filter as one of the types above.
func oldValue(v reflect.Value, kind reflect.Type) reflect.Value {
	if kind.Kind() != reflect.Interface && kind != reflect.TypeFor[oldLabels]() {
		return v.Convert(kind)
	}
	if kind.Kind() == reflect.Interface && v.IsNil() {
		return reflect.Zero(kind)
	}
	switch value := v.Interface().(type) {
	case ID:
		return reflect.ValueOf(oldID(value))
	case *ID:
		return reflect.ValueOf((*oldID)(value))
	case Number:
		return reflect.ValueOf(oldNumber(value))
	case *Number:
		return reflect.ValueOf((*oldNumber)(value))
	case Text:
		return reflect.ValueOf(oldText(value))
	case *Text:
		return reflect.ValueOf((*oldText)(value))
	case wildcard:
		return reflect.ValueOf(oldWord(value))
	case milestoneTime:
		return reflect.ValueOf(oldWord(value))
	case IDList:
		return reflect.ValueOf(oldIDs(value.IDs()))
	case LabelNames:
		if value == (LabelNames{}) {
			return reflect.ValueOf(oldLabels(nil))
		}
		return reflect.ValueOf(oldLabels(value.Names()))
	}
	panic("no old type of " + v.Elem().Type().String())
}

// oldField is a field of a shadow.
type oldField struct {
	index                  int
	key, layout            string
	refusal                func(v reflect.Value) string
	inner                  []oldField
	foreign, list, isATime bool
}

func (f *oldField) unset(v reflect.Value) bool {
	return v.IsZero() || f.isATime && v.Interface().(time.Time).IsZero()
}

func oldFields(t reflect.Type, outer string) (fields []oldField) {
	for field := range t.Fields() {
		name, options, _ := strings.Cut(field.Tag.Get("url"), ",")
		if name == "" || name == "-" {
			continue
		}
		if outer != "" {
			name = outer + "[" + name + "]"
		}
		f := oldField{index: field.Index[0], key: name, list: field.Type.Kind() == reflect.Slice, refusal: oldRefusalOf(field.Type)}
		if strings.Contains(options, "brackets") {
			f.key += "[]"
		}
		if field.Type == reflect.TypeFor[time.Time]() {
			f.isATime, f.layout = true, cmp.Or(field.Tag.Get("layout"), timeLayout)
		}
		if field.Type.Kind() == reflect.Pointer && field.Type.Elem().Kind() == reflect.Struct && outer == "" {
			f.inner = oldFields(field.Type.Elem(), name)
		}
		fields = append(fields, f)
	}
	return fields
}

func oldRefusalOf(t reflect.Type) func(reflect.Value) string {
	switch {
	case t == reflect.TypeFor[oldText](): // of not, which has no keywords
		return func(v reflect.Value) string {
			if strings.TrimSpace(v.String()) == "" {
				return "it is blank, which servers treat as omitted"
			}
			return ""
		}
	case t == reflect.TypeFor[oldLabels]():
		return func(v reflect.Value) string {
			if v.Len() == 0 {
				return "no labels: omit the field"
			}
			if slices.ContainsFunc(v.Interface().(oldLabels), func(name string) bool { return strings.TrimSpace(name) == "" }) {
				return "a label is blank"
			}
			return ""
		}
	case t.Kind() == reflect.Interface || t.Implements(reflect.TypeFor[oldValidator]()):
		return func(v reflect.Value) string {
			if v.Kind() == reflect.Interface && v.Elem().Kind() == reflect.Pointer && v.Elem().IsNil() {
				return ""
			}
			if filter, ok := v.Interface().(oldValidator); ok {
				return filter.refusal()
			}
			return ""
		}
	case t == reflect.TypeFor[int64]():
		return func(v reflect.Value) string { return oldRefusedID(v.Int()) }
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.String || t == reflect.TypeFor[[]int64]():
		return oldRefusedList
	case t == reflect.TypeFor[int]():
		return func(v reflect.Value) string {
			if v.Int() < 0 {
				return strconv.FormatInt(v.Int(), 10) + " is negative"
			}
			return ""
		}
	case t.Kind() == reflect.String:
		return func(v reflect.Value) string {
			if strings.TrimSpace(v.String()) == "" {
				return "it is blank, which servers treat as omitted"
			}
			return ""
		}
	}
	return nil
}

func oldRefusedList(v reflect.Value) string {
	if v.Len() == 0 {
		return "it is empty, which servers treat as no filter: use nil to omit it"
	}
	for i := range v.Len() {
		if item := v.Index(i); item.Kind() == reflect.Int64 {
			if reason := oldRefusedID(item.Int()); reason != "" {
				return reason
			}
		} else if strings.TrimSpace(item.String()) == "" {
			return "element " + strconv.Itoa(i) + " is blank"
		}
	}
	return ""
}

func oldDocumentedOn(fields []oldField, documented string) []oldField {
	all := make([]oldField, len(fields))
	for i, f := range fields {
		if all[i] = f; f.inner != nil {
			all[i].inner = oldDocumentedOn(f.inner, documented)
		} else {
			all[i].foreign = !strings.Contains(documented, " "+strings.TrimSuffix(f.key, "[]")+" ")
		}
	}
	return all
}

// oldCheck checks the fields of a shadow, as documented for the route.
func oldCheck(v reflect.Value, r *route) error {
	fields := oldFields(v.Type(), "")
	if documented := r.parameters(); documented != "" {
		fields = oldDocumentedOn(fields, " "+documented+" ")
	}
	return oldCheckStruct(v, fields, r)
}

func oldCheckStruct(v reflect.Value, fields []oldField, r *route) error {
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
			if err := oldCheckStruct(value.Elem(), f.inner, r); err != nil {
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

// oldEncode returns the query of a shadow: without times by go-querystring, and then times and
// empty lists.
func oldEncode(v reflect.Value) (url.Values, error) {
	fields := oldFields(v.Type(), "")
	if err := oldCheckNil(v, fields); err != nil {
		return nil, err
	}
	others := reflect.New(v.Type()).Elem()
	others.Set(v)
	for _, f := range fields {
		if f.isATime {
			others.Field(f.index).SetZero()
		}
	}
	values, err := query.Values(others.Interface())
	if err == nil {
		err = oldEncodeFields(values, v, fields)
	}
	return values, err
}

func oldCheckNil(v reflect.Value, fields []oldField) error {
	for _, f := range fields {
		switch value := v.Field(f.index); {
		case f.unset(value):
		case value.Kind() == reflect.Interface && value.Elem().Kind() == reflect.Pointer && value.Elem().IsNil():
			return &ValidationError{Param: f.key, Reason: "it is a nil " + strings.Replace(value.Elem().Type().String(), ".old", ".", 1)}
		case f.inner != nil:
			if err := oldCheckNil(value.Elem(), f.inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func oldEncodeFields(values url.Values, v reflect.Value, fields []oldField) error {
	for _, f := range fields {
		value := v.Field(f.index)
		switch {
		case f.unset(value):
		case f.isATime:
			text, err := writeTime(value.Interface().(time.Time), f.layout, f.key)
			if err != nil {
				return &ValidationError{Param: f.key, Reason: err.Error()}
			}
			values.Set(f.key, text)
		case f.list && value.Len() == 0:
			values.Set(f.key, "")
		case f.inner != nil:
			if err := oldEncodeFields(values, value.Elem(), f.inner); err != nil {
				return err
			}
		}
	}
	return nil
}
