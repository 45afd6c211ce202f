package forge

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/safetext"
)

// An error body is processed in linear time. The amount of text that is cleaned, including names
// that are repeated for each value, is bounded by the size of the body, and usual bodies are far
// below the bound.
func TestErrorBodiesAreReadInLinearTime(t *testing.T) {
	list := func(open, item, end string) string {
		return open + strings.Repeat(item+",", (maxErrorBody-len(open)-len(end)-len(item))/(len(item)+1)) + item + end
	}
	name := strings.Repeat("%", 32<<10)
	for label, body := range map[string]string{
		"long name":          list(`{"message":{"`+name+`":[`, `"x"`, `]}}`),
		"long name, numbers": list(`{"message":{"`+name+`":[`, `0`, `]}}`),
		"long names":         list(`{"message":{"`+name[:8<<10]+`":{"`+name[:8<<10]+`":{"`+name[:8<<10]+`":[`, `[0]`, `]}}}}`),
		"nothing below":      list(`{"message":{"`+name+`":[`, `{}`, `]}}`),
		"many texts":         list(`{"message":[`, `"aaa"`, `]}`),
		"registry":           list(`{"errors":[`, `{"code":"A","message":"b"}`, `]}`),
	} {
		cleaned := 0
		message, _ := readMessage([]byte(body), "application/json", func(text string, limit int) string {
			cleaned += len(text) + 1
			return safetext.Clean(text, limit)
		})
		assert.LessOrEqual(t, cleaned, 32*len(body), label)
		assert.LessOrEqual(t, len(message), maxErrorText+len("..."), label)
	}
	var fields map[string][]string
	for length, values := range map[int]int{41_908: 23, 32_740: 29} { // examined with the list around the values: the limit exactly, and with the next value a byte more
		name = strings.Repeat("n", length)
		_, fields = readMessage([]byte(`{"message":{"`+name+`":[`+strings.Repeat(`"x",`, 99)+`"x"]}}`), "application/json", safetext.Clean)
		assert.Len(t, fields[name[:256]+"..."], values)
	}
	var keys, texts []string
	for i := range 3000 {
		keys = append(keys, fmt.Sprintf(`"k%d":0`, i))
		texts = append(texts, fmt.Sprintf(`"text %d"`, i))
	}
	_, fields = readMessage([]byte(`{"message":{"base":[`+strings.Join(texts, ",")+`]}}`), "application/json", safetext.Clean)
	assert.Len(t, fields["base"], 3000, "the values of a usual body are all there")
	_, fields = readMessage([]byte(`{"message":{`+strings.Join(keys, ",")+`}}`), "application/json", safetext.Clean)
	assert.Len(t, fields, maxErrorFields)
	last := fmt.Sprintf(`"z%d":["a","b"]`, maxErrorFields)
	_, fields = readMessage([]byte(`{"message":{`+strings.Join(append(keys[:maxErrorFields-1:maxErrorFields-1], last), ",")+`}}`), "application/json", safetext.Clean)
	assert.Equal(t, []string{"a", "b"}, fields[fmt.Sprintf("z%d", maxErrorFields)], "a field that is there gets more values")
	for more, end := range []string{"", "..."} {
		_, fields = readMessage([]byte(`{"message":{"a":"`+strings.Repeat("x", maxErrorText+more)+`"}}`), "application/json", safetext.Clean)
		assert.Equal(t, []string{strings.Repeat("x", maxErrorText) + end}, fields["a"])
	}
}

// A text that is not an object is shown as it is, also if it is JSON.
func TestMessageOfOtherText(t *testing.T) {
	for body, want := range map[string]string{`["a"]`: `["a"]`, `"x"`: `"x"`, "5": "5", "null": "", "{}": "", "{": "{", `{"message":"a"}` + "\n": "a", `{"message":"a"}b`: `{"message":"a"}b`} {
		message, fields := readMessage([]byte(body), "application/json", safetext.Clean)
		assert.Equal(t, want, message, body)
		assert.Nil(t, fields)
	}
}

// A text that a body has in several members, or several times, is in the message once.
func TestMessageSaysEachTextOnce(t *testing.T) {
	for body, want := range map[string]string{
		`{"message":"a","error":"a"}`:                                        "a",
		`{"message":"a","error":"a","error_description":"a"}`:                "a",
		`{"message":["a","b","a"],"error":"b"}`:                              "a: b",
		`{"message":{"name":["is taken"]},"error":"name is taken"}`:          "name is taken",
		`{"message":{"name":["is taken","is taken"]}}`:                       "name is taken",
		`{"message":{"base":["a"],"other":["a"]}}`:                           "base a: other a",
		`{"message":{"b":["x"],"a":["y"]}}`:                                  "a y: b x",
		`{"errors":[{"code":"A","message":"b"},{"code":"A","message":"b"}]}`: "A: b",
		`{"errors":[{"code":"A"},5,{"message":"b"},{"code":5}]}`:             "A: b",
		`{"errors":{"name":["a"]}}`:                                          "",
		`{"message":"A: b","errors":[{"code":"A","message":"b"}]}`:           "A: b",
	} {
		message, _ := readMessage([]byte(body), "application/json", safetext.Clean)
		assert.Equal(t, want, message, body)
	}
}

