package jsonwrite

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// write returns what f writes.
func write[T any](v T, f func(*T, *Writer)) (string, error) {
	var w Writer
	f(&v, &w)
	text, err := w.Bytes()
	return string(text), err
}

// like compares f with encoding/json, which escapes HTML in addition.
func like[T any](t require.TestingT, v T, f func(*T, *Writer)) {
	text, err := write(v, f)
	require.NoError(t, err)
	want, err := json.Marshal(v)
	require.NoError(t, err)
	compact, err := json.Marshal(json.RawMessage(text))
	require.NoError(t, err)
	require.Equal(t, string(want), string(compact))
}

func TestLikeEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		like(t, rapid.String().Draw(t, "text"), Text[string])
		like(t, string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")), Text[string])
		like(t, rapid.SliceOf(rapid.Byte()).Draw(t, "base64"), Bytes)
		like(t, rapid.Int64().Draw(t, "integer"), Int[int64])
		like(t, rapid.Bool().Draw(t, "boolean"), Bool[bool])
		like(t, rapid.SliceOf(rapid.Int()).Draw(t, "list"), ArrayOf(Int[int]))
		like(t, rapid.MapOf(rapid.StringMatching(`[ -~é]*`), rapid.Int()).Draw(t, "map"), func(v *map[string]int, w *Writer) { Map(*v, w, Int[int]) })
		var got float64
		number := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "number")
		text, err := write(number, Float[float64])
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal([]byte(text), &got))
		require.Equal(t, number, got)
	})
	like(t, "a\u2028\u2029<>&\x7f\"\\/\b\f\n\r\t\x00\ufffd\xff", Text[string])
}

func TestValues(t *testing.T) {
	for want, text := range map[string]func() (string, error){
		`null`: func() (string, error) { return write([]int(nil), ArrayOf(Int[int])) },
		`[]`:   func() (string, error) { return write([]int{}, ArrayOf(Int[int])) },
		`{}`: func() (string, error) {
			return write(0, func(_ *int, w *Writer) { Map(map[string]int{}, w, Int[int]) })
		},
		`[[1,2],null,[]]`: func() (string, error) { return write([][]int{{1, 2}, nil, {}}, ArrayOf(ArrayOf(Int[int]))) },
		`[{"a":1},null]`: func() (string, error) {
			return write([]json.RawMessage{json.RawMessage(`{"a":1}`), nil}, ArrayOf(Raw[json.RawMessage]))
		},
		`""`:                     func() (string, error) { return write(time.Time{}, Time) },
		`"2026-03-01T09:30:00Z"`: func() (string, error) { return write(time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC), Time) },
		`"9999-12-31T23:59:59-12:00"`: func() (string, error) {
			return write(time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -12*3600)), Time)
		},
		`"9999-12-31T23:00:00Z"`: func() (string, error) {
			return write(time.Date(10000, 1, 1, 0, 0, 0, 0, time.FixedZone("", 3600)), Time)
		},
		`"1899-12-31T23:59:59Z"`: func() (string, error) { return write(time.Date(1900, 1, 1, 0, 0, 0, 0, time.FixedZone("", 1)), Time) },
		`5`:                      func() (string, error) { return write(5, func(v *int, w *Writer) { Nullable(*v, true, w, Int[int]) }) },
	} {
		got, err := text()
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	got, err := write(5, func(v *int, w *Writer) { Nullable(*v, false, w, Int[int]) })
	require.NoError(t, err)
	assert.Equal(t, "null", got)
	assert.True(t, IsNull(nil) && IsNull([]byte("null")) && !IsNull([]byte(`"null"`)))
}

func TestErrors(t *testing.T) {
	for _, number := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := write(number, Float[float64])
		require.ErrorContains(t, err, "is not a JSON number")
	}
	_, err := write(time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC), Time)
	require.EqualError(t, err, "the year of a time is not between 0 and 9999")
	_, err = write(json.RawMessage("{"), Raw[json.RawMessage])
	require.EqualError(t, err, "a json.RawMessage is not JSON")
}
