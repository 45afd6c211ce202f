package jsonread

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestValues has a line for each function of values.go and each JSON type that a
// server may send instead. An expected value must be read; partly is a value that is also recorded
// as a mismatch; a text with an arrow is a mismatch.
func TestValues(t *testing.T) {
	values(t, Text[string], "integer text", map[string]any{`"a"`: "a", `""`: "", `null`: "", `5`: "string<-number", `[{"a":1}]`: "string<-array", `true`: "string<-boolean", `{}`: "string<-object"})
	values(t, Bool[bool], true, map[string]any{`true`: true, `false`: false, `null`: false, `"true"`: partly{true, "boolean<-string"}, `"false"`: partly{false, "boolean<-string"}, `"True"`: "boolean<-string", `"1"`: "boolean<-string",
		`""`: "boolean<-string", `0`: "boolean<-number", `[true]`: "boolean<-array"})
	values(t, Int[int], 7, map[string]any{`5`: 5, `-5`: -5, `null`: 0, `"5"`: 5, `"-5"`: -5, `"0"`: 0, `"+5"`: "integer<-string", `""`: "integer<-string", `"5 "`: "integer<-string", `"5:"`: "integer<-string", `"05"`: "integer<-string",
		`5.0`: "integer<-number", `5e0`: "integer<-number", `99999999999999999999`: "integer<-number", `9223372036854775808`: "integer<-number", `false`: "integer<-boolean", `[5]`: "integer<-array"})
	values(t, Float[float64], 7, map[string]any{`5`: 5.0, `-2.5e1`: -25.0, `null`: 0.0, `"97.5"`: 97.5, `"97.50"`: 97.5, `"0.5"`: 0.5, `"00.5"`: "number<-string", `0.30000000000000004`: 0.30000000000000004, `1000000000000000000000`: 1e21, `9223372036854775808`: 9223372036854775808.0, `1e23`: 1e23,
		`"97.5%"`: "number<-string", `"0x1p3"`: "number<-string", `"NaN"`: "number<-string", `"-0x1p3"`: "number<-string", `"1_0"`: "number<-string", `"+1"`: "number<-string", `".5"`: "number<-string", `"1."`: "number<-string", `"1e5x"`: "number<-string", `"1e5"`: 1e5, `""`: "number<-string", `1e999`: "number<-number", `{}`: "number<-object",
		`5.075883674631299e-116`: 5.075883674631299e-116, `0.100000000000000006`: 0.1, `0.1234567890123456789`: partly{0.1234567890123456789, "number<-number"}, `"9007199254740993"`: partly{9007199254740992.0, "number<-string"}, `1e-400`: partly{0.0, "number<-number"}})
	values(t, Raw[[]byte], []byte("x"), map[string]any{`{"a": 1}`: []byte(`{"a": 1}`), `null`: []byte(nil), `5`: []byte("5")})
	values(t, Verbatim[[]byte], []byte("x"), map[string]any{`{"a": 1}`: []byte(`{"a": 1}`), `null`: []byte("null")})
	values(t, Bytes, []byte("x"), map[string]any{`"aGk="`: []byte("hi"), `"aG\u006b\u003d"`: []byte("hi"), `""`: []byte{}, `null`: []byte(nil), `"aGk"`: "base64<-string", `[1]`: "base64<-array", `5`: "base64<-number"})
}

