package forge

import (
	"bytes"
	"encoding/json"
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

	"github.com/google/go-querystring/query"
)

// checker is implemented by options with rules of their own: required, exclusive and companion parameters,
// patterns, hard sizes. It runs before anything is sent, on the zero options where the caller gave nil.
type checker interface{ check() error }

// payload is an encoded body that can be opened again for each attempt.
type payload struct {
	contentType string
	size        int64
	open        func() (io.ReadCloser, error)
	once        bool       // cannot be opened a second time
	form        *multiform // what a multipart body is made of
}

// multiform is text fields and one file.
type multiform struct {
	fields    map[string]string
	fileField string
	file      File
}

// encodeQuery makes a query of url-tagged options; nil gives none.
func encodeQuery(options any) (url.Values, error) {
	values, err := query.Values(withWireTimes(options))
	if err != nil {
		return nil, nameOption(options, err)
	}
	return values, nil
}

// wireTime is a time.Time that writes itself. Of others go-querystring looks through all sixty methods, for each time anew, which is a
// third of what a query of many filters costs.
type wireTime time.Time

// EncodeValues writes RFC 3339, to the second.
func (t wireTime) EncodeValues(key string, v *url.Values) error {
	return set(v, key, time.Time(t).Format(time.RFC3339))
}

// IsZero tells what is not sent.
func (t wireTime) IsZero() bool { return time.Time(t).IsZero() }

var (
	timeType     = reflect.TypeFor[time.Time]()
	wireTimeType = reflect.TypeFor[wireTime]()
	timedTypes   sync.Map // of types of options
)

// timedType is what a type of options looks like with wire times; to is nil where it has no times, or fields that cannot be moved.
type timedType struct {
	to    reflect.Type
	times []int
}

// withWireTimes gives options with times as a struct with wire times, and others as they are.
func withWireTimes(options any) any {
	v := reflect.Indirect(reflect.ValueOf(options))
	if v.Kind() != reflect.Struct {
		return options
	}
	known, ok := timedTypes.Load(v.Type())
	if !ok {
		known, _ = timedTypes.LoadOrStore(v.Type(), newTimedType(v.Type()))
	}
	t := known.(*timedType)
	if t.to == nil || !slices.ContainsFunc(t.times, func(i int) bool { return !v.Field(i).IsZero() }) {
		return options
	}
	timed := reflect.New(t.to).Elem()
	for i := range v.NumField() {
		if field := v.Field(i); field.Type() == timeType {
			timed.Field(i).Set(field.Convert(wireTimeType))
		} else {
			timed.Field(i).Set(field)
		}
	}
	return timed.Addr().Interface()
}

func newTimedType(from reflect.Type) *timedType {
	t, fields := &timedType{}, []reflect.StructField{}
	for field := range from.Fields() {
		if field.Anonymous || !field.IsExported() {
			return t
		}
		if field.Type == timeType {
			t.times = append(t.times, field.Index[0])
			field.Type = wireTimeType
		}
		fields = append(fields, reflect.StructField{Name: field.Name, Type: field.Type, Tag: field.Tag})
	}
	if len(t.times) > 0 {
		t.to = reflect.StructOf(fields)
	}
	return t
}

// encodeJSON makes a JSON body of json-tagged options.
func encodeJSON(options any) (*payload, error) {
	data, err := json.Marshal(options)
	if err == nil {
		data, err = withExtra(options, data)
	}
	return jsonPayload(options, data, err)
}

// jsonPayload is the body that was made of the options, or says why none could be.
func jsonPayload(options any, data []byte, err error) (*payload, error) {
	if err != nil {
		return nil, &ValidationError{Option: optionsName(options), Reason: "it cannot be written as JSON: " + err.Error()}
	}
	return bytesPayload("application/json", data), nil
}

// extender is implemented by options that take parameters which no field names.
type extender interface{ extra() map[string]any }

