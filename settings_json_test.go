package forge

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Equal values have one content in any form; what is not JSON equals nothing, itself included.
func TestEqualJSON(t *testing.T) {
	for _, class := range [][]string{
		{"null", " null "}, {"true"}, {"false"}, {`"a"`, `"\u0061"`}, {"1", "1.0", "10e-1"}, {"9007199254740992"}, {"9007199254740993"}, {`"1"`},
		{"[]", "[ ]"}, {"[1,2]", "[1.0, 2]"}, {"[2,1]"}, {"[1]"}, {"{}"}, {`{"a":1,"b":[null]}`, `{ "b": [null], "a": 1e0 }`}, {`{"a":1}`}, {`{"a":null}`}, {`{"b":null}`},
		{"{"}, {""}, {"null null"}, {"nul"},
	} {
		for _, a := range class {
			for _, b := range []string{"null", "true", "false", `"a"`, "1", "9007199254740992", "9007199254740993", `"1"`, "[]", "[1,2]", "[2,1]", "[1]", "{}", `{"a":1,"b":[null]}`, `{"a":1}`, `{"a":null}`, `{"b":null}`, "{", "", "null null", "nul"} {
				want := b == class[0] && json.Valid([]byte(b))
				assert.Equal(t, want, equalJSON(json.RawMessage(a), json.RawMessage(b)), "%s and %s", a, b)
				assert.Equal(t, want, equalJSON(json.RawMessage(b), json.RawMessage(a)), "%s and %s", b, a)
			}
		}
	}
}
