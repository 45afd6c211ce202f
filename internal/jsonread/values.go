package jsonread

import (
	"bytes"
	"encoding/base64"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
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
	if digits == significant(strconv.AppendFloat(nil, n, 'e', -1, 64)) { // not always the nearest of its length
		return false
	}
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

// Time reads a timestamp; the empty string is the zero time. In addition to RFC 3339 it reads the
// forms that servers write instead: a space instead of the T, a comma instead of the point, an
// offset with hours only or without a colon, no offset for UTC, lower-case letters, UTC instead of
// Z, and a date alone for midnight in UTC. Digits beyond nanoseconds are dropped, which is recorded
// as a mismatch.
func Time(v *time.Time, r *Reader) bool {
	*v = time.Time{}
	raw, ok := r.text("timestamp")
	if len(raw) == 0 {
		return ok
	}
	if *v, ok = r.parseTime(raw); ok && len(raw) <= len("2006-01-02T15:04:05.999999999Z") {
		return true
	}
	t, cut, ok := r.anyTime(raw)
	if !ok || cut {
		r.Note("timestamp", "string")
	}
	*v = t
	return ok
}

// Date reads a day of the form YYYY-MM-DD; the empty string and null are zeros. It reads the day of
// a timestamp as written, and records a mismatch.
func (r *Reader) Date() (year, month, day int, ok bool) {
	raw, ok := r.text("date")
	if len(raw) == 0 {
		return 0, 0, 0, ok
	}
	year, month, day, ok = parseDate(raw)
	switch {
	case ok && len(raw) == len(time.DateOnly):
		return year, month, day, true
	case ok:
		_, _, ok = r.anyTime(raw)
	}
	r.Note("date", "string")
	if !ok {
		return 0, 0, 0, false
	}
	return year, month, day, true
}

// parseDate parses the day at the front of raw.
func parseDate(raw []byte) (year, month, day int, ok bool) {
	if len(raw) < len(time.DateOnly) || raw[4] != '-' || raw[7] != '-' {
		return 0, 0, 0, false
	}
	century, okC := twoDigits(raw)
	years, okY := twoDigits(raw[2:])
	month, okM := twoDigits(raw[5:])
	day, okD := twoDigits(raw[8:])
	year = century*100 + years
	return year, month, day, okC && okY && okM && okD && month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month)
}

func daysIn(year, month int) int {
	return time.Date(year, time.Month(month)+1, 0, 0, 0, 0, 0, time.UTC).Day()
}

// twoDigits parses the first two bytes.
func twoDigits(raw []byte) (int, bool) {
	a, b := raw[0]-'0', raw[1]-'0'
	return int(a)*10 + int(b), a <= 9 && b <= 9
}

// anyTime parses a timestamp of any of the known forms. The second result reports whether digits
// were lost.
func (r *Reader) anyTime(raw []byte) (t time.Time, cut, ok bool) {
	if t, ok = r.parseTime(raw); !ok {
		var plain [64]byte
		if raw = rfc3339(plain[:0], raw); raw == nil {
			return time.Time{}, false, false
		}
		t, ok = r.parseTime(raw)
	}
	return t, isCut(raw), ok
}

// rfc3339 appends the timestamp in the form of RFC 3339 to out. It returns nil for a text that does
// not resemble a timestamp.
func rfc3339(out, raw []byte) []byte {
	const date, seconds = len("2006-01-02"), len("2006-01-02T15:04:05")
	if len(raw) == date {
		return append(append(out, raw...), "T00:00:00Z"...)
	}
	if len(raw) < seconds || raw[date]|0x20 != 't' && raw[date] != ' ' {
		return nil
	}
	out = append(append(append(out, raw[:date]...), 'T'), raw[date+1:seconds]...)
	zone := raw[seconds:]
	if len(zone) > 0 && (zone[0] == '.' || zone[0] == ',') {
		end, _ := digits(zone, 1)
		out = append(append(out, '.'), zone[1:end]...)
		zone = zone[end:]
	}
	if len(zone) > 1 && zone[0] == ' ' {
		zone = zone[1:]
	}
	switch n := len(zone); {
	case n == 0 || string(zone) == "z" || string(zone) == "UTC":
		return append(out, 'Z')
	case n == len("+02"):
		return append(append(out, zone...), ":00"...)
	case n == len("+0200"):
		return append(append(append(out, zone[:3]...), ':'), zone[3:]...)
	}
	return append(out, zone...)
}

// isCut reports whether an RFC 3339 timestamp has digits beyond its nanoseconds.
func isCut(timestamp []byte) bool {
	const point, nanoseconds = len("2006-01-02T15:04:05"), len("2006-01-02T15:04:05.999999999")
	if len(timestamp) <= nanoseconds+1 {
		return false
	}
	end, _ := digits(timestamp, point+1)
	return end > nanoseconds && len(bytes.Trim(timestamp[nanoseconds:end], "0")) > 0
}

// parseTime parses an RFC 3339 timestamp with package time, which does not allocate for a time in
// UTC. An offset is removed before and applied after, so that consecutive equal offsets share one
// zone.
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

// offset returns the seconds of an ordinary offset at the end of a timestamp.
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
