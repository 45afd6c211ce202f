package jsonread

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// What is not an object has no members.
func TestMembers(t *testing.T) {
	for _, text := range []string{"null", "1", `"a"`, "[1]", "", "nul"} {
		assert.Equal(t, map[string]json.RawMessage{}, Members([]byte(text)), text)
	}
	assert.Equal(t, map[string]json.RawMessage{"a": json.RawMessage("[ 2]"), "b": json.RawMessage("null")}, Members([]byte(`{"a":1, "b" : null, "a": [ 2]}`)))
}

// The keys are sorted, and the values stay as they are.
func TestJoin(t *testing.T) {
	for want, members := range map[string]map[string]json.RawMessage{
		"{}": {}, `{"":[ 1]}`: {"": json.RawMessage("[ 1]")}, `{"":1,"a\"b":null}`: {"a\"b": json.RawMessage("null"), "": json.RawMessage("1")},
	} {
		assert.Equal(t, want, string(Join(members)))
	}
}

// Equal values have one content in any form; what is not JSON equals nothing, itself included.
func TestEqual(t *testing.T) {
	for _, class := range [][]string{
		{"null", " null "}, {"true"}, {"false"}, {`"a"`, `"\u0061"`}, {"1", "1.0", "10e-1"}, {"9007199254740992"}, {"9007199254740993"}, {"-9007199254740993"}, {`"1"`},
		{"[]", "[ ]"}, {"[1,2]", "[1.0, 2]"}, {"[2,1]"}, {"[1]"}, {"{}"}, {`{"a":1,"b":[null]}`, `{ "b": [null], "a": 1e0 }`}, {`{"a":1}`}, {`{"a":null}`}, {`{"b":null}`},
		{"{"}, {""}, {"null null"}, {"nul"},
	} {
		for _, a := range class {
			for _, b := range []string{"null", "true", "false", `"a"`, "1", "9007199254740992", "9007199254740993", "-9007199254740992", "-9007199254740993", `"1"`, "[]", "[1,2]", "[2,1]", "[1]", "{}", `{"a":1,"b":[null]}`, `{"a":1}`, `{"a":null}`, `{"b":null}`, "{", "", "null null", "nul"} {
				want := b == class[0] && json.Valid([]byte(b))
				assert.Equal(t, want, Equal([]byte(a), []byte(b)), "%s and %s", a, b)
				assert.Equal(t, want, Equal([]byte(b), []byte(a)), "%s and %s", b, a)
			}
		}
	}
}