func TestTimes(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
	east := time.Date(2026, 3, 1, 9, 30, 0, 5e8, time.FixedZone("", 2*3600))
	values(t, Time, time.Now(), map[string]any{`"2026-03-01T09:30:00Z"`: at, `null`: time.Time{}, `""`: time.Time{}, `"x"`: "timestamp<-string", `5`: "timestamp<-number",
		`"2026-03-01t09:30:00z"`: at, `"2026-03-01 09:30:00Z"`: at, `"2026-03-01 09:30:00 UTC"`: at, `"2026-03-01 09:30:00 z"`: at, `"2026-03-01T09:30:00x02:00"`: "timestamp<-string", `"2026-03-01T09:30:00,02:00"`: "timestamp<-string", `"2026-03-01T09:30:00.02:00"`: "timestamp<-string", `"2026-03-01 09:30:00 +0000"`: at, `"2026-03-01T09:30:00.5+02:00"`: east, `"2026-03-01T09:30:00.5+0200"`: east,
		`"2026-03-01T09:30:00.5+02"`: east, `"2026-03-01 09:30:00,500 +0200"`: east, `"2026-03-01T09:30:00.5000000000000000+02:00"`: east, `"2026-03-01T09:30:00.500000-05:30"`: east.In(time.FixedZone("", -19800)).Add(7*time.Hour + 30*time.Minute),
		`"2026-03-01"`: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), `"2026-03-01 09:30:00"`: at,
		`"2026-03-01T09:30:00.0000000001Z"`: partly{at, "timestamp<-string"}, `"2026-03-01T09:30:00.50000000005+0200"`: partly{east, "timestamp<-string"},
		`"2026-02-29"`: "timestamp<-string", `"2026-03-01T24:00:00Z"`: "timestamp<-string", `"2026-12-31T23:59:60Z"`: "timestamp<-string", `"2026-03-01T09:30:00+2500"`: "timestamp<-string",
		`"2026-03-01T09:30:00+23:59"`: at.In(time.FixedZone("", 86340)).Add(-86340 * time.Second), `"2026-03-01T09:30:00-23:59"`: at.In(time.FixedZone("", -86340)).Add(86340 * time.Second),
		`"2026-03-01T09:30:00+25:00"`: "timestamp<-string", `"2026-03-01T09:30:00+02:61"`: "timestamp<-string", `"2026-03-01T09:30:00+0::00"`: "timestamp<-string", `"2026-03-01T09:30:00+02:0:"`: "timestamp<-string",
		`"2026-03-01T09:30"`: "timestamp<-string", `"2026-03-01T09:30:00 "`: "timestamp<-string", `"2026-03-01_09:30:00Z"`: "timestamp<-string", `"2026-03-01T09:30:00.Z"`: "timestamp<-string",
		`"2026-03-01T09:30:00 CET"`: "timestamp<-string", `"2026-03-01T09:30:00+2"`: "timestamp<-string", `"2026-03-01T"`: "timestamp<-string"})
	type day struct{ y, m, d int }
	date := func(v *day, r *Reader) (ok bool) { v.y, v.m, v.d, ok = r.Date(); return ok }
	values(t, date, day{1, 2, 3}, map[string]any{`"2024-02-29"`: day{2024, 2, 29}, `null`: day{}, `""`: day{}, `"2026-02-29"`: "date<-string", `"2026-00-01"`: "date<-string", `"2026-13-01"`: "date<-string", `":026-01-01"`: "date<-string", `"20:6-01-01"`: "date<-string",
		`"2026-01-00"`: "date<-string", `"2026-1-01"`: "date<-string", `"2026x01-01"`: "date<-string", `"2026-01x01"`: "date<-string", `"2026-01-0x"`: "date<-string", `"2026-01-0:"`: "date<-string", `"2026-0:-01"`: "date<-string", `7`: "date<-number", `"2026-01-02x"`: "date<-string", `"2026-01"`: "date<-string",
		`"2026-01-02T23:30:00-08:00"`: partly{day{2026, 1, 2}, "date<-string"}, `"2026-01-02 00:00:00 UTC"`: partly{day{2026, 1, 2}, "date<-string"}, `"2026-01-02T25:00:00Z"`: "date<-string"})
}

// partly is a value that is read, and the mismatch that is recorded for it.
type partly struct {
	value    any
	mismatch string
}