// The hint of a missing scope has the scopes that the server names, and the message does not.
func TestMessageOfTokenLayer(t *testing.T) {
	w := newWire(t, script(
		say(403, `{"error":"insufficient_scope","error_description":"More is needed.","scope":"api read_api"}`, jsonType),
		say(403, `{"error":"insufficient_granular_scope","error_description":"Access denied: lacks [Audit: Read]."}`, jsonType),
		say(401, `{"error":"dpop_error","error_description":"DPoP header is missing"}`, jsonType),
	))
	c := wireClient(t, w.url)
	for _, want := range []string{
		"403 Forbidden: insufficient_scope: More is needed.; the token needs the scope api or read_api",
		"403 Forbidden: insufficient_granular_scope: Access denied: lacks [Audit: Read].; the token is fine-grained, and this endpoint needs read_audit_event: add what it lacks to the token",
		"401 Unauthorized: dpop_error: DPoP header is missing; the server requires a DPoP proof for this token",
	} {
		_, err := Collect(c.AuditEvents.List(t.Context(), nil))
		require.ErrorContains(t, err, want)
	}
}

// Texts are found 5 levels deep; a deeper object or list is shown as it was sent. A member that is
// not there, or null, is no text.
func TestMessageOfNestedValues(t *testing.T) {
	for body, want := range map[string]map[string][]string{
		`{"message":{"a":{"b":{"c":{"d":{"e":{}}}}}}}`:         {"a.b.c.d.e": {"{}"}},
		`{"message":{"a":{"b":{"c":{"d":{"e":"x"}}}}}}`:        {"a.b.c.d.e": {"x"}},
		`{"message":{"a":[[[[["x"]]]]]}}`:                      {"a": {`["x"]`}},
		`{"message":{"a":[[[["x"]]]]}}`:                        {"a": {"x"}},
		`{"message":{"a":[[["x",7,null]]]}}`:                   {"a": {"x", "7"}},
		`{"message":{"` + strings.Repeat("k", 257) + `":"x"}}`: {strings.Repeat("k", 256) + "...": {"x"}},
		`{"message":{"a\u001bb":"x\u001by\n"}}`:                {"ab": {"xy"}},
		`{"error":"insufficient_scope"}`:                       nil,
		`{"error":"invalid_scope","scope":"api"}`:              nil,
		`{"error":"insufficient_scope","scope":null}`:          nil,
		`{"error":"insufficient_scope","scope":""}`:            {"scope": {""}},
	} {
		_, fields := readMessage([]byte(body), "application/json", safetext.Clean)
		assert.Equal(t, want, fields, body)
	}
}

// The title of a page is shown, unless the place of the tag is not known: İ has another length in
// lower case.
func TestMessageOfPage(t *testing.T) {
	for page, want := range map[string]string{
		"<TITLE> Bad\ngateway </TITLE>": "an HTML page titled Bad gateway", "<title>x": "an HTML page", "<title> </title>": "an HTML page", "<p>": "an HTML page",
		strings.Repeat("İ", 20) + "<title>x</title>": "an HTML page", "\u212a<title>x</title>": "an HTML page",
	} {
		message, fields := readMessage([]byte(page), "text/html", safetext.Clean)
		assert.Equal(t, want, message)
		assert.Nil(t, fields)
	}
}

// FuzzErrorBody checks that the message of any error response is short and safe to print.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{
		`{"message":"404 Project Not Found"}`, `{"message":{"email":["has already been taken"],"a":{"b":["c"]}}}`, `{"error":"insufficient_scope","error_description":"x"}`,
		`{"error":["a","b"]}`, `<html><title>502</title>`, `Retry later`, "\x00\x1b[31m", `{"message":null}`, `[]`, `"x"`, `{"message":{"":{"":[[[[[["x"]]]]]]}}}`, "\u202e",
	} {
		f.Add([]byte(s), "application/json")
		f.Add([]byte(s), "text/html; charset=utf-8")
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		if len(body) > maxErrorBody {
			return
		}
		message, fields := readMessage(body, contentType, safetext.Clean)
		require.LessOrEqual(t, len(fields), maxErrorFields)
		texts := []string{message}
		for name, list := range fields {
			texts = append(append(texts, name), list...)
		}
		for _, text := range texts {
			require.LessOrEqual(t, len(text), maxErrorText+3)
			require.True(t, utf8.ValidString(text))
			require.False(t, hasControl(text), "%q", text)
		}
	})
}
