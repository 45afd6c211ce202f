// Package jsonread is the pull reader of the generated decoders. It walks a complete JSON text,
// returns the values that a decoder requests, and checks the syntax of the rest. It accepts the
// same input as encoding/json.
//
// A decoder calls Object, then Key until it returns false, and reads or skips one value after each
// key; arrays work the same way with Array and More. The functions of values.go read values. They
// share one signature, so that they can be passed as arguments: f(&field, r) bool. A value whose
// type is not the requested one is recorded as a Mismatch and skipped, and its field is set to the
// zero value. The first syntax error ends reading: Err returns it, and every method returns
// immediately from then on.
//
// No value is lost: a decoder of a struct calls Field instead of Key. Field stores in Extra the raw
// value of a field that is a mismatch, or that contains one. Elements of arrays and maps belong to
// the enclosing field, and the fields of an object to that object. Unknown stores the values of all
// other keys.
//
// Strings are copies, so that no string keeps the text in memory. Short strings share small blocks
// (see textCopier).
//
// To add a kind of value, write a function like Bool in values.go, with the same rule for null,
// name it in the table kinds of internal/gendecode, and add a line to TestValues.
package jsonread

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

const (
	maxDepth      = 10000 // of nesting, as in encoding/json
	maxMismatches = 1000  // recorded; a text can contain millions

	maxPointer  = 512      // bytes of a pointer: its keys are data, as long as the text
	maxToken    = 128      // bytes of a key in a pointer
	maxPointers = 64 << 10 // bytes of the pointers of all recorded mismatches

	entrySize = 2 * 24 // bytes of an entry in a map of raw values, without its text

	keptDepth   = 64       // steps whose memory Reset keeps
	keptScratch = 16 << 10 // bytes that Reset keeps
)

// Reader reads one JSON text. Call Reset before the first read; the zero Reader reads an empty
// text.
type Reader struct {
	// Strict makes mismatches and unknown keys errors.
	Strict bool
	// Limit is the maximum number of bytes that Take may count; 0: unlimited.
	Limit int64
	// Foreign reads a value into a type without a generated decoder. A program without such types does
	// not link it.
	Foreign func(v any, r *Reader) (ok bool, err error)
	// Watch is called for each mismatch, and with an empty want for each value whose key has no field.
	// place is the result of Place.
	Watch func(place, want, got string)

	data    []byte
	pos     int
	err     error
	taken   int64
	path    []step // the objects and arrays entered, outermost first
	key     []byte // the current key, unescaped
	wrong   []Mismatch
	noted   int    // bytes of the pointers in wrong
	scratch []byte // the last unescaped string
	texts   textCopier
	raws    rawCopier
	bools   cells[bool]
	ints    cells[int]
	zone    *time.Location // the last zone created for an offset
	shift   int            // its offset in seconds
}

// step is a level of the current place: a key of an object, or an index of an array.
type step struct {
	start, end int // of the key in the text, escaped
	index      int // -1 for keys
	state      state
	isMap      bool // its keys are not field names
}

// state holds what Field and next must know about an object or array, as bits. It is 0 in the
// common case.
type state uint8

const (
	empty   state = 1 << iota // no entry yet
	odd                       // the current value, or an element of it, is a mismatch
	kept                      // an earlier value of this object was a mismatch and was stored
	foreign                   // the current key has no field
)

// Mismatch is a value whose JSON type is not the requested one, or that could be read in part only.
type Mismatch struct {
	// Pointer is the place of the value (see Reader.Pointer).
	Pointer string
	// Want and Got are the requested and the actual type.
	Want, Got string
}

// SyntaxError reports a text that is not JSON.
type SyntaxError struct {
	// Offset is the number of bytes before the error.
	Offset int
	// Reason describes the error.
	Reason string
}

// Error returns the reason and the offset.
func (e *SyntaxError) Error() string { return e.Reason + " at byte " + strconv.Itoa(e.Offset) }

// StrictError reports a violation of Strict: a key without a field, or a value of the wrong type.
type StrictError struct {
	// Pointer is the place (see Reader.Pointer).
	Pointer string
	// Reason describes the error.
	Reason string
}

