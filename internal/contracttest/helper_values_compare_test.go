package contracttest_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	forge "github.com/forge-sdk/forge-go"
)

// This file finds JSON values in Go values, for TestNothingSentIsLost. It uses the fields and their
// tags, and no decoder of the package.

var (
	rawType   = reflect.TypeFor[json.RawMessage]()
	timeType  = reflect.TypeFor[time.Time]()
	dateType  = reflect.TypeFor[forge.Date]()
	bytesType = reflect.TypeFor[[]byte]()
)

// parsedJSON reads JSON with the literals of its numbers.
func parsedJSON(text []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return fmt.Errorf("invalid: %w", err)
	}
	return value
}

func sameJSON(text []byte, want any) bool { return reflect.DeepEqual(parsedJSON(text), want) }

// fieldOfKey returns the field for a key, including the fields of embedded structs.
func fieldOfKey(v reflect.Value, key string) (field reflect.Value, found bool) {
	for f, value := range v.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous && name == "" && value.Kind() == reflect.Struct {
			if field, found = fieldOfKey(value, key); found {
				return field, true
			}
		} else if name == key && name != "-" && f.IsExported() {
			return value, true
		}
	}
	return reflect.Value{}, false
}

// extraOf returns the Extra of a struct; nil if it has none.
func extraOf(v reflect.Value) map[string]json.RawMessage {
	if field := v.FieldByName("Extra"); field.IsValid() {
		extra, _ := field.Interface().(map[string]json.RawMessage)
		return extra
	}
	return nil
}

// valueAt returns the value at a JSON pointer.
func valueAt(v reflect.Value, pointer string) (reflect.Value, bool) {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		for v.Kind() == reflect.Pointer && !v.IsNil() {
			v = v.Elem()
		}
		if pointer == "" {
			return v, true
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		found := false
		switch v.Kind() {
		case reflect.Struct:
			v, found = fieldOfKey(v, token)
		case reflect.Slice:
			if i, err := strconv.Atoi(token); err == nil && i < v.Len() {
				v, found = v.Index(i), true
			}
		case reflect.Map:
			v = v.MapIndex(reflect.ValueOf(token))
			found = v.IsValid()
		}
		if !found {
			return v, false
		}
	}
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	return v, true
}

// holding states how completely a Go value holds a JSON value.
type holding int

const (
	lost   holding = iota
	asText         // a scalar of another type with the same text
	whole
)

func isNullable(kind reflect.Type) bool { return strings.HasPrefix(kind.Name(), "Nullable[") }

// nullableParts returns the parts of a Nullable. value is invalid for null and if it is not set.
func nullableParts(v reflect.Value) (value reflect.Value, null, is bool) {
	if !v.CanInterface() || !isNullable(v.Type()) {
		return value, false, false
	}
	if got := v.MethodByName("Get").Call(nil); got[1].Bool() {
		value = got[0]
	}
	return value, v.MethodByName("IsNull").Call(nil)[0].Bool(), true
}

// holds reports how completely v holds the JSON value and everything in it.
func holds(v reflect.Value, want any) holding {
	if value, null, is := nullableParts(v); is {
		if value.IsValid() {
			return holds(value, want)
		}
		return wholeIf(null && want == nil)
	}
	switch {
	case want == nil:
		return wholeIf(v.IsZero() || v.Type() == rawType && string(v.Bytes()) == "null")
	case v.Type() == rawType:
		return wholeIf(sameJSON(v.Bytes(), want))
	case v.Kind() == reflect.Pointer:
		if v.IsNil() {
			return lost
		}
		return holds(v.Elem(), want)
	}
	switch want := want.(type) {
	case map[string]any:
		return holdsObject(v, want)
	case []any:
		return holdsArray(v, want)
	case string:
		return holdsString(v, want)
	case json.Number:
		return holdsNumber(v, want)
	case bool:
		if v.Kind() == reflect.Bool {
			return wholeIf(v.Bool() == want)
		}
		return textIf(v, strconv.FormatBool(want))
	}
	return lost
}

func wholeIf(yes bool) holding {
	if yes {
		return whole
	}
	return lost
}

func textIf(v reflect.Value, text string) holding {
	if v.Kind() == reflect.String && v.String() == text {
		return asText
	}
	return lost
}

func holdsObject(v reflect.Value, want map[string]any) (least holding) {
	least = whole
	switch {
	case v.Kind() == reflect.Struct && v.Type() != timeType && v.Type() != dateType:
		extra := extraOf(v)
		for key, inner := range want {
			field, found := fieldOfKey(v, key)
			switch raw, kept := extra[key]; {
			case kept && sameJSON(raw, inner):
			case found:
				least = min(least, holds(field, inner))
			default:
				least = lost
			}
		}
		return least
	case v.Kind() == reflect.Map:
		if v.Len() != len(want) {
			return lost
		}
		for key, inner := range want {
			element := v.MapIndex(reflect.ValueOf(key))
			if !element.IsValid() {
				return lost
			}
			least = min(least, holds(element, inner))
		}
		return least
	}
	return lost
}

func holdsArray(v reflect.Value, want []any) (least holding) {
	if v.Kind() != reflect.Slice || v.Type() == bytesType || v.Len() != len(want) {
		return lost
	}
	least = whole
	for i, inner := range want {
		least = min(least, holds(v.Index(i), inner))
	}
	return least
}

// timeForms are forms of timestamps that servers send.
var timeForms = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02T15:04:05.999999999Z07", "2006-01-02 15:04:05.999999999 MST",
	"2006-01-02 15:04:05.999999999 -0700", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	time.DateOnly, time.RFC1123, time.RFC1123Z}

