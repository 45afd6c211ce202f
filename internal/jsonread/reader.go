// Package jsonread is the pull reader below the generated decoders: it walks a complete JSON text, hands out the values
// that a decoder asks for, and checks the syntax of all the rest. It accepts what encoding/json accepts.
//
// A decoder calls Object, then Key until that returns false, and reads or skips one value after each key; arrays work the
// same way with Array and More. Values are read by the functions of values.go, which share one form so that they can be
// handed to others: f(&field, r) bool. A value of another type than the one asked for is noted as a Mismatch, skipped, and
// leaves the zero value. The first syntax error ends everything: Err keeps it, and every method returns at once from then on.
//
// No value is lost: a decoder of a struct calls Field in place of Key, which keeps the raw value of a field that was noted,
// or has an element that was. Elements of arrays and of maps belong to the field around them, and the fields of an object
// to that object. Unknown keeps the values of the other keys.
//
// Strings are copies, so that nothing keeps the text alive. Short ones share small blocks (see textCopier).
//
// To add a kind of value: write a function like Bool in values.go, which has the rule for null, name it in the table kinds of
// internal/gendecode, and give it a line in TestValues.
package jsonread

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

const (
	maxDepth      = 10000 // of nesting, as encoding/json
	maxMismatches = 1000  // kept: a text can hold millions

	entrySize = 2 * 24 // bytes that a value in a map of raw values takes, without its text

	keptDepth   = 64       // steps that Reset keeps the memory of
	keptScratch = 16 << 10 // bytes, likewise
)

// Reader walks one JSON text. Use Reset before the first call; the zero Reader reads an empty text.
type Reader struct {
	// Strict makes mismatches and unknown members errors.
	Strict bool
	// Limit is how many bytes may be counted by Take; 0 is no limit.
	Limit int64
	// Foreign reads a value into a type that has no decoder. A program that has none of its own does
	// not link it.
	Foreign func(v any, r *Reader) (ok bool, err error)
	// Watch is called for each mismatch, and with an empty want for each value whose key names no
	// field. place is as Place returns it.
	Watch func(place, want, got string)

	data    []byte
	pos     int
	err     error
	taken   int64
	path    []step // the objects and arrays entered, outermost first
	key     []byte // the current key, unescaped
	wrong   []Mismatch
	scratch []byte // the last string that had escapes, without them
	texts   textCopier
	zone    *time.Location // the last zone made for an offset
	shift   int            // its offset in seconds
}

// step is a place on the way down: a key of an object, or an index of an array.
type step struct {
	start, end int // of the key in the text, escaped
	index      int // -1 for keys
	state      state
	isMap      bool // its keys name no fields
}

// state is what Field and next have to know of an object or array, in bits. It is 0 on the usual way.
type state uint8

const (
	empty   state = 1 << iota // no member yet
	odd                       // the current value, or an element of it, was noted
	kept                      // an earlier value of this object was noted and kept
	foreign                   // the current key names no field
)

// Mismatch is a value whose JSON type was not the one asked for, or one that could be read in part only.
type Mismatch struct {
	// Pointer is the value's place (RFC 6901).
	Pointer string
	// Want and Got are the two types.
	Want, Got string
}

// SyntaxError is a text that is not JSON.
type SyntaxError struct {
	// Offset is the number of bytes before the error.
	Offset int
	// Reason says what is wrong.
	Reason string
}

// Error gives the reason and the offset.
func (e *SyntaxError) Error() string { return e.Reason + " at byte " + strconv.Itoa(e.Offset) }

// StrictError is what Strict refuses: a member that no field names, or a value of the wrong type.
type StrictError struct {
	// Pointer is the place (RFC 6901).
	Pointer string
	// Reason says what is wrong there.
	Reason string
}

// Error gives the place and the reason.
func (e *StrictError) Error() string { return e.Pointer + ": " + e.Reason }

// LimitError is a text whose values take more memory than Limit.
type LimitError struct {
	// Limit is the number of bytes.
	Limit int64
}

// Error gives the limit.
func (e *LimitError) Error() string {
	return "its values take more than " + strconv.FormatInt(e.Limit, 10) + " bytes"
}

// Reset starts over with another text, which must not change until the last value is read. Of the text before nothing is kept.
func (r *Reader) Reset(data []byte) {
	if r.data == nil && r.err == nil { // nothing was read since the last Reset
		r.data = data
		return
	}
	path, scratch := r.path[:0], r.scratch[:0]
	if cap(path) > keptDepth || cap(scratch) > keptScratch {
		path, scratch = nil, nil
	}
	// One by one: a whole Reader is a kilobyte to write.
	r.data, r.pos, r.err, r.taken, r.path, r.key, r.wrong, r.scratch = data, 0, nil, 0, path, nil, nil, scratch
	r.zone, r.shift = nil, 0
	r.texts.reset()
}