// values reads each text into a field that already has a value, which must not remain.
func values[T any](t *testing.T, f func(*T, *Reader) bool, before T, want map[string]any) {
	t.Helper()
	for text, want := range want {
		var r Reader
		r.Reset([]byte(` { "k" : ` + text + ` } `))
		var extra map[string]json.RawMessage
		require.True(t, r.Object() && r.Field(&extra) && string(r.CurrentKey()) == "k")
		v := before
		ok := f(&v, &r)
		assert.False(t, r.Field(&extra), text)
		require.NoError(t, r.End(), text)
		var zero T
		p, isPart := want.(partly)
		if mismatch, isText := want.(string); isText && strings.Contains(mismatch, "<-") {
			p = partly{zero, mismatch}
		}
		if p.mismatch != "" {
			types := strings.Split(p.mismatch, "<-")
			assert.Equal(t, []Mismatch{{Pointer: "/k", Want: types[0], Got: types[1]}}, r.Mismatches(), text)
			assert.Equal(t, isPart, ok, text)
			assert.Equal(t, map[string]json.RawMessage{"k": json.RawMessage(text)}, extra)
			want = p.value
		} else {
			assert.True(t, ok && r.Mismatches() == nil && extra == nil, text)
		}
		if at, isTime := want.(time.Time); isTime {
			_, offset := at.Zone()
			_, read := any(v).(time.Time).Zone()
			assert.True(t, at.Equal(any(v).(time.Time)) && offset == read, "%s: %v", text, v)
			continue
		}
		assert.Equal(t, want, any(v), text)
	}
}