// withExtra adds what no field names to an object that was made of the options.
func withExtra(options any, object []byte) ([]byte, error) {
	more, ok := options.(extender)
	if !ok {
		return object, nil
	}
	return mergeExtra(object, more.extra())
}

// mergeExtra adds members to an object. A field's own value is not overwritten: the two would contradict each other.
func mergeExtra(object []byte, extra map[string]any) ([]byte, error) {
	if len(extra) == 0 {
		return object, nil
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(object, &members); err != nil {
		return nil, err
	}
	for name, value := range extra {
		if _, twice := members[name]; twice {
			return nil, fmt.Errorf("the map Extra holds %q, which a field sets too", name)
		}
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		members[name] = text
	}
	return json.Marshal(members)
}

// encodeForm makes a form body of url-tagged options; url.Values.Encode escapes a + in a pattern.
func encodeForm(options any) (*payload, error) {
	values, err := encodeQuery(options)
	if err != nil {
		return nil, err
	}
	return bytesPayload("application/x-www-form-urlencoded", []byte(values.Encode())), nil
}

func bytesPayload(contentType string, data []byte) *payload {
	return &payload{contentType: contentType, size: int64(len(data)), open: func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(data)), nil
	}}
}

// encodeMultipart makes a multipart body of text fields and one file, which is streamed. The boundary is chosen once,
// so every attempt sends the same bytes, and their number is known before.
func encodeMultipart(fields map[string]string, fileField string, file File) (*payload, error) {
	if err := file.check(); err != nil {
		return nil, &ValidationError{Option: "File", Param: fileField, Reason: err.Error()}
	}
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := w.WriteField(name, fields[name]); err != nil {
			return nil, err
		}
	}
	if _, err := w.CreateFormFile(fileField, orDefault(file.Name, defaultFileName)); err != nil {
		return nil, err
	}
	tail := []byte("\r\n--" + w.Boundary() + "--\r\n")
	return &payload{
		contentType: w.FormDataContentType(),
		size:        int64(head.Len()) + file.Size + int64(len(tail)),
		once:        file.once,
		form:        &multiform{fields, fileField, file},
		open: func() (io.ReadCloser, error) {
			content, err := file.Open()
			if err != nil {
				return nil, err
			}
			exact := &exactReader{ReadCloser: content, left: file.Size}
			return struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(head.Bytes()), exact, bytes.NewReader(tail)), content}, nil
		},
	}, nil
}

// orZero gives the options, or zero ones of the same type where the caller passed nil, so that
// checks and encoders never meet a nil.
func orZero(options any) any {
	v := reflect.ValueOf(options)
	if v.Kind() == reflect.Pointer && v.IsNil() {
		return reflect.New(v.Type().Elem()).Interface()
	}
	return options
}

// nameOption completes an error of an encoder, which knows the wire name only, with the Go name of the field.
func nameOption(options any, err error) error {
	var invalid *ValidationError
	if !errors.As(err, &invalid) {
		return &ValidationError{Option: optionsName(options), Reason: err.Error()}
	}
	named := *invalid
	if named.Option == "" {
		named.Option = optionsName(options) + "." + fieldOf(reflect.TypeOf(options), named.Param)
	}
	return &named
}

// optionsName is the type's name as its caller writes it.
func optionsName(options any) string {
	return strings.TrimPrefix(strings.TrimLeft(fmt.Sprintf("%T", options), "*"), "forge.")
}

// fieldOf finds the field path for a wire name such as not[milestone] or iids[].
func fieldOf(t reflect.Type, wire string) string {
	first, inner, nested := strings.Cut(strings.TrimSuffix(wire, "[]"), "[")
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return wire
	}
	for field := range t.Fields() {
		name, _, _ := strings.Cut(orDefault(field.Tag.Get("url"), field.Tag.Get("json")), ",")
		if name != first {
			continue
		}
		if !nested {
			return field.Name
		}
		return field.Name + "." + fieldOf(field.Type, strings.Replace(inner, "]", "", 1))
	}
	return wire
}
