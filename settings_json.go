package forge

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"strconv"
	"strings"
)

// membersOf encodes a settings value as a JSON object, including the keys of its Extra, and splits
// it by key.
func membersOf(settings any) (map[string]json.RawMessage, error) {
	data, err := marshalCallers(settings)
	if err == nil {
		data, err = withExtra(settings, data)
	}
	members := map[string]json.RawMessage{}
	if err == nil {
		err = json.Unmarshal(data, &members)
	}
	if err != nil {
		return nil, &ValidationError{Option: optionsName(settings), Reason: "it cannot be encoded as JSON: " + err.Error()}
	}
	return members, nil
}

// appendKey appends a key of an object, and its colon.
func appendKey(text []byte, key string) ([]byte, error) {
	quoted, err := json.Marshal(key)
	return append(append(text, quoted...), ':'), err
}

// misfitsOf returns the values of a response's Extra under the key of a field that could not hold
// them and that has not been set since.
func misfitsOf[T any](response *T, extra map[string]json.RawMessage) (map[string]json.RawMessage, error) {
	misfits := map[string]json.RawMessage{}
	for name, value := range extra {
		field, named := fieldForKey(reflect.ValueOf(response).Elem(), name)
		if !named {
			continue
		}
		member, err := json.Marshal(map[string]json.RawMessage{name: value})
		if err != nil {
			return nil, &ValidationError{Option: optionsName(response), Param: name, Reason: "it cannot be encoded as JSON: " + err.Error()}
		}
		var again T
		if err := decodeInto(member, &again); err != nil {
			return nil, err
		}
		read, _ := fieldForKey(reflect.ValueOf(again), name)
		if reflect.ValueOf(again).FieldByName("Extra").Len() == 0 {
			return nil, &ValidationError{Option: optionsName(response), Param: name, Reason: "the map Extra holds it, although its field can: set the field"}
		}
		if reflect.DeepEqual(field.Interface(), read.Interface()) {
			misfits[name] = value
		}
	}
	return misfits, nil
}

// fieldForKey returns the field of a struct for a JSON key.
func fieldForKey(v reflect.Value, key string) (field reflect.Value, found bool) {
	for f := range v.Type().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name == key && name != "-" {
			return v.FieldByIndex(f.Index), true
		}
	}
	return reflect.Value{}, false
}

// isParameter reports whether the update has a documented parameter with the name.
func isParameter(name string) bool {
	_, known := fieldForKey(reflect.ValueOf(UpdateSettingsOptions{}), name)
	return known
}

// sameSetting compares two values of a setting. Servers write an empty value as null or as an empty
// value, omit it in an object that is a struct here, and write decimals as text.
func sameSetting(name string, a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return json.Valid(a)
	}
	left, leftOK := parseJSON(a)
	right, rightOK := parseJSON(b)
	switch {
	case !leftOK || !rightOK:
		return false
	case left == nil || right == nil:
		return isEmpty(left) && isEmpty(right)
	case isStructSetting(name):
		left, right = withoutEmpty(left), withoutEmpty(right)
	}
	return sameValue(left, right) || isNumberText(left, right) || isNumberText(right, left)
}

// isStructSetting reports whether the field of a setting is a struct of the library.
func isStructSetting(name string) bool {
	f, known := settingStructField(name)
	return known && isResponseStruct(f.Type)
}

// withoutEmpty removes the empty keys of an object. Other values are returned unchanged.
func withoutEmpty(value any) any {
	if members, isObject := value.(map[string]any); isObject {
		maps.DeleteFunc(members, func(_ string, member any) bool { return isEmpty(member) })
	}
	return value
}

// isNumberText reports whether text holds a number.
func isNumberText(text, number any) bool {
	digits, isText := text.(string)
	n, isNumber := number.(json.Number)
	return isText && isNumber && sameNumber(digits, n.String())
}

// isEmpty reports whether a value is null or means the same to a server. 0 is not empty.
func isEmpty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case string:
		return value == ""
	case bool:
		return !value
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// isValue reports whether a value equals the JSON in text.
func isValue(value json.RawMessage, text string) bool {
	return value != nil && equalJSON(value, json.RawMessage(text))
}

// equalJSON compares two JSON values. It ignores the order of keys, white space and the form of
// numbers.
func equalJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return json.Valid(a)
	}
	left, leftOK := parseJSON(a)
	right, rightOK := parseJSON(b)
	return leftOK && rightOK && sameValue(left, right)
}

// parseJSON parses a single value with nothing after it.
func parseJSON(text json.RawMessage) (value any, ok bool) {
	if !json.Valid(text) {
		return nil, false
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	err := decoder.Decode(&value)
	return value, err == nil
}

func sameValue(a, b any) bool {
	switch left := a.(type) {
	case json.Number:
		right, ok := b.(json.Number)
		return ok && sameNumber(left.String(), right.String())
	case []any:
		right, ok := b.([]any)
		if !ok || len(left) != len(right) {
			return false
		}
		for i := range left {
			if !sameValue(left[i], right[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		right, ok := b.(map[string]any)
		if !ok || len(left) != len(right) {
			return false
		}
		for key, value := range left {
			if other, has := right[key]; !has || !sameValue(value, other) {
				return false
			}
		}
		return true
	}
	return a == b
}

// sameNumber compares two numerals by value, within the precision of float64.
func sameNumber(a, b string) bool {
	left, leftErr := strconv.ParseFloat(a, 64)
	right, rightErr := strconv.ParseFloat(b, 64)
	return a == b || leftErr == nil && rightErr == nil && left == right && math.Abs(left) < 1<<53
}