func holdsString(v reflect.Value, want string) holding {
	if v.Type() == reflect.TypeFor[[]string]() && v.Len() == 1 { // a text is decoded as a list with one item
		return wholeIf(v.Index(0).String() == want)
	}
	switch {
	case v.Type() == timeType:
		return wholeIf(slices.ContainsFunc(timeForms, func(form string) bool {
			at, err := time.Parse(form, want)
			return err == nil && !at.IsZero() && at.Equal(v.Interface().(time.Time))
		}))
	case v.Type() == dateType:
		return wholeIf(slices.ContainsFunc(timeForms, func(form string) bool {
			at, err := time.Parse(form, want)
			return err == nil && !at.IsZero() && at.Format(time.DateOnly) == v.Interface().(forge.Date).String()
		}))
	case v.Type() == bytesType:
		content, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(want, "\n", ""))
		return wholeIf(err == nil && bytes.Equal(content, v.Bytes()))
	}
	switch v.Kind() {
	case reflect.String:
		return wholeIf(v.String() == want)
	case reflect.Int, reflect.Int64, reflect.Float64, reflect.Bool:
		if fmt.Sprint(v.Interface()) == want {
			return asText
		}
	case reflect.Struct:
		return holdsScalar(v, want)
	}
	return lost
}

// holdsScalar is for types that are also decoded from a scalar instead of an object: one field has
// the scalar, and the other fields are zero.
func holdsScalar(v reflect.Value, want any) holding {
	others := reflect.New(v.Type()).Elem()
	others.Set(v)
	for field := range v.Type().Fields() {
		if !field.IsExported() || field.Type.Kind() == reflect.Map || holds(v.FieldByIndex(field.Index), want) != whole {
			continue
		}
		others.FieldByIndex(field.Index).SetZero()
		return wholeIf(others.IsZero())
	}
	return lost
}

func holdsNumber(v reflect.Value, want json.Number) holding {
	exact, isExact := new(big.Rat).SetString(want.String())
	switch {
	case !isExact:
		return lost
	case v.Kind() == reflect.Int || v.Kind() == reflect.Int64:
		return wholeIf(new(big.Rat).SetInt64(v.Int()).Cmp(exact) == 0)
	case v.Kind() == reflect.Float64:
		have := new(big.Rat).SetFloat64(v.Float())
		nearest, _ := exact.Float64()
		return wholeIf(have != nil && (have.Cmp(exact) == 0 || !exact.IsInt() && nearest == v.Float()))
	case v.Kind() == reflect.Struct && v.Type() != timeType && v.Type() != dateType:
		return holdsScalar(v, want)
	}
	return textIf(v, want.String())
}

// partOf reports whether a field holds only elements of an array or a map that are in the JSON
// value, or nothing.
func partOf(v reflect.Value, want any) bool {
	if v.IsZero() {
		return true
	}
	switch want := want.(type) {
	case []any:
		if v.Kind() != reflect.Slice || v.Type() == bytesType || v.Type() == rawType {
			return false
		}
		have := 0
		for _, inner := range want {
			if have < v.Len() && (holds(v.Index(have), inner) != lost) {
				have++
			}
		}
		return have == v.Len()
	case map[string]any:
		if v.Kind() != reflect.Map {
			return false
		}
		for key, element := range v.Seq2() {
			if inner, known := want[key.String()]; !known || !partOf(element, inner) && holds(element, inner) == lost {
				return false
			}
		}
		return true
	}
	return false
}

// differences lists the places in which two values of one type differ, except at or below a
// pointer.
func differences(a, b reflect.Value, at, but string) []string {
	if but != "" && (at == but || strings.HasPrefix(at, but+"/")) {
		return nil
	}
	here := func() []string { return []string{fmt.Sprintf("%s: %v, before %v", at, b, a)} }
	switch {
	case a.Type() == timeType:
		if a.Interface().(time.Time).Equal(b.Interface().(time.Time)) {
			return nil
		}
		return here()
	case a.Kind() == reflect.Pointer:
		if a.IsNil() || b.IsNil() {
			if a.IsNil() == b.IsNil() {
				return nil
			}
			return here()
		}
		return differences(a.Elem(), b.Elem(), at, but)
	case a.Kind() == reflect.Struct && !isNullable(a.Type()):
		return structDifferences(a, b, at, but)
	case a.Kind() == reflect.Slice && a.Type() != rawType && a.Type() != bytesType:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return here()
		}
		var found []string
		for i := range a.Len() {
			found = append(found, differences(a.Index(i), b.Index(i), fmt.Sprintf("%s/%d", at, i), but)...)
		}
		return found
	}
	if reflect.DeepEqual(a.Interface(), b.Interface()) {
		return nil
	}
	return here()
}

func structDifferences(a, b reflect.Value, at, but string) (found []string) {
	for field := range a.Type().Fields() {
		x, y := a.FieldByIndex(field.Index), b.FieldByIndex(field.Index)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case !field.IsExported():
		case field.Name == "Extra":
			one, other := extraOf(a), extraOf(b)
			for key, raw := range one {
				if pointer := at + "/" + pointerToken(key); pointer != but && !bytes.Equal(raw, other[key]) {
					found = append(found, fmt.Sprintf("Extra of %q at %s: %s, before %s", at, key, other[key], raw))
				}
			}
			for key, raw := range other {
				if pointer := at + "/" + pointerToken(key); pointer != but && one[key] == nil {
					found = append(found, fmt.Sprintf("Extra of %q at %s: %s, before nothing", at, key, raw))
				}
			}
		case field.Anonymous:
			found = append(found, differences(x, y, at, but)...)
		default:
			found = append(found, differences(x, y, at+"/"+pointerToken(name), but)...)
		}
	}
	return found
}