// Error returns the place and the reason.
func (e *StrictError) Error() string { return e.Pointer + ": " + e.Reason }

// LimitError reports a text whose values take more memory than Limit.
type LimitError struct {
	// Limit is the number of bytes.
	Limit int64
}

// Error returns the limit as text.
func (e *LimitError) Error() string {
	return "its values take more than " + strconv.FormatInt(e.Limit, 10) + " bytes"
}

// Reset starts reading another text, which must not change until the last value is read. Nothing of
// the previous text is kept.
func (r *Reader) Reset(data []byte) {
	if r.data == nil && r.err == nil { // nothing was read since the last Reset
		r.data = data
		return
	}
	path, scratch := r.path[:0], r.scratch[:0]
	if cap(path) > keptDepth || cap(scratch) > keptScratch {
		path, scratch = nil, nil
	}
	// Field by field: assigning a whole Reader would write a kilobyte.
	r.data, r.pos, r.err, r.taken, r.path, r.key, r.wrong, r.noted, r.scratch = data, 0, nil, 0, path, nil, nil, 0, scratch
	r.raws, r.bools, r.ints, r.zone, r.shift = rawCopier{}, cells[bool]{}, cells[int]{}, nil, 0
	r.texts.reset()
}

// Take counts the memory of the values of an array or object: two bytes of text may decode to a
// thousand. Beyond the limit, reading stops.
func (r *Reader) Take(size int) {
	if r.taken += int64(size); r.Limit > 0 && r.taken > r.Limit && r.err == nil {
		r.err = &LimitError{r.Limit}
	}
}

// Err returns the first error: in the syntax, or of Strict or Limit.
func (r *Reader) Err() error { return r.err }

// Mismatches lists the first values of the wrong type: at most 1,000, with 64 KiB of pointers.
func (r *Reader) Mismatches() []Mismatch { return r.wrong }

// End returns an error if anything but white space follows the value.
func (r *Reader) End() error {
	if r.peek(); r.pos < len(r.data) {
		r.fail("unexpected data after the value")
	}
	return r.err
}

// Object enters an object. If the value is null or of another type, Object reads it and returns
// false.
func (r *Reader) Object() bool { return r.enter('{', "object") }

// Map is Object for an object whose keys are not field names. Its values belong to the enclosing
// field.
func (r *Reader) Map() bool {
	open := r.Object()
	if open {
		r.path[len(r.path)-1].isMap = true
	}
	return open
}

// Array enters an array; otherwise it is like Object.
func (r *Reader) Array() bool { return r.enter('[', "array") }

