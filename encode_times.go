package forge

import (
	"errors"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// timeLayout is the form of times that are sent: in UTC, with milliseconds, as in responses.
const timeLayout = "2006-01-02T15:04:05.000Z"

var errNoTime = errors.New("it is outside the years 0 to 9999, which RFC 3339 can write")

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

// withoutTimes returns the options, or a copy without times if they have any.
func withoutTimes(v reflect.Value, set []*optionField, options any) any {
	var others reflect.Value
	for _, f := range set {
		if f.time {
			if !others.IsValid() {
				others = reflect.New(v.Type())
				others.Elem().Set(v)
			}
			others.Elem().Field(f.index).SetZero()
		}
	}
	if others.IsValid() {
		return others.Interface()
	}
	return options
}

// encodeFields adds what go-querystring does not write: times, and lists that are empty but not
// nil, which only SkipValidation permits.
func encodeFields(values url.Values, v reflect.Value, set []*optionField) error {
	for _, f := range set {
		value := v.Field(f.index)
		switch {
		case f.time:
			text, err := writeTime(value.Interface().(time.Time), f.layout, f.key)
			if err != nil {
				return &ValidationError{Param: f.key, Reason: err.Error()}
			}
			values.Set(f.key, text)
		case f.list && value.Len() == 0:
			values.Set(f.key, "")
		case f.inner != nil:
			if err := encodeFields(values, value.Elem(), fieldsSet(value.Elem(), f.inner)); err != nil {
				return err
			}
		}
	}
	return nil
}
