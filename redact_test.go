package forge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// hostileTexts are units that a server can repeat to keep a redaction busy, with the tokens that
// they are meant for.
var hostileTexts = []struct{ token, unit string }{
	{secret, "%"}, {secret, `\`}, {secret, "+"}, {secret, "g"}, {secret, `\u`}, {secret, `%6`}, {secret, "%67"}, {secret, `\u0067`}, {secret, "%67%6cpat-THE-SECRET-012345678"},
	{"%%%%%%%%%%%%%%%%", "%"}, {"%%%%%%%%%%%%%%%%", "%25"}, {"%%%%%%%%%%%%%%%a", "%25"}, {"%25%25%25%25%25%25a", "%25"}, {"%2525252525252525a", "%25"},
	{`\\\\\\\\\\\\\\\\`, `\`}, {`\\\\\\\\\\\\\\\a`, `\`}, {`\\\\\\\\\\\\\\\a`, `\u005c`}, {`\u005c\u005c\u005ca`, `\u005c`}, {"aaaaaaaaaaaaaaab", "a"}, {"++++++++ ++++++++", "+"},
	{strings.Repeat(`%\`, 40) + "a", `%\`}, {strings.Repeat(`\`, 20) + "a", `\u005c`},
}

// The work is linear in the length of the text, whatever a server writes: twice the text takes
// twice the steps, and no more of them than each byte of the text can be compared with each of the
// token.
func TestRedactionIsLinear(t *testing.T) {
	for _, test := range hostileTexts {
		steps := func(size int) int {
			m := matcher{text: strings.Repeat(test.unit, size/len(test.unit)), token: test.token}
			m.redact()
			return m.steps
		}
		const n = 2_000
		once, twice := steps(n), steps(2*n)
		assert.LessOrEqual(t, twice, 2*once+8*len(test.token)*len(test.token), "%.20q of %.20q", test.unit, test.token)
		assert.LessOrEqual(t, twice, 2*n*2*len(test.token), "%.20q of %.20q", test.unit, test.token)
		if test.token == secret {
			assert.LessOrEqual(t, twice, 2*n*2, "%.20q: a usual token is compared where it can begin", test.unit)
		}
	}
}

// Text without the token costs no memory, however many escapes it has.
func TestRedactionOfCleanText(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates on its own account: run without -race")
	}
	for _, unit := range []string{"%", `\`, "+", "%6", `\u00`, "%67", "glpat-"} {
		text := strings.Repeat(unit, 200<<10/len(unit))
		assert.Zero(t, testing.AllocsPerRun(1, func() { redact(text, secret) }), "%q", unit)
	}
}

// What is written in several ways at once is found, and of what could be read in two ways all that
// can be the token is taken out.
func TestRedactionAmbiguous(t *testing.T) {
	for _, test := range []struct{ text, token, want string }{
		{"a%2541b", "%41%41%41", "a%2541b"},
		{"x%2541%41%2541y", "%41%41%41", "x" + redacted + "y"},
		{"x%25412541y", "%2541%2541", "x%25412541y"},
		{`x\\\\\\\\\\\\\\\\y`, `\\\\\\\\`, "x" + redacted + "y"},
		{`\u0067l\u0070at-THE%2dSECRET-0123456789!`, secret, redacted + "!"},
		{"gglpat-THE-SECRET-0123456789", secret, "g" + redacted},
		{"%glpat-THE-SECRET-0123456789%", secret, "%" + redacted + "%"},
		{"glpat-THE-SECRET-012345678%", secret, "glpat-THE-SECRET-012345678%"},
		{"glpat-THE-SECRET-0123456789glpat-THE-SECRET-0123456789", secret, redacted + redacted},
		{"%41aaaaaaaa", "aaaaaaaa", "%41" + redacted},
		{"pass+word+x%20y", "pass word x y", redacted},
		{"%élan-12345 %C3%A9lan-12345 \\u00e9lan-12345", "élan-12345", "%" + redacted + " " + redacted + " " + redacted},
		{`caf\u00e9-\/-12345`, "café-/-12345", redacted},
	} {
		assert.Equal(t, test.want, redact(test.text, test.token), "%q in %q", test.token, test.text)
	}
}

// An error body is read in linear time too: what is cleaned of it, names that are repeated for each
// value included, is bounded by its size, and no usual body comes near the bound.
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
			return cleanText(text, limit)
		})
		assert.LessOrEqual(t, cleaned, 32*len(body), label)
		assert.LessOrEqual(t, len(message), maxErrorText+len("..."), label)
	}
	var keys, texts []string
	for i := range 3000 {
		keys = append(keys, fmt.Sprintf(`"k%d":0`, i))
		texts = append(texts, fmt.Sprintf(`"text %d"`, i))
	}
	_, fields := readMessage([]byte(`{"message":{"base":[`+strings.Join(texts, ",")+`]}}`), "application/json", cleanText)
	assert.Len(t, fields["base"], 3000, "the values of a usual body are all there")
	_, fields = readMessage([]byte(`{"message":{`+strings.Join(keys, ",")+`}}`), "application/json", cleanText)
	assert.Len(t, fields, maxErrorFields)
}