// A value that does not fit is stored with the enclosing field, through any number of arrays and
// maps; the fields of an object are stored with the object. The last value of a repeated key
// counts.
func TestField(t *testing.T) {
	for text, want := range map[string]map[string]string{
		`{"a":"x","b" : 5 ,"c":"y"}`:                      {"/b": "5"},
		`{"a":[1,"x",3] ,"b":[1]}`:                        {"/a": `[1,"x",3]`},
		`{"a":["x",{"b":"y","c":7},{"d":"z"}]}`:           {"/a/1/c": "7", "/a": `["x",{"b":"y","c":7},{"d":"z"}]`},
		`{"a":[{"b":7}],"c":{"d":7}}`:                     {"/a/0/b": "7", "/c/d": "7"},
		`{"map":{"a":"x","b":["x"]},"c":{"map":{}}}`:      {"/map": `{"a":"x","b":["x"]}`},
		`{"map":{"a":[{"map":{"":7}}]}}`:                  {"/map/a/0/map": `{"":7}`},
		`{"a":5,"a":"x","b":"y"}`:                         {},
		`{"a":"x","a":5,"a":6,"\u0061":"x","b":7,"b":8}`:  {"/b": "8"},
		`{"a":"x","\u0061":[5,"x"]}`:                      {"/a": `[5,"x"]`},
		`{"a\"b":5,"c":{"a\"b":"x","c":5},"a\u0022b":""}`: {"/c/c": "5"},
		`{"a":5,"?":[1],"?":2,"a":"x"}`:                   {"/?": "2"},
		`{"?":[1],"a":5,"?":2}`:                           {"/?": "2", "/a": "5"},
	} {
		var r Reader
		r.Reset([]byte(text))
		got := map[string]string{}
		readFields(&r, got)
		require.NoError(t, r.End())
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{`{"a":[5,`, `{"a":[{"b":5`, `{"a":5,"b`, `{"a":{"b":5]`} {
		var r Reader
		r.Reset([]byte(text))
		readFields(&r, map[string]string{})
		assert.Error(t, r.End(), text)
	}
	r := Reader{Limit: 1000}
	r.Reset([]byte(`{"a":["` + strings.Repeat("x", 1000) + `"]}`))
	readFields(&r, map[string]string{})
	var limit *LimitError
	require.ErrorAs(t, r.End(), &limit, "what is kept counts")
	assert.EqualError(t, limit, "its values take more than 1000 bytes")
	r = Reader{Limit: 5}
	r.Take(5)
	require.NoError(t, r.Err())
	r.Take(1)
	require.ErrorAs(t, r.Err(), &limit)

	var extra map[string]json.RawMessage
	r = Reader{}
	r.Reset([]byte(`{"a":[1],"a":"x"}`))
	require.True(t, r.Object())
	for _, kept := range []int{0, 1} {
		require.True(t, r.Field(&extra))
		assert.Len(t, extra, kept)
		Text(new(string), &r)
	}
	assert.False(t, r.Field(&extra))
	assert.Nil(t, extra, "a map without values is none")
}

// readFields reads an object as if its fields were strings, arrays of integers and objects, and
// maps of both. It puts the stored values into all, by place.
func readFields(r *Reader, all map[string]string) {
	at := r.Pointer()
	var extra map[string]json.RawMessage
	for open := r.Object(); open && r.Field(&extra); {
		switch string(r.CurrentKey()) {
		case "?":
			r.Unknown(&extra)
		case "map":
			for open := r.Map(); open && r.Key(); {
				readElements(r, all)
			}
		default:
			readElements(r, all)
		}
	}
	for key, value := range extra {
		all[at+"/"+key] = string(value)
	}
}

func readElements(r *Reader, all map[string]string) {
	var s string
	var n int
	switch r.Kind() {
	case "object":
		readFields(r, all)
	case "array":
		for open := r.Array(); open && r.More(); {
			if r.Kind() == "object" {
				readFields(r, all)
				continue
			}
			Int(&n, r)
		}
	default:
		Text(&s, r)
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
		// After an error the position does not change and no method hangs.
		place := r.pos
		assert.False(t, r.Object() || r.Array())
		assert.EqualError(t, r.Err(), want)
		assert.Equal(t, place, r.pos)
	}
}

// What may follow a part of a number, and what a value begins with, is what encoding/json accepts.
func TestEveryByteOfAValue(t *testing.T) {
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "boolean", 'f': "boolean", 'n': "null", '-': "number"}
	for c := range 256 {
		for _, text := range []string{"%s", "-%s", "0%s", "1%s", "1%s1", "1.%s", "1.5%s", "1e%s", "1e+%s", "1e5%s"} {
			text = strings.Replace(text, "%s", string([]byte{byte(c)}), 1)
			var r Reader
			r.Reset([]byte(text))
			r.Skip()
			assert.Equal(t, json.Valid([]byte(text)), r.End() == nil, "%q", text)
		}
		if '0' <= c && c <= '9' {
			kinds[byte(c)] = "number"
		}
		assert.Equal(t, kinds[byte(c)], kindOf(byte(c)), "%q", c)
	}
}

// The depth is limited as in encoding/json.
func TestDepth(t *testing.T) {
	for more := range 2 {
		text := []byte(strings.Repeat("[", maxDepth+more) + strings.Repeat("]", maxDepth+more))
		var r Reader
		r.Reset(text)
		r.Skip()
		assert.Equal(t, more == 0, r.End() == nil)
		assert.Equal(t, more == 0, json.Valid(text))
	}
}

// A key that is not valid is no key.
func TestBrokenKeys(t *testing.T) {
	for _, text := range []string{`{1:2}`, `{"a" 1}`, `{"a"`, `{"\q":1}`, `{,}`, `{`, `{"a\n"}`} {
		var r Reader
		r.Reset([]byte(text))
		assert.True(t, r.Object() && !r.Key() && r.Err() != nil, text)
	}
}

// Of all values only null was null, also one that ends with the letters of null.
func TestWasNull(t *testing.T) {
	for text, want := range map[string]bool{"null": true, `"null"`: false, `"l"`: false, "true": false, "[null]": false} {
		var r Reader
		r.Reset([]byte(text))
		r.Skip()
		assert.Equal(t, want, r.WasNull(), text)
	}
}

