package jsonwrite

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestObjects(t *testing.T) {
	var w Writer
	extra := map[string]json.RawMessage{"z": json.RawMessage(`[1]`), "c": nil, "b": json.RawMessage(`"x"`)}
	one, empty := 1, ""
	outer := w.Open(extra)
	require.True(t, w.Field("a", false))
	Int(&one, &w)
	assert.False(t, w.Field("b", true), "zero")
	w.Struct("none", func(w *Writer) { w.Close(w.Open(nil)) })
	w.Struct("nothing", func(w *Writer) { Text(&empty, w) })
	w.Struct("inner", func(w *Writer) {
		inner := w.Open(map[string]json.RawMessage{"k": json.RawMessage("1")})
		assert.Empty(t, w.Clashes())
		w.Close(inner)
	})
	assert.Equal(t, []string{"b"}, w.Clashes())
	assert.Equal(t, `{"a":1,"inner":{"k":1}}`, string(w.Fields()))
	w.Close(outer)
	text, err := w.Bytes()
	require.NoError(t, err)
	assert.Equal(t, `{"a":1,"inner":{"k":1},"b":"x","c":null,"z":[1]}`, string(text))
}

func TestSettle(t *testing.T) {
	for fields, want := range map[string]string{`{}`: `{"x":1}`, `{"a":2}`: `{"a":2,"x":1}`} {
		var w Writer
		one := 1
		outer := w.Open(map[string]json.RawMessage{"a": json.RawMessage("5")})
		w.Field("a", false)
		Int(&one, &w)
		w.Settle([]byte(fields), map[string]json.RawMessage{"x": json.RawMessage("1")})
		w.Close(outer)
		text, err := w.Bytes()
		require.NoError(t, err)
		assert.Equal(t, want, string(text))
	}
}

func TestWithoutExtra(t *testing.T) {
	w := Writer{WithoutExtra: true}
	extra := map[string]json.RawMessage{"x": json.RawMessage("1")}
	outer := w.Open(extra)
	w.Field("inner", false)
	inner := w.Open(extra)
	w.Close(inner)
	w.Close(outer)
	text, err := w.Bytes()
	require.NoError(t, err)
	assert.Equal(t, `{"inner":{"x":1}}`, string(text))
}

func TestExtraIsJSON(t *testing.T) {
	for _, bad := range []string{"", "{", `1,"y":2`, "1 2"} {
		var w Writer
		w.Close(w.Open(map[string]json.RawMessage{"x": json.RawMessage(bad)}))
		_, err := w.Bytes()
		require.EqualError(t, err, `the value of "x" in the map Extra is not JSON`, bad)
	}
}
