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
	foreign     bool       // opening and reading it runs the caller's code
	form        *multiform // what a multipart body is made of
}

// multipartBody is an open multipart body. own: its file is read by the library's own code alone.
type multipartBody struct {
	io.Reader
	io.Closer
	own bool
}

// multiform is text fields and one file.
type multiform struct {
	fields    map[string]string
	fileField string
	file      File
}

// encodeQuery makes a query of url-tagged options; nil gives none. Times are written here: go-querystring looks for one that writes
// itself among the sixty methods of each, which is a third of what a query of many filters costs.
func encodeQuery(options any) (url.Values, error) {
	v := reflect.Indirect(reflect.ValueOf(options))
	if err := checkNil(v); err != nil {
		return nil, nameOption(options, err)
	}
	times, rest := setTimes(v), options
	if len(times) > 0 {
		others := reflect.New(v.Type())
		others.Elem().Set(v)
		for _, field := range times {
			others.Elem().Field(field.index).SetZero()
		}
		rest = others.Interface()
	}
	values, err := query.Values(rest)
	if err != nil {
		return nil, nameOption(options, err)
	}
	for _, field := range times {
		values.Set(field.name, v.Field(field.index).Interface().(time.Time).Format(time.RFC3339))
	}
	return values, nil
}

// checkNil refuses a nil pointer in a filter, such as (*ID)(nil): its methods would panic. Names
// are looked up only for the refusal, since every query is checked.
func checkNil(v reflect.Value) error {
	if v.Kind() != reflect.Struct {
		return nil
	}
	for i := range v.NumField() {
		reason, inner := "", ""
		switch field := v.Field(i); field.Kind() {
		case reflect.Interface:
			if value := field.Elem(); value.Kind() == reflect.Pointer && value.IsNil() {
				reason = "it is a nil " + value.Type().String()
			}
		case reflect.Pointer:
			var nested *ValidationError
			if errors.As(checkNil(field.Elem()), &nested) {
				reason, inner = nested.Reason, "["+nested.Param+"]"
			}
		}
		if reason != "" {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("url"), ",")
			return &ValidationError{Param: name + inner, Reason: reason}
		}
	}
	return nil
}

// timeField is a field of options that holds a time.
type timeField struct {
	index int
	name  string
}

var timeFields sync.Map // of types of options

// setTimes lists the times that the options have.
func setTimes(v reflect.Value) []timeField {
	if v.Kind() != reflect.Struct {
		return nil
	}
	known, ok := timeFields.Load(v.Type())
	if !ok {
		var all []timeField
		for field := range v.Type().Fields() {
			name, option, _ := strings.Cut(field.Tag.Get("url"), ",")
			if field.Type == reflect.TypeFor[time.Time]() && option == "omitempty" {
				all = append(all, timeField{field.Index[0], name})
			}
		}
		known, _ = timeFields.LoadOrStore(v.Type(), all)
	}
	var set []timeField
	for _, field := range known.([]timeField) {
		if t := v.Field(field.index).Interface().(time.Time); !t.IsZero() {
			set = append(set, field)
		}
	}
	return set
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
		return nil, &ValidationError{Option: "File", Param: fileField, Reason: err.Error(), cause: err}
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
		foreign:     true,
		form:        &multiform{fields, fileField, file},
		open: func() (io.ReadCloser, error) {
			content, err := file.open()
			if err != nil {
				return nil, err
			}
			whole := io.MultiReader(bytes.NewReader(head.Bytes()), content, bytes.NewReader(tail))
			return &multipartBody{Reader: whole, Closer: content, own: content.own}, nil
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
		named.Option = optionName(options, named.Param)
	}
	return &named
}

// optionName is the Go name of the option for a wire name.
func optionName(options any, param string) string {
	if o, ok := options.(interface{ optionName(param string) string }); ok {
		return o.optionName(param)
	}
	return optionsName(options) + "." + fieldOf(reflect.TypeOf(options), param)
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