// Of all bytes only a comma separates entries, and only the end of its kind ends a container.
func TestSeparators(t *testing.T) {
	for _, text := range []string{`[{}%s[]]`, `["a"%s"b"]`, `[true%snull]`, `{"a":{}%s"b":[]}`, `{"a":"b"%s"c":null}`} {
		for c := range 256 {
			var r Reader
			r.Reset([]byte(strings.Replace(text, "%s", string([]byte{byte(c)}), 1)))
			r.Skip()
			assert.Equal(t, c == ',', r.End() == nil, "%q in %s", c, text)
			r.Reset([]byte(strings.Replace(text, "%s", string([]byte{byte(c)}), 1)))
			entries := 0
			if text[0] == '[' {
				for r.Array(); r.More(); entries++ {
					r.Skip()
				}
			} else {
				for r.Object(); r.Key(); entries++ {
					r.Skip()
				}
			}
			assert.Equal(t, c == ',', r.End() == nil && entries == 2, "%q in %s, entry by entry", c, text)
		}
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

// A value after which the text breaks off is not reported: it may be of the wanted type.
func TestWatchIsWithoutSyntaxErrors(t *testing.T) {
	for text, want := range map[string]int{`["true"]`: 1, `["true`: 0} {
		calls := 0
		r := Reader{Watch: func(string, string, string) { calls++ }}
		r.Reset([]byte(text))
		require.True(t, r.Array() && r.More())
		var v bool
		Bool(&v, &r)
		assert.Equal(t, want, calls, text)
		calls = 0
		r.Reset([]byte(`{"new":` + text))
		require.True(t, r.Object() && r.Key())
		r.Unknown(new(map[string]json.RawMessage))
		assert.Equal(t, want, calls, text)
	}
}

func TestStrict(t *testing.T) {
	r := Reader{Strict: true}
	r.Reset([]byte(`{"a":{"b":1}}`))
	require.True(t, r.Strict && r.Object() && r.Key() && r.Object() && r.Key())
	var extra map[string]json.RawMessage
	r.Unknown(&extra)
	assert.False(t, extra != nil || r.Key())
	var strict *StrictError
	require.ErrorAs(t, r.End(), &strict)
	assert.Equal(t, "/a/b: no field has this name", strict.Error())
	r.Reset([]byte(`{"a":{"b":1}`)) // the syntax error is reported first
	require.True(t, r.Object() && r.Key())
	r.Unknown(&extra)
	assert.ErrorAs(t, r.End(), &strict)
}

// Strings of any length are copies, and cached ones are correct although they share slots.
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
	assert.False(t, r.WasNull(), "nothing was read")
	r.Skip()
	require.Error(t, r.Err())
	r.Reset([]byte("1"))
	require.NoError(t, r.Err(), "of no text")
	for more := range 2 { // memory beyond the bounds is not kept
		for _, size := range [][2]int{{keptDepth + more, keptScratch}, {keptDepth, keptScratch + more}} {
			r := Reader{data: []byte("1"), path: make([]step, 0, size[0]), scratch: make([]byte, 0, size[1])}
			r.Reset(nil)
			assert.Equal(t, more == 0, r.path != nil && r.scratch != nil, size)
		}
	}
}

// Short values share blocks, which are not larger than the rest of the text.
func TestBlocks(t *testing.T) {
	var c textCopier
	for _, step := range []struct{ size, rest, used, block int }{
		{8, 8, 8, 16}, {7, 1, 15, 16}, {1, 0, 16, 16}, {9, 7, 9, 16}, // the first block fits exactly
		{longestBlock + 1, 1000, 9, 16}, {longestBlock, 1000, longestBlock, blockSize}, {0, 1000, longestBlock, blockSize},
	} {
		text := strings.Repeat("x", step.size)
		assert.Equal(t, text, c.copy([]byte(text), step.rest))
		assert.Equal(t, []int{step.used, step.block}, []int{c.block.Len(), c.block.Cap()}, "%v", step)
	}
	c.reset()
	for more := range 2 { // a longer text is not kept
		c.copy([]byte(strings.Repeat("x", longestKept+1-more)), 0)
		assert.Equal(t, more == 0, c.used == 0)
	}
	var raws rawCopier
	for _, step := range []struct{ size, rest, left int }{{8, 8, 8}, {7, 1, 1}, {1, 0, 0}, {longestBlock + 1, 1000, 0}, {longestBlock, 1000, blockSize - longestBlock}, {0, 1000, blockSize - longestBlock}} {
		text := strings.Repeat("x", step.size)
		assert.Equal(t, text, string(raws.copy([]byte(text), step.rest)))
		assert.Len(t, raws.block, step.left, "%v", step)
	}
	assert.Nil(t, raws.copy(nil, 8), "what could not be read")
	var r Reader
	r.Reset([]byte(`{"k":"x","123456":1}`))
	require.True(t, r.Object() && r.Key())
	r.Unknown(new(map[string]json.RawMessage))
	assert.Len(t, r.raws.block, len(`,"123456":1}`))
	r.Reset([]byte(`["12",123456789]`))
	var s string
	require.True(t, r.Array() && r.More() && Text(&s, &r))
	assert.Equal(t, 16, r.texts.block.Cap())
	var raw json.RawMessage
	for _, read := range []func(*json.RawMessage, *Reader) bool{Raw[json.RawMessage], Verbatim[json.RawMessage]} {
		r.Reset([]byte(`{"key":1234567890}`))
		require.True(t, r.Object() && r.Key() && r.KeyText() == "key" && r.texts.block.Cap() == 16)
		require.True(t, read(&raw, &r))
		assert.Len(t, r.raws.block, 1, "the end of the object")
	}
}

// TestTextPrefix tests every byte at every position, before and after other bytes that end the
// prefix.
func TestTextPrefix(t *testing.T) {
	ends := func(c byte) bool { return c < ' ' || c == '"' || c == '\\' }
	for c := range 256 {
		for at := range 20 {
			for _, after := range []byte("a\x00\"\\\x80") {
				text := []byte(strings.Repeat("a", 20) + string([]byte{after}) + "aaaaaaaa")
				text[at] = byte(c)
				want := at
				if !ends(byte(c)) {
					want = 20
				}
				if want == 20 && !ends(after) {
					want = len(text)
				}
				n, wide := textPrefix(text)
				require.Equal(t, want, n, "%q", text)
				outside := func(s []byte) bool { return bytes.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf }) }
				require.True(t, wide || !outside(text[:n]), "%q", text)
				require.True(t, !wide || outside(text), "%q", text)
			}
		}
	}
}

