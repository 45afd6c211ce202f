package jsonread

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// seeds are short texts that reach every branch of the reader.
var seeds = []string{
	`{"a":[1,-2.5e+3,"x\u00e9\ud83d\ude00\n",true,false,null,{}],"b":{"c":[]}}`, `"\ud800"`, `"\udc00\ud800x"`, "\"\xff\xc3\"", "{\"\xff\":1}",
	`""`, `"a\/b\"\\\b\f\r\t"`, "\"\x7f\"", "\"\x1f\"", `"\u12g4"`, `"\x"`, `9007199254740993`, `9223372036854775807`, `-9223372036854775808`,
	`9223372036854775808`, `1e3`, `1.0`, `-0`, `01`, `+1`, `.5`, `1.`, `1e`, `-`, `NaN`, `1e999`, `1e-999`, `0e99999999999`, `[1,]`, `[,1]`, `{"a":1,}`, `{,}`,
	`{"a" 1}`, `{"a":}`, `{a:1}`, `[1 2]`, `[}`, `{]`, `nul`, `truE`, "\xef\xbb\xbf{}", " \t\r\n[ ] ", "\v1", `1 1`, `"2026-03-01T09:30:00.123+05:30"`, `"2026-02-29"`,
	`"2026-03-01"`, `"2026-03-01 09:30:00,5+0200"`, `"2026-03-01t09:30:00z"`, `"2026-03-01 09:30:00 UTC"`, `"2026-03-01T09:30:00-08"`, `"2026-03-01T09:30:00"`,
	`"2026-03-01T09:30:00.1234567891Z"`, `"2026-03-01T09:30:00.1234567890+05:30"`, `"true"`, `"false"`, `"007"`, `12345678901234567890.5`, `1e-400`, `"aGk="`, `"aGk"`, `[1]`,
	`"12345678\"abcdefgh\\ijklmnop"`, `"абвгд абвгд"`, `"1234567é12345678"`, `{"a\:1}`, "{\"a\x01:1}",
}

// FuzzReader compares the reader with encoding/json: both accept the same texts, and read the same
// values.
func FuzzReader(f *testing.F) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		valid := json.Valid(data)
		for name, read := range map[string]func(*Reader){
			"Skip":     (*Reader).Skip,
			"View":     func(r *Reader) { r.View() },
			"Raw":      func(r *Reader) { var v []byte; Raw(&v, r) },
			"Text":     func(r *Reader) { var v string; Text(&v, r) },
			"Bool":     func(r *Reader) { var v bool; Bool(&v, r) },
			"Bytes":    func(r *Reader) { var v []byte; Bytes(&v, r) },
			"Verbatim": func(r *Reader) { var v []byte; Verbatim(&v, r) },
			"Int":      func(r *Reader) { var v int64; Int(&v, r) },
			"Float":    func(r *Reader) { var v float64; Float(&v, r) },
			"Time":     func(r *Reader) { var v time.Time; Time(&v, r) },
			"Date":     func(r *Reader) { _, _, _, _ = r.Date() },
			"Walk":     walk,
		} {
			var r Reader
			r.Reset(bytes.Clone(data))
			read(&r)
			var syntax *SyntaxError
			switch err := r.End(); {
			case (err == nil) != valid:
				t.Fatalf("%s: err %v, json.Valid %v", name, err, valid)
			case err != nil && (!errors.As(err, &syntax) || syntax.Offset > len(data)):
				t.Fatalf("%s: %v", name, err)
			}
		}
		if valid {
			sameScalars(t, data)
			sameKey(t, data)
		}
	})
}

// sameKey compares a string with what is read where it is a key.
func sameKey(t *testing.T, text []byte) {
	t.Helper()
	var want string
	if text = bytes.TrimSpace(text); text[0] != '"' || json.Unmarshal(text, &want) != nil {
		return
	}
	var r Reader
	r.Reset([]byte("{" + string(text) + ":1}"))
	if !r.Object() || !r.Key() || r.KeyText() != want {
		t.Fatalf("the key %q instead of %q", r.KeyText(), want)
	}
}

