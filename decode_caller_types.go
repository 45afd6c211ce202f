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
	maxMisfits  = 100     // that are looked for in one value of a caller's type
	misfitDepth = 100     // of nesting, to which they are looked for
	misfitChunk = 4 << 10 // bytes of elements that are tried together
)

// unmarshalForeign decodes into a type without a generated decoder, by encoding/json. A value of
// another type below is recorded and read as null. ok is false for null and for another JSON type.
func unmarshalForeign(v any, r *jsonread.Reader) (ok bool, err error) {
	if r.Null() {
		return false, nil
	}
	text := r.View()
	if err := r.Err(); err != nil {
		return false, err
	}
	err = json.Unmarshal(text, v)
	if !isTypeError(err) {
		return err == nil, err
	}
	s := &misfitFinder{typ: reflect.TypeOf(v).Elem(), text: text}
	s.value(jsonPlace{end: len(text)}, 0)
	for _, m := range s.found {
		r.Note(m.pointer, m.want, m.got)
	}
	if s.found[0].pointer == "" {
		return false, nil
	}
	// encoding/json stops where a caller's own decoder reports a wrong type. Without those values it reads all others.
	if err = json.Unmarshal(s.patched(), v); isTypeError(err) && len(s.found) == maxMisfits {
		err = nil
	}
	return err == nil, err
}

func isTypeError(err error) bool {
	var wrong *json.UnmarshalTypeError
	return errors.As(err, &wrong)
}

// misfitFinder finds the values in a text that encoding/json cannot read into a type. It gives encoding/json parts of the text
// and only asks whether there was a type error: where the error was, each Go release reports in its own way.
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
	open, shut string // what is around it in a text that holds nothing else
	pointer    string
	want, got  string // of a value that was found
}

// value looks for the wrong values in one that is wrong or holds some.
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
	if len(s.found) == before { // none alone: it is how they go together
		s.add(p, s.text[p.start:p.end], kind)
	}
}

// elements looks into the neighbours that are wrong or hold wrong values.
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

// cut returns a part of the text without the comma in front.
func (s *misfitFinder) cut(from, end int) []byte { return bytes.TrimLeft(s.text[from:end], ", \t\r\n") }

// pointerOf returns the pointer to the only member of an object, given without its braces.
func pointerOf(member []byte) string {
	var r jsonread.Reader
	r.Reset(append(append([]byte{'{'}, member...), '}'))
	if !r.Object() || !r.Key() {
		return ""
	}
	return r.Pointer()
}

// fails returns the type error, if there is one, of a text that has only a part at the place of p.
func (s *misfitFinder) fails(p jsonPlace, part []byte) *json.UnmarshalTypeError {
	text := append(append([]byte(p.open), part...), p.shut...)
	var wrong *json.UnmarshalTypeError
	if errors.As(json.Unmarshal(text, reflect.New(s.typ).Interface()), &wrong) {
		return wrong
	}
	return nil
}

// add notes a value. Its part says what of it is given to encoding/json, to learn the type that it should have.
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

// patched is the text with null for each value that was found.
func (s *misfitFinder) patched() []byte {
	out, rest := make([]byte, 0, len(s.text)), 0
	for _, p := range s.found {
		out = append(append(out, s.text[rest:p.start]...), "null"...)
		rest = p.end
	}
	return append(out, s.text[rest:]...)
}