// TestMemoryIsApart checks that values that share a block can be changed and appended to without
// effect on each other.
func TestMemoryIsApart(t *testing.T) {
	var r Reader
	r.Reset([]byte(`{"a":[1],"b":"x","c":2,"d":3}`))
	var extra map[string]json.RawMessage
	require.True(t, r.Object())
	for r.Field(&extra) {
		r.Unknown(&extra)
	}
	require.NoError(t, r.End())
	for key := range extra {
		extra[key] = append(extra[key], "999"...)
	}
	for key, want := range map[string]string{"a": "[1]999", "b": `"x"999`, "c": "2999", "d": "3999"} {
		assert.Equal(t, want, string(extra[key]))
	}

	bools, ints := map[*bool]bool{}, map[*int]bool{}
	r.Reset([]byte("[" + strings.Repeat("true,7,null,", 100) + "false]"))
	require.True(t, r.Array())
	for range 100 {
		require.True(t, r.More())
		b := r.BoolPointer()
		require.True(t, r.More())
		i := r.IntPointer()
		require.True(t, *b && *i == 7 && !bools[b] && !ints[i])
		bools[b], ints[i] = true, true
		require.True(t, r.More())
		require.Nil(t, r.BoolPointer())
	}
	require.True(t, r.More())
	assert.False(t, *r.BoolPointer())
	for b := range bools {
		assert.True(t, *b)
	}
}