// walk reads every value with the function for its type.
func walk(r *Reader) {
	switch r.Kind() {
	case "object":
		for open := r.Object(); open && r.Key(); {
			walk(r)
		}
	case "array":
		for open := r.Array(); open && r.More(); {
			walk(r)
		}
	case "string":
		var s string
		Text(&s, r)
	case "number":
		var n float64
		Float(&n, r)
	default:
		var b bool
		Bool(&b, r)
	}
}

func sameScalars(t *testing.T, data []byte) {
	same(t, data, Text[string], func(a, b string) bool { return a == b })
	same(t, data, Bool[bool], func(a, b bool) bool { return a == b })
	same(t, data, Int[int64], func(a, b int64) bool { return a == b })
	same(t, data, Float[float64], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
	same(t, data, Raw[[]byte], nil)
	same(t, data, Time, func(a, b time.Time) bool {
		_, offsetA := a.Zone()
		_, offsetB := b.Zone()
		return a.Equal(b) && offsetA == offsetB
	})
}

// same reads one value with both. If encoding/json returns no error, both must return the same
// value. If it returns an error, the reader must report a mismatch, except for forms that only the
// reader accepts. A value that is read and also recorded as a mismatch must have lost a part.
func same[T any](t *testing.T, data []byte, f func(*T, *Reader) bool, equal func(a, b T) bool) {
	t.Helper()
	var ours, theirs T
	var r Reader
	buffer := bytes.Clone(data)
	r.Reset(buffer)
	ok := f(&ours, &r)
	clear(buffer)
	if raw, isRaw := any(ours).([]byte); isRaw {
		if want := bytes.Trim(data, " \t\r\n"); !bytes.Equal(raw, want) && string(want) != "null" {
			t.Fatalf("raw %q of %q", raw, data)
		}
		return
	}
	err := json.Unmarshal(data, &theirs)
	switch {
	case err == nil && (!ok || !equal(ours, theirs)):
		t.Fatalf("%T: %v (%v) instead of %v", ours, ours, ok, theirs)
	case ok && len(r.Mismatches()) > 0 && !isPartial(data, any(ours)) || !ok && len(r.Mismatches()) == 0:
		t.Fatalf("%T: returned %v with %v", ours, ok, r.Mismatches())
	case err != nil && ok && !generous(data, any(ours)):
		t.Fatalf("%T: %v, which encoding/json refuses: %v", ours, ours, err)
	}
}

func generous(data []byte, ours any) bool {
	var s string
	if json.Unmarshal(data, &s) != nil {
		return false
	}
	switch ours := ours.(type) {
	case bool:
		return s == strconv.FormatBool(ours)
	case int64:
		n, err := strconv.ParseInt(s, 10, 64)
		return err == nil && n == ours && !strings.HasPrefix(s, "+")
	case float64:
		n, err := strconv.ParseFloat(s, 64)
		return err == nil && n == ours && json.Valid([]byte(s))
	case time.Time:
		return s == "" && ours.IsZero() || slices.ContainsFunc(forms(s), func(t time.Time) bool { return t.Equal(ours) })
	}
	return false
}

// forms parses a timestamp in each of the forms for which package time has a layout.
func forms(s string) (times []time.Time) {
	s = strings.Replace(strings.ToUpper(s), " ", "T", 1)
	s = strings.ReplaceAll(strings.Replace(s, "UTC", "Z", 1), " ", "")
	for _, layout := range []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04:05", time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			times = append(times, t)
		}
	}
	return times
}

// isPartial reports whether a value cannot contain the whole text.
func isPartial(data []byte, ours any) bool {
	text := strings.Trim(string(data), " \t\r\n\"")
	switch ours := ours.(type) {
	case bool:
		return text == strconv.FormatBool(ours)
	case float64:
		exact, _ := new(big.Rat).SetString(text)
		shortest, _ := new(big.Rat).SetString(strconv.FormatFloat(ours, 'g', -1, 64))
		return exact == nil || exact.Cmp(shortest) != 0
	case time.Time:
		return len(text) > len("2006-01-02T15:04:05.999999999")
	}
	return false
}
