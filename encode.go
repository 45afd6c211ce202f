package forge

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/google/go-querystring/query"
)

// Decisions about requests:
//
//   - exclude_paths is sent as exclude_paths[], as documented, so that a path may have a comma. For
//     a deployed server that expects one joined value, use Query("exclude_paths", "a,b").
//   - Times are sent in UTC, in milliseconds, as in responses; for audit events in seconds, the
//     only form of Document 1 §4.7. An upper bound is rounded up and every other time down, so
//     that a bound includes the item that it was taken from.
//   - go-querystring encodes queries and forms by the url tags. It knows neither the rounding of
//     times, nor empty lists that are sent, nor nil pointers in filters; wireCopy does. Times are
//     written there, too: go-querystring searches the sixty methods of time.Time for an encoder,
//     which is a tenth of the call of a list with 20 filters.
//   - Values that cannot be encoded are an error even with SkipValidation: a comma in a label,
//     brackets in the key of a Hash, a nil pointer in a filter, a time that RFC 3339 cannot
//     represent, a fraction of a second in MaximumTimeout. SkipValidation disables every other rule
//     of options.
//   - Lengths of time in options are Go types: WorkDuration and Age where the API has a human
//     form, time.Duration where it has seconds. Settings keep integers with their units in the
//     names or comments; response types keep the numbers of the response.
//   - The fields of not take ids, names and numbers, but not None or Any. Document 2 (§4.1.1,
//     §4.2.1) lists only the keys of not, and not[x]=None would mean x=Any. A name such as None is
//     sent there as a name. Only not[milestone_id] takes words, since it takes nothing else. Two
//     keys of not exclude each other if the rows of these names do: both assignee keys of merge
//     requests may be sent, since their lists document no assignee_username.
//   - Zero is not a duration for SetTimeEstimate and AddSpentTime: the resets are separate calls.
//   - FileReader and FileBytes take no name; File.Named sets one. Few endpoints use the name in a
//     multipart body.
//   - The filters of a list are sent in the query only, also if it is too long (Document 1 §2.1
//     rule 7): no list documents a body, and proxies drop that of a GET.
//   - Promote without a body sends /promote alone. A body without the command is an error,
//     because it would only add a comment.

// checker is implemented by options that have rules: required, exclusive and companion parameters,
// patterns, hard sizes. It runs before anything is sent; nil options are checked as zero options.
type checker interface{ check() error }

// payload is an encoded body that can be opened again for each attempt.
type payload struct {
	contentType string
	size        int64
	open        func() (io.ReadCloser, error)
	once        bool       // cannot be opened twice
	codings     []string   // of Request.TransferEncoding
	form        *multiform // the parts of a multipart body
}

// multiform holds text fields and one file.
type multiform struct {
	fields    url.Values
	fileField string
	file      File
}

// encodeJSON returns the JSON body of json-tagged options.
func encodeJSON(options any) (*payload, error) {
	data, err := marshalFields(options)
	if err == nil {
		data, err = withExtra(options, data)
	}
	return newJSONPayload(options, data, err)
}

// marshalFields encodes options as JSON, with times and durations in the form of the API. A
// caller-supplied body has no rules and is encoded by encoding/json.
func marshalFields(options any) ([]byte, error) {
	v := reflect.Indirect(reflect.ValueOf(options))
	if _, ours := options.(checker); !ours || v.Kind() != reflect.Struct {
		return marshalCallers(options)
	}
	others, written := v, map[string]any{}
	for _, f := range fieldsOf(v.Type()) {
		if f.unset(v.Field(f.index)) {
			continue
		}
		value, converted, err := wireForm(f.key, v.Field(f.index).Interface())
		if err != nil {
			return nil, &ValidationError{Param: f.key, Reason: err.Error()}
		}
		if !converted {
			continue
		}
		if len(written) == 0 {
			others = reflect.New(v.Type()).Elem()
			others.Set(v)
		}
		others.Field(f.index).SetZero()
		written[f.key] = value
	}
	if len(written) == 0 {
		return marshalCallers(options)
	}
	data, err := marshalCallers(others.Interface())
	if err != nil {
		return nil, err
	}
	return mergeExtra(data, written)
}