// A text with escapes is what encoding/json reads, whatever the script, also if it is not UTF-8.
func TestTextsWithEscapes(t *testing.T) {
	for _, part := range []string{"plain", "Größe", "Выгрузка", "导出", "🚀", "\xff", "\xd0", "\xed\xa0\x80", `\ud83d\ude80`, `\ud83d`, `\ud83d\nde80`, `\ud83dxude80`, `\u0416`, `\"`} {
		for _, text := range []string{part, part + `\n` + part, `\n` + part, part + `\n`, part + "0123456789" + `\t` + part + "x"} {
			var want, got string
			text = `"` + text + `"`
			require.NoError(t, json.Unmarshal([]byte(text), &want))
			var r Reader
			r.Reset([]byte(text))
			Text(&got, &r)
			require.NoError(t, r.End())
			require.Equal(t, want, got, "%q", text)
		}
	}
}

// Strings counts the strings at the front of an array, and reads nothing.
func TestStrings(t *testing.T) {
	for text, want := range map[string]int{
		`[]`: 0, `["a"]`: 1, `["a","b"]`: 2, `["a", "b"]`: 1, `[1]`: 0, `["a",1]`: 1, `["a\n","b"]`: 2, `["\\","\"x","b"]`: 3, `["a\`: 1, `[`: 0, `["`: 1, `["a`: 1, `["a"`: 1, `["a",`: 1, "[\"a\x01,\"b\"]": 1,
		"[" + strings.Repeat(`"ä",`, 50) + `""]`: 16,
	} {
		var r Reader
		r.Reset([]byte(text))
		require.True(t, r.Array())
		assert.Equal(t, want, r.Strings(), text)
		assert.Equal(t, 1, r.Offset(), text)
	}
}

// The recorded mismatches are bounded in number, and in the bytes of their pointers.
func TestMismatchesAreBounded(t *testing.T) {
	for size, want := range map[int]int{2: maxMismatches, 128: maxPointers / 128} {
		var r Reader
		r.Reset([]byte("{" + strings.Repeat(`"`+strings.Repeat("a", size-1)+`":"x",`, 2000) + `"b":1}`))
		require.True(t, r.Object())
		for n := 0; r.Key(); {
			Int(&n, &r)
		}
		require.NoError(t, r.End())
		assert.Equal(t, want, len(r.Mismatches())) //nolint:testifylint // a list would be long
	}
}

// A pointer is bounded, and a long key is not in it: a part of it could be a part of a credential.
func TestPointerIsBounded(t *testing.T) {
	for _, n := range []int{1, maxToken, maxToken + 1, 10 * maxToken} {
		var r Reader
		r.Reset([]byte(strings.Repeat(`{"`+strings.Repeat("a", n)+`":`, 8) + "1" + strings.Repeat("}", 8)))
		require.True(t, r.Object() && r.Key())
		want := "/" + strings.Repeat("a", n)
		if n > maxToken {
			want = "/..."
		}
		assert.Equal(t, want, r.Pointer())
		for range 7 {
			require.True(t, r.Object() && r.Key())
		}
		for _, pointer := range []string{r.Pointer(), r.Place()} {
			assert.LessOrEqual(t, len(pointer), maxPointer)
			assert.Equal(t, n >= maxToken, strings.HasSuffix(pointer, "/..."), pointer)
		}
	}
	long := "/" + strings.Repeat("a", maxToken)
	for n, last := range map[int]string{121: "/" + strings.Repeat("b", 121), 122: "/..."} { // 508 bytes before the last slash, and 509
		var r Reader
		r.Reset([]byte(strings.Repeat(`{"`+long[1:]+`":`, 3) + `{"` + strings.Repeat("b", n) + `":1}}}}`))
		for range 4 {
			require.True(t, r.Object() && r.Key())
		}
		assert.Equal(t, strings.Repeat(long, 3)+last, r.Pointer())
		assert.Equal(t, r.Pointer(), r.Place())
	}
}
