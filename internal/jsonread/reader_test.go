package jsonread

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValues has a line for each function of values.go and each type that can come instead.
func TestValues(t *testing.T) {
	values(t, Text[string], "integer text", map[string]any{`"a"`: "a", `""`: "", `null`: "", `5`: "string<-number", `[{"a":1}]`: "string<-array", `true`: "string<-boolean", `{}`: "string<-object"})
	values(t, Bool, true, map[string]any{`true`: true, `false`: false, `null`: false, `"true"`: "boolean<-string", `0`: "boolean<-number"})
	values(t, Int[int], 7, map[string]any{`5`: 5, `-5`: -5, `null`: 0, `"5"`: 5, `"-5"`: -5, `"+5"`: "integer<-string", `""`: "integer<-string", `"5 "`: "integer<-string", `5.0`: "integer<-number",
		`5e0`: "integer<-number", `99999999999999999999`: "integer<-number", `false`: "integer<-boolean", `[5]`: "integer<-array"})
	values(t, Float, 7, map[string]any{`5`: 5.0, `-2.5e1`: -25.0, `null`: 0.0, `"97.5"`: 97.5, `"97.5%"`: "number<-string", `"0x1p3"`: "number<-string", `"NaN"`: "number<-string", `""`: "number<-string",
		`1e999`: "number<-number", `{}`: "number<-object"})
	values(t, Raw[[]byte], []byte("x"), map[string]any{`{"a": 1}`: []byte(`{"a": 1}`), `null`: []byte(nil), `5`: []byte("5")})
	values(t, Time, time.Now(), map[string]any{`"2026-03-01T09:30:00Z"`: time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), `null`: time.Time{}, `""`: time.Time{}, `"x"`: "timestamp<-string", `5`: "timestamp<-number"})
	type day struct{ y, m, d int }
	date := func(v *day, r *Reader) (ok bool) { v.y, v.m, v.d, ok = r.Date(); return ok }
	values(t, date, day{1, 2, 3}, map[string]any{`"2024-02-29"`: day{2024, 2, 29}, `null`: day{}, `""`: day{}, `"2026-02-29"`: "date<-string", `"2026-00-01"`: "date<-string", `"2026-13-01"`: "date<-string",
		`"2026-01-00"`: "date<-string", `"2026-1-01"`: "date<-string", `"2026-01-0x"`: "date<-string", `7`: "date<-number"})
}

// values reads each text into a field that has a value already, which must not remain.
func values[T any](t *testing.T, f func(*T, *Reader) bool, before T, want map[string]any) {
	t.Helper()
	for text, want := range want {
		var r Reader
		r.Reset([]byte(` { "k" : ` + text + ` } `))
		require.True(t, r.Object() && r.Key() && string(r.CurrentKey()) == "k")
		v := before
		ok := f(&v, &r)
		assert.False(t, r.Key(), text)
		require.NoError(t, r.End(), text)
		if mismatch, isText := want.(string); isText && strings.Contains(mismatch, "<-") {
			var zero T
			types := strings.Split(mismatch, "<-")
			assert.Equal(t, []Mismatch{{Pointer: "/k", Want: types[0], Got: types[1]}}, r.Mismatches(), text)
			assert.Equal(t, zero, v, text)
			assert.False(t, ok, text)
			continue
		}
		assert.Equal(t, want, any(v), text)
		assert.True(t, ok && r.Mismatches() == nil, text)
	}
}