// newJSONPayload returns the encoded options as a body, or an error if they cannot be encoded.
func newJSONPayload(options any, data []byte, err error) (*payload, error) {
	if invalid := (*ValidationError)(nil); errors.As(err, &invalid) {
		return nil, nameOption(options, err)
	}
	if err != nil {
		return nil, &ValidationError{Option: optionsName(options), Reason: "it cannot be encoded as JSON: " + err.Error()}
	}
	replaced := bytes.Contains(data, []byte(`\ufffd`)) || bytes.Contains(data, []byte("\ufffd"))
	if !utf8.Valid(data) || replaced && !isUTF8(reflect.ValueOf(options), map[textPlace]bool{}) {
		return nil, &ValidationError{Option: optionsName(options), Reason: "a text in it is not valid UTF-8, which JSON cannot have"}
	}
	return bytesPayload("application/json", data), nil
}

func bytesPayload(contentType string, data []byte) *payload {
	return &payload{contentType: contentType, size: int64(len(data)), open: func() (io.ReadCloser, error) {
		return ownContent{io.NopCloser(bytes.NewReader(data))}, nil
	}}
}

// encodeMultipart returns a multipart body of text fields and one file, which is streamed. The
// boundary is chosen once, so that every attempt sends the same bytes and their number is known in
// advance.
func encodeMultipart(fields url.Values, fileField string, file File) (*payload, error) {
	if err := file.check(); err != nil {
		return nil, &ValidationError{Option: "File", Param: fileField, Reason: err.Error(), cause: err}
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, text := range fields[name] {
			_ = w.WriteField(name, text) // a buffer returns no errors
		}
	}
	_, _ = w.CreateFormFile(fileField, file.Name)
	tail := []byte("\r\n--" + w.Boundary() + "--\r\n")
	return &payload{
		contentType: w.FormDataContentType(),
		size:        int64(head.Len()) + file.Size + int64(len(tail)),
		once:        file.once,
		form:        &multiform{fields, fileField, file},
		open: func() (io.ReadCloser, error) {
			content, err := file.open()
			if err != nil {
				return nil, err
			}
			var whole io.ReadCloser = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(head.Bytes()), content, bytes.NewReader(tail)), content}
			if content.own {
				whole = ownContent{whole}
			}
			return whole, nil
		},
	}, nil
}

var zeroOptions sync.Map // of reflect.Type: zero options, which nothing changes

// zeroIfNil returns the options, or zero options of the same type for nil.
func zeroIfNil(options any) any {
	v := reflect.ValueOf(options)
	if v.Kind() != reflect.Pointer || !v.IsNil() {
		return options
	}
	if zero, known := zeroOptions.Load(v.Type()); known {
		return zero
	}
	zero, _ := zeroOptions.LoadOrStore(v.Type(), reflect.New(v.Type().Elem()).Interface())
	return zero
}

// nameOption adds the Go name of the field to an error of an encoder, which knows the wire name
// only.
func nameOption(options any, err error) error {
	var invalid *ValidationError
	if !errors.As(err, &invalid) {
		return &ValidationError{Option: optionsName(options), Reason: err.Error()}
	}
	named := *invalid
	if named.Option == "" {
		named.Option = optionName(options, named.Param)
	}
	return &named
}

// optionName returns the Go name of the option for a wire name.
func optionName(options any, param string) string {
	if o, ok := options.(interface{ optionName(param string) string }); ok {
		return o.optionName(param)
	}
	return joinParts(".", optionsName(options), fieldOf(reflect.TypeOf(options), param))
}

// documentedValues returns the values of the field with a wire name; nil if its type has none.
func documentedValues(options any, param string) []string {
	t := reflect.TypeOf(options)
	if t == nil || t.Kind() != reflect.Pointer || t.Elem().Kind() != reflect.Struct {
		return nil
	}
	for name := range strings.SplitSeq(fieldOf(t, param), ".") {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		field, found := t.FieldByName(name)
		if !found {
			return nil
		}
		t = field.Type
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return constantsOf(t.Name())
}

// optionsName returns the type's name as the caller writes it.
func optionsName(options any) string {
	return strings.TrimPrefix(strings.TrimLeft(fmt.Sprintf("%T", options), "*"), "forge.")
}

// fieldOf returns the field path for a wire name such as not[milestone] or iids[]; "" if no field
// has the name.
func fieldOf(t reflect.Type, wire string) string {
	first, inner, nested := strings.Cut(wire, "[")
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(cmp.Or(field.Tag.Get("url"), field.Tag.Get("json")), ",")
		if name != first {
			continue
		}
		if !nested {
			return field.Name
		}
		return joinParts(".", field.Name, fieldOf(field.Type, strings.ReplaceAll(inner, "]", "")))
	}
	return ""
}

