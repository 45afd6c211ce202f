// Package jsonwrite is the writer of the generated encoders, as jsonread is the reader of the
// generated decoders. The functions of values.go write one value and share one signature, so that
// they can be passed as arguments: f(&field, w).
//
// An encoder of a struct calls Open, then Field before each field that is not zero, and then Close,
// which writes the entries of Extra in sorted order. A key that is both a field and in Extra is a
// clash: Close reports it, and the caller decides between the two with Settle.
package jsonwrite

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Writer writes one JSON text. The zero Writer is ready to use.
type Writer struct {
	// WithoutExtra omits the entries of Extra of the outermost object.
	WithoutExtra bool

	buf []byte
	err error
	top Object // the innermost open object
}

// Object is the state of an open object.
type Object struct {
	start   int // of the object in the text
	extra   map[string]json.RawMessage
	clashes []string
}

// Bytes returns the text, or the first error.
func (w *Writer) Bytes() ([]byte, error) {
	if w.err != nil {
		return nil, w.err
	}
	return w.buf, nil
}

// Fail records the first error.
func (w *Writer) Fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Open begins an object whose other keys are in extra. It returns the state of the enclosing
// object, for Close.
func (w *Writer) Open(extra map[string]json.RawMessage) (outer Object) {
	if w.WithoutExtra && len(w.buf) == 0 {
		extra = nil
	}
	outer, w.top = w.top, Object{start: len(w.buf), extra: extra}
	w.buf = append(w.buf, '{')
	return outer
}

// Field reports whether the field of a key is to be written, which it is unless it is zero. If so,
// it writes the key.
func (w *Writer) Field(key string, zero bool) bool {
	if len(w.top.extra) > 0 {
		if _, twice := w.top.extra[key]; twice {
			w.top.clashes = append(w.top.clashes, key)
		}
	}
	if !zero {
		w.key(key)
	}
	return !zero
}

// Struct writes a field that is an object, with f. It omits the field if f writes an empty value.
func (w *Writer) Struct(key string, f func(*Writer)) {
	before := len(w.buf)
	w.Field(key, false)
	start := len(w.buf)
	if f(w); isEmpty(w.buf[start:]) {
		w.buf = w.buf[:before]
	}
}

func isEmpty(value []byte) bool {
	switch string(value) {
	case "{}", `""`, "null":
		return true
	}
	return false
}

// Clashes returns the keys of the open object that are both a field and in Extra.
func (w *Writer) Clashes() []string { return w.top.clashes }

// Fields returns the fields of the open object as an object, without Extra. It is valid until the
// next write.
func (w *Writer) Fields() []byte { return append(w.buf[w.top.start:], '}') }

// Settle replaces the fields of the open object, which is an object without Extra, and the entries
// that Close writes.
func (w *Writer) Settle(fields []byte, extra map[string]json.RawMessage) {
	w.buf = append(w.buf[:w.top.start], fields[:len(fields)-1]...)
	w.top.extra = extra
}

// Close writes the entries of Extra, sorted, and ends the object.
func (w *Writer) Close(outer Object) {
	if len(w.top.extra) > 0 {
		for _, key := range slices.Sorted(maps.Keys(w.top.extra)) {
			w.key(key)
			w.raw(key, w.top.extra[key])
		}
	}
	w.buf = append(w.buf, '}')
	w.top = outer
}

// raw writes the text of a value in Extra; null for nil.
func (w *Writer) raw(key string, value json.RawMessage) {
	switch {
	case value == nil:
		w.null()
	case !json.Valid(value):
		w.Fail(fmt.Errorf("the value of %q in the map Extra is not JSON", key))
	default:
		w.buf = append(w.buf, value...)
	}
}

func (w *Writer) key(key string) {
	w.comma('{')
	w.text(key)
	w.buf = append(w.buf, ':')
}

// comma writes a comma unless the object or array has just begun: no value ends with its bracket.
func (w *Writer) comma(open byte) {
	if w.buf[len(w.buf)-1] != open {
		w.buf = append(w.buf, ',')
	}
}

func (w *Writer) null() { w.buf = append(w.buf, "null"...) }