// Take counts memory that the values of an array or object take: two bytes of text may stand for a thousand. Beyond the limit
// nothing more is read.
func (r *Reader) Take(size int) {
	if r.taken += int64(size); r.Limit > 0 && r.taken > r.Limit && r.err == nil {
		r.err = &LimitError{r.Limit}
	}
}

// Err is the first syntax error, or what Strict refuses.
func (r *Reader) Err() error { return r.err }

// Mismatches lists the first 1,000 values of the wrong type.
func (r *Reader) Mismatches() []Mismatch { return r.wrong }

// End checks that nothing but white space follows the value.
func (r *Reader) End() error {
	if r.peek(); r.err == nil && r.pos < len(r.data) {
		r.fail("unexpected data after the value")
	}
	return r.err
}

// Object enters an object. It returns false, with the value read, when it is null or of another type.
func (r *Reader) Object() bool { return r.enter('{', "object") }

// Map enters an object whose keys name no fields; like Object. Its values belong to the field around it.
func (r *Reader) Map() bool {
	open := r.Object()
	if open {
		r.path[len(r.path)-1].isMap = true
	}
	return open
}

// Array enters an array; like Object.
func (r *Reader) Array() bool { return r.enter('[', "array") }

func (r *Reader) enter(open byte, want string) bool {
	switch c := r.peek(); {
	case r.err != nil:
	case c == open && len(r.path) == maxDepth:
		r.fail("nested too deeply")
	case c == open:
		r.pos++
		r.path = append(r.path, step{index: -1, state: empty})
		return true
	case c == 'n':
		r.literal("null")
	default:
		r.mismatch(want)
	}
	return false
}

// Key moves to the next member of the object and returns true, or leaves the object and returns false.
func (r *Reader) Key() bool { return r.Field(nil) }

// Field is Key for an object whose keys name fields. If the value before did not fit its field, it goes into extra under
// its key, raw; if it did, one of the same key is removed from extra: the last value of a repeated key counts.
func (r *Reader) Field(extra *map[string]json.RawMessage) bool {
	if !r.next('}', extra) {
		return false
	}
	if r.peek() != '"' {
		r.fail("an object key was expected")
		return false
	}
	top := &r.path[len(r.path)-1]
	top.start = r.pos + 1
	raw, escaped := r.scanString()
	top.end = top.start + len(raw)
	if r.key = raw; escaped {
		r.key = unescape(nil, raw)
	}
	if r.peek() != ':' {
		r.fail("a colon was expected")
		return false
	}
	r.pos++
	return r.err == nil
}

// CurrentKey is the key of the member that Key moved to. It is good until the member's value is read.
func (r *Reader) CurrentKey() []byte { return r.key }

// More moves to the next element of the array and returns true, or leaves the array and returns false.
func (r *Reader) More() bool {
	if !r.next(']', nil) {
		return false
	}
	r.path[len(r.path)-1].index++
	return true
}

// next moves over the comma to the next member, or leaves the object or array. A comma before its end is found by the
// caller, who wants a key or a value there.
func (r *Reader) next(end byte, extra *map[string]json.RawMessage) bool {
	if r.err != nil {
		return false
	}
	c, top := r.peek(), &r.path[len(r.path)-1]
	if c == ',' && top.state == 0 { // the usual way
		r.pos++
		return true
	}
	if top.state > empty {
		r.settle(top, extra)
	}
	switch {
	case c == end:
		r.pos++
		r.path = r.path[:len(r.path)-1]
		return false
	case top.state == empty:
		top.state = 0
	case c == ',':
		r.pos++
	case end == '}':
		r.fail("a comma or the end of the object was expected")
		return false
	default:
		r.fail("a comma or the end of the array was expected")
		return false
	}
	return true
}

// settle keeps or removes the value before the current place, as Field says.
func (r *Reader) settle(top *step, extra *map[string]json.RawMessage) {
	if extra == nil {
		top.state = 0
		return
	}
	key := string(unescape(nil, r.data[top.start:top.end]))
	switch {
	case top.state&odd != 0:
		value := bytes.Clone(bytes.Trim(r.data[top.end+1:r.pos], ": \t\r\n"))
		r.Take(len(value))
		r.keep(extra, key, value)
	case top.state&foreign != 0:
	default:
		if delete(*extra, key); len(*extra) == 0 {
			*extra = nil
		}
	}
	top.state = kept
}

// keep puts a value into extra.
func (r *Reader) keep(extra *map[string]json.RawMessage, key string, value []byte) {
	if *extra == nil {
		*extra = map[string]json.RawMessage{}
	}
	r.Take(entrySize)
	(*extra)[key] = value
}

