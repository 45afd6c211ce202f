package jsonread

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
)

const usualMember = 48 // bytes of a key of an object with its value

// Members copies the values of an object. Of two values of one key, the last one counts. For a text
// that is not an object, the map is empty.
func Members(text []byte) map[string]json.RawMessage {
	var r Reader
	r.Reset(text)
	members := make(map[string]json.RawMessage, min(len(text)/usualMember, 512)) // a text may be one long value
	for open := r.Object(); open && r.Key(); {
		key := r.KeyText()
		var value json.RawMessage
		Verbatim(&value, &r)
		members[key] = value
	}
	return members
}

// Join returns the object with the keys, sorted. Their values stay unchanged: json.Marshal
// would compact them.
func Join(members map[string]json.RawMessage) []byte {
	text := append(make([]byte, 0, len(members)*usualMember), '{')
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if len(text) > 1 {
			text = append(text, ',')
		}
		quoted, _ := json.Marshal(key) // a string can be encoded
		text = append(append(append(text, quoted...), ':'), members[key]...)
	}
	return append(text, '}')
}

// Equal compares two values. It ignores the order of keys, white space, and the form of numbers
// within the precision of float64. A text that is not a value equals nothing.
func Equal(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return json.Valid(a)
	}
	left, leftOK := Parse(a)
	right, rightOK := Parse(b)
	return leftOK && rightOK && reflect.DeepEqual(left, right)
}

// Parse parses a single value with nothing after it, as encoding/json does. Numbers are
// json.Number, in the form of Numeral.
func Parse(text []byte) (value any, ok bool) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if !json.Valid(text) || decoder.Decode(&value) != nil {
		return nil, false
	}
	return withNumerals(value), true
}

func withNumerals(value any) any {
	switch v := value.(type) {
	case json.Number:
		return Numeral(v.String())
	case []any:
		for i := range v {
			v[i] = withNumerals(v[i])
		}
	case map[string]any:
		for key := range v {
			v[key] = withNumerals(v[key])
		}
	}
	return value
}

// Numeral returns the form of a number that equal numbers share. A text that is not a number, and a
// number beyond the precision of float64, stay unchanged.
func Numeral(text string) json.Number {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(n) >= 1<<53 {
		return json.Number(text)
	}
	return json.Number(strconv.FormatFloat(n+0, 'g', -1, 64)) // + 0: -0 is 0
}

// Unknown stores the value of the current key, which has no field, in extra.
func (r *Reader) Unknown(extra *map[string]json.RawMessage) {
	top := &r.path[len(r.path)-1]
	if top.state&kept != 0 {
		top.state |= foreign
	}
	key, kind := r.KeyText(), r.Kind()
	value := r.raws.copy(r.View(), len(r.data)-r.pos)
	if r.Watch != nil && r.err == nil {
		r.Watch(r.Place(), "", kind)
	}
	if r.err == nil && r.Strict {
		r.err = &StrictError{Pointer: r.Pointer(), Reason: "no field has this name"}
	}
	if r.err == nil {
		r.keep(extra, key, value)
	}
}

// keep stores a value in extra.
func (r *Reader) keep(extra *map[string]json.RawMessage, key string, value []byte) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	r.Take(entrySize)
	(*extra)[key] = value
}

// rawCopier copies short values into blocks, as textCopier does with strings. A value has no
// capacity beyond its end, so that appending to it does not change its neighbor.
type rawCopier struct{ block []byte }

func (c *rawCopier) copy(raw []byte, rest int) []byte {
	n := len(raw)
	if n == 0 || n > longestBlock {
		return bytes.Clone(raw)
	}
	if len(c.block) < n {
		c.block = make([]byte, min(blockSize, n+rest))
	}
	value := c.block[:n:n]
	c.block = c.block[n:]
	copy(value, raw)
	return value
}
