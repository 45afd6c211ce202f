package jsonread

import (
	"bytes"
	"encoding/base64"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// The functions below read one value into v. null is the zero value. For a value of another type,
// they set the zero value and return false. A value that v can hold in part only is read and
// recorded as a mismatch.

// Text reads a string.
func Text[T ~string](v *T, r *Reader) bool {
	raw, ok := r.text("string")
	*v = T(r.texts.copy(raw, len(r.data)-r.pos))
	return ok
}

// Bool reads a boolean. It also reads the strings "true" and "false", and records a mismatch.
func Bool[T ~bool](v *T, r *Reader) bool {
	*v = false
	switch r.peek() {
	case 't':
		*v = T(r.literal("true"))
		return bool(*v)
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	case '"':
		raw, _ := r.scanString()
		r.Note("boolean", "string")
		*v = string(raw) == "true"
		return bool(*v) || string(raw) == "false"
	}
	return r.mismatch("boolean")
}

// Int reads an integer. It also reads a string of digits, since servers write some ids as strings.
// A number with a fraction, an exponent or too many digits is a mismatch.
func Int[T ~int | ~int64](v *T, r *Reader) bool {
	*v = 0
	raw, ok := r.numeral("integer")
	if raw == nil {
		return ok
	}
	n, ok := parseInt(raw)
	if !ok || int64(T(n)) != n {
		r.Note("integer", kindOf(r.data[r.pos-1]))
		return false
	}
	*v = T(n)
	return true
}

// Float reads a number. It also reads a string that holds a number, since servers write a coverage
// as a string. A number is rounded to the nearest float64; if its digits change, a mismatch is
// recorded.
func Float[T ~float64](v *T, r *Reader) bool {
	*v = 0
	raw, ok := r.numeral("number")
	if raw == nil {
		return ok
	}
	good, isNumber := numberPrefix(raw)
	n, err := strconv.ParseFloat(string(raw), 64)
	if !isNumber || good < len(raw) || err != nil {
		r.Note("number", kindOf(r.data[r.pos-1]))
		return false
	}
	if *v = T(n); isRounded(raw, n) {
		r.Note("number", kindOf(r.data[r.pos-1]))
	}
	return true
}

// isRounded reports whether n differs from raw when it is written with the number of digits of raw.
func isRounded(raw []byte, n float64) bool {
	if len(raw) <= 15 && !bytes.ContainsAny(raw, "eE") {
		return false
	}
	digits := significant(raw)
	return digits != significant(strconv.AppendFloat(nil, n, 'e', max(len(digits), 1)-1, 64))
}

// significant returns the digits of a number without leading and trailing zeros.
func significant(number []byte) string {
	if e := bytes.IndexAny(number, "eE"); e >= 0 {
		number = number[:e]
	}
	return strings.Trim(strings.NewReplacer("-", "", ".", "").Replace(string(number)), "0")
}

// Bytes reads a string of base64.
func Bytes(v *[]byte, r *Reader) bool {
	*v = nil
	raw, ok := r.text("base64")
	if raw == nil {
		return ok
	}
	data, err := base64.StdEncoding.DecodeString(string(raw))
	if err != nil {
		r.Note("base64", "string")
		return false
	}
	*v = data
	return true
}

// Raw copies the text of a value of any type; nil for null.
func Raw[T ~[]byte](v *T, r *Reader) bool {
	if *v = nil; !r.Null() {
		*v = r.raws.copy(r.View(), len(r.data)-r.pos)
	}
	return r.err == nil
}

// Verbatim copies the text of a value of any type, including null: for elements of arrays and maps.
func Verbatim[T ~[]byte](v *T, r *Reader) bool {
	*v = r.raws.copy(r.View(), len(r.data)-r.pos)
	return r.err == nil
}

// text returns a string, which is valid until the next one is read; nil for null.
func (r *Reader) text(want string) (raw []byte, ok bool) {
	switch r.peek() {
	case '"':
		raw, escaped := r.scanString()
		if escaped {
			r.scratch = unescape(r.scratch[:0], raw)
			raw = r.scratch
		}
		return raw, r.err == nil
	case 'n':
		return nil, r.literal("null")
	}
	return nil, r.mismatch(want)
}

// numeral returns the text of a number, or of a string that should hold one; nil for null.
func (r *Reader) numeral(want string) (raw []byte, ok bool) {
	switch c := r.peek(); {
	case c == '-' || c-'0' <= 9:
		raw = r.number()
	case c == '"':
		raw, _ = r.scanString()
		if digits := bytes.TrimPrefix(raw, []byte("-")); len(digits) > 1 && digits[0] == '0' && digits[1] != '.' { // leading zeros would be lost
			r.Note(want, "string")
			return nil, false
		}
	case c == 'n':
		return nil, r.literal("null")
	default:
		return nil, r.mismatch(want)
	}
	return raw, r.err == nil
}

// number reads a number and returns its text; nil after an error.
func (r *Reader) number() []byte {
	n, ok := numberPrefix(r.data[r.pos:])
	raw := r.data[r.pos : r.pos+n]
	r.pos += n
	switch {
	case ok:
		return raw
	case n == 0:
		r.fail("a value was expected")
	default:
		r.fail("a digit was expected")
	}
	return nil
}

// numberPrefix returns the length of the number at the front of s. If ok is false, n is the number
// of bytes that could begin a number.
func numberPrefix(s []byte) (n int, ok bool) {
	if n < len(s) && s[n] == '-' {
		n++
	}
	if n < len(s) && s[n] == '0' {
		n++
	} else if n, ok = digits(s, n); !ok {
		return n, false
	}
	if n < len(s) && s[n] == '.' {
		if n, ok = digits(s, n+1); !ok {
			return n, false
		}
	}
	if n < len(s) && s[n]|0x20 == 'e' {
		if n++; n < len(s) && (s[n] == '+' || s[n] == '-') {
			n++
		}
		return digits(s, n)
	}
	return n, true
}

// digits advances n past one or more digits.
func digits(s []byte, n int) (int, bool) {
	start := n
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n, n > start
}

// parseInt parses digits with an optional minus sign. strconv.ParseInt accepts more than JSON does,
// and needs a copy.
func parseInt(raw []byte) (int64, bool) {
	unsigned := raw
	negative := len(raw) > 0 && raw[0] == '-'
	if negative {
		unsigned = raw[1:]
	}
	if len(unsigned) == 0 || len(unsigned) > 19 {
		return 0, false
	}
	var n uint64
	for _, c := range unsigned {
		if c -= '0'; c > 9 {
			return 0, false
		}
		n = n*10 + uint64(c)
	}
	if negative {
		return -int64(n), n <= math.MaxInt64+1
	}
	return int64(n), n <= math.MaxInt64
}

// BoolPointer reads a boolean. It returns nil for null and for a value of another type. The memory
// is shared with other booleans, so that an object with many of them takes few allocations.
func (r *Reader) BoolPointer() *bool {
	if r.Null() {
		return nil
	}
	if v := r.bools.next(); Bool(v, r) {
		return v
	}
	return nil
}

// IntPointer is BoolPointer for an integer.
func (r *Reader) IntPointer() *int {
	if r.Null() {
		return nil
	}
	if v := r.ints.next(); Int(v, r) {
		return v
	}
	return nil
}

// cells allocates small values in blocks. A block is small, so that a value that outlives the
// others keeps little memory alive.
type cells[T any] struct{ free []T }

func (c *cells[T]) next() *T {
	if len(c.free) == 0 {
		c.free = make([]T, 8)
	}
	v := &c.free[0]
	c.free = c.free[1:]
	return v
}

// textCopier copies short strings into blocks, many per allocation, and reuses recent copies: the
// same authors, states and labels occur many times in a response. A block is small, so that a
// string that outlives the others keeps little memory alive. It is not larger than the rest of the
// response can fill.
type textCopier struct {
	block  strings.Builder
	recent [64]string
	used   uint64 // a bit for each of recent
}

// reset drops the recent copies and the block.
func (t *textCopier) reset() {
	for ; t.used != 0; t.used &= t.used - 1 {
		t.recent[bits.TrailingZeros64(t.used)] = ""
	}
	t.block = strings.Builder{}
}

const (
	blockSize    = 512 // bytes
	longestBlock = 128 // bytes of a string that shares a block
	longestKept  = 160 // bytes of a string that may be reused
)

func (t *textCopier) copy(raw []byte, rest int) string {
	n := len(raw)
	if n == 0 {
		return ""
	}
	if n > longestKept {
		return string(raw)
	}
	which := (n*31 + int(raw[n-1])*7 + int(raw[n/2])*3 + int(raw[0])) % len(t.recent)
	slot := &t.recent[which]
	t.used |= 1 << which
	switch {
	case *slot == string(raw):
	case n > longestBlock:
		*slot = string(raw)
	default:
		if t.block.Cap()-t.block.Len() < n {
			t.block = strings.Builder{}
			t.block.Grow(min(blockSize, n+rest))
		}
		start := t.block.Len()
		t.block.Write(raw)
		*slot = t.block.String()[start:]
	}
	return *slot
}