func TestSyntaxErrors(t *testing.T) {
	for text, want := range map[string]string{
		``: "the text ends in the middle of a value at byte 0", `[1,`: "the text ends in the middle of a value at byte 3", `{"a"`: "the text ends in the middle of a value at byte 4", `"\u12`: "the text ends in the middle of a value at byte 5",
		`"\`: "the text ends in the middle of a value at byte 2", `[1 2]`: "a comma or the end of the array was expected at byte 3", `{"a":1 "b"}`: "a comma or the end of the object was expected at byte 7", `{"a" 1}`: "a colon was expected at byte 5",
		`{1:2}`: "an object key was expected at byte 1", `{"a":1,}`: "an object key was expected at byte 7", `[1,]`: "a value was expected at byte 3", `-x`: "a digit was expected at byte 1", `1.x`: "a digit was expected at byte 2",
		`1e+x`: "a digit was expected at byte 3", `01`: "unexpected data after the value at byte 1", `trux`: "a value was expected at byte 3", `"\q"`: "an unknown escape sequence at byte 2", `"\u00g0"`: "four hexadecimal digits were expected at byte 5",
		"\"a\tb\"": "a control byte in a string at byte 2", "\x00": "a value was expected at byte 0",
	} {
		var r Reader
		r.Reset([]byte(text))
		r.Skip()
		assert.EqualError(t, r.End(), want, "%q", text)
		// After an error nothing moves and nothing hangs.
		place := r.pos
		assert.False(t, r.Object() || r.Array())
		assert.EqualError(t, r.Err(), want)
		assert.Equal(t, place, r.pos)
	}
}

func TestPointer(t *testing.T) {
	var r Reader
	r.Reset([]byte(`{"a~b/c":[0,{"":[true]}],"\u0061é":5}`))
	var places []string
	var visit func()
	visit = func() {
		places = append(places, r.Pointer())
		switch r.Kind() {
		case "object":
			for open := r.Object(); open && r.Key(); {
				visit()
			}
		case "array":
			for open := r.Array(); open && r.More(); {
				visit()
			}
		default:
			r.Skip()
		}
	}
	visit()
	require.NoError(t, r.End())
	assert.Equal(t, []string{"", "/a~0b~1c", "/a~0b~1c/0", "/a~0b~1c/1", "/a~0b~1c/1/", "/a~0b~1c/1//0", "/aé"}, places)
}

func TestStrict(t *testing.T) {
	r := Reader{Strict: true}
	r.Reset([]byte(`{"a":{"b":1}}`))
	require.True(t, r.Strict && r.Object() && r.Key() && r.Object() && r.Key())
	_, _, ok := r.Unknown()
	assert.False(t, ok || r.Key())
	var strict *StrictError
	require.ErrorAs(t, r.End(), &strict)
	assert.Equal(t, "/a/b: no field has this name", strict.Error())
	r.Reset([]byte(`{"a":{"b":1}`)) // bad syntax counts first
	require.True(t, r.Object() && r.Key())
	r.Unknown()
	assert.ErrorAs(t, r.End(), &strict)
}

// Strings are copies, whatever their length, and remembered ones are right although their slots are shared.
func TestTextsAreCopies(t *testing.T) {
	var want []string
	for i := range 3000 {
		want = append(want, strings.Repeat(string(rune('a'+i%26)), i%200)+fmt.Sprint(i%701))
	}
	data := []byte(`["` + strings.Join(want, `","`) + `"]`)
	var r Reader
	r.Reset(data)
	var got []string
	for open := r.Array(); open && r.More(); {
		var s string
		Text(&s, &r)
		got = append(got, s)
	}
	require.NoError(t, r.End())
	clear(data)
	assert.Equal(t, want, got)
}

func TestResetForgets(t *testing.T) {
	var r Reader
	r.Reset([]byte(`[5,`))
	var s string
	for open := r.Array(); open && r.More(); {
		Text(&s, &r)
	}
	require.True(t, r.Err() != nil && len(r.Mismatches()) == 1)
	r.Reset([]byte(`"x"`))
	assert.True(t, Text(&s, &r) && s == "x" && r.End() == nil && r.Mismatches() == nil && r.Pointer() == "")
	assert.NoError(t, r.End())
	r.Reset([]byte(`{"a":{"b":["\n"]}}`))
	r.Skip()
	r.Reset(nil)
	r.path, r.scratch = nil, nil
	assert.Equal(t, Reader{}, r)
}

// TestPlainPrefix has every byte at every place, before and after others that need a look.
func TestPlainPrefix(t *testing.T) {
	for c := range 256 {
		for at := range 20 {
			for _, after := range []byte("a\x00\"\\\x80") {
				text := []byte(strings.Repeat("a", 20) + string([]byte{after}) + "aaaaaaaa")
				text[at] = byte(c)
				want := at
				if c >= ' ' && c < 0x80 && c != '"' && c != '\\' {
					want = 20
				}
				if want == 20 && after == 'a' {
					want = len(text)
				}
				require.Equal(t, want, plainPrefix(text), "%q", text)
			}
		}
	}
}