// encodeQuery returns the query of url-tagged options; nil for nil options. go-querystring encodes
// what wireCopy leaves to it, by the tags.
func encodeQuery(options any) (url.Values, error) {
	v := reflect.Indirect(reflect.ValueOf(options))
	if !v.IsValid() {
		return nil, nil
	}
	written := url.Values{}
	others, err := wireCopy(v, fieldsOf(v.Type()), written)
	if err != nil {
		return nil, nameOption(options, err)
	}
	values, err := query.Values(others.Interface())
	if err != nil {
		return nil, nameOption(options, err)
	}
	maps.Copy(values, written)
	return values, nil
}

// encodeForm returns the form body of url-tagged options; url.Values.Encode escapes a + in a
// pattern.
func encodeForm(options any) (*payload, error) {
	values, err := encodeQuery(options)
	if err != nil {
		return nil, err
	}
	return bytesPayload("application/x-www-form-urlencoded", []byte(values.Encode())), nil
}

// wireCopy writes the fields of a struct that go-querystring would omit, or write in another form
// than the API has. It returns a pointer to a copy with the others.
func wireCopy(v reflect.Value, fields []*optionField, written url.Values) (reflect.Value, error) {
	others := reflect.New(v.Type())
	others.Elem().Set(v)
	for _, f := range fields {
		value := others.Elem().Field(f.index)
		if f.unset(value) {
			continue
		}
		if err := f.toWire(value, written); err != nil {
			return others, err
		}
	}
	return others, nil
}

// toWire is wireCopy for a field of the copy. Times are in UTC, with the precision of the contract.
// A list that is empty but not nil, which only SkipValidation permits, is one empty text. A filter
// replaces the pointer to it, of which go-querystring would write the address.
func (f *optionField) toWire(v reflect.Value, written url.Values) error {
	switch {
	case f.layout != "":
		text, err := writeTime(v.Interface().(time.Time), f.layout, f.key)
		if err != nil {
			return &ValidationError{Param: f.key, Reason: err.Error()}
		}
		written.Set(f.key, text)
		v.SetZero()
	case f.inner != nil:
		others, err := wireCopy(v.Elem(), f.inner, written)
		v.Set(others)
		return err
	case v.Kind() == reflect.Interface:
		filter := reflect.Indirect(v.Elem())
		if !filter.IsValid() {
			return &ValidationError{Param: f.key, Reason: "it is a nil " + v.Elem().Type().String()}
		}
		if filter.Kind() == reflect.Struct { // of the caller, with the interface in it
			return &ValidationError{Param: f.key, Reason: "it has type " + v.Elem().Type().String() + ", which is not a filter of this package"}
		}
		v.Set(filter)
	case v.Kind() == reflect.Slice && v.Len() == 0:
		written.Set(f.key, "")
	}
	return nil
}

// timeLayout is the form of times that are sent: in UTC, with milliseconds, as in responses.
const timeLayout = "2006-01-02T15:04:05.000Z"

var errNoTime = errors.New("it is outside the years 0 to 9999, the range of RFC 3339")

// writeTime formats a time in UTC, with the precision of the layout. An upper bound is rounded up
// and every other time down, so that a bound includes the item that it was taken from.
func writeTime(t time.Time, layout, key string) (string, error) {
	unit := time.Second
	if strings.Contains(layout, ".000") {
		unit = time.Millisecond
	}
	rounded := t.UTC().Truncate(unit)
	if strings.HasSuffix(key, "_before") && rounded.Before(t) {
		rounded = rounded.Add(unit)
	}
	if year := rounded.Year(); year < 0 || year > 9999 {
		return "", errNoTime
	}
	return rounded.Format(layout), nil
}
