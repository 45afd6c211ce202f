package jsonwrite

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// The functions below write one value, as encoding/json does unless they say otherwise.

// Text writes a string. Invalid UTF-8 is replaced.
func Text[T ~string](v *T, w *Writer) { w.text(string(*v)) }

// Bool writes a boolean.
func Bool[T ~bool](v *T, w *Writer) { w.buf = strconv.AppendBool(w.buf, bool(*v)) }

// Int writes an integer.
func Int[T ~int | ~int64](v *T, w *Writer) { w.buf = strconv.AppendInt(w.buf, int64(*v), 10) }

// Float writes a number with as many digits as its value needs. Infinities and NaN are errors.
func Float[T ~float64](v *T, w *Writer) {
	f := float64(*v)
	if math.IsInf(f, 0) || math.IsNaN(f) {
		w.Fail(fmt.Errorf("%v is not a JSON number", f))
		return
	}
	format := byte('f')
	if size := math.Abs(f); size != 0 && (size < 1e-6 || size >= 1e21) {
		format = 'e'
	}
	w.buf = strconv.AppendFloat(w.buf, f, format, -1, 64)
}

// Time writes a timestamp of RFC 3339, with the time's own offset if the form has it, and otherwise
// in UTC. The zero time is the empty string. A year that the form does not have is an error.
func Time(v *time.Time, w *Writer) {
	if v.IsZero() {
		w.text("")
		return
	}
	t := *v
	if _, offset := t.Zone(); offset%60 != 0 || !isWritable(t) {
		t = t.UTC()
	}
	if !isWritable(t) {
		w.Fail(errors.New("the year of a time is not between 0 and 9999"))
		return
	}
	w.buf = append(t.AppendFormat(append(w.buf, '"'), time.RFC3339Nano), '"')
}

func isWritable(t time.Time) bool {
	_, offset := t.Zone()
	return t.Year() >= 0 && t.Year() <= 9999 && offset > -24*3600 && offset < 24*3600
}

// Bytes writes base64; null for nil.
func Bytes(v *[]byte, w *Writer) {
	if *v == nil {
		w.null()
		return
	}
	w.buf = append(base64.StdEncoding.AppendEncode(append(w.buf, '"'), *v), '"')
}

// Raw writes the text of a value; null for nil.
func Raw[T ~[]byte](v *T, w *Writer) {
	switch {
	case len(*v) == 0:
		w.null()
	case !json.Valid(*v):
		w.Fail(errors.New("a json.RawMessage is not JSON"))
	default:
		w.buf = append(w.buf, *v...)
	}
}

// IsNull reports whether a raw value is null, or nil.
func IsNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// Array writes a slice, each element with f; null for nil.
func Array[T any](v []T, w *Writer, f func(*T, *Writer)) {
	if v == nil {
		w.null()
		return
	}
	w.buf = append(w.buf, '[')
	for i := range v {
		w.comma('[')
		f(&v[i], w)
	}
	w.buf = append(w.buf, ']')
}

// ArrayOf returns Array as a function, for the elements of a map or of another slice.
func ArrayOf[T any](f func(*T, *Writer)) func(*[]T, *Writer) {
	return func(v *[]T, w *Writer) { Array(*v, w, f) }
}

// Map writes a map, sorted by key, each value with f; null for nil.
func Map[T any](v map[string]T, w *Writer, f func(*T, *Writer)) {
	if v == nil {
		w.null()
		return
	}
	w.buf = append(w.buf, '{')
	for _, key := range slices.Sorted(maps.Keys(v)) {
		w.key(key)
		item := v[key]
		f(&item, w)
	}
	w.buf = append(w.buf, '}')
}

// Nullable writes a value with f if it is set, and null otherwise.
func Nullable[T any](v T, set bool, w *Writer, f func(*T, *Writer)) {
	if !set {
		w.null()
		return
	}
	f(&v, w)
}

// text writes a string. Like encoding/json, it escapes U+2028 and U+2029, which JavaScript once
// took as line ends. It leaves it to encoding/json to escape HTML.
func (w *Writer) text(s string) {
	const hex = "0123456789abcdef"
	b, start := append(w.buf, '"'), 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && r != '\u2028' && r != '\u2029' && (r != utf8.RuneError || size > 1) {
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		if short := strings.IndexByte("\"\\\b\f\n\r\t", c); short >= 0 {
			b = append(b, '\\', `"\bfnrt`[short])
		} else {
			b = append(b, '\\', 'u', hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15])
		}
		i += size
		start = i
	}
	w.buf = append(append(b, s[start:]...), '"')
}