func (r *Reader) enter(open byte, want string) bool {
	switch c := r.peek(); {
	case r.err != nil:
	case c == open:
		if len(r.path) == maxDepth {
			r.fail("nested too deeply")
			return false
		}
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

// Key moves to the next key of the object and returns true, or leaves the object and returns false.
func (r *Reader) Key() bool { return r.Field(nil) }

// Field is Key for an object whose keys are field names. If the previous value did not fit its
// field, Field stores it unparsed in extra, under its key. If it did fit, Field deletes its key
// from extra: the last value of a repeated key counts.
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
	text := r.data[top.start:]
	if n, wide := textPrefix(text); n+1 < len(text) && text[n] == '"' && text[n+1] == ':' && !wide { // the common case
		r.key, r.pos, top.end = text[:n], top.start+n+2, top.start+n
		return true
	}
	raw, escaped := r.scanString()
	top.end = top.start + len(raw)
	if r.key = raw; escaped {
		r.key = unescape(nil, raw)
	}
	if r.peek() == ':' {
		r.pos++
		return r.err == nil
	}
	r.fail("a colon was expected")
	return false
}

// CurrentKey returns the key that Key moved to. It is valid until the value is read.
func (r *Reader) CurrentKey() []byte { return r.key }

// KeyText returns CurrentKey as a string.
func (r *Reader) KeyText() string { return r.texts.copy(r.key, len(r.data)-r.pos) }

// More moves to the next element of the array and returns true, or leaves the array and returns
// false.
func (r *Reader) More() bool {
	if !r.next(']', nil) {
		return false
	}
	r.path[len(r.path)-1].index++
	return true
}

// next moves past the comma to the next entry, or leaves the object or array. The caller detects a
// comma before the end, since it expects a key or a value after a comma.
func (r *Reader) next(end byte, extra *map[string]json.RawMessage) bool {
	if r.err != nil {
		return false
	}
	c, top := r.peek(), &r.path[len(r.path)-1]
	if c == ',' && top.state == 0 { // the common case
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
	default:
		r.fail("a comma or the end of the array was expected")
	}
	return r.err == nil
}

// settle stores or deletes the value before the current place, as documented for Field.
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

// Skip skips a value and checks its syntax.
func (r *Reader) Skip() {
	switch c := r.peek(); c {
	case '{':
		for r.Object(); r.Key(); {
			r.Skip()
		}
	case '[':
		for r.Array(); r.More(); {
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

// View returns the text of the next value without copying it. It is valid as long as the text
// passed to Reset. View returns nil after an error.
func (r *Reader) View() []byte {
	r.peek()
	start := r.pos
	if r.Skip(); r.err != nil {
		return nil
	}
	return r.data[start:r.pos]
}

// Back returns to the start of the value whose text View has just returned.
func (r *Reader) Back(text []byte) { r.pos -= len(text) }

// Offset returns the number of bytes read. After Kind it is the start of the next value.
func (r *Reader) Offset() int { return r.pos }

// Null reports whether the next value is null, and consumes it if so.
func (r *Reader) Null() bool { return r.peek() == 'n' && r.literal("null") }

// WasNull reports whether the value just read is null: no other value ends with this letter.
func (r *Reader) WasNull() bool { return r.pos > 0 && r.data[r.pos-1] == 'l' }

// Kind returns the type of the next value: object, array, string, number, boolean or null; "" if no
// value begins there.
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

// mismatch skips a value that is not of the wanted type, and records it. It returns false, which
// its callers return.
func (r *Reader) mismatch(want string) bool {
	got := r.Kind()
	if r.Skip(); r.err == nil {
		r.Note(want, got)
	}
	return false
}

// Note records that the value just read is not of the wanted type, or was read in part only.
func (r *Reader) Note(want, got string) {
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
		r.err = &StrictError{Pointer: r.Pointer(), Reason: "it should be of type " + want + " and is " + got}
	case len(r.wrong) < maxMismatches && r.noted < maxPointers:
		m := Mismatch{Pointer: r.Pointer(), Want: want, Got: got}
		r.wrong, r.noted = append(r.wrong, m), r.noted+len(m.Pointer)
	}
}

// Pointer returns the current place as a JSON pointer (RFC 6901). A key of more than 128 bytes is
// "...", and a pointer that would be longer than 512 bytes ends in "...".
func (r *Reader) Pointer() string { return r.place(false) }

// Place returns Pointer with "*" for data: indexes, and keys of maps.
func (r *Reader) Place() string { return r.place(true) }

func (r *Reader) place(masked bool) string {
	var b strings.Builder
	for _, s := range r.path {
		token := "*"
		switch {
		case masked && (s.index >= 0 || s.isMap):
		case s.index >= 0:
			token = strconv.Itoa(s.index)
		default:
			token = pointerToken(r.data[s.start:s.end])
		}
		if b.Len()+len(token) > maxPointer-len("/...") {
			b.WriteString("/...")
			break
		}
		b.WriteString("/" + token)
	}
	return b.String()
}

// pointerToken returns a key, which is escaped as in the text, as a token of a JSON pointer. A part
// of a long key could be a part of a credential, which redaction would not recognize.
func pointerToken(key []byte) string {
	if len(key) > maxToken {
		return "..."
	}
	text := string(unescape(nil, key))
	return strings.ReplaceAll(strings.ReplaceAll(text, "~", "~0"), "/", "~1")
}

// peek skips white space and returns the next byte; 0 at the end.
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

// literal reads a word.
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

// fail records the first error.
func (r *Reader) fail(reason string) {
	if r.err == nil {
		if r.pos >= len(r.data) {
			reason = "the text ends in the middle of a value"
		}
		r.err = &SyntaxError{Offset: r.pos, Reason: reason}
	}
}
