package forge

import (
	"errors"
	"maps"
	"net/url"
	"reflect"
	"strings"
	"time"

	"github.com/google/go-querystring/query"
)

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
