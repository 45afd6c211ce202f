package safetext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/forge-sdk/forge-go/internal/racetest"
	"github.com/forge-sdk/forge-go/internal/safetext/safetexttest"
)

// secret is a token of the usual form.
const secret = "glpat-THE-SECRET-0123456789"

// hostileTexts are units that a server can repeat to make redaction slow, each with the token that
// it is made for.
var hostileTexts = []struct{ token, unit string }{
	{secret, "%"}, {secret, `\`}, {secret, "+"}, {secret, "g"}, {secret, `\u`}, {secret, `%6`}, {secret, "%67"}, {secret, `\u0067`}, {secret, "%67%6cpat-THE-SECRET-012345678"},
	{"%%%%%%%%%%%%%%%%", "%"}, {"%%%%%%%%%%%%%%%%", "%25"}, {"%%%%%%%%%%%%%%%a", "%25"}, {"%25%25%25%25%25%25a", "%25"}, {"%2525252525252525a", "%25"},
	{`\\\\\\\\\\\\\\\\`, `\`}, {`\\\\\\\\\\\\\\\a`, `\`}, {`\\\\\\\\\\\\\\\a`, `\u005c`}, {`\u005c\u005c\u005ca`, `\u005c`}, {"aaaaaaaaaaaaaaab", "a"}, {"++++++++ ++++++++", "+"},
	{strings.Repeat(`%\`, 40) + "a", `%\`}, {strings.Repeat(`\`, 20) + "a", `\u005c`},
}

// The work is linear in the length of the text, for every text of a server: a text of twice the
// length takes at most twice the steps, and the same byte of the text is compared with the same
// byte of the token at most twice.
func TestRedactionIsLinear(t *testing.T) {
	for _, test := range hostileTexts {
		steps := func(size int) int {
			m := matcher{text: strings.Repeat(test.unit, size/len(test.unit)), token: test.token}
			m.redact()
			return m.steps
		}
		for _, n := range []int{32, 2_000} { // with exponential work the second one would not end
			once, twice := steps(n), steps(2*n)
			linear := 2*once + 8*len(test.token)*len(test.token)
			require.LessOrEqual(t, twice, linear, "%.20q of %.20q", test.unit, test.token)
			require.LessOrEqual(t, twice, 2*n*2*len(test.token), "%.20q of %.20q", test.unit, test.token)
			if test.token == secret {
				require.LessOrEqual(t, twice, 2*n*2, "%.20q: a usual token is compared where it can begin", test.unit)
			}
		}
	}
}

// Redaction of text without the token does not allocate, for any number of escapes.
func TestRedactionOfCleanText(t *testing.T) {
	if racetest.Enabled {
		t.Skip("the race detector allocates on its own account: run without -race")
	}
	for _, unit := range []string{"%", `\`, "+", "%6", `\u00`, "%67", "glpat-", "%glpat-"} {
		text := strings.Repeat(unit, 200<<10/len(unit))
		assert.Zero(t, testing.AllocsPerRun(10, func() { Redact(text, secret) }), "%q", unit)
	}
}

// A token in a mix of several spellings is found. If there are two readings, the longer one is
// removed.
func TestRedactionAmbiguous(t *testing.T) {
	for _, test := range []struct{ text, token, want string }{
		{"a%2541b", "%41%41%41", "a%2541b"},
		{"x%2541%41%2541y", "%41%41%41", "x" + Redacted + "y"},
		{"x%25412541y", "%2541%2541", "x%25412541y"},
		{`x\\\\\\\\\\\\\\\\y`, `\\\\\\\\`, "x" + Redacted + "y"},
		{`\u0067l\u0070at-THE%2dSECRET-0123456789!`, secret, Redacted + "!"},
		{"gglpat-THE-SECRET-0123456789", secret, "g" + Redacted},
		{"%glpat-THE-SECRET-0123456789%", secret, "%" + Redacted + "%"},
		{"glpat-THE-SECRET-012345678%", secret, "glpat-THE-SECRET-012345678%"},
		{"glpat-THE-SECRET-0123456789glpat-THE-SECRET-0123456789", secret, Redacted + Redacted},
		{"%41aaaaaaaa", "aaaaaaaa", "%41" + Redacted},
		{"pass+word+x%20y", "pass word x y", Redacted},
		{"%élan-12345 %C3%A9lan-12345 \\u00e9lan-12345", "élan-12345", "%" + Redacted + " " + Redacted + " " + Redacted},
		{`caf\u00e9-\/-12345`, "café-/-12345", Redacted},
		{"%4:12345678", "J12345678", "%4:12345678"},
		{"12345678Xu0041%", "12345678A", "12345678Xu0041%"},
		{`A1234567\8`, "A12345678", Redacted},
		{"x+pass+word", " pass word", "x" + Redacted},
		{`\u20ac-123456`, "€-123456", Redacted},
		{`\ud83d123456`, "\ufffd123456", `\ud83d123456`},
	} {
		assert.Equal(t, test.want, Redact(test.text, test.token), "%q in %q", test.token, test.text)
	}
}

// The memory of a search does not grow with the text.
func TestRedactionMemory(t *testing.T) {
	m := matcher{text: strings.Repeat(`\\x`, 1<<16), token: `\\\\`}
	assert.Equal(t, m.text, m.redact())
	assert.NotEmpty(t, m.visited)
	assert.LessOrEqual(t, len(m.visited), maxVisited+len(m.token))
}

// A byte after % that is no hexadecimal digit does not begin an escape.
func TestRedactionOfNoEscapes(t *testing.T) {
	for c := range byte(0x80) {
		isHex := strings.ContainsRune("0123456789abcdefABCDEF", rune(c))
		text, read := "%6"+string(rune(c)), rune(0x60)
		switch {
		case c <= '9':
			read += rune(c - '0')
		default:
			read += rune(c|0x20) - 'a' + 10
		}
		got := Redact(text+"assword", string(read)+"assword")
		assert.Equal(t, isHex, got == Redacted, "%q: %q", text, got)
	}
}

// Text is cut before a character that does not fit. Only the ends lose their spaces.
func TestClean(t *testing.T) {
	for text, want := range map[string][4]string{ // limits of 0 to 3 bytes
		"": {}, "é": {"...", "...", "é", "é"}, "aé": {"...", "a...", "a...", "aé"}, "abc": {"...", "a...", "ab...", "abc"}, "€": {"...", "...", "...", "€"},
		"\x80b\td": {"...", "b...", "b ...", "b d"}, " \x80b ": {"...", "b", "b", "b"}, " a ": {"...", "a", "a", "a"}, "\ta\r\u200e\x7fé\n": {"...", "a...", "a ...", "a ..."},
	} {
		for limit, want := range want {
			assert.Equal(t, want, Clean(text, limit), "%q, %d", text, limit)
		}
	}
}

// Text that is no UTF-8 is cut as well, and a text may be the token alone.
func TestBounds(t *testing.T) {
	for limit, want := range []string{"...", "...", "...", "\x80\x80\x80"} {
		assert.Equal(t, want, Truncate("\x80\x80\x80", limit))
	}
	assert.Equal(t, Redacted, Redact(secret, secret))
	assert.Equal(t, []string{Redacted, "1234567"}, []string{Redact("12345678", "12345678"), Redact("1234567", "1234567")}, "the shortest token")
}

// FuzzRedact checks that no reading of the redacted text contains the token, for every spelling and
// surrounding text, and that text without the token is returned unchanged.
func FuzzRedact(f *testing.F) {
	for form := range safetexttest.Spellings() {
		f.Add(uint8(form), secret, `{"message":"bad token `, `"}`)
		f.Add(uint8(form), "p@ss/w+rd =%25\\\"x", "https://user:", "@host/?a=%2B")
	}
	f.Add(uint8(0), "12345678", "%", "\\u00")
	f.Add(uint8(0), "%41%41%41", "%41%41%2541", "%2541")
	f.Fuzz(func(t *testing.T, form uint8, token, before, after string) {
		if plain := before + after; !hasEscapes(plain) && (len(token) < minTokenLen || !strings.Contains(plain, token)) {
			require.Equal(t, plain, Redact(plain, token))
		}
		if len(token) < minTokenLen || strings.ContainsFunc(token, func(r rune) bool { return r < ' ' || r > '~' }) {
			return
		}
		spellings := safetexttest.Spellings()
		spell := spellings[int(form)%len(spellings)]
		safetexttest.RequireHidden(t, token, Redact(Printable(before+spell(token)+after), token))
		safetexttest.RequireHidden(t, token, Redact(Printable(spell(before)+token+spell(after)), token))
	})
}
