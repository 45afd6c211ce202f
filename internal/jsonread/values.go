package jsonread

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// The functions below read one value into v. null is the zero value. They return false, and leave the zero value, when there
// was a value of another type.

// Text reads a string.
func Text[T ~string](v *T, r *Reader) bool {
	raw, ok := r.text("string")
	*v = T(r.texts.copy(raw, len(r.data)-r.pos))
	return ok
}

// Bool reads a boolean.
func Bool(v *bool, r *Reader) bool {
	*v = false
	switch r.peek() {
	case 't':
		*v = r.literal("true")
		return *v
	case 'f':
		return r.literal("false")
	case 'n':
		return r.literal("null")
	}
	return r.mismatch("boolean")
}

// Int reads an integer. Servers write some ids as strings, so a string of digits is read too. A number with a fraction, an
// exponent or too many digits is a mismatch.
func Int[T ~int | ~int64](v *T, r *Reader) bool {
	*v = 0
	raw, ok := r.numeral("integer")
	if raw == nil {
		return ok
	}
	n, ok := parseInt(raw)
	if !ok || int64(T(n)) != n {
		r.Note("", "integer", kindOf(r.data[r.pos-1]))
		return false
	}
	*v = T(n)
	return true
}

// Float reads a number. A string that holds a number is read too, as servers write a coverage.
func Float(v *float64, r *Reader) bool {
	*v = 0
	raw, ok := r.numeral("number")
	if raw == nil {
		return ok
	}
	good, isNumber := numberPrefix(raw)
	n, err := strconv.ParseFloat(string(raw), 64)
	if !isNumber || good < len(raw) || err != nil {
		r.Note("", "number", kindOf(r.data[r.pos-1]))
		return false
	}
	*v = n
	return true
}

// Raw copies the text of a value of any type; null is nil.
func Raw[T ~[]byte](v *T, r *Reader) bool {
	if *v = nil; !r.Null() {
		*v = bytes.Clone(r.View())
	}
	return r.err == nil
}

// Time reads an RFC 3339 timestamp; the empty string is the zero time.
func Time(v *time.Time, r *Reader) bool {
	*v = time.Time{}
	raw, ok := r.text("timestamp")
	if len(raw) == 0 {
		return ok
	}
	if *v, ok = r.parseTime(raw); !ok {
		r.Note("", "timestamp", "string")
	}
	return ok
}

// Date reads a day of the form YYYY-MM-DD; the empty string is zeros, as null is.
func (r *Reader) Date() (year, month, day int, ok bool) {
	raw, ok := r.text("date")
	if len(raw) == 0 {
		return 0, 0, 0, ok
	}
	if len(raw) == 10 && raw[4] == '-' && raw[7] == '-' {
		century, okC := twoDigits(raw)
		years, okY := twoDigits(raw[2:])
		month, okM := twoDigits(raw[5:])
		day, okD := twoDigits(raw[8:])
		year := century*100 + years
		if okC && okY && okM && okD && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) {
			return year, month, day, true
		}
	}
	r.Note("", "date", "string")
	return 0, 0, 0, false
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// twoDigits reads the first two bytes.
func twoDigits(raw []byte) (int, bool) {
	a, b := raw[0]-'0', raw[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// parseTime leaves the calendar to package time, which reads a time in UTC without allocating. An offset is cut off before
// and its zone put on after, so that a run of equal offsets makes one zone.
func (r *Reader) parseTime(raw []byte) (t time.Time, ok bool) {
	var utc [64]byte
	n := len(raw)
	if shift, known := offset(raw); known && n <= len(utc) {
		if t.UnmarshalText(append(append(utc[:0], raw[:n-6]...), 'Z')) != nil {
			return time.Time{}, false
		}
		if r.zone == nil || r.shift != shift {
			r.zone, r.shift = time.FixedZone("", shift), shift
		}
		return t.Add(-time.Duration(shift) * time.Second).In(r.zone), true
	}
	err := t.UnmarshalText(raw)
	return t, err == nil
}

// offset gives the seconds of an ordinary offset at the end of a timestamp.
func offset(raw []byte) (seconds int, ok bool) {
	n := len(raw)
	if n < 6 || raw[n-3] != ':' || raw[n-6] != '+' && raw[n-6] != '-' {
		return 0, false
	}
	hours, okH := twoDigits(raw[n-5:])
	minutes, okM := twoDigits(raw[n-2:])
	seconds = hours*3600 + minutes*60
	if raw[n-6] == '-' {
		seconds = -seconds
	}
	return seconds, okH && okM && hours < 24 && minutes < 60
}

// text gives a string, good until the next one is read; nil for null.
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

// numeral gives the text of a number, or of a string that should hold one; nil for null.
func (r *Reader) numeral(want string) (raw []byte, ok bool) {
	switch c := r.peek(); {
	case c == '-' || c-'0' <= 9:
		raw = r.number()
	case c == '"':
		raw, _ = r.scanString()
	case c == 'n':
		return nil, r.literal("null")
	default:
		return nil, r.mismatch(want)
	}
	return raw, r.err == nil
}

// number reads a number and gives its text; nil after an error.
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

// numberPrefix counts the bytes of the number at the front of s. If it is none, n counts the bytes that could begin one.
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

// digits moves n over one digit or more.
func digits(s []byte, n int) (int, bool) {
	start := n
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n, n > start
}

// parseInt reads digits, and a minus before them. What strconv.ParseInt accepts beyond that is no JSON, and it would take a copy.
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

// textCopier copies short strings into blocks, many to an allocation, and reuses what it copied a moment ago: an answer repeats
// its authors, states and labels. A block is small, so that a string which outlives the others keeps little alive, and no
// larger than the rest of the answer can fill.
type textCopier struct {
	block  strings.Builder
	recent [64]string
	used   uint64 // a bit for each of recent
}

// reset forgets what was copied.
func (t *textCopier) reset() {
	for ; t.used != 0; t.used &= t.used - 1 {
		t.recent[bits.TrailingZeros64(t.used)] = ""
	}
	t.block = strings.Builder{}
}

const (
	blockSize    = 512 // bytes
	longestBlock = 128 // bytes of a string that shares a block
	longestKept  = 160 // bytes of a string that is remembered
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