// Skip reads a value that nobody wants, and checks its syntax.
func (r *Reader) Skip() {
	switch c := r.peek(); c {
	case '{':
		for open := r.Object(); open && r.Key(); {
			r.Skip()
		}
	case '[':
		for open := r.Array(); open && r.More(); {
			r.Skip()
		}
	case '"':
		r.scanString()
	case 't':
		r.literal("true")
	case 'f':
		r.literal("false")
	case 'n':
		r.literal("null")
	default:
		r.number()
	}
}

// View gives the next value's text itself, which is good as long as the text that Reset was given; nil after an error.
func (r *Reader) View() []byte {
	r.peek()
	start := r.pos
	if r.Skip(); r.err != nil {
		return nil
	}
	return r.data[start:r.pos]
}

// Peek is View, and leaves the value to be read.
func (r *Reader) Peek() []byte {
	r.peek()
	start := r.pos
	text := r.View()
	r.pos = start
	return text
}

// Offset is the number of bytes read. After Kind it is where the next value starts.
func (r *Reader) Offset() int { return r.pos }

// Null reports whether the next value is null, and reads it if so.
func (r *Reader) Null() bool { return r.peek() == 'n' && r.literal("null") }

// WasNull reports whether the value that was just read is null: no other ends with this letter.
func (r *Reader) WasNull() bool { return r.pos > 0 && r.data[r.pos-1] == 'l' }

// Kind names the type of the next value: object, array, string, number, boolean or null; "" when there is none.
func (r *Reader) Kind() string { return kindOf(r.peek()) }

func kindOf(c byte) string {
	switch c {
	case '{':
		return "object"
	case '[':
		return "array"
	case '"':
		return "string"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "number"
	}
	return ""
}

// mismatch skips a value that is not of the wanted type, and notes it. It returns false, for its callers to return.
func (r *Reader) mismatch(want string) bool {
	got := r.Kind()
	if r.Skip(); r.err == nil {
		r.Note("", want, got)
	}
	return false
}

// Note records that the value just read, or what below points to in it, is not of the wanted type.
func (r *Reader) Note(below, want, got string) {
	for i := len(r.path) - 1; i >= 0; i-- {
		if top := &r.path[i]; top.index < 0 && !top.isMap {
			top.state |= odd
			break
		}
	}
	if r.Watch != nil && r.err == nil {
		r.Watch(r.Place(), want, got)
	}
	switch {
	case r.err != nil:
	case r.Strict:
		r.err = &StrictError{Pointer: r.Pointer() + below, Reason: "it should be of type " + want + " and is " + got}
	case len(r.wrong) < maxMismatches:
		r.wrong = append(r.wrong, Mismatch{Pointer: r.Pointer() + below, Want: want, Got: got})
	}
}

// Unknown keeps the value of the current key in extra: no field has its name.
func (r *Reader) Unknown(extra *map[string]json.RawMessage) {
	top := &r.path[len(r.path)-1]
	if top.state&kept != 0 {
		top.state |= foreign
	}
	key, kind := r.texts.copy(r.key, len(r.data)-r.pos), r.Kind()
	value := bytes.Clone(r.View())
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

// Pointer writes the current place as a JSON pointer.
func (r *Reader) Pointer() string {
	var b strings.Builder
	for _, s := range r.path {
		b.WriteByte('/')
		if s.index >= 0 {
			b.WriteString(strconv.Itoa(s.index))
			continue
		}
		b.WriteString(r.token(s))
	}
	return b.String()
}

// Place is Pointer with "*" for what is data: indexes, and keys of maps.
func (r *Reader) Place() string {
	var b strings.Builder
	for _, s := range r.path {
		if s.index >= 0 || s.isMap {
			b.WriteString("/*")
			continue
		}
		b.WriteString("/" + r.token(s))
	}
	return b.String()
}

// token writes a key as a part of a JSON pointer.
func (r *Reader) token(s step) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(string(unescape(nil, r.data[s.start:s.end])))
}

// peek skips white space and gives the next byte; 0 at the end.
func (r *Reader) peek() byte {
	if r.pos < len(r.data) && r.data[r.pos] > ' ' {
		return r.data[r.pos]
	}
	return r.peekPastSpace()
}

func (r *Reader) peekPastSpace() byte {
	for r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\n', '\t', '\r':
			r.pos++
		default:
			return c
		}
	}
	return 0
}

// literal reads a word that has begun.
func (r *Reader) literal(word string) bool {
	for i := range len(word) {
		if r.pos == len(r.data) || r.data[r.pos] != word[i] {
			r.fail("a value was expected")
			return false
		}
		r.pos++
	}
	return true
}

// fail keeps the first error.
func (r *Reader) fail(reason string) {
	if r.err == nil {
		if r.pos >= len(r.data) {
			reason = "the text ends in the middle of a value"
		}
		r.err = &SyntaxError{Offset: r.pos, Reason: reason}
	}
}
