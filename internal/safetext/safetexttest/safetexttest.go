// Package safetexttest checks that text hides a token, however it may be read.
package safetexttest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"
)

// Spellings returns the encodings in which a server may write a text that it received.
func Spellings() []func(string) string {
	return []func(string) string{
		func(s string) string { return s },
		url.QueryEscape,
		url.PathEscape,
		func(s string) string { text, _ := json.Marshal(s); return string(text[1 : len(text)-1]) },
		func(s string) string { text := strconv.QuoteToASCII(s); return text[1 : len(text)-1] },
		func(s string) string { return eachByte(s, "%%%02x") },
		func(s string) string { return eachByte(s, "%%%02X") },
		func(s string) string { return eachByte(s, `\u%04x`) },
		func(s string) string { return strings.ReplaceAll(s, "/", `\/`) },
	}
}

func eachByte(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}

// readings returns the ways in which a reader may understand text: as it is, and decoded.
func readings(text string) []string {
	percent := decodeEach(strings.ReplaceAll(text, "+", " "), '%', 1, 3)
	return []string{text, decodeEach(text, '%', 1, 3), percent, decodeEach(text, '\\', 2, 6), oneLine(text)}
}

// decodeEach decodes the escapes that begin with mark and end in hex digits, and leaves the rest
// unchanged.
func decodeEach(text string, mark byte, digits, size int) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == mark && i+size <= len(text) {
			if n, err := strconv.ParseUint(text[i+digits:i+size], 16, 8); err == nil && (digits == 1 || text[i+1] == 'u') {
				b.WriteByte(byte(n))
				i += size - 1
				continue
			}
		}
		if text[i] == mark && mark == '\\' && i+1 < len(text) {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

// RequireHidden fails the test if the text without the redactions contains the token in any
// reading.
func RequireHidden(t *testing.T, token, text string) {
	t.Helper()
	for part := range strings.SplitSeq(text, "[redacted]") {
		for _, reading := range readings(part) {
			require.NotContains(t, reading, token)
		}
	}
}

// oneLine returns text without control characters, which may separate the parts of a token.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
