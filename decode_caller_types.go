package forge

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"

	"github.com/forge-sdk/forge-go/internal/jsonread"
)

const (
	maxMisfits  = 100     // found in one value of a caller's type
	misfitDepth = 100     // levels of nesting that are searched
	misfitChunk = 4 << 10 // bytes of elements that are tried together
)

// unmarshalForeign decodes with encoding/json into a type without a generated decoder. Nested
// values of another type are recorded and read as null. ok is false for null and for another JSON
// type.
func unmarshalForeign(v any, r *jsonread.Reader) (ok bool, err error) {
	if r.Null() {
		return false, nil
	}
	text := r.View()
	if err := r.Err(); err != nil {
		return false, err
	}
	d := foreignDecoder{r: r}
	return d.decode(reflect.ValueOf(v).Elem(), text, "")
}

// foreignDecoder decodes one value for a Reader, which records mismatches.
type foreignDecoder struct{ r *jsonread.Reader }

// plain decodes a value without response types in it, which is at pointer in the value that the
// Reader reads.
func (d *foreignDecoder) plain(value reflect.Value, text []byte, pointer string) (ok bool, err error) {
	v := value.Addr().Interface()
	err = json.Unmarshal(text, v)
	if !isTypeError(err) {
		return err == nil, err
	}
	s := &misfitFinder{typ: value.Type(), text: text}
	s.value(jsonPlace{end: len(text)}, 0)
	for _, m := range s.found {
		d.r.Note(pointer+m.pointer, m.want, m.got)
	}
	if s.found[0].pointer == "" {
		return false, nil
	}
	// encoding/json stops where a caller's own decoder reports a wrong type. With null in place of
	// these values it reads all others.
	if err = json.Unmarshal(s.patched(), v); isTypeError(err) && len(s.found) == maxMisfits {
		err = nil
	}
	return err == nil, err
}

func isTypeError(err error) bool {
	var wrong *json.UnmarshalTypeError
	return errors.As(err, &wrong)
}

// misfitFinder finds the values in a text that encoding/json cannot read into a type. It passes
// parts of the text to encoding/json and only checks whether there is a type error: Go releases
// report its position in different ways.
type misfitFinder struct {
	typ   reflect.Type
	text  []byte
	found []jsonPlace // in the order of the text
}

// jsonPlace is a value in the text.
type jsonPlace struct {
	from       int    // where it starts, with the key and the comma before it
	start, end int    // without these
	index      int    // in its object or array
	open, shut string // the brackets and keys around it, without other values
	pointer    string
	want, got  string // the types, of a value that was found
}

// value finds the values of a wrong type in p: p itself, or values below it.
func (s *misfitFinder) value(p jsonPlace, depth int) {
	var r jsonread.Reader
	r.Reset(s.text[p.start:p.end])
	kind, next, shell := r.Kind(), r.Key, "{}"
	switch kind {
	case "object":
		r.Object()
	case "array":
		r.Array()
		next, shell = r.More, "[]"
	default:
		s.add(p, s.text[p.start:p.end], kind)
		return
	}
	if s.fails(p, []byte(shell)) != nil {
		s.add(p, []byte(shell), kind)
		return
	}
	if depth == misfitDepth {
		s.add(p, s.text[p.start:p.end], kind)
		return
	}
	before := len(s.found)
	inner := jsonPlace{open: p.open + shell[:1], shut: shell[1:] + p.shut, pointer: p.pointer}
	var chunk []jsonPlace
	for from := p.start + r.Offset(); next(); from = p.start + r.Offset() {
		r.Kind()
		item := inner
		item.from, item.start = from, p.start+r.Offset()
		r.Skip()
		item.end = p.start + r.Offset()
		if chunk = append(chunk, item); item.end-chunk[0].from > misfitChunk {
			s.elements(chunk, depth)
			chunk = chunk[:0]
		}
		inner.index++
	}
	s.elements(chunk, depth)
	if len(s.found) == before { // each element decodes alone, but the elements together do not
		s.add(p, s.text[p.start:p.end], kind)
	}
}

// elements searches the neighboring elements of chunk that are wrong or contain wrong values.
func (s *misfitFinder) elements(chunk []jsonPlace, depth int) {
	if len(chunk) == 0 || len(s.found) == maxMisfits || s.fails(chunk[0], s.cut(chunk[0].from, chunk[len(chunk)-1].end)) == nil {
		return
	}
	for _, item := range chunk {
		piece := s.cut(item.from, item.end)
		if len(s.found) == maxMisfits || len(chunk) > 1 && s.fails(item, piece) == nil {
			continue
		}
		if item.shut[0] == ']' {
			item.pointer += "/" + strconv.Itoa(item.index)
		} else {
			item.pointer += pointerOf(piece)
			item.open += string(bytes.TrimRight(s.cut(item.from, item.start), " \t\r\n"))
		}
		s.value(item, depth+1)
	}
}

// cut returns a part of the text without the comma before it.
func (s *misfitFinder) cut(from, end int) []byte { return bytes.TrimLeft(s.text[from:end], ", \t\r\n") }

// pointerOf returns the JSON pointer to the only field of an object, whose braces are omitted.
func pointerOf(member []byte) string {
	var r jsonread.Reader
	r.Reset(append(append([]byte{'{'}, member...), '}'))
	if !r.Object() || !r.Key() {
		return ""
	}
	return r.Pointer()
}

// fails returns the type error of a text that has only part in the place of p; nil if there is
// none.
func (s *misfitFinder) fails(p jsonPlace, part []byte) *json.UnmarshalTypeError {
	text := append(append([]byte(p.open), part...), p.shut...)
	var wrong *json.UnmarshalTypeError
	if errors.As(json.Unmarshal(text, reflect.New(s.typ).Interface()), &wrong) {
		return wrong
	}
	return nil
}

// add records a value of the wrong type. The error of decoding part, which is the value or its
// brackets, names the wanted type.
func (s *misfitFinder) add(p jsonPlace, part []byte, kind string) {
	p.want, p.got = "another type", kind
	if wrong := s.fails(p, part); wrong != nil && wrong.Type != nil {
		want := wrong.Type
		for want.Kind() == reflect.Pointer {
			want = want.Elem()
		}
		p.want = want.String()
	}
	s.found = append(s.found, p)
}

// patched returns the text with null in place of each value that was found.
func (s *misfitFinder) patched() []byte {
	out, rest := make([]byte, 0, len(s.text)), 0
	for _, p := range s.found {
		out = append(append(out, s.text[rest:p.start]...), "null"...)
		rest = p.end
	}
	return append(out, s.text[rest:]...)
}
